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

# == Python calls a function at each line of another
import sys
log = []
def trace(frame, event, arg):
    log.append(1)
    return trace
def f():
    return 3
sys.settrace(trace)
f()
sys.settrace(None)
a = 1 if len(log) == 0 else 2

# == texts, numbers and tuples that are equal needn't be one object
made = 'ke'
made += 'y1'
kept = 'key1'
a = 1 if made is kept else 2
b = 1 if made is not kept else 2
n = 10 ** 3
m = 1000
c = 1 if n is m else 2
t = (1, 2)
u = tuple([1, 2])
d = 1 if t is u else 2
e = 1 if made is made else 2

# == views of dicts compare values, whose classes may raise
class C:
    def __eq__(self, other):
        raise RuntimeError
d1 = {1: C()}
d2 = {1: C()}
try:
    d1.items() == d2.items()
except RuntimeError:
    a = 1
else:
    a = 2
try:
    d1.items() != d2.items()
except RuntimeError:
    b = 1
else:
    b = 2
try:
    d1.items() <= d2.items()
except RuntimeError:
    c = 1
else:
    c = 2
try:
    d1.items() < {1: C(), 2: C()}.items()
except RuntimeError:
    e = 1
else:
    e = 2

# == total_ordering of a class without a comparison
import functools
try:
    @functools.total_ordering
    class A:
        pass
except ValueError:
    a = 1
else:
    a = 2
@functools.total_ordering
class B(int):
    pass
b = 1 if B(1) < B(2) else 2

# == a property is asked through its class
class C:
    def getx(self):
        return self.__x
    def setx(self, value):
        self.__x = value
    def delx(self):
        del self.__x
    x = property(getx, setx, delx, doc="x")
a = C()
C.x.__set__(a, 100)
b = 1 if C.x.__get__(a) == 100 else 2
C.x.__delete__(a)
e = 1 if hasattr(a, "x") else 2
raw = C.__dict__["x"]
d = 1 if isinstance(raw, property) else 2
f = 1 if isinstance(C.x, property) else 2

# == __new__ as a class method
class C:
    @classmethod
    def __new__(*args):
        return args
a = 1 if C(1, 2) == (C, C, 1, 2) else 2
class D(C):
    pass
b = 1 if D(1, 2) == (D, D, 1, 2) else 2

# == methods of Python's classes refuse other objects
class Thing:
    pass
thing = Thing()
try:
    list.sort(thing)
except TypeError:
    a = 1
else:
    a = 2
try:
    str.split(thing)
except TypeError:
    b = 1
else:
    b = 2
try:
    list.append(thing, 3)
except TypeError:
    c = 1
else:
    c = 2
try:
    dict.get(3, 3)
except TypeError:
    d = 1
else:
    d = 2
try:
    list.sort((1, 2))
except TypeError:
    e = 1
else:
    e = 2

# == qualified names, and a class made with one
a = 1 if str.lower.__qualname__ == "str.lower" else 2
a2 = 1 if str.lower.__name__ == "lower" else 2
a3 = 1 if [].append.__qualname__ == "list.append" else 2
a4 = 1 if len.__qualname__ == "len" else 2
a5 = 1 if int.__add__.__qualname__ == "int.__add__" else 2
names = {"__qualname__": "some.name"}
made = type("Foo", (), names)
b = 1 if made.__qualname__ == "some.name" else 2
c = 1 if "__qualname__" not in made.__dict__ else 2
try:
    type("Foo", (), {"__qualname__": 1})
except TypeError:
    d = 1
else:
    d = 2
class X:
    def f(self): pass
e = 1 if X.f.__qualname__ == "X.f" else 2
f = 1 if "__qualname__" in X.__dict__ else 2
g = 1 if "__module__" in X.__dict__ else 2

# == objects that are a mapping and a sequence
import collections
import collections.abc
class C:
    pass
class M3(collections.UserDict, C, list):
    pass
class S4(collections.UserList, dict, C):
    pass
class M4(dict, collections.abc.Sequence, C):
    pass
def first(x):
    match x:
        case [*_]:
            return 1
        case {}:
            return 2
def second(x):
    match x:
        case {}:
            return 2
        case [*_]:
            return 1
a = first(M3())
b = second(M3())
c = first(S4())
d = second(S4())
e = first(M4())
f = second(M4())

# == slots that name __weakref__ or __dict__
class D:
    __slots__ = ["__dict__"]
class W:
    __slots__ = ["__weakref__"]
a = D()
b = 1 if hasattr(a, "__dict__") else 2
c = 1 if hasattr(a, "__weakref__") else 2
a2 = W()
d = 1 if hasattr(a2, "__weakref__") else 2
e = 1 if hasattr(a2, "__dict__") else 2
class CC:
    __slots__ = ()
f = 1 if hasattr(CC(), "__dict__") else 2
class Plain:
    pass
g = 1 if hasattr(Plain(), "__weakref__") else 2
h = 1 if hasattr(Plain(), "__module__") else 2
i = 1 if hasattr(Plain, "__module__") else 2
j = 1 if hasattr(Plain, "__name__") else 2
k = 1 if hasattr(Plain(), "__name__") else 2
l = 1 if hasattr(3, "__dict__") else 2
m = 1 if hasattr(print, "__dict__") else 2
n = 1 if hasattr(first := (lambda: 3), "__dict__") else 2
class W1(W, D):
    __slots__ = []
o = 1 if hasattr(W1(), "__dict__") else 2
p = 1 if hasattr(W1(), "__weakref__") else 2

# == slices with objects in them are compared and copied
import copy
class Bad:
    def __eq__(self, other):
        raise KeyError
s1 = slice(Bad())
s2 = slice(Bad())
try:
    s1 == s2
except KeyError:
    a = 1
else:
    a = 2
s = slice([1, 2], [3, 4], [5, 6])
c = copy.deepcopy(s)
d = 1 if s is not c else 2
e = 1 if s.start is not c.start else 2
f = 1 if s == c else 2

# == objects of Python's own classes are told apart
import torch, types
z = zip([1], [2])
a = 1 if isinstance(z, zip) else 2
b = 1 if isinstance(zip, type) else 2
c = 1 if isinstance(enumerate([1]), enumerate) else 2
d = 1 if isinstance(torch.zeros(3), ValueError) else 2
e = 1 if isinstance(3, property) else 2
f = 1 if isinstance(staticmethod(len), staticmethod) else 2
g = 1 if isinstance(len, types.FunctionType) else 2
h = 1 if isinstance(torch.nn.functional.relu, types.FunctionType) else 2
def gen():
    yield 1
i = 1 if isinstance(gen(), types.GeneratorType) else 2
j = 1 if isinstance(map(len, []), map) else 2
k = 1 if isinstance(reversed([1]), reversed) else 2
l = 1 if isinstance(bytearray(b"a"), bytearray) else 2
m = 1 if isinstance(ValueError(3), ValueError) else 2
n = 1 if isinstance(lambda: 3, types.FunctionType) else 2
o = 1 if isinstance(print, types.BuiltinFunctionType) else 2
p = 1 if isinstance({}.keys(), dict) else 2
q = 1 if isinstance(torch.nn.functional.relu, type) else 2
r = 1 if isinstance(NotImplemented, object) else 2
s = 1 if isinstance(..., type(...)) else 2
class C:
    def f(self): pass
    @staticmethod
    def g(): pass
t = 1 if isinstance(C().f, types.MethodType) else 2
u = 1 if isinstance(C.__dict__["g"], staticmethod) else 2
v = 1 if isinstance(C.f, types.FunctionType) else 2
w = 1 if isinstance(C.__dict__["f"], types.FunctionType) else 2
x = 1 if isinstance(iter([]), list) else 2
y = 1 if isinstance(object(), object) else 2

# == __getattribute__ given to a class later, and as a descriptor
class A:
    pass
class B(A):
    pass
class D(B):
    pass
d = D()
d.foo = 42
a = 1 if d.foo == 42 else 2
def given(self, name):
    if name == "foo":
        return 24
    return object.__getattribute__(self, name)
A.__getattribute__ = given
b = 1 if d.foo == 24 else 2
def more(self, name):
    return 5
B.__getattr__ = more
c = d.spam
e = 1 if d.foo == 24 else 2
del A.__getattribute__
f = 1 if d.foo == 42 else 2
class Descriptor:
    counter = 0
    def __get__(self, obj, objtype=None):
        def getter(name):
            self.counter += 1
            raise AttributeError(name)
        return getter
descr = Descriptor()
class G:
    __getattribute__ = descr
try:
    G().attr
except AttributeError:
    g = 1
else:
    g = 2
h = descr.counter
class H:
    __getattr__ = descr
try:
    H().attr
except AttributeError:
    i = 1
else:
    i = 2
j = descr.counter

# == what a metaclass is given of a class body
class Meta(type):
    def __new__(cls, name, bases, namespace, attr):
        a = 1 if attr in namespace else 2
        return super().__new__(cls, name, bases, namespace)
class C1(metaclass=Meta, attr="__classcell__"):
    def f(self):
        return __class__
class C2(metaclass=Meta, attr="__qualname__"):
    pass
class C3(metaclass=Meta, attr="__module__"):
    pass
class C4(metaclass=Meta, attr="__doc__"):
    "x"
class C5(metaclass=Meta, attr="__annotations__"):
    x: int
class C6(metaclass=Meta, attr="__classcell__"):
    def f(self):
        return super().f()
class C7(metaclass=Meta, attr="__classcell__"):
    pass
class C8(metaclass=Meta, attr="__dict__"):
    pass

# == an object that ends changes what its class reaches
import gc
log = []
class C:
    def __del__(self):
        log.append(1)
c = C()
del c
gc.collect()
a = 1 if len(log) == 0 else 2
log.clear()
c = C()
log.clear()
del c
a2 = 1 if len(log) == 0 else 2
class Kept:
    kept = []
    ended = False
    def __del__(self):
        Kept.kept.append(self)
        Kept.ended = True
def make():
    k = Kept()
    return 3
m = make()
b = 1 if len(Kept.kept) == 0 else 2
b2 = 1 if Kept.ended else 2
n = ()
class Other:
    def __del__(self):
        global n
        n = (4,)
Other()
d = len(n)
class Closed:
    def __init__(self):
        self.size = 3
    def close(self):
        self.size = 0
    def __del__(self):
        self.close()
x = Closed()
e = x.size

# == a metaclass is given the whole namespace of a class body
class Meta(type):
    def __new__(cls, name, bases, namespace):
        Meta.seen = namespace
        return super().__new__(cls, name, bases, namespace)
class C1(metaclass=Meta):
    def f(self):
        return __class__
a = 1 if "__classcell__" in Meta.seen else 2
class C2(metaclass=Meta):
    def f(self):
        return super().f()
b = 1 if "__classcell__" in Meta.seen else 2
class C3(metaclass=Meta):
    x: int = 3
c = 1 if "__classcell__" in Meta.seen else 2
d = 1 if "__module__" in Meta.seen else 2
e = 1 if "__qualname__" in Meta.seen else 2
f = 1 if "__doc__" in Meta.seen else 2
g = 1 if "__annotations__" in Meta.seen else 2
h = len([k for k in Meta.seen if not k.startswith("__")])
class C4(metaclass=Meta):
    "text"
i = 1 if "__doc__" in Meta.seen else 2
j = 1 if "__annotations__" in Meta.seen else 2
k = 1 if len(Meta.seen) == 0 else 2
class Drops(type):
    def __new__(cls, name, bases, namespace):
        namespace.pop("__classcell__", None)
        return super().__new__(cls, name, bases, namespace)
try:
    class D1(metaclass=Drops):
        def f(self):
            return __class__
except RuntimeError:
    l = 1
else:
    l = 2
class D2(metaclass=Drops):
    pass
class Gives(type):
    def __new__(cls, name, bases, namespace):
        namespace["__classcell__"] = None
        return super().__new__(cls, name, bases, namespace)
try:
    class G(metaclass=Gives):
        pass
except TypeError:
    m = 1
else:
    m = 2
class Again(type):
    def __new__(cls, name, bases, namespace):
        made = super().__new__(cls, name, bases, namespace)
        type("B", (), namespace)
        return made
try:
    class A(metaclass=Again):
        def f(self):
            return __class__
except TypeError:
    n = 1
else:
    n = 2
try:
    super(int, int, int)
except TypeError:
    o = 1
else:
    o = 2
class Registry(type):
    rows = {}
    def __new__(cls, name, bases, namespace):
        made = super().__new__(cls, name, bases, {**namespace, "size": 5})
        Registry.rows[name] = made
        return made
class R(metaclass=Registry):
    def width(self):
        return self.size + 1
p = R().width()
q = 1 if "__classcell__" in R.__dict__ else 2

# == a class method of a property, and texts of classes
class A:
    @classmethod
    @property
    def size(cls):
        return 3
a = 1 if A.size == 3 else 2
b = 1 if isinstance(A.size, int) else 2
class B:
    """First"""
    @classmethod
    @property
    def __doc__(cls):
        return "Second"
c = 1 if B.__doc__ == "Second" else 2
class C:
    """First"""
d = 1 if C.__doc__ == "First" else 2
class D:
    def f(self):
        "Eggs"
    @property
    def g(self):
        "Ham"
e = 1 if D.f.__doc__ == "Eggs" else 2
f = 1 if D.g.__doc__ == "Ham" else 2

# == comparing lists changes them; repeating too often
class X:
    def __eq__(self, other):
        list2.clear()
        return NotImplemented
class Y:
    def __eq__(self, other):
        list1.clear()
        return NotImplemented
list1 = [X()]
list2 = [Y()]
a = 1 if list1 == list2 else 2
def mul(a, b):
    return a * b
def imul(a, b):
    a *= b
import sys
n = int((sys.maxsize * 2 + 2) // 4)
try:
    mul([4, 5, 6, 7], n)
except (MemoryError, OverflowError):
    b = 1
else:
    b = 2
try:
    imul([4, 5, 6, 7], n)
except (MemoryError, OverflowError):
    c = 1
else:
    c = 2
try:
    mul("abcd", n)
except (MemoryError, OverflowError):
    d = 1
else:
    d = 2
try:
    mul((1, 2, 3, 4), n)
except (MemoryError, OverflowError):
    e = 1
else:
    e = 2

# == a frozenset whose items aren't known
import random
i = random.randrange(5)
f = frozenset([i])
try:
    h = hash(f)
    a = 1
except TypeError:
    a = 2
try:
    d = {f: 3}
    b = 1
except TypeError:
    b = 2
c = 1 if isinstance(f, frozenset) else 2
e = 1 if isinstance(f, set) else 2
try:
    f.add(3)
    g = 1
except AttributeError:
    g = 2
s = {f}
n = len(s)
k = 1 if f == frozenset([i]) else 2
m = 1 if f == {i} else 2
class P: pass
p = P()
fs = frozenset([p])
o = 1 if p in fs else 2
q = 1 if len(fs) == 1 else 2
r = 1 if isinstance(frozenset({1}) | {i}, frozenset) else 2
t = 1 if isinstance(frozenset({1}) | {2}, frozenset) else 2
u = 1 if isinstance({2} | frozenset({1}), frozenset) else 2
v = 1 if isinstance(frozenset({1}).union([i]), frozenset) else 2
w = len({frozenset({1}) | {i}: 3})
x = 1 if isinstance(fs.copy(), frozenset) else 2

# == hashes of frozensets in a long loop
seen = set()
add = seen.add
for i in range(2**13):
    add(hash(frozenset([i])))
a = 1 if len(seen) > 8000 else 2
rows = []
more = rows.append
for i in range(3000):
    more(hash(frozenset([i])))
b = len(rows)
