"""The report of an export: its signature, and its difference from the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simpletorch._bytes import size_text as bytes_text
from simpletorch.export._signature import Symbol

__all__ = ["Comparison", "Report"]


@dataclass(frozen=True)
class Comparison:
    """One run of an artefact and of the model on the same inputs: the sizes, and the greatest difference.

    ``rounding`` is there if that is above the tolerance: it is the model's own difference from its results in float64.

    Attributes:
        sizes: the sizes of the open dims in this run.
        difference: the greatest absolute difference of an element.
        rounding: the model's own difference from float64, where ``difference`` is above the tolerance; else None.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, export, nn
        >>> from simpletorch.dims import B
        >>> class Net(nn.Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.fc = nn.Linear(8, 3)
        ...
        ...     def forward(self, x: Tensor[Float32, B, 8]) -> Tensor[Float32, B, 3]:
        ...         return self.fc(x)
        >>> comparison = export.program(Net()).report.comparisons[0]
        >>> comparison.sizes, comparison.difference
        ({'B': 1}, 0.0)
    """

    sizes: Mapping[str, int]
    difference: float
    rounding: float | None = None

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={size}" for name, size in self.sizes.items()) or "fixed sizes"
        rounding = "" if self.rounding is None else f", and the model's own rounding is {self.rounding:.1e}"
        return f"{sizes}: {self.difference:.1e}{rounding}"


@dataclass(frozen=True)
class Report:
    """How an artefact was made and compared with the model; ``print(report)`` shows it.

    ``fixed`` are sizes that the annotation leaves open and the model doesn't; ``comparisons`` are runs at several
    sizes; ``random`` are the lines at which each call draws random numbers.

    Attributes:
        kind: ``"program"``, ``"onnx"``, ``"aot"``, ``"torchscript"`` or ``"quantized"``.
        path: the file; None if there is none.
        signature: the inputs and the output as text.
        symbols: the open sizes and their limits.
        fixed: sizes that the annotation leaves open and the model doesn't.
        comparisons: the runs at several sizes.
        bytes: the size of the file, or of the parameters of a quantized model; None if there is no file.
        random: the lines that draw random numbers at each call.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, export, nn
        >>> from simpletorch.dims import B
        >>> class Net(nn.Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.fc = nn.Linear(8, 3)
        ...
        ...     def forward(self, x: Tensor[Float32, B, 8]) -> Tensor[Float32, B, 3]:
        ...         return self.fc(x)
        >>> report = export.program(Net()).report
        >>> report.signature, len(report.comparisons)
        ('(x: Float32[B, 8]) -> Float32[B, 3]', 4)
    """

    kind: str
    path: Path | None
    signature: str
    symbols: tuple[Symbol, ...]
    fixed: Mapping[str, int]
    comparisons: tuple[Comparison, ...]
    bytes: int | None = None
    random: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The greatest difference of an element, over all runs."""
        return max((c.difference for c in self.comparisons), default=0.0)

    def __str__(self) -> str:
        size = "" if self.bytes is None else f", {bytes_text(self.bytes)}"
        lines = [f"{self.kind}{'' if self.path is None else f' {self.path}'}{size}", f"  {self.signature}"]
        lines += [f"  {symbol}" for symbol in self.symbols]
        lines += [f"  {name} = {number}: the model takes no other" for name, number in self.fixed.items()]
        lines += [f"  draws random numbers at each call: {line}" for line in self.random]
        lines.append(f"  greatest difference from the model: {self.difference:.1e}")
        lines += [f"    {comparison}" for comparison in self.comparisons]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data, for a manifest."""
        return {
            "fixed": dict(self.fixed),
            "comparisons": [dataclasses.asdict(c) for c in self.comparisons],
            "difference": self.difference,
        }
