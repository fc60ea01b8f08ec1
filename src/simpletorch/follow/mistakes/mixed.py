"""A ``view`` or ``reshape`` that mixes dims, where a ``transpose`` was meant: `tensor-mixed`.

``x.view(b, t, c)`` of ``(b, c, t)`` is computed without a word, and each row of it has elements of several. It is told
only where a size of the result is, by where the program has it from, that of a dim which it isn't any more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.marks import layout, sequences
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources.syntax import assigns_to, walk
from simpletorch.follow.values import Tensor, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS"]

_OPERATIONS: Final = frozenset({"Tensor.view", "Tensor.reshape", "torch.reshape"})
_CODE: Final = "tensor-mixed"
_COLORS: Final = (3, 4)  # how many channels a picture has
_LEAST_PICTURE: Final = 8  # rows and columns
_MOST_DIMS: Final = 6
_Block: TypeAlias = tuple[list[int], list[int]]


class _OnPurpose:
    """Functions that cut elements into other rows on purpose, and may put them together again."""

    def __init__(self) -> None:
        self.bodies: set[ast.AST] = set()


def _check(run: Interpreter, name: str, source: Value, result: Value) -> None:
    """A warning where dims are mixed."""
    if not isinstance(source, Tensor) or not isinstance(result, Tensor) or not isinstance(run.node, ast.Call):
        return
    old, new = source.type.shape, result.type.shape
    if not old.is_exact or not new.is_exact or not 2 <= min(len(old.dims), len(new.dims)) <= _MOST_DIMS:
        return
    before, after, blocks = _regrouped(old.dims, new.dims)
    if not blocks:
        return
    if name == "Tensor.view" and layout.of(source) is not None and layout.of(result) is None:
        return  # torch refuses it
    nodes = _sizes(run.node, name, len(new.dims))
    body = run.body
    if body is None or body in run.training.of(_OnPurpose).bodies or _shifts(body):
        return
    for left, right in blocks:
        if nodes is None:
            break
        places, targets = [before[i] for i in left], [after[i] for i in right]
        groups = _groups([old.dims[i] for i in places], [new.dims[i] for i in targets])
        meant = groups is not None and _is_meant(
            body, [nodes[i] for i in targets], groups, len(places), new.dims, targets
        )
        if groups is not None and (meant or _is_picture(old.dims, new.dims)):
            _tell(run, name, source, result, places, targets, groups)
            return
    run.training.of(_OnPurpose).bodies.add(body)


@lru_cache(maxsize=4096)
def _regrouped(old: tuple[Dim, ...], new: tuple[Dim, ...]) -> tuple[list[int], list[int], list[_Block]]:
    """The places of the dims that aren't 1 in both shapes, and which of them become which."""
    if old == new or UNKNOWN in (*old, *new) or 0 in (*old, *new):
        return [], [], []
    before = [i for i, d in enumerate(old) if d != 1]
    after = [i for i, d in enumerate(new) if d != 1]
    return before, after, list(_blocks([old[i] for i in before], [new[i] for i in after]))


def _blocks(old: Sequence[Dim], new: Sequence[Dim]) -> Iterator[_Block]:
    """The parts of a shape that become parts of the other one, if several dims in them become several others."""
    left = list(accumulate(old, mul))
    right = {product: j for j, product in enumerate(accumulate(new, mul))}
    i = j = 0
    for at, product in enumerate(left):
        to = right.get(product)
        if to is not None and to >= j:
            if at > i and to > j:
                yield list(range(i, at + 1)), list(range(j, to + 1))
            i, j = at + 1, to + 1


Groups = list[tuple[tuple[int, ...], tuple[int, ...]]]


def _groups(old: Sequence[Dim], new: Sequence[Dim]) -> Groups | None:
    """Which dims become which, each one of several or several of one; None where no dims are those of before."""
    if len(set(old)) < len(old) and not _has_colors(old):
        return None
    if len(old) >= len(new):
        found = _parted(list(enumerate(old)), list(enumerate(new)))
        return None if found is None else [(own, (j,)) for j, own in sorted(found.items())]
    found = _parted(list(enumerate(new)), list(enumerate(old)))
    return None if found is None else [((i,), own) for i, own in sorted(found.items())]


def _has_colors(old: Sequence[Dim]) -> bool:
    return any(size in _COLORS for size in old)


def _parted(fine: list[tuple[int, Dim]], coarse: list[tuple[int, Dim]]) -> dict[int, tuple[int, ...]] | None:
    """Each of the coarse sizes as a product of some of the fine ones, which are all used."""
    if not coarse:
        return {} if not fine else None
    (place, size), *rest = coarse
    for some in _products(fine, size):
        left = [f for f in fine if f[0] not in some]
        found = _parted(left, rest)
        if found is not None:
            return {place: some, **found}
    return None


def _products(fine: list[tuple[int, Dim]], size: Dim) -> Iterator[tuple[int, ...]]:
    """The places of sizes whose product is this one; the fewest first."""
    choices: list[tuple[tuple[int, ...], Dim]] = [((), 1)]
    for place, factor in fine:
        choices += [((*places, place), product * factor) for places, product in choices]
    yield from sorted((places for places, product in choices if places and product == size), key=len)


# -- what shows that a dim was meant -----------------------------------------------------------------------------------


def _sizes(call: ast.Call, name: str, count: int) -> list[ast.expr] | None:
    """The sizes that are asked for, as they are written."""
    given = call.args[1:] if name.startswith("torch.") else call.args
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List):
        given = given[0].elts
    stars = any(isinstance(n, ast.Starred) for n in given)
    return None if stars or call.keywords or len(given) != count else list(given)


def _shifts(body: ast.AST) -> bool:
    """Whether a function drops the first row or column of something: that is how relative positions are shifted."""
    return any(
        isinstance(n, ast.Slice) and n.upper is None and isinstance(n.lower, ast.Constant) and n.lower.value == 1
        for n in walk(body)
    )


def _is_meant(
    body: ast.AST, nodes: list[ast.expr], groups: Groups, count: int, sizes: Sequence[Dim], targets: Sequence[int]
) -> bool:
    """Whether one of the sizes is, by its name, that of a single dim of before."""
    if any(_is_shifted(body, n) for n in nodes):
        return False
    for own, into in groups:
        if len(own) != 1 or len(into) != 1:
            continue
        node = nodes[into[0]]
        others = [n for i, n in enumerate(nodes) if i != into[0]]
        if _is_size_of(body, node):
            return True
        distinct = sum(sizes[t] == sizes[targets[into[0]]] for t in targets) == 1
        if (
            _is_rest(node)
            and distinct
            and len(nodes) > count
            and all(isinstance(n, ast.Name | ast.Attribute) for n in others)
        ):
            return True
    return False


def _is_rest(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant) and node.operand.value == 1


def _is_shifted(body: ast.AST, node: ast.expr) -> bool:
    """Whether a size is one more or less than another one."""
    if isinstance(node, ast.Name):
        return any(_adds(value) for value in _values(body, node.id))
    return _adds(node)


def _adds(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Add | ast.Sub) for n in walk(node))


def _values(body: ast.AST, name: str) -> Iterator[ast.expr]:
    """What a function assigns to a name alone."""
    for n in walk(body):
        if assigns_to(n, name):
            yield n.value
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id == name:
            yield ast.BinOp(n.target, n.op, n.value)


def _is_size_of(body: ast.AST, node: ast.expr) -> bool:
    """Whether a size is one of a tensor's: ``x.size(1)``, ``x.shape[1]``, or a name that was unpacked from these."""
    match node:
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]) | ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Name(id=name):
            return _is_unpacked(body, name) or any(
                not isinstance(v, ast.Name) and _is_size_of(body, v) for v in _values(body, name)
            )
    return False


def _is_unpacked(body: ast.AST, name: str) -> bool:
    """Whether a name is one of a shape that is unpacked, and nothing else."""
    if not all(not isinstance(v, ast.Name) and _is_size_of(body, v) for v in _values(body, name)):
        return False
    for n in walk(body):
        if isinstance(n, ast.Assign) and any(_names(t, name) for t in n.targets) and _is_shape(n.value):
            return True
    return False


def _names(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Tuple | ast.List) and any(
        isinstance(t, ast.Name) and t.id == name for t in target.elts
    )


def _is_shape(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size"), args=[]):
            return True
        case ast.Subscript(value=value, slice=ast.Slice()):
            return _is_shape(value)
        case ast.Tuple(elts=parts):
            return all(_is_size_of(ast.Module([], []), p) for p in parts)
    return False


def _is_picture(old: Sequence[Dim], new: Sequence[Dim]) -> bool:
    """Whether channels that come last are put first, or the other way round, whatever the program writes."""
    if len(old) != len(new) or len(old) not in (3, 4) or (len(old) == 4 and old[0] != new[0]):
        return False
    a, b = tuple(old[-3:]), tuple(new[-3:])
    for last, first in ((a, b), (b, a)):
        rows, columns, channels = last
        big = all(isinstance(s, int) and s >= _LEAST_PICTURE for s in (rows, columns))
        if big and channels in _COLORS and first == (channels, rows, columns):
            return True
    return False


# -- what is said ------------------------------------------------------------------------------------------------------


def _tell(
    run: Interpreter,
    name: str,
    source: Tensor,
    result: Tensor,
    places: Sequence[int],
    targets: Sequence[int],
    groups: Groups,
) -> None:
    """The sentence, and the same with the dims in order."""
    op = name.rpartition(".")[2]
    message = (
        f"{op} of {source.type} to {_shown(result.type.shape.dims)} mixes dims: it regroups the elements in memory "
        "order and moves no dim"
    )
    if all(len(into) == 1 for _, into in groups):
        order = list(range(len(source.type.shape.dims)))
        moved = [places[i] for own, _ in groups for i in own]
        for place, one in zip(sorted(places), moved, strict=True):
            order[place] = one
        hint = f".{_turn(order)}"
        if len(order) > len(result.type.shape.dims):
            hint += f".reshape{_shown(result.type.shape.dims)}"
    else:
        split = [(i, t) for (i,), into in groups for t in into]
        sizes = list(result.type.shape.dims)
        inner = [sizes[targets[t]] for _, t in split]
        whole = [*sizes[: targets[0]], *inner, *sizes[targets[-1] + 1 :]]
        back = list(range(len(sizes)))
        for k, t in enumerate(targets):
            back[t] = targets[0] + [j for _, j in split].index(k)
        hint = f".{op}{_shown(whole)}.{_turn(back)}"
    run.find(_CODE, message, hint)


def _turn(order: list[int]) -> str:
    changed = [i for i, d in enumerate(order) if i != d]
    if len(changed) == 2:
        return f"transpose({changed[0]}, {changed[1]})"
    return f"permute({', '.join(map(str, order))})"


def _shown(sizes: Iterable[Dim | Expr]) -> str:
    return f"({', '.join(map(str, sizes))})"


def _operation(name: str) -> Callable[[Interpreter, tuple[Value, ...], Mapping[str, Value], Value], None] | None:
    """The listener to an operation."""

    def check(run: Interpreter, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Value) -> None:
        if not sequences.mixes(run, name, args[0], result):
            _check(run, name, args[0], result)

    return check if name in _OPERATIONS else None


def _reshape(run: Interpreter, source: Value, result: Value) -> None:
    """The same of an array."""
    _check(run, "Tensor.reshape", source, result)


LISTENS: Final = (events.OPERATION.to(_operation), events.RESHAPE.to(_reshape))
