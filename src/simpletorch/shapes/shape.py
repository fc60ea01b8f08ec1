"""Shapes: a row of dims with at most one part of unknown length, and how two of them broadcast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from simpletorch.shapes.dim import UNKNOWN, Dim, Expr, Unknown, Var, equal, minimum, substitute, variables

__all__ = ["ANY_REST", "ANY_SHAPE", "BroadcastError", "Rest", "Shape", "broadcast", "broadcast_dims", "same"]


@final
@dataclass(frozen=True, slots=True)
class Rest:
    """Any number of dims: a variadic (``*Batch``) when it has a name, ``...`` when it has none."""

    name: str | None = None
    scope: str = ""

    def __str__(self) -> str:
        return "..." if self.name is None else f"*{self.name}"


ANY_REST: Final = Rest()
Item: TypeAlias = Dim | Rest


@final
@dataclass(frozen=True)
class Shape:
    """Dims from left to right, with at most one `Rest` among them.

    ``Shape.of(2, 3)`` is exact; ``Shape.of(ANY_REST, 128)`` is "any number of dims, then 128".

    Raises:
        ValueError: there is more than one variadic part.
    """

    items: tuple[Item, ...]
    _rest_at: int | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if Rest not in map(type, self.items):  # nearly all
            return
        rest_at = None
        for i, item in enumerate(self.items):
            if type(item) is Rest:
                if rest_at is not None:
                    raise ValueError(
                        f"a shape can have only one variadic part, but ({', '.join(map(str, self.items))}) has several"
                    )
                rest_at = i
        object.__setattr__(self, "_rest_at", rest_at)

    @classmethod
    def of(cls, *items: Item) -> Shape:
        """The shape with these dims."""
        return cls(items)

    @property
    def rest(self) -> Rest | None:
        """The variadic part, if there is one."""
        at = self._rest_at
        item = None if at is None else self.items[at]
        return item if isinstance(item, Rest) else None

    @property
    def is_exact(self) -> bool:
        """Whether the number of dims is known (the dims themselves may be unknown)."""
        return self._rest_at is None

    @property
    def is_literal(self) -> bool:
        """Whether every dim is a number."""
        return all(isinstance(i, int) for i in self.items)

    @property
    def rank(self) -> int | None:
        """The number of dims, None if it isn't known."""
        return len(self.items) if self._rest_at is None else None

    @property
    def min_rank(self) -> int:
        """The least number of dims that this shape can have."""
        return len(self.items) - (self._rest_at is not None)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """All dims of an exact shape.

        Raises:
            ValueError: the shape has a variadic part.
        """
        if self._rest_at is not None:
            raise ValueError(f"{self} has no fixed number of dims")
        return self.items  # type: ignore[return-value]  # there is no Rest among them

    @property
    def head(self) -> tuple[Dim, ...]:
        """The dims left of the variadic part (all of them if there is none)."""
        at = self._rest_at
        return self.dims if at is None else tuple(i for i in self.items[:at] if not isinstance(i, Rest))

    @property
    def tail(self) -> tuple[Dim, ...]:
        """The dims right of the variadic part (all of them if there is none)."""
        at = self._rest_at
        return self.dims if at is None else tuple(i for i in self.items[at + 1 :] if not isinstance(i, Rest))

    def dim(self, index: int) -> Dim:
        """The dim at ``index`` (negative from the right); UNKNOWN where a variadic part hides it.

        Raises:
            IndexError: the shape is exact and has no such dim.
        """
        if self.is_exact:
            return self.dims[index]
        if index >= 0:
            return self.head[index] if index < len(self.head) else UNKNOWN
        return self.tail[index] if -index <= len(self.tail) else UNKNOWN

    def last(self, count: int) -> tuple[Dim, ...]:
        """The last ``count`` dims, UNKNOWN where a variadic part hides them."""
        return tuple(self.dim(i) for i in range(-count, 0))

    def drop_last(self, count: int) -> Shape:
        """The shape without its last ``count`` dims (fewer known dims than that leave "any number of dims")."""
        if count <= len(self.tail):
            return Shape(self.items[: len(self.items) - count])
        hidden = count - len(self.tail)
        return Shape((*self.head[: max(0, len(self.head) - hidden)], ANY_REST))

    def numel(self) -> Dim:
        """The number of elements: the product of the dims."""
        total: Dim = 1
        for item in self.items:
            total = total * (UNKNOWN if isinstance(item, Rest) else item)
        return total

    def substitute(self, sizes: Mapping[Var, Dim], rests: Mapping[Rest, Iterable[Item]] | None = None) -> Shape:
        """The shape with variables, and variadics where ``rests`` names them, replaced."""
        items: list[Item] = []
        for item in self.items:
            if isinstance(item, Rest):
                items.extend(rests[item] if rests and item in rests else (item,))
            else:
                items.append(substitute(item, sizes))
        return Shape(tuple(items))

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))}{',' if len(self.items) == 1 else ''})"


ANY_SHAPE: Final = Shape((ANY_REST,))


class BroadcastError(ValueError):
    """``left`` and ``right`` can't be broadcast, at dim ``index`` counted from the right (-1 is the last)."""

    def __init__(self, left: Dim, right: Dim, index: int) -> None:
        self.left, self.right, self.index = left, right, index
        super().__init__(f"{left} and {right} differ and neither is 1")


def broadcast_dims(a: Dim, b: Dim, index: int = -1) -> Dim:
    """The size that ``a`` and ``b`` broadcast to.

    Raises:
        BroadcastError: they are different for sure (for variables: for some sizes) and neither is 1.
    """
    if a is b or (isinstance(a, int) and a == 1):
        return b
    if isinstance(b, int) and b == 1:
        return a
    # b isn't 1 here, so whether a is 1 or equal to b, the result is b
    if isinstance(a, Unknown):
        return b
    if isinstance(b, Unknown):
        return a
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Expr) and minimum(one, 1) == one:  # min(N, 1) is 1 but for an empty tensor
            return other
    verdict = equal(a, b)
    if verdict is False:
        for one, other in ((a, b), (b, a)):
            if equal(one, 1):  # a variable that the program says is 1
                return other
        raise BroadcastError(a, b, index)
    if verdict is None and isinstance(b, int):
        return b
    if verdict is None and any(v.is_some for d in (a, b) for v in variables(d)):
        return a if isinstance(a, int) else UNKNOWN  # either may be 1
    return a


_NUMBERS: Final = frozenset({int})


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape that ``a`` and ``b`` broadcast to, as `torch.broadcast_shapes`; unknown where it can't be told.

    Raises:
        BroadcastError: two dims that meet for sure don't fit.
    """
    if a.items == b.items and _NUMBERS.issuperset(map(type, a.items)):
        return a
    left, right = list(a.items), list(b.items)
    out: list[Item] = []
    while left and right:
        x, y = left[-1], right[-1]
        if isinstance(x, Rest) or isinstance(y, Rest):
            break
        out.append(broadcast_dims(left.pop(), right.pop(), -len(out) - 1))  # type: ignore[arg-type]
    out.reverse()
    return Shape((*_broadcast_heads(left, right), *out))


def _broadcast_heads(left: list[Item], right: list[Item]) -> tuple[Item, ...]:
    """The dims left of those that surely meet: at least one side is used up or begins with a variadic."""
    if not left or not right:
        return tuple(left or right)
    # one named variadic on both sides is the same run of dims
    if left == right and isinstance(left[-1], Rest) and left[-1].name is not None:
        return tuple(left)
    if left == [ANY_REST] and all(not isinstance(i, Rest) for i in right):
        left, right = right, left
    if right == [ANY_REST] and all(not isinstance(i, Rest) for i in left):
        # every dim of the exact side is in the result; where it is 1 the other side may be larger
        return (ANY_REST, *(UNKNOWN if i == 1 else i for i in left))
    return (ANY_REST,)


def same(a: Shape, b: Shape) -> bool | None:
    """Whether two shapes are equal: True (for every size), False (not for every size), None (can't tell)."""
    if a.is_exact and b.is_exact:
        if a.rank != b.rank:
            return False
        pairs = list(zip(a.dims, b.dims, strict=True))
    elif (
        a.rest == b.rest
        and a.rest is not None
        and a.rest.name
        and len(a.head) == len(b.head)
        and len(a.tail) == len(b.tail)
    ):
        # one named variadic, and as many dims on either side of it: the dims meet one by one
        pairs = [*zip(a.head, b.head, strict=True), *zip(a.tail, b.tail, strict=True)]
    else:
        if (a.is_exact and a.min_rank < b.min_rank) or (b.is_exact and b.min_rank < a.min_rank):
            return False
        if a.rest is not None and a.rest == b.rest and a.rest.name and a.min_rank != b.min_rank:
            return False  # (*Batch, 1) has one dim more than (*Batch), whatever Batch is
        heads = zip(a.head, b.head, strict=False)
        tails = zip(reversed(a.tail), reversed(b.tail), strict=False)
        known = [equal(x, y) for x, y in (*heads, *tails)]
        return False if False in known else None
    verdicts = [equal(x, y) for x, y in pairs]
    if False in verdicts:
        return False
    return None if None in verdicts else True
