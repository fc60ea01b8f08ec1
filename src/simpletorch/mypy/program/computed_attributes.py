"""Attributes that only exist at run time: ``setattr(self, f"fc{i}", nn.Linear(3, 5))``, and later ``self.fc1(x)``.

``Module.__getattr__`` makes every unknown attribute a ``Tensor | Module``, and calling that is an error: "Tensor" not
callable. It is a welcome one where a name is misspelt, and a false alarm where such names are made.
"""

from __future__ import annotations

from typing import Final

from mypy.nodes import CallExpr, ClassDef, FuncDef, MemberExpr, NameExpr, StrExpr
from mypy.plugin import AttributeContext
from mypy.types import Instance, Type, UnionType, get_proper_type

from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.names import DICTS, MODULE, OUR_MODULE, SEQUENTIALS
from simpletorch.mypy.program.syntax import calls_in, statements_in
from simpletorch.mypy.types import any_type

__all__ = ["attribute", "note_computed_names"]

_METADATA: Final = "simpletorch.dynamic"
_OPEN: Final = (MODULE, OUR_MODULE, *SEQUENTIALS, *DICTS, "torch.fx.graph_module.GraphModule")
_REGISTER: Final = frozenset(("add_module", "register_module", "register_buffer", "register_parameter", "__setattr__"))


def note_computed_names(definition: ClassDef) -> None:
    """Keep with a class whether its methods set attributes whose names they compute."""
    methods = (method for method in statements_in(definition.defs.body) if isinstance(method, FuncDef))
    if any(_sets_computed_name(call) for method in methods for call in calls_in(method.body.body)):
        definition.info.metadata[_METADATA] = {"computed": True}


def _sets_computed_name(call: CallExpr) -> bool:
    callee = call.callee
    if isinstance(callee, NameExpr):
        return callee.name == "setattr"
    is_registration = isinstance(callee, MemberExpr) and callee.name in _REGISTER and bool(call.args)
    return is_registration and not isinstance(call.args[0], StrExpr)


def attribute(name: str, context: AttributeContext, found: Type) -> Type:
    """``found``, unless that is only what ``__getattr__`` says of a module that may well have such an attribute."""
    receiver, typ = context.type, get_proper_type(found)
    if context.is_lvalue or not isinstance(receiver, Instance) or receiver.type.get(name) is not None:
        return found
    members = [get_proper_type(m) for m in typ.items] if isinstance(typ, UnionType) else []
    has_module = any(isinstance(m, Instance) and m.type.fullname == MODULE for m in members)
    if not has_module or not any(map(is_tensor, members)):
        return found
    is_open = receiver.type.fullname in _OPEN or any(_METADATA in info.metadata for info in receiver.type.mro)
    return any_type() if is_open else found
