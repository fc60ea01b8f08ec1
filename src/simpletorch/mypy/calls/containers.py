"""Containers of modules and parameters: what they hold, item by item as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from mypy.join import join_type_list
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    ARG_NAMED,
    ARG_STAR,
    CallExpr,
    ClassDef,
    DictExpr,
    Expression,
    IndexExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    SliceExpr,
    StrExpr,
    SuperExpr,
    TupleExpr,
    TypeInfo,
)
from mypy.plugin import AttributeContext, CheckerPluginInterface, FunctionSigContext, MethodSigContext
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    ProperType,
    TupleType,
    Type,
    UnpackType,
    get_proper_type,
)

from simpletorch.mypy.calls.arguments import Starred, read_arguments
from simpletorch.mypy.calls.layers import check_fit, repeated
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.calls.repeats import given_types, once_at
from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.convert.place import Place
from simpletorch.mypy.diagnose.inferred import put
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.names import (
    DICTS,
    LISTS,
    MODULE,
    OUR_SEQUENTIAL,
    PARAMETER_DICT,
    PARAMETER_LIST,
    SEQUENTIAL,
    SEQUENTIALS,
)
from simpletorch.mypy.program.history import History, display, history, history_of_value
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements, calls_in
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules.core.values import TensorType

__all__ = ["FUNCTIONS", "INHERITED_METHODS", "attribute", "settle"]

_CHANGES: Final = frozenset(
    {"append", "extend", "insert", "add_layer", "__iadd__", "__setitem__", "__delitem__", "update", "pop", "clear"}
)

_PARAMETERS: Final = (PARAMETER_LIST, PARAMETER_DICT)


class _Contents:
    """Reads what a container holds at one place of a program."""

    def __init__(self, context: Place, types: TypeTable) -> None:
        self.context = context
        self.types = types
        self.reader = CallReader(types, context)
        self.checker = cast(Any, context.api)
        self.tree: MypyFile = self.checker.tree
        self.within = next((n.fullname for n in reversed(self.checker.scope.stack) if isinstance(n, TypeInfo)), "")

    def display(self, node: Expression) -> list[Expression] | None:
        return display(node, self.tree, self.within, self.context.context.line)

    def type_of(self, node: Expression) -> ProperType:
        """The type of an expression, which may stand far above."""
        return get_proper_type(self.checker.lookup_type_or_none(node) or self.reader.type_of(node))

    def held(self, typ: Type, parameters: bool) -> Type | None:
        """The type that a value has in the container; None if it is not known."""
        typ = get_proper_type(typ)
        if parameters:
            return self._as_parameter(typ)
        return typ if is_module(typ) else None

    def _as_parameter(self, typ: ProperType) -> Type | None:
        value = self.reader.lifter.value(typ)
        if not isinstance(value, TensorType) or not is_tensor(typ):
            return None
        return self.reader.lowerer.tensor(TensorType(value.shape, value.dtype, value.device, True))

    def layers(self, nodes: Iterable[Expression | Starred], *, parameters: bool = False) -> list[Type] | None:
        """The types of these items; a star of unknown length is ``*tuple[Layer, ...]``. None if one is no layer."""
        out: list[Type] = []
        for node in nodes:
            found: Sequence[Type | None]
            if isinstance(node, Starred):
                items = self.display(node.node)
                if items is None:
                    found = [self._rest(node.node, parameters)]
                else:
                    found = [self.held(self.type_of(n), parameters) for n in items]
            else:
                found = [self.held(self.type_of(node), parameters)]
            if None in found:
                return None
            out.extend(t for t in found if t is not None)
        return out if sum(isinstance(t, UnpackType) for t in out) <= 1 else None

    def _rest(self, node: Expression, parameters: bool) -> Type | None:
        """``*tuple[Layer, ...]`` for an iterable of layers that are of one kind."""
        layer = self.held(self.element(self.type_of(node)), parameters)
        if layer is None or (isinstance(layer, Instance) and layer.type.fullname == MODULE):
            return None
        return UnpackType(self.types.tuple_(layer))

    def element(self, typ: ProperType) -> Type:
        """The type of the items when iterating over a type."""
        iterable = self.types.info("typing.Iterable")
        if isinstance(typ, TupleType):
            return join_type_list(list(typ.items)) if typ.items else any_type()
        if not isinstance(typ, Instance) or iterable is None or not typ.type.has_base("typing.Iterable"):
            return any_type()
        args = map_instance_to_supertype(typ, iterable).args
        return args[0] if args else any_type()

    # -- the three kinds --------------------------------------------------------------------------------------------

    def sequential(self, info: TypeInfo, layers: Sequence[Type] | None) -> Instance:
        return Instance(info, [self.types.any_rest()] if layers is None else list(layers))

    def list_of(self, info: TypeInfo, layers: Sequence[Type] | None, common: Type | None = None) -> Instance:
        """``ModuleList[Common, *Layers]``"""
        if layers is None:
            return Instance(info, [common or self._default(info), self.types.any_rest()])
        return Instance(info, [common or self.common(info, layers), *layers])

    def dict_of(self, info: TypeInfo, items: dict[str, Type] | None, common: Type | None = None) -> Instance:
        """``ModuleDict[Common, *tuple[Literal["key"], Layer]]``"""
        if items is None:
            return Instance(info, [common or self._default(info), self.types.any_rest()])
        pairs = [TupleType([self.types.literal(k), v], self.types.tuple_(any_type())) for k, v in items.items()]
        return Instance(info, [common or self.common(info, list(items.values())), *pairs])

    def _default(self, info: TypeInfo) -> Type:
        return any_type() if info.fullname in _PARAMETERS else self.types.instance(MODULE) or any_type()

    def common(self, info: TypeInfo, layers: Sequence[Type]) -> Type:
        """The join of all items, as loops see them."""
        flat = [repeated(t) or get_proper_type(t) for t in layers]
        known = {a for t in flat if isinstance(t, Instance) for a in t.args}
        joined = get_proper_type(join_type_list(flat)) if flat else None
        if is_module(joined):
            # where the items differ, a join of literals says "int" or "bool"
            return joined.copy_modified(args=[a if a in known else any_type() for a in joined.args])
        return joined if joined is not None and is_tensor(joined) else self._default(info)


# -- constructors ------------------------------------------------------------------------------------------------------


def _construct(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``nn.Sequential(a, b)`` is a ``Sequential[A, B]``; layers that don't fit each other are reported here.

    ``nn.ModuleList([a, b])``, ``nn.ModuleDict({"x": a})`` and the lists and dicts of parameters keep theirs as well.
    """
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    if not isinstance(built, Instance):
        return signature
    question = (built.type, *signature.arg_names)  # an overloaded constructor has parameters of its own
    result = once_at(context, question, given_types(context), lambda: _made(built.type, context, types), listens=True)
    return signature if result is None else signature.copy_modified(ret_type=result, variables=[])


def _made(info: TypeInfo, context: FunctionSigContext, types: TypeTable) -> Instance | None:
    contents = _Contents(context, types)
    past = history_of_value(cast(Expression, context.context), contents.tree)
    unsettled = past is not None and past.grows and not past.is_straight
    return _built(info, context, contents, unsettled=unsettled)


def _built(info: TypeInfo, context: FunctionSigContext, contents: _Contents, *, unsettled: bool) -> Instance | None:
    given = read_arguments(context).positional
    if info.fullname in SEQUENTIALS:
        if info.fullname == OUR_SEQUENTIAL and len(given) == 1 and isinstance(given[0], ListExpr):
            given = list(given[0].items)  # ours takes a list too
        layers = None if unsettled else _named_layers(given, contents) or contents.layers(given)
        result = contents.sequential(info, layers)
        fits = layers is None or check_fit(layers, _places(given, layers), context, contents.types)
        return result if fits else contents.sequential(info, None)
    if len(given) > 1 or any(isinstance(node, Starred) for node in given):
        return None
    node = cast(Expression, given[0]) if given else None
    parameters = info.fullname in _PARAMETERS
    if info.fullname in LISTS:
        if unsettled:
            return contents.list_of(info, None)
        items = [] if node is None else contents.layers([Starred(node)], parameters=parameters)
        return contents.list_of(info, items)
    pairs = {} if node is None else _items_of_dict(node, contents, parameters)
    return contents.dict_of(info, None if unsettled else pairs)


def _named_layers(given: Sequence[Expression | Starred], contents: _Contents) -> list[Type] | None:
    """The layers of ``nn.Sequential(OrderedDict([("fc", nn.Linear(3, 5))]))``."""
    match given:
        case [CallExpr(callee=NameExpr(name="OrderedDict") | MemberExpr(name="OrderedDict"), args=[node])]:
            items = _items_of_dict(node, contents, parameters=False)
            return None if items is None else list(items.values())
    return None


def _items_of_dict(node: Expression, contents: _Contents, parameters: bool) -> dict[str, Type] | None:
    """The items of a dict display, of ``dict(a=...)``, or of a list of pairs, whose keys are literal."""
    pairs: list[tuple[Expression | None, Expression]] = []
    match node:
        case DictExpr(items=found):
            pairs = list(found)
        case CallExpr(callee=NameExpr(fullname="builtins.dict"), args=values, arg_kinds=kinds, arg_names=names):
            if any(kind != ARG_NAMED for kind in kinds):
                return None
            pairs = [(StrExpr(name or ""), value) for name, value in zip(names, values, strict=True)]
        case ListExpr(items=items):
            for entry in items:
                if not isinstance(entry, TupleExpr | ListExpr) or len(entry.items) != 2:
                    return None
                pairs.append((entry.items[0], entry.items[1]))
        case _:
            return None
    out: dict[str, Type] = {}
    for key, value in pairs:
        held = contents.held(contents.type_of(value), parameters)
        if not isinstance(key, StrExpr) or held is None:
            return None
        out[key.value] = held
    return out


def _places(given: Sequence[Expression | Starred], layers: Sequence[Type]) -> list[Expression | None]:
    """Where each layer is written, if in this call."""
    if len(given) != len(layers):
        return [None] * len(layers)
    return [None if isinstance(node, Starred) else node for node in given]


# -- changes -----------------------------------------------------------------------------------------------------------


def _grow(method: str, context: MethodSigContext, types: TypeTable) -> CallableType:
    """``net.append(layer)``: what the container holds from here on, in its variable too if it can be followed."""
    signature = context.default_signature
    receiver = get_proper_type(context.type)
    if not isinstance(receiver, Instance) or receiver.type.fullname not in (*SEQUENTIALS, *LISTS, *DICTS):
        return signature
    contents = _Contents(context, types)
    place = _receiver(context)
    past = None if place is None else history(place, contents.tree, contents.within)
    result: Instance | None
    if place is not None and past is not None and past.only_grows:
        result = _grown(receiver, place, past, contents)
    elif past is None:
        result = _one_more(method, receiver, context, contents)
    else:
        result = None
    if result is None:
        return signature
    if result.type.fullname in SEQUENTIALS and not check_fit(result.args, [None] * len(result.args), context, types):
        result = contents.sequential(receiver.type, None)
    if place is not None and past is not None:
        put(place, result, contents.checker)
    own = get_proper_type(signature.ret_type)
    return signature.copy_modified(ret_type=result) if isinstance(own, Instance) and own == receiver else signature


def _receiver(context: Place) -> Expression | None:
    match context.context:
        case CallExpr(callee=callee):
            return getattr(callee, "expr", None)
        case IndexExpr(base=base):
            return base
    return getattr(context.context, "lvalue", None)


def _grown(receiver: Instance, place: Expression, past: History, contents: _Contents) -> Instance:
    """The contents of a variable that is only added to: exact, or the join of all additions."""
    info, parameters = receiver.type, receiver.type.fullname in _PARAMETERS
    line = contents.context.context.line
    if past.is_straight and info.fullname in DICTS:
        items = _replayed_dict(past, contents, parameters)
        if items is not None:
            return contents.dict_of(info, items)
    elif past.is_straight:
        nodes = contents.display(place)
        layers = None if nodes is None else contents.layers(nodes, parameters=parameters)
        if layers is not None:
            return contents.sequential(info, layers) if info.fullname in SEQUENTIALS else contents.list_of(info, layers)
    if info.fullname in SEQUENTIALS:
        return contents.sequential(info, None)
    added = [(s.kind, s.arguments) for s in past.steps if s.kind not in ("set", "passed")]
    nodes = [a[-1] for kind, a in added if kind not in ("extend", "update", "+=") and a and a[-1].line <= line]
    found = [contents.held(contents.type_of(node), parameters) for node in nodes]
    later = any(kind in ("extend", "update", "+=") for kind, _ in added)
    first = [] if not receiver.args or receiver.args[0] == contents.list_of(info, None).args[0] else [receiver.args[0]]
    if later or None in found:
        return contents.list_of(info, None)
    return contents.list_of(info, None, contents.common(info, [*first, *(t for t in found if t is not None)]))


def _replayed_dict(past: History, contents: _Contents, parameters: bool) -> dict[str, Type] | None:
    """The items of a dict after ``heads["a"] = …``, one statement after the other."""
    made = past.start.arguments[0] if past.start is not None else None
    if not isinstance(made, CallExpr) or len(made.args) > 1:
        return None
    items = _items_of_dict(made.args[0], contents, parameters) if made.args else {}
    for step in past.steps if items is not None else ():
        if step.kind in ("set", "passed") or step.line > contents.context.context.line:
            continue
        more: dict[str, Type | None]
        match step.kind, step.arguments:
            case "[]=", (StrExpr(value=key), value):
                more = {key: contents.held(contents.type_of(value), parameters)}
            case "update", (node,):
                items_of = _items_of_dict(node, contents, parameters)
                if items_of is None:
                    return None
                more = dict(items_of)
            case _:
                return None
        if items is None or None in more.values():
            return None
        items = {**items, **{k: v for k, v in more.items() if v is not None}}
    return items


def _one_more(method: str, receiver: Instance, context: MethodSigContext, contents: _Contents) -> Instance | None:
    """A new object in a chain of calls: ``nn.Sequential(a).append(b)``."""
    given = read_arguments(context, method).positional
    if receiver.type.fullname not in SEQUENTIALS or method not in ("append", "add_layer") or not given:
        return None
    added = contents.layers(given[:1])
    return None if added is None else contents.sequential(receiver.type, [*receiver.args, *added])


# -- reading -----------------------------------------------------------------------------------------------------------


def _item(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``layers[0]``, ``layers[1:]``, ``heads["a"]``."""
    signature = context.default_signature
    receiver = get_proper_type(context.type)
    if not isinstance(receiver, Instance) or not isinstance(context.context, IndexExpr):
        return signature
    found = _item_at(receiver, context.context.index, _Contents(context, types))
    return signature if found is None else signature.copy_modified(ret_type=found)


def _item_at(receiver: Instance, index: Expression, contents: _Contents) -> Type | None:
    fullname = receiver.type.fullname
    base = _base(receiver)
    if base is None:
        return None
    held = list(base.args if base.type.fullname in SEQUENTIALS else base.args[1:])
    value = contents.reader.lifter.expression(index, contents.reader.type_of)
    if base.type.fullname in DICTS:
        return _of_key(value, held)
    if any(isinstance(get_proper_type(t), UnpackType) for t in held):
        return _of_rest(base, held, index)
    if isinstance(index, SliceExpr) and isinstance(value, slice) and _is_literal(value):
        part = held[value]
        if fullname in SEQUENTIALS:
            return contents.sequential(receiver.type, part)
        return contents.list_of(receiver.type, part) if fullname in LISTS else None
    if isinstance(value, int) and not isinstance(value, bool) and -len(held) <= value < len(held):
        return held[value]
    return None


def attribute(name: str, context: AttributeContext) -> Type | None:
    """``heads.a`` is ``heads["a"]``, if a `ModuleDict` is known to have it."""
    receiver = get_proper_type(context.type)
    base = _base(receiver) if isinstance(receiver, Instance) and not context.is_lvalue else None
    return None if base is None or base.type.fullname not in DICTS else _of_key(name, base.args[1:])


def _of_key(value: object, held: Sequence[Type]) -> Type | None:
    for pair in map(get_proper_type, held):
        if isinstance(pair, TupleType):
            key = get_proper_type(pair.items[0])
            if isinstance(key, LiteralType) and key.value == value:
                return pair.items[1]
    return None


def _of_rest(base: Instance, held: Sequence[Type], index: Expression) -> Type | None:
    """An item of ``Sequential[*tuple[Layer, ...]]``, whichever it is."""
    if len(held) != 1 or isinstance(index, SliceExpr) or base.type.fullname not in SEQUENTIALS:
        return None
    found = get_proper_type(repeated(held[0]))
    return None if isinstance(found, AnyType) else found


def _is_literal(bounds: slice) -> bool:
    return all(b is None or isinstance(b, int) for b in (bounds.start, bounds.stop, bounds.step))


def _base(receiver: Instance) -> Instance | None:
    """The container that a type is or derives from."""
    for info in receiver.type.mro:
        if info.fullname in (SEQUENTIAL, *LISTS, *DICTS):
            base = map_instance_to_supertype(receiver, info)
            return base if base.args or info.fullname == SEQUENTIAL else None
    return None


def _iterate(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``for layer in net`` of a ``Sequential`` whose layers are of one kind."""
    signature = context.default_signature
    receiver = get_proper_type(context.type)
    base = _base(receiver) if isinstance(receiver, Instance) else None
    if base is None or base.type.fullname != SEQUENTIAL or not base.args:
        return signature
    common = _Contents(context, types).common(base.type, base.args)
    return signature.copy_modified(ret_type=types.instance("typing.Iterator", common) or signature.ret_type)


# -- subclasses --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SuperCall:
    """The place of a call that mypy asks no hook about."""

    context: CallExpr
    api: CheckerPluginInterface


_settling: Final[set[CallExpr]] = set()
"""The calls whose arguments are being read; reading them asks the hooks of the layers again."""


def settle(context: object, api: CheckerPluginInterface, types: TypeTable) -> None:
    """A subclass of ``Sequential`` holds what it hands to ``super().__init__``: its base gets these layers.

    mypy asks no hook about a call of ``super()``, so this is asked after the last of its arguments that is a call.
    """
    found = _super_calls(cast(Any, api).tree).get(context) if isinstance(context, CallExpr) else None
    if found is None or found[1] in _settling:
        return
    cls, call = found
    _settling.add(call)
    try:
        contents = _Contents(_SuperCall(call, api), types)
        pairs = zip(call.args, call.arg_kinds, strict=True)
        given = [Starred(a) if kind == ARG_STAR else a for a, kind in pairs]
        layers = _named_layers(given, contents) or contents.layers(given)
        for base in cls.bases:
            if base.type.fullname in SEQUENTIALS:
                fits = layers is None or check_fit(layers, _places(given, layers), contents.context, types)
                base.args = tuple(contents.sequential(base.type, layers if fits else None).args)
    finally:
        _settling.discard(call)


@once_a_tree
def _super_calls(tree: MypyFile) -> dict[CallExpr, tuple[TypeInfo, CallExpr]]:
    """The last call among the arguments of each ``super().__init__(...)`` in a subclass of ``Sequential``."""
    out: dict[CallExpr, tuple[TypeInfo, CallExpr]] = {}
    for s in all_statements(tree):
        if not isinstance(s, ClassDef) or not any(b.type.fullname in SEQUENTIALS for b in getattr(s.info, "bases", ())):
            continue
        for call in calls_in(s.defs.body):
            inner = [a for a in call.args if isinstance(a, CallExpr)]
            if isinstance(call.callee, SuperExpr) and call.callee.name == "__init__" and inner:
                out[inner[-1]] = (s.info, call)
    return out


FUNCTIONS: Final[Mapping[str, FunctionHook]] = dict.fromkeys((*SEQUENTIALS, *LISTS, *DICTS), _construct)
_METHODS: Final[Mapping[str, MethodHook]] = {
    **{method: partial(_grow, method) for method in _CHANGES},
    "__getitem__": _item,
    "__iter__": _iterate,
}
INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {
    f"{container}.{method}": hook for container in (SEQUENTIAL, *LISTS, *DICTS) for method, hook in _METHODS.items()
}
