"""The result of an operator without values: sizes and dtypes from its annotations.

This is what torch.compile, torch.export, fake and meta tensors ask. For parts that the annotation leaves open
(``...``, a plain tensor, a list) the reference runs on tensors without values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from simpletorch.kernels._schema import Plain, Signature, TensorList, TensorSpec
from simpletorch.kernels._sizes import Size, Sizes, Undetermined
from simpletorch.shapes import parse_dim, variables

__all__ = ["bound_sizes", "fake", "promised_dtypes", "tensors"]


def fake(name: str, signature: Signature, reference: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Empty results, contiguous and with the promised sizes and dtypes.

    Raises:
        ShapeMismatch: the arguments don't fit their annotations.
    """
    sizes = bound_sizes(name, signature, values)
    try:
        results = _annotated(name, signature, sizes, values)
    except Undetermined:
        return _of_reference(reference(*values))
    if signature.returns == "nothing":
        return None
    return results[0] if signature.returns == "one" else tuple(results)


def _annotated(name: str, signature: Signature, sizes: Sizes, values: Sequence[Any]) -> list[torch.Tensor]:
    first = next((tensor for _, tensor, _ in tensors(signature, values)), None)
    if signature.results is None or first is None:
        raise Undetermined
    dtypes = promised_dtypes(signature, values)
    if any(dtype is None or spec.axes is None for spec, dtype in zip(signature.results, dtypes, strict=True)):
        raise Undetermined
    known = _argument_names(signature)

    def missing(text: str) -> Size:
        # in the annotation of an argument that is None here, or in one that can't be solved: the arguments settle it
        if text in known:
            raise Undetermined
        # otherwise no argument does, and only the values can
        return torch.library.get_ctx().new_dynamic_size()

    shapes = [sizes.shape(spec.axes or (), missing) for spec in signature.results]
    return [first.new_empty(s, dtype=d) for s, d in zip(shapes, dtypes, strict=True)]


def _of_reference(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return result.new_empty(result.shape)
    return result if result is None else type(result)(_of_reference(item) for item in result)


def promised_dtypes(signature: Signature, values: Sequence[Any]) -> list[torch.dtype | None]:
    """The dtypes of the results; None where the annotation doesn't settle it.

    A concrete one is itself; a kind of dtypes such as ``Float`` is that of the first argument annotated the same way.
    """
    found: list[torch.dtype | None] = []
    for spec in signature.results or ():
        same = (t.dtype for s, t, _ in tensors(signature, values) if s.kind is spec.kind and s.kind is not None)
        found.append(spec.dtype or next(same, None))
    return found


def bound_sizes(name: str, signature: Signature, values: Sequence[Any]) -> Sizes:
    """The values of size names in a call.

    Raises:
        ShapeMismatch: the arguments don't fit their annotations.
    """
    sizes = Sizes(name)
    for parameter, value in zip(signature.parameters, values, strict=True):
        form = parameter.form
        if isinstance(form, Plain) and form.size is not None and value is not None:
            sizes.bind_size(form.size, value, parameter.name)
    for spec, tensor, label in tensors(signature, values):
        if spec.axes is not None:
            sizes.bind_shape(spec.axes, tensor.shape, label)
    sizes.settle(dict(zip(signature.names, values, strict=True)))
    return sizes


def tensors(signature: Signature, values: Sequence[Any]) -> Iterator[tuple[TensorSpec, torch.Tensor, str]]:
    """The tensors among the arguments, each with what is said of it and its name."""
    for parameter, value in zip(signature.parameters, values, strict=True):
        form = parameter.form
        if isinstance(form, TensorList):
            for i, (spec, item) in enumerate(zip(form.specs(len(value)), value, strict=True)):
                yield spec, item, f"{parameter.name}[{i}]"
        elif isinstance(form, TensorSpec) and value is not None:
            yield form, value, parameter.name


def _argument_names(signature: Signature) -> frozenset[str]:
    """The names of sizes that occur in the annotations of the parameters."""
    found: set[str] = set()
    for parameter in signature.parameters:
        form = parameter.form
        if isinstance(form, Plain):
            axes = () if form.size is None else (form.size,)
        else:
            specs = (form,) if isinstance(form, TensorSpec) else form.items or (form.item,)
            axes = tuple(axis for spec in specs for axis in spec.axes or ())
        for axis in axes:
            if axis.kind == "dim" and "{" not in axis.expression:
                found |= {v.name for v in variables(parse_dim(axis.expression))}
    return frozenset(found)
