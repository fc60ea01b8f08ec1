"""Subclasses of torch's modules: ``super().forward(x)``, and what their ``__init__`` makes.

mypy asks no hook about a call of ``super()``. But the hook of a class runs before its body is checked. There the call
becomes one of the base class on the same object, ``cast(nn.Sequential, self).forward(x)``. It means the same, and mypy
asks hooks about it.

mypy checks most functions after the top level of a file, but those that define attributes before it. An ``__init__``
that only calls ``super().__init__(...)`` or ``self.register_buffer(...)`` defines just as much for us. The plugin tells
mypy so after it has analysed all names. If told before, mypy would analyse the body again with each deferral of the top
level (a forward reference, a circle of imports), and forget the names that the body defines.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, cast

from mypy.nodes import LDEF, CallExpr, CastExpr, ClassDef, FuncDef, MemberExpr, NameExpr, SuperExpr
from mypy.plugin import ClassDefContext
from mypy.types import Instance

from simpletorch.mypy.names import MODULE, MODULES_PREFIX
from simpletorch.mypy.program.computed_attributes import note_computed_names
from simpletorch.mypy.program.syntax import calls_in, statements_in

__all__ = ["prepare"]


_PRIORITY: Final = 1  # nothing else that waits for the end of the analysis concerns us


def prepare(context: ClassDefContext) -> None:
    """See to a class once it has been analysed and before its body is checked."""
    if context.cls.info.has_base(MODULE):
        cast(Any, context.api).schedule_patch(_PRIORITY, partial(_prepare, context.cls))


def _prepare(definition: ClassDef) -> None:
    info = definition.info
    initializer = info.names.get("__init__")
    if initializer is not None and isinstance(initializer.node, FuncDef):
        initializer.node.def_or_infer_vars = True
    note_computed_names(definition)
    base = next((b for b in info.bases if b.type.fullname.startswith(MODULES_PREFIX)), None)
    if base is None or base.type.fullname == MODULE:
        return
    for function in statements_in(definition.defs.body):
        if isinstance(function, FuncDef) and function.info is info and function.arguments:
            for call in calls_in(function.body.body):
                _rewrite(call, function, base)


def _rewrite(call: CallExpr, function: FuncDef, base: Instance) -> None:
    callee = call.callee
    if not isinstance(callee, SuperExpr) or callee.name != "forward" or callee.call.args:
        return
    variable = function.arguments[0].variable
    itself = NameExpr(variable.name)
    itself.node, itself.kind, itself.fullname = variable, LDEF, variable.name
    seen = CastExpr(itself, base)
    call.callee = MemberExpr(seen, callee.name)
    for node in (itself, seen, call.callee):
        node.set_line(callee)
