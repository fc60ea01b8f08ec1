"""Calls of simpletorch's functions that stand for torch's, with what torch gives: for each checker's answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

import torch

import simpletorch as st
from simpletorch._stub import homes
from simpletorch.rules import TensorType

__all__ = ["OWN", "OWN_BEFORE", "SAMPLES", "may_be", "of_our_own", "tensors_given"]

SAMPLES: Final = (
    ("a", "a = Tensor.rand(3, 5) / 2"),
    ("a, 1", "a = Tensor.rand(3, 5) / 2"),
    ("a, b", "a, b = Tensor.rand(3, 5) / 2, Tensor.rand(3, 5) / 2"),
    ("a, b", "a, b = Tensor.randn(7, 7), Tensor.randn(7, 7)"),
    ("a", "a = Tensor.randint(0, 5, (3, 7))"),
    ("a, b", "a, b = Tensor.randint(1, 5, (3, 7)), Tensor.randint(1, 5, (3, 7))"),
    ("a, b", "a, b = Tensor.randn(3, 5), Tensor.randint(0, 5, (3,))"),
    ("[a, b]", "a, b = Tensor.rand(3, 5), Tensor.rand(3, 5)"),
    ("a, 2", "a = Tensor.rand(2, 3, 11, 13)"),
    ("a, b, c", "a, b, c = Tensor.rand(3, 5), Tensor.rand(3, 5), Tensor.rand(3, 5)"),
    ("(3, 5)", "a = 1"),
    ("5", "a = 1"),
)
"""Arguments, and the statement that makes them."""

_WRONG: Final = {
    ("adaptive_avg_pool2d", "a, 1"): "torch takes a mean for an output of 1, and doesn't look how many dims there are",
    ("pinv", "a, b"): "the rule reads a tensor of tolerances as a number: it broadcasts with the batch",
}
"""What a rule doesn't know yet."""


OWN_BEFORE: Final = """
from simpletorch import Tensor, losses, nn, transforms
import simpletorch as st
image, images = Tensor.rand(3, 37, 41), Tensor.rand(2, 3, 37, 41)
x, words = Tensor.randn(11, 7), Tensor.randn(5, 11, 12)
scores, labels = Tensor.randn(11, 7), Tensor.randint(0, 7, (11,))
logits, masks = Tensor.randn(2, 1, 5, 7), Tensor.ones(2, 1, 5, 7)
"""
_TRANSFORMS: Final = (
    *("CenterCrop(31)", "CenterCrop((31, 29))", "ColorJitter(0.2, 0.2)", "GaussianBlur(3)", "Grayscale()"),
    *("Grayscale(3)", "Normalize(0.5, 0.5)", "Normalize([0.5, 0.4, 0.3], [0.5, 0.4, 0.3])", "Pad(2)"),
    *("Pad([1, 2, 3, 4])", "RandomCrop(31)", "RandomCrop(37, padding=2)", "RandomErasing()", "RandomHorizontalFlip()"),
    *("RandomVerticalFlip()", "RandomResizedCrop(31)", "Resize((31, 29))", "Resize(31)"),
    "Compose([transforms.Resize((53, 51)), transforms.RandomCrop(31), transforms.Normalize(0.5, 0.5)])",
    "Compose([transforms.Grayscale(), transforms.Pad(2)])",
)
OWN: Final = (
    *("nn.MLP(7, 13, 5)(x)", "nn.MLP(7, [13, 17], 5, norm=nn.LayerNorm)(x)", "nn.Residual(nn.Linear(7, 7))(x)"),
    *("nn.FeedForward(12)(words)", "nn.FeedForward(12, 17, gated=True)(words)", "nn.SelfAttention(12, 3)(words)"),
    "nn.TransformerBlock(12, 3, causal=True)(words)",
    "nn.Sequential(nn.TransformerBlock(12, 3), nn.LayerNorm(12), nn.Linear(12, 5))(words)",
    *("losses.dice_loss(logits.sigmoid(), masks)", "losses.focal_loss(scores, labels)"),
    *("losses.focal_loss(scores, labels, reduction='none')", "losses.sigmoid_focal_loss(logits, masks)"),
    *("losses.sigmoid_focal_loss(logits, masks, reduction='none')", "losses.smooth_labels(labels, 7)"),
    "losses.smoothed_cross_entropy(0.2)(scores, labels)",
    "losses.WeightedSum((0.5, st.cross_entropy), (0.5, losses.focal_loss))(scores, labels)",
    *(f"transforms.{made}({given})" for made in _TRANSFORMS for given in ("image", "images")),
    *("nn.Linear(7, 5)(nn.ReLU()(nn.Linear(7, 7)(x)))", "nn.Conv2d(3, 5, 3)(transforms.CenterCrop(31)(images))"),
    "nn.Linear(5, 3)(nn.LSTM(12, 5, batch_first=True)(words)[0])",
    *("st.cat([nn.Linear(7, 5)(x), nn.Linear(7, 3)(x)], dim=1)", "st.stack([nn.Linear(7, 5)(x)] * 3)"),
    *("nn.ModuleList([nn.Linear(7, 5), nn.Linear(7, 3)])[1](x)", "nn.Sequential(*[nn.Linear(7, 7)] * 3)(x)"),
    *("st.vmap(nn.Linear(7, 5))(x)", "(lambda t: nn.Linear(7, 5)(t))(x)", "[nn.Linear(7, 5)(x)][0]"),
    *("nn.Linear(7, 5).eval()(x)", "nn.Linear(7, 5).to('cpu')(x)", "nn.Linear(7, 5).double()(x.double())"),
)
"""What has a contract of its own, and calls inside calls: what is wanted of the whole isn't wanted of its parts."""


def of_our_own() -> list[tuple[str, torch.Tensor]]:
    """These expressions with what they give at run time."""
    scope: dict[str, Any] = {}
    exec(OWN_BEFORE, scope)
    return [(expression, eval(expression, scope)) for expression in OWN]


def tensors_given(arguments: str, before: str) -> list[tuple[str, torch.Tensor]]:
    """The functions that take such arguments and give a tensor, with the tensors."""
    scope: dict[str, Any] = {"Tensor": st.Tensor, "st": st}
    exec(before, scope)
    found = []
    for name in (name for name, home in homes("simpletorch").items() if home.startswith("torch")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = eval(f"st.{name}({arguments})", scope)
        except Exception:
            continue  # it doesn't take these
        if isinstance(result, torch.Tensor) and (name, arguments) not in _WRONG:
            found.append((name, result))
    return found


def may_be(known: TensorType, result: torch.Tensor) -> bool:
    """Whether what is known of a tensor is true of this one."""
    items: Sequence[Any] = known.shape.items
    sizes = [i for i in items if isinstance(i, int)]
    fits = not known.shape.is_exact or len(items) == result.ndim
    if known.shape.is_exact and len(sizes) == len(items):
        fits = fits and sizes == list(result.shape)
    return fits and (
        known.dtype is None or not known.dtype.is_concrete or known.dtype.torch_name == str(result.dtype)[6:]
    )
