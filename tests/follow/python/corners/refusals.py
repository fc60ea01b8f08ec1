# == what a comparison of one class asks, and in which order
log = []
class A:
    def __le__(self, other):
        log.append(3)
        return NotImplemented
    def __ge__(self, other):
        log.append(5)
        return NotImplemented
try:
    A() <= A()
    n = 7
except TypeError:
    n = 11
first = log[0]
second = log[1]

# == in-place operators that a class has taken away
class A:
    def __add__(self, other): return 3
class B(A):
    __iadd__ = None
b = B()
try:
    b += 1
    n = 5
except TypeError:
    n = 7

# == a property that finds no attribute asks __getattr__
class A:
    @property
    def size(self): raise AttributeError("size")
    def __getattr__(self, name): return len(name)
n = A().size

# == the order of a set of texts is not known, what it holds is
names = {"a", "bb", "ccc", "dddd"}
n = len(names)
last = sorted(list(names))[-1]
size = len(last)
total = sum(len(v) for v in names)
most = len(max(names, key=len))
for name in names:
    pass
m = len(name)
k = len(list(names)[0])

# == iter of a set that changes
s = {1, 2, 3}
n = 0
try:
    for x in iter(s):
        n += 1
        s.discard(x)
except RuntimeError:
    n += 10

# == islice asks when it is asked
from itertools import islice
source = iter(range(7))
part = islice(source, 2)
a = next(source)
b = next(part)
c = next(source)
d = sum(part)

# == a generator that has ended raises what is thrown into it
def numbers():
    yield 2
g = numbers()
n = 0
try:
    g.throw(ValueError)
except ValueError:
    n += 3
try:
    g.throw(KeyError("k"))
except KeyError:
    n += 5

# == arguments of Python's classes
n = 0
for work in (lambda: bool(1, 2), lambda: list(a=1), lambda: range(), lambda: max(), lambda: float(1, 2)):
    try:
        work()
    except TypeError:
        n += 2

# == numbers have attributes that are no methods
a = (7).numerator
b = (7).denominator
c = int((2.5).real)

# == a class that others are told to be subclasses of
from abc import ABC
class A(ABC): pass
class B: pass
A.register(B)
n = 3 if issubclass(B, A) else 5
m = 3 if isinstance(B(), A) else 5

# == subclasses of Python's values keep their class
class Size(int): pass
n = 3 if isinstance(Size(2), Size) else 5
m = 3 if type(Size(2)) is Size else 5

# == lengths that are none
class A:
    def __len__(self): return -1
class B:
    __len__ = None
n = 0
try:
    bool(A())
except ValueError:
    n += 2
try:
    bool(B())
except TypeError:
    n += 3

# == keys without a hash
class A: pass
class B(A, list): pass
class C(dict):
    def __new__(cls, *args): return super().__new__(cls, *args)
n = 0
for one in (B(), C(), {1}, [2]):
    try:
        {one: 1}
    except TypeError:
        n += 1
    try:
        {}.get(one)
    except TypeError:
        n += 10

# == locals of an inner function hold those around it
def outer(x):
    def inner(y):
        z = x + y
        return locals()
    return inner
n = len(outer(2)(3))

# == what a handler names is asked only where something is raised
n = 0
try:
    n += 3
except undefined:
    n += 5
