"""Which dim of a tensor are the samples of a batch, and recurrent layers and transformers that take another one for it.

``nn.LSTM`` and its like take ``(time, batch, features)``, and what a loader gives is ``(batch, time, features)``:
computed without a word, over the samples instead of over the time. The mark of a tensor is that dim, where known: it
comes from a loader, or from a variable that sizes batches or labels, and is followed through what leaves it there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow.marks.mark import Call, LayerCall, Mark
from simpletorch.follow.sources.syntax import of_node, walk
from simpletorch.follow.values import Instance, List, Tensor, Value
from simpletorch.rules.core.cards import KEPT
from simpletorch.rules.core.registry import card_of
from simpletorch.shapes import UNKNOWN

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["BATCH", "INNER", "LAYERS", "MAKERS", "loaded", "made", "mixes", "moved", "of_sequence"]

_CODE: Final = "tensor-mixed"
INNER: Final = "layer"
"""In the state of a stack: the layer that it was made of."""
MAKERS: Final = frozenset({"torch.randn", "torch.rand", "torch.randint", "torch.zeros", "torch.ones"})
_KEEPS: Final = frozenset({
    *("dropout", "softmax", "log_softmax", "layer_norm", "linear", "embedding", "normalize", "cumsum", "relu", "gelu"),
    "one_hot",
})  # fmt: skip
"""What leaves the samples along their dim, beside what keeps its numbers and what is computed by element."""
_LAYERS: Final = frozenset({
    *("Linear", "Embedding", "LayerNorm", "Dropout", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "Identity", "Softmax"),
    *("LeakyReLU", "ELU", "RMSNorm", "TransformerEncoder", "TransformerEncoderLayer", "LSTM", "GRU", "RNN"),
})  # fmt: skip
_RECURRENT: Final = ("LSTM", "GRU", "RNN")
LAYERS: Final = {
    **dict.fromkeys(_RECURRENT, "features"),
    **dict.fromkeys(("MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer", "TransformerDecoder",
                     "TransformerDecoderLayer", "Transformer"), "embedding"),
}  # fmt: skip


class ByLayer(int):
    """The dim of the samples in what a layer gives that takes ``(time, batch, features)``."""

    layer: str


def loaded(run: Interpreter, value: Value) -> Value:
    """What a loader gives: its samples are along dim 0."""
    run.training.has_batches = True
    for one in value if isinstance(value, tuple) else value.items or () if isinstance(value, List) else (value,):
        if isinstance(one, Tensor):
            BATCH.put(one, 0)
    return value


def made(run: Interpreter, name: str, result: Value) -> None:
    """A new tensor: a size that is also a loader's batch size, or the number of labels, is that of the batch."""
    if not isinstance(result, Tensor) or not isinstance(run.node, ast.Call) or run.tree is None:
        return
    nodes = _sizes(run.node, name.rpartition(".")[2])
    known = _counting_samples(run.tree)
    found = [i for i, n in enumerate(nodes) if isinstance(n, ast.Name) and n.id in known]
    if len(found) == 1 and result.type.shape.rank == len(nodes) and result.type.shape.dims[1:2] != (1,):
        run.training.has_batches = True
        BATCH.put(result, found[0])


def _sizes(call: ast.Call, name: str) -> Sequence[ast.expr]:
    nodes = [n for n in call.args if not (name == "randint" and not isinstance(n, ast.Tuple | ast.List))]
    return nodes[0].elts if len(nodes) == 1 and isinstance(nodes[0], ast.Tuple | ast.List) else nodes


@of_node
def _counting_samples(tree: ast.Module) -> frozenset[str]:
    """Variables that a loader gets as its batch size, or that count labels: ``torch.randint(0, 5, (n,))``."""
    found: set[str] = set()
    for call in walk(tree):
        if isinstance(call, ast.Call):
            function = getattr(call.func, "attr", getattr(call.func, "id", ""))
            given = [k.value for k in call.keywords if k.arg == "batch_size"]
            given += call.args[1:2] if function == "DataLoader" else ()
            given += sizes if function == "randint" and len(sizes := _sizes(call, function)) == 1 else ()
            found |= {n.id for n in given if isinstance(n, ast.Name)}
    return frozenset(found)


@final
class _Batch(Mark[int]):
    def same(self, a: Tensor, b: Tensor) -> bool:
        return True  # a mistake in one of two ways is one

    def of_operation(self, run: Interpreter, call: Call, made: Sequence[Tensor]) -> Sequence[int | None]:
        if run.training.has_batches:
            _check_samples(run, call.name, call.args, call.kwargs)
            if made and made[0] is call.result:
                return (_of_operation(call, made[0]),)
        return super().of_operation(run, call, made)

    def of_layer(self, run: Interpreter, call: LayerCall, made: Sequence[Tensor]) -> Sequence[int | None]:
        name, source, result = call.name, call.args[0] if call.args else None, call.result
        if not run.training.has_batches or name in LAYERS or not isinstance(source, Tensor):
            return super().of_layer(run, call, made)
        at = source.marks.batch
        convolves = name.startswith(("Conv", "BatchNorm", "MaxPool", "AvgPool")) and at == 0
        keeps = name in _LAYERS or convolves
        return [at if one is result and keeps else None for one in made]


BATCH: Final = _Batch("batch")


def _of_operation(call: Call, result: Tensor) -> int | None:
    """Where the samples are in what an operation gives."""
    name, args, kwargs, _ = call
    marked = [a for a in args if isinstance(a, Tensor) and a.marks.batch is not None]
    if not marked:
        return result.marks.batch
    source, at = marked[0], marked[0].marks.batch
    short = name.rpartition(".")[2]
    old, new = source.type.shape.rank, result.type.shape.rank
    if old is None or new is None or at is None:
        return result.marks.batch
    card = card_of(name)
    alike = card.by_element and old == new and all(m.marks.batch == at for m in marked if _same(m, old))
    if alike or card.numbers is KEPT or short in _KEEPS:
        return at if source is args[0] or old == new else None
    if source is not args[0]:
        return result.marks.batch
    if short == "__getitem__" and at == 0 and isinstance(args[1], tuple) and args[1][:1] == (slice(None),):
        return 0
    return moved(short, args, kwargs, at, result)


def moved(short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], at: int, result: Tensor) -> int | None:
    """Where a dim of the first operand is in the result of an operation that only moves numbers."""
    source = args[0]
    old, new = source.type.shape.rank if isinstance(source, Tensor) else None, result.type.shape.rank
    if not isinstance(source, Tensor) or not old or not new or at >= old:
        return None
    if short in ("transpose", "swapaxes", "t", "T", "permute"):
        return _turned(short, args, kwargs, at, old)
    if short == "unsqueeze":
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        return at + ((dim if dim >= 0 else dim + new) <= at) if isinstance(dim, int) else None
    if short not in ("view", "reshape", "flatten", "unflatten"):
        return None
    before, after = source.type.shape.items, result.type.shape.items
    if at == 0:
        return 0 if before[0] == after[0] and after[0] not in after[1:] else None
    return new - 1 if at == old - 1 and before[-1] == after[-1] else None


def _same(value: Tensor, rank: int) -> bool:
    return value.type.shape.rank == rank


def _turned(short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], at: int, rank: int) -> int | None:
    """Where a dim is after dims have changed their places."""
    given = args[1] if len(args) == 2 and isinstance(args[1], tuple | List) else args[1:]
    rows = given.items if isinstance(given, List) else given
    if short in ("t", "T"):
        return 1 - at if rank == 2 else None
    if not rows or kwargs or not all(type(d) is int and -rank <= d < rank for d in rows):
        return None
    dims = [d % rank for d in rows]
    if short == "permute":
        return dims.index(at) if sorted(dims) == list(range(rank)) else None
    return None if len(dims) != 2 else dims[1] if at == dims[0] else dims[0] if at == dims[1] else at


def of_sequence(run: Interpreter, name: str, module: Instance, args: tuple[Value, ...], result: Value) -> None:
    """Where the samples are in what one of `LAYERS` gives; a warning where it takes them for something else."""
    source = args[0] if args else None
    if name in _RECURRENT:
        _mark_states(run, result)
    if not isinstance(source, Tensor):
        return
    is_sequence = source.type.shape.rank == 3
    if source.marks.batch is None:
        if is_sequence and _takes_batch_first(module) is False:
            _mark_samples(run, name, result)
        return
    if is_sequence:
        _check(run, name, module, source)
    first = result[0] if isinstance(result, tuple) and name in _RECURRENT else result
    if isinstance(first, Tensor) and first is not source and name in _LAYERS:
        BATCH.put(first, source.marks.batch)


def _takes_batch_first(module: Instance) -> Value:
    return getattr(module.state.get(INNER, module).native, "batch_first", None)


def _mark_samples(run: Interpreter, name: str, result: Value) -> None:
    """Nobody knows what a program's dims are, but the layer takes dim 1 for the samples."""
    first = result[0] if isinstance(result, tuple) and result else result
    if isinstance(first, Tensor) and first.type.shape.rank == 3:
        dim = ByLayer(1)
        dim.layer = name
        BATCH.put(first, dim)
        run.training.has_batches = True


def _check_samples(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """A warning where the last of the samples is taken, or the mean of them, for the last step or that of all."""
    source = args[0] if args else None
    known = source.marks.batch if isinstance(source, Tensor) else None
    if not isinstance(source, Tensor) or not isinstance(known, ByLayer) or source.type.shape.rank != 3:
        return
    size = source.type.shape.items[1]
    if not isinstance(size, int) or size == 1 or run.entry:
        return
    short = name.rpartition(".")[2]
    if short == "__getitem__":
        index = args[1]
        if not isinstance(index, tuple) or index[:1] != (slice(None),) or type(index[1]) is not int or index[1] != -1:
            return
        what, instead = "[:, -1] takes the last sample, not the last step", "[-1]"
    elif short in ("mean", "sum", "amax"):
        if (args[1] if len(args) > 1 else kwargs.get("dim")) != 1:
            return
        what, instead = f"{short} over dim 1 mixes the samples, not the steps", f"{short} over dim 0"
    else:
        return
    features = LAYERS[known.layer]
    message = f"{known.layer} gives (time, batch, {features}) unless it has batch_first=True: {what}"
    BATCH.put(source, None)  # said once
    run.find(_CODE, message, f"pass batch_first=True if the batch comes first, else use {instead}")


def _mark_states(run: Interpreter, result: Value) -> None:
    """The last states of a recurrent layer are (layers and directions, batch, features), whatever ``batch_first``."""
    states = result[1] if isinstance(result, tuple) and len(result) == 2 else None
    for one in states if isinstance(states, tuple) else (states,):
        if isinstance(one, Tensor) and one.type.shape.rank == 3:
            BATCH.put(one, 1)
            run.training.has_batches = True


def mixes(run: Interpreter, name: str, source: Value, result: Value) -> bool:
    """Whether ``h_n.view(batch, -1)`` makes rows for samples of what belongs to several of them; a warning if so."""
    if not isinstance(source, Tensor) or source.marks.batch != 1 or not isinstance(result, Tensor):
        return False
    old, new = source.type.shape.items, result.type.shape.items
    if len(old) != 3 or len(new) != 2 or new[0] != old[1] or old[0] in (1, old[1]) or UNKNOWN in (*old, *new):
        return False
    short = name.rpartition(".")[2]
    message = (
        f"{short} of {source.type}, whose dim 1 is the batch, to {result.type.shape} mixes the samples: "
        "a row has the states of several of them"
    )
    run.find(_CODE, message, f".transpose(0, 1).reshape{result.type.shape}, or torch.cat((h[-2], h[-1]), dim=1)")
    return True


def _check(run: Interpreter, name: str, module: Instance, source: Tensor) -> None:
    first, at = _takes_batch_first(module), source.marks.batch
    if not isinstance(first, bool) or at not in (0, 1) or first is (at == 0):
        return
    takes = ("batch, time" if first else "time, batch") + f", {LAYERS[name]}"
    message = f"{name} takes ({takes}), but dim {at} of {source.type} is the batch: it iterates over the samples"
    BATCH.put(source, None)  # said once
    hint = "batch_first=True, or x.transpose(0, 1)" if not first else "x.transpose(0, 1), or batch_first=False"
    run.find(_CODE, message, hint)
