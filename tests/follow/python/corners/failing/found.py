# == __getattr__ that raises
import torch
class Config:
    def __init__(self, **values): self.__dict__.update(values)
    def __getattr__(self, name): raise AttributeError(name)
config = Config(dim=3)
hidden = getattr(config, "hidden", 4)
print(torch.nn.Linear(5, hidden)(torch.zeros(2, config.dim)))   # a bug: must be found
# == a callback of a stack
import contextlib, torch
log = []
with contextlib.ExitStack() as stack:
    stack.callback(log.append, 3)
print(torch.nn.Linear(log[0] + 1, 2)(torch.zeros(2, 3)))   # a bug: must be found
# == the cause of an exception
import torch
try:
    try:
        raise KeyError(3)
    except KeyError as e:
        raise RuntimeError("x") from e
except RuntimeError as e:
    n = e.__cause__.args[0]
print(torch.nn.Linear(n + 1, 2)(torch.zeros(4, 3)).shape)   # a bug: must be found
# == a private name
import torch
class A:
    def __init__(self): self.__n = 8
print(torch.nn.Linear(A()._A__n, 2)(torch.zeros(4, 3)).shape)   # a bug: must be found
# == what yield from gives
import torch
def parts():
    yield 1
    return 8
def whole():
    n = yield from parts()
    sizes.append(n)
sizes = []
list(whole())
def outer():
    n = yield from whole2()
    sizes.append(n)
def whole2():
    yield from parts()
    return 8
sum(outer())
print(torch.nn.Linear(sizes[1], 2)(torch.zeros(4, 3)).shape)   # a bug: must be found
# == __getattribute__
import torch
class Lazy:
    def __getattribute__(self, name):
        return torch.zeros(4, 3) if name == "x" else super().__getattribute__(name)
print(torch.nn.Linear(8, 2)(Lazy().x).shape)   # a bug: must be found
