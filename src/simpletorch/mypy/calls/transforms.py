"""``torch.func`` and `torch.utils.checkpoint`: what calls a function of the user's in another way.

``vmap(f)`` has no signature that mypy could write down: ``f`` may be torch's own, overloaded, generic or a lambda. So
it is an instance of a phantom class that holds the type of ``f``, and each call is computed from the call of ``f`` with
the arguments that it would get. `checkpoint`, `vjp` and `jvp` call it at once.

Source: https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from mypy.expandtype import expand_type
from mypy.nodes import (
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    ArgKind,
    CallExpr,
    Decorator,
    Expression,
    FuncDef,
    LambdaExpr,
    RefExpr,
    TempNode,
)
from mypy.plugin import FunctionContext, FunctionSigContext, MethodSigContext
from mypy.type_visitor import TypeTranslator
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    Overloaded,
    TupleType,
    Type,
    TypeVarType,
    get_proper_type,
)

from simpletorch.mypy.calls.arguments import SignatureContext, nothing_expected
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.hooks import FunctionHook, FunctionResultHook, MethodHook
from simpletorch.mypy.names import PHANTOM
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import Report, Value
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import TensorType
from simpletorch.shapes import UNKNOWN, Dim, Shape, equal

__all__ = ["FUNCTIONS", "FUNCTION_RESULTS", "METHODS"]

_MAKERS: Final = {
    "torch._functorch.apis.vmap": "vmap",
    "torch._functorch.apis.grad": "grad",
    "torch._functorch.apis.grad_and_value": "grad_and_value",
    "torch._functorch.eager_transforms.jacrev": "jacrev",
    "torch._functorch.eager_transforms.jacfwd": "jacrev",
    "torch._functorch.eager_transforms.hessian": "hessian",
}
_OPTIONS: Final[dict[str, tuple[tuple[str, Value], tuple[str, Value]]]] = {
    "vmap": (("in_dims", 0), ("out_dims", 0)),
    "hessian": (("argnums", 0), ("", False)),
}
_DERIVATIVE_OPTIONS: Final[tuple[tuple[str, Value], tuple[str, Value]]] = (("argnums", 0), ("has_aux", False))
_APPLIERS: Final = {
    "torch.utils.checkpoint.checkpoint": "checkpoint",
    "torch._functorch.eager_transforms.vjp": "vjp",
    "torch._functorch.eager_transforms.jvp": "jvp",
    "torch._functorch.eager_transforms.linearize": "linearize",
}
_APPLIER_OPTIONS: Final = frozenset({"has_aux", "strict"})
_CHECKPOINT_OPTIONS: Final = frozenset(
    {"use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state"}
)


@dataclass(frozen=True)
class _Written:
    """Arguments as a program writes them."""

    nodes: Sequence[Expression]
    kinds: Sequence[ArgKind]
    names: Sequence[str | None]

    def chosen(self, places: Sequence[int]) -> _Written:
        return _Written(
            [self.nodes[i] for i in places], [self.kinds[i] for i in places], [self.names[i] for i in places]
        )


class _Tensors(TypeTranslator):
    """Changes every tensor in a type; a function's parameters stay."""

    def __init__(self, reader: CallReader, change: Callable[[TensorType], TensorType]) -> None:
        super().__init__()
        self.reader = reader
        self.change = change

    def visit_instance(self, t: Instance, /) -> Type:
        if is_tensor(t):
            return self.reader.lowerer.tensor(self.change(self.reader.lifter.tensor(t))) or t
        changed: Type = super().visit_instance(t)
        return changed

    def visit_callable_type(self, t: CallableType, /) -> Type:
        return t

    def visit_type_alias_type(self, t: Any, /) -> Type:
        return cast(Type, get_proper_type(t).accept(self))


# -- making ---------------------------------------------------------------------------------------------------------


def _make(kind: str, context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``vmap(f, in_dims=(0, None))``: an instance of the phantom class, with the type of ``f`` and the options."""
    signature = context.default_signature
    made = _made(kind, dict(zip(signature.arg_names, context.args, strict=True)), CallReader(types, context))
    if made is None:
        return signature
    formals: list[Type] = [any_type()] * len(signature.arg_types)
    return signature.copy_modified(arg_types=formals, ret_type=made, variables=[])


def _decorate(kind: str, context: FunctionContext, types: TypeTable) -> Type:
    """``@vmap`` above a function: mypy asks no signature hook for a decorator."""
    if not isinstance(context.context, Decorator):
        return context.default_return_type
    given = dict(zip(context.callee_arg_names, context.args, strict=True))
    return _made(kind, given, CallReader(types, context)) or context.default_return_type


def _made(kind: str, given: Mapping[str | None, Sequence[Expression]], reader: CallReader) -> Instance | None:
    function = next(iter(given.values()), [])
    if len(function) != 1:
        return None
    options: list[Type] = []
    for name, default in _OPTIONS.get(kind, _DERIVATIVE_OPTIONS):
        nodes = given.get(name) or []
        value = reader.lifter.expression(nodes[0], reader.type_of) if len(nodes) == 1 else default
        options.append(reader.lowerer.static(value))
    types = reader.lifter.types
    name_of = types.literal(_name_of(function[0], reader))
    return types.instance(f"{PHANTOM}.{kind}", reader.type_of(function[0]), name_of, *options)


def _name_of(node: Expression, reader: CallReader) -> str:
    """The full name under which hooks know a function; empty if it has none."""
    if isinstance(node, RefExpr) and node.fullname and "." in node.fullname:
        return node.fullname
    typ = get_proper_type(reader.type_of(node))
    if isinstance(typ, Overloaded):
        typ = typ.items[0]
    definition = typ.definition if isinstance(typ, CallableType) else None
    return definition.fullname if isinstance(definition, FuncDef) else ""


# -- calling --------------------------------------------------------------------------------------------------------


class _Inner:
    """The function inside, and what a call of it gives."""

    def __init__(self, reader: CallReader, context: SignatureContext, function: Type, name: str) -> None:
        self.reader = reader
        self.context = context
        self.function = get_proper_type(function)
        self.name = name
        self.literal: LambdaExpr | None = None

    def result(self, args: Sequence[Type], written: _Written) -> Type:
        """The type of ``f(*args)``; mypy reports what doesn't fit at the places where the arguments are written."""
        checker = cast(Any, self.context.api).expr_checker
        kinds, names = list(written.kinds), list(written.names)
        nodes: list[Expression] = [TempNode(t, context=n) for t, n in zip(args, written.nodes, strict=True)]
        call = CallExpr(TempNode(self.function, context=self.context.context), nodes, kinds, names)
        call.set_line(self.context.context)
        function: Type = self._inferred_lambda(args, kinds) or self.function
        function = checker.transform_callee_type(self.name or None, function, nodes, kinds, call, names)
        with nothing_expected(self.context.api):
            result, _ = checker.check_call(function, nodes, kinds, call, names, callable_name=self.name or None)
        return cast(Type, result)

    def _inferred_lambda(self, args: Sequence[Type], kinds: Sequence[ArgKind]) -> Type | None:
        """A lambda written at the call itself takes its parameters' types from the arguments."""
        if self.literal is None or any(k != ARG_POS for k in kinds):
            return None
        fallback = cast(Any, self.context.api).named_type("builtins.function")
        wanted = CallableType(list(args), list(kinds), [None] * len(args), any_type(), fallback)
        return cast(Type, cast(Any, self.context.api).expr_checker.accept(self.literal, wanted))


def _arguments(context: SignatureContext) -> _Written | None:
    """The arguments of a call as they are written; None where some are spread."""
    call = context.context
    if not isinstance(call, CallExpr) or any(k in (ARG_STAR, ARG_STAR2) for k in call.arg_kinds):
        return None
    return _Written(call.args, call.arg_kinds, call.arg_names)


def _call(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``vmap(f)(x, y)``: the call of ``f`` with what it gets of the arguments, and what becomes of its result."""
    signature = context.default_signature
    receiver = get_proper_type(context.type)
    found = _arguments(context)
    if not isinstance(receiver, Instance) or found is None or not isinstance(signature, CallableType):
        return signature
    reader = CallReader(types, context)
    function, name, *options = receiver.args
    name = get_proper_type(name)
    inner = _Inner(reader, context, function, str(name.value) if isinstance(name, LiteralType) else "")
    inner.literal = _lambda_at(context.context)
    given = [reader.type_of(n) for n in found.nodes]
    first, second = (reader.lifter.static(o) for o in options)
    if receiver.type.name == "vmap":
        result = _vmapped(inner, found, given, first, second)
    else:
        result = _differentiated(receiver.type.name, inner, found, given, first, second is True)
    return signature if result is None else signature.copy_modified(ret_type=result)


def _lambda_at(node: object) -> LambdaExpr | None:
    """The lambda in ``vmap(lambda x: …)(xs)``."""
    if isinstance(node, CallExpr) and isinstance(node.callee, CallExpr) and node.callee.args:
        first = node.callee.args[0]
        return first if isinstance(first, LambdaExpr) else None
    return None


def _vmapped(inner: _Inner, written: _Written, given: list[Type], in_dims: Value, out_dims: Value) -> Type | None:
    reader = inner.reader
    count = sum(k == ARG_POS for k in written.kinds)
    dims = list(in_dims) if isinstance(in_dims, tuple) else [in_dims] * count
    if len(dims) != count or not all(d is None or type(d) is int for d in dims):
        return None
    dims += [0] * (len(given) - count)  # keyword arguments are always mapped over their first dim
    samples, passed = _Samples(), list(given)
    try:
        for i, dim in enumerate(dims):
            if isinstance(dim, int):
                one = partial(samples.one, written.names[i] or f"argument {i + 1}", dim)
                passed[i] = given[i].accept(_Tensors(reader, one))
    except Mismatch as m:
        report(Report("vmap", "shape", m.reason), inner.context.context, inner.context.api)
        return None
    result = inner.result(passed, written)
    batch = next((s for _, s in samples.sizes if s is not UNKNOWN), UNKNOWN)
    proper = get_proper_type(result)
    if isinstance(out_dims, tuple) and isinstance(proper, TupleType) and len(out_dims) == len(proper.items):
        items = [_mapped(reader, t, batch, d) for t, d in zip(proper.items, out_dims, strict=True)]
        return proper.copy_modified(items=items)
    return _mapped(reader, result, batch, out_dims)


class _Samples:
    """Takes the mapped dim out of tensors, and sees that all have equally many samples."""

    def __init__(self) -> None:
        self.sizes: list[tuple[str, Dim]] = []

    def one(self, name: str, dim: int, tensor: TensorType) -> TensorType:
        rank = tensor.shape.rank
        if rank is None:
            return TensorType(dtype=tensor.dtype, device=tensor.device)
        if not -rank <= dim < rank:
            raise Mismatch(f"{name} has no dim {dim} to map over: it is {tensor}")
        dims = list(tensor.shape.dims)
        size = dims.pop(dim)
        for other, known in self.sizes:
            if equal(known, size) is False:
                raise Mismatch(f"{other} has {known} samples to map over, but {name} has {size}")
        self.sizes.append((name, size))
        return TensorType(Shape(tuple(dims)), tensor.dtype, tensor.device)


def _mapped(reader: CallReader, result: Type, batch: Dim, dim: Value) -> Type:
    """The result with the mapped dim put in; ``None`` for a result that is the same for all samples."""
    if dim is None:
        return result

    def put(tensor: TensorType) -> TensorType:
        rank = tensor.shape.rank
        if rank is None or type(dim) is not int or not -rank - 1 <= dim <= rank:
            return TensorType(dtype=tensor.dtype, device=tensor.device)
        dims = list(tensor.shape.dims)
        dims.insert(dim if dim >= 0 else len(dims) + 1 + dim, batch)
        return TensorType(Shape(tuple(dims)), tensor.dtype, tensor.device)

    return result.accept(_Tensors(reader, put))


def _differentiated(
    kind: str, inner: _Inner, written: _Written, given: list[Type], argnums: Value, has_aux: bool
) -> Type | None:
    reader, types = inner.reader, inner.reader.lifter.types
    value = get_proper_type(inner.result(given, written))
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(type(n) is int and -len(given) <= n < len(given) for n in wanted):
        return None
    inputs = [given[n] for n in wanted if isinstance(n, int)]
    aux: Type | None = None
    if has_aux:
        if not isinstance(value, TupleType) or len(value.items) != 2:
            return None
        output, aux = value.items
        value = get_proper_type(output)
    plain = [t.accept(_Tensors(reader, _not_parameter)) for t in inputs]
    if kind in ("grad", "grad_and_value"):
        if not _is_scalar(kind, inner, value):
            return None
        parts = plain
    else:
        parts = [_jacobian(reader, value, t, twice=kind == "hessian") for t in plain]
    result = _tuple(types, parts) if isinstance(argnums, tuple) else parts[0]
    if kind == "grad_and_value":
        return _tuple(types, [result, value if aux is None else _tuple(types, [value, aux])])
    return result if aux is None else _tuple(types, [result, aux])


def _not_parameter(tensor: TensorType) -> TensorType:
    return TensorType(tensor.shape, tensor.dtype, tensor.device)


def _is_scalar(kind: str, inner: _Inner, value: Type) -> bool:
    if not is_tensor(value):
        return True
    found = inner.reader.lifter.value(value)
    if isinstance(found, TensorType) and found.shape.min_rank > 0:
        reason = f"the function must give a 0-d tensor, but it gives {found}"
        report(Report(kind, "shape", reason, {}, "sum() or mean() it"), inner.context.context, inner.context.api)
        return False
    return True


def _jacobian(reader: CallReader, value: Type, given: Type, *, twice: bool) -> Type:
    """For each tensor in the result and each in the input: the dims of both, those of the input last."""

    def by_input(out: TensorType) -> Type:
        def both(into: TensorType) -> TensorType:
            items = (*out.shape.items, *into.shape.items, *(into.shape.items if twice else ()))
            known = out.shape.is_exact and into.shape.is_exact
            return TensorType(Shape(items), out.dtype, out.device) if known else TensorType(dtype=out.dtype)

        return given.accept(_Tensors(reader, both))

    proper = get_proper_type(value)
    if isinstance(proper, Instance) and is_tensor(proper):
        return by_input(reader.lifter.tensor(proper))
    if isinstance(proper, TupleType):
        return proper.copy_modified(items=[_jacobian(reader, t, given, twice=twice) for t in proper.items])
    return any_type()


def _tuple(types: TypeTable, items: Sequence[Type]) -> TupleType:
    return TupleType(list(items), types.tuple_(any_type()))


# -- applying at once -------------------------------------------------------------------------------------------------


def _apply(kind: str, context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``checkpoint(f, x)``, ``vjp(f, x)``, ``jvp(f, (x,), (v,))``: ``f`` is called with the arguments here."""
    signature = context.default_signature
    found = _arguments(context)
    if found is None or not found.nodes or found.kinds[0] != ARG_POS:
        return signature
    reader = CallReader(types, context)
    function = found.nodes[0]
    inner = _Inner(reader, context, reader.type_of(function), _name_of(function, reader))
    inner.literal = function if isinstance(function, LambdaExpr) else None
    options = _CHECKPOINT_OPTIONS if kind == "checkpoint" else _APPLIER_OPTIONS
    written = found.chosen([i for i, name in enumerate(found.names) if i > 0 and name not in options])
    given = [reader.type_of(n) for n in written.nodes]
    if kind == "checkpoint":
        return signature.copy_modified(ret_type=inner.result(given, written))
    if any(name is not None for name in found.names):
        return signature
    if kind == "jvp":
        return _pushed(inner, given, written, signature, types)
    value = inner.result(given, written)
    plain = [t.accept(_Tensors(reader, _not_parameter)) for t in given]
    fallback = cast(Any, context.api).named_type("builtins.function")
    if kind == "vjp":
        derivative = CallableType([value], [ARG_POS], [None], _tuple(types, plain), fallback)
    else:
        derivative = CallableType(plain, [ARG_POS] * len(plain), [None] * len(plain), value, fallback)
    return signature.copy_modified(ret_type=_tuple(types, [value, derivative]))


def _pushed(
    inner: _Inner, given: Sequence[Type], written: _Written, signature: CallableType, types: TypeTable
) -> CallableType:
    """``jvp(f, primals, tangents)``: the value at the primals, and its derivative along the tangents."""
    primals = get_proper_type(given[0]) if len(given) == 2 else None
    if not isinstance(primals, TupleType):
        return signature
    value = inner.result(primals.items, written.chosen([0] * len(primals.items)))
    return signature.copy_modified(ret_type=_tuple(types, [value, value]))


def _attempted(context: SignatureContext, types: TypeTable) -> CallableType:
    """``attempt(f, x)``: `Ok` has what ``f`` gives. A call that may not fit is attempted on purpose."""
    with cast(Any, context.api).msg.filter_errors() as found:
        signature = _forwarded(context, types)
    return context.default_signature if found.has_new_errors() else signature


def _forwarded(context: SignatureContext, types: TypeTable) -> CallableType:
    """``stream.run(f, x)``: the result has what ``f`` gives for the arguments here."""
    signature = context.default_signature
    found = _arguments(context)
    taken = get_proper_type(signature.arg_types[0]) if signature.arg_types else None
    given = taken.ret_type if isinstance(taken, CallableType) else None
    if found is None or not found.nodes or found.kinds[0] != ARG_POS or not isinstance(given, TypeVarType):
        return signature
    reader = CallReader(types, context)
    function = found.nodes[0]
    inner = _Inner(reader, context, reader.type_of(function), _name_of(function, reader))
    inner.literal = function if isinstance(function, LambdaExpr) else None
    written = found.chosen(range(1, len(found.nodes)))
    value = inner.result([reader.type_of(n) for n in written.nodes], written)
    return signature.copy_modified(
        arg_types=[any_type()] * len(signature.arg_types),
        ret_type=expand_type(signature.ret_type, {given.id: value}),
        variables=[],
    )


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {
    "simpletorch.errors._result.attempt": _attempted,
    **{name: partial(_make, kind) for name, kind in _MAKERS.items()},
    **{name: partial(_apply, kind) for name, kind in _APPLIERS.items()},
}
FUNCTION_RESULTS: Final[Mapping[str, FunctionResultHook]] = {
    name: partial(_decorate, kind) for name, kind in _MAKERS.items()
}
METHODS: Final[Mapping[str, MethodHook]] = {
    "simpletorch.cuda._streams.Stream.run": _forwarded,
    **{f"{PHANTOM}.{kind}.__call__": _call for kind in _MAKERS.values()},
}
