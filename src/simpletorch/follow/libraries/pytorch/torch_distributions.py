"""``torch.distributions``: a distribution is the type of a sample, ``batch + event``, and the rank of the event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import branches, tensors
from simpletorch.follow.libraries import ALIASES, by_name, library_class, native
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import Choice, Dict, Instance, List, Tensor, Unknown, Value, is_int
from simpletorch.rules import Report, TensorType
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, INT64, DType
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_DIST: Final = "torch.distributions"
_BASE: Final = f"{_DIST}.Distribution"


@dataclass(frozen=True)
class _Law:
    """What is known of a distribution: the shape of a sample, the dims of its event, and the dtypes."""

    shape: Shape  # batch + event
    rank: int  # of the event
    dtype: DType | None  # of parameters and log-probabilities
    of_sample: DType | None

    @property
    def batch(self) -> Shape:
        """The shape without the event."""
        return _without(self.shape, self.rank)

    @property
    def event(self) -> tuple[Item, ...]:
        """The dims of the event."""
        items = self.shape.dims if self.shape.is_exact else self.shape.tail
        known = items[len(items) - self.rank :] if len(items) >= self.rank else ()
        return known if len(known) == self.rank else (UNKNOWN,) * self.rank


def _without(shape: Shape, count: int) -> Shape:
    """The shape without its last dims."""
    if not count:
        return shape
    tail = shape.dims if shape.is_exact else shape.tail
    return Shape(shape.items[:-count]) if len(tail) >= count else Shape((ANY_REST,))


def _law(run: Interpreter, value: Value) -> _Law | None:
    value = run.resolve(value)
    found = value.state.get("law") if isinstance(value, Instance) and not value.state.get("open") else None
    return found if isinstance(found, _Law) else None


def _broadcast(run: Interpreter, a: Shape, b: Shape) -> Shape | None:
    """The common shape, None if there is none."""
    if not a.is_exact or not b.is_exact:
        return Shape((ANY_REST,))
    left, right = list(a.dims), list(b.dims)
    rank = max(len(left), len(right))
    pairs = zip([1] * (rank - len(left)) + left, [1] * (rank - len(right)) + right, strict=True)
    out: list[Dim] = []
    for x, y in pairs:
        if x == 1 or y == 1:
            out.append(y if x == 1 else x)
        elif UNKNOWN in (x, y):
            known = y if x is UNKNOWN else x
            out.append(known if isinstance(known, int) else UNKNOWN)  # a number that isn't 1 is the size of both
        else:
            same = run.same_size(x, y)
            if same is False:
                return None
            out.append(x if same else UNKNOWN)
    return Shape(tuple(out))


# -- parameters ------------------------------------------------------------------------------------------------------


def _kind(run: Interpreter, value: Value) -> TensorType | None:
    """The type of a parameter, None for a number."""
    value = run.resolve(value)
    if isinstance(value, Choice):
        value = branches.common_item(map(run.resolve, (value.when_true, value.when_false)), "which parameter it is")
    if isinstance(value, Tensor):
        return value.type
    number = is_int(value) or isinstance(value, bool | float) or branches.type_name(value) in ("int", "float")
    return None if number else TensorType()


def _together(run: Interpreter, name: str, given: dict[str, TensorType | None]) -> TensorType:
    """What parameters become that are broadcast."""
    kinds = [(n, k) for n, k in given.items() if k is not None]
    if not kinds:
        return tensors.made(run, TensorType(Shape(()), DEFAULT_FLOAT)).type
    out = Shape(())
    for _, kind in kinds:
        common = _broadcast(run, out, kind.shape)
        if common is None:
            run.report(Report(name, "shape", "the parameters don't broadcast", dict(kinds)))
            return TensorType()
        out = common
    dtypes = {k.dtype for _, k in kinds}
    return TensorType(out, dtypes.pop() if len(dtypes) == 1 else None)


def _set(run: Interpreter, me: Instance, law: _Law, parameters: dict[str, Shape]) -> None:
    run.heap.write(me.state, "law", law)
    whole = TensorType(law.shape, law.dtype)
    attributes = {n: TensorType(s, law.dtype) for n, s in parameters.items()}
    attributes.update(dict.fromkeys(("mean", "stddev", "variance"), whole))
    for name, kind in attributes.items():
        run.heap.write(me.cells, name, Tensor(kind))
    for name, shape in (("batch_shape", law.batch), ("event_shape", Shape(law.event))):
        run.heap.write(me.cells, name, run.attribute(Tensor(TensorType(shape)), "shape"))


# -- kinds of distributions ------------------------------------------------------------------------------------------


def _pointwise(name: str, parameters: str) -> None:
    """Parameters are broadcast, and each of their elements is a distribution of a number."""
    names = parameters.split()

    def init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        me, *rest = args
        given = by_name(parameters, tuple(rest), kwargs)
        known = {n: given[n] for n in names if n in given and run.resolve(given[n]) is not None}
        kind = _together(run, name, {n: _kind(run, v) for n, v in known.items()})
        others = {"probs": kind.shape, "logits": kind.shape} if "logits" in names else {}
        _set(run, me, _Law(kind.shape, 0, kind.dtype, kind.dtype), {**dict.fromkeys(names, kind.shape), **others})
        return None

    library_class(f"{_DIST}.{name}", (_BASE,), {"__init__": init})


def _by_row(name: str, parameters: str, *, event: bool, of_sample: DType | None = None) -> None:
    """The last dim of the parameter is one distribution: over its positions, or over vectors of its size."""
    names = [n for n in parameters.split() if n in ("probs", "logits", "concentration")]

    def init(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        me, *rest = args
        given = by_name(parameters, tuple(rest), kwargs)
        source = next((given[n] for n in names if n in given and run.resolve(given[n]) is not None), None)
        kind = _kind(run, source) or TensorType()
        if kind.shape.is_exact and not kind.shape.rank:
            run.report(Report(name, "shape", "the parameter needs at least one dim", {names[0]: kind}))
            kind = TensorType()
        if not event:
            events.CHOICE(run, name, run.resolve(source))
        shape = kind.shape if event else _without(kind.shape, 1)
        _set(run, me, _Law(shape, int(event), kind.dtype, of_sample or kind.dtype), dict.fromkeys(names, kind.shape))
        return None

    library_class(f"{_DIST}.{name}", (_BASE,), {"__init__": init})


for _name, _parameters in {
    **dict.fromkeys(("Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel"), "loc scale"),
    **dict.fromkeys(("Binomial", "NegativeBinomial"), "total_count probs logits"),
    "Uniform": "low high", "Beta": "concentration1 concentration0", "Kumaraswamy": "concentration1 concentration0",
    "Gamma": "concentration rate", "InverseGamma": "concentration rate", "StudentT": "df loc scale", "Chi2": "df",
    "Pareto": "scale alpha", "Weibull": "scale concentration", "FisherSnedecor": "df1 df2", "Poisson": "rate",
    "VonMises": "loc concentration", "HalfNormal": "scale", "HalfCauchy": "scale", "Exponential": "rate",
    "Bernoulli": "probs logits", "Geometric": "probs logits", "ContinuousBernoulli": "probs logits",
    "RelaxedBernoulli": "temperature probs logits",
}.items():  # fmt: skip
    _pointwise(_name, _parameters)
_by_row("Categorical", "probs logits", event=False, of_sample=INT64)
_by_row("OneHotCategorical", "probs logits", event=True)
_by_row("OneHotCategoricalStraightThrough", "probs logits", event=True)
_by_row("RelaxedOneHotCategorical", "temperature probs logits", event=True)
_by_row("Multinomial", "total_count probs logits", event=True)
_by_row("Dirichlet", "concentration", event=True)


def _init_multivariate(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, *rest = args
    given = by_name("loc covariance_matrix precision_matrix scale_tril", tuple(rest), kwargs)
    loc = _kind(run, given.get("loc")) or TensorType()
    matrices = ("covariance_matrix", "precision_matrix", "scale_tril")
    source = next((name for name in matrices if given.get(name) is not None), None)
    matrix = _kind(run, given[source]) if source is not None else TensorType()
    shape: Shape | None = Shape((ANY_REST,))
    if matrix is not None:
        shape = _broadcast(run, _without(matrix.shape, 1), loc.shape)
    if shape is None:
        operands = {"loc": loc, source or "matrix": matrix}
        run.report(Report("MultivariateNormal", "shape", "loc has another size than the matrix", operands))
        shape = Shape((ANY_REST,))
    square = Shape((*shape.items, _last(shape)))
    law = _Law(shape, 1, loc.dtype, loc.dtype)
    _set(run, me, law, {"loc": shape, **dict.fromkeys(matrices, square)})
    return None


def _last(shape: Shape) -> Item:
    tail = shape.dims if shape.is_exact else shape.tail
    return tail[-1] if tail else UNKNOWN


def _init_independent(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, *rest = args
    given = by_name("base_distribution reinterpreted_batch_ndims", tuple(rest), kwargs)
    base, count = _law(run, given.get("base_distribution")), run.resolve(given.get("reinterpreted_batch_ndims"))
    run.heap.write(me.cells, "base_dist", given.get("base_distribution"))
    if base is None or not isinstance(count, int):
        return None
    batch = base.batch
    if batch.is_exact and len(batch.items) < count:
        reason = f"{count} dims of the batch are to become the event's, but the batch has {len(batch.items)}"
        run.report(Report("Independent", "shape", reason, {"batch": batch}))
        return None
    _set(run, me, replace(base, rank=base.rank + count), {})
    return None


def _init_mixture(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    me, *rest = args
    given = by_name("mixture_distribution component_distribution", tuple(rest), kwargs)
    mixture, part = _law(run, given.get("mixture_distribution")), _law(run, given.get("component_distribution"))
    if mixture is not None and part is not None:
        _set(run, me, _Law(Shape((*mixture.batch.items, *part.event)), part.rank, part.dtype, part.of_sample), {})
    return None


def _init_base(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``Distribution.__init__(batch_shape, event_shape)``, as subclasses of the program call it."""
    given = by_name("batch_shape event_shape", args[1:], kwargs)
    for name, value in given.items():
        run.heap.write(args[0].cells, name, value)
    return None


for _name, _init in (
    ("MultivariateNormal", _init_multivariate),
    ("Independent", _init_independent),
    ("MixtureSameFamily", _init_mixture),
):
    library_class(f"{_DIST}.{_name}", (_BASE,), {"__init__": _init})


# -- what is asked of them -------------------------------------------------------------------------------------------


def _sample_shape(run: Interpreter, value: Value) -> tuple[Item, ...] | None:
    rows = run.items(value) if value is not None else ()
    if rows is None:
        return None
    sizes = tuple(map(run.resolve, rows))
    return tuple(s if is_int(s) else UNKNOWN for s in sizes) if all(_is_size(s) for s in sizes) else None


def _is_size(value: Value) -> bool:
    return is_int(value) or isinstance(value, Unknown)


def _sample(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    law = _law(run, args[0])
    shape = _sample_shape(run, by_name("sample_shape", args[1:], kwargs).get("sample_shape"))
    if law is None or shape is None:
        return run.unknown("a sample of a distribution")
    return Tensor(TensorType(Shape((*shape, *law.shape.items)), law.of_sample))


def _of_value(name: str) -> Callable[..., Value]:
    """``log_prob`` and its like: a value that broadcasts with batch and event gives a number for each event."""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        me, law = args[0], _law(run, args[0])
        value = run.resolve(by_name("value", args[1:], kwargs).get("value"))
        if isinstance(value, Choice):
            return run.each(value, lambda v: work(run, (me, v), {}))
        if law is None:
            return run.unknown(f"what {name} of a distribution gives")
        if isinstance(value, Instance | List | Dict | str | None):
            return run.report(Report(f"{me.cls.name}.{name}", "dtype", "the value must be a tensor", {}))
        kind = value.type if isinstance(value, Tensor) else TensorType()
        common = _broadcast(run, kind.shape, law.shape)
        if common is None:
            expected = f"batch {law.batch} and event {Shape(law.event)}"
            reason = f"the value must broadcast with {expected}"
            return run.report(Report(f"{me.cls.name}.{name}", "shape", reason, {"value": kind}))
        plain = kind.dtype is not None and kind.dtype.category in ("int", "bool")
        dtype = law.dtype if plain or kind.dtype == law.dtype else None
        return Tensor(TensorType(_without(common, law.rank), dtype))

    return work


def _of_batch(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    law = _law(run, args[0])
    return run.unknown("what a distribution gives") if law is None else Tensor(TensorType(law.batch, law.dtype))


def _expanded(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    law, shape = _law(run, args[0]), _sample_shape(run, args[1] if len(args) > 1 else kwargs.get("batch_shape"))
    made = Instance(args[0].cls)
    if law is not None and shape is not None:
        _set(run, made, replace(law, shape=Shape((*shape, *law.event))), {})
    return made


library_class(
    _BASE,
    methods={
        "__init__": _init_base,
        **dict.fromkeys(("sample", "rsample"), _sample),
        **{name: _of_value(name) for name in ("log_prob", "cdf", "icdf")},
        **dict.fromkeys(("entropy", "perplexity"), _of_batch),
        "expand": _expanded,
        "set_default_validate_args": lambda run, args, kwargs: None,
    },
)


@native(f"{_DIST}.kl_divergence")
def _divergence(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("p q", args, kwargs)
    p, q = _law(run, given.get("p")), _law(run, given.get("q"))
    if p is None or q is None:
        return run.unknown("the divergence of distributions")
    common = _broadcast(run, p.batch, q.batch)
    if common is None:
        reason = "the batches of the distributions don't broadcast"
        return run.report(Report("kl_divergence", "shape", reason, {"p": p.batch, "q": q.batch}))
    return Tensor(TensorType(common, p.dtype if p.dtype == q.dtype else None))


_FILES: Final = """
    normal categorical bernoulli beta gamma dirichlet uniform multivariate_normal independent distribution kl laplace
    one_hot_categorical mixture_same_family relaxed_bernoulli relaxed_categorical exponential poisson
"""
ALIASES.update({f"{_DIST}.{file}": _DIST for file in _FILES.split()})
