# == a data descriptor
class Field:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, obj, owner=None):
        return getattr(obj, self.name) + 1
    def __set__(self, obj, value):
        setattr(obj, self.name, value * 2)
class C:
    x = Field()
    y = Field()
c = C()
c.x = 3
c.y = 5
n = c.x
m = c._y
c.x += 1
q = c.x
# == a descriptor of a class
class D:
    def __get__(self, obj, owner=None):
        return 2 if obj is None else 3
class C:
    x = D()
n = C.x
m = C().x
# == an instance hides a non-data descriptor
class D:
    def __get__(self, obj, owner=None):
        return 2
class C:
    x = D()
c = C()
a = c.x
c.x = 5
b = c.x
del c.x
d = c.x
# == a data descriptor hides an instance
class D:
    def __get__(self, obj, owner=None):
        return 2
    def __set__(self, obj, value):
        pass
class C:
    x = D()
c = C()
c.__dict__["x"] = 5
n = c.x
c.x = 7
m = c.x
# == delete of a descriptor
log = []
class D:
    def __delete__(self, obj):
        log.append(3)
    def __get__(self, obj, owner=None):
        return 5
class C:
    x = D()
c = C()
del c.x
n = log[0]
# == a property without a setter
class C:
    @property
    def x(self):
        return 2
c = C()
try:
    c.x = 3
    n = 5
except AttributeError:
    n = 7
m = c.x
try:
    del c.x
    q = 5
except AttributeError:
    q = 7
# == a property with setter and deleter
class C:
    def __init__(self): self._x = 2
    @property
    def x(self): return self._x
    @x.setter
    def x(self, v): self._x = v + 1
    @x.deleter
    def x(self): self._x = 11
c = C()
c.x = 5
n = c.x
c.x += 1
q = c.x
del c.x
m = c.x
# == a property by a call
class C:
    def get(self): return self.v
    def put(self, v): self.v = v * 3
    x = property(get, put)
c = C()
c.x = 2
n = c.x
# == getattr is asked last
class C:
    x = 2
    def __getattr__(self, name):
        return len(name)
c = C()
a = c.x
b = c.abc
d = getattr(c, "abcd", 9)
e = 3 if hasattr(c, "zz") else 5
# == getattr that raises
class C:
    def __getattr__(self, name):
        if name == "x":
            return 2
        raise AttributeError(name)
c = C()
a = c.x
try:
    b = c.y
except AttributeError:
    b = 3
d = getattr(c, "y", 5)
e = 7 if hasattr(c, "y") else 11
# == getattribute is asked first
class C:
    def __init__(self): self.x = 2
    def __getattribute__(self, name):
        if name == "x":
            return 3
        return super().__getattribute__(name)
c = C()
c.y = 5
a = c.x
b = c.y
d = c.__dict__["x"]
# == setattr of a class
class C:
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 2)
c = C()
c.x = 3
n = c.x
c.x += 1
m = c.x
# == setattr that puts elsewhere
class C:
    def __init__(self):
        self.__dict__["d"] = {}
    def __setattr__(self, name, value):
        self.d[name] = value
    def __getattr__(self, name):
        return self.d[name]
c = C()
c.x = 3
n = c.x
m = len(c.d)
# == delattr
class C:
    def __delattr__(self, name):
        self.x = 7
c = C()
c.x = 3
del c.x
n = c.x
# == del of an attribute
class C:
    x = 2
c = C()
c.x = 3
del c.x
n = c.x
try:
    del c.x
    m = 3
except AttributeError:
    m = 5
# == slots
class P:
    __slots__ = ("x", "y")
    def __init__(self): self.x = 2
p = P()
a = p.x
try:
    b = p.y
except AttributeError:
    b = 3
try:
    p.z = 5
    d = 5
except AttributeError:
    d = 7
p.y = 11
e = p.y
# == slots of a base without slots
class A: pass
class B(A):
    __slots__ = ("x",)
b = B()
b.y = 3
n = b.y
# == slots of bases add up
class A:
    __slots__ = ("x",)
class B(A):
    __slots__ = ("y",)
b = B()
b.x, b.y = 2, 3
n = b.x + b.y
try:
    b.z = 5
    m = 5
except AttributeError:
    m = 7
q = 3 if hasattr(b, "__dict__") else 5
# == slots as a string
class P:
    __slots__ = "ab"
p = P()
p.ab = 2
n = p.ab
try:
    p.a = 3
    m = 3
except AttributeError:
    m = 5
# == a frozen dataclass
from dataclasses import dataclass, FrozenInstanceError, replace
@dataclass(frozen=True)
class C:
    x: int = 3
    y: int = 5
c = C(2)
try:
    c.x = 7
    n = 7
except FrozenInstanceError:
    n = 11
m = c.x
try:
    del c.x
    q = 7
except AttributeError:
    q = 13
d = {c: 17}
r = d[C(2)]
s = replace(c, x=19).x
object.__setattr__(c, "x", 23)
t = c.x
# == dataclass with slots
from dataclasses import dataclass
@dataclass(slots=True)
class C:
    x: int = 3
c = C()
try:
    c.y = 2
    n = 2
except AttributeError:
    n = 5
# == dataclass order and eq
from dataclasses import dataclass, field
@dataclass(order=True)
class C:
    x: int
    y: int = field(default=3, compare=False)
n = 2 if C(2, 5) == C(2, 7) else 3
m = 2 if C(2) < C(3) else 3
q = max(C(5), C(3)).x
try:
    hash(C(2))
    r = 5
except TypeError:
    r = 7
# == dataclass post_init and factories
from dataclasses import dataclass, field, InitVar
@dataclass
class C:
    x: int
    ys: list = field(default_factory=list)
    k: InitVar[int] = 2
    z: int = field(init=False)
    def __post_init__(self, k):
        self.z = self.x * k
a, b = C(3), C(5, k=3)
a.ys.append(2)
n = len(b.ys)
m = a.z + b.z
# == private names
class A:
    def __init__(self): self.__n = 2
    def get(self): return self.__n
class B(A):
    def __init__(self):
        super().__init__()
        self.__n = 3
    def other(self): return self.__n
b = B()
n = b.get()
m = b.other()
q = b._A__n
r = b._B__n
try:
    s = b.__n
except AttributeError:
    s = 5
# == private methods and class variables
class A:
    __k = 2
    def __f(self): return 3
    def g(self): return self.__f() + A.__k
class B(A):
    def __f(self): return 5
n = B().g()
m = A._A__k
# == private names of arguments and variables
class A:
    def f(self, __x):
        return __x + 1

n = A().f(2)
# == dunder names are not private
class A:
    __x__ = 2
    def f(self): return self.__x__
n = A().f()
# == getattr with a private name by text
class A:
    def __init__(self): self.__n = 2
    def f(self): return getattr(self, "__n", 3)
n = A().f()
# == vars and dict
class C: pass
c = C()
c.__dict__["x"] = 2
n = c.x
vars(c).update(y=3)
m = c.y
q = len(vars(c))
setattr(c, "z", 5)
r = c.z
delattr(c, "z")
s = 3 if hasattr(c, "z") else 7
# == class attributes and instances
class C:
    n = 2
    xs = []
a, b = C(), C()
a.n = 3
p = b.n
C.n = 5
q = b.n
r = a.n
a.xs.append(1)
s = len(b.xs)
# == attributes of functions
def f(): pass
f.n = 2
a = f.n
try:
    b = f.m
except AttributeError:
    b = 3
# == attributes of what has none
try:
    (2).x = 3
    n = 2
except AttributeError:
    n = 3
try:
    None.x
    m = 2
except AttributeError:
    m = 5
try:
    "a".b
    q = 2
except AttributeError:
    q = 7
try:
    [].shape
    r = 2
except AttributeError:
    r = 11
try:
    object().x = 2
    s = 2
except AttributeError:
    s = 13
# == bound methods keep their object
class C:
    def __init__(self, n): self.n = n
    def f(self): return self.n
c = C(2)
f = c.f
c = C(3)
a = f()
f.__self__.n = 5
b = f()
# == methods put on objects and classes
class C:
    n = 2
c = C()
c.f = lambda: 3
a = c.f()
C.g = lambda self: self.n
b = c.g()
import types
c.h = types.MethodType(lambda self, k: self.n + k, c)
d = c.h(5)
# == static and class methods
class A:
    n = 2
    @staticmethod
    def s(k): return k
    @classmethod
    def c(cls, k): return cls.n + k
class B(A):
    n = 3
a = A.s(5) + A().s(7)
b = B.c(5)
c = B().c(7)
# == a metaclass's property
class M(type):
    @property
    def size(cls): return 3
    def f(cls): return 5
class C(metaclass=M):
    pass
n = C.size
m = C.f()
try:
    q = C().size
except AttributeError:
    q = 7
# == cached_property
import functools
log = []
class C:
    @functools.cached_property
    def x(self):
        log.append(1)
        return 3
c = C()
a = c.x + c.x
n = len(log)
del c.x
b = c.x
m = len(log)
c.x = 7
d = c.x
# == __class__ of an object
class A: n = 2
class B: n = 3
a = A()
p = a.__class__.n
a.__class__ = B
q = a.n
r = type(a).n
# == __dict__ of a class
class C:
    x = 2
n = C.__dict__["x"]
m = 3 if "y" in C.__dict__ else 5
# == hasattr of a property that raises
class C:
    @property
    def x(self): raise AttributeError("x")
    @property
    def y(self): raise ValueError("y")
c = C()
n = 2 if hasattr(c, "x") else 3
try:
    m = 2 if hasattr(c, "y") else 3
except ValueError:
    m = 5
q = getattr(c, "x", 7)
