"""Tensors over arrays: ``torch.from_numpy(a)`` has the dtype and the dims that are known of ``a``.

They are known from NumPy's own types (``NDArray[np.float32]``, ``np.zeros((3, 5))`` has two dims), from jaxtyping's
``Float32[np.ndarray, "n 3"]``, also of the array that a function gives, and of the tensor whose ``x.numpy()`` an array
is. For mypy jaxtyping's array is the array that it was: what the string says is kept beside the type
(`annotate/arrays.py`), so that nothing which is right without the plugin becomes an error with it.

``x.numpy()`` is what it was, unless an array of a certain dtype or size is wanted in its place
(``-> NDArray[np.float32]``, ``a: Float32[np.ndarray, "n 3"] = x.numpy()``): then it is compared with that. So are what
`simpletorch.interop.to_numpy` and `to_jax` give.

Only names that are bound once, declared attributes and what is written in the call itself are read: a variable that is
assigned what mypy doesn't know (``a = a[0]``) keeps its first type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from mypy.nodes import (
    CallExpr,
    Decorator,
    Expression,
    FuncDef,
    IndexExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OpExpr,
    RefExpr,
    TupleExpr,
    UnaryExpr,
    Var,
)
from mypy.plugin import CheckerPluginInterface, FunctionContext, MethodSigContext
from mypy.subtypes import is_subtype
from mypy.traverser import all_return_statements
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    ProperType,
    TupleType,
    Type,
    UnionType,
    get_proper_type,
)

from simpletorch.mypy.annotate.arrays import array_noted
from simpletorch.mypy.calls.arguments import Arguments, type_of
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.hooks import FunctionResultHook, MethodHook
from simpletorch.mypy.names import ARRAY
from simpletorch.mypy.program.constants import constant, is_bound_once
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import Report
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.rules.core.mismatch import Kind
from simpletorch.rules.core.values import ANYTHING, Anything, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Bindings, Rest, Shape, unify

__all__ = ["FUNCTION_RESULTS", "OF_ARRAYS", "TENSOR_METHODS", "array_value", "of_numpy", "with_arrays"]

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
_WIDEST: Final = (BY_TORCH_NAME["float64"], BY_TORCH_NAME["complex128"])
_OF_ASKED_DTYPE: Final = ("astype", "empty", "eye", "identity", "ones", "zeros")
OF_ARRAYS: Final = frozenset(
    f"torch.{name}"
    for name in ("from_numpy", "asarray", "as_tensor", "tensor", "from_dlpack", "utils.dlpack.from_dlpack")
)
"""The functions that make a tensor of an array."""
_TO_ARRAYS: Final = ("simpletorch.interop._numpy.to_numpy", "simpletorch.interop._dlpack.to_jax")


def with_arrays(lifter: PlaceLifter, api: CheckerPluginInterface, given: Arguments, combinations: _Values) -> _Values:
    """The arguments of a call with what is known of an array that comes first."""
    node = given.positional[0] if given.positional else None
    if not isinstance(node, Expression):
        return combinations
    found: Value = None
    out: _Values = []
    for positional, named in combinations:
        if positional and positional[0] is ANYTHING:
            found = array_value(lifter, api, node) if found is None else found
            out.append(([found, *positional[1:]], named))
        else:
            out.append((positional, named))
    return out


def array_value(
    lifter: PlaceLifter, api: CheckerPluginInterface, node: Expression, *, noted: bool = False
) -> TensorType | Anything:
    """The known facts about an array, as the tensor over it; with ``noted`` only those beyond NumPy's own types."""
    declared: ProperType | None = None
    tree = cast(Any, api).tree
    match node:
        case NameExpr(node=Var() as variable):
            if not is_bound_once(variable, tree):
                return ANYTHING
            declared = None if variable.is_inferred else get_proper_type(variable.type)
            value = constant(node, tree) if declared is None else None
            if isinstance(value, CallExpr) and (found := _of_call(lifter, api, value, _known_type)) is not None:
                return found
        case MemberExpr(node=Var(is_inferred=False) as variable):
            declared = get_proper_type(variable.type)
        case MemberExpr(expr=NameExpr(node=Var(type=Type() as owner)), name=name):
            declared = _attribute(get_proper_type(owner), name)
        case CallExpr():
            if (found := _of_call(lifter, api, node, type_of)) is not None:
                return found
        case IndexExpr() | OpExpr():
            pass
        case _:
            return ANYTHING
    typ = get_proper_type(type_of(node, api)) if declared is None else declared
    if not isinstance(typ, Instance):
        return ANYTHING
    note = None if declared is None else array_noted(typ)
    if note is not None:
        return lifter.tensor(note)
    if noted or typ.type.fullname != ARRAY:
        return ANYTHING
    known = of_numpy(typ)
    if known.dtype in _WIDEST and declared is None and _may_be_narrower(node, tree):
        return TensorType(known.shape)
    return known


def _of_call(
    lifter: PlaceLifter,
    api: CheckerPluginInterface,
    call: CallExpr,
    typed: Callable[[Expression, CheckerPluginInterface], Type | None],
) -> TensorType | None:
    """The known facts about the array that a call returns, beyond its type; None if there are none."""
    match call.callee:
        case MemberExpr(expr=receiver, name="numpy") if (given := typed(receiver, api)) and is_tensor(given):
            return _without_device(lifter.value(given))
        case RefExpr(fullname=name) if name in _TO_ARRAYS and len(call.args) and (given := typed(call.args[0], api)):
            return _without_device(lifter.value(given))
    if not _gives_noted(call.callee, api):
        return None
    given = get_proper_type(typed(call, api))
    note = array_noted(given) if isinstance(given, Instance) else None
    return None if note is None else lifter.tensor(note)


def _known_type(node: Expression, api: CheckerPluginInterface) -> Type | None:
    """The type that an expression had when mypy checked it; its names may stand for something else since."""
    found: Type | None = cast(Any, api).lookup_type_or_none(node)
    return found


def _without_device(value: Value) -> TensorType | None:
    return TensorType(value.shape, value.dtype) if isinstance(value, TensorType) else None


def _gives_noted(callee: Expression, api: CheckerPluginInterface) -> bool:
    """Whether a function's own annotation says of what sizes an array is that it gives.

    A note on what a type variable stands for (``def cropped(array: A) -> A``) may not be true of the result.
    """
    node = callee.node if isinstance(callee, RefExpr) else None
    if node is None and isinstance(callee, MemberExpr):
        owner = get_proper_type(_known_type(callee.expr, api))
        symbol = owner.type.get(callee.name) if isinstance(owner, Instance) else None
        node = None if symbol is None else symbol.node
    decorated = node.var.type if isinstance(node, Decorator) else None
    function = node.func if isinstance(node, Decorator) else node
    signature = function.type if isinstance(function, FuncDef) else None
    if not isinstance(signature, CallableType):
        return False
    if isinstance(node, Decorator):
        given = get_proper_type(decorated)
        if not isinstance(given, CallableType) or given.ret_type != signature.ret_type:
            return False
    result = get_proper_type(signature.ret_type)
    return isinstance(result, Instance) and array_noted(result) is not None


def _may_be_narrower(node: Expression, tree: MypyFile) -> bool:
    """Whether numbers that are float64 for NumPy's stubs may be float32.

    They say float64 of ``a / 2`` and ``np.fft.fft(a)`` whatever a is, and of ``a * 2.0`` where a's dtype isn't known.
    """
    match node:
        case NameExpr(node=Var(is_inferred=True)):
            value = constant(node, tree)
            return value is None or _may_be_narrower(value, tree)
        case NameExpr(node=Var(type=Type() as declared)) | MemberExpr(node=Var(type=Type() as declared)):
            typ = get_proper_type(declared)
            if isinstance(typ, Instance) and typ.type.fullname == ARRAY:
                return of_numpy(typ).dtype is None
            return isinstance(typ, AnyType)
        case OpExpr():
            return True
        case CallExpr(callee=RefExpr(fullname=name) as callee, args=args, arg_names=names):
            short = callee.name if isinstance(callee, MemberExpr | NameExpr) else ""
            if "dtype" in names or short in _OF_ASKED_DTYPE or name.startswith("numpy.random."):
                return False
            of = [callee.expr] if isinstance(callee, MemberExpr) and not name else args
            return name.startswith("numpy.fft.") or any(_may_be_narrower(n, tree) for n in of)
        case IndexExpr(base=inner) | MemberExpr(expr=inner) | UnaryExpr(expr=inner):
            return _may_be_narrower(inner, tree)
        case TupleExpr(items=items) | ListExpr(items=items):
            return any(_may_be_narrower(item, tree) for item in items)
    return False


def _attribute(owner: ProperType, name: str) -> ProperType | None:
    """The type that a class declares for an attribute."""
    symbol = owner.type.get(name) if isinstance(owner, Instance) else None
    node = None if symbol is None else symbol.node
    return get_proper_type(node.type) if isinstance(node, Var) and not node.is_inferred else None


def _to_numpy(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``x.numpy()``: of what is on the CPU, and where an array of a certain kind is wanted, of such a tensor."""
    value = PlaceLifter(types, context.api, context.context.line).value(context.type)
    if isinstance(value, TensorType) and value.device is not None and value.device.type != "cpu":
        found = Report(
            "numpy",
            "device",
            f"the tensor is on {value.device}",
            {"self": value},
            ".cpu().numpy()",
            "cpu",
            value.device,
        )
        if not _is_one_of_several(context) and not _is_forced(context):
            report(found, context.context, context.api)
        return context.default_signature
    if not _is_one_of_several(context):
        _compare("numpy", context.type, context, types)
    return context.default_signature


def _is_forced(context: MethodSigContext) -> bool:
    """Whether the call may be told to copy from another device: ``x.numpy(force=True)``."""
    return any(nodes for nodes in context.args)


def _to_array(context: FunctionContext, types: TypeTable) -> Type:
    """``to_numpy(x)`` and ``to_jax(x)`` where an array of a certain kind is wanted: of JAX's it is then one."""
    callee = context.context.callee if isinstance(context.context, CallExpr) else None
    if len(context.arg_types[0]) == 1 and isinstance(callee, NameExpr | MemberExpr):
        _compare(callee.name, context.arg_types[0][0], context, types)
    given, wanted = get_proper_type(context.default_return_type), _wanted(context)
    if isinstance(given, AnyType) and isinstance(wanted, Instance) and array_noted(wanted) is not None:
        return wanted  # or mypy's strict mode would say that Any is returned
    return given


def _compare(operation: str, given: Type, context: MethodSigContext | FunctionContext, types: TypeTable) -> None:
    """Say it where an array over ``given`` isn't the one that is wanted."""
    wanted = _wanted(context)
    noted = array_noted(wanted) if isinstance(wanted, Instance) else None
    if not isinstance(wanted, Instance) or (noted is None and wanted.type.fullname != ARRAY):
        return
    lifter = PlaceLifter(types, context.api, context.context.line)
    value = lifter.value(given)
    if not isinstance(value, TensorType):
        return
    pattern = of_numpy(wanted) if noted is None else lifter.tensor(noted)
    kind = _misfit(pattern, value, Lowerer(lifter))
    if kind is not None:
        expected, got = (pattern.dtype, value.dtype) if kind == "dtype" else (pattern.shape, value.shape)
        reason = f"the array is {value}, but {pattern} is wanted here"
        report(Report(operation, kind, reason, {"self": value}, None, expected, got), context.context, context.api)


def _is_one_of_several(context: MethodSigContext) -> bool:
    """Whether the tensor is a member of a union, which mypy asks about one after the other: another one may fit."""
    match context.context:
        case CallExpr(callee=MemberExpr(expr=receiver)):
            return isinstance(get_proper_type(cast(Any, context.api).lookup_type_or_none(receiver)), UnionType)
    return True


def _wanted(context: MethodSigContext | FunctionContext) -> ProperType | None:
    """The type that is wanted of a call.

    If there is an error, mypy tries a returned expression again without a wanted type.
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


def of_numpy(array: Instance) -> TensorType:
    """The facts in NumPy's own type: the number of dims and the dtype."""
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
FUNCTION_RESULTS: Final[Mapping[str, FunctionResultHook]] = dict.fromkeys(_TO_ARRAYS, _to_array)
