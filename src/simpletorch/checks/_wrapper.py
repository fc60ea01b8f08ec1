"""The wrapper of a checked function, generated for its own parameters.

It looks the key of the arguments up among those that have passed, calls the function, and looks the key of the result
up among those that have passed with these arguments. A signature not seen before goes to the function's `Border`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from functools import lru_cache, partial, update_wrapper
from types import CodeType, FunctionType
from typing import Any, Final, TypeVar, cast

import torch

from simpletorch.checks._border import EVERYTHING, Border, Outcome
from simpletorch.checks._config import SWITCH, config
from simpletorch.checks._hints import UNRESOLVED, Resolver, is_ignorable, yielded
from simpletorch.checks._keys import Unkeyed, expression
from simpletorch.checks._scope import measures_inside
from simpletorch.errors import explained

__all__ = ["bordered", "is_bordered"]

F = TypeVar("F", bound=Callable[..., Any])

_BARE: Final = "_st_function"  # what a wrapper's namespace calls the function behind it


def is_bordered(member: object) -> bool:
    """Whether a function, method or property has a border, under whatever decorators."""
    if isinstance(member, classmethod | staticmethod):
        return is_bordered(member.__func__)
    if isinstance(member, property):
        return any(map(is_bordered, (member.fget, member.fset, member.fdel)))
    while isinstance(member, FunctionType):
        if _BARE in member.__globals__:
            return True
        member = getattr(member, "__wrapped__", None)
    return False


def bordered(function: F, local: Mapping[str, Any], *, check: bool = True, sizes: str | None = None) -> F:
    """``function`` behind a border that explains errors and, with ``check``, enforces its annotations.

    ``sizes`` is an attribute of the first argument with (name, size) pairs that hold for its annotations. A function
    that has a border gets a new one in its place.
    """
    function = cast(F, getattr(function, "__globals__", {}).get(_BARE, function))
    signature = inspect.signature(function)
    resolve = Resolver(function, local)
    if not check or not _annotations(signature):
        return _wrapper(function, signature, None)
    hints, missing = _resolved(signature, resolve)
    if missing:
        return _deferred(function, signature, resolve, sizes)
    return _wrapper(function, signature, hints, sizes)


def _annotations(signature: inspect.Signature) -> dict[str, Any]:
    named = {p.name: p.annotation for p in signature.parameters.values()}
    named["return"] = signature.return_annotation
    return {k: v for k, v in named.items() if v is not inspect.Signature.empty}


def _resolved(signature: inspect.Signature, resolve: Resolver) -> tuple[dict[str, Any], list[str]]:
    """The types of the parameters and of the result, and the names of those that can't be evaluated."""
    hints = {p.name: resolve(p.annotation) for p in signature.parameters.values()}
    hints["return"] = resolve(signature.return_annotation)
    missing = [name for name, hint in hints.items() if hint is UNRESOLVED]
    return {name: Any if hint is UNRESOLVED else hint for name, hint in hints.items()}, missing


# -- the text ---------------------------------------------------------------------------------------------------------

# A wrapper is text, because one with the function's own parameters needs no ``*args`` to be bound to them. It is
# written out at length, the same lines in several kinds of functions. A check takes as long as a small operation of
# torch, so every call of a helper would show in its time. ``_st_`` keeps our names apart from the parameters', and
# `explained` gives its error torch's own as the cause, so ``raise _st_new`` needs no ``from``.

_ARGUMENTS: Final = """\
    if _st_switch.special and _st_config.check != "once":
        _st_key = None
        _st_known = _st_everything if _st_config.check == "off" else _st_admit(None, ({values}))
    else:
        try:
            _st_key = {key}
            _st_known = _st_seen.get(_st_key)
        except Exception:
            _st_key = _st_known = None
        if _st_known is None:
            _st_known = _st_admit(_st_key, ({values}))
"""
_RETURNED: Final = """\
    try:
        _st_return_key = {return_key}
        _st_old = _st_return_key in _st_known
    except Exception:
        _st_return_key = None
        _st_old = False
    if not _st_old:
        _st_admit_result(_st_key, _st_known, _st_return_key, ({values}), _st_return)
"""
_FUNCTION: Final = """\
{prefix}def {name}({declared}):
    __tracebackhide__ = True
    if _st_compiling():
        return {awaited}_st_function({passed})
{arguments}    try:
        _st_return = {awaited}_st_function({passed})
    except Exception as _st_error:
        _st_new = _st_explained(_st_error)
        if _st_new is None:
            raise
        raise _st_new
{returned}    return _st_return
"""
_SCOPED: Final = """\
def {name}({declared}):
    __tracebackhide__ = True
    if _st_compiling():
        return _st_function({passed})
    return _st_call(({values}), lambda: _st_function({passed}))
"""
_GENERATOR: Final = """\
def {name}({declared}):
    __tracebackhide__ = True
    if _st_compiling():
        return (yield from _st_function({passed}))
{arguments}    try:
        _st_return = yield from {items}
    except Exception as _st_error:
        _st_new = _st_explained(_st_error)
        if _st_new is None:
            raise
        raise _st_new
{returned}    return _st_return
"""
_ASYNC_GENERATOR: Final = """\
async def {name}({declared}):
    __tracebackhide__ = True
{arguments}    _st_items = _st_function({passed})
    try:
        _st_yield = await _st_items.__anext__()
        while True:
{yielded}            try:
                _st_sent = yield _st_yield
            except GeneratorExit:
                raise
            except BaseException as _st_thrown:
                _st_yield = await _st_items.athrow(_st_thrown)
            else:
                _st_yield = await _st_items.asend(_st_sent)
    except StopAsyncIteration:
        return
    except Exception as _st_error:
        _st_new = _st_explained(_st_error)
        if _st_new is None:
            raise
        raise _st_new
    finally:
        await _st_items.aclose()
"""


def _admitted(admit: Callable[..., None], generator: Generator[Any, Any, Any], *call: Any) -> Generator[Any, Any, Any]:
    """``yield from generator``, each item admitted before it is passed on."""
    __tracebackhide__ = True
    step: Callable[..., Any] = generator.__next__
    given: tuple[Any, ...] = ()
    try:
        while True:
            try:
                item = step(*given)
            except StopIteration as end:
                return end.value
            admit(*call, item)
            try:
                sent = yield item
            # not thrown into the generator: PEP 380 has it closed instead, below
            except GeneratorExit:
                raise
            except BaseException as thrown:
                step, given = generator.throw, (thrown,)
            else:
                step, given = generator.send, (sent,)
    finally:
        generator.close()


# -- the function -----------------------------------------------------------------------------------------------------


def _deferred(function: F, signature: inspect.Signature, resolve: Resolver, sizes: str | None) -> F:
    """A wrapper that becomes the real one at its first call, when names that are defined later are there.

    A name that is still missing then (imported for the type checker only) leaves its annotation unchecked.
    """

    def become() -> None:
        hints, _ = _resolved(signature, resolve)
        # in place, because others refer to this function already (a class, a decorator, an importing module)
        real = cast(FunctionType, _wrapper(function, signature, hints, sizes))
        waiting.__globals__.update(real.__globals__)
        waiting.__defaults__, waiting.__kwdefaults__ = real.__defaults__, real.__kwdefaults__
        waiting.__code__ = real.__code__  # last: no other thread may run it before its names and defaults are there

    space: dict[str, Any] = {_BARE: function, "_st_become": become}
    name = "_st_waiting"
    waiting = _compiled(_WAITING[_kind(function)], name, function, space)
    space["_st_self"] = waiting
    return cast(F, update_wrapper(waiting, function))


_CALL_LATER: Final = """\
def _st_waiting(*args, **kwargs):
    _st_become()
    return _st_self(*args, **kwargs)
"""
_WAITING: Final = {
    "function": _CALL_LATER,
    "decorated": _CALL_LATER,
    # without ``yield from`` it can't be one that waits, so until its first call it looks like a plain function
    "async generator": _CALL_LATER,
    "coroutine": _CALL_LATER.replace("def", "async def").replace("return", "return await"),
    "generator": _CALL_LATER.replace("return", "return (yield from").replace("kwargs)\n", "kwargs))\n", 2),
}


def _kind(function: Callable[..., Any]) -> str:
    """The kind of the function's result: a value, or an object that runs later."""
    if inspect.iscoroutinefunction(function):
        return "coroutine"
    if inspect.isgeneratorfunction(function):
        return "generator"
    if inspect.isasyncgenfunction(function):
        return "async generator"
    inner = inspect.unwrap(function)
    return "function" if inner is function or _kind(inner) == "function" else "decorated"


def _wrapper(function: F, signature: inspect.Signature, hints: Mapping[str, Any] | None, sizes: str | None = None) -> F:
    space: dict[str, Any] = {
        _BARE: function,  # also the mark by which `is_bordered` knows a wrapper
        "_st_compiling": torch.compiler.is_dynamo_compiling,  # half the price of is_compiling; export traces the rest
        "_st_explained": explained,
    }
    kind = _kind(function)
    fields = {**_NOTHING, **_call_fields(function, signature, space)}
    fields["items"] = f"_st_function({fields['passed']})"
    if kind == "coroutine":
        fields |= {"prefix": "async ", "awaited": "await "}
    if hints is not None:
        border = Border(function, signature, _outcomes(kind, hints), sizes)
        fields |= _checks(border, fields, space)
        if kind == "function" and measures_inside(function):
            kind = "scoped"
    text = _TEXTS.get(kind, _FUNCTION).format(**fields)
    wrapper = _compiled(text, fields["name"], function, space)
    return cast(F, update_wrapper(wrapper, function))


_TEXTS: Final = {"generator": _GENERATOR, "async generator": _ASYNC_GENERATOR, "scoped": _SCOPED}
_NOTHING: Final = {"prefix": "", "awaited": "", "arguments": "", "returned": "", "yielded": ""}


def _outcomes(kind: str, hints: Mapping[str, Any]) -> dict[str, Any]:
    """The hints, with what the function gives in place of its annotation: a generator's items and what it returns."""
    if kind in ("generator", "async generator"):
        items, result = yielded(hints["return"])
        return {**hints, "yield": items, "return": result}
    if kind == "decorated":  # what a decorator makes of a coroutine or generator is not known
        return {**hints, "return": Any}
    return dict(hints)


def _checks(border: Border, fields: Mapping[str, str], space: dict[str, Any]) -> dict[str, str]:
    """The parts of the wrapper that check."""
    space |= {
        "_st_switch": SWITCH,
        "_st_config": config,
        "_st_everything": EVERYTHING,
        "_st_seen": border.seen,
        "_st_admit": border.admit,
        "_st_admit_result": border.admit_result,
        "_st_call": border.call,
        "_st_no_key": _no_key,
    }
    found = {"arguments": _ARGUMENTS.format(key=_key_code(border, space), **fields)}
    if not is_ignorable(border.hints["return"]):
        key = _outcome_key(border, "return", space)
        found["returned"] = _RETURNED.format(return_key=key, **fields)
    if not is_ignorable(border.hints.get("yield", Any)):
        text = f"def item_key(_st_yield): return {_outcome_key(border, 'yield', space)}"
        item_key = _compiled(text, "item_key", border.function, space)
        call = f"_st_key, _st_known, ({fields['values']})"
        admit = space["_st_admit_item"] = partial(border.admit_item, item_key)
        space["_st_admitted"] = partial(_admitted, admit)
        found["items"] = f"_st_admitted({fields['items']}, {call})"
        found["yielded"] = f"            _st_admit_item({call}, _st_yield)\n"
    return found


def _outcome_key(border: Border, outcome: Outcome, space: dict[str, Any]) -> str:
    part = expression(border.hints[outcome], f"_st_{outcome}", space)
    tag = "" if outcome == "return" else f"{outcome!r}, "
    return "_st_no_key()" if part is None else f"({tag}{part})"


def _compiled(text: str, name: str, function: Callable[..., Any], space: dict[str, Any]) -> FunctionType:
    # The namespace has no __name__ on purpose: torch.compile would look our helpers up in the module of that name.
    exec(_code(text, f"<simpletorch border of {function.__qualname__}>"), space)
    made = space.pop(name)
    assert isinstance(made, FunctionType)
    return made


@lru_cache(maxsize=1024)
def _code(text: str, name: str) -> CodeType:
    return compile(text, name, "exec")


def _no_key() -> None:
    raise Unkeyed


def _key_code(border: Border, space: dict[str, Any]) -> str:
    """Code for the key of the arguments; a call that has no key takes the slow road."""
    code = "" if border.sizes is None else f"{border.parameters[0].name}.{border.sizes}, "
    for p in border.parameters:
        hint = border.hints[p.name]
        if p.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            container: Any = tuple if p.kind is inspect.Parameter.VAR_POSITIONAL else dict
            hint = hint if is_ignorable(hint) else container[(hint, ...) if container is tuple else (str, hint)]
        part = expression(hint, p.name, space)
        if part is None:
            return "_st_no_key()"
        if part and p.default is not inspect.Parameter.empty:
            # a default passes whatever the annotation says (``mask: Tensor = None``)
            default = f"_st_default_{p.name}"
            part = f"None if {p.name} is {default} else ({part}), "
        code += part
    return f"({code})"


def _call_fields(function: Callable[..., Any], signature: inspect.Signature, space: dict[str, Any]) -> dict[str, str]:
    """The parts of the wrapper that depend on the parameters alone."""
    kinds = inspect.Parameter
    declared, passed = [], []
    star = slash = False
    parameters = list(signature.parameters.values())
    for i, p in enumerate(parameters):
        if p.kind is kinds.KEYWORD_ONLY and not star:
            declared.append("*")
            star = True
        default = ""
        if p.default is not kinds.empty:
            # by a name and not by its text: few defaults can be written out
            space[f"_st_default_{p.name}"] = p.default
            default = f"=_st_default_{p.name}"
        prefix = "*" if p.kind is kinds.VAR_POSITIONAL else "**" if p.kind is kinds.VAR_KEYWORD else ""
        star = star or p.kind is kinds.VAR_POSITIONAL
        declared.append(f"{prefix}{p.name}{default}")
        passed.append(f"{p.name}={p.name}" if p.kind is kinds.KEYWORD_ONLY else f"{prefix}{p.name}")
        last = i + 1 == len(parameters) or parameters[i + 1].kind is not kinds.POSITIONAL_ONLY
        if p.kind is kinds.POSITIONAL_ONLY and last and not slash:
            declared.append("/")
            slash = True
    return {
        # a lambda's name is "<lambda>"
        "name": function.__name__ if function.__name__.isidentifier() else "call",
        "declared": ", ".join(declared),
        "passed": ", ".join(passed),
        "values": "".join(f"{p.name}, " for p in parameters),
    }
