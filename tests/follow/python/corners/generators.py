# == send
def f():
    x = yield 2
    y = yield x + 1
    yield y * 2
g = f()
a = next(g)
b = g.send(5)
c = g.send(7)
try:
    d = next(g)
except StopIteration:
    d = 11
# == send None first
def f():
    x = yield 2
    yield 3 if x is None else x
g = f()
a = g.send(None)
b = next(g)
# == a started generator alone takes what is sent
def f():
    yield 2
g = f()
try:
    g.send(3)
    n = 5
except TypeError:
    n = 7
# == throw
def f():
    try:
        yield 2
    except ValueError:
        yield 3
    yield 5
g = f()
a = next(g)
b = g.throw(ValueError)
c = next(g)
# == throw that nobody catches
def f():
    yield 2
g = f()
a = next(g)
try:
    g.throw(KeyError("x"))
    n = 3
except KeyError:
    n = 5
m = next(g, 7)
# == close
log = []
def f():
    try:
        yield 2
        yield 3
    finally:
        log.append(5)
g = f()
a = next(g)
g.close()
n = len(log)
m = next(g, 7)
# == close before the start
log = []
def f():
    try:
        yield 2
    finally:
        log.append(5)
g = f()
g.close()
n = len(log)
# == a generator runs when it is asked
log = []
def f():
    log.append(1)
    yield 2
    log.append(1)
    yield 3
g = f()
n = len(log)
a = next(g)
m = len(log)
b = next(g)
q = len(log)
# == a generator sees what changes between
n = 2
def f():
    while True:
        yield n
g = f()
a = next(g)
n = 3
b = next(g)
# == yield from gives the return value
def inner():
    x = yield 2
    return x + 3
def outer():
    r = yield from inner()
    yield r * 2
g = outer()
a = next(g)
b = g.send(5)
# == yield from a list gives None
def f():
    r = yield from [2, 3]
    yield 5 if r is None else 7
n = sum(f())
# == the value of StopIteration
def f():
    yield 2
    return 7
g = f()
a = next(g)
try:
    b = next(g)
except StopIteration as e:
    b = e.value
# == return in a loop
def f():
    while True:
        try:
            yield 2
        except GeneratorExit:
            return
n = 0
for x in f():
    n += x
    if n > 5:
        break
m = n
# == generator expressions are lazy
n = 2
g = (n * x for x in [1, 2, 3])
n = 5
m = sum(g)
# == the first source of an expression is evaluated at once
xs = [1, 2, 3]
g = (x for x in xs)
xs = [5]
m = sum(g)
# == the second source is not
xs, ys = [1, 2], [3]
g = (x * y for x in xs for y in ys)
ys = [5]
m = sum(g)
# == a condition of an expression is late
least = 1
g = (x for x in (1, 2, 3) if x > least)
least = 2
m = sum(g)
# == an expression goes over once
g = (x for x in (2, 3))
a = sum(g)
b = sum(g)
# == the source of an expression may grow
xs = [2]
g = (x for x in xs)
xs.append(3)
m = sum(g)
# == generators in zip
def f():
    n = 2
    while True:
        yield n
        n += 1
m = 0
for a, b in zip(f(), [5, 7]):
    m += a * b
q = m
# == infinite and islice
import itertools
def f():
    n = 2
    while True:
        yield n
        n *= 3
xs = list(itertools.islice(f(), 4))
n = xs[-1]
m = sum(xs)
# == takewhile of a generator
import itertools
def f():
    n = 2
    while True:
        yield n
        n *= 3
m = sum(itertools.takewhile(lambda x: x < 50, f()))
# == recursion
def walk(t):
    if isinstance(t, int):
        yield t
    else:
        for x in t:
            yield from walk(x)
n = sum(walk((2, (3, (5,)), 7)))
m = list(walk(((2,), 3)))[1]
# == a generator that raises
def f():
    yield 2
    raise ValueError
n = 0
try:
    for x in f():
        n += x
except ValueError:
    n += 5
m = n
# == StopIteration inside a generator
def f():
    yield 2
    next(iter(()))
try:
    n = sum(f())
except RuntimeError:
    n = 3
# == any stops early
log = []
def f():
    for x in (2, 3, 5):
        log.append(x)
        yield x
found = any(x == 3 for x in f())
n = len(log)
# == in stops early
log = []
def f():
    for x in (2, 3, 5):
        log.append(x)
        yield x
n = 7 if 3 in f() else 11
m = len(log)
# == unpacking takes one more
log = []
def f():
    for x in (2, 3, 5):
        log.append(x)
        yield x
try:
    a, b = f()
except ValueError:
    a = 7
n = len(log)
# == a pipeline runs item by item
log = []
def first():
    for x in (2, 3):
        log.append(x)
        yield x
def second(source):
    for x in source:
        log.append(x * 10)
        yield x
n = sum(second(first()))
m = log[1]
# == a class whose iter is a generator
class C:
    def __init__(self, n): self.n = n
    def __iter__(self):
        for i in range(self.n):
            yield i + 2
c = C(3)
n = sum(c)
m = sum(c)
c.n = 2
q = len(list(c))
# == a class with next
class C:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n
c = C()
a = next(c)
b = sum(c)
d = next(c, 7)
# == next of a class in a loop
class C:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n
m = 0
for x in C():
    m += x
q = m
# == coroutines
import asyncio
async def f(n):
    await asyncio.sleep(0)
    return n + 1
async def main():
    a = await f(2)
    b = await asyncio.gather(f(3), f(5))
    return a + b[1]
n = asyncio.run(main())
# == async for
import asyncio
async def f():
    for i in range(3):
        yield i + 2
async def main():
    n = 0
    async for x in f():
        n += x
    return n + sum([x async for x in f()])
n = asyncio.run(main())
# == a context manager of a generator
import contextlib
log = []
@contextlib.contextmanager
def m(n):
    log.append(n)
    try:
        yield n + 1
    finally:
        log.append(n * 2)
with m(2) as a:
    b = a + len(log)
c = log[1]
# == a generator in a default
def f(g=(x for x in (2, 3))):
    return next(g)
a = f()
b = f()
# == gi_frame and closed
def f():
    yield 2
g = f()
a = next(g)
n = 3 if g.gi_frame is not None else 5
# == a chain of generators
from itertools import chain
def sizes(**given):
    for name, value in given.items():
        if value < 7:
            yield name
def halves(n):
    if n % 2:
        yield "odd"
found = list(chain(sizes(a=3, b=5, c=11), halves(13), halves(2)))
n = len(found)
first, *rest = found
taken = chain(halves(3), halves(5))
m = next(taken)
q = list(taken)
