"""`distributed.actors`: objects in processes of their own, by Ray, whose methods keep their types."""

from __future__ import annotations

import asyncio
import importlib
import os
from functools import partial
from pathlib import Path

import pytest
import torch

from simpletorch import TorchError, distributed
from simpletorch.distributed import actors
from simpletorch.follow import follow

here = pytest.mark.neighbour("ray")


class Worker:
    """Counts, adds, and fails when it is asked to."""

    def __init__(self, start: int = 0) -> None:
        self.count = start

    def add(self, x: torch.Tensor, times: int = 1) -> torch.Tensor:
        self.count += 1
        return x * times + self.count

    def total(self) -> torch.Tensor:
        return distributed.all_reduce(torch.ones(3) * (distributed.rank() + 1))

    def fails(self) -> None:
        raise KeyError("not there")

    def multiplies(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b

    def dies(self) -> None:
        os._exit(1)

    def looks(self, state: dict[str, torch.Tensor]) -> tuple[bool, torch.Tensor]:
        where = state["weight"].data_ptr()
        for line in Path("/proc/self/maps").read_text().splitlines():
            begin, end = (int(address, 16) for address in line.split()[0].split("-"))
            if begin <= where < end:
                is_shared = "/dev/shm/" in line or "plasma" in line
        return is_shared, state["weight"].sum() + state["half"].float().sum()

    async def later(self) -> int:
        await asyncio.sleep(0)
        return self.count


class Asking:
    """Asks another actor, from a method without `await`."""

    def ask(self, other: actors.Actor[Worker]) -> int:
        return other.ask(Worker.later).wait()


def _refuses() -> Worker:
    raise ValueError("no such file")


@pytest.fixture(scope="module")
def cluster():
    import ray

    os.environ["OMP_NUM_THREADS"] = "1"
    ray.init(num_cpus=2, logging_level="error", include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_without_ray_one_is_told_how_to_get_it(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match="needs the package ray, which is not installed") as caught:
        actors.spawn(Worker, 2)
    assert isinstance(caught.value, TorchError)
    assert "pip install 'simpletorch-typed[ray]'" in str(caught.value)


def test_no_actor_is_refused():
    with pytest.raises(ValueError, match="count=0: it takes 1 actor or more"):
        actors.spawn(Worker, 0)


FOLLOWED = """
import asyncio
import torch
from torch import nn
from simpletorch.distributed import actors

class Player:
    def __init__(self) -> None:
        self.net = nn.Linear(4, 2)
    def play(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)

async def main() -> None:
    with actors.spawn(Player, 2) as (first, second):
        y = await first.ask(Player.play, torch.ones(3, 4))
        z = second.ask(Player.play, actors.share(torch.ones(SIZES))).wait()
        print(y + z)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("sizes", "message"), [("3, 4", None), ("3, 5", "takes 4 features"), ("2, 4", "can't be broadcast")]
)
def test_what_actors_are_asked_is_followed(sizes, message, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(FOLLOWED.replace("SIZES", sizes))
    found = follow(path)
    assert found.faults == ()
    assert [message in e.message for e in found.errors] == ([] if message is None else [True])


@here
@pytest.mark.slow
def test_two_actors_work_fail_die_and_are_started_again(cluster):
    """One story, because each start of a process takes seconds."""
    with actors.spawn(partial(Worker, 5), 2, restarts=1) as workers:
        first, second = workers
        assert [w.name for w in workers] == ["Worker 0 of 2", "Worker 1 of 2"]
        assert [w.ask(Worker.add, torch.zeros(2), times=3).wait().tolist() for w in workers] == [[6, 6], [6, 6]]
        assert [p.wait().tolist() for p in [w.ask(Worker.total) for w in workers]] == [[3, 3, 3]] * 2

        with pytest.raises(KeyError, match="Worker 1 of 2: fails: 'not there'") as caught:
            second.ask(Worker.fails).wait()
        assert isinstance(caught.value, TorchError)
        with pytest.raises(TorchError, match=r"Worker 0 of 2: multiplies: .*cannot be multiplied"):
            first.ask(Worker.multiplies, torch.ones(2, 3), torch.ones(2, 3)).wait()

        weight = torch.ones(500, 700)  # Ray copies small values
        state = {"weight": weight, "half": torch.ones(3, dtype=torch.bfloat16)}
        assert first.ask(Worker.looks, actors.share(state)).wait() == (True, torch.tensor(350_003.0))

        async def awaited() -> list[int]:
            return await asyncio.gather(*(w.ask(Worker.later) for w in workers))

        assert asyncio.run(awaited()) == [6, 6]
        with actors.spawn(Asking) as (one,):
            assert one.ask(Asking.ask, first).wait() == 6

        with pytest.raises(TorchError, match="Worker 1 of 2 has died, before or while it was asked to dies"):
            second.ask(Worker.dies).wait()
        workers.join()
        assert [w.ask(Worker.later).wait() for w in workers] == [6, 5]  # made anew, and the other as it was
        assert [p.wait().tolist() for p in [w.ask(Worker.total) for w in workers]] == [[3, 3, 3]] * 2

    with pytest.raises(ValueError, match="_refuses 0 of 1: be made: no such file"):
        actors.spawn(_refuses)
