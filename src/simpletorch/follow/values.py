"""What a followed program computes with.

===================  ================================================================================================
known Python values  themselves: ``int``, ``float``, ``str``, ``bytes``, ``bool``, ``None``, ``...``, ``range``,
                     ``slice``, ``tuple`` (of values)
sizes                ``Expr`` of `simpletorch.shapes`: an int that is known in terms of symbols
dtypes, devices      ``DType`` and ``Device`` of `simpletorch.rules`
`Unknown`            a value that isn't known, with the reason; its type may be
`Choice`             one value or another, by a condition that isn't known
`Tensor`             a tensor (or a NumPy array): an object with identity, because operations in place change it
`List` `Dict` `Set`  mutable collections
`Instance`           an object of a class, with its attributes
`Class`              a class of the program, or a model of a library's
`Function` `Method`  functions of the program; `Native` is one that the follower computes itself
`Namespace`          a module: of the program, or a library's by its dotted name
`Iterator`           what ``iter`` and generators give
===================  ================================================================================================

Whatever can change keeps its contents in ``cells``, a dict, and is changed through `Heap.write` alone: that is how a
branch can be followed and taken back.
"""

from __future__ import annotations

import ast
import builtins
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Iterator as Items
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, final

from simpletorch.follow.heap import ASKED_FOR, CHANGED, HISTORY, MISSING, NEXT, SIZE, SPENT, TUPLE, Cells, Missing
from simpletorch.follow.marks.mark import FORGOTTEN, NOTHING, Marks
from simpletorch.rules import Device, TensorType
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.values import Sizes
from simpletorch.shapes import UNKNOWN, Expr, Shape

if TYPE_CHECKING:
    from simpletorch.follow.marks.sparsity import Matrix
    from simpletorch.follow.model.scopes import Scope
    from simpletorch.follow.numbers.indexes import Numbers

__all__ = [
    "ASKED_FOR",
    "CHANGED",
    "GOES_ROUND",
    "GRADIENTS",
    "HISTORY",
    "MISSING",
    "NEXT",
    "OFF",
    "OF_NUMPY",
    "PENDING",
    "RELOADED",
    "REPEATED",
    "SIZE",
    "SPENT",
    "BoundNative",
    "Cause",
    "Choice",
    "Class",
    "Dict",
    "Fields",
    "Function",
    "Here",
    "History",
    "Instance",
    "Iterator",
    "Last",
    "List",
    "Method",
    "Missing",
    "Namespace",
    "Native",
    "Object",
    "Property",
    "Saved",
    "Set",
    "Sizes",
    "StaticMethod",
    "Super",
    "Tensor",
    "Unknown",
    "Value",
    "View",
    "behind",
    "is_among",
    "is_int",
    "is_known",
    "is_plain",
    "tensors_in",
    "type_of",
]

Cause: TypeAlias = Literal["data", "code"]
"""Why something isn't known: "data" is the content of tensors, chance, time, the length of a stream; no choice of the
program's sizes can depend on it as a rule. "code" is everything else: files, libraries, what isn't understood."""


GOES_ROUND: Final = ("goes round", None, None)
"""The fact of a condition: that a loop of which the length isn't known goes round once more."""

OF_NUMPY: Final = "a number of NumPy's by chance"
"""The reason of a number whose class is NumPy's own."""


@final
class Unknown:
    """A value that isn't known. Two of them are the same value only if they are the same object.

    Args:
        reason: why, as a clause: ``"what is read from a file"``.
        type: the name of its class where that is known: "int", "float", "bool", "str".
        cause: see `Cause`.
        harmless: it comes from a library that changes nothing of what it is given: neither do its methods.
        without_tensors: it comes from a library that makes neither tensors nor arrays: a figure, a progress bar.
    """

    __slots__ = (
        "cause",
        "derived",
        "fact",
        "first",
        "given",
        "harmless",
        "is_object",
        "length",
        "matrix",
        "negates",
        "numbers",
        "of",
        "offset",
        "origin",
        "parts",
        "place",
        "reason",
        "scalar",
        "size",
        "type",
        "usual",
        "without_tensors",
        "written",
    )

    def __init__(
        self,
        reason: str,
        type: str | None = None,
        cause: Cause = "code",
        *,
        harmless: bool = False,
        without_tensors: bool = False,
    ) -> None:
        self.reason, self.type, self.cause = reason, type, cause
        self.harmless, self.without_tensors = harmless, without_tensors
        self.is_object = False  # it is no tensor itself, nor a tuple with one, though it may hold some: a loader
        self.origin: str = reason  # why the value isn't known that it was derived from
        self.place: tuple[str, int] | None = None
        self.given: tuple[Instance | Function, ...] = ()  # what the call that made it was given: it may keep them
        self.negates: Unknown | None = None  # of a bool: it is true where that one is false
        self.derived: Class | None = None  # of an object of a class of the program's that derives from int or its like
        self.usual: bool | None = None  # of a bool: what it is unless something goes wrong (an exception is caught)
        self.length: int | Expr | None = None  # of a string
        self.offset: tuple[Any, Any, Any] | None = None  # of an int by chance, see `offsets`
        self.numbers: Numbers | None = None  # of an int, see `indexes`
        self.of: tuple[Any, ...] | None = None  # the objects for which one will stand, see `stand_ins`
        self.scalar = False  # it is a number or a tensor without dims
        self.size: Expr | bool = False  # of an int that stays the same: its name as a size, True before it has one
        self.fact: tuple[str, Value, Value] | None = None  # of a bool: the comparison that it is the answer of
        self.parts: tuple[Any, ...] | None = None  # of a string: what it is joined of, see `texts.parts_of`
        self.matrix: Matrix | None = None  # of a sparse matrix, see `marks.sparsity`
        self.written: Saved | None = None  # of a string or bytes: what they were made of, see `files`
        self.first: tuple[int, bool] | None = None  # of what counts a loop's rounds: the first, and whether they rise

    def __repr__(self) -> str:
        return f"<unknown {self.type or 'value'}: {self.reason}>"


_LONGEST: Final = 2**63 - 1
"""Of a dim: no tensor is longer, and the numbers that a program doubles have no end."""


def _possible(kind: TensorType) -> TensorType:
    """The type without dims that no tensor has."""
    for item in kind.shape.items:
        if isinstance(item, int) and item > _LONGEST:
            dims = (UNKNOWN if isinstance(d, int) and d > _LONGEST else d for d in kind.shape.items)
            return replace(kind, shape=Shape(tuple(dims)))
    return kind


@final
class Choice:
    """``when_true`` if ``condition`` (an unknown bool) holds, else ``when_false``."""

    __slots__ = ("condition", "when_false", "when_true")

    def __init__(self, condition: Unknown, when_true: Value, when_false: Value) -> None:
        self.condition, self.when_true, self.when_false = condition, when_true, when_false

    def __repr__(self) -> str:
        return f"<{self.when_true!r} or {self.when_false!r}>"


class Object:
    """What has identity and can change."""

    __slots__ = ("cells",)

    def __init__(self) -> None:
        self.cells: dict[Any, Any] = Cells()


class Kept(NamedTuple):
    """What was as it was at a time (a number of `now`), which the backward of an operation needs: a tensor, or the
    weight of a layer.
    """

    tensor: Tensor | Instance
    when: int
    operation: str


@final
@dataclass(frozen=True, slots=True)
class History:
    """How a tensor was made, as far as that is known. None is "not known" everywhere.

    - ``grad``: whether it requires a gradient.
    - ``leaf``: whether it is a leaf: no operation with a gradient has made it.
    - ``form``: what its numbers are: the name of a function such as ``"sigmoid"``, with the dim for a softmax.
    - ``parents``: the tensors behind it in the graph (those that are known).
    - ``saves``: the operation keeps what its backward needs, so that a second one through it is refused.
    - ``kept``: tensors that it surely keeps for its backward.
    """

    grad: bool | None = None
    leaf: bool | None = None
    form: tuple[str, int | None] | None = None
    parents: tuple[Tensor, ...] = field(default=(), compare=False, repr=False)
    saves: bool = field(default=False, compare=False)
    kept: tuple[Kept, ...] = field(default=(), compare=False, repr=False)


_OF_ALL: Final = 2  # cells at most while no mark is forgotten: its type and its `History`


@final
class Tensor(Object):
    """A tensor of torch's, or an array of NumPy's. ``cells["type"]`` is its type, other cells are attributes of it."""

    __slots__ = (
        "apart",
        "array",
        "base",
        "is_view",
        "is_written_out",
        "marks",
        "numbers",
        "offset",
    )

    def __init__(self, type: TensorType, *, array: bool = False) -> None:
        self.cells = Cells()
        self.cells["type"] = _possible(type)
        self.array = array
        self.offset: tuple[Any, Any, Any] | None = None  # of a 0-dim one, see `offsets`
        self.numbers: Numbers | None = None  # see `indexes`
        self.base: Tensor | None = None  # whose memory it may share: what is written there is written here
        self.marks = NOTHING  # as they were when it was made; see `known`
        self.is_view = False  # whether it surely is memory of its base
        self.is_written_out = False  # whether the program itself says what it holds, see `indexes`
        self.apart: tuple[TensorType, TensorType] | None = None  # see `one_of_many`

    @property
    def type(self) -> TensorType:
        """Its dtype, shape and device as they are now."""
        found: TensorType = self.cells["type"]
        return found if self.apart is None or self.apart[0] is not found else self.apart[1]

    @property
    def known(self) -> Marks:
        """Its marks, but those that don't hold any more."""
        if len(self.cells) <= _OF_ALL:
            return self.marks
        gone = [name for name, cell in FORGOTTEN.items() if cell in self.cells]
        return self.marks._replace(**dict.fromkeys(gone)) if gone else self.marks

    def like(self, type: TensorType) -> Tensor:
        """Another object for the same numbers: all marks are its marks, but its place, which `devices.of` knows."""
        made = Tensor(type, array=self.array)
        made.marks = self.known._replace(place=None)
        made.numbers, made.offset, made.is_written_out = self.numbers, self.offset, self.is_written_out
        return made

    def one_of_many(self, type: TensorType) -> Tensor:
        """One of the tensors that this one stands for, the items of a list of unknown length: what is known of it is
        what is known of them all, but the sizes, which are its own, have names of their own in ``type``.
        """
        made = copy(self)
        made.apart = self.cells["type"], type
        return made

    def __repr__(self) -> str:
        return str(self.type)


class List(Object):
    """A list. Its items are ``cells["items"]``, a tuple; where their number isn't known it is None, and
    ``cells["item"]`` is one value for all of them.
    """

    __slots__ = ()

    def __init__(self, items: tuple[Value, ...] | None = (), item: Value = None) -> None:
        self.cells = Cells({"items": items, "item": item})

    @property
    def items(self) -> tuple[Value, ...] | None:
        """The items, None if their number isn't known."""
        found: tuple[Value, ...] | None = self.cells["items"]
        return found

    @property
    def item(self) -> Value:
        """What the items have in common, where their number isn't known."""
        found: Value = self.cells["item"]
        return found

    def __repr__(self) -> str:
        return repr(list(self.items)) if self.items is not None else f"[{self.item!r}, ...]"


@final
class View(List):
    """The view that ``keys()``, ``values()`` or ``items()`` of a dict gives: the dict's present contents, as a list."""

    __slots__ = ("_last", "kind", "owner", "read")

    def __init__(self, kind: str, owner: Dict, read: Callable[[], List]) -> None:
        self.kind, self.owner, self.read = kind, owner, read
        self._last: List | None = None

    @property
    def cells(self) -> dict[Any, Any]:  # type: ignore[override]
        """Those of the list that stands for it now."""
        found, last = self.read(), self._last
        same = last is not None and last.items is not None and found.items is not None
        if last is not None and same and _are_same(last.items or (), found.items or ()):
            return last.cells
        self._last = found
        return found.cells


def _are_same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(
        x is y or (type(x) is tuple and type(y) is tuple and len(x) == len(y) and all(map(operator.is_, x, y)))
        for x, y in zip(a, b, strict=True)
    )


@final
class Dict(Object):
    """A dict: its cells are its items, by known keys. ``state["open"]`` is a value that other keys may have."""

    __slots__ = ("default", "kind", "state")

    def __init__(self, items: Mapping[Any, Value] | None = None, rest: Value | Missing = MISSING) -> None:
        self.cells = Cells(items or ())
        self.state: dict[str, Any] = Cells(() if rest is MISSING else {"open": rest})
        self.default: Value = None  # the factory of a defaultdict
        self.kind = "dict"

    @property
    def rest(self) -> Value | Missing:
        """What unknown keys may lead to; MISSING where all keys are known."""
        found: Value | Missing = self.state.get("open", MISSING)
        if found is True:  # the attributes of an object that unknown code has
            return Unknown("an attribute")
        return found

    def __repr__(self) -> str:
        return repr(self.cells) if self.rest is MISSING else f"{{{', '.join(map(repr, self.cells))}, ...}}"


@final
class Set(Object):
    """A set of known values: the keys of ``cells``; ``state["open"]`` says that there may be others."""

    __slots__ = ("state",)

    def __init__(self, items: tuple[Any, ...] = (), open: bool = False) -> None:
        self.cells = Cells(dict.fromkeys(items, True))
        self.state: dict[str, Any] = Cells({"open": open})

    @property
    def open(self) -> bool:
        """Whether it may hold what isn't known."""
        return bool(self.state["open"]) or any(isinstance(v, Choice) for v in self.cells.values())


@final
class Instance(Object):
    """An object of a class; its cells are its attributes. ``native`` is what a library's model keeps for itself
    (a `ModuleRule`, an iterator's source), and never changes. ``state["open"]``: unknown code may have changed it.
    """

    __slots__ = ("cls", "native", "state")

    def __init__(self, cls: Class, native: Any = None) -> None:
        self.cells = Cells()
        self.cls, self.native = cls, native
        self.state: dict[str, Any] = Cells()

    def __repr__(self) -> str:
        return f"<{self.cls.name}>"


@final
class Class(Object):
    """A class: of the program, or a library's. Its cells are its namespace.

    ``native`` is what a library knows of it; ``unknown_base`` says that something isn't known of its bases.
    """

    __slots__ = ("_hidden", "_kinds", "bases", "fields", "metadata", "module", "mro", "name", "native", "unknown_base")

    def __init__(
        self, name: str, bases: tuple[Class, ...] = (), namespace: dict[str, Any] | None = None, module: str = ""
    ) -> None:
        self.cells = namespace if namespace is not None else {}
        self.name, self.bases, self.module = name, bases, module
        self.unknown_base: Unknown | None = next((b.unknown_base for b in bases if b.unknown_base), None)
        self.native: Any = None
        self.fields: tuple[Any, ...] | None = None  # of a dataclass or named tuple
        self.metadata: dict[str, Any] = {}
        self.put_in_order(self.usual_order)

    @property
    def usual_order(self) -> tuple[Class, ...]:
        """The class and its bases as ``type.mro`` puts them in order."""
        return (self, *_linear([list(b.mro) for b in self.bases] + [list(self.bases)]))

    def put_in_order(self, mro: tuple[Class, ...]) -> None:
        """Look names up in these classes, one after the other."""
        self.mro = mro
        self._kinds: frozenset[str] = frozenset(c.qualified for c in mro)
        self._hidden = _hidden(mro)

    @property
    def qualified(self) -> str:
        """The dotted name: ``torch.nn.Linear``."""
        return f"{self.module}.{self.name}" if self.module else self.name

    @property
    def notes(self) -> Mapping[str, ast.expr]:
        """The annotations in the class's body, by name; none where the program gives it ``__annotations__`` itself."""
        found = self.cells.get("__annotations__")
        return found if isinstance(found, dict) else {}

    def find(self, name: str, after: Class | None = None) -> tuple[Any, Class] | None:
        """What the class or a base has under a name, and which; where ``after`` is given, only bases behind it."""
        mro = self.mro if after is None or after not in self.mro else self.mro[self.mro.index(after) + 1 :]
        for c in mro:
            if name in c.cells:
                return c.cells[name], c
            if c in self._hidden and name in vars(getattr(builtins, c.name)):
                return None
        return None

    def is_a(self, qualified: str) -> bool:
        """Whether it is the class of this dotted name or derives from it."""
        return qualified in self._kinds

    def __repr__(self) -> str:
        return f"<class {self.name}>"


def _hidden(mro: tuple[Class, ...]) -> tuple[Class, ...]:
    """Python's own classes that come before one of the program's, whose methods theirs hide."""
    last = max((i for i, c in enumerate(mro) if c.module.partition(".")[0] not in sys.stdlib_module_names), default=0)
    return tuple(c for c in mro[:last] if c.module == "builtins" and isinstance(vars(builtins).get(c.name), type))


def _linear(rows: list[list[Class]]) -> list[Class]:
    """Python's order of bases (C3); where there is none, first come first."""
    out: list[Class] = []
    while rows := [r for r in rows if r]:
        head = next((r[0] for r in rows if not any(r[0] in other[1:] for other in rows)), rows[0][0])
        out.append(head)
        rows = [[c for c in r if c is not head] for r in rows]
    return out


@final
@dataclass(slots=True, eq=False)
class Function:
    """A function of the program: its definition, where it was made, and the values of its defaults."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    name: str
    defaults: tuple[Value, ...] = ()
    keyword_defaults: Mapping[str, Value] = field(default_factory=dict)
    owner: Class | None = None  # whose body it was defined in: what super() needs
    context_manager: bool = False  # under contextlib.contextmanager
    grad: bool | None = None  # under torch.no_grad (False) or torch.enable_grad (True)
    scripted: bool = False  # under torch.jit.script
    pure: bool = False  # under simpletorch.pure
    attributes: dict[str, Any] = field(default_factory=dict)
    answers: Dict | None = None  # under functools.lru_cache: what it gave, by its arguments
    most_answers: int | None = None  # how many it keeps

    def __repr__(self) -> str:
        return f"<function {self.name}>"


@final
@dataclass(slots=True, eq=False)
class Method:
    """A function with its first argument."""

    function: Any
    receiver: Any

    def __repr__(self) -> str:
        return f"<method of {self.receiver!r}>"


@final
@dataclass(slots=True, eq=False)
class Native:
    """A function that the follower computes: it gets the interpreter and the arguments, and answers a value."""

    name: str
    work: Callable[..., Any]

    def __repr__(self) -> str:
        return f"<{self.name}>"


@final
@dataclass(slots=True, eq=False)
class BoundNative:
    """A method of a value that the follower knows: of a tensor, a list, a string."""

    name: str
    receiver: Any

    def __repr__(self) -> str:
        return f"<.{self.name} of {self.receiver!r}>"


@final
@dataclass(slots=True, eq=False)
class Property:
    """A property of a class. ``cached`` ones are computed once."""

    getter: Any
    setter: Any = None
    cached: bool = False
    deleter: Any = None


@final
@dataclass(slots=True, eq=False)
class StaticMethod:
    """A static or class method as it stands in a class."""

    function: Any
    of_class: bool = False


@final
@dataclass(slots=True, eq=False)
class Super:
    """``super()`` of a class, for an object or class."""

    receiver: Any
    after: Class


RELOADED: Final = "_(reloaded)"
"""In the cells of a module; no variable has such a name, and ``import *`` leaves it."""


@final
class Namespace(Object):
    """A module: of the program (its cells are its variables), or a library known by its dotted name alone.

    ``cells[RELOADED]`` says that there may be other variables.
    """

    __slots__ = ("name", "path")

    def __init__(self, name: str, cells: dict[str, Any] | None = None, path: str | None = None) -> None:
        self.cells = cells if cells is not None else {}
        self.name, self.path = name, path

    def __repr__(self) -> str:
        return f"<module {self.name}>"


@final
@dataclass(frozen=True, slots=True)
class Last:
    """The last batch of a loader that has fewer samples than the others: what makes it, and how many they have."""

    make: Callable[[], Any]
    samples: int
    full: int
    of_loader: bool = True


PENDING: Final = Missing()
"""In place of the items of an iterator: they are computed when they are asked for, see `model.iterators`."""


@final
class Iterator(Object):
    """Items to come: ``cells["items"]`` from ``cells[NEXT]`` on, or ``cells["item"]`` again and again.

    Where the items are a list, the list itself stands there: it may change.

    ``uniform``: each item is like any other (batches of a loader, steps of an endless generator).
    """

    __slots__ = ("count", "last", "lazy")

    def __init__(self, items: tuple[Value, ...] | None, item: Value = None, count: int | None = None) -> None:
        self.lazy: Any = None  # what computes its items, where ``cells["items"]`` is `PENDING`
        self.cells = Cells({"items": items, NEXT: 0, "item": item})
        self.count = count  # how many items a uniform one gives, where that is known
        self.last: Last | None = None

    @property
    def items(self) -> tuple[Value, ...] | None:
        """The items that are left, None where each is like any other."""
        found = self.cells["items"]
        if isinstance(found, List):
            found = found.items
        return found[self.cells[NEXT] :] if isinstance(found, tuple) else None


@final
class Fields(tuple[Any, ...]):
    """A tuple whose items have names as well, such as ``torch.max`` gives."""

    names: tuple[str, ...]

    def __new__(cls, names: tuple[str, ...], items: tuple[Any, ...]) -> Fields:
        """The items with their names."""
        made = super().__new__(cls, items)
        made.names = names
        return made


@final
class Here(int):
    """A number that this machine answers. It decides conditions; what is computed with it isn't known."""


class Saved(NamedTuple):
    """What a file holds: what kind of file it is (by what wrote it), and a copy of its own of what was saved."""

    kind: Value
    value: Value


GRADIENTS: Final = "gradients"
"""In the state of an optimizer: what became of its gradients last, see `mistakes.updates`."""
OFF: Final = "off"
"""In the state of a `GradScaler` that doesn't scale."""
REPEATED: Final = "repeated"
"""Of an open container of modules: it holds any number of what it is known to hold, and nothing else."""

Known: TypeAlias = int | float | complex | str | bytes | bool | range | slice | None
Value: TypeAlias = Any  # any of the classes above, or a known Python value; checked by the tests of each operation

_NOT_KNOWN: Final = frozenset({Tensor, Instance, List, Dict, Unknown, Choice})
_ALWAYS_KNOWN: Final = frozenset({int, float, bool, str, type(None)})
_KNOWN: Final = (int, float, complex, str, bytes, type(None), range, slice, type(...), frozenset, DType, Device)


def behind(value: Value) -> Value:
    """The dict, list or set that an object of a subclass of these is; any other value itself."""
    return value.native if isinstance(value, Instance) and isinstance(value.native, Dict | List | Set) else value


def is_known(value: Value) -> bool:
    """Whether it is a Python value that can be computed with: a constant, or a tuple or slice of constants."""
    kind = type(value)
    if kind in _NOT_KNOWN:
        return False
    if kind in _ALWAYS_KNOWN:
        return True
    if isinstance(value, tuple):
        return all(map(is_known, value))
    if isinstance(value, slice):
        return is_known(value.start) and is_known(value.stop) and is_known(value.step)
    return isinstance(value, _KNOWN)


def is_among(value: Value, values: tuple[Value, ...]) -> bool:
    """Whether it is one of these objects."""
    for other in values:  # noqa: SIM110  (`any` takes three times as long, for each operation)
        if other is value:
            return True
    return False


def tensors_in(values: Iterable[Value]) -> Items[Tensor]:
    """The tensors among values, and in tuples and lists with known items."""
    for value in values:
        if type(value) is Tensor:
            yield value
        elif isinstance(value, tuple):
            yield from tensors_in(value)
        elif isinstance(value, List):
            yield from tensors_in(value.items or ())


def is_plain(value: Instance) -> bool:
    """Whether it is an object of the program's, that no library knows anything of."""
    return value.native is None and all(c.native is None for c in value.cls.mro[:-1])


def is_int(value: Value) -> bool:
    """Whether it is an int, by number or in terms of symbols."""
    return isinstance(value, int | Expr) and not isinstance(value, bool)


def is_tuple(value: Value) -> bool:
    """Whether it is a tuple, also one of unknown length."""
    return isinstance(value, tuple) or (isinstance(value, List) and TUPLE in value.cells)


def as_tuple(made: List) -> List:
    """A new list as a tuple of unknown length."""
    made.cells[TUPLE] = True
    return made


def type_of(value: Value) -> type | str:
    """What the tables of methods are keyed by: the Python class; ``"array"`` for NumPy's arrays."""
    if isinstance(value, str):
        return str  # also the name of a device, see `marks.devices`
    return "array" if isinstance(value, Tensor) and value.array else type(value)
