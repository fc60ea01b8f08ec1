"""NumPy's arrays: their dtypes, and their shapes by the rules of torch's operations, which are the same.

A dtype that depends on the version of NumPy (a ``float64`` scalar times a ``float32`` array) isn't known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow import branches, iteration, tensors
from simpletorch.follow.memory.answers import answer
from simpletorch.follow.numbers import indexes, offsets, sizes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Choice, Class, Dict, Instance, List, Tensor, Unknown, Value
from simpletorch.rules import Many, Named, Report, TensorType, infer
from simpletorch.rules.core.dtype import (
    BOOL,
    BY_TORCH_NAME,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT64,
    DType,
)
from simpletorch.shapes import ANY_REST, UNKNOWN, Expr, Item, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "ANY",
    "Strong",
    "argument",
    "array",
    "as_array",
    "as_dtype",
    "as_tensor",
    "by_rule",
    "floating",
    "is_hidden",
    "is_vague",
    "only_float",
    "promote",
    "reduced",
    "shape_of",
    "with_size",
    "wrap",
    "write_into",
]

ANY: Final = Shape((ANY_REST,))
NAMES: Final[dict[str, DType]] = {
    **{n: d for n, d in BY_TORCH_NAME.items() if n not in ("half", "float", "double", "int", "long", "short")},
    "bool_": BOOL, "int": INT64, "int_": INT64, "intp": INT64, "float": FLOAT64, "float_": FLOAT64, "double": FLOAT64,
    "single": FLOAT32, "half": FLOAT16, "long": INT64, "complex": COMPLEX128,
}  # fmt: skip
_CODES: Final = {"f": "float", "i": "int", "u": "uint"}


@final
class Strong(float):
    """A float of NumPy's whose value is known: unlike Python's, it has a dtype of its own."""

    __slots__ = ()


Strong.__name__ = "float"


def _kept(name: str) -> Any:
    """A float's operator whose result is NumPy's again."""
    compute = getattr(float, name)

    def work(self: float, other: Any) -> Any:
        found = compute(self, other)
        return Strong(found) if isinstance(found, float) else found

    return work


for _operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "radd", "rsub", "rmul", "rtruediv", "rpow"):
    setattr(Strong, f"__{_operator}__", _kept(f"__{_operator}__"))


def array(shape: Shape, dtype: DType | None) -> Tensor:
    """A new array."""
    return Tensor(TensorType(shape, dtype), array=True)


def argument(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value], place: int, *names: str) -> Value:
    """An argument by its place or one of its names, None where it isn't given."""
    if len(args) > place:
        return run.resolve(args[place])
    return next((run.resolve(kwargs[n]) for n in names if n in kwargs), None)


STRUCTURED: Final = "dtype with fields"
"""The type of an unknown dtype that surely has fields."""


def as_dtype(value: Value, default: DType | None = None) -> DType | None:
    """The dtype that an argument ``dtype=`` means; None where it isn't known."""
    if value is None:
        return default
    if isinstance(value, DType):
        return value
    if isinstance(value, Class):
        return NAMES.get(value.name) if value.module == "builtins" else None
    if isinstance(value, str):
        text = value.lstrip("<=|>")
        if text[:1] in _CODES and text[1:].isdigit():
            text = f"{_CODES[text[0]]}{int(text[1:]) * 8}"
        return NAMES.get({"f": "float32", "d": "float64", "?": "bool", "b": "int8", "i": "int32"}.get(text, text))
    return None


def is_structured(run: Interpreter, dtype: Value) -> bool:
    """Whether an element is no number: it has fields (``[("x", "f4")]``, ``"f4, f4"``, ``"3f4"``), or is an object."""
    dtype = run.resolve(dtype)
    if isinstance(dtype, Class):
        return dtype.qualified in ("builtins.object", "numpy.object_")
    if isinstance(dtype, str):
        return "," in dtype or dtype[:1].isdigit() or dtype in ("O", "object")
    return isinstance(dtype, List | Dict | tuple) or (isinstance(dtype, Unknown) and dtype.type == STRUCTURED)


# -- promotion -------------------------------------------------------------------------------------------------------


def floating(dtype: DType | None) -> DType | None:
    """The dtype in which a number of another one has a square root."""
    if dtype is None or dtype.category in ("float", "complex"):
        return dtype
    return FLOAT16 if dtype.bits == 8 else FLOAT32 if dtype.bits == 16 else FLOAT64


def _of_two(a: DType, b: DType) -> DType | None:
    if a == b or b == BOOL:
        return a
    if a == BOOL:
        return b
    if "complex" in (a.category, b.category):
        widest = max(32 if d.category != "complex" else d.bits // 2 for d in (a, b))
        parts = [d if d.category == "float" else floating(d) for d in (a, b) if d.category != "complex"]
        return COMPLEX128 if max([widest, *(d.bits for d in parts if d)]) > 32 else COMPLEX64
    if "float" in (a.category, b.category):
        parts = [floating(a), floating(b)]
        return max((d for d in parts if d is not None), key=lambda d: d.bits)
    if a.unsigned == b.unsigned:
        return a if a.bits > b.bits else b
    unsigned, signed = (a, b) if a.unsigned else (b, a)
    bits = max(signed.bits, 2 * unsigned.bits)
    return FLOAT64 if bits > 64 else BY_TORCH_NAME[f"int{bits}"]


def promote(operands: Sequence[Value]) -> DType | None:
    """The dtype of what an operation makes of arrays and numbers."""
    strong = [v.type.dtype for v in operands if isinstance(v, Tensor)]
    scalars = [v.type.dtype for v in operands if isinstance(v, Tensor) and v.type.shape.rank != 0]
    out: DType | None = BOOL
    for d in strong:
        out = None if out is None or d is None else _of_two(out, d)
    if scalars and len(scalars) < len(strong):
        ranked: DType | None = BOOL
        for d in scalars:
            ranked = None if ranked is None or d is None else _of_two(ranked, d)
        if ranked != out:
            return None  # NumPy 1 lets a scalar count for less
    for v in operands:
        if not isinstance(v, Tensor) and out is not None:
            out = _with_number(out, v, bool(strong))
    return out


def _with_number(dtype: DType, value: Value, has_arrays: bool) -> DType | None:
    """A number of Python's counts by its kind alone."""
    if isinstance(value, Strong):
        return dtype if dtype.bits >= 64 and dtype.category in ("float", "complex") else (
            None if dtype.category in ("float", "complex") and has_arrays else FLOAT64
        )  # fmt: skip
    kind = branches.type_name(value)
    if isinstance(value, complex):
        return COMPLEX128 if dtype in (FLOAT64, COMPLEX128) or dtype.category in ("bool", "int") else COMPLEX64
    if kind == "bool":
        return dtype
    if kind == "int":
        return INT64 if dtype == BOOL else dtype
    if kind == "float":
        return FLOAT64 if dtype.category in ("bool", "int") else dtype
    return None


# -- values as arrays ------------------------------------------------------------------------------------------------


def is_vague(value: Value) -> bool:
    """Whether not even the rank of what this would be as an array is known."""
    return isinstance(value, Unknown | Choice) and getattr(value, "type", None) is None


def is_hidden(value: Value) -> bool:
    """The same, or it depends on an unknown condition."""
    return is_vague(value) or isinstance(value, Choice)


def as_array(run: Interpreter, value: Value) -> Tensor:
    """``np.asarray(value)``."""
    value = run.resolve(value)
    if isinstance(value, Tensor) and value.array:
        return value
    made = Tensor(_data(run, value), array=True)
    made.numbers = indexes.written_out(value)
    return made


def _data(run: Interpreter, value: Value) -> TensorType:
    value = run.resolve(value)
    if isinstance(value, Choice):
        return branches.common_type(_data(run, value.when_true), _data(run, value.when_false))
    if isinstance(value, Tensor):
        return TensorType(value.type.shape, value.type.dtype)
    if isinstance(value, tuple | List | range):
        return _nested(run, value)
    if isinstance(value, Instance) and value.cls.find("__array__") is not None:  # an image of PIL's
        return _data(run, run.call(run.attribute(value, "__array__"), ()))
    kind = branches.type_name(value)
    if kind is None:
        return TensorType()
    return TensorType(Shape(()), {"bool": BOOL, "int": INT64, "float": FLOAT64}.get(kind))


def _nested(run: Interpreter, value: Value) -> TensorType:
    items = run.items(value)
    if items is None:
        if isinstance(value, range):
            return TensorType(Shape((len(value),)), INT64)
        one = _data(run, iteration.item(run, value))
        return TensorType(Shape((UNKNOWN, *one.shape.items)), one.dtype)
    if not items:
        return TensorType(Shape((0,)), FLOAT64)
    kinds = [_data(run, v) for v in items]
    out = kinds[0]
    for k in kinds[1:]:
        dtype = None if out.dtype is None or k.dtype is None else _of_two(out.dtype, k.dtype)
        out = replace(branches.common_type(out, k), dtype=dtype)
    return TensorType(Shape((len(items), *out.shape.items)), out.dtype)


def only_float(dtype: DType | None) -> DType | None:
    """The dtype of floats; of other numbers versions of NumPy and machines differ in what they give."""
    return dtype if dtype is not None and dtype.category == "float" else None


def with_size(given: Tensor, place: int, size: Item) -> Tensor:
    """An array like this one of which a dim has another size."""
    dims: list[Item] = list(given.type.shape.dims)
    dims[place] = size
    return array(Shape(tuple(dims)), given.type.dtype)


def write_into(run: Interpreter, a: Value, /, *more: Value, **rest: Value) -> Value:
    """A function that changes the numbers of the array which it is given first."""
    indexes.spoil(run, a)
    return None


def reduced(
    run: Interpreter, given: Tensor, axis: Value, keep: Value, dtype: DType | None, rule: str = "torch.sum"
) -> Value:
    """What is left of an array along an axis, or of all of it: ``(*a, n, *b) -> (*a, *b)``."""
    if isinstance(axis, Unknown | Choice) or not isinstance(keep, bool):
        return array(ANY, dtype)
    if axis is not None:
        return by_rule(run, rule, (given,), {"dim": axis, "keepdim": keep}, dtype)
    if not keep:
        return array(Shape(()), dtype)
    return array(ANY if given.type.shape.rank is None else Shape((1,) * given.type.shape.rank), dtype)


def shape_of(run: Interpreter, value: Value) -> Shape:
    """The shape that an argument ``shape=`` or ``size=`` means."""
    value = run.resolve(value)
    if value is None:
        return Shape(())
    if isinstance(value, int | Expr):
        return Shape((value,))
    if isinstance(value, Unknown) and value.type == "int":
        return Shape((sizes.named_dim(run, value),))
    if isinstance(value, Tensor) and value.type.shape.rank == 0:
        return Shape((UNKNOWN,))
    found = run.items(value) if isinstance(value, tuple | List) else None
    if found is None:
        return ANY
    return Shape(tuple(sizes.named_dim(run, v) for v in map(run.resolve, found)))


# -- rules -----------------------------------------------------------------------------------------------------------


def by_rule(
    run: Interpreter,
    name: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value] | None = None,
    dtype: DType | None = None,
) -> Value:
    """What NumPy's operation gives whose shapes are those of torch's: arrays of this dtype."""
    by_name = {k: tensors.to_rule(_plain(v)) for k, v in (kwargs or {}).items()}
    index = 1 if name in ("Tensor.__getitem__", "Tensor.__setitem__") else None
    if index is not None and _is_of_objects(args[0]):
        return run.unknown("an item of what an array of objects holds")
    given = tuple(
        tensors.to_rule(as_tensor(offsets.placed(v)) if i == index else _plain(v)) for i, v in enumerate(args)
    )
    if run.is_plain and not run.equalities["sizes"]:
        found = answer(name, given, by_name, lambda: infer(name, given, by_name))
    else:
        with run.knowing():
            found = infer(name, given, by_name)
    if index is not None:
        found = offsets.unplaced(found)
    if name == "Tensor.__getitem__":
        found = sizes.counted(run, "__getitem__", (*args,), {}, found)
    if isinstance(found, Report):
        if found.kind != "shape" and not (index is not None and _selects_by_float(args[index])):
            return array(ANY, dtype)
        if run.tries:
            raised = "IndexError" if found.op == "[]" else "ValueError"
            raise Raised(raised, None, ("LookupError", "Exception", "BaseException"))
        return run.report(found)
    misfit = indexes.check(name, tuple(args), kwargs or {})
    if misfit is not None and not run.tries:
        run.report(misfit)
    made = wrap(run, found, dtype)
    indexes.follow(run, name, tuple(args), kwargs or {}, made)
    return made


def _is_of_objects(value: Value) -> bool:
    """Whether it may be an item of an array that isn't of numbers: a text of a table."""
    return isinstance(value, Tensor) and value.type.shape.rank == 0 and value.type.dtype is None


def _selects_by_float(index: Value) -> bool:
    """Whether an array of floats stands where an index must."""
    if isinstance(index, tuple):
        return any(map(_selects_by_float, index))
    kind = index.type.dtype if isinstance(index, Tensor) else None
    return kind is not None and kind.category in ("float", "complex")


def as_tensor(value: Value) -> Value:
    """An index with tensors in the place of arrays."""
    if isinstance(value, Tensor):
        return Tensor(value.type)
    return tuple(map(as_tensor, value)) if isinstance(value, tuple) else value


def _plain(value: Value) -> Value:
    """The value without what only torch cares for: the dtypes of arrays (of an index they say how it selects)."""
    if isinstance(value, Tensor):
        return Tensor(TensorType(value.type.shape))
    if isinstance(value, List) and value.items is not None:
        return List(tuple(map(_plain, value.items)))
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def wrap(run: Interpreter, found: Any, dtype: DType | None) -> Value:
    """A rule's answer with arrays in the place of tensors."""
    if isinstance(found, TensorType):
        return array(found.shape, dtype)
    if isinstance(found, Named):
        return tuple(wrap(run, v, dtype) for _, v in found.fields)
    if isinstance(found, tuple):
        return tuple(wrap(run, v, dtype) for v in found)
    if isinstance(found, Many):
        return List(None, array(found.item.shape, dtype))
    return tensors.from_rule(run, found, "NumPy")
