"""An operator's annotations: its parameters and results, and their schema for torch.library."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

import torch

from simpletorch._annotation import Phantom
from simpletorch.checks import UNRESOLVED, Resolver, is_tensor_hint
from simpletorch.dims import DimType
from simpletorch.shapes import Axis, DimSyntaxError, parse_axes

__all__ = ["Parameter", "Plain", "Signature", "TensorList", "TensorSpec", "read_signature"]


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor: the dtypes it may have (None: any), the annotation's own dtype, its axes (None: nothing is said)."""

    dtypes: tuple[torch.dtype, ...] | None = None
    kind: object = None
    axes: tuple[Axis, ...] | None = None
    optional: bool = False
    hint: Any = torch.Tensor

    @property
    def dtype(self) -> torch.dtype | None:
        """The one dtype that it has, if the annotation says one."""
        return self.dtypes[0] if self.dtypes is not None and len(self.dtypes) == 1 else None

    @property
    def is_differentiable(self) -> bool:
        """Whether its dtype may be one that has gradients."""
        return self.dtypes is None or any(d.is_floating_point or d.is_complex for d in self.dtypes)


@dataclass(frozen=True, slots=True)
class TensorList:
    """Several tensors in a list or tuple: ``items`` one by one, or ``item`` for any number of them."""

    container: type
    item: TensorSpec
    items: tuple[TensorSpec, ...] | None = None

    @property
    def is_differentiable(self) -> bool:
        """Whether one of them may have a gradient."""
        return any(spec.is_differentiable for spec in (self.items or (self.item,)))

    def specs(self, count: int) -> tuple[TensorSpec, ...]:
        """The spec of each of ``count`` tensors."""
        return self.items or (self.item,) * count


@dataclass(frozen=True, slots=True)
class Plain:
    """Another value than a tensor: its type in a schema, and the axis that it is the size of, if it is a ``Dim``."""

    type: str
    size: Axis | None = None


Form: TypeAlias = TensorSpec | TensorList | Plain


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operator."""

    name: str
    form: Form
    keyword_only: bool
    mutated: bool

    @property
    def is_list(self) -> bool:
        """Whether it is several tensors."""
        return isinstance(self.form, TensorList)

    @property
    def is_differentiable(self) -> bool:
        """Whether a gradient with respect to it is due."""
        return not isinstance(self.form, Plain) and self.form.is_differentiable


@dataclass(frozen=True)
class Signature:
    """An operator's parameters and results; ``results`` is None for a list whose length the annotation doesn't say."""

    parameters: tuple[Parameter, ...]
    results: tuple[TensorSpec, ...] | None
    returns: Literal["one", "tuple", "list", "nothing"]
    plain: inspect.Signature
    hints: Mapping[str, Any]

    @property
    def schema(self) -> str:
        """The parameters and results as torch.library writes them: ``(Tensor x, SymInt n) -> Tensor``."""
        # no defaults: the call fills them in, and the dispatcher would leave out arguments that are equal to theirs
        parameters = [_parameter_text(i, p) for i, p in enumerate(self.parameters)]
        match self.returns:
            case "nothing":
                result = "()"
            case "one":
                result = "Tensor"
            case "list":
                result = "Tensor[]"
            case "tuple":
                assert self.results is not None
                result = f"({', '.join('Tensor' for _ in self.results)})"
                result = f"({result})" if len(self.results) == 1 else result
        return f"({', '.join(parameters)}) -> {result}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(p.name for p in self.parameters)

    @cached_property
    def differentiable(self) -> tuple[int, ...]:
        """The positions of parameters that may have a gradient."""
        return tuple(i for i, p in enumerate(self.parameters) if p.is_differentiable)

    @cached_property
    def mutated(self) -> tuple[int, ...]:
        """The positions of parameters that the operator changes."""
        return tuple(i for i, p in enumerate(self.parameters) if p.mutated)


def _parameter_text(index: int, parameter: Parameter) -> str:
    form = parameter.form
    if isinstance(form, Plain):
        return f"{form.type} {parameter.name}"
    tensor = f"Tensor(a{index}!)" if parameter.mutated else "Tensor"
    if isinstance(form, TensorList):
        return f"{tensor}[] {parameter.name}"
    return f"{tensor}{'?' * form.optional} {parameter.name}"


# -- reading -----------------------------------------------------------------------------------------------------------


def read_signature(function: Callable[..., Any], local: Mapping[str, Any], mutates: Iterable[str]) -> Signature:
    """Read the annotations of ``function``.

    Raises:
        TypeError: an annotation is missing, or says something that no operator can take or give.
    """
    plain = inspect.signature(function)
    resolve = Resolver(function, local)
    mutated = frozenset((mutates,) if isinstance(mutates, str) else mutates)
    where = function.__qualname__.replace("<locals>.", "")
    if strange := sorted(mutated - plain.parameters.keys()):
        raise TypeError(f"{where} has no parameter {', '.join(strange)}, which mutates= says that it changes")
    hints = {p.name: _resolved(where, p.name, p.annotation, resolve) for p in plain.parameters.values()}
    hints["return"] = _resolved(where, "return", plain.return_annotation, resolve)
    parameters = tuple(_parameter(where, p, hints[p.name], p.name in mutated) for p in plain.parameters.values())
    return Signature(parameters, *_results(where, hints["return"]), plain, hints)


def _resolved(where: str, name: str, annotation: Any, resolve: Resolver) -> Any:
    if annotation is inspect.Signature.empty:
        if name == "return":
            right = 'write -> Float32[Tensor, "n"], or -> None if it only changes its arguments'
            raise TypeError(f"the result of {where} has no annotation, and an operator is made from it; {right}")
        raise TypeError(f"parameter {name} of {where} has no annotation, and an operator is made from its annotations")
    hint = resolve(annotation)
    if hint is UNRESOLVED:
        what = "the result" if name == "return" else f"parameter {name}"
        raise TypeError(f"the annotation of {what} of {where} names something that isn't defined (yet): {annotation}")
    return hint


def _parameter(where: str, parameter: inspect.Parameter, hint: Any, mutated: bool) -> Parameter:
    name = parameter.name
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        raise TypeError(f"{where} takes {stars}{name}, but an operator has a fixed number of parameters; take a list")
    form = _form(hint, f"parameter {name} of {where}")
    if form is None:
        raise TypeError(
            f"parameter {name} of {where} is {_text(hint)}, which no operator can take; it takes tensors, None, int, "
            "Dim, float, bool, str, torch.dtype, torch.device, and lists of tensors or numbers"
        )
    if mutated and isinstance(form, Plain):
        raise TypeError(f"{where} can't change its parameter {name}, which is no tensor")
    return Parameter(name, form, parameter.kind is inspect.Parameter.KEYWORD_ONLY, mutated)


_PLAIN: Final[dict[object, str]] = {
    bool: "bool",
    int: "SymInt",
    float: "float",
    str: "str",
    torch.dtype: "ScalarType",
    torch.device: "Device",
}


def _form(hint: Any, what: str) -> Form | None:
    """The meaning of a hint; None if an operator can't have it."""
    optional, members = _members(hint)
    if members == {int, float} or members == {bool, int, float}:
        return Plain("Scalar" + "?" * optional)
    if len(members) != 1:
        return None
    (hint,) = members
    spec = _tensor(hint, what, optional)
    if spec is not None:
        return spec
    plain = _plain(hint, what)
    if plain is not None:
        return Plain(plain.type + "?" * optional, plain.size)
    origin, args = get_origin(hint), get_args(hint)
    if not isinstance(origin, type) or not issubclass(origin, Sequence) or not args:
        return None
    several = origin is tuple and not (len(args) == 2 and args[1] is Ellipsis)
    forms = [_form(a, what) for a in (args if several else args[:1])]
    specs = tuple(f for f in forms if isinstance(f, TensorSpec))
    if len(specs) == len(forms) and not optional:
        # autograd sees into lists of tensors only, not into those with None
        if any(spec.optional for spec in specs):
            return None
        return TensorList(tuple if origin is tuple else list, specs[0], specs if several else None)
    kinds = {f.type for f in forms if isinstance(f, Plain)}
    if len(kinds) == 1 and all(isinstance(f, Plain) for f in forms) and kinds <= {"SymInt", "float", "bool"}:
        return Plain(f"{kinds.pop()}[]" + "?" * optional)
    return None


def _members(hint: Any) -> tuple[bool, set[Any]]:
    """Whether None is among the types that a hint allows, and the others."""
    if get_origin(hint) not in (Union, types.UnionType):
        return False, {hint}
    args = set(get_args(hint))
    return type(None) in args, args - {type(None)}


def _plain(hint: Any, what: str) -> Plain | None:
    if isinstance(hint, DimType):
        return Plain("SymInt", None if hint._axis is None else _axes(hint._axis.dim_str, what)[0])
    if get_origin(hint) is Literal:
        kinds = {type(value) for value in get_args(hint)}
        (hint,) = kinds if len(kinds) == 1 else (None,)
    found = _PLAIN.get(hint) if isinstance(hint, type) else None
    return None if found is None else Plain(found)


def _tensor(hint: Any, what: str, optional: bool) -> TensorSpec | None:
    if is_tensor_hint(hint):
        if not _is_tensor_class(hint.array_type):
            return None
        names = hint.dtypes if isinstance(hint.dtypes, tuple) else None
        known = [getattr(torch, name, None) for name in names or ()]  # jaxtyping knows dtypes that torch has not
        dtypes = None if names is None else tuple(d for d in known if isinstance(d, torch.dtype))
        return TensorSpec(dtypes, hint.dtype, _axes(hint.dim_str, what), optional, hint)
    if _is_tensor_class(hint):
        return TensorSpec(optional=optional, hint=hint)
    return None


def _is_tensor_class(cls: Any) -> bool:
    return isinstance(cls, Phantom) or (isinstance(cls, type) and issubclass(cls, torch.Tensor))


def _axes(text: str, what: str) -> tuple[Axis, ...]:
    try:
        return parse_axes(text)
    except DimSyntaxError as error:
        raise TypeError(f"{what}: {error}") from None


def _results(where: str, hint: Any) -> tuple[tuple[TensorSpec, ...] | None, Literal["one", "tuple", "list", "nothing"]]:
    what = f"the result of {where}"
    if hint is type(None):
        return (), "nothing"
    form = _form(hint, what)
    if isinstance(form, TensorSpec) and not form.optional:
        return (form,), "one"
    if isinstance(form, TensorList) and form.items is not None:
        return form.items, "tuple"
    if isinstance(form, TensorList) and form.container is list:
        return None, "list"
    raise TypeError(f"{what} is {_text(hint)}, but an operator gives a tensor, a tuple or list of tensors, or None")


def _text(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")
