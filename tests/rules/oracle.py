"""torch as the oracle: every rule is asked what torch is asked, and the two answers are compared.

Calls come from torch's own test inputs (`torch.testing._internal`, the only list of them there is; if a release
moves it, only `samples` breaks), re-drawn with distinct primes, because theirs repeat the sizes 5, 10 and 20.

    python tests/rules/oracle.py --op torch.cat --show wrong,false_error,unknown
    python tests/rules/oracle.py --family reduce --perturb --errors --show wrong,false_error,missed
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from itertools import islice
from typing import Any, Literal, TypeAlias

import torch
import torch.nn.functional as F
import torch.signal
from torch.overrides import TorchFunctionMode

from simpletorch.rules import ANYTHING, RULES, Device, Named, Report, Scalar, TensorType, infer
from simpletorch.rules.dtype import BY_TORCH_NAME, DType
from simpletorch.shapes import Expr, Rest, Shape, Unknown

Verdict: TypeAlias = Literal["exact", "partial", "unknown", "wrong", "false_error", "missed", "both_refuse", "flagged"]
VERDICTS: tuple[Verdict, ...] = Verdict.__args__  # type: ignore[attr-defined]

VALUE_DEPENDENT = re.compile(
    r"(^|\.)(nonzero|nonzero_static|masked_select|unique|unique_consecutive|argwhere|bincount|item|tolist|"
    r"repeat_interleave|equal|allclose|is_nonzero|__bool__|__float__|__int__|__complex__|__index__)$"
)

SHAPE_WORDS = re.compile(
    r"size|shape|dim|dtype|type|broadcast|match|expect|scalar|channel|stack|numel|element|same|batch|square|integ|float",
    re.IGNORECASE,
)


# -- values ----------------------------------------------------------------------------------------------------------


def lift(value: object) -> Any:
    """The rules' view of a Python value: tensors by shape and dtype, containers item by item."""
    match value:
        case torch.Tensor():
            return TensorType(Shape(tuple(value.shape)), lift_dtype(value.dtype))
        case torch.dtype():
            return lift_dtype(value) or ANYTHING
        case torch.device():
            return Device(value.type, value.index)
        case torch.Size():
            return tuple(value)
        case tuple() if hasattr(value, "n_sequence_fields"):  # torch.return_types.*
            names = type(value).__match_args__
            return Named(type(value).__name__, tuple(zip(names, map(lift, value), strict=True)))
        case tuple() if hasattr(value, "_fields"):
            return Named(type(value).__name__, tuple(zip(value._fields, map(lift, value), strict=True)))
        case list() | tuple():
            return tuple(lift(v) for v in value)
        case None | bool() | int() | float() | complex() | str() | slice():
            return value
        case _ if value is Ellipsis:
            return value
        case _:
            return ANYTHING


def lift_dtype(dtype: torch.dtype) -> DType | None:
    """The rules' dtype, None for one they don't have."""
    return BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))


def show(value: object) -> str:
    """A value as short as a reader can still understand it: ``f32[2, 3]`` for a tensor."""
    match value:
        case torch.Tensor():
            name = str(value.dtype).removeprefix("torch.")
            return f"{name}{list(value.shape)}"
        case list():
            return f"[{', '.join(map(show, value))}]"
        case tuple():
            return f"({', '.join(map(show, value))}{',' if len(value) == 1 else ''})"
        case _:
            return repr(value)


@dataclass
class Call:
    """One call: the public name, its arguments, the entry of op_db that it comes from, and what was changed in it."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    origin: str = ""
    change: Literal["", "dim", "dtype"] = ""

    def __str__(self) -> str:
        shown = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        return f"{self.name}({', '.join(shown)})"

    def judge(self) -> Judgement:
        """The verdict on this call, with both answers."""
        return examine(self.name, self.args, self.kwargs)


# -- torch's answer ----------------------------------------------------------------------------------------------------


@cache
def resolve(name: str) -> Callable[..., Any]:
    """The real thing behind a public name: ``"torch.cat"``, ``"Tensor.view"``, ``"Tensor.T"``, ``"einops.rearrange"``.

    Raises:
        AttributeError: there is nothing of that name.
    """
    head, _, rest = name.partition(".")
    if head == "Tensor":
        found: Any = torch.Tensor
    elif head == "torch":
        found = torch
    else:
        found = import_module(head)
        if ".layers." in name:
            found, rest = import_module(name.rpartition(".")[0]), name.rpartition(".")[2]
    for part in rest.split("."):
        found = getattr(found, part)
    if not callable(found):
        return lambda self: found.__get__(self)  # a property
    return found


def tree_map(function: Callable[[torch.Tensor], Any], value: Any) -> Any:
    """``value`` with ``function`` applied to every tensor in it."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return type(value)([tree_map(function, v) for v in value])
    if isinstance(value, dict):
        return {k: tree_map(function, v) for k, v in value.items()}
    return value


def tensors_in(*values: Any) -> list[torch.Tensor]:
    """Every tensor in the arguments, from left to right."""
    found: list[torch.Tensor] = []
    for v in values:
        tree_map(found.append, v)
    return found


NOT_HERE = re.compile(
    r"not implemented for|not supported on CPU|not yet supported|could not run|no kernel|only supported on|"
    r"meta tensor|data-dependent|unsupported|not available|mkldnn|not compiled with|requires LAPACK",
    re.IGNORECASE,
)


# kernels that trust their operands so far that a wrong size corrupts memory
UNCHECKED = re.compile(r"\.(lu_unpack|lu_unpack_)$")


def _run(name: str, args: Any, kwargs: Any, device: str) -> object:
    if UNCHECKED.search(name):
        device = "meta"

    def fresh(t: torch.Tensor) -> torch.Tensor:
        return t.clone() if device == "cpu" else torch.empty_like(t, device="meta")

    # a fixed seed: what random operations draw must not change a verdict
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            return resolve(name)(*tree_map(fresh, args), **tree_map(fresh, kwargs))
        except Exception as e:
            return e


def run_torch(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> object:
    """What torch says: the lifted result, or the exception it raises.

    The call is run for real, because sizes are small and only the real kernels refuse all that torch refuses; on
    ``meta`` instead where this machine's kernels lack the dtype, which says nothing about shapes.
    """
    found = _run(name, tuple(args), dict(kwargs or {}), "cpu")
    if _lacks_kernel(found):
        on_meta = _run(name, tuple(args), dict(kwargs or {}), "meta")
        found = found if isinstance(on_meta, Exception) else on_meta
    return found if isinstance(found, Exception) else lift(found)


def _lacks_kernel(found: object) -> bool:
    return isinstance(found, NotImplementedError) or (
        isinstance(found, Exception) and bool(NOT_HERE.search(str(found)))
    )


# -- comparing ---------------------------------------------------------------------------------------------------------


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    order: tuple[Verdict, ...] = ("exact", "partial", "unknown", "wrong")
    found = list(verdicts)
    if found and all(v == "unknown" for v in found):
        return "unknown"
    worst = max(found, key=order.index, default="exact")
    return "partial" if worst == "unknown" else worst


def compare_dims(answer: object, truth: int) -> Verdict:
    """A dim against the size torch gives."""
    if isinstance(answer, Unknown):
        return "partial"
    if isinstance(answer, Expr):
        return "wrong"
    return "exact" if answer == truth else "wrong"


def compare_shapes(answer: Shape, truth: Shape) -> Verdict:
    """A shape, perhaps with a variadic part, against the one torch gives."""
    sizes = truth.dims
    if answer.is_exact:
        if len(answer.items) != len(sizes):
            return "wrong"
        return _worst(compare_dims(a, t) for a, t in zip(answer.dims, sizes, strict=True))  # type: ignore[arg-type]
    if answer.rest != Rest() or answer.min_rank > len(sizes):
        return "wrong"
    heads = zip(answer.head, sizes, strict=False)
    tails = zip(reversed(answer.tail), reversed(sizes), strict=False)
    met = [compare_dims(a, t) for a, t in (*heads, *tails)]  # type: ignore[arg-type]
    return "wrong" if "wrong" in met else "partial" if met else "unknown"


def compare_dtypes(answer: DType | None, truth: DType | None) -> Verdict:
    """A dtype, perhaps a family of them, against the one torch gives."""
    if answer is None:
        return "unknown"
    if truth is None:
        return "wrong" if answer.is_concrete else "partial"
    if answer.is_concrete:
        return "exact" if answer == truth else "wrong"
    return "partial" if answer.category in (None, truth.category) else "wrong"


def compare(answer: Any, truth: Any) -> Verdict:
    """The rules' answer against torch's: the same, less known, not known, or wrong."""
    if answer is ANYTHING or truth is ANYTHING:
        return "unknown"
    match answer, truth:
        case TensorType(), TensorType():
            return _worst((compare_shapes(answer.shape, truth.shape), compare_dtypes(answer.dtype, truth.dtype)))
        case Named(), Named():
            if [k for k, _ in answer.fields] != [k for k, _ in truth.fields]:
                return "wrong"
            if answer.type_name.rpartition(".")[2] != truth.type_name.rpartition(".")[2]:
                return "wrong"
            return _worst(compare(a, t) for (_, a), (_, t) in zip(answer.fields, truth.fields, strict=True))
        case tuple(), Named():
            fields = tuple(v for _, v in truth.fields)
            return _worst((compare(answer, fields), "partial"))
        case tuple(), tuple():
            if len(answer) != len(truth):
                return "wrong"
            return _worst(compare(a, t) for a, t in zip(answer, truth, strict=True))
        case Scalar(), bool() | float() | complex():
            return "partial" if answer.type == type(truth).__name__ else "wrong"
        case Unknown(), int() if not isinstance(truth, bool):
            return "partial"
        case _:
            return "exact" if type(answer) is type(truth) and answer == truth else "wrong"


@dataclass
class Judgement:
    """A verdict with the two answers that led to it."""

    verdict: Verdict
    answer: Any
    truth: Any

    def __str__(self) -> str:
        answer = self.answer.text if isinstance(self.answer, Report) else self.answer
        truth = f"{type(self.truth).__name__}: {self.truth}" if isinstance(self.truth, Exception) else self.truth
        return f"{self.verdict}\n    rules: {_plain(answer)}\n    torch: {_plain(truth)}"


def _plain(value: object) -> str:
    match value:
        case tuple():
            return f"({', '.join(map(_plain, value))})"
        case Named():
            return f"{value.type_name}({', '.join(f'{k}={_plain(v)}' for k, v in value.fields)})"
        case _:
            return " ".join(str(value).split())[:300]


def _grows(args: Any, kwargs: Any) -> bool:
    """Whether the operands broadcast to something larger than each of them."""
    shapes = [tuple(t.shape) for t in tensors_in(args, kwargs)][:2]
    try:
        joint = torch.broadcast_shapes(*shapes)
    except RuntimeError:
        return False
    return all(joint.numel() > torch.Size(s).numel() for s in shapes)


def examine(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Judgement:
    """Ask both and compare."""
    lifted = {k: lift(v) for k, v in (kwargs or {}).items()}
    return weigh(infer(name, _lift_arguments(name, args), lifted), name, args, kwargs)


def weigh(answer: Any, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Judgement:
    """Compare an answer, whoever gave it, with torch's."""
    kwargs = dict(kwargs or {})
    truth = run_torch(name, args, kwargs)
    if isinstance(answer, Report) and not isinstance(truth, Exception):
        refusal = _run(name, tuple(args), kwargs, "cpu")
        truth = refusal if _lacks_kernel(refusal) else truth  # accepted on meta alone: either answer is right
    if isinstance(truth, Exception):
        return Judgement("both_refuse" if isinstance(answer, Report) else "missed", answer, truth)
    if isinstance(answer, Report):
        excused = answer.kind == "broadcast" and _grows(args, kwargs)
        return Judgement("flagged" if excused else "false_error", answer, truth)
    verdict = compare(answer, truth)
    if verdict == "partial" and _depends_on_values(name, args, kwargs):
        verdict = "exact"  # nothing more can be known
    return Judgement(verdict, answer, truth)


def _lift_arguments(name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    """``x[[1, 2]]`` and ``x[1, 2]`` differ, so for the rules a list stands inside a tuple, as the plugin puts it."""
    if name.endswith(("__getitem__", "__setitem__")) and isinstance(args[1], list):
        args = (args[0], (args[1],), *args[2:])
    return lift(tuple(args))  # type: ignore[no-any-return]


def _depends_on_values(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    if VALUE_DEPENDENT.search(name) or (name in ("torch.where", "Tensor.where") and len(args) + len(kwargs) == 1):
        return True
    masks = tensors_in(args[1:], kwargs)
    return name.endswith("__getitem__") and any(t.dtype in (torch.bool, torch.uint8) for t in masks)


def judge(name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Verdict:
    """The verdict on ``name(*args, **kwargs)``.

    exact: same shape and dtype (or all that can be known without values); partial: consistent, but less is known;
    unknown; wrong; false_error: torch accepts, the rules don't; missed: the other way round; both_refuse;
    flagged: a likely mistake that torch accepts (a broadcast larger than either operand).
    """
    return examine(name, args, kwargs).verdict


# -- which calls -------------------------------------------------------------------------------------------------------

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float64)
_PRIMES = [p for p in range(2, 10_000) if all(p % q for q in range(2, int(p**0.5) + 1))]


def _supported(value: Any) -> bool:
    """Whether a type checker could see this argument: tensors, numbers, strings, dtypes and containers of these."""
    match value:
        case torch.Tensor():
            return value.layout is torch.strided and not value.is_quantized and type(value) is torch.Tensor
        case list() | tuple():
            return all(_supported(v) for v in value)
        case None | bool() | int() | float() | complex() | str() | torch.dtype() | slice():
            return True
        case _:
            return value is Ellipsis


def _refill(t: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """A tensor of another shape with the values of ``t``, repeated: indices stay in range, masks stay masks."""
    count = torch.Size(shape).numel()
    if not t.numel():
        return torch.zeros(tuple(shape), dtype=t.dtype)
    flat = t.detach().reshape(-1)
    return flat.repeat(-(-count // flat.numel()) or 1)[:count].reshape(tuple(shape)).clone()


def _prime_map(sizes: Iterable[int]) -> dict[int, int]:
    """Distinct primes for distinct sizes, not smaller, in the same order; 0 and 1 stay."""
    out: dict[int, int] = {}
    last = 1
    for size in sorted(set(sizes)):
        if size > 1:
            last = next(p for p in _PRIMES if p >= size and p > last)
        out[size] = last if size > 1 else size
    return out


def _redraw_by_position(values: Any, from_right: bool) -> Any:
    """Sizes by (position, size): ``(5, 5)`` becomes ``(5, 7)``."""
    found = tensors_in(values)
    keys = {(i if not from_right else i - t.dim(), s) for t in found for i, s in enumerate(t.shape) if s > 1}
    primes: dict[tuple[int, int], int] = {}
    last = 1
    for place, size in sorted(keys, key=lambda k: (k[1], k[0])):
        last = next(p for p in _PRIMES if p >= size and p > last)
        primes[place, size] = last
    return tree_map(
        lambda t: _refill(t, [primes.get((i - t.dim() if from_right else i, s), s) for i, s in enumerate(t.shape)]),
        values,
    )


def _map_ints(value: Any, sizes: Mapping[int, int]) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return sizes.get(value, value)
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return type(value)([_map_ints(v, sizes) for v in value])
    if isinstance(value, torch.Size):
        return torch.Size([sizes.get(v, v) for v in value])
    if isinstance(value, dict):
        return {k: _map_ints(v, sizes) for k, v in value.items()}
    return value


def redraw(call: Call) -> Call:
    """The call with distinct primes for sizes, in the most varied way that torch accepts; else as it is."""
    values = (call.args, dict(call.kwargs))
    found = tensors_in(values)
    if not found or not any(s > 1 for t in found for s in t.shape) or max(t.numel() for t in found) > 20_000:
        return call
    if max(s for t in found for s in t.shape) > 5_000:
        return call
    sizes = _prime_map(s for t in found for s in t.shape)
    by_size = tree_map(lambda t: _refill(t, [sizes[s] for s in t.shape]), values)
    attempts: list[Callable[[], Any]] = [lambda: by_size, lambda: _map_ints(by_size, sizes)]
    if all(t.numel() for t in found):  # of no elements torch accepts what it refuses of one
        positions = [partial(_redraw_by_position, values, from_right=right) for right in (True, False)]
        attempts = [*positions, *attempts]
    for attempt in attempts:
        args, kwargs = attempt()
        if not isinstance(_run(call.name, args, kwargs, "cpu"), Exception):
            return replace(call, args=args, kwargs=kwargs)
    return call


class _Recorder(TorchFunctionMode):
    """Notes the outermost torch calls: what a test's lambda really calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {}))


@cache
def _names_by_function() -> dict[int, str]:
    """Public names of functions by identity; the shortest wins."""
    spaces = [
        ("torch", torch),
        ("torch.nn.functional", F),
        ("torch.linalg", torch.linalg),
        ("torch.fft", torch.fft),
        ("torch.special", torch.special),
        ("torch.signal.windows", torch.signal.windows),
        ("torch.masked", torch.masked),
        ("Tensor", torch.Tensor),
    ]
    names: dict[int, str] = {}
    for prefix, space in spaces:
        for n in dir(space):
            if n.startswith("_") and not (prefix == "Tensor" and n.startswith("__")):
                continue
            value = getattr(space, n, None)
            if callable(value) and not isinstance(value, type):
                names.setdefault(id(value), f"{prefix}.{n}")
    return names


def _exists(name: str) -> bool:
    try:
        resolve(name)
    except (AttributeError, ImportError):
        return False
    return True


def public_names(op: Any) -> list[str]:
    """The public spellings of an op_db entry that take its sample as it is: function, aliases, method, in-place."""
    names: list[str] = []
    known = _names_by_function().get(id(op.op))
    if known:
        names.append(known)
    for n in (op.name, *(a.name for a in op.aliases)):
        if (known or n != op.name) and _exists(f"torch.{n}"):
            names.append(f"torch.{n}")
    variants = [op.method_variant, op.inplace_variant]
    for a in op.aliases:
        variants += [a.method_variant, a.inplace_variant]
    methods = [getattr(v, "__name__", "") for v in variants]
    names += [f"Tensor.{m}" for m in methods if m and hasattr(torch.Tensor, m)]
    for variant in (op.operator_variant, op.inplace_operator_variant):
        dunder = f"__{getattr(variant, '__name__', '').strip('_')}__"
        if hasattr(torch.Tensor, dunder):
            names.append(f"Tensor.{dunder}")
    return list(dict.fromkeys(names))


def _recorded(op: Any, args: Any, kwargs: Any) -> Call | None:
    """The one torch call that a test's own wrapper makes of a sample."""
    with _Recorder() as recorder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            op.op(*tree_map(torch.clone, args), **tree_map(torch.clone, kwargs))
        except Exception:  # a wrapper made for another device; there is nothing to learn from it
            return None
    named = [(_names_by_function().get(id(f)), a, k) for f, a, k in recorder.calls]
    named = [c for c in named if c[0] not in (None, "Tensor.clone")]
    if len(named) != 1:
        return None
    name, args, kwargs = named[0]
    assert name is not None
    return Call(name, tuple(args), dict(kwargs), op.full_name)


def _spread(items: list[Any], count: int, rng: random.Random) -> list[Any]:
    return items if len(items) <= count else [items[i] for i in sorted(rng.sample(range(len(items)), count))]


def _samples_of(op: Any, dtype: torch.dtype, count: int, rng: random.Random) -> list[tuple[Any, Any]]:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # not op.sample_inputs: that wraps every sample in a stack inspection, most of the time spent
            drawn = list(islice(op.sample_inputs_func(op, "cpu", dtype, False), 10 * count))
        except (RuntimeError, ValueError, TypeError, ImportError):
            return []  # the generator itself needs what this build lacks
    calls = [((s.input, *s.args), dict(s.kwargs)) for s in drawn]
    return _spread([c for c in calls if all(map(_supported, (*c[0], *c[1].values())))], count, rng)


@cache
def _op_db() -> list[Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return [op for op in op_db if not op.name.startswith(("_", "jiterator", "ops.aten")) or op.name.startswith("__")]


def _spellings(name: str, own: Sequence[str]) -> list[str]:
    """All names of a call: those of op_db, and what else the rule registers under the same last name."""
    entry = RULES.get(name)
    last = {_last(n) for n in (name, *own)}
    return list(dict.fromkeys((name, *own, *(n for n in (entry.names if entry else ()) if _last(n) in last))))


def _last(name: str) -> str:
    return name.rpartition(".")[2].strip("_")


def _calls_of(op: Any, dtype: torch.dtype, count: int, rng: random.Random) -> Iterator[Call]:
    names = public_names(op)
    plain = id(op.op) in _names_by_function()
    seen: set[str] = set()
    for i, (args, kwargs) in enumerate(_samples_of(op, dtype, count, rng)):
        call = Call(names[0], args, kwargs, op.full_name) if plain else _recorded(op, args, kwargs)
        if call is None and names:
            call = Call(names[0], args, kwargs, op.full_name)
        if call is None or isinstance(_run(call.name, call.args, call.kwargs, "cpu"), Exception):
            continue
        call = redraw(call)
        if str(call) in seen:
            continue
        seen.add(str(call))
        yield call
        others = _spellings(call.name, names)[1:]
        for name in others if i < 2 else _spread(others, 1, rng):
            variant = replace(call, name=name)
            if _exists(name) and not isinstance(_run(name, call.args, call.kwargs, "cpu"), Exception):
                yield variant


def samples(
    select: Callable[[Sequence[str]], bool] = lambda names: True,
    *,
    dtypes: Sequence[torch.dtype] = DTYPES,
    count: int = 8,
    seed: int = 0,
) -> Iterator[Call]:
    """Calls that torch accepts, from op_db, re-drawn with primes, in all public spellings.

    Args:
        select: picks entries by their public names and op_db name.
        dtypes: those tried for each entry that supports them; one more is taken where it supports none.
        count: at most so many samples for each entry and dtype.
        seed: which ones.
    """
    for op in _op_db():
        if not select((op.name, *public_names(op))):
            continue
        supported = op.supported_dtypes("cpu")
        chosen = [d for d in dtypes if d in supported] or sorted(supported, key=str)[:1]
        rng = random.Random(f"{seed} {op.full_name}")
        for dtype in chosen:
            yield from _calls_of(op, dtype, count, rng)


def perturbations(call: Call, *, seed: int = 0, count: int = 3) -> Iterator[Call]:
    """The call with one dim of one operand one larger, or one operand of another dtype."""
    values = (call.args, dict(call.kwargs))
    found = tensors_in(values)
    if not all(t.numel() for t in found):
        return  # of no elements torch accepts what it refuses of one
    rng = random.Random(f"{seed} {call}")
    places = [(i, d) for i, t in enumerate(found) for d in range(t.dim())]
    for i, d in _spread(places, count, rng):
        shape = [s + (d == at) for at, s in enumerate(found[i].shape)]
        yield _with_tensor(replace(call, change="dim"), i, _refill(found[i], shape))
    if found:
        i = rng.randrange(len(found))
        others = [t for t in (torch.float32, torch.int64, torch.bool, torch.float64) if t != found[i].dtype]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # complex to real
            yield _with_tensor(replace(call, change="dtype"), i, found[i].to(rng.choice(others)))


def _with_tensor(call: Call, index: int, other: torch.Tensor) -> Call:
    position = iter(range(1_000))
    args, kwargs = tree_map(lambda t: other if next(position) == index else t, (call.args, dict(call.kwargs)))
    return replace(call, args=args, kwargs=kwargs)


def error_inputs(select: Callable[[Sequence[str]], bool] = lambda names: True) -> Iterator[Call]:
    """Calls that torch refuses because of shapes or dtypes, as its own tests list them.

    What is refused on ``meta`` too, where there are no values, is refused for what a type can say.
    """
    for op in _op_db():
        names = public_names(op)
        if op.error_inputs_func is None or not names or not select((op.name, *names)):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                drawn = list(op.error_inputs_func(op, "cpu"))
            except (RuntimeError, ValueError, TypeError, ImportError):
                continue  # the generator itself needs what this build lacks
        for e in drawn:
            s = e.sample_input
            if not all(map(_supported, (s.input, *s.args, *s.kwargs.values()))):
                continue
            call = Call(names[0], (s.input, *s.args), dict(s.kwargs), op.full_name)
            refused = [_run(call.name, call.args, call.kwargs, device) for device in ("cpu", "meta")]
            if all(
                isinstance(r, Exception) and not isinstance(r, NotImplementedError) and SHAPE_WORDS.search(str(r))
                for r in refused
            ):
                yield call


# -- command line ------------------------------------------------------------------------------------------------------


def family(name: str) -> str:
    """The module of rules that a name belongs to."""
    entry = RULES.get(name)
    return "(no rule)" if entry is None else entry.function.__module__.rpartition(".")[2]


def main() -> None:
    """Print the calls with the wanted verdicts, and the count of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", action="append", default=[], help="a public name (torch.cat) or one of op_db (cat)")
    parser.add_argument("--family", action="append", default=[], help="a module of simpletorch.rules, e.g. reduce")
    parser.add_argument("--show", default="wrong,false_error", help=f"verdicts to print, of {', '.join(VERDICTS)}")
    parser.add_argument("--limit", type=int, default=40, help="print at most so many calls")
    parser.add_argument("--count", type=int, default=8, help="samples for each entry and dtype")
    parser.add_argument("--perturb", action="store_true", help="also calls with one dim or dtype changed")
    parser.add_argument("--errors", action="store_true", help="also torch's own error_inputs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wanted, ops, families = set(options.show.split(",")), set(options.op), set(options.family)

    def chosen(name: str) -> bool:
        return (not ops and not families) or name in ops or family(name) in families

    def select(names: Sequence[str]) -> bool:
        return any(chosen(n) or any(chosen(s) for s in _spellings(n, ())) for n in names)

    counts: Counter[tuple[str, str]] = Counter()
    shown = 0

    def handle(kind: str, call: Call, own: bool) -> None:
        nonlocal shown
        if not own and not chosen(call.name):
            return
        found = call.judge()
        counts[kind, found.verdict] += 1
        if found.verdict in wanted and shown < options.limit:
            shown += 1
            print(f"{call}\n  {kind}: {found}")

    for call in samples(select, count=options.count):
        own = call.origin in ops or call.origin.partition(".")[0] in ops
        handle("sample", call, own)
        if options.perturb and (own or chosen(call.name)):
            for changed in perturbations(call):
                handle("perturbed", changed, own)
    if options.errors:
        for call in error_inputs(select):
            handle("error_input", call, call.origin in ops)
    for (kind, verdict), n in sorted(counts.items()):
        print(f"{kind:12} {verdict:12} {n}", file=sys.stderr)


if __name__ == "__main__":
    main()
