"""The one place that knows how simpletorch follows a program; the measures know only what stands here."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

Place = tuple[str, int]
Value = int | tuple[str, tuple[int, ...]]  # an int, or a tensor's dtype and shape
Pattern = Callable[[Value], bool]  # whether a value may be the one that is meant


@dataclass(frozen=True)
class Found:
    """A mistake that was found: where, by the file's name in the program's folder, and in which words."""

    place: Place
    message: str


@dataclass(frozen=True)
class Answer:
    """What following a program gave. ``crash`` is the text of an exception that came out of the follower itself."""

    found: tuple[Found, ...] = ()
    claims: Mapping[Place, Mapping[str, frozenset[Value]]] = field(default_factory=dict)
    conditional: Mapping[Place, Mapping[str, frozenset[Value]]] = field(default_factory=dict)
    """Of the claims, those of ways that a condition opens which the follower says it doesn't know."""
    ways: Mapping[Place, Mapping[str, Sequence[Pattern]]] | None = None
    """All that lines may give to names, it says: what fits one of these. None where it doesn't say that."""
    unknown: int = 0  # claims of which something isn't known
    seconds: float = 0.0  # of the processor
    crash: str = ""


Follower = Callable[[Path], Answer]


def simpletorch_follower() -> Follower:
    """What follows a program with ``simpletorch.follow``."""
    from simpletorch.follow import follow

    def answer(main: Path) -> Answer:
        started = time.process_time()
        try:
            followed = follow(main, arguments=())
        except Exception as error:
            return Answer(crash=f"{type(error).__name__}: {error}", seconds=time.process_time() - started)
        seconds = time.process_time() - started
        found = tuple(Found((Path(e.path).name, e.line), e.message) for e in followed.errors)
        claims: dict[Place, dict[str, frozenset[Value]]] = {}
        conditional: dict[Place, dict[str, frozenset[Value]]] = {}
        ways: dict[Place, dict[str, Sequence[Pattern]]] = {}
        unknown = 0
        for (path, line), names in followed.claims.items():
            place = Path(path).name, line
            for name, said in names.items():
                values = {v: _value(v) for v in said}
                unknown += list(values.values()).count(None)
                known = {v: value for v, value in values.items() if value is not None}
                if known:
                    claims.setdefault(place, {})[name] = frozenset(known.values())
                    maybe = [value for v, value in known.items() if (path, line, name, v) not in followed.certain]
                    conditional.setdefault(place, {})[name] = frozenset(maybe)
                ways.setdefault(place, {})[name] = [partial(_may_be, v) for v in said]
        for path, line, name in followed.unsaid:
            ways.setdefault((Path(path).name, line), {})[name] = [lambda value: True]
        crash = "; ".join(followed.faults)
        everything = ways if followed.complete else None
        return Answer(found, claims, conditional, everything, unknown, seconds, crash)

    return answer


def _may_be(said: Any, value: Value) -> bool:
    """Whether a claim, of which not everything need be known, is true of a value."""
    from simpletorch.rules import TensorType
    from simpletorch.rules.core.dtype import BY_TORCH_NAME

    if isinstance(said, TensorType):
        if isinstance(value, int):
            return False
        shape, dims = said.shape, value[1]
        fits = len(dims) == shape.rank if shape.is_exact else len(dims) >= shape.min_rank
        ends = [*zip(shape.head, dims, strict=False), *zip(reversed(shape.tail), reversed(dims), strict=False)]
        sizes = all(not isinstance(a, int) or a == b for a, b in ends)
        return fits and sizes and said.dtype in (None, BY_TORCH_NAME.get(value[0]))
    if isinstance(said, int):
        return said == value
    return not isinstance(said, tuple)


def _value(said: object) -> Value | None:
    """A claim that is fully known: an int, or a tensor as ``Float32[2, 3]`` writes it."""
    if isinstance(said, int):
        return said
    text = re.fullmatch(r"([A-Z]\w*\d|Bool)\[((?:\d+(?:, )?)*)\]", str(said))
    return (text[1].lower(), tuple(int(n) for n in text[2].split(", ") if n)) if text else None
