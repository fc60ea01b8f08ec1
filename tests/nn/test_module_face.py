"""`nn.Module` of ours where other modules and other bases meet it."""

import abc
import pickle
from typing import Protocol

import pytest
import torch
import typing_extensions

from simpletorch import Float32, Float64, Tensor, checked, nn
from simpletorch.dims import B
from simpletorch.errors import ShapeMismatch, TypeMismatch


class Called(Protocol):
    def forward(self, x: torch.Tensor) -> torch.Tensor: ...


class CalledToo(typing_extensions.Protocol):
    def forward(self, x: torch.Tensor) -> torch.Tensor: ...


class Own(nn.Module):
    def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 3]:
        return x


@pytest.mark.parametrize(
    "module", [nn.Linear(3, 5), nn.ReLU(), nn.ModuleList([]), nn.Sequential(), torch.nn.GELU(), Own()]
)
def test_every_layer_is_a_module(module):
    assert isinstance(module, nn.Module)
    assert issubclass(type(module), nn.Module)


@pytest.mark.parametrize("value", [3, None, torch.zeros(2), nn.Linear])
def test_nothing_else_is(value):
    assert not isinstance(value, nn.Module)


def test_a_border_takes_every_layer():
    @checked
    def same(module: nn.Module) -> nn.Module:
        return module

    layer = nn.Linear(3, 5)
    assert same(layer) is layer
    with pytest.raises(TypeError, match="module should be a Module, but is of type int"):
        same(3)


def test_a_subclass_is_an_ordinary_class():
    assert type(Own) is type
    assert Own.__bases__ == (nn.Module,)
    assert isinstance(pickle.loads(pickle.dumps(Own())), Own)
    assert pickle.loads(pickle.dumps(nn.Module)) is nn.Module


@pytest.mark.parametrize("base", [Called, CalledToo, abc.ABC])
def test_other_metaclasses_go_with_it(base):
    class Local(nn.Module, base):
        def forward(self, x: "Tensor[Float32, B, 3]") -> "Tensor[Float32, B, 3]":
            return x

    assert Local()(torch.zeros(2, 3)).shape == (2, 3)
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 5, not 3"):
        Local()(torch.zeros(2, 5))


def test_names_of_a_function_are_found_under_abc():
    from simpletorch.dims import T as Local

    class Net(nn.Module, abc.ABC):
        def forward(self, x: "Tensor[Float32, Local, 3]") -> "Tensor[Float32, Local, 3]":
            return x

    with pytest.raises(ShapeMismatch):
        Net()(torch.zeros(2, 5))


def test_compiled_code_asks_for_the_class():
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer: nn.Module = nn.Linear(3, 5)

        def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]:
            return self.layer(x) if isinstance(self.layer, nn.Module) else x

    torch._dynamo.reset()  # no public way: forget what other tests compiled
    assert torch.compile(Net(), backend="eager", fullgraph=True)(torch.zeros(2, 3)).shape == (2, 5)


TAKES, GIVES = Tensor[Float32, B, 3], Tensor[Float32, B, 5]


def test_a_forward_that_keeps_its_class_s_word():
    class Same(nn.Module[TAKES, GIVES]):
        def forward(self, x: TAKES) -> GIVES:
            return x.repeat(1, 2)[:, :5]

    class Wider(nn.Module[TAKES, GIVES]):
        def forward(self, x: Tensor[Float32, ..., 3], scale: float = 1.0) -> torch.Tensor:
            return x.repeat(1, 2)[:, :5] * scale

    assert Same()(torch.zeros(2, 3)).shape == Wider()(torch.zeros(2, 3)).shape == (2, 5)


@pytest.mark.parametrize(
    ("takes", "gives", "said"),
    [
        (Tensor[Float32, B, 7], GIVES, r"forward takes x: Tensor\[Float32, B, 7\]"),
        (TAKES, Tensor[Float32, 5], r"forward gives Tensor\[Float32, 5\], .* states Tensor\[Float32, B, 5\]"),
        (TAKES, Tensor[Float64, B, 5], r"forward gives Tensor\[Float64, B, 5\]"),
    ],
)
def test_a_forward_that_breaks_it_is_no_class(takes, gives, said):
    with pytest.raises(TypeMismatch, match=said) as error:

        class Net(nn.Module[TAKES, GIVES]):
            def forward(self, x: takes) -> gives:
                return x

    assert isinstance(error.value, TypeError)
