"""Distributions as types: the samples of ``Normal[Float32, 3, 5]`` have that dtype and shape, batch before event.

Source: https://docs.pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from mypy.maptype import map_instance_to_supertype
from mypy.types import Instance, LiteralType, ProperType, get_proper_type

from simpletorch.mypy.convert.lift import Lifter
from simpletorch.mypy.names import DISTRIBUTIONS, INDEPENDENT
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, INT64, DType
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, Item, Shape

__all__ = ["PARAMETERS", "Law", "law_of", "made_with"]

PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(parameters.split())
    for name, parameters in {
        **dict.fromkeys(("Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel"), "loc scale"),
        **dict.fromkeys(("Binomial", "NegativeBinomial", "Multinomial"), "total_count probs logits"),
        **dict.fromkeys(("Bernoulli", "Geometric", "ContinuousBernoulli", "Categorical"), "probs logits"),
        **dict.fromkeys(("OneHotCategorical", "OneHotCategoricalStraightThrough"), "probs logits"),
        **dict.fromkeys(("RelaxedBernoulli", "RelaxedOneHotCategorical"), "temperature probs logits"),
        **dict.fromkeys(("Beta", "Kumaraswamy"), "concentration1 concentration0"),
        **dict.fromkeys(("Gamma", "InverseGamma"), "concentration rate"),
        **dict.fromkeys(("HalfNormal", "HalfCauchy"), "scale"),
        **dict.fromkeys(("Exponential", "Poisson"), "rate"),
        "Uniform": "low high",
        "StudentT": "df loc scale",
        "Chi2": "df",
        "Pareto": "scale alpha",
        "Weibull": "scale concentration",
        "FisherSnedecor": "df1 df2",
        "VonMises": "loc concentration",
        "Dirichlet": "concentration",
        "MultivariateNormal": "loc covariance_matrix precision_matrix scale_tril",
    }.items()
}
"""The parameters of each class, in the order of its constructor."""

_OF_VECTORS: Final = frozenset(
    {
        *("MultivariateNormal", "Dirichlet", "OneHotCategorical", "OneHotCategoricalStraightThrough"),
        *("RelaxedOneHotCategorical", "Multinomial"),
    }
)
_BY_ROW: Final = frozenset({"Categorical", *_OF_VECTORS} - {"MultivariateNormal"})
_NO_ROW: Final = frozenset({"temperature", "total_count"})
_OF_INDICES: Final = frozenset({"Categorical"})


@dataclass(frozen=True)
class Law:
    """A distribution: the shape of a sample (batch and event), the rank of the event, the dtype of the parameters."""

    shape: Shape
    rank: int
    dtype: DType | None
    of_indices: bool = False

    @property
    def batch(self) -> Shape:
        """The shape without the event."""
        return without(self.shape, self.rank)

    def sample(self, sizes: tuple[Item, ...]) -> TensorType:
        """The result of ``sample(sizes)``."""
        return TensorType(joined(sizes, self.shape), INT64 if self.of_indices else self.dtype)

    def probability(self, value: TensorType) -> TensorType:
        """The result of ``log_prob(value)``.

        Raises:
            Mismatch: the value doesn't broadcast with a sample.
        """
        common = broadcast_shapes(("value", value.shape), ("a sample", self.shape))
        plain = value.dtype is not None and value.dtype.category in ("int", "bool")
        return TensorType(without(common, self.rank), self.dtype if plain or value.dtype == self.dtype else None)

    def summary(self) -> TensorType:
        """The result of ``entropy()``."""
        return TensorType(self.batch, self.dtype)


def without(shape: Shape, count: int) -> Shape:
    """The shape without its last dims."""
    if not count:
        return shape
    tail = shape.dims if shape.is_exact else shape.tail
    return Shape(shape.items[:-count]) if len(tail) >= count else ANY_SHAPE


def joined(sizes: tuple[Item, ...], shape: Shape) -> Shape:
    """The sizes in front of a shape; of two variadic parts nothing is known but what follows the last."""
    if shape.is_exact or ANY_REST not in sizes:
        return Shape((*sizes, *shape.items))
    return Shape((ANY_REST, *shape.tail))


def law_of(typ: ProperType, lifter: Lifter) -> Law | None:
    """The distribution that a type describes; None if it is unknown."""
    if not isinstance(typ, Instance):
        return None
    for info in typ.type.mro:
        if info.fullname == INDEPENDENT:
            return _independent(map_instance_to_supertype(typ, info), lifter)
        if info.fullname in DISTRIBUTIONS:
            args = map_instance_to_supertype(typ, info).args
            if not args:
                return None
            shape, dtype = Shape(lifter.items(tuple(args[1:]))), lifter.dtype(args[0])
            return Law(shape, int(info.name in _OF_VECTORS), dtype, info.name in _OF_INDICES)
    return None


def _independent(typ: Instance, lifter: Lifter) -> Law | None:
    """``Independent[Normal[Float32, 3, 5], 1]``: the last dim of the batch is the event's."""
    base = law_of(get_proper_type(typ.args[0]), lifter) if len(typ.args) == 2 else None
    count = get_proper_type(typ.args[1]) if base is not None else None
    if base is None or not isinstance(count, LiteralType) or not isinstance(count.value, int):
        return None
    return replace(base, rank=base.rank + count.value)


def made_with(name: str, given: Mapping[str, Value]) -> TensorType:
    """The dtype and shape of the samples of a distribution that is made with these parameters.

    Raises:
        Mismatch: they don't fit each other.
    """
    known = {n: v for n, v in given.items() if n in PARAMETERS[name] and v is not None}
    if name in _BY_ROW:
        return _by_row(name, {n: v for n, v in known.items() if n not in _NO_ROW})
    if name == "MultivariateNormal":
        matrix = next((n for n in known if n != "loc"), None)
        rows = without(_shape(known[matrix]), 1) if matrix is not None else ANY_SHAPE
        shape = broadcast_shapes(("loc", _shape(known.get("loc", ANYTHING))), (matrix or "the matrix", rows))
        return TensorType(shape, _dtype(known))
    shapes = [(n, _shape(v)) for n, v in known.items()]
    return TensorType(broadcast_shapes(*shapes) if shapes else ANY_SHAPE, _dtype(known))


def _by_row(name: str, given: Mapping[str, Value]) -> TensorType:
    """The last dim of the parameter is one distribution: over its positions, or over vectors of its size."""
    shape = next(map(_shape, given.values()), ANY_SHAPE)
    if shape.is_exact and not shape.rank:
        raise Mismatch(f"{next(iter(given))} is a scalar, but needs at least one dim")
    return TensorType(shape if name in _OF_VECTORS else without(shape, 1), _dtype(given))


def _shape(value: Value) -> Shape:
    """A parameter's shape; that of a number is ()."""
    if isinstance(value, TensorType):
        return value.shape
    return ANY_SHAPE if value is ANYTHING else Shape(())


def _dtype(given: Mapping[str, Value]) -> DType | None:
    """The dtype of the parameters; of numbers only it is the default one."""
    dtypes = {v.dtype for v in given.values() if isinstance(v, TensorType)}
    if not given or ANYTHING in given.values():
        return None
    return (dtypes.pop() if len(dtypes) == 1 else None) if dtypes else DEFAULT_FLOAT
