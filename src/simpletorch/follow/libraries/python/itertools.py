"""``itertools``."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, iteration
from simpletorch.follow.libraries import Work, model, native
from simpletorch.follow.model import iterators, kinds, often
from simpletorch.follow.values import NEXT, Iterator, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_MOST: Final = 5_000  # items that a product or its like may give


def _each(run: Interpreter, source: Value) -> Value:
    """One value for all items, whether their number is known or not."""
    found = run.items(source)
    return iteration.item(run, source) if found is None else branches.common_item(found)


def _rows(run: Interpreter, sources: Iterable[Value]) -> list[tuple[Value, ...]] | None:
    """The items of each source, None if the number of any isn't known."""
    rows = [run.items(s) for s in sources]
    known = [r for r in rows if r is not None]
    return known if len(known) == len(rows) else None


def _known(run: Interpreter, given: Iterable[Value], otherwise: Callable[[], Value]) -> Value:
    """The items of one of Python's own iterators; where there are too many, one for all."""
    found = tuple(itertools.islice(given, _MOST + 1))
    return Iterator(found) if len(found) <= _MOST else Iterator(None, otherwise())


def _too_long(run: Interpreter, reason: str) -> Value:
    """Unknown items of unknown or enormous length; Python may refuse them for their memory."""
    guards.may_raise(run, guards.ANY)
    return Iterator(None, run.unknown(reason))


@model("itertools.chain")
def _chain(run: Interpreter, *iterables: Value) -> Value:
    sources = tuple(iteration.asked(run, iteration.check(run, a)) for a in iterables)
    if not all(iterators.is_simple(run, s) for s in sources):
        return _chain_whole(run, iterables, _rows(run, iterables))
    asked: list[Value] = []
    at = iterators.Count(run, 0)

    def one() -> Value:
        while (number := at.value) is not None and number < len(sources):
            if number == len(asked):
                asked.append(iterators.over(run, sources[number]))
            found = iterators.pull(run, asked[number])
            if found is not iterators.END:
                return found
            at.value = number + 1
        return iterators.UNSURE if number is None else iterators.END

    lengths: list[int] = []  # as they were when all items were taken

    def whole() -> Value:
        rows = _rows(run, sources)  # once: an iterator has its items for one who asks
        lengths[:] = [] if rows is None else map(len, rows)
        return _chain_whole(run, sources, rows)

    def again(given: int) -> Value:
        number = 0
        while number + 1 < len(lengths) and given > lengths[number]:
            given, number = given - lengths[number], number + 1
        return _chain(run, iterators.over(run, sources[number], given), *sources[number + 1 :])

    minds = iterators.minds(run, sources)
    made = iterators.Lazy(whole, one, minds=minds, over=sources, again=None if minds else again)
    return iterators.lazily(made)


def _chain_whole(run: Interpreter, sources: tuple[Value, ...], rows: list[tuple[Value, ...]] | None) -> Value:
    if rows is not None:
        return Iterator(tuple(itertools.chain(*rows)))
    return Iterator(None, branches.common_item(_each(run, a) for a in sources if run.items(a) != ()))


@model("itertools.chain.from_iterable")
def _chain_from(run: Interpreter, iterable: Value, /) -> Value:
    found = run.items(iterable)
    if found is None:
        return Iterator(None, _each(run, iteration.item(run, iterable)))
    return _chain(run, *found)


@model("itertools.product")
def _product(run: Interpreter, *iterables: Value, repeat: Value = 1) -> Value:
    rows = _rows(run, iterables)
    if not isinstance(repeat, int) or repeat > _MOST:
        return _too_long(run, "an item of a product")
    if repeat < 0:
        raise kinds.error("ValueError")

    def one() -> Value:
        return tuple(_each(run, a) for a in iterables) * repeat

    return Iterator(None, one()) if rows is None else _known(run, itertools.product(*rows, repeat=repeat), one)


@model("itertools.zip_longest")
def _zip_longest(run: Interpreter, *iterables: Value, fillvalue: Value = None) -> Value:
    rows = _rows(run, iterables)
    if rows is not None:
        return Iterator(tuple(itertools.zip_longest(*rows, fillvalue=fillvalue)))
    return Iterator(None, tuple(branches.common_item((_each(run, a), fillvalue)) for a in iterables))


@native("itertools.islice")
def _islice(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if not 2 <= len(args) <= 4 or kwargs:
        raise kinds.error("TypeError")
    source, *bounds = map(run.resolve, args)
    for bound in (b for b in bounds if b is not None):
        kinds.need(run, bound, "__index__", raises="ValueError")
    if any(isinstance(b, int) and not 0 <= b <= sys.maxsize for b in bounds) or (len(bounds) == 3 and bounds[2] == 0):
        raise kinds.error("ValueError")
    source = iteration.asked(run, iteration.check(run, source))
    if isinstance(source, List) and source.items is not None and all(b is None or isinstance(b, int) for b in bounds):
        return _sliced_list(run, source, (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3], 0)
    if iterators.can_pull(source) and all(b is None or isinstance(b, int) for b in bounds):
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, None)[:3]
        if isinstance(stop, int) and stop <= _MOST:
            return _sliced(run, source, start or 0, stop, step or 1)
    left = source.items if isinstance(source, Iterator) else run.items(source)
    if left is None or not all(b is None or isinstance(b, int) for b in bounds):
        return Iterator(None, _each(run, source))
    found = tuple(itertools.islice(left, *bounds))
    if isinstance(source, Iterator):  # what it skips and gives is gone
        stop = bounds[0] if len(bounds) == 1 else bounds[1]
        run.heap.write(source.cells, NEXT, source.cells[NEXT] + (len(left) if stop is None else min(stop, len(left))))
    return Iterator(found)


def _sliced_list(run: Interpreter, source: List, bounds: tuple[Any, ...], given: int) -> Value:
    """The same of a list, which may change meanwhile."""
    start, stop, step = bounds[0] or 0, sys.maxsize if bounds[1] is None else bounds[1], bounds[2] or 1
    number = iterators.Count(run, start + given * step)

    def one() -> Value:
        at, held = number.value, source.items
        if held is None or at is None:
            return iterators.UNSURE
        if at >= min(stop, len(held)):
            return iterators.END
        number.value = at + step
        return held[at]

    def whole() -> Value:
        held, at = source.items, number.value
        return (
            Iterator(None, _each(run, source))
            if held is None or at is None
            else Iterator(held[at : min(stop, len(held)) : step])
        )

    def again(given: int) -> Value:
        return _sliced_list(run, source, bounds, given)

    return iterators.lazily(iterators.Lazy(whole, one, over=(source,), again=again))


def _sliced(run: Interpreter, source: Iterator, start: int, stop: int, step: int) -> Iterator:
    """The same of an iterator; what it skips and gives is gone."""
    taken, wanted = iterators.Count(run, 0), iterators.Count(run, start)

    def one() -> Value:
        while True:
            done, number = taken.value, wanted.value
            if done is None or number is None:
                return iterators.UNSURE
            if done >= stop:
                return iterators.END
            found = iterators.pull(run, source)
            if found is iterators.END or found is iterators.UNSURE:
                return found
            taken.value = done + 1
            if done == number:
                wanted.value = number + step
                return found

    def whole() -> Value:
        found: list[Value] = []
        while (item := one()) is not iterators.END:
            if item is iterators.UNSURE:
                return Iterator(None, _each(run, source))
            found.append(item)
        return Iterator(tuple(found))

    return iterators.lazily(iterators.Lazy(whole, one, minds=True))


@model("itertools.cycle")
def _cycle(run: Interpreter, iterable: Value, /) -> Value:
    if run.items(iterable) == ():
        return Iterator(())
    return Iterator(None, _each(run, iterable))


@model("itertools.count")
def _count(run: Interpreter, start: Value = 0, step: Value = 1) -> Value:
    known = isinstance(start, int) and isinstance(step, int)
    return Iterator(None, run.unknown("a number of count()", "int" if known else None, "data"))


@model("itertools.repeat")
def _repeat(run: Interpreter, object: Value, times: Value = None) -> Value:
    if isinstance(times, int) and times <= _MOST:
        return Iterator((object,) * times)
    return Iterator(None, object)


@model("itertools.accumulate")
def _accumulate(run: Interpreter, iterable: Value, func: Value = None, *, initial: Value = None) -> Value:
    found = run.items(iterable)
    if found is None:
        return Iterator(None, run.unknown("an item of accumulate()"))
    rows = found if initial is None else (initial, *found)

    def add(a: Value, b: Value) -> Value:
        return run.operate("__add__", a, b) if func is None else run.call(func, (a, b))

    return Iterator(tuple(itertools.accumulate(rows, add)))


@model("itertools.pairwise")
def _pairwise(run: Interpreter, iterable: Value, /) -> Value:
    found = run.items(iterable)
    if found is None:
        return Iterator(None, (iteration.item(run, iterable),) * 2)
    return Iterator(tuple(itertools.pairwise(found)))


def _chosen(run: Interpreter, choose: Callable[[Any, Any], Iterable[Any]], source: Value, count: Value) -> Value:
    found = run.items(source)
    if count is None and found is not None:
        count = len(found)
    if not isinstance(count, int) or count > _MOST:
        return _too_long(run, "a choice of several items")
    if count < 0:
        raise kinds.error("ValueError")

    def one() -> Value:
        return (_each(run, source),) * count

    return Iterator(None, one()) if found is None else _known(run, choose(found, count), one)


@model("itertools.combinations")
def _combinations(run: Interpreter, iterable: Value, r: Value) -> Value:
    return _chosen(run, itertools.combinations, iterable, r)


@model("itertools.permutations")
def _permutations(run: Interpreter, iterable: Value, r: Value = None) -> Value:
    return _chosen(run, itertools.permutations, iterable, r)


@model("itertools.combinations_with_replacement")
def _with_replacement(run: Interpreter, iterable: Value, r: Value) -> Value:
    return _chosen(run, itertools.combinations_with_replacement, iterable, r)


@model("itertools.starmap")
def _starmap(run: Interpreter, function: Value, iterable: Value, /) -> Value:
    found = run.items(iterable)
    rows = None if found is None else _rows(run, found)
    if rows is None:
        return Iterator(None, run.call_in_the_dark(function, (), {}))
    return Iterator(tuple(run.call(function, row) for row in rows))


def _filtered(kept: Callable[[tuple[Value, ...], list[bool]], tuple[Value, ...]]) -> Work:
    def work(run: Interpreter, function: Value, iterable: Value, /) -> Value:
        found = run.items(iterable)
        if found is None:
            often.may_call(run, function)
            return Iterator(None, iteration.item(run, iterable))
        answers = [branches.truth(run, v if function is None else run.call(function, (v,))) for v in found]
        if not all(isinstance(a, bool) for a in answers):
            return Iterator(None, branches.common_item(found))
        return Iterator(kept(found, [a is True for a in answers]))

    return work


def _until(rows: tuple[Value, ...], answers: list[bool]) -> int:
    return answers.index(False) if False in answers else len(rows)


native("itertools.takewhile")(_filtered(lambda rows, answers: rows[: _until(rows, answers)]))
native("itertools.dropwhile")(_filtered(lambda rows, answers: rows[_until(rows, answers) :]))
native("itertools.filterfalse")(
    _filtered(lambda rows, answers: tuple(v for v, a in zip(rows, answers, strict=True) if not a))
)


@model("itertools.compress")
def _compress(run: Interpreter, data: Value, selectors: Value) -> Value:
    rows = _rows(run, (data, selectors))
    answers = None if rows is None else [branches.truth(run, v) for v in rows[1]]
    if rows is None or answers is None or not all(isinstance(a, bool) for a in answers):
        return Iterator(None, _each(run, data))
    return Iterator(tuple(itertools.compress(rows[0], answers)))


@model("itertools.groupby")
def _groupby(run: Interpreter, iterable: Value, key: Value = None) -> Value:
    often.may_call(run, key)
    return Iterator(None, (run.unknown("a key of groupby()"), Iterator(None, _each(run, iterable))))


@model("itertools.tee")
def _tee(run: Interpreter, iterable: Value, n: Value = 2, /) -> Value:
    found = run.items(iterable)
    if not isinstance(n, int) or n > _MOST:
        guards.may_raise(run, guards.ANY)
        return run.unknown("what tee() gives")
    if n < 0:
        raise kinds.error("ValueError")
    item = None if found is not None else iteration.item(run, iterable)
    return tuple(Iterator(found, item) for _ in range(n))


@model("itertools.batched")
def _batched(run: Interpreter, iterable: Value, n: Value, *, strict: Value = False) -> Value:
    found = run.items(iterable)
    if found is None or not isinstance(n, int) or n < 1:
        return Iterator(None, run.unknown("a batch of items"))
    return Iterator(tuple(found[i : i + n] for i in range(0, len(found), n)))
