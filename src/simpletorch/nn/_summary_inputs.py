"""The inputs to call a model with: tensors, sizes, or only the annotations of its ``forward``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn

from simpletorch import dtypes
from simpletorch.checks import UNRESOLVED, Resolver
from simpletorch.errors import TypeMismatch, as_also
from simpletorch.shapes import Dim, DimSyntaxError, Expr, evaluate, parse_axes, parse_dim, substitute, var, variables
from simpletorch.shapes.dim import Var

__all__ = ["Inputs", "Sized", "annotated_result", "class_sizes", "forward_hints", "read_inputs"]


@dataclass(frozen=True)
class Sized:
    """A tensor to be made: sizes may hold symbols; no dtype means that of the model's parameters."""

    shape: tuple[Dim, ...]
    dtype: torch.dtype | None

    def symbols(self) -> Iterator[str]:
        """The names of the sizes that are open, in order."""
        for size in self.shape:
            yield from sorted(v.name for v in variables(size))

    def at(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for these sizes.

        Raises:
            ValueError: a size comes out negative.
        """
        out = []
        for size in self.shape:
            number = evaluate(size, {v: sizes[v.name] for v in variables(size)})
            if number is None or number < 0:
                raise ValueError(f"summary: the size {size} is {number} for {dict(sizes)}")
            out.append(number)
        return tuple(out)


@dataclass(frozen=True)
class Inputs:
    """Arguments of a call, in which `Sized` stands for tensors to be made."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def symbols(self) -> tuple[str, ...]:
        """The names of the open sizes, in order of appearance."""
        found: dict[str, None] = {}
        for value in (*self.args, *self.kwargs.values()):
            _map(value, lambda s: found.update(dict.fromkeys(s.symbols())), Sized)
        return tuple(found)

    def made(self, make: Callable[[Any], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with every `Sized` and every tensor replaced by what ``make`` gives for it."""
        kinds = (Sized, torch.Tensor)
        return tuple(_map(a, make, kinds) for a in self.args), {k: _map(v, make, kinds) for k, v in self.kwargs.items()}


def _map(value: Any, change: Callable[[Any], Any], kinds: type | tuple[type, ...]) -> Any:
    """The value with everything of these kinds changed, in tuples, lists and dicts too."""
    if isinstance(value, kinds):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _map(item, change, kinds) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map(item, change, kinds) for item in value))
    if type(value) in (tuple, list):
        return type(value)(_map(item, change, kinds) for item in value)
    return value


def read_inputs(model: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Inputs:
    """The arguments as given, or from the annotations of ``forward`` if there are none.

    Raises:
        TypeMismatch: (a `TypeError` too) nothing is given, and an annotation states no shape.
        ValueError: a text is no shape.
    """
    if args or kwargs:
        return Inputs(tuple(map(_read, args)), {name: _read(value) for name, value in kwargs.items()})
    sizes = class_sizes(model)
    read: dict[str, Any] = {}
    for parameter, hint in forward_hints(model).items():
        if parameter.default is not inspect.Parameter.empty or parameter.kind in _STARRED:
            continue
        found = _from_hint(hint, sizes)
        if found is None:
            kind = type(model).__name__
            raise as_also(TypeMismatch, TypeError)(
                "an input",
                None,
                f"the annotation of {kind}.forward states no shape for {parameter.name}, and no input was given",
                operation="summary",
                hint='pass one: summary(model, ("B", 3, 224, 224)), summary(model, "Int64[B, T]") or a tensor',
            )
        read[parameter.name] = found
    return Inputs((), read)


_STARRED: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_TEXT: Final = re.compile(r"\s*(?:(?P<dtype>\w+)\s*)?\[(?P<dims>.*)\]\s*")


def _read(value: Any) -> Any:
    """An argument: sizes and annotations become a `Sized`, anything else stays."""
    if isinstance(value, str):
        return _from_text(value)
    if type(value) in (tuple, list, torch.Size) and value and all(type(v) in (int, str) for v in value):
        return Sized(tuple(_size(str(v)) for v in value), None)
    if type(value) in (tuple, list):
        return type(value)(map(_read, value))
    if isinstance(value, Mapping):
        return {key: _read(item) for key, item in value.items()}
    found = _from_hint(value, {}) if isinstance(value, type) else None
    return value if found is None else found


def _from_text(text: str) -> Sized:
    """``"Int64[B, T]"``, ``"B, 3, 224, 224"`` or ``"B 3 224 224"``."""
    matched = _TEXT.fullmatch(text)
    dims = matched["dims"] if matched else text
    words = [word for word in (dims.split(",") if "," in dims else dims.split()) if word.strip()]
    dtype = None
    if matched and matched["dtype"]:
        dtype = _dtype(matched["dtype"], text)
    return Sized(tuple(_size(word) for word in words), dtype)


def _dtype(name: str, text: str) -> torch.dtype | None:
    found = getattr(dtypes, name, None)
    if isinstance(found, type) and issubclass(found, dtypes.Shaped):
        return _ABSTRACT.get(name) if name in _ABSTRACT else found.dtype
    raise ValueError(f"summary: {name} in {text!r} is no dtype; write one such as Float32[B, 3] or Int64[B, T]")


# which dtype stands for an abstract one; None is the parameters' own
_ABSTRACT: Final[Mapping[str, torch.dtype | None]] = {
    **dict.fromkeys(("Float", "Inexact", "Num", "Real", "Shaped"), None),
    **dict.fromkeys(("Int", "Integer"), torch.int64),
    "UInt": torch.uint8,
    "Complex": torch.complex64,
}


def _size(text: str) -> Dim:
    try:
        size = parse_dim(text)
    except DimSyntaxError as error:
        raise ValueError(f"summary: {error}") from None
    if isinstance(size, int) and size < 0:
        raise ValueError(f"summary: the size {size} is negative")
    return size


# -- annotations ----------------------------------------------------------------------------------------------------


def _owner(model: nn.Module) -> type:
    """The class that defines ``forward``: its annotations speak of its own sizes."""
    return next(cls for cls in type(model).__mro__ if "forward" in vars(cls))


def class_sizes(model: nn.Module) -> dict[str, int]:
    """The sizes that ``__init__`` was given for ``n: Dim[N]``, by name."""
    own = _owner(model).__name__
    found: dict[str, int] = {}
    for attribute, sizes in vars(model).items():  # `simpletorch.checks` keeps them there
        if attribute.rstrip("_") == f"_sizes_of_{own}":
            found |= dict(sizes)
    return found


def forward_hints(model: nn.Module) -> dict[inspect.Parameter, Any]:
    """The parameters of ``forward`` but ``self``, with their annotations as types; Any where there is none."""
    forward = inspect.unwrap(type(model).forward)
    resolve = Resolver(forward, {_owner(model).__name__: _owner(model)})
    try:
        parameters = list(inspect.signature(forward).parameters.values())[1:]
    except (TypeError, ValueError):  # a scripted module's
        return {}
    return {p: resolve(p.annotation) for p in parameters}


def annotated_result(model: nn.Module) -> Any:
    """The annotated result of ``forward``."""
    forward = inspect.unwrap(type(model).forward)
    annotation = getattr(forward, "__annotations__", {}).get("return", inspect.Signature.empty)
    return Resolver(forward, {_owner(model).__name__: _owner(model)})(annotation)


def _from_hint(hint: Any, sizes: Mapping[str, int]) -> Any:
    """A `Sized` for a tensor's annotation; None for anything else."""
    text = getattr(hint, "dim_str", None)
    if hint is UNRESOLVED or text is None:
        return None
    shape: list[Dim] = []
    for axis in parse_axes(text):
        if axis.kind == "dim":
            size = parse_dim(axis.expression)
            shape.append(substitute(size, {Var(n): s for n, s in sizes.items()}) if isinstance(size, Expr) else size)
        elif axis.kind == "rest":  # any number of dims: one stands for them
            shape.append(var(axis.expression))
        else:
            taken = {v.name for s in shape for v in variables(s)}
            shape.append(var(next(n for n in "BNMKLPQ" if n not in taken)))
    return Sized(tuple(shape), _hinted_dtype(hint))


def _hinted_dtype(hint: Any) -> torch.dtype | None:
    """The dtype of an annotation that allows only one, or none of the floating ones."""
    names = hint.dtypes if isinstance(hint.dtypes, list | tuple) else ()
    found = [getattr(torch, name) for name in names if isinstance(name, str) and hasattr(torch, name)]
    if not found or (len(found) > 1 and any(d.is_floating_point for d in found)):
        return None
    return torch.int64 if torch.int64 in found else found[0]
