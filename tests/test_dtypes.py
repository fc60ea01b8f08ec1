"""The dtypes as types."""

from __future__ import annotations

import jaxtyping
import pytest
import torch

import simpletorch as st
from simpletorch import dtypes
from simpletorch.dtypes import (
    Bool,
    Complex,
    Float,
    Float32,
    Float64,
    Inexact,
    Int,
    Integer,
    Num,
    Real,
    Shaped,
    UInt,
    dtype_of,
)

CLASSES = [c for name in dtypes.__all__ if isinstance(c := getattr(dtypes, name), type)]
CONCRETE = [c for c in CLASSES if c.torch_name is not None]


@pytest.mark.parametrize("cls", CONCRETE, ids=lambda c: c.__name__)
def test_a_concrete_dtype_knows_torchs_and_back(cls: type[Shaped]):
    assert isinstance(cls.dtype, torch.dtype)
    assert dtype_of(cls.dtype) is cls


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_the_hierarchy_is_jaxtypings(cls: type[Shaped]):
    kinds = {k: getattr(jaxtyping, k.__name__) for k in (Num, Real, Inexact, Integer, Int, UInt, Float, Complex, Bool)}
    if cls not in CONCRETE:
        return
    x = torch.empty(2, dtype=cls.dtype)
    for kind, theirs in kinds.items():
        assert issubclass(cls, kind) == isinstance(x, theirs[torch.Tensor, "..."])


def test_every_dtype_of_torch_that_holds_plain_numbers_has_a_type():
    names = {str(d).removeprefix("torch.") for d in vars(torch).values() if isinstance(d, torch.dtype)}
    exotic = {n for n in names if n.startswith(("q", "bits", "float4", "float8", "int", "uint", "complex32"))}
    usual = names - exotic | {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    assert usual <= {c.torch_name for c in CONCRETE}


def test_a_kind_has_no_torch_dtype():
    with pytest.raises(TypeError) as caught:
        _ = Float.dtype
    assert str(caught.value) == (
        "Float is a kind of dtypes, so it has no torch.dtype; take a concrete one such as Float32 or Float64"
    )


def test_a_dtype_without_a_type_is_told():
    with pytest.raises(TypeError, match=r"torch\.quint8 has no simpletorch dtype; those known are float32, float64"):
        dtype_of(torch.quint8)


def test_a_dtype_reads_well():
    assert repr(Float32) == "simpletorch.Float32"


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.zeros(3, dtype=Float64),
        lambda: st.zeros([3], dtype=Float64),
        lambda: torch.zeros(3).to(dtype=Float64),
        lambda: torch.zeros(3).to(Float64),
        lambda: torch.zeros(3).sum(dtype=Float64),
        lambda: torch.nn.Linear(3, 5).to(Float64).weight,
    ],
)
def test_a_class_stands_for_its_dtype_wherever_torch_takes_one(make):
    assert make().dtype == torch.float64


@pytest.mark.parametrize(
    "made",
    [
        lambda x: x + torch.zeros(3, dtype=Float64),
        lambda x: x.to(Float64),
        lambda x: x.sum(dtype=Float64),
        lambda x: torch.ones_like(x, dtype=Float64),
        lambda x: st.zeros([3], dtype=Float64),
        lambda x: st.Tensor[Float64].ones(3),
    ],
)
def test_a_class_stands_for_its_dtype_in_compiled_code(made):
    compiled = torch.compile(made, backend="eager", fullgraph=True)
    assert compiled(torch.zeros(3)).dtype == torch.float64


def test_a_kind_of_dtypes_is_none_of_torch_s():
    with pytest.raises(TypeError, match="Float is a kind of dtypes"):
        torch.zeros(3, dtype=Float)
