"""How many processes run a program, and which this one is: sizes that aren't known, one and the same everywhere.

torchrun says it in the environment, the program in `init_process_group`, `mp.spawn` by the argument it gives. What
nobody says is a symbol: a world size of at least 1, a rank of at least 0. That it is below the world size isn't used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.values import MISSING, Choice, Dict, Unknown, Value, is_int
from simpletorch.shapes import Dim, counted

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "ENVIRONMENT",
    "as_process",
    "environment",
    "local_rank",
    "number_in",
    "rank",
    "say",
    "variable",
    "world_size",
]

_LEAST: Final = {"RANK": 0, "LOCAL_RANK": 0, "GROUP_RANK": 0, "WORLD_SIZE": 1, "LOCAL_WORLD_SIZE": 1}
"""What torchrun writes into the environment, and the least that it may be."""
ENVIRONMENT: Final = "environ"
"""The kind of dict that ``os.environ`` is."""
_WORLD, _RANK = "number of processes", "number of this process"  # in `Interpreter.modes`


def _symbol(name: str) -> Dim:
    return counted(name.lower(), _LEAST[name])


def world_size(run: Interpreter) -> Dim:
    """How many processes there are."""
    said = run.resolve(run.modes.get(_WORLD))
    return said if is_int(said) else _symbol("WORLD_SIZE")


def rank(run: Interpreter) -> Dim:
    """Which of the processes this is."""
    said = run.resolve(run.modes.get(_RANK))
    return said if is_int(said) else _symbol("RANK")


def local_rank() -> Dim:
    """Which of the processes of its machine this is."""
    return _symbol("LOCAL_RANK")


def say(run: Interpreter, world: Value, number: Value) -> None:
    """The program says how many processes there are, or which this is; a negative number leaves it open."""
    for key, value in ((_WORLD, run.resolve(world)), (_RANK, run.resolve(number))):
        if is_int(value) and not (isinstance(value, int) and value < 0):
            run.heap.write(run.modes, key, value)


@contextmanager
def as_process(run: Interpreter, number: Value) -> Iterator[None]:
    """In here another process is followed: what it changes is changed there alone."""
    with run.heap.aside():
        for key, value in ((_WORLD, MISSING), (_RANK, number)):
            run.heap.write(run.modes, key, value)
        yield


def environment(run: Interpreter) -> Value:
    """``os.environ``: what torchrun writes is there if it has started the program, all of it or nothing."""
    started = Unknown("whether torchrun has started the program", "bool", "data")
    cells: dict[str, Any] = {}
    for name in _LEAST:
        text = Unknown(f"the environment variable {name}", "str")
        cells[name] = Choice(started, text, MISSING)
        run.variables[text] = name
    made = Dict(cells, Unknown("an environment variable", "str"))
    made.kind = ENVIRONMENT
    return made


def variable(run: Interpreter, name: Value, default: Value) -> Unknown:
    """``os.environ.get(name, default)``: a number that is made of it is that of the default."""
    made = run.unknown(f"the environment variable {name}", "str" if isinstance(default, str) else None)
    run.defaults[made] = default
    return made


def number_in(run: Interpreter, text: Value) -> Dim | None:
    """``int(os.environ["RANK"])``; None for other strings."""
    if not isinstance(text, Unknown):
        return None
    name, default = run.variables.get(text), run.defaults.get(text)
    if isinstance(default, str) and default.strip().isdecimal():
        return int(default)
    if is_int(default):
        return default
    return None if name is None else _symbol(name)
