"""The signature of an export: from ``forward``'s annotations, from texts, or from tensors that the caller gives."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args, get_origin

import torch
from torch import nn

from simpletorch.checks import UNRESOLVED, is_tensor_hint
from simpletorch.errors import TypeMismatch, as_also
from simpletorch.export._signature import Constant, Group, Node, Symbol, TensorSpec, parts_of, substituted, tensors_of
from simpletorch.nn._summary_inputs import Sized, class_sizes, forward_hints, read_inputs
from simpletorch.shapes import Dim, Expr, parse_axes, parse_dim, substitute, var
from simpletorch.shapes.dim import Var

__all__ = ["Dynamic", "Parameter", "Request", "read_request"]

Dynamic: TypeAlias = Mapping[str, "int | tuple[int, int | None] | str"]
_KINDS: Final = inspect.Parameter


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of ``forward``: its type, and the value that the caller gave for it."""

    name: str
    node: Node
    keyword_only: bool = False


@dataclasses.dataclass(frozen=True)
class Request:
    """A request to export: a model, its arguments, and the bounds of its symbols."""

    model: nn.Module
    parameters: tuple[Parameter, ...]
    symbols: tuple[Symbol, ...]
    given: Mapping[str, torch.Tensor]  # tensors of the caller, by the name of their place

    def specs(self) -> tuple[TensorSpec, ...]:
        """The tensors that go in, in order."""
        return tuple(spec for parameter in self.parameters for spec in tensors_of(parameter.node))


def read_request(model: nn.Module, inputs: Any, dynamic: Dynamic | None) -> Request:
    """Read the arguments of an export.

    Args:
        inputs: nothing (the annotations say it all), one input, a tuple of inputs or a dict by parameter. Each is a
            tensor, a text such as ``"Int64[B, T]"``, sizes such as ``("B", 784)``, or a container of these.
        dynamic: by the name of a size: its number, or its least and most; by the name of a parameter: the sizes of its
            tensor, ``"batch 784"``.

    Raises:
        TypeMismatch: (a `TypeError` too) an input isn't described.
        ValueError: a name of ``dynamic`` is none of the model's, or a range is empty.
    """
    values = _by_name(model, inputs)
    dynamic = dict(dynamic or {})
    given: dict[str, torch.Tensor] = {}
    reader = _Reader(model, dynamic, given)
    parameters = tuple(reader.parameters(values))
    fixed = {name: value for name, value in dynamic.items() if isinstance(value, int)}
    parameters = tuple(dataclasses.replace(p, node=substituted(p.node, fixed)) for p in parameters)
    names = dict.fromkeys(name for p in parameters for spec in tensors_of(p.node) for name in spec.symbols())
    reader.refuse_unknown({*names, *fixed})
    return Request(model, parameters, tuple(_symbol(name, dynamic.get(name)) for name in names), given)


def _symbol(name: str, limits: Any) -> Symbol:
    if limits is None:
        return Symbol(name)
    least, most = limits
    if least < 0 or (most is not None and most < least):
        raise ValueError(
            f"export: dynamic says that {name} is from {least} to {most}; write (least, most) or (1, None)"
        )
    return Symbol(name, least, most)


def _by_name(model: nn.Module, inputs: Any) -> dict[str, Any]:
    """The caller's inputs by the names of the parameters."""
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        return dict(inputs)
    several = isinstance(inputs, tuple) and not _is_sizes(inputs) and not hasattr(inputs, "_fields")
    values = inputs if several else (inputs,)
    names = [p.name for p in inspect.signature(inspect.unwrap(type(model).forward)).parameters.values()][1:]
    if len(values) > len(names):
        raise as_also(TypeMismatch, TypeError)(
            len(names),
            len(values),
            f"{type(model).__name__}.forward takes {len(names)} inputs, but {len(values)} are given",
        )
    return dict(zip(names, values, strict=False))


def _is_sizes(value: Any) -> bool:
    # "Float32[batch, 784]" is a tensor, and several of them are no sizes
    sizes = type(value) in (tuple, list, torch.Size) and all(
        type(v) is int or (type(v) is str and "[" not in v) for v in value
    )
    return sizes and bool(value)


@dataclasses.dataclass
class _Reader:
    """Reads the parameters of one model; ``given`` collects the caller's tensors."""

    model: nn.Module
    dynamic: Mapping[str, Any]
    given: dict[str, torch.Tensor]

    def __post_init__(self) -> None:
        self.sizes = class_sizes(self.model)
        self.hints = forward_hints(self.model)
        floats = (t.dtype for t in (*self.model.parameters(), *self.model.buffers()) if t.dtype.is_floating_point)
        self.float = next(floats, torch.get_default_dtype())

    def parameters(self, values: Mapping[str, Any]) -> Iterator[Parameter]:
        """The parameters that are passed: those that have no default, and those that a value is given for."""
        names = {p.name for p in self.hints}
        for name in values:
            if name not in names:
                raise as_also(TypeMismatch, TypeError)(
                    sorted(names), name, f"{type(self.model).__name__}.forward has no parameter {name}"
                )
        for parameter, hint in self.hints.items():
            if parameter.kind in (_KINDS.VAR_POSITIONAL, _KINDS.VAR_KEYWORD):
                continue
            if parameter.name not in values and parameter.default is not _KINDS.empty:
                continue
            hint = self._with_arguments(parameter, hint)
            node = self._node(hint, parameter.name, values.get(parameter.name, _MISSING))
            if node is None:
                self._refuse(parameter, hint)
            yield Parameter(parameter.name, node, parameter.kind is _KINDS.KEYWORD_ONLY)

    def _with_arguments(self, parameter: inspect.Parameter, hint: Any) -> Any:
        """The annotation as written, with the arguments of a user's generic class, which the checks don't read."""
        raw = parameter.annotation
        return hint if isinstance(raw, str) or is_tensor_hint(hint) or raw is _KINDS.empty else raw

    def _refuse(self, parameter: inspect.Parameter, hint: Any) -> typing.NoReturn:
        kind = type(self.model).__name__
        annotated = parameter.annotation is not _KINDS.empty
        why = "states no shape" if annotated else "is missing"
        way = (
            f'write {parameter.name}: Float32[torch.Tensor, "batch 784"] (or Tensor[Float32, B, 784]), or pass '
            f'inputs={{"{parameter.name}": "Float32[batch, 784]"}} or a tensor'
        )
        inner = get_args(hint)
        if get_origin(hint) in (list, tuple, Sequence) and inner and is_tensor_hint(inner[0]):
            why = "doesn't say how many tensors there are"
            text = f"{inner[0].dtype.__name__}[{', '.join(inner[0].dim_str.split())}]"
            way = f'pass as many as there are: inputs={{"{parameter.name}": ["{text}", "{text}"]}}, or tensors'
        raise as_also(TypeMismatch, TypeError)(
            "an annotation with sizes",
            None,
            f"the annotation of {parameter.name} in {kind}.forward {why}, and no input is given for it, "
            "so nothing says what the artefact takes",
            operation="export",
            hint=way,
        )

    def refuse_unknown(self, names: set[str]) -> None:
        """Raise for names in ``dynamic`` that are neither a size nor a parameter."""
        parameters = {p.name for p in self.hints}
        for name, value in self.dynamic.items():
            if name not in (parameters if isinstance(value, str) else names):
                known = ", ".join(sorted(parameters if isinstance(value, str) else names)) or "none"
                what = "parameter" if isinstance(value, str) else "open size"
                raise ValueError(f"export: dynamic names {name}, which is no {what} of the model's; it has {known}")

    # -- nodes ------------------------------------------------------------------------------------------------------

    def _node(self, hint: Any, name: str, value: Any) -> Node | None:
        """The type from an annotation and a value; None if they aren't enough."""
        if isinstance(value, str) or _is_sizes(value):
            return self._sized(read_inputs(self.model, (value,), {}).args[0], name)
        if isinstance(value, Sized):
            return self._sized(value, name)
        if isinstance(value, torch.Tensor):
            return self._tensor(hint, name, value)
        if value is _MISSING:
            return self._from_hint(hint, name)
        if value is None or isinstance(value, bool | int | float):
            return Constant(value)
        parts = parts_of(value)
        if parts is None:
            return None
        kind, title, items = parts
        hints = self._inner(hint, value)
        nodes = [self._node(hints.get(key, hints.get("*")), f"{name}_{key}", item) for key, item in items]
        if any(node is None for node in nodes):
            return None
        keys = tuple(key for key, _ in items) if kind in ("dict", "record") else ()
        cls = type(value) if kind == "record" else None
        return Group(kind, keys, tuple(n for n in nodes if n is not None), title, cls)

    def _sized(self, sized: Any, name: str) -> Node | None:
        if not isinstance(sized, Sized):
            return None
        return TensorSpec(name, self.float if sized.dtype is None else sized.dtype, sized.shape)

    def _tensor(self, hint: Any, name: str, value: torch.Tensor) -> TensorSpec:
        """The place of a tensor of the caller's: dtype and rank are its own, open sizes those of the annotation."""
        self.given[name] = value
        text = self.dynamic.get(name)
        axes = text if isinstance(text, str) else hint.dim_str if is_tensor_hint(hint) else None
        if axes is None:
            return TensorSpec(name, value.dtype, tuple(value.shape))
        return TensorSpec(name, value.dtype, self._shape(axes, name, value.ndim))

    def _from_hint(self, hint: Any, name: str) -> Node | None:
        """The node that an annotation alone describes."""
        if hint is UNRESOLVED or hint is None:
            return None
        if is_tensor_hint(hint):
            text = self.dynamic.get(name)
            return TensorSpec(
                name, self._dtype(hint), self._shape(text if isinstance(text, str) else hint.dim_str, name)
            )
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            return self._group("tuple", "", [(str(i), a) for i, a in enumerate(arguments)], name, None)
        if origin in (typing.Union, types.UnionType) and type(None) in arguments:
            return Constant(None)
        cls = origin if isinstance(origin, type) else hint
        fields = _fields(hint)
        if isinstance(cls, type) and fields is not None:
            return self._group("record", cls.__name__, list(fields.items()), name, cls)
        return None

    def _group(self, kind: str, title: str, hints: Sequence[tuple[str, Any]], name: str, cls: Any) -> Node | None:
        nodes = [self._from_hint(hint, f"{name}_{key}") for key, hint in hints]
        if any(node is None for node in nodes):
            return None
        keys = tuple(key for key, _ in hints) if kind == "record" else ()
        return Group(kind, keys, tuple(n for n in nodes if n is not None), title, cls)

    def _inner(self, hint: Any, value: Any) -> Mapping[str, Any]:
        """The annotations of the items of a container, by key; ``*`` for all."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            return {str(i): a for i, a in enumerate(arguments)}
        if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            return {"*": arguments[0]} if arguments else {}
        if isinstance(value, dict):
            return {"*": arguments[-1]} if arguments else {}
        return _fields(hint) or _fields(type(value)) or {}

    def _dtype(self, hint: Any) -> torch.dtype:
        """The dtype of the artefact's input: the parameters' own where the annotation allows it."""
        names = hint.dtypes if isinstance(hint.dtypes, list | tuple) else ()
        allowed = [
            d for d in (getattr(torch, n, None) for n in names if isinstance(n, str)) if isinstance(d, torch.dtype)
        ]
        for dtype in (self.float, torch.int64):
            if not allowed or dtype in allowed:
                return dtype
        return allowed[0]

    def _shape(self, text: str, name: str, rank: int | None = None) -> tuple[Dim, ...]:
        """The sizes of an annotation; a variadic part is as many dims as the caller's tensor has left, else one."""
        axes = parse_axes(text)
        rest = 1 if rank is None else rank - sum(axis.kind in ("dim", "any") for axis in axes)
        shape: list[Dim] = []
        for axis in axes:
            if axis.kind == "dim":
                size = parse_dim(axis.expression)
                known = {Var(n): s for n, s in self.sizes.items()}
                shape.append(substitute(size, known) if isinstance(size, Expr) else size)
            elif axis.kind == "any":
                shape.append(var(f"{name}_{len(shape)}"))
            else:
                called = axis.expression or name
                shape += [var(called if rest == 1 else f"{called}_{i}") for i in range(rest)]
        return tuple(shape)


_MISSING: Final = object()


def _fields(hint: Any) -> dict[str, Any] | None:
    """The annotations of a record's fields, with the arguments of its class in the place of its parameters."""
    origin = get_origin(hint)
    cls: Any = origin if isinstance(origin, type) else hint
    if not isinstance(cls, type) or not (hasattr(cls, "_fields") or dataclasses.is_dataclass(cls)):
        return None
    try:
        hints = typing.get_type_hints(cls)
    except NameError:
        return None
    names = cls._fields if hasattr(cls, "_fields") else [f.name for f in dataclasses.fields(cls)]
    arguments = get_args(hint)
    parameters = getattr(cls, "__parameters__", ())
    if arguments and len(arguments) == len(parameters):
        by = {p.__name__: _argument(a) for p, a in zip(parameters, arguments, strict=True)}
        hints = {name: _renamed(h, by) for name, h in hints.items()}
    return {name: hints[name] for name in names if name in hints}


def _argument(argument: Any) -> str:
    text = argument if isinstance(argument, str) else getattr(argument, "__forward_arg__", None)
    return str(text if text is not None else getattr(argument, "__name__", argument))


def _renamed(hint: Any, by: Mapping[str, str]) -> Any:
    """An annotation of a tensor with other names in it."""
    if not is_tensor_hint(hint):
        return hint
    known = {Var(name): parse_dim(text) for name, text in by.items()}
    words = []
    for word, axis in zip(hint.dim_str.split(), parse_axes(hint.dim_str), strict=True):
        size = substitute(parse_dim(axis.expression), known) if axis.kind == "dim" else None
        words.append(word if size is None else str(size).replace(" ", ""))
    return hint.dtype[hint.array_type, " ".join(words)]
