"""Coroutines, generators and asynchronous generators: checked when they run, and what they yield like a result."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Generator, Iterator

import pytest
import torch

from simpletorch import Float32, Int64, K, N, Tensor, checked, config
from simpletorch.errors import DTypeMismatch, ShapeMismatch, TypeMismatch

z = torch.zeros


@checked
def batches(x: Tensor[Float32, N, K], size: int) -> Iterator[Tensor[Float32, 2, K]]:
    yield from x.split(size)


def test_items_are_checked_with_the_sizes_of_the_arguments():
    assert [b.shape for b in batches(z(4, 3), 2)] == [(2, 3), (2, 3)]
    with pytest.raises(ShapeMismatch) as caught:
        list(batches(z(5, 3), 2))
    assert caught.value.reason == "dim 0 of what it yields is 1, not 2"
    assert caught.value.operation == "batches"


def test_the_items_before_the_wrong_one_arrive():
    running = batches(z(5, 3), 2)
    assert [len(next(running)) for _ in range(2)] == [2, 2]
    with pytest.raises(ShapeMismatch):
        next(running)


def test_arguments_are_checked_when_it_starts():
    started = batches(z(4), 2)
    with pytest.raises(ShapeMismatch, match="x has 1 dim, not 2"):
        next(started)


def test_it_stays_a_generator_function():
    assert inspect.isgeneratorfunction(batches)
    assert inspect.isgenerator(batches(z(4, 3), 2))


def test_no_grad_around_it_holds_while_it_runs():
    @torch.no_grad()
    @checked
    def modes() -> Iterator[bool]:
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    assert list(modes()) == [False, False]


@checked
def running_sum(x: Tensor[Float32, N]) -> Generator[Tensor[Float32, N], Tensor[Float32, N] | None, Tensor[Int64]]:
    steps = 0
    try:
        while True:
            sent = yield x
            steps += 1
            if sent is None:
                return torch.tensor(steps)
            x = x + sent
    except ValueError:
        yield z(7)


def test_values_are_sent_and_a_result_is_returned():
    running = running_sum(torch.ones(3))
    assert next(running).tolist() == [1, 1, 1]
    assert running.send(torch.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(StopIteration) as ended:
        running.send(None)
    assert ended.value.value == 2


def test_the_returned_value_is_checked():
    @checked
    def wrong() -> Generator[Tensor[Float32, N], None, Tensor[Float32]]:
        yield z(3)
        return torch.tensor(3)

    with pytest.raises(DTypeMismatch, match="the result is Int64, but should be Float32"):
        list(wrong())


def test_exceptions_are_thrown_in_and_what_they_make_it_yield_is_checked():
    running = running_sum(z(3))
    next(running)
    with pytest.raises(ShapeMismatch, match="dim 0 of what it yields is 7, but N is 3"):
        running.throw(ValueError)
    with pytest.raises(StopIteration):
        next(running)


def test_closing_it_closes_the_users_generator():
    closed = []

    @checked
    def endless() -> Iterator[Tensor[Float32, 2]]:
        try:
            while True:
                yield z(2)
        finally:
            closed.append(True)

    running = endless()
    next(running)
    running.close()
    assert closed == [True]


def test_an_item_like_one_before_is_looked_up_and_not_checked_again():
    @checked
    def many(x: Tensor[Float32, N]) -> Iterator[Tensor[Float32, N]]:
        for _ in range(100):
            yield x

    assert len(list(many(z(3)))) == 100
    (results,) = many.__globals__["_st_seen"].values()
    assert len(results) == 1


def test_torchs_errors_in_a_generator_are_explained():
    @checked
    def products(x: Tensor[Float32, N, K]) -> Iterator[Tensor[Float32, N, N]]:
        yield x @ x

    with pytest.raises(ShapeMismatch, match="the inner dims differ: input has 3"):
        next(products(z(2, 3)))


def test_off_and_full():
    with config(check="off"):
        assert len(list(batches(z(5, 3), 2))) == 3
    with config(check="full"):
        assert len(list(batches(z(4, 3), 2))) == 2
        with pytest.raises(ShapeMismatch):
            list(batches(z(5, 3), 2))


def test_a_decorated_generator_is_what_the_decorator_makes_of_it():
    @checked
    @contextlib.contextmanager
    def opened(x: Tensor[Float32, N]) -> Iterator[Tensor[Float32, N]]:
        yield x

    with opened(z(3)) as x:
        assert x.shape == (3,)
    with pytest.raises(TypeMismatch):
        opened(3)


def test_names_that_are_defined_later():
    @checked
    def later(x: Later) -> Iterator[Later]:
        yield x
        yield z(4)

    assert inspect.isgeneratorfunction(later)
    globals()["Later"] = Tensor[Float32, 3]
    try:
        with pytest.raises(ShapeMismatch, match="what it yields is 4"):
            list(later(z(3)))
    finally:
        del globals()["Later"]


def test_coroutines():
    @checked
    async def f(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        await asyncio.sleep(0)
        return x if len(x) < 5 else x[:1]

    async def both() -> None:
        assert inspect.iscoroutinefunction(f)
        await asyncio.gather(f(z(3)), f(z(4)))
        with pytest.raises(ShapeMismatch):
            await f(z(7))

    asyncio.run(both())


@checked
async def arriving(x: Tensor[Float32, N], last: int) -> AsyncIterator[Tensor[Float32, N]]:
    try:
        for _ in range(2):
            await asyncio.sleep(0)
            yield x
        yield x[:last]
    except ValueError:
        yield 2 * x


def test_asynchronous_generators():
    async def run() -> None:
        assert inspect.isasyncgenfunction(arriving)
        assert len([x async for x in arriving(z(3), 3)]) == 3
        with pytest.raises(ShapeMismatch, match="dim 0 of what it yields is 1, but N is 3 from dim 0 of x"):
            assert [x async for x in arriving(z(3), 1)]
        with pytest.raises(ShapeMismatch, match="x has 2 dims, not 1"):
            await anext(arriving(z(3, 3), 1))

    asyncio.run(run())


def test_exceptions_reach_an_asynchronous_generator():
    async def run() -> None:
        running = arriving(torch.ones(3), 3)
        await anext(running)
        assert (await running.athrow(ValueError)).tolist() == [2, 2, 2]
        await running.aclose()

    asyncio.run(run())
