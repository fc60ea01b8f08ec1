"""What a subscript of `Tensor` and `Dim` means, and what is said about a bad one."""
# ruff: noqa: E501, UP044 - the texts are pinned as they are

from __future__ import annotations

from typing import Any, Literal, TypeVar, TypeVarTuple

import jaxtyping
import pytest
import torch
from typing_extensions import Unpack

from simpletorch import (
    B,
    Batch,
    Bool,
    CPUTensor,
    CUDATensor,
    Dim,
    Float,
    Float32,
    I,
    Int64,
    N,
    O,
    Parameter,
    Rest,
    Shaped,
    ShapeMismatch,
    T,
    Tensor,
    checked,
)

_Private = TypeVar("_Private")
DT = TypeVar("DT")
FloatDT = TypeVar("FloatDT", bound=Float)
AnyFloat = TypeVar("AnyFloat", bound=Float)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Tensor[Float32, 2, 3], "Float32[Tensor, '2 3']"),
        (Tensor[Float32, 0], "Float32[Tensor, '0']"),
        (Tensor[Float32, B, 784], "Float32[Tensor, 'B 784']"),
        (Tensor[Float32, *Batch, T], "Float32[Tensor, '*Batch T']"),
        (Tensor[Float32, Unpack[Rest]], "Float32[Tensor, '*Rest']"),
        (Tensor[Float32, ..., N], "Float32[Tensor, '... N']"),
        (Tensor[Float32, *tuple[Any, ...]], "Float32[Tensor, '...']"),
        (Tensor[Float32, *tuple[B, 3]], "Float32[Tensor, 'B 3']"),
        (Tensor[Float32, Any, 3], "Float32[Tensor, '_ 3']"),
        (Tensor[Float32, "*Batch", T], "Float32[Tensor, '*Batch T']"),
        (Tensor[Float32, "*_Rest"], "Float32[Tensor, '*dim_Rest']"),
        (Tensor[Float32, Literal[784]], "Float32[Tensor, '784']"),
        (Tensor[Float32, Literal["2 * N"]], "Float32[Tensor, '2*N']"),
        (Tensor[Float32, "2*N"], "Float32[Tensor, '2*N']"),
        (Tensor[Float32, "(N - 1)//2 + 1"], "Float32[Tensor, '(N-1)//2+1']"),
        (Tensor[Float32, "min(N, 4)"], "Float32[Tensor, 'min(N,4)']"),
        (Tensor[Float32, "2 * 3"], "Float32[Tensor, '6']"),
        (Tensor[Float32, "N"], "Float32[Tensor, 'N']"),
        (Tensor[Float32, _Private], "Float32[Tensor, 'dim_Private']"),
        (Tensor[Float32, "2*_Private"], "Float32[Tensor, '2*dim_Private']"),
        (Tensor[Float32], "Float32[Tensor, '']"),
        (Tensor[Float32, ""], "Float32[Tensor, '']"),
        (Tensor[Any, ...], "Shaped[Tensor, '...']"),
        (Tensor[Shaped, ...], "Shaped[Tensor, '...']"),
        (Tensor[DT, 3], "DT[Tensor, '3']"),
        (Tensor[FloatDT, 3], "FloatDT[Tensor, '3']"),
        (Tensor[jaxtyping.Float16, 3], "Float16[Tensor, '3']"),
        (CUDATensor[Bool, 3], "Bool[CUDATensor, '3']"),
        (Parameter[Float32, 3], "Float32[Parameter, '3']"),
        (Float32[torch.Tensor, "b 3"], "Float32[Tensor, 'b 3']"),
    ],
)
def test_a_subscript_is_a_jaxtyping_annotation(annotation: type, text: str):
    assert issubclass(annotation, jaxtyping.AbstractArray)
    assert annotation.__name__ == text


def test_equal_subscripts_are_one_annotation():
    assert Tensor[Float32, B, 3] is Tensor[Float32, B, 3]


def test_the_annotation_is_torchs_tensor():
    assert Tensor[Float32, 3].array_type is torch.Tensor
    assert isinstance(torch.zeros(3), Tensor[Float32, 3])
    assert not isinstance(torch.zeros(3), Tensor[Int64, 3])


BAD = {
    "Tensor[int, 3]": "Tensor[int, ...]: int is no dtype; write Int64 or Int",
    "Tensor[float, 3]": "Tensor[float, ...]: float is no dtype; write Float32 or Float",
    "Tensor[list, 3]": "Tensor[list, ...]: list is no dtype; write one such as Float32, or Shaped for any",
    "Tensor['Float32', 3]": 'Tensor["Float32", ...]: "Float32" is no dtype; write one such as Float32, or Shaped for any',
    "Tensor[3]": "Tensor[3, ...]: 3 is no dtype; write one such as Float32, or Shaped for any",
    "Tensor[torch.float32, 3]": "Tensor[torch.float32, ...]: torch.float32 is a value, not a type; write Float32",
    "Tensor[Float32, -1]": "Tensor[Float32, -1]: -1 is negative, but a size is 0 or more; write Any for an unknown size",
    "Tensor[Float32, '-1']": 'Tensor[Float32, "-1"]: -1 is negative, but a size is 0 or more',
    "Tensor[Float32, *Batch, ...]": (
        "Tensor[...] has 2 variadic parts (*Batch, ...), but a shape can have only one; write the other dims one by one"
    ),
    "Tensor[Float32, Batch]": "Tensor[Float32, Batch]: Batch stands for any number of dims; write *Batch",
    "Tensor[Float32, '2*']": (
        'Tensor[Float32, "2*"]: "2*" is not a dim expression; write integers, names and + - * // % ** min max'
    ),
    "Tensor[Float32, 'N/2']": 'Tensor[Float32, "N/2"]: "N/2" divides with "/", which gives a float; sizes divide with "//"',
    "Tensor[Float32, 'b c']": "Tensor[Float32, \"b c\"]: \"b c\" holds 2 dims; write them one by one: 'b', 'c'",
    "Tensor[Float32, True]": (
        'Tensor[Float32, True]: True is no dim; write an int, a TypeVar, an expression such as "2*N", *Batch, ... or Any'
    ),
    "Tensor[Float32, 1.5]": (
        'Tensor[Float32, 1.5]: 1.5 is no dim; write an int, a TypeVar, an expression such as "2*N", *Batch, ... or Any'
    ),
    "Tensor[Float32, Literal[1, 2]]": (
        "Tensor[Float32, Literal[1, 2]]: a dim has one size; write Any where it may be any of several"
    ),
    "Dim[B, N]": "Dim[B, N]: a Dim is one size; write one Dim for each",
    "Dim[*Batch]": "Dim[*Batch]: a Dim is one size; write one Dim for each",
    "Dim['*Batch']": ('Dim["*Batch"]: a Dim is one size; write an int, a TypeVar, an expression or Any'),
    "Tensor[Float32, '*B', ..., T]": (
        "Tensor[...] has 2 variadic parts (*B, ...), but a shape can have only one; write the other dims one by one"
    ),
    "Dim[-1]": "Dim[-1]: -1 is negative, but a size is 0 or more; write Any for an unknown size",
    "Tensor(3)": (
        "Tensor is a type for annotations and has no instances; write torch.tensor(data), or Tensor.zeros(2, 3) and the like"
    ),
    "Dim(3)": "Dim is a type for annotations; sizes are plain ints",
    "Float32()": (
        "Float32 is a type for annotations and has no instances; "
        "write Tensor[Float32, ...] in an annotation, or dtype=Float32 in a call"
    ),
}


@pytest.mark.parametrize("code", BAD)
def test_bad_input_is_told_in_one_sentence(code: str):
    with pytest.raises((TypeError, ValueError)) as caught:
        eval(code)
    assert str(caught.value) == BAD[code]
    assert "\n" not in str(caught.value)


def test_a_bad_annotation_in_a_string_is_told_where_it_is_written():
    from simpletorch import checked

    with pytest.raises(TypeError, match="int is no dtype; write Int64 or Int"):

        @checked
        def f(x: Tensor[int, 3]) -> None: ...


def test_own_type_variable_tuples_work():
    Lead = TypeVarTuple("Lead")
    assert Tensor[Float32, *Lead, 3].__name__ == "Float32[Tensor, '*Lead 3']"


def test_the_annotation_of_a_device_asks_for_the_device():
    assert isinstance(torch.zeros(3), CPUTensor[Float32, 3])
    assert not isinstance(torch.zeros(3), CUDATensor[Float32, 3])
    assert not isinstance(torch.zeros(3, device="meta"), CPUTensor[Float32, 3])


def test_dims_bind_and_compare_like_tensors():
    with jaxtyping.jaxtyped("context"):
        assert isinstance(torch.zeros(3), Tensor[Float32, N])
        assert isinstance(3, Dim[N])
        assert isinstance(6, Dim["2*N"])
        assert not isinstance(4, Dim[N])
        assert not isinstance(True, Dim[N])
    assert isinstance(4, Dim[Any])
    assert isinstance(4, Dim)
    assert isinstance(4, Dim[4])
    assert not isinstance(5, Dim[4])


def test_a_dim_may_be_optional():
    from simpletorch import checked

    @checked
    def f(n: Dim[N] | None, x: Tensor[Float32, N]) -> None: ...

    f(None, torch.zeros(3))
    f(3, torch.zeros(3))
    with pytest.raises(TypeError):
        f(4, torch.zeros(3))


class TestAliasesWithArguments:
    """``W[3, O]`` of ``W = Tensor[Float32, I, O]``, as mypy reads it."""

    Weight = Tensor[Float32, I, O]
    Any_ = Tensor[AnyFloat, B, *Batch, "2*B", I]

    @pytest.mark.parametrize(
        ("given", "same"),
        [
            ((3, O), Tensor[Float32, 3, O]),
            ((I, O), Tensor[Float32, I, O]),
            ((O, I), Tensor[Float32, O, I]),
            ((int, 5), Tensor[Float32, Any, 5]),
            (("2*K", 5), Tensor[Float32, "2*K", 5]),
        ],
    )
    def test_arguments_replace_the_variables_in_turn(self, given, same):
        assert self.Weight[given] is same

    def test_a_dtype_a_rest_and_an_expression(self):
        assert self.Any_[Float32, 3, 5, 7, 2] is Tensor[Float32, 3, 5, 7, 6, 2]
        assert self.Any_[Float32, O, 2] is Tensor[Float32, O, "2*(O)", 2]
        assert self.Any_[Float32, int, 5, 2] is Tensor[Float32, Any, 5, Any, 2]

    def test_one_argument_needs_no_tuple(self):
        assert Tensor[Float32, B, 3][7] is Tensor[Float32, 7, 3]

    @pytest.mark.parametrize("given", [3, (3, 5, 7), ()])
    def test_another_number_of_arguments(self, given):
        with pytest.raises(TypeError, match=r"takes 2 arguments \(I, O\), but is given"):
            self.Weight[given]

    def test_the_border_reads_them(self):
        weight = self.Weight

        @checked
        def f(w: weight[I, O], x: Tensor[Float32, B, I]) -> weight[B, O]:
            return x @ w

        assert f(torch.zeros(2, 3), torch.zeros(5, 2)).shape == (5, 3)
        with pytest.raises(ShapeMismatch, match="dim 1 of x is 3, but I is 2"):
            f(torch.zeros(2, 3), torch.zeros(5, 3))


def test_an_ellipsis_may_be_a_text():
    assert Tensor[Float32, "...", 50] is Tensor[Float32, ..., 50]
