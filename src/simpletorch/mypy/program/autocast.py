"""Where ``torch.autocast`` is in force: under ``with torch.autocast(...)`` and in functions that it decorates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, cast

from mypy.nodes import (
    CallExpr,
    Context,
    Decorator,
    Expression,
    MemberExpr,
    MypyFile,
    NameExpr,
    Statement,
    StrExpr,
    WithStmt,
)
from mypy.plugin import CheckerPluginInterface

from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements
from simpletorch.rules.core.autocast import Autocast
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType

__all__ = ["autocast_at"]

_MODULES: Final = {"torch.cuda.amp": "cuda", "torch.cpu.amp": "cpu"}
_OFF: Final = object()


def autocast_at(context: Context, api: CheckerPluginInterface) -> Autocast | None:
    """The autocast that is in force at an expression: the innermost one around it in the text."""
    around = [
        (last - first, made) for first, last, made in _spans(cast(Any, api).tree) if first <= context.line <= last
    ]
    innermost = min(around, key=lambda found: found[0], default=(0, _OFF))[1]
    return innermost if isinstance(innermost, Autocast) else None


@once_a_tree
def _spans(tree: MypyFile) -> tuple[tuple[int, int, object], ...]:
    """The lines, from and to, over which each autocast of a file is in force; `_OFF` for ``enabled=False``."""
    return tuple(
        (first, last, _made(call))
        for s in all_statements(tree)
        if type(s) in (WithStmt, Decorator)
        for first, last, expressions in _regions(s)
        for call in expressions
        if isinstance(call, CallExpr) and _name(call.callee) == "autocast"
    )


def _regions(s: Statement) -> Iterator[tuple[int, int, list[Expression]]]:
    """The expressions that are entered by ``with`` or decorate a function, with the lines where they hold."""
    if isinstance(s, WithStmt):
        yield s.body.line, s.body.end_line or s.body.line, s.expr
    elif isinstance(s, Decorator):
        yield s.func.line, s.func.end_line or s.func.line, s.original_decorators


def _name(callee: Expression) -> str:
    return callee.name if isinstance(callee, NameExpr | MemberExpr) else ""


def _made(call: CallExpr) -> object:
    """The setting in the arguments: device and dtype if they are literals, and on, off or perhaps."""
    by_module = _MODULES.get(_module(call.callee))
    places = ("enabled", "dtype") if by_module else ("device_type", "dtype", "enabled")
    given: dict[str | None, Expression] = dict(zip(places, call.args, strict=False))
    given = {k: v for k, v in given.items() if v in call.args[: sum(name is None for name in call.arg_names)]}
    given |= {name: value for name, value in zip(call.arg_names, call.args, strict=True) if name is not None}
    enabled = given.get("enabled")
    if isinstance(enabled, NameExpr) and enabled.name == "False":
        return _OFF
    device = given.get("device_type")
    kind = by_module or (device.value.partition(":")[0] if isinstance(device, StrExpr) else None)
    dtype = _dtype(given.get("dtype"))
    if "dtype" in given and dtype is None:
        return Autocast(kind, None, certain=False)
    certain = enabled is None or (isinstance(enabled, NameExpr) and enabled.name == "True")
    return replace(Autocast.of(kind, dtype), certain=certain)


def _module(callee: Expression) -> str:
    """``torch.cuda.amp`` for ``torch.cuda.amp.autocast``, however it was imported."""
    name = callee.fullname if isinstance(callee, NameExpr | MemberExpr) else ""
    return name.rpartition(".")[0].removesuffix(".autocast_mode")


def _dtype(node: Expression | None) -> DType | None:
    name = node.fullname or node.name if isinstance(node, NameExpr | MemberExpr) else ""
    return BY_TORCH_NAME.get(name.rpartition(".")[2])
