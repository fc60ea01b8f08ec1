"""Where the sizes of a tensor come from, and what is broadcast without anybody having meant it.

A column of 64 numbers minus a row of 64 is a table of 64 x 64, and torch says nothing. Whether that was meant depends
on where the column's 1 comes from: who writes ``x[:, None]`` wants the table, who gets the 1 from ``Linear(10, 1)`` or
from a loader doesn't. Each dim of a tensor has an `Origin`, or None where it isn't known; of those nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, final

from simpletorch.follow.marks.mark import FORGOTTEN, Call, LayerCall, Mark
from simpletorch.follow.values import List, Tensor, Value, is_among
from simpletorch.rules import ModuleRule, TensorType
from simpletorch.rules.core.registry import card_of, spoken_name
from simpletorch.shapes import Dim

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["FEATURES", "ORIGINS", "Origin", "Origins", "is_samples", "of"]


class Origin(NamedTuple):
    """Where a dim comes from.

    - ``"rows"``: one for each sample; ``"reduced"``, ``"squeezed"``: the same, behind a reduction or a ``squeeze``.
    - ``"scale"``: the numbers of a ``linspace`` or ``arange``, with the line that makes it.
    - ``"features"``: any other size.
    - of a size that is 1: ``"asked"`` (the program wrote it), else what has given it, with its name in the report.
    """

    kind: str
    text: str = ""


Origins: TypeAlias = tuple[Origin | None, ...] | None
Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = Mapping[str, Value]
Work: TypeAlias = Callable[[str, Args, Kwargs, Tensor], Origins]

ROWS: Final = Origin("rows")
REDUCED: Final = Origin("reduced")
SQUEEZED: Final = Origin("squeezed")
FEATURES: Final = Origin("features")
_OF_EACH_CLASS: Final = Origin("features", "argmax over dim 0")
ASKED: Final = Origin("asked")
_SAMPLES: Final = ("rows", "reduced", "squeezed")
_IN_DATA: Final = Origin("data", "the data")
_RANK: Final = ("scale", "rows", "reduced", "squeezed", "features")  # which counts where operands differ
_FORGOTTEN: Final = FORGOTTEN["origins"]
_COMPARISONS: Final = {"==": "eq", "!=": "ne"}


def of(value: Value) -> Origins:
    """What is known of each dim of a tensor."""
    if not isinstance(value, Tensor):
        return None
    found = value.marks.origins
    if found is None or value.array or _FORGOTTEN in value.cells:
        return None
    kind: TensorType = value.cells["type"]  # with as many dims as the type that one of many has for itself
    return found if len(found) == kind.shape.rank else None


@final
class _Origins(Mark[Origins]):
    def of(self, value: Tensor) -> Origins:
        return of(value)

    def same(self, a: Tensor, b: Tensor) -> bool:
        return a.marks.origins is b.marks.origins or of(a) == of(b)

    def common(self, a: Tensor, b: Tensor) -> Origins:
        left, right = of(a), of(b)
        if left is right:
            return left
        if left is None or right is None or len(left) != len(right):
            return None
        return tuple(x if x == y else None for x, y in zip(left, right, strict=True))

    def of_operation(self, run: Interpreter, call: Call, made: Sequence[Tensor]) -> Sequence[Origins]:
        """The origins of the dims of an operation's results; a warning where a broadcast is likely a mistake."""
        work = _work(call.name)
        if work is _in_place:
            results = call.result if isinstance(call.result, tuple) else (call.result,)
            for one in results:
                if isinstance(one, Tensor) and not one.array and is_among(one, call.args):
                    self.forget(run, one)
        return [_of_result(run, work, call, one) for one in made]

    def of_layer(self, run: Interpreter, call: LayerCall, made: Sequence[Tensor]) -> Sequence[Origins]:
        """The dims of a layer's result are those that its input has in front, then those that the layer makes."""
        results = call.result if isinstance(call.result, tuple) else (call.result,)
        source = call.args[0] if call.args else None
        known = of(source)
        if known is None or not isinstance(source, Tensor):
            return (None,) * len(made)
        return [_of_layer(call, source, known, one) if is_among(one, results) else None for one in made]

    def follows_alone(self, run: Interpreter, call: Call) -> bool:
        work = _work(call.name)
        if work is not _by_element:
            return work is not _scale
        ranks = [v.type.shape.rank for v in (*call.args, *call.kwargs.values()) if type(v) is Tensor]
        return len(ranks) < 2 or (ranks[0] not in (None, 1) and all(rank == ranks[0] for rank in ranks))

    def of_data(self, made: Tensor) -> Origins:
        """One row for each sample."""
        sizes = _sizes(made)
        return tuple(_IN_DATA if s == 1 else FEATURES if i else ROWS for i, s in enumerate(sizes)) if sizes else None

    def of_batch(self, sample: Tensor, batch: Tensor) -> Origins:
        """A 1 that a sample has is the data's."""
        sizes = _sizes(batch)
        known = of(sample) or (None,) * (len(sizes) - 1)
        fits = sizes and len(known) == len(sizes) - 1
        return (ROWS, *map(_in_sample, sizes[1:], known)) if fits else None


ORIGINS: Final = _Origins("origins")


def _in_sample(size: Dim, known: Origin | None) -> Origin:
    if size == 1:
        return _IN_DATA
    return known if known is not None and known.kind == "scale" else FEATURES


def _of_layer(call: LayerCall, source: Tensor, known: tuple[Origin | None, ...], made: Tensor) -> Origins:
    if made.type.shape == source.type.shape:
        return known
    if call.name in ("CrossEntropyLoss", "NLLLoss"):
        return _by_sample(call.name, call.args, {}, made)
    if call.name == "Flatten":
        return _reshaped(call.name, (source, -1), {}, made)
    sizes, new = _sizes(source), _sizes(made)
    return _made_by(_of_rule(call.rule) if 1 in new else FEATURES, sizes, known, new)


@lru_cache(maxsize=1024)
def _of_rule(rule: ModuleRule) -> Origin:
    return Origin("layer", str(rule))


def _made_by(maker: Origin, sizes: Sequence[Dim], known: Sequence[Origin | None], new: Sequence[Dim]) -> Origins:
    """The dims that a result has in front like its operand; those behind are the maker's."""
    front = 0
    while front < min(len(sizes), len(new) - 1) and sizes[front] == new[front]:
        front += 1
    return (*known[:front], *(maker if s == 1 else FEATURES for s in new[front:]))


def _of_result(run: Interpreter, work: Work | None, call: Call, made: Tensor) -> Origins:
    name, args, kwargs, result = call
    if work is _scale and made is result:
        return (Origin("scale", f"{run.path}:{getattr(run.node, 'lineno', 0)}"),)
    if work is None or made.array:
        return made.marks.origins
    if work is _by_element:
        operands = [v for v in (args if not kwargs else (*args, *kwargs.values())) if type(v) is Tensor]
        if len(operands) > 1:
            return _combined(run, name, operands, made)
        return of(operands[0]) if operands else made.marks.origins
    return work(name, args, kwargs, made) if made.type.shape.rank else made.marks.origins


# -- what meets ------------------------------------------------------------------------------------------------------


def _combined(run: Interpreter, name: str, operands: list[Tensor], result: Tensor) -> Origins:
    """Of several tensors: in each dim what is known of it from one of them."""
    rows = [of(t) for t in operands]
    first = rows[0]
    if first is not None and all(r is first or (r == first and len(first) > 1) for r in rows[1:]):
        return first if len(first) == result.type.shape.rank else None
    sizes = _sizes(result)
    if not sizes:
        return None
    if len(sizes) == 1 and len(operands) == 2:
        _check_prediction(run, name, operands)
    for i, one in enumerate(operands):
        for other in operands[i + 1 :]:
            if one.type.shape.rank != other.type.shape.rank and _grows(run, name, one, other, result):
                return None
    known = [(t.type.shape.items, of(t) or (None,) * len(t.type.shape.items)) for t in operands]
    return tuple(_met(len(sizes) - i, size, known, len(sizes)) for i, size in enumerate(sizes))


def _met(
    place: int, size: Dim, known: Sequence[tuple[Sequence[object], Sequence[Origin | None]]], rank: int
) -> Origin | None:
    """What is known of a dim, counted from the right, in which operands meet; of a 1, what those of full rank say."""
    if size == 1:
        ones = [own[-place] for sizes, own in known if len(sizes) == rank]
        return None if None in ones else ASKED if ASKED in ones else ones[0]
    there = [own[-place] for sizes, own in known if len(sizes) >= place and sizes[-place] != 1]
    return min((o for o in there if o is not None), key=_weight, default=None)


def _weight(origin: Origin) -> int:
    return _RANK.index(origin.kind) if origin.kind in _RANK else len(_RANK)


def _grows(run: Interpreter, name: str, one: Tensor, other: Tensor, result: Tensor) -> bool:
    """A warning where a column meets a row of the same samples, and each number meets each other."""
    column, row = (one, other) if len(_sizes(one)) > len(_sizes(other)) else (other, one)
    sizes, short = _sizes(column), _sizes(row)
    ones = sizes[len(short) :]
    if not short or not ones or any(s != 1 for s in ones) or sizes[: len(short)] != short or short[-1] == 1:
        return False
    known, own = of(column), of(row)
    if known is None or own is None:
        return False
    given = known[len(short) :]
    why = given[0]
    operator = _operator(name)
    if why is None or any(g is None or g.kind == "asked" for g in given) or _root(column) is _root(row):
        return False
    if not all(_are_one(a, b) for a, b in zip(known, own, strict=False)) or _is_meant(operator, why, own[-1]):
        return False
    message = (
        f"{operator}: {_shown(column)} and {_shown(row)} are broadcast to {_shown(result)}: "
        f"each of {short[-1]} meets each other one, because of the 1 that {why.text} gives"
    )
    squeezed = ".squeeze(-1)" if len(ones) == 1 else ".flatten()" if len(short) == 1 else f".flatten({len(short) - 1})"
    hint = f"{squeezed} on the first of these shapes gives both the shape {_shown(row)}"
    run.find("tensor-broadcast", message, f"{hint}; [:, None] where the table is meant")
    for one in (column, row):
        ORIGINS.put(one, None)  # one mistake, said once
    return True


def _are_one(a: Origin | None, b: Origin | None) -> bool:
    """Whether two dims of the same size are the same thing."""
    if a is None or b is None:
        return False
    return a == b or (a.kind in _SAMPLES and b.kind in _SAMPLES)


def _is_meant(operator: str, why: Origin, row: Origin | None) -> bool:
    """Distances of all pairs: ``a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1)``, ``(h @ u) + (h @ v).squeeze()``."""
    if row is None or operator in _COMPARISONS:
        return False
    if row.kind == "squeezed":
        return why.kind in ("keepdim", "product", "layer")
    return row.kind == "reduced" and why.kind in ("keepdim", "product")


def _root(value: Tensor) -> Tensor:
    """The tensor whose memory it is."""
    while value.base is not None:
        value = value.base
    return value


def _operator(name: str) -> str:
    short = spoken_name(name)
    return {"eq": "==", "ne": "!="}.get(short, short)


def _shown(value: Tensor) -> str:
    return str(value.type.shape)


# -- sizes, dims and arguments ---------------------------------------------------------------------------------------


def _sizes(value: Tensor) -> tuple[Dim, ...]:
    """The sizes, none where the number of dims isn't known."""
    shape = value.type.shape
    return shape.dims if shape.is_exact else ()


def _dim(value: Value, rank: int) -> int | None:
    return value % rank if type(value) is int and -rank <= value < rank else None


def _dims(value: Value, rank: int) -> tuple[int, ...] | None:
    """``1``, ``(0, 1)``, ``[0, 1]``."""
    rows = value.items if isinstance(value, List) else value
    rows = rows if isinstance(rows, tuple) else (rows,)
    found = tuple(_dim(v, rank) for v in rows)
    return None if None in found else found  # type: ignore[return-value]


def _argument(args: Args, kwargs: Kwargs, place: int, *names: str) -> Value:
    return args[place] if len(args) > place else next((kwargs[n] for n in names if n in kwargs), None)


def _source(args: Args, kwargs: Kwargs) -> tuple[Tensor, tuple[Origin | None, ...]] | None:
    """The first operand, with what is known of it."""
    first = args[0] if args else kwargs.get("input")
    known = of(first)
    return None if known is None or not isinstance(first, Tensor) else (first, known)


# -- what operations make of it --------------------------------------------------------------------------------------


def _by_element(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    raise NotImplementedError  # `follow` has the interpreter, which a warning needs


def _scale(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    raise NotImplementedError


def _in_place(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    return None


def _kept(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """Whatever gives a tensor of its operand's shape gives it the same dims."""
    found = _source(args, kwargs)
    return found[1] if found is not None and found[0].type.shape == result.type.shape else None


def _new(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``randn(64, 10)``: 64 samples; a 1 is what the program wrote."""
    return tuple(ASKED if s == 1 else FEATURES if i else ROWS for i, s in enumerate(_sizes(result)))


def _reduced(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    if found is None:
        return None
    known = found[1]
    dims = _dims(_argument(args, kwargs, _DIM_AT.get(name.rpartition(".")[2], 1), "dim", "axis"), len(known))
    if dims is None:
        return None
    short = name.rpartition(".")[2]
    if result.type.shape.rank == len(known):
        return tuple(Origin("keepdim", f"{short}(keepdim=True)") if i in dims else o for i, o in enumerate(known))
    if result.type.shape.rank != len(known) - len(dims):
        return None
    if short in ("argmax", "max") and dims == (0,) and known == (ROWS, FEATURES) and _is_int(result):
        return (_OF_EACH_CLASS,)
    return tuple(REDUCED if o == ROWS else o for i, o in enumerate(known) if i not in dims)


def _is_int(value: Tensor) -> bool:
    return value.type.dtype is not None and value.type.dtype.category == "int"


def is_samples(origin: Origin | None) -> bool:
    """Whether a dim has one element for each sample."""
    return origin is not None and origin.kind in _SAMPLES


def _check_prediction(run: Interpreter, name: str, operands: list[Tensor]) -> None:
    """``logits.argmax(0) == labels`` is computed where there are as many samples as classes."""
    one, other = (of(t) for t in operands)
    pairs = ((one, other), (other, one))
    if _operator(name) in _COMPARISONS and any(a == (_OF_EACH_CLASS,) and b == (ROWS,) for a, b in pairs):
        size = operands[0].type.shape.items[0]
        what = f"argmax over dim 0 gives a sample for each of {size} classes, not a class for each sample"
        message = f"{_operator(name)}: {what}"
        run.find("tensor-loss", message, "argmax over dim 1 (or -1)")


_DIM_AT: Final = {"norm": 2, "vector_norm": 2, "quantile": 2, "nanquantile": 2}


def _highest(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``topk(1)``, ``kthvalue``: a dim with the numbers that are chosen."""
    found = _source(args, kwargs)
    if found is None:
        return None
    known = list(found[1])
    dim = _dim(_argument(args, kwargs, 2, "dim") if len(args) > 2 or "dim" in kwargs else -1, len(known))
    if dim is None or len(known) != result.type.shape.rank:
        return None
    known[dim] = Origin("topk", "topk(1)") if _sizes(result)[dim] == 1 else FEATURES
    return tuple(known)


def _drawn(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``multinomial(probabilities, 1)``"""
    found = _source(args, kwargs)
    last = Origin("multinomial", "multinomial") if _sizes(result)[-1] == 1 else FEATURES
    return None if found is None else (*found[1][:-1], last)


def _gathered(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``q.gather(1, actions.unsqueeze(1))``: the 1 was written for the index, not for what is gathered."""
    by_dim = name.endswith("gather")
    index = _argument(args, kwargs, 2 if by_dim else 1, "index", "indices")
    dim = _dim(_argument(args, kwargs, 1 if by_dim else 2, "dim"), result.type.shape.rank or 0)
    known = of(index)
    source = _source(args, kwargs)
    if dim is None or known is None:
        return None
    out = list(known)
    for i, size in enumerate(_sizes(result)):
        if i == dim:
            out[i] = Origin("gather", name.rpartition(".")[2]) if size == 1 else FEATURES
        elif source is not None and out[i] in (None, ASKED) and _sizes(source[0])[i : i + 1] == (size,):
            out[i] = source[1][i]
    return tuple(out)


def _product(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``x @ w``: a column of weights makes a column."""
    left, right = args[0] if args else kwargs.get("input"), _argument(args, kwargs, 1, "other", "mat2", "vec")
    if name.endswith("__rmatmul__"):
        left, right = right, left
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return None
    known, sizes, weights = of(left), _sizes(left), _sizes(right)
    if known is None or len(sizes) < 2 or not 1 <= len(weights) <= len(sizes):
        return None
    front = known[:-1]
    if len(weights) == 1:
        return tuple(REDUCED if o == ROWS else o for o in front)
    last = Origin("product", f"a product with {right.type.shape}") if weights[-1] == 1 else FEATURES
    return (*front, last) if len(front) + 1 == result.type.shape.rank else None


def _linear(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    return None if found is None else _made_by(
        Origin("layer", "linear"), _sizes(found[0]), found[1], _sizes(result))  # fmt: skip


def _convolved(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    return None if found is None else _made_by(
        Origin("layer", name.rpartition(".")[2]), _sizes(found[0]), found[1], _sizes(result))  # fmt: skip


def _embedded(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``embedding(indexes, weights)``, ``one_hot(indexes)``: one dim more."""
    found = _source(args, kwargs)
    return None if found is None or _sizes(result)[-1] == 1 else (*found[1], FEATURES)


def _reshaped(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """Dims of the same sizes are the same ones; a 1 that is written is asked for, one that comes out of -1 isn't."""
    found = _source(args, kwargs)
    if found is None:
        return None
    source, known = found
    new = _sizes(result)
    old = [(s, o) for s, o in zip(_sizes(source), known, strict=True) if s != 1]
    whole = [s for s in new if s != 1] == [s for s, _ in old]
    ones = [o for s, o in zip(_sizes(source), known, strict=True) if s == 1]
    given = args[1:] if len(args) != 2 or not isinstance(args[1], tuple | List) else _items(args[1])
    fewer = len(new) < len(known)
    out: list[Origin | None] = []
    at = 0
    for i, size in enumerate(new):
        if size == 1:
            written = len(given) != len(new) or given[i] != -1
            flat = name.rpartition(".")[2] in ("flatten", "Flatten")
            out.append((ones[0] if ones else None) if flat or not written else ASKED)
        elif at < len(old) and old[at][0] == size and (whole or at == i):
            origin = old[at][1]
            out.append(SQUEEZED if fewer and ones and origin == ROWS and len(new) == 1 else origin)
            at += 1
        else:
            at = len(old)
            out.append(None)
    return tuple(out)


def _items(value: Value) -> tuple[Value, ...]:
    return (value.items or ()) if isinstance(value, List) else tuple(value)


def _squeezed(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    if found is None:
        return None
    source, known = found
    dim = _argument(args, kwargs, 1, "dim")
    dims = range(len(known)) if dim is None else _dims(dim, len(known))
    if dims is None:
        return None
    sizes = _sizes(source)
    left = tuple(o for i, o in enumerate(known) if i not in dims or sizes[i] != 1)
    if len(left) == len(known):
        return left
    return tuple(SQUEEZED if o == ROWS else o for o in left)


def _unsqueezed(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    if found is None:
        return None
    at = _dim(_argument(args, kwargs, 1, "dim"), len(found[1]) + 1)
    return None if at is None else (*found[1][:at], ASKED, *found[1][at:])


def _permuted(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    if found is None:
        return None
    rank = len(found[1])
    short = name.rpartition(".")[2]
    order: Sequence[int] | None
    if short in ("T", "t", "H"):
        order = range(rank)[::-1]
    elif short in ("mT", "mH", "adjoint"):
        order = [*range(rank - 2), rank - 1, rank - 2]
    elif short == "permute":
        rest = args[1:] or (kwargs.get("dims"),)
        order = _dims(rest[0] if len(rest) == 1 else rest, rank)
    else:
        pair = _dims((_argument(args, kwargs, 1, "dim0", "axis0"), _argument(args, kwargs, 2, "dim1", "axis1")), rank)
        if pair is None:
            return None
        order = list(range(rank))
        order[pair[0]], order[pair[1]] = pair[1], pair[0]
    return None if order is None or sorted(order) != list(range(rank)) else tuple(found[1][i] for i in order)


def _parts(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``chunk``, ``split``: a part of one dim."""
    found = _source(args, kwargs)
    if found is None or result.type.shape.rank != len(found[1]):
        return None
    sizes, short = _sizes(found[0]), name.rpartition(".")[2]
    return tuple(
        o if new == old or new != 1 else Origin("part", short)
        for o, old, new in zip(found[1], sizes, _sizes(result), strict=True)
    )


def _one(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``unbind``, ``select``: without one dim."""
    found = _source(args, kwargs)
    if found is None:
        return None
    dim = _dim(_argument(args, kwargs, 1, "dim") if len(args) > 1 or "dim" in kwargs else 0, len(found[1]))
    return None if dim is None else (*found[1][:dim], *found[1][dim + 1 :])


def _joined(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """``stack``: a new dim in front is one for each of what is stacked; ``cat``: the dims of the first."""
    rows = args[0] if args else kwargs.get("tensors")
    items = rows if isinstance(rows, tuple) else rows.items if isinstance(rows, List) else None
    known = of(items[0]) if items else None
    if not items or known is None:
        return None
    rank = result.type.shape.rank or 0
    dim = _dim(_argument(args, kwargs, 1, "dim", "axis") if len(args) > 1 or "dim" in kwargs else 0, rank)
    if dim is None:
        return None
    if name.rpartition(".")[2] == "stack":
        return (*known[:dim], FEATURES if dim else ROWS, *known[dim:]) if len(items) > 1 else None
    if len(known) != rank:
        return None
    size = _sizes(result)[dim]
    own = known[dim]
    new = own if size == 1 or (own is not None and own.kind in _SAMPLES) else FEATURES if dim else ROWS
    return (*known[:dim], new, *known[dim + 1 :])


def _indexed(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    found = _source(args, kwargs)
    if found is None or len(args) < 2:
        return None
    source, known = found
    rows: tuple[Value, ...] = args[1] if type(args[1]) is tuple else (args[1],)
    at = next((i for i, row in enumerate(rows) if row is ...), len(rows))
    left = len(known) - sum(row is not None and row is not ... for row in rows)
    if left < 0 or any(isinstance(r, List) or (isinstance(r, Tensor) and _is_mask(r)) for r in rows):
        return None
    out: list[Origin | None] = []
    tensors = 0
    dim = 0
    for row in (*rows[:at], *(slice(None),) * left, *rows[at + 1 :]):
        if row is None:
            out.append(ASKED)
            continue
        if isinstance(row, slice):
            out.append(known[dim])
        elif isinstance(row, Tensor):
            tensors += 1
            out += (of(row) or (None,) * (row.type.shape.rank or 0)) if tensors == 1 else ()
        dim += 1
    sizes = _sizes(result)
    if tensors > 1 or len(out) != len(sizes):
        return None
    before = _sizes(source)
    return tuple(
        ASKED if size == 1 and (o is None or o.kind in _RANK) and 1 not in before else o
        for size, o in zip(sizes, out, strict=True)
    )


def _by_sample(name: str, args: Args, kwargs: Kwargs, result: Tensor) -> Origins:
    """A loss for each sample: all dims of the input but that of the classes."""
    found = _source(args, kwargs)
    known = None if found is None else found[1]
    return (known[0], *known[2:]) if known is not None and len(known) == len(_sizes(result)) + 1 > 1 else None


def _is_mask(value: Tensor) -> bool:
    return value.type.dtype is None or value.type.dtype.category == "bool"


# -- which operation does what ---------------------------------------------------------------------------------------


def _names(*rows: tuple[str, Work | None]) -> dict[str, Work | None]:
    return {name: work for names, work in rows for name in names.split()}


_TABLE: Final = _names(
    ("randn rand randint normal zeros ones empty full new_zeros new_ones new_empty new_full", _new),
    ("arange linspace logspace range randperm", _scale),
    ("sum nansum prod mean nanmean amax amin argmax argmin median nanmedian mode std var any all logsumexp", _reduced),
    ("count_nonzero max min norm vector_norm quantile nanquantile", _reduced),
    ("topk kthvalue", _highest),
    ("multinomial", _drawn),
    ("gather take_along_dim", _gathered),
    ("matmul __matmul__ __rmatmul__ mm mv", _product),
    ("linear", _linear),
    ("cross_entropy nll_loss", _by_sample),
    ("conv1d conv2d conv3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d", _convolved),
    ("embedding one_hot", _embedded),
    ("view reshape flatten ravel view_as reshape_as", _reshaped),
    ("squeeze", _squeezed),
    ("unsqueeze", _unsqueezed),
    ("permute transpose swapaxes swapdims T t H mT mH adjoint", _permuted),
    ("chunk split tensor_split split_with_sizes narrow", _parts),
    ("unbind select", _one),
    ("stack cat concat concatenate", _joined),
    ("__getitem__", _indexed),
    ("squeeze_ unsqueeze_ transpose_ t_ swapaxes_ swapdims_ resize_ resize_as_ as_strided_", _in_place),
    ("bmm baddbmm einsum cov corrcoef rot90 cdist outer ger kron expand expand_as broadcast_to as_strided", None),
    ("repeat tile repeat_interleave diagonal diag diag_embed pairwise_distance inverse inv", None),
)


@cache
def _work(name: str) -> Work | None:
    """What is known of the results of the operation of this public name."""
    short = name.rpartition(".")[2]
    if short in _TABLE:
        return _TABLE[short]
    return _by_element if card_of(name).by_element else _kept
