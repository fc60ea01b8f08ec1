"""`summary`: what each part of a model takes, gives, holds and costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import nn

from simpletorch.nn._summary_inputs import Inputs, read_inputs
from simpletorch.nn._summary_symbols import Point, explain, points
from simpletorch.nn._summary_trace import Call, Trace, materialized, trace
from simpletorch.nn._summary_values import Value, leaves, merge
from simpletorch.shapes import UNKNOWN, Dim

__all__ = ["Row", "Summary", "summary"]


@dataclass(frozen=True)
class Row:
    """One module of a model. A number that depends on a symbol is an expression, or unknown (``?``)."""

    path: str
    """Where it is: ``layer1.0.conv1``; the model itself is at the empty path."""
    kind: str
    """The name of its class."""
    inputs: Value | None
    """What it was given; None if it was never called."""
    output: Value | None
    """What it returned, the first time if it was called more than once."""
    calls: int
    """How often it was called."""
    parameters: int
    """The number of values in its own and its submodules' parameters, each parameter counted once."""
    trainable: int
    """As many of these as require a gradient."""
    weight_bytes: int
    """The room that parameters and buffers take."""
    flops: Dim
    """Floating-point operations of all calls: two for each multiply-add of matrix products, convolutions and attention;
    element-wise operations are not counted, as in `torch.utils.flop_counter`."""
    output_bytes: Dim
    """The room that the results of all calls take."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def depth(self) -> int:
        """How far below the model it is."""
        return self.path.count(".") + 1 if self.path else 0


@dataclass(frozen=True)
class Summary:
    """The modules of a model, as a model holds them: each followed by its submodules.

    ``str(s)`` and ``print(s)`` give a table as text, notebooks show it as HTML, `text` and `html` choose how deep.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
        >>> nn.summary(model, torch.zeros(7, 784)).total.parameters
        101770
    """

    rows: tuple[Row, ...]
    """One for each module in the order of ``model.named_modules()``, the model itself first."""
    symbols: tuple[str, ...]
    """The sizes that were left open, such as ``("B",)``."""

    @property
    def total(self) -> Row:
        """The row of the model itself."""
        return self.rows[0]

    @property
    def activation_bytes(self) -> Dim:
        """The memory of the results of the innermost modules together: about as much as training keeps for backward."""
        total: Dim = 0
        inner = {row.path.rpartition(".")[0] for row in self.rows if row.path and row.calls}
        for row in self.rows:
            if row.path not in inner:
                total = total + row.output_bytes
        return total

    def row(self, path: str) -> Row:
        """The row of one module.

        Args:
            path: the module's path as in ``model.named_modules()``, such as ``"layer1.0.conv1"``; ``""`` is the model
                itself.

        Raises:
            KeyError: there is no such module.
        """
        found = next((row for row in self.rows if row.path == path), None)
        if found is None:
            raise KeyError(f"there is no module {path!r}; the paths are those of model.named_modules()")
        return found

    def text(self, depth: int | None = None) -> str:
        """The table for a terminal, down to submodules ``depth`` levels below the model (None: all).

        Args:
            depth: the number of levels to show below the model; None shows all, 0 the model alone.
        """
        from simpletorch.nn._summary_text import as_text

        return as_text(self, depth)

    def html(self, depth: int | None = None) -> str:
        """The table as HTML, down to submodules ``depth`` levels below the model (None: all).

        Args:
            depth: the number of levels to show below the model; None shows all, 0 the model alone.
        """
        from simpletorch.nn._summary_text import as_html

        return as_html(self, depth)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()


def summary(model: nn.Module, /, *inputs: Any, **keywords: Any) -> Summary:
    """Call ``model`` once and tabulate its modules: input → output shapes, parameters, bytes, operations.

    ::

        summary(resnet18(), ("B", 3, 224, 224))        # a size may be a symbol
        summary(gpt, "Int64[B, T]")                    # another dtype than that of the parameters
        summary(model, images, labels=labels)          # tensors, real ones or on the meta device
        summary(MLP(784, 128, 10))                     # nothing: the annotations of forward tell the shape

    Nothing is computed and nothing allocated (a model on the meta device will do); the model is called in evaluation
    mode and is left as it was. Symbols are found out by calling it at several sizes; a size that they don't explain is
    shown as ``?``.

    Args:
        model: any module.
        inputs: the arguments of the call: tensors (only their shape, dtype and device count, unless the model looks at
            values), sizes, annotations such as ``Tensor[Float32, B, 784]``, containers of these, anything else.
        keywords: the same, by name.

    Returns:
        A table of the modules, as text with ``print`` and as HTML in a notebook.

    Raises:
        TypeMismatch: (a `TypeError` too) no input is given, and ``forward``'s annotations don't tell one.
        ValueError: a text is no shape.
        Exception: the model's own error; torch's as a `TorchError`.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> print(nn.summary(nn.Sequential(nn.Linear(784, 10), nn.ReLU()), torch.zeros(7, 784)))
        module        input            output          parameters   weights    FLOPs  output bytes
        ──────────────────────────────────────────────────────────────────────────────────────────
        Sequential    Float32[7, 784]  Float32[7, 10]       7,850  30.7 KiB  109,760     280 bytes
        ├─ 0: Linear  Float32[7, 784]  Float32[7, 10]       7,850  30.7 KiB  109,760     280 bytes
        └─ 1: ReLU    Float32[7, 10]   Float32[7, 10]           –         –        –     280 bytes
        ──────────────────────────────────────────────────────────────────────────────────────────
        7,850 parameters (30.7 KiB with buffers)
        109,760 FLOPs a call; 560 bytes of results in the innermost modules
    """
    model = getattr(model, "_orig_mod", model)  # a compiled model by its parts, as its state_dict names it
    given = read_inputs(model, inputs, keywords)
    model = materialized(model, given)
    symbols = given.symbols()
    at, traces = _traced(model, given, symbols)
    rows = [_row(path, module, [t.get(path, []) for t in traces], at) for path, module in model.named_modules()]
    return Summary(tuple(rows), symbols)


def _traced(model: nn.Module, inputs: Inputs, symbols: Sequence[str]) -> tuple[list[Point], list[Trace]]:
    """Calls at small and large sizes; those that the model refuses (a kernel that is larger, a context that is shorter)
    don't count unless it refuses all.
    """
    good: list[tuple[Point, Trace]] = []
    refused: list[Exception] = []

    def call_at(some: Sequence[Point]) -> None:
        for point in some:
            try:
                good.append((point, trace(model, inputs, point)))
            except Exception as error:
                refused.append(error)

    few, more, large = points(symbols)
    call_at(few)
    if symbols and (refused or not _is_explained(good)):
        call_at(more)
        call_at(large if refused else ())
    if not good:
        raise refused[0]
    return [point for point, _ in good], [found for _, found in good]


def _is_explained(good: Sequence[tuple[Point, Trace]]) -> bool:
    at, traces = [point for point, _ in good], [found for _, found in good]
    for path in set(traces[0]).intersection(*traces):
        calls = [found[path][0] for found in traces]
        shapes = [info.shape for info in leaves(_merged([call.output for call in calls], at))]
        if any(size is UNKNOWN for size in (*chain(*shapes), explain([call.flops for call in calls], at))):
            return False
    return True


def _merged(values: Sequence[Value], at: Sequence[Point]) -> Value:
    return merge(values, lambda sizes: explain(sizes, at))


def _row(path: str, module: nn.Module, calls: Sequence[list[Call]], at: Sequence[Point]) -> Row:
    parameters = list(module.parameters())
    return Row(
        path=path,
        kind=type(module).__name__,
        inputs=_merged([c[0].inputs for c in calls], at) if all(calls) else None,
        output=_merged([c[0].output for c in calls], at) if all(calls) else None,
        calls=len(calls[0]),
        parameters=sum(p.numel() for p in parameters),
        trainable=sum(p.numel() for p in parameters if p.requires_grad),
        weight_bytes=_bytes((*parameters, *module.buffers())),
        flops=explain([sum(call.flops for call in c) for c in calls], at),
        output_bytes=explain([sum(_output_bytes(call) for call in c) for c in calls], at),
    )


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _output_bytes(call: Call) -> int:
    sizes = [info.bytes for info in leaves(call.output)]
    return sum(size for size in sizes if isinstance(size, int))
