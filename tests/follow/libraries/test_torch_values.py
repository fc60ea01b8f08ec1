"""Tensors by the names that torch had for their types."""

from pathlib import Path

import torch
from against_torch import agrees

from simpletorch.follow import follow
from simpletorch.follow.attributes import _NO_METHODS, is_of_tensors

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


METHODS_AS_FUNCTIONS = """
import torch
from simpletorch import Tensor
x = torch.ones(3, 5)
a, b, c = torch.Tensor.sum(x, dim=1), Tensor.matmul(x, x.T), torch.Tensor.view(x, 15)
d, e = [f(x) for f in (torch.Tensor.t, Tensor.flatten)]
f = torch.ones(7) if torch.Tensor.add is torch.Tensor.add else torch.ones(11)
"""


def test_a_method_of_tensors_is_a_function_too(tmp_path: Path) -> None:
    agrees(METHODS_AS_FUNCTIONS, tmp_path, "a b c d e f")


def test_a_mistake_in_such_a_call_is_found(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import torch\ntorch.Tensor.matmul(torch.ones(3, 5), torch.ones(3, 7))\n")
    (error,) = follow(path).errors
    assert (error.line, error.code) == (2, "tensor-shape")


def test_what_is_taken_for_a_method_is_one():
    taken = [name for name in dir(torch.Tensor) if is_of_tensors(name) and name not in _NO_METHODS]
    assert len(taken) > 400
    assert [name for name in taken if not callable(getattr(torch.Tensor, name))] == []
