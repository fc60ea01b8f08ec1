"""Calls of the user's own functions: bind the sizes in the signature to those of the arguments, or say what clashes.

mypy's inference would do the binding, but on a clash it says "Cannot infer value of type parameter", it widens literal
ints, and it can't solve ``2*N = 10``. So the sizes are unified here first, and mypy gets a signature in which they
are filled in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard, cast

from mypy.argmap import map_actuals_to_formals
from mypy.erasetype import erase_type
from mypy.errors import ErrorInfo
from mypy.expandtype import expand_type
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_POS, ArgKind, CallExpr, Context, Decorator, Expression, FuncDef, TempNode
from mypy.subtypes import is_subtype
from mypy.type_visitor import TypeTranslator
from mypy.typeops import tuple_fallback
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    ProperType,
    TupleType,
    Type,
    TypeAliasType,
    TypeVarId,
    TypeVarLikeType,
    TypeVarTupleType,
    TypeVarType,
    UnionType,
    UnpackType,
    flatten_nested_unions,
    get_proper_type,
)

from simpletorch.mypy.annotate.arrays import array_noted
from simpletorch.mypy.annotate.defaults import default_of
from simpletorch.mypy.calls.arguments import SignatureContext, nothing_expected
from simpletorch.mypy.calls.arrays.parameters import with_array, with_tensors
from simpletorch.mypy.calls.arrays.tensors import array_value
from simpletorch.mypy.calls.layers import called
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.convert.fold import normalise
from simpletorch.mypy.convert.lift import is_broadcast, is_expression, is_module, is_tensor
from simpletorch.mypy.diagnose.misfits import Misfits
from simpletorch.mypy.diagnose.report import mistakes, report
from simpletorch.mypy.names import DIM, OUR_MODULE
from simpletorch.mypy.types import TypeTable, any_type, definition_of, is_named, walk
from simpletorch.rules import Report
from simpletorch.rules.common.arguments import is_dim
from simpletorch.rules.core.mismatch import Kind
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import (
    UNKNOWN,
    Bindings,
    Clash,
    Dim,
    Expr,
    Rest,
    Unknown,
    Var,
    is_compound,
    unify,
    variables,
)
from simpletorch.shapes.sentences import device_differs, dtype_differs, size_source

__all__ = ["call_function", "has_sizes"]

_VARIABLES: Final = (TypeVarType, TypeVarTupleType)
_WITHOUT_SIZES: Final[dict[FuncDef | Decorator, Type | None]] = {}
"""Functions in whose annotations there are no sizes, and no variables that could stand for any, with these annotations.

Nearly all functions are such, and to go through a signature of many arguments takes longer than all else.
"""


@dataclass
class _Contents:
    """The relevant parts of a signature: names of jaxtyping strings, and whether it has expressions over sizes."""

    named: dict[TypeVarId, TypeVarLikeType] = field(default_factory=dict)
    has_expression: bool = False

    def add(self, typ: Type) -> _Contents:
        for part in walk(typ):
            if isinstance(part, TypeVarType | TypeVarTupleType) and is_named(part):
                self.named[part.id] = part
            self.has_expression = self.has_expression or is_expression(part)
        return self


class _Unaliased(TypeTranslator):
    """Puts what an alias stands for in its place: mypy substitutes no variable in an alias without parameters."""

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t if t.is_recursive else get_proper_type(t).accept(self)


def has_sizes(signature: CallableType) -> bool:
    """Whether an annotation of the signature says something of a tensor's dtype or shape, or of a size."""
    generic = (part for part in walk(signature) if isinstance(part, Instance) and part.args)
    return any(t.type.fullname == DIM or (is_tensor(t) and any(map(_says_something, t.args))) for t in generic)


def _is_without_sizes(definition: FuncDef | Decorator) -> bool:
    # in the daemon a function that was edited has other annotations; one that has none has the type None
    return definition in _WITHOUT_SIZES and _WITHOUT_SIZES[definition] is definition.type


def _has_variables(annotations: Type | None) -> bool:
    return annotations is not None and any(isinstance(t, TypeVarLikeType) for t in walk(annotations))


def _says_something(argument: Type) -> bool:
    argument = get_proper_type(argument)
    if isinstance(argument, UnpackType):
        inner = get_proper_type(argument.type)
        return not (isinstance(inner, Instance) and isinstance(get_proper_type(inner.args[0]), AnyType))
    return not isinstance(argument, AnyType)


def call_function(
    signature: CallableType, context: SignatureContext, types: TypeTable, name: str, *, only_sizes: bool = False
) -> CallableType:
    """The signature for this one call: sizes bound, clashes reported, expressions folded.

    Args:
        signature: of what is called.
        context: the call.
        types: mypy's.
        name: of what is called.
        only_sizes: leave unchecked what has none.
    """
    # what is decorated may have another signature than its definition
    definition = signature.definition if isinstance(signature.definition, FuncDef | Decorator) else None
    if definition is not None and _is_without_sizes(definition):
        return signature
    declared = _without_sizes_of_calls(signature, types)
    signature, arrays = with_tensors(declared, types)
    if not has_sizes(signature):
        if definition is not None and not _has_variables(definition.type):
            _WITHOUT_SIZES[definition] = definition.type
        return declared
    seen = _Contents().add(signature)
    if seen.named:
        signature = cast(CallableType, signature.accept(_Unaliased()))
    known = {v.id for v in signature.variables}
    added = [v for v in seen.named.values() if v.id not in known]
    fresh = _freshen(signature.copy_modified(variables=[*signature.variables, *added]))
    call = _Call(fresh, context, types, name, arrays, only_sizes=only_sizes)
    # what doesn't fit one variant of an overload may fit the next: then mypy shall find that it doesn't
    found = call.resolve(reporting=not _is_variant(signature))
    return declared if found is None else with_array(found, declared.ret_type)


def _without_sizes_of_calls(signature: CallableType, types: TypeTable) -> CallableType:
    """A constructor doesn't say what ``B`` of ``class Net(Module[Tensor[Float32, B, 3], …])`` is; each call does."""
    made = get_proper_type(signature.ret_type)
    if not signature.variables or not signature.is_type_obj() or not is_module(made):
        return signature
    stated = next((i for i in made.type.mro if i.fullname == OUR_MODULE), None)
    inside = () if stated is None else map_instance_to_supertype(made, stated).args
    given = {v.id for t in signature.arg_types for v in walk(t) if isinstance(v, _VARIABLES)}
    free = {v.id: v for t in inside for v in walk(t) if isinstance(v, _VARIABLES) and v.id not in given}
    if not free:
        return signature
    left = [v for v in signature.variables if v.id not in free]
    expanded = expand_type(signature.copy_modified(variables=left), {i: _unknown(v, types) for i, v in free.items()})
    return cast(CallableType, get_proper_type(expanded))


def _is_variant(signature: CallableType) -> bool:
    definition = definition_of(signature)
    return definition is not None and definition.is_overload


def _freshen(signature: CallableType) -> CallableType:
    """New identities for the callee's variables: the caller may have variables of the same name, or be the callee."""
    renamed: dict[TypeVarId, Type] = {}
    named: dict[tuple[type, str], TypeVarLikeType] = {}  # a name that an alias brings in is the function's own name
    fresh: list[TypeVarLikeType] = []
    for v in signature.variables:
        own = named.get((type(v), v.name)) if _is_name(v) else None
        if own is None:
            own = v.copy_modified(id=TypeVarId.new(meta_level=0))
            fresh.append(own)
        if _is_name(v):
            named[type(v), v.name] = own
        renamed[v.id] = own
    expanded = get_proper_type(expand_type(signature.copy_modified(variables=[]), renamed))
    assert isinstance(expanded, CallableType)
    return expanded.copy_modified(variables=fresh)


def _is_name(variable: TypeVarLikeType) -> bool:
    return isinstance(variable, TypeVarType | TypeVarTupleType) and is_named(variable)


class _Call:
    """One call of a function with sizes in its signature."""

    def __init__(
        self,
        signature: CallableType,
        context: SignatureContext,
        types: TypeTable,
        name: str,
        arrays: Mapping[int, Type],
        *,
        only_sizes: bool,
    ) -> None:
        self.signature = signature
        self.arrays = arrays
        self.context = context
        self.name = name
        self.types = types
        self.reader = CallReader(types, context)
        self.own = {v.id: v for v in signature.variables}
        self.formals: list[Type] = list(signature.arg_types)
        self.defaults: list[tuple[str, Dim, Dim]] = []
        self.bindings = Bindings(frozenset())
        self.misfits = Misfits(name, signature, self.bindings, self.reader.lifter)
        self.contents: list[int] = []
        self.arguments = self._arguments()
        for i, formal, node in self._pairs():
            self.formals[i] = self._narrowed(formal, node)
            if only_sizes and not self._is_about_sizes(self.formals[i], node):
                self.formals[i] = any_type()
        self.reporting = True

    def _arguments(self) -> list[list[Expression]]:
        """The caller's expressions for each formal; for a module mypy has mapped them to ``__call__(*args)`` only."""
        call = self.context.context
        passed = [node for nodes in self.context.args for node in nodes]
        kinds: list[ArgKind] = [ARG_POS] * len(passed)
        names: list[str | None] = [None] * len(passed)
        if isinstance(call, CallExpr) and all(node in call.args for node in passed):
            passed, kinds, names = call.args, call.arg_kinds, call.arg_names
        signature = self.signature
        mapped = map_actuals_to_formals(
            kinds, names, signature.arg_kinds, signature.arg_names, lambda i: self.reader.type_of(passed[i])
        )
        return [[passed[i] for i in actuals] for actuals in mapped]

    def resolve(self, *, reporting: bool = True) -> CallableType | None:
        """The signature for this call; None where something doesn't fit and that is not to be reported."""
        self.reporting = reporting
        pairs = list(self._pairs())
        flexible: set[Var] = set()
        patterns: dict[int, TensorType | Dim] = {}
        for i, formal, _ in pairs:
            if is_tensor(formal):
                assert isinstance(formal, Instance)
                pattern = self.reader.lifter.tensor(formal)
                patterns[i] = pattern
                flexible |= self._sizes_of(formal)
                for size in formal.args[1:]:
                    flexible |= variables(self.reader.lifter.broadcast(size))
            elif isinstance(formal, Instance) and formal.type.fullname == DIM and formal.args:
                size = self.reader.lifter.dim(formal.args[0])
                patterns[i] = size
                flexible |= variables(size)
            elif isinstance(formal, CallableType) and is_tensor(formal.ret_type):
                flexible |= self._sizes_of(formal.ret_type)
            elif _states_a_call(formal):
                flexible |= {v for t in formal.args if is_tensor(t) for v in self._sizes_of(t)}
        self._add_defaults(flexible)
        self.bindings.flexible = frozenset(v for v in flexible if self.reader.lifter.variables[v].id in self.own)
        for name, pattern, size in self.defaults:
            self.bindings.bind(pattern, size, 0)
            self.misfits.note({size_source(name): pattern})
        failed = False
        callables: list[tuple[CallableType, Expression]] = []
        modules: list[tuple[int, Instance, Expression]] = []
        for i, formal, node in sorted(pairs, key=lambda p: self._difficulty(p[1], patterns.get(p[0]))):
            pattern = patterns.get(i)
            if pattern is None:
                callables.extend([(formal, node)] if isinstance(formal, CallableType) else [])
                modules.extend([(i, formal, node)] if _states_a_call(formal) else [])
            elif isinstance(pattern, TensorType):
                failed = self._bind_tensor(i, formal, pattern, node) or failed
            else:
                failed = self._bind_dim(i, pattern, node) or failed
        for wanted, function in callables:
            self._bind_callable(wanted, function)
        for i, stated, node in modules:
            failed = self._bind_module(i, stated, node) or failed
        for i, formal, node in pairs:
            if i not in patterns and isinstance(formal, Instance | TupleType) and not _states_a_call(formal):
                self._bind_contents(i, formal, node)
        return self._substituted(failed) if reporting or not failed else None

    def _sizes_of(self, tensor: Type) -> set[Var]:
        tensor = get_proper_type(tensor)
        assert isinstance(tensor, Instance)
        items = self.reader.lifter.tensor(tensor).shape.items
        return {v for item in items if not isinstance(item, Rest) for v in variables(item)}

    def _add_defaults(self, flexible: set[Var]) -> None:
        """A `Dim` that the caller leaves out has the size of its default: ``def __init__(self, dim: Dim[D] = 768)``."""
        definition, tree = definition_of(self.signature), cast(Any, self.context.api).tree
        for i, formal in enumerate(self.formals):
            formal = get_proper_type(formal)
            if self.arguments[i] or not isinstance(formal, Instance) or formal.type.fullname != DIM:
                continue
            pattern = self.reader.lifter.dim(formal.args[0])
            flexible |= variables(pattern)
            value: Any = default_of(definition, self.signature.arg_names[i] or "", formal, tree)
            if isinstance(value, Expression):
                value = self.reader.lifter.expression(value, lambda _: any_type())
            self.defaults.append((self._formal_name(i), pattern, value if is_dim(value) else UNKNOWN))

    @staticmethod
    def _difficulty(formal: Type, pattern: TensorType | Dim | None) -> int:
        """Plain variables are bound before expressions over them are solved, and before what may also be 1."""
        items = pattern.shape.items if isinstance(pattern, TensorType) else (pattern,)
        compound = sum(isinstance(i, Expr) and is_compound(i) for i in items)
        return compound + (isinstance(formal, Instance) and any(is_broadcast(a) for a in formal.args))

    def _pairs(self) -> Iterator[tuple[int, ProperType, Expression]]:
        for i, nodes in enumerate(self.arguments):
            if i < len(self.formals) and len(nodes) == 1:
                yield i, get_proper_type(self.formals[i]), nodes[0]

    def _narrowed(self, formal: ProperType, node: Expression) -> Type:
        """The members of a union that the argument may be.

        With None for an ``Optional`` the sizes of its tensor stay open: mypy would look for them in vain, and ask
        for an annotation of what the result is assigned to. A tensor that may be none of them is compared with the
        one that it was surely meant for, if there is one, which gives the better sentence.
        """
        if not isinstance(formal, UnionType):
            return formal
        wanted = [get_proper_type(m) for m in flatten_nested_unions(formal.items)]
        given = list(map(get_proper_type, flatten_nested_unions([self.reader.type_of(node)])))
        fitting: list[ProperType] = []
        for member in given:
            found = [m for m in wanted if self._may_be(member, m)]
            if not found:
                return self._nearest(member, wanted) or formal if len(given) == 1 else formal
            fitting += found
        return UnionType.make_union([m for m in wanted if m in fitting], formal.line, formal.column)

    def _nearest(self, given: ProperType, wanted: Sequence[ProperType]) -> ProperType | None:
        """The one tensor of a union, or its one tensor of as many dims as the given one has."""
        tensors = [m for m in wanted if is_tensor(m)]
        if not isinstance(given, Instance) or not is_tensor(given) or len(tensors) < 2:
            return tensors[0] if tensors and is_tensor(given) else None
        rank = self.reader.lifter.tensor(given).shape.rank
        of_rank = [m for m in tensors if isinstance(m, Instance) and self.reader.lifter.tensor(m).shape.rank == rank]
        return of_rank[0] if rank is not None and len(of_rank) == 1 else None

    def _is_about_sizes(self, formal: Type, node: Expression) -> bool:
        """Whether there are sizes in a parameter, and if it is a tensor, the argument is one as well."""
        if is_tensor(formal):
            given = flatten_nested_unions([get_proper_type(self.reader.type_of(node))])
            return all(is_tensor(m) or isinstance(get_proper_type(m), AnyType) for m in given)
        return any(isinstance(part, Instance) and _has_dims(part) for part in walk(formal))

    def _may_be(self, given: ProperType, wanted: ProperType) -> bool:
        if _states_a_call(wanted):
            return is_module(given)
        if not is_subtype(erase_type(given), erase_type(wanted)):
            return False
        if not isinstance(given, Instance) or not isinstance(wanted, Instance) or not is_tensor(wanted):
            return True
        pattern, value = self.reader.lifter.tensor(wanted), self.reader.lifter.tensor(given)
        return unify(pattern.shape, value.shape, Bindings(self._sizes_of(wanted))) is None

    def _formal_name(self, i: int) -> str:
        return self.signature.arg_names[i] or f"argument {i + 1}"

    def _bind_tensor(self, i: int, formal: Type, pattern: TensorType, node: Expression) -> bool:
        value = self._value(i, node)
        if not isinstance(value, TensorType):
            return self._loosen_expressions(i, formal)
        name = self._formal_name(i)
        self.misfits.operands[name] = value
        if not self._dtypes_fit(pattern, value):
            return self._fail(
                i, "dtype", dtype_differs(name, value.dtype, pattern.dtype), pattern.dtype, value.dtype, pattern
            )
        if pattern.device is not None and value.device is not None and not pattern.device.agrees(value.device):
            reason = device_differs(name, value.device, pattern.device)
            return self._fail(i, "device", reason, pattern.device, value.device, pattern)
        clash = unify(pattern.shape, value.shape, self.bindings) or self._bind_broadcast(name, formal, value)
        self.misfits.note_shape(name, pattern.shape, value.shape)
        if clash is not None:
            sentence = self.misfits.of_tensor(name, pattern, value, clash)
            return self._fail(i, "shape", sentence, clash.expected, clash.got, pattern)
        return self._loosen_expressions(i, formal)

    def _value(self, i: int, node: Expression) -> Value:
        """The known value of an argument; for an array, the tensor over it.

        Where both sides are NumPy's own types, mypy compares them.
        """
        if i not in self.arrays:
            return self.reader.lifter.value(self.reader.type_of(node))
        declared = get_proper_type(self.arrays[i])
        theirs = isinstance(declared, Instance) and array_noted(declared) is None
        return array_value(self.reader.lifter, self.context.api, node, noted=theirs)

    def _dtypes_fit(self, pattern: TensorType, value: TensorType) -> bool:
        """Whether one dtype may be the other."""
        wanted, got = (get_proper_type(self.reader.lowerer.dtype(t.dtype)) for t in (pattern, value))
        return is_subtype(got, wanted) or is_subtype(wanted, got)

    def _bind_broadcast(self, name: str, formal: Type, value: TensorType) -> Clash | None:
        """``#n``: a size other than 1 must be n."""
        assert isinstance(formal, Instance)
        if value.shape.rank != len(formal.args) - 1:
            return None
        for i, (wanted, size) in enumerate(zip(formal.args[1:], value.shape.dims, strict=True)):
            wanted = get_proper_type(wanted)
            if is_broadcast(wanted) and size != 1:
                pattern = self.reader.lifter.broadcast(wanted)
                if clash := self.bindings.bind(pattern, size, i):
                    return clash
                self.misfits.note({size_source(name, i): pattern})
        return None

    def _bind_dim(self, i: int, pattern: Dim, node: Expression) -> bool:
        values = self.reader.alternatives(node)
        value = values[0] if len(values) == 1 else UNKNOWN
        size: Dim = value if isinstance(value, int | Expr) and not isinstance(value, bool) else UNKNOWN
        name = self._formal_name(i)
        clash = self.bindings.bind(pattern, size, 0)
        actual = get_proper_type(self.reader.type_of(node))
        if (isinstance(actual, Instance) and actual.type.has_base("builtins.int")) or not isinstance(size, Unknown):
            self.formals[i] = self.types.int_()
        if clash is not None:
            return self._fail(i, "shape", self.misfits.of_size(name, clash), clash.expected, clash.got)
        self.misfits.note({size_source(name): pattern})
        return False

    def _bind_callable(self, formal: CallableType, node: Expression) -> None:
        """A module given for a ``Callable[[Tensor[N]], Tensor[M]]``: its call with such tensors says what M is."""
        module = get_proper_type(self.reader.type_of(node))
        result = get_proper_type(formal.ret_type)
        if not is_module(module) or not is_tensor(result):
            return
        assert isinstance(result, Instance)
        known = {self.reader.lifter.variables[v].id: self.reader.lowerer.dim(d) for v, d in self.bindings.dims.items()}
        given = [expand_type(t, known) for t in formal.arg_types]
        with self.context.api.msg.filter_errors(), nothing_expected(self.context.api) as checker:
            nodes: list[Expression] = [TempNode(t, context=node) for t in given]
            found, _ = checker.check_call(module, nodes, formal.arg_kinds, node, formal.arg_names)
        value = self.reader.lifter.value(found)
        if isinstance(value, TensorType):
            unify(self.reader.lifter.tensor(result).shape, value.shape, self.bindings)

    def _bind_module(self, i: int, formal: Instance, node: Expression) -> bool:
        """A module given for a ``Module[In, Out]`` is what its ``forward`` makes it, whatever class it is of."""
        module = get_proper_type(self.reader.type_of(node))
        if not is_module(module):
            return False
        self.formals[i] = module
        known = {self.reader.lifter.variables[v].id: self.reader.lowerer.dim(d) for v, d in self.bindings.dims.items()}
        given, wanted = (get_proper_type(expand_type(t, known)) for t in formal.args)
        with mistakes(self.context.api) as found:
            result = get_proper_type(called(module, given, node, self.context.api))
        if found:
            takes = self.reader.lifter.value(given)
            reason = f"{self._formal_name(i)} should take {takes}, but {found[0].message}"
            return self._fail(i, _kind_of(found[0]), reason, takes, module)
        if not is_tensor(wanted) or not is_tensor(result):
            return False
        assert isinstance(wanted, Instance)
        assert isinstance(result, Instance)
        pattern, value = self.reader.lifter.tensor(wanted), self.reader.lifter.tensor(result)
        bound = dict(self.bindings.dims)
        clash = unify(pattern.shape, value.shape, self.bindings)
        own = self.bindings.flexible
        self.bindings.dims = {v: d for v, d in self.bindings.dims.items() if v in bound or not variables(d) & own}
        if clash is None and (None in (pattern.dtype, value.dtype) or self._dtypes_fit(pattern, value)):
            return False
        kind: Kind = "dtype" if clash is None else "shape"
        return self._fail(i, kind, f"{self._formal_name(i)} should give {pattern}, but gives {value}", pattern, value)

    def _bind_contents(self, i: int, formal: Type, node: Expression) -> None:
        """Sizes of tensors in a list, a tuple or a named tuple; what doesn't fit there is for mypy to say.

        mypy would look for them in what the result is assigned to first, which is a longer one in
        ``cache = step(x, cache)``.
        """
        found: list[Bindings] = []
        for given in flatten_nested_unions([get_proper_type(self.reader.type_of(node))]):
            bindings = self._bound_by(formal, given)
            if bindings is None:
                return
            found.append(bindings)
        first, *others = found
        for variable, size in first.dims.items():
            # of a union, as behind a loop in which the list grows, no one size is true
            agreed = all(other.dims.get(variable, UNKNOWN) == size for other in others)
            self.bindings.dims[variable] = size if agreed else UNKNOWN
        self.bindings.flexible = first.flexible
        self.contents.append(i)

    def _bound_by(self, formal: Type, given: Type) -> Bindings | None:
        """The sizes with those of a container's tensors; None where something doesn't fit, or no tensor is known."""
        bindings = Bindings(self.bindings.flexible, dict(self.bindings.dims), dict(self.bindings.rests))
        pairs = [(wanted, item) for wanted, item in _tensors_in(formal, given) if is_tensor(item)]
        for wanted, item in pairs:
            own = {v for v in self._sizes_of(wanted) if self.reader.lifter.variables[v].id in self.own}
            bindings.flexible |= own
            pattern, value = self.reader.lifter.tensor(wanted), self.reader.lifter.tensor(item)
            if unify(pattern.shape, value.shape, bindings) is not None:
                return None
        return bindings if pairs and bindings.rests == self.bindings.rests else None

    def _fail(
        self, i: int, kind: Kind, reason: str, expected: object, got: object, pattern: TensorType | None = None
    ) -> bool:
        operands = self.misfits.shown(self._formal_name(i), pattern)
        found = Report(self.name, kind, reason, operands, None, expected, got)
        node = self.arguments[i][0]
        place: Context = node if node.line >= 0 else self.context.context
        if self.reporting:
            report(found, place, self.context.api)
        self.formals[i] = any_type()
        return True

    def _loosen_expressions(self, i: int, formal: Type) -> bool:
        """mypy can't compare expressions that still hold variables; ours have been compared, so it needn't."""
        if _Contents().add(formal).has_expression and isinstance(formal, Instance):
            self.formals[i] = formal.copy_modified(args=[formal.args[0], self.types.any_rest()])
        return False

    def _substituted(self, failed: bool) -> CallableType:
        for i, declared in self.arrays.items():
            if not isinstance(get_proper_type(self.formals[i]), AnyType):  # it didn't fit, and that has been said
                self.formals[i] = declared
        lifter, lowerer, bindings = self.reader.lifter, self.reader.lowerer, self.bindings
        filled: dict[TypeVarId, Type] = {}
        for name in bindings.flexible:
            variable = lifter.variables[name]
            if name in bindings.dims:
                filled[variable.id] = lowerer.dim(bindings.dims[name])
            elif failed:
                filled[variable.id] = any_type()
        for rest, items in bindings.rests.items():
            variadic = lifter.rests.get(rest)
            if variadic is not None and variadic.id in self.own:
                filled[variadic.id] = TupleType(lowerer.items(items), self.types.tuple_(any_type()))
        signature = self.signature.copy_modified(arg_types=self.formals)
        if filled:
            signature = self._expand(signature, filled)
        # mypy compares sizes as they are written: 21//3 is not 7
        formals = [normalise(t, lifter) if i in self.contents else t for i, t in enumerate(signature.arg_types)]
        signature = signature.copy_modified(arg_types=formals)
        if failed:
            sizes = {v.id for v in (*lifter.variables.values(), *lifter.rests.values())}
            unbound = {v.id: _unknown(v, self.types) for v in signature.variables if v.id in sizes}
            signature = self._expand(signature, unbound)
        signature = self._expand(signature, self._free())
        result = normalise(signature.ret_type, self.reader.lifter)
        return signature.copy_modified(ret_type=result)

    def _free(self) -> dict[TypeVarId, Type]:
        """Sizes that only the result has may be any; mypy would ask for an annotation of what they are assigned to."""
        passed = [formal for formal, nodes in zip(self.formals, self.arguments, strict=True) if nodes]
        given = {v.id for formal in passed for v in walk(formal) if isinstance(v, _VARIABLES)}
        typed = [t for t in walk(self.signature) if isinstance(t, Instance) and _has_dims(t)]
        sizes = {v.id for t in typed for size in t.args for v in walk(size) if isinstance(v, _VARIABLES)}
        # also those of a protocol or record: `States[B, T]`
        found = [v for v in walk(self.signature.ret_type) if isinstance(v, _VARIABLES) and v.id in sizes]
        if self.arrays:  # mypy doesn't see their sizes
            found += [v for v in self.signature.variables if isinstance(v, _VARIABLES) and is_named(v)]
        return {v.id: _unknown(v, self.types) for v in found if v.id in self.own and v.id not in given}

    @staticmethod
    def _expand(signature: CallableType, filled: dict[TypeVarId, Type]) -> CallableType:
        left = [v for v in signature.variables if v.id not in filled]
        expanded = get_proper_type(expand_type(signature.copy_modified(variables=left), filled))
        assert isinstance(expanded, CallableType)
        return expanded


def _tensors_in(formal: Type, given: Type) -> Iterator[tuple[Instance, Instance]]:
    """The tensors of a container that a parameter asks for, each with what a container given for it has there."""
    formal, given = get_proper_type(formal), get_proper_type(given)
    if isinstance(formal, TupleType) and isinstance(given, TupleType):
        if len(formal.items) == len(given.items) and formal.partial_fallback.type is given.partial_fallback.type:
            for wanted, item in zip(formal.items, given.items, strict=True):
                yield from _tensors_in(wanted, item)
        return
    if isinstance(given, TupleType):
        given = tuple_fallback(given)
    if not isinstance(formal, Instance) or not isinstance(given, Instance):
        return
    if is_tensor(formal):
        yield formal, given
    elif given.type.has_base(formal.type.fullname):
        for wanted, item in zip(formal.args, map_instance_to_supertype(given, formal.type).args, strict=False):
            yield from _tensors_in(wanted, item)


def _states_a_call(formal: Type) -> TypeGuard[Instance]:
    """Whether a parameter is a ``Module[In, Out]`` that says what its call takes and gives."""
    formal = get_proper_type(formal)
    if not isinstance(formal, Instance) or formal.type.fullname != OUR_MODULE:
        return False
    return any(map(is_tensor, formal.args)) and not any(isinstance(get_proper_type(a), _VARIABLES) for a in formal.args)


def _kind_of(info: ErrorInfo) -> Kind:
    """The kind of mistake that a message of ours reports."""
    return "dtype" if info.code is not None and info.code.code == "tensor-dtype" else "shape"


def _has_dims(typ: Instance) -> bool:
    return is_tensor(typ) or typ.type.fullname == DIM


def _unknown(variable: TypeVarLikeType, types: TypeTable) -> Type:
    return types.any_rest() if isinstance(variable, TypeVarTupleType) else any_type()
