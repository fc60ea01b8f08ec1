"""The arguments of one annotation: dtypes, sizes, expressions over them, and the names of jaxtyping's strings."""

from __future__ import annotations

import re
from typing import Any, TypeVar, cast

from mypy.nodes import (
    AssignmentStmt,
    Context,
    Decorator,
    FuncDef,
    FuncItem,
    MemberExpr,
    NameExpr,
    OverloadedFuncDef,
    Statement,
    TypeAliasStmt,
    TypeVarExpr,
)
from mypy.plugin import TypeAnalyzerPluginInterface
from mypy.types import (
    LITERAL_TYPE_NAMES,
    AnyType,
    CallableType,
    EllipsisType,
    Instance,
    LiteralType,
    ProperType,
    RawExpressionType,
    Type,
    TypeVarTupleType,
    TypeVarType,
    UnboundType,
    UnpackType,
    get_proper_type,
)

from mypy import nodes
from simpletorch.mypy.convert.lift import Lifter, scope_of
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.diagnose.report import CODES, allow_sizes, note_tree, watch
from simpletorch.mypy.names import DIM, DTYPES_MODULE, PHANTOM
from simpletorch.mypy.types import NAMED_SCOPE, TypeTable, any_type, is_named, walk
from simpletorch.shapes import UNKNOWN, Axis, Dim, DimSyntaxError, Var, parse_axes, parse_dim, rest_in, var, variables

__all__ = ["Subscript", "string_of"]

V = TypeVar("V", TypeVarType, TypeVarTupleType)


def string_of(typ: Type) -> str | None:
    """The text of a string in a subscript, as it was written."""
    if isinstance(typ, UnboundType) and typ.original_str_expr is not None:
        return typ.original_str_expr
    if isinstance(typ, RawExpressionType) and isinstance(typ.literal_value, str):
        return typ.literal_value
    return None


def is_alias(statement: Statement | None) -> bool:
    """Whether a statement of a module defines an alias, whose names belong to whatever function uses it."""
    if isinstance(statement, AssignmentStmt):
        annotation = statement.unanalyzed_type
        return annotation is None or (isinstance(annotation, UnboundType) and annotation.name.endswith("TypeAlias"))
    return isinstance(statement, TypeAliasStmt)


class Subscript:
    """Reads the arguments of one annotation, and complains about them."""

    def __init__(self, types: TypeTable, api: TypeAnalyzerPluginInterface, context: Context) -> None:
        self.types = types
        self.api = api
        self.context = context
        watch(cast(Any, api).api.errors)
        note_tree(cast(Any, api).api.cur_mod_node)
        self.lifter = Lifter(types)
        self.lowerer = Lowerer(self.lifter)

    def fail(self, message: str) -> None:
        """Complain about the annotation."""
        self.api.fail(message, self.context, code=CODES["annotation"])

    def dtype_named(self, name: str) -> Type:
        """The class of a dtype; jaxtyping's names are ours."""
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
        """One argument in the place of a dim; an empty string is none."""
        arg = self._in_literal(arg) or arg
        text = string_of(arg)
        if text is not None and not text.strip():
            allow_sizes(cast(Any, self.api).api.errors, arg.line)
            return []
        if isinstance(arg, RawExpressionType):
            return [self._raw(arg)]
        if isinstance(arg, EllipsisType):
            return [self.types.any_rest()]
        if text is not None:
            return [self._expression(text)]
        if isinstance(arg, UnpackType) or (isinstance(arg, UnboundType) and arg.name in ("Unpack", "typing.Unpack")):
            return [self._unpack(arg)]
        constant = self._constant(arg)
        if constant is not None:
            return [constant]
        if self._is_new_here(arg):
            return [any_type()]
        found = get_proper_type(self.api.analyze_type(arg))
        return [self._checked(found)]

    def _is_new_here(self, arg: Type) -> bool:
        """Whether a type variable belongs to no function or class around: it is bound to whatever is assigned."""
        analyser = cast(Any, self.api)
        if not isinstance(arg, UnboundType) or arg.args or analyser.allow_unbound_tvars or self._in_class_body():
            return False
        symbol = analyser.lookup_qualified(arg.name, self.context, suppress_errors=True)
        if symbol is None or not isinstance(symbol.node, nodes.TypeVarExpr) or symbol.node.is_new_style:
            return False
        return analyser.tvar_scope.get_binding(symbol) is None

    def _constant(self, arg: Type) -> Type | None:
        """``LATENT`` after ``LATENT: Final = 8``; None if the name is of no variable."""
        if not isinstance(arg, UnboundType) or arg.args:
            return None
        symbol = cast(Any, self.api).lookup_qualified(arg.name, self.context, suppress_errors=True)
        variable = None if symbol is None else symbol.node
        if not isinstance(variable, nodes.Var) or isinstance(get_proper_type(variable.type), AnyType):
            return None
        allow_sizes(cast(Any, self.api).api.errors, arg.line, variable.fullname)
        if not variable.is_final:
            self.fail(f'"{arg.name}" is a variable, which may change; as a dim declare it "{arg.name}: Final"')
            return any_type()
        value = variable.final_value
        if value is None:
            return any_type()
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail(f'"{arg.name}" is {value!r}, which is no dim; write an int')
            return any_type()
        return self._size(value)

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
        quoted = self._in_literal(arg)
        if quoted is not None:
            return self._literal(quoted) or arg
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

    def _in_literal(self, arg: Type) -> Type | None:
        """The ``"2*N"`` in ``Literal["2*N"]``, which checkers without the plugin take; None for anything else."""
        if not isinstance(arg, UnboundType) or len(arg.args) != 1:
            return None
        symbol = cast(Any, self.api).lookup_qualified(arg.name, self.context, suppress_errors=True)
        is_literal = symbol is not None and symbol.node is not None and symbol.node.fullname in LITERAL_TYPE_NAMES
        return arg.args[0] if is_literal else None

    def _literal(self, quoted: Type) -> Type | None:
        """The size in a `Literal`; None where it is no expression over sizes: a number, a word, another text."""
        text = string_of(quoted)
        if text is None or text.strip().isidentifier():
            return None
        try:
            names = {variable.name for variable in variables(parse_dim(text))}
        except DimSyntaxError:
            return None
        return self._expression(text) if any(map(self._is_variable, names)) else None

    def _is_variable(self, name: str) -> bool:
        symbol = cast(Any, self.api).lookup_qualified(name, self.context, suppress_errors=True)
        return self._bound_variable(name) is not None or (symbol is not None and isinstance(symbol.node, TypeVarExpr))

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
        if (rest := rest_in(text)) is not None:
            return self.rest_named(rest)
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
            if not self._may_name("", name):
                return UNKNOWN
            found = self.types.named(name, self._namespace())
        self.lifter.variables[Var(name, scope_of(found))] = found
        return var(name, scope_of(found))

    def axes(self, text: str) -> list[Type]:
        """A jaxtyping string: its names are variables of their own, scoped to the function."""
        try:
            return [self._axis(axis) for axis in parse_axes(text)]
        except DimSyntaxError as e:
            self.fail(str(e))
            return [self.types.any_rest()]

    def _axis(self, axis: Axis) -> Type:
        if axis.kind == "any_rest" or (axis.kind == "rest" and axis.broadcastable):
            return self.types.any_rest()
        if axis.kind == "rest":
            return self.rest_named(axis.expression)
        if axis.kind == "any":
            return any_type()
        if "{" in axis.expression:
            return self._attribute(axis.expression)
        size = self.lowerer.dim(parse_dim(axis.expression, self._size_named))
        if not axis.broadcastable:
            return size
        return self.types.instance(f"{PHANTOM}.Broadcast", size) or any_type()

    def _attribute(self, expression: str) -> Type:
        """``{self.dim}``, where ``__init__`` says ``self.dim = dim`` with ``dim: Dim[D]``; other Python is unknown."""
        match = re.fullmatch(r"\{self\.(\w+)\}", expression)
        info = cast(Any, self.api).api.type
        initializer = None if match is None or info is None else info.get_method("__init__")
        if match is None or not isinstance(initializer, FuncDef):
            return any_type()
        values = [
            s.rvalue
            for s in initializer.body.body
            if isinstance(s, AssignmentStmt)
            and any(isinstance(target, MemberExpr) and target.name == match[1] for target in s.lvalues)
        ]
        if len(values) != 1 or not isinstance(values[0], NameExpr) or initializer.unanalyzed_type is None:
            return any_type()
        annotations = dict(
            zip(initializer.arg_names, cast(CallableType, initializer.unanalyzed_type).arg_types, strict=True)
        )
        annotation = annotations.get(values[0].name)
        if (
            not isinstance(annotation, UnboundType)
            or len(annotation.args) != 1
            or annotation.name.rpartition(".")[2] != "Dim"
        ):
            return any_type()
        return self.dim(annotation.args[0])[0]

    def _size_named(self, name: str) -> Dim:
        found = self.named(name)
        if found is None:
            return UNKNOWN
        self.lifter.variables[Var(name, scope_of(found))] = found
        return var(name, scope_of(found))

    def named(self, name: str) -> TypeVarType | None:
        """The type variable that a name means here; None if it stands for no known size.

        At run time ``Tensor[Float32, N]`` and ``Float32[torch.Tensor, "N"]`` are one annotation, so a type variable
        that is bound around comes first.
        """
        bound = self._bound_variable(name)
        if bound is not None or not self._may_name("", name):
            return bound
        return self.types.named(name, self._namespace())

    def rest_named(self, name: str) -> UnpackType:
        """The variadic part that ``*name`` means here; a type variable that is bound around comes first."""
        bound = self._bound(TypeVarTupleType, name)
        if bound is not None:
            return UnpackType(bound)
        if not self._may_name("*", name):
            return self.types.any_rest()
        return UnpackType(self.types.named_rest(name, self._namespace()))

    def _may_name(self, star: str, name: str) -> bool:
        """Whether a name stands for a size: in a signature always, in the body if a parameter has it.

        A name that only the result has is chosen in the body. An attribute has none: its sizes are not those of the
        method that uses it. A name that is new in a body or in a module is bound to whatever is assigned.
        """
        if self._in_class_body():
            return False
        semanal = cast(Any, self.api).api
        if isinstance(semanal.statement, FuncDef | Decorator | OverloadedFuncDef):
            return True
        function = semanal.function_stack[-1] if semanal.function_stack else None
        if function is None:
            return is_alias(semanal.statement)
        signature = function.type if isinstance(function, FuncItem) else None
        return isinstance(signature, CallableType) and any(
            isinstance(t, TypeVarTupleType if star else TypeVarType) and is_named(t) and t.name == name
            for formal in signature.arg_types
            for t in walk(formal)
        )

    def _bound_variable(self, name: str) -> TypeVarType | None:
        return self._bound(TypeVarType, name)

    def _bound(self, kind: type[V], name: str) -> V | None:
        """The type variable of this name that the class or function around declares."""
        scope = cast(Any, self.api).tvar_scope
        while scope is not None:
            for variable in scope.scope.values():
                if isinstance(variable, kind) and variable.name == name:
                    return variable
            scope = scope.parent
        return None

    def _in_class_body(self) -> bool:
        # mypy analyses an alias in a class scope, too
        return cast(Any, self.api).tvar_scope.is_class_scope and cast(Any, self.api).api.type is not None

    def _namespace(self) -> str:
        """Whose names these are: the function's, or of whoever uses an alias."""
        semanal = cast(Any, self.api).api
        is_function = semanal.function_stack or isinstance(semanal.statement, FuncDef | Decorator | OverloadedFuncDef)
        return (is_function and cast(Any, self.api).tvar_scope.namespace) or NAMED_SCOPE
