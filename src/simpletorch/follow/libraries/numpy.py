"""``numpy``: functions, and the methods and operators of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simpletorch.follow import branches, tensors
from simpletorch.follow.libraries import (  # noqa: F401
    METHODS,
    NATIVES,
    VALUES,
    Work,
    by_name,
    gives,
    jax,
    library_class,
    native,
    numpy_algebra,
    numpy_edits,
    numpy_files,
    numpy_fourier,
    numpy_grids,
    numpy_joins,
    numpy_random,
    numpy_statistics,
)
from simpletorch.follow.libraries.arrays import (
    ANY,
    NAMES,
    STRUCTURED,
    Strong,
    argument,
    array,
    as_array,
    as_dtype,
    as_tensor,
    by_rule,
    floating,
    is_hidden,
    is_structured,
    is_vague,
    only_float,
    promote,
    reduced,
    shape_of,
    write_into,
)
from simpletorch.follow.marks import gradients, mixed, sparsity
from simpletorch.follow.numbers import indexes, sizes
from simpletorch.follow.values import BoundNative, Choice, List, Native, Tensor, Unknown, Value, is_int, is_known
from simpletorch.rules import Report
from simpletorch.rules.core.dtype import (
    BOOL,
    BY_TORCH_NAME,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT64,
    DType,
)
from simpletorch.shapes import UNKNOWN, Expr, Item, Shape, at_least

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

VALUES.update({f"numpy.{name}": getattr(math, name) for name in ("pi", "e", "inf", "nan")})
VALUES.update({"numpy.newaxis": None, "numpy.Inf": math.inf, "numpy.NaN": math.nan})
VALUES.update(
    {f"numpy.{name}": dtype for name, dtype in NAMES.items() if name not in ("int", "float", "complex", "bool")}
)
VALUES["numpy.bool"] = BOOL
library_class("numpy.ndarray")
_ARRAY: Final = METHODS.setdefault("array", {})


_FIELDS: Final = "an array whose elements have fields"


def both(*names: str) -> Callable[[Work], Work]:
    """Register ``numpy.name`` and the arrays' method of the same name."""

    def register(work: Work) -> Work:
        for name in names:
            native(f"numpy.{name}")(work)
            _ARRAY[name] = work
        return work

    return register


# -- made of sizes and values ----------------------------------------------------------------------------------------


def _filled(place: int) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        dtype = argument(run, args, kwargs, place, "dtype")
        if is_structured(run, dtype):
            return run.unknown(_FIELDS)
        default: DType | None = FLOAT64
        if place == 2 and dtype is None:
            default = as_array(run, argument(run, args, kwargs, 1, "fill_value")).type.dtype
        return array(shape_of(run, argument(run, args, kwargs, 0, "shape")), as_dtype(dtype, default))

    return work


def _alike(place: int) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        named = argument(run, args, kwargs, place, "dtype")
        if is_structured(run, named):
            return run.unknown(_FIELDS)
        like = as_array(run, args[0]).type
        dtype = as_dtype(named, like.dtype)
        shape = kwargs.get("shape")
        return array(like.shape if shape is None else shape_of(run, shape), dtype)

    return work


for _name in ("zeros", "ones", "empty"):
    native(f"numpy.{_name}")(_filled(1))
    native(f"numpy.{_name}_like")(_alike(1))
native("numpy.full")(_filled(2))
native("numpy.full_like")(_alike(2))


@native("numpy.from_dlpack")
def _from_dlpack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            gradients.to_numpy(run, value)
        return as_array(run, jax.as_tensor(value) or value)

    return run.each(args[0] if args else kwargs.get("x"), one)


@native("numpy.array", "numpy.asarray", "numpy.ascontiguousarray", "numpy.asfarray")
def _make_array(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def one(value: Value) -> Value:
        value = sparsity.as_dense(value)
        if isinstance(value, Tensor):
            gradients.to_numpy(run, value)
        dtype = argument(run, args, kwargs, 1, "dtype")
        if is_structured(run, dtype):
            return run.unknown(_FIELDS)
        source = as_array(run, value)
        given = source.type
        if given.dtype is None and (dtype == "c" or isinstance(dtype, Unknown)):
            return array(ANY, None)  # of letters: each text is a row
        made = array(given.shape, as_dtype(dtype, given.dtype))
        indexes.follow(run, "numpy.clone", (source,), {}, made)
        return made

    return run.each(args[0], one)


@native("numpy.asanyarray")
def _keep_matrix(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """As ``numpy.asarray``, but a matrix stays one."""
    return args[0] if sparsity.matrix_of(run.resolve(args[0])) else _make_array(run, args, kwargs)


@native("numpy.dtype")
def _dtype(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    named = run.resolve(args[0])
    return as_dtype(named) or run.unknown("a dtype", STRUCTURED if is_structured(run, named) else None)


@native("numpy.arange")
def _arange(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = [run.resolve(a) for a in args[:3]]
    start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given, *(None, None, None))[:3]
    start, stop, step = (
        run.resolve(kwargs.get(name, now)) for name, now in (("start", start), ("stop", stop), ("step", step))
    )
    numbers = [0 if start is None else start, stop, 1 if step is None else step]
    kinds = {branches.type_name(v) for v in numbers}
    dtype = FLOAT64 if "float" in kinds else INT64 if kinds == {"int"} else None
    named = argument(run, args, kwargs, 3, "dtype")
    made = array(Shape((_steps(*(sizes.named(run, v) for v in numbers)),)), as_dtype(named, dtype))
    indexes.follow(run, "numpy.arange", tuple(numbers), {}, made)
    return made


def _steps(start: Value, stop: Value, step: Value) -> Item:
    """How many numbers there are from ``start`` on, before ``stop``."""
    if isinstance(stop, Expr) and is_int(start) and step == 1:
        return stop - start if start == 0 or at_least(stop, start) else UNKNOWN
    if not all(isinstance(v, int | float) for v in (start, stop, step)) or step == 0:
        return UNKNOWN
    count: int = math.ceil((stop - start) / step)
    return max(0, count)


def _is_number(value: Value) -> bool:
    """Whether a value is one number, in an array or not."""
    if isinstance(value, Tensor):
        return value.type.shape.rank == 0
    return branches.type_name(value) in ("int", "float", "bool") or is_int(value)


@native("numpy.linspace", "numpy.logspace", "numpy.geomspace")
def _linspace(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    count = argument(run, args, kwargs, 2, "num")
    ends = [argument(run, args, kwargs, i, n) for i, n in enumerate(("start", "stop"))]
    dtype = as_dtype(run.resolve(kwargs.get("dtype")), FLOAT64)
    if kwargs.get("retstep") or not all(map(_is_number, ends)):
        return run.unknown("what linspace gives") if kwargs.get("retstep") else array(ANY, dtype)
    return array(shape_of(run, 50 if count is None else count), dtype)


@native("numpy.hanning", "numpy.hamming", "numpy.blackman", "numpy.bartlett", "numpy.kaiser")
def _window(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(n)`` numbers of a window."""
    return array(Shape((sizes.named_dim(run, argument(run, args, kwargs, 0, "M")),)), FLOAT64)


@native("numpy.eye", "numpy.tri")
def _eye(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = [argument(run, args, kwargs, i, *names) for i, names in enumerate((("N", "n"), ("M",)))]
    rows, columns = (v if is_int(v) else UNKNOWN for v in given)
    return array(Shape((rows, rows if given[1] is None else columns)),
                 as_dtype(argument(run, args, kwargs, 3, "dtype"), FLOAT64))  # fmt: skip


@native("numpy.indices")
def _indices(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(rank, *dimensions)``"""
    dims = shape_of(run, argument(run, args, kwargs, 0, "dimensions"))
    if dims.rank is None or len(args) > 2 or kwargs.get("sparse"):
        return run.unknown("a grid of unknown size")
    return array(Shape((dims.rank, *dims.items)), as_dtype(argument(run, args, kwargs, 1, "dtype"), INT64))


@native("numpy.identity")
def _identity(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    size = argument(run, args, kwargs, 0, "n")
    rows = size if is_int(size) else UNKNOWN
    return array(Shape((rows, rows)), as_dtype(argument(run, args, kwargs, 1, "dtype"), FLOAT64))


@native("numpy.meshgrid")
def _meshgrid(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    rows = [as_array(run, a) for a in args]
    flat = [by_rule(run, "torch.flatten", (r,)) for r in rows]
    found = by_rule(run, "torch.meshgrid", flat, {"indexing": kwargs.get("indexing", "xy")})
    if not isinstance(found, tuple) or kwargs.get("sparse") or not all(isinstance(v, Tensor) for v in found):
        return run.unknown("what meshgrid gives")
    return List(tuple(array(v.type.shape, r.type.dtype) for v, r in zip(found, rows, strict=True)))


# -- one number at a time --------------------------------------------------------------------------------------------

_OF_FLOATS: Final = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "cbrt", "deg2rad", "rad2deg", "radians", "degrees",
)  # fmt: skip
_SIZED: Final = ("abs", "absolute")
_KEEPING: Final = ("negative", "positive", "sign", "conj", "conjugate", "nan_to_num", "invert", "bitwise_not")
_ROUNDING: Final = ("floor", "ceil", "rint", "trunc", "fix")
_TESTS: Final = ("iscomplex", "isreal", "isnan", "isinf", "isfinite", "logical_not", "isneginf", "isposinf", "signbit")
_IN_MATH: Final = {n: getattr(math, n.replace("arc", "a")) for n in _OF_FLOATS if hasattr(math, n.replace("arc", "a"))}
_IN_MATH.update(floor=lambda v: float(math.floor(v)), ceil=lambda v: float(math.ceil(v)))
_ASKED: Final = {n: getattr(math, n) for n in ("isnan", "isinf", "isfinite")}


def _each(name: str, kind: Callable[[DType | None], DType | None]) -> Work:
    def one(run: Interpreter, value: Value) -> Value:
        if isinstance(value, int | float) and name in _ASKED:
            return bool(_ASKED[name](value))
        if isinstance(value, int | float) and not isinstance(value, bool) and name in _IN_MATH:
            try:
                return Strong(_IN_MATH[name](value))
            except (ValueError, OverflowError):
                return array(Shape(()), FLOAT64)
        if isinstance(value, Expr):
            return array(Shape(()), kind(INT64))
        if isinstance(value, Tensor) and not value.array and value.type.shape.rank != 0:
            return run.unknown("what NumPy makes of a tensor")
        if isinstance(value, Unknown) and value.type is None:
            return run.unknown(f"what numpy.{name} gives")
        given = as_array(run, value).type
        return array(given.shape, kind(given.dtype))

    return lambda run, args, kwargs: run.each(args[0], lambda v: one(run, v)) if args else run.unknown("an array")


def _rounded(dtype: DType | None) -> DType | None:
    return only_float(dtype)  # ints stay ints since NumPy 2.1


for _name in _OF_FLOATS:
    native(f"numpy.{_name}")(_each(_name, floating))


def _size(dtype: DType | None) -> DType | None:
    """The dtype of how large numbers are."""
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(dtype, dtype) if dtype is not None else None


for _name in _SIZED:
    native(f"numpy.{_name}")(_each(_name, _size))
native("numpy.angle")(_each("angle", lambda d: _size(d) if d in (COMPLEX64, COMPLEX128, FLOAT32, FLOAT64) else None))
for _name in ("real", "imag"):
    native(f"numpy.{_name}")(_each(_name, _size))
for _name in ("sinc", "i0", "unwrap"):  # versions agree on doubles only
    native(f"numpy.{_name}")(_each(_name, lambda d: d if d == FLOAT64 else None))
for _name in _KEEPING:
    native(f"numpy.{_name}")(_each(_name, lambda d: d))
native("numpy.square")(_each("square", lambda d: None if d == BOOL else d))
for _name in _ROUNDING:
    native(f"numpy.{_name}")(_each(_name, _rounded))
for _name in _TESTS:
    native(f"numpy.{_name}")(_each(_name, lambda d: BOOL))


@both("clip", "round")
def _clip(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0]).type
    return array(given.shape, only_float(given.dtype))


native("numpy.reciprocal")(_each("reciprocal", lambda d: None if d == BOOL else d))
native("numpy.around")(NATIVES["numpy.round"].work)


# -- operators -------------------------------------------------------------------------------------------------------

_COMPARISONS: Final = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_ARITHMETIC: Final = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)
_PLAIN: Final = {f"__{p}{n}__": n for n in _ARITHMETIC for p in ("", "r", "i")}


def array_operation(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """An operation that has an array among its operands, by the name of the tensors' one."""
    method = name.removeprefix("Tensor.")
    first = args[0]
    if name.startswith("einops.") and isinstance(first, Tensor):
        return by_rule(run, name, args, kwargs, first.type.dtype)
    if not name.startswith("Tensor.") or not isinstance(first, Tensor):
        return run.unknown(f"what {name} makes of an array")
    if not first.array:
        return _on_tensor(run, name, args, kwargs)
    if method == "__getitem__":
        return _item(run, first, args[1])
    if method == "__setitem__":
        return _put(run, first, args[1], run.resolve(args[2]))
    if method in ("__bool__", "__contains__"):
        return run.unknown("a number of an array", "bool", "data")
    if method in ("__float__", "__int__", "__index__"):
        return run.unknown("a number of an array", "float" if method == "__float__" else "int", "data")
    if method == "__len__":
        shape = first.type.shape
        size = shape.dim(0) if shape.min_rank else UNKNOWN
        return run.unknown("the length of an array", "int", "data") if size is UNKNOWN else size
    if method in ("__neg__", "__pos__", "__abs__", "__invert__"):
        return array(first.type.shape, first.type.dtype)
    return _binary(run, method, first, args[1]) if len(args) == 2 else run.unknown(f"what {method} gives")


def _on_tensor(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """An operation of a tensor's that gets an array: an index, or a number."""
    if name in ("Tensor.__getitem__", "Tensor.__setitem__"):
        return tensors.by_rule(run, name, (args[0], *map(as_tensor, args[1:])), kwargs)
    number = args[1]
    if len(args) == 2 and isinstance(number, Tensor) and number.array and number.type.shape.rank == 0:
        kind = number.type.dtype.category if number.type.dtype is not None else None
        return tensors.by_rule(run, name, (args[0], run.unknown("a number of an array", kind, "data")), kwargs)
    return run.unknown("what a tensor and an array give")


def _index(run: Interpreter, index: Value) -> Value:
    """An index as torch takes it, None where nothing is known of it."""
    if isinstance(index, tuple):
        parts = [_index(run, p) if p is not None else ... for p in index]
        return (
            None
            if any(p is None for p in parts)
            else tuple(None if i is None else p for i, p in zip(index, parts, strict=True))
        )
    if isinstance(index, range):
        return as_array(run, index)
    if isinstance(index, List):
        # `where` of an array of unknown rank gives a tuple of unknown length
        return None if index.items is None and isinstance(index.item, Tensor) else as_array(run, index)
    if isinstance(index, slice) and isinstance(index.step, int) and index.step < 0:
        whole = index.start is None and index.stop is None  # as many items as in the other direction
        return slice(None, None, -index.step) if whole else slice(0, run.unknown("where a slice ends", "int", "data"))
    return None if isinstance(index, Unknown) and index.type != "int" else index


def _item(run: Interpreter, owner: Tensor, index: Value) -> Value:
    found = _index(run, index) if index is not None else (None,)
    if found is None:
        return run.unknown("an item of an array")
    return by_rule(run, "Tensor.__getitem__", (owner, found), {}, owner.type.dtype)


def _put(run: Interpreter, owner: Tensor, index: Value, value: Value) -> Value:
    found = _index(run, index) if index is not None else (None,)
    if found is not None and not is_vague(value):
        by_rule(run, "Tensor.__setitem__", (owner, found, as_array(run, value)))
    return None


def _binary(run: Interpreter, method: str, left: Tensor, right: Value) -> Value:
    """``left <operator> right``; of mirrored operators the right operand comes first."""
    if isinstance(right, Tensor) and not right.array:
        return run.unknown("what an array and a tensor give")
    if isinstance(right, Unknown) and right.type not in ("int", "float", "bool"):
        return run.unknown("what an array and an unknown value give")
    if isinstance(right, List | tuple | range):
        right = as_array(run, right)
    if right is None or isinstance(right, str):
        return run.unknown("how an array compares")
    in_place = method in _PLAIN and method.startswith("__i") and method != "__invert__"
    dtype = left.type.dtype if in_place else _dtype_of(method, left, right)
    rule = f"Tensor.{method}" if method in _COMPARISONS else f"Tensor.__{_PLAIN.get(method, 'add')}__"
    if method not in _COMPARISONS and method not in _PLAIN:
        return run.unknown(f"what {method} gives")
    mirrored = method.startswith("__r") and method != "__rshift__" and isinstance(right, Tensor)
    if rule not in ("Tensor.__matmul__", *(f"Tensor.{c}" for c in _COMPARISONS)):
        rule = "Tensor.__add__"  # of all of them the shapes are the same
    operands = (right, left) if mirrored else (left, right)
    return by_rule(run, rule, operands, {}, dtype)


def _dtype_of(method: str, left: Tensor, right: Value) -> DType | None:
    if method in _COMPARISONS:
        return BOOL
    dtype = promote((left, right))
    kind = _PLAIN.get(method)
    if kind == "truediv" and dtype is not None and dtype.category in ("bool", "int"):
        return FLOAT64
    return None if dtype == BOOL and kind not in ("and", "or", "xor", "add", "mul") else dtype


_FUNCTIONS: Final = {
    "add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__",
    "true_divide": "__truediv__", "floor_divide": "__floordiv__", "mod": "__mod__", "remainder": "__mod__",
    "power": "__pow__", "matmul": "__matmul__",
    "equal": "__eq__", "not_equal": "__ne__", "less": "__lt__", "less_equal": "__le__", "greater": "__gt__",
    "greater_equal": "__ge__", "bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__",
}  # fmt: skip
for _name, _operator in _FUNCTIONS.items():
    native(f"numpy.{_name}")(
        lambda run, args, kwargs, o=_operator: _binary(run, o, as_array(run, args[0]), args[1])  # type: ignore[misc]
        if len(args) == 2 and not is_vague(run.resolve(args[0])) else run.unknown("what NumPy gives")
    )  # fmt: skip


def _pairwise(dtype: Callable[[DType | None], DType | None]) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        left, right = (run.resolve(a) for a in args[:2])
        if all(is_known(v) and isinstance(v, int | float) for v in (left, right)):
            return array(Shape(()), dtype(promote((as_array(run, left), as_array(run, right)))))
        if is_vague(left) or is_vague(right):
            return run.unknown("what NumPy gives")
        rows = [v if isinstance(v, int | float) else as_array(run, v) for v in (left, right)]
        first = rows[0] if isinstance(rows[0], Tensor) else as_array(run, rows[0])
        return by_rule(run, "Tensor.__add__", (first, rows[1]), {}, dtype(promote(rows)))

    return work


for _name in ("maximum", "minimum", "fmax", "fmin", "fmod", "left_shift", "right_shift"):
    native(f"numpy.{_name}")(_pairwise(lambda d: d))
for _name in ("arctan2", "hypot", "logaddexp", "logaddexp2"):
    native(f"numpy.{_name}")(_pairwise(floating))
for _name in ("copysign", "nextafter", "heaviside"):
    native(f"numpy.{_name}")(_pairwise(lambda d: FLOAT64 if d in (INT64, FLOAT64) else None))
for _name in ("logical_and", "logical_or", "logical_xor", "isclose"):
    native(f"numpy.{_name}")(_pairwise(lambda d: BOOL))


@native("numpy.where")
def _where(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    condition = as_array(run, args[0])
    if len(args) == 1:
        return _nonzero(run, (condition,), {})
    rows = [v if isinstance(v, int | float) else as_array(run, v) for v in map(run.resolve, args[1:3])]
    if any(isinstance(v, Tensor) and v.type.shape == ANY for v in rows):
        return array(ANY, None)
    shaped = by_rule(run, "Tensor.__add__", (condition, rows[0]))
    if not isinstance(shaped, Tensor):
        return shaped
    strong = rows if any(isinstance(v, Tensor) for v in rows) else [as_array(run, v) for v in rows]
    return by_rule(run, "Tensor.__add__", (shaped, rows[1]), {}, promote(strong))


@both("nonzero")
def _nonzero(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    rank = given.type.shape.rank
    if rank is None:
        return List(None, array(Shape((UNKNOWN,)), INT64))
    if rank == 0:
        return run.report(Report("nonzero", "shape", "NumPy gives no places of a number, only of an array with dims",
                                 {"a": given.type}, hint="np.atleast_1d(a)"))  # fmt: skip
    return tuple(array(Shape((UNKNOWN,)), INT64) for _ in range(rank))


# -- along an axis ---------------------------------------------------------------------------------------------------


def _summed(dtype: DType | None) -> DType | None:
    if dtype is None or dtype.category in ("float", "complex"):
        return dtype
    return BY_TORCH_NAME["uint64"] if dtype.unsigned else INT64


def _averaged(dtype: DType | None) -> DType | None:
    if dtype is None or dtype.category == "float":
        return dtype
    return None if dtype.category == "complex" else FLOAT64


_REDUCTIONS: Final[dict[str, tuple[str, Callable[[DType | None], DType | None]]]] = {
    "sum": ("torch.sum", _summed), "nansum": ("torch.sum", _summed), "prod": ("torch.sum", _summed),
    "mean": ("torch.sum", _averaged), "nanmean": ("torch.sum", _averaged), "std": ("torch.sum", _averaged),
    "var": ("torch.sum", _averaged), "nanstd": ("torch.sum", _averaged), "median": ("torch.sum", _averaged),
    "max": ("torch.sum", lambda d: d), "min": ("torch.sum", lambda d: d), "amax": ("torch.sum", lambda d: d),
    "amin": ("torch.sum", lambda d: d), "nanmax": ("torch.sum", lambda d: d), "nanmin": ("torch.sum", lambda d: d),
    "ptp": ("torch.sum", lambda d: d), "any": ("torch.sum", lambda d: BOOL), "all": ("torch.sum", lambda d: BOOL),
    "argmax": ("torch.argmax", lambda d: INT64), "argmin": ("torch.argmax", lambda d: INT64),
    "count_nonzero": ("torch.sum", lambda d: INT64), "nanmedian": ("torch.sum", _averaged),
    "nanvar": ("torch.sum", _averaged), "nanprod": ("torch.sum", _summed),
    "nanargmax": ("torch.argmax", lambda d: INT64), "nanargmin": ("torch.argmax", lambda d: INT64),
}  # fmt: skip


def _reduction(name: str, rule: str, kind: Callable[[DType | None], DType | None]) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        source = run.resolve(args[0])
        if isinstance(source, Choice):
            return run.each(source, lambda v: work(run, (v, *args[1:]), kwargs))
        axis = argument(run, args, kwargs, 1, "axis")
        if name == "prod" and axis is None and not isinstance(source, Tensor):
            found = _product(run, source)
            if found is not None:
                return found
        if is_vague(source):
            return run.unknown(f"what numpy.{name} gives")
        given = as_array(run, source)
        dtype = as_dtype(run.resolve(kwargs.get("dtype")), kind(given.type.dtype))
        keep = run.resolve(kwargs.get("keepdims", False))
        return reduced(run, given, axis, keep if isinstance(keep, Unknown) else keep is True, dtype, rule)

    return work


def _product(run: Interpreter, source: Value) -> Value:
    """``np.prod`` of sizes: the int that it is."""
    items = run.items(source) if isinstance(source, tuple | List) else None
    if items is None or not all(is_int(v) or (isinstance(v, Unknown) and v.type == "int") for v in items):
        return None
    if not items:
        return Strong(1.0)
    return run.call(run.program.library(run, "math.prod"), (items,))


for _name, (_rule, _kind) in _REDUCTIONS.items():
    both(_name)(_reduction(_name, _rule, _kind))


@native("numpy.nancumsum", "numpy.nancumprod")
@both("cumsum", "cumprod")
def _cumulated(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    axis = argument(run, args, kwargs, 1, "axis")
    dtype = as_dtype(run.resolve(kwargs.get("dtype")), _summed(given.type.dtype))
    if axis is None:
        return by_rule(run, "torch.flatten", (given,), {}, dtype)
    return by_rule(run, "torch.cumsum", (_at_least_1d(given), axis), {}, dtype)


def _at_least_1d(given: Tensor) -> Tensor:
    return array(Shape((1,)), given.type.dtype) if given.type.shape.rank == 0 else given


@native("numpy.sort")
def _sorted(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    if "axis" in kwargs and run.resolve(kwargs["axis"]) is None:
        return by_rule(run, "torch.flatten", (given,), {}, given.type.dtype)
    return array(given.type.shape, given.type.dtype)


@both("argsort")
def _argsort(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = _at_least_1d(as_array(run, args[0]))
    if "axis" in kwargs and run.resolve(kwargs["axis"]) is None:
        return by_rule(run, "torch.flatten", (given,), {}, INT64)
    return array(given.type.shape, INT64)


_ARRAY["sort"] = lambda run, args, kwargs: None


gives("numpy.memmap")


@native("numpy.vectorize")
def _vectorized(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A function of numbers as one of arrays, which are broadcast."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        whole: Value = as_array(run, args[0]) if args and not is_vague(run.resolve(args[0])) else None
        for one in args[1:]:
            vague = is_vague(run.resolve(one))
            whole = None if vague or whole is None else by_rule(run, "Tensor.__add__", (whole, as_array(run, one)))
        plain = isinstance(whole, Tensor) and not signature and not kwargs
        return array(whole.type.shape, None) if plain else run.unknown("what a vectorized function gives")

    signature = "signature" in kwargs
    return Native("numpy.vectorize", work)


@native("numpy.unique")
def _unique(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(*n) -> (k)``; if asked for: where each is ``(k)``, which each item is ``(*n)``, how many there are ``(k)``."""
    given = by_name("ar return_index return_inverse return_counts axis", args, kwargs)
    asked = [run.resolve(given.get(f"return_{name}", False)) for name in ("index", "inverse", "counts")]
    if run.resolve(given.get("axis")) is not None or not all(isinstance(a, bool) for a in asked):
        return run.unknown("what unique() gives")
    source = as_array(run, given["ar"])
    several = Shape((run.some_size(0),))
    inverse = source.type.shape if source.type.shape.rank == 1 else ANY  # of others, versions give other shapes
    shapes = (several, inverse, several)
    parts = tuple(array(shape, INT64) for shape, wanted in zip(shapes, asked, strict=True) if wanted)
    values = array(several, source.type.dtype)
    return (values, *parts) if parts else values


@native("numpy.isin", "numpy.in1d")
def _is_in(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return array(as_array(run, args[0]).type.shape, BOOL)


@native("numpy.digitize")
def _bins(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(*m), (n) -> (*m)``"""
    return array(as_array(run, args[0]).type.shape, INT64) if args else run.unknown("places in an array")


@native("numpy.searchsorted")
def _places(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(n), (*m) -> (*m)``"""
    looked_up = args[1] if len(args) > 1 else kwargs.get("v")
    if looked_up is None:
        return run.unknown("places in an array")
    return array(as_array(run, looked_up).type.shape, INT64)


@native("numpy.copyto")
def _copy_to(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    target, source = run.resolve(args[0]), run.resolve(args[1])
    if isinstance(target, Tensor) and target.array:
        return _put(run, target, ..., source)
    return None


@native("numpy.argwhere")
def _argwhere(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    rank = as_array(run, args[0]).type.shape.rank
    return array(Shape((UNKNOWN, UNKNOWN if rank is None else rank)), INT64)


@native("numpy.pad")
def _pad(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given, width = as_array(run, args[0]).type, run.resolve(argument(run, args, kwargs, 1, "pad_width"))
    rank = given.shape.rank
    if rank is None:
        return array(ANY, given.dtype)
    rows = _widths(run, width, rank)
    if rows is None:
        return array(Shape((UNKNOWN,) * rank), given.dtype)
    dims = [
        d if d is UNKNOWN else run.operate("__add__", d, a + b)
        for d, (a, b) in zip(given.shape.dims, rows, strict=True)
    ]
    return array(Shape(tuple(dims)), given.dtype)


def _widths(run: Interpreter, width: Value, rank: int) -> list[tuple[int, int]] | None:
    """How much is put before and after each dim, None where that isn't known."""
    if isinstance(width, int):
        return [(width, width)] * rank
    rows = run.items(width) if isinstance(width, tuple | List) else None
    if rows is not None and len(rows) == 2 and all(isinstance(v, int) for v in rows):
        return [(rows[0], rows[1])] * rank
    pairs = [run.items(r) if isinstance(r, tuple | List) else None for r in rows or ()]
    known = [(p[0], p[1]) for p in pairs if p is not None and len(p) == 2 and all(isinstance(v, int) for v in p)]
    return known if len(known) == len(pairs) == rank else None


gives("numpy.allclose numpy.array_equal", "bool", "data")
native("numpy.set_printoptions", "numpy.seterr")(lambda run, args, kwargs: None)


# -- of another shape ------------------------------------------------------------------------------------------------


_SECOND: Final = frozenset({"repeats", "reps", "axes", "shift", "indices_or_sections"})
"""What some functions call their second argument."""


def _shaped(rule: str, *, axis: str | None = None, spread: bool = False) -> Work:
    """A function and method that torch has with the same arguments, but for the name of one."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        source = run.resolve(args[0])
        if isinstance(source, Choice):
            return run.each(source, lambda v: work(run, (v, *args[1:]), kwargs))
        if is_vague(source) or (kwargs.keys() - {"axis"} and not (args[1:] or kwargs.keys() & _SECOND)):
            return run.unknown("an array made of what isn't known")
        args = (*args, *(v for k, v in kwargs.items() if k in _SECOND))
        given, rest = as_array(run, source), tuple(map(run.resolve, args[1:]))
        if axis is not None and "axis" in kwargs:
            rest = (*rest, run.resolve(kwargs["axis"]))
        if spread and len(rest) > 1 and all(is_int(v) or isinstance(v, Unknown) for v in rest):
            rest = (rest,)
        if any(map(is_hidden, rest)):
            return array(ANY, given.type.dtype)
        return by_rule(run, rule, (given, *rest), {}, given.type.dtype)

    return work


@both("reshape")
def _reshape(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = run.resolve(args[0])
    named = next((kwargs[n] for n in ("newshape", "shape") if n in kwargs), None)
    rest = tuple(map(run.resolve, args[1:] if named is None else (named,)))
    rest = tuple(v for v in rest if not isinstance(v, str))
    if any(map(is_hidden, (source, *rest))):
        return run.unknown("an array of a shape that isn't known")
    given = as_array(run, source)
    made = by_rule(run, "Tensor.reshape", (given, *rest), {}, given.type.dtype)
    mixed.check(run, "Tensor.reshape", given, made)
    return made


both("ravel", "flatten")(lambda run, args, kwargs: _shaped("torch.flatten")(run, args[:1], {}))
both("squeeze")(_shaped("torch.squeeze", axis="axis"))
both("swapaxes")(_shaped("torch.swapaxes"))
both("repeat")(_shaped("torch.repeat_interleave", axis="axis"))
for _name, _rule in {"moveaxis": "movedim", "broadcast_to": "broadcast_to", "tile": "tile", "roll": "roll",
                     "diag": "diag", "fliplr": "fliplr", "flipud": "flipud", "rot90": "rot90"}.items():  # fmt: skip
    native(f"numpy.{_name}")(_shaped(f"torch.{_rule}", axis="axis" if _name == "roll" else None))


@native("numpy.triu", "numpy.tril")
def _triangle(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, run.resolve(args[0])).type
    rows = given.shape.items if given.shape.rank == 1 else ()  # one row is repeated
    return array(Shape((*rows, *given.shape.items)), given.dtype)


@native("numpy.permute_dims")
@both("transpose")
def _transpose(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    axes = args[1:] if "axes" not in kwargs else (kwargs["axes"],)
    if not axes or run.resolve(axes[0]) is None:
        shape = given.type.shape
        return array(Shape(tuple(reversed(shape.items))), given.type.dtype)
    order = run.items(axes[0]) if len(axes) == 1 else axes
    return (
        array(ANY, given.type.dtype)
        if order is None
        else by_rule(run, "torch.permute", (given, order), {}, given.type.dtype)
    )


@native("numpy.expand_dims")
def _expand_dims(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given, axis = as_array(run, args[0]), argument(run, args, kwargs, 1, "axis")
    places, rank = axis if isinstance(axis, tuple) else (axis,), given.type.shape.rank
    if not all(type(p) is int for p in places) or (len(places) > 1 and rank is None):
        return array(ANY, given.type.dtype)
    if len(places) == 1:
        return by_rule(run, "torch.unsqueeze", (given, *places), {}, given.type.dtype)
    found: Value = given
    for place in sorted(p % ((rank or 0) + len(places)) for p in places):
        found = by_rule(run, "torch.unsqueeze", (found, place), {}, given.type.dtype)
    return found


@both("diagonal")
def _diagonal(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    named = by_name("a offset axis1 axis2", args, kwargs)
    places = [run.resolve(named.get(n, d)) for n, d in (("offset", 0), ("axis1", 0), ("axis2", 1))]
    return by_rule(run, "torch.diagonal", (given, *places), {}, given.type.dtype)


@native("numpy.triu_indices_from", "numpy.tril_indices_from")
def _index_pairs(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return tuple(array(Shape((UNKNOWN,)), INT64) for _ in range(2))


def _triangle_of(rule: str) -> Work:
    """``n -> (k), (k)``: where the elements of a triangle of ``(n, m)`` are."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = by_name("n k m", args, kwargs)
        rows, by, columns = (run.resolve(given.get(n, d)) for n, d in (("n", None), ("k", 0), ("m", None)))
        found = by_rule(run, rule, (rows, rows if columns is None else columns, by))
        size = found.type.shape.dim(-1) if isinstance(found, Tensor) and found.type.shape.rank == 2 else UNKNOWN
        return tuple(array(Shape((size,)), INT64) for _ in range(2))

    return work


native("numpy.triu_indices")(_triangle_of("torch.triu_indices"))
native("numpy.tril_indices")(_triangle_of("torch.tril_indices"))


@native("numpy.matrix_transpose")
def _matrix_transposed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    return by_rule(run, "torch.transpose", (given, -2, -1), {}, given.type.dtype)


@native("numpy.flip")
def _flip(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0]).type
    return array(given.shape, given.dtype)


@native("numpy.split", "numpy.array_split")
def _split(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given, parts = as_array(run, args[0]), run.resolve(args[1])
    axis = argument(run, args, kwargs, 2, "axis")
    if not isinstance(parts, int | tuple | List) or isinstance(axis, Unknown):
        return List(None, array(ANY, given.type.dtype))
    found = by_rule(run, "torch.tensor_split", (given, parts, 0 if axis is None else axis), {}, given.type.dtype)
    return List(found) if isinstance(found, tuple) else found


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    native(f"numpy.{_name}")(_shaped(f"torch.{_name}"))


# -- products --------------------------------------------------------------------------------------------------------


@both("dot")
def _dot(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    left, right = (as_array(run, a) for a in args[:2])
    if (right.type.shape.rank or 3) > 2 or left.type.shape.rank == 0 or right.type.shape.rank == 0:
        return array(ANY, promote((left, right)))
    return by_rule(run, "torch.matmul", (left, right), {}, promote((left, right)))


def _product_of(name: str, *, flat: bool) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        rows = [as_array(run, run.resolve(a)) for a in args[:2]]
        shaped = [by_rule(run, "torch.flatten", (r,)) for r in rows] if flat else rows
        return by_rule(run, f"torch.{name}", shaped, {}, promote(rows))

    return work


@native("numpy.divmod")
def _divided(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return tuple(run.call(run.program.library(run, f"numpy.{name}"), args, kwargs) for name in ("floor_divide", "mod"))


@native("numpy.tensordot")
def _contracted(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    rows = [run.resolve(a) for a in args[:2]]
    axes = argument(run, args, kwargs, 2, "axes")
    if len(rows) < 2 or any(map(is_hidden, rows)):
        return run.unknown("what tensordot gives")
    arrays = [as_array(run, v) for v in rows]
    pair = run.items(axes) if isinstance(axes, tuple | List) else None
    if pair is not None:
        axes = tuple((v,) if is_int(v) else v for v in map(run.resolve, pair))
    return by_rule(run, "torch.tensordot", arrays, {"dims": 2 if axes is None else axes}, promote(arrays))


@native("numpy.cross")
def _crossed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    rows = [run.resolve(a) for a in args]
    if len(rows) != 2 or kwargs or any(map(is_hidden, rows)):
        return run.unknown("a product of vectors")
    arrays = [as_array(run, v) for v in rows]
    if not all(a.type.shape.rank and a.type.shape.dim(-1) == 3 for a in arrays):
        return run.unknown("a product of vectors")
    return by_rule(run, "Tensor.__add__", arrays, {}, promote(arrays))


native("numpy.outer")(_product_of("outer", flat=True))
native("numpy.inner")(_product_of("inner", flat=False))
native("numpy.kron")(_product_of("kron", flat=False))


@native("numpy.einsum")
def _einsum(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    pattern, *rows = map(run.resolve, args)
    if not isinstance(pattern, str) or any(map(is_vague, rows)):
        return run.unknown("what einsum gives")
    arrays = [as_array(run, r) for r in rows]
    return by_rule(run, "torch.einsum", (pattern, *arrays), {}, promote(arrays))


@native("numpy.linalg.norm")
def _norm(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given, axis = as_array(run, args[0]), argument(run, args, kwargs, 2, "axis")
    dtype = _averaged(given.type.dtype)
    if axis is None:
        return array(Shape(()), dtype if not kwargs.get("keepdims") else None)
    keep = run.resolve(kwargs.get("keepdims", False)) is True
    return by_rule(run, "torch.sum", (given,), {"dim": axis, "keepdim": keep}, dtype)


@native("numpy.linalg.det")
def _det(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = as_array(run, args[0])
    return by_rule(run, "torch.linalg.det", (given,), {}, floating(given.type.dtype))


# -- attributes and methods ------------------------------------------------------------------------------------------


def array_attribute(run: Interpreter, value: Tensor, name: str) -> Value:
    """An attribute of an array that isn't its type's."""
    if name == "size":
        out: Value = 1
        for d in run.attribute(value, "shape") if value.type.shape.is_exact else ():
            out = run.operate("__mul__", out, d)
        return out if value.type.shape.is_exact else run.unknown("the size of an array", "int", "data")
    if name == "T":
        return _transpose(run, (value,), {})
    if name in ("real", "imag"):
        parts = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
        dtype = value.type.dtype
        return array(value.type.shape, parts.get(dtype, dtype) if dtype is not None else None)
    if name in ("itemsize", "nbytes"):
        return run.unknown("the bytes of an array", "int", "data")
    return BoundNative(name, value) if name in _ARRAY else run.unknown(f".{name} of an array")


@native("numpy.copy")
def _copy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    source = as_array(run, args[0])
    made = array(source.type.shape, source.type.dtype)
    indexes.follow(run, "numpy.clone", (source,), {}, made)
    return made


def _astype(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    dtype = argument(run, args, kwargs, 1, "dtype")
    if is_structured(run, dtype):
        return run.unknown(_FIELDS)
    made = array(args[0].type.shape, as_dtype(dtype))
    indexes.follow(run, "numpy.clone", (args[0],), {}, made)
    return made


native("numpy.astype")(_astype)


def _viewed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The same bytes as numbers of another dtype, of as many bits."""
    kind, dtype = args[0].type, as_dtype(argument(run, args, kwargs, 1, "dtype"))
    same = kind.dtype is not None and dtype is not None and kind.dtype.bits == dtype.bits
    return array(kind.shape, dtype) if same else run.unknown("the bytes of an array as other numbers")


def _to_lists(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return METHODS[Tensor]["tolist"](run, args, kwargs)


def _to_number(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``array.item()`` of the only number in it."""
    kind = args[0].type
    count = math.prod(kind.shape.dims) if kind.shape.is_exact and all(type(d) is int for d in kind.shape.dims) else 1
    if len(args) == 1 and not kwargs and count != 1:
        reason = f"the array has {count} elements, but it gives a number only if it has one"
        return run.report(Report("item", "shape", reason, {"input": kind}, "item(index), or .tolist()"))
    return run.unknown("a number of an array", None if kind.dtype is None else kind.dtype.category, "data")


def _resized(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``array.resize(3, 5)`` in place: what is cut off or added is the end of its memory."""
    sizes_given = tuple(run.resolve(a) for a in args[1:])
    shape = sizes_given[0] if len(sizes_given) == 1 else sizes_given
    if shape not in ((), None):
        run.heap.write(args[0].cells, "type", replace(args[0].type, shape=shape_of(run, shape)))
    return None


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


_ARRAY.update({
    "copy": _copy, "astype": _astype, "tolist": _to_lists, "item": _to_number, "fill": write_into, "setflags": _nothing,
    "tofile": _nothing, "conj": _copy, "view": _viewed, "searchsorted": _places,
    "resize": _resized,
})  # fmt: skip
