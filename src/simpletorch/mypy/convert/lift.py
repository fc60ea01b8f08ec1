"""From mypy's types to the values that rules understand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import TypeInfo
from mypy.types import (
    AnyType,
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
from simpletorch.mypy.names import BROADCAST, DEVICE_TENSORS, DIM, DTYPES_MODULE, MODULE, PARAMETER, PHANTOM, TENSOR
from simpletorch.mypy.types import NAMED_SCOPE, TypeTable, is_named
from simpletorch.rules.core.dtype import BY_NAME, DType
from simpletorch.rules.core.values import (
    ANY_TENSOR,
    ANYTHING,
    Device,
    Packed,
    Scalar,
    Sizes,
    TensorType,
    Value,
    as_device,
)
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Item, Rest, Shape, Var, maximum, minimum, var

__all__ = [
    "Lifter",
    "is_broadcast",
    "is_expression",
    "is_module",
    "is_tensor",
    "scope_of",
]


def is_module(typ: ProperType | None) -> TypeGuard[Instance]:
    """Whether the type is ``torch.nn.Module`` or a subclass of it."""
    return isinstance(typ, Instance) and typ.type.has_base(MODULE)


def is_tensor(typ: Type) -> bool:
    """Whether the type is ``torch.Tensor`` or a subclass of it."""
    typ = get_proper_type(typ)
    return isinstance(typ, Instance) and typ.type.has_base(TENSOR)


def scope_of(variable: TypeVarType | TypeVarTupleType) -> str:
    """A text that tells this variable from another of the same name; jaxtyping's names are one in a function."""
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


def _says_nothing(args: tuple[Type, ...]) -> bool:
    """Whether these are the type arguments of the gradual tensor, ``[Any, *tuple[Any, ...]]``; most tensors are."""
    return (
        len(args) == 2
        and isinstance(args[0], AnyType)
        and isinstance(args[1], UnpackType)
        and isinstance(get_proper_type(args[1].type), Instance)
    )


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
    """Reads types as they are written, wherever that is: every variable counts, and nothing is known of it.

    It remembers which mypy variable each size variable is, so that answers can be lowered again. For a type at a place
    of a program, use a `PlaceLifter`.
    """

    def __init__(self, types: TypeTable) -> None:
        self.types = types
        self.variables: dict[Var, TypeVarType] = {}
        self.rests: dict[Rest, TypeVarTupleType] = {}

    def settle(self, dim: Dim) -> Dim:
        """The size without the divisions that are known to be exact."""
        return dim

    # -- dims and shapes ----------------------------------------------------------------------------------------

    def dim(self, typ: Type) -> Dim:
        """A type in the place of a dim. A type that is no size is unknown."""
        typ = get_proper_type(typ)
        match typ:
            case LiteralType(value=bool()):
                return UNKNOWN
            case LiteralType(value=int(size)):
                return size
            case TypeVarType():
                return self.settle(self._variable(typ))
            case Instance(last_known_value=LiteralType() as literal):
                return self.dim(literal)
            case Instance():
                fullname = typ.type.fullname
                if fullname == DIM:
                    return self.dim(typ.args[0])
                module, _, name = fullname.rpartition(".")
                if module == PHANTOM and name in _FOLDS:
                    return self.settle(_FOLDS[name](*(self.dim(a) for a in typ.args)))
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
        """Whether the variable stands for a size that is known here."""
        return not variable.id.is_meta_var()

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
        if info is None or (typ.type is info and _says_nothing(typ.args)):
            return ANY_TENSOR
        base = map_instance_to_supertype(typ, info)
        if len(base.args) == 0:
            return TensorType()
        device = next((DEVICE_TENSORS[c.fullname] for c in typ.type.mro if c.fullname in DEVICE_TENSORS), None)
        return TensorType(
            Shape(self.items(tuple(base.args[1:]))),
            self.dtype(base.args[0]),
            as_device(device) if device else None,
            typ.type.has_base(PARAMETER),
        )

    def value(self, typ: Type) -> Value:
        """The known facts about an object of this type, as a value."""
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
                kind = Sizes if typ.partial_fallback.type.fullname == names.SIZE else tuple
                return kind(self.value(i) for i in items)
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
            case names.DEVICE | names.OUR_DEVICE:
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
