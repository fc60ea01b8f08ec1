"""What an annotation says of a tensor, in jaxtyping's spelling and our own; names of sizes are symbols."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_NAME, DType
from simpletorch.shapes import ANY_REST, UNKNOWN, DimSyntaxError, Item, Rest, Shape, parse_axes, parse_dim, rest_in, var

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.scopes import Scope

__all__ = ["kind_of", "tensor_of"]

_TENSOR_NAMES: Final = frozenset({"Tensor", "Parameter", "CPUTensor", "CUDATensor", "MPSTensor"})


def tensor_of(run: Interpreter, node: ast.expr | None, scope: Scope, where: str) -> TensorType | None:
    """The tensor that an annotation describes, None if it describes none. Names of sizes are symbols of ``where``."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return tensor_of(run, ast.parse(text, mode="eval").body, scope, where)
            except SyntaxError:
                return None
        case ast.Subscript(value=head, slice=ast.Tuple(elts=[first, ast.Constant(value=str() as text)])):
            dtype = BY_NAME.get(_last(head))
            if dtype is not None and _is_tensor(run, first, scope):
                return TensorType(_of_string(run, text, where), dtype if dtype.is_concrete else None)
            return _ours(run, head, [first, ast.Constant(text)], scope, where)
        case ast.Subscript(value=head, slice=ast.Tuple(elts=items)):
            return _ours(run, head, items, scope, where)
        case ast.Subscript(value=head, slice=one) if _last(head) in _TENSOR_NAMES:
            return _ours(run, head, [one], scope, where)
        case ast.Name() | ast.Attribute() if _is_tensor(run, node, scope):
            return TensorType()
    return None


def kind_of(node: ast.expr | None) -> DType | None:
    """The dtype in the annotation of a tensor, or the kind of dtypes (``Float``); None where it says none."""
    match node:
        case ast.Subscript(value=head, slice=ast.Tuple(elts=[first, *_])):
            return BY_NAME.get(_last(first if _last(head) in _TENSOR_NAMES else head))
        case ast.Subscript(slice=one):
            return BY_NAME.get(_last(one))
    return None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_tensor(run: Interpreter, node: ast.expr, scope: Scope) -> bool:
    try:
        found: Value = run.evaluate(node, scope) if isinstance(node, ast.Name | ast.Attribute) else None
    except Raised:  # nobody need evaluate an annotation
        return False
    return isinstance(found, Class) and found.is_a("torch.Tensor")


def _of_string(run: Interpreter, text: str, where: str) -> Shape:
    """A shape of jaxtyping's."""
    items: list[Item] = []
    try:
        axes = parse_axes(text)
    except DimSyntaxError:
        return Shape((ANY_REST,))
    for axis in axes:
        if axis.kind == "any" or axis.broadcastable:
            items.append(UNKNOWN)
        elif axis.kind == "any_rest":
            items.append(ANY_REST)
        elif axis.kind == "rest":
            items.append(Rest(axis.expression, where))
        else:
            items.append(_dim(run, axis.expression, where))
    return Shape(tuple(items))


def _dim(run: Interpreter, text: str, where: str) -> Item:
    try:
        return parse_dim(text, lambda name: run.class_sizes.get(name, var(name, where)))
    except DimSyntaxError:
        return UNKNOWN


def _ours(run: Interpreter, head: ast.expr, items: list[ast.expr], scope: Scope, where: str) -> TensorType | None:
    """``Tensor[Float32, B, 784]``."""
    if _last(head) not in _TENSOR_NAMES or not items:
        return None
    dtype: DType | None = BY_NAME.get(_last(items[0]))
    dims: list[Item] = []
    for item in items[1:]:
        node = _quoted(item)
        match node:
            case ast.Constant(value=bool()):
                dims.append(UNKNOWN)
            case ast.Constant(value=int() as size):
                dims.append(size)
            case ast.Constant(value=str() as text) if (rest := rest_in(text)) is not None:
                dims.append(Rest(rest, where))
            case ast.Constant(value=str() as text):
                dims += [_dim(run, text, where)] if text.strip() else []  # Tensor[Float32, ""] is a scalar
            case ast.Constant(value=value) if value is ...:
                dims.append(ANY_REST)
            case ast.Name(id=name):
                dims.append(_named(run, name, node, scope, where))
            case ast.Starred(value=ast.Name(id=name)):
                dims.append(Rest(name, where))
            case _:
                dims.append(UNKNOWN)
    if sum(isinstance(d, Rest) for d in dims) > 1:
        return TensorType()
    return TensorType(Shape(tuple(dims)), dtype if dtype is not None and dtype.is_concrete else None)


def _quoted(node: ast.expr) -> ast.expr:
    """The ``"2*N"`` in ``Literal["2*N"]``; anything else is what it is."""
    match node:
        case ast.Subscript(value=head, slice=ast.Constant() as inner) if _last(head) == "Literal":
            return inner
    return node


def _named(run: Interpreter, name: str, node: ast.Name, scope: Scope, where: str) -> Item:
    """A size by name: a constant of the program, else a variable."""
    if name in run.class_sizes:
        return run.class_sizes[name]
    found = run.evaluate(node, scope)
    return found if isinstance(found, int) and not isinstance(found, bool) else var(name, where)
