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


SIZES = """
import torch
x = torch.ones(3, 5)
a, b, c = torch.Tensor(x.shape), torch.IntTensor(x.size()), torch.FloatTensor(x.shape[1:] + (7,))
d, e, f = torch.Tensor((3, 5)), torch.LongTensor([3, 5, 7]), torch.Tensor(torch.Size([]))
"""


def test_a_shape_is_no_data(tmp_path: Path) -> None:
    agrees(SIZES, tmp_path, "a b c d e f")


SET = """
import torch
held = [torch.ones(6), torch.ones(6)]
held[0].set_(torch.ones(2, 3))
a, b = held[0] @ torch.ones(3, 5), held[0].T
held[1].set_(held[1].untyped_storage(), 0, (3, 2))
c = held[1] @ torch.ones(2, 7)
"""


def test_what_a_tensor_is_set_to(tmp_path: Path) -> None:
    agrees(SET, tmp_path, "a b c")
