"""The implementation for a device: the user's, checked against the operator's annotation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any, Final

import torch

from simpletorch.checks import Border
from simpletorch.errors import DeviceMismatch, DTypeMismatch, TypeMismatch
from simpletorch.errors.context import describe, dtype_name
from simpletorch.kernels._fake import promised_dtypes, tensors
from simpletorch.kernels._schema import Plain, Signature, TensorList, TensorSpec
from simpletorch.shapes.sentences import dtype_differs

__all__ = ["fitting", "kernel", "outside_autocast"]

_MOST_SIGNATURES: Final = 1024


def fitting(signature: Signature, operator: str, label: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls an implementation as the dispatcher does: with all arguments, by position.

    Raises:
        TypeError: the implementation can't be called with the operator's parameters.
    """
    keywords = [p.name for p in signature.parameters if p.keyword_only]
    positions = len(signature.parameters) - len(keywords)
    try:
        inspect.signature(function).bind(*range(positions), **dict.fromkeys(keywords))
    except TypeError as error:
        raise TypeError(
            f"the {label} of {operator} can't be called with its parameters ({', '.join(signature.names)}): {error}"
        ) from None
    tuples = [i for i, p in enumerate(signature.parameters) if _is_tuple(p.form)]
    if not keywords and not tuples:
        return function

    def call(*values: Any) -> Any:
        given = [tuple(v) if i in tuples else v for i, v in enumerate(values)]
        return function(*given[:positions], **dict(zip(keywords, given[positions:], strict=True)))

    return call


def _is_tuple(form: object) -> bool:
    return isinstance(form, TensorList) and form.container is tuple


def kernel(signature: Signature, operator: str, label: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An implementation that keeps its promise: its result is what the annotation says, contiguous and new.

    Raises:
        ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch: when it runs, and gives something else.
    """
    call = fitting(signature, operator, label, function)
    kept = _Promise(signature, f"{operator} ({label})").kept

    def run(*values: Any) -> Any:
        return kept(values, call(*values))

    return run


def outside_autocast(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same, where autocast may be on: the dispatcher leaves it on inside of operators."""

    def run(*values: Any) -> Any:
        for device_type in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device_type):
                with torch.autocast(device_type, enabled=False):
                    return call(*values)
        return call(*values)

    return run


class _Promise:
    """The annotation of the results, checked once for each combination of shapes and dtypes."""

    def __init__(self, signature: Signature, where: str) -> None:
        self._signature = signature
        self._where = where
        self._seen: set[Hashable] = set()
        self._returns = signature.returns
        tensors = [i for i, p in enumerate(signature.parameters) if not isinstance(p.form, Plain)]
        lists = any(signature.parameters[i].is_list for i in tensors)
        pick = itemgetter(*tensors) if len(tensors) > 1 else lambda values: [values[i] for i in tensors]
        self._given: Callable[[Sequence[Any]], Sequence[Any]] = (lambda v: _flat(pick(v))) if lists else pick
        self._border = _border(signature, where)
        self._key = _key(signature)

    def kept(self, values: Sequence[Any], result: Any) -> Any:
        """The result, contiguous and sharing no memory with an argument.

        Raises:
            ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch: the result isn't as promised.
        """
        try:
            key = self._key(values, result)
            known = key in self._seen
        except (AttributeError, TypeError, IndexError):  # what it gave is no tensor, or no tuple
            known, key = False, None
        if not known:
            self._check(values, result)
            if len(self._seen) >= _MOST_SIGNATURES:
                self._seen.clear()
            self._seen.add(key)
        if self._returns == "nothing":
            return None
        places = [t.untyped_storage().data_ptr() for t in self._given(values) if t is not None]
        if self._returns == "one":
            return _own(result, places)
        own = [_own(tensor, places) for tensor in result]
        return tuple(own) if self._returns == "tuple" else own

    def _check(self, values: Sequence[Any], result: Any) -> None:
        signature = self._signature
        converted = [tuple(v) if _is_tuple(p.form) else v for p, v in zip(signature.parameters, values, strict=True)]
        if signature.returns == "nothing":
            if result is not None:
                reason = f"the result should be None, but is of type {type(result).__name__}"
                raise TypeMismatch(None, type(result).__name__, reason, operation=self._where)
            return
        self._border.admit_result(None, set(), None, converted, result)
        results = (result,) if signature.returns == "one" else result
        self._check_dtypes(values, results)
        self._check_devices(values, results)

    def _check_dtypes(self, values: Sequence[Any], results: Sequence[torch.Tensor]) -> None:
        if self._signature.results is None:
            return
        for i, (dtype, tensor) in enumerate(zip(promised_dtypes(self._signature, values), results, strict=True)):
            if dtype is not None and tensor.dtype != dtype:
                name = self._name(i)
                right, got = dtype_name(dtype), dtype_name(tensor.dtype)
                operands = [describe(label, t) for _, t, label in tensors(self._signature, values)]
                raise DTypeMismatch(
                    right,
                    got,
                    dtype_differs(name, got, right),
                    operation=self._where,
                    operands=[*operands, describe(name, tensor)],
                )

    def _check_devices(self, values: Sequence[Any], results: Sequence[torch.Tensor]) -> None:
        first = next((t for _, t, _ in tensors(self._signature, values)), None)
        for i, tensor in enumerate(results):
            if first is not None and tensor.device != first.device:
                reason = f"{self._name(i)} is on {tensor.device}, but the arguments are on {first.device}"
                raise DeviceMismatch(str(first.device), str(tensor.device), reason, operation=self._where)

    def _name(self, index: int) -> str:
        return "the result" if self._signature.returns == "one" else f"the result[{index}]"


def _own(tensor: torch.Tensor, places: list[int]) -> torch.Tensor:
    """The tensor, contiguous and in none of the places in memory, to which its own is added.

    Autograd and compiled programs rely on that two results, or a result and an argument, share no memory.
    """
    place = tensor.untyped_storage().data_ptr()
    fresh = tensor.clone(memory_format=torch.contiguous_format) if place in places else tensor.contiguous()
    places.append(place)
    return fresh


def _key(signature: Signature) -> Callable[[Sequence[Any], Any], Hashable]:
    """The key of arguments and result that decides the check; written out, because each call computes it."""
    parts = []
    for i, parameter in enumerate(signature.parameters):
        form = parameter.form
        if isinstance(form, TensorList):
            parts.append(f"*[(t.shape, t.dtype) for t in v[{i}]]")
        elif isinstance(form, TensorSpec):
            seen = f"v[{i}].shape, v[{i}].dtype"
            parts.append(f"None if v[{i}] is None else ({seen})" if form.optional else seen)
        elif form.type == "SymInt":
            parts.append(f"v[{i}]")
    if signature.returns == "one":
        parts.append("r.shape, r.dtype")
    elif signature.returns != "nothing":
        parts.append("*[(t.shape, t.dtype) for t in r]")
    else:
        parts.append("r is None")
    made: Callable[[Sequence[Any], Any], Hashable] = eval(f"lambda v, r: ({', '.join(parts)},)")
    return made


def _flat(values: Sequence[Any]) -> list[Any]:
    """Tensors, those of lists among them one by one."""
    return [t for v in values for t in (v if isinstance(v, list | tuple) else (v,))]


def _border(signature: Signature, where: str) -> Border:
    """The border of the annotations; a failure names ``where``."""

    def implementation() -> None: ...

    assert isinstance(implementation, FunctionType)
    implementation.__qualname__ = where
    hints: Mapping[str, Any] = signature.hints
    return Border(implementation, signature.plain, hints)
