"""How often borders check: `simpletorch.config` and ``SIMPLETORCH_CHECK``, in threads, tasks and processes."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import pickle
import subprocess
import sys
import threading
from typing import Any

import pytest
import torch

from simpletorch import Float32, K, M, N, Tensor, checked, config
from simpletorch.checks import Border
from simpletorch.errors import ShapeMismatch


def border_of(function: Any) -> Border:
    return function.__globals__["_st_admit"].__self__


@checked
def product(x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
    return x @ y


def test_off_at_decoration_is_the_function_itself():
    def f(x: Tensor[Float32, 3]) -> None: ...

    with config(check="off"):
        assert checked(f) is f


def test_off_for_a_block():
    with config(check="off"):
        product(torch.zeros(2, 3), torch.zeros(3, 5, dtype=torch.float32))
        with pytest.raises(ShapeMismatch, match="the inner dims differ"):
            product(torch.zeros(2, 3), torch.zeros(5, 7))  # torch's own failure, explained
    with pytest.raises(ShapeMismatch, match="but K is 3"):
        product(torch.zeros(2, 3), torch.zeros(5, 7))


def test_full_checks_every_call():
    calls = 0

    @checked
    def f(x: Tensor[Float32, 3]) -> Tensor[Float32, 3]:
        return x

    admit = border_of(f).admit

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return admit(*args)

    f.__globals__["_st_admit"] = counted
    f(torch.zeros(3))
    f(torch.zeros(3))
    assert calls == 1
    with config(check="full"):
        f(torch.zeros(3))
        f(torch.zeros(3))
    assert calls == 3


def test_a_block_holds_in_its_own_thread_only():
    seen: list[str] = []
    with config(check="off"):
        thread = threading.Thread(target=lambda: seen.append(config.check))
        thread.start()
        thread.join()
        assert config.check == "off"
    assert seen == ["once"]
    assert config.check == "once"


@pytest.mark.slow
def test_the_environment_sets_the_mode():
    code = "from simpletorch import checked, config; f = lambda x: x; print(config.check, checked(f) is f)"
    env = {**os.environ, "SIMPLETORCH_CHECK": "off"}
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    assert out.split() == ["off", "True"]
    env["SIMPLETORCH_CHECK"] = "sometimes"
    err = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stderr
    assert err.splitlines()[-1] == (
        "ValueError: SIMPLETORCH_CHECK is 'sometimes', which is no mode; write off, once or full"
    )


def test_an_unknown_mode_says_which_there_are():
    with pytest.raises(ValueError, match="'sometimes', which is no mode; write off, once or full"):
        config(check="sometimes")
    with pytest.raises(ValueError, match="no mode"):
        config.check = "sometimes"


# -- threads and tasks ------------------------------------------------------------------------------------------------


def test_blocks_nest():
    with config(check="full"):
        with config(check="off"):
            assert config.check == "off"
        assert config.check == "full"
    assert config.check == "once"
    assert not config.switch.special


def test_a_block_is_left_by_an_exception():
    with pytest.raises(KeyError), config(check="full"):
        raise KeyError
    assert config.check == "once"
    assert not config.switch.special


def test_a_task_that_a_block_started_keeps_its_mode_after_the_block():
    @checked
    def f(x: Tensor[Float32, 3]) -> None: ...

    async def later(go: asyncio.Event) -> str:
        await go.wait()
        f(torch.zeros(4))  # off: not checked
        return config.check

    async def main() -> str:
        go = asyncio.Event()
        with config(check="off"):
            task = asyncio.create_task(later(go))
        assert config.check == "once"
        with pytest.raises(ShapeMismatch):
            f(torch.zeros(4))
        go.set()
        return await task

    assert asyncio.run(main()) == "off"
    gc.collect()
    assert not config.switch.special, "the fast road is open again once the task is gone"


def test_one_block_object_serves_several_threads_at_once():
    block = config(check="full")
    inside = threading.Barrier(3, timeout=10)
    seen: list[str] = []

    def work() -> None:
        with block:
            inside.wait()
            seen.append(config.check)
            inside.wait()
        seen.append(config.check)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["full"] * 3 + ["once"] * 3
    gc.collect()
    assert not config.switch.special


def test_a_block_may_be_left_in_another_context_than_it_was_entered_in():
    def fixture() -> Any:
        with config(check="full"):
            yield config.check

    running = fixture()
    assert contextvars.copy_context().run(next, running) == "full"
    contextvars.copy_context().run(next, running, None)
    assert config.check == "once"


def test_a_block_in_one_task_is_not_seen_by_its_sibling():
    async def inside(entered: asyncio.Event, looked: asyncio.Event) -> None:
        with config(check="off"):
            entered.set()
            await looked.wait()

    async def outside(entered: asyncio.Event, looked: asyncio.Event) -> None:
        await entered.wait()
        try:
            with pytest.raises(ShapeMismatch):
                product(torch.zeros(2, 3), torch.zeros(5, 7))
        finally:
            looked.set()

    async def main() -> None:
        events = asyncio.Event(), asyncio.Event()
        await asyncio.gather(inside(*events), outside(*events))

    asyncio.run(main())


def test_the_mode_of_the_process_is_seen_by_every_thread():
    config.check = "full"
    try:
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(config.check))
        thread.start()
        thread.join()
    finally:
        config.check = "once"
    assert seen == ["full"]
    assert not config.switch.special


def test_there_is_one_config_in_a_process():
    assert pickle.loads(pickle.dumps(config)) is config
    assert pickle.loads(pickle.dumps(config.switch)) is config.switch
    assert repr(config) == "simpletorch.config(check='once')"


def test_a_function_sent_by_value_obeys_the_config_that_is_there():
    cloudpickle = pytest.importorskip("cloudpickle")

    def local(x: Tensor[Float32, 3]) -> Tensor[Float32, 3]:
        return x

    sent = cloudpickle.loads(cloudpickle.dumps(checked(local)))
    with pytest.raises(ShapeMismatch):
        sent(torch.zeros(4))
    with config(check="off"):
        assert sent(torch.zeros(4)).shape == (4,)
    assert sent(torch.zeros(3)).shape == (3,)
