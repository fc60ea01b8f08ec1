# == objects with a method keys
class Exc(Exception): pass
class F:
    def keys(self):
        raise Exc
d = {}
try:
    d.update(F())
    n = 1
except Exc:
    n = 2
class G:
    def keys(self): return [1, 2]
    def __getitem__(self, k):
        if k == 2: raise Exc
        return k
try:
    d.update(G())
    n = 1
except Exc:
    n = 2
m = len(d)
class H:
    def keys(self): return ["a", "b"]
    def __getitem__(self, k): return 3
d.update(H())
m = len(d)
e = dict(H(), c=5)
m = len(e) + e["a"]
try:
    e = dict(F())
    n = 1
except Exc:
    n = 2
def f(**k): return len(k)
n = f(**H())
try:
    n = f(**F())
except Exc:
    n = 9
n = len({**H(), "a": 1})
d |= H().keys() and [(1, 2), (3, 4)]
n = len(d)
class K:
    def __init__(self): self.keys = lambda: ["q"]
    def __getitem__(self, k): return 3
d = {}
d.update(K())
n = len(d)
class I:
    def __iter__(self): return iter([("a", 1)])
d = dict(I())
n = len(d)
try:
    d.update(object())
    n = 1
except TypeError:
    n = 2
class J:
    @property
    def keys(self): return lambda: iter("xyz")
    def __getitem__(self, k): return 1
n = len(dict(J()))
# == views beside other collections
import torch
d = {1: 2, 3: 4}
n = len([1, 5] | d.keys())
n = len("ab" & d.keys())
n = len(range(2) - d.keys())
n = len(range(2) ^ d.items())
n = len(torch.zeros(3, 4) | d.keys())
n = len(d.keys() | torch.zeros(3, 4))
x = torch.zeros(2, 4)
x |= d.items()
n = len(x)
y = (1, 2)
y &= d.keys()
n = len(y)
try:
    5 | d.keys()
    n = 1
except TypeError:
    n = 2
try:
    [1] | d.values()
    n = 1
except TypeError:
    n = 2
try:
    [[1]] | d.keys()
    n = 1
except TypeError:
    n = 2
