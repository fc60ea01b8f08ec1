"""Random programs over the corners of Python: each operation with each kind of value, exceptions, the data model,
iterators that are alive, scopes, generators, patterns, subclasses of Python's classes, flags.

    python benchmarks/follow/python_corners.py 2000         # programs, from seed 0 on
    python benchmarks/follow/python_corners.py 500 7000     # from seed 7000 on

It shares nothing with `python_statements.py`: a program is a row of scenes, each a function that gives an int, and the
int is the size of a tensor. Each is executed and followed; a claim that isn't true, a mistake told of a program that
runs, and an end that isn't there are wrong. Exit status 1 if anything is.
"""

# ruff: noqa: E501  (rows of parts of programs are read best as they are)
# fmt: off
from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import indent

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "follow" / "python"))

__all__ = ["HEAD", "main", "program"]

HEAD = '''
import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import torch

class Plain:
    def __init__(self, v=3):
        self.v = v
    def grow(self, by=1):
        self.v += by
        return self.v

class Slotted:
    __slots__ = ("q",)

class Color(enum.Enum):
    RED = 1
    BLUE = 2

class Bits(enum.Flag):
    A = 1
    B = 2
    C = 4

@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: int = 2

Pair = collections.namedtuple("Pair", "u v")

class Items(list):
    def second(self):
        return self[1]

class Names(dict):
    def __missing__(self, key):
        return 17

class Int(int):
    pass

def function(a, b=2, *, c=3):
    return a

def numbers():
    yield 2
    yield 3
'''

VALUES = (
    *("0", "1", "-2", "5", "True", "1.5", "float('nan')", "'ab'", "''", "'7'", "b'x'", "None", "...", "10 ** 30"),
    *("(1, 2)", "()", "[3, 1, 2]", "[]", "[[1], [2]]", "{'a': 1, 2: 3}", "{}", "{1, 2}", "set()", "frozenset({1})"),
    *("range(3)", "slice(1, 3)", "function", "Plain", "Plain()", "Slotted()", "Color.RED", "Color", "Frozen(1)"),
    *("Pair(1, 2)", "Items([4, 5])", "Names(a=1)", "numbers()", "iter([1, 2])", "(lambda x: x)", "int", "ValueError"),
    *("ValueError('x')", "torch.zeros(3, 4)", "torch.nn.Linear(3, 4)", "math", "len", "[].append", "Plain().grow"),
    *("collections.deque([1, 2])", "collections.Counter('aab')", "Bits.A", "Bits.A | Bits.C", "{}.keys()", "1j", "Int(3)"),
    *("NotImplemented", "zip([1], [2])", "map(str, [1])", "object()", "bytearray(b'ab')", "collections.OrderedDict(a=1)"),
    *("{'a': 1}.items()", "[(1, 2), (3, 4)]", "['a', 'b']", "('a', 1)", "(x for x in [1])"),
)
OPERATIONS = (
    *("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{0} // {1}", "{0} % {1}", "{0} @ {1}", "{0} & {1}"),
    *("{0} | {1}", "{0} ^ {1}", "{0} << {1}", "{0} < {1}", "{0} >= {1}", "{0} == {1}", "{0} != {1}", "{0} in {1}"),
    *("{0} is {1}", "not {0}", "-{0}", "~{0}", "+{0}", "{0}[{1}]", "{0}[{1}:]", "{0}[0]", "{0}[-1]", "{0}['a']", "{0}()"),
    *("{0}({1})", "{0}(*{1})", "{0}(**{1})", "{0}.v", "{0}.nope", "{0}.append({1})", "{0}.get({1})", "{0}.add({1})"),
    *("len({0})", "iter({0})", "next({0})", "next(iter({0}))", "list({0})", "tuple({0})", "set({0})", "dict({0})"),
    *("frozenset({0})", "int({0})", "float({0})", "str({0})", "bool({0})", "bytes({0})", "complex({0})", "repr({0})"),
    *("sorted({0})", "min({0})", "max({0})", "sum({0})", "any({0})", "all({0})", "abs({0})", "round({0})", "hash({0})"),
    *("divmod({0}, {1})", "pow({0}, {1})", "chr({0})", "ord({0})", "hex({0})", "range({0})", "enumerate({0})"),
    *("reversed({0})", "list(zip({0}, {1}))", "list(map({0}, {1}))", "list(filter({0}, {1}))", "isinstance({0}, {1})"),
    *("issubclass({0}, {1})", "callable({0})", "getattr({0}, 'v')", "getattr({0}, 'v', 3)", "hasattr({0}, 'v')", "id({0})"),
    *("setattr({0}, 'v', {1})", "delattr({0}, 'v')", "vars({0})", "type({0})", "dir({0})", "slice({0}, {1})", "format({0})"),
    *("f'{{{0}}}'", "f'{{{0}:d}}'", "f'{{{0}!r:>5}}'", "'%d' % {0}", "'%s' % ({0},)", "'{{}}'.format({0})", "[*{0}]"),
    *("{{**{0}}}", "{{{0}: 1}}", "{{{0}}}", "({0}, *{1})", "','.join({0})", "math.sqrt({0})", "math.floor({0})"),
    *("functools.reduce(max, {0})", "functools.partial({0}, {1})()", "list(itertools.chain({0}, {1}))"),
    *("list(itertools.islice({0}, 2))", "list(itertools.islice({0}, {1}))", "collections.Counter({0})"),
    *("collections.deque({0}, {1})", "torch.zeros({0})", "torch.tensor({0})", "torch.zeros(3, 4)[{0}]", "bin({0})"),
    *("torch.zeros(3) + {0}", "torch.zeros(2, 3).sum({0})", "torch.nn.Linear(4, 5)({0})", "torch.cat({0})", "Plain({0}).v"),
    *("Pair({0})", "Frozen({0})", "Frozen(*{0})", "Color({0})", "Bits({0})", "type('N', {0}, {1})", "iter({0}, {1})"),
    *("[].insert({0}, {1})", "[1, 2].index({0})", "[1, 2].pop({0})", "[1, 2].remove({0})", "[2, 1].sort(key={0})", "[{0}] * 2"),
    *("{{}}.setdefault({0}, {1})", "{{'a': 1}}.pop({0})", "dict.fromkeys({0}, {1})", "{{1}}.discard({0})", "{{1, 2}} - {0}"),
    *("'a-b'.split({0})", "'ab'.replace({0}, {1})", "'ab'.startswith({0})", "'ab'.encode({0})", "'ab'[{0}]", "(1, 2)[{0}]"),
)
STATEMENTS = (
    *("a, b = {0}", "a, *b = {0}", "(a, b), c = {0}", "for _ in {0}: break", "with {0}: pass", "with {0} as z: pass"),
    *("del {0}", "assert {0}", "raise {0}", "raise ValueError from {0}", "class X({0}): pass", "x = {0}; x += {1}"),
    *("x = {0}; x.v = {1}", "x = {0}; x[{1}] = 3", "x = {0}; x[0] = {1}", "x = {0}; del x[{1}]", "x = {0}; del x.v"),
    *("x = {0}; x |= {1}", "x = {0}; x *= {1}", "x = {0}; x['a'] = {1}", "global zz{2}; zz{2} += 1", "print({0}, end='')"),
    *("def f(a, b): pass\nf(*{0})", "def f(a=0, **k): pass\nf(**{0})", "x = [{0}]; x.sort()", "x = {0}\nfor k in x: x.add(k + 5)"),
    *("x = {0}\nfor k in x: x[k, 1] = 2", "del x", "x = {0}; x()", "yy", "lambda: zz{2}", "x = {0}; x.append(x); x.pop()"),
)
CATCHING = (
    *("TypeError", "ValueError", "KeyError", "IndexError", "AttributeError", "LookupError", "ArithmeticError", "NameError"),
    *("(TypeError, KeyError)", "(ValueError, AttributeError)", "RuntimeError", "StopIteration", "ZeroDivisionError"),
    *("Exception", "OverflowError", "UnboundLocalError", "AssertionError"),
)


class _Maker:
    """Makes the scenes of one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def one(self, *options: str) -> str:
        """One of these."""
        return self.random.choice(options)

    def some(self, options: tuple[str, ...], most: int) -> list[str]:
        """Several of these, each once."""
        return self.random.sample(options, self.random.randint(1, min(most, len(options))))

    def number(self, low: int = -2, high: int = 9) -> int:
        """A small int."""
        return self.random.randint(low, high)

    def name(self) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"v{self.count}"

    # -- exceptions ---------------------------------------------------------------------------------------------------

    def operation(self) -> str:
        """Some operation or statement, with values of any kind."""
        self.count += 1
        row = self.random.choice(OPERATIONS if self.random.random() < 0.75 else STATEMENTS)
        return row.format(self.one(*VALUES), self.one(*VALUES), self.count)

    def attempt(self, body: str, *, last: bool = True) -> str:
        """``try`` around a body, with handlers; ``n`` says which way was taken."""
        lines = ["try:", indent(body, "    "), f"    n = {self.number()}"]
        kinds = self.some(CATCHING, 3)
        if self.random.random() < 0.1:
            kinds.append("")
        for kind in kinds:
            lines += [f"except {kind}:" if kind else "except:", f"    n = {self.number(10, 60)}"]
            if self.random.random() < 0.1:
                lines.append("    raise")
        if self.random.random() < 0.2:
            lines += ["else:", f"    n += {self.number(1)}"]
        if self.random.random() < 0.2:
            lines += ["finally:", f"    m = {self.number()}"]
        inner = "\n".join(lines)
        if not last:
            return inner
        return f"try:\n{indent(inner, '    ')}\nexcept Exception:\n    n = {self.number(60, 90)}"

    def fuzz(self) -> str:
        """An operation on values of any kind, and what becomes of a list beside it."""
        return f"n = m = 1\n{self.attempt(self.operation())}\nreturn n + m"

    def nested(self) -> str:
        """Exceptions in handlers, in ``finally`` and in loops."""
        body = self.operation()
        for _ in range(self.number(1, 3)):
            body = self.attempt(body, last=False)
            wrap = self.number(0, 5)
            if wrap == 0:
                ends = self.one("continue", "break", "pass", "n += 1")
                body = f"for i in range({self.number(1, 3)}):\n{indent(body, '    ')}\n    {ends}"
            elif wrap == 1:
                body = f"try:\n{indent(body, '    ')}\nfinally:\n    n = n + {self.number(1)}"
            elif wrap == 2:
                raised = self.one("raise KeyError(n) from e", "raise", "raise e", "raise ValueError(n)", "n = 71")
                body = f"try:\n{indent(body, '    ')}\nexcept Exception as e:\n    {raised}"
        return f"n = m = 1\ntry:\n{indent(body, '    ')}\nexcept Exception as last:\n    n += 5\nreturn n + m"

    def chained(self) -> str:
        """What an exception knows of others, and its arguments."""
        first, second = (self.one("ValueError(3)", "KeyError('k')", "TypeError()", "E(4, 5)") for _ in range(2))
        first, second = first, second
        how = self.one("", " from e", " from None", " from KeyError(8)")
        ask = self.one(
            "len(e.args)",
            "int(e.__cause__ is None)",
            "int(e.__context__ is None)",
            "int(e.__suppress_context__)",
            "int(isinstance(e.__context__, ValueError))",
            "int(e.args == (3,))",
            "len(str(e)) if e.args else 50",
        )
        return (
            "class E(Exception):\n    pass\n"
            f"n = 1\ntry:\n    try:\n        raise {first}\n    except Exception as e:\n        raise {second}{how}\n"
            f"except Exception as e:\n    n = {ask}\nreturn n"
        )

    def managed(self) -> str:
        """Context managers that raise, drop exceptions, and write down what happens."""
        drops = self.one("True", "False", "None", "kind is ValueError", "kind is not None")
        enters = self.one("return self", "return 5", "log.append(1)\n        return self", "raise KeyError('in')")
        body = self.one("pass", "raise ValueError(1)", "log.append(2)", "return len(log)", self.operation())
        outer = self.one(
            "with M() as a, M() as b:",
            "with M() as a:",
            "with contextlib.suppress(ValueError), M():",
            "with contextlib.ExitStack() as s:\n    s.enter_context(M())",
            "with cm(3) as a:",
            "with cm(3), M():",
        )
        head, *inner = outer.split("\n")
        return (
            "log = []\nclass M:\n    def __enter__(self):\n        " + enters + "\n"
            f"    def __exit__(self, kind, value, where):\n        log.append(3)\n        return {drops}\n"
            "@contextlib.contextmanager\ndef cm(x):\n    log.append(x)\n    try:\n        yield x\n"
            f"    except {self.one('ValueError', 'KeyError', 'Exception')}:\n        log.append(7)\n"
            "    finally:\n        log.append(9)\n"
            f"n = 0\ntry:\n    {head}\n{indent(chr(10).join([*(i.strip() for i in inner), body, 'n = 4']), '        ')}\n"
            "except Exception:\n    n = 6\nreturn 10 * len(log) + n"
        )

    # -- the data model -----------------------------------------------------------------------------------------------

    def model(self) -> str:
        """A class with some special methods, and operations on its objects."""
        methods = {
            "__len__": "return {0}",
            "__bool__": "return {0} > 0",
            "__getitem__": "if k == {1}: raise IndexError(k)\n        return k",
            "__contains__": "return k == {0}",
            "__iter__": "return iter([{0}, {1}])",
            "__call__": "return {0}",
            "__eq__": "return {0} > 0",
            "__lt__": "return {0} > 0",
            "__add__": "return {0}",
            "__radd__": "return NotImplemented",
            "__iadd__": "self.v += 1\n        return self",
            "__neg__": "return {0}",
            "__hash__": "return {0}",
            "__index__": "return {0}",
            "__int__": "return {0}",
            "__getattr__": "if k == 'nope': raise AttributeError(k)\n        return {0}",
            "__setattr__": "object.__setattr__(self, k, {0})",
            "__reversed__": "return [{0}]",
            "__missing__": "return {0}",
            "__abs__": "return {0}",
            "__delattr__": "raise AttributeError(k)",
            "__format__": "return 'x' * {1}",
            "__enter__": "return {0}",
            "__exit__": "return True",
            "__mul__": "return self",
            "__rmul__": "return {0}",
            "__matmul__": "return {0}",
            "__invert__": "return {0}",
        }
        takes = {"__setattr__": "k, x", "__exit__": "*k", "__call__": "*k", **dict.fromkeys(("__getitem__",), "k")}
        alone = ("len", "bool", "iter", "neg", "hash", "index", "int", "reversed", "abs", "enter", "invert")
        lines = ["class A:", "    def __init__(self, v=3):", "        self.v = v"]
        for name in self.some(tuple(methods), 7):
            given = takes.get(name, "" if name.strip("_") in alone else "k")
            lines.append(f"    def {name}({', '.join(filter(None, ('self', given)))}):")
            lines.append("        " + methods[name].format(self.number(), self.number(0)))
        if self.random.random() < 0.4:
            base = self.one("A", "A", "A, Items", "Names, A", "A, int")
            lines += [f"class B({base}):", f"    {self.one('pass', 'v2 = 3', '__hash__ = None', '__len__ = None')}"]
        owner = "B()" if len(lines) > 3 and lines[-2].startswith("class B") and self.random.random() < 0.7 else "A()"
        lines.append("n = m = 1")
        for _ in range(self.number(1, 3)):
            row = self.random.choice(OPERATIONS).format("o", self.one(*VALUES, "o", "o", "0", "1"))
            if self.random.random() < 0.4:
                row = self.random.choice(OPERATIONS).format(self.one(*VALUES), "o")
            kept = f"o = {owner}\n" + self.one(f"r = {row}\nm += int(r) if isinstance(r, (int, bool)) else 2", row)
            lines.append(self.attempt(kept))
        lines.append("return n + m")
        return "\n".join(lines)

    def attributes(self) -> str:
        """Descriptors, properties, slots, class attributes and what hides them."""
        has = self.some(
            (
                "    x = 3",
                "    __slots__ = ('s',)",
                "    @property\n    def x(self): return 5",
                "    @property\n    def p(self): raise AttributeError('p')",
                "    @classmethod\n    def c(cls): return 4",
                "    @staticmethod\n    def st(): return 6",
                "    def __getattr__(self, k): return len(k)",
                "    d = D()",
                "    __y = 8\n    def y(self): return self.__y",
                "    @functools.cached_property\n    def cp(self): return 9",
                "    def __init_subclass__(cls, **k): cls.sub = len(k)",
                "    def __class_getitem__(cls, k): return k",
                "    items: list = []",
            ),
            6,
        )
        asks = self.some(
            *((
                ("o.x", "o.p", "o.c()", "o.st()", "o.nope", "o.d", "o.y()", "o.cp", "B.sub", "A[7]", "o.__y", "o._A__y"),
                4,
            )),
        )
        writes = self.some(("o.x = 4", "o.d = 2", "o.s = 1", "A.x = 7", "del o.x", "o.cp = 3", "o.__dict__['x'] = 6", "o.w = 1"), 2)
        lines = [
            "class D:",
            "    def __get__(self, o, cls): return 11",
            *([] if self.random.random() < 0.5 else ["    def __set__(self, o, v): o.__dict__['d'] = v"]),
            "class A:",
            *has,
            f"class B(A{self.one('', ', k=1', ', k=1, l=2')}):",
            "    z = 1",
            "m = 0",
            f"o = {self.one('A()', 'B()')}" if False else "o = A()",
        ]
        if not any("init_subclass" in h for h in has):
            lines[lines.index(next(x for x in lines if x.startswith("class B")))] = "class B(A):"
        for line in (*writes, *asks):
            body = line if "=" in line or line.startswith("del") else f"m += {line}"
            lines.append(f"try:\n    {body}\nexcept {self.one('AttributeError', 'Exception', 'TypeError')}:\n    m += 20")
        whole = "\n".join(lines)
        return f"m = 0\ntry:\n{indent(whole, '    ')}\nexcept Exception:\n    m += 50\nreturn m"

    def derived(self) -> str:
        """Subclasses of int, str, tuple, list, dict, and members of enumerations with arithmetic."""
        base, made = self.random.choice((
            ("int", "X(5)"), ("str", "X('abc')"), ("tuple", "X((1, 2))"), ("list", "X([1, 2])"), ("dict", "X(a=1)"),
            ("set", "X({1, 2})"), ("float", "X(2.5)"), ("frozenset", "X([1])"), ("enum.IntEnum", "X.P"),
            ("enum.IntFlag", "X.P | X.Q"), ("enum.Flag", "X.P | X.Q"), ("str, enum.Enum", "X.P"), ("Exception", "X(1)"),
        ))
        own = ["    P = 1", "    Q = 2"] if "num" in base or "Flag" in base else []
        if base == "str, enum.Enum":
            own = ["    P = 'p'", "    Q = 'q'"]
        own += self.some(
            (
                "    def __add__(self, o): return 31",
                "    def twice(self): return 2",
                "    def __len__(self): return 6",
                "    def __getitem__(self, k): return [41][k]",
                "    def __eq__(self, o): return False\n    __hash__ = None",
                "    def __new__(cls, *a, **k): return super().__new__(cls, *a, **k)",
                "    def __iter__(self): return iter((8, 9))",
                "    pass",
            )[: 8 if not own else 2],
            2,
        )
        lines = [f"class X({base}):", *own, "n = 0", "m = 1"]
        for ask in self.some(
            (
                "o + 1", "len(o)", "o[0]", "o == 5", "o.twice()", "int(o)", "sum(o)", "o * 2", "o in (5, 'abc')", "hash(o)",
                "o['a']", "o.append(3)", "o.value", "X.P in o", "list(o)[0]", "o < 9", "o | o", "bool(o)", "str(o)",
                "type(o + o) is X", "isinstance(o, X)", "isinstance(o, (int, str))", "o & X.P == X.P", "~o", "o.args[0]",
                "X(2)", "o.name", "max(o)", "dict(o)", "o.nope", "o.__dict__", "{o: 1}[o]", "(o == o) + 1", "'%d' % o",
            ),
            5,
        ):
            lines.append(
                f"try:\n    o = {made}\n    r = {ask}\n    m += int(r) % 100 if isinstance(r, (int, bool)) else 3\n"
                f"except {self.one('TypeError', 'Exception', 'AttributeError')}:\n    n += 5\n"
                f"except Exception:\n    n += 7"
            )
        return "\n".join([*lines, "return n + m"])

    # -- iterators, scopes, generators -----------------------------------------------------------------------------------

    def alive(self) -> str:
        """What is gone over changes meanwhile."""
        start = self.one("[1, 2, 3]", "[4]", "[3, 1, 2, 5]", "list(range(4))")
        source = self.one(
            "a", "a", "reversed(a)", "enumerate(a)", "zip(a, a)", "zip(a, [7, 8, 9])", "map(abs, a)", "iter(a)",
            "itertools.islice(a, 3)", "itertools.chain(a, [9])", "filter(None, a)", "(x for x in a)", "a[:]", "list(a)",
            "zip(a, itertools.count(3))", "enumerate(a, 2)", "itertools.chain([0], a)", "zip(a, b)", "itertools.islice(a, 1, None, 2)",
        )
        change = self.one(
            "a.append(5)", "a.pop()", "a.pop(0)", "a.insert(0, 6)", "a.clear()", "del a[-1]", "a.extend([1, 1])", "a = [9]",
            "b.append(k)", "a.remove(a[0])", "a[:] = [2]", "a += [3]", "a.reverse()", "a[0] = 8",
        )
        when = self.one("k < 6", "len(a) < 7", "k == 1", "len(b) < 2", "k % 2")
        if self.random.random() < 0.3:
            source = self.one("d", "d.keys()", "d.items()", "d.values()", "s", "list(d)", "iter(d)", "iter(s)")
            change = self.one("d[k, 1] = 2", "d.pop(k, None)", "d[1] = 5", "s.add(k)", "s.discard(k)", "d.clear()", "d.update(q=1)")
        item = "k = x if isinstance(x, int) else 1"
        ends = self.one("", "\nelse:\n    n += 30")
        return (
            f"a = {start}\nb = [2, 3]\nd = {{1: 2, 3: 4}}\ns = {{1, 2, 3}}\nn = 0\ntry:\n    for x in {source}:\n        {item}\n"
            f"        n += 1\n        if n > 12: break\n        if {when}: {change}\n"
            + indent(ends.lstrip("\n") + "\n" if ends else "", "    ")
            + "except Exception:\n    n += 40\nreturn n + 10 * len(a) + len(d) + len(s)"
        )

    def asked(self) -> str:
        """Iterators that are asked by hand, and shared."""
        made = self.one(
            "iter([1, 2, 3, 4])", "(x * 2 for x in [1, 2, 3])", "zip([1, 2], [3, 4])", "map(len, ['a', 'bb'])", "g()",
            "iter(range(5))", "itertools.chain([1], [2, 3])", "enumerate('abc')", "filter(None, [0, 1, 2])", "iter({1: 2, 3: 4})",
            "reversed([1, 2, 3])", "iter(lambda: next(c), 3)", "itertools.islice(g(), 2)", "itertools.cycle([1, 2])",
            "itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])", "itertools.accumulate([1, 2, 3])",
        )
        steps = [
            self.one(
                "n += num(next(i))", "n += num(next(i, 50))", "n += num(next(iter(i)))", "n += 2 in i", "n += num(i.__next__())",
                "a, *_ = [next(i), next(i)]; n += num(a)", "x, y = next(i), next(i)", "n += num(i.send(None))",
                "n += num(list(itertools.islice(i, 2))[-1])", "n += i is iter(i)", "n += len(i)",
            )
            for _ in range(self.number(1, 5))
        ]
        tries = "\n".join(
            f"try:\n    {s}\nexcept {self.one('StopIteration', 'Exception', 'IndexError')}:\n    n += 60" for s in steps
        )
        whole = (
            "c = iter([1, 2, 3])\ndef num(x):\n    return x if isinstance(x, int) else 4\n"
            "def g():\n    yield 5\n    yield 6\n    return 7\n"
            f"i = {made}\n{tries}"
        )
        return f"n = 0\ntry:\n{indent(whole, '    ')}\nexcept Exception:\n    n += 70\nreturn n"

    def generator(self) -> str:
        """A generator that is sent values and exceptions, and closed."""
        inside = [
            self.one(
                "x = yield n1", "x = yield 3\n    log.append(x)", "try:\n        yield 4\n    finally:\n        log.append(1)",
                "try:\n        x = yield 5\n    except ValueError:\n        log.append(2)\n        yield 6",
                "x = yield from inner()\n    log.append(x)", "if len(log) > 2: return 9", "yield from [7, 8]",
                "for q in range(2):\n        yield q", "log.append(0)", "raise KeyError(1)" if self.random.random() < 0.2 else "pass",
                "try:\n        yield 11\n    except GeneratorExit:\n        log.append(5)\n        raise",
            )
            for _ in range(self.number(1, 4))
        ]
        steps = [
            self.one(
                "n += i.send(None)", "n += next(i)", "n += i.send(7)", "n += i.throw(ValueError)", "i.close()", "n += sum(i)",
                "n += next(i, 30)", "n += i.throw(KeyError('a'))", "n += len(list(i))", "for z in i: break", "i = g()",
            )
            for _ in range(self.number(2, 6))
        ]
        tries = "\n".join(
            f"try:\n    {s}\nexcept StopIteration as e:\n    n += e.value or 40\nexcept {self.one('ValueError', 'Exception')}:\n"
            f"    n += 50"
            for s in steps
        )
        whole = (
            "log = []\nn1 = 2\ndef inner():\n    try:\n        got = yield 21\n    except ValueError:\n        return 22\n    return got\n"
            "def g():\n    yield 1\n    " + "\n    ".join(inside) + f"\ni = g()\n{tries}"
        )
        return f"n = 0\ntry:\n{indent(whole, '    ')}\nexcept Exception:\n    n += 70\nreturn n + 100 * len(log)"

    def scopes(self) -> str:
        """Names: closures, ``nonlocal``, ``del``, class bodies, comprehensions, defaults, walrus."""
        parts = [
            self.one(
                "def f{0}(a=[]):\n    a.append(1)\n    return len(a)\nn += f{0}() + f{0}()",
                "fs = [lambda: i for i in range(3)]\nn += fs[0]()",
                "fs = [lambda i=i: i for i in range(3)]\nn += fs[0]()",
                "def f{0}():\n    nonlocal n\n    n += 3\nf{0}()",
                "def f{0}():\n    return later{0}\ntry:\n    n += f{0}()\nexcept NameError:\n    n += 20\nlater{0} = 4",
                "x{0} = 5\ndef f{0}():\n    try:\n        y = x{0}\n    except UnboundLocalError:\n        return 8\n    x{0} = 6\n"
                "    return y\nn += f{0}()",
                "x{0} = 2\nclass K{0}:\n    x{0} = 7\n    y = [x{0} for _ in range(2)]\n    z = [i for i in range(x{0})]\n"
                "n += K{0}.y[0] + len(K{0}.z)",
                "k{0} = 3\ndel k{0}\ntry:\n    n += k{0}\nexcept NameError:\n    n += 11",
                "if (w{0} := {1}) > 2:\n    n += w{0}",
                "n += [w{0} := i for i in range(3)][-1] + w{0}",
                "def f{0}(*a, k=2, **kw):\n    return len(a) * 10 + k + len(kw)\nn += f{0}(*[1, 2], **{{'k': 5, 'q': 1}})",
                "def f{0}(a, /, b, *, c=1):\n    return a + b + c\ntry:\n    n += f{0}({2})\nexcept TypeError:\n    n += 33",
                "try:\n    raise ValueError(1)\nexcept ValueError as e{0}:\n    pass\ntry:\n    e{0}\nexcept NameError:\n    n += 13",
                "for j{0} in range({3}):\n    pass\ntry:\n    n += j{0}\nexcept NameError:\n    n += 17",
                "def f{0}():\n    global g{0}\n    g{0} = 4\nf{0}()\nn += g{0}",
                "def o{0}():\n    x = 1\n    def i():\n        nonlocal x\n        x += 1\n        return x\n    i()\n    return i() + x\n"
                "n += o{0}()",
                "@functools.lru_cache\ndef f{0}(k):\n    log.append(k)\n    return k\nf{0}(1), f{0}(1), f{0}({1})\nn += len(log)",
                "class K{0}:\n    def m(self):\n        return __class__.__name__ == 'K{0}'\nn += K{0}().m()",
            ).format(self.name(), self.number(), self.one("1, 2", "1, b=2", "a=1, b=2", "1", "1, 2, 3", "1, 2, c=3"), self.number(0, 2))
            for _ in range(self.number(1, 4))
        ]
        body = "\n".join(parts)
        return f"log = []\nn = 0\ntry:\n{indent(body, '    ')}\nexcept Exception:\n    n += 90\nreturn n"

    def matched(self) -> str:
        """``match`` over a value of any kind."""
        patterns = self.some(
            (
                "[a, b]", "[a, *r]", "[]", "{'a': a}", "{'a': a, **r}", "{}", "Plain(v=a)", "Pair(a, b)", "Frozen(a=a)",
                "Frozen(a, 2)", "int()", "int(a)", "str(a)", "1 | 2", "(1 | 5) as a", "None", "True", "Color.RED", "[Plain(), *_]",
                "[[a], *_]", "a if isinstance(a, float)", "list()", "dict(a)", "tuple(a)", "bool()", "float() | str()", "-2",
                "'ab'", "[a, 2, *_]", "(a, b, c)", "Plain(v=3)", "object(a=a)", "Items([a, b])", "collections.deque()", "Bits.A",
            ),
            4,
        )
        lines = [f"x = {self.one(*VALUES)}", "n = 0", "try:", "    match x:"]
        for i, pattern in enumerate(patterns):
            lines += [f"        case {pattern}:", f"            n = {3 * i + 2}"]
        if self.random.random() < 0.4:
            lines += ["        case _:", "            n = 50"]
        return "\n".join([*lines, "except Exception:", "    n = 60", "return n"])

    # -- collections ------------------------------------------------------------------------------------------------------

    def collections(self) -> str:
        """Dicts, lists and sets that are changed and looked at."""
        steps = [
            self.one(
                "d['b'] = 4", "d.setdefault('c', []).append(1)", "d.pop('a')", "d.update(a=5, z=6)", "d |= {'q': 1}",
                "v = d.keys(); d['w'] = 1; n += len(v)", "n += d.get('zz', 9)", "n += d['zz']", "del d['b']", "n += len(d)",
                "l[1:2] = [7, 8, 9]", "l[::2] = [0] * len(l[::2])", "del l[0]", "l.sort(reverse=True)", "l.sort(key=lambda x: -x)",
                "n += l.index(3)", "l.insert(-1, 6)", "n += l[-1]", "l *= 2", "l = l + (1,)", "l += (1, 2)", "l.extend('ab')",
                "n += l.count(1)", "n += l.pop()", "s.add(3)", "s |= {7}", "s -= {1}", "n += len(s & {1, 2})", "s.remove(9)",
                "n += {1} <= s", "n += sorted(s)[0]", "s.update([4, 4])", "n += s == frozenset(s)", "n += max(l)",
                "n += d.popitem()[1]", "d = dict(zip('ab', l))", "d = {k: v for v, k in enumerate('aba')}", "n += sum(d.values())",
                "c = collections.Counter('aab'); n += c['a'] + c['zz']", "q = collections.deque(l, 2); n += len(q)",
                "dd = collections.defaultdict(list); dd[1].append(2); n += len(dd[2]) + len(dd)", "n += 'a' in d",
                "a, *b = l; n += len(b)", "l[0], l[-1] = l[-1], l[0]; n += l[0]", "n += d == dict(d)", "l.remove(2)",
                "n += [1, 2] < l", "n += (1, 'a') < (1, 2)", "e = [[0] * 2] * 2; e[0][0] = 5; n += e[1][0]", "n += len(set(l))",
                "d = dict.fromkeys('ab', []); d['a'].append(1); n += len(d['b'])", "n += next(iter(d.values()))", "l.clear()",
                "n += len(f'{l}')", "n += int('%d' % l[0])", "n += len('{:>5}'.format(l[0]))", "n += len(str(d))", "n += any(l) + all(l)",
            )
            for _ in range(self.number(2, 6))
        ]
        tries = "\n".join(
            f"try:\n    {s}\nexcept {self.one('KeyError', 'Exception', 'ValueError', 'TypeError')}:\n    n += 50" for s in steps
        )
        whole = f"d = {{'a': 1, 'b': 2}}\nl = [3, 1, 2]\ns = {{1, 2}}\n{tries}\nn += 100 * len(l) + 10 * len(d) + len(s)"
        return f"n = 0\ntry:\n{indent(whole, '    ')}\nexcept Exception:\n    n += 70\nreturn n"


SCENES: tuple[tuple[Callable[[_Maker], str], int], ...] = (
    (_Maker.fuzz, 8),
    (_Maker.nested, 3),
    (_Maker.chained, 1),
    (_Maker.managed, 2),
    (_Maker.model, 4),
    (_Maker.attributes, 2),
    (_Maker.derived, 3),
    (_Maker.alive, 3),
    (_Maker.asked, 2),
    (_Maker.generator, 2),
    (_Maker.scopes, 2),
    (_Maker.matched, 2),
    (_Maker.collections, 3),
)
_SLOW = ("pow(", "<<")  # with 10 ** 30
_ALL_RUN = 24


def program(seed: int, scenes: int = _ALL_RUN) -> str:
    """A program: its scenes, and what each gives as the size of a tensor."""
    maker = _Maker(seed)
    parts = [HEAD]
    made = 0
    while made < scenes:
        work = maker.random.choices([s for s, _ in SCENES], [w for _, w in SCENES])[0]
        body = work(maker)
        if "10 ** 30" in body and any(slow in body for slow in _SLOW):
            continue
        text = f"def scene{made}():\n{indent(body, '    ')}\n"
        try:
            compile(text, "", "exec", dont_inherit=True)
        except SyntaxError:
            continue
        parts.append(f"{text}\nr{made} = scene{made}()\nt{made} = torch.zeros(r{made} % 97 + 2, 3)\n")
        made += 1
    return "\n".join(parts)


def main(count: int, first: int, program: Callable[[int], str] = program) -> int:
    """Run so many programs; gives the exit status."""
    from executed import compared

    begun, wrong, claims, known = time.process_time(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            found = compared(program(seed), Path(folder) / "program.py")
            claims, known = claims + found.claims, known + found.known
            for line in found.wrong:
                wrong += 1
                print(f"seed {seed}: {line}", flush=True)
            if found.raises:
                print(f"seed {seed}: raises {found.raises}", flush=True)
    seconds = time.process_time() - begun
    print(f"{count} programs, {claims} values, {known} known, {wrong} wrong; {seconds:.0f} s of CPU")
    return 1 if wrong else 0


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    sys.exit(main(numbers[0] if numbers else 100, numbers[1] if len(numbers) > 1 else 0))
