"""The dtype hierarchy at a border, and type variables that stand for a dtype."""

from __future__ import annotations

from typing import Generic, TypeVar

import pytest
import torch

import simpletorch
from _simpletorch.dtypes import concrete_dtypes_of
from simpletorch import Complex, Float, Float32, Float64, Int64, N, Num, Parameter, Tensor, checked, dtype_of
from simpletorch.dtypes import Shaped
from simpletorch.errors import DTypeMismatch

z = torch.zeros
DT = TypeVar("DT")
FloatDT = TypeVar("FloatDT", bound=Float)
Wide = TypeVar("Wide", Float64, Int64)

CONCRETE = [getattr(simpletorch, name) for name in concrete_dtypes_of(Shaped)]
KINDS = [getattr(simpletorch.dtypes, name) for name in simpletorch.dtypes.__all__ if name[0].isupper()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_kind_admits_exactly_the_dtypes_below_it(kind: type):
    @checked
    def f(x: Tensor[kind, ...]) -> None: ...

    for dtype in CONCRETE:
        value = torch.empty(2, dtype=dtype.dtype)
        if issubclass(dtype, kind):
            f(value)
        else:
            with pytest.raises(DTypeMismatch, match=f"x is {dtype.__name__}, but should be {kind.__name__}"):
                f(value)


@checked
def added(x: Tensor[DT, N], y: Tensor[DT, N], wrong: bool = False) -> Tensor[DT, N]:
    return (x + y).float() if wrong else x + y


def test_the_result_has_the_dtype_of_the_arguments():
    for _ in range(2):
        assert added(z(3), z(3)).dtype == torch.float32
        assert added(z(3).long(), z(3).long()).dtype == torch.int64
        with pytest.raises(DTypeMismatch) as caught:
            added(z(3).long(), z(3).long(), True)
        assert caught.value.reason == "the result is Float32, but DT is Int64 from x"


def test_arguments_may_differ_as_for_a_type_checker():
    assert added(z(3), z(3).double()).dtype == torch.float64
    assert added(z(3), z(3).double(), True).dtype == torch.float32


class Kept(Generic[DT]):
    @checked
    def converted(self, x: Tensor[DT, N]) -> Tensor[DT, N]:
        return x.double()


def test_a_variable_of_the_class_may_stand_for_a_kind():
    assert Kept[Float]().converted(z(3)).dtype == torch.float64


def test_a_bound_and_constraints_say_which_dtypes_are_meant():
    @checked
    def f(x: Tensor[FloatDT, N]) -> None: ...

    @checked
    def g(x: Tensor[Wide, N], *more: Tensor[Wide, N]) -> None: ...

    f(z(3).bfloat16())
    with pytest.raises(DTypeMismatch, match="x is Int64, but should be Float"):
        f(z(3).long())
    g(z(3).double(), z(3).double())
    with pytest.raises(DTypeMismatch, match="x is Float32, but should be Float64 or Int64"):
        g(z(3))


def test_variables_in_containers_and_optional_tensors():
    @checked
    def f(xs: list[Tensor[DT, N]], y: Tensor[DT, N] | None = None) -> tuple[Tensor[DT, N], Tensor[Num, ...]]:
        return xs[-1] if y is None else y.double(), z(1)

    f([z(3), z(3)])
    f([z(3), z(3).long()])
    f([z(3).double()], z(3).double())
    with pytest.raises(DTypeMismatch, match=r"the result\[0\] is Float64, but DT is Float32 from xs\[0\]"):
        f([z(3)], z(3))


def test_autocast_leaves_float_variables_open():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        added(z(3).bfloat16(), z(3).bfloat16(), True)
    with pytest.raises(DTypeMismatch):
        added(z(3).bfloat16(), z(3).bfloat16(), True)


def test_parameters_have_dtypes_too():
    @checked
    def f(w: Parameter[Complex, N], x: Tensor[Float32, N]) -> None: ...

    f(torch.nn.Parameter(z(3, dtype=torch.complex64)), z(3))
    with pytest.raises(DTypeMismatch, match="w is Float32, but should be Complex"):
        f(torch.nn.Parameter(z(3)), z(3))
    assert dtype_of(torch.complex64).__name__ == "Complex64"
