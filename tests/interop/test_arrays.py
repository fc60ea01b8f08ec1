"""`simpletorch.interop` and arrays: the same memory on both sides, or an error that says what to do."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest
import torch

from simpletorch import Tensor, interop
from simpletorch.errors import DeviceMismatch, DTypeMismatch, ShapeMismatch, TorchError, TypeMismatch

NUMBERS = [np.bool_, *(np.dtype(c) for c in "bhilBHILefdFD")]


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


# -- NumPy -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [interop.from_numpy, interop.from_dlpack, Tensor.from_dlpack])
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_a_tensor_has_the_array_s_memory(make, dtype):
    array = np.ones((3, 5), dtype)
    x = make(array)
    assert x.data_ptr() == address(array)
    assert (tuple(x.shape), str(x.dtype)) == ((3, 5), f"torch.{np.dtype(dtype).name}")
    assert address(interop.to_numpy(x)) == address(array)


def test_views_share_too():
    array = np.arange(35.0).reshape(5, 7)
    x = interop.from_numpy(array[1:, ::2].T)
    assert x.tolist() == array[1:, ::2].T.tolist()
    x[0, 0] = -1
    assert array[1, 0] == -1


def test_a_copy_is_a_copy():
    array = np.zeros(3)
    assert interop.from_numpy(array, copy=True).data_ptr() != address(array)
    assert interop.from_dlpack(array, copy=True).data_ptr() != address(array)
    x = torch.zeros(3)
    assert address(interop.to_numpy(x, copy=True)) != x.data_ptr()
    assert interop.to_numpy(torch.ones(3, requires_grad=True), copy=True).tolist() == [1, 1, 1]


def read_only() -> np.ndarray:
    array = np.arange(5.0)
    array.flags.writeable = False
    return array


REFUSED = {
    "read_only": (read_only(), ValueError, "from_numpy: the array of shape (5) is read-only", "copy=True"),
    "backwards": (np.arange(5)[::-1], ValueError, "of shape (5) has a negative stride", "copy=True"),
    "other machines": (
        np.arange(5, dtype=">i8"),
        ValueError,
        "'>i8' has the byte order of other machines",
        "copy=True",
    ),
    "field": (
        np.zeros(3, [("a", "i1"), ("b", "f4")])["b"],
        ValueError,
        "strides (5,) of the array of shape (3)",
        "copy",
    ),
    "strings": (np.array(["a", "bc"]), TypeError, "torch has no dtype for NumPy's <U2", "np.unique"),
    "objects": (np.array([{}]), TypeError, "torch has no dtype for NumPy's object", "astype(np.float32)"),
    "dates": (np.array(["2026-11-23"], "M8[D]"), TypeError, "torch has no dtype for NumPy's datetime64[D]", "np.int64"),
    "records": (np.zeros(3, [("a", "f4")]), TypeError, "torch has no dtype for NumPy's [('a', '<f4')]", "one field"),
}


@pytest.mark.parametrize("make", [interop.from_numpy, interop.from_dlpack])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_shared_says_why_and_the_way_out(make, case):
    array, also, reason, hint = REFUSED[case]
    with pytest.raises(TorchError) as caught:
        make(array)
    assert isinstance(caught.value, also)
    assert reason in str(caught.value)
    assert hint in caught.value.hint
    if also is ValueError:
        assert make(array, copy=True).tolist() == array.tolist()
    else:
        assert isinstance(caught.value, DTypeMismatch)


def test_what_is_no_array_is_told():
    with pytest.raises(TypeMismatch, match="expected an array of NumPy, but got list"):
        interop.from_numpy([3, 5])
    with pytest.raises(TypeError, match="list has no __dlpack__") as caught:
        interop.from_dlpack([3, 5])
    assert "from_array" in caught.value.hint


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.neighbour("ml_dtypes")
def test_small_floats_are_shared_by_their_bits(name):
    import ml_dtypes

    array = np.array([0.5, -1, 3], getattr(ml_dtypes, name))
    x = interop.from_numpy(array)
    assert (x.data_ptr(), x.dtype, x.float().tolist()) == (address(array), getattr(torch, name), [0.5, -1, 3])
    back = interop.to_numpy(x)
    assert (address(back), back.dtype) == (x.data_ptr(), array.dtype)
    assert interop.from_numpy(array, copy=True).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("x", "error", "reason", "hint"),
    [
        (torch.zeros(3, requires_grad=True), RuntimeError, "requires a gradient", "tensor.detach()"),
        (torch.zeros(3).to_sparse(), RuntimeError, "layout torch.sparse_coo has no single memory", "tensor.to_dense()"),
        (torch.zeros(3, dtype=torch.complex64).conj(), RuntimeError, "a lazy conjugate", "tensor.resolve_conj()"),
        (torch.zeros(3, device="meta"), DeviceMismatch, "the tensor is on meta", "tensor.cpu()"),
    ],
)
def test_what_numpy_cannot_have_says_why(x, error, reason, hint):
    with pytest.raises(error) as caught:
        interop.to_numpy(x)
    assert isinstance(caught.value, TorchError)
    assert reason in str(caught.value)
    assert hint in caught.value.hint


# -- who lives how long ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [[1.0, 2.0], np.zeros(3), 3.0, None], ids=["list", "array", "number", "None"])
@pytest.mark.parametrize("function", [interop.to_numpy, interop.to_arrow])
def test_what_is_no_tensor_is_told(function, given):
    if function is interop.to_arrow:
        pytest.importorskip("pyarrow")
    for copy in (False, True):
        with pytest.raises(TypeMismatch, match="expected a tensor, but got") as caught:
            function(given, copy=copy)
        assert isinstance(caught.value, TypeError)


def test_the_way_out_of_a_ragged_tensor_goes():
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    with pytest.raises(TorchError, match=r"layout torch.jagged has no single memory") as caught:
        interop.to_numpy(x)
    assert caught.value.hint == "tensor.to_padded_tensor(0)"
    assert interop.to_numpy(x.to_padded_tensor(0)).tolist() == [[1, 1, 0], [1, 1, 1]]


@pytest.mark.neighbour("ml_dtypes")
def test_numbers_of_half_a_byte_are_no_records():
    import ml_dtypes

    array = np.array([3, -5], ml_dtypes.int4)
    with pytest.raises(DTypeMismatch, match="no dtype for NumPy's int4") as caught:
        interop.from_numpy(array)
    assert caught.value.hint.startswith("array.astype(np.int8)")
    assert interop.from_numpy(array.astype(np.int8)).tolist() == [3, -5]


def test_the_memory_lives_as_long_as_anyone_looks():
    array = np.arange(1_000_003.0)
    x = interop.from_numpy(array)
    del array
    gc.collect()
    again = interop.to_numpy(x)
    del x
    gc.collect()
    assert (again[[0, -1]].tolist(), again.sum()) == ([0.0, 1_000_002.0], 1_000_002 * 1_000_003 / 2)


def test_a_capsule_is_used_once():
    x = torch.arange(5)
    capsule = torch.utils.dlpack.to_dlpack(x)
    assert interop.from_dlpack(capsule).data_ptr() == x.data_ptr()
    with pytest.raises(TorchError, match="can be consumed only once"):
        interop.from_dlpack(capsule)


# -- DLPack ------------------------------------------------------------------------------------------------------------


class Backwards:
    """An array of a library that isn't NumPy, and runs backwards."""

    def __init__(self) -> None:
        self._array = np.arange(5.0)[::-1]
        self.shape, self.strides = self._array.shape, self._array.strides
        self.__dlpack__, self.__dlpack_device__ = self._array.__dlpack__, self._array.__dlpack_device__


def test_what_runs_backwards_does_not_end_the_process():
    with pytest.raises(ValueError, match="negative stride"):
        interop.from_dlpack(Backwards())


@pytest.mark.slow
def test_torch_s_own_still_ends_it():
    """When this fails, torch refuses by itself, and `from_dlpack` needn't look any more."""
    program = "import numpy, torch; torch.from_dlpack(numpy.arange(5.0)[::-1])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode < 0


def test_a_tensor_is_its_own_neighbour():
    x = torch.arange(5.0)
    assert interop.from_dlpack(x).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError, match="requires a gradient"):
        interop.from_dlpack(torch.zeros(3, requires_grad=True))


# -- JAX ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def jnp():
    import jax.numpy

    return jax.numpy


@pytest.mark.neighbour("jax")
@pytest.mark.parametrize("name", ["float32", "bfloat16", "int32", "bool", "uint8", "complex64"])
def test_jax_and_torch_share_both_ways(jnp, name):
    x = torch.ones(3, 5, dtype=getattr(torch, name))
    array = interop.to_jax(x)
    assert (array.unsafe_buffer_pointer(), array.shape, str(array.dtype)) == (x.data_ptr(), (3, 5), name)
    back = interop.from_dlpack(array)
    assert (back.data_ptr(), back.shape, back.dtype) == (x.data_ptr(), x.shape, x.dtype)


@pytest.mark.neighbour("jax")
def test_the_order_of_the_dims_is_kept(jnp):
    x = torch.arange(15.0).view(3, 5).T
    array = interop.to_jax(x)
    assert (array.unsafe_buffer_pointer(), array.tolist()) == (x.data_ptr(), x.tolist())
    assert interop.from_dlpack(array).tolist() == x.tolist()


@pytest.mark.neighbour("jax")
def test_jax_s_memory_outlives_its_array(jnp):
    array = jnp.arange(1009.0)
    x = interop.from_dlpack(array)
    del array
    gc.collect()
    assert x.sum() == 1008 * 1009 / 2
    array = interop.to_jax(x)
    del x
    gc.collect()
    assert array.sum() == 1008 * 1009 / 2


@pytest.mark.neighbour("jax")
@pytest.mark.parametrize(
    ("x", "reason", "hint"),
    [
        (torch.zeros(3, dtype=torch.int64), "JAX would make torch.int32 of torch.int64", "jax_enable_x64"),
        (
            torch.zeros(3, dtype=torch.float64),
            "JAX would make torch.float32 of torch.float64",
            "tensor.to(torch.float32)",
        ),
        (torch.zeros(3, 5)[:, ::2], r"shape \(3, 3\) and strides \(5, 2\) don't lie side by side", "contiguous"),
        (torch.zeros(1, 5).expand(3, 5), "don't lie side by side", "tensor.contiguous()"),
        (torch.zeros(3, requires_grad=True), "requires a gradient", "tensor.detach()"),
    ],
)
def test_what_jax_cannot_have_says_why(jnp, x, reason, hint):
    with pytest.raises(TorchError, match=reason) as caught:
        interop.to_jax(x)
    assert hint in caught.value.hint


@pytest.mark.neighbour("jax")
def test_what_jax_has_and_torch_has_not(jnp):
    with pytest.raises(TorchError, match=r"dtype int4 can't be shared: UNIMPLEMENTED"):
        interop.from_dlpack(jnp.zeros(3, jnp.int4))


# -- CuPy --------------------------------------------------------------------------------------------------------------


@pytest.mark.neighbour("cupy")
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cupy_and_torch_share_both_ways():
    import cupy

    array = cupy.arange(15.0, dtype=cupy.float32).reshape(3, 5)
    x = interop.from_dlpack(array)
    assert (x.data_ptr(), tuple(x.shape), x.device.type) == (array.data.ptr, (3, 5), "cuda")
    back = cupy.from_dlpack(x)
    assert (back.data.ptr, back.shape, back.dtype) == (x.data_ptr(), (3, 5), array.dtype)
    with pytest.raises(ValueError, match="negative stride"):
        interop.from_dlpack(array[::-1])


# -- Arrow -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def pa():
    return pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    "name",
    [*(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float16", "float32", "float64"],
)
def test_arrow_and_torch_share_both_ways(pa, name):
    column = pa.array(np.ones(5, name))
    x = interop.from_arrow(column)
    assert (x.data_ptr(), str(x.dtype), tuple(x.shape)) == (column.buffers()[1].address, f"torch.{name}", (5,))
    back = interop.to_arrow(x)
    assert (back.buffers()[1].address, back.type) == (x.data_ptr(), column.type)


def test_slices_and_single_chunks_are_shared(pa):
    column = pa.array([2.0, 3.0, 5.0, 7.0])
    assert interop.from_arrow(column[1:3]).tolist() == [3, 5]
    assert interop.from_arrow(pa.chunked_array([column])).data_ptr() == column.buffers()[1].address
    assert interop.from_arrow(pa.chunked_array([], pa.float32())).shape == (0,)


def test_lists_of_one_length_are_dims(pa):
    x = torch.arange(30).view(5, 3, 2)
    column = interop.to_arrow(x)
    assert (str(column.type), column.to_pylist()) == (
        "fixed_size_list<item: fixed_size_list<item: int64>[2]>[3]", x.tolist(),
    )  # fmt: skip
    back = interop.from_arrow(column[2:])
    assert (back.tolist(), back.data_ptr()) == (x[2:].tolist(), x[2:].data_ptr())


def test_tensors_of_a_fixed_shape_are_rows(pa):
    array = np.arange(30.0).reshape(5, 3, 2)
    column = pa.FixedShapeTensorArray.from_numpy_ndarray(array)
    x = interop.from_arrow(column)
    assert (x.tolist(), x.data_ptr()) == (array.tolist(), address(array))
    turned = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float64(), [3, 2], permutation=[1, 0]), column.storage
    )
    assert interop.from_arrow(turned).tolist() == turned.to_numpy_ndarray().tolist()


def test_a_table_s_columns_by_name(pa):
    table = pa.table({"a": [2.0, 3.0], "b": [5, 7], "c": ["x", "y"]})
    found = interop.from_arrow_table(table, ["b", "a"])
    assert {name: x.tolist() for name, x in found.items()} == {"b": [5, 7], "a": [2.0, 3.0]}
    assert found["a"].data_ptr() == table["a"].chunk(0).buffers()[1].address
    with pytest.raises(DTypeMismatch, match="column 'c': torch has no dtype for Arrow's string"):
        interop.from_arrow_table(table)
    with pytest.raises(ValueError, match="there is no column 'd'; the columns are"):
        interop.from_arrow_table(table, ["d"])
    with pytest.raises(TypeMismatch, match="no column of Arrow") as caught:
        interop.from_arrow(table)
    assert "from_arrow_table" in caught.value.hint


def test_arrow_s_memory_outlives_its_column(pa):
    column = pa.array(np.arange(1009.0))
    x = interop.from_arrow(column)
    del column
    gc.collect()
    assert x.sum() == 1008 * 1009 / 2
    column = interop.to_arrow(x)
    del x
    gc.collect()
    assert column.to_numpy().sum() == 1008 * 1009 / 2


def bytes_of(pa, values):
    """A column over bytes, which nobody may write to."""
    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(np.array(values).tobytes())])


def pairs(pa):
    return pa.list_(pa.list_(pa.int64(), 2), 1)


@pytest.mark.parametrize(
    ("make", "reason", "hint", "copied"),
    [
        (lambda pa: pa.array([1, None]), "1 of the 2 values are null", "fill_null", None),
        (lambda pa: pa.chunked_array([[1], [2, 3]]), "in 2 chunks", "combine_chunks", [1, 2, 3]),
        (lambda pa: pa.array([True, False]), "a boolean in a bit", "copy=True", [True, False]),
        (lambda pa: bytes_of(pa, [2.0, 3.0]), "may not be written to", "copy=True", [2.0, 3.0]),
        (lambda pa: pa.array(["a"]), "no dtype for Arrow's string", "dictionary_encode", None),
        (lambda pa: pa.array([1], pa.timestamp("s")), r"no dtype for Arrow's timestamp\[s\]", "cast('int64')", None),
        (lambda pa: pa.array([[1], [2, 3]]), "no dtype for Arrow's list<item: int64>", "list_flatten", None),
        (lambda pa: pa.array([[1, None]], pa.list_(pa.int64(), 2)), "1 values within the lists are null", "fill", None),
        (lambda pa: pa.array([[[2, 3]], [None]], pairs(pa)), "1 values within the lists are null", "fill", None),
    ],
)
def test_what_arrow_cannot_share_says_why(pa, make, reason, hint, copied):
    with pytest.raises(TorchError, match=reason) as caught:
        interop.from_arrow(make(pa))
    assert hint in caught.value.hint
    if copied is None:
        with pytest.raises(TorchError, match=reason):
            interop.from_arrow(make(pa), copy=True)
    else:
        assert interop.from_arrow(make(pa), copy=True).tolist() == copied


@pytest.mark.parametrize(
    ("x", "error", "reason", "copied"),
    [
        (torch.zeros(3, 5).T, ValueError, "is not contiguous", True),
        (torch.tensor([True, False]), ValueError, "a boolean in a byte", True),
        (torch.zeros(3, requires_grad=True), RuntimeError, "requires a gradient", True),
        (torch.zeros(3, dtype=torch.bfloat16), DTypeMismatch, "no dtype for torch.bfloat16", False),
        (torch.zeros(()), ShapeMismatch, "has no dim", False),
        (torch.zeros(3, 0), ShapeMismatch, "lists of no element", False),
    ],
)
def test_what_arrow_cannot_have_says_why(pa, x, error, reason, copied):
    with pytest.raises(error, match=reason) as caught:
        interop.to_arrow(x)
    assert isinstance(caught.value, TorchError)
    if copied:
        assert interop.to_arrow(x, copy=True).to_pylist() == x.tolist()
