"""Annotations: ``Tensor[Float32, B, "2*N"]`` and ``Float32[torch.Tensor, "b 2*n"]`` become one type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, cast

from mypy.errorcodes import NAME_DEFINED
from mypy.errors import Errors
from mypy.expandtype import expand_type
from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    Expression,
    ExpressionStmt,
    ImportFrom,
    IndexExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    ReturnStmt,
    Statement,
    StrExpr,
    TupleExpr,
    TypeAliasStmt,
)
from mypy.plugin import AnalyzeTypeContext, TypeAnalyzerPluginInterface
from mypy.types import (
    ANNOTATED_TYPE_NAMES,
    AnyType,
    Instance,
    ProperType,
    RawExpressionType,
    Type,
    TypeVarId,
    TypeVarTupleType,
    TypeVarType,
    UnboundType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from mypy import nodes
from simpletorch.mypy.annotate.arrays import noted_array
from simpletorch.mypy.annotate.defaults import noted_default
from simpletorch.mypy.annotate.subscript import Subscript, string_of
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.diagnose.report import allow_sizes
from simpletorch.mypy.names import (
    ARRAY,
    DEVICE_TENSORS,
    DIM,
    DTYPES_MODULE,
    JAX_ARRAY,
    LEGACY_TENSORS,
    MODULE,
    OUR_MODULE,
    OUR_PARAMETER,
    OUR_TENSORS,
    PARAMETER,
    TENSOR,
    public_class,
)
from simpletorch.mypy.types import TypeTable, any_type, walk
from simpletorch.rules import MODULES
from simpletorch.rules.core.dtype import BY_NAME

__all__ = ["Annotations"]

Hook: TypeAlias = Callable[[AnalyzeTypeContext], Type]
JAXTYPING_DTYPES: Final = frozenset(BY_NAME)


class Annotations:
    """Analyses our annotations and jaxtyping's; one for a build."""

    def __init__(self, types: Callable[[], TypeTable]) -> None:
        self._types = types
        self._stepping_aside = False
        self._hooks: dict[str, Hook] = {
            **dict.fromkeys(LEGACY_TENSORS, self.legacy),
            **{fullname: partial(self.plain, fullname) for fullname in (TENSOR, ARRAY, JAX_ARRAY)},
            **{fullname: partial(self.ours, fullname) for fullname in OUR_TENSORS},
            DIM: self.dim,
            OUR_MODULE: self.our_module,
            **dict.fromkeys(("typing.Annotated", "typing_extensions.Annotated"), self.annotated),
        }

    def hook(self, fullname: str) -> Hook | None:
        """The hook for an annotation with this name at its head; None if only a generic class may have sizes there."""
        if fullname in self._hooks:
            return self._hooks[fullname]
        if fullname.startswith(f"{DTYPES_MODULE}."):
            return self.annotated
        return partial(self.module, fullname) if public_class(fullname) in MODULES else None

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
        reader = Subscript(types, api, context.context)
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

    def our_module(self, context: AnalyzeTypeContext) -> Type:
        """``nn.Module`` of ours: as an annotation any module, torch's layers too; as a base class ours."""
        info, unbound, api = self._types().info(MODULE), context.type, context.api
        is_base = isinstance(cast(Any, api).api.statement, nodes.ClassDef)
        if unbound.args or is_base or info is None:
            return self.generic(context)
        return Instance(info, [], unbound.line, unbound.column)

    def generic(self, context: AnalyzeTypeContext) -> Type:
        """Any other generic class or alias: its arguments may be sizes too, as in ``Cache[B, "S+T", 64]``."""
        unbound, api = context.type, context.api
        reader = Subscript(self._types(), api, context.context)
        if not unbound.args:
            symbol = cast(Any, api).lookup_qualified(unbound.name, context.context, suppress_errors=True)
            alias = None if symbol is None else symbol.node
            return (isinstance(alias, nodes.TypeAlias) and opened(alias, reader)) or self._by_mypy(unbound, api)
        unbound.args = tuple(reader.size_or_type(arg) for arg in unbound.args)
        return self._by_mypy(unbound, api)

    def dim(self, context: AnalyzeTypeContext) -> Type:
        """``Dim[N]``, ``Dim[3]``, ``Dim["2*N"]``."""
        types = self._types()
        unbound, api = context.type, context.api
        info = types.info(DIM)
        if info is None or len(unbound.args) != 1:
            return self._by_mypy(unbound, api)
        reader = Subscript(types, api, context.context)
        found = reader.dim(unbound.args[0])
        if len(found) != 1 or isinstance(found[0], UnpackType):
            reader.fail("Dim takes one size, such as Dim[N]")
            found = [any_type()]
        extra = noted_default(unbound, api, types)
        return Instance(info, found, unbound.line, unbound.column, extra_attrs=extra)

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
        text = string_of(unbound.args[1])
        types = self._types()
        if text is None or types.tensor is None:
            return None
        if isinstance(unbound.args[1], UnboundType):
            take_back_undefined(text, unbound.line, cast(Any, api).api.errors)
        array = get_proper_type(api.analyze_type(unbound.args[0]))
        reader = Subscript(types, api, context.context)
        dims = reader.axes(text)
        return self._with_shape(array, reader.dtype_named(name), dims, types)

    def plain(self, fullname: str, context: AnalyzeTypeContext) -> Type:
        """``torch.Tensor`` or an array: all that mypy passes on of a jaxtyping annotation that stands in an expression.

        ``Image = Float32[torch.Tensor, "3 h w"]`` and ``cast(Float32[torch.Tensor, "b"], x)`` are such, and so is
        ``Points = Float32[np.ndarray, "n 3"]``.
        """
        unbound, api, types = context.type, context.api, self._types()
        found = annotation_around(unbound, cast(Any, api).api.statement)
        if fullname == TENSOR and found is None and not unbound.args and types.tensor is not None:
            return self.legacy(context)
        if found is None or types.tensor is None:
            return self._by_mypy(unbound, api)
        name, text = found
        # mypy takes an alias of a class without a subscript for one whose arguments may still be given
        unbound.empty_tuple_index = True
        reader = Subscript(types, api, context.context)
        dtype = reader.dtype_named(_imported_name(name, api))
        array = get_proper_type(self._by_mypy(unbound, api))
        return self._with_shape(array, dtype, reader.axes(text), types) or array

    def _with_shape(self, array: ProperType, dtype: Type, dims: list[Type], types: TypeTable) -> Type | None:
        if isinstance(array, UnionType):
            items = [self._with_shape(get_proper_type(i), dtype, dims, types) for i in array.items]
            return None if None in items else UnionType([i for i in items if i is not None])
        if isinstance(array, AnyType):
            return array
        if isinstance(array, Instance) and not is_tensor(array) and types.tensor is not None:
            return noted_array(array, Instance(types.tensor, [dtype, *dims]))
        if not isinstance(array, Instance) or not array.type.has_type_var_tuple_type:
            return None
        return Instance(array.type, [dtype, *dims], array.line, array.column)


def take_back_undefined(text: str, line: int, errors: Errors) -> None:
    """A size in a string of one word is no name, for which mypy takes it in a signature with our names of dtypes.

    It looks for type variables there before it asks any plugin, and leaves out only ``typing.Annotated``, which
    jaxtyping's names are for it.
    """
    said = errors.error_info_map.get(errors.file, [])
    wrong = f'Name "{text}" is not defined'
    said[:] = [e for e in said if not (e.line == line and e.code is NAME_DEFINED and e.message.startswith(wrong))]
    if not said:
        errors.error_info_map.pop(errors.file, None)


def opened(alias: nodes.TypeAlias, reader: Subscript) -> Type | None:
    """A generic alias of tensors without arguments: its sizes are those of the function that uses it.

    ``Image = Tensor[Float32, 3, H, W]`` reads so at run time: jaxtyping binds H and W in each call. None if the alias
    has other variables than sizes.
    """
    sizes = {v.id for t in walk(alias.target) if isinstance(t, Instance) and is_tensor(t) for v in _size_variables(t)}
    if not alias.alias_tvars or any(v.id not in sizes for v in alias.alias_tvars):
        return None
    given: dict[TypeVarId, Type] = {}
    for v in alias.alias_tvars:
        rest = reader.rest_named(v.name).type if isinstance(v, TypeVarTupleType) else None
        given[v.id] = rest or reader.named(v.name) or any_type()
    return expand_type(alias.target, given)


def _size_variables(tensor: Instance) -> Iterator[TypeVarType | TypeVarTupleType]:
    for argument in tensor.args[1:]:
        yield from (v for v in walk(argument) if isinstance(v, TypeVarType | TypeVarTupleType))


def annotation_around(unbound: UnboundType, statement: Statement | None) -> tuple[str, str] | None:
    """The dtype's name and the string of the ``Float32[torch.Tensor, "b n"]`` that this tensor stands in."""
    match statement:
        case AssignmentStmt(rvalue=Expression() as expression) | ExpressionStmt(expr=expression):
            return _search(unbound, expression)
        case ReturnStmt(expr=Expression() as expression):
            return _search(unbound, expression)
        case TypeAliasStmt(value=value):
            return _search(unbound, value.expr())
    return None


def _search(unbound: UnboundType, node: Expression) -> tuple[str, str] | None:
    match node:
        case IndexExpr(
            base=NameExpr(name=name) | MemberExpr(name=name) as base,
            index=TupleExpr(items=[array, StrExpr(value=text)]),
        ) if base.fullname in ANNOTATED_TYPE_NAMES and (array.line, array.column) == (unbound.line, unbound.column):
            return name, text
        case IndexExpr(base=base, index=index):
            inner: Sequence[Expression] = (base, index)
        case OpExpr(left=left, right=right):
            inner = (left, right)
        case TupleExpr(items=items) | ListExpr(items=items):
            inner = items
        case CallExpr(args=args):
            inner = args
        case _:
            return None
    return next((found for part in inner if (found := _search(unbound, part)) is not None), None)


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
