"""How `torch.vmap` calls operators: once with the whole batch where that is sound, else once for each example."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from threading import Thread
from typing import Any, Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from simpletorch.kernels._schema import Plain, Signature, TensorSpec

__all__ = ["Batched", "batching_rule"]


class Batched(Protocol):
    """An operator's batching rule; read in each call, because `vmap` may be registered again."""

    batching: Callable[..., Any] | None
    unchecked: Callable[..., Any]

    @property
    def name(self) -> str:
        """The name that torch knows it by."""
        ...

    @property
    def signature(self) -> Signature:
        """The operator's signature."""
        ...

    @property
    def reference(self) -> Callable[..., Any]:
        """The function that the operator was made from."""
        ...


def batching_rule(operator: Batched) -> Callable[..., tuple[Any, Any]]:
    """How an operator is called with a batch, as `torch.library.register_vmap` takes it."""
    elementwise = _Elementwise(operator.signature, operator.reference)

    def rule(info: Any, dims: Sequence[Any], *values: Any) -> tuple[Any, Any]:
        if operator.batching is not None:
            return operator.batching(info, dims, *values)  # type: ignore[no-any-return]
        if elementwise.holds(dims, values):
            return _at_once(operator, dims, values)
        return _one_by_one(operator, info.batch_size, dims, values)

    return rule


def _at_once(operator: Batched, dims: Sequence[Any], values: Sequence[Any]) -> tuple[Any, Any]:
    """One call with the batch in front; an argument without a batch is the same for each example."""
    pairs = list(zip(dims, values, strict=True))
    size = next(v.shape[d] for d, v in pairs if d is not None)
    whole = [
        v.movedim(d, 0) if d is not None else v.expand(size, *v.shape) if isinstance(v, torch.Tensor) else v
        for d, v in pairs
    ]
    result = operator.unchecked(*whole)
    return result, 0 if isinstance(result, torch.Tensor) else (0,) * len(result)


def _one_by_one(operator: Batched, size: int, dims: Sequence[Any], values: Sequence[Any]) -> tuple[Any, Any]:
    """A call for each example, the results stacked."""
    for i in operator.signature.mutated:
        if not _is_batched(dims[i]):
            name = operator.signature.names[i]
            raise RuntimeError(f"{operator.name} changes {name} in place, but {name} is the same for the whole batch")
    results = [operator.unchecked(*map(partial(_example, i), dims, values)) for i in range(size)]
    if operator.signature.returns == "nothing":
        return None, None
    if operator.signature.returns == "one":
        return torch.stack(results), 0
    stacked = [torch.stack(parts) for parts in zip(*results, strict=True)]
    container = list if operator.signature.returns == "list" else tuple
    return container(stacked), container([0] * len(stacked))


def _is_batched(dim: Any) -> bool:
    return all(map(_is_batched, dim)) if isinstance(dim, list | tuple) else dim is not None


def _example(index: int, dim: Any, value: Any) -> Any:
    if isinstance(dim, list | tuple):
        return [_example(index, d, v) for d, v in zip(dim, value, strict=True)]
    return value if dim is None else value.select(dim, index)


# -- element-wise operators --------------------------------------------------------------------------------------------


class _Elementwise:
    """Whether an operator is element-wise: each of its tensors is ``*n``, and so is all that its reference does.

    ``x / x.sum()`` has the same shapes as ``x / y``, so the operations of the reference are looked at, for the shapes
    and the other arguments that it is called with.
    """

    def __init__(self, signature: Signature, reference: Callable[..., Any]) -> None:
        self._reference = reference
        self._signature = signature
        forms = [*(p.form for p in signature.parameters), *(signature.results or (None,))]
        shapes = {_only_axis(form) for form in forms if not isinstance(form, Plain)}
        self._may_be = len(shapes) == 1 and None not in shapes and not signature.mutated
        self._known: dict[Hashable, bool] = {}

    def holds(self, dims: Sequence[Any], values: Sequence[Any]) -> bool:
        """Whether it is, for these arguments; those with a batch have it in the dim of ``dims``."""
        if not self._may_be:
            return False
        examples = [_meta(d, v) if isinstance(v, torch.Tensor) else v for d, v in zip(dims, values, strict=True)]
        key = tuple((tuple(v.shape), v.dtype) if isinstance(v, torch.Tensor) else v for v in examples)
        try:
            known = self._known.get(key)
        except TypeError:  # a list of numbers
            return False
        if known is None:
            known = self._known[key] = _is_pointwise(self._call, examples)
        return known

    def _call(self, *values: Any) -> Any:
        named = dict(zip(self._signature.names, values, strict=True))
        first = [named.pop(p.name) for p in self._signature.parameters if not p.keyword_only]
        return self._reference(*first, **named)


def _only_axis(form: object) -> str | None:
    """``n`` of a tensor whose whole shape is ``*n``."""
    if not isinstance(form, TensorSpec) or form.axes is None or len(form.axes) != 1 or form.optional:
        return None
    (axis,) = form.axes
    return axis.expression if axis.kind == "rest" and not axis.broadcastable else None


def _meta(dim: int | None, value: torch.Tensor) -> torch.Tensor:
    """A tensor without values, like one example."""
    shape = [size for i, size in enumerate(value.shape) if i != dim]
    return torch.empty(shape, dtype=value.dtype, device="meta")


class _Recorder(TorchDispatchMode):
    """Notes whether all operations are pointwise."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.pointwise = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.pointwise = self.pointwise and torch.Tag.pointwise in func.tags
        return func(*args, **(kwargs or {}))


def _is_pointwise(function: Callable[..., Any], values: Sequence[Any]) -> bool:
    found = [False]

    def look() -> None:
        with _Recorder() as recorder, torch.no_grad():
            try:
                function(*values)
            except Exception:  # it needs values, or another device: then nothing is known of it
                return
        found[0] = recorder.pointwise

    # in a thread of its own, where none of the transforms and modes is active that torch keeps for each thread
    thread = Thread(target=look)
    thread.start()
    thread.join()
    return found[0]
