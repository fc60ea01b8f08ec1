"""CUDA graphs: a function's kernels recorded once, and started with one call from then on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from simpletorch.errors import BackendError, as_also

__all__ = ["Graphed", "graph"]

P = ParamSpec("P")
T = TypeVar("T")
_Wrong: Final = as_also(BackendError, RuntimeError)


def graph(function: Callable[P, T], *, warmup: int = 3, clone: bool = True, limit: int = 8) -> Graphed[P, T]:
    """``function`` recorded as a CUDA graph for each kind of arguments, and replayed: no launch costs time any more.

    Its tensors' shapes, dtypes and strides and its other arguments are the kind; a new one runs ``function`` for
    ``warmup`` calls and is recorded then. The function must do the same operations each time and never look at a
    value on the processor. Without CUDA tensors among the arguments ``function`` is simply called, so a program is the
    same on the CPU.

    Args:
        function: takes and gives tensors, in tuples, lists and dicts or not; it may be a module, or a whole training
            step (forward, backward, update) whose gradients are set to zero and not to None.
        warmup: how often a kind of arguments is run before it is recorded, so that libraries have chosen their kernels.
        clone: whether results are copied out of the graph's own memory; without, the next call overwrites them.
        limit: how many kinds are recorded; those beyond it are run as they are.

    Returns:
        A function with the same arguments and results.

    Raises:
        BackendError: ``warmup`` is below 1. When it is called: the function can't be recorded.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> double = cuda.graph(lambda x: 2 * x)
        >>> double(torch.ones(3))
        tensor([2., 2., 2.])

    Source: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
    """
    if warmup < 1:
        raise _Wrong(f"warmup is {warmup!r}: a function is run once or more before it is recorded")
    return Graphed(function, warmup, clone, limit)


@dataclass
class _Recorded:
    """A graph, and the memory that its inputs are read from and its results are written to."""

    graph: torch.cuda.CUDAGraph
    inputs: list[torch.Tensor]
    results: list[Any]
    layout: Any  # how the results lie in tuples, lists and dicts


class Graphed(Generic[P, T]):
    """A function that is replayed as a CUDA graph; the result of `graph`. Called as the function is.

    Args:
        function, warmup, clone, limit: as for `graph`.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> double = cuda.graph(lambda x: 2 * x)
        >>> isinstance(double, cuda.Graphed)
        True
    """

    def __init__(self, function: Callable[P, T], warmup: int, clone: bool, limit: int) -> None:
        self.function = function
        self.warmup = warmup
        self.clone = clone
        self.limit = limit
        self._calls: dict[Hashable, int] = {}
        self._recorded: dict[Hashable, _Recorded] = {}
        functools.update_wrapper(self, function, updated=())

    @property
    def recorded(self) -> int:
        """How many kinds of arguments have a graph."""
        return len(self._recorded)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        leaves, layout = tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not any(tensor.is_cuda for tensor in tensors):
            return self.function(*args, **kwargs)
        key = (layout, tuple(map(_kind, leaves)), torch.is_grad_enabled())
        found = self._recorded.get(key)
        if found is None:
            calls = self._calls[key] = self._calls.get(key, 0) + 1
            if calls <= self.warmup or len(self._recorded) >= self.limit:
                return self._beside(*args, **kwargs)
            found = self._recorded[key] = self._record(leaves, layout)
        for held, given in zip(found.inputs, tensors, strict=True):
            if held.data_ptr() != given.data_ptr():
                held.copy_(given, non_blocking=True)
        found.graph.replay()
        results = [_copied(result) if self.clone else result for result in found.results]
        return cast("T", tree_unflatten(results, found.layout))

    def _beside(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call on another stream than the program's, so that libraries' state for the first stream isn't recorded."""
        program = torch.cuda.current_stream()
        beside = torch.cuda.Stream()
        beside.wait_stream(program)
        with torch.cuda.stream(beside):
            result = self.function(*args, **kwargs)
        program.wait_stream(beside)
        for leaf in tree_flatten(result)[0]:
            if isinstance(leaf, torch.Tensor) and leaf.is_cuda:
                leaf.record_stream(program)
        return result

    def _record(self, leaves: list[Any], layout: Any) -> _Recorded:
        held = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        args, kwargs = tree_unflatten(held, layout)
        recorded = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(recorded):
                result = self.function(*args, **kwargs)
        except RuntimeError as error:
            _forget_capture()
            name = getattr(self.function, "__qualname__", type(self.function).__name__)
            raise _Wrong(
                f"{name} can't be recorded as a CUDA graph: {str(error).splitlines()[0]}",
                operation="cuda.graph",
                hint="a graph has no .item(), .cpu(), print of a tensor, or `if` on a tensor's value; "
                "compute such things outside of the function",
            ) from error
        results, shape = tree_flatten(result)
        return _Recorded(recorded, [h for h in held if isinstance(h, torch.Tensor)], results, shape)


def _forget_capture() -> None:
    """A recording that failed leaves the random generator as if it went on; a copy of its state doesn't know of it."""
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    generator.graphsafe_set_state(generator.clone_state())


def _kind(leaf: Any) -> Hashable:
    if isinstance(leaf, torch.Tensor):
        return leaf.shape, leaf.stride(), leaf.dtype, leaf.device, leaf.requires_grad
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return type(leaf), leaf


def _copied(result: Any) -> Any:
    return result.detach().clone() if isinstance(result, torch.Tensor) else result
