"""``torch.distributions``: what a distribution is made with says what it samples, and how probable that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from mypy.nodes import MemberExpr
from mypy.plugin import AttributeContext, FunctionSigContext, MethodSigContext
from mypy.types import AnyType, CallableType, Instance, ProperType, Type, get_proper_type

from simpletorch.mypy.calls.arguments import SignatureContext
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.convert.laws import PARAMETERS, Law, law_of, made_with
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.hooks import AttributeHook, FunctionHook, MethodHook
from simpletorch.mypy.names import DISTRIBUTIONS, INDEPENDENT
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import ANYTHING, Report, Value
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import ANY_TENSOR, TensorType
from simpletorch.shapes import ANY_REST, Item, Shape

__all__ = ["ATTRIBUTES", "FUNCTIONS", "INHERITED_METHODS"]

_OF_TORCH: Final = "torch.distributions."
_BASE: Final = "torch.distributions.distribution.Distribution"
_MOMENTS: Final = ("mean", "stddev", "variance", "mode")


def _given(context: SignatureContext, reader: CallReader) -> dict[str, Value]:
    """The arguments by the names of their parameters."""
    signature = context.default_signature
    found: dict[str, Value] = {}
    for name, nodes in zip(signature.arg_names, context.args, strict=True):
        if name is not None and nodes:
            values = reader.alternatives(nodes[0])
            found[name] = values[0] if len(nodes) == len(values) == 1 else ANYTHING
    return found


def _construct(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``Normal(mean, std)`` is a ``Normal[Float32, 3, 5]``."""
    signature = context.default_signature
    made = get_proper_type(signature.ret_type)
    if not isinstance(made, Instance) or not made.type.type_vars:
        return signature
    reader = CallReader(types, context)
    name, given = made.type.name, _given(context, reader)
    try:
        sample = made_with(name, given)
    except Mismatch as m:
        tensors = {n: v for n, v in given.items() if isinstance(v, TensorType)}
        report(Report(name, m.kind, m.reason, tensors, m.hint), context.context, context.api)
        sample = ANY_TENSOR
    args = [reader.lowerer.dtype(sample.dtype), *reader.lowerer.items(sample.shape.items)]
    return signature.copy_modified(ret_type=made.copy_modified(args=args), variables=[])


def _independent(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``Independent(Normal(mean, std), 1)`` is an ``Independent[Normal[Float32, 3, 5], 1]``."""
    signature = context.default_signature
    made = get_proper_type(signature.ret_type)
    if not isinstance(made, Instance) or len(made.args) != 2 or any(len(nodes) != 1 for nodes in context.args[:2]):
        return signature
    reader = CallReader(types, context)
    base, count = reader.type_of(context.args[0][0]), _given(context, reader).get("reinterpreted_batch_ndims")
    law = law_of(get_proper_type(base), reader.lifter)
    known = isinstance(count, int) and law is not None
    if known and law is not None and law.batch.is_exact and isinstance(count, int) and len(law.batch.items) < count:
        reason = f"{count} dims of the batch are to become the event's, but the batch is {law.batch}"
        report(Report("Independent", "shape", reason), context.context, context.api)
    number = types.literal(count) if isinstance(count, int) else any_type()
    return signature.copy_modified(
        arg_types=[base, *signature.arg_types[1:]], ret_type=made.copy_modified(args=[base, number]), variables=[]
    )


def _of_torch(receiver: ProperType, name: str) -> bool:
    """Whether a method is torch's own, not one of a subclass of the program's."""
    symbol = receiver.type.get(name) if isinstance(receiver, Instance) else None
    return symbol is not None and symbol.fullname is not None and symbol.fullname.startswith(_OF_TORCH)


def _method(
    name: str, answer: Callable[[Law, Value], TensorType], context: MethodSigContext, types: TypeTable
) -> CallableType:
    """A method of a distribution that takes a value at most."""
    signature = context.default_signature
    reader = CallReader(types, context)
    law = law_of(get_proper_type(context.type), reader.lifter)
    if law is None or not _of_torch(get_proper_type(context.type), name):
        return signature
    passed = [node for nodes in context.args for node in nodes]
    values = reader.alternatives(passed[0]) if passed else [()]
    try:
        found = answer(law, values[0] if len(values) == 1 else ANYTHING)
    except Mismatch as m:
        value = {"value": values[0]} if isinstance(values[0], TensorType) else {}
        report(Report(f"{_name(context)}.{name}", m.kind, m.reason, value, m.hint), context.context, context.api)
        found = ANY_TENSOR
    return signature.copy_modified(ret_type=reader.lowerer.tensor(found) or signature.ret_type)


def _name(context: MethodSigContext) -> str:
    return context.type.type.name if isinstance(context.type, Instance) else "Distribution"


def _sampled(law: Law, sizes: Value) -> TensorType:
    rows: tuple[Item, ...] = (ANY_REST,)
    if isinstance(sizes, tuple):
        rows = tuple(s if isinstance(s, Item) and not isinstance(s, bool) else ANY_REST for s in sizes)
    return law.sample(rows if rows.count(ANY_REST) <= 1 else (ANY_REST,))


def _valued(law: Law, value: Value) -> TensorType:
    return law.probability(value if isinstance(value, TensorType) else ANY_TENSOR)


def _divergence(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``kl_divergence(p, q)``: a number for each of the batch."""
    signature = context.default_signature
    reader = CallReader(types, context)
    if any(len(nodes) != 1 for nodes in context.args):
        return signature
    laws = [law_of(get_proper_type(reader.type_of(nodes[0])), reader.lifter) for nodes in context.args]
    p, q = laws
    if p is None or q is None:
        return signature
    try:
        shape = broadcast_shapes(("the batch of p", p.batch), ("that of q", q.batch))
    except Mismatch as m:
        report(Report("kl_divergence", m.kind, m.reason), context.context, context.api)
        return signature
    found = TensorType(shape, p.dtype if p.dtype == q.dtype else None)
    return signature.copy_modified(ret_type=reader.lowerer.tensor(found) or signature.ret_type)


def _attribute(context: AttributeContext, types: TypeTable) -> Type:
    """``normal.mean`` and ``normal.loc`` are as a sample is."""
    lifter = PlaceLifter(types, context.api, context.context.line)
    law = law_of(get_proper_type(context.type), lifter)
    declared = get_proper_type(context.default_attr_type)
    if law is None or context.is_lvalue or not isinstance(context.context, MemberExpr):
        return context.default_attr_type
    if not isinstance(declared, AnyType | Instance):
        return context.default_attr_type
    shape = law.shape if not law.of_indices else Shape((*law.batch.items,))
    return Lowerer(lifter).tensor(TensorType(shape, law.dtype)) or context.default_attr_type


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {
    **dict.fromkeys(DISTRIBUTIONS, _construct),
    INDEPENDENT: _independent,
    "torch.distributions.kl.kl_divergence": _divergence,
}
INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {
    **{f"{_BASE}.{name}": partial(_method, name, _sampled) for name in ("sample", "rsample")},
    **{f"{_BASE}.{name}": partial(_method, name, _valued) for name in ("log_prob", "cdf", "icdf")},
    **{f"{_BASE}.{name}": partial(_method, name, lambda law, _: law.summary()) for name in ("entropy", "perplexity")},
}
_ELEMENTWISE: Final = ("Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel", "Uniform", "Beta", "Gamma", "Bernoulli")
ATTRIBUTES: Final[Mapping[str, AttributeHook]] = {
    f"{fullname}.{name}": _attribute
    for fullname in DISTRIBUTIONS
    for name in (
        *_MOMENTS,
        *(PARAMETERS[fullname.rpartition(".")[2]] if fullname.rpartition(".")[2] in _ELEMENTWISE else ()),
    )
}
