"""Annotations as types: a user's generic class stands for itself, whatever dims stand in its brackets."""
# ruff: noqa: UP045 - both spellings of a union

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, Protocol, TypedDict, Union

import pytest
import torch

from simpletorch import B, D, Float32, H, Tensor, checked, nn
from simpletorch.errors import ShapeMismatch, TypeMismatch

z = torch.zeros


class KV(NamedTuple, Generic[B, D]):
    keys: Tensor[Float32, B, D]


@dataclass
class Batch(Generic[B]):
    x: Tensor[Float32, B]


class Deep(Batch["D//H"]):
    pass


class Stack(list[D]):
    pass


class Sized(TypedDict, Generic[B]):
    x: Tensor[Float32, B]


class Has(Protocol[B]):
    x: Tensor[Float32, B]


class Net(nn.Module, Generic[D]):
    def forward(self, kv: KV[B, "D//H"], x: Tensor[Float32, D, H]) -> KV[B, "2*D"]:
        return kv


def test_dims_in_a_named_tuple_are_not_evaluated():
    net, kv = Net(), KV(z(2, 3))
    assert net(kv, z(3, 4)) is kv
    assert len(Net.forward.__globals__["_st_seen"]) == 1
    with pytest.raises(TypeMismatch, match="kv should be a KV, but is of type tuple"):
        net((z(2, 3),), z(3, 4))
    with pytest.raises(ShapeMismatch):
        net(kv, z(3))


@pytest.mark.parametrize(
    ("hint", "good"),
    [
        (KV[B, "D//H"], KV(z(2, 3))),
        (KV["batch", 4], KV(z(2, 3))),
        (Optional[KV[B, "2*H"]], KV(z(2, 3))),
        (KV[B, "2*H"] | None, KV(z(2, 3))),
        (Optional["KV[B, 'D//H']"], KV(z(2, 3))),
        ("KV[B, 'D//H']", KV(z(2, 3))),
        (list[KV[B, "D//H"]], [KV(z(2, 3))]),
        ("dict[str, tuple[KV[B, 'D//H'], ...]]", {"a": (KV(z(2, 3)),)}),
        (Batch["2*B"], Batch(z(3))),
        (Batch["2*B"], Deep(z(3))),
        (Deep, Deep(z(3))),
        (Stack["D//H"], Stack([3])),
        (Net["D//H"], Net()),
        (nn.Linear[4, "D//H"], torch.nn.Linear(4, 3)),
        (Annotated[Batch["2*B"], "a batch"], Batch(z(3))),
    ],
)
def test_a_generic_class_is_checked_as_that_class(hint: Any, good: Any):
    def f(x: hint) -> hint:
        return x

    f = checked(f)
    assert f(good) is good
    assert f(good) is good
    for bad in (3, "x", [3], z(3)):
        with pytest.raises(TypeError):
            f(bad)


@pytest.mark.parametrize(
    "hint", [Sized["D//H"], Has["D//H"], Callable[[KV[B, "D//H"]], Batch["2*B"]], Union["Has", int]]
)
def test_what_has_no_class_to_check_is_no_error(hint: Any):
    def f(x: hint) -> None: ...

    f = checked(f)
    for value in ({"x": z(3)}, lambda: 3, Batch(z(3))):
        try:
            f(value)
        except TypeError as error:
            assert "should be" in str(error)  # noqa: PT017 - which of them pass is beartype's affair


def test_strings_are_evaluated_wherever_they_stand():
    @checked
    def f(
        x: "list['Tensor[Float32, B]']", mode: Literal["KV", "B"], y: Optional["Tensor[Float32, B]"] = None
    ) -> "None": ...

    f([z(3)], "KV", z(3))
    for bad in (([z(3), z(4)], "KV"), ([z(3)], "D"), ([z(3)], "KV", z(4))):
        with pytest.raises(TypeError):
            f(*bad)


def test_a_wrong_annotation_is_still_told():
    with pytest.raises(TypeError, match="int is no dtype"):

        @checked
        def f(x: list["Tensor[int, 3]"]) -> None: ...
