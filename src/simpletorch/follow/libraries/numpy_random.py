"""``numpy.random``: arrays of which nothing is known but shape and dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches
from simpletorch.follow.libraries import library_class, model, native
from simpletorch.follow.libraries.arrays import ANY, array, as_array, as_dtype, by_rule, is_hidden, shape_of
from simpletorch.follow.libraries.python.chance import any_of
from simpletorch.follow.numbers import indexes, offsets
from simpletorch.follow.values import Choice, Instance, List, Tensor, Unknown, Value, is_int
from simpletorch.rules.core.dtype import FLOAT64, INT64, DType
from simpletorch.shapes import Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

# What is drawn, with the place of ``size`` among the arguments.
_FLOATS: Final = {
    "random": 0, "random_sample": 0, "ranf": 0, "standard_normal": 0, "standard_exponential": 0, "exponential": 1,
    "rayleigh": 1, "standard_t": 1, "pareto": 1, "power": 1, "weibull": 1, "chisquare": 1, "uniform": 2, "normal": 2,
    "laplace": 2, "beta": 2, "gamma": 2, "lognormal": 2, "gumbel": 2, "logistic": 2, "vonmises": 2, "triangular": 3,
}  # fmt: skip
_INTS: Final = {
    "poisson": 1,
    "geometric": 1,
    "binomial": 2,
    "negative_binomial": 2,
    "zipf": 1,
    "randint": 2,
    "integers": 2,
}


def _number(run: Interpreter, dtype: DType) -> Unknown:
    """A number of Python's, by chance."""
    made = run.unknown("a number by chance", dtype.category, "data")
    made.size = dtype is INT64
    return offsets.drawn(made) if dtype is INT64 else made


def _together(run: Interpreter, parameters: list[Value]) -> Shape:
    """The shape of what is drawn for parameters that aren't all numbers."""
    whole: Value = array(Shape(()), FLOAT64)
    for one in parameters:
        if one is None or is_hidden(one) or not isinstance(whole, Tensor):
            return ANY
        whole = by_rule(run, "Tensor.__add__", (whole, as_array(run, one)))
    return whole.type.shape if isinstance(whole, Tensor) else ANY


def _drawn(dtype: DType, place: int, *, ints: bool = False) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        size = run.resolve(args[place] if len(args) > place else kwargs.get("size"))
        kind = as_dtype(run.resolve(kwargs.get("dtype", args[3] if place == 2 and len(args) > 3 else None)), dtype)
        parameters = [run.resolve(a) for a in args[:place]]
        parameters += [run.resolve(v) for k, v in kwargs.items() if k not in ("size", "dtype", "endpoint")]
        if size is None and not all(branches.type_name(p) in ("int", "float") for p in parameters):
            return array(_together(run, parameters), kind)
        made = _number(run, dtype) if size is None and kind == dtype else array(shape_of(run, size), kind)
        if ints and len(parameters) in (1, 2) and "endpoint" not in kwargs:
            made.numbers = indexes.drawn(0 if len(parameters) == 1 else parameters[0], parameters[-1])
        return made

    return work


def _of_dims(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``rand(2, 3)``."""
    return array(shape_of(run, args), FLOAT64) if args else run.unknown("a number by chance", "float", "data")


def _fractions(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``rand(2, 3)``; without sizes one number between 0 and 1."""
    return _of_dims(run, args, kwargs) if args else offsets.drawn(run.unknown("a number by chance", "float", "data"))


def _choice(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[0])
    size = run.resolve(args[1] if len(args) > 1 else kwargs.get("size"))
    if is_int(source) or (isinstance(source, Unknown) and source.type == "int"):
        made = _number(run, INT64) if size is None else array(shape_of(run, size), INT64)
        made.numbers = None if len(args) > 3 or "p" in kwargs else indexes.drawn(0, source)
        return made
    if size is None and isinstance(source, List | tuple | range):
        found = any_of(run, source)
        return found if isinstance(found, Tensor | Choice) else run.unknown("an item by chance")
    given = as_array(run, source).type
    if size is None and given.shape.rank is None:
        return array(Shape(()), given.dtype) if kwargs.get("axis") is None else array(ANY, given.dtype)
    if given.shape.rank == 0:
        return array(shape_of(run, size), None)  # a number: it picks of so many
    if given.shape.rank is not None and given.shape.rank != 1:
        rows = given.shape.rank > 1 and not {"axis", "replace"} & kwargs.keys() and len(args) <= 2
        return array(Shape((*shape_of(run, size).items, *given.shape.items[1:])) if rows else ANY, given.dtype)
    return array(shape_of(run, size), given.dtype)


def _permutation(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[0])
    if is_int(source):
        made = array(Shape((source,)), INT64)
        made.numbers = indexes.drawn(0, source)
        return made
    if isinstance(source, Unknown):
        return array(shape_of(run, source), INT64) if source.type == "int" else run.unknown("an order by chance")
    given = as_array(run, source).type
    return array(given.shape, given.dtype)


def _shuffle(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[0])
    if not isinstance(source, Tensor):
        run.call(run.program.library(run, "random.shuffle"), (source,))
    return None


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _multivariate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    size = run.resolve(args[2] if len(args) > 2 else kwargs.get("size"))
    mean = as_array(run, args[0] if args else kwargs.get("mean")).type.shape
    if mean.rank is None:
        return array(ANY, FLOAT64)
    return array(Shape((*shape_of(run, size).items, *mean.items)), FLOAT64)


def _parts(place: int, dtype: DType) -> Any:
    """``(k)`` shares for each draw: ``dirichlet(alpha, size)``, ``multinomial(n, p, size)``."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        size = run.resolve(args[place + 1] if len(args) > place + 1 else kwargs.get("size"))
        shares = run.resolve(args[place] if len(args) > place else kwargs.get("alpha", kwargs.get("pvals")))
        if is_hidden(shares):
            return array(ANY, dtype)
        return array(Shape((*shape_of(run, size).items, *as_array(run, shares).type.shape.items[-1:])), dtype)

    return work


_METHODS: Final[dict[str, Any]] = {
    **{name: _drawn(FLOAT64, place) for name, place in _FLOATS.items()},
    **{name: _drawn(INT64, place, ints=name in ("randint", "integers")) for name, place in _INTS.items()},
    "rand": _fractions,
    "randn": _of_dims,
    "choice": _choice,
    "permutation": _permutation,
    "permuted": _permutation,
    "dirichlet": _parts(0, FLOAT64),
    "multinomial": _parts(1, INT64),
    "shuffle": _shuffle,
    "seed": _nothing,
    "set_state": _nothing,
    "multivariate_normal": _multivariate,
}
for _name, _work in _METHODS.items():
    native(f"numpy.random.{_name}")(_work)
library_class(
    "numpy.random.Generator",
    methods={name: lambda run, args, kwargs, w=work: w(run, args[1:], kwargs) for name, work in _METHODS.items()},
)
library_class(
    "numpy.random.RandomState", ("numpy.random.Generator",), make=lambda run, cls, args, kwargs: Instance(cls)
)


@model("numpy.random.default_rng")
def _default_rng(run: Interpreter, seed: Value = None) -> Value:
    return Instance(run.program.library_class("numpy.random.Generator"))
