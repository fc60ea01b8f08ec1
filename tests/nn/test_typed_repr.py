"""`typed_repr`: torch's repr with the types of calls."""

from typing import Generic

import pytest
import torch

from simpletorch import B, Float32, T, Tensor, nn
from simpletorch.dims import D, Dim, H
from simpletorch.nn import typed_repr


class Heads(nn.Module, Generic[D, H]):
    def __init__(self, dim: Dim[D], heads: Dim[H]):
        super().__init__()
        self.heads = heads

    def forward(self, x: Tensor[Float32, B, T, D]) -> tuple[Tensor[Float32, B, H, T, "D//H"], Tensor[Float32]]:
        split = x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        return split, split.sum()


def test_annotations_with_the_sizes_of_the_class():
    assert typed_repr(Heads(6, 3)) == "Heads(): Float32[B, T, 6] -> (Float32[B, 3, T, 2], Float32[])"


def test_a_model_with_layers():
    assert typed_repr(nn.MLP(7, 5, 3)) == (
        "MLP(\n"
        "  (layers): Sequential(\n"
        "    (0): Linear(in_features=7, out_features=5, bias=True): (..., 7) -> (..., 5)\n"
        "    (1): ReLU()\n"
        "    (2): Linear(in_features=5, out_features=3, bias=True): (..., 5) -> (..., 3)\n"
        "  )\n"
        "): DT[*Batch, 7] -> DT[*Batch, 3]"
    )


@pytest.mark.parametrize(
    ("layer", "call"),
    [
        (lambda: torch.nn.Conv2d(3, 5, 7, stride=2, padding=3), "(N, 3, H, W) -> (N, 5, (H + 1)//2, (W + 1)//2)"),
        (lambda: torch.nn.ConvTranspose1d(3, 5, 2), "(N, 3, L) -> (N, 5, L + 1)"),
        (lambda: torch.nn.MaxPool2d(2), "(N, C, H, W) -> (N, C, H//2, W//2)"),
        (lambda: torch.nn.LayerNorm((5, 7)), "(..., 5, 7) -> (..., 5, 7)"),
        (lambda: torch.nn.BatchNorm2d(5), "(N, 5, H, W) -> (N, 5, H, W)"),
        (lambda: torch.nn.ReLU(), ""),
        (lambda: torch.nn.Dropout(0.1), ""),
        (lambda: torch.nn.Identity(), ""),
    ],
)
def test_torchs_layers_by_the_rules_of_the_static_check(layer, call):
    module = layer()
    assert typed_repr(module) == repr(module) + (f": {call}" if call else "")


def test_layers_that_are_alike_are_one():
    blocks = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(5)], torch.nn.Linear(3, 2))
    assert typed_repr(blocks) == (
        "Sequential(\n"
        "  (0-4): 5 x Linear(in_features=3, out_features=3, bias=True): (..., 3) -> (..., 3)\n"
        "  (5): Linear(in_features=3, out_features=2, bias=True): (..., 3) -> (..., 2)\n"
        ")"
    )


def test_without_types_it_is_torchs_repr():
    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.ReLU()
            self.more = torch.nn.ModuleDict({"a": torch.nn.Sigmoid(), "b": torch.nn.Tanh()})

        def forward(self, x, *rest):
            return x

    assert typed_repr(Plain()) == repr(Plain())


@pytest.mark.parametrize("module", [torch.nn.Linear(3, 5), nn.MLP(3, 5, 2), nn.TransformerBlock(6, 3)], ids=repr)
def test_every_line_of_torchs_repr_is_there(module):
    typed = typed_repr(module).splitlines()
    plain = repr(module).splitlines()
    assert [line.startswith(other) for line, other in zip(typed, plain, strict=True)] == [True] * len(plain)
