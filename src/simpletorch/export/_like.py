"""Whether an artefact takes what a model takes, which ``load(path, like=model)`` promises to type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from simpletorch.checks import is_tensor_hint
from simpletorch.errors import CheckpointError
from simpletorch.export._signature import Node, Signature, TensorSpec, dtype_name
from simpletorch.nn._summary_inputs import class_sizes, forward_hints
from simpletorch.shapes import Expr, parse_axes, parse_dim, substitute
from simpletorch.shapes.dim import Var

__all__ = ["refuse_unlike"]


def refuse_unlike(signature: Signature, model: nn.Module, name: str) -> None:
    """Compare the inputs of an artefact with the annotations of a model's ``forward``, where both say something.

    Inputs are found by their names; those of an ONNX model from elsewhere, which may be any text, by their order.

    Raises:
        CheckpointError: the model takes something else.
    """
    title = f"{type(model).__name__}.forward"
    hints = {p: hint for p, hint in forward_hints(model).items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    names = [p.name for p in hints]
    given = dict(signature.inputs)
    if not given.keys() <= set(names):
        given = dict(zip(names, given.values(), strict=False))
    missing = [p.name for p in hints if p.default is p.empty and p.name not in given]
    if missing or len(given) < len(signature.inputs):
        _refuse(name, f"it takes {signature}, and {title} takes {', '.join(names)}")
    sizes = class_sizes(model)
    for parameter, hint in hints.items():
        node = given.get(parameter.name)
        reason = None if node is None or not is_tensor_hint(hint) else _misfit(node, hint, sizes)
        if reason is not None:
            _refuse(name, f"{parameter.name} is {node} there, and {title} takes {reason}")


def _misfit(node: Node, hint: Any, sizes: Mapping[str, int]) -> str | None:
    """The type that the annotation of a tensor asks for instead, if known; None if the artefact's may fit."""
    if not isinstance(node, TensorSpec):
        return "a tensor"
    names = hint.dtypes if isinstance(hint.dtypes, list | tuple) else ()
    allowed = [d for n in names if isinstance(n, str) and isinstance(d := getattr(torch, n, None), torch.dtype)]
    if allowed and node.dtype not in allowed:
        return " or ".join(map(dtype_name, allowed))
    axes = parse_axes(hint.dim_str)
    if any(axis.kind in ("rest", "any_rest") for axis in axes):
        return None
    if len(axes) != len(node.shape):
        return f"{len(axes)} dims"
    known = {Var(n): size for n, size in sizes.items()}
    for i, (axis, size) in enumerate(zip(axes, node.shape, strict=True)):
        stated = parse_dim(axis.expression) if axis.kind == "dim" and not axis.broadcastable else None
        stated = substitute(stated, known) if isinstance(stated, Expr) else stated
        if isinstance(stated, int) and isinstance(size, int) and stated != size:
            return f"{stated} as dim {i}"
    return None


def _refuse(name: str, reason: str) -> None:
    raise CheckpointError(
        f"{name} isn't an export of such a model: {reason}",
        operation="export.load",
        hint="load(path, like=…) of the model that was exported, or load(path) for the file's own signature",
    )
