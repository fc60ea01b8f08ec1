"""The phantom tensors: isinstance, and factories that are torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import simpletorch as st
from simpletorch import CPUTensor, CUDATensor, MPSTensor, Parameter, Tensor

FACTORIES = {
    "zeros": ((2, 3), {}),
    "ones": ((2, 3), {}),
    "full": (((2, 3), 7.0), {}),
    "empty": ((2, 3), {}),
    "rand": ((2, 3), {}),
    "randn": ((2, 3), {}),
    "randint": ((0, 5, (2, 3)), {}),
    "arange": ((5,), {}),
    "linspace": ((0, 1, 5), {}),
    "logspace": ((0, 1, 5), {}),
    "eye": ((3,), {}),
    "tensor": (([1.0, 2.0],), {}),
    "from_array": ((np.ones(3),), {}),
    "from_numpy": ((np.ones(3),), {}),
    "zeros_like": ((torch.ones(3),), {}),
    "ones_like": ((torch.ones(3),), {}),
    "full_like": ((torch.ones(3), 2.0), {}),
    "empty_like": ((torch.ones(3),), {}),
    "rand_like": ((torch.ones(3),), {}),
    "randn_like": ((torch.ones(3),), {}),
    "tril_indices": ((3, 3), {}),
    "one_hot": ((torch.tensor([0, 2]), 3), {}),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_is_torchs_own(name: str):
    theirs = {"one_hot": torch.nn.functional.one_hot, "from_array": st.from_array}.get(name, getattr(torch, name, None))
    made = getattr(Tensor, name)
    assert getattr(made, "__wrapped__", made) is theirs


@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_of_a_device_makes_plain_tensors_there(name: str):
    args, kwargs = FACTORIES[name]
    made = getattr(CPUTensor, name)(*args, **kwargs)
    assert type(made) is torch.Tensor
    assert isinstance(made, CPUTensor)
    torch.manual_seed(0)
    made = getattr(CPUTensor, name)(*args, **kwargs)
    torch.manual_seed(0)
    if not name.startswith("empty"):
        assert torch.equal(made, getattr(Tensor, name)(*args, **kwargs))


WITH_DTYPE = [name for name in FACTORIES if name not in ("from_numpy", "one_hot")]


@pytest.mark.parametrize("name", WITH_DTYPE)
@pytest.mark.parametrize("face", [Tensor, CPUTensor, Parameter])
def test_a_factory_takes_a_dtype_as_annotations_have_it(face: type, name: str):
    args, kwargs = FACTORIES[name]
    dtype = st.Int32 if name == "tril_indices" else st.Float64
    made = getattr(face, name)(*args, **kwargs, dtype=dtype, **({"requires_grad": False} if face is Parameter else {}))
    assert made.dtype == dtype.dtype


@pytest.mark.parametrize("name", FACTORIES)
def test_a_face_with_a_dtype_makes_tensors_of_it(name: str):
    args, kwargs = FACTORIES[name]
    dtype = st.Int32 if name == "tril_indices" else st.Float64
    assert getattr(Tensor[dtype], name)(*args, **kwargs).dtype == dtype.dtype
    made = getattr(CPUTensor[dtype], name)(*args, **kwargs)
    assert made.dtype == dtype.dtype
    assert made.device.type == "cpu"


def test_a_face_with_a_dtype_refuses_another_one():
    assert Tensor[st.Float64].zeros(3, dtype=st.Float64).dtype == torch.float64
    assert Tensor[st.Float64].zeros(3, dtype=torch.float64).dtype == torch.float64
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text follows
        Tensor[st.Float64].zeros(3, dtype=torch.int64)
    assert str(caught.value) == (
        "Tensor[Float64].zeros makes tensors of Float64, not of torch.int64; write Tensor.zeros(..., dtype=torch.int64)"
    )


def test_a_kind_of_dtypes_makes_nothing():
    assert not hasattr(Tensor[st.Float], "zeros")
    assert not hasattr(Tensor[st.Float32, 3], "zeros")


def test_a_parameter_is_trainable_unless_told_otherwise():
    assert Parameter.zeros(3, 5).requires_grad
    assert not Parameter.zeros(3, 5, requires_grad=False).requires_grad
    assert isinstance(Parameter[st.Float64].zeros(3, 5), torch.nn.Parameter)


def test_a_factory_of_a_device_refuses_another_one():
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text follows
        CPUTensor.zeros(2, device="cuda")
    assert (
        str(caught.value) == "CPUTensor.zeros makes tensors on cpu, not on cuda; write Tensor.zeros(..., device='cuda')"
    )


def test_factories_leave_the_default_device_alone():
    with torch.device("meta"):
        assert CPUTensor.zeros(2).device.type == "cpu"


def test_isinstance_asks_torch():
    x = torch.zeros(2)
    assert isinstance(x, Tensor)
    assert isinstance(x, CPUTensor)
    assert not isinstance(x, CUDATensor)
    assert not isinstance(x, MPSTensor)
    assert not isinstance(x, Parameter)
    assert isinstance(torch.nn.Parameter(x), Parameter)
    assert isinstance(torch.nn.Parameter(x), Tensor)
    assert not isinstance([1.0], Tensor)
    assert not isinstance(np.zeros(2), Tensor)


def test_issubclass_knows_the_family():
    assert issubclass(torch.Tensor, Tensor)
    assert issubclass(torch.nn.Parameter, Tensor)
    assert issubclass(CPUTensor, Tensor)
    assert issubclass(torch.nn.Parameter, Parameter)
    assert not issubclass(torch.Tensor, CPUTensor)
    assert not issubclass(int, Tensor)


def test_a_parameter_is_torchs():
    w = Parameter(torch.zeros(3))
    assert type(w) is torch.nn.Parameter
    assert w.requires_grad
    assert not Parameter(torch.zeros(3), requires_grad=False).requires_grad
    assert type(Parameter.zeros(3)) is torch.nn.Parameter
    assert not Parameter.zeros(3, requires_grad=False).requires_grad


def test_from_array_shares_memory():
    array = np.zeros(3, dtype=np.float32)
    x = st.from_array(array)
    array[0] = 7
    assert x[0] == 7
    assert st.from_array([1, 2], dtype=torch.float64).dtype == torch.float64
    assert st.from_array(array, requires_grad=True).requires_grad


def test_from_dlpack_shares_memory_on_its_device_and_in_its_dtype():
    array = np.ones((3, 5), np.float32)
    for make in (Tensor.from_dlpack, CPUTensor.from_dlpack, Tensor[st.Float32].from_dlpack):
        assert make(array).data_ptr() == array.__array_interface__["data"][0]
    assert Tensor[st.Float64].from_dlpack(array).dtype == torch.float64
    with pytest.raises(ValueError, match="makes tensors on cpu, not on meta"):
        CPUTensor.from_dlpack(array, device="meta")


METHODS = [n for n in dir(torch.Tensor) if not n.startswith("_") and callable(getattr(torch.Tensor, n))]


@pytest.mark.parametrize("cls", [Tensor, CPUTensor, CUDATensor, MPSTensor])
def test_every_method_of_torch_is_a_function(cls: type):
    assert len(METHODS) > 500
    assert [name for name in METHODS if getattr(cls, name, None) is not getattr(torch.Tensor, name)] == []


def test_a_method_as_a_function():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(Tensor.sum(x, 1), x.sum(1))
    with pytest.raises(AttributeError, match="type object 'Tensor' has no attribute 'smu'"):
        _ = Tensor.smu


def test_an_array_may_be_given_its_shape():
    x = st.from_array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[2, 3], requires_grad=True)
    assert x.shape == (2, 3)
    assert x.is_leaf
    assert x.requires_grad
    array = np.arange(6.0)
    assert Tensor.from_array(array, shape=(3, 2)).data_ptr() == array.ctypes.data
    with pytest.raises(RuntimeError, match="invalid for input of size 6"):
        st.from_array(array, shape=[5, 2])
