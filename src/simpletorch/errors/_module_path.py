"""Which modules a failure passed through, and by what path: ``model.encoder.2.fc``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import FrameType

from torch import nn

from simpletorch.errors._lookup import MISSING, lookup, names_of
from simpletorch.errors._source import expression
from simpletorch.errors._stack import Step, is_user

__all__ = ["CALL", "modules_in", "path_of"]

# The frame in which torch calls a module's forward. Private, but nothing public tells a frame's module; without it
# (a rename) errors only lose the module's path.
CALL = getattr(getattr(nn.Module, "_call_impl", None), "__code__", None)

_COMPILED = "_orig_mod"  # where torch.compile keeps the module that it wraps: no name of the program's


def modules_in(outer: Sequence[Step], inner: Sequence[Step] = ()) -> list[nn.Module]:
    """The modules being called, the outermost first: those on the stack, then those of the traceback."""
    out: list[nn.Module] = []
    for step in (*reversed(outer), *inner):
        if step.frame.f_code is CALL:
            module = step.frame.f_locals.get("self")
            if isinstance(module, nn.Module) and (not out or out[-1] is not module):
                out.append(module)
    return out


def path_of(modules: Sequence[nn.Module], frames: Sequence[Step]) -> str | None:
    """The dotted path of the last module: the name the caller has for the first, then torch's names.

    ``frames`` are all there are, from the inside out.
    """
    if not modules:
        return None
    parts = [_root_name(modules[0], frames)]
    for parent, child in pairwise(modules):
        parts.append(_name_in(parent, child) or type(child).__name__)
    return ".".join(part for part in parts if part != _COMPILED)


def _name_in(parent: nn.Module, child: nn.Module) -> str | None:
    return next((name for name, module in parent.named_modules() if module is child and name), None)


def _root_name(root: nn.Module, frames: Sequence[Step]) -> str:
    """The caller's name for the outermost module; its class's name if the caller uses an expression."""
    step = _caller(root, frames)
    if step is None:
        return type(root).__name__
    node = expression(step)
    if isinstance(node, ast.Call) and lookup(node.func, step.frame) is root:
        return ast.unparse(node.func)
    name = next(names_of(root, step.frame), None)
    if name is None:  # the trainer may call a copy, which only it has a name for
        name = next((n for s in _callers(root, frames) for n in names_of(root, s.frame) if n != "self"), None)
    return name or type(root).__name__


def _caller(root: nn.Module, frames: Sequence[Step]) -> Step | None:
    """The user's frame that called ``root``: the first one further out than its call."""
    return next((step for step in _callers(root, frames) if is_user(step.frame.f_code)), None)


def _callers(root: nn.Module, frames: Sequence[Step]) -> Iterator[Step]:
    """The frames further out than the call of ``root``, the nearest first."""
    seen = False
    for step in frames:
        if _calls(step.frame, root):
            seen = True
        elif seen:
            yield step


def _calls(frame: FrameType, module: nn.Module) -> bool:
    return frame.f_code is CALL and frame.f_locals.get("self", MISSING) is module
