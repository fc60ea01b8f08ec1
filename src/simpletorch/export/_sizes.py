"""Sizes to export and to compare at: those at which the model itself runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from simpletorch.errors import BackendError, TorchError, explain
from simpletorch.export._call import Call
from simpletorch.export._signature import Symbol

__all__ = ["Point", "base_point", "eager_limits", "points", "runs", "size_text"]

Point: TypeAlias = Mapping[str, int]

_BATCHES: Final = (3, 2, 5, 4, 8)
# what the other sizes are tried at: small primes, which tell sizes apart, then what strides, patches and pools ask for
_TRIED: Final = (
    (5, 7, 11, 13, 17),
    (16, 24, 40, 56, 88),
    (32, 48, 80, 96, 112),
    (64, 96, 128, 160, 192),
    (32, 32, 32, 32, 32),
    (224, 256, 288, 320, 352),
    (224, 224, 224, 224, 224),
)
_WANTED: Final = 3
_STEPS: Final = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64)  # that patches and pools ask for


def runs(call: Call, sizes: Point) -> Exception | None:
    """Why the model itself doesn't run at these sizes; None if it does, which is remembered."""
    key = tuple(sizes.items())
    if key in call.ran:
        return None
    tensors = call.tensors(sizes)
    if tensors is None:
        return ValueError(f"a size comes out negative for {dict(sizes)}")
    try:
        with explain():
            call.eager(tensors)
    except Exception as error:  # whatever a model raises
        return error
    call.ran.add(key)
    return None


def base_point(call: Call) -> dict[str, int]:
    """Sizes at which the model runs.

    Raises:
        BackendError: it runs at none of those that were tried.
    """
    symbols = call.request.symbols
    first: Exception | None = None
    for point in _candidates(call, symbols):
        error = runs(call, point)
        first = first or error
        for _ in symbols:
            demanded = None if error is None else _demanded(error, point)
            if demanded is None:
                break
            point.update(demanded)
            error = runs(call, point)
        if error is None:
            return point
    names = ", ".join(s.name for s in symbols)
    reason = first.reason if isinstance(first, TorchError) else f"{type(first).__name__}: {first}"
    where = f"at none of the sizes of {names} that were tried" if symbols else "with inputs made from its annotations"
    raise BackendError(
        f"the model itself runs {where}: {reason.splitlines()[0]}" if reason else f"the model itself runs {where}",
        operation="export",
        location=getattr(first, "location", None),
        hint=f"state its sizes: dynamic={{{', '.join(f'{s.name!r}: …' for s in symbols)}}} with a number or "
        "(least, most) for each size, or inputs= with tensors that it runs on",
    ) from first


def _demanded(error: Exception, point: Point) -> dict[str, int] | None:
    """The size that a layer asks for in the place of one that is tried: ``Linear(7, 64)`` was given 5 features."""
    got, wanted = getattr(error, "got", None), getattr(error, "expected", None)
    names = [name for name, size in point.items() if size == got]
    if type(got) is not int or type(wanted) is not int or len(names) != 1:
        return None
    return {names[0]: wanted}


def _candidates(call: Call, symbols: Sequence[Symbol]) -> Iterator[dict[str, int]]:
    given = _sizes_of_given(call)
    if given is not None:
        yield given
    batch = next((next(spec.symbols(), None) for spec in call.specs if spec.shape), None)
    for i, tried in enumerate(_TRIED):
        point = {}
        for n, symbol in enumerate(s for s in symbols if s.name != batch):
            point[symbol.name] = _within(symbol, tried[n % len(tried)])
        for symbol in symbols:
            if symbol.name == batch:
                point[symbol.name] = _within(symbol, _BATCHES[i % len(_BATCHES)])
        yield {s.name: point[s.name] for s in symbols}


def _within(symbol: Symbol, size: int) -> int:
    size = max(size, symbol.least)
    return size if symbol.most is None else min(size, symbol.most)


def _sizes_of_given(call: Call) -> dict[str, int] | None:
    """The sizes of the caller's tensors, if they say all."""
    found: dict[str, int] = {}
    names = {s.name for s in call.request.symbols}
    for spec in call.specs:
        tensor = call.request.given.get(spec.name)
        for size, number in zip(spec.shape, () if tensor is None else tensor.shape, strict=False):
            if str(size) in names:
                found.setdefault(str(size), number)
    return {s.name: found[s.name] for s in call.request.symbols} if names <= found.keys() else None


def eager_limits(call: Call, symbol: Symbol, base: Point) -> Symbol:
    """The symbol with the limits at which the model itself stops running, looked for near the base."""

    def works(size: int) -> bool:
        return runs(call, {**base, symbol.name: size}) is None

    at = base[symbol.name]
    if symbol.step == 1 and not works(at + 1) and not (at > symbol.least and works(at - 1)):
        step = next((n for n in _STEPS if n <= at and works(at + n)), 1)
        symbol = dataclasses.replace(symbol, step=step, offset=at % step)
    least, most = symbol.least, symbol.most
    start = least + (symbol.offset - least) % symbol.step
    if start < at and not works(start):
        least = _edge(works, at, start, symbol.step)
    else:
        least = min(start, at)
    above = at + symbol.step
    if most is None and not works(above) and not works(2 * at) and not works(at + 8 * symbol.step):
        most = at
    elif most is None:
        most = _rows_of_tables(call, symbol, base)
    return dataclasses.replace(symbol, least=least, most=most)


def _rows_of_tables(call: Call, symbol: Symbol, base: Point) -> int | None:
    """The last size for which the model's own tables have rows (positions up to 512), if the next one fails."""
    at, step = base[symbol.name], symbol.step
    before, after = (call.lookups({**base, symbol.name: size}) for size in (at, at + step))
    more = [
        (count - 1 - low) // (high - low) for (count, low), (_, high) in zip(before, after, strict=False) if high > low
    ]
    if not more or min(more) < 0:
        return None
    most = at + step * min(more)
    return most if runs(call, {**base, symbol.name: most + step}) is not None else None


def _edge(works: Any, good: int, bad: int, step: int) -> int:
    """The size next to where it stops working, between one at which it does and one at which it doesn't."""
    while abs(good - bad) > step:
        middle = good + (bad - good) // 2 // step * step
        if middle == good:
            middle += step if bad > good else -step
        if middle == bad:
            break
        good, bad = (middle, bad) if works(middle) else (good, middle)
    return good


def points(call: Call, symbols: Sequence[Symbol], base: Point) -> list[dict[str, int]]:
    """Sizes to compare at: each symbol at three sizes or more, at which the model runs."""
    if not symbols:
        return [dict(base)]
    chosen = {symbol.name: _chosen(call, symbol, base) for symbol in symbols}
    count = max(len(symbols) + 2, *(len(sizes) for sizes in chosen.values()))
    found: list[dict[str, int]] = []
    for i in range(count):
        # by turns, so that no two symbols go through their sizes together
        point = {name: sizes[(i * (1 + n % 2) + n) % len(sizes)] for n, (name, sizes) in enumerate(chosen.items())}
        if point not in found and runs(call, point) is None:
            found.append(point)
    for name, sizes in chosen.items():
        # sizes that go together are checked once more on their own
        for size in sizes:
            single = {**base, name: size}
            if not any(point[name] == size for point in found) and runs(call, single) is None:
                found.append(single)
    return found


def _chosen(call: Call, symbol: Symbol, base: Point) -> list[int]:
    """Sizes of one symbol, the others at the base: the least, the base, and some above."""
    at, step = base[symbol.name], symbol.step
    wanted = [symbol.least, at, at + step, 2 * at - symbol.offset + step, at + 3 * step, symbol.least + step, at - step]
    wanted += [2 * at, 4 * at, at + 2 * step, at + 4 * step, at + 16, at + 32, at + 7 * step]
    found: list[int] = []
    for size in dict.fromkeys(wanted):
        if symbol.allows(size) and (size == at or runs(call, {**base, symbol.name: size}) is None):
            found.append(size)
        if len(found) == _WANTED + 1:
            break
    return found


def size_text(point: Point) -> str:
    """``B=3, T=7``."""
    return ", ".join(f"{name}={size}" for name, size in point.items())
