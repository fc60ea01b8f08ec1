"""Tensors over arrays: ``torch.from_numpy(a)`` has the dtype and the dims that are known of ``a``.

They are known from NumPy's own types (``NDArray[np.float32]``, ``np.zeros((3, 5))`` has two dims) and from jaxtyping's
``Float32[np.ndarray, "n 3"]``. For mypy the latter is the array that it was: what the string says is kept beside the
type (`annotate/arrays.py`), so that nothing which is right without the plugin becomes an error with it.

``x.numpy()`` is what it was, unless an array of a certain dtype or size is wanted in its place
(``-> NDArray[np.float32]``, ``a: Float32[np.ndarray, "n 3"] = x.numpy()``): then it is compared with that.

Only names that are bound once, declared attributes and what is written in the call itself are read: a variable that is
assigned what mypy doesn't know (``a = a[0]``) keeps its first type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from mypy.nodes import CallExpr, Expression, FuncDef, IndexExpr, MemberExpr, NameExpr, OpExpr, Var
from mypy.plugin import CheckerPluginInterface, MethodSigContext
from mypy.subtypes import is_subtype
from mypy.traverser import all_return_statements
from mypy.types import CallableType, Instance, LiteralType, ProperType, TupleType, Type, UnionType, get_proper_type

from simpletorch.mypy.annotate.arrays import array_noted
from simpletorch.mypy.calls.arguments import Arguments, type_of
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.hooks import MethodHook
from simpletorch.mypy.names import ARRAY
from simpletorch.mypy.program.constants import is_bound_once
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import Report
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.rules.core.mismatch import Kind
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Bindings, Rest, Shape, unify

__all__ = ["OF_ARRAYS", "TENSOR_METHODS", "with_arrays"]

_Values: TypeAlias = list[tuple[list[Value], dict[str, Value]]]
_BITS: Final = {f"numpy._typing._nbit_base._{bits}Bit": bits for bits in (8, 16, 32, 64)}
_KINDS: Final = {"floating": "float", "signedinteger": "int", "unsignedinteger": "uint"}
_CLASSES: Final = {
    f"numpy.{name}": BY_TORCH_NAME[name.rstrip("_")]
    for name in (
        *("bool", "bool_", "float16", "float32", "float64", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
}
OF_ARRAYS: Final = frozenset(
    f"torch.{name}"
    for name in ("from_numpy", "asarray", "as_tensor", "tensor", "from_dlpack", "utils.dlpack.from_dlpack")
)
"""The functions that make a tensor of an array."""


def with_arrays(lifter: PlaceLifter, api: CheckerPluginInterface, given: Arguments, combinations: _Values) -> _Values:
    """The arguments of a call with what is known of an array that comes first."""
    node = given.positional[0] if given.positional else None
    if not isinstance(node, Expression):
        return combinations
    found: Value = None
    out: _Values = []
    for positional, named in combinations:
        if positional and positional[0] is ANYTHING:
            found = _array(lifter, api, node) if found is None else found
            out.append(([found, *positional[1:]], named))
        else:
            out.append((positional, named))
    return out


def _array(lifter: PlaceLifter, api: CheckerPluginInterface, node: Expression) -> Value:
    """What is known of an array, as the tensor over it."""
    declared: ProperType | None = None
    match node:
        case NameExpr(node=Var() as variable):
            if not is_bound_once(variable, cast(Any, api).tree):
                return ANYTHING
            declared = None if variable.is_inferred else get_proper_type(variable.type)
        case MemberExpr(node=Var(is_inferred=False) as variable):
            declared = get_proper_type(variable.type)
        case MemberExpr(expr=NameExpr(node=Var(type=Type() as owner)), name=name):
            declared = _attribute(get_proper_type(owner), name)
        case CallExpr() | IndexExpr() | OpExpr():
            pass
        case _:
            return ANYTHING
    typ = get_proper_type(type_of(node, api)) if declared is None else declared
    if not isinstance(typ, Instance) or typ.type.fullname != ARRAY:
        return ANYTHING
    note = None if declared is None else array_noted(typ)
    return _of_numpy(typ) if note is None else lifter.tensor(note)


def _attribute(owner: ProperType, name: str) -> ProperType | None:
    """The type that a class declares for an attribute."""
    symbol = owner.type.get(name) if isinstance(owner, Instance) else None
    node = None if symbol is None else symbol.node
    return get_proper_type(node.type) if isinstance(node, Var) and not node.is_inferred else None


def _to_numpy(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``x.numpy()`` where an array of a certain kind is wanted."""
    signature = context.default_signature
    wanted = _wanted(context)
    if not isinstance(wanted, Instance) or wanted.type.fullname != ARRAY or _is_one_of_several(context):
        return signature
    lifter = PlaceLifter(types, context.api, context.context.line)
    given = lifter.value(context.type)
    if not isinstance(given, TensorType):
        return signature
    noted = array_noted(wanted)
    pattern = _of_numpy(wanted) if noted is None else lifter.tensor(noted)
    kind = _misfit(pattern, given, Lowerer(lifter))
    if kind is not None:
        expected, got = (pattern.dtype, given.dtype) if kind == "dtype" else (pattern.shape, given.shape)
        reason = f"the array is {given}, but {pattern} is wanted here"
        report(Report("numpy", kind, reason, {"self": given}, None, expected, got), context.context, context.api)
    return signature


def _is_one_of_several(context: MethodSigContext) -> bool:
    """Whether the tensor is a member of a union, which mypy asks about one after the other: another one may fit."""
    match context.context:
        case CallExpr(callee=MemberExpr(expr=receiver)):
            return isinstance(get_proper_type(cast(Any, context.api).lookup_type_or_none(receiver)), UnionType)
    return True


def _wanted(context: MethodSigContext) -> ProperType | None:
    """The type that is wanted of a call.

    What is returned mypy tries again without one, if anything is said of it.
    """
    expected = context.api.type_context[-1] if context.api.type_context else None
    if expected is not None:
        return get_proper_type(expected)
    function = cast(Any, context.api).scope.current_function()
    if not isinstance(function, FuncDef) or function.is_generator or function.is_coroutine:
        return None
    returned = any(statement.expr is context.context for statement in all_return_statements(function))
    return get_proper_type(function.type.ret_type) if returned and isinstance(function.type, CallableType) else None


def _misfit(wanted: TensorType, given: TensorType, lowerer: Lowerer) -> Kind | None:
    """In what an array can't be one that is wanted. Names of sizes may be those of another function, so none count."""
    if None not in (wanted.dtype, given.dtype):
        a, b = (get_proper_type(lowerer.dtype(t.dtype)) for t in (wanted, given))
        if not is_subtype(b, a) and not is_subtype(a, b):
            return "dtype"
    return "shape" if unify(_numbers(wanted.shape), _numbers(given.shape), Bindings(frozenset())) else None


def _numbers(shape: Shape) -> Shape:
    """The shape with its numbers alone."""
    return Shape(tuple(i if isinstance(i, int) else ANY_REST if isinstance(i, Rest) else UNKNOWN for i in shape.items))


def _of_numpy(array: Instance) -> TensorType:
    """What NumPy's own type says: how many dims, and which dtype."""
    shape, dtype = map(get_proper_type, array.args) if len(array.args) == 2 else (None, None)
    found = ANY_SHAPE
    if isinstance(shape, TupleType) and all(_is_int(i) for i in shape.items):
        sizes = map(get_proper_type, shape.items)
        found = Shape(tuple(s.value if isinstance(s, LiteralType) else UNKNOWN for s in sizes))  # type: ignore[misc]
    number = get_proper_type(dtype.args[0]) if isinstance(dtype, Instance) and dtype.args else None
    return TensorType(found, _dtype(number))


def _is_int(size: Type) -> bool:
    size = get_proper_type(size)
    if isinstance(size, LiteralType):
        return isinstance(size.value, int)
    return isinstance(size, Instance) and size.type.fullname == "builtins.int"


def _dtype(number: ProperType | None) -> DType | None:
    """The dtype of ``np.float32``, which is ``floating[_32Bit]`` for a checker."""
    if not isinstance(number, Instance):
        return None
    found = _CLASSES.get(number.type.fullname)
    if found is not None or not number.args:
        return found
    module, _, kind = number.type.fullname.rpartition(".")
    widths = [
        _BITS.get(a.type.fullname) if isinstance(a := get_proper_type(w), Instance) else None for w in number.args
    ]
    bits = widths[0]
    if module != "numpy" or bits is None or any(w != bits for w in widths):
        return None
    if kind == "complexfloating":
        return BY_TORCH_NAME.get(f"complex{2 * bits}")
    return BY_TORCH_NAME.get(f"{_KINDS[kind]}{bits}") if kind in _KINDS else None


TENSOR_METHODS: Final[Mapping[str, MethodHook]] = {"numpy": _to_numpy}
