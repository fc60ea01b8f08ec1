# == reflected operators
class A:
    def __add__(self, o): return NotImplemented
    def __radd__(self, o): return 3
    def __rsub__(self, o): return o - 2
    def __rmul__(self, o): return o * 5
a = A()
n = 2 + a
m = 7 - a
q = 3 * a
try:
    r = a + 2
except TypeError:
    r = 11
# == NotImplemented goes to the other
class A:
    def __add__(self, o): return NotImplemented
class B:
    def __radd__(self, o): return 5
n = A() + B()
# == a subclass's reflected operator is first
class A:
    def __add__(self, o): return 2
    def __radd__(self, o): return 3
class B(A):
    def __radd__(self, o): return 5
n = A() + B()
m = A() + A()
class C(A): pass
q = A() + C()
# == in place
class A:
    def __init__(self): self.n = 2
    def __iadd__(self, o):
        self.n += o
        return self
    def __add__(self, o): return 99
a = A()
b = a
a += 3
n = b.n
# == in place falls back
class A:
    def __init__(self, n): self.n = n
    def __add__(self, o): return A(self.n + o)
a = A(2)
b = a
a += 3
n = a.n
m = b.n
# == in place of a list by another name
xs = [2]
ys = xs
ys += [3]
n = len(xs)
ys = ys + [5]
m = len(xs)
zs = (2,)
ws = zs
ws += (3,)
q = len(zs)
# == a list in a tuple
t = ([2], 3)
try:
    t[0] += [5]
    n = 2
except TypeError:
    n = 7
m = len(t[0])
# == augmented items and attributes evaluate once
log = []
def at():
    log.append(1)
    return 0
xs = [2]
xs[at()] += 3
n = xs[0]
m = len(log)
# == sets in place
s = {2, 3}
t = s
s |= {5}
n = len(t)
s &= {3, 5}
m = sum(t)
s -= {3}
q = sum(t)
s ^= {5, 7}
r = sum(t)
# == eq and ne
class A:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return isinstance(o, A) and self.n == o.n
n = 2 if A(3) == A(3) else 5
m = 2 if A(3) != A(3) else 5
q = 2 if A(3) in [A(2), A(3)] else 5
r = [A(2), A(3)].index(A(3))
try:
    hash(A(2))
    s = 2
except TypeError:
    s = 5
t = [A(3), A(3), A(2)].count(A(3))
# == eq of another kind
class A:
    def __eq__(self, o): return True
n = 2 if A() == 5 else 3
m = 2 if 5 == A() else 3
q = 2 if A() != 5 else 3
r = 2 if 7 in [A()] else 3
# == eq that gives no bool
class A:
    def __eq__(self, o): return 3
n = A() == 5
m = 2 if A() == 5 else 7
# == identity comes first in in
class A:
    def __eq__(self, o): return False
a = A()
n = 2 if a in [a] else 3
m = 2 if a == a else 3
q = 2 if [a] == [a] else 3
# == hash and eq as keys
class K:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __hash__(self): return hash(self.n)
d = {K(2): 3}
d[K(2)] = 5
n = len(d)
m = d[K(2)]
s = {K(2), K(2), K(3)}
q = len(s)
r = 2 if K(3) in s else 7
# == bool and len
class A:
    def __bool__(self): return False
    def __len__(self): return 3
class B:
    def __len__(self): return 0
class C: pass
n = 2 if A() else 3
m = 2 if B() else 5
q = 2 if C() else 7
r = 2 if not A() else 11
s = len(A())
# == bool that is no bool
class A:
    def __bool__(self): return 2
try:
    n = 2 if A() else 3
except TypeError:
    n = 5
# == len that is no size
class A:
    def __len__(self): return -1
class B:
    def __len__(self): return "a"
try:
    n = len(A())
except ValueError:
    n = 5
try:
    m = len(B())
except TypeError:
    m = 7
# == index
class I:
    def __index__(self): return 2
xs = [3, 5, 7, 11]
n = xs[I()]
m = sum(xs[:I()])
q = sum(range(I()))
r = len([1] * I())
s = int(I())
t = "abc"[I()]
u = len(bytes(I()))
# == reversed, contains, iter by getitem
class A:
    def __getitem__(self, i):
        if i >= 3:
            raise IndexError
        return i * 2
a = A()
n = sum(a)
m = 2 if 4 in a else 3
q = list(a)[-1]
x, y, z = a
r = z
s = sum(i for i in a)
# == reversed of a class
class A:
    def __reversed__(self): return iter((7, 5))
class B:
    def __len__(self): return 3
    def __getitem__(self, i): return i + 2
n = next(reversed(A()))
m = next(reversed(B()))
# == contains
class A:
    def __contains__(self, x): return x > 3
class B:
    def __iter__(self): return iter((2, 3))
n = 2 if 5 in A() else 3
m = 2 if 5 not in A() else 3
q = 2 if 3 in B() else 5
r = 2 if 7 in B() else 5
# == contains gives a bool
class A:
    def __contains__(self, x): return 5
n = (3 in A()) + 1
# == getitem with slices and tuples
class A:
    def __getitem__(self, k):
        if isinstance(k, slice):
            return (k.stop or 0) + 1
        if isinstance(k, tuple):
            return len(k)
        return k
a = A()
n = a[2:7]
m = a[2, 3, 5]
q = a[11]
r = a[1:2, ...]
s = a[:]
# == setitem and delitem
class A:
    def __init__(self): self.d = {}
    def __setitem__(self, k, v): self.d[k] = v * 2
    def __getitem__(self, k): return self.d[k]
    def __delitem__(self, k): self.d[k] = 11
a = A()
a["x"] = 3
n = a["x"]
a["x"] += 1
m = a["x"]
del a["x"]
q = a["x"]
# == format, str and repr
class A:
    def __format__(self, spec): return "x" * (len(spec) + 2)
    def __str__(self): return "abc"
    def __repr__(self): return "abcde"
a = A()
n = len(f"{a:qq}")
m = len(f"{a}")
q = len(f"{a!s}")
r = len(f"{a!r}")
s = len(str(a))
t = len(repr(a))
u = len("{} {!r}".format(a, a))
v = len("%s" % a)
w = len(str([a]))
# == numbers of a class
class A:
    def __int__(self): return 3
    def __float__(self): return 2.5
    def __abs__(self): return 5
    def __neg__(self): return 7
    def __pos__(self): return 11
    def __invert__(self): return 13
    def __round__(self, n=0): return 17
    def __divmod__(self, o): return (19, o)
    def __pow__(self, o): return 23
    def __rpow__(self, o): return 29
    def __matmul__(self, o): return 31
    def __floordiv__(self, o): return 37
    def __lshift__(self, o): return 41
    def __trunc__(self): return 43
    def __floor__(self): return 47
import math
a = A()
b = int(a)
c = int(float(a) * 2)
d = abs(a)
e = -a
f = +a
g = ~a
h = round(a)
i = divmod(a, 2)[0]
j = a ** 2
k = 2 ** a
l = a @ a
m = a // 2
n = a << 1
o = math.floor(a)
# == comparisons are mirrored
class A:
    def __gt__(self, o): return True
    def __le__(self, o): return False
n = 2 if 3 < A() else 5
m = 2 if 3 >= A() else 5
try:
    q = 2 if A() < 3 else 5
except TypeError:
    q = 7
# == chained comparisons evaluate once
log = []
def f(x):
    log.append(x)
    return x
n = 2 if f(1) < f(2) < f(3) else 5
m = len(log)
q = 2 if f(3) < f(2) < f(5) else 7
r = len(log)
# == sorting with lt
class A:
    def __init__(self, n): self.n = n
    def __lt__(self, o): return self.n < o.n
xs = sorted([A(5), A(2), A(3)])
n = xs[0].n
m = max([A(5), A(2)], key=lambda a: a.n).n
q = min(A(5), A(2)).n
# == total_ordering
import functools
@functools.total_ordering
class A:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
n = 2 if A(3) >= A(3) else 5
m = 2 if A(3) > A(5) else 5
# == and, or, not give values
a = 0 or 5
b = 3 and 7
c = [] or 11
d = None or 0 or 13
e = 2 if not [] else 3
# == type errors of operators
for f in (lambda: 2 + "a", lambda: [2] + (3,), lambda: None + 1, lambda: {} + {}, lambda: 2 < "a", lambda: "a" * "b", lambda: -"a", lambda: [1] < [None], lambda: object() + 1, lambda: {1} + {2}, lambda: (1,) + [2], lambda: 1 @ 2, lambda: "a" - "a", lambda: len(3), lambda: 3(), lambda: (2)[0], lambda: iter(3), lambda: next([2]), lambda: sum(["a"]), lambda: int([]), lambda: "a" in 3, lambda: 3 in "a"):
    try:
        f()
        n = 2
    except TypeError:
        n = 5
# == zero division and overflow
for f in (lambda: 2 / 0, lambda: 2 // 0, lambda: 2 % 0, lambda: 2.0 / 0, lambda: divmod(3, 0), lambda: 0 ** -1, lambda: 2.5 // 0.0):
    try:
        f()
        n = 2
    except ZeroDivisionError:
        n = 5
try:
    x = 2.0 ** 100000
    m = 2
except OverflowError:
    m = 3
# == value errors
for f in (lambda: int("a"), lambda: [2].index(3), lambda: [2].remove(3), lambda: (2,).index(3), lambda: "a".index("b"), lambda: max([]), lambda: range(1, 2, 0), lambda: list(zip([1], [], strict=True)), lambda: chr(-1), lambda: float("x"), lambda: 2 << -1):
    try:
        f()
        n = 2
    except ValueError:
        n = 5
# == index and key errors
for f in (lambda: [2][1], lambda: (2,)[1], lambda: "a"[1], lambda: [].pop(), lambda: {}[2], lambda: {}.pop(2), lambda: {}.popitem(), lambda: set().pop(), lambda: {2}.remove(3), lambda: range(2)[5], lambda: [2, 3].pop(7)):
    try:
        f()
        n = 2
    except LookupError:
        n = 5
# == integers
a = -7 // 2
b = -7 % 3
c = 7 // -2
d = 5 ** 3
e = 2 ** 10 % 1000
f = 6 & 3 | 8
g = 6 ^ 3
h = ~5
i = 1 << 4
j = divmod(-7, 3)[1]
k = round(2.5)
l = round(3.5)
m = int(-2.7)
n = pow(3, 4, 5)
o = int("ff", 16)
p = int("0b101", 0)
q = True + True
r = abs(-11)
s = round(1234, -2)
t = (10).bit_length()
u = int(7 / 2)
# == text
a = len("abc" * 3)
b = "abcabc".count("b")
c = "abcabc".find("z")
d = len("a,b,,c".split(","))
e = len("  a b  ".split())
f = len("a-b".replace("-", "--"))
g = len("x".join(["a", "b", "c"]))
h = ord("a")
i = len("abc"[::-1])
j = len("%d-%s" % (5, "ab"))
k = len(f"{5:>7}")
l = len("{0}{0}{1}".format("ab", "c"))
m = len("a\tb".expandtabs())
n = len("ab\ncd\n".splitlines())
o = int("12".zfill(5) + "3")
p = len("abc".center(11))
q = "abc".rfind("c")
r = len("aXbX".partition("X"))
s = len("straße".upper())
t = len(b"abc" + bytes(2))
u = b"abc"[1]
