"""Attributes that a layer, a tensor or an array surely lacks, and those that somebody may have given to one."""

import inspect
from pathlib import Path

import pytest
from torch import nn

from simpletorch.follow import follow
from simpletorch.follow.layers import is_of_none
from simpletorch.rules import new_module
from tests.follow.words.against_torch import HEAD, programs, raises

WRONG = r"""
nn.Linear(3, 4).weigth
---
nn.Linear(3, 4).bais
---
nn.Linear(3, 4).foo
---
torch.zeros(2).foo()
---
torch.zeros(2).foo
---
torch.zeros(2).unsqeeze(0)
---
np.zeros(3).unsqueeze(0)
---
np.zeros(3).to("cpu")
---
m = nn.Sequential(nn.Linear(3, 4))
m[0].weigth
---
m = nn.Sequential(nn.Linear(3, 4))
m.fc
---
nn.Conv2d(3, 4, 3).out_chanels
---
nn.LSTM(3, 4).hiden_size
---
nn.CrossEntropyLoss().reducton
---
nn.ReLU().weight
---
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
    def forward(self, x): return self.fc
M()(torch.zeros(2, 3)).relu()
---
np.zeros(3).cuda()
---
np.zeros(3).detach()
---
np.zeros(3).numpy()
---
np.zeros((3, 4)).permute(1, 0)
---
nn.Dropout(0.1).weigth
---
nn.Sequential(nn.Linear(3, 4)).liner
"""
RIGHT = r"""
nn.Linear(3, 4).weight
---
np.zeros(3).size
np.zeros(3).T
np.zeros(3).astype(int).tolist()
---
class L(nn.Linear): pass
L(3, 4).weight
l = L(3, 4)
l.extra = 3
l.extra
---
l = nn.Linear(3, 4)
l.mine = 3
l.mine + 1
l.register_buffer("buf", torch.zeros(2))
l.buf
---
l = nn.Linear(3, 4)
setattr(l, "na" + "me", 3)
l.name
---
nn.Linear.extra = 5
nn.Linear(3, 4).extra
del nn.Linear.extra
---
torch.Tensor.extra = lambda s: s
torch.zeros(3).extra()
del torch.Tensor.extra
---
t = torch.zeros(3)
t.tag = "a"
t.tag
---
hasattr(nn.Linear(3, 4), "foo"); getattr(nn.Linear(3, 4), "foo", None)
---
try:
    nn.Linear(3, 4).foo
except AttributeError:
    pass
---
nn.LSTM(3, 4).weight_ih_l0
nn.LSTM(3, 4).hidden_size
nn.MultiheadAttention(8, 2).in_proj_weight
nn.BatchNorm1d(3).running_mean
nn.Embedding(3, 4).embedding_dim
nn.Dropout(0.1).p
nn.ReLU().inplace
nn.Linear(3, 4).training
nn.Linear(3, 4).T_destination
nn.CrossEntropyLoss().ignore_index
nn.MaxPool2d(2).kernel_size
nn.Transformer(8, 2).encoder
nn.GELU().approximate
nn.Flatten().start_dim
nn.LayerNorm(3).eps
nn.Softmax(1).dim
nn.LeakyReLU().negative_slope
nn.Upsample(scale_factor=2).mode
nn.GroupNorm(1, 3).num_groups
nn.Conv2d(3, 4, 3).padding_mode
nn.PReLU().num_parameters
nn.LSTM(3, 4).bidirectional
nn.Linear(3, 4)._parameters
nn.Linear(3, 4)._buffers
nn.Linear(3, 4).__class__
nn.Linear(3, 4)._forward_hooks
nn.Linear(3, 4)._modules
nn.Linear(3, 4).__dict__
nn.LSTM(3, 4)._flat_weights
nn.LSTM(3, 4).all_weights
nn.Linear(3, 4).extra_repr
nn.Linear(3, 4).reset_parameters
---
l = nn.utils.weight_norm(nn.Linear(3, 4))
l.weight_g
---
l = nn.utils.parametrizations.weight_norm(nn.Linear(3, 4))
l.parametrizations
---
import torch.nn.utils.prune as prune
l = nn.Linear(3, 4)
prune.l1_unstructured(l, "weight", 0.5)
l.weight_mask
---
m = nn.Sequential(nn.Linear(3, 4))
for name in ("a", "b"):
    setattr(m[0], name, 3)
m[0].a
---
def f(layer):
    return layer.in_features
f(nn.Linear(3, 4))
---
def init(m):
    if hasattr(m, "weight"): nn.init.zeros_(m.weight)
    if hasattr(m, "foo"): m.foo.zero_()
nn.Sequential(nn.Linear(3, 4), nn.ReLU()).apply(init)
---
x = np.zeros((3, 4))
x.flat
x.ctypes
x.base
x.strides
x.nbytes
x.itemsize
x.dot(np.zeros(4))
x.ptp if hasattr(x, "ptp") else 0
x.swapaxes(0, 1)
x.device if hasattr(x, "device") else 0
---
x = np.float32(3)
x.item(), x.dtype, x.shape
---
def f(x): return x.numpy() if hasattr(x, "numpy") else x
f(np.zeros(3)); f(torch.zeros(3))
---
def f(x):
    try: return x.numpy()
    except AttributeError: return x
f(np.zeros(3)); f(torch.zeros(3))
---
def f(x): return x.numpy() if isinstance(x, torch.Tensor) else x
f(np.zeros(3)); f(torch.zeros(3))
---
import random
x = np.zeros(3) if random.random() > 2 else torch.zeros(3)
x.sum()
---
m = nn.ModuleDict({"a": nn.Linear(3, 4)})
m.a.weight
m["a"].in_features
---
import copy
l = copy.deepcopy(nn.Linear(3, 4)); l.tag = 3; l2 = copy.deepcopy(l); l2.tag
---
class A(nn.Module):
    def __init__(self): super().__init__(); self.l = nn.Linear(3, 4); self.l.in_dim = 3
    def forward(self, x): return self.l(x).view(-1, self.l.in_dim + 1)
A()(torch.zeros(2, 3))
---
class A(nn.Linear):
    scale = 3
    def __init__(self, a, b, r=2):
        super().__init__(a, b)
        self.register_buffer("mask", torch.ones(b, a))
        self.down = nn.Parameter(torch.zeros(r, a))
    @property
    def gain(self): return 2
    def forward(self, x):
        self.mask, self.down, self.gain, self.scale, self.in_features, self.training, self._parameters
        return F.linear(x, self.weight * self.mask, self.bias)
A(3, 5)(torch.zeros(2, 3))
---
class B(nn.Conv2d):
    def forward(self, x): return self._conv_forward(x, self.weight, self.bias) + self.padding[0] + self.groups
class C(nn.LSTM):
    def go(self): return self.weight_ih_l0, self.all_weights, self.hidden_size, self.flatten_parameters()
class D(nn.MultiheadAttention):
    def go(self): return self.in_proj_weight, self.out_proj.weight, self.head_dim, self.num_heads
class E(nn.BatchNorm2d):
    def go(self): return self.running_mean, self.num_batches_tracked, self.eps
class G(nn.TransformerEncoderLayer):
    def go(self): return self.self_attn, self.linear1, self.activation, self.activation_relu_or_gelu, self.norm_first
B(3, 5, 3)(torch.zeros(2, 3, 7, 7)); C(3, 5).go(); D(6, 2).go(); E(3).go(); G(6, 2).go()
---
x = np.zeros((3, 5))
np.log(x + 1).tolist(), x.flags, x.data, x.astype(int)
"""
SAID = {
    "np.zeros((3, 5)).shpae": ("an array has no attribute 'shpae'", "did you mean 'shape'?"),
    "np.zeros((3, 5)).astyp(int)": ("an array has no attribute 'astyp'", "did you mean 'astype'?"),
    "class A(nn.Linear): pass\nA(3, 5).wieght": ("A has no attribute 'wieght'", "did you mean 'weight'?"),
    "class A(nn.Conv2d):\n    extra = 3\n    def go(self): return self.extr\nA(3, 5, 1).go()": (
        "A has no attribute 'extr'",
        "did you mean 'extra'?",
    ),
    "nn.Linear(3, 4).weigth": ("Linear has no attribute 'weigth'", "did you mean 'weight'?"),
    "nn.LSTM(3, 4).hiden_size": ("LSTM has no attribute 'hiden_size'", "did you mean 'hidden_size'?"),
    "torch.zeros(2).foo": ("a tensor has no attribute 'foo'", None),
    "np.zeros(3).unsqueeze(0)": (
        "an array has no attribute 'unsqueeze', which a tensor has",
        "torch.from_numpy(...) makes a tensor of it",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", programs(WRONG))
def test_what_is_lacking_is_found_where_it_is_read(source: str, tmp_path: Path):
    line = raises(source, tmp_path / "program.py")
    assert line is not None
    assert [f.line for f in follow(tmp_path / "program.py").errors] == [line]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", programs(RIGHT))
def test_what_is_there_is_left_alone(source: str, tmp_path: Path):
    assert raises(source, tmp_path / "program.py") is None
    assert follow(tmp_path / "program.py").errors == ()


@pytest.mark.parametrize("body", SAID)
def test_the_error_says_what_was_meant(body: str, tmp_path: Path):
    (tmp_path / "program.py").write_text(HEAD + body + "\n")
    assert [(f.message, f.hint) for f in follow(tmp_path / "program.py").errors] == [SAID[body]]


def test_a_library_that_may_add_attributes_makes_it_unknown(tmp_path: Path):
    (tmp_path / "program.py").write_text(HEAD + "import fastai\nnn.Linear(3, 4).foo\ntorch.zeros(2).foo\n")
    assert follow(tmp_path / "program.py").errors == ()


MADE = {"Linear": (3, 4), "Conv2d": (3, 4, 5), "LSTM": (3, 4, 2), "BatchNorm2d": (3,), "Embedding": (7, 3), "ReLU": ()}


@pytest.mark.parametrize("name", MADE)
def test_all_that_torch_s_layers_have_is_known(name: str):
    layer = getattr(nn, name)(*MADE[name])
    given = dict(
        zip(inspect.signature(type(layer) if name != "LSTM" else nn.RNNBase).parameters, MADE[name], strict=False)
    )
    if name == "LSTM":
        given = {"input_size": 3, "hidden_size": 4, "num_layers": 2}
    rule = new_module(f"torch.nn.{name}", given)
    plain = set(dir(nn.Module()))
    for attribute in sorted(set(dir(layer)) - plain):
        assert not is_of_none(rule, attribute), attribute
