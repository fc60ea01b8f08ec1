"""The one place that knows how simpletorch follows a program; the measures know only what stands here."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Place = tuple[str, int]
Value = int | tuple[str, tuple[int, ...]]  # an int, or a tensor's dtype and shape


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
        unknown = 0
        for (path, line), names in followed.claims.items():
            for name, said in names.items():
                values = [_value(v) for v in said]
                unknown += values.count(None)
                known = frozenset(v for v in values if v is not None)
                if known:
                    claims.setdefault((Path(path).name, line), {})[name] = known
        return Answer(found, claims, unknown, seconds)

    return answer


def _value(said: object) -> Value | None:
    """A claim that is fully known: an int, or a tensor as ``Float32[2, 3]`` writes it."""
    if isinstance(said, int):
        return said
    text = re.fullmatch(r"([A-Z]\w*\d|Bool)\[((?:\d+(?:, )?)*)\]", str(said))
    return (text[1].lower(), tuple(int(n) for n in text[2].split(", ") if n)) if text else None
