"""What is seen on the way, for editors and diagrams: what each expression gives, and which modules call which."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeAlias, final

from simpletorch.follow import layers
from simpletorch.follow.budget import STEPS, Budget
from simpletorch.follow.findings import Finding
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.marks import devices, gradients, layout, origins
from simpletorch.follow.marks.mark import Marks
from simpletorch.follow.values import Choice, Class, Function, Instance, Tensor, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.codes import CODES

if TYPE_CHECKING:
    from simpletorch.follow.model.scopes import Scope
    from simpletorch.follow.sources.program import Program
    from simpletorch.follow.sources.switches import Switch

__all__ = ["Look", "Place", "Seen", "Visit", "Watching"]

_MOST_LOOKS: Final = 8  # of one expression
_MOST_VISITS: Final = 2_000


class Place(NamedTuple):
    """Where an expression stands. Lines count from 1, columns from 0, in bytes of UTF-8 as in Python's ``ast``."""

    line: int
    column: int
    end_line: int
    end_column: int


class Look(NamedTuple):  # of which thousands are made: a dataclass that is frozen takes four times as long
    """What is known of a tensor at one moment."""

    type: TensorType
    place: str | None = None  # where it is if there is CUDA, see `marks.devices`
    layout: layout.Layout = None
    origins: origins.Origins = None
    gradient: bool | None = None  # whether it requires one

    def __hash__(self) -> int:  # the rest is long, and seldom alone in being another
        return hash(self[:2])

    @property
    def layout_said(self) -> str | None:
        """The memory layout in words."""
        known = self.layout
        if known is None or isinstance(known, str):
            return known
        return f"strides ({', '.join(map(str, known))}{',' if len(known) == 1 else ''})"

    @property
    def gradient_said(self) -> str | None:
        """As torch shows it; None where it isn't known, or for a dtype that can't require one."""
        can = self.gradient is not None and (self.type.dtype is None or self.type.dtype.category not in _WITHOUT)
        return f"requires_grad={self.gradient}" if can else None

    @property
    def origins_said(self) -> tuple[str, ...]:
        """From where each dimension comes, in words; "" where that isn't known."""
        return tuple(
            "" if origin is None else _ORIGINS.get(origin.kind, "from {}").format(origin.text)
            for origin in self.origins or ()
        )


_WITHOUT: Final = frozenset({"int", "bool"})  # categories of dtypes without gradients
_ORIGINS: Final = {
    "rows": "one for each sample",
    "reduced": "one for each sample",
    "squeezed": "one for each sample",
    "scale": "the numbers of {}",
    "features": "no samples",
    "asked": "a 1 that the program wrote",
}


@final
@dataclass(slots=True)
class Visit:
    """A call of a module, with those that it leads to; calls that are alike are one visit, ``times`` long."""

    name: str  # how the module around it calls it: ``layers.0``; "" of the outermost one
    kind: str
    takes: tuple[str, ...] = ()
    gives: str = "…"
    inner: list[Visit] = field(default_factory=list)
    times: int = 1
    line: int = 0  # of the program that calls it; 0 if that is another file's
    fails: bool = False  # torch raises in it
    ends: bool = False  # surely, so that nothing behind it is reached

    @property
    def key(self) -> tuple[str, str, tuple[str, ...], str]:
        """What two visits have in common that are alike."""
        return self.name, self.kind, self.takes, self.gives


@final
@dataclass(slots=True)
class Seen:
    """What was seen of a program."""

    looks: dict[tuple[str, Place], dict[Look, None]] = field(default_factory=dict)
    modules: dict[tuple[str, Place], str] = field(default_factory=dict)  # expressions that give a module: its class
    visits: list[Visit] = field(default_factory=list)


_Node: TypeAlias = ast.expr | ast.arg


@final
class _Watched:
    """A node, as in ``Seen.looks``, and of what the last look at it was made."""

    __slots__ = ("marks", "row", "type")

    def __init__(self, row: dict[Look, None]) -> None:
        self.row = row
        self.type: TensorType | None = None
        self.marks: Marks | None = None


class Watching(Interpreter):
    """An interpreter that notes what it sees."""

    def __init__(self, program: Program, steps: int = STEPS, budget: Budget | None = None) -> None:
        super().__init__(program, steps, budget)
        self.seen = Seen()
        self._around: list[tuple[Instance, Visit]] = []
        self._followed: dict[tuple[str, str, tuple[str, ...], str], Visit] = {}
        self._visits = 0
        self._names: dict[tuple[int, int], str] = {}
        self._watched: dict[_Node, _Watched] = {}
        self._classes: dict[_Node, Class] = {}  # of the modules that expressions gave last

    def again(self, switch: Switch) -> Self:
        """Another follow of the program, which sees more of it."""
        other = super().again(switch)
        other.seen, other._visits = self.seen, self._visits
        return other

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression, which is noted if it is a tensor or a module."""
        value = Interpreter.evaluate(self, node, scope)  # `super()` makes an object each time
        kind = type(value)
        if kind is Tensor:
            self._note(scope.path, node, value)
        elif kind is Instance and self._classes.get(node) is not value.cls and value.cls.is_a(layers.MODULE):
            self._classes[node] = value.cls
            self.seen.modules[scope.path, _place(node)] = value.cls.name
        return value

    def enter(self, function: Function, scope: Scope, work: Callable[[], Value]) -> Value:
        """The body of a function: what its parameters are is noted."""
        given = function.node.args
        for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            value = scope.cells.get(parameter.arg)
            if type(value) is Tensor:
                self._note(scope.path, parameter, value)
        return Interpreter.enter(self, function, scope, work)

    def call(self, function: Value, args: Sequence[Value], kwargs: Mapping[str, Value] | None = None) -> Value:
        """A call, which is noted if it is of a module."""
        found = self.resolve(function) if type(function) is Choice else function
        if type(found) is not Instance or not found.cls.is_a(layers.MODULE) or self._visits > _MOST_VISITS:
            return Interpreter.call(self, function, args, kwargs)
        around = self._around[-1] if self._around else None
        given = (*args, *kwargs.values()) if kwargs else args
        name = self._name(around[0], found) if around else ""
        visit = Visit(name, found.cls.name, tuple([_shown(self, v) for v in given]))
        path, node, _ = self.place
        visit.line = getattr(node, "lineno", 0) if path == self.program.shown else 0
        self._around.append((found, visit))
        try:
            result = Interpreter.call(self, found, args, kwargs)
            visit.gives = _shown(self, result)
            return result
        finally:
            self._around.pop()
            self._keep(visit, around[1].inner if around else self.seen.visits)

    def find(self, code: str, message: str, hint: str | None = None, **about: Any) -> None:
        """Write a mistake down; the modules in which it is found fail."""
        before = len(self.findings)
        Interpreter.find(self, code, message, hint, **about)
        if CODES[code].severity == "error" and not about.get("is_promise"):
            for _, visit in self._around:
                visit.fails = True
                visit.ends |= len(self.findings) > before and self.findings[-1].is_certain

    @contextmanager
    def silently(self) -> Iterator[list[Finding]]:
        """While it lasts nothing is said, and nothing is noted."""
        noted = self.seen, self._watched, self._classes, self._around, self._followed
        self.seen, self._watched, self._classes, self._around, self._followed = Seen(), {}, {}, [], {}
        try:
            with super().silently() as found:
                yield found
        finally:
            self.seen, self._watched, self._classes, self._around, self._followed = noted

    def _keep(self, visit: Visit, row: list[Visit]) -> None:
        """A call that is remembered leads to what it led to when it was followed."""
        if row and row[-1].key == visit.key:
            row[-1].times += 1
            return
        alike = ("", *visit.key[1:])
        if visit.inner or visit.fails:
            self._followed[alike] = visit
        elif alike in self._followed:
            before = self._followed[alike]
            visit.inner, visit.fails, visit.ends = before.inner, before.fails, before.ends
        self._visits += 1
        row.append(visit)

    def _name(self, around: Instance, module: Instance) -> str:
        """How a module is called within the one around it."""
        key = id(around.cells), id(module.cells)
        known = self._names.get(key)
        if known is None:
            for path, inner in _inside(self, around):
                self._names.setdefault((key[0], id(inner.cells)), path)
            known = self._names.setdefault(key, "")
        return known

    def _note(self, path: str, node: _Node, value: Tensor) -> None:
        last, kind = self._watched.get(node), value.type
        if last is None:
            last = self._watched[node] = _Watched(self.seen.looks.setdefault((path, _place(node)), {}))
        elif last.type is kind and last.marks is value.marks:
            return
        if len(last.row) < _MOST_LOOKS:
            last.type, last.marks = kind, value.marks
            marks = devices.of(self, value), layout.of(value), origins.of(value), gradients.of(self, value)
            last.row[Look(kind, *marks)] = None


def _place(node: _Node) -> Place:
    return Place(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _inside(run: Interpreter, around: Instance) -> Iterator[tuple[str, Instance]]:
    """The modules inside one by path. `layers.named_modules` would note them as what a recorded call depends on."""
    met: set[int] = set()
    todo = layers.children(run, around)[::-1]
    while todo:
        path, module = todo.pop()
        if id(module) not in met:
            met.add(id(module))
            yield path, module
            todo += [(f"{path}.{name}", inner) for name, inner in layers.children(run, module)][::-1]


def _shown(run: Interpreter, value: Value) -> str:
    if type(value) is Tensor:
        return _text(value.type)
    value = run.resolve(value)
    if isinstance(value, Tensor):
        return _text(value.type)
    if isinstance(value, tuple):
        return f"({', '.join(_shown(run, v) for v in value)})"
    return "None" if value is None else "…"


@lru_cache(maxsize=4096)
def _text(kind: TensorType) -> str:
    return str(kind)
