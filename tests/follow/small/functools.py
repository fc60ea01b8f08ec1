# == partial
from functools import partial
f = lambda a, b, c=1: (a, b, c)
g = partial(f, 2, c=3)
x = g(5)

# == partial of partial
from functools import partial
f = lambda *a, **k: (a, k['x'])
g = partial(partial(f, 2, x=1), 3, x=5)
y = g(7)

# == attributes of partial
import functools
p = functools.partial(int, base=2)
a = p.keywords
b = p.args
c = p('101')

# == partial of a class
from functools import partial
import torch.nn as nn
import torch
norm = partial(nn.LayerNorm, eps=1e-6)
out = norm(7)(torch.zeros(3, 7))

# == reduce
from functools import reduce
a = reduce(lambda x, y: x * y, [2, 3, 5])
b = reduce(max, [3, 1], 7)

# == cache
import functools
@functools.cache
def f(n):
    return n + 1
@functools.lru_cache(maxsize=None)
def g(n):
    return f(n) * 2
@functools.lru_cache
def h(n):
    return n
a = g(3)
b = h(5)

# == wraps
import functools
def deco(fn):
    @functools.wraps(fn)
    def inner(*args, **kw):
        return fn(*args, **kw) + 1
    return inner
@deco
def f(x):
    return x
a = f(2)
b = f.__name__

# == cached_property
from functools import cached_property
class A:
    n = 0
    @cached_property
    def x(self):
        self.n += 1
        return 7
a = A()
b = a.x + a.x
c = a.n

# == itemgetter
from operator import itemgetter, attrgetter, mul
rows = sorted([(2, 'b'), (1, 'c')], key=itemgetter(1))
a = itemgetter(0, 1)([5, 7])
b = mul(3, 5)
from functools import reduce
c = reduce(mul, (2, 3, 7), 1)

# == attrgetter
from operator import attrgetter, methodcaller
class A:
    x = 3
A.inner = A
a = attrgetter('inner.x')(A)
b = methodcaller('upper')('abc')

# == operators
import operator as op
a = [op.add(1, 2), op.sub(5, 2), op.truediv(1, 2), op.eq(1, 1), op.neg(3)]
b = op.getitem([5, 7], 1)
c = op.contains([1, 2], 2)
