"""A named tuple, an object, an array, a module or a number where a tensor is due, and lists of them."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.words.against_torch import HEAD, programs, raises

WRONG = r"""
Out = collections.namedtuple("Out", "x y")
o = Out(torch.zeros(5, 3), torch.zeros(5, 7))
nn.Linear(3, 2)(o)
---
class Out(typing.NamedTuple):
    x: torch.Tensor
    y: int = 3
o = Out(torch.zeros(5, 3))
torch.softmax(o, 1)
---
class Out(typing.NamedTuple):
    x: torch.Tensor
    y: int = 3
o = Out(torch.zeros(5, 3))
torch.zeros(5, 3) + o
---
@dataclasses.dataclass
class Out:
    x: torch.Tensor
o = Out(torch.zeros(5, 3))
nn.Linear(3, 2)(o)
---
@dataclasses.dataclass
class Out:
    x: torch.Tensor
o = Out(torch.zeros(5, 3))
torch.zeros(3) + o
---
@dataclasses.dataclass
class Out:
    x: torch.Tensor
o = Out(torch.zeros(5, 3))
o + torch.zeros(3)
---
class A:
    def __init__(self): self.t = torch.zeros(2)
torch.relu(A())
---
class A:
    def __init__(self): self.t = torch.zeros(2)
torch.zeros(2).add(A())
---
class A:
    def __float__(self): return 3.0
torch.zeros(2).add(A())
---
class A:
    def __float__(self): return 3.0
torch.zeros(2) + A()
---
class A:
    def __index__(self): return 3
torch.zeros(5) + A()
---
p = nn.utils.rnn.pack_padded_sequence(torch.zeros(5, 2, 3), [5, 4])
nn.Linear(3, 2)(p)
---
p = nn.utils.rnn.pack_padded_sequence(torch.zeros(5, 2, 3), [5, 4])
out, h = nn.LSTM(3, 2)(p)
nn.Linear(2, 4)(out)
---
p = nn.utils.rnn.pack_padded_sequence(torch.zeros(5, 2, 3), [5, 4])
F.relu(p)
---
nn.Linear(3, 2)(np.zeros((4, 3)))
---
nn.Linear(3, 2)(np.zeros((4, 3), dtype=np.float32))
---
F.relu(np.zeros(3))
---
torch.relu(np.zeros(3))
---
torch.cat([np.zeros(3)])
---
torch.cat([torch.zeros(3), np.zeros(3)])
---
torch.stack([np.zeros(3), np.zeros(3)])
---
torch.add(torch.zeros(3), np.zeros(3))
---
torch.zeros(3).add(np.zeros(3))
---
torch.matmul(torch.zeros(3), np.zeros(3))
---
torch.zeros(3).dot(np.zeros(3))
---
nn.MSELoss()(torch.zeros(3), np.zeros(3))
---
F.mse_loss(torch.zeros(3), np.zeros(3))
---
F.cross_entropy(torch.zeros(3, 5), np.zeros(3, dtype=np.int64))
---
nn.CrossEntropyLoss()(torch.zeros(3, 5), np.zeros(3, dtype=np.int64))
---
torch.where(np.zeros(3) > 0, torch.zeros(3), torch.zeros(3))
---
torch.mean(np.zeros(3))
---
torch.sum(np.zeros(3))
---
torch.exp(np.zeros(3))
---
torch.argmax(np.zeros(3))
---
torch.softmax(np.zeros(3), 0)
---
F.softmax(np.zeros(3), 0)
---
F.one_hot(np.zeros(3, dtype=np.int64), 5)
---
nn.Embedding(5, 3)(np.zeros(3, dtype=np.int64))
---
nn.Conv2d(3, 4, 3)(np.zeros((1, 3, 8, 8)))
---
nn.Sequential(nn.Linear(3, 4), nn.ReLU())(np.zeros((2, 3)))
---
torch.zeros(3, 4).gather(1, np.zeros((3, 1), dtype=np.int64))
---
torch.from_numpy(torch.zeros(3))
---
torch.from_numpy([1, 2])
---
torch.equal(torch.zeros(3), np.zeros(3))
---
torch.allclose(torch.zeros(3), np.zeros(3))
---
torch.zeros(3).copy_(np.zeros(3))
---
torch.zeros(2) + nn.ReLU()
---
torch.zeros(2) * nn.Linear(2, 2)
---
nn.ReLU() + torch.zeros(2)
---
F.relu(3)
---
F.relu(3.5)
---
torch.relu(3)
---
torch.exp(3.0)
---
torch.sqrt(2)
---
nn.Linear(3, 4)(3)
---
nn.Linear(3, 4)()
---
nn.Linear(3, 4)(torch.zeros(2, 3), 5)
---
nn.Linear(3, 4)(x=torch.zeros(2, 3))
---
nn.Linear(3, 4)(nn.ReLU())
---
torch.relu(nn.ReLU())
---
nn.Sequential(nn.Linear(3, 4), nn.ReLU())()
---
nn.Sequential(nn.Linear(3, 4), nn.ReLU())(nn.ReLU())
---
nn.LSTM(3, 4)()
---
nn.MultiheadAttention(8, 2)(torch.zeros(3, 2, 8))
---
nn.MSELoss()(torch.zeros(3))
---
nn.CrossEntropyLoss()(torch.zeros(3, 4))
---
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
    def forward(self, x): return self.fc(x)
M()()
---
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
    def forward(self, x): return self.fc(x)
m = M()
F.relu(m)
---
torch.maximum(torch.zeros(2), 3)
---
torch.zeros(2).max(3)
---
torch.cat([nn.LSTM(3, 4)(torch.zeros(2, 5, 3)), torch.zeros(2, 5, 3)], -1)
---
torch.cat([None, torch.zeros(2)])
---
torch.stack([torch.zeros(2), None])
---
torch.stack([(torch.zeros(2), 3)])
---
torch.cat([[torch.zeros(2)], [torch.zeros(3)]])
---
torch.cat((torch.zeros(2), 3))
---
torch.stack([1, 2, 3])
---
torch.cat("ab")
---
torch.cat(torch.zeros(2, 3))
---
torch.stack(torch.zeros(2, 3))
---
torch.cat([torch.zeros(2), nn.ReLU()])
---
torch.cat(p.view(-1) for p in nn.Linear(2, 3).parameters())
---
xs = []
xs.append(torch.zeros(2).max(0))
torch.stack(xs)
---
torch.hstack([None]);
---
torch.vstack([torch.zeros(2), (1, 2)])
---
torch.cat({"a": torch.zeros(2)}.values())
---
torch.stack({"a": torch.zeros(2)}.values())
---
torch.cat(None)
---
torch.cat([torch.zeros(2), torch.zeros(2).numpy()])
---
nn.utils.rnn.pad_sequence([None, torch.zeros(2)])
---
nn.Flatten()(np.zeros((3, 3)))
---
nn.Dropout(0.5)(np.zeros((3, 3)))
---
torch.nn.functional.pad(np.zeros((3, 3)), (1, 1))
---
torch.sqrt(np.float32(2))
---
torch.log(np.zeros(3).mean())
---
n = torch.zeros(3, 5).shape[1]
torch.sqrt(n)
---
torch.abs(torch.zeros(3).item())
---
torch.abs(-3)
---
torch.sum([1, 2, 3])
---
torch.max(3, 5)
---
torch.mean([torch.zeros(2), torch.zeros(2)])
---
for i in range(3):
    l = []
    l.append(i * 2.5)
torch.mean(l)
---
import math
torch.sin(math.pi)
---
x = np.random.rand(5, 3)
y = torch.from_numpy(x).float()
model = nn.Linear(3, 1)
F.mse_loss(model(y), x)
---
x = np.random.rand(5, 3).astype("float32")
opt = torch.optim.SGD([nn.Parameter(torch.from_numpy(x))], 0.1)
nn.BCELoss()(torch.rand(5, 3), torch.from_numpy(x))
nn.BCELoss()(torch.rand(5, 3), x)
---
class Batch(dict): pass
nn.Linear(3, 2)(Batch(x=torch.zeros(3)))
---
class E(Exception): pass
torch.relu(E())
---
import enum
class C(enum.Enum):
    A = 1
torch.relu(C.A)
---
p = nn.utils.rnn.pack_sequence([torch.zeros(3, 2)])
nn.Dropout(0.1)(p)
---
p = nn.utils.rnn.pack_sequence([torch.zeros(3, 2)])
torch.cat([p, p])
---
torch.matmul(input=torch.zeros(2), other=np.zeros(2))
---
try:
    torch.relu(3)
except TypeError:
    torch.zeros(2) @ torch.zeros(3)
---
def f(x): return torch.relu(x)
f(torch.zeros(2)); f(np.zeros(2))
---
torch.numel(np.zeros(3))
---
torch.is_floating_point(3)
"""
RIGHT = r"""
x = torch.zeros(3, 3)
x.mul_(0.9).addcmul_(1 - 0.9, x, x).addcdiv_(-0.1, x, x)
torch.addmm(0.5, x, 0.5, x, x)
x.addmm_(0.5, x, x)
torch.addcmul(x, 2, x, x)
torch.baddbmm(1, x[None], x[None], x[None])
torch.addmv(1, x[0], 2, x, x[0])
---
Out = collections.namedtuple("Out", "x y")
o = Out(torch.zeros(5, 3), torch.zeros(5, 7))
nn.Linear(3, 2)(o.x)
---
class Out(typing.NamedTuple):
    x: torch.Tensor
    y: int = 3
o = Out(torch.zeros(5, 3))
torch.zeros(5, 3) + o[0]
---
@dataclasses.dataclass
class Out:
    x: torch.Tensor
    def __add__(self, other): return 3
    __radd__ = __add__
o = Out(torch.zeros(5, 3))
torch.zeros(3) + o
o + torch.zeros(3)
---
class A:
    def __torch_function__(self, *a, **k): return 5
torch.relu(A())
---
class A:
    def __index__(self): return 3
torch.zeros(5)[A()]
---
p = nn.utils.rnn.pack_padded_sequence(torch.zeros(5, 2, 3), [5, 4])
nn.Linear(3, 2)(p.data)
---
p = nn.utils.rnn.pack_padded_sequence(torch.zeros(5, 2, 3), [5, 4])
nn.LSTM(3, 2)(p)
---
p = nn.utils.rnn.pack_padded_sequence(torch.zeros(5, 2, 3), [5, 4])
p.float()
p.cpu()
---
nn.Linear(3, 2)(torch.from_numpy(np.zeros((4, 3), dtype=np.float32)))
---
torch.stack([torch.from_numpy(np.zeros(3))])
---
torch.zeros(3) * np.zeros(3)
---
torch.zeros(3) + np.zeros(3)
---
torch.zeros(3) @ np.zeros(3)
---
torch.zeros(3) - np.float32(3)
---
torch.add(torch.zeros(3), np.float32(3))
---
torch.zeros(3)[np.array([0, 1])]
---
torch.tensor(np.zeros(3))
torch.as_tensor(np.zeros(3))
torch.FloatTensor(np.zeros(3, dtype=np.float32))
torch.Tensor(np.zeros(3))
---
import tempfile
torch.save(np.zeros(3), tempfile.mkdtemp() + "/a.pt")
---
torch.zeros(2) + nn.Parameter(torch.zeros(2))
---
nn.Linear(3, 4)(input=torch.zeros(2, 3))
---
torch.pow(2, torch.zeros(3))
torch.where(torch.zeros(3) > 0, 1, 0.5)
torch.add(torch.zeros(2), 3)
torch.maximum(torch.zeros(2), torch.tensor(3.))
torch.true_divide(torch.zeros(2), 3)
torch.remainder(5, torch.ones(2))
---
torch.eq(torch.zeros(2), 3)
torch.full((2,), torch.tensor(3))
torch.bitwise_and(torch.tensor([1]), 3)
torch.float_power(2, torch.ones(2))
torch.result_type(torch.zeros(2), 3)
torch.is_tensor(3)
torch.clamp(torch.zeros(3), torch.tensor(0.), None)
---
torch.stack([torch.tensor(1), torch.tensor(2)])
---
torch.cat(torch.zeros(2, 3).split(1))
---
torch.cat(list(nn.Linear(2, 3).parameters())[1:])
---
torch.cat([t for t in (torch.zeros(2), None) if t is not None])
---
xs = []
xs.append(torch.zeros(2).max(0))
torch.stack([x.values for x in xs])
---
torch.cat(list({"a": torch.zeros(2)}.values()))
---
nn.utils.rnn.pad_sequence([torch.zeros(3), torch.zeros(2)])
---
class M(nn.Module):
    def forward(self, x): return x * 2
m = M()
m(torch.zeros(2)); m(3); m(np.zeros(3))
---
x = torch.zeros(3)
x += np.zeros(3)
---
torch.zeros(3) == nn.ReLU(); nn.ReLU() == torch.zeros(3)
---
@dataclasses.dataclass(order=True)
class A:
    x: int
    def __rmul__(self, o): return 3
    def __rmatmul__(self, o): return 3
torch.zeros(2) * A(3)
torch.zeros(2) @ A(3)
---
class S:
    def softmax(self, *a, **k): return 3
F.softmax(S(), 0)
---
class N(nn.Sequential): pass
n = N(nn.Linear(3, 2))
n(torch.zeros(1, 3)); n.weight if hasattr(n, "weight") else 0
---
t = [torch.zeros(2), torch.zeros(3)]
t[0] = t
---
torch.stack([torch.tensor(x) for x in range(3)])
torch.cat([x.view(1) for x in torch.zeros(3)])
torch.stack(list(torch.zeros(3)))
torch.stack(tuple(torch.zeros(2, 2)))
torch.cat(torch.zeros(3, 2).chunk(3))
torch.cat(torch.zeros(4, 2).max(1)[0:1] + (torch.zeros(1),))
torch.stack(torch.zeros(2, 3).max(1))
---
import collections
d = collections.deque([torch.zeros(2)], 3)
torch.stack(tuple(d)); torch.stack(list(d))
---
torch.stack(list(nn.ParameterList([nn.Parameter(torch.zeros(2))])))
---
torch.stack([p for p in nn.ParameterList([nn.Parameter(torch.zeros(2))])])
torch.cat([nn.Parameter(torch.zeros(2)), nn.Embedding(3, 2).weight[0]])
---
class L(nn.Module):
    def __init__(self): super().__init__(); self.a = nn.Linear(3, 3)
    def forward(self, x, y=None): return self.a(x) if y is None else self.a(x) + y
L()(torch.zeros(2, 3)); L()(torch.zeros(2, 3), torch.zeros(3)); L()(x=torch.zeros(2, 3))
---
nn.Identity()(3)
nn.Identity()(np.zeros(3))
nn.Sequential()(3)
nn.ModuleList([nn.ReLU()])
nn.Dropout(0.)(torch.zeros(3))
nn.Flatten()(torch.zeros(3, 3))
---
from torch.utils.checkpoint import checkpoint
checkpoint(nn.Linear(3, 2), torch.zeros(2, 3), use_reentrant=False)
args = (torch.zeros(2, 3),)
nn.Linear(3, 2)(*args)
kw = {"input": torch.zeros(2, 3)}
nn.Linear(3, 2)(**kw)
list(map(nn.Linear(3, 2), [torch.zeros(3)]))
nn.Linear(3, 2).forward(torch.zeros(3))
---
torch.tensor([np.float32(1), np.float32(2)])
torch.tensor(np.zeros(3)).add(np.float64(3))
torch.zeros(3).mul(np.float32(2))
torch.zeros(3) ** np.float32(2)
torch.full((3,), np.float32(2))
torch.zeros(3).fill_(np.float32(2))
torch.clamp(torch.zeros(3), np.float32(0), np.float32(1))
torch.pow(torch.zeros(3), np.int64(2))
torch.eq(torch.zeros(3), np.int64(3))
torch.zeros(3).sub_(np.zeros(3)[0])
torch.zeros(3).mul(np.zeros(3).mean())
---
torch.sqrt(torch.tensor(2.)); torch.exp(torch.zeros(1)); torch.log(torch.tensor(np.log(2)))
---
torch.max(torch.zeros(3), 0)
torch.max(torch.zeros(3), torch.ones(3))
torch.min(torch.zeros(3), dim=0)
torch.max(torch.zeros(3))
---
class C(nn.Module):
    def __add__(self, o): return 5
    def __radd__(self, o): return 5
    def forward(self, x): return x
C() + torch.zeros(3)
torch.zeros(3) + C()
---
p = nn.utils.rnn.pack_sequence([torch.zeros(3, 2)])
nn.GRU(2, 3)(p)
nn.RNN(2, 3)(p)
nn.utils.rnn.pad_packed_sequence(p)
p.data
p.batch_sizes
nn.utils.rnn.PackedSequence(F.relu(p.data), p.batch_sizes)
---
torch.cat([torch.zeros(2), torch.zeros(3)], 0, out=torch.zeros(5))
torch.cat(tensors=[torch.zeros(2)], dim=0)
torch.stack(tensors=(torch.zeros(2),))
---
torch.add(input=torch.zeros(2), other=3)
torch.add(torch.zeros(2), other=torch.zeros(2))
torch.matmul(input=torch.zeros(2), other=torch.zeros(2))
---
def f(x=None): return torch.relu(x) if x is not None else 3
f()
---
nn.Linear(2, 3)(torch.autograd.Variable(torch.zeros(2)))
F.relu(torch.Tensor([1, 2]))
F.relu(torch.FloatTensor(3));
---
torch.is_tensor(np.zeros(3))
torch.is_tensor(3)
torch.numel(torch.zeros(3))
torch.is_floating_point(torch.zeros(3))
torch.is_nonzero(torch.tensor(1))
---
import scipy.sparse as sp
torch.from_numpy(sp.csr_matrix(np.zeros((2, 2))).toarray())
"""
SAID = {
    "nn.Linear(3, 2)(Out(x))": (
        "Linear(3, 2) takes a tensor, but it is given a named tuple, Out",
        "take .x of it, Float32[5, 3]",
    ),
    "nn.Linear(3, 2)(nn.utils.rnn.pack_sequence([x]))": (
        "Linear(3, 2) takes a tensor, but it is given an object of the class PackedSequence",
        "take .data of it, Float32[5, 3]",
    ),
    "F.relu(np.zeros(3))": (
        "relu takes a tensor, but it is given an array, Float64[3]",
        "torch.from_numpy(...) makes a tensor of it",
    ),
    "x + nn.ReLU()": ("+ takes a tensor, but it is given the module ReLU", "call it: ReLU(...)(x)"),
    "torch.sqrt(2)": (
        "sqrt takes a tensor, but it is given the number 2",
        "torch.tensor(...) makes one of a number",
    ),
    "nn.Linear(3, 4)()": ("Linear(3, 4) is called without input", None),
    "nn.Linear(3, 4)(x, x)": ("Linear(3, 4) takes 1 argument (input), but it is given 2", None),
    "torch.cat([nn.LSTM(3, 4)(x), x], -1)": (
        "cat takes a list of tensors, but [0] of it is a tuple of 2: (Float32[5, 4], …)",
        "take [0] of it, Float32[5, 4]",
    ),
    "torch.cat({'x': x}.values())": (
        "cat takes a list of tensors, but it is given a view of a dict",
        "list(...) makes one of it",
    ),
    "torch.stack(x)": ("stack takes a list of tensors, but it is given a tensor, Float32[5, 3]", None),
    "torch.from_numpy([1, 2])": (
        "from_numpy takes an array, but it is given a list of 2",
        "torch.tensor(...) makes a tensor of it",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", programs(WRONG))
def test_what_is_none_is_found_where_torch_refuses_it(source: str, tmp_path: Path):
    path = tmp_path / "program.py"
    line = raises(source, path)
    assert line is not None
    assert [f.line for f in follow(path).errors] == [line]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", programs(RIGHT))
def test_what_torch_takes_is_left_alone(source: str, tmp_path: Path):
    path = tmp_path / "program.py"
    assert raises(source, path) is None
    assert follow(path).errors == ()


@pytest.mark.parametrize("body", SAID)
def test_the_error_names_it_and_what_would_fit(body: str, tmp_path: Path):
    made = "Out = collections.namedtuple('Out', 'x')\nx = torch.zeros(5, 3)\n"
    (tmp_path / "program.py").write_text(HEAD + made + body)
    found = follow(tmp_path / "program.py").errors
    assert [(f.message, f.hint) for f in found] == [SAID[body]]
