"""A program is executed and followed: each value that a line gives a name, and each that following says it gives."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from simpletorch.follow import follow
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME
from simpletorch.shapes import Expr, Shape, equal

__all__ = ["Compared", "compared"]

_RECORD = "_record_"
_MOST = 16  # values of one name on one line


@dataclass(frozen=True)
class _Like:
    """An object of a subclass of int: it may be said to be this number."""

    number: int


@dataclass
class Compared:
    """A program beside its follow: how many claims could be compared, how it ends, and each that is wrong."""

    claims: int = 0
    known: int = 0
    wrong: list[str] = field(default_factory=list)
    raises: str = ""
    found: list[tuple[int, str]] = field(default_factory=list)
    ended: str = ""


class _Recording(ast.NodeTransformer):
    """Behind each assignment to a name stands a call that records its value."""

    def _after(self, node: Any, targets: list[ast.expr]) -> Any:
        self.generic_visit(node)
        return [node, *_records(node.lineno, targets)]

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._after(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._after(node, [node.target])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self._after(node, [node.target] if node.value is not None else [])

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        node.body[:0] = _records(node.lineno, [node.target])
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return (
            node if any(isinstance(n, ast.AnnAssign) for n in node.body) or node.decorator_list else _inside(self, node)
        )


def _inside(self: _Recording, node: ast.ClassDef) -> ast.ClassDef:
    """Only what the functions of a class assign: its body makes names of its own."""
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef):
            self.generic_visit(inner)
    return node


def _records(line: int, targets: list[ast.expr]) -> list[ast.stmt]:
    names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    made: list[ast.stmt] = []
    for name in dict.fromkeys(names):
        call = ast.Expr(
            ast.Call(
                ast.Name(_RECORD, ast.Load()), [ast.Constant(line), ast.Constant(name), ast.Name(name, ast.Load())], []
            )
        )
        for inner in ast.walk(call):
            inner.lineno, inner.end_lineno, inner.col_offset, inner.end_col_offset = line, line, 0, 0  # type: ignore[attr-defined]
        made.append(call)
    return made


def compared(source: str, path: Path, *, known_names: bool = True) -> Compared:
    """Execute and follow a program, and compare.

    ``known_names``: a name that a line surely gives a value has one in the follow, known or not.
    """
    path.write_text(source)
    real: dict[tuple[int, str], list[Any]] = {}

    def record(line: int, name: str, value: Any) -> None:
        kind = type(value)
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            value = TensorType(Shape(tuple(value.shape)), BY_TORCH_NAME[str(value.dtype).removeprefix("torch.")])
        elif kind is not int:
            value = _Like(int.__int__(value)) if issubclass(kind, int) and kind is not bool else None
        real.setdefault((line, name), []).append(value)

    module = ModuleType("__main__")
    module.__file__ = str(path)
    vars(module)[_RECORD] = record
    tree = _Recording().visit(ast.parse(source))
    out = Compared()
    held, sys.modules["__main__"] = sys.modules["__main__"], module
    torch.manual_seed(0)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(tree, str(path), "exec", dont_inherit=True), vars(module))
    except SystemExit:
        pass
    except BaseException as error:
        out.raises = f"{type(error).__name__}: {error}"
    finally:
        sys.modules["__main__"] = held
    _compare(source, path, real, out, known_names)
    return out


def _compare(source: str, path: Path, real: dict[tuple[int, str], list[Any]], out: Compared, known_names: bool) -> None:
    result = follow(path)
    lines = source.splitlines()

    def say(line: int, what: str) -> None:
        out.wrong.append(f"{line}: {lines[line - 1].strip()}: {what}")

    out.wrong += [f"a fault: {f}" for f in result.faults]
    out.found = [(e.line, e.message) for e in result.errors]
    out.ended = result.ended
    if not result.complete:
        out.wrong.append("the budget is used up")
    if not out.raises:
        for line, message in out.found:
            say(line, f"no mistake, but: {message}")
        if result.ended:
            out.wrong.append(f"it doesn't end at {result.ended}")
    said = {
        (line, name): values
        for (p, line), names in result.claims.items()
        if p == str(path)
        for name, values in names.items()
    }
    unsaid = {(line, name) for p, line, name in result.unsaid if p == str(path)}
    certain = {(line, name, value) for p, line, name, value in result.certain if p == str(path)}
    in_error = {line for line, _ in out.found}
    not_reached = {place for place in real if place[0] in in_error}
    for place, values in real.items():
        known = [v for v in said.get(place, ()) if isinstance(v, int | Expr | TensorType)]
        for value in values[:_MOST]:
            if value is None or isinstance(value, _Like):
                continue
            out.claims += 1
            out.known += place not in unsaid and any(_is_full(v) and _fits(v, value) for v in known)
            silent = not known and not known_names
            if place not in unsaid | not_reached and not silent and not any(_fits(v, value) for v in known):
                say(place[0], f"{place[1]} is {value}, said is {', '.join(map(str, known)) or 'nothing'}")
                break
    for line, name, value in certain:
        values = real.get((line, name))
        values = values and [v.number if isinstance(v, _Like) else v for v in values]
        if values is None:
            if not out.raises and (line, name) in _assigned(source):
                say(line, f"{name} is certainly {value}, but never gets a value")
        elif isinstance(value, int | Expr | TensorType) and not any(v is not None and _fits(value, v) for v in values):
            say(line, f"{name} is certainly {value}, but is {values[0]}")


@lru_cache(maxsize=1)
def _assigned(source: str) -> set[tuple[int, str]]:
    """The lines and names at which values are recorded."""
    found = set()
    for node in ast.walk(_Recording().visit(ast.parse(source))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _RECORD:
            found.add((node.args[0].value, node.args[1].value))  # type: ignore[attr-defined]
    return found


def _is_full(value: Any) -> bool:
    if isinstance(value, TensorType):
        return value.dtype is not None and value.shape.is_exact and all(isinstance(d, int) for d in value.shape.dims)
    return isinstance(value, int)


def _fits(claim: Any, value: Any) -> bool:
    if isinstance(claim, TensorType) != isinstance(value, TensorType):
        return False
    if not isinstance(claim, TensorType):
        return equal(claim, value) is not False
    if claim.dtype not in (None, value.dtype):
        return False
    a, dims = claim.shape, value.shape.dims
    if a.is_exact:
        return len(dims) == a.rank and all(equal(x, y) is not False for x, y in zip(a.dims, dims, strict=True))
    return (
        len(dims) >= a.min_rank
        and all(equal(x, y) is not False for x, y in zip(a.head, dims, strict=False))
        and all(equal(x, y) is not False for x, y in zip(reversed(a.tail), reversed(dims), strict=False))
    )
