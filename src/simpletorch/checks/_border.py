"""`checked`: a function whose annotations are enforced, by jaxtyping and beartype, once for each signature.

The wrapper is generated for the function's own parameters. It looks the key of the arguments up among
those that have passed, calls the function, and looks the key of the result up among those that have passed with these
arguments. Only what is seen for the first time takes the slow road, `Border.admit` and `Border.admit_result`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, update_wrapper
from types import FrameType, FunctionType
from typing import Any, Final, TypeVar, cast

import jaxtyping
import torch

from simpletorch.checks._config import SWITCH, config
from simpletorch.checks._hints import UNRESOLVED, Resolver, as_any_float
from simpletorch.checks._keys import Unkeyed, expression, is_ignorable, tensor_hints
from simpletorch.checks._passes import Uncheckable, passes
from simpletorch.checks._report import Mistake, refusal
from simpletorch.checks._sizes import bind, is_computed, verdicts
from simpletorch.errors._border import explained

__all__ = ["Border", "bordered", "checked"]

F = TypeVar("F", bound=Callable[..., Any])

_MOST_SIGNATURES: Final = 1024
_MOST_RESULTS: Final = 64


class _Everything(set[Hashable]):
    """The results of a call that isn't checked: it has them all."""

    def __contains__(self, _key: object) -> bool:
        return True


_EVERYTHING: Final = _Everything()


class Border:
    """What a checked function's annotations admit, and what they have admitted so far."""

    def __init__(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        hints: Mapping[str, Any],
        sizes: str | None = None,
    ) -> None:
        self.function = function
        self.sizes = sizes  # the attribute of the first argument that holds the sizes of its class
        self.parameters = tuple(signature.parameters.values())
        self.hints = dict(hints)
        self.seen: dict[Hashable, set[Hashable]] = {}
        self.seen_under_autocast: dict[Hashable, set[Hashable]] = {}
        self._computed = frozenset(name for name, hint in hints.items() if is_computed(hint))
        self._in_scope = _argument_scope(hints, self.parameters)

    def admit(self, key: Hashable | None, values: Sequence[Any]) -> set[Hashable]:
        """Check arguments that haven't been seen before; the keys of the results that go with them.

        Raises:
            TorchError: an argument fails its annotation.
        """
        if not _is_observable(values):
            return _EVERYTHING
        autocast = _under_autocast()
        seen = self.seen_under_autocast if autocast else self.seen
        known = None if key is None else seen.get(key)
        if known is not None:
            return known
        mistakes = self._in_scope(values, lambda: self._wrong_arguments(values, autocast))
        if mistakes:
            raise self._refuse(mistakes, values)
        if key is None:
            return set()
        if len(seen) >= _MOST_SIGNATURES:
            seen.clear()
        return seen.setdefault(key, set())

    def admit_result(
        self,
        key: Hashable | None,
        known: set[Hashable],
        result_key: Hashable | None,
        values: Sequence[Any],
        result: Any,
    ) -> None:
        """Check a result that hasn't been seen before with these arguments.

        Raises:
            TorchError: the result fails its annotation.
        """
        if known is _EVERYTHING or not _is_observable((*values, result)):
            return
        autocast = _under_autocast()
        if autocast and key is not None:
            known = self.seen_under_autocast.setdefault(key, set())
            if result_key is not None and result_key in known:
                return

        def wrong() -> Sequence[Mistake]:
            self._wrong_arguments(values, autocast)  # binds the sizes
            return self._wrong_result(result, autocast)

        mistakes = self._in_scope(values, wrong)
        if mistakes:
            raise self._refuse(mistakes, values)
        if result_key is not None:
            if len(known) >= _MOST_RESULTS:
                known.clear()
            known.add(result_key)

    def _wrong_arguments(self, values: Sequence[Any], autocast: bool) -> list[Mistake]:
        for name, size in self._own(values):
            bind(name, size)
        items = []
        for parameter, value in zip(self.parameters, values, strict=True):
            if not is_ignorable(self.hints[parameter.name]) and value is not parameter.default:
                items += [(parameter.name, name, item) for name, item in _items(parameter, value)]
        return self._wrong(items, autocast)

    def _own(self, values: Sequence[Any]) -> tuple[tuple[str, int], ...]:
        return () if self.sizes is None else getattr(values[0], self.sizes, ())

    def _wrong_result(self, result: Any, autocast: bool) -> list[Mistake]:
        return self._wrong([("return", "the result", result)], autocast)

    def _wrong(self, items: Sequence[tuple[str, str, Any]], autocast: bool) -> list[Mistake]:
        """The mistakes among (key of the hint, name, value); computed sizes are looked at when all names are bound."""
        good: dict[int, bool] = {}
        computed = []
        for i, (key, _, value) in enumerate(items):
            hint = self._hint(key, autocast)
            if key in self._computed:
                computed.append((i, value, hint))
            else:
                good[i] = self._passes(key, value, hint)
        if computed:
            found = verdicts([(value, hint) for _, value, hint in computed], self._passes_computed)
            good |= zip((i for i, _, _ in computed), found, strict=True)
        return [
            Mistake(name, self._hint(key, autocast), value) for i, (key, name, value) in enumerate(items) if not good[i]
        ]

    def _hint(self, key: str, autocast: bool) -> Any:
        return as_any_float(self.hints[key]) if autocast else self.hints[key]

    def _passes(self, name: str, value: Any, hint: Any) -> bool:
        try:
            return passes(value, hint)
        except Uncheckable:  # unknown is quiet
            self.hints[name] = Any
            return True

    @staticmethod
    def _passes_computed(value: Any, hint: Any) -> bool:
        try:
            return passes(value, hint)
        except Uncheckable:
            return True

    def _refuse(self, mistakes: Sequence[Mistake], values: Sequence[Any]) -> Exception:
        arguments = [
            (name, self.hints[p.name], item)
            for p, value in zip(self.parameters, values, strict=True)
            for name, item in _items(p, value)
        ]
        return refusal(self.function, mistakes, arguments, dict(self._own(values)))


def _items(parameter: inspect.Parameter, value: Any) -> list[tuple[str, Any]]:
    """A parameter's values by name: one, but ``*args`` and ``**kwargs`` have several."""
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return [(f"{parameter.name}[{i}]", item) for i, item in enumerate(value)]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return [(name, item) for name, item in value.items()]
    return [(parameter.name, value)]


def _argument_scope(
    hints: Mapping[str, Any], parameters: Sequence[inspect.Parameter]
) -> Callable[[Sequence[Any], Callable[[], Sequence[Mistake]]], Sequence[Mistake]]:
    """How to run a check in a fresh scope of sizes; for a dim such as ``{self.size}`` the scope knows the arguments."""

    def plain(_values: Sequence[Any], check: Callable[[], Sequence[Mistake]]) -> Sequence[Mistake]:
        with jaxtyping.jaxtyped("context"):
            return check()

    if not any("{" in h.dim_str for hint in hints.values() for h in tensor_hints(hint)):
        return plain
    names = ", ".join(p.name for p in parameters)
    space: dict[str, Any] = {}
    exec(f"def scope({names}{', ' if names else ''}*, _st_check): return _st_check()", space)
    scope = jaxtyping.jaxtyped(space["scope"], typechecker=None)

    def with_arguments(values: Sequence[Any], check: Callable[[], Sequence[Mistake]]) -> Sequence[Mistake]:
        found: Sequence[Mistake] = scope(*values, _st_check=check)
        return found

    return with_arguments


def _under_autocast() -> bool:
    return any(torch.is_autocast_enabled(kind) for kind in _device_types())


@lru_cache(maxsize=1)
def _device_types() -> tuple[str, ...]:
    accelerator = torch.accelerator.current_accelerator()  # of this build of torch, whether or not the machine has one
    return ("cpu",) if accelerator is None else ("cpu", accelerator.type)


def _is_observable(values: Sequence[Any]) -> bool:
    """Whether the values have sizes at all: under tracing they are symbols, and looking at those would be recorded."""
    return not any(_is_symbolic(v) for v in values)


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(type(size) is not int for size in value.shape)
    if isinstance(value, torch.SymInt | torch.fx.Proxy):
        return True
    if isinstance(value, list | tuple):
        return any(map(_is_symbolic, value))
    if isinstance(value, dict):
        return any(map(_is_symbolic, value.values()))
    return False


# -- the generated wrapper ------------------------------------------------------------------------------------------


_CHECKED: Final = """\
{prefix}def {name}({declared}):
    __tracebackhide__ = True
    if _st_compiling():
        return {awaited}_st_function({passed})
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
    try:
        _st_result = {awaited}_st_function({passed})
    except Exception as _st_error:
        _st_new = _st_explained(_st_error)
        if _st_new is None:
            raise
        raise _st_new
{result}    return _st_result
"""
_RESULT: Final = """\
    try:
        _st_result_key = {result_key}
        _st_old = _st_result_key in _st_known
    except Exception:
        _st_result_key = None
        _st_old = False
    if not _st_old:
        _st_admit_result(_st_key, _st_known, _st_result_key, ({values}), _st_result)
"""
_UNCHECKED: Final = """\
{prefix}def {name}({declared}):
    __tracebackhide__ = True
    if _st_compiling():
        return {awaited}_st_function({passed})
    try:
        return {awaited}_st_function({passed})
    except Exception as _st_error:
        _st_new = _st_explained(_st_error)
        if _st_new is None:
            raise
        raise _st_new
"""


def bordered(function: F, local: Mapping[str, Any], *, check: bool = True, sizes: str | None = None) -> F:
    """``function`` behind a border that explains errors and, with ``check``, enforces its annotations.

    ``sizes`` is an attribute of the first argument with (name, size) pairs that hold for its annotations.
    """
    signature = inspect.signature(function)
    resolve = Resolver(function, local)
    if not check or not _annotations(signature):
        return _wrapper(function, signature, None)
    hints, missing = _resolved(signature, resolve)
    if not missing:
        return _wrapper(function, signature, hints, sizes)
    return _deferred(function, signature, resolve, sizes)


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


def _deferred(function: F, signature: inspect.Signature, resolve: Resolver, sizes: str | None) -> F:
    """A wrapper that becomes the real one at its first call, when names that are defined later are there.

    A name that is still missing then (imported for the type checker only) leaves its annotation unchecked.
    """

    def become() -> None:
        hints, _ = _resolved(signature, resolve)
        real = cast(FunctionType, _wrapper(function, signature, hints, sizes))
        waiting.__globals__.update(real.__globals__)
        waiting.__defaults__, waiting.__kwdefaults__ = real.__defaults__, real.__kwdefaults__
        waiting.__code__ = real.__code__

    space: dict[str, Any] = {"_st_become": become}
    name = "_st_waiting"
    body = f"def {name}(*args, **kwargs):\n    _st_become()\n    return _st_self(*args, **kwargs)\n"
    waiting = _compiled(body, name, function, space)
    space["_st_self"] = waiting
    return cast(F, update_wrapper(waiting, function))


def _wrapper(function: F, signature: inspect.Signature, hints: Mapping[str, Any] | None, sizes: str | None = None) -> F:
    space: dict[str, Any] = {
        "_st_function": function,
        "_st_compiling": torch.compiler.is_compiling,
        "_st_explained": explained,
    }
    fields = _call_fields(function, signature, space)
    if hints is None:
        text = _UNCHECKED.format(**fields)
    else:
        border = Border(function, signature, hints, sizes)
        space |= {
            "_st_switch": SWITCH,
            "_st_config": config,
            "_st_everything": _EVERYTHING,
            "_st_seen": border.seen,
            "_st_admit": border.admit,
            "_st_admit_result": border.admit_result,
            "_st_no_key": _no_key,
        }
        fields["key"] = _key_code(border, space)
        fields["result"] = _result_code(function, hints["return"], space).format(**fields)
        text = _CHECKED.format(**fields)
    wrapper = _compiled(text, fields["name"], function, space)
    return cast(F, update_wrapper(wrapper, function))


def _compiled(text: str, name: str, function: Callable[..., Any], space: dict[str, Any]) -> FunctionType:
    # The namespace has no __name__ on purpose: torch.compile would look our helpers up in the module of that name.
    exec(compile(text, f"<simpletorch border of {function.__qualname__}>", "exec"), space)
    made = space.pop(name)
    assert isinstance(made, FunctionType)
    return made


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
            default = f"_st_default_{p.name}"
            part = f"None if {p.name} is {default} else ({part}), "
        code += part
    return f"({code})"


def _result_code(function: Callable[..., Any], hint: Any, space: dict[str, Any]) -> str:
    plain = inspect.unwrap(function)
    if is_ignorable(hint) or inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        return ""  # what a generator yields comes after the call
    part = expression(hint, "_st_result", space)
    return _RESULT.replace("{result_key}", "_st_no_key()" if part is None else f"({part})")


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
    waits = inspect.iscoroutinefunction(inspect.unwrap(function))
    return {
        "name": function.__name__ if function.__name__.isidentifier() else "call",
        "prefix": "async " if waits else "",
        "awaited": "await " if waits else "",
        "declared": ", ".join(declared),
        "passed": ", ".join(passed),
        "values": "".join(f"{p.name}, " for p in parameters),
    }


# -- what users write ------------------------------------------------------------------------------------------------


def checked(function: F) -> F:
    """Enforce a function's annotations when it is called, and explain what torch raises inside.

    ::

        @checked
        def scores(q: Tensor[Float32, B, T, D], k: Tensor[Float32, B, S, D]) -> Tensor[Float32, B, T, S]:
            return q @ k.mT

    Shapes, dtypes and devices are checked once for each combination that arrives (see `simpletorch.config`), with the
    meaning of jaxtyping and beartype: a size variable has one value in one call, the result included. Under
    ``torch.compile``, export and tracing nothing is checked; under autocast a float annotation means "a float".

    Functions, coroutine functions, generator functions (their arguments), methods, class and static methods and
    properties can be decorated. With ``SIMPLETORCH_CHECK=off`` the function comes back as it is.

    Raises:
        TypeError: ``function`` is something else.
    """
    if config.check == "off":
        return function
    return cast(F, _checked(function, sys._getframe(1)))


def _checked(function: Any, frame: FrameType) -> Any:
    if isinstance(function, classmethod | staticmethod):
        return type(function)(_checked(function.__func__, frame))
    if isinstance(function, property):
        get, put, remove = (
            None if part is None else _checked(part, frame) for part in (function.fget, function.fset, function.fdel)
        )
        return property(get, put, remove, function.__doc__)
    if not isinstance(function, FunctionType):
        what = f"the class {function.__name__}" if isinstance(function, type) else f"a {type(function).__name__}"
        raise TypeError(
            f"checked takes a function, not {what}; decorate its methods, or derive from simpletorch.nn.Module"
        )
    return bordered(function, local_names(function, frame))


def local_names(function: FunctionType, frame: FrameType) -> Mapping[str, Any]:
    """The names around a definition that its string annotations may use."""
    if frame.f_code.co_name == "<module>" or not any(isinstance(a, str) for a in function.__annotations__.values()):
        return {}
    names: dict[str, Any] = {}
    outer: FrameType | None = frame
    while outer is not None and outer.f_globals is frame.f_globals and outer.f_code.co_name != "<module>":
        names = {**outer.f_locals, **names}
        outer = outer.f_back
    return names
