"""Known facts at one place of a program: the sizes of the functions around it, statements about them, constants."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, Protocol, cast

from mypy.nodes import (
    CallExpr,
    Context,
    EllipsisExpr,
    Expression,
    FloatExpr,
    IntExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    RefExpr,
    SliceExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    UnaryExpr,
)
from mypy.plugin import CheckerPluginInterface
from mypy.types import Instance, Type, TypeVarTupleType, TypeVarType, get_proper_type

from simpletorch.mypy import names
from simpletorch.mypy.convert.lift import Lifter
from simpletorch.mypy.program.constants import constant
from simpletorch.mypy.program.facts import NO_FACTS, Facts, facts_at
from simpletorch.mypy.types import NAMED_SCOPE, TypeTable
from simpletorch.rules.common.arguments import is_dim
from simpletorch.rules.core.dtype import BY_NAME, BY_TORCH_NAME
from simpletorch.rules.core.values import ANYTHING, Device, TensorType, Value, as_device
from simpletorch.shapes import UNKNOWN, Dim, Expr, assuming
from simpletorch.shapes.dim import floordiv, mod, power

__all__ = ["Place", "PlaceLifter", "knowing_facts"]

_ARITHMETIC: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": floordiv,
    "%": mod,
    "**": power,
}
_CONSTANTS: Final = {"builtins.True": True, "builtins.False": False, "builtins.None": None}
_MOST_ITEMS: Final = 64
"""``[0] * 1_000_000`` is not read item by item."""


class Place(Protocol):
    """Where a hook is asked: what mypy gives to every hook of the checker is such."""

    @property
    def api(self) -> CheckerPluginInterface:
        """mypy's checker, in the middle of a file."""

    @property
    def context(self) -> Context:
        """The call, operator or attribute that the hook is asked about."""


class PlaceLifter(Lifter):
    """Reads the types and expressions at a place in the file that mypy is checking.

    A variable of a function that isn't around the place (it got out through an attribute) stands for no size that is
    known here. A name that the file assigns just once is what it was assigned.

    Args:
        types: the classes that mypy has loaded.
        api: mypy's checker.
        line: the place. It has no default: who forgets it would forget the facts.
    """

    def __init__(self, types: TypeTable, api: CheckerPluginInterface, line: int) -> None:
        super().__init__(types)
        self._api = api
        self._line = line
        self._scopes: frozenset[str] | None = None
        self._facts: Facts | None = None
        self._following: list[Expression] = []

    @property
    def facts(self) -> Facts:
        """The facts that the program states about sizes, read on first use."""
        if self._facts is None:
            self._facts = NO_FACTS  # while they are read themselves
            self._facts = facts_at(self._line, self._api, self.value)
        return self._facts

    def settle(self, dim: Dim) -> Dim:
        """The size without the divisions that are exact by what the program has stated."""
        return self.facts.settle(dim) if isinstance(dim, Expr) else dim

    def _in_scope(self, variable: TypeVarType | TypeVarTupleType) -> bool:
        namespace = variable.id.namespace
        return super()._in_scope(variable) and (namespace in ("", NAMED_SCOPE) or namespace in self._around())

    def _around(self) -> frozenset[str]:
        """The functions and classes around the place."""
        if self._scopes is None:
            self._scopes = frozenset(node.fullname for node in cast(Any, self._api).scope.stack)
        return self._scopes

    def expression(self, node: Expression, type_of: Callable[[Expression], Type]) -> Value:
        """The known value of an expression: displays, slices and constants are read item by item, the rest by type."""
        # most are names and numbers; to try the patterns below one after the other would take ten times as long
        if isinstance(node, NameExpr | MemberExpr):
            return self._reference(node, type_of)
        if isinstance(node, IntExpr | FloatExpr | StrExpr):
            return node.value
        match node:
            case EllipsisExpr():
                return ...  # type: ignore[return-value]
            case UnaryExpr(op="-", expr=IntExpr(value=number)):
                return -number
            case UnaryExpr(op="-", expr=FloatExpr(value=real)):
                return -real
            case SliceExpr(begin_index=begin, end_index=end, stride=step):
                bounds = [None if n is None else self.expression(n, type_of) for n in (begin, end, step)]
                return slice(*bounds)
            case CallExpr(callee=RefExpr(fullname=names.DEVICE), args=[StrExpr(value=name)]):
                return as_device(name)
            case CallExpr(callee=RefExpr(fullname=names.DEVICE), args=[StrExpr(value=name), IntExpr(value=index)]):
                return Device(name, index)
            case CallExpr(callee=MemberExpr(expr=RefExpr(fullname=names.OUR_DEVICE), name=name), args=args):
                return self._device(name, [self.expression(a, type_of) for a in args])
            case CallExpr(callee=RefExpr(fullname=fullname), args=[inner]) if fullname in names.SAME_ITEMS:
                found = self.value(type_of(node))
                return found if isinstance(found, tuple) else self._same_items(inner, found, type_of)
            case TupleExpr(items=items) | ListExpr(items=items):
                return self._display(items, type_of)
            case OpExpr(op=op) if op in _ARITHMETIC:
                return self._arithmetic(node, type_of)
        return self.value(type_of(node))

    def _reference(self, node: NameExpr | MemberExpr, type_of: Callable[[Expression], Type]) -> Value:
        """A constant of Python's or torch's, a dtype, a device, or whatever has this name."""
        fullname = node.fullname
        if fullname in _CONSTANTS:
            return _CONSTANTS[fullname]
        if isinstance(node, MemberExpr) and isinstance(node.expr, RefExpr):
            owner = node.expr.fullname
            if owner == names.OUR_DEVICE:
                return self._device(node.name, [])
            if node.name == "dtype" and self._is_dtype_class(owner):
                return BY_NAME[owner.rpartition(".")[2]]
        if isinstance(node, MemberExpr) and node.name == "device":
            of = self.value(type_of(node.expr))
            if isinstance(of, TensorType) and of.device is not None:
                return of.device
        if self._is_dtype_class(fullname):
            return BY_NAME[fullname.rpartition(".")[2]]
        if fullname.startswith("torch.") and self._dtype_name(fullname):
            return BY_TORCH_NAME[fullname.rpartition(".")[2]]
        return self._name(node, type_of)

    def _arithmetic(self, node: OpExpr, type_of: Callable[[Expression], Type]) -> Value:
        """``4 * hidden``, which is any int to mypy itself, and ``[3] + [1] * 2``, whose items mypy doesn't count."""
        typ = get_proper_type(type_of(node))
        value = self.value(typ)
        if value is not UNKNOWN and not (isinstance(typ, Instance) and typ.type.fullname in names.SAME_ITEMS):
            return value
        left, right = self.expression(node.left, type_of), self.expression(node.right, type_of)
        match node.op, left, right:
            case "+", tuple(), tuple():
                return (*left, *right)
            case "*", tuple(), int() if len(left) * right <= _MOST_ITEMS:
                return tuple(left) * right
        if not is_dim(left) or not is_dim(right):
            return value
        return _ARITHMETIC[node.op](left, right)

    def _same_items(self, inner: Expression, otherwise: Value, type_of: Callable[[Expression], Type]) -> Value:
        """``list(x.shape)``, ``torch.Size([2, 3])``."""
        found = self.expression(inner, type_of)
        return tuple(found) if isinstance(found, tuple) else otherwise

    def _name(self, node: NameExpr | MemberExpr, type_of: Callable[[Expression], Type]) -> Value:
        value = self.value(type_of(node))
        if value is None and isinstance(node, MemberExpr):
            return ANYTHING  # an attribute that is None at first is made to be something else later
        if value is not UNKNOWN:
            return value
        once = constant(node, cast(Any, self._api).tree)
        if once is None or once in self._following:
            return value
        self._following.append(once)  # a = b; b = a
        try:
            found = self.expression(once, type_of)
        finally:
            self._following.pop()
        return found if is_dim(found) else value

    @staticmethod
    def _device(name: str, args: list[Value]) -> Device:
        """``Device.CPU``, ``Device.CUDA(0)``; ``Device.best()`` is some device."""
        index = args[0] if args and isinstance(args[0], int) else None
        return Device("" if name == "best" else name.lower(), index)

    @staticmethod
    def _is_dtype_class(fullname: str) -> bool:
        if not fullname.startswith(names.DTYPES_MODULE):
            return False
        module, _, name = fullname.rpartition(".")
        return module == names.DTYPES_MODULE and name in BY_NAME and BY_NAME[name].torch_name is not None

    @staticmethod
    def _dtype_name(fullname: str) -> bool:
        module, _, name = fullname.rpartition(".")
        return module in ("torch", "torch._C") and name in BY_TORCH_NAME

    def spread(self, node: Expression, type_of: Callable[[Expression], Type]) -> tuple[Value, ...] | None:
        """The items of what is starred, as in ``x.view(-1, *sizes)``; None if they aren't known.

        ``tuple[int]`` is what many write for ``tuple[int, ...]``, so that it has one item is no certain thing.
        """
        found = self.expression(node, type_of)
        return found if isinstance(found, tuple) and found != (UNKNOWN,) else None

    def _display(self, items: list[Expression], type_of: Callable[[Expression], Type]) -> Value:
        out: list[Value] = []
        for item in items:
            if isinstance(item, StarExpr):
                inner = self.spread(item.expr, type_of)
                if inner is None:
                    return ANYTHING
                out.extend(inner)
            else:
                out.append(self.expression(item, type_of))
        return tuple(out)


class _StatedAt:
    """The facts stated before a place, read only where sizes with variables are compared, which is rare."""

    __slots__ = ("_facts", "_place", "_types")

    def __init__(self, place: Place, types: TypeTable) -> None:
        self._place = place
        self._types = types
        self._facts: Facts | None = None

    def __call__(self, dim: Dim) -> Dim:
        if self._facts is None:
            self._facts = PlaceLifter(self._types, self._place.api, self._place.context.line).facts
        return self._facts.known(dim)


def knowing_facts(place: Place, types: TypeTable) -> assuming:
    """While it lasts, sizes are compared with what the program has stated before the place."""
    return assuming(_StatedAt(place, types))
