# == a view is alive
import torch
d = {"a": torch.zeros(2)}
keys = d.keys()
d["b"] = torch.zeros(2)
x = torch.stack(list(d.values()))
y = torch.zeros(len(keys), 2) @ torch.zeros(2, 3)
print((x + torch.zeros(len(keys), 2)).shape, torch.nn.Linear(len(keys), 4)(torch.zeros(5, 2)).shape)
# == an expression binds late
import torch
x = torch.zeros(2, 3)
layers = (torch.nn.Linear(x.shape[-1], 4) for _ in range(1))
x = torch.zeros(2, 5)
print(next(layers)(x).shape)
# == a descriptor with a name
import torch
class Field:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, owner=None): return getattr(obj, self.name)
    def __set__(self, obj, value): setattr(obj, self.name, value.unsqueeze(0))
class Batch:
    image = Field()
b = Batch()
b.image = torch.zeros(3, 8, 8)
print(torch.nn.BatchNorm2d(3)(b.image).shape)
# == an or-pattern
import torch
match (1, 3):
    case (0 | 1, n) | (n, 0 | 1):
        print(torch.nn.Linear(n, 2)(torch.zeros(4, 3)).shape)
# == a frozen dataclass
import torch
from dataclasses import dataclass, FrozenInstanceError
@dataclass(frozen=True)
class Config:
    dim: int = 3
config = Config()
try:
    config.dim = 5
except FrozenInstanceError:
    pass
print(torch.nn.Linear(config.dim, 2)(torch.zeros(4, 3)).shape)
# == slots
import torch
class Point:
    __slots__ = ("x",)
p = Point()
try:
    p.y = 1
    n = 5
except AttributeError:
    n = 3
print(torch.nn.Linear(n, 2)(torch.zeros(4, 3)).shape)
# == a tensor on one of two ways
import random, torch
x = torch.zeros(3, 4)
y = x if random.random() < 0.5 else x.clone()
y.unsqueeze_(0)
z = x if x.ndim == 3 else x.unsqueeze(0)
print(torch.nn.BatchNorm1d(3)(z).shape)
# == an iterator is alive
import torch
sizes = [3]
it = iter(sizes)
sizes.append(5)
print(torch.nn.Linear(sum(it), 2)(torch.zeros(4, 8)).shape)
# == what is sent to a generator
import torch
def crops():
    size = 3
    while True:
        asked = yield torch.zeros(1, size)
        if asked: size = asked
g = crops()
next(g)
x = g.send(8)
print(torch.nn.Linear(8, 2)(x).shape)
# == an attribute that a tensor lacks
import torch
batch = torch.zeros(4, 8)
try:
    x = batch.pixel_values
    n = 3
except AttributeError:
    x = batch
    n = 8
print(torch.nn.Linear(n, 2)(batch).shape)
# == issubclass of bool
import torch
n = 8 if issubclass(bool, int) else 3
print(torch.nn.Linear(n, 2)(torch.zeros(4, 8)).shape)
# == an item of a tuple is set
import torch
shape = (3, 8)
try:
    shape[0] = 5
    n = 3
except TypeError:
    n = 8
print(torch.nn.Linear(n, 2)(torch.zeros(4, 8)).shape)
# == an unhashable key
import torch
try:
    seen = {[1]: 2}
    n = 3
except TypeError:
    n = 8
print(torch.nn.Linear(n, 2)(torch.zeros(4, 8)).shape)
