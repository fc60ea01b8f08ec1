# == a dict whose items are attributes
class AttrDict(dict):
    def __getattr__(self, k):
        return self[k]
    def __setattr__(self, k, v):
        self[k] = v
_c = AttrDict(dim=3, n=5)
_c.lr = 0.5
some_a = _c.dim + _c.n
some_b = _c["dim"]
some_c = len(_c)
some_d = _c.lr

# == a dict that is its own namespace
class Config(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.__dict__ = self
_c = Config(dim=3)
some = _c.dim

# == a class derived from list
class Stack(list):
    def push(self, x):
        self.append(x)
_s = Stack([1])
_s.push(2)
some = len(_s)
some_b = [x for x in _s]

# == counting
from collections import Counter
c = Counter("abracadabra")
some = c.most_common(2)
c.update("zz")
d = c["z"]
e = sum(c.values())
some_f = Counter(a=2) + Counter(a=3)

# == most common words
from collections import Counter
words = "a b a c".split()
vocab = {w: i for i, (w, _) in enumerate(Counter(words).most_common())}
n = len(vocab)

# == an order that is changed
from collections import OrderedDict
d = OrderedDict(a=1, b=2)
d.move_to_end("a")
k = list(d)
x = d.popitem(last=False)

# == a queue
from collections import deque
q = deque([0])
seen = []
while q:
    v = q.popleft()
    seen.append(v)
    if v < 3:
        q.append(v + 1)

# == text files in memory
import io
some_b = io.StringIO()
some_b.write("x")
some = some_b.getvalue()

# == functions by the class of their argument
from functools import singledispatch
@singledispatch
def f(x):
    return 1
@f.register
def _(x: str):
    return 2
some = f("a")

# == managers
from contextlib import contextmanager
@contextmanager
def timer(name):
    import time
    t = time.time()
    try:
        yield
    finally:
        some_dt = time.time() - t
with timer("x"):
    a = 3
class Meter:
    def __init__(self): self.n = 0
    def __enter__(self): return self
    def __exit__(self, *a): self.n += 1
with Meter() as m:
    pass
b = m.n

# == options of a dataclass
from dataclasses import dataclass, fields, field, asdict
import argparse
@dataclass
class Args:
    dim: int = 5
    lr: float = 0.1
p = argparse.ArgumentParser()
for f in fields(Args):
    p.add_argument("--" + f.name, default=getattr(Args, f.name))
a = Args(**vars(p.parse_args([])))
x = a.dim
del p, f

# == dataclasses in order
from dataclasses import dataclass
@dataclass(order=True)
class A:
    x: int
    y: int
some = A(1, 2) < A(2, 1)
some_b = sorted([A(3, 1), A(1, 5)])[0].x
c = A(1, 2) != A(1, 2)
d = str(3)

# == dataclasses as keys
from dataclasses import dataclass
@dataclass(frozen=True)
class K:
    x: int
_d = {}
_d[K(1)] = 5
some = _d[K(1)] if K(1) in _d else 5

# == members as keys
from enum import Enum
class M(Enum):
    A = "a"
    B = "b"
t = {M.A: 3, M.B: 5}
x = t[M("b")]
y = {m.value: m.name for m in M}
z = M.A in t
w = f"{M.A.value}"
names = list(M.__members__)

# == named tuples in lists
from typing import NamedTuple
class Step(NamedTuple):
    s: int
    r: float
steps = [Step(i, 0.5) for i in range(3)]
total = sum(st.r for st in steps)
ss, rs = zip(*steps)
batch = Step(*zip(*steps))
q = batch.s

# == generators with annotations
from __future__ import annotations
from typing import Iterator, Callable
def gen(n: int) -> Iterator[int]:
    for i in range(n):
        yield i
a = list(gen(3))
F = Callable[[int], int]
b: F = lambda x: x + 1
c = b(2)
del F, b

# == a configuration that may be there
import json, os
_cfg = {"dim": 5}
if os.path.exists("/nowhere.json"):
    with open("/nowhere.json") as f:
        _cfg.update(json.load(f))
some = _cfg["dim"]

# == strings
name = "model_{}_{:03d}.pt".format("a", 7)
b = "%s-%d" % ("x", 3)
c = f"{3.14159:.2f}"
d = "a,b".split(",")
e = "-".join(["x", "y"])
f = "abc".encode()
g = "Abc".lower().replace("a", "z")
h = "x".join(str(i) for i in range(3))

# == an argument that may be given
import sys
n = int(sys.argv[1]) if len(sys.argv) > 1 else 5

# == mathematics of sizes
import math
import torch
x = torch.zeros(2, 8, 6)
s = 1 / math.sqrt(x.size(-1))
y = x * s
n = int(math.log2(x.shape[1]))
pe = torch.exp(torch.arange(0, 6, 2).float() * (-math.log(10000.0) / 6))

# == signatures
import inspect
def f(a, b=3): pass
some = inspect.signature(f).parameters
some_b = "fused" in inspect.signature(f).parameters

# == copies of the command line
import argparse, copy
p = argparse.ArgumentParser()
p.add_argument("--dim", type=int, default=3)
a = p.parse_args([])
b = copy.deepcopy(a)
b.dim = 7
c = a.dim
d = argparse.Namespace(**vars(a)).dim
e = hasattr(a, "dim")
g = getattr(a, "nothing", 9)
h = "dim" in a
i = "x" in vars(a)
del p

# == methods in part
from functools import partial
class A:
    def f(self, x, y): return x + y
    def g(self): return partial(self.f, y=3)(2)
    h = partial(int, base=2)
a = A().g()
b = A().h("11")

# == branches by the clock
import time
some_t = time.time()
some_x = 3
while time.time() - some_t > 1e9:
    some_x = 5
if time.time() > 0:
    y = 1
else:
    y = 1


# == attributes by their names
class A:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)
        vars(self)["n"] = 7
        for k, v in {"p": 3}.items():
            setattr(self, k, v)
a = A(dim=5)
b = a.dim + a.n + a.p
c = sorted(vars(a))
class B:
    def __init__(self, config):
        self.__dict__ = dict(config)
d = B({"x": 3}).x

# == a dict with a default of its own
class Memo(dict):
    def __missing__(self, key):
        self[key] = value = key * 2
        return value
_m = Memo()
a = _m[3] + _m[3]
b = len(_m)
c = isinstance(_m, dict)
import copy
_k = copy.deepcopy(_m)
_k[5] = 1
d = len(_m)
e = [v for v in _m.values()]

# == windows of an unknown number of elements
import torch
some_first = (torch.randint(0, 9, (100,)) == 3).nonzero(as_tuple=True)[0]
some_ids = torch.cat([some_first, torch.arange(100)])
a = torch.arange(100)[torch.randperm(some_ids.numel())[:5] % 100]

# == our own digits
from simpletorch import data
train, test = data.Digits(), data.Digits(train=False)
a, b = train[0]
for images, targets in data.DataLoader(train, 64, drop_last=True):
    c, d = images, targets
e = (len(train), len(test), test.classes)
f, g = test.images, test.targets
del train, test, images, targets
# == objects in the place of __call__
import torch
class A:
    pass
A.__call__ = A()
try:
    A()()
    n = 1
except RecursionError:
    n = 2
class Inner:
    def __call__(self, *args):
        return len(args)
class Outer:
    __call__ = Inner()
k = Outer()(5, 7, 9)
class Bound:
    def __get__(self, obj, cls=None):
        return lambda *args: len(args) + 100
class Other:
    __call__ = Bound()
m = Other()(5)
class P: pass
class Q: pass
P.__call__ = Q()
Q.__call__ = P()
try:
    P()()
    o = 1
except RecursionError:
    o = 2
# == ints that are too big for a tensor
import numpy as np
import torch
try:
    torch.zeros(3) + 10**30
    n = 4
except ArithmeticError:
    n = 36
try:
    10**5000 - torch.zeros(3)
    k = 4
except OverflowError:
    k = 36
fits = torch.zeros(3) * (2**64 - 1)
of_objects = len(np.zeros(3) + 10**20)
