"""Reading arguments the way torch reads them: dims, sizes, dtypes. Rules of every family share these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.rules.dtype import BOOL, COMPLEX64, DEFAULT_FLOAT, INT64, DType, combine_categories, promote
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.values import ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import (
    ANY_REST,
    ANY_SHAPE,
    BroadcastError,
    Dim,
    Expr,
    Item,
    Rest,
    Shape,
    Unknown,
    broadcast,
    same,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = [
    "axes",
    "axis",
    "broadcast_shapes",
    "float_dtype",
    "is_dim",
    "replace_dim",
    "result_dtype",
    "same_dtype",
    "sizes",
]


def is_dim(value: Value) -> TypeIs[Dim]:
    """Whether the value is an int, known or not (a bool is none)."""
    return isinstance(value, int | Expr | Unknown) and not isinstance(value, bool)


def axis(dim: Value, shape: Shape, *, extra: int = 0, name: str = "dim") -> int:
    """A dim number as torch takes it, checked; from 0 for an exact shape, as given where the rank is not known.

    Args:
        dim: the argument.
        shape: the tensor's shape.
        extra: how many more positions are allowed, as in `torch.unsqueeze` (1).
        name: the parameter's name, for the message.

    Raises:
        Mismatch: the dim is out of range.
        CannotTell: it isn't known, or a variadic part hides where it is.
    """
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise CannotTell
    if shape.rank is None:
        if dim >= 0 and dim < len(shape.head) + extra * bool(shape.head):
            return dim
        if dim < 0 and -dim <= len(shape.tail) + extra:
            return dim
        raise CannotTell
    rank = shape.rank + extra
    if rank == 0 and dim in (-1, 0):
        return 0  # torch takes 0 and -1 on a 0-dim tensor
    if not -rank <= dim < rank:
        dims = "1 dim" if shape.rank == 1 else f"{shape.rank} dims"
        raise Mismatch(
            f"{name}={dim} is out of range for {dims} {shape}; it must be in [{-rank}, {rank - 1}]",
            expected=range(-rank, rank),
            got=dim,
        )
    return dim % rank


def axes(dims: Value, shape: Shape, *, name: str = "dim") -> tuple[int, ...] | None:
    """Several dim numbers (an int, a tuple, or None for "all", which is None here), checked and distinct.

    Raises:
        Mismatch: one is out of range or given twice.
        CannotTell: one isn't known.
    """
    if dims is None:
        return None
    given = dims if isinstance(dims, tuple) else (dims,)
    found = tuple(axis(d, shape, name=name) for d in given)
    if len(set(found)) != len(found):
        raise Mismatch(f"{name}={_plain(given)} names a dim twice", got=given)
    return found


def _plain(values: Sequence[Value]) -> str:
    return f"({', '.join(map(str, values))}{',' if len(values) == 1 else ''})"


def replace_dim(shape: Shape, index: int, *items: Item) -> Shape:
    """``shape`` with the dim at ``index`` (as `axis` gives it) replaced: no items remove it, several split it."""
    at = index if index >= 0 else len(shape.items) + index
    if not shape.is_exact and (not 0 <= at < len(shape.items) or isinstance(shape.items[at], Rest)):
        return _replace_hidden(shape, index, items)
    return Shape((*shape.items[:at], *items, *shape.items[at + 1 :]))


def _replace_hidden(shape: Shape, index: int, items: tuple[Item, ...]) -> Shape:
    """The dim is the first or last of the variadic part, or somewhere inside."""
    if index < 0 and -index == len(shape.tail) + 1:
        return Shape((*shape.head, ANY_REST, *items, *shape.tail))
    if index >= 0 and index == len(shape.head):
        return Shape((*shape.head, *items, ANY_REST, *shape.tail))
    return ANY_SHAPE


def sizes(args: tuple[Value, ...]) -> tuple[Dim, ...]:
    """Sizes given as ``view(2, 3)`` or as ``view((2, 3))``.

    Raises:
        CannotTell: they aren't all ints.
    """
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    if len(args) == 1 and args[0] is ANYTHING:
        raise CannotTell
    out: list[Dim] = []
    for a in args:
        if a is ANYTHING:
            a = _UNKNOWN_INT
        if not isinstance(a, int | Expr | Unknown) or isinstance(a, bool):
            raise CannotTell
        out.append(a)
    return tuple(out)


_UNKNOWN_INT: Final = Unknown()


def broadcast_shapes(*operands: tuple[str, Shape]) -> Shape:
    """The common shape of named operands.

    Raises:
        Mismatch: two of them can't be broadcast; the reason names them, the dim and both sizes.
    """
    (first, out), *others = operands
    for name, shape in others:
        try:
            out = broadcast(out, shape)
        except BroadcastError as e:
            raise Mismatch(
                f"{first} {out} and {name} {shape} can't be broadcast: {_differ(e.left, e.right)} at dim {e.index}",
                hint=_unsqueezed(first, out, name, shape),
                expected=e.left,
                got=e.right,
            ) from None
    return out


def _unsqueezed(left: str, a: Shape, right: str, b: Shape) -> str | None:
    """The usual cause: one side lacks the last dim of the other."""
    for name, short, long in ((right, b, a), (left, a, b)):
        if name.isidentifier() and short.rank and long.is_exact and same(short, Shape(long.items[:-1])) is True:
            return f"{name}.unsqueeze(-1) would fit"
    return None


def _differ(a: Dim, b: Dim) -> str:
    if isinstance(a, int) and isinstance(b, int):
        return f"{a} and {b} differ and neither is 1"
    return f"{a} and {b} are not equal for all sizes"


def _split(values: Sequence[Value], zero_dim: dict[int, bool]) -> DType | None:
    """`torch.result_type` with the ranks that ``zero_dim`` assumes for tensors of unknown rank."""
    groups: list[list[DType | None]] = [[], [], []]
    for i, v in enumerate(values):
        if isinstance(v, TensorType):
            is_zero = v.shape.rank == 0 if v.shape.rank is not None else zero_dim.get(i, False)
            groups[1 if is_zero else 0].append(v.dtype)
        else:
            groups[2].append(_number_dtype(v))
    out: DType | None = None
    started = False
    for group in reversed(groups):
        if not group:
            continue
        own = group[0]
        for d in group[1:]:
            own = promote(own, d)
        out = combine_categories(own, out) if started else own
        started = True
    return out


def _number_dtype(value: Value) -> DType | None:
    match value:
        case bool() | Scalar("bool"):
            return BOOL
        case int() | Expr() | Unknown():
            return INT64
        case float() | Scalar("float"):
            return DEFAULT_FLOAT
        case complex() | Scalar("complex"):
            return COMPLEX64
        case _:
            return None


def result_dtype(*values: Value) -> DType | None:
    """`torch.result_type`: dims beat 0-dim tensors beat Python numbers, unless the category is higher.

    None where it can't be told, also because a tensor of unknown rank may be 0-dim and that would matter.
    """
    hidden = [
        i for i, v in enumerate(values) if isinstance(v, TensorType) and v.shape.rank is None and v.shape.min_rank == 0
    ]
    first = _split(values, {})
    if len(values) == 1 or not hidden or all(isinstance(v, TensorType) and v.dtype == first for v in values):
        return first
    if len(hidden) > 4:
        return None
    for assumed in range(1, 2 ** len(hidden)):
        if _split(values, {i: bool(assumed >> k & 1) for k, i in enumerate(hidden)}) != first:
            return None
    return first


def float_dtype(*values: Value) -> DType | None:
    """The dtype of an operation that gives floats for ints and bools (``exp``, ``/``, ``mean`` of floats)."""
    found = result_dtype(*values)
    return DEFAULT_FLOAT if found is not None and found.category in ("bool", "int") else found


def same_dtype(*operands: tuple[str, TensorType]) -> DType | None:
    """The one dtype that all named operands must have, as ``mm`` and ``linear`` demand; None where unknown.

    Raises:
        Mismatch: two of them differ for sure.
    """
    known = [(name, t.dtype) for name, t in operands if t.dtype is not None]
    for name, dtype in known[1:]:
        first, expected = known[0]
        differ = dtype != expected and ((dtype.is_concrete and expected.is_concrete) or dtype.order != expected.order)
        if differ and dtype.order is not None and expected.order is not None:
            to_first = dtype.order <= expected.order
            raise Mismatch(
                f"{first} is {expected}, but {name} is {dtype}; both must have one dtype",
                kind="dtype",
                hint=f"{name}.to({first}.dtype)" if to_first else f"{first}.to({name}.dtype)",
                expected=expected,
                got=dtype,
            )
    concrete = [d for _, d in known if d.is_concrete]
    return concrete[0] if concrete else (known[0][1] if known else None)
