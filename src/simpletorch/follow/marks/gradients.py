"""Which tensors require a gradient, what graph is behind them, and what torch refuses of them.

Every new tensor gets a `History`. What an operation gives requires a gradient if the grad mode is on and one of its
operands does; what isn't known of an operand isn't known of the result. A tensor that may share memory with another one
remembers it (``base``): what is written there may bring a gradient here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow.heap import now
from simpletorch.follow.marks import forms, layout, sparsity, weights
from simpletorch.follow.marks.mark import Mark
from simpletorch.follow.mistakes import events
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    CHANGED,
    HISTORY,
    MISSING,
    SPENT,
    Choice,
    Fields,
    History,
    Instance,
    Kept,
    List,
    Tensor,
    Unknown,
    Value,
    is_among,
    is_known,
    tensors_in,
)
from simpletorch.rules import CannotTell, ModuleRule, TensorType, parameters
from simpletorch.rules.core.cards import (
    FIRST,
    NEVER,
    OPERAND,
    OTHERS,
    PRODUCT,
    RESULT,
    SOME,
    SOMETHING,
    VIEW,
    WRITES,
    Card,
)
from simpletorch.rules.core.registry import card_of

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "GRADIENT",
    "LEAF",
    "PLAIN",
    "backward",
    "check_leaf",
    "cut",
    "escaped",
    "follow",
    "forward",
    "freeze",
    "grad_of",
    "graph_of",
    "has_parameters",
    "is_spent",
    "key",
    "lacks",
    "mark",
    "need_number",
    "note_use",
    "of",
    "records",
    "to_numpy",
]

PLAIN: Final = History(grad=False, leaf=True)
LEAF: Final = History(grad=True, leaf=True)
_SOMEHOW: Final = History(grad=True)
MODE: Final = "grad"
HAS_GRAD: Final = "(has a gradient)"  # in the cells of a tensor: it was set by hand, or is kept of what is no leaf
FROZEN: Final = "some parameters"  # in the modes: parameters were changed of which it isn't known which they are

_SHARING_LAYERS: Final = frozenset({"Identity", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout",
                                    "FeatureAlphaDropout", "Flatten", "Unflatten", "LocalResponseNorm", "Rearrange",
                                    "Reduce", "ChannelShuffle", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"})  # fmt: skip
_SAVING_LAYERS: Final = frozenset({
    *("Linear", "Conv1d", "Conv2d", "Conv3d", "LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell", "LayerNorm"),
    *("Embedding", "CrossEntropyLoss", "MSELoss", "L1Loss", "NLLLoss", "SmoothL1Loss", "HuberLoss", "BCELoss"),
    *("BCEWithLogitsLoss", "ReLU", "Sigmoid", "Tanh", "GELU", "SiLU", "LeakyReLU", "Softmax", "LogSoftmax"),
})  # fmt: skip
"""Layers that keep tensors for their backward, always (a test runs each one's backward twice)."""
_KEEPS_GRADIENT: Final = frozenset({"logical_and_", "logical_or_", "logical_xor_", "logical_not_", "detach_"})
"""What changes a leaf in place without torch minding."""
_WITHOUT: Final = frozenset({"int", "bool"})
_MOST: Final = 4_000  # tensors of a graph that are looked at


# -- what is known ---------------------------------------------------------------------------------------------------


def of(run: Interpreter, value: Tensor) -> bool | None:
    """Whether a tensor requires a gradient; None where that isn't known."""
    while True:
        kind: TensorType = value.cells["type"]
        if value.array or (kind.dtype is not None and kind.dtype.category in _WITHOUT):
            return False
        known = value.cells.get(HISTORY)
        if known is None or (kind.is_parameter and (run.entry or FROZEN in run.modes)):  # a caller may have frozen it
            return None
        if known.grad is not False or value.base is None:
            return known.grad  # type: ignore[no-any-return]
        value = value.base


def key(value: Tensor) -> History | None:
    """What counts of a tensor's history for who gets it: all but what is behind it.

    That its numbers are a layer's doesn't: only losses ask for it, and the layers of a stack should be followed once.
    """
    known: History | None = value.cells.get(HISTORY)
    if known is not None and known.form == forms.SCORES:
        known = replace(known, form=None) if known != History(form=known.form) else None
    base = value.base
    while known is not None and known.grad is False and base is not None:
        kind, of_base = base.type, base.cells.get(HISTORY)
        plain = base.array or (kind.dtype is not None and kind.dtype.category in ("int", "bool"))
        if not plain and (of_base is None or of_base.grad is not False):
            return History(form=known.form)
        base = None if plain else base.base
    return known


def _among(run: Interpreter, values: Iterable[Value], behind: list[Tensor]) -> bool | None:
    """Whether one of the values requires a gradient; those that do are put into ``behind``."""
    found: bool | None = False
    for value in values:
        kind = type(value)
        if kind is Tensor:
            grad = of(run, value)
            if grad:
                behind.append(value)
            if value.type.is_parameter or (grad and value.cells[HISTORY].leaf is not False):
                note_use(run, value)
        elif kind is tuple or kind is Fields:
            grad = _among(run, value, behind)
        elif kind is List:
            grad = _among(run, value.items if value.items is not None else (value.item,), behind)
        elif kind is Unknown:
            grad = None if value.type in (None, sparsity.TENSOR) else False
        elif kind is Choice or kind is Instance:
            grad = None
        else:
            continue
        if grad:
            found = True
        elif grad is None and found is False:
            found = None
    return found


def grad_of(run: Interpreter, value: Tensor) -> Value:
    """``value.grad``: None of what no backward has gone to."""
    known: History | None = value.cells.get(HISTORY)
    sees_all = not (run.entry or run.training.lost_sight or HAS_GRAD in value.cells)
    if known is not None and known.grad and value.base is None and not value.type.is_parameter and sees_all:
        never = known.leaf is False or (known.leaf is True and not run.updates)
        return None if never else Tensor(value.type)
    return Tensor(replace(value.type, is_parameter=False))


def lacks(run: Interpreter, node: ast.Attribute) -> bool:
    """An attribute of None: said where that is the ``.grad`` of a tensor. Whether it was."""
    if isinstance(node.value, ast.Attribute) and node.value.attr == "grad" and not hasattr(None, node.attr):
        name = ast.unparse(node.value.value)
        _refuse(
            run,
            f"{name}.grad is None: {name} is no leaf whose backward has run",
            f"call loss.backward() first; for the result of an operation, {name}.retain_grad() before that",
            "AttributeError",
        )
        return True
    return False


def _mode(run: Interpreter) -> bool | None:
    """Whether gradients are recorded here."""
    found = run.modes.get(MODE)
    return found if isinstance(found, bool) and not run.unsure_modes else None


def records(run: Interpreter) -> bool:
    """Whether operations surely record their gradients here."""
    return _mode(run) is True


def _is_float(kind: TensorType) -> bool | None:
    return None if kind.dtype is None else kind.dtype.category in ("float", "complex")


def mark(value: Tensor, history: History | None) -> Tensor:
    """A new tensor with what is known of how it was made."""
    if history is not None:
        value.cells[HISTORY] = history
    return value


@final
class _Gradient(Mark[History]):
    def of(self, value: Tensor) -> History | None:
        return value.cells.get(HISTORY)

    def put(self, value: Tensor, known: History | None) -> None:
        mark(value, known)

    def common(self, a: Tensor, b: Tensor) -> History | None:
        """Which of the two it is isn't known, nor what is behind it."""
        known = self.of(a)
        if known is None or known != self.of(b) or a.base is not None or b.base is not None:
            return None
        return replace(known, leaf=None if known.grad else known.leaf, parents=(), saves=False, kept=())

    def another(self, value: Tensor) -> History | None:
        """Of one that requires no gradient it is known."""
        known = self.of(value)
        is_plain = value.array or (known is not None and known.grad is False and value.base is None)
        return PLAIN if is_plain else None

    def of_batch(self, sample: Tensor, batch: Tensor) -> History | None:
        return self.another(sample)


GRADIENT: Final = _Gradient("history")


def note_use(run: Interpreter, value: Tensor) -> None:
    """An operation, or code that isn't known, has the tensor: it may be trained."""
    run.training.used[id(value.cells)] = value


def cut(value: Tensor, made: Tensor) -> Tensor:
    """What ``detach`` gives: the same numbers, without gradient."""
    known = value.cells.get(HISTORY)
    form = None if known is None else known.form
    return mark(made, PLAIN if form is None else History(grad=False, leaf=True, form=form))


def escaped(run: Interpreter, value: Tensor) -> None:
    """Unknown code has the tensor: it may write to it and set its flags."""
    note_use(run, value)
    events.IN_THE_DARK(run)
    known = value.cells.get(HISTORY)
    if known is not None:
        run.heap.write(value.cells, HISTORY, _SOMEHOW if known.grad and known.leaf is False else MISSING)


# -- operations ------------------------------------------------------------------------------------------------------


def follow(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Value) -> None:
    """What is known of the gradient of what an operation gives; in place, a leaf mustn't be changed."""
    short = name.rpartition(".")[2]
    first = args[0] if args else None
    card = card_of(name)
    if card.memory is WRITES and short.startswith("__"):
        others = args[2 if short == "__setitem__" else 1 :]
        _written(run, first, others, short)
        return
    if isinstance(result, Tensor):
        out = kwargs.get("out")
        if result is out:
            run.heap.write(out.cells, HISTORY, MISSING)
        elif result is first and (card.memory is WRITES or kwargs.get("inplace") is True):
            _written(run, first, (*args[1:], *kwargs.values()), short)
        elif not is_among(result, args):
            _of_result(run, short, card, args, kwargs, result)
    elif isinstance(result, tuple):
        for one in tensors_in(result):
            _of_result(run, short, card, args, kwargs, one)


def _of_result(
    run: Interpreter, short: str, card: Card, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Tensor
) -> None:
    """What is known of a new tensor."""
    first = args[0] if args else None
    shares = card.gradient is not NEVER and card.may_share(sum(type(a) is Tensor for a in args))
    if shares:  # but a write to x.detach() brings no gradient to x
        first = args[1] if type(first) is str and len(args) > 1 else first  # torch.einsum("i j -> j i", x)
        result.base = first if isinstance(first, Tensor) else None
        result.is_view = bool(run.promises) and _is_view(short, card, args)
        if result.base is None and first is not None:
            return
    floating = _is_float(result.type)
    if floating is False:
        return  # torch gives no gradients to these, and `of` knows it
    form = forms.of_operation(short, card, args, kwargs, result)
    asked = kwargs.get("requires_grad", False)
    if asked is not False:
        mark(result, LEAF if asked is True else None)
    elif card.gradient is NEVER:
        cut(first, result) if short == "detach" and isinstance(first, Tensor) else mark(result, PLAIN)
    else:
        behind: list[Tensor] = []
        operands = args[:1] if card.gradient is FIRST else (*args, *kwargs.values()) if kwargs else args
        grad = _among(run, operands, behind)
        if grad and card.gradient is SOME:
            grad = None
        kept = _kept(run, short, card, args, behind, result) if grad else ()
        _known(run, grad, behind, result, form, shares, _saves(card, args, behind), kept)


def _known(
    run: Interpreter,
    grad: bool | None,
    behind: list[Tensor],
    result: Tensor,
    form: tuple[str, int | None] | None,
    shares: bool,
    saves: bool,
    kept: tuple[Kept, ...] = (),
) -> None:
    """What follows for a result from its operands and the mode."""
    mode = _mode(run)
    if grad is False or (mode is False and not shares):
        mark(result, PLAIN if form is None else History(grad=False, leaf=True, form=form))
    elif grad and mode and _is_float(result.type):
        mark(result, History(True, None if shares else False, form, tuple(behind), saves, kept))
    elif form is not None:
        mark(result, History(form=form))


def _saves(card: Card, args: tuple[Value, ...], behind: list[Tensor]) -> bool:
    """Whether an operation surely keeps something for its backward."""
    if card.saves is OTHERS or card.saves is PRODUCT:
        return any(one is b for one in args[:2] for b in behind)  # of the bias of a `linear` nothing is kept
    return card.saves is not None


def _kept(
    run: Interpreter, short: str, card: Card, args: tuple[Value, ...], behind: list[Tensor], result: Tensor
) -> tuple[Kept, ...]:
    """The tensors that an operation surely keeps for its backward; under autocast it keeps others."""
    saves = card.saves
    if saves is None or saves is SOMETHING or run.modes.get("autocast") is not None:
        return ()
    if saves is RESULT:
        return (Kept(result, now(), short),)
    first = args[0] if args else None
    if saves is OPERAND:
        return (Kept(first, now(), short),) if isinstance(first, Tensor) else ()
    second = args[1] if len(args) > 1 else None
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return ()
    pairs = ((first, second), (second, first))
    return tuple(
        Kept(one, now(), short)
        for one, other in pairs
        if any(other is b for b in behind) and (saves is OTHERS or _is_multiplied_itself(one, other, one is first))
    )


def _is_multiplied_itself(one: Tensor, other: Tensor, is_left: bool) -> bool:
    """Whether a product surely takes an operand as it is: matrices, and batches that needn't be copied for it."""
    shape, beside = one.type.shape, other.type.shape
    if shape.rank is None or beside.rank is None:
        return False
    if shape.rank <= 2:
        return True
    if layout.of(one) != layout.CONTIGUOUS:
        return False
    return is_left if beside.rank <= 2 else shape.rank == beside.rank and shape.dims[:-2] == beside.dims[:-2]


def _written(run: Interpreter, value: Value, others: tuple[Value, ...], short: str) -> None:
    """A tensor is changed in place, with values that require a gradient or not."""
    if not isinstance(value, Tensor) or value.array:
        return
    behind: list[Tensor] = []
    other = _among(run, others, behind)
    before, mode = of(run, value), _mode(run)
    run.heap.write(value.cells, CHANGED, now())
    known = value.cells.get(HISTORY)
    if mode and before and known is not None and known.leaf and short not in _KEEPS_GRADIENT:
        _refuse(
            run,
            f"{short}: a leaf that requires a gradient is changed in place, {_kind(value)}",
            "under torch.no_grad(), or make a new tensor: x = x + y",
        )
        return
    new: bool | None
    if mode is False or (not other and other is not None):
        new = before
    else:
        new = True if mode and (before or other) and _is_float(value.type) else None
    if new is False:
        history: History | None = PLAIN
    elif new and mode:
        own = () if known is None or not before else (_as_it_was(value, known),)
        history = History(grad=True, leaf=False, parents=(*own, *behind))
    else:
        history = known if mode is False and before else _SOMEHOW if new else None
    if history is not known and (history is not None or known is not None):
        run.heap.write(value.cells, HISTORY, MISSING if history is None else history)
    base = value.base
    while base is not None and new is not False:  # the memory is another tensor's, which has the gradient now
        if HISTORY in base.cells and not (base.cells[HISTORY].grad and mode is False):
            run.heap.write(base.cells, HISTORY, MISSING)
        base = base.base


def _as_it_was(value: Tensor, known: History) -> Tensor:
    """A tensor before it is changed in place, as a part of the graph."""
    made = mark(Tensor(value.type), known)
    if SPENT in value.cells:
        made.cells[SPENT] = value.cells[SPENT]
    return made


# -- layers ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _own_parameters(rule: ModuleRule) -> tuple[str, ...] | None:
    """The names of a layer's parameters; None where they aren't known."""
    if rule.holds_modules:
        return None
    try:
        return tuple(k for k, v in parameters(rule).items() if isinstance(v, TensorType) and v.is_parameter)
    except CannotTell:
        return None


def has_parameters(rule: ModuleRule) -> bool:
    """Whether a layer surely has parameters."""
    return rule.holds_modules or bool(_own_parameters(rule))


def _trains(run: Interpreter, module: Instance, rule: ModuleRule) -> bool | None:
    """Whether a parameter of a layer requires a gradient."""
    names = _own_parameters(rule)
    if names == ():
        return False
    if names is None or run.entry or FROZEN in run.modes or module.state.get("open"):
        return None
    cells = module.cells
    held = [cells[n] for n in names if n in cells]
    if len(held) < len(names):
        for value in held:
            if type(value) is not Tensor:
                break
        else:
            return True  # one of them was never touched
    return _among(run, held, [])


def _is_view(short: str, card: Card, args: tuple[Value, ...]) -> bool:
    """Whether what an operation gives is surely memory of its first operand."""
    if short == "__getitem__":
        rows = args[1] if isinstance(args[1], tuple) else (args[1],)
        return all(is_known(r) and not isinstance(r, bool) for r in rows)
    return card.memory is VIEW


def forward(
    run: Interpreter,
    module: Instance,
    short: str,
    rule: ModuleRule,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    out: Value,
) -> None:
    """The same of what a layer gives; ``short``: what the layer is called."""
    behind: list[Tensor] = []
    given = _among(run, (*args, *kwargs.values()) if kwargs else args, behind)
    own = False if given else _trains(run, module, rule)
    grad = True if given or own else None if given is None or own is None else False
    shares = short in _SHARING_LAYERS
    form = forms.of_layer(short, rule, args)
    for result in (out,) if type(out) is Tensor else tensors_in((out,)):
        if shares and args and isinstance(args[0], Tensor):
            result.base = args[0]
        if _is_float(result.type) is not False:
            _known(run, grad, behind, result, form, shares, short in _SAVING_LAYERS)
        if given and short in weights.WEIGHTED and run.modes.get("autocast") is None:
            _keep_weight(module, result, short)


def _keep_weight(layer: Instance, result: Tensor, short: str) -> None:
    """The backward of a layer whose input requires a gradient needs its weight."""
    known: History | None = result.cells.get(HISTORY)
    if known is not None and known.grad:
        mark(result, replace(known, kept=(*known.kept, Kept(layer, now(), short))))


# -- flags -----------------------------------------------------------------------------------------------------------


def check_data(run: Interpreter, value: Tensor, kind: TensorType) -> None:
    """``value.data = …`` of ints: a tensor that requires a gradient can't have them."""
    if not value.array and of(run, value) and _is_float(kind) is False:
        _refuse(
            run,
            f"data: a tensor that requires a gradient must have floats or complex numbers, not {kind}",
            "make it floating: x.float()",
        )


def freeze(run: Interpreter, value: Value, flag: Value) -> None:
    """``value.requires_grad_(flag)``, ``value.requires_grad = flag``."""
    flag = run.resolve(flag)
    known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
    if not isinstance(value, Tensor) or (value.type.is_parameter and (known is None or known.leaf is None)):
        run.heap.write(run.modes, FROZEN, True)  # which one it is isn't known
    if not isinstance(value, Tensor) or value.array:
        return
    if flag is True and _is_float(value.type) is False:
        _refuse(
            run,
            f"requires_grad: only floating-point and complex tensors can require gradients, not {value.type}",
            "make it floating: x.float()",
        )
    elif flag is False and known is not None and known.leaf is False and of(run, value):
        _refuse(
            run,
            f"requires_grad: {_kind(value)} is no leaf: its gradient can't be switched off",
            "x.detach() gives the same numbers without gradient",
        )
    elif flag is True and known is not None and known.leaf is False and of(run, value):
        pass
    else:
        plain = value.base is None or (known is not None and known.leaf is True)
        kept = LEAF if flag is True else PLAIN if flag is False else None
        run.heap.write(value.cells, HISTORY, MISSING if kept is None or not plain else kept)


def check_leaf(run: Interpreter, values: Iterable[Value], what: str) -> None:
    """What an optimizer is given must be leaves."""
    for value in values:
        known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
        if known is not None and known.leaf is False and of(run, value):
            _refuse(
                run,
                f"{what}: {_kind(value)} is no leaf: an operation has made it",
                "make the leaf last: x = (...).detach().requires_grad_()",
                "ValueError",
            )
            return


def need_float(run: Interpreter, kind: TensorType) -> TensorType:
    """A tensor made with ``requires_grad=True``, or a parameter, must be floating; else its dtype is unknown."""
    if _is_float(kind) is not False:
        return kind
    _refuse(
        run,
        f"requires_grad: only floating-point and complex tensors can require gradients, not {kind}",
        "make it floating: dtype=torch.float32",
    )
    return replace(kind, dtype=None)


def to_numpy(run: Interpreter, value: Tensor) -> None:
    """``x.numpy()``, ``np.asarray(x)``."""
    if of(run, value):
        _refuse(run, f"numpy: {_kind(value)} requires a gradient", "x.detach().numpy()")


# -- backward --------------------------------------------------------------------------------------------------------


def backward(run: Interpreter, value: Value, gradient: Value, retain: Value, inputs: Value = None) -> None:
    """``value.backward(gradient, retain_graph)``."""
    if not isinstance(value, Tensor) or value.array:
        return
    if of(run, value) is False:
        _refuse(run, f"backward: {_kind(value)} has no graph: {_why(value)}", _HINT)
        return
    if gradient is None and any(isinstance(d, int) and d != 1 for d in value.type.shape.items):
        _refuse(
            run,
            f"backward: {_kind(value)} isn't a scalar, so it needs a gradient",
            "reduce it first, with .mean() or .sum(), or give gradient=",
        )
        return
    graph = list(graph_of(run, value))
    spent = next((t for t in graph if SPENT in t.cells and t.cells[HISTORY].saves), None)
    if spent is not None:
        if spent is value:
            hint = "retain_graph=True in the first one, or compute it again"
            message = f"backward: the graph of {_kind(value)} was freed by the backward before"
        else:
            hint = "call x.detach() between the steps, or backward() once on the sum, or pass retain_graph=True"
            message = f"backward: it goes through {_kind(spent)}, whose graph was freed by the backward before"
        _refuse(run, message, hint)
        return
    if inputs is None and (changed := next(_changed(graph), None)) is not None:
        tensor, operation = changed
        _refuse(
            run,
            f"backward: {_kind(tensor)} was changed in place, but the backward of {operation} needs it",
            "change a new tensor instead: x = x + y, not x += y",
        )
        return
    if inputs is None and (outdated := _outdated(run, graph)) is not None:
        what = outdated.tensor.cls.name if isinstance(outdated.tensor, Instance) else outdated.operation
        _refuse(
            run,
            f"backward: it goes through {what} as it was before optimizer.step(), which has changed its weight",
            "call every backward() before step(), or compute the value again after it; x.detach() cuts a graph",
        )
        return
    if inputs is None:
        weights.computed(run, graph, lambda weight: of(run, weight))
    if run.resolve(retain) is False and inputs is None:
        for tensor in graph:
            if tensor.cells[HISTORY].saves:
                run.heap.write(tensor.cells, SPENT, True)


def _changed(graph: Iterable[Tensor]) -> Iterator[tuple[Tensor, str]]:
    """What operations of the graph have kept and was changed in place afterwards, with their names."""
    for tensor in graph:
        for kept in tensor.cells[HISTORY].kept:
            if isinstance(kept.tensor, Tensor) and kept.tensor.cells.get(CHANGED, 0) > kept.when:
                yield kept.tensor, kept.operation


def _outdated(run: Interpreter, graph: Iterable[Tensor]) -> Kept | None:
    """What an operation of the graph has kept and a step has changed."""
    found = (kept for tensor in graph for kept in tensor.cells[HISTORY].kept if weights.is_outdated(run, kept))
    return next(found, None)


_HINT: Final = (
    "nothing behind it requires a gradient: look for .item(), .detach(), .data, torch.no_grad() or argmax on the way"
)


def _why(value: Tensor) -> str:
    floating = _is_float(value.type)
    return "it requires no gradient" if floating is not False else f"{value.type.dtype} can't require gradients"


def graph_of(run: Interpreter, value: Tensor) -> Iterator[Tensor]:
    """The tensors behind one whose operations its backward goes through, with itself."""
    seen, todo = {id(value)}, [value]
    while todo and len(seen) < _MOST:
        at = todo.pop()
        known = at.cells.get(HISTORY)
        if known is None or not known.grad:
            continue
        yield at
        for parent in known.parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                todo.append(parent)


def is_spent(run: Interpreter, value: Tensor) -> bool:
    """Whether no backward can ever go through the tensor's graph any more."""
    return any(SPENT in t.cells and t.cells[HISTORY].saves for t in graph_of(run, value))


def need_number(run: Interpreter, value: Value) -> None:
    """``.backward()`` of what ``.item()`` gave."""
    _refuse(run, "backward: a Python number has no graph", "call it on the tensor, before .item()", "AttributeError")


def _kind(value: Tensor) -> str:
    return str(value.type)


def _refuse(run: Interpreter, message: str, hint: str, error: str = "RuntimeError") -> None:
    """What torch raises: a finding, or an exception where somebody may catch it.

    Raises:
        Raised: somebody may catch it.
    """
    if run.tries:
        raise Raised(error, None, ("Exception", "BaseException"))
    run.find("tensor-grad", message, hint)


def layer_parameter(module: Instance, kind: Any) -> History | None:
    """A layer's parameter or buffer as its constructor made it; None where unknown code had the layer."""
    if module.state.get("open"):
        return None
    return LEAF if isinstance(kind, TensorType) and kind.is_parameter else PLAIN


def forget(value: Tensor) -> None:
    """Of a new tensor: how it was made isn't known after all."""
    value.cells.pop(HISTORY, None)


def moved(run: Interpreter, value: Tensor) -> Tensor:
    """What ``cuda()`` gives: the tensor itself, if it is there; else another one, which is no leaf."""
    known = value.cells.get(HISTORY)
    if known is None or not (known.grad and known.leaf):
        return value
    made = mark(value.like(value.type), History(grad=True, parents=(value,)))
    made.base = value
    return made


def unsure(run: Interpreter, result: Value) -> Value:
    """What code of its own kind of gradients gives: the same tensors, of which none is known."""
    result = run.resolve(result)
    if isinstance(result, Tensor):
        return result.like(result.type)
    if type(result) is tuple:
        return tuple(unsure(run, v) for v in result)
    for one in tensors_in((result,)):
        run.heap.write(one.cells, HISTORY, MISSING)
    return result
