"""``numpy``: functions, and the methods and operators of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import branches, tensors
from simpletorch.follow.libraries import (  # noqa: F401
    METHODS,
    NATIVES,
    VALUES,
    Work,
    gives,
    jax,
    library_class,
    method,
    model,
    native,
    numpy_algebra,
    numpy_edits,
    numpy_files,
    numpy_fourier,
    numpy_grids,
    numpy_joins,
    numpy_random,
    numpy_statistics,
    signed,
)
from simpletorch.follow.libraries.arrays import (
    ANY,
    NAMES,
    STRUCTURED,
    Strong,
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
from simpletorch.follow.marks import gradients, sparsity
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members, often
from simpletorch.follow.numbers import indexes, sizes
from simpletorch.follow.values import (
    MISSING,
    BoundNative,
    Choice,
    List,
    Native,
    Tensor,
    Unknown,
    Value,
    is_int,
    is_known,
)
from simpletorch.rules import Report, TensorType
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
library_class("numpy.object_")
_ARRAY: Final = METHODS.setdefault("array", {})


_FIELDS: Final = "an array whose elements have fields"
_OF_TORCH: Final = "what NumPy makes of a tensor"


def both(*names: str) -> Callable[[Work], Work]:
    """Register ``numpy.name``, and the arrays' method of the same name: what the function takes behind its array."""

    def register(work: Work) -> Work:
        for name in names:
            native(f"numpy.{name}")(work)
            method("array", name)(work)
        return work

    return register


# -- made of sizes and values ----------------------------------------------------------------------------------------


def _new(run: Interpreter, shape: Shape, dtype: Value, default: DType | None) -> Value:
    return run.unknown(_FIELDS) if is_structured(run, dtype) else array(shape, as_dtype(dtype, default))


@model("numpy.zeros", "numpy.ones", "numpy.empty")
def _filled(
    run: Interpreter,
    shape: Value,
    dtype: Value = None,
    order: Value = "C",
    *,
    device: Value = None,
    like: Value = None,
) -> Value:
    return _new(run, shape_of(run, shape), dtype, FLOAT64)


@model("numpy.full")
def _full(
    run: Interpreter,
    shape: Value,
    fill_value: Value,
    dtype: Value = None,
    order: Value = "C",
    *,
    device: Value = None,
    like: Value = None,
) -> Value:
    return _new(run, shape_of(run, shape), dtype, as_array(run, fill_value).type.dtype if dtype is None else None)


@model("numpy.zeros_like", "numpy.ones_like")
def _alike(
    run: Interpreter,
    a: Value,
    dtype: Value = None,
    order: Value = "K",
    subok: Value = True,
    shape: Value = None,
    *,
    device: Value = None,
) -> Value:
    like = as_array(run, a).type
    return _new(run, like.shape if shape is None else shape_of(run, shape), dtype, like.dtype)


@model("numpy.empty_like")
def _empty_alike(
    run: Interpreter,
    prototype: Value,
    dtype: Value = None,
    order: Value = "K",
    subok: Value = True,
    shape: Value = None,
    *,
    device: Value = None,
) -> Value:
    return _alike(run, prototype, dtype, shape=shape)


@model("numpy.full_like")
def _full_alike(
    run: Interpreter,
    a: Value,
    fill_value: Value,
    dtype: Value = None,
    order: Value = "K",
    subok: Value = True,
    shape: Value = None,
    *,
    device: Value = None,
) -> Value:
    return _alike(run, a, dtype, shape=shape)


@model("numpy.from_dlpack")
def _from_dlpack(run: Interpreter, x: Value, /, *, device: Value = None, copy: Value = None) -> Value:
    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            gradients.to_numpy(run, value)
        return as_array(run, jax.as_tensor(value) or value)

    return run.each(x, one)


def _converted(run: Interpreter, source: Value, dtype: Value, ndmin: Value = 0) -> Value:
    def one(value: Value) -> Value:
        value = sparsity.as_dense(value)
        if isinstance(value, Tensor):
            gradients.to_numpy(run, value)
        if is_structured(run, dtype):
            return run.unknown(_FIELDS)
        given = as_array(run, value)
        if given.type.dtype is None and (dtype == "c" or isinstance(dtype, Unknown)):
            return array(ANY, None)  # of letters: each text is a row
        made = array(_of_rank(given.type.shape, ndmin), as_dtype(dtype, given.type.dtype))
        indexes.follow(run, "torch.clone", (given,), {}, made)
        return made

    return run.each(source, one)


def _of_rank(shape: Shape, least: Value) -> Shape:
    """A shape with so many dims at least: those that lack come first, and are 1."""
    if type(least) is int and (least <= shape.min_rank or shape.rank is not None):
        return Shape((*(1,) * (least - shape.min_rank), *shape.items))
    return ANY


@model("numpy.array")
def _make_array(
    run: Interpreter,
    object: Value,
    dtype: Value = None,
    *,
    copy: Value = True,
    order: Value = "K",
    subok: Value = False,
    ndmin: Value = 0,
    ndmax: Value = 0,
    like: Value = None,
) -> Value:
    return _converted(run, object, dtype, ndmin)


@model("numpy.asarray")
def _as_array(
    run: Interpreter,
    a: Value,
    dtype: Value = None,
    order: Value = None,
    *,
    device: Value = None,
    copy: Value = None,
    like: Value = None,
) -> Value:
    return _converted(run, a, dtype)


@model("numpy.ascontiguousarray", "numpy.asfortranarray")
def _as_contiguous(run: Interpreter, a: Value, dtype: Value = None, *, like: Value = None) -> Value:
    return _converted(run, a, dtype, 1)


@model("numpy.asfarray")
def _as_floats(run: Interpreter, a: Value, dtype: Value = FLOAT64) -> Value:
    return _converted(run, a, dtype)


@model("numpy.asanyarray")
def _keep_matrix(
    run: Interpreter,
    a: Value,
    dtype: Value = None,
    order: Value = None,
    *,
    device: Value = None,
    copy: Value = None,
    like: Value = None,
) -> Value:
    """As ``numpy.asarray``, but a matrix stays one."""
    return a if sparsity.matrix_of(a) else _converted(run, a, dtype)


@model("numpy.dtype")
def _dtype(run: Interpreter, dtype: Value, align: Value = False, copy: Value = False, **rest: Value) -> Value:
    return as_dtype(dtype) or run.unknown("a dtype", STRUCTURED if is_structured(run, dtype) else None)


@model("numpy.arange")
def _arange(
    run: Interpreter,
    start: Value = MISSING,
    stop: Value = None,
    step: Value = 1,
    dtype: Value = None,
    *,
    device: Value = None,
    like: Value = None,
) -> Value:
    if start is MISSING and stop is None:
        return run.unknown("numbers without an end")
    first, end = (start, stop) if stop is not None and start is not MISSING else (0, start if stop is None else stop)
    numbers = [0 if first is None else first, end, 1 if step is None else step]
    kinds = {branches.type_name(v) for v in numbers}
    kind = FLOAT64 if "float" in kinds else INT64 if kinds == {"int"} else None
    made = array(Shape((_steps(*(sizes.named(run, v) for v in numbers)),)), as_dtype(dtype, kind))
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


def _spread(run: Interpreter, ends: tuple[Value, Value], num: Value, dtype: Value, axis: Value = 0) -> Value:
    kind = as_dtype(dtype, FLOAT64)
    return array(shape_of(run, num) if all(map(_is_number, ends)) else ANY, kind)


@model("numpy.linspace")
def _linspace(
    run: Interpreter,
    start: Value,
    stop: Value,
    num: Value = 50,
    endpoint: Value = True,
    retstep: Value = False,
    dtype: Value = None,
    axis: Value = 0,
    *,
    device: Value = None,
) -> Value:
    if retstep is not False:
        return run.unknown("what linspace gives")
    return _spread(run, (start, stop), num, dtype)


@model("numpy.logspace")
def _logspace(
    run: Interpreter,
    start: Value,
    stop: Value,
    num: Value = 50,
    endpoint: Value = True,
    base: Value = 10.0,
    dtype: Value = None,
    axis: Value = 0,
) -> Value:
    return _spread(run, (start, stop if _is_number(base) else None), num, dtype)


@model("numpy.geomspace")
def _geomspace(
    run: Interpreter,
    start: Value,
    stop: Value,
    num: Value = 50,
    endpoint: Value = True,
    dtype: Value = None,
    axis: Value = 0,
) -> Value:
    return _spread(run, (start, stop), num, dtype)


@model("numpy.hanning", "numpy.hamming", "numpy.blackman", "numpy.bartlett", "numpy.kaiser")
def _window(run: Interpreter, M: Value, *more: Value, **rest: Value) -> Value:
    """``(n)`` numbers of a window."""
    return array(Shape((sizes.named_dim(run, M),)), FLOAT64)


def _matrix(rows: Value, columns: Value, dtype: Value) -> Value:
    """``(rows, columns)``; as many columns as rows if they aren't given."""
    height, width = (v if is_int(v) else UNKNOWN for v in (rows, rows if columns is None else columns))
    return array(Shape((height, width)), as_dtype(dtype, FLOAT64))


@model("numpy.eye")
def _eye(
    run: Interpreter,
    N: Value,
    M: Value = None,
    k: Value = 0,
    dtype: Value = None,
    order: Value = "C",
    *,
    device: Value = None,
    like: Value = None,
) -> Value:
    return _matrix(N, M, dtype)


@model("numpy.tri")
def _tri(
    run: Interpreter, N: Value, M: Value = None, k: Value = 0, dtype: Value = None, *, like: Value = None
) -> Value:
    return _matrix(N, M, dtype)


@model("numpy.indices")
def _indices(run: Interpreter, dimensions: Value, dtype: Value = None, sparse: Value = False) -> Value:
    """``(rank, *dimensions)``"""
    dims = shape_of(run, dimensions)
    if dims.rank is None or sparse is not False:
        return run.unknown("a grid of unknown size")
    return array(Shape((dims.rank, *dims.items)), as_dtype(dtype, INT64))


@model("numpy.identity")
def _identity(run: Interpreter, n: Value, dtype: Value = None, *, like: Value = None) -> Value:
    return _matrix(n, None, dtype)


@model("numpy.meshgrid")
def _meshgrid(run: Interpreter, *xi: Value, copy: Value = True, sparse: Value = False, indexing: Value = "xy") -> Value:
    rows = [as_array(run, a) for a in xi]
    flat = [by_rule(run, "torch.flatten", (r,)) for r in rows]
    found = by_rule(run, "torch.meshgrid", flat, {"indexing": indexing})
    if not isinstance(found, tuple) or sparse or not all(isinstance(v, Tensor) for v in found):
        return run.unknown("what meshgrid gives")
    return List(tuple(array(v.type.shape, r.type.dtype) for v, r in zip(found, rows, strict=True)))


# -- one number at a time --------------------------------------------------------------------------------------------

_OF_FLOATS: Final = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "cbrt", "deg2rad", "rad2deg", "radians", "degrees",
)  # fmt: skip
_SIZED: Final = ("abs", "absolute")
_KEEPING: Final = ("negative", "positive", "sign", "conj", "conjugate", "invert", "bitwise_not")
_ROUNDING: Final = ("floor", "ceil", "rint", "trunc")
_TESTS: Final = ("isnan", "isinf", "isfinite", "logical_not", "signbit")
_IN_MATH: Final = {n: getattr(math, n.replace("arc", "a")) for n in _OF_FLOATS if hasattr(math, n.replace("arc", "a"))}
_IN_MATH.update(floor=lambda v: float(math.floor(v)), ceil=lambda v: float(math.ceil(v)))
_ASKED: Final = {n: getattr(math, n) for n in ("isnan", "isinf", "isfinite")}


_One: TypeAlias = Callable[["Interpreter", Value], Value]


def _of_each(name: str, kind: Callable[[DType | None], DType | None]) -> _One:
    """The answer of a function of each number for all of an array."""

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
        if _is_of_torch(value):
            return run.unknown(_OF_TORCH)
        if isinstance(value, Unknown) and value.type is None:
            return run.unknown(f"what numpy.{name} gives")
        given = as_array(run, value).type
        return array(given.shape, kind(given.dtype))

    return lambda run, value: run.each(value, lambda v: one(run, v))


def _put_out(run: Interpreter, found: Value, out: Value, where: Value, dtype: Value) -> Value:
    """A ufunc's answer with ``out=``, ``where=`` and ``dtype=``."""
    if out is not None:
        write_into(run, out)
        return out
    if isinstance(found, Tensor) and dtype is not None:
        found = array(found.type.shape, as_dtype(dtype))
    if where is True:
        return found
    return array(ANY, found.type.dtype) if isinstance(found, Tensor) else run.unknown("what NumPy gives for some")


def _unary(answer: _One) -> Work:
    """A ufunc of one argument."""

    def ufunc(
        run: Interpreter,
        x: Value,
        /,
        out: Value = None,
        *,
        where: Value = True,
        casting: Value = "same_kind",
        order: Value = "K",
        dtype: Value = None,
        subok: Value = True,
        signature: Value = None,
    ) -> Value:
        found = answer(run, x)
        return found if out is None and where is True and dtype is None else _put_out(run, found, out, where, dtype)

    return ufunc


def _is_of_torch(value: Value) -> bool:
    """Whether NumPy may leave it a tensor of torch's: one without dims may be a number here."""
    return isinstance(value, Tensor) and not value.array and value.type.shape.rank != 0


def _binary(answer: Callable[[Interpreter, Value, Value], Value]) -> Work:
    """A ufunc of two arguments."""

    def ufunc(
        run: Interpreter,
        x1: Value,
        x2: Value,
        /,
        out: Value = None,
        *,
        where: Value = True,
        casting: Value = "same_kind",
        order: Value = "K",
        dtype: Value = None,
        subok: Value = True,
        signature: Value = None,
    ) -> Value:
        if _is_of_torch(x1) or _is_of_torch(x2):
            return run.unknown(_OF_TORCH)
        found = answer(run, x1, x2)
        return found if out is None and where is True and dtype is None else _put_out(run, found, out, where, dtype)

    return ufunc


def _ufunc(name: str, kind: Callable[[DType | None], DType | None]) -> None:
    native(f"numpy.{name}")(_unary(_of_each(name, kind)))


def _rounded(dtype: DType | None) -> DType | None:
    return only_float(dtype)  # ints stay ints since NumPy 2.1


for _name in _OF_FLOATS:
    _ufunc(_name, floating)


def _size(dtype: DType | None) -> DType | None:
    """The dtype of how large numbers are."""
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(dtype, dtype) if dtype is not None else None


_size_of_angle: Final = _of_each(
    "angle", lambda d: _size(d) if d in (COMPLEX64, COMPLEX128, FLOAT32, FLOAT64) else None
)
_part: Final = _of_each("real", _size)
_double: Final = _of_each("sinc", lambda d: d if d == FLOAT64 else None)  # versions agree on doubles only
_as_it_is: Final = _of_each("nan_to_num", lambda d: d)
_round: Final = _of_each("fix", _rounded)
_test: Final = _of_each("isreal", lambda d: BOOL)

for _name in _SIZED:
    _ufunc(_name, _size)
for _name in _KEEPING:
    _ufunc(_name, lambda d: d)
for _name in ("square", "reciprocal"):
    _ufunc(_name, lambda d: None if d == BOOL else d)
for _name in _ROUNDING:
    _ufunc(_name, _rounded)
for _name in _TESTS:
    _ufunc(_name, lambda d: BOOL)


@model("numpy.angle")
def _angle(run: Interpreter, z: Value, deg: Value = False) -> Value:
    return _size_of_angle(run, z)


@model("numpy.real", "numpy.imag")
def _part_of(run: Interpreter, val: Value) -> Value:
    return _part(run, val)


@model("numpy.sinc", "numpy.i0")
def _sinc(run: Interpreter, x: Value) -> Value:
    return _double(run, x)


@model("numpy.unwrap")
def _unwrapped(
    run: Interpreter, p: Value, discont: Value = None, axis: Value = -1, *, period: Value = 6.283185307179586
) -> Value:
    return _double(run, p)


@model("numpy.nan_to_num")
def _without_nan(
    run: Interpreter,
    x: Value,
    copy: Value = True,
    nan: Value = 0.0,
    posinf: Value = None,
    neginf: Value = None,
) -> Value:
    return _as_it_is(run, x)


@model("numpy.fix")
def _fix(run: Interpreter, x: Value, out: Value = None) -> Value:
    found = _round(run, x)
    return found if out is None else _put_out(run, found, out, True, None)


@model("numpy.iscomplex", "numpy.isreal")
def _kind_of(run: Interpreter, x: Value) -> Value:
    return _test(run, x)


@model("numpy.isneginf", "numpy.isposinf")
def _infinite(run: Interpreter, x: Value, out: Value = None) -> Value:
    found = _test(run, x)
    return found if out is None else _put_out(run, found, out, True, None)


def _limited(run: Interpreter, source: Value, out: Value) -> Value:
    given = as_array(run, source).type
    found = array(given.shape, only_float(given.dtype))
    return found if out is None else _put_out(run, found, out, True, None)


@model("numpy.clip")
def _clip(
    run: Interpreter,
    a: Value,
    a_min: Value = None,
    a_max: Value = None,
    out: Value = None,
    *,
    min: Value = None,
    max: Value = None,
    **rest: Value,
) -> Value:
    return _limited(run, a, out)


@method("array", "clip")
def _clipped(
    run: Interpreter, self: Value, min: Value = None, max: Value = None, out: Value = None, **rest: Value
) -> Value:
    return _limited(run, self, out)


@model("numpy.around")
@both("round")
def _rounding(run: Interpreter, a: Value, decimals: Value = 0, out: Value = None) -> Value:
    return _limited(run, a, out)


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
    return _operated(run, method, first, args[1]) if len(args) == 2 else run.unknown(f"what {method} gives")


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
        if index.items is None and isinstance(index.item, Tensor):
            return None
        made = as_array(run, index)
        # NumPy takes an empty list, though the array of it is of floats
        return array(made.type.shape, INT64) if 0 in made.type.shape.items else made
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
    holds_anything = owner.type.dtype is None  # objects, perhaps: an element may be an array itself
    if found is not None and not is_vague(value) and not holds_anything:
        by_rule(run, "Tensor.__setitem__", (owner, found, as_array(run, value)))
    return None


def _operated(run: Interpreter, method: str, left: Tensor, right: Value) -> Value:
    """``left <operator> right``; of mirrored operators the right operand comes first."""
    if isinstance(right, Tensor) and not right.array:
        return run.unknown("what an array and a tensor give")
    if isinstance(right, Unknown) and right.type not in ("int", "float", "bool"):
        is_of_each = method in _COMPARISONS or _PLAIN.get(method, "matmul") != "matmul"
        if right.scalar and left.type.shape.min_rank and is_of_each:
            dtype = BOOL if method in _COMPARISONS else left.type.dtype if method.startswith("__i") else None
            return array(left.type.shape, dtype)
        made = run.unknown("what an array and an unknown value give")
        made.scalar = right.scalar and left.type.shape.rank == 0
        return made
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
    "power": "__pow__",
    "equal": "__eq__", "not_equal": "__ne__", "less": "__lt__", "less_equal": "__le__", "greater": "__gt__",
    "greater_equal": "__ge__", "bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__",
}  # fmt: skip


def _by_operator(method: str) -> Callable[[Interpreter, Value, Value], Value]:
    def answer(run: Interpreter, x1: Value, x2: Value) -> Value:
        if is_vague(x1):
            return run.unknown("what NumPy gives")
        return _operated(run, method, as_array(run, x1), x2)

    return answer


for _name, _operator in _FUNCTIONS.items():
    native(f"numpy.{_name}")(_binary(_by_operator(_operator)))


def _pairwise(dtype: Callable[[DType | None], DType | None]) -> Callable[[Interpreter, Value, Value], Value]:
    def answer(run: Interpreter, left: Value, right: Value) -> Value:
        if all(is_known(v) and isinstance(v, int | float) for v in (left, right)):
            return array(Shape(()), dtype(promote((as_array(run, left), as_array(run, right)))))
        if is_vague(left) or is_vague(right):
            return run.unknown("what NumPy gives")
        rows = [v if isinstance(v, int | float) else as_array(run, v) for v in (left, right)]
        first = rows[0] if isinstance(rows[0], Tensor) else as_array(run, rows[0])
        return by_rule(run, "Tensor.__add__", (first, rows[1]), {}, dtype(promote(rows)))

    return answer


for _name in ("maximum", "minimum", "fmax", "fmin", "fmod", "left_shift", "right_shift"):
    native(f"numpy.{_name}")(_binary(_pairwise(lambda d: d)))
for _name in ("arctan2", "hypot", "logaddexp", "logaddexp2"):
    native(f"numpy.{_name}")(_binary(_pairwise(floating)))
for _name in ("copysign", "nextafter", "heaviside"):
    native(f"numpy.{_name}")(_binary(_pairwise(lambda d: FLOAT64 if d in (INT64, FLOAT64) else None)))
for _name in ("logical_and", "logical_or", "logical_xor"):
    native(f"numpy.{_name}")(_binary(_pairwise(lambda d: BOOL)))


@model("numpy.isclose")
def _close(
    run: Interpreter, a: Value, b: Value, rtol: Value = 1e-05, atol: Value = 1e-08, equal_nan: Value = False
) -> Value:
    return _pairwise(lambda d: BOOL)(run, a, b)


@model("numpy.matmul")
def _matmul(
    run: Interpreter,
    x1: Value,
    x2: Value,
    /,
    out: Value = None,
    *,
    casting: Value = "same_kind",
    order: Value = "K",
    dtype: Value = None,
    subok: Value = True,
    signature: Value = None,
    axes: Value = None,
    axis: Value = None,
    keepdims: Value = False,
) -> Value:
    if (axes, axis, keepdims) != (None, None, False):
        return run.unknown("a product along other axes")
    return _put_out(run, _by_operator("__matmul__")(run, x1, x2), out, True, dtype)


@model("numpy.where")
def _where(run: Interpreter, condition: Value, x: Value = MISSING, y: Value = MISSING, /) -> Value:
    given = as_array(run, condition)
    if x is MISSING:
        return _nonzero(run, given)
    rows = [v if isinstance(v, int | float) else as_array(run, v) for v in (x, y)]
    if any(isinstance(v, Tensor) and v.type.shape == ANY for v in rows):
        return array(ANY, None)
    shaped = by_rule(run, "Tensor.__add__", (given, rows[0]))
    if not isinstance(shaped, Tensor):
        return shaped
    strong = rows if any(isinstance(v, Tensor) for v in rows) else [as_array(run, v) for v in rows]
    return by_rule(run, "Tensor.__add__", (shaped, rows[1]), {}, promote(strong))


@both("nonzero")
def _nonzero(run: Interpreter, a: Value) -> Value:
    given = as_array(run, a)
    rank = given.type.shape.rank
    if rank is None:
        return List(None, array(Shape((UNKNOWN,)), INT64))
    if rank == 0:
        return run.report(Report("nonzero", "shape", "NumPy gives no places of a number, only of an array with dims",
                                 {"a": given.type}, hint="np.atleast_1d(a)"))  # fmt: skip
    size = sizes.by_content(run, run.some_size(0))
    return tuple(array(Shape((size,)), INT64) for _ in range(rank))


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


def _reduced(
    run: Interpreter, name: str, source: Value, axis: Value, dtype: Value, keepdims: Value, out: Value = None
) -> Value:
    rule, kind = _REDUCTIONS[name]
    if isinstance(source, Choice):
        return run.each(source, lambda v: _reduced(run, name, v, axis, dtype, keepdims, out))
    if name == "prod" and axis is None and not isinstance(source, Tensor):
        found = _product(run, source)
        if found is not None:
            return found
    if is_vague(source):
        made_of = run.unknown(f"what numpy.{name} gives")
        made_of.scalar = axis is None and keepdims is not True and out is None and isinstance(source, Unknown | List)
        return made_of
    given = as_array(run, source)
    keep = keepdims if isinstance(keepdims, Unknown) else keepdims is True
    made = reduced(run, given, axis, keep, as_dtype(dtype, kind(given.type.dtype)), rule)
    return made if out is None else _put_out(run, made, out, True, None)


_OF_MAX: Final = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
_PARAMETERS: Final = {
    **dict.fromkeys(
        ("sum", "nansum", "prod", "nanprod", "mean", "nanmean"),
        "a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True",
    ),
    **dict.fromkeys(
        ("std", "nanstd", "var", "nanvar"),
        "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None",
    ),
    **dict.fromkeys(("median", "nanmedian"), "a, axis=None, out=None, overwrite_input=False, keepdims=False"),
    **dict.fromkeys(
        ("argmax", "argmin", "nanargmax", "nanargmin", "count_nonzero"), "a, axis=None, out=None, *, keepdims=False"
    ),
}
"""By function, its parameters; the others have those of ``max``."""


def _reducing(name: str) -> Work:
    def work(run: Interpreter, given: dict[str, Value]) -> Value:
        axis, dtype, out = (given.get(n) for n in ("axis", "dtype", "out"))
        return _reduced(run, name, given["a"], axis, dtype, given.get("keepdims", False), out)

    return signed(_PARAMETERS.get(name, _OF_MAX), work)


def _product(run: Interpreter, source: Value) -> Value:
    """``np.prod`` of sizes: the int that it is."""
    items = run.items(source) if isinstance(source, tuple | List) else None
    if items is None or not all(is_int(v) or (isinstance(v, Unknown) and v.type == "int") for v in items):
        return None
    if not items:
        return Strong(1.0)
    return run.call(run.program.library(run, "math.prod"), (items,))


for _name in _REDUCTIONS:
    both(_name)(_reducing(_name))


@model("numpy.nancumsum", "numpy.nancumprod")
@both("cumsum", "cumprod")
def _cumulated(run: Interpreter, a: Value, axis: Value = None, dtype: Value = None, out: Value = None) -> Value:
    given = as_array(run, a)
    dtype = as_dtype(dtype, _summed(given.type.dtype))
    if axis is None:
        return by_rule(run, "torch.flatten", (given,), {}, dtype)
    return by_rule(run, "torch.cumsum", (_at_least_1d(given), axis), {}, dtype)


def _at_least_1d(given: Tensor) -> Tensor:
    return array(Shape((1,)), given.type.dtype) if given.type.shape.rank == 0 else given


@model("numpy.sort")
def _sorted(
    run: Interpreter, a: Value, axis: Value = -1, kind: Value = None, order: Value = None, *, stable: Value = None
) -> Value:
    given = as_array(run, a)
    if axis is None:
        return by_rule(run, "torch.flatten", (given,), {}, given.type.dtype)
    return array(given.type.shape, given.type.dtype)


@both("argsort")
def _argsort(
    run: Interpreter, a: Value, axis: Value = -1, kind: Value = None, order: Value = None, *, stable: Value = None
) -> Value:
    given = _at_least_1d(as_array(run, a))
    if axis is None:
        return by_rule(run, "torch.flatten", (given,), {}, INT64)
    return array(given.type.shape, INT64)


@method("array", "sort")
def _sort(
    run: Interpreter, self: Value, axis: Value = -1, kind: Value = None, order: Value = None, *, stable: Value = None
) -> Value:
    return None


gives("numpy.memmap")


@model("numpy.vectorize")
def _vectorized(
    run: Interpreter,
    pyfunc: Value = MISSING,
    otypes: Value = None,
    doc: Value = None,
    excluded: Value = None,
    cache: Value = False,
    signature: Value = None,
) -> Value:
    """A function of numbers as one of arrays, which are broadcast."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        whole: Value = as_array(run, args[0]) if args and not is_vague(run.resolve(args[0])) else None
        for one in args[1:]:
            vague = is_vague(run.resolve(one))
            whole = None if vague or whole is None else by_rule(run, "Tensor.__add__", (whole, as_array(run, one)))
        often.may_call(run, pyfunc)
        plain = isinstance(whole, Tensor) and signature is None and not kwargs
        return array(whole.type.shape, None) if plain else run.unknown("what a vectorized function gives")

    return Native("numpy.vectorize", work)


@model("numpy.unique")
def _unique(
    run: Interpreter,
    ar: Value,
    return_index: Value = False,
    return_inverse: Value = False,
    return_counts: Value = False,
    axis: Value = None,
    *,
    equal_nan: Value = True,
    sorted: Value = True,
) -> Value:
    """``(*n) -> (k)``; if asked for: where each is ``(k)``, which each item is ``(*n)``, how many there are ``(k)``."""
    asked = [return_index, return_inverse, return_counts]
    if axis is not None or not all(isinstance(a, bool) for a in asked):
        return run.unknown("what unique() gives")
    source = as_array(run, ar)
    several = Shape((sizes.by_content(run, run.some_size(0)),))
    inverse = source.type.shape if source.type.shape.rank == 1 else ANY  # of others, versions give other shapes
    shapes = (several, inverse, several)
    parts = tuple(array(shape, INT64) for shape, wanted in zip(shapes, asked, strict=True) if wanted)
    values = array(several, source.type.dtype)
    return (values, *parts) if parts else values


@model("numpy.isin")
def _is_in(
    run: Interpreter,
    element: Value,
    test_elements: Value,
    assume_unique: Value = False,
    invert: Value = False,
    *,
    kind: Value = None,
) -> Value:
    return array(as_array(run, element).type.shape, BOOL)


@model("numpy.in1d")
def _is_in_flat(
    run: Interpreter,
    ar1: Value,
    ar2: Value,
    assume_unique: Value = False,
    invert: Value = False,
    *,
    kind: Value = None,
) -> Value:
    return by_rule(run, "torch.flatten", (as_array(run, ar1),), {}, BOOL)


@model("numpy.digitize")
def _bins(run: Interpreter, x: Value, bins: Value, right: Value = False) -> Value:
    """``(*m), (n) -> (*m)``"""
    return array(as_array(run, x).type.shape, INT64)


@model("numpy.searchsorted")
def _places(run: Interpreter, a: Value, v: Value, side: Value = "left", sorter: Value = None) -> Value:
    """``(n), (*m) -> (*m)``"""
    if v is None:
        return run.unknown("places in an array")
    return array(as_array(run, v).type.shape, INT64)


@model("numpy.copyto")
def _copy_to(run: Interpreter, dst: Value, src: Value, casting: Value = "same_kind", where: Value = True) -> Value:
    if isinstance(dst, Tensor) and dst.array:
        return _put(run, dst, ..., src)
    return None


@model("numpy.argwhere")
def _argwhere(run: Interpreter, a: Value) -> Value:
    rank = as_array(run, a).type.shape.rank
    return array(Shape((UNKNOWN, UNKNOWN if rank is None else rank)), INT64)


@model("numpy.pad")
def _pad(run: Interpreter, array: Value, pad_width: Value, mode: Value = "constant", **rest: Value) -> Value:
    return _padded(run, as_array(run, array).type, pad_width)


def _padded(run: Interpreter, given: TensorType, width: Value) -> Value:
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


@model("numpy.set_printoptions")
def _print_options(run: Interpreter, *given: Value, **rest: Value) -> Value:
    return None


@model("numpy.seterr")
def _errors(run: Interpreter, all: Value = None, divide: Value = None, over: Value = None, under: Value = None,
            invalid: Value = None) -> Value:  # fmt: skip
    return run.unknown("what np.seterr gives")


# -- of another shape ------------------------------------------------------------------------------------------------


def _shaped(run: Interpreter, rule: str, source: Value, *rest: Value) -> Value:
    """The answer of a function of torch's with the same arguments."""
    if isinstance(source, Choice):
        return run.each(source, lambda v: _shaped(run, rule, v, *rest))
    if is_vague(source):
        return run.unknown("an array made of what isn't known")
    given = as_array(run, source)
    if any(map(is_hidden, rest)):
        return array(ANY, given.type.dtype)
    return by_rule(run, rule, (given, *rest), {}, given.type.dtype)


def _reshaped(run: Interpreter, source: Value, *shape: Value) -> Value:
    if any(map(is_hidden, (source, *shape))):
        return run.unknown("an array of a shape that isn't known")
    given = as_array(run, source)
    made = by_rule(run, "Tensor.reshape", (given, *shape), {}, given.type.dtype)
    events.RESHAPE(run, given, made)
    return made


@model("numpy.reshape")
def _reshape(
    run: Interpreter,
    a: Value,
    /,
    shape: Value = None,
    order: Value = "C",
    *,
    newshape: Value = None,
    copy: Value = None,
    **rest: Value,  # the first has a name in NumPy 1
) -> Value:
    return _reshaped(run, a, newshape if shape is None else shape)


@method("array", "reshape")
def _reshape_it(run: Interpreter, self: Value, *shape: Value, order: Value = "C", copy: Value = None) -> Value:
    return _reshaped(run, self, *shape)


@both("ravel")
def _ravel(run: Interpreter, a: Value, order: Value = "C") -> Value:
    return _shaped(run, "torch.flatten", a)


@method("array", "flatten")
def _flatten(run: Interpreter, self: Value, order: Value = "C") -> Value:
    return _shaped(run, "torch.flatten", self)


@both("squeeze")
def _squeeze(run: Interpreter, a: Value, axis: Value = None) -> Value:
    return _shaped(run, "torch.squeeze", a, *(() if axis is None else (axis,)))


@both("swapaxes")
def _swapaxes(run: Interpreter, a: Value, axis1: Value, axis2: Value) -> Value:
    return _shaped(run, "torch.swapaxes", a, axis1, axis2)


@both("repeat")
def _repeat(run: Interpreter, a: Value, repeats: Value, axis: Value = None) -> Value:
    return _shaped(run, "torch.repeat_interleave", a, repeats, *(() if axis is None else (axis,)))


@model("numpy.moveaxis")
def _moveaxis(run: Interpreter, a: Value, source: Value, destination: Value) -> Value:
    return _shaped(run, "torch.movedim", a, source, destination)


@model("numpy.broadcast_to")
def _broadcast_to(run: Interpreter, array: Value, shape: Value, subok: Value = False) -> Value:
    return _shaped(run, "torch.broadcast_to", array, shape)


@model("numpy.tile")
def _tile(run: Interpreter, A: Value, reps: Value) -> Value:
    return _shaped(run, "torch.tile", A, reps)


@model("numpy.roll")
def _roll(run: Interpreter, a: Value, shift: Value, axis: Value = None) -> Value:
    return _shaped(run, "torch.roll", a, shift, *(() if axis is None else (axis,)))


@model("numpy.diag")
def _diag(run: Interpreter, v: Value, k: Value = 0) -> Value:
    return _shaped(run, "torch.diag", v, k)


@model("numpy.fliplr")
def _fliplr(run: Interpreter, m: Value) -> Value:
    return _shaped(run, "torch.fliplr", m)


@model("numpy.flipud")
def _flipud(run: Interpreter, m: Value) -> Value:
    return _shaped(run, "torch.flipud", m)


@model("numpy.rot90")
def _rot90(run: Interpreter, m: Value, k: Value = 1, axes: Value = (0, 1)) -> Value:
    return _shaped(run, "torch.rot90", m, k, axes)


@model("numpy.triu", "numpy.tril")
def _triangle(run: Interpreter, m: Value, k: Value = 0) -> Value:
    given = as_array(run, m).type
    rows = given.shape.items if given.shape.rank == 1 else ()  # one row is repeated
    return array(Shape((*rows, *given.shape.items)), given.dtype)


@model("numpy.transpose", "numpy.permute_dims")
def _transpose(run: Interpreter, a: Value, axes: Value = None) -> Value:
    given = as_array(run, a)
    if axes is None:
        return array(Shape(tuple(reversed(given.type.shape.items))), given.type.dtype)
    order = run.items(axes)
    if order is None:
        return array(ANY, given.type.dtype)
    return by_rule(run, "torch.permute", (given, order), {}, given.type.dtype)


@method("array", "transpose")
def _transposed(run: Interpreter, self: Value, *axes: Value) -> Value:
    return _transpose(run, self, axes[0] if len(axes) == 1 else axes or None)


@model("numpy.expand_dims")
def _expand_dims(run: Interpreter, a: Value, axis: Value) -> Value:
    given = as_array(run, a)
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
def _diagonal(run: Interpreter, a: Value, offset: Value = 0, axis1: Value = 0, axis2: Value = 1) -> Value:
    given = as_array(run, a)
    return by_rule(run, "torch.diagonal", (given, offset, axis1, axis2), {}, given.type.dtype)


@model("numpy.triu_indices_from", "numpy.tril_indices_from")
def _index_pairs(run: Interpreter, arr: Value, k: Value = 0) -> Value:
    return tuple(array(Shape((UNKNOWN,)), INT64) for _ in range(2))


def _triangle_of(rule: str) -> Work:
    """``n -> (k), (k)``: where the elements of a triangle of ``(n, m)`` are."""

    def work(run: Interpreter, n: Value, k: Value = 0, m: Value = None) -> Value:
        found = by_rule(run, rule, (n, n if m is None else m, k))
        size = found.type.shape.dim(-1) if isinstance(found, Tensor) and found.type.shape.rank == 2 else UNKNOWN
        return tuple(array(Shape((size,)), INT64) for _ in range(2))

    return work


native("numpy.triu_indices")(_triangle_of("torch.triu_indices"))
native("numpy.tril_indices")(_triangle_of("torch.tril_indices"))


@model("numpy.matrix_transpose")
def _matrix_transposed(run: Interpreter, x: Value, /) -> Value:
    given = as_array(run, x)
    return by_rule(run, "torch.transpose", (given, -2, -1), {}, given.type.dtype)


@model("numpy.flip")
def _flip(run: Interpreter, m: Value, axis: Value = None) -> Value:
    given = as_array(run, m).type
    return array(given.shape, given.dtype)


@model("numpy.split", "numpy.array_split")
def _split(run: Interpreter, ary: Value, indices_or_sections: Value, axis: Value = 0) -> Value:
    given = as_array(run, ary)
    if not isinstance(indices_or_sections, int | tuple | List) or isinstance(axis, Unknown):
        return List(None, array(ANY, given.type.dtype))
    found = by_rule(run, "torch.tensor_split", (given, indices_or_sections, axis), {}, given.type.dtype)
    return List(found) if isinstance(found, tuple) else found


def _at_least(name: str) -> Work:
    def work(run: Interpreter, *arys: Value) -> Value:
        found = tuple(_shaped(run, f"torch.{name}", one) for one in arys)
        return found[0] if len(found) == 1 else run.unknown("arrays with dims") if found else ()

    return work


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    native(f"numpy.{_name}")(_at_least(_name))


# -- products --------------------------------------------------------------------------------------------------------


@both("dot")
def _dot(run: Interpreter, a: Value, b: Value, out: Value = None) -> Value:
    left, right = as_array(run, a), as_array(run, b)
    if (right.type.shape.rank or 3) > 2 or left.type.shape.rank == 0 or right.type.shape.rank == 0:
        return array(ANY, promote((left, right)))
    return by_rule(run, "torch.matmul", (left, right), {}, promote((left, right)))


@model("numpy.divmod")
def _divided(run: Interpreter, x1: Value, x2: Value, /, *more: Value, **rest: Value) -> Value:
    return tuple(
        run.call(run.program.library(run, f"numpy.{name}"), (x1, x2), rest) for name in ("floor_divide", "mod")
    )


@model("numpy.tensordot")
def _contracted(run: Interpreter, a: Value, b: Value, axes: Value = 2) -> Value:
    if is_hidden(a) or is_hidden(b):
        return run.unknown("what tensordot gives")
    arrays = [as_array(run, a), as_array(run, b)]
    pair = run.items(axes) if isinstance(axes, tuple | List) else None
    if pair is not None:
        axes = tuple((v,) if is_int(v) else v for v in map(run.resolve, pair))
    return by_rule(run, "torch.tensordot", arrays, {"dims": axes}, promote(arrays))


@model("numpy.cross")
def _crossed(
    run: Interpreter,
    a: Value,
    b: Value,
    axisa: Value = -1,
    axisb: Value = -1,
    axisc: Value = -1,
    axis: Value = None,
) -> Value:
    plain = (axisa, axisb, axisc, axis) == (-1, -1, -1, None)
    if not plain or is_hidden(a) or is_hidden(b):
        return run.unknown("a product of vectors")
    arrays = [as_array(run, a), as_array(run, b)]
    if not all(v.type.shape.rank and v.type.shape.dim(-1) == 3 for v in arrays):
        return run.unknown("a product of vectors")
    return by_rule(run, "Tensor.__add__", arrays, {}, promote(arrays))


def _product_of(run: Interpreter, rule: str, rows: list[Tensor], *, flat: bool = False) -> Value:
    shaped = [by_rule(run, "torch.flatten", (r,)) for r in rows] if flat else rows
    return by_rule(run, rule, shaped, {}, promote(rows))


@model("numpy.outer")
def _outer(run: Interpreter, a: Value, b: Value, out: Value = None) -> Value:
    return _product_of(run, "torch.outer", [as_array(run, a), as_array(run, b)], flat=True)


@model("numpy.inner")
def _inner(run: Interpreter, a: Value, b: Value, /) -> Value:
    return _product_of(run, "torch.inner", [as_array(run, a), as_array(run, b)])


@model("numpy.kron")
def _kron(run: Interpreter, a: Value, b: Value) -> Value:
    return _product_of(run, "torch.kron", [as_array(run, a), as_array(run, b)])


@model("numpy.einsum")
def _einsum(run: Interpreter, *operands: Value, out: Value = None, optimize: Value = False, **rest: Value) -> Value:
    pattern, *rows = map(run.resolve, operands)
    if not isinstance(pattern, str) or any(map(is_vague, rows)):
        return run.unknown("what einsum gives")
    arrays = [as_array(run, r) for r in rows]
    return by_rule(run, "torch.einsum", (pattern, *arrays), {}, promote(arrays))


@model("numpy.linalg.norm")
def _norm(run: Interpreter, x: Value, ord: Value = None, axis: Value = None, keepdims: Value = False) -> Value:
    given = as_array(run, x)
    dtype = _averaged(given.type.dtype)
    if axis is None:
        return array(Shape(()), dtype if keepdims is False else None)
    return by_rule(run, "torch.sum", (given,), {"dim": axis, "keepdim": keepdims is True}, dtype)


@model("numpy.linalg.det")
def _det(run: Interpreter, a: Value) -> Value:
    given = as_array(run, a)
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
        return _transpose(run, value)
    if name in ("real", "imag"):
        parts = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
        dtype = value.type.dtype
        return array(value.type.shape, parts.get(dtype, dtype) if dtype is not None else None)
    if name in ("itemsize", "nbytes"):
        return run.unknown("the bytes of an array", "int", "data")
    if name in _ARRAY or name in value.cells:
        return BoundNative(name, value) if name in _ARRAY else value.cells[name]
    return MISSING if not run.entry and members.array_lacks(value, name) else run.unknown(f".{name} of an array")


@model("numpy.copy")
def _copy(run: Interpreter, a: Value, order: Value = "K", subok: Value = False) -> Value:
    source = as_array(run, a)
    made = array(source.type.shape, source.type.dtype)
    indexes.follow(run, "torch.clone", (source,), {}, made)
    return made


@method("array", "astype")
def _astype(
    run: Interpreter,
    self: Value,
    dtype: Value,
    order: Value = "K",
    casting: Value = "unsafe",
    subok: Value = True,
    copy: Value = True,
) -> Value:
    if is_structured(run, dtype):
        return run.unknown(_FIELDS)
    made = array(self.type.shape, as_dtype(dtype))
    indexes.follow(run, "torch.clone", (self,), {}, made)
    return made


@model("numpy.astype")
def _cast(run: Interpreter, x: Value, dtype: Value, /, *, copy: Value = True, device: Value = None) -> Value:
    return _astype(run, as_array(run, x), dtype)


@method("array", "copy")
def _copied(run: Interpreter, self: Value, order: Value = "C") -> Value:
    return _copy(run, self)


@method("array", "conj", "conjugate")
def _conjugate(run: Interpreter, self: Value) -> Value:
    return _copy(run, self)


@method("array", "view")
def _viewed(run: Interpreter, self: Value, dtype: Value = None, type: Value = None) -> Value:
    """The same bytes as numbers of another dtype, of as many bits."""
    kind, other = self.type, as_dtype(dtype)
    same = kind.dtype is not None and other is not None and kind.dtype.bits == other.bits
    return array(kind.shape, other) if same else run.unknown("the bytes of an array as other numbers")


@method("array", "tolist")
def _to_lists(run: Interpreter, self: Value) -> Value:
    return METHODS[Tensor]["tolist"](run, (self,), {})


@method("array", "item")
def _to_number(run: Interpreter, self: Value, *index: Value) -> Value:
    """``array.item()`` of the only number in it."""
    kind = self.type
    count = math.prod(kind.shape.dims) if kind.shape.is_exact and all(type(d) is int for d in kind.shape.dims) else 1
    if not index and count != 1:
        reason = f"the array has {count} elements, but it gives a number only if it has one"
        return run.report(Report("item", "shape", reason, {"input": kind}, "item(index), or .tolist()"))
    return run.unknown("a number of an array", None if kind.dtype is None else kind.dtype.category, "data")


@method("array", "resize")
def _resized(run: Interpreter, self: Value, *shape: Value, refcheck: Value = True) -> Value:
    """``array.resize(3, 5)`` in place: what is cut off or added is the end of its memory."""
    new = shape[0] if len(shape) == 1 else shape
    if new not in ((), None):
        run.heap.write(self.cells, "type", replace(self.type, shape=shape_of(run, new)))
    return None


@method("array", "fill")
def _fill(run: Interpreter, self: Value, value: Value, /) -> Value:
    return write_into(run, self)


@method("array", "setflags")
def _set_flags(run: Interpreter, self: Value, write: Value = None, align: Value = None, uic: Value = None) -> Value:
    return None


@method("array", "tofile")
def _to_file(run: Interpreter, self: Value, fid: Value, /, sep: Value = "", format: Value = "%s") -> Value:
    return None


@method("array", "searchsorted")
def _places_in(run: Interpreter, self: Value, v: Value, /, side: Value = "left", sorter: Value = None) -> Value:
    return _places(run, self, v)


# -- torch's tensors -------------------------------------------------------------------------------------------------


def _by_its_method(work: Work) -> Work:
    """Of a tensor of torch's, these functions call its own method: ``np.squeeze(tensor, axis=1)`` is a tensor."""

    def ask(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = args[0] if args else kwargs.get("a")
        return run.each(given, lambda v: run.unknown(_OF_TORCH) if _is_of_torch(v) else work(run, args, kwargs))

    return ask


for _name in (
    "take", "clip", "round", "around", "nonzero", "argmax", "argmin", "argsort", "cumsum", "cumprod", "repeat",
    "reshape", "squeeze", "swapaxes", "transpose", "permute_dims", "ptp",
    "sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "any", "all",
):  # fmt: skip
    NATIVES[f"numpy.{_name}"] = Native(f"numpy.{_name}", _by_its_method(NATIVES[f"numpy.{_name}"].work))
