"""A signature that somebody states for another's module: read from a function, a protocol or a ``Callable``."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, Final, ForwardRef, TypeVar, get_args, get_origin

from torch import nn

from simpletorch.checks import UNRESOLVED, Resolver, is_tensor_hint, mapped
from simpletorch.errors import TypeMismatch, as_also

__all__ = ["Stated", "read_signature"]

_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Stated:
    """Parameters and result of a call: ``fields`` are the attributes of another result than a tensor, with their types.

    ``result`` is the type of the whole, Any where its fields are looked at.
    """

    parameters: tuple[inspect.Parameter, ...]
    result: Any
    fields: Mapping[str, Any]


def read_signature(
    model: type[nn.Module], signature: object, names: Mapping[str, Any], *, shared: bool = False
) -> Stated:
    """The parameters and result that ``signature`` states for ``model``.

    Args:
        model: the class.
        signature: the argument of `typed`.
        names: those around the call of `typed`.
        shared: the signature is for many models, so only the parameters that this model has count. The arguments that
            ``*args`` and ``**kwargs`` let pass are the model's own, about which the signature says nothing.

    Raises:
        TypeMismatch: (a `TypeError` too) it is nothing that says so, or names a parameter that the model lacks.
    """
    if get_origin(signature) is Callable:
        found = _of_callable(model, signature)
    elif isinstance(function := _function(signature), FunctionType):
        found = _of_function(function, names, is_method=function is not signature)
    else:
        reason = (
            f"signature is {signature!r}; a function with annotations, a Callable[[…], …] or a protocol with "
            "__call__ describes the inputs and outputs of a model"
        )
        raise as_also(TypeMismatch, TypeError)("a signature", type(signature).__name__, reason, operation="typed")
    if shared:
        own = _parameters(model)
        takes_more = any(p.kind is p.VAR_KEYWORD for p in own.values())
        kept = [p for p in found.parameters if p.kind not in _VARIADIC and (takes_more or p.name in own)]
        return replace(found, parameters=tuple(kept))
    _refuse_strangers(model, found)
    return found


def _function(signature: object) -> object:
    """The function that has the annotations: of a class, its ``__call__`` or ``forward``."""
    if not isinstance(signature, type):
        return signature
    calls = (vars(base).get(name) for base in signature.__mro__ for name in ("__call__", "forward"))
    return next((inspect.unwrap(call) for call in calls if isinstance(call, FunctionType)), signature)


def _of_function(function: FunctionType, names: Mapping[str, Any], *, is_method: bool) -> Stated:
    resolve = Resolver(function, names)
    signature = inspect.signature(function)
    parameters = [
        p.replace(annotation=_known(resolve(p.annotation)))
        for p in list(signature.parameters.values())[1 if is_method else 0 :]
    ]
    annotation = signature.return_annotation
    if isinstance(annotation, str):
        # not by the resolver, which drops the sizes of a generic class
        annotation = _evaluated(annotation, {**function.__globals__, **names})
    fields = _fields(annotation)
    return Stated(tuple(parameters), Any if fields else _known(resolve(annotation)), fields)


def _of_callable(model: type[nn.Module], signature: object) -> Stated:
    """Of a ``Callable`` the parameters have no names, so they are the model's first ones."""
    *given, result = get_args(signature)
    wanted = [] if given == [Ellipsis] else list(given[0])
    own = [p for p in _parameters(model).values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(own[i].name if i < len(own) else f"argument_{i}", kind, annotation=hint)
        for i, hint in enumerate(wanted)
    ]
    fields = _fields(result)
    return Stated(tuple(parameters), Any if fields else result, fields)


def _known(hint: Any) -> Any:
    return Any if hint is UNRESOLVED else hint


def _refuse_strangers(model: type[nn.Module], stated: Stated) -> None:
    """Raise a `TypeMismatch` for a parameter that ``forward`` surely doesn't take, or not at this place."""
    own = _parameters(model)
    faults: list[str] = []
    if not any(p.kind in _VARIADIC for p in own.values()):
        strangers = [p.name for p in stated.parameters if p.kind not in _VARIADIC and p.name not in own]
        has = ", ".join(own) or "no parameter"
        faults += [f"the signature has {name}, but {model.__name__}.forward has {has}" for name in strangers]
    placed = [p for p in stated.parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    for p, name in zip(placed, own, strict=False):
        if p.name in own and p.name != name:
            faults.append(f"{model.__name__}.forward has {name} where the signature has {p.name}: put it behind a *")
    if faults:
        given = tuple(p.name for p in stated.parameters)
        raise as_also(TypeMismatch, TypeError)(tuple(own), given, "; ".join(faults), operation="typed")


def _parameters(model: type[nn.Module]) -> dict[str, inspect.Parameter]:
    """Those of the class's ``forward``, without ``self``."""
    return dict(list(inspect.signature(model.forward).parameters.items())[1:])


# -- results that are no tensors ---------------------------------------------------------------------------------------


def _fields(annotation: Any) -> dict[str, Any]:
    """The fields of a protocol, a dataclass or a named tuple with their types, in the sizes of the call."""
    origin = get_origin(annotation)
    cls, args = (annotation, ()) if origin is None else (origin, get_args(annotation))
    if not isinstance(cls, type) or is_tensor_hint(cls):
        return {}
    is_record = dataclasses.is_dataclass(cls) or hasattr(cls, "_fields") or getattr(cls, "_is_protocol", False)
    if not is_record:
        return {}
    renamed = {
        parameter.__name__: _text(arg)
        for parameter, arg in zip(getattr(cls, "__parameters__", ()), args, strict=False)
        if isinstance(parameter, TypeVar)
    }
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        scope = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        for name, hint in inspect.get_annotations(base).items():
            found[name] = _renamed(_evaluated(hint, scope), renamed)
    return {name: hint for name, hint in found.items() if hint is not Any}


def _evaluated(hint: Any, scope: Mapping[str, Any]) -> Any:
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, dict(scope))  # as `typing.get_type_hints` does
    except (NameError, SyntaxError):  # imported for the type checker only
        return Any


def _text(size: Any) -> str | None:
    """A size as jaxtyping writes it; None for one that isn't known."""
    if isinstance(size, TypeVar):
        return size.__name__
    text = size.__forward_arg__ if isinstance(size, ForwardRef) else size
    if isinstance(text, str | int):
        return str(text) if str(text).isalnum() else f"({text})".replace(" ", "")
    return None


def _renamed(hint: Any, names: Mapping[str, str | None]) -> Any:
    """The hint with the sizes of a class in place of its parameters."""

    def change(tensor: Any) -> Any:
        if not is_tensor_hint(tensor):
            return tensor
        axes = [_axis(axis, names) for axis in tensor.dim_str.split()]
        return tensor.dtype[tensor.array_type, " ".join(axes)]

    return mapped(hint, change) if names else hint


def _axis(axis: str, names: Mapping[str, str | None]) -> str:
    words = re.findall(r"[A-Za-z_]\w*", axis)
    if any(word in names and names[word] is None for word in words):
        return "_"
    return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]) or word[0], axis)
