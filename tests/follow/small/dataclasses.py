# == defaults
from dataclasses import dataclass
@dataclass
class C:
    dim: int
    heads: int = 7
c = C(3)
a = c.heads
b = C(dim=5, heads=2)
e = C(1) == C(1, 7)
f = C(1) == C(2)

# == factories
from dataclasses import dataclass, field
@dataclass
class C:
    sizes: list = field(default_factory=lambda: [2, 3])
    n: int = field(default=5)
a, b = C(), C()
a.sizes.append(7)
x = a.sizes
y = b.sizes
z = C.n

# == post init
from dataclasses import dataclass, field
@dataclass
class C:
    dim: int = 6
    heads: int = 3
    head: int = field(init=False)
    def __post_init__(self):
        self.head = self.dim // self.heads
x = C().head
y = C(dim=15).head

# == inheritance
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    x: int = 1
    y: int = 2
@dataclass(frozen=True)
class B(A):
    z: int = 3
    x: int = 11
b = B(5)
c = (b.x, b.y, b.z)
d = B().x

# == subclass that is none
from dataclasses import dataclass
@dataclass
class A:
    x: int = 1
class B(A):
    def double(self):
        return self.x * 2
a = B(7).double()

# == keyword only
from dataclasses import dataclass, KW_ONLY
@dataclass
class C:
    x: int
    _: KW_ONLY
    y: int = 5
    z: int = 7
c = C(3, z=11)
try:
    C(1, 2)
    d = 'fine'
except TypeError:
    d = 'refused'

# == InitVar and ClassVar
from dataclasses import dataclass, InitVar
from typing import ClassVar
@dataclass
class C:
    k: ClassVar[int] = 9
    x: int = 1
    scale: InitVar[int] = 3
    def __post_init__(self, scale):
        self.x = self.x * scale
a = C(5).x
b = C(2, 7).x
c = C.k

# == asdict and replace
from dataclasses import dataclass, asdict, replace, astuple, fields, is_dataclass
@dataclass
class I:
    v: int = 2
@dataclass
class C:
    a: int
    inner: I
c = C(3, I())
d = asdict(c)
e = replace(c, a=7).a
f = [g.name for g in fields(c)]
h = is_dataclass(c)
i = is_dataclass(3)
k = astuple(I(5))

# == missing arguments
from dataclasses import dataclass
@dataclass
class C:
    x: int
try:
    C()
    a = 1
except TypeError:
    a = 2

# == future annotations
from __future__ import annotations
from dataclasses import dataclass
@dataclass
class C:
    x: 'int' = 3
    y: Undefined | None = None
a = C().x
b = C(y=5).y

# == a model's configuration
from dataclasses import dataclass
import torch
from torch import nn
@dataclass
class Config:
    dim: int = 6
    hidden: int = 11
class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.dim, config.hidden)
    def forward(self, x):
        return self.up(x)
out = Net(Config(dim=5))(torch.zeros(2, 5))
