"""What an annotation says of a tensor, in jaxtyping's spelling and our own; names of sizes are symbols.

A device that an annotation states is held against the tensors that are given, returned and assigned, and a class's
``Module[In, Out]`` against its ``forward``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow.marks import devices
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources import moves
from simpletorch.follow.sources.syntax import of_node, own_nodes
from simpletorch.follow.values import Class, Function, Instance, Value
from simpletorch.rules import Device, TensorType
from simpletorch.rules.core.dtype import BY_NAME, DType
from simpletorch.shapes import ANY_REST, UNKNOWN, DimSyntaxError, Item, Rest, Shape, parse_axes, parse_dim, rest_in, var
from simpletorch.shapes.sentences import device_differs

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = [
    "hold_arguments",
    "hold_attribute",
    "hold_class",
    "hold_result",
    "hold_variable",
    "kind_of",
    "stated_devices",
    "tensor_of",
]

_DEVICES: Final = {f"{name}Tensor": Device(name.lower()) for name in ("CPU", "CUDA", "MPS")}
_TENSOR_NAMES: Final = frozenset({"Tensor", "Parameter", *_DEVICES})


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
            return TensorType(device=_DEVICES.get(_last(node)))
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
    known = dtype if dtype is not None and dtype.is_concrete else None
    return TensorType(Shape(tuple(dims)), known, _DEVICES.get(_last(head)))


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


# -- what a class promises ---------------------------------------------------------------------------------------------


def hold_class(run: Interpreter, node: ast.ClassDef, made: Class, scope: Scope) -> None:
    """Compare ``forward`` with ``class Net(nn.Module[In, Out])``, as `simpletorch.nn.Module` does."""
    forward = made.cells.get("forward")
    stated = next(filter(None, (_stated(run, base, scope) for base in node.bases)), None)
    if stated is None or not isinstance(forward, Function):
        return
    run.node = node  # Python refuses the class, not its body
    arguments = forward.node.args
    taken = [*arguments.posonlyargs, *arguments.args][1:]
    required = taken[: len(taken) - len(arguments.defaults)]
    if len(required) == 1:
        _compare(run, made, forward, f"takes {required[0].arg}:", required[0].annotation, stated[0])
    _compare(run, made, forward, "gives", getattr(forward.node, "returns", None), stated[1])


def _stated(run: Interpreter, base: ast.expr, scope: Scope) -> tuple[ast.expr, ast.expr] | None:
    """The two types in a base ``Module[In, Out]``."""
    match base:
        case ast.Subscript(value=head, slice=ast.Tuple(elts=[taken, given])):
            found = run.resolve(run.evaluate(head, scope))
            if isinstance(found, Class) and found.qualified == "torch.nn.Module":
                return taken, given
    return None


def _compare(
    run: Interpreter, made: Class, forward: Function, verb: str, own: ast.expr | None, stated: ast.expr
) -> None:
    """Report what contradicts it for all sizes: another dtype, another rank, or two numbers that differ."""
    first, second = (tensor_of(run, note, forward.scope, made.name) for note in (own, stated))
    if first is None or second is None:
        return
    if first.dtype and second.dtype and first.dtype != second.dtype:
        code = "tensor-dtype"
    elif _contradict(first.shape, second.shape):
        code = "tensor-shape"
    else:
        return
    message = f"forward {verb} {_text(first)}, but the class's Module[In, Out] states {_text(second)}"
    run.find(code, f"class {made.name}: {message}", "write the same type in both places")


def _contradict(own: Shape, stated: Shape) -> bool:
    if any(isinstance(item, Rest) for item in (*own.items, *stated.items)):
        return False
    pairs = zip(own.items, stated.items, strict=False)
    return len(own.items) != len(stated.items) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs
    )


def _text(kind: TensorType) -> str:
    return f"Tensor[{', '.join(map(str, (kind.dtype or 'Any', *kind.shape.items)))}]"


# -- devices -----------------------------------------------------------------------------------------------------------


@of_node
def stated_devices(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Mapping[str, ast.expr]:
    """The tensor types in a function's signature that state a device, by parameter; "return" is its result's."""
    spec = node.args
    notes = {p.arg: p.annotation for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    found = {name: of for name, note in notes.items() if (of := _with_device(note)) is not None}
    result = None if isinstance(node, ast.Lambda) else _with_device(node.returns)
    return found if result is None else {**found, "return": result}


def _with_device(note: ast.expr | None) -> ast.expr | None:
    """The tensor type that states a device: the annotation, or the one beside None."""
    match note:
        case ast.Constant(value=str() as text) if any(name in text for name in _DEVICES):
            try:
                return _with_device(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return None
        case ast.Subscript(value=head) if _last(head) in _DEVICES:
            return head
        case ast.Subscript(value=head, slice=inner) if _last(head) == "Optional":
            return _with_device(inner)
        case ast.Name() | ast.Attribute() if _last(note) in _DEVICES:
            return note
        case ast.BinOp(op=ast.BitOr(), left=inner, right=ast.Constant(value=None)):
            return _with_device(inner)
        case ast.BinOp(op=ast.BitOr(), left=ast.Constant(value=None), right=inner):
            return _with_device(inner)
    return None


def hold_arguments(run: Interpreter, function: Function, cells: Mapping[str, Value]) -> bool:
    """Whether all that is given for parameters is on the devices that their annotations state; what isn't is said."""
    fit = True
    for name, stated in stated_devices(function.node).items():
        if name in cells:
            fit = _hold(run, stated, cells[name], function.scope, f"{_spoken(function)}: {name}") and fit
    return fit


def hold_result(run: Interpreter, function: Function, result: Value) -> None:
    """The same of what a function returns."""
    stated = stated_devices(function.node).get("return")
    if stated is None:
        return
    returns = [n for n in own_nodes(function.node) if isinstance(n, ast.Return)]
    before = run.path, run.node
    run.path, run.node = function.scope.path, returns[0] if len(returns) == 1 else function.node
    try:
        _hold(run, stated, result, function.scope, f"{_spoken(function)}: the result")
    finally:
        run.path, run.node = before


def hold_variable(run: Interpreter, note: ast.expr, value: Value, scope: Scope, name: str) -> None:
    """The same of what is assigned to an annotated variable or attribute."""
    stated = _with_device(note)
    if stated is not None:
        _hold(run, stated, value, scope, name)


def hold_attribute(run: Interpreter, owner: Value, name: str, value: Value, scope: Scope) -> None:
    """The same of an attribute that the class annotates."""
    owner = run.resolve(owner)
    if isinstance(owner, Instance):
        for cls in owner.cls.mro:
            note = cls.notes.get(name)
            if isinstance(note, ast.expr):
                own = (f.scope for f in cls.cells.values() if isinstance(f, Function))
                hold_variable(run, note, value, next(own, scope), f"{cls.name}.{name}")
                return


def _spoken(function: Function) -> str:
    return f"{function.owner.name}.{function.name}" if function.owner is not None else function.name


def _hold(run: Interpreter, stated: ast.expr, value: Value, scope: Scope, what: str) -> bool:
    value = run.resolve(value)
    told = devices.told(run, value)
    wanted = _DEVICES[_last(stated)]
    if told is None or told.agrees(wanted) or run.tries:
        return True
    if not moves.is_clear(run) or not _is_tensor(run, stated, scope):
        return True
    message = f"{device_differs(what, told, wanted)} [{value.type}]"
    run.find("tensor-device", message, f'call .to("{wanted}") on it, or change the annotation')
    return False
