"""Which device a tensor is on where there is CUDA: what works on a machine without it may mix devices on one with it.

A program is followed as on a machine without CUDA. Beside that each tensor remembers its ``place``: where it would be
if ``torch.cuda.is_available()`` held, "cpu" or "cuda", None where that isn't known. What ``"cuda" if
torch.cuda.is_available() else "cpu"`` gives is "cpu" that says so (`Name`, `Chosen`). Nothing is said of programs that
choose by other means.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.syntax import parse, walk
from simpletorch.follow.values import Instance, List, Tensor, Value
from simpletorch.rules import RULES, CannotTell, Device, ModuleRule, TensorType, parameters
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.registry import spoken_name

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "Chosen",
    "Name",
    "check_name",
    "chosen",
    "counts",
    "device_of",
    "follow",
    "forward",
    "move",
    "moved",
    "named",
    "of",
    "to_numpy",
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
    return "cuda" in source or "accelerator" in source


# -- what a program chooses ------------------------------------------------------------------------------------------


def chosen(run: Interpreter, node: ast.IfExp, value: Value) -> Value:
    """``"cuda" if torch.cuda.is_available() else "cpu"``, whose value here is "cpu"."""
    if type(value) not in (str, Device) or not (value == "cpu" or value == Device("cpu")):
        return value
    test, there = node.test, node.body
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, there = test.operand, node.orelse
    tree = parse(Path(run.path))
    names = frozenset() if tree is None else _flags(tree)
    if not _is_availability(test, names) or (
        "cuda" not in ast.unparse(there) and "accelerator" not in ast.unparse(test)
    ):
        return value
    if isinstance(value, Device):
        return Chosen("cpu", None, "cuda")
    made = Name(value)
    made.there = "cuda"
    return made


@lru_cache(maxsize=64)
def _flags(tree: ast.Module) -> frozenset[str]:
    """The names that stand for ``torch.cuda.is_available()``."""
    found: frozenset[str] = frozenset()
    for node in walk(tree):
        if isinstance(node, ast.Assign) and _is_availability(node.value, found):
            found |= {t.id if isinstance(t, ast.Name) else t.attr for t in node.targets
                      if isinstance(t, ast.Name | ast.Attribute)}  # fmt: skip
    return found


def _is_availability(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression is what it is asked for: ``torch.cuda.is_available()``, or a name for it.

    Also ``not args.no_cuda and torch.cuda.is_available()``: a flag of such a name is off unless it is given.
    """
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            rest = [v for v in values if not _is_availability(v, names)]
            return len(rest) < len(values) and all(map(_is_unless, rest))
        case ast.Call(func=ast.Attribute(value=of, attr="is_available")):
            return ast.unparse(of).endswith(("cuda", "accelerator"))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names
    return False


def _is_unless(node: ast.expr) -> bool:
    """``not args.no_cuda``, ``not args.cpu``."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name) | ast.Attribute(attr=name)):
            return _WITHOUT.match(name) is not None
    return False


_WITHOUT: Final = re.compile(r"(no|disable|without|force)_|(use_)?cpu$|no(cuda|gpu)$", re.IGNORECASE)
_MOVES: Final = re.compile(r"\.cuda\(|\.to\(|\.cpu\(|DataParallel|Tensor\b")
_ABOUT: Final = re.compile(r"cuda|device|gpu|is_available|accelerator", re.IGNORECASE)
_ELSEWHERE: Final = re.compile(
    r"set_default_device|set_default_tensor_type|with torch\.device|DataParallel|[Aa]ccelerat(e\b|or\()|[Ff]abric"
    r"|[Ll]ightning|deepspeed|init_empty_weights|device_map|\bBuffer\(|def _apply\b|to_empty|\.prepare\(|torch_xla"
    r"|functional_call"
)


def _is_clear(run: Interpreter) -> bool:
    """Whether the program says where things are by ``to`` and ``device=`` alone, and no condition moves anything."""
    if any(map(_ELSEWHERE.search, run.program.texts())):
        return False
    trees = (parse(Path(m.path)) for m in run.program.modules.values() if m.path is not None)
    return all(tree is None or _is_clear_tree(tree) for tree in trees)


@lru_cache(maxsize=64)
def _is_clear_tree(tree: ast.Module) -> bool:
    flags = _flags(tree)
    for node in walk(tree):
        if not isinstance(node, ast.If | ast.IfExp | ast.While):
            continue
        parts = (node.body, node.orelse)
        body = [n for p in parts for n in (p if isinstance(p, list) else [p])]
        about = _ABOUT.search(ast.unparse(node.test)) or _names(node.test) & flags
        if about and any(_MOVES.search(ast.unparse(n)) for n in body):
            return False
    return True


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in walk(node) if isinstance(n, ast.Attribute)
    }


def named(run: Interpreter, value: Value) -> str | None:
    """Where a device is: that of ``to(value)``, ``device=value``."""
    if isinstance(value, Name | Chosen):
        return value.there
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
    if type(name) is not str or name in ("", "auto"):
        return
    kind, colon, index = name.partition(":")
    if (kind in _KINDS or kind in _OTHERS) and (not colon or index.isdigit()):
        return
    if run.tries:
        raise Raised("RuntimeError", None, ("Exception", "BaseException"))
    hint = {"gpu": '"cuda"', "mp": '"mps"'}.get(kind.lower(), '"cpu", "cuda", "cuda:0"')
    run.find(_CODE, f'{what}: "{name}" is no device', f"{hint} would be one")


# -- where tensors are -----------------------------------------------------------------------------------------------


def of(run: Interpreter, value: Value) -> str | None:
    """Where a tensor is, where there is CUDA."""
    if not isinstance(value, Tensor) or value.array:
        return None
    found = run.moved.get(id(value.cells))
    if found is not None:
        return found[0] if isinstance(found, tuple) else None
    return value.place


def device_of(run: Interpreter, value: Tensor) -> Device | None:
    """``x.device`` of a tensor whose device is known here: what rules answer is shared by both kinds of "cpu"."""
    known, place = value.type.device, of(run, value)
    if known is None or known.type != "cpu":
        return known
    return Chosen("cpu", None, "cuda") if place == "cuda" else Device("cpu", known.index)


def moved(run: Interpreter, made: Value, place: str | None) -> Value:
    """A tensor that was just made, or moved to a place."""
    if isinstance(made, Tensor) and not made.array:
        made.place = place
    return made


def _tensors(values: Mapping[str, Value] | tuple[Value, ...]) -> Iterator[Tensor]:
    for value in values.values() if isinstance(values, Mapping) else values:
        if type(value) is Tensor:
            yield value
        elif type(value) is tuple:
            yield from _tensors(value)
        elif type(value) is List and value.items is not None:
            yield from _tensors(value.items)


_NEW: Final = frozenset({
    "zeros", "ones", "empty", "rand", "randn", "full", "eye", "arange", "linspace", "logspace", "range", "randint",
    "randperm", "tril_indices", "triu_indices", "normal", "hann_window", "hamming_window",
})  # fmt: skip
_ALIKE: Final = frozenset({
    "view_as", "expand_as", "reshape_as", "type_as", "to", "copy_", "set_", "is_same_size", "pack_padded_sequence",
})  # fmt: skip
_CASTS: Final = frozenset(("to", "cuda", "cpu", "type_as"))


def follow(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Value) -> None:
    """Where an operation's result is; an error where its operands are on several devices."""
    short = name.rpartition(".")[2]
    device = kwargs.get("device")
    if device is not None:
        check_name(run, device, short)
    place: str | None
    if short in _CASTS:
        place = _target(run, short, args, kwargs)
    elif device is not None:
        place = named(run, device)
    else:
        operands = [*_tensors(args), *_tensors(kwargs)] if kwargs else [*_tensors(args)]
        if not operands and short in _NEW and "device" not in kwargs:
            place = "cpu"
        elif short in ("__getitem__", "__setitem__"):
            place = of(run, args[0])
            _check_index(run, args[0], args[1], place)
        else:
            place = _common(run, name, operands)
    for one in result if isinstance(result, tuple) else (result,):
        if isinstance(one, Tensor) and not one.array and not any(one is a for a in args):
            one.place = place


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
    if any(of(run, one) == _MIXED for one in operands):
        return _MIXED
    for one in operands:
        place = of(run, one)
        rank = one.type.shape.rank
        if place is None or (rank in (0, None)):
            loose.add(place)
        elif found is None:
            found = one, place
        elif place != found[1] and name.rpartition(".")[2] not in _ALIKE and not RULES[name].moves:
            _mixed(run, name, found[0], one)
            return _MIXED
    if found is not None:
        return found[1]
    return "cuda" if "cuda" in loose else next(iter(loose)) if len(loose) == 1 else None


def _mixed(run: Interpreter, name: str, first: Tensor, second: Tensor) -> None:
    first, second = (first, second) if of(run, first) == "cpu" else (second, first)
    _tell(run, f"{spoken_name(name)}: {first.type} is on the CPU, but {second.type} is on cuda", _HINT)
    first.place = _MIXED  # what was left behind is said once


_HINT: Final = "fails where CUDA is available: .to(device) on the one on the CPU, or device= where it is made"


def _check_index(run: Interpreter, value: Tensor, index: Value, place: str | None) -> None:
    """What is on the CPU is indexed by what is on the CPU alone."""
    if place != "cpu":
        return
    for one in _tensors(index if type(index) is tuple else (index,)):
        if of(run, one) == "cuda" and one.type.shape.rank:
            message = f"[]: {value.type} is on the CPU, but the index {one.type} is on cuda"
            _tell(run, message, "fails where CUDA is available: .cpu() on the index, or the tensor to the device")
            return


def _tell(run: Interpreter, message: str, hint: str) -> None:
    decided = not any(c.cause == "code" for c in run.conditions)  # contents of data move nothing
    if decided and not run.tries and not run.hypothetical and not run.entry and _is_clear(run):
        run.find(_CODE, message, hint)


def to_numpy(run: Interpreter, value: Tensor) -> None:
    """``x.numpy()``, of what must be on the CPU."""
    if of(run, value) == "cuda":
        _tell(run, f"numpy: {value.type} is on cuda", "fails where CUDA is available: .cpu().numpy()")


# -- modules ---------------------------------------------------------------------------------------------------------

_PLACE: Final = "place"
BUFFER: Final = "buffer"


def move(run: Interpreter, modules: list[Instance], place: str | None) -> None:
    """Modules, with their parameters and buffers, are moved."""
    for module in modules:
        run.heap.write(module.state, _PLACE, place or "?")
        for name, value in list(module.cells.items()):
            one = run.resolve(value)
            if isinstance(one, Tensor) and (one.type.is_parameter or f"{BUFFER} {name}" in module.state):
                run.heap.write(run.moved, id(one.cells), (place, one))


def place_of(run: Interpreter, module: Instance) -> str | None:
    """Where a layer's parameters are."""
    found = module.state.get(_PLACE)
    if module.state.get("open") or (found is not None and found not in ("cpu", "cuda")):
        return None
    if found is not None:
        return str(found)
    device = getattr(module.native, "device", None)
    return "cpu" if device is None else named(run, device)


def forward(
    run: Interpreter,
    module: Instance,
    rule: ModuleRule,
    args: tuple[Value, ...],
    kwargs: Mapping[str, Value],
    out: Value,
) -> None:
    """Where a layer's result is; an error where it is on another device than what it is given."""
    operands = [*_tensors(args), *_tensors(kwargs)]
    own = place_of(run, module) if _has_parameters(rule) else None
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
        odd.place = _MIXED
    for one in _tensors((out,)):
        one.place = known


_LAYER_HINT: Final = (
    "fails where CUDA is available: .to(device) on the module; layers in a plain list don't move with it"
)


@cache
def _has_parameters(rule: ModuleRule) -> bool:
    try:
        return any(isinstance(v, TensorType) for v in parameters(rule).values())
    except CannotTell:
        return False
