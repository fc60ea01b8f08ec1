"""`checked` and `Module.forward`: annotations are enforced when the program runs."""
# ruff: noqa: UP045 - a dim string is no quoted annotation, and Optional has to work as well

from __future__ import annotations

import enum
import pickle
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Optional, Protocol, runtime_checkable

import jaxtyping
import pytest
import torch

from simpletorch import Batch, Dim, Float32, Int64, K, M, N, Tensor, checked, nn
from simpletorch.checks import Border
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TorchError, TypeMismatch


def border_of(function: Any) -> Border:
    return function.__globals__["_st_admit"].__self__


@checked
def product(x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
    return x @ y


def test_a_call_that_fits_passes():
    assert product(torch.zeros(2, 3), torch.zeros(3, 5)).shape == (2, 5)


def test_one_size_variable_has_one_value_in_a_call():
    with pytest.raises(ShapeMismatch) as caught:
        product(torch.zeros(2, 3), torch.zeros(5, 7))
    assert caught.value.reason == "dim 0 of y is 5, but K is 3 from dim 1 of x"


def test_a_size_variable_is_free_again_in_the_next_call():
    product(torch.zeros(2, 3), torch.zeros(3, 5))
    product(torch.zeros(2, 7), torch.zeros(7, 5))


def test_the_result_is_checked_with_the_sizes_of_the_arguments():
    @checked
    def transposed(x: Tensor[Float32, M, N]) -> Tensor[Float32, M, N]:
        return x.T

    transposed(torch.zeros(3, 3))
    with pytest.raises(ShapeMismatch, match="dim 0 of the result is 3, but M is 2 from dim 0 of x"):
        transposed(torch.zeros(2, 3))


def test_a_result_that_changes_under_equal_arguments_is_seen():
    results = iter([torch.zeros(2), torch.zeros(2), torch.zeros(3)])

    @checked
    def draw(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return next(results)

    draw(torch.zeros(2))
    draw(torch.zeros(2))
    with pytest.raises(ShapeMismatch, match="the result"):
        draw(torch.zeros(2))


def test_a_wrong_dtype_is_a_dtype_mismatch():
    with pytest.raises(DTypeMismatch, match="x is Int64, but should be Float32"):
        product(torch.zeros(2, 3, dtype=torch.int64), torch.zeros(3, 5))


def test_no_tensor_is_a_type_mismatch():
    with pytest.raises(TypeMismatch, match=r"x should be a Tensor, Float32\[M, K\], but is of type list"):
        product([[1.0]], torch.zeros(3, 5))


def test_a_refusal_can_be_caught_as_jaxtypings_error_a_type_error_or_a_runtime_error():
    for cls in (jaxtyping.TypeCheckError, TypeError, RuntimeError, TorchError, ShapeMismatch):
        with pytest.raises(cls):
            product(torch.zeros(2, 3), torch.zeros(5, 7))


def test_a_call_refused_once_is_refused_again():
    for _ in range(3):
        with pytest.raises(ShapeMismatch):
            product(torch.zeros(2, 3), torch.zeros(5, 7))


def test_all_mistakes_of_a_call_are_told():
    with pytest.raises(TorchError) as caught:
        product(torch.zeros(2), torch.zeros(3, 5, dtype=torch.int32))
    assert caught.value.reason == "x has 1 dim, not 2; y is Int32, but should be Float32"


def test_the_whole_message():
    x, y = torch.zeros(2, 3), torch.zeros(5, 7)
    with pytest.raises(ShapeMismatch) as caught:
        product(x, y)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "product: dim 0 of y is 5, but K is 3 from dim 1 of x",
        "  x  Float32[2, 3]  (cpu)",
        "  y  Float32[5, 7]  (cpu)  should be Float32[K, N]",
    ]
    assert lines[3].endswith(": product(x, y)")


def test_jaxtypings_own_style_works():
    @checked
    def f(x: jaxtyping.Float32[torch.Tensor, "batch 784"]) -> jaxtyping.Float32[torch.Tensor, "batch 10"]:
        return x[:, :10]

    f(torch.zeros(3, 784))
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 783, not 784"):
        f(torch.zeros(3, 783))


def test_jaxtypings_dims_that_depend_on_an_argument_are_checked_on_every_call():
    @checked
    def f(size: int, x: jaxtyping.Float32[torch.Tensor, "{size}"]) -> None: ...

    f(3, torch.zeros(3))
    f(4, torch.zeros(4))
    with pytest.raises(ShapeMismatch):
        f(4, torch.zeros(3))


def test_variadic_dims():
    @checked
    def f(x: Tensor[Float32, *Batch, 3], y: Tensor[Float32, *Batch]) -> None: ...

    f(torch.zeros(3), torch.zeros(()))
    f(torch.zeros(5, 7, 3), torch.zeros(5, 7))
    with pytest.raises(ShapeMismatch, match=r"\*Batch is \(5,\) in y, but \(5, 7\) before"):
        f(torch.zeros(5, 7, 3), torch.zeros(5))


def test_a_computed_size_may_come_before_the_one_it_is_computed_from():
    @checked
    def f(x: Tensor[Float32, "2*N"], y: Tensor[Float32, N]) -> Tensor[Float32, "N + 1"]:
        return x[: len(y) + 1]

    f(torch.zeros(6), torch.zeros(3))
    with pytest.raises(ShapeMismatch, match=r"dim 0 of x is 7, but 2\*N is 6"):
        f(torch.zeros(7), torch.zeros(3))


def test_a_scalar_has_no_dims():
    @checked
    def loss(x: Tensor[Float32, ...]) -> Tensor[Float32]:
        return x.mean()

    loss(torch.zeros(2, 3))

    @checked
    def wrong(x: Tensor[Float32, ...]) -> Tensor[Float32]:
        return x

    with pytest.raises(ShapeMismatch, match="the result has 2 dims, not 0"):
        wrong(torch.zeros(2, 3))


def test_a_dim_binds_with_the_tensors():
    @checked
    def f(n: Dim[N], x: Tensor[Float32, N]) -> None: ...

    f(3, torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(4, torch.zeros(3))
    with pytest.raises(TypeMismatch):
        f(True, torch.zeros(1))
    with pytest.raises(TypeMismatch):
        f("3", torch.zeros(3))


def test_optional_tensors():
    @checked
    def f(
        x: Tensor[Float32, N], mask: Tensor[Float32, N] | None = None, y: Optional[Tensor[Float32, N]] = None
    ) -> None: ...

    f(torch.zeros(3))
    f(torch.zeros(3), None, torch.zeros(3))
    f(torch.zeros(3), mask=torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(3), torch.zeros(4))
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(3), y=torch.zeros(4))


def test_a_default_passes_whatever_its_annotation():
    @checked
    def f(x: Tensor[Float32, N] = None) -> None: ...

    f()
    f(torch.zeros(3))
    with pytest.raises(TypeMismatch):
        f(3)


def test_args_and_kwargs():
    @checked
    def f(*xs: Tensor[Float32, N], scale: float = 1.0, **more: Tensor[Float32, N]) -> float:
        return scale

    assert f(torch.zeros(3), torch.zeros(3), scale=2.0, y=torch.zeros(3)) == 2.0
    f()
    with pytest.raises(ShapeMismatch, match=r"dim 0 of xs\[1\] is 4, but N is 3"):
        f(torch.zeros(3), torch.zeros(4))
    with pytest.raises(ShapeMismatch, match="dim 0 of y is 4"):
        f(torch.zeros(3), y=torch.zeros(4))
    with pytest.raises(TypeMismatch):
        f(scale="2")


def test_positional_only_and_keyword_only_parameters_keep_their_kind():
    @checked
    def f(x: int, /, y: int, *, z: int = 3) -> tuple[int, int, int]:
        return x, y, z

    assert f(1, y=2) == (1, 2, 3)
    with pytest.raises(TypeError, match="positional-only"):
        f(x=1, y=2)
    with pytest.raises(TypeError):
        f(1, 2, 3)


def test_containers_are_keyed_by_their_leaves():
    @checked
    def f(
        xs: list[Tensor[Float32, N]], pair: tuple[Tensor[Float32, N], int], named: Mapping[str, Tensor[Float32, N]]
    ) -> None: ...

    good = torch.zeros(3)
    f([good, good], (good, 1), {"a": good})
    f([], (good, 1), {})
    for bad in (
        ([good, torch.zeros(4)], (good, 1), {}),
        ([good], (good, "1"), {}),
        ([good], (good, 1), {"a": torch.zeros(4)}),
    ):
        for _ in range(2):
            with pytest.raises(TorchError):
                f(*bad)


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


def test_every_item_of_a_long_list_counts():
    @checked
    def f(xs: Sequence[int]) -> None: ...

    f(list(range(1000)))
    with pytest.raises(TorchError):
        f([*range(999), "x"])


def test_named_tuples_and_tuple_results():
    @checked
    def f(pair: Pair) -> tuple[Tensor[Float32, N], ...]:
        return pair.left, pair.right

    f(Pair(torch.zeros(3), torch.zeros(3)))
    with pytest.raises(TorchError):
        f(Pair(torch.zeros(3), torch.zeros(4)))
    with pytest.raises(TorchError):
        f((torch.zeros(3), torch.zeros(3)))


def test_unions_of_shapes():
    @checked
    def f(x: Tensor[Float32, 3] | Tensor[Int64, 5] | int) -> None: ...

    f(torch.zeros(3))
    f(torch.zeros(5, dtype=torch.int64))
    f(7)
    for bad in (torch.zeros(5), torch.zeros(3, dtype=torch.int64), "x"):
        with pytest.raises(TorchError):
            f(bad)


def test_literals_are_keyed_by_value():
    @checked
    def f(mode: Literal["mean", "sum"]) -> None: ...

    f("mean")
    with pytest.raises(TorchError):
        f("max")


@runtime_checkable
class Sized(Protocol):
    size: int


class Thing:
    pass


def test_what_has_no_sound_key_is_checked_in_full_every_time():
    @checked
    def f(thing: Sized) -> None: ...

    good, bad = Thing(), Thing()
    good.size = 3
    f(good)
    with pytest.raises(TorchError):
        f(bad)


class Colour(enum.Enum):
    RED = 1


def test_classes_are_keyed_by_class():
    @checked
    def f(colour: Colour, layer: nn.Linear, x: torch.Tensor) -> None: ...

    f(Colour.RED, torch.nn.Linear(2, 3), torch.zeros(2))
    with pytest.raises(TypeMismatch, match="layer should be"):
        f(Colour.RED, torch.nn.ReLU(), torch.zeros(2))


def test_a_torch_parameter_is_no_plain_tensor_and_the_other_way_round():
    from simpletorch import Parameter

    @checked
    def f(w: Parameter[Float32, N]) -> None: ...

    f(torch.nn.Parameter(torch.zeros(3)))
    with pytest.raises(TypeMismatch, match="w should be a Parameter, but is a plain Tensor"):
        f(torch.zeros(3))


def test_methods_class_methods_static_methods_and_properties():
    class Box:
        def __init__(self) -> None:
            self.x = torch.zeros(3)

        @checked
        def method(self, x: Tensor[Float32, 3]) -> Tensor[Float32, 3]:
            return x

        @checked
        @classmethod
        def of_class(cls, x: Tensor[Float32, 3]) -> str:
            return cls.__name__

        @checked
        @staticmethod
        def static(x: Tensor[Float32, 3]) -> None: ...

        @checked
        @property
        def weights(self) -> Tensor[Float32, 4]:
            return self.x

    box, bad = Box(), torch.zeros(4)
    assert Box.of_class(box.x) == "Box"
    box.method(box.x)
    for call in (box.method, Box.of_class, Box.static):
        with pytest.raises(ShapeMismatch):
            call(bad)
    with pytest.raises(ShapeMismatch):
        _ = box.weights


def test_what_is_no_function_cannot_be_decorated():
    with pytest.raises(TypeError, match="checked takes a function or a class, not a Linear"):
        checked(torch.nn.Linear(2, 3))


def test_nested_checked_functions_have_scopes_of_their_own():
    @checked
    def twice(x: Tensor[Float32, M, K]) -> Tensor[Float32, M, K]:
        return product(product(x, x.T), x)

    assert twice(torch.zeros(2, 3)).shape == (2, 3)


def test_string_annotations_see_local_names():
    local = torch.Tensor

    @checked
    def f(x: jaxtyping.Float32[local, "3"]) -> None: ...

    f(torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(torch.zeros(4))


def test_string_annotations_may_name_what_is_defined_later():
    @checked
    def f(x: Later) -> None: ...

    globals()["Later"] = Tensor[Float32, 3]
    try:
        f(torch.zeros(3))
        with pytest.raises(ShapeMismatch):
            f(torch.zeros(4))
    finally:
        del globals()["Later"]


def test_an_annotation_that_exists_for_the_checker_only_is_left_unchecked():
    @checked
    def f(x: OnlyForMypy, y: Tensor[Float32, 3]) -> None: ...

    f(object(), torch.zeros(3))
    with pytest.raises(ShapeMismatch):
        f(object(), torch.zeros(4))


def test_name_doc_and_signature_stay():
    import inspect

    assert product.__name__ == "product"
    assert list(inspect.signature(product).parameters) == ["x", "y"]
    assert pickle.loads(pickle.dumps(product)) is product


def test_memory_is_bounded_over_ever_new_shapes():
    @checked
    def f(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x

    base = torch.zeros(4000)
    for n in range(4000):
        f(base[:n])
    assert len(border_of(f).seen) <= 1024


def test_results_are_bounded_for_one_signature():
    sizes = iter(range(500))

    @checked
    def f(x: Tensor[Float32, 1]) -> Tensor[Float32, N]:
        return torch.zeros(next(sizes))

    x = torch.zeros(1)
    for _ in range(500):
        f(x)
    (results,) = border_of(f).seen.values()
    assert len(results) <= 64


def test_threads_do_not_disturb_each_other():
    failures: list[object] = []

    def work(size: int) -> None:
        for n in range(1, 60):
            if product(torch.zeros(size, n), torch.zeros(n, size)).shape != (size, size):
                failures.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_isinstance_in_a_body_compares_with_the_sizes_of_the_call():
    @checked
    def f(x: jaxtyping.Float32[torch.Tensor, "n"], y: torch.Tensor) -> jaxtyping.Float32[torch.Tensor, "n m"] | None:
        return x[:, None] * y if isinstance(y, jaxtyping.Float32[torch.Tensor, "m"]) else None

    @checked
    def same(x: Tensor[Float32, N], y: torch.Tensor) -> bool:
        return isinstance(y, Tensor[Float32, N])

    for _ in range(2):
        assert f(torch.zeros(3), torch.zeros(5)).shape == (3, 5)
        assert f(torch.zeros(3), torch.zeros(5, 2)) is None
        assert same(torch.zeros(3), torch.zeros(3))
        assert not same(torch.zeros(3), torch.zeros(5))
        with pytest.raises(ShapeMismatch, match="x has 2 dims"):
            same(torch.zeros(3, 3), torch.zeros(3))


def test_names_that_a_body_binds_hold_for_the_result():
    @checked
    def f(y: torch.Tensor) -> Tensor[Float32, N]:
        assert isinstance(y, Tensor[Float32, N, 2])
        return torch.zeros(3) @ y.new_ones(3, 5) if len(y) == 7 else y[:, 0]

    assert f(torch.zeros(4, 2)).shape == (4,)
    with pytest.raises(ShapeMismatch, match="the result"):
        f(torch.zeros(7, 2))


def test_torchs_errors_in_such_a_body_are_explained():
    @checked
    def f(x: Tensor[Float32, N, K]) -> Tensor[Float32, N, N]:
        assert isinstance(x, Tensor[Float32, N, K])
        return x @ x

    with pytest.raises(ShapeMismatch, match="the inner dims differ: input has 3, other has 2"):
        f(torch.zeros(2, 3))
