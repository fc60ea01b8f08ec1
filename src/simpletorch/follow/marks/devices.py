"""Which device a tensor is on where there is CUDA: what works on a machine without it may mix devices on one with it.

A program is followed as on a machine without CUDA. Beside that each tensor has a mark, its ``place``: where it would be
if ``torch.cuda.is_available()`` held, "cpu" or "cuda", None where that isn't known. What ``"cuda" if
torch.cuda.is_available() else "cpu"`` gives is "cpu" that says so (`Name`, `Chosen`); `moves` reads what conditions on
CUDA move. Nothing is said of programs that choose by other means.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow.marks.mark import Call, LayerCall, Mark
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources import moves, texts
from simpletorch.follow.sources.syntax import code, parse
from simpletorch.follow.values import Instance, List, Tensor, Value, tensors_in
from simpletorch.rules import RULES, CannotTell, Device, ModuleRule, Report, TensorType, parameters
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.registry import spoken_name

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "BUFFER",
    "DEVICE",
    "PLACE",
    "Chosen",
    "Name",
    "agree",
    "as_chosen",
    "can_move",
    "check_name",
    "chosen",
    "counts",
    "device_of",
    "is_cpu",
    "is_doubtful",
    "move",
    "moved",
    "named",
    "of",
    "to_numpy",
    "told",
    "untold",
]

_CODE: Final = "tensor-device"
_MIXED: Final = "?"  # the place of what was made of tensors on several devices: that has been said


class Name(str):
    """The name of a device, ``"cpu"``, that is another where there is CUDA."""

    __slots__ = ("there",)
    there: str


@dataclass(frozen=True, slots=True)
class Chosen(Device):
    """A device that is another where there is CUDA."""

    there: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


def counts(path: Path) -> bool:
    """Whether a program has to do with CUDA at all."""
    source = texts.read(path)
    if not any(word in source for word in _WORDS):
        return False
    tree = parse(path)
    said = source if tree is None else code(tree, source)
    return any(word in said for word in _WORDS)


_WORDS: Final = ("cuda", "accelerator", "Device.CUDA", "CUDATensor", "MPSTensor")


# -- what a program chooses ------------------------------------------------------------------------------------------


def chosen(run: Interpreter, node: ast.IfExp, value: Value) -> Value:
    """``"cuda" if torch.cuda.is_available() else "cpu"``, whose value here is "cpu"; ``x.cuda() if … else x``."""
    names = moves.flags(run)
    if moves.is_move(node, names):
        return run.call(run.attribute(value, "cuda"), ()) if can_move(value) else value
    if not is_cpu(value):
        return value
    test, there = node.test, node.body
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, there = test.operand, node.orelse
    if not moves.is_availability(test, names):
        return value
    if isinstance(there, ast.Constant) and isinstance(there.value, str) and not _is_name(there.value):
        return as_chosen(value, there.value)
    return as_chosen(value) if "cuda" in ast.unparse(there) or "accelerator" in ast.unparse(test) else value


def is_cpu(value: Value) -> bool:
    """Whether a value is the CPU, by name or as a device."""
    return type(value) in (str, Device) and (value == "cpu" or value == Device("cpu"))


def as_chosen(value: Value, there: str = "cuda") -> Value:
    """ "cpu" that is "cuda" where there is one, or what the program takes for its name."""
    if isinstance(value, Device):
        return Chosen("cpu", None, there)
    made = Name(value)
    made.there = there
    return made


def can_move(value: Value) -> bool:
    """Whether it is known what ``value.cuda()`` moves."""
    if isinstance(value, Instance):
        return value.cls.is_a("torch.nn.Module")
    return isinstance(value, Tensor) and not value.array


def named(run: Interpreter, value: Value) -> str | None:
    """Where a device is: that of ``to(value)``, ``device=value``."""
    if isinstance(value, Name | Chosen):
        return value.there if value.there == "cuda" else None
    if isinstance(value, Tensor):
        return of(run, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return "cuda"
    if isinstance(value, str | Device):
        kind = str(value).partition(":")[0]
        return kind if kind == "cuda" else None  # who says "cpu" may have chosen it by other means
    return None


_KINDS: Final = frozenset({
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
})  # fmt: skip
_OTHERS: Final = frozenset(("npu", "mlu", "musa", "dml", "gcu", "sdaa", "txda", "supa"))  # packages add them


def check_name(run: Interpreter, name: Value, what: str) -> None:
    """``torch.device(name)``: a name that torch doesn't know is an error on each machine.

    Raises:
        Raised: somebody may catch it.
    """
    if isinstance(name, Name):
        name = name.there
    if type(name) is not str or name in ("", "auto") or _is_name(name):
        return
    kind = name.partition(":")[0]
    if run.tries:
        raise Raised("RuntimeError", None, ("Exception", "BaseException"))
    hint = {"gpu": '"cuda"', "mp": '"mps"'}.get(kind.lower(), '"cpu", "cuda", "cuda:0"')
    run.find(_CODE, f'{what}: "{name}" is not a device', f"use {hint}")


def _is_name(text: str) -> bool:
    kind, colon, index = text.partition(":")
    return (kind in _KINDS or kind in _OTHERS) and (not colon or index.isdigit())


# -- where tensors are -----------------------------------------------------------------------------------------------


def of(run: Interpreter, value: Value) -> str | None:
    """Where a tensor is, where there is CUDA."""
    if not isinstance(value, Tensor) or value.array:
        return None
    if run.moved and (found := run.moved.get(id(value.cells))) is not None:
        return found[0] if isinstance(found, tuple) else None
    return value.marks.place


def told(run: Interpreter, value: Value) -> Device | None:
    """The device that the program says a tensor is on; torch's default one isn't said."""
    if not isinstance(value, Tensor) or value.array:
        return None
    place, said = of(run, value), value.type.device
    if said is None:
        return Device("cuda") if place == "cuda" else None
    return None if _is_elsewhere(place, said) else said


def device_of(run: Interpreter, value: Tensor) -> Device | None:
    """``x.device`` of a tensor whose device is known here: what rules answer is shared by both kinds of "cpu"."""
    known, place = value.type.device, of(run, value)
    if known is None or known.type != "cpu":
        return known
    return Chosen("cpu", None, "cuda") if place == "cuda" else Device("cpu", known.index)


def moved(run: Interpreter, made: Value, place: str | None) -> Value:
    """A tensor that was just made, or moved to a place."""
    if isinstance(made, Tensor) and not made.array:
        DEVICE.put(made, place)
    return made


_NEW: Final = frozenset({
    "zeros", "ones", "empty", "rand", "randn", "full", "eye", "arange", "linspace", "logspace", "range", "randint",
    "randperm", "tril_indices", "triu_indices", "normal", "hann_window", "hamming_window",
})  # fmt: skip
_CASTS: Final = frozenset(("to", "cuda", "cpu", "type_as"))


@final
class _Device(Mark[str]):
    def of_operation(self, run: Interpreter, call: Call, made: Sequence[Tensor]) -> Sequence[str | None]:
        if not run.places and call.name != "Tensor.to" and "device" not in call.kwargs:
            return super().of_operation(run, call, made)
        place = _of_operation(run, call)
        return [one.marks.place if one.array else place for one in made]

    def of_layer(self, run: Interpreter, call: LayerCall, made: Sequence[Tensor]) -> Sequence[str | None]:
        place = _of_layer(run, call) if run.places else None
        return (place,) * len(made)

    def follows_alone(self, run: Interpreter, call: Call) -> bool:
        return agree(run, (*call.args, *call.kwargs.values()))

    def of_data(self, made: Tensor) -> str:
        return "cpu"

    def of_batch(self, sample: Tensor, batch: Tensor) -> str | None:
        return "cpu" if sample.array else sample.marks.place

    def of_annotation(self, made: Tensor) -> str | None:
        """Where a tensor is that a caller gives: where its annotation says."""
        known = made.type.device
        return known.type if known is not None and known.type in ("cpu", "cuda") else None


DEVICE: Final = _Device("place")


def _of_operation(run: Interpreter, call: Call) -> str | None:
    """Where an operation's result is; an error where its operands are on several devices."""
    name, args, kwargs, _ = call
    short = name.rpartition(".")[2]
    device = kwargs.get("device")
    if device is not None:
        check_name(run, device, short)
    if short in _CASTS:
        return _target(run, short, args, kwargs)
    if device is not None:
        return named(run, device)
    operands = [*tensors_in((*args, *kwargs.values()) if kwargs else args)]
    if not operands and short in _NEW and "device" not in kwargs:
        return "cpu"
    if short in ("__getitem__", "__setitem__"):
        place = of(run, args[0])
        _check_index(run, args[0], args[1], place)
        return place
    return _common(run, name, operands)


def _target(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> str | None:
    """Where ``to`` and its like move a tensor."""
    if short in ("cuda", "cpu"):
        return short
    own = of(run, args[0])
    given = [*args[1:2], *(kwargs[k] for k in ("device", "other") if k in kwargs)]
    if short == "to":
        for value in args[1:2]:
            check_name(run, value, short)
    places = [named(run, v) for v in given if not isinstance(v, DType)]
    return places[0] if places else own


def _common(run: Interpreter, name: str, operands: list[Tensor]) -> str | None:
    """Where all operands are. A tensor without dims on the CPU fits everywhere."""
    found: tuple[Tensor, str] | None = None
    loose: set[str | None] = set()
    places = [of(run, one) for one in operands]
    if _MIXED in places:
        return _MIXED
    for one, place in zip(operands, places, strict=True):
        rank = one.type.shape.rank
        if place is None or (rank in (0, None)):
            loose.add(place)
        elif found is None:
            found = one, place
        elif place != found[1] and not RULES[name].moves:
            _mixed(run, name, found[0], one)
            return _MIXED
    if found is not None:
        return found[1]
    return "cuda" if "cuda" in loose else next(iter(loose)) if len(loose) == 1 else None


def agree(run: Interpreter, values: tuple[Value, ...], own: str | None = None) -> bool:
    """Whether the tensors among operands, and the parameters of their layer, are all in the same place."""
    places: set[str | None] = set() if own is None else {own}
    for one in values:
        if type(one) is Tensor:
            places.add(of(run, one))
        elif type(one) in _ROWS:
            places.update([of(run, inner) for inner in tensors_in((one,))])
    return len(places) < 2


_ROWS: Final = (tuple, List)


def _mixed(run: Interpreter, name: str, first: Tensor, second: Tensor) -> None:
    first, second = (first, second) if of(run, first) == "cpu" else (second, first)
    _tell(run, f"{spoken_name(name)}: {first.type} is on the CPU, but {second.type} is on cuda", _HINT)
    DEVICE.put(first, _MIXED)  # what was left behind is said once


_HINT: Final = "call .to(device) on the CPU tensor, or create it with device="


def _check_index(run: Interpreter, value: Tensor, index: Value, place: str | None) -> None:
    """What is on the CPU is indexed by what is on the CPU alone."""
    if place != "cpu":
        return
    for one in tensors_in(index if type(index) is tuple else (index,)):
        if of(run, one) == "cuda" and one.type.shape.rank:
            message = f"[]: {value.type} is on the CPU, but the index {one.type} is on cuda"
            _tell(run, message, "call .cpu() on the index, or move the tensor to the GPU")
            return


def _tell(run: Interpreter, message: str, hint: str) -> None:
    decided = not any(c.cause == "code" for c in run.conditions)  # contents of data move nothing
    if decided and not run.tries and not run.hypothetical and not run.entry and moves.is_clear(run):
        run.find(_CODE, message, hint if run.program.has_cuda else f"fails where CUDA is available: {hint}")


def to_numpy(run: Interpreter, value: Tensor) -> None:
    """``x.numpy()``, of what must be on the CPU."""
    if of(run, value) == "cuda":
        _tell(run, f"numpy: {value.type} is on cuda", ".cpu().numpy()")


# -- what types say --------------------------------------------------------------------------------------------------


def is_doubtful(run: Interpreter, answer: Report, operands: tuple[Value, ...], module: Instance | None = None) -> bool:
    """Whether a refusal is one of devices, of which one may be another than ``device=`` was told.

    "cpu" may be chosen, and CUDA where there is one. What was moved has a place that says so.
    """
    if answer.kind != "device":
        return False
    if any(_is_elsewhere(of(run, t), t.type.device) for t in tensors_in(operands)):
        return True
    told = module.native.parameters_device if module is not None and isinstance(module.native, ModuleRule) else None
    if told is None or module is None:
        return False
    return PLACE in module.state or _is_elsewhere(place_of(run, module) or told.type, told)


def _is_elsewhere(place: str | None, told: Device | None) -> bool:
    if told is None or told.type not in ("cpu", "cuda"):
        return False
    return place == "cuda" if told.type == "cpu" else place != "cuda"


def untold(given: Any) -> Any:
    """Operands, or a layer's rule, without what they were told of devices."""
    if isinstance(given, TensorType):
        return given if given.device is None else replace(given, device=None)
    if type(given) is tuple:
        return tuple(map(untold, given))
    if isinstance(given, ModuleRule) and given.parameters_device is not None:
        rule: Any = given
        return replace(rule, device=None)
    return given


# -- modules ---------------------------------------------------------------------------------------------------------

PLACE: Final = "place"
BUFFER: Final = "buffer"


def move(run: Interpreter, modules: list[Instance], place: str | None) -> None:
    """Modules, with their parameters and buffers, are moved."""
    for module in modules:
        run.heap.write(module.state, PLACE, place or "?")
        for name, value in list(module.cells.items()):
            one = run.resolve(value)
            if isinstance(one, Tensor) and (one.type.is_parameter or f"{BUFFER} {name}" in module.state):
                run.heap.write(run.moved, id(one.cells), (place, one))
                if one.type.device is not None:
                    run.heap.write(one.cells, "type", untold(one.type))


def made_of(run: Interpreter, module: Instance, given: Mapping[str, Value]) -> None:
    """A layer is made, perhaps of tensors, such as the weights of a loss's classes: it is where they are."""
    for value in given.values():
        if isinstance(value, Tensor):
            run.heap.write(module.state, PLACE, of(run, value) or "?")


def place_of(run: Interpreter, module: Instance) -> str | None:
    """Where a layer's parameters are."""
    found = module.state.get(PLACE)
    if module.state.get("open") or (found is not None and found not in ("cpu", "cuda")):
        return None
    if found is not None:
        return str(found)
    device = getattr(module.native, "device", None)
    return "cpu" if device is None else named(run, device)


def of_parameters(run: Interpreter, module: Instance, rule: ModuleRule) -> str | None:
    """Where the parameters of a layer are, None of one that has none."""
    return place_of(run, module) if _has_parameters(rule) else None


def _of_layer(run: Interpreter, call: LayerCall) -> str | None:
    """Where a layer's result is; an error where it is given what is elsewhere than its parameters."""
    rule, args, kwargs = call.rule, call.args, call.kwargs
    own = of_parameters(run, call.module, rule)
    operands = [*tensors_in((*args, *kwargs.values()))]
    places = {of(run, t) for t in operands if t.type.shape.rank} | {own}
    places.discard(None)
    known = next(iter(places)) if len(places) == 1 else _MIXED if places else None
    if known == _MIXED and _MIXED not in places:
        odd = next(t for t in operands if t.type.shape.rank and of(run, t) not in (None, own))
        where = {"cpu": "on the CPU", "cuda": "on cuda"}
        if own is not None:
            there = where[of(run, odd) or "cpu"]
            _tell(
                run,
                f"{rule}: the layer is {where[own]}, but {odd.type} is {there}",
                _LAYER_HINT if own == "cpu" else _HINT,
            )
        else:
            first = next(
                t for t in operands if t.type.shape.rank and of(run, t) is not None and of(run, t) != of(run, odd)
            )
            first, odd = (first, odd) if of(run, first) == "cpu" else (odd, first)
            _tell(run, f"{rule}: {first.type} is on the CPU, but {odd.type} is on cuda", _HINT)
        DEVICE.put(odd, _MIXED)
    return known


_LAYER_HINT: Final = ".to(device) on the module; layers in a plain list don't move with it"


@cache
def _has_parameters(rule: ModuleRule) -> bool:
    try:
        return rule.holds_modules or any(isinstance(v, TensorType) for v in parameters(rule).values())
    except CannotTell:
        return False
