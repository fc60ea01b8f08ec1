"""``scipy.sparse``: shapes and dtypes of its matrices, and of the arrays that are made of them.

In which format a result is kept depends on the version for many operations: where it isn't said here it isn't known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.libraries import ALIASES, by_name, model, native
from simpletorch.follow.libraries.arrays import argument, array, as_array, as_dtype, by_rule, promote
from simpletorch.follow.marks import sparsity
from simpletorch.follow.marks.sparsity import DENSE, MATRIX, Matrix, matrix_of
from simpletorch.follow.values import Choice, List, Native, Sizes, Tensor, Unknown, Value, is_int
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BOOL, BY_TORCH_NAME, FLOAT16, FLOAT64, INT64, DType
from simpletorch.shapes import UNKNOWN, Expr, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_FORMATS: Final = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
_TWO: Final = (UNKNOWN, UNKNOWN)
ALIASES["scipy.sparse.base"] = "scipy.sparse"


def _made(
    run: Interpreter, shape: Shape, dtype: DType | None, format: str | None = None, *, array: bool = False
) -> Value:
    kept = None if dtype == FLOAT16 else dtype  # they have no such numbers
    return sparsity.new(run, Matrix(MATRIX, TensorType(shape, kept), format, array))


def _dense(run: Interpreter, known: Matrix, shape: Shape, dtype: DType | None) -> Value:
    """What is dense: of the newer classes an array, of the others NumPy's ``matrix``."""
    if known.array:
        return array(shape, dtype)
    return sparsity.new(run, Matrix(DENSE, TensorType(shape, dtype)))


def _sparse(value: Value) -> Matrix | None:
    known = matrix_of(value)
    return known if known is not None and known.kind == MATRIX else None


def _two(known: Matrix) -> tuple[Item, Item] | None:
    """Its rows and columns; None where it hasn't two dims for sure."""
    shape = known.type.shape
    return (shape.dims[0], shape.dims[1]) if shape.rank == 2 else None


def _size(value: Value) -> Item | None:
    if is_int(value):
        found: Item = value
        return found
    return UNKNOWN if isinstance(value, Unknown) and value.type == "int" else None


def _sizes(run: Interpreter, value: Value) -> tuple[Item, ...] | None:
    """``(n, m)``; None of anything else."""
    items = run.items(value) if isinstance(value, tuple | List | Sizes) else None
    dims = [_size(run.resolve(v)) for v in items or ()]
    known = tuple(d for d in dims if d is not None)
    return known if len(known) == len(dims) == 2 else None


# -- made ------------------------------------------------------------------------------------------------------------


def _maker(format: str, is_array: bool) -> Callable[..., Value]:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = {k: run.resolve(v) for k, v in by_name("arg1 shape dtype copy", args, kwargs).items()}
        source = sparsity.as_dense(given.get("arg1"))
        if isinstance(source, Choice):
            return run.each(source, lambda v: work(run, (v, *args[1:]), kwargs))
        shape, kind = _contents(run, source, is_array)
        asked = _sizes(run, given.get("shape"))
        if asked is not None and (shape is None or shape.rank == 2):
            shape = Shape(asked)
        if shape is None:
            return run.unknown("a sparse matrix")
        return _made(run, shape, as_dtype(given.get("dtype"), kind), format, array=is_array)

    return work


def _contents(run: Interpreter, source: Value, is_array: bool) -> tuple[Shape | None, DType | None]:
    """Shape and dtype of what a sparse matrix is made of; the shape is None where it may have any number of dims."""
    anything = None if is_array else Shape(_TWO)
    known = _sparse(source)
    if known is not None:
        return known.type.shape, known.type.dtype
    if isinstance(source, tuple):
        sizes = _sizes(run, source)
        if sizes is not None:
            return Shape(sizes), FLOAT64
        parts = [run.resolve(v) for v in source]
        two = len(parts) == 2 and isinstance(parts[1], tuple | List) and len(run.items(parts[1]) or ()) == 2
        if two or len(parts) == 3:
            numbers = sparsity.as_dense(parts[0])
            told = isinstance(numbers, List | tuple) or (isinstance(numbers, Tensor) and numbers.array)
            return anything, as_array(run, numbers).type.dtype if told else None
        return anything, None
    if isinstance(source, List) or (isinstance(source, Tensor) and source.array):
        kind = as_array(run, source).type
        if kind.shape.rank == 2:
            return kind.shape, kind.dtype
        if kind.shape.rank == 1 and not is_array:
            return Shape((1, *kind.shape.items)), kind.dtype
        return anything, kind.dtype
    return anything, None


for _format in _FORMATS:
    native(f"scipy.sparse.{_format}_matrix")(_maker(_format, False))
    native(f"scipy.sparse.{_format}_array")(_maker(_format, True))


def _eye(is_array: bool, names: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = {k: run.resolve(v) for k, v in by_name(names, args, kwargs).items()}
        rows = _size(given.get("m"))
        columns = rows if given.get("n") is None else _size(given.get("n"))
        if rows is None or columns is None:
            rows, columns = _TWO
        if rows is UNKNOWN and given.get("n") is None:
            rows = columns = run.some_size()  # as many columns as rows
        return _made(run, Shape((rows, columns)), as_dtype(given.get("dtype"), FLOAT64), array=is_array)

    return work


native("scipy.sparse.eye")(_eye(False, "m n k dtype format"))
native("scipy.sparse.eye_array")(_eye(True, "m n"))
native("scipy.sparse.identity")(_eye(False, "m none dtype format"))


@native("scipy.sparse.diags")
def _diagonals(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n) -> (n, n)``"""
    given = {k: run.resolve(v) for k, v in by_name("diagonals offsets shape format dtype", args, kwargs).items()}
    source, place = given.get("diagonals"), given.get("offsets", 0)
    shape = _sizes(run, given.get("shape"))
    kind = source.type if isinstance(source, Tensor) and source.array else None
    if shape is None and kind is not None and kind.shape.rank == 1 and place == 0 and "shape" not in given:
        shape = (kind.shape.dims[0],) * 2
        if shape[0] is UNKNOWN:
            shape = (run.some_size(),) * 2
    dtype = kind.dtype if kind is not None and kind.dtype is not None and kind.dtype.category == "float" else None
    return _made(run, Shape(shape or _TWO), as_dtype(given.get("dtype"), dtype))


@native("scipy.sparse.random", "scipy.sparse.rand")
def _random(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = {k: run.resolve(v) for k, v in by_name("m n density format dtype", args, kwargs).items()}
    rows, columns = (_size(given.get(name)) for name in ("m", "n"))
    format = given.get("format", "coo")
    shape = _TWO if rows is None or columns is None else (rows, columns)
    found = format if isinstance(format, str) else None
    return _made(run, Shape(shape), as_dtype(given.get("dtype"), FLOAT64), found)


def _blocks(run: Interpreter, value: Value) -> list[Tensor] | None:
    """The matrices of a list as arrays, at least one of them sparse, none of the newer classes."""
    items = run.items(run.resolve(value)) if isinstance(run.resolve(value), tuple | List) else None
    found = [run.resolve(v) for v in items or ()]
    known = [_sparse(v) for v in found]
    if not any(known) or any(k is not None and k.array for k in known):
        return None
    if any(k is None and not (isinstance(v, Tensor) and v.array) for k, v in zip(known, found, strict=True)):
        return None
    arrays = [v if k is None else _whole(k) for k, v in zip(known, found, strict=True)]
    return arrays if all(a.type.shape.rank == 2 for a in arrays) else None


def _whole(known: Matrix) -> Tensor:
    """It as an array."""
    return array(known.type.shape, known.type.dtype)


def _joined(rule: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        blocks = _blocks(run, argument(run, args, kwargs, 0, "blocks"))
        if blocks is None:
            return run.unknown("a sparse matrix of blocks")
        kind = as_dtype(argument(run, args, kwargs, 2, "dtype"), promote(blocks))
        found = by_rule(run, rule, (tuple(blocks),), {}, kind)
        return _made(run, found.type.shape, kind) if isinstance(found, Tensor) else found

    return work


native("scipy.sparse.vstack")(_joined("torch.vstack"))
native("scipy.sparse.hstack")(_joined("torch.hstack"))


@model("scipy.sparse.block_diag")
def _block_diagonal(run: Interpreter, mats: Value, format: Value = None, dtype: Value = None) -> Value:
    blocks = _blocks(run, mats)
    if blocks is None:
        return run.unknown("a sparse matrix of blocks")
    kind = as_dtype(dtype, promote(blocks))
    found = by_rule(run, "torch.block_diag", tuple(blocks), {}, kind)
    return _made(run, found.type.shape, kind) if isinstance(found, Tensor) else run.unknown("a sparse matrix of blocks")


@native("scipy.sparse.triu", "scipy.sparse.tril")
def _triangle(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = _sparse(run.resolve(args[0])) if args else None
    if known is None:
        return run.unknown("a sparse matrix")
    return _made(run, known.type.shape, known.type.dtype, array=known.array)


@model("scipy.sparse.issparse", "scipy.sparse.isspmatrix")
def _is_sparse(run: Interpreter, x: Value) -> Value:
    known = _sparse(x)
    if known is not None:
        return True if not known.array else run.unknown("whether a sparse array is a sparse matrix", "bool")
    return False if isinstance(x, Tensor | List) else run.derived("issparse", x, None)


def _is_of(format: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        value = run.resolve(args[0])
        known = _sparse(value)
        if known is not None and known.format is not None and not known.array:
            return known.format == format
        return False if isinstance(value, Tensor | List) else run.derived(f"isspmatrix_{format}", value, None)

    return work


for _format in _FORMATS:
    native(f"scipy.sparse.isspmatrix_{_format}")(_is_of(_format))


# -- operators -------------------------------------------------------------------------------------------------------

_COMPARISONS: Final = ("__gt__", "__lt__", "__ge__", "__le__", "__ne__", "__eq__")


def _operator(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    one, other = _sparse(left), _sparse(right)
    known = one or other
    if known is None or (one is not None and other is not None and one.array != other.array):
        return None
    if name == "__neg__":
        return sparsity.new(run, known._replace(format=None))
    if name == "__matmul__" or (name == "__mul__" and not known.array and not _is_scalar(left, right)):
        return _product(run, left, right)
    if name in ("__mul__", "__truediv__") and _is_scalar(left, right):
        if one is None and name == "__truediv__":
            return None
        number = right if one is not None else left
        kind = promote((_whole(known), number)) if name == "__mul__" else _divided(known)
        return sparsity.new(run, known.of_type(TensorType(known.type.shape, kind)))
    if name == "__mul__":
        return _by_element(run, left, right)
    if name in ("__add__", "__sub__"):
        return _sum_of_two(run, left, right)
    if name == "__pow__" and one is not None and known.array and isinstance(right, int):
        return sparsity.new(run, one._replace(format=None))
    if name in _COMPARISONS and one is not None:
        alike = other is not None and one.type.shape == other.type.shape
        if alike or (isinstance(right, int | float) and not isinstance(right, bool)):
            return _made(run, one.type.shape, BOOL, array=one.array)
    return None


def _divided(known: Matrix) -> DType | None:
    return FLOAT64 if known.type.dtype == FLOAT64 else None  # of others it depends on the format


def _is_scalar(left: Value, right: Value) -> bool:
    """Whether one of the two is a number."""
    for value in (left, right):
        if isinstance(value, int | float | Expr) or (isinstance(value, Unknown) and value.type in ("int", "float")):
            return True
        if isinstance(value, Tensor) and value.array and value.type.shape.rank == 0:
            return True
    return False


def _operand(value: Value) -> Tensor | None:
    """One of a product: what is sparse, or an array of one or two dims, as an array."""
    known = _sparse(value)
    if known is not None:
        return _whole(known) if known.type.shape.rank == 2 else None
    return value if isinstance(value, Tensor) and value.array and value.type.shape.rank in (1, 2) else None


def _product(run: Interpreter, left: Value, right: Value) -> Value:
    """``(n, k) @ (k, m) -> (n, m)``: an array if one of the two is."""
    rows = [_operand(v) for v in (left, right)]
    if rows[0] is None or rows[1] is None:
        return None
    kind = promote((rows[0], rows[1]))
    found = by_rule(run, "Tensor.__matmul__", (rows[0], rows[1]), {}, kind)
    known = _sparse(left)
    if known is not None and _sparse(right) is not None and isinstance(found, Tensor):
        return _made(run, found.type.shape, kind, array=known.array)
    return found


def _same_shape(left: Value, right: Value) -> Shape | None:
    rows = [_operand(v) for v in (left, right)]
    if rows[0] is None or rows[1] is None:
        return None
    shape = rows[0].type.shape
    return shape if shape.rank == 2 and shape == rows[1].type.shape and UNKNOWN not in shape.dims else None


def _both(left: Value, right: Value) -> DType | None:
    rows = [_operand(v) for v in (left, right)]
    return None if rows[0] is None or rows[1] is None else promote((rows[0], rows[1]))


def _by_element(run: Interpreter, left: Value, right: Value) -> Value:
    """A product of each number with the one at its place: sparse."""
    known, shape = _sparse(left) or _sparse(right), _same_shape(left, right)
    if known is None or shape is None:
        return None
    return _made(run, shape, _both(left, right), array=known.array)


def _sum_of_two(run: Interpreter, left: Value, right: Value) -> Value:
    """Sparse if both are, else dense."""
    known = _sparse(left) or _sparse(right)
    if known is None:
        return None
    if any(type(v) is int and v == 0 for v in (left, right)):
        return sparsity.new(run, known._replace(format=None))
    shape = _same_shape(left, right)
    if shape is None:
        return None
    kind = _both(left, right)
    if _sparse(left) is not None and _sparse(right) is not None:
        return _made(run, shape, kind, array=known.array)
    return _dense(run, known, shape, kind)


sparsity.OPERATORS[MATRIX] = _operator


# -- methods ---------------------------------------------------------------------------------------------------------


def _to_format(format: str) -> Callable[..., Value]:
    return lambda run, args, kwargs: sparsity.new(run, args[0].matrix._replace(format=format))


def _as_format(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    format = argument(run, args, kwargs, 1, "format")
    known = args[0].matrix
    return sparsity.new(run, known._replace(format=format if format in _FORMATS else None))


def _copied(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return sparsity.new(run, args[0].matrix)


def _typed(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = args[0].matrix
    kind = as_dtype(argument(run, args, kwargs, 1, "dtype"))
    return sparsity.new(run, known.of_type(TensorType(known.type.shape, None if kind == FLOAT16 else kind)))


_TURNED: Final = {"coo": "coo", "csr": "csc", "csc": "csr", "lil": "lil", "dok": "dok"}


def _transposed(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = args[0].matrix
    items = known.type.shape.items if known.type.shape.is_exact else None
    if items is None or len(args) > 1 or not kwargs.keys() <= {"copy"}:
        return run.unknown("a sparse matrix")
    format = _TURNED.get(known.format or "")
    return _made(run, Shape(tuple(reversed(items))), known.type.dtype, format, array=known.array)


def _to_array(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = args[0].matrix
    return array(known.type.shape, known.type.dtype)


def _to_dense(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = args[0].matrix
    return _dense(run, known, known.type.shape, known.type.dtype)


def _dot(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    other = argument(run, args, kwargs, 1, "other")
    if isinstance(other, Choice):
        return run.each(other, lambda v: _dot(run, (args[0], v), {}))
    if _is_scalar(other, other):
        return _operator(run, "__mul__", args[0], other)
    found = _operator(run, "__matmul__", args[0], other)
    return run.unknown("a product of a sparse matrix") if found is None else found


def _multiply(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The product of each number with another, which stands at its place, in its row or in its column."""
    known, other = args[0].matrix, argument(run, args, kwargs, 1, "other")
    found = None
    if isinstance(other, Choice):
        return run.each(other, lambda v: _multiply(run, (args[0], v), {}))
    if _is_scalar(other, other):
        found = _operator(run, "__mul__", args[0], other)
    elif matrix_of(other) is None or _sparse(other) is not None:
        found = _by_element(run, args[0], other) or _stretched(run, known, other)
    return run.unknown("a product of a sparse matrix") if found is None else found


def _stretched(run: Interpreter, known: Matrix, other: Value) -> Value:
    """``(n, m) * (n, 1)`` and ``(n, m) * (1, m)``; None of anything else."""
    factor, sizes = _operand(other), _two(known)
    if factor is None or sizes is None or factor.type.shape.rank != 2:
        return None
    rows, columns = factor.type.shape.dims
    if (rows, columns) not in ((sizes[0], 1), (1, sizes[1])):
        return None
    return _made(run, known.type.shape, promote((_whole(known), factor)), array=known.array)


def _power(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known, exponent = args[0].matrix, argument(run, args, kwargs, 1, "n")
    kind = known.type.dtype
    keeps = kind is not None and kind.category == "float" and isinstance(exponent, int | float)
    return _made(run, known.type.shape, kind if keeps else None, array=known.array)


def _summed(dtype: DType | None) -> DType | None:
    if dtype is None or dtype.category in ("float", "complex"):
        return dtype
    return BY_TORCH_NAME["uint64"] if dtype.unsigned else INT64


def _averaged(dtype: DType | None) -> DType | None:
    if dtype is None or dtype.category == "float":
        return dtype
    return None if dtype.category == "complex" else FLOAT64


def _reduced(kind: Callable[[DType | None], DType | None]) -> Callable[..., Value]:
    """``(n, m) -> (n, 1)`` or ``(1, m)``, of the newer classes ``(n)`` or ``(m)``; without an axis a number."""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        known, axis = args[0].matrix, argument(run, args, kwargs, 1, "axis")
        dtype = as_dtype(argument(run, args, kwargs, 2, "dtype"), kind(known.type.dtype))
        if "out" in kwargs or len(args) > 3:
            return run.unknown("a sum of a sparse matrix")
        if axis is None:
            return array(Shape(()), dtype)
        sizes = _two(known)
        if sizes is None or axis not in (0, 1, -1, -2):
            return run.unknown("a sum of a sparse matrix")
        rows, columns = sizes
        if known.array:
            return array(Shape((columns if axis % 2 == 0 else rows,)), dtype)
        return _dense(run, known, Shape((1, columns) if axis % 2 == 0 else (rows, 1)), dtype)

    return work


def _diagonal(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = args[0].matrix
    if len(args) > 1 or kwargs or known.type.shape.rank != 2:
        return array(Shape((UNKNOWN,)), known.type.dtype)
    return by_rule(run, "torch.diagonal", (_whole(known),), {}, known.type.dtype)


def _nothing(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None


def _nonzero(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Two arrays ``(k)``: the rows and columns of what isn't zero."""
    if args[0].matrix.type.shape.rank != 2:
        return run.unknown("where a sparse matrix isn't zero")
    return (array(Shape((UNKNOWN,)), None), array(Shape((UNKNOWN,)), None))


def _row_or_column(place: int) -> Callable[..., Value]:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        known = args[0].matrix
        sizes = None if known.array else _two(known)
        if sizes is None:
            return run.unknown("a row of a sparse matrix")
        return _made(run, Shape((1, sizes[1]) if place == 0 else (sizes[0], 1)), known.type.dtype)

    return work


_METHODS: Final[dict[str, Callable[..., Value]]] = {
    **{f"to{name}": _to_format(name) for name in _FORMATS},
    **dict.fromkeys(("sort_indices", "sum_duplicates", "eliminate_zeros", "prune", "setdiag"), _nothing),
    "asformat": _as_format,
    "copy": _copied,
    "astype": _typed,
    "transpose": _transposed,
    "toarray": _to_array,
    "todense": _to_dense,
    "dot": _dot,
    "multiply": _multiply,
    "power": _power,
    "sum": _reduced(_summed),
    "mean": _reduced(_averaged),
    "diagonal": _diagonal,
    "nonzero": _nonzero,
    "getrow": _row_or_column(0),
    "getcol": _row_or_column(1),
}


def _attribute(run: Interpreter, value: Unknown, name: str) -> Value:
    known = value.matrix
    assert known is not None
    if name == "resize":
        sparsity.forget(value)
        return None
    if name in ("shape", "dtype", "ndim"):
        found = run.attribute(_whole(known), name)
        return tuple(found) if isinstance(found, tuple) else found
    if name == "T":
        return _transposed(run, (value,), {})
    if name == "format":
        return known.format
    if name == "nnz":
        return run.unknown("how many numbers a sparse matrix keeps", "int", "data")
    if name in ("row", "col", "indices", "indptr"):  # who has these has them as one row
        return array(Shape((UNKNOWN,)), None)
    if name == "data" and known.format in ("coo", "csr", "csc"):
        return array(Shape((UNKNOWN,)), known.type.dtype)
    return _bound(value, name, _METHODS)


def _bound(value: Unknown, name: str, methods: dict[str, Callable[..., Value]]) -> Native | None:
    work = methods.get(name)
    if work is None:
        return None

    def call(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if value.matrix is None:  # since then it was changed
            return run.unknown(f"what {name} gives")
        return work(run, (value, *args), kwargs)

    return Native(name, call)


sparsity.ATTRIBUTES[MATRIX] = _attribute


# -- rows and columns ------------------------------------------------------------------------------------------------


def _item(run: Interpreter, value: Unknown, index: Value) -> Value:
    """``m[i]``, ``m[a:b]``, ``m[rows]``, ``m[:, j]``: a matrix has two dims whatever is taken of it."""
    known = value.matrix
    sizes = None if known is None else _two(known)
    parts = index if isinstance(index, tuple) else (index,)
    if known is None or sizes is None or not 1 <= len(parts) <= 2:
        return None
    indexes = [run.resolve(p) for p in (*parts, *(slice(None),) * (2 - len(parts)))]
    if all(_is_row(i) for i in indexes) or all(map(_is_one, indexes)):
        return None  # numbers at places, or one number
    if known.array and any(map(_is_one, indexes)):
        return None
    dims = [_taken(run, d, i) for d, i in zip(sizes, indexes, strict=True)]
    if dims[0] is None or dims[1] is None:
        return None
    format = known.format if known.format in ("csr", "csc", "lil") and not known.array else None
    return _made(run, Shape((dims[0], dims[1])), known.type.dtype, format, array=known.array)


def _is_row(index: Value) -> bool:
    return isinstance(index, List | Tensor | range)


def _is_one(index: Value) -> bool:
    return is_int(index) or (isinstance(index, Unknown) and index.type == "int")


def _taken(run: Interpreter, size: Item, index: Value) -> Item | None:
    """How many an index takes; None where that isn't known to be a number of them."""
    if _is_one(index):
        return 1
    if isinstance(index, List | range):
        index = as_array(run, index)
    plain = isinstance(index, Tensor) and index.array and index.type.shape.rank == 1
    if not plain and not isinstance(index, slice):
        return None
    if isinstance(index, slice) and isinstance(index.step, int) and index.step < 0:
        return UNKNOWN
    found = by_rule(run, "Tensor.__getitem__", (array(Shape((size,)), None), index), {})
    return found.type.shape.dims[0] if isinstance(found, Tensor) and found.type.shape.rank == 1 else None


sparsity.ITEMS[MATRIX] = _item


# -- NumPy's matrix --------------------------------------------------------------------------------------------------


def _flat(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(n * m)``: the numbers of a matrix as an array."""
    known = args[0].matrix
    return by_rule(run, "torch.flatten", (_whole(known),), {}, known.type.dtype)


def _one_row(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``(1, n * m)``: it stays a matrix."""
    found = _flat(run, args, kwargs)
    if not isinstance(found, Tensor) or found.type.shape.rank != 1:
        return run.unknown("a matrix of one row")
    return sparsity.new(run, args[0].matrix.of_type(TensorType(Shape((1, *found.type.shape.items)), found.type.dtype)))


def _turned(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    known = args[0].matrix
    items = tuple(reversed(known.type.shape.items))
    return sparsity.new(run, known.of_type(TensorType(Shape(items), known.type.dtype)))


_OF_DENSE: Final[dict[str, Callable[..., Value]]] = {
    "getA": _to_array, "getA1": _flat, "flatten": _one_row, "ravel": _one_row, "copy": _copied, "astype": _typed,
    "transpose": _turned, "getT": _turned,
}  # fmt: skip
_READ: Final = {"A": "getA", "A1": "getA1", "T": "getT"}


def _of_dense(run: Interpreter, value: Unknown, name: str) -> Value:
    known = value.matrix
    assert known is not None
    if name in ("shape", "dtype", "ndim"):
        found = run.attribute(_whole(known), name)
        return tuple(found) if isinstance(found, tuple) else found
    if name == "resize":
        sparsity.forget(value)
        return None
    if name in _READ:
        return _OF_DENSE[_READ[name]](run, (value,), {})
    return _bound(value, name, _OF_DENSE)


sparsity.ATTRIBUTES[DENSE] = _of_dense
