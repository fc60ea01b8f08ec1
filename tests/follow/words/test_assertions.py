"""Assertions about lengths, classes and sizes: those that surely fail are found, guards count as passed."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.words.against_torch import programs, raises

WRONG = r"""
assert isinstance(nn.ReLU(), nn.Conv2d)
---
assert isinstance(3, str)
---
a, b = [1, 2], [1, 2, 3]
assert len(a) == len(b)
---
a = torch.zeros(5, 7)
n = a.numel()
assert n == 25
---
a = (torch.zeros(5), 3)
assert isinstance(a, list)
---
b, c = torch.zeros(5, 7).shape
assert b == c
---
b, c = torch.zeros(5, 7).shape
assert b == c, f"{b} {c}"
---
def f(x, y):
    assert len(x) == len(y), "lengths"
    return zip(x, y)
f([1, 2], [3])
---
class A: pass
class B(A): pass
assert isinstance(A(), B)
---
for _ in range(3):
    xs = [torch.zeros(2)] * 3
    assert len(xs) == 4
---
layers = [3, 4, 5]
mods = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers, layers[1:])])
assert len(mods) == len(layers)
---
class M(nn.Module):
    def __init__(self, dims):
        super().__init__()
        assert isinstance(dims, list)
    def forward(self, x): return x
M((1, 2, 3))
---
def f(*args):
    assert len(args) == 2
f(1)
---
x = torch.zeros(3)
assert isinstance(x, np.ndarray)
---
assert isinstance(nn.ReLU(), nn.Linear)
---
s = "abc"
assert len(s) == 4
---
d = {"a": 1}
assert len(d) == 2
---
x = torch.zeros(5, 3)
y = torch.zeros(4)
assert len(x) == len(y)
---
ds = torch.utils.data.TensorDataset(torch.zeros(10, 2))
l = torch.utils.data.DataLoader(ds, batch_size=4)
assert len(l) == 2
---
n, m = np.zeros((3, 4)).shape
assert n == m
"""
RIGHT = r"""
class P(typing.Protocol):
    def f(self): ...
P2 = typing.runtime_checkable(P)
class A:
    def f(self): return 3
assert isinstance(A(), P2)
---
import abc
class B(abc.ABC): pass
@B.register
class A: pass
assert isinstance(A(), B)
---
import collections.abc, numbers
assert isinstance([1], collections.abc.Sequence)
assert isinstance(3, numbers.Number)
assert isinstance(np.float32(3), numbers.Number)
---
assert isinstance(np.float64(3), float)
assert isinstance(np.zeros(3)[0], float)
assert isinstance(True, int)
assert isinstance(torch.Size([1]), tuple)
assert isinstance(torch.zeros(3).max(0), tuple)
assert isinstance(nn.Parameter(torch.zeros(2)), torch.Tensor)
assert isinstance(torch.FloatTensor([1]), torch.FloatTensor)
assert isinstance(torch.zeros(3), torch.FloatTensor)
assert isinstance(torch.zeros(1), torch.autograd.Variable)
assert isinstance(nn.Sequential(), nn.Module)
assert isinstance(collections.OrderedDict(), dict)
assert isinstance(collections.deque(), collections.deque)
assert isinstance({}.keys(), collections.abc.KeysView)
assert isinstance(torch.float32, torch.dtype)
assert isinstance(torch.device("cpu"), torch.device)
assert isinstance(torch.zeros(3).shape, torch.Size)
assert isinstance(torch.zeros(3).numpy(), np.ndarray)
assert isinstance(np.zeros(3).dtype, np.dtype)
assert isinstance(np.int64(3), np.integer)
assert isinstance(np.float32(3), np.floating)
assert isinstance(np.zeros(3).sum(), np.generic)
assert isinstance(len, object)
assert isinstance(lambda: 3, typing.Callable)
assert isinstance(range(3), range)
assert isinstance(torch.zeros(3).sum().item(), float)
assert isinstance(torch.utils.data.TensorDataset(torch.zeros(2)), torch.utils.data.Dataset)
assert isinstance(torch.optim.SGD([nn.Parameter(torch.zeros(2))], 0.1), torch.optim.Optimizer)
assert len(torch.zeros(3)) == 3 and len(np.zeros((2, 3))) == 2
assert len("abc") == len([1, 2, 3]) == len({1: 2, 3: 4, 5: 6})
---
a, b = [1, 2], [1, 2, 3]
assert len(a) == len(b) - 1
---
a = torch.zeros(5, 7)
n = a.numel()
assert n == 35
---
a = (torch.zeros(5), 3)
assert isinstance(a, (list, tuple))
---
b, c = torch.zeros(7, 7).shape
assert b == c, f"{b} {c}"
---
n = len([1, 2, 3])
assert n == 3 and n > 1
---
def f(x, y):
    assert len(x) == len(y), "lengths"
    return zip(x, y)
f([1, 2], [3, 4])
---
def f(x, n=3):
    assert isinstance(x, (list, tuple))
    return x * n
---
class A: pass
class B(A): pass
assert isinstance(B(), A)
assert not isinstance(A(), B)
---
try:
    assert len([1]) == 2
except AssertionError:
    pass
---
import random
if random.random() > 2:
    assert len([1]) == 2
---
layers = [3, 4, 5]
assert len(layers) >= 2
mods = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers, layers[1:])])
assert len(mods) == len(layers) - 1
---
class M(nn.Module):
    def __init__(self, dims):
        super().__init__()
        assert isinstance(dims, list)
        assert len(dims) == 3
    def forward(self, x): return x
M([1, 2, 3])
---
x = torch.zeros(3)
assert isinstance(x, torch.Tensor) and not isinstance(x, nn.Parameter)
assert isinstance(nn.Linear(2, 3).weight, nn.Parameter)
assert isinstance(np.zeros(3), np.ndarray)
assert isinstance(3, (int, float))
assert not isinstance(3, float)
---
assert isinstance(nn.ReLU(), nn.Module); assert issubclass(nn.ReLU, nn.Module)
---
import sys
assert len(sys.argv) >= 1
---
x = torch.zeros(5, 3)
y = torch.zeros(5)
assert len(x) == len(y)
assert len(x) == y.shape[0]
---
x = torch.tensor([1, 2, 3])
k = x[x > 1]
assert len(k) == 2
---
ds = torch.utils.data.TensorDataset(torch.zeros(10, 2))
assert len(ds) == 10
l = torch.utils.data.DataLoader(ds, batch_size=4)
assert len(l) == 3
"""
PASSED = """
import sys
assert sys.version_info >= (3, 99)
---
import os
key = os.environ.get("KEY", "")
assert len(key) == 40
---
import argparse
p = argparse.ArgumentParser()
p.add_argument("--gpus", default="")
a = p.parse_args()
gpus = a.gpus.split(",")
assert len(gpus) > 1
---
import argparse
p = argparse.ArgumentParser()
p.add_argument("--layers", nargs="*", type=int, default=[])
a = p.parse_args()
layers = a.layers
assert len(layers) == 3
"""


@pytest.mark.parametrize("source", programs(WRONG))
def test_an_assertion_that_fails_is_found_where_it_stands(source: str, tmp_path: Path):
    line = raises(source, tmp_path / "program.py")
    assert line is not None
    assert [f.line for f in follow(tmp_path / "program.py").errors] == [line]


@pytest.mark.parametrize("source", programs(RIGHT))
def test_one_that_holds_is_left_alone(source: str, tmp_path: Path):
    assert raises(source, tmp_path / "program.py") is None
    assert follow(tmp_path / "program.py").errors == ()


@pytest.mark.parametrize("source", programs(PASSED))
def test_a_guard_counts_as_passed(source: str, tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text(source + "torch.zeros(2) @ torch.zeros(3)\n")
    assert [f.line for f in follow(path).errors] == [source.count("\n") + 1]
