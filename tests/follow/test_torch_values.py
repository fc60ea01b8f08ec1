"""Tensors by the names that torch had for their types."""

from pathlib import Path

from against_torch import agrees

PROGRAM = """
import torch
a, b, c = torch.IntTensor([1, 2, 3]), torch.DoubleTensor(2, 3), torch.ByteTensor(5)
d, e = torch.ones(2, 3).type(torch.LongTensor), torch.ones(7).type("torch.DoubleTensor")
"""


def test_legacy_types(tmp_path: Path) -> None:
    agrees(PROGRAM, tmp_path, "a b c d e")
