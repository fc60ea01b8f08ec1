"""From mypy's types and expressions to the values that rules understand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeGuard, cast

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    CallExpr,
    Context,
    EllipsisExpr,
    Expression,
    FloatExpr,
    IntExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OpExpr,
    RefExpr,
    SliceExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
)
from mypy.plugin import CheckerPluginInterface
from mypy.types import (
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeVarTupleType,
    TypeVarType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from simpletorch.mypy import names
from simpletorch.mypy.constants import constant
from simpletorch.mypy.facts import NO_FACTS, Facts, facts_at
from simpletorch.mypy.names import BROADCAST, DEVICE_TENSORS, DIM, DTYPES_MODULE, MODULE, PARAMETER, PHANTOM, TENSOR
from simpletorch.mypy.types import NAMED_SCOPE, TypeTable, is_named
from simpletorch.rules.arguments import is_dim
from simpletorch.rules.dtype import BY_NAME, BY_TORCH_NAME, DType
from simpletorch.rules.values import ANYTHING, Device, Packed, Scalar, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Item, Rest, Shape, Var, maximum, minimum, var

__all__ = [
    "Lifter",
    "is_broadcast",
    "is_expression",
    "is_module",
    "is_tensor",
    "lifter_at",
    "scope_of",
    "scopes_around",
]


def is_module(typ: ProperType | None) -> TypeGuard[Instance]:
    """Whether the type is ``torch.nn.Module`` or a subclass of it."""
    return isinstance(typ, Instance) and typ.type.has_base(MODULE)


def is_tensor(typ: Type) -> bool:
    """Whether the type is ``torch.Tensor`` or a subclass of it."""
    typ = get_proper_type(typ)
    return isinstance(typ, Instance) and typ.type.has_base(TENSOR)


def scope_of(variable: TypeVarType | TypeVarTupleType) -> str:
    """What tells this variable apart from another of the same name; jaxtyping's names are one in a function."""
    if is_named(variable):
        return NAMED_SCOPE
    return f"{variable.id.namespace}:{variable.id.raw_id}"


_FOLDS: Final[dict[str, Callable[..., Dim]]] = {
    "Sum": lambda *d: _accumulate(d, 0, lambda a, b: a + b),
    "Product": lambda *d: _accumulate(d, 1, lambda a, b: a * b),
    "Quotient": lambda a, b: a // b,
    "Remainder": lambda a, b: a % b,
    "Power": lambda a, b: a**b,
    "Minimum": minimum,
    "Maximum": maximum,
}


def is_expression(typ: Type) -> bool:
    """Whether the type stands for an expression over sizes."""
    if not isinstance(typ, Instance):
        return False
    module, _, name = typ.type.fullname.rpartition(".")
    return module == PHANTOM and (name in _FOLDS or is_broadcast(typ))


def is_broadcast(typ: Type) -> bool:
    """Whether the type is ``#n``: a size that is n or 1."""
    typ = get_proper_type(typ)
    return isinstance(typ, Instance) and typ.type.fullname == BROADCAST


_ARITHMETIC: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


def _common_shape(a: Shape, b: Shape) -> Shape:
    if not a.is_exact or a.rank != b.rank:
        return a if a == b else ANY_SHAPE
    return Shape(tuple(x if x == y else UNKNOWN for x, y in zip(a.dims, b.dims, strict=True)))


def _accumulate(dims: tuple[Dim, ...], start: int, combine: Callable[[Dim, Dim], Dim]) -> Dim:
    out: Dim = start
    for d in dims:
        out = combine(out, d)
    return out


class Lifter:
    """Reads types; remembers which mypy variable each size variable is, so that answers can be lowered again.

    Args:
        types: the classes that mypy has loaded.
        scopes: full names of the functions and classes around the code that is read. A variable of another
            function (it got out through an attribute) stands for no size that is known here. None: all count.
        tree: the file that is read, to look up variables that are assigned once.
        facts: what the program has stated of sizes before the place that is read.
    """

    def __init__(
        self,
        types: TypeTable,
        scopes: frozenset[str] | None = None,
        tree: MypyFile | None = None,
        facts: Callable[[Callable[[Type], Value]], Facts] | None = None,
    ) -> None:
        self.types = types
        self.scopes = scopes
        self.tree = tree
        self._facts: Facts | None = NO_FACTS if facts is None else None
        self._state_facts = facts
        self._following: list[Expression] = []
        self.variables: dict[Var, TypeVarType] = {}
        self.rests: dict[Rest, TypeVarTupleType] = {}

    @property
    def facts(self) -> Facts:
        """What is known of sizes here."""
        if self._facts is None:
            self._facts = NO_FACTS  # while they are read themselves
            if self._state_facts is not None:
                self._facts = self._state_facts(self.value)
        return self._facts

    # -- dims and shapes ----------------------------------------------------------------------------------------

    def dim(self, typ: Type) -> Dim:
        """A type in the place of a dim. What is no size is unknown."""
        typ = get_proper_type(typ)
        match typ:
            case LiteralType(value=bool()):
                return UNKNOWN
            case LiteralType(value=int(size)):
                return size
            case TypeVarType():
                return self.facts.settle(self._variable(typ))
            case Instance(last_known_value=LiteralType() as literal):
                return self.dim(literal)
            case Instance():
                fullname = typ.type.fullname
                if fullname == DIM:
                    return self.dim(typ.args[0])
                module, _, name = fullname.rpartition(".")
                if module == PHANTOM and name in _FOLDS:
                    return self.facts.settle(_FOLDS[name](*(self.dim(a) for a in typ.args)))
        return UNKNOWN

    def broadcast(self, typ: Type) -> Dim:
        """n of ``#n``, which as a size itself is unknown; unknown for any other type."""
        typ = get_proper_type(typ)
        return self.dim(typ.args[0]) if isinstance(typ, Instance) and is_broadcast(typ) else UNKNOWN

    def _variable(self, typ: TypeVarType) -> Dim:
        if not self._in_scope(typ):
            return UNKNOWN
        dim = var(typ.name, scope_of(typ))
        self.variables[Var(typ.name, scope_of(typ))] = typ
        return dim

    def _in_scope(self, variable: TypeVarType | TypeVarTupleType) -> bool:
        namespace = variable.id.namespace
        if variable.id.is_meta_var():
            return False
        return self.scopes is None or namespace in ("", NAMED_SCOPE) or namespace in self.scopes

    def items(self, args: tuple[Type, ...]) -> tuple[Item, ...]:
        """Type arguments as the items of a shape."""
        out: list[Item] = []
        for arg in args:
            arg = get_proper_type(arg)
            if isinstance(arg, UnpackType):
                out.extend(self._unpacked(get_proper_type(arg.type)))
            else:
                out.append(self.dim(arg))
        return tuple(out)

    def _unpacked(self, inner: Type) -> tuple[Item, ...]:
        if isinstance(inner, TypeVarTupleType) and self._in_scope(inner):
            rest = Rest(inner.name, scope_of(inner))
            self.rests[rest] = inner
            return (rest,)
        if isinstance(inner, TupleType):
            return self.items(tuple(inner.items))
        return (ANY_REST,)

    def dtype(self, typ: Type) -> DType | None:
        """A dtype class as the dtype that it stands for."""
        typ = get_proper_type(typ)
        if isinstance(typ, Instance):
            module, _, name = typ.type.fullname.rpartition(".")
            if module == DTYPES_MODULE:
                return BY_NAME.get(name)
        return None

    # -- values ---------------------------------------------------------------------------------------------------

    def tensor(self, typ: Instance) -> TensorType:
        """A tensor's type, also of a subclass of ``torch.Tensor``."""
        info = self.types.tensor
        if info is None:
            return TensorType()
        base = map_instance_to_supertype(typ, info)
        if len(base.args) == 0:
            return TensorType()
        device = next((DEVICE_TENSORS[c.fullname] for c in typ.type.mro if c.fullname in DEVICE_TENSORS), None)
        return TensorType(
            Shape(self.items(tuple(base.args[1:]))),
            self.dtype(base.args[0]),
            Device(device) if device else None,
            typ.type.has_base(PARAMETER),
        )

    def value(self, typ: Type) -> Value:
        """What is known of a value of this type."""
        typ = get_proper_type(typ)
        match typ:
            case LiteralType(value=str(member), fallback=Instance(type=info)) if info.is_enum:
                return self._enumerated(info, member)
            case LiteralType(value=value) if isinstance(value, int | str):
                return value
            case NoneType():
                return None
            case TupleType(items=items):
                if any(isinstance(get_proper_type(i), UnpackType) for i in items):
                    return ANYTHING
                if typ.partial_fallback.type.fullname == names.PACKED:
                    return self._packed(typ)
                return tuple(self.value(i) for i in items)
            case TypeVarType(upper_bound=bound) if is_tensor(bound):
                return self.value(bound)
            case Instance():
                return self._instance(typ)
            case UnionType():
                return self.joined([self.value(i) for i in typ.relevant_items()])
        return ANYTHING

    def _enumerated(self, info: TypeInfo, member: str) -> Value:
        """A member of an ``IntEnum`` is its number."""
        symbol = info.names.get(member)
        if symbol is None or symbol.type is None or not info.has_base("builtins.int"):
            return ANYTHING
        return self.value(symbol.type)

    def _packed(self, typ: TupleType) -> Value:
        data, batch = self.value(typ.items[0]), typ.partial_fallback.args
        return Packed(data if isinstance(data, TensorType) else TensorType(), self.dim(batch[0]) if batch else UNKNOWN)

    @staticmethod
    def joined(values: list[Value]) -> Value:
        """One value for several that it may be: what tensors have in common; anything where others are among them."""
        tensors = [v for v in values if isinstance(v, TensorType)]
        if len(tensors) < len(values) or not tensors:
            return values[0] if values and all(v == values[0] for v in values) else ANYTHING
        first, *others = tensors
        for t in others:
            first = TensorType(
                _common_shape(first.shape, t.shape),
                first.dtype if first.dtype == t.dtype else None,
                first.device if first.device == t.device else None,
            )
        return first

    def _instance(self, typ: Instance) -> Value:
        if typ.type.has_base(TENSOR):
            return self.tensor(typ)
        if typ.last_known_value is not None:
            return self.value(typ.last_known_value)
        if typ.type.fullname == DIM:
            return self.dim(typ.args[0]) if typ.args else UNKNOWN
        match typ.type.fullname:
            case "builtins.bool":
                return Scalar("bool")
            case "builtins.int":
                return UNKNOWN
            case "builtins.float":
                return Scalar("float")
            case "builtins.complex":
                return Scalar("complex")
            case names.DEVICE:
                return Device("")  # some device
            case "builtins.ellipsis" | "types.EllipsisType":
                return ...  # type: ignore[return-value]  # Ellipsis stands for itself
        return ANYTHING

    def static(self, typ: Type) -> Value:
        """A type argument of a ``torch.nn`` class: a size, or any other constant that its constructor got."""
        typ = get_proper_type(typ)
        if isinstance(typ, TypeVarType) or is_expression(typ):
            return self.dim(typ)
        if isinstance(typ, TupleType):
            return tuple(self.static(i) for i in typ.items)
        return self.dtype(typ) or self.value(typ)

    # -- expressions ----------------------------------------------------------------------------------------------

    def expression(self, node: Expression, type_of: Callable[[Expression], Type]) -> Value:
        """What is known of an expression: displays, slices and constants are read item by item, the rest by type."""
        match node:
            case IntExpr(value=value) | FloatExpr(value=value) | StrExpr(value=value):
                return value
            case EllipsisExpr():
                return ...  # type: ignore[return-value]
            case UnaryExpr(op="-", expr=IntExpr(value=number)):
                return -number
            case UnaryExpr(op="-", expr=FloatExpr(value=real)):
                return -real
            case NameExpr(fullname="builtins.True"):
                return True
            case NameExpr(fullname="builtins.False"):
                return False
            case NameExpr(fullname="builtins.None"):
                return None
            case SliceExpr(begin_index=begin, end_index=end, stride=step):
                bounds = [None if n is None else self.expression(n, type_of) for n in (begin, end, step)]
                return slice(*bounds)
            case CallExpr(callee=RefExpr(fullname=names.DEVICE), args=[StrExpr(value=name)]):
                kind, _, index = name.partition(":")
                return Device(kind, int(index) if index.isdigit() else None)
            case TupleExpr(items=items) | ListExpr(items=items):
                return self._display(items, type_of)
            case RefExpr(fullname=fullname) if fullname.startswith("torch.") and self._dtype_name(fullname):
                return BY_TORCH_NAME[fullname.rpartition(".")[2]]
            case OpExpr(op=op) if op in _ARITHMETIC:
                return self._arithmetic(node, type_of)
            case NameExpr() | MemberExpr():
                return self._name(node, type_of)
        return self.value(type_of(node))

    def _arithmetic(self, node: OpExpr, type_of: Callable[[Expression], Type]) -> Value:
        """``4 * hidden``, which mypy itself takes to be any int."""
        value = self.value(type_of(node))
        if value is not UNKNOWN:
            return value
        left, right = self.expression(node.left, type_of), self.expression(node.right, type_of)
        if not is_dim(left) or not is_dim(right) or (right == 0 and node.op in ("//", "%")):
            return UNKNOWN
        return _ARITHMETIC[node.op](left, right)

    def _name(self, node: NameExpr | MemberExpr, type_of: Callable[[Expression], Type]) -> Value:
        value = self.value(type_of(node))
        if value is not UNKNOWN or self.tree is None:
            return value
        once = constant(node, self.tree)
        if once is None or once in self._following:
            return value
        self._following.append(once)  # a = b; b = a
        try:
            found = self.expression(once, type_of)
        finally:
            self._following.pop()
        return found if is_dim(found) else value

    @staticmethod
    def _dtype_name(fullname: str) -> bool:
        module, _, name = fullname.rpartition(".")
        return module in ("torch", "torch._C") and name in BY_TORCH_NAME

    def _display(self, items: list[Expression], type_of: Callable[[Expression], Type]) -> Value:
        out: list[Value] = []
        for item in items:
            if isinstance(item, StarExpr):
                inner = self.expression(item.expr, type_of)
                if not isinstance(inner, tuple):
                    return ANYTHING
                out.extend(inner)
            else:
                out.append(self.expression(item, type_of))
        return tuple(out)


def lifter_at(types: TypeTable, api: CheckerPluginInterface, place: Context | None) -> Lifter:
    """The lifter for code at a place in the file that mypy is checking; without a place no facts count."""
    facts = None if place is None else partial(facts_at, place.line, api)
    return Lifter(types, scopes_around(api), cast(Any, api).tree, facts)


def scopes_around(api: CheckerPluginInterface) -> frozenset[str]:
    """The functions and classes around the code that mypy is checking."""
    return frozenset(node.fullname for node in cast(Any, api).scope.stack)
