"""Which stream of a GPU computes a tensor, and which streams have waited for it.

Streams run beside each other: what one uses before it has waited for the other that computes it may not be there yet.
torch says nothing. A tensor is marked with the stream that was current when it was made and with the time, which counts
the waits; each stream knows up to when it has waited for each other one. Nothing is marked before a program has made a
stream, and what isn't on a GPU for sure is never reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.heap import Cells
from simpletorch.follow.values import Instance, Tensor, Value
from simpletorch.rules.core.registry import spoken_name

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["check", "current", "host_waits", "mark", "record", "start", "wait"]

_MARK: Final = "(stream)"
_HOST: Final = "host"
_ALL: Final = "all"  # up to when the program has waited for every stream
_NOW: Final = "now"
_CURRENT: Final = "current"
# the program waits for the current stream until the value is there
_FETCHES: Final = frozenset({"item", "tolist", "cpu", "numpy", "nonzero", "__bool__", "__float__", "__int__", "to"})


def start(run: Interpreter) -> None:
    """From here on there is more than one stream."""
    if run.order is None:
        run.order = Cells({_NOW: 0})


def current(run: Interpreter, stream: Instance | None) -> Value:
    """``stream`` is the current one from here on (None: the default one); gives the one that was."""
    order = _order(run)
    before = order.get(_CURRENT)
    run.heap.write(order, _CURRENT, stream)
    return before


def wait(run: Interpreter, waiter: Instance | None, other: Any) -> None:
    """``waiter`` goes on after what ``other``, a stream or what `record` gave, has been given so far."""
    known = other if isinstance(other, dict) else record(run, other)
    order = _order(run)
    for stream, time in known.items():
        _advance(run, order, (_name(waiter), stream), time)


def record(run: Interpreter, stream: Instance | None) -> dict[int, Value]:
    """What is done when a stream has done what it was given so far: the time, by stream."""
    order = _order(run)
    now = order[_NOW]
    me = _name(stream)
    known = {key[1]: time for key, time in order.items() if isinstance(key, tuple) and key[0] in (me, _HOST)}
    if isinstance(now, int):
        run.heap.write(order, _NOW, now + 1)
    return {**known, me: now}


def host_waits(run: Interpreter, other: Any = None) -> None:
    """The program waits for a stream, or what `record` gave; for all streams if nothing is given."""
    order = run.order
    if order is None:
        return
    if other is None:
        run.heap.write(order, _ALL, order[_NOW])
        record(run, None)
        return
    known = other if isinstance(other, dict) else record(run, other)
    for stream, time in known.items():
        _advance(run, order, (_HOST, stream), time)


def mark(run: Interpreter, tensor: Tensor) -> None:
    """A tensor is made by the current stream, now."""
    order = _order(run)
    tensor.cells[_MARK] = order.get(_CURRENT), order[_NOW]


def check(run: Interpreter, name: str, operands: tuple[Value, ...]) -> None:
    """A warning if the current stream uses what another one computes and nobody has waited for."""
    order = run.order
    if order is None:
        return
    user = order.get(_CURRENT)
    for operand in operands:
        if isinstance(operand, Tensor) and _MARK in operand.cells and _is_on_gpu(operand):
            maker, made = operand.cells[_MARK]
            if _may_be_changed(user) or _may_be_changed(maker) or _name(user) == _name(maker):
                continue
            if not _is_later(made, order, _name(user), _name(maker)):
                continue
            mine, its = ("the default stream" if _name(who) == 0 else "a stream" for who in (user, maker))
            other = its if its != mine else "another stream"
            run.find(
                "tensor-stream",
                f"{spoken_name(name)} runs on {mine}, but {operand.type} is computed on {other}, "
                "for which it has not waited",
                "let it wait before: torch.cuda.current_stream().wait_stream(the other one)",
            )
            return
    if name.rpartition(".")[2] in _FETCHES:
        host_waits(run, user or 0)


def _may_be_changed(stream: Value) -> bool:
    """Whether it isn't known which stream it is, or code that isn't followed had it and may have waited for it."""
    return stream is not None and not (isinstance(stream, Instance) and not stream.state.get("open"))


def _is_later(made: Value, order: dict[Any, Any], me: int, maker: int) -> bool:
    """Whether it is known that nobody has waited since."""
    waited = [order.get((me, maker), -1), order.get((_HOST, maker), -1), order.get(_ALL, -1)]
    return isinstance(made, int) and all(isinstance(time, int) and made > time for time in waited)


def _is_on_gpu(tensor: Tensor) -> bool:
    device = tensor.type.device
    return device is not None and device.type == "cuda"


def _advance(run: Interpreter, order: dict[Any, Any], key: tuple[Any, int], time: Value) -> None:
    known = order.get(key, -1)
    if not isinstance(time, int) or not isinstance(known, int) or time > known:
        run.heap.write(order, key, time)


def _name(stream: Any) -> int:
    """A stream as a key: 0 for the default one."""
    return id(stream.cells) if isinstance(stream, Instance) and stream.state.get("default") is None else 0


def _order(run: Interpreter) -> dict[Any, Any]:
    start(run)
    assert run.order is not None
    return run.order
