"""Annotations: ``Tensor[Float32, B, "2*N"]`` and ``Float32[torch.Tensor, "b 2*n"]`` become one type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from mypy.nodes import Context, ImportFrom, TypeVarExpr
from mypy.plugin import AnalyzeTypeContext, TypeAnalyzerPluginInterface
from mypy.types import (
    AnyType,
    EllipsisType,
    Instance,
    LiteralType,
    ProperType,
    RawExpressionType,
    Type,
    TypeVarType,
    UnboundType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from simpletorch.mypy.lift import Lifter, is_tensor, scope_of
from simpletorch.mypy.lower import Lowerer
from simpletorch.mypy.names import DEVICE_TENSORS, DIM, DTYPES_MODULE, OUR_PARAMETER, PARAMETER, TENSOR
from simpletorch.mypy.report import CODES, allow_sizes, watch
from simpletorch.mypy.types import NAMED_SCOPE, TypeTable, any_type
from simpletorch.rules.dtype import BY_NAME
from simpletorch.shapes import UNKNOWN, Dim, DimSyntaxError, Var, parse_axes, parse_dim, var

__all__ = ["Annotations"]

JAXTYPING_DTYPES: Final = frozenset(BY_NAME)


class Annotations:
    """Analyses our annotations and jaxtyping's; one for a build."""

    def __init__(self, types: Callable[[], TypeTable]) -> None:
        self._types = types
        self._stepping_aside = False

    def takes(self) -> bool:
        """Whether the next annotation is ours to analyse: False just once after it was handed back to mypy."""
        if self._stepping_aside:
            self._stepping_aside = False
            return False
        return True

    def _by_mypy(self, typ: UnboundType, api: TypeAnalyzerPluginInterface) -> Type:
        """Let mypy analyse an annotation as if there were no plugin."""
        self._stepping_aside = True
        try:
            return api.analyze_type(typ)
        finally:
            self._stepping_aside = False

    # -- Tensor[Float32, B, 784] ----------------------------------------------------------------------------------

    def ours(self, fullname: str, context: AnalyzeTypeContext) -> Type:
        """``simpletorch.Tensor[...]`` and its device and parameter forms."""
        types = self._types()
        unbound, api = context.type, context.api
        if types.tensor is None:
            return self._by_mypy(unbound, api)
        target = {OUR_PARAMETER: PARAMETER}.get(fullname, fullname if fullname in DEVICE_TENSORS else TENSOR)
        info = types.info(target) or types.tensor
        if not unbound.args:
            return Instance(info, [any_type(), types.any_rest()], unbound.line, unbound.column)
        reader = _Subscript(types, api, context.context)
        dtype = reader.dtype(unbound.args[0])
        dims = [d for arg in unbound.args[1:] for d in reader.dim(arg)]
        if sum(isinstance(d, UnpackType) for d in dims) > 1:
            reader.fail("a shape can have only one variadic part (*Batch or ...), but this one has several")
            dims = [types.any_rest()]
        return Instance(info, [dtype, *dims], unbound.line, unbound.column)

    def legacy(self, context: AnalyzeTypeContext) -> Type:
        """``torch.FloatTensor`` and its like."""
        types, unbound = self._types(), context.type
        if types.tensor is None:
            return any_type()
        return Instance(types.tensor, [any_type(), types.any_rest()], unbound.line, unbound.column)

    def module(self, fullname: str, context: AnalyzeTypeContext) -> Type:
        """``nn.Linear[784, 128]``: the constructor arguments that decide shapes, as far as they are given."""
        types, unbound, api = self._types(), context.type, context.api
        info = types.info(fullname)
        if not unbound.args or info is None or not info.type_vars or len(unbound.args) > len(info.type_vars):
            return self._by_mypy(unbound, api)
        given: list[Type] = []
        for arg in unbound.args:
            if isinstance(arg, RawExpressionType) and isinstance(arg.literal_value, int | str):
                allow_sizes(cast(Any, api).api.errors, arg.line)
                given.append(types.literal(arg.literal_value))
            else:
                given.append(api.analyze_type(arg))
        missing = len(info.type_vars) - len(given)
        return Instance(info, [*given, *[any_type()] * missing], unbound.line, unbound.column)

    def generic(self, context: AnalyzeTypeContext) -> Type:
        """Any other generic class or alias: its arguments may be sizes too, as in ``Cache[B, "S+T", 64]``."""
        unbound, api = context.type, context.api
        reader = _Subscript(self._types(), api, context.context)
        unbound.args = tuple(reader.size_or_type(arg) for arg in unbound.args)
        return self._by_mypy(unbound, api)

    def dim(self, context: AnalyzeTypeContext) -> Type:
        """``Dim[N]``, ``Dim[3]``, ``Dim["2*N"]``."""
        types = self._types()
        unbound, api = context.type, context.api
        info = types.info(DIM)
        if info is None or len(unbound.args) != 1:
            return self._by_mypy(unbound, api)
        reader = _Subscript(types, api, context.context)
        found = reader.dim(unbound.args[0])
        if len(found) != 1 or isinstance(found[0], UnpackType):
            reader.fail("Dim takes one size, such as Dim[N]")
            found = [any_type()]
        return Instance(info, found, unbound.line, unbound.column)

    # -- Float32[torch.Tensor, "batch 784"] -------------------------------------------------------------------------

    def annotated(self, context: AnalyzeTypeContext) -> Type:
        """``typing.Annotated``, which is what jaxtyping's annotations are for mypy."""
        return self._jaxtyping(context) or self._by_mypy(context.type, context.api)

    def _jaxtyping(self, context: AnalyzeTypeContext) -> Type | None:
        """jaxtyping's ``Float32[torch.Tensor, "b 3"]``; None if this is something else."""
        unbound, api = context.type, context.api
        name = _imported_name(unbound.name, api)
        if name not in JAXTYPING_DTYPES or len(unbound.args) != 2:
            return None
        text = _string(unbound.args[1])
        types = self._types()
        if text is None or types.tensor is None:
            return None
        array = get_proper_type(api.analyze_type(unbound.args[0]))
        reader = _Subscript(types, api, context.context)
        dims = reader.axes(text)
        return self._with_shape(array, reader.dtype_named(name), dims, types)

    def _with_shape(self, array: ProperType, dtype: Type, dims: list[Type], types: TypeTable) -> Type | None:
        if isinstance(array, UnionType):
            items = [self._with_shape(get_proper_type(i), dtype, dims, types) for i in array.items]
            return None if None in items else UnionType([i for i in items if i is not None])
        if isinstance(array, AnyType):
            return array
        if not isinstance(array, Instance) or not is_tensor(array) or not array.type.has_type_var_tuple_type:
            return None
        return Instance(array.type, [dtype, *dims], array.line, array.column)


def _imported_name(name: str, api: TypeAnalyzerPluginInterface) -> str:
    """The name in jaxtyping: ``jt.Float32``, or what ``from jaxtyping import Float32 as F32`` has renamed."""
    if "." in name:
        return name.rpartition(".")[2]
    for node in cast(Any, api).api.cur_mod_node.imports:
        if isinstance(node, ImportFrom) and node.id == "jaxtyping":
            for original, renamed in node.names:
                if name == renamed:
                    return original
    return name


def _string(typ: Type) -> str | None:
    """The text of a string in a subscript, as it was written."""
    if isinstance(typ, UnboundType) and typ.original_str_expr is not None:
        return typ.original_str_expr
    if isinstance(typ, RawExpressionType) and isinstance(typ.literal_value, str):
        return typ.literal_value
    return None


class _Subscript:
    """Reads the arguments of one annotation, and complains about them."""

    def __init__(self, types: TypeTable, api: TypeAnalyzerPluginInterface, context: Context) -> None:
        self.types = types
        self.api = api
        self.context = context
        watch(cast(Any, api).api.errors)
        self.lifter = Lifter(types)
        self.lowerer = Lowerer(self.lifter)

    def fail(self, message: str) -> None:
        self.api.fail(message, self.context, code=CODES["annotation"])

    def dtype_named(self, name: str) -> Type:
        return self.types.instance(f"{DTYPES_MODULE}.{name}") or any_type()

    def dtype(self, arg: Type) -> Type:
        """The first argument: a dtype class, a type variable, or Any."""
        if isinstance(arg, RawExpressionType):
            self.fail("the first argument of Tensor is a dtype, such as Tensor[Float32, ...]")
            return any_type()
        found = get_proper_type(self.api.analyze_type(arg))
        if isinstance(found, AnyType | TypeVarType):
            return found
        if isinstance(found, Instance):
            if found.type.fullname.rpartition(".")[0] == DTYPES_MODULE:
                return found
            self.fail(
                f'"{found.type.name}" is no dtype; the first argument of Tensor is a dtype of simpletorch, '
                f"such as Tensor[Float32, ...]"
            )
        return any_type()

    def dim(self, arg: Type) -> list[Type]:
        """One argument in the place of a dim."""
        if isinstance(arg, RawExpressionType):
            return [self._raw(arg)]
        if isinstance(arg, EllipsisType):
            return [self.types.any_rest()]
        text = _string(arg)
        if text is not None:
            return [self._expression(text)]
        if isinstance(arg, UnpackType) or (isinstance(arg, UnboundType) and arg.name in ("Unpack", "typing.Unpack")):
            return [self._unpack(arg)]
        found = get_proper_type(self.api.analyze_type(arg))
        return [self._checked(found)]

    def _unpack(self, arg: Type) -> Type:
        # a TypeVarTuple is legal only where the analyser has been told so; its public analyze_type can't say that
        found = get_proper_type(cast(Any, self.api).anal_type(arg, allow_unpack=True))
        return found if isinstance(found, UnpackType) else self.types.any_rest()

    def _raw(self, arg: RawExpressionType) -> Type:
        allow_sizes(cast(Any, self.api).api.errors, arg.line)
        value = arg.literal_value
        if isinstance(value, bool) or not isinstance(value, int | str):
            self.fail(f"{value!r} is no dim; write an int, a type variable, or an expression as a string")
            return any_type()
        if isinstance(value, str):
            return self._expression(value)
        return self._size(value)

    def _size(self, value: int) -> Type:
        if value < 0:
            self.fail(f"{value} is no size: a dim is 0 or more; write Any or ... for an unknown one")
            return any_type()
        return self.types.literal(value)

    def size_or_type(self, arg: Type) -> Type:
        """An argument of some generic class: a size in the form that mypy takes, anything else as it is."""
        if not isinstance(arg, RawExpressionType) or isinstance(arg.literal_value, bool):
            return arg
        value = arg.literal_value
        if isinstance(value, str):
            try:
                parse_dim(value)
            except DimSyntaxError:
                return arg  # a forward reference to a type, such as "Box | None"
        elif not isinstance(value, int):
            return arg
        return self._raw(arg)

    def _checked(self, found: ProperType) -> Type:
        match found:
            case LiteralType(value=bool()) | LiteralType(value=str()):
                self.fail(f"{found.value!r} is no dim; write an int, a type variable, or an expression as a string")
                return any_type()
            case LiteralType(value=int(value)):
                return self._size(value)
            case TypeVarType() | AnyType():
                return found
            case Instance() if found.type.fullname == "builtins.int":
                return any_type()
            case Instance() if found.type.fullname == DIM:
                return found.args[0]
        if isinstance(found, UnboundType):
            return any_type()  # a type variable that is not bound here; mypy says so itself
        if not isinstance(found, UnpackType):
            self.fail(f'"{found}" is no dim; write an int, a type variable, or an expression as a string')
            return any_type()
        return found

    def _expression(self, text: str) -> Type:
        """A string in our own annotation: its names are type variables in scope."""
        if text.strip() == "...":
            return self.types.any_rest()
        try:
            return self.lowerer.dim(parse_dim(text, self._type_variable))
        except DimSyntaxError as e:
            self.fail(str(e))
            return any_type()

    def _type_variable(self, name: str) -> Dim:
        found = self._bound_variable(name)
        if found is None:
            symbol = cast(Any, self.api).lookup_qualified(name, self.context, suppress_errors=True)
            if symbol is None or not isinstance(symbol.node, TypeVarExpr):
                raise DimSyntaxError(f'"{name}" is no size variable here; declare {name} = TypeVar("{name}")')
            # it stands only inside strings, where mypy doesn't look for the variables of a signature
            found = self.types.named(name, self._namespace())
        self.lifter.variables[Var(name, scope_of(found))] = found
        return var(name, scope_of(found))

    def axes(self, text: str) -> list[Type]:
        """A jaxtyping string: its names are variables of their own, scoped to the function."""
        out: list[Type] = []
        try:
            for axis in parse_axes(text):
                if (
                    axis.kind == "any_rest"
                    or (axis.kind == "rest" and axis.broadcastable)
                    or (axis.kind == "rest" and self._in_class_body())
                ):
                    out.append(self.types.any_rest())
                elif axis.kind == "rest":
                    out.append(UnpackType(self.types.named_rest(axis.expression, self._namespace())))
                elif axis.kind == "any" or axis.broadcastable or "{" in axis.expression:
                    out.append(any_type())
                else:
                    out.append(self.lowerer.dim(parse_dim(axis.expression, self._named)))
        except DimSyntaxError as e:
            self.fail(str(e))
            return [self.types.any_rest()]
        return out

    def _named(self, name: str) -> Dim:
        bound = self._bound_variable(name)
        if bound is not None:  # at run time Tensor[Float32, N] and Float32[torch.Tensor, "N"] are one annotation
            self.lifter.variables[Var(name, scope_of(bound))] = bound
            return var(name, scope_of(bound))
        if self._in_class_body():
            return UNKNOWN  # an attribute: its sizes are not those of the method that uses it
        variable = self.types.named(name, self._namespace())
        self.lifter.variables[Var(name, scope_of(variable))] = variable
        return var(name, scope_of(variable))

    def _bound_variable(self, name: str) -> TypeVarType | None:
        """The type variable of this name that the class or function around declares."""
        scope = cast(Any, self.api).tvar_scope
        while scope is not None:
            for variable in scope.scope.values():
                if isinstance(variable, TypeVarType) and variable.name == name:
                    return variable
            scope = scope.parent
        return None

    def _in_class_body(self) -> bool:
        return bool(cast(Any, self.api).tvar_scope.is_class_scope)

    def _namespace(self) -> str:
        """Whose names these are: the function's, or of whoever uses an alias."""
        return cast(Any, self.api).tvar_scope.namespace or NAMED_SCOPE
