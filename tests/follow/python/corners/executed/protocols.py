# == asend, athrow, aclose and the end of an asynchronous generator
import asyncio
async def g():
    x = yield 1
    n = x
    try:
        y = yield 2
        m = y
    except ValueError:
        k = 7
        yield 5
async def main():
    h = g()
    a = await h.asend(None)
    b = await h.asend(4)
    c = await h.athrow(ValueError)
    try:
        d = await h.asend(3)
        e = 1
    except StopAsyncIteration:
        e = 2
    h2 = g()
    f = await h2.__anext__()
    try:
        i = await h2.athrow(KeyError("a"))
        j = 1
    except KeyError:
        j = 2
    await h2.aclose()
    try:
        l = await h2.asend(1)
        l = 1
    except StopAsyncIteration:
        l = 3
asyncio.run(main())
z = 1
# == the name of an exception is deleted behind its clause
def f():
    try:
        raise ValueError(3)
    except ValueError as e:
        a = len(e.args)
    try:
        e
        b = 1
    except UnboundLocalError:
        b = 2
    return b
c = f()
e = 5
try:
    raise ValueError(3)
except ValueError as e:
    d = 4
try:
    e
    g = 1
except NameError:
    g = 2
e = 5
try:
    raise ValueError(3)
except ValueError as e:
    del e
    e = 3
try:
    h = e
    i = 1
except NameError:
    i = 2
class C:
    e = 3
    try:
        raise ValueError
    except ValueError as e:
        pass
j = 1 if hasattr(C, "e") else 2
import os
e = 3
try:
    if os.environ.get("A"):
        raise ValueError
    k = 1
except ValueError as e:
    k = 2
try:
    l = e
except NameError:
    l = 4
def h():
    global e
    try:
        raise KeyError
    except KeyError as e:
        pass
    try:
        e
        return 1
    except NameError:
        return 2
m = h()
for i in range(2):
    try:
        raise KeyError
    except KeyError as e:
        n = 3
        continue
try:
    e
    o = 1
except NameError:
    o = 2
# == arguments that methods of Python's don't take
xs = [3, 1, 2]
try:
    xs.sort(len)
    a = 1
except TypeError:
    a = 2
try:
    sorted(xs, len)
    b = 1
except TypeError:
    b = 2
try:
    sorted(xs, None, True)
    c = 1
except TypeError:
    c = 2
xs.sort(key=lambda v: -v)
d = xs[0]
try:
    xs.sort(None)
    e = 1
except TypeError:
    e = 2
try:
    xs.sort(foo=1)
    f = 1
except TypeError:
    f = 2
try:
    xs.sort(cmp=None)
    g = 1
except TypeError:
    g = 2
for bad in (lambda: [].append(), lambda: [].append(1, 2), lambda: [].extend(), lambda: [].pop(1, 2), lambda: {}.update(1, 2), lambda: {}.get(), lambda: "".join(), lambda: "".split(1), lambda: [].reverse(1), lambda: [].insert(1), lambda: [].copy(1), lambda: {}.keys(1), lambda: (1,).index(), lambda: set().add(), lambda: {}.items(1), lambda: [].clear(1), lambda: {}.pop(), lambda: len(), lambda: len(1), lambda: abs(), lambda: [].count(), lambda: [].remove()):
    try:
        bad()
        h = 1
    except TypeError:
        h = 2
    except IndexError:
        h = 3
# == a metaclass has an mro of its own
class M(type):
    def mro(cls):
        return [cls, X, object]
class X:
    a = 3
class Y:
    a = 4
class Z(Y, metaclass=M):
    pass
a = Z.a
b = Z().a
c = len(Z.__mro__)
d = 1 if issubclass(Z, Y) else 2
e = 1 if Z.__mro__[1] is X else 2
class N(type):
    def mro(cls):
        return list(super().mro()) + []
class W(Y, metaclass=N):
    b = 1
f = W.a
class O(type):
    def mro(cls):
        return [object]
try:
    class V(Y, metaclass=O):
        pass
    g = V.a
    g = 1
except AttributeError:
    g = 2
except TypeError:
    g = 3
class P(type):
    def mro(cls):
        return type.mro(cls)[::-1]
try:
    class U(Y, metaclass=P):
        pass
    h = 1
except TypeError:
    h = 2
class Q(type):
    def mro(cls):
        return 3
try:
    class T(metaclass=Q):
        pass
    i = 1
except TypeError:
    i = 2
class R(type):
    count = 0
    def mro(cls):
        R.count += 1
        return super().mro()
class S(metaclass=R): pass
j = R.count
S.__bases__ = S.__bases__
k = R.count
l = S.mro()
m = R.count
# == type() of what is no namespace, and ints of a class with operators of its own
import enum, torch
class Color(enum.Enum):
    RED = 1
def f(ns):
    try:
        type('N', (), ns)
        return 1
    except TypeError:
        return 2
a = f(Color)
b = f({})
c = f([])
d = f(None)
import types
e = f(types.MappingProxyType({}))
class D(dict): pass
g = f(D())
def h(bases):
    try:
        type('N', bases, {})
        return 1
    except TypeError:
        return 2
i = h([])
j = h((1,))
k = h((int, str))
l = h(None)
def m(name):
    try:
        type(name, (), {})
        return 1
    except TypeError:
        return 2
    except ValueError:
        return 3
n = m(1)
o = m(b"a")
p = m("a b")
class A:
    def __add__(self, k):
        return 1
class B(A, int):
    pass
q = B() + torch.zeros(3, 4)
class E(A): pass
r = E() + torch.zeros(3, 4)
class F(A, float): pass
s = F() + torch.zeros(3)
class G(int):
    def __add__(self, k): return 1
t = G() + torch.zeros(3)
u = torch.zeros(3) + G()
class H(A, int):
    __hash__ = None
v = H() + torch.zeros(3, 4)
w = H() + 3
class I(int):
    def __mul__(self, k): return 2
    def __rsub__(self, k): return 5
x = I(3) * torch.zeros(2)
y = torch.zeros(2) - I(3)
z = 3 - I(3)

# == the class around
class A:
    def f(self): return __class__ is A
    @staticmethod
    def g(): return __class__ is A
    def h(self):
        class B:
            x = __class__
            def k(self): return __class__ is B
        return B().k(), B.x is A, __class__ is A
    def m(self):
        __class__ = 5
        return __class__
    def s(self):
        try:
            return (lambda: super().f())()
        except RuntimeError:
            return 3
a = A().f()
b = A.g()
c, d, e = A().h()
f = A().m()
g = A().s()

# == a hash of minus one, and sizes that are no sizes
import torch
class A:
    def __init__(self, k): self.k = k
    def __hash__(self): return self.k
a = hash(A(-1))
b = hash(A(5))
c = hash(A(2 ** 70))
d = {A(-1): 3}
try:
    torch.zeros({}.keys())
    e = 1
except TypeError:
    e = 2
try:
    torch.cat({"a": torch.zeros(3)}.values())
    f = 1
except TypeError:
    f = 2
g = torch.cat(list({"a": torch.zeros(3)}.values()))

# == what type, an index and a view of a dict refuse
import enum, torch
class Color(enum.Enum):
    RED = 1
class Bits(enum.Flag):
    A = 1
    C = 4
class Names(dict): pass
class Rows(list): pass
def tried(f):
    try:
        f()
        return 1
    except TypeError:
        return 2
    except KeyError:
        return 3
a = tried(lambda: type("N", (), Bits.A | Bits.C))
b = tried(lambda: type("N", (), Rows()))
c = tried(lambda: type("N", (), Names(x=3)))
d = tried(lambda: torch.zeros(3, 4)[Color])
e = tried(lambda: {}.keys() ^ torch.zeros(3, 4))
f = tried(lambda: type("N", (), None))
