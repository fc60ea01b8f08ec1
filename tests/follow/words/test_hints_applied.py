"""Each hint that is code, written into the line that it is for: torch takes the line, and nothing is said of it."""

import contextlib
from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = """import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
x, y, v = torch.randn(8, 5, 12), torch.randn(8, 4), torch.randn(8)
classes, scores = torch.zeros(8, 5, dtype=torch.long), torch.rand(8, 1)
"""
MENDED = {
    "y + v": ("other.unsqueeze(-1) would fit", "y + v.unsqueeze(-1)"),
    "y @ y": ("other.mT would fit", "y @ y.mT"),
    "nn.Conv2d(3, 8, 3)(torch.randn(2, 9, 9, 3))": (
        "input.permute(0, 3, 1, 2)",
        "nn.Conv2d(3, 8, 3)(torch.randn(2, 9, 9, 3).permute(0, 3, 1, 2))",
    ),
    "nn.Conv1d(12, 8, 3)(x)": ("input.movedim(-1, -2)", "nn.Conv1d(12, 8, 3)(x.movedim(-1, -2))"),
    "nn.Linear(5, 3)(x)": ("input.mT", "nn.Linear(5, 3)(x.mT)"),
    "nn.LSTM(12, 7, batch_first=True)(x, (torch.zeros(1, 5, 7),) * 2)": (
        "batch_first=False would fit",
        "nn.LSTM(12, 7, batch_first=False)(x, (torch.zeros(1, 5, 7),) * 2)",
    ),
    "nn.GRU(12, 7)(x, torch.zeros(1, 8, 7))": (
        "batch_first=True would fit",
        "nn.GRU(12, 7, batch_first=True)(x, torch.zeros(1, 8, 7))",
    ),
    "nn.Embedding(10, 4)(v)": ("input.long()", "nn.Embedding(10, 4)(v.abs().long())"),
    "F.cross_entropy(y, torch.zeros(8))": ("target.long()", "F.cross_entropy(y, torch.zeros(8).long())"),
    "F.cross_entropy(y, classes[:, :1])": ("target.squeeze(-1)", "F.cross_entropy(y, classes[:, :1].squeeze(-1))"),
    "F.cross_entropy(x, classes)": ("input.transpose(1, 2)", "F.cross_entropy(x.transpose(1, 2), classes)"),
    "F.binary_cross_entropy(scores, torch.rand(8))": (
        "input.squeeze(-1)",
        "F.binary_cross_entropy(scores.squeeze(-1), torch.rand(8))",
    ),
    "F.binary_cross_entropy_with_logits(scores, classes[:, :1])": (
        "target.float()",
        "F.binary_cross_entropy_with_logits(scores, classes[:, :1].float())",
    ),
    "x.transpose(1, 2).view(8, 60)": (".reshape(...)", "x.transpose(1, 2).reshape(8, 60)"),
    "torch.zeros(8, 12).scatter_(1, torch.zeros(8, 1), 1.0)": (
        "index.long()",
        "torch.zeros(8, 12).scatter_(1, torch.zeros(8, 1).long(), 1.0)",
    ),
    "torch.arange(4) @ y[0]": ("input.to(other.dtype)", "torch.arange(4).to(y.dtype) @ y[0]"),
    "nn.Linear(3, 2)(torch.from_numpy(np.zeros((2, 3))))": (
        "input.to(torch.float32)",
        "nn.Linear(3, 2)(torch.from_numpy(np.zeros((2, 3))).to(torch.float32))",
    ),
    "x.masked_fill(torch.zeros(8, 5) > 0, 0)": (
        "mask.unsqueeze(-1) would fit",
        "x.masked_fill((torch.zeros(8, 5) > 0).unsqueeze(-1), 0)",
    ),
    "nn.BatchNorm1d(5)(torch.randn(8, 12))": (
        "a layer for 12 channels would fit",
        "nn.BatchNorm1d(12)(torch.randn(8, 12))",
    ),
    "torch.where(torch.zeros(3), 1, 0)": ("condition.bool()", "torch.where(torch.zeros(3).bool(), 1, 0)"),
    "nn.CosineSimilarity()(y, torch.randn(4, 8))": (
        "x2.T has the shape",
        "nn.CosineSimilarity()(y, torch.randn(4, 8).T)",
    ),
    "y.numel[0]": ("call it: numel()", "y.numel()"),
    "y[: y.size(0) / 2]": ("divide with //", "y[: y.size(0) // 2]"),
    "torch.tensor([y, y])": ("torch.stack(...)", "torch.stack([y, y])"),
    "[p for _, p in nn.Linear(2, 2).named_parameters]": (
        "call it: named_parameters()",
        "[p for _, p in nn.Linear(2, 2).named_parameters()]",
    ),
    "y.max(1) + 1": ("take .values of it", "y.max(1).values + 1"),
}


def _told(body: str, path: Path) -> list[str | None]:
    path.write_text(HEAD + body + "\n")
    return [f.hint for f in follow(path).errors]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrong", MENDED)
def test_a_hint_that_is_followed_helps(wrong: str, tmp_path: Path):
    hint, mended = MENDED[wrong]
    (told,) = _told(wrong, tmp_path / "program.py")
    assert told is not None
    assert hint in told
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)):
        exec(HEAD + wrong, {})
    assert _told(mended, tmp_path / "program.py") == []
    with contextlib.redirect_stdout(None):
        exec(HEAD + mended, {})
