# == dataclasses whole
from dataclasses import dataclass, field, fields, asdict, astuple, replace, KW_ONLY, InitVar, MISSING, is_dataclass
from typing import ClassVar, List, Optional
from collections import namedtuple
import torch
n = 0
try:
    @dataclass
    class C:
        x: int = 0
        y: int
    n = 1
except TypeError:
    n = 2
try:
    @dataclass
    class C:
        x: list = []
    n = 1
except ValueError:
    n = 2
@dataclass
class Opt:
    lr: float = 0.1
try:
    @dataclass
    class C:
        opt: Opt = Opt()
    n = 1
except ValueError:
    n = 2
try:
    x = field(default=1, default_factory=list)
    n = 1
except ValueError:
    n = 2
@dataclass(frozen=True)
class F:
    a: int = 3
class G(F):
    def __init__(self, b):
        super().__init__(b + 1)
        self.b = b
g = G(4)
n = g.a + g.b
try:
    g.a = 4
    n = 1
except AttributeError:
    n = 2
try:
    @dataclass
    class H(F):
        c: int = 0
    n = 1
except TypeError:
    n = 2
try:
    @dataclass(order=True, eq=False)
    class C:
        x: int = 0
    n = 1
except ValueError:
    n = 2
@dataclass
class P:
    x: int
    y: int = field(default=4, init=False)
    z: ClassVar[int] = 7
    w: List[int] = field(default_factory=lambda: [1, 2])
    k: InitVar[int] = 5
    def __post_init__(self, k):
        self.s = k + self.x
p = P(2)
n = p.s; n = p.y; n = p.z; n = len(p.w); n = len(fields(P)); n = len(vars(p))
q = P(2, [3], 6)
n = q.s + len(q.w)
n = 1 if p == P(2) else 2
n = 1 if p == P(2, k=9) else 2
d = asdict(p)
n = len(d); n = d["w"][0]
d["w"].append(5)
n = len(p.w)
n = len(astuple(p)); n = astuple(p)[0]
r = replace(p, x=8, k=1)
n = r.x + r.s
try:
    r = replace(p, y=8, k=1)
    n = 1
except ValueError:
    n = 2
n = 1 if fields(P) == fields(p) else 2
n = 1 if fields(P)[0].default is MISSING else 2
n = fields(P)[1].default
n = 1 if is_dataclass(P) and is_dataclass(p) and not is_dataclass(3) else 2
@dataclass
class K:
    a: int
    _: KW_ONLY
    b: int = 2
    c: int = field(default=3, kw_only=False)
n = K(1, 7).c; n = K(1, b=5).b
try:
    K(1, 2, 3)
    n = 1
except TypeError:
    n = 2
try:
    fields(3)
    n = 1
except TypeError:
    n = 2
try:
    asdict(P)
    n = 1
except TypeError:
    n = 2
@dataclass
class M:
    flag = False
    x: int = 1
    @classmethod
    def __post_init__(cls):
        cls.flag = True
M()
n = 1 if M.flag else 2
@dataclass
class N:
    x: int = field(default=MISSING)
try:
    N()
    n = 1
except TypeError:
    n = 2
n = 1 if 'x' in N.__dict__ else 2
@dataclass(slots=True)
class S:
    x: int = 3
    y: int = 4
s = S(5)
n = s.x + s.y
try:
    s.z = 3
    n = 1
except AttributeError:
    n = 2
n = len(S.__slots__)
class Base:
    dim = 12
@dataclass
class Inh(Base):
    dim: int
n = Inh().dim
@dataclass
class Prop:
    size: int
    @property
    def size(self): return self._size * 2
    @size.setter
    def size(self, v): self._size = v if isinstance(v, int) else 10
n = Prop(3).size
n = Prop().size
@dataclass
class SetA:
    x: int
    def __setattr__(self, name, v):
        object.__setattr__(self, name, v + 1)
n = SetA(3).x
NT = namedtuple("NT", "u v")
@dataclass
class Outer:
    p: P
    t: NT
    l: list
o = Outer(P(1), NT(P(2), 3), [P(4)])
d = asdict(o)
n = d["p"]["x"]; n = d["t"].u["x"]; n = d["l"][0]["x"]
t = astuple(o)
n = t[0][0]; n = t[1].u[0]; n = t[2][0][0]
@dataclass(eq=False)
class E:
    x: int = 1
e = E()
n = 1 if e == e else 2
n = 1 if e == E() else 2
n = len({e, E()})
@dataclass(order=True)
class O:
    x: int
    y: int = field(default=0, compare=False)
n = 1 if O(1, 5) < O(2, 1) else 2
n = 1 if O(1, 5) == O(1, 1) else 2
n = sorted([O(3), O(1)])[0].x
@dataclass
class Net(torch.nn.Module):
    dim: int = 4
    def __post_init__(self):
        super().__init__()
        self.l = torch.nn.Linear(self.dim, 3)
    __hash__ = torch.nn.Module.__hash__
y = Net().l(torch.zeros(2, 4))
try:
    dataclass(frozn=True)
    n = 1
except TypeError:
    n = 2
@dataclass
class Sub(P):
    q: int = 2
    x: int = 11
n = Sub().x; n = Sub(1, [1], 3, 4).q
# == dataclasses that are made in unusual ways
from dataclasses import dataclass, field, asdict
n = 0
@dataclass(init=False)
class C:
    def __post_init__(self):
        raise KeyError
C()
n = 1
cls = type('C', (), {'__annotations__': {'x': int, 'y': int}})
c = dataclass(cls)
n = len(asdict(c(1, 2)))
class D:
    def __set_name__(self, owner, name):
        self.name = len(name)
    def __get__(self, instance, owner):
        return 1 if instance is not None else self
@dataclass
class E:
    cc: int = field(default=D(), init=False)
n = E.cc.name
n = E().cc
n = len(E().__match_args__)
class D2:
    def __get__(self, instance, owner):
        if instance is None: raise AttributeError
        return instance._x
    def __set__(self, instance, value): instance._x = value
@dataclass
class F:
    i: D2 = D2()
n = F(5).i
try:
    F()
    n = 1
except TypeError:
    n = 2
try:
    field(metadata=0)
    n = 1
except TypeError:
    n = 2
field(metadata={"help": 3})
