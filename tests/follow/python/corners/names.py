# == closures bind late
fs = [lambda: i for i in range(3)]
n = fs[0]()
gs = [lambda i=i: i for i in range(3)]
m = gs[1]()
# == nonlocal
def f():
    n = 2
    def g():
        nonlocal n
        n += 3
        return n
    g()
    return g() + n
a = f()
# == global
n = 2
def f():
    global n
    n = 5
f()
m = n
# == global makes a name
def f():
    global made
    made = 7
f()
n = made
# == unbound locals
n = 2
def f():
    try:
        m = n
    except UnboundLocalError:
        m = 3
    n = 5
    return m
a = f()
# == unbound by a later loop or import or with
k = 2
def f():
    try:
        a = k
    except NameError:
        a = 3
    for k in (5,):
        pass
    return a
n = f()
# == del of a name
n = 2
del n
try:
    m = n
except NameError:
    m = 3
def f():
    a = 2
    del a
    try:
        return a
    except UnboundLocalError:
        return 5
q = f()
try:
    del zz
    r = 2
except NameError:
    r = 7
# == names that don't exist
try:
    n = nothing
except NameError:
    n = 3
try:
    n2 = 2
    undefined_function(2)
except NameError:
    n2 = 5
# == the name of an exception goes
try:
    raise ValueError
except ValueError as e:
    n = 2
try:
    e
    m = 3
except NameError:
    m = 5
# == a comprehension's scope
x = 2
ys = [x for x in (3, 5)]
n = x
zs = [y for y in (x,)]
m = zs[0]
q = [x for x in [x]][0]
# == nested comprehensions
rows = [[i * j for j in range(3)] for i in range(4)]
n = rows[3][2]
m = sum(x for r in rows for x in r if x > 2)
q = len([1 for a in range(3) for b in range(a)])
# == walrus
if (n := 5) > 3:
    m = n + 2
q = [y := 2, y + 1, y * 5][2]
r = y
xs = [last := x for x in (2, 3, 7)]
s = last
while (k := len(xs)) > 1:
    xs.pop()
t = k
# == walrus in a comprehension of a function
def f():
    any((found := x) > 2 for x in (1, 2, 3, 5))
    return found
n = f()
# == defaults are made once
def f(x, xs=[]):
    xs.append(x)
    return len(xs)
a = f(2)
b = f(3)
c = f(5, [])
d = f(7)
# == defaults are evaluated at the definition
n = 2
def f(k=n):
    return k
n = 3
a = f()
# == keyword-only and positional-only
def f(a, b=2, /, c=3, *rest, d=5, **more):
    return a + b * 10 + c * 100 + len(rest) * 1000 + d * 10000 + len(more) * 100000
n = f(1)
m = f(1, 2, 3, 4, 5, d=6, e=7)
q = f(1, b=3)
try:
    r = f(a=1)
except TypeError:
    r = 2
try:
    s = f()
except TypeError:
    s = 3
# == arguments that don't fit
def f(a, *, k): return a + k
for call in (lambda: f(1), lambda: f(1, 2), lambda: f(k=1), lambda: f(1, k=2, z=3), lambda: f(1, a=2, k=3)):
    try:
        call()
        n = 2
    except TypeError:
        n = 5
m = f(2, k=3)
# == stars
def f(*a, **k): return len(a) * 10 + len(k)
n = f(*[1, 2], *(3,), x=4, **{"y": 5})
m = f(**{"a": 1}, b=2)
a, *b, c = range(5)
q = len(b) + c
*d, e = "abc"
r = len(d)
[g, [h, i]] = [2, [3, 5]]
s = g + h + i
t = len([*range(3), *"ab"])
u = len({**{"a": 1}, "a": 2, **{"b": 3}})
try:
    v = f(**{"a": 1}, a=2)
except TypeError:
    v = 7
# == unpacking that doesn't fit
try:
    a, b = (2, 3, 5)
    n = 2
except ValueError:
    n = 3
try:
    a, b, *c = (2,)
    m = 2
except ValueError:
    m = 5
try:
    a, b = 3
    q = 2
except TypeError:
    q = 7
# == assignment goes from left to right
xs = [2, 3]
i = 0
i, xs[i] = 1, 5
n = xs[0]
m = xs[1]
a = b = []
a.append(2)
q = len(b)
# == evaluation order
log = []
def f(x):
    log.append(x)
    return x
r = {f(1): f(2), f(3): f(4)}
n = log[1]
log.clear()
f(2) + f(3) * f(5)
m = log[2]
log.clear()
xs = [0] * 10
xs[f(3)] = f(5)
q = log[0]
# == decorators
def twice(f): return lambda *a: f(*a) * 2
def plus(k):
    def deco(f):
        def inner(*a): return f(*a) + k
        return inner
    return deco
@twice
@plus(3)
def f(x): return x
n = f(2)
# == recursion
def fact(n): return 1 if n < 2 else n * fact(n - 1)
n = fact(5)
def depth(t): return 1 + max((depth(x) for x in t), default=0) if isinstance(t, tuple) else 0
m = depth((1, (2, (3,)), ()))
# == recursion that doesn't end
def f(n): return f(n + 1)
try:
    f(0)
    n = 2
except RecursionError:
    n = 3
# == lambda defaults and closures
def adder(k): return lambda x, y=k: x + y + k
f = adder(3)
n = f(2)
m = f(2, 5)
# == globals and locals
n = 2
globals()["m"] = 3
a = m + globals()["n"]
def f():
    x = 5
    return locals()["x"]
b = f()
# == exec and eval
exec("z = 5")
n = z
m = eval("n + 2")
ns = {"k": 3}
exec("k = k * 2", ns)
q = ns["k"]
# == annotations assign nothing
x: int
try:
    x
    n = 2
except NameError:
    n = 3
y: int = 5
m = y
# == a loop's variable stays
for i in range(3):
    pass
n = i
for j in []:
    pass
try:
    m = j
except NameError:
    m = 5
# == else of loops
n = 2
for i in range(3):
    if i == 5:
        break
else:
    n = 3
m = 2
while True:
    break
else:
    m = 5
q = 0
for i in range(3):
    if i == 1:
        continue
    q += i
# == del of items and slices
xs = [2, 3, 5, 7, 11]
del xs[1]
n = xs[1]
del xs[::2]
m = len(xs)
d = {"a": 2}
del d["a"]
q = len(d)
try:
    del d["a"]
    r = 2
except KeyError:
    r = 3
try:
    del xs[10]
    s = 2
except IndexError:
    s = 5
# == slices are assigned
xs = list(range(6))
xs[1:3] = [7, 8, 9]
n = len(xs)
xs[::2] = [0] * len(xs[::2])
m = sum(xs)
xs[2:2] = [5]
q = xs[2]
xs[:] = []
r = len(xs)
try:
    xs[::2] = [1]
    s = 2
except ValueError:
    s = 3
# == a name that a branch gives
def f(k):
    if k:
        v = 2
    return v
n = f(1)
try:
    m = f(0)
except UnboundLocalError:
    m = 3
# == builtins may be hidden
def len(x): return 99
n = len([])
del len
m = len([])
# == star imports and modules
import math as m1
from math import *
n = int(floor(2.7))
k = int(m1.sqrt(49))
try:
    from math import nothing
    q = 2
except ImportError:
    q = 3
try:
    import not_there_at_all
    r = 2
except ModuleNotFoundError:
    r = 5
