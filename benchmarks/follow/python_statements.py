"""Random programs of Python's own statements: objects, collections, iterators and exceptions, with ints as witnesses.

    python benchmarks/follow/python_statements.py 2000         # programs, from seed 0 on
    python benchmarks/follow/python_statements.py 500 7000     # from seed 7000 on

Each is executed and followed; a claim that isn't true, a mistake told of a program that runs, and an end that isn't
there are wrong. Exit status 1 if anything is.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "follow" / "python"))

__all__ = ["program"]

HEAD = """
import collections
import contextlib
import functools
import itertools
from dataclasses import dataclass, field

log = []


class Base:
    kinds = [2, 3]
    size = {a}

    def __init__(self, n={b}):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Base) and self.n == other.n

    def __hash__(self):
        return hash(self.n)

    def __add__(self, other):
        if isinstance(other, str):
            return NotImplemented
        return Base(self.n + (other.n if isinstance(other, Base) else other))

    def __radd__(self, other):
        return other + self.n

    def __lt__(self, other):
        return self.n < other.n

    def __len__(self):
        return self.n % {a}

    def __getitem__(self, i):
        if isinstance(i, slice) or i >= {a}:
            raise IndexError(i)
        return self.n * i

    def __contains__(self, x):
        log.append(x)
        return x == self.n

    @property
    def double(self):
        return self.n * 2

    @double.setter
    def double(self, value):
        self.n = value // 2

    def grow(self, by=1, *more, scale={b}, **named):
        self.n += by * scale + sum(more) + len(named)
        return self


class Child(Base):
    size = {c}

    def __init__(self, n={c}, extra=()):
        super().__init__(n)
        self.extra = list(extra)

    def __radd__(self, other):
        return {c}

    def __iadd__(self, other):
        self.n += 1
        return self

    def __getattr__(self, name):
        if name.startswith("z"):
            return len(name)
        raise AttributeError(name)

    def __call__(self, x):
        log.append(self.n)
        return x + self.n

    def __iter__(self):
        for i in range(self.n % 4):
            log.append(i)
            yield i + self.n


@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = {b}


class Slotted:
    __slots__ = ("p", "q")

    def __init__(self, p):
        self.p = p


class Manager:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        log.append({a})
        return self

    def __exit__(self, kind, value, trace):
        log.append({b} if kind is None else {c})
        return self.swallow


def count(n, step=1):
    total = 0
    try:
        while n > 0:
            sent = yield n
            n -= step
            if sent:
                total += sent
                n += sent
    except ValueError:
        yield {c}
    finally:
        log.append(total)
    return total


def delegate(n):
    got = yield from count(n, 2)
    yield got + {a}


def fails(k):
    if k % 3 == 0:
        raise KeyError(k)
    if k % 3 == 1:
        raise ValueError(k, k + 1)
    return [][k]


"""

INT = ("i", "j", "k")
LISTS = ("xs", "ys")
DICTS = ("d", "e")
OBJECTS = ("o", "c")
ITERATORS = ("it", "g")

START = """i, j, k = {a}, {b}, {c}
xs, ys = [{a}, {b}], [{c}, 1, 2]
d, e = {{"a": {a}, "b": {b}}}, {{1: {c}}}
s, t = {{1, {a}}}, ({b}, {c})
o, c = Base({a}), Child({b}, [1, 2])
p, q = Point({a}), Slotted({c})
it, g = iter(xs), count({b})
v, u = d.values(), e.keys()
f = c.grow
"""

STATEMENTS = """
i = len(xs) + j
i = sum(xs)
i += j
j = i % 7 + 1
k = j * 2 - i % 5
i = xs[j % 3]
i = ys[-1]
i = t[j % 3]
j = d["a"]
j = d.get("c", k)
j = e[k % 3]
i = next(it)
i = next(it, {a})
i = next(g)
i = g.send(j % 4)
i = g.throw(ValueError)
g.close()
it = iter(ys)
it = iter(xs)
g = count(j % 5)
g = delegate(k % 6)
it = map(lambda x: x + j, xs)
it = (x * k for x in ys if x > {a} % 3)
it = filter(None, ys)
it = zip(xs, ys)
it = enumerate(ys, j)
it = reversed(xs)
it = itertools.chain(xs, ys)
it = iter(c)
it = iter(d.values())
i = sum(it)
i = sum(g)
i = max(xs)
xs.append(j % 9)
xs.append(i)
ys.extend(xs[:2])
ys.insert(1, k % 8)
i = xs.pop()
i = ys.pop(0)
del xs[0]
del d["a"]
xs[0] = i
xs[1:2] = [j, k]
ys = sorted(ys)
ys.reverse()
xs = [x for x in ys if x % 2]
xs = ys
xs = ys[:]
ys += [i]
ys *= 2
d["c"] = i
d["a"] = d["a"] + 1
d.update(b=j)
d = {{**d, "z": k}}
e = dict(zip(xs, ys))
e[i % 4] = j
i = d.pop("c", {b})
i = d.pop("a")
i = d.setdefault("q", k)
i = sum(v)
i = len(u)
i = len(d.keys() & {{"a", "b"}})
i = 5 if "a" in d else 7
i = 5 if j in s else 7
s.add(j)
s.discard(1)
s |= {{j, k}}
i = len(s)
i = sum(s & {{1, 2, 3}})
i = o.n
i = c.double
c.double = j
o.n = k
i = o.size + c.size
o.size = j
Base.size = k % 11
i = len(o.kinds)
c.kinds.append(j)
o = o + c
o = o + 1
i = 1 + o
i = 1 + c
o += 2
c += 2
i = len(c)
i = c[1]
i = o[j]
i = sum(o)
i = 3 if j in o else 4
i = 3 if o == c else 4
i = 3 if o != c else 4
i = 3 if o < c else 4
i = 3 if c else 4
i = c(j)
i = c.zzz
i = c.missing
i = getattr(c, "other", {a})
i = o.missing
i = 3 if hasattr(o, "double") else 4
i = f(2).n
i = c.grow(1, 2, 3, scale=j, z=1).n
i = o.grow(nothing=2, by=1).n
f = o.grow
c = Child(j, xs)
i = len(c.extra)
c.extra.append(k)
o = c
i = p.x + p.y
p.x = 5
p = Point(j, k)
i = 3 if p == Point({a}) else 4
i = {{p: 5}}[Point(j, k)]
i = q.p
i = q.q
q.q = j
q.r = j
i = len(log)
i = log[-1]
log.clear()
a, *b = xs
a, b = ys
i, j = j, i
i = fails(k)
i = int("x")
i = int(str(j)) + len(str(k))
i = j // (k % 3)
i = undefined_name
del i
i = len("ab" * (j % 4)) + "abc".count("b")
i = (lambda z, w=j: z + w)(k)
i = [z for z in range(4)][j % 4]
i = functools.reduce(lambda z, w: z + w, xs)
i = collections.Counter(ys)[1]
i = any(x > 3 for x in c)
i = list(c)[0]
i = 3 if {b} in c else 4
i = (n := j + 1) * 2
i = {{x: x + 1 for x in ys}}[ys[0]]
i = len({{*xs, *ys}})
i = -j if j > 2 else +k
i = j and k or {a}
i = divmod(j, k + 1)[1]
i = round(j / (k + 1))
i = min(xs, default={b})
i = len(list(zip(xs, ys)))
i = vars(o)["n"]
o.__dict__["n"] = j
i = type(c).size
i = isinstance(c, Base) + issubclass(Child, Base)
""".strip().splitlines()

COMPOUND = """
for x in {xs}:
    {s1}
    {s2}
|for x in {xs}:
    if x > {a}:
        break
    {s1}
else:
    {s2}
|rounds = 0
while k < {c} + 3 and rounds < 30:
    rounds += 1
    k += 1
    {s1}
    if k % 4 == 3:
        continue
    {s2}
|if i % 2:
    {s1}
else:
    {s2}
|try:
    {s1}
    i = fails(j)
except KeyError as error:
    i = error.args[0]
    {s2}
except (ValueError, IndexError) as error:
    i = len(error.args)
|try:
    {s1}
except Exception:
    {s2}
else:
    {s3}
finally:
    j += 1
|with Manager({swallow}) as m:
    {s1}
    {s2}
|with contextlib.suppress(KeyError, AttributeError):
    {s1}
    {s2}
|def h(x, y={a}, *rest):
    global i
    i = x + y + len(rest)
    return i
j = h(k, *ys[:2])
|match {subject}:
    case [a, b]:
        i = a + b
    case [a, *rest]:
        i = len(rest)
    case {{"a": n, **more}}:
        i = n + len(more)
    case Point(x, y) | Base(n=x, size=y):
        i = x + y
    case int(n) if n > {a}:
        i = n
    case _:
        i = {b}
|class Local(Child):
    n2 = [z + 1 for z in (1, 2)]
    def __len__(self):
        return super().__len__() + {a}
c = Local(j)
{s1}
|def make(n):
    def inner(by):
        nonlocal n
        n += by
        return n
    return inner
h = make(j)
i = h(1) + h(k)
""".strip().split("\n|")


def program(seed: int, size: int = 14) -> str:
    """A program: each statement may raise, which it catches itself."""
    chance = random.Random(seed)
    sizes = dict(zip("abc", chance.sample((2, 3, 5, 7, 11, 13), 3), strict=True))

    def one() -> str:
        return chance.choice(STATEMENTS).format(**sizes)

    def several() -> str:
        return chance.choice(COMPOUND).format(
            **sizes,
            s1=one(),
            s2=one(),
            s3=one(),
            xs=chance.choice(
                (
                    "xs[:]",
                    "ys[:3]",
                    "list(it)",
                    "c",
                    "list(d.values())",
                    "range(3)",
                    "enumerate(xs[:])",
                    "count(3)",
                    "t",
                )
            ),
            swallow=chance.choice(("True", "False")),
            subject=chance.choice(("xs", "t", "d", "p", "o", "i", "None", "'ab'")),
        )

    lines = [HEAD.format(**sizes).strip(), START.format(**sizes)]
    for number in range(size):
        statement = one() if chance.random() < 0.7 else several()
        body = "\n".join(f"    {line}" for line in statement.splitlines())
        lines.append(f"try:\n{body}\nexcept Exception:\n    k = {number + 20}")
    lines.append("i1, j1, k1 = i, j, k\nn1, n2, n3 = len(xs), len(ys), len(d)\nn4, n5 = o.n, c.n\nn6 = len(log)")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Execute and follow so many programs."""
    from executed import compared

    given = [int(a) for a in sys.argv[1:]]
    number, first = (*given, *(300, 0)[len(given) :])
    claims = known = wrong = 0
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + number):
            found = compared(program(seed), Path(folder) / "program.py")
            claims, known = claims + found.claims, known + found.known
            wrong += bool(found.wrong)
            for text in found.wrong[:2]:
                print(f"seed {seed}: {text}", flush=True)
    seconds = time.process_time() - began
    print(f"{number} programs, {claims} values, {known} known, {wrong} programs wrong, {seconds:.0f} s")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
