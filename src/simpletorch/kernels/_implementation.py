"""What runs on a device: a user's implementation, held to what the operator's annotation promises."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import FunctionType
from typing import Any, Final

import torch

from simpletorch.checks import Border
from simpletorch.errors import DeviceMismatch, DTypeMismatch, TypeMismatch
from simpletorch.errors.context import describe, dtype_name
from simpletorch.kernels._fake import promised_dtypes, tensors
from simpletorch.kernels._schema import Plain, Signature, TensorList
from simpletorch.shapes.sentences import dtype_differs

__all__ = ["fitting", "kernel"]

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
    """An implementation as torch.library runs it: outside of autocast, its result as promised, contiguous and new.

    Raises:
        ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch: when it runs, and gives something else.
    """
    call = fitting(signature, operator, label, function)
    promise = _Promise(signature, f"{operator} ({label})")

    def run(*values: Any) -> Any:
        for device_type in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device_type):
                with torch.autocast(device_type, enabled=False):
                    return promise.kept(values, call(*values))
        return promise.kept(values, call(*values))

    return run


class _Promise:
    """What the annotation says of the results, looked at once for each combination of shapes and dtypes."""

    def __init__(self, signature: Signature, where: str) -> None:
        self._signature = signature
        self._where = where
        self._seen: set[Hashable] = set()
        self._tensors = tuple(i for i, p in enumerate(signature.parameters) if not isinstance(p.form, Plain))
        self._sizes = tuple(
            i for i, p in enumerate(signature.parameters) if isinstance(p.form, Plain) and p.form.type == "SymInt"
        )
        self._border = _border(signature, where)

    def kept(self, values: Sequence[Any], result: Any) -> Any:
        """The result, contiguous and sharing no memory with an argument.

        Raises:
            ShapeMismatch, DTypeMismatch, DeviceMismatch, TypeMismatch: it isn't what was promised.
        """
        returns = self._signature.returns
        results = (result,) if returns == "one" else result if result is not None else ()
        try:
            given = _flat([values[i] for i in self._tensors])
            key = (
                *[(t.shape, t.dtype) for t in given if t is not None],
                *[values[i] for i in self._sizes],
                *[(t.shape, t.dtype) for t in results],
            )
            known = key in self._seen
        except (AttributeError, TypeError):  # what it gave is no tensor, or no tuple
            known, given, key = False, [], None
        if not known:
            self._check(values, result)
            if len(self._seen) >= _MOST_SIGNATURES:
                self._seen.clear()
            self._seen.add(key)
        if returns == "nothing":
            return None
        places = {t.untyped_storage().data_ptr() for t in given if t is not None}
        own = []
        for tensor in results:
            place = tensor.untyped_storage().data_ptr()
            # two results, or a result and an argument, in one memory: autograd and compiled programs rely on this
            fresh = tensor.contiguous() if place not in places else tensor.clone(memory_format=torch.contiguous_format)
            places.add(place)
            own.append(fresh)
        return own[0] if returns == "one" else tuple(own) if returns == "tuple" else own

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


def _flat(values: Sequence[Any]) -> list[Any]:
    """Tensors, those of lists among them one by one."""
    if not any(isinstance(v, list | tuple) for v in values):
        return list(values)
    return [t for v in values for t in (v if isinstance(v, list | tuple) else (v,))]


def _border(signature: Signature, where: str) -> Border:
    """What the annotations admit; a failure is said of ``where``."""

    def implementation() -> None: ...

    assert isinstance(implementation, FunctionType)
    implementation.__qualname__ = where
    hints: Mapping[str, Any] = signature.hints
    return Border(implementation, signature.plain, hints)
