"""Which tensor was changed in place, and where; autograd doesn't say that."""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

import torch

from simpletorch.errors._failure import Failure

__all__ = ["Change", "changed_tensor"]


_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A tensor that was changed: its name, the statement that did it (None if it isn't in sight), and its type."""

    name: str
    place: str | None
    is_parameter: bool


def changed_tensor(f: Failure, shape: Sequence[int], version: int, function: str | None) -> Change | None:
    """The tensor that autograd may mean, or several parameters; None if none is known, or several others."""
    found: dict[int, tuple[str, torch.Tensor, FrameType | None]] = {}
    for name, value, frame in _tensors(f):
        if _may_be(value, shape, version, function):
            found.setdefault(id(value), (name, value, frame))
    if len(found) > 1 and all(isinstance(value, torch.nn.Parameter) for _, value, _ in found.values()):
        return Change(" or ".join([name for name, _, _ in found.values()][:_MOST_NAMED]), None, is_parameter=True)
    if len(found) != 1:
        return None
    ((name, value, frame),) = found.values()
    place = None if frame is None else _change_in(frame, name)
    return Change(name, place, isinstance(value, torch.nn.Parameter))


def _tensors(f: Failure) -> Iterator[tuple[str, torch.Tensor, FrameType | None]]:
    for frame in f.frames:
        # issubclass, not isinstance, which asks a proxy for its ``__class__`` and may run its code
        for name, value in list(frame.f_locals.items()):
            if issubclass(type(value), torch.Tensor):
                yield name, value, frame
            elif issubclass(type(value), torch.nn.Module):
                for inner, parameter in value.named_parameters():
                    yield f"{name}.{inner}", parameter, None


def _may_be(value: torch.Tensor, shape: Sequence[int], version: int, function: str | None) -> bool:
    with contextlib.suppress(RuntimeError):  # an inference tensor has no version
        if not version or value._version != version:  # public in all but its name: autograd's own message quotes it
            return False
        if isinstance(value, torch.nn.Parameter):  # a linear layer saves its transposed weight
            return tuple(value.shape) in (tuple(shape), tuple(reversed(shape)))
        # an in-place operation has put its own function in the place of the one that made the tensor
        return tuple(value.shape) == tuple(shape) and (value.grad_fn is not None or function is None)
    return False


def _change_in(frame: FrameType, name: str) -> str | None:
    """The last statement of the frame's function before where it stands that changes ``name`` in place."""
    import executing

    with contextlib.suppress(Exception):  # the source may be gone
        source = executing.Source.for_frame(frame)
        first = frame.f_code.co_firstlineno
        lines = [
            node.lineno
            for node in ast.walk(source.tree or ast.Module([], []))
            if isinstance(node, ast.stmt) and first <= node.lineno <= frame.f_lineno and _changes(node, name)
        ]
        if lines:
            file = os.path.relpath(frame.f_code.co_filename)
            return f"{file}:{max(lines)}: {source.lines[max(lines) - 1].strip()}"
    return None


def _changes(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        target = node.target.value if isinstance(node.target, ast.Subscript) else node.target
        return isinstance(target, ast.Name) and target.id == name
    if isinstance(node, ast.Assign):
        return any(_is_item_of(target, name) for target in node.targets)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        is_method = isinstance(function, ast.Attribute) and function.attr.endswith("_")
        return is_method and isinstance(function.value, ast.Name) and function.value.id == name  # type: ignore[attr-defined]
    return False


def _is_item_of(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name
