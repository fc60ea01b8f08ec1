"""torch's sparse tensors: shapes and dtypes of what makes them, of products, and of what few operations they have.

What isn't here is unknown, as most of torch's operations refuse them, or do so for one of the formats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from simpletorch.follow import tensors
from simpletorch.follow.libraries import by_name, method, model, native
from simpletorch.follow.marks import sparsity
from simpletorch.follow.marks.sparsity import TENSOR, Matrix, matrix_of
from simpletorch.follow.values import List, Native, Tensor, Unknown, Value, is_int
from simpletorch.rules import Report, TensorType, infer
from simpletorch.rules.core.dtype import BY_TORCH_NAME, FLOAT32, FLOAT64, INT32, INT64, DType
from simpletorch.shapes import UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["KIND", "of_sparse"]

KIND: Final = TENSOR
_LAYOUTS: Final = ("coo", "csr", "csc", "bsr", "bsc")


def _type_of(value: Value) -> TensorType | None:
    """Shape and dtype of a tensor, sparse or not; None of anything else."""
    known = matrix_of(value)
    if known is not None:
        return known.type if known.kind == TENSOR else None
    return value.type if isinstance(value, Tensor) and not value.array else None


def _made(run: Interpreter, type: TensorType, format: str | None, *, plain: bool = False) -> Unknown:
    return sparsity.new(run, Matrix(TENSOR, TensorType(type.shape, type.dtype), format, plain=plain))


def _unknown(run: Interpreter) -> Unknown:
    return run.unknown("a sparse tensor", TENSOR)


# -- made ------------------------------------------------------------------------------------------------------------


def _size(run: Interpreter, value: Value) -> Shape | None:
    """The shape that ``size=`` means."""
    value = run.resolve(value)
    items = run.items(value) if isinstance(value, tuple | List) else None
    if not items:
        return None
    dims = [run.resolve(v) for v in items]
    known = [d if is_int(d) else UNKNOWN if isinstance(d, Unknown) and d.type == "int" else None for d in dims]
    return None if any(d is None for d in known) else Shape(tuple(d for d in known if d is not None))


def _of_values(run: Interpreter, value: Value) -> TensorType | None:
    """The type of the numbers, in a tensor or in a list."""
    value = run.resolve(value)
    if isinstance(value, List | tuple):
        value = run.call(run.program.library(run, "torch.tensor"), (value,))
    return value.type if isinstance(value, Tensor) and not value.array else None


def _dtype(run: Interpreter, asked: Value, values: TensorType | None) -> DType | None:
    asked = run.resolve(asked)
    if asked is None:
        return None if values is None else values.dtype
    named = tensors.to_rule(asked)
    return named if isinstance(named, DType) else None


@native("torch.sparse_coo_tensor")
def _coo(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Indices ``(d, k)`` and values ``(k, *rest)`` give one of ``d`` sparse dims, and those of ``rest``."""
    return _coo_of(run, by_name("indices values size", args, kwargs))


def _coo_of(run: Interpreter, given: dict[str, Value], dtype: DType | None = None) -> Value:
    if "indices" not in given or "values" not in given:
        return _unknown(run)
    places, values = (_of_values(run, given[name]) for name in ("indices", "values"))
    kind = dtype or _dtype(run, given.get("dtype"), values)
    shape = _size(run, given.get("size"))
    plain = values is not None and values.shape.rank == 1
    if shape is None and run.resolve(given.get("size")) is None and plain and places is not None:
        count = places.shape.dim(0) if places.shape.rank == 2 else None
        shape = Shape((UNKNOWN,) * count) if isinstance(count, int) else None
    return _unknown(run) if shape is None else _made(run, TensorType(shape, kind), "coo", plain=plain)


def _compressed(format: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = by_name("outer inner values size", args, kwargs)
        shape, values = _size(run, given.get("size")), _of_values(run, given.get("values"))
        if shape is None:
            return _unknown(run)
        return _made(run, TensorType(shape, _dtype(run, given.get("dtype"), values)), format)

    return work


for _name in _LAYOUTS[1:]:
    native(f"torch.sparse_{_name}_tensor")(_compressed(_name))


@native("torch.sparse_compressed_tensor")
def _some_compressed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _unknown(run)


def _legacy(kind: DType) -> Callable[..., Value]:
    return lambda run, args, kwargs: _coo_of(run, by_name("indices values size", args, kwargs), kind)


_LEGACY: Final = {"FloatTensor": FLOAT32, "DoubleTensor": FLOAT64, "IntTensor": INT32, "LongTensor": INT64}
for _name, _kind in [(f"{w}.{n}", d) for n, d in _LEGACY.items() for w in ("torch.sparse", "torch.cuda.sparse")]:
    native(_name)(_legacy(_kind))


def _to_format(format: str | None) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        found = _type_of(run.resolve(args[0]))
        known = matrix_of(run.resolve(args[0]))
        alone = len(args) == 1 and not kwargs
        if found is None or not (alone or format in ("bsr", "bsc")):
            return _unknown(run)
        plain = alone and (known is None or known.plain)
        return _made(run, found, format, plain=plain)

    return work


method(Tensor, "to_sparse", "to_sparse_coo")(_to_format("coo"))
for _name in _LAYOUTS[1:]:
    method(Tensor, f"to_sparse_{_name}")(_to_format(_name))


# -- operations ------------------------------------------------------------------------------------------------------

_PRODUCTS: Final = ("mm", "matmul", "mv", "__matmul__", "__rmatmul__")
_SCALED: Final = ("mul", "div", "__mul__", "__rmul__", "__truediv__", "multiply", "divide")
_SUMS: Final = ("add", "sub", "__add__", "__radd__", "__sub__", "__rsub__")
_MOVED: Final = ("t", "transpose")


def _operation(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What torch's operations of dense tensors give of sparse ones: None where the two differ, or nobody knows."""
    short = name.rpartition(".")[2]
    if not name.startswith(("torch.", "Tensor.")) or name.count(".") > 1 or tensors.autocast(run) is not None:
        return None
    if short in _PRODUCTS and len(args) == 2 and not kwargs:
        return _product(run, name, args)
    known = matrix_of(args[0])
    if short in _SCALED and len(args) == 2 and not kwargs:
        return _scaled(run, name, args)
    if short in _SUMS and len(args) == 2 and not kwargs:
        return _sum_of_two(run, name, args)
    if known is None or known.type.shape.rank is None:
        return None
    if short in ("neg", "__neg__") and len(args) == 1:
        return sparsity.new(run, known)
    if short == "sum" and len(args) == 1 and not kwargs:
        return _inferred(run, "torch.sum", args)
    if short in _MOVED and known.type.shape.rank == 2:
        found = infer(name, (known.type, *map(tensors.to_rule, args[1:])), {})
        if not isinstance(found, TensorType) or kwargs:
            return None
        return _made(run, found, "coo" if known.format == "coo" else None, plain=known.plain)
    if short == "index_select" and known.format == "coo" and len(args) == 3 and not kwargs:
        found = infer(name, (known.type, *map(tensors.to_rule, args[1:])), {})
        return _made(run, found, "coo", plain=known.plain) if isinstance(found, TensorType) else None
    return None


sparsity.OPERATIONS[TENSOR] = _operation


def _inferred(run: Interpreter, name: str, args: tuple[Value, ...]) -> Value:
    """A dense tensor by the rule for dense ones, with what follows of its history; None where the rule refuses."""
    given = tuple(_type_of(a) or tensors.to_rule(a) for a in args)
    found = infer(name, given, {}) if run.is_plain else run.adapting(lambda: infer(name, given, {}), args)
    if isinstance(found, Report) and found.kind == "shape" and name.rpartition(".")[2] in _PRODUCTS:
        return run.report(found)
    if not isinstance(found, TensorType):
        return None
    made = tensors.by_rule(run, name, args, {})
    if not isinstance(made, Tensor):
        return tensors.made(run, found)
    run.heap.write(made.cells, "type", TensorType(found.shape, found.dtype, made.type.device))
    return made


def _product(run: Interpreter, name: str, args: tuple[Value, ...]) -> Value:
    """``(n, k) @ (k, m) -> (n, m)``: dense if one of the two is."""
    types = [_type_of(a) for a in args]
    if any(t is None or t.shape.rank not in (1, 2) for t in types):
        return None
    found = _inferred(run, name, args)
    if isinstance(found, Tensor) and all(matrix_of(a) is not None for a in args):
        return _made(run, found.type, None)
    return found


def _is_number(value: Value) -> bool:
    kind = _type_of(value)
    return isinstance(value, int | float) if kind is None else kind.shape.rank == 0


def _scaled(run: Interpreter, name: str, args: tuple[Value, ...]) -> Value:
    """What is sparse times, or by, a number; times another tensor. It stays sparse."""
    known = matrix_of(args[0]) or matrix_of(args[1])
    types = [_type_of(a) for a in args]
    if known is None or (matrix_of(args[0]) is None and "div" in name):
        return None
    known_sizes = "div" not in name and all(t is not None and t.shape.rank is not None for t in types)
    if not known_sizes and not any(map(_is_number, args)):
        return None
    given = [t or tensors.to_rule(a) for t, a in zip(types, args, strict=True)]
    found = infer(name, tuple(given), {})
    if not isinstance(found, TensorType):
        return None
    return _made(run, found, known.format, plain=known.plain and found.shape == known.type.shape)


def _sum_of_two(run: Interpreter, name: str, args: tuple[Value, ...]) -> Value:
    """What is sparse and sparse of the same sizes is sparse, dense and sparse is dense."""
    types = [_type_of(a) for a in args]
    if any(t is None or not t.shape.is_exact for t in types):
        return None
    found = infer(name, tuple(t for t in types if t is not None), {})
    if not isinstance(found, TensorType):
        return None
    first, second = map(matrix_of, args)
    if first is not None and second is not None:
        return sparsity.new(run, first.of_type(found)) if first.type.shape == second.type.shape else None
    first_is_dense = (first is None) is not name.rpartition(".")[2].startswith("__r")
    if first_is_dense and types[0] is not None and types[0].shape == (types[1] or types[0]).shape:
        return _inferred(run, name, args)
    return None


for _name in ("torch.sparse.mm", "torch.spmm", "torch.dsmm"):
    native(_name)(lambda run, args, kwargs: run.ask("torch.mm", args, kwargs))


@model("torch.sparse.sum")
def _sum(run: Interpreter, input: Value, dim: Value = None, dtype: Value = None) -> Value:
    """Over all dims a dense number, over some of them a sparse tensor."""
    known = matrix_of(input)
    if known is None or not known.plain or known.type.shape.rank is None:
        return run.unknown("a sum of a sparse tensor")
    kind = tensors.to_rule(dtype)
    if dim is None:
        found = infer("torch.sum", (known.type,), {"dtype": kind} if isinstance(kind, DType) else {})
        if isinstance(found, TensorType) and (kind is None or isinstance(kind, DType)):
            return tensors.made(run, found)
        return run.unknown("a sum of a sparse tensor")
    if isinstance(dim, int) and known.type.shape.rank > 1 and kind is None:
        found = infer("torch.sum", (known.type, dim), {})
        if isinstance(found, TensorType):
            return _made(run, TensorType(found.shape, known.type.dtype), "coo", plain=True)
    return run.unknown("a sum of a sparse tensor")


@native("torch.sparse.softmax", "torch.sparse.log_softmax")
def _softmax(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = {k: run.resolve(v) for k, v in by_name("input dim dtype", args, kwargs).items()}
    known = matrix_of(given.get("input"))
    if known is None:
        return _unknown(run)
    kind = given.get("dtype")
    dtype = known.type.dtype if kind is None else tensors.to_rule(kind)
    type_ = TensorType(known.type.shape, dtype if isinstance(dtype, DType) else None)
    return sparsity.new(run, known.of_type(type_))


_BINARY: Final = frozenset({"__add__", "__sub__", "__mul__", "__truediv__", "__matmul__"})


def _operator(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """``left <operator> right`` with a sparse one on the left, or on the right of a number."""
    if name == "__neg__":
        return _operation(run, "Tensor.__neg__", (left,), {})
    if name not in _BINARY or isinstance(left, Tensor):
        return None  # a dense one on the left asks by itself
    known = matrix_of(left)
    if known is not None and known.kind == TENSOR:
        return _operation(run, f"Tensor.{name}", (left, right), {})
    mirrored = name == "__mul__" and isinstance(left, int | float)
    return _operation(run, "Tensor.__rmul__", (right, left), {}) if mirrored else None


sparsity.OPERATORS[TENSOR] = _operator


# -- attributes ------------------------------------------------------------------------------------------------------

_SAME: Final = frozenset({"coalesce", "clone", "contiguous", "detach", "cpu", "cuda", "pin_memory"})
_DTYPES: Final = frozenset({"float", "double", "half", "bfloat16", "int", "long", "short", "bool"})
_SIZES: Final = frozenset({"size", "dim", "numel", "ndimension", "nelement", "__len__"})
_OTHERS: Final = frozenset({"t", "transpose", "index_select", "mm", "matmul", "mv", "mul", "div", "add", "sub", "neg",
                           "sum"})  # fmt: skip
_KEEPS: Final = frozenset({
    *_SAME, *_DTYPES, "to", "t", "transpose", "requires_grad_", "to_sparse", *(f"to_sparse_{n}" for n in _LAYOUTS),
})  # fmt: skip
_CHANGES: Final = frozenset({"t_", "transpose_", "resize_", "sparse_resize_", "sparse_resize_and_clear_", "set_",
                             "copy_sparse_to_sparse_", "resize_as_", "resize_as_sparse_", "swapaxes_", "swapdims_",
                             "squeeze_", "unsqueeze_"})  # fmt: skip


def _attribute(run: Interpreter, value: Unknown, name: str) -> Value:
    known = value.matrix
    assert known is not None
    if name in _CHANGES:
        sparsity.forget(value)
        return None
    whole = Tensor(known.type)
    if name in ("shape", "dtype", "ndim"):
        return run.attribute(whole, name)
    if name == "is_sparse":
        return True if known.format == "coo" else None
    if name == "T":
        return _transposed(run, known) if known.format == "coo" and known.type.shape.rank == 2 else None
    work = _METHODS.get(name)
    if work is None:
        return None
    return Native(f"Tensor.{name}", lambda run, args, kwargs: work(run, (value, *args), kwargs))


def _transposed(run: Interpreter, known: Matrix) -> Value:
    shape = known.type.shape
    type_ = TensorType(Shape(tuple(reversed(shape.items))), known.type.dtype)
    return _made(run, type_, "coo" if known.format == "coo" else None, plain=known.plain)


def _asked(name: str) -> Callable[..., Value]:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        found = _operation(run, f"Tensor.{name}", tuple(map(run.resolve, args)), kwargs)
        return run.unknown(f"what {name} of a sparse tensor gives") if found is None else found

    return work


def _about(name: str) -> Callable[..., Value]:
    """What is said of its sizes."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        known = matrix_of(args[0])
        if known is None:
            return run.unknown(f"{name} of a sparse tensor")
        return run.ask(f"Tensor.{name}", (Tensor(known.type), *args[1:]), kwargs)

    return work


def _copied(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    known = matrix_of(args[0])
    return _unknown(run) if known is None else sparsity.new(run, known)


def _with_dtype(name: str) -> Callable[..., Value]:
    kind = BY_TORCH_NAME[name]

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        known = matrix_of(args[0])
        return _unknown(run) if known is None else sparsity.new(run, known.of_type(TensorType(known.type.shape, kind)))

    return work


def _to(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """By torch's rule for dense ones; the format remains."""
    known = matrix_of(args[0])
    given = [tensors.to_rule(run.resolve(a)) for a in args[1:]]
    if known is None or any(isinstance(g, TensorType) for g in given):
        return _unknown(run)
    found = infer("Tensor.to", (known.type, *given), {k: tensors.to_rule(run.resolve(v)) for k, v in kwargs.items()})
    kind = found.dtype if isinstance(found, TensorType) else None
    return sparsity.new(run, known.of_type(TensorType(known.type.shape, kind)))


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _to_dense(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    known = matrix_of(args[0])
    if known is None or len(args) > 1 or kwargs:
        return run.unknown("what to_dense() gives")
    return tensors.made(run, known.type)


def _indices(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(d, k)``: where its ``k`` numbers are."""
    known = matrix_of(args[0])
    if known is None or known.format != "coo" or not known.plain:
        return run.unknown("where the numbers of a sparse tensor are")
    rank = known.type.shape.rank
    return tensors.made(run, TensorType(Shape((UNKNOWN if rank is None else rank, UNKNOWN)), INT64))


def _values(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``(k)``"""
    known = matrix_of(args[0])
    if known is None or not known.plain:
        return run.unknown("the numbers of a sparse tensor")
    return tensors.made(run, TensorType(Shape((UNKNOWN,)), known.type.dtype))


def _count(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("how many numbers a sparse tensor keeps", "int", "data")


_METHODS: Final[dict[str, Callable[..., Value]]] = {
    **{name: _asked(name) for name in _OTHERS},
    **{name: _about(name) for name in _SIZES},
    **dict.fromkeys(_SAME, _copied),
    **{name: _with_dtype(name) for name in _DTYPES},
    **{f"to_sparse_{name}": _to_format(name) for name in _LAYOUTS},
    "to_sparse": _to_format("coo"),
    "to": _to,
    "requires_grad_": _itself,
    "to_dense": _to_dense,
    "indices": _indices,
    "_indices": _indices,
    "values": _values,
    "_values": _values,
    "_nnz": _count,
}
sparsity.ATTRIBUTES[TENSOR] = _attribute


def of_sparse(owner: Unknown, name: str) -> Native | None:
    """A method of a sparse tensor of which no more is known; None of all others."""
    if name in _KEEPS:
        return Native(f"Tensor.{name}", lambda run, args, kwargs: _unknown(run))
    return Native("Tensor.numpy", _to_numpy) if name == "numpy" else None


def _to_numpy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.report(Report("numpy", "layout", "a sparse tensor can't become a NumPy array", {}, ".to_dense().numpy()"))
    return run.unknown("an error was found here")
