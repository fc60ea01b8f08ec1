"""An artefact as a function: it checks its arguments by its signature, runs, and returns the model's results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

import torch

from simpletorch.errors import BackendError, DTypeMismatch, Operand, ShapeMismatch, TorchError, TypeMismatch, as_also
from simpletorch.export._report import Report
from simpletorch.export._runners import Runner
from simpletorch.export._signature import (
    Constant,
    Group,
    Node,
    Signature,
    TensorSpec,
    dtype_name,
    parts_of,
    rebuilt,
    size_at,
)
from simpletorch.shapes import Dim, Expr, evaluate, substitute, variables
from simpletorch.shapes.dim import Var

__all__ = ["Exported", "Model", "checked"]

P = ParamSpec("P")
R = TypeVar("R")
Result = TypeVar("Result", covariant=True)


class Model(Protocol[P, Result]):
    """A module, as a checker sees it: by what its ``forward`` takes and gives."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        """The result of a call."""
        ...


class Exported(Generic[P, R]):
    """An exported model, to be called as the model is.

    ::

        run = export.load("net.onnx")
        print(run)                    # its signature, and how far it is from the model
        scores = run(images)          # Float32[B, 10], for images: Float32[B, 784]

    A call raises `ShapeMismatch` or `DTypeMismatch` for arguments that the signature doesn't allow, before anything
    runs.

    Args:
        kind: ``"program"``, ``"onnx"``, ``"aot"`` or ``"torchscript"``.
        signature: the inputs and the output; None if the file doesn't say them.
        run: takes the input tensors in order and returns the output tensors in order.
        report: how the model was compared with the artefact; None for one that was loaded without it.
        path: the file; None if there is none.

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
        >>> exported = export.program(Net())
        >>> exported(torch.zeros(5, 8)).shape, exported.kind
        (torch.Size([5, 3]), 'program')
    """

    def __init__(
        self,
        kind: str,
        signature: Signature | None,
        run: Runner,
        report: Report | None = None,
        path: Path | None = None,
    ) -> None:
        self.kind = kind
        self.signature = signature
        self.report = report
        self.path = path
        self.program: torch.export.ExportedProgram | None = None
        self._run = run

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the artefact, without gradients.

        Returns:
            Tensors, in the structure that the model returns them in.

        Raises:
            ShapeMismatch: a tensor has another shape than the signature says.
            DTypeMismatch: it has another dtype.
            TypeMismatch: (a `TypeError` too) an argument is missing, or no tensor where one is due.
            BackendError: the artefact's runtime failed.
        """
        name = "export" if self.path is None else self.path.name
        if self.signature is None:
            unchecked: Any = self._unchecked(args, kwargs)
            return unchecked  # type: ignore[no-any-return]
        tensors = checked(self.signature, args, kwargs, name)
        found = self._ran(tensors)
        output: Any = (
            rebuilt(self.signature.output, iter(found)) if self.signature.output is not None else _alone(found)
        )
        return output  # type: ignore[no-any-return]

    def _ran(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        try:
            return self._run(tensors)
        except (TorchError, MemoryError):
            raise
        except Exception as error:  # a program's guards, TorchScript and AOTInductor have errors of their own
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise BackendError(
                f"the {self.kind} artefact failed: {lines[-1][:200]}", operation=str(self.path)
            ) from error

    def _unchecked(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call of a file that has no signature: tensors, in order."""
        if kwargs or not all(isinstance(value, torch.Tensor) for value in args):
            raise as_also(TypeMismatch, TypeError)(
                "tensors, in order", None, f"{self.path} has no signature, so it takes tensors in order, without names"
            )
        return _alone(self._ran(list(args)))

    def __repr__(self) -> str:
        if self.report is not None:
            return str(self.report)
        head = f"{self.kind} {self.path or ''}".rstrip()
        if self.signature is None:
            return f"{head}, without a signature"
        return "\n".join([head, f"  {self.signature}", *(f"  {symbol}" for symbol in self.signature.symbols)])


def _alone(found: Sequence[torch.Tensor]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def checked(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], name: str) -> list[torch.Tensor]:
    """The tensors of a call, in order.

    Raises:
        ShapeMismatch, DTypeMismatch, TypeMismatch: see `Exported.__call__`.
    """
    values = _bound(signature, args, kwargs, name)
    pairs = [pair for parameter, node in signature.inputs for pair in _paired(node, values[parameter], parameter, name)]
    for spec, tensor in pairs:
        if tensor.dtype != spec.dtype:
            raise DTypeMismatch(
                dtype_name(spec.dtype),
                dtype_name(tensor.dtype),
                f"{spec.name} is {dtype_name(tensor.dtype)}, but the exported program takes {dtype_name(spec.dtype)}",
                operation=name,
                operands=[_operand(spec, tensor)],
                hint=f"{spec.name}.to({spec.dtype})",
            )
        if tensor.ndim != len(spec.shape):
            raise _misfit(spec, tensor, f"{spec.name} has {tensor.ndim} dims, but {spec} has {len(spec.shape)}", name)
    sizes = _solved(pairs, name)
    for symbol in signature.symbols:
        size = sizes.get(symbol.name)
        if size is not None and not symbol.allows(size):
            spec, tensor = next(pair for pair in pairs if symbol.name in pair[0].symbols())
            raise _misfit(spec, tensor, f"{symbol.name} is {size}, but the artefact takes {symbol}", name)
    return [tensor for _, tensor in pairs]


def _bound(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], name: str) -> dict[str, Any]:
    parameters = [parameter for parameter, _ in signature.inputs]
    values = dict(zip(parameters, args, strict=False))
    unknown = [key for key in kwargs if key not in parameters or key in values]
    missing = [p for p in parameters if p not in values and p not in kwargs]
    if len(args) > len(parameters) or unknown or missing:
        wrong = (
            f"no value for {', '.join(missing)}" if missing else f"it takes no {', '.join(unknown) or 'more inputs'}"
        )
        raise as_also(TypeMismatch, TypeError)(
            str(signature), None, f"{wrong}: the exported program is called as {signature}", operation=name
        )
    return {**values, **kwargs}


def _paired(node: Node, value: Any, place: str, name: str) -> Iterator[tuple[TensorSpec, torch.Tensor]]:
    """The tensors of a value with what they are to be."""
    if isinstance(node, TensorSpec):
        if isinstance(value, torch.Tensor):
            yield node, value
            return
    elif isinstance(node, Constant):
        if value == node.value and type(value) is type(node.value):
            return
    else:
        items = _items(node, value)
        if items is not None:
            for key, (inner, item) in zip(node.keys or map(str, range(len(items))), items, strict=True):
                yield from _paired(inner, item, f"{place}.{key}", name)
            return
    shown = repr(value) if isinstance(value, bool | int | float | str | None) else f"a {type(value).__name__}"
    raise as_also(TypeMismatch, TypeError)(
        str(node), shown, f"{place} is {shown}, but the exported program takes {node}", operation=name
    )


def _items(node: Group, value: Any) -> list[tuple[Node, Any]] | None:
    """The items of a container with their nodes; None if it isn't such a container."""
    parts = parts_of(value)
    if parts is None or len(parts[2]) != len(node.items):
        return None
    found = dict(parts[2])
    keys = node.keys or tuple(map(str, range(len(node.items))))
    if node.keys and not set(keys) <= found.keys():
        return None
    return [(inner, found[key]) for key, inner in zip(keys, node.items, strict=True)]


def _solved(pairs: Sequence[tuple[TensorSpec, torch.Tensor]], name: str) -> dict[str, int]:
    """The sizes of the symbols, which every tensor's shape has to agree on."""
    sizes: dict[str, int] = {}
    sources: dict[str, str] = {}
    for spec, tensor in pairs:  # names by themselves first: expressions are of them
        for i, size in enumerate(spec.shape):
            known = str(size) if isinstance(size, Expr) and str(size).isidentifier() else None
            if known is not None and known not in sizes:
                sizes[known] = tensor.shape[i]
                sources[known] = f"dim {i} of {spec.name}"
    for spec, tensor in pairs:
        for i, size in enumerate(spec.shape):
            wanted = size_at(size, sizes)
            if wanted is None:
                found = _solution(size, tensor.shape[i], sizes)
                if found is None:
                    continue
                if isinstance(found, str):
                    raise _misfit(spec, tensor, f"dim {i} of {spec.name} is {tensor.shape[i]}, but {found}", name)
                sizes.update(found)
                sources.update(dict.fromkeys(found, f"dim {i} of {spec.name}"))
            elif wanted != tensor.shape[i]:
                takes = f"takes {wanted}" if isinstance(size, int) else f"takes {wanted} ({size})"
                source = "".join(f"; {n} is {sizes[n]} in {sources[n]}" for n in sorted(_names(size)) if n in sources)
                got = f"dim {i} of {spec.name} is {tensor.shape[i]}"
                raise _misfit(spec, tensor, f"{got}, but the exported program {takes}{source}", name)
    return sizes


def _names(size: Dim) -> set[str]:
    return {v.name for v in variables(size)}


def _solution(size: Dim, number: int, sizes: Mapping[str, int]) -> dict[str, int] | str | None:
    """The one open symbol of a size, if that is linear in it; a sentence if no number fits; None if unknown."""
    rest = substitute(size, {Var(name): known for name, known in sizes.items()})
    names = variables(rest)
    if len(names) != 1:
        return None
    (symbol,) = names
    low, high, far = (evaluate(rest, {symbol: n}) for n in (1, 2, 11))
    if low is None or high is None or far is None or high == low or far - low != 10 * (high - low) or "//" in str(rest):
        return None
    times, plus = high - low, 2 * low - high
    solved, remainder = divmod(number - plus, times)
    if remainder or solved < 0:
        return f"it is {rest}, which no size {symbol.name} gives"
    return {symbol.name: solved}


def _misfit(spec: TensorSpec, tensor: torch.Tensor, reason: str, name: str) -> ShapeMismatch:
    return ShapeMismatch(spec.shape, tuple(tensor.shape), reason, operation=name, operands=[_operand(spec, tensor)])


def _operand(spec: TensorSpec, tensor: torch.Tensor) -> Operand:
    return Operand(spec.name, dtype_name(tensor.dtype), tuple(tensor.shape), str(tensor.device), should_be=str(spec))
