"""Tensors of ints that are used as indexes: between which numbers they lie, and whether these fit.

Numbers are kept where both ends do occur: of ``arange(n)``, of what is written out, of what is drawn by chance
(``randint``), and of what these are after an operation that keeps each number or moves all of them alike. A tensor
that is written to, or of which an operation takes a part that depends on values, has no known numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow.marks.mark import Mark
from simpletorch.follow.values import Choice, List, Tensor, Unknown, Value, is_among, is_known
from simpletorch.rules import Report
from simpletorch.rules.core.cards import OTHER, PICKED, WRITES
from simpletorch.rules.core.cards import Numbers as Held
from simpletorch.rules.core.dtype import BOOL, DType
from simpletorch.rules.core.registry import card_of
from simpletorch.shapes import Expr
from simpletorch.shapes import bounds as size_bounds

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "NUMBERS",
    "Numbers",
    "bounds",
    "check",
    "check_layer",
    "computed",
    "drawn",
    "follow",
    "holds_none",
    "is_checked",
    "note_written_out",
    "of",
    "passed_on",
    "same",
    "spoil",
    "up_to",
    "writes",
    "written_out",
]

_RARE: Final = 0.05  # with this probability a mistake doesn't show: then it isn't one for sure
_MOST: Final = 4_096  # numbers that are looked at


@final
@dataclass(frozen=True, slots=True)
class Numbers:
    """The least and the greatest of the numbers in a tensor, and whether each of them may be any of those between.

    ``written`` is shared by all views of the tensor: True in it says that the numbers have been changed. Of what is
    only ``between`` them it isn't said that one of them occurs: such numbers are sizes, but say nothing of indexes.
    One that ``varies`` is hardly the same for another one of its kind. ``reads`` counts how often anything looked, at
    these or at those that were made of them: what nobody looked at in a call, the call doesn't depend on.
    """

    least: int
    most: int
    by_chance: bool
    written: list[bool]
    between: bool = False
    varies: bool = False
    reads: list[int] = field(default_factory=lambda: [0], compare=False)

    @property
    def known(self) -> bool:
        """Whether nobody has written to the tensor since."""
        return not self.written


def of(value: Value) -> Numbers | None:
    """What is known of the numbers in a tensor that are used as indexes."""
    found = bounds(value)
    return None if found is None or found.between else found


def bounds(value: Value) -> Numbers | None:
    """Between which numbers those of a tensor lie, or an int that isn't known."""
    found = passed_on(value)
    if found is not None:
        found.reads[0] += 1
    return found


def passed_on(value: Value) -> Numbers | None:
    """The same, for who only passes it on."""
    found = value.numbers if isinstance(value, Tensor | Unknown) else None
    return found if found is not None and found.known else None


def same(a: Tensor | Unknown, b: Tensor | Unknown) -> bool:
    """Whether the same is known of the numbers in both."""
    left, right = bounds(a), bounds(b)
    if left is None or right is None:
        return left is right
    return (left.least, left.most, left.by_chance, left.between) == (
        right.least, right.most, right.by_chance, right.between
    )  # fmt: skip


def _fresh(least: int, most: int, by_chance: bool = False) -> Numbers | None:
    return Numbers(least, most, by_chance, []) if least <= most else None


# -- where they come from --------------------------------------------------------------------------------------------


def written_out(value: Value) -> Numbers | None:
    """Of ``torch.tensor([[1, 2], [3, 4]])``, also of sizes that lie between two numbers."""
    found: list[int] = []
    exact = True
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, List | tuple):
            rows = one.items if isinstance(one, List) else one
            if rows is None or len(rows) > _MOST:
                return None
            todo += rows
        elif isinstance(one, int) and not isinstance(one, bool) and len(found) < _MOST:
            found.append(one)
        elif isinstance(one, Expr) and len(found) < _MOST:
            least, most = size_bounds(one)
            if least is None or most is None:
                return None
            found += (least, most)
            exact = False
        else:
            return None
    known = _fresh(min(found), max(found)) if found else None
    return known if known is None or exact else replace(known, between=True)


def drawn(least: Value, end: Value) -> Numbers | None:
    """Of ``randint(least, end)``."""
    return _fresh(least, end - 1, True) if isinstance(least, int) and isinstance(end, int) else None


def _counted(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Numbers | None:
    """Of ``arange(start, end, step)``."""
    given = [a for a in args if isinstance(a, int) and not isinstance(a, bool)]
    if len(given) != len(args) or not 1 <= len(given) <= 3 or {"start", "end", "step", "stop"} & {*kwargs}:
        return None
    numbers = range(*given) if given[-1] else range(0)
    return _fresh(min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1])) if numbers else None


def _randint(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Numbers | None:
    bounds = [a for a in args if isinstance(a, int)]
    low = kwargs.get("low", 0 if len(bounds) < 2 else bounds[0])
    return drawn(low, kwargs.get("high", bounds[-1] if bounds else None))


def _permutation(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Numbers | None:
    return drawn(0, args[0] if args else kwargs.get("n"))


def computed(name: str, left: Value, right: Value) -> Numbers | None:
    """Between which numbers ``left + right`` and its like lie, of an int that isn't known and one that is.

    Whether both ends occur isn't said: a condition before it may leave some of them out.
    """
    known, by = bounds(left), right
    if known is None and name in ("__add__", "__mul__"):
        known, by = bounds(right), left
    if known is None or type(by) is not int or name not in _MONOTONE:
        return None
    if by <= 0 and name in ("__mul__", "__floordiv__"):
        return None
    work = _MONOTONE[name]
    return Numbers(work(known.least, by), work(known.most, by), False, [], True)


_MONOTONE: Final = {
    "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul, "__floordiv__": operator.floordiv,
}  # fmt: skip


def up_to(end: Value) -> Numbers | None:
    """Of an int that is 0, and each other below ``end`` too in the course of the program."""
    return _fresh(0, end - 1) if isinstance(end, int) else None


def _constant(number: int) -> Any:
    return lambda args, kwargs: _fresh(number, number)


def _full(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Numbers | None:
    number = args[1] if len(args) > 1 else kwargs.get("fill_value")
    return _fresh(number, number) if isinstance(number, int) else None


_SOURCES: Final = {
    "arange": _counted, "randint": _randint, "randperm": _permutation, "full": _full, "full_like": _full,
    "zeros": _constant(0), "zeros_like": _constant(0), "ones": _constant(1), "ones_like": _constant(1),
}  # fmt: skip
_EACH: Final = frozenset({"broadcast_tensors", "meshgrid"})  # of these each result is of one operand
_COMPARED: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_SAYS_OF_IT: Final = _COMPARED | {f"__{name}__" for name in _COMPARED} | {
    "bool", "max", "min", "amax", "amin", "sum", "mean", "any", "all", "logical_not", "__invert__", "__getitem__",
}  # fmt: skip
"""What leaves a tensor written out by the program, beside what keeps its numbers."""
_JOINED: Final = frozenset({"cat", "stack", "concat", "hstack", "vstack", "concatenate"})
_EXTREMES: Final = frozenset({"max", "min", "amax", "amin"})
_MOVED: Final = {"add": 1, "__add__": 1, "__radd__": 1, "sub": -1, "__sub__": -1}


def spoil(run: Interpreter, value: Value) -> None:
    """Something is written to a tensor: its numbers aren't known any more, nor those of its views."""
    if isinstance(value, Tensor) and value.numbers is not None:
        value.numbers.written.append(True)
        run.heap.touch(value.cells)


@cache
def writes(name: str) -> bool:
    """Whether an operation changes the numbers of its first operand, or says itself what a result holds."""
    return _changes(name) or name.rpartition(".")[2] in _WRITTEN_OUT


def holds_none(result: Value) -> bool:
    """Whether a result holds no ints, of which something could be known."""
    if type(result) is not Tensor:
        return not isinstance(result, tuple)
    dtype = result.type.dtype
    return dtype is None or dtype.category != "int"


@cache
def _changes(name: str) -> bool:
    """Whether an operation changes the numbers of its first operand."""
    card = card_of(name)
    return card.memory is WRITES and not card.keeps_numbers


def follow(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Value) -> None:
    """What is known of the numbers in the result of an operation."""
    short = name.rpartition(".")[2]
    first = args[0] if args else None
    if _changes(name):
        spoil(run, first)
    if "out" in kwargs:
        spoil(run, result)
    if not isinstance(result, Tensor) or is_among(result, args) or "out" in kwargs:
        if isinstance(result, tuple) and card_of(name).numbers is not OTHER:
            rows = _operands(args) if short in _EACH else (args,) * len(result)
            for given, one in zip(rows, result, strict=False):
                follow(run, name, given, kwargs, one)
        return
    kind = result.type.dtype
    if kind is None or kind.category != "int":
        return
    if short in _SOURCES:
        result.numbers = _SOURCES[short](args, kwargs)
    elif short in _JOINED:
        result.numbers = _union(first)
    elif (known := passed_on(first)) is not None:
        found = _after(short, card_of(name).held(args, kwargs), known, args, kwargs)
        result.numbers = found if found is not None and _fits(found, kind) else None


def _fits(known: Numbers, dtype: DType) -> bool:
    """Whether a dtype of ints has all these numbers; else it takes others for them."""
    span = 2**dtype.bits
    least = 0 if dtype.unsigned else -span // 2
    return least <= known.least and known.most < least + span


def _operands(args: tuple[Value, ...]) -> list[tuple[Value, ...]]:
    """Each of the tensors that an operation takes, one by one or all in a list, as the operand of its own result."""
    first = args[0] if args else None
    rows = (first.items or ()) if isinstance(first, List) else first if isinstance(first, tuple) else args
    return [(row,) for row in rows]


def note_written_out(name: str, args: tuple[Value, ...], result: Tensor) -> None:
    """Whether the program itself says what a result holds: a condition on it isn't one on data."""
    short = name.rpartition(".")[2]
    first = args[0] if args else None
    if result is first:
        result.is_written_out = False
    elif short in _WRITTEN_OUT:
        result.is_written_out = True
    elif type(first) is Tensor and first.is_written_out and (short in _SAYS_OF_IT or card_of(name).keeps_numbers):
        result.is_written_out = not any(type(a) is Tensor for a in args[1:])


_WRITTEN_OUT: Final = frozenset({"zeros", "ones", "full", "arange", "eye", "zeros_like", "ones_like", "full_like"})


def _after(
    name: str, held: Held, known: Numbers, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Numbers | None:
    if held not in (PICKED, OTHER):
        return known
    if name in _EXTREMES and len(args) == 1 and not kwargs:
        return replace(known, by_chance=False, between=True)
    if held is PICKED:
        by = args[1] if name == "__getitem__" else next((a for a in args[1:] if isinstance(a, Tensor)), None)
        alike = known.by_chance and not (_selects(by) or any(isinstance(v, Tensor) for v in kwargs.values()))
        return known if alike else replace(known, by_chance=False, between=True)
    if name in _MOVED and len(args) == 2 and not kwargs and type(args[1]) is int:
        by = args[1] * _MOVED[name]
        return replace(known, least=known.least + by, most=known.most + by)
    return None


def _selects(index: Value) -> bool:
    """Whether which elements an index takes may depend on what they are."""
    if isinstance(index, tuple):
        return any(map(_selects, index))
    return isinstance(index, Tensor | List | Choice)


def _union(value: Value) -> Numbers | None:
    rows = value.items if isinstance(value, List) else value if isinstance(value, tuple) else None
    found = [bounds(v) for v in rows or ()]
    known = [n for n in found if n is not None]
    if not known or len(known) < len(found):
        return None
    least, most = min(n.least for n in known), max(n.most for n in known)
    alike = all((n.least, n.most) == (least, most) for n in known)
    drawn = all(n.by_chance for n in known)
    between = any(n.between for n in known) or (drawn and not alike)  # a part has the numbers of one of them
    return Numbers(least, most, drawn and alike, known[0].written if len(known) == 1 else [], between)


@final
class _Numbers(Mark[Numbers]):
    def of(self, value: Tensor) -> Numbers | None:
        return of(value)

    def put(self, value: Tensor, known: Numbers | None) -> None:
        value.numbers = known

    def same(self, a: Tensor, b: Tensor) -> bool:
        return same(a, b)

    def common(self, a: Tensor, b: Tensor) -> None:
        return None

    def another(self, value: Tensor) -> Numbers | None:
        """Numbers that were drawn by chance for one were drawn for each."""
        known = of(value)
        return known if known is not None and known.by_chance else None

    def of_batch(self, sample: Tensor, batch: Tensor) -> Numbers | None:
        return self.another(sample)


NUMBERS: Final = _Numbers("numbers")


# -- where they are used ---------------------------------------------------------------------------------------------


def _misfit(index: Value, size: Any, dim: str, op: str, *, negative: bool = False) -> Report | None:
    """An index that is surely outside a dim of this size."""
    known = of(index)
    if known is None or not isinstance(size, int):
        return None
    least = -size if negative else 0
    if least <= known.least and known.most < size:
        return None
    count = index.type.shape.numel() if isinstance(index, Tensor) else 1
    if known.by_chance:
        fitting = max(0, min(known.most, size - 1) - max(known.least, least) + 1) / (known.most - known.least + 1)
        if not isinstance(count, int) or fitting**count > _RARE:
            return None
    wrong = known.most if known.most >= size else known.least
    how = f"indexes from {known.least} to {known.most}" if known.least < known.most else f"index {wrong}"
    reason = f"{how}: {wrong} is out of range for {dim}"
    return Report(op, "shape", reason, {}, None, size, wrong)


def is_checked(name: str) -> bool:
    """Whether an operation selects by indexes."""
    return name.rpartition(".")[2] in _CHECKS


def check(name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Report | None:
    """Whether the indexes of an operation surely don't fit what they select from."""
    look = _CHECKS.get(name.rpartition(".")[2])
    return None if look is None else look(args, kwargs)


IGNORED: Final = -100  # torch's default for ignore_index


def check_layer(name: str, rule: Any, args: tuple[Value, ...], ignored: Value = IGNORED) -> Report | None:
    """The same for a layer; ``ignored``: the target that a loss doesn't count."""
    if name == "Embedding" and len(args) == 1:
        return _misfit(args[0], rule.num_embeddings, f"{rule.num_embeddings} embeddings", name)
    if name not in ("CrossEntropyLoss", "NLLLoss"):
        return None
    return _classes(args, {"ignore_index": ignored})


def _at_dims(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Report | None:
    """``x[:, index]``."""
    owner, index = args[0], args[1] if len(args) > 1 else None
    if not isinstance(owner, Tensor) or not owner.type.shape.is_exact:
        return None
    dim = 0
    rows = index if type(index) is tuple else (index,)
    for one in rows:
        if one is None:
            continue
        if one is ...:
            taken = sum(_takes(v) for v in rows if v is not None and v is not ...)
            dim = len(owner.type.shape.items) - taken
            continue
        if isinstance(one, Tensor | Unknown) and dim < len(owner.type.shape.items):
            size = owner.type.shape.dims[dim]
            found = _misfit(one, size, f"dim {dim} of size {size}", "[]", negative=True)
            if found is not None:
                return found
        dim += _takes(one)
    return None


def _takes(index: Value) -> int:
    """How many dims an index stands for."""
    if isinstance(index, Tensor) and index.type.dtype == BOOL:
        return index.type.shape.rank or 0
    return 1


def _along(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Report | None:
    """``x.gather(dim, index)``."""
    given = {**dict(zip(("input", "dim", "index"), args, strict=False)), **kwargs}
    owner, dim, index = given.get("input"), given.get("dim"), given.get("index")
    if not isinstance(owner, Tensor) or not isinstance(dim, int) or not owner.type.shape.is_exact:
        return None
    dims = owner.type.shape.dims
    return (
        _misfit(index, dims[dim], f"dim {dim} of size {dims[dim]}", "index") if -len(dims) <= dim < len(dims) else None
    )


def _embedding(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Report | None:
    if len(args) < 2 or not isinstance(args[1], Tensor) or not args[1].type.shape.is_exact:
        return None
    size = args[1].type.shape.dims[0]
    return _misfit(args[0], size, f"{size} embeddings", "embedding")


def _classes(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Report | None:
    """Of a loss by class: the target says which."""
    if len(args) < 2 or not isinstance(args[0], Tensor) or not args[0].type.shape.is_exact:
        return None
    known, dims = of(args[1]), args[0].type.shape.dims
    if known is None or known.least < 0 or not dims:  # a negative one may be ignored
        return None
    ignored = args[4] if len(args) > 4 else kwargs.get("ignore_index", IGNORED)
    if not isinstance(ignored, int) or known.least <= ignored <= known.most:
        return None
    size = dims[1 if len(dims) > 1 else 0]
    return _misfit(args[1], size, f"{size} classes", "cross_entropy")


def _one_hot(args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Report | None:
    size = args[1] if len(args) > 1 else kwargs.get("num_classes")
    return (
        None if size == -1 or not args or not is_known(size) else _misfit(args[0], size, f"{size} classes", "one_hot")
    )


_CHECKS: Final = {
    "__getitem__": _at_dims, "__setitem__": _at_dims, "gather": _along, "index_select": _along, "scatter": _along,
    "scatter_": _along, "scatter_add": _along, "scatter_add_": _along, "embedding": _embedding,
    "cross_entropy": _classes, "nll_loss": _classes, "one_hot": _one_hot,
}  # fmt: skip
