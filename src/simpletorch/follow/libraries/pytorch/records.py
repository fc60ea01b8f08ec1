"""What another library's module gives, as a protocol, dataclass or named tuple of the program describes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow.calls import escape
from simpletorch.follow.libraries import library_class
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, Instance, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["described"]

_RECORD: Final = "torch.interop.Record"


library_class(_RECORD, unknown="an object of another library")


def described(
    run: Interpreter, annotation: ast.expr | None, scope: Scope, held: Callable[[ast.expr], Tensor | None]
) -> Value:
    """An object whose tensors are known, and nothing else; None where the annotation is of no such class.

    Args:
        run: the interpreter.
        annotation: ``States[B, T]``.
        scope: where it stands.
        held: the tensor that an attribute's annotation promises in this call.
    """
    head, given = _generic(annotation)
    try:
        cls = run.resolve(run.evaluate(head, scope)) if head is not None else None
    except Raised:  # nobody need evaluate an annotation
        return None
    if not isinstance(cls, Class) or not (notes := cls.notes):
        return None
    sizes = _Sizes(dict(zip(cls.metadata.get("parameters", ()), given, strict=False)))
    # a note's own nodes know the whole file that they stand in
    copies = {name: ast.parse(ast.unparse(note), mode="eval").body for name, note in notes.items()}
    found = {name: held(sizes.visit(note)) for name, note in copies.items()}
    made = Instance(run.program.library_class(_RECORD))
    escape(run, (made,))
    made.cells.update({name: tensor for name, tensor in found.items() if tensor is not None})
    return made


def _generic(node: ast.expr | None) -> tuple[ast.expr | None, list[ast.expr]]:
    """The class of an annotation, and what it is given: ``States[B, T]``."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return _generic(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return None, []
        case ast.Subscript(value=ast.Name() | ast.Attribute() as head, slice=ast.Tuple(elts=args)):
            return head, args
        case ast.Subscript(value=ast.Name() | ast.Attribute() as head, slice=one):
            return head, [one]
        case ast.Name() | ast.Attribute():
            return node, []
    return None, []


class _Sizes(ast.NodeTransformer):
    """Puts what a generic class is given in the place of its parameters; in an expression over them it isn't known."""

    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given.get(node.id, node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        words = re.findall(r"[A-Za-z_]\w*", node.value) if isinstance(node.value, str) else []
        return ast.Name("Any", ast.Load()) if any(word in self.given for word in words) else node
