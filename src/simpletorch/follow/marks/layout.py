"""How a tensor lies in memory: strides are known as shapes are, and what torch refuses for them is an error.

The mark is a tensor's strides, `CONTIGUOUS` for those of a new tensor (its shape needn't be known then), or None
where they aren't known. An operation that changes strides in place makes them forgotten.
Of operations that aren't in the table below, nothing is known of the result's strides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias, final

from simpletorch.follow.marks.mark import FORGOTTEN, Call, LayerCall, Mark
from simpletorch.follow.values import List, Tensor, Unknown, Value
from simpletorch.rules import RULES, Report
from simpletorch.rules.core.cards import WRITES
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.registry import card_of
from simpletorch.shapes import UNKNOWN, Dim, Expr
from simpletorch.shapes.strides import (
    Strides,
    Undecided,
    contiguous,
    element_wise,
    is_contiguous,
    overlaps,
    viewed,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "CHANNELS_LAST",
    "CONTIGUOUS",
    "LAYOUT",
    "OTHER_FORMAT",
    "Layout",
    "channels_last",
    "check",
    "is_new",
    "of",
    "writes",
]

CONTIGUOUS: Final = "contiguous"
Layout: TypeAlias = Strides | str | None
Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = Mapping[str, Value]
Work: TypeAlias = Callable[[Args, Kwargs, Tensor], Layout]

_FORGOTTEN: Final = FORGOTTEN["layout"]
CHANNELS_LAST: Final = Unknown("torch.channels_last", "memory_format")
"""The meaning of the name: it is only compared."""


def of(value: Value) -> Layout:
    """The strides of a tensor, None where they aren't known."""
    if not isinstance(value, Tensor) or value.array or _FORGOTTEN in value.cells:
        return None
    return value.marks.layout


@final
class _Layout(Mark[Layout]):
    def of(self, value: Tensor) -> Layout:
        return of(value)

    def of_operation(self, run: Interpreter, call: Call, made: Sequence[Tensor]) -> Sequence[Layout]:
        """The strides of an operation's results; a mistake if torch can't give them."""
        name, args, kwargs, _ = call
        if name == "torch.meshgrid":
            return _spread(args, kwargs, len(made))
        work = _work(name)
        if work is None or "out" in kwargs:
            return super().of_operation(run, call, made)
        if work is _restrided and isinstance(args[0], Tensor):
            self.forget(run, args[0])
        return [_found(run, work, call, one) for one in made]

    def of_layer(self, run: Interpreter, call: LayerCall, made: Sequence[Tensor]) -> Sequence[Layout]:
        work = _LAYERS.get(call.name)
        if work is None or not isinstance(call.result, Tensor):
            return (None,) * len(made)
        if call.name in _BY_WEIGHT and run.modes.get(OTHER_FORMAT):
            return (None,)
        return (_worked(work, call.args, {}, call.result),)

    def of_batch(self, sample: Tensor, batch: Tensor) -> Layout:
        """A loader stacks samples into new memory, but a batch of pictures whose channels come last lies so, too."""
        is_new = of(sample) == CONTIGUOUS or batch.type.shape.rank not in (None, *_PICTURES)
        return CONTIGUOUS if is_new else None


LAYOUT: Final = _Layout("layout")


def _found(run: Interpreter, work: Work, call: Call, result: Tensor) -> Layout:
    found = _worked(work, call.args, call.kwargs, result)
    if found is _REFUSED:
        run.report(_refused(call.name, call.args, result))
        return None
    return found


def _worked(work: Work, args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    try:
        return work(args, kwargs, result)
    except Undecided:
        return None


def _spread(args: Args, kwargs: Kwargs, count: int) -> Sequence[Layout]:
    """``meshgrid``: each of the given lies along its dim, and is repeated, without a copy, along the others."""
    given = args[0] if len(args) == 1 and isinstance(args[0], tuple | List) else args
    unknown = (None,) * count
    try:
        rows = _tensors((given,))
        strides = [_strides(one) for one in rows]
        sizes = [d for one in rows for d in _sizes(one)]
    except Undecided:
        return unknown
    indexing = kwargs.get("indexing", "ij")
    known = indexing in ("ij", "xy") and all(type(d) is int and d > 1 for d in sizes)
    if not known or len(sizes) != len(rows) or len(rows) != count or any(one.array for one in rows):
        return unknown
    places = [1, 0, *range(2, len(rows))] if indexing == "xy" and len(rows) > 1 else list(range(len(rows)))
    return [
        tuple(stride if i == place else 0 for i in range(count))
        for (stride,), place in zip(strides, places, strict=True)
    ]


def check(name: str, args: Args, kwargs: Kwargs) -> Report | None:
    """Whether an operation writes to a tensor of which several elements are one."""
    written = kwargs.get("out")
    if written is None and args and (writes(name) or kwargs.get("inplace") is True):
        written = args[0]
    if written is None:
        return None
    layout = of(written)
    if not isinstance(written, Tensor) or not isinstance(layout, tuple):
        return None
    try:
        sizes = _sizes(written)
        if name == "Tensor.__setitem__":
            layout, sizes = _walked(layout, sizes, _rows(args[1], len(sizes)))
    except Undecided:
        return None
    if len(layout) != len(sizes) or not overlaps(sizes, layout):
        return None
    reason = "several elements of the tensor that is written to are one in memory, because it was expanded"
    return Report(name.rpartition(".")[2], "layout", reason, {"input": written.type}, ".clone() it before")


_REFUSED: Final = "refused"


def _refused(name: str, args: Args, result: Tensor) -> Report:
    source = args[0]
    sizes = ", ".join(map(str, result.type.shape.items))
    reason = f"its elements lie in memory with strides {_shown(source)}, which no view as ({sizes}) can have"
    op = name.rpartition(".")[2]
    hint = f".reshape(...) or .contiguous().{op}(...)" if op.startswith("view") else ".contiguous() before it"
    return Report(op, "layout", reason, {"input": source.type}, hint)


def _shown(tensor: Tensor) -> str:
    return f"({', '.join(map(str, _strides(tensor)))})"


# -- sizes, strides and dims -----------------------------------------------------------------------------------------


def _sizes(tensor: Value) -> tuple[Dim, ...]:
    """The sizes of a tensor with a known number of dims."""
    if not isinstance(tensor, Tensor) or not tensor.type.shape.is_exact:
        raise Undecided
    return tensor.type.shape.dims


def _strides(tensor: Value) -> Strides:
    """The strides of a tensor with a known number of dims."""
    layout = of(tensor)
    if layout is None:
        raise Undecided
    if layout == CONTIGUOUS:
        return contiguous(_sizes(tensor))
    assert isinstance(layout, tuple)
    if len(layout) != len(_sizes(tensor)):
        raise Undecided
    return layout


def is_new(tensor: Value) -> bool | None:
    """Whether a tensor lies in memory as a new one does, None where that isn't known."""
    found = of(tensor)
    return None if found is None or (found != CONTIGUOUS and UNKNOWN in found) else found == CONTIGUOUS


def _is_contiguous(tensor: Value) -> bool:
    return of(tensor) == CONTIGUOUS


def _named(sizes: Sequence[Dim], strides: Strides) -> Layout:
    """The strides, by their name if they are those of a new tensor, in dims of size 1 too."""
    return CONTIGUOUS if UNKNOWN not in strides and strides == contiguous(sizes) else strides


def _dim(value: Value, rank: int) -> int:
    if type(value) is not int or not -rank <= value < rank:
        raise Undecided
    return value % rank


def _dims(values: Args, rank: int) -> tuple[int, ...]:
    """``(2, 0, 1)`` or ``((2, 0, 1),)``."""
    rows = values[0] if len(values) == 1 else values
    if isinstance(rows, List):
        rows = rows.items
    if type(rows) is int:
        rows = (rows,)
    if not isinstance(rows, tuple):
        raise Undecided
    return tuple(_dim(v, rank) for v in rows)


def _given(names: str, args: Args, kwargs: Kwargs) -> Args:
    """The arguments behind the first, those that are given by name too."""
    given = dict(zip(names.split(), args[1:], strict=False))
    given.update({k: v for k, v in kwargs.items() if k in names.split()})
    return tuple(given[n] for n in names.split() if n in given)


def _tensors(values: Iterable[Value]) -> list[Tensor]:
    """Those among operands, and in lists of them."""
    out: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            out.append(value)
        elif isinstance(value, tuple | List):
            rows = value if isinstance(value, tuple) else value.items
            if rows is None:
                raise Undecided
            out += _tensors(rows)
        elif isinstance(value, Unknown) and value.type not in ("int", "float", "bool", "str"):
            raise Undecided  # it may be a tensor
    return out


# -- new tensors -----------------------------------------------------------------------------------------------------


def _new(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    return CONTIGUOUS


def _dense(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """New, if the operands lie as new tensors do; else nobody knows."""
    return CONTIGUOUS if all(map(_is_contiguous, _tensors((*args, *kwargs.values())))) else None


def _joined(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``cat``: as new, but pictures lie as they did."""
    if result.type.shape.rank not in (None, *_PICTURES):
        return CONTIGUOUS
    first = args[0] if args else None
    if isinstance(first, List) and first.items is None:
        return CONTIGUOUS if _is_contiguous(first.item) else None
    return _dense(args, kwargs, result)


_PICTURES: Final = (4, 5)  # ranks that torch keeps channels_last for


def _product(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``a @ b``: as new, but torch turns a matrix times many matrices around."""
    left, right = (len(_sizes(a)) for a in args[:2])
    return CONTIGUOUS if left >= right or left > 2 else None


def _by_element(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    operands = _tensors((*args, *kwargs.values()) if kwargs else args)
    if all(map(_is_contiguous, operands)):
        return CONTIGUOUS
    sizes = _sizes(result)
    return _named(sizes, element_wise(sizes, [(_sizes(t), _strides(t)) for t in operands]))


def _reflected(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``1 - x``: of several tensors, it may be that torch doesn't look at the first one first."""
    return _by_element(args, kwargs, result) if len(_tensors(args)) == 1 else _dense(args, kwargs, result)


def _kept(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """The same memory or a copy: which one matters where the elements have gaps between them."""
    if kwargs.get("memory_format") is not None:
        return _in_format(kwargs["memory_format"], result)
    if _is_contiguous(args[0]):
        return CONTIGUOUS
    strides = _strides(args[0])
    return strides if element_wise(_sizes(result), [(_sizes(args[0]), strides)]) == strides else None


def channels_last(tensor: Tensor) -> Tensor:
    """Pictures whose channels come last in memory, as far as that is another order than that of a new tensor."""
    LAYOUT.put(tensor, _worked(lambda args, kwargs, result: _in_format(CHANNELS_LAST, result), (), {}, tensor))
    return tensor


def _in_format(asked: Value, result: Tensor) -> Layout:
    """A copy in another format; where a tensor lies so already, in either order, it is the tensor itself."""
    if asked is not CHANNELS_LAST or len(_sizes(result)) != 4:
        return None
    _, channels, height, width = _sizes(result)
    if any(type(d) is not int or d < 2 for d in (channels, height, width)):
        return None
    return (height * width * channels, 1, width * channels, channels)


def _cloned(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    asked = kwargs.get("memory_format")
    return _by_element(args[:1], {}, result) if asked is None else _in_format(asked, result)


def _made_contiguous(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """Itself if it is contiguous, and that is said whatever strides dims of size 1 have."""
    asked = args[1] if len(args) > 1 else kwargs.get("memory_format")
    if asked is not None:
        return _in_format(asked, result)
    sizes = _sizes(result)
    try:
        strides = _strides(args[0])
        return _named(sizes, strides) if is_contiguous(sizes, strides) else CONTIGUOUS
    except Undecided:
        new = contiguous(sizes)
        return _named(sizes, tuple(UNKNOWN if size == 1 else s for size, s in zip(sizes, new, strict=True)))


def _of_data(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``torch.tensor([[1, 2], [3, 4]])``: what is made of an array may lie as that does."""
    return CONTIGUOUS if args and isinstance(args[0], List | tuple | int | float) else None


# -- views -----------------------------------------------------------------------------------------------------------


def _same_memory(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    return of(args[0])


def _view(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    source = args[0]
    if len(args) > 1 and isinstance(args[1], DType):
        old = source.type.dtype
        return of(source) if old is not None and old.bits == args[1].bits else None
    if _is_contiguous(source):
        return CONTIGUOUS
    sizes = _sizes(result)
    found = viewed(_sizes(source), _strides(source), sizes)
    return _REFUSED if found is None else _named(sizes, found)


def _reshaped(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    found = _view(args[:1], {}, result)
    return CONTIGUOUS if found is _REFUSED else found


def _permuted(tensor: Tensor, order: Sequence[int]) -> Layout:
    strides = _strides(tensor)
    if sorted(order) != list(range(len(strides))):
        raise Undecided
    sizes = _sizes(tensor)
    return _named([sizes[d] for d in order], tuple(strides[d] for d in order))


def _permute(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    given = args[1:] or _given("dims", args, kwargs)
    return _permuted(args[0], _dims(given, len(_sizes(args[0]))))


def _transpose(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    rank = len(_sizes(args[0]))
    names = "axis0 axis1" if "axis0" in kwargs else "dim0 dim1"
    a, b = (_dim(v, rank) for v in _given(names, args, kwargs))
    order = list(range(rank))
    order[a], order[b] = b, a
    return _permuted(args[0], order)


def _turned(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``T``, ``t()``, ``H``: all dims the other way round."""
    return _permuted(args[0], range(len(_sizes(args[0])))[::-1])


def _last_two(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    order = list(range(len(_sizes(args[0]))))
    return _permuted(args[0], [*order[:-2], *order[-2:][::-1]])


def _moved(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    rank = len(_sizes(args[0]))
    source, target = (_dims((v,), rank) for v in _given("source destination", args, kwargs))
    rest = iter(d for d in range(rank) if d not in source)
    places = dict(zip(target, source, strict=True))
    return _permuted(args[0], [places[d] if d in places else next(rest) for d in range(rank)])


def _expanded(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    source, sizes = args[0], _sizes(result)
    old, strides = _sizes(source), _strides(source)
    new = len(sizes) - len(old)
    out: list[Dim] = []
    for size, was, stride in zip(sizes[new:], old, strides, strict=True):
        if was == 1 and size == 1:
            out.append(stride)
        elif was == 1 and isinstance(size, int):
            out.append(0)
        elif was == size or (isinstance(was, int) and was != 1):
            out.append(stride)
        else:
            raise Undecided
    for size in reversed(sizes[:new]):
        if not isinstance(size, int):
            raise Undecided
        inner = out[0] * sizes[len(sizes) - len(out)] if out else 1
        out.insert(0, inner if size == 1 else 0)
    return _named(sizes, tuple(out))


def _unsqueezed(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    if _is_contiguous(args[0]):
        return CONTIGUOUS
    sizes, strides = _sizes(args[0]), _strides(args[0])
    (dim,) = _given("dim", args, kwargs)
    at = _dim(dim, len(sizes) + 1)
    return (*strides[:at], _one_more(sizes, strides, at), *strides[at:])


def _one_more(sizes: Sequence[Dim], strides: Strides, at: int) -> Dim:
    """The stride of a new dim of size 1."""
    return sizes[at] * strides[at] if at < len(sizes) else 1


def _squeezed(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    if _is_contiguous(args[0]):
        return CONTIGUOUS
    sizes, strides = _sizes(args[0]), _strides(args[0])
    given = args[1:] or _given("dim", args, kwargs)
    dims = _dims(given, len(sizes)) if given else range(len(sizes))
    if any(not isinstance(sizes[d], int) for d in dims):
        raise Undecided
    return tuple(s for d, s in enumerate(strides) if d not in dims or sizes[d] != 1)


def _part(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``chunk``, ``split``, ``narrow``: fewer along one dim."""
    return _named(_sizes(result), _strides(args[0]))


def _one_of(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``unbind``, ``select``: without one dim."""
    given = _given("dim", args, kwargs)
    if _is_contiguous(args[0]) and (not given or given[0] == 0):
        return CONTIGUOUS
    strides = _strides(args[0])
    dim = _dim(given[0] if given else 0, len(strides))
    return _named(_sizes(result), (*strides[:dim], *strides[dim + 1 :]))


def _indexed(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    source, index = args[0], args[1]
    if _is_contiguous(source) and all(map(_is_int, index if type(index) is tuple else (index,))):
        return CONTIGUOUS
    strides = _strides(source)
    return _named(_sizes(result), _walked(strides, _sizes(source), _rows(index, len(strides)))[0])


def _is_int(value: Value) -> bool:
    if isinstance(value, Unknown):
        return value.type == "int"
    return isinstance(value, int | Expr) and not isinstance(value, bool)


def _rows(index: Value, rank: int) -> Args:
    """An index of ints, slices and None alone, one for each dim."""
    rows = index if type(index) is tuple else (index,)
    if not all(row is None or row is ... or isinstance(row, slice) or _is_int(row) for row in rows):
        raise Undecided
    at = next((i for i, row in enumerate(rows) if row is ...), len(rows))
    left = rank - sum(row is not None and row is not ... for row in rows)
    return (*rows[:at], *(slice(None),) * left, *rows[at + 1 :])


def _walked(strides: Strides, sizes: Sequence[Dim], rows: Args) -> tuple[Strides, tuple[Dim, ...]]:
    """The strides behind an index, and the sizes: 0 where a slice changes it."""
    out: list[Dim] = []
    left: list[Dim] = []
    dim = 0
    for row in rows:
        if row is None:
            out.append(_one_more(sizes, strides, dim))
            left.append(1)
            continue
        if isinstance(row, slice):
            step = 1 if row.step is None else row.step
            if type(step) is not int:
                raise Undecided
            out.append(strides[dim] * step)
            left.append(sizes[dim] if row == slice(None) else 0)
        dim += 1
    return tuple(out), tuple(left)


# -- which operation does what ---------------------------------------------------------------------------------------


def _restrided(args: Args, kwargs: Kwargs, result: Tensor) -> Layout:
    """``x.t_()`` and its like."""
    return None


def _names(*rows: tuple[str, Work]) -> dict[str, Work]:
    return {name: work for names, work in rows for name in names.split()}


_FAMILIES: Final = {
    "creation": _names(
        ("zeros ones empty rand randn randint randperm full eye new_zeros new_ones new_empty new_full", _new),
        ("zeros_like ones_like empty_like rand_like randn_like full_like randint_like", _cloned),
    ),
    "ranges": _names(("arange linspace logspace range", _new)),
    "data": _names(("tensor LongTensor FloatTensor IntTensor BoolTensor", _of_data)),
    "casting": _names(
        ("to float double half bfloat16 int long short byte char bool cpu cuda type type_as", _kept),
        ("clone", _cloned),
        ("contiguous", _made_contiguous),
        ("detach data requires_grad_ alias", _same_memory),
    ),
    "activation": _names(("relu gelu silu elu leaky_relu dropout", _kept), ("softmax log_softmax glu", _dense)),
    "matmul": _names(("matmul __matmul__ mm", _product)),
    "products": _names(("bmm mv dot addmm baddbmm", _new)),
    "linear": _names(("linear", _new)),
    "embedding": _names(("embedding one_hot", _new)),
    "normalization": _names(("layer_norm", _new), ("batch_norm group_norm rms_norm normalize", _dense)),
    "convolution": _names(("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d", _dense)),
    "pooling": _names(("max_pool1d max_pool2d avg_pool1d avg_pool2d", _dense)),
    "adaptive_pooling": _names(("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d", _dense)),
    "padding": _names(("pad", _dense)),
    "resampling": _names(("interpolate pixel_shuffle pixel_unshuffle", _dense)),
    "reduction": _names(("sum mean std var prod all any argmax argmin amax amin logsumexp", _new), ("max min", _dense)),
    "cumulative": _names(("cumsum cumprod", _dense)),
    "gathering": _names(("gather index_select take_along_dim", _dense)),
    "scattering": _names(("masked_fill scatter index_add index_fill", _dense)),
    "diagonals": _names(("tril triu", _dense)),
    "joining": _names(("cat concat concatenate stack hstack vstack", _joined)),
    "expanding": _names(("expand expand_as broadcast_to", _expanded), ("repeat", _new), ("repeat_interleave", _dense)),
    "splitting": _names(("chunk split split_with_sizes tensor_split", _part), ("unbind", _one_of)),
    "movement": _names(
        ("transpose swapaxes swapdims", _transpose),
        ("permute", _permute),
        ("movedim moveaxis", _moved),
        ("T t H", _turned),
        ("mT mH adjoint", _last_two),
        ("narrow", _part),
        ("select", _one_of),
        ("flip roll", _dense),
        ("transpose_ t_ swapaxes_ swapdims_", _restrided),
    ),
    "reshaping": _names(
        ("view view_as unflatten", _view),
        ("reshape reshape_as flatten", _reshaped),
        ("ravel", _new),
        ("unsqueeze", _unsqueezed),
        ("squeeze", _squeezed),
        ("squeeze_ unsqueeze_", _restrided),
    ),
    "strided": _names(("resize_ resize_as_ as_strided_", _restrided)),
    "indexing": _names(("__getitem__", _indexed)),
}
_FILLS: Final = frozenset({"normal_", "uniform_", "exponential_", "bernoulli_", "random_", "copy_", "__setitem__"})
_MAY_WRITE_NOTHING: Final = frozenset({"nan_to_num_", "float_power_"})  # ints have no NaN; it refuses most dtypes
_LAYERS: Final = _names(
    ("ReLU GELU SiLU ELU LeakyReLU Sigmoid Tanh Dropout Identity", _kept),
    ("Linear Embedding LayerNorm", _new),
    ("Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d", _dense),
    ("BatchNorm1d BatchNorm2d GroupNorm RMSNorm Softmax LogSoftmax", _dense),
    ("MaxPool1d MaxPool2d AvgPool1d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d", _dense),
    ("Upsample PixelShuffle", _dense),
)
_BY_WEIGHT: Final = frozenset(name for name in _LAYERS if name.startswith("Conv"))
OTHER_FORMAT: Final = "memory format"
"""The mode of a program that has given a module another format: what its convolutions give lies as their weights do."""


@cache
def _work(name: str) -> Work | None:
    """The function that gives the strides of the results of the operation of this public name."""
    family, short = RULES[name].function.__module__.rpartition(".")[2], name.rpartition(".")[2]
    if not card_of(name).by_element:
        return _FAMILIES.get(family, {}).get(short)
    other_order = short.startswith("__r") and short != "__rshift__"
    return _reflected if other_order or name in ("torch.rsub", "Tensor.where") else _by_element


@cache
def writes(name: str) -> bool:
    """Whether an operation writes each element of its first operand, one after the other."""
    short = name.rpartition(".")[2]
    if short in _FILLS:
        return name.startswith("Tensor.")
    card = card_of(name)
    return card.memory is WRITES and card.by_element and short not in _MAY_WRITE_NOTHING
