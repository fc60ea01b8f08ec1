"""The value of an expression in a frame, found without running it.

Only names, plain attributes and constant subscripts are looked up, and only where that runs no code of the user's: an
error report must not have side effects.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any, Final

import torch
from torch import nn

__all__ = ["MISSING", "lookup", "names_of"]

# The answer of `lookup` for an expression that it can't look up; None is a value.
MISSING: Final = object()


def lookup(node: ast.AST | None, frame: FrameType) -> Any:
    """The value of a name, plain attribute or constant subscript in a frame; `MISSING` for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id=name):
            for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
                if name in scope:
                    return scope[name]
            return MISSING
        case ast.Attribute(value=inner, attr=name):
            return _attribute(lookup(inner, frame), name)
        case ast.Subscript(value=inner, slice=index):
            return _item(lookup(inner, frame), lookup(index, frame))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            values = [lookup(item, frame) for item in items]
            if any(v is MISSING for v in values):
                return MISSING
            return tuple(values) if isinstance(node, ast.Tuple) else values
        case _:
            return MISSING


_VIEWS: Final = frozenset(("T", "mT", "H", "mH", "data"))


def _attribute(owner: Any, name: str) -> Any:
    """``owner.name`` where that is only a look into a dictionary, or a view of a plain tensor."""
    if owner is MISSING:
        return MISSING
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, MISSING) if name in vars(owner) else _lazy(owner, name)
    if isinstance(owner, nn.Module):
        # the places where nn.Module's __getattr__ looks, but a subclass's own isn't run
        for table in (owner.__dict__, owner._parameters, owner._buffers, owner._modules):
            if name in table:
                return table[name]
    # exactly these: a subclass's ``__torch_function__`` would run
    if type(owner) in (torch.Tensor, nn.Parameter) and name in _VIEWS:
        with torch.no_grad(), contextlib.suppress(Exception):
            return getattr(owner, name)
        return MISSING
    try:
        found = inspect.getattr_static(owner, name)
    except AttributeError:
        return MISSING
    if inspect.isroutine(found) and not isinstance(found, staticmethod | classmethod):
        return found
    # a property or another descriptor gives its value by running code
    return MISSING if hasattr(type(found), "__get__") else found


def _lazy(module: ModuleType, name: str) -> Any:
    """A name of our own lazy modules, which loads on first use."""
    if module.__name__.partition(".")[0] in ("simpletorch", "torch"):
        return getattr(module, name, MISSING)
    return MISSING


def _item(owner: Any, index: Any) -> Any:
    if isinstance(owner, nn.ModuleList | nn.Sequential) and isinstance(index, int):
        owner = list(owner._modules.values())
    elif isinstance(owner, nn.ModuleDict) and isinstance(index, str):
        owner = owner._modules
    # exactly these: a subclass's ``__getitem__`` is the program's code
    if type(owner) in (list, tuple, dict) and type(index) in (int, str):
        try:
            return owner[index]
        except (LookupError, TypeError):
            return MISSING
    return MISSING


def names_of(value: object, frame: FrameType) -> Iterator[str]:
    """The names under which a frame knows ``value``."""
    for scope in (frame.f_locals, frame.f_globals):
        for name, other in list(scope.items()):  # a copy, since another thread may add a global
            if other is value and name.isidentifier() and not name.startswith("_"):
                yield name
