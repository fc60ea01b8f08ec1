"""``numpy.random``: arrays of which nothing is known but shape and dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import branches
from simpletorch.follow.libraries import NATIVES, Work, library_class, model, native, signed
from simpletorch.follow.libraries.arrays import ANY, array, as_array, as_dtype, by_rule, is_hidden, shape_of
from simpletorch.follow.libraries.python.chance import any_of
from simpletorch.follow.numbers import indexes, offsets
from simpletorch.follow.values import MISSING, OF_NUMPY, Choice, Instance, List, Tensor, Unknown, Value, is_int
from simpletorch.rules.core.dtype import FLOAT64, INT64, DType
from simpletorch.shapes import Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

# By function its parameters, without the size, which comes next.
_FLOATS: Final = {
    **dict.fromkeys(("random", "random_sample", "ranf", "standard_normal", "standard_exponential"), ""),
    "exponential": "scale=1.0", "rayleigh": "scale=1.0", "standard_t": "df", "pareto": "a", "power": "a",
    "weibull": "a", "chisquare": "df", "uniform": "low=0.0, high=1.0", "normal": "loc=0.0, scale=1.0",
    "laplace": "loc=0.0, scale=1.0", "beta": "a, b", "gamma": "shape, scale=1.0", "lognormal": "mean=0.0, sigma=1.0",
    "gumbel": "loc=0.0, scale=1.0", "logistic": "loc=0.0, scale=1.0", "vonmises": "mu, kappa",
    "triangular": "left, mode, right",
}  # fmt: skip
_INTS: Final = {
    "poisson": "lam=1.0", "geometric": "p", "binomial": "n, p", "negative_binomial": "n, p", "zipf": "a",
    "randint": "low, high=None", "integers": "low, high=None",
}  # fmt: skip
_BEHIND: Final = {
    "randint": ", dtype=int", "integers": ", dtype=None, endpoint=False", "random": ", dtype=None, out=None",
    "standard_normal": ", dtype=None, out=None", "standard_exponential": ", dtype=None, method='zig', out=None",
}  # fmt: skip
"""The parameters behind the size; some of them a generator has, and ``numpy.random`` hasn't."""


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


def _drawn(name: str, parameters: str, dtype: DType) -> Work:
    def work(run: Interpreter, given: dict[str, Value]) -> Value:
        size, kind = given.pop("size", None), as_dtype(given.pop("dtype", None), dtype)
        if given.pop("out", None) is not None:
            return run.unknown("an array that is filled by chance")
        endpoint, method = given.pop("endpoint", False), given.pop("method", None)
        parameters = [v for v in given.values() if v is not None or name not in ("randint", "integers")]
        if size is None and not all(branches.type_name(p) in ("int", "float") for p in parameters):
            return array(_together(run, parameters), kind)
        made = _number(run, dtype) if size is None and kind == dtype else array(shape_of(run, size), kind)
        if name == "integers" and isinstance(made, Unknown):
            made.reason = OF_NUMPY
        if name in ("randint", "integers") and endpoint is False and method is None:
            made.numbers = indexes.drawn(0 if len(parameters) == 1 else parameters[0], parameters[-1])
        return made

    return signed(", ".join(filter(None, (parameters, "size=None"))) + _BEHIND.get(name, ""), work)


def _of_dims(run: Interpreter, *dims: Value) -> Value:
    """``randn(2, 3)``."""
    return array(shape_of(run, dims), FLOAT64) if dims else run.unknown("a number by chance", "float", "data")


def _fractions(run: Interpreter, *dims: Value) -> Value:
    """``rand(2, 3)``; without sizes one number between 0 and 1."""
    return _of_dims(run, *dims) if dims else offsets.drawn(run.unknown("a number by chance", "float", "data"))


def _choice(
    run: Interpreter,
    a: Value,
    size: Value = None,
    replace: Value = True,
    p: Value = None,
    axis: Value = MISSING,
    shuffle: Value = True,
) -> Value:
    if is_int(a) or (isinstance(a, Unknown) and a.type == "int"):
        made = _number(run, INT64) if size is None else array(shape_of(run, size), INT64)
        made.numbers = indexes.drawn(0, a) if p is None else None
        return made
    if size is None and isinstance(a, List | tuple | range):
        found = any_of(run, a)
        return found if isinstance(found, Tensor | Choice) else run.unknown("an item by chance")
    given = as_array(run, a).type
    if size is None and given.shape.rank is None:
        return array(Shape(()), given.dtype) if axis is MISSING else array(ANY, given.dtype)
    if given.shape.rank == 0:
        return array(shape_of(run, size), None)  # a number: it picks of so many
    if given.shape.rank is not None and given.shape.rank != 1:
        rows = given.shape.rank > 1 and axis is MISSING and replace is True and p is None
        return array(Shape((*shape_of(run, size).items, *given.shape.items[1:])) if rows else ANY, given.dtype)
    return array(shape_of(run, size), given.dtype)


def _permutation(run: Interpreter, x: Value, axis: Value = 0, *, out: Value = None) -> Value:
    return run.each(x, lambda one: _permuted(run, one))


def _permuted(run: Interpreter, x: Value) -> Value:
    if is_int(x):
        made = array(Shape((x,)), INT64)
        made.numbers = indexes.drawn(0, x)
        return made
    if isinstance(x, Unknown):
        return array(shape_of(run, x), INT64) if x.type == "int" else run.unknown("an order by chance")
    given = as_array(run, x).type
    return array(given.shape, given.dtype)


def _shuffle(run: Interpreter, x: Value, axis: Value = 0) -> Value:
    if not isinstance(x, Tensor):
        run.call(run.program.library(run, "random.shuffle"), (x,))
    return None


def _seed(run: Interpreter, seed: Value = None) -> Value:
    return None


def _set_state(run: Interpreter, state: Value) -> Value:
    return None


def _multivariate(
    run: Interpreter,
    mean: Value,
    cov: Value,
    size: Value = None,
    check_valid: Value = "warn",
    tol: Value = 1e-08,
    *,
    method: Value = "svd",
) -> Value:
    shape = as_array(run, mean).type.shape
    if shape.rank is None:
        return array(ANY, FLOAT64)
    return array(Shape((*shape_of(run, size).items, *shape.items)), FLOAT64)


def _parts(run: Interpreter, shares: Value, size: Value, dtype: DType) -> Value:
    """``(k)`` shares for each draw."""
    if is_hidden(shares):
        return array(ANY, dtype)
    return array(Shape((*shape_of(run, size).items, *as_array(run, shares).type.shape.items[-1:])), dtype)


def _dirichlet(run: Interpreter, alpha: Value, size: Value = None) -> Value:
    return _parts(run, alpha, size, FLOAT64)


def _multinomial(run: Interpreter, n: Value, pvals: Value, size: Value = None) -> Value:
    return _parts(run, pvals, size, INT64)


_METHODS: Final[dict[str, Work]] = {
    **{name: _drawn(name, parameters, FLOAT64) for name, parameters in _FLOATS.items()},
    **{name: _drawn(name, parameters, INT64) for name, parameters in _INTS.items()},
    "rand": _fractions,
    "randn": _of_dims,
    "choice": _choice,
    "permutation": _permutation,
    "permuted": _permutation,
    "dirichlet": _dirichlet,
    "multinomial": _multinomial,
    "shuffle": _shuffle,
    "seed": _seed,
    "set_state": _set_state,
    "multivariate_normal": _multivariate,
}


def _of_generator(name: str) -> Work:
    """The same as a method; its object comes first."""
    return lambda run, args, kwargs: run.call(NATIVES[f"numpy.random.{name}"], args[1:], kwargs)


for _name, _work in _METHODS.items():
    native(f"numpy.random.{_name}")(_work)
library_class("numpy.random.Generator", methods={name: _of_generator(name) for name in _METHODS})
library_class(
    "numpy.random.RandomState", ("numpy.random.Generator",), make=lambda run, cls, args, kwargs: Instance(cls)
)


@model("numpy.random.default_rng")
def _default_rng(run: Interpreter, seed: Value = None) -> Value:
    return Instance(run.program.library_class("numpy.random.Generator"))
