"""Streams and events, torch's and `simpletorch.cuda`'s: who waits for whom. And what else there is in the latter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow import guards, operators
from simpletorch.follow.libraries import ALIASES, by_name, library_class, model, native
from simpletorch.follow.marks import layout, streams
from simpletorch.follow.model import kinds
from simpletorch.follow.values import Instance, List, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_STREAM: Final = "torch.cuda.Stream"
_EVENT: Final = "torch.cuda.Event"
_BORROWED: Final = "torch.cuda.(borrowed)"
_PENDING: Final = "torch.cuda.Pending"  # ours: names of simpletorch are looked up as torch's
ALIASES.update(
    {
        "torch.cuda.streams": "torch.cuda",
        "torch.Stream": _STREAM,
        "torch.Event": _EVENT,
        "simpletorch.cuda.Stream": _STREAM,
        "simpletorch.cuda.Event": _EVENT,
        "simpletorch.cuda.current_stream": "torch.cuda.current_stream",
        "simpletorch.cuda.synchronize": "torch.cuda.synchronize",
    }
)


def _is_stream(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.qualified == _STREAM


def _made(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    streams.start(run)
    return None


def _enter(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me = args[0]
    run.heap.write(me.state, "before", streams.current(run, me))
    return me


def _leave(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    streams.current(run, args[0].state.get("before"))
    return None


def _wait(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Of a stream, for streams and events."""
    me, *others = (*args, *kwargs.values())
    for other in map(run.resolve, others):
        if _is_stream(other):
            streams.wait(run, me, other)
        elif isinstance(other, Instance):
            streams.wait(run, me, other.state.get("known", {}))
        else:
            _lose(run, me)
    return None


def _lose(run: Interpreter, me: Value) -> None:
    """Something that isn't known is waited for: it may be everything."""
    streams.wait(run, me, {})
    streams.host_waits(run)


def _record(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``stream.record_event(event)``."""
    me, event = args[0], by_name("event", args[1:], kwargs).get("event")
    if event is None:
        event = Instance(run.program.library_class(_EVENT))
    if isinstance(event, Instance):
        run.heap.write(event.state, "known", streams.record(run, me))
    return event


def _event_record(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, stream = args[0], by_name("stream", args[1:], kwargs).get("stream")
    stream = run.resolve(stream) if stream is not None else _current(run, (), {})
    if _is_stream(stream):
        run.heap.write(me.state, "known", streams.record(run, stream))
    else:
        _lose(run, None)
    return me


def _event_wait(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, stream = args[0], by_name("stream", args[1:], kwargs).get("stream")
    waiter = _current(run, (), {}) if stream is None else run.resolve(stream)
    if _is_stream(waiter):
        streams.wait(run, waiter, me.state.get("known", {}))
    else:
        _lose(run, None)
    return None


def _synchronize(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me = args[0]
    streams.host_waits(run, me if _is_stream(me) else me.state.get("known", {}))
    return None


@model("torch.cuda.synchronize", "torch.accelerator.synchronize")
def _synchronize_all(run: Interpreter, device: Value = None) -> Value:
    streams.host_waits(run)
    return None


@native("torch.cuda.current_stream", "torch.accelerator.current_stream")
def _current(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    found = None if run.order is None else run.order.get("current")
    return found if isinstance(found, Instance) else _default(run, (), {})


@native("torch.cuda.default_stream")
def _default(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    made = Instance(run.program.library_class(_STREAM))
    made.state["default"] = True
    return made


@model("torch.cuda.set_stream", "torch.accelerator.set_stream")
def _set(run: Interpreter, stream: Value) -> Value:
    if _is_stream(stream):
        streams.current(run, stream)
    return None


def _make_context(run: Interpreter, cls: Any, args: Args, kwargs: Kwargs) -> Value:
    stream = run.resolve(by_name("stream", args, kwargs).get("stream"))
    return Instance(cls, stream if _is_stream(stream) else None)


def _enter_context(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None if args[0].native is None else _enter(run, (args[0].native,), {}) and None


def _leave_context(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None if args[0].native is None else _leave(run, (args[0].native,), {})


def _run(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``stream.run(function, *args)`` of `simpletorch.cuda.Stream`."""
    me, function, *given = args
    streams.wait(run, me, _current(run, (), {}))
    before = streams.current(run, me)
    try:
        value = run.call(function, tuple(given), kwargs)
    finally:
        streams.current(run, before)
    pending = Instance(run.program.library_class(_PENDING))
    for name, held in (("(value)", value), ("stream", me), ("event", run.unknown("the event of a result"))):
        run.heap.write(pending.cells, name, held)
    run.heap.write(pending.state, "known", streams.record(run, me))
    return pending


def _pending_wait(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    _event_wait(run, args, kwargs)
    return args[0].cells["(value)"]


def _pending_synchronize(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    _synchronize(run, args[:1], {})
    return args[0].cells["(value)"]


def _whether(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.unknown("whether the GPU is done", "bool", "data")


def _milliseconds(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.unknown("a time", "float", "data")


library_class(
    _STREAM,
    methods={
        "__init__": _made,
        "__enter__": _enter,
        "__exit__": _leave,
        "wait": _wait,
        "wait_stream": _wait,
        "wait_event": _wait,
        "record_event": _record,
        "synchronize": _synchronize,
        "query": _whether,
        "run": _run,
    },
)
library_class(
    _EVENT,
    methods={
        "__init__": lambda run, args, kwargs: None,
        "__enter__": _event_record,
        "__exit__": lambda run, args, kwargs: _event_record(run, args[:1], {}) and None,
        "record": _event_record,
        "wait": _event_wait,
        "synchronize": _synchronize,
        "query": _whether,
        "elapsed_time": _milliseconds,
        "elapsed": _milliseconds,
    },
)
_WAIT: Final = ".wait() gives the result to this stream, once it is there"
_OPERATORS: Final = [name for name in operators.METHODS.values() if name not in ("__eq__", "__ne__")]


def _used_early(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return guards.refuse(run, "an operator is given a Pending result, which a stream may still compute", _WAIT)


def _asked_early(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if run.questions or str(args[1]).startswith("_"):
        raise kinds.error("AttributeError")
    return guards.refuse(run, f"a Pending result has no attribute {args[1]!r}", _WAIT, "AttributeError")


library_class(
    _PENDING,
    methods={
        "wait": _pending_wait,
        "synchronize": _pending_synchronize,
        "query": _whether,
        "__getattr__": _asked_early,
        **dict.fromkeys((*_OPERATORS, *(f"__r{name[2:]}" for name in _OPERATORS)), _used_early),
        **dict.fromkeys(("__abs__", "__getitem__", "__float__", "__int__", "__iter__"), _used_early),
    },
    is_no_tensor=True,
)
library_class(
    "torch.cuda.stream", make=_make_context, methods={"__enter__": _enter_context, "__exit__": _leave_context}
)
ALIASES["torch.cuda.StreamContext"] = "torch.cuda.stream"


# -- what else simpletorch.cuda has ----------------------------------------------------------------------------------


def _buffer(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``pool.get(*shape, dtype=, device=)`` or ``get(shape, dtype)``, and what ``with pool.borrowed(...)`` gives."""
    sizes = args[1:]
    if len(sizes) == 2 and isinstance(run.resolve(sizes[0]), List | tuple):
        shape, dtype = sizes
        return run.ask("torch.empty", (shape,), {**kwargs, "dtype": dtype})
    return run.ask("torch.empty", sizes, kwargs)


def _borrowed(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    lent = Instance(run.program.library_class(_BORROWED))
    run.heap.write(lent.cells, "(buffer)", _buffer(run, args, kwargs))
    return lent


@native("torch.cuda.pinned")
def _as_it_is(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


@native("torch.cuda.channels_last")
def _channels_last(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same module, or another tensor of the same type."""
    given = run.resolve(args[0])
    return layout.channels_last(Tensor(given.type)) if isinstance(given, Tensor) else given


def _nothing(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None


library_class(
    "torch.cuda.TensorPool",
    methods={
        **dict.fromkeys(("__init__", "__exit__", "give", "clear"), _nothing),
        "__enter__": _as_it_is,
        "get": _buffer,
        "borrowed": _borrowed,
    },
)
library_class(
    _BORROWED,
    methods={"__enter__": lambda run, args, kwargs: args[0].cells["(buffer)"], "__exit__": _nothing},
)
