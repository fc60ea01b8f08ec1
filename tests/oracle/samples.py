"""Calls to judge, from torch's own test inputs, re-drawn with distinct primes.

`torch.testing._internal` is private, but the only list of valid and invalid inputs there is; if a release moves it,
only this file breaks.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Any

import torch
import torch.nn.functional as F
import torch.signal
from torch.overrides import TorchFunctionMode

from simpletorch.rules import RULES
from tests.oracle.databases import op_db
from tests.oracle.truth import exists, run, tensors_in, tree_map
from tests.oracle.verdict import Call

SHAPE_WORDS = re.compile(
    r"size|shape|dim|dtype|type|broadcast|match|scalar|channel|stack|numel|element|same|batch|square|integ|float",
    re.IGNORECASE,
)

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


def refill(t: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
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
        lambda t: refill(t, [primes.get((i - t.dim() if from_right else i, s), s) for i, s in enumerate(t.shape)]),
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
    by_size = tree_map(lambda t: refill(t, [sizes[s] for s in t.shape]), values)
    attempts: list[Callable[[], Any]] = [lambda: by_size, lambda: _map_ints(by_size, sizes)]
    if all(t.numel() for t in found):  # of no elements torch accepts what it refuses of one
        positions = [partial(_redraw_by_position, values, from_right=right) for right in (True, False)]
        attempts = [*positions, *attempts]
    for attempt in attempts:
        args, kwargs = attempt()
        if not isinstance(run(call.name, args, kwargs, "cpu"), Exception):
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


def public_names(op: Any) -> list[str]:
    """The public spellings of an op_db entry that take its sample as it is: function, aliases, method, in-place."""
    names: list[str] = []
    known = _names_by_function().get(id(op.op))
    if known:
        names.append(known)
    for n in (op.name, *(a.name.removeprefix("torch.") for a in op.aliases)):
        if (known or n != op.name) and exists(f"torch.{n}"):
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
    named = [c for c in named if c[0] not in (None, "Tensor.clone", "torch.clone")]
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
    return [op for op in op_db() if not op.name.startswith(("_", "jiterator", "ops.aten")) or op.name.startswith("__")]


def spellings(name: str, own: Sequence[str]) -> list[str]:
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
        if call is None or isinstance(run(call.name, call.args, call.kwargs, "cpu"), Exception):
            continue
        call = redraw(call)
        if str(call) in seen:
            continue
        seen.add(str(call))
        yield call
        others = spellings(call.name, names)[1:]
        for name in others if i < 2 else _spread(others, 1, rng):
            variant = replace(call, name=name)
            if exists(name) and not isinstance(run(name, call.args, call.kwargs, "cpu"), Exception):
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
        yield _with_tensor(replace(call, change="dim"), i, refill(found[i], shape))
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
            refused = [run(call.name, call.args, call.kwargs, device) for device in ("cpu", "meta")]
            if all(map(_is_about_types, refused)):
                yield call


def _is_about_types(refusal: object) -> bool:
    """Whether torch refuses for shapes or dtypes; a wrong kind of argument (TypeError) any type checker sees."""
    if not isinstance(refusal, Exception) or isinstance(refusal, NotImplementedError | TypeError):
        return False
    return SHAPE_WORDS.search(str(refusal)) is not None
