"""`distributed.ray`: a training that survives its processes, and workers that train by being asked; where Ray is."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from simpletorch import TorchError
from simpletorch.distributed import ray as face
from simpletorch.follow import follow

here = pytest.mark.neighbour("ray")


@pytest.fixture(scope="module")
def cluster():
    import ray

    os.environ["OMP_NUM_THREADS"] = "1"
    face.start(cpus=3)
    yield ray
    ray.shutdown()


def test_without_ray_one_is_told_how_to_get_it(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match="needs the package ray, which is not installed") as caught:
        face.fit(dict)
    assert "pip install 'simpletorch-typed[ray]'" in str(caught.value)


def test_numbers_of_workers_are_checked():
    with pytest.raises(ValueError, match="workers=0 and restarts=0: it takes 1 worker or more"):
        face.fit(dict, workers=0)
    with pytest.raises(ValueError, match="count=0: it takes 1 actor or more"):
        asyncio.run(face.TrainingWorker.start(dict, dict, count=0))


@here
@pytest.mark.slow
def test_a_process_is_killed_and_the_training_is_the_same(cluster, tmp_path, monkeypatch):
    """Rank 1 kills itself in the middle of an epoch, once; what starts anew then trains again without a kill."""
    monkeypatch.chdir(tmp_path)

    def train():
        from pathlib import Path

        from simpletorch import distributed
        from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
        from simpletorch.train import Callback, Checkpoint, Trainer

        class Dies(Callback):
            def on_step_end(self, fit):
                mark = Path("killed")
                if distributed.rank() == 1 and fit.step == 8 and not mark.exists():
                    mark.touch()
                    os.kill(os.getpid(), signal.SIGKILL)

        def trained(folder, callbacks):
            torch.manual_seed(5)
            data = TensorDataset(torch.randn(55, 7), torch.randint(3, (55,)))
            model = nn.Sequential(nn.Linear(7, 11), nn.Dropout(0.2), nn.Linear(11, 3))
            loader = DataLoader(data, 5, sampler=DistributedSampler(data, shuffle=True))
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
            callbacks = [*callbacks, Checkpoint(folder, every_steps=1, keep=2)]
            loss = nn.functional.cross_entropy
            trainer = Trainer(loss=loss, optimizer=optimizer, callbacks=callbacks, progress=False, parallel="ddp")
            trainer.fit(model, loader, epochs=3, resume="auto")
            return {name: value.clone() for name, value in model.state_dict().items()}

        distributed.init(timeout=60)
        return trained("one", [Dies()]), trained("other", []), Path("killed").exists()

    resumed, whole, was_killed = face.fit(train, workers=2, restarts=1, storage=tmp_path / "notes")
    assert was_killed
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


@here
def test_what_fails_in_a_training_is_said(monkeypatch):
    from ray import train

    class Fails:
        def __init__(self, *_args, **_settings):
            pass

        def fit(self):
            raise train.WorkerGroupError("workers failed", {1: ValueError("the data is not there\nat all")})

    monkeypatch.setattr(importlib.import_module("ray.train.torch"), "TorchTrainer", Fails)
    monkeypatch.setattr("simpletorch.distributed.ray._fit.start", lambda cpus: None)
    with pytest.raises(TorchError, match=r"the training failed: rank 1: ValueError: the data is not there$"):
        face.fit(dict)


@here
@pytest.mark.slow
def test_workers_train_as_one_process_does(cluster):
    """Parts of 13 and 5 samples: the mean is that of all 18, the parameters those of one process; a layer is idle."""

    def build():
        torch.manual_seed(os.getpid() if "RAY_JOB_ID" in os.environ else 0)  # each worker would have others
        net = nn.Sequential(nn.Linear(7, 11), nn.ReLU(), nn.Linear(11, 3), nn.Linear(2, 2))
        return net, torch.optim.AdamW(net.parameters(), lr=0.1)

    def loss(net, batch):
        return nn.functional.cross_entropy(net[:3](batch[0]), batch[1])

    images, labels = torch.randn(18, 7), torch.randint(3, (18,))
    parts = [(images[:13], labels[:13]), (images[13:], labels[13:])]

    async def ask():
        workers = await face.TrainingWorker.start(build, loss, count=2, timeout=60)
        before = await workers[0].state_dict()
        together = [await asyncio.gather(*(w.train(p) for w, p in zip(workers, parts, strict=True))) for _ in range(3)]
        states = [(await worker.state_dict())["model"] for worker in workers]
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            await workers[0].evaluate((torch.ones(2, 5), labels[:2]))
        await workers[1].load_state_dict(before)
        assert await workers[1].evaluate((images, labels)) == pytest.approx(together[0][0], rel=1e-6)
        workers[1].stop()
        with pytest.raises(TorchError, match="worker 1 of 2 has died, before or while it was asked to evaluate"):
            await workers[1].evaluate(parts[1])
        workers[0].stop()
        return before, together, states

    before, together, states = asyncio.run(ask())
    net, optimizer = build()
    net.load_state_dict(before["model"])
    for mean, same in together:
        optimizer.zero_grad()
        alone = loss(net, (images, labels))
        alone.backward()
        optimizer.step()
        assert mean == same == pytest.approx(alone.item(), rel=1e-5)
    for name, value in net.state_dict().items():
        assert torch.equal(states[0][name], states[1][name])
        torch.testing.assert_close(states[0][name], value, rtol=1e-5, atol=1e-6)


# -- the example ---------------------------------------------------------------------------------------------------

EXAMPLE = Path(__file__).parents[2] / "examples" / "distributed" / "ray_actors.py"


def test_nothing_is_found_in_the_example():
    found = follow(EXAMPLE)
    assert [finding.lines() for finding in (*found.errors, *found.warnings, *found.remarks)] == []


def test_without_ray_the_example_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(face, "is_installed", lambda: False)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out == (
        "Ray is not installed, so that no actors can be started: pip install 'simpletorch-typed[ray]'\n"
    )


@here
@pytest.mark.slow
def test_the_actors_of_the_example_learn():
    done = subprocess.run(
        [sys.executable, EXAMPLE],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "workers agree: True" in done.stdout
    pairs = re.findall(r"(loss|reward) (\S+) -> (\S+)", done.stdout)
    assert [name for name, _, _ in pairs] == ["loss", "loss", "reward"]
    assert all((float(last) > float(first)) == (name == "reward") for name, first, last in pairs)
