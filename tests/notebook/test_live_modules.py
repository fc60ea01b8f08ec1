"""Modules that are alive, of every package: what isn't known of a class is unknown, never absent."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import nn

import simpletorch as st
from tests.notebook.test_live import NAME, errors

CELL = """y = net(x)
net.eval(); net.train()
count = sum(p.numel() for p in net.parameters())
for name, inner in net.named_modules(): inner.training
state = net.state_dict()
"""
MODELS = ("convnext_tiny", "efficientnet_b0", "mobilenet_v3_small", "resnet18", "swin_t", "unet", "vgg11", "vit_b_16")
TRANSFORMS = {
    "CenterCrop": (8,),
    "ColorJitter": (0.1,),
    "Compose": ([],),
    "Normalize": (0.5, 0.5),
    "RandomErasing": (),
    "RandomHorizontalFlip": (),
    "RandomResizedCrop": (8,),
    "Resize": (8,),
}
OURS = {
    "MLP": (8, [7], 3),
    "Residual": (nn.Linear(8, 8),),
    "RMSNorm": (8,),
    "SelfAttention": (8, 2),
    "TransformerBlock": (8, 2),
}


def derived(cls: type) -> type:
    """A class that a cell derives from another."""
    return type("Derived", (cls,), {})


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str):
    with torch.device("meta"):
        net = getattr(st.vision.models, name)()
    assert errors(CELL, net=net, x=torch.zeros(2, 3, 32, 32)) == []


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str):
    cls = getattr(st.transforms, name)
    for one in (cls, derived(cls)):
        assert errors("y = net(x)\nz = net", net=one(*TRANSFORMS[name]), x=torch.zeros(2, 3, 24, 24)) == []


@pytest.mark.parametrize("name", OURS)
def test_layers_of_ours(name: str):
    cls = getattr(st.nn, name)
    for one in (cls, derived(cls)):
        net = one(*OURS[name])
        assert errors(CELL, net=net, x=torch.zeros(2, 5, 8)) == []
        assert errors("h = net.forward\nk = net.training\nassert hasattr(net, 'forward')", net=net) == []


def test_a_language_model():
    with torch.device("meta"):
        net = st.language.models.gpt2()
    assert errors(CELL, net=net, x=torch.zeros(2, 5, dtype=torch.long, device="meta")) == []


class Tower(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(8, 7), nn.ReLU()), nn.Linear(7, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


@pytest.mark.parametrize(
    ("net", "cell"),
    [
        (nn.Linear(8, 3), "y = net(torch.zeros(2, 7))"),
        (nn.Sequential(nn.Linear(8, 7), nn.Linear(8, 3)), "y = net(torch.zeros(2, 8))"),
        (nn.Conv2d(3, 4, 3), "y = net(torch.zeros(2, 4, 9, 9))"),
        (nn.LSTM(8, 5, batch_first=True), "y, (h, c) = net(torch.zeros(2, 4, 7))"),
        (nn.LSTM(8, 5, batch_first=True), "y = net(torch.zeros(2, 4, 8)) + 1"),
        (nn.Embedding(9, 4), "y = net(torch.zeros(2))"),
        (nn.ModuleList([nn.Linear(8, 3)]), "y = net(torch.zeros(2, 8))"),
        (nn.ModuleList([nn.Linear(8, 3)]), "y = net[1](torch.zeros(2, 8))"),
        (nn.ModuleDict({"a": nn.Linear(8, 3)}), "y = net['b'](torch.zeros(2, 8))"),
        (nn.Linear(8, 3), "y = net.out_channels"),
        (Tower(), "y = net.head(net.body(torch.zeros(2, 7)))"),
        (Tower(), "y = net.head(torch.zeros(2, 8))"),
        (Tower(), "a, b = net(torch.zeros(2, 8)).shape[0], None\nb.shape"),
        (derived(nn.Linear)(8, 3), "y = net(torch.zeros(2, 7))"),
    ],
)
def test_what_surely_raises_is_said(net: nn.Module, cell: str):
    (said,) = errors(cell, net=net)
    assert said.startswith(f"{NAME}:{cell.count(chr(10)) + 1}: ")
    with pytest.raises((RuntimeError, TypeError, AttributeError, NotImplementedError, LookupError)):
        exec(cell, {"net": net, "torch": torch})


def test_each_class_of_ours_that_needs_nothing_is_left_alone():
    found = [c for _, c in inspect.getmembers(st.nn, inspect.isclass) if issubclass(c, nn.Module)]
    made = 0
    for cls in found:
        try:
            net = cls()
        except TypeError:
            continue
        made += 1
        assert errors("h = hasattr(net, 'forward')\nassert h\nnet.eval()\nnet.training", net=net) == [], cls
    assert made > 10
