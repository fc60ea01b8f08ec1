"""Reading a failure: which frames are the user's, which expression failed, what its operands are.

Only names, plain attributes and constant subscripts are looked up, and only where that runs no code of the user's: an
error report must not have side effects.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, Final

import torch
from torch import nn

from simpletorch.errors._kinds import Location

__all__ = [
    "MISSING",
    "Step",
    "expression",
    "is_ours",
    "is_torch",
    "is_torch_file",
    "is_user",
    "is_user_file",
    "location",
    "lookup",
    "names_of",
    "outer_steps",
    "relative",
    "steps",
]

MISSING: Final = object()

_TORCH: Final = os.path.dirname(torch.__file__) + os.sep
_OURS: Final = str(Path(__file__).resolve().parents[1]) + os.sep
GENERATED: Final = "<simpletorch border"
_LIBRARY: Final = tuple(
    os.path.dirname(spec.origin) + os.sep
    for name in ("jaxtyping", "beartype")
    if (spec := importlib.util.find_spec(name)) is not None and spec.origin is not None
)
_STDLIB: Final = sysconfig.get_paths()["stdlib"] + os.sep


@dataclass(frozen=True, slots=True)
class Step:
    """One frame on the way to a failure, and the instruction it had reached."""

    frame: FrameType
    line: int
    instruction: int


def steps(traceback: TracebackType | None) -> list[Step]:
    """The frames of a traceback, from the border that caught it to the failure."""
    out = []
    while traceback is not None:
        out.append(Step(traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti))
        traceback = traceback.tb_next
    return out


def outer_steps(frame: FrameType | None) -> list[Step]:
    """The frames that are still running, from ``frame`` outwards."""
    out = []
    while frame is not None:
        out.append(Step(frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return out


def is_torch(code: CodeType) -> bool:
    """Whether the code is torch's own."""
    return is_torch_file(code.co_filename)


def is_torch_file(filename: str) -> bool:
    """Whether the file is one of torch's own."""
    return filename.startswith(_TORCH)


def is_ours(code: CodeType) -> bool:
    """Whether the code is simpletorch's, or of the libraries that check for it."""
    return _is_ours_file(code.co_filename)


def _is_ours_file(filename: str) -> bool:
    return filename.startswith((_OURS, GENERATED, "<@beartype", "<frozen ", *_LIBRARY))


def is_user(code: CodeType) -> bool:
    """Whether the code is the user's, or of a library that they call."""
    return is_user_file(code.co_filename)


def is_user_file(filename: str) -> bool:
    """Whether the file is the user's, or of a library that they call."""
    return not (is_torch_file(filename) or _is_ours_file(filename) or _is_stdlib(filename))


@lru_cache(maxsize=1024)
def _is_stdlib(filename: str) -> bool:
    return filename.startswith(_STDLIB) and "site-packages" not in filename


def expression(step: Step) -> ast.AST | None:
    """The node of the source that the frame was evaluating; None if the source can't be had."""
    import executing  # only a failure needs it

    try:
        found = executing.Source.executing(TracebackType(None, step.frame, step.instruction, step.line))
        node: ast.AST | None = found.node
        return node
    except Exception:  # no source, or bytecode that executing can't place: the report has one line less
        return None


def location(step: Step, node: ast.AST | None) -> Location:
    """Where a step is in the source."""
    file = step.frame.f_code.co_filename
    import executing

    code, line = "", step.line
    source = None
    with contextlib.suppress(Exception):  # the source may be gone or unreadable
        source = executing.Source.for_frame(step.frame)
    if source is not None and 0 < line <= len(source.lines):
        code = _statement(source.lines, line, node)
    return Location(
        relative(file),
        line,
        code,
        getattr(step.frame.f_code, "co_qualname", step.frame.f_code.co_name),
        getattr(node, "end_lineno", None),
        getattr(node, "col_offset", None),
        getattr(node, "end_col_offset", None),
        _segment(source.lines, node) if source is not None else "",
    )


def _segment(lines: list[str], node: Any) -> str:
    """The text of a node that stands on one line. (`ast.get_source_segment` splits the whole file for that.)"""
    line: int | None = getattr(node, "lineno", None)
    if line is None or line != node.end_lineno or line > len(lines):
        return ""
    start, end = int(node.col_offset), int(node.end_col_offset)
    return lines[line - 1].encode()[start:end].decode(errors="replace")


def _statement(lines: list[str], line: int, node: ast.AST | None) -> str:
    """The statement's text on one line, cut where it is long."""
    first = last = line
    statement: Any = node
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = getattr(statement, "parent", None)  # set by executing
    if statement is not None and not hasattr(statement, "body"):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
    text = " ".join(part.strip() for part in lines[first - 1 : last])
    text = text.partition("  #")[0].rstrip()
    return text if len(text) <= 100 else text[:99] + "…"


def relative(file: str) -> str:
    """A file's path from the working directory, if it lies below it."""
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive, or no working directory
        return file
    return file if relative.startswith("..") else relative


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
        for table in (owner.__dict__, owner._parameters, owner._buffers, owner._modules):
            if name in table:
                return table[name]
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
    if type(owner) in (list, tuple, dict) and type(index) in (int, str):
        try:
            return owner[index]
        except (LookupError, TypeError):
            return MISSING
    return MISSING


def names_of(value: object, frame: FrameType) -> Iterator[str]:
    """The names under which a frame knows ``value``."""
    for scope in (frame.f_locals, frame.f_globals):
        for name, other in list(scope.items()):
            if other is value and name.isidentifier() and not name.startswith("_"):
                yield name
