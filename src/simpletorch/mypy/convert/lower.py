"""From a rule's answer back to mypy's types."""

from __future__ import annotations

from collections.abc import Iterable

from mypy.types import AnyType, Instance, NoneType, TupleType, Type, UnionType, UnpackType, get_proper_type

from simpletorch.mypy.convert.lift import Lifter, is_tensor
from simpletorch.mypy.names import DEVICE_CLASSES, DIM, DTYPES_MODULE, PACKED, PARAMETER, PHANTOM, SIZE, TENSOR
from simpletorch.mypy.types import any_type
from simpletorch.rules.core.dtype import INT64, DType
from simpletorch.rules.core.values import ANY_TENSOR, Anything, Device, Many, Named, Packed, Scalar, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Func, Item, Rest, Shape, Unknown, Var

__all__ = ["Lowerer"]

_CLASSES = {"//": "Quotient", "%": "Remainder", "**": "Power", "min": "Minimum", "max": "Maximum"}


class Lowerer:
    """Builds types; the variables in an answer are the ones that the lifter has seen in the operands."""

    def __init__(self, lifter: Lifter) -> None:
        self.lifter = lifter
        self.types = lifter.types

    def _phantom(self, name: str, args: Iterable[Type]) -> Type:
        return self.types.instance(f"{PHANTOM}.{name}", *args) or any_type()

    def dim(self, dim: Dim) -> Type:
        """A dim as a type argument: a literal, a type variable, an expression over them, or Any."""
        dim = self.lifter.settle(dim)
        if isinstance(dim, Unknown):
            return any_type()
        if isinstance(dim, int):
            return self.types.literal(int(dim))
        terms = [self._term(dict(monomial), c) for monomial, c in dim.terms]
        return terms[0] if len(terms) == 1 else self._phantom("Sum", terms)

    def _term(self, powers: dict[Var | Func, int], coefficient: int) -> Type:
        factors: list[Type] = [] if coefficient == 1 and powers else [self.types.literal(coefficient)]
        for atom, power in powers.items():
            factors.extend([self._atom(atom)] * power)
        return factors[0] if len(factors) == 1 else self._phantom("Product", factors)

    def _atom(self, atom: Var | Func) -> Type:
        if isinstance(atom, Var):
            return self.lifter.variables.get(atom, any_type())
        return self._phantom(_CLASSES[atom.op], [self.dim(a) for a in atom.args])

    def items(self, items: Iterable[Item]) -> list[Type]:
        """The items of a shape as type arguments."""
        return [self._rest(i) if isinstance(i, Rest) else self._size(i) for i in items]

    def _size(self, dim: Dim) -> Type:
        """A size of a tensor: where it isn't known, there is one all the same."""
        lowered = self.dim(dim)
        return self.types.unknown_size() if isinstance(lowered, AnyType) else lowered

    def _rest(self, rest: Rest) -> Type:
        variable = self.lifter.rests.get(rest)
        return self.types.any_rest() if variable is None else UnpackType(variable)

    def dtype(self, dtype: DType | None) -> Type:
        """A dtype as its class, Any if it isn't known."""
        if dtype is None:
            return any_type()
        return self.types.instance(f"{DTYPES_MODULE}.{dtype.name}") or any_type()

    def tensor(self, value: TensorType) -> Instance | None:
        """A tensor type; None while torch.Tensor isn't loaded."""
        if value is ANY_TENSOR:
            return self.types.any_tensor()
        fullname = TENSOR
        if value.is_parameter:
            fullname = PARAMETER
        elif value.device is not None:
            of_type = DEVICE_CLASSES.get(value.device.type, TENSOR)
            fullname = DEVICE_CLASSES.get(str(value.device), of_type)
        info = self.types.info(fullname) or self.types.tensor
        if info is None or not info.has_type_var_tuple_type:
            return None
        return Instance(info, [self.dtype(value.dtype), *self.items(value.shape.items)])

    def size(self, dim: Dim) -> Type:
        """An int whose size is known: ``Dim[N]``; a plain int if it isn't."""
        if isinstance(dim, Unknown):
            return self.types.int_()
        return self.types.instance(DIM, self.dim(dim)) or self.types.int_()

    def static(self, value: Value) -> Type:
        """A constructor argument as a type argument of its class; Any where it is no constant."""
        if isinstance(value, bool | str):
            return self.types.literal(value)
        if isinstance(value, DType):
            return self.dtype(value)
        if isinstance(value, Device):
            return self.types.literal(str(value)) if value.type else any_type()
        if isinstance(value, TensorType):
            return self.tensor(value) or any_type()
        if isinstance(value, int | Expr | Unknown):
            return self.dim(value)
        if value is None:
            return NoneType()
        if isinstance(value, tuple):
            return TupleType([self.static(v) for v in value], self.types.tuple_(any_type()))
        return any_type()

    def value(self, value: Value, default: Type) -> Type:
        """A rule's answer as a type; ``default`` is what torch's own stub says, and stays where nothing is known."""
        default = get_proper_type(default)
        match value:
            case Anything():
                return default
            case TensorType():
                return self.tensor(value) or default
            case bool():
                return default
            case Scalar(type=name):
                return self.types.instance(f"builtins.{name}") or default
            case int() | Expr() | Unknown():
                return self.size(value)
            case tuple():
                return self._tuple(list(value), default)
            case Many(item=each):
                found = self.tensor(each)
                return default if found is None else self.types.tuple_(found)
            case Packed():
                return self._packed(value, default)
            case Named(type_name=class_name, fields=named):
                return self._named(class_name, [v for _, v in named], default)
        return default

    def _packed(self, value: Packed, default: Type) -> Type:
        """A ``PackedSequence`` is a named tuple; its class says how many sequences it holds."""
        fallback = self.types.instance(PACKED, self.dim(value.batch))
        data = self.tensor(value.data)
        counts, order = (self.tensor(TensorType(Shape((size,)), INT64)) for size in (UNKNOWN, value.batch))
        if fallback is None or data is None or counts is None or order is None:
            return default
        perhaps = UnionType([order, NoneType()])
        return TupleType([data, counts, perhaps, perhaps], fallback)

    def _named(self, class_name: str, values: list[Value], default: Type) -> Type:
        """A named tuple of torch's; where its class isn't known to mypy, what torch's stub says stays."""
        ours = f"{PHANTOM}.{class_name.rpartition('.')[2]}"
        info = self.types.info(class_name) or self.types.info(ours)
        if isinstance(get_proper_type(default), AnyType):
            if info is None or info.tuple_type is None:
                return default
            default = Instance(info, [])
        return self._tuple(values, default)

    def _tuple(self, values: list[Value], default: Type) -> Type:
        default = get_proper_type(default)
        declared: list[Type] = [any_type()] * len(values)
        fallback = None
        if isinstance(default, TupleType):
            fallback = default.partial_fallback
            if len(default.items) == len(values):
                declared = list(default.items)
        elif isinstance(default, Instance):
            # a list whose items are known one by one is still a list for who takes one
            if default.type.tuple_type is not None or default.type.fullname in (SIZE, "builtins.list"):
                fallback = default
            if default.args and is_tensor(default.args[0]):
                declared = [default.args[0]] * len(values)
        elif not isinstance(default, AnyType | NoneType):  # None: torch's stubs are wrong about unbind_copy
            return default
        items = [self.value(v, d) for v, d in zip(values, declared, strict=True)]
        return TupleType(items, fallback or self.types.tuple_(any_type()))
