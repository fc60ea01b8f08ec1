"""Patterns of einops: ``"b (h w) c -> b h (w c)"`` read once into two sides of groups of axes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias, final

from simpletorch.rules.core.mismatch import Mismatch

__all__ = ["ELLIPSIS", "Axis", "Group", "Number", "Side", "need_name", "parse", "parse_side"]

ELLIPSIS: Final = "..."
_TOKEN: Final = re.compile(r" +|(?P<dots>\.\.\.)|(?P<open>\()|(?P<close>\))|(?P<name>\w+)|(?P<other>(?s:.))")


@final
@dataclass(frozen=True, eq=False)
class Number:
    """An axis that is written as its size; no two are the same axis."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


Axis: TypeAlias = "str | Number"  # a name, "..." or a number


@dataclass(frozen=True)
class Group:
    """The axes that make up one dim, the last one running fastest; none for the size 1."""

    axes: tuple[Axis, ...]
    is_composite: bool = False

    @property
    def is_ellipsis(self) -> bool:
        """Whether it stands for any number of dims."""
        return self.axes == (ELLIPSIS,) and not self.is_composite

    def __str__(self) -> str:
        text = " ".join(map(str, self.axes))
        return f"({text})" if self.is_composite else text or "1"


@dataclass(frozen=True)
class Side:
    """One side of a pattern."""

    groups: tuple[Group, ...]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes from left to right."""
        return tuple(a for g in self.groups for a in g.axes)

    @property
    def names(self) -> frozenset[Axis]:
        """The axes that aren't numbers, ``...`` included."""
        return frozenset(a for a in self.axes if not isinstance(a, Number))

    @property
    def ellipsis_at(self) -> int | None:
        """The place of ``...`` among the groups."""
        return next((i for i, g in enumerate(self.groups) if g.is_ellipsis), None)

    def __str__(self) -> str:
        return " ".join(map(str, self.groups))


def need_name(name: str, *, underscore: bool = False) -> None:
    """An axis must be an identifier that neither begins nor ends with an underscore."""
    if underscore and name == "_":
        return
    if not name.isidentifier() or name.startswith("_") or name.endswith("_"):
        raise Mismatch(
            f'"{name}" can\'t be the name of an axis; it must be an identifier without underscores at its ends',
            got=name,
        )


def _axes(text: str) -> Iterator[tuple[str, str]]:
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "other":
            raise Mismatch(f'"{token.group()}" has no meaning in a pattern', got=token.group())
        if kind is not None:
            yield kind, token.group()


@lru_cache(maxsize=512)
def parse_side(text: str, *, underscore: bool = False, duplicates: bool = False) -> Side:
    """Read one side of a pattern.

    Raises:
        Mismatch: einops doesn't take it.
    """
    groups: list[Group] = []
    inside: list[Axis] | None = None
    seen: set[str] = set()
    for kind, word in _axes(text):
        if kind == "open":
            if inside is not None:
                raise Mismatch(f'parentheses in parentheses: "{text.strip()}"')
            inside = []
        elif kind == "close":
            if inside is None:
                raise Mismatch(f'a parenthesis is closed that was not opened: "{text.strip()}"')
            groups.append(Group(tuple(inside), is_composite=True))
            inside = None
        else:
            axes = _read(word, seen, underscore=underscore, duplicates=duplicates)
            if inside is None:
                groups.append(Group(axes))
            else:
                inside.extend(axes)
    if inside is not None:
        raise Mismatch(f'a parenthesis is not closed: "{text.strip()}"')
    return Side(tuple(groups))


def _read(word: str, seen: set[str], *, underscore: bool, duplicates: bool) -> tuple[Axis, ...]:
    """A name, an ellipsis or a number; the number 1 is no axis."""
    if word.isdecimal():
        if int(word) == 0:
            raise Mismatch("an axis can't have the size 0", got=0)
        return () if int(word) == 1 else (Number(int(word)),)
    if word != ELLIPSIS:
        need_name(word, underscore=underscore)
    if word in seen and not duplicates and word != "_":
        raise Mismatch(f"axis {word} is named twice on one side", got=word)
    seen.add(word)
    return (word,)


@lru_cache(maxsize=512)
def parse(pattern: str) -> tuple[Side, Side]:
    """Read both sides of a pattern.

    Raises:
        Mismatch: einops doesn't take it, whatever the operation.
    """
    parts = pattern.split("->")
    if len(parts) != 2:
        raise Mismatch(f'a pattern needs one "->", but "{pattern}" has {len(parts) - 1}', got=pattern)
    left, right = (parse_side(p) for p in parts)
    if ELLIPSIS in right.axes and ELLIPSIS not in left.axes:
        raise Mismatch('"..." is on the right side of the pattern, but not on the left', got=pattern)
    if ELLIPSIS in left.axes and left.ellipsis_at is None:
        raise Mismatch('"..." can\'t stand in parentheses on the left side of a pattern', got=pattern)
    return left, right
