# == init_subclass
class A:
    kinds = []
    def __init_subclass__(cls, size=2, **more):
        super().__init_subclass__(**more)
        cls.size = size
        A.kinds.append(cls)
class B(A, size=3): pass
class C(B): pass
n = B.size
m = C.size
q = len(A.kinds)
# == class_getitem
class A:
    def __class_getitem__(cls, n):
        return n + 1
n = A[2]
# == a metaclass's call
class M(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.extra = 3
        return made
class C(metaclass=M):
    def __init__(self, n): self.n = n
c = C(2)
n = c.n
m = c.extra
# == a singleton metaclass
class M(type):
    held = {}
    def __call__(cls, *args, **kwargs):
        if cls not in M.held:
            M.held[cls] = super().__call__(*args, **kwargs)
        return M.held[cls]
class C(metaclass=M):
    def __init__(self, n): self.n = n
n = C(2).n
m = C(3).n
# == a metaclass's new
class M(type):
    def __new__(meta, name, bases, namespace, **options):
        namespace["size"] = 3
        return super().__new__(meta, name, bases, namespace)
class C(metaclass=M):
    size = 2
n = C.size
# == a metaclass's init
class M(type):
    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        cls.size = len(bases) + 3
class C(metaclass=M): pass
n = C.size
# == a metaclass with len, iter, getitem, contains
class M(type):
    def __len__(cls): return 3
    def __iter__(cls): return iter((2, 3, 5))
    def __getitem__(cls, k): return k * 2
    def __contains__(cls, k): return k == 7
class C(metaclass=M): pass
n = len(C)
m = sum(C)
q = C[5]
r = 2 if 7 in C else 3
# == prepare
class M(type):
    @classmethod
    def __prepare__(meta, name, bases):
        return {"k": 5}
class C(metaclass=M):
    n = k + 1
n = C.n
# == isinstance by a metaclass
class M(type):
    def __instancecheck__(cls, x): return x == 3
class C(metaclass=M): pass
n = 2 if isinstance(3, C) else 5
m = 2 if isinstance(4, C) else 5
# == classes by type
def f(self): return self.n + 1
C = type("C", (), {"n": 2, "f": f})
a = C.n
b = C().f()
D = type("D", (C,), {"n": 5})
c = D().f()
# == the order of bases
class A:
    def f(self): return 2
class B(A):
    def f(self): return 3 + super().f()
class C(A):
    def f(self): return 5 + super().f()
class D(B, C):
    def f(self): return 7 + super().f()
n = D().f()
m = [c.__name__ for c in D.__mro__].index("C")
# == super with arguments
class A:
    def f(self): return 2
class B(A):
    def f(self): return 3
class C(B):
    def f(self): return super(B, self).f()
n = C().f()
# == super in class methods
class A:
    @classmethod
    def make(cls): return cls()
    def n(self): return 2
class B(A):
    @classmethod
    def make(cls):
        made = super().make()
        made.k = 3
        return made
    def n(self): return 5
b = B.make()
n = b.n() + b.k
# == super of a property
class A:
    @property
    def x(self): return 2
class B(A):
    @property
    def x(self): return super().x + 1
n = B().x
# == super in new and init
class A:
    def __new__(cls, *args):
        made = super().__new__(cls)
        made.k = len(args)
        return made
    def __init__(self, *args): self.n = sum(args)
a = A(2, 3)
n = a.k + a.n
# == new that gives something else
class A:
    def __new__(cls, n): return n + 1
    def __init__(self, n): self.never = 1
n = A(2)
# == no consistent order
class A: pass
class B(A): pass
try:
    class C(A, B): pass
    n = 2
except TypeError:
    n = 3
# == abstract classes
import abc
class A(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
class B(A): pass
class C(A):
    def f(self): return 2
try:
    A()
    n = 3
except TypeError:
    n = 5
try:
    B()
    m = 3
except TypeError:
    m = 7
q = C().f()
# == int subclasses
class N(int):
    def __add__(self, other): return int(self) + int(other) + 100
    def twice(self): return N(self * 2)
a = N(3)
n = a + 4
m = a.twice() + 1
q = a * 2
r = int(a)
s = 2 if a == 3 else 5
t = [2, 3, 5, 7][a]
# == int subclass with new
class Even(int):
    def __new__(cls, n): return super().__new__(cls, n * 2)
n = Even(3) + 1
m = int(Even(5))
# == str subclasses
class S(str):
    def __len__(self): return 99
    def twice(self): return self + self
s = S("abc")
n = len(s)
m = len(s.twice())
q = 2 if s == "abc" else 3
r = len(s.upper())
# == list subclasses
class L(list):
    def append(self, x): super().append(x * 2)
    def total(self): return sum(self)
l = L([2, 3])
l.append(5)
n = l.total()
m = len(l)
q = l[-1]
l += [7]
r = sum(l)
s = len(l + [1])
t = type(l + [1]) is list and 3 or 5
# == dict subclasses
class D(dict):
    def __missing__(self, key): return key * 2
    def __setitem__(self, key, value): super().__setitem__(key, value + 1)
d = D(a=2)
n = d["a"]
m = d[5]
d["b"] = 3
q = d["b"]
d.update(c=7)
r = d["c"]
s = d.get("zz", 11)
t = len(d)
# == dict subclass with getitem
class D(dict):
    def __getitem__(self, key): return super().__getitem__(key) + 1
d = D(a=2)
n = d["a"]
m = d.get("a")
q = sum(d.values())
# == tuple subclasses
class P(tuple):
    def __new__(cls, x, y): return super().__new__(cls, (x, y))
    @property
    def x(self): return self[0]
p = P(2, 3)
n = p.x
m = len(p)
a, b = p
q = sum(p)
r = 2 if p == (2, 3) else 5
# == set subclasses
class S(set):
    def add(self, x): super().add(x * 2)
s = S({2})
s.add(3)
n = sum(s)
m = len(s | {7})
# == float and bool
class F(float): pass
n = int(F(2.7))
try:
    class B(bool): pass
    m = 2
except TypeError:
    m = 3
# == named tuples
from collections import namedtuple
from typing import NamedTuple
P = namedtuple("P", "x y", defaults=[5])
class Q(NamedTuple):
    a: int
    b: int = 3
    def total(self): return self.a + self.b
p, q = P(2), Q(7)
n = p.y + p[0]
m = q.total()
x, y = q
r = p._replace(x=11).x
s = sum(p)
t = len(q)
u = 2 if p == (2, 5) else 3
try:
    p.x = 3
    v = 2
except AttributeError:
    v = 5
w = p._asdict()["y"]
# == enums
import enum
class E(enum.Enum):
    A = 2
    B = 3
    C = 2
class I(enum.IntEnum):
    X = 5
    Y = 7
class F(enum.Flag):
    R = 1
    W = 2
n = E.A.value
m = len(E)
q = E(3).value
r = I.X + 1
s = 2 if E.C is E.A else 3
t = len([e for e in E])
try:
    E.A = 5
    u = 2
except AttributeError:
    u = 3
try:
    E(7)
    v = 2
except ValueError:
    v = 3
w = (F.R | F.W).value
x = E["B"].value
# == a class body's scope
n = 2
class C:
    n = 3
    xs = [n for _ in range(2)]
    m = n + 1
    def f(self): return n
a = C.xs[0]
b = C.m
c = C().f()
# == a class body runs
log = []
class C:
    for i in range(3):
        log.append(i)
    if len(log) == 3:
        x = 5
    else:
        x = 7
n = C.x
m = C.i
# == nested classes
class A:
    n = 2
    class B:
        n = 3
        def f(self): return A.n + A.B.n
n = A.B().f()
# == class decorators
def add(cls):
    cls.n = 3
    return cls
def other(cls): return 5
@add
class A: pass
@other
class B: pass
n = A.n
m = B + 1
# == del of a class attribute
class A: n = 2
class B(A): n = 3
del B.n
m = B.n
try:
    del B.n
    q = 2
except AttributeError:
    q = 5
# == generic classes
from typing import Generic, TypeVar
T = TypeVar("T")
class A(Generic[T]):
    def __init__(self, n): self.n = n
n = A[int](2).n
m = A(3).n
# == calls
class C:
    def __call__(self, a, *rest, k=2): return a + len(rest) + k
c = C()
n = c(3)
m = c(3, 5, 7, k=11)
q = 2 if callable(c) else 3
# == an instance's special methods are the class's
class C:
    def __len__(self): return 2
c = C()
c.__len__ = lambda: 3
n = len(c)
m = c.__len__()
# == too many arguments of a plain class
class C: pass
try:
    C(2)
    n = 2
except TypeError:
    n = 3
# == init that returns something
class C:
    def __init__(self): return 2
try:
    C()
    n = 2
except TypeError:
    n = 3
# == mro of a mixin
class Mixin:
    def __init__(self, *args, extra=0, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra
class Base:
    def __init__(self, n): self.n = n
class C(Mixin, Base): pass
c = C(2, extra=3)
n = c.n + c.extra
# == weak and slots with defaults
class P:
    __slots__ = ("x",)
    k = 3
p = P()
n = p.k
try:
    p.k = 5
    m = 2
except AttributeError:
    m = 7
