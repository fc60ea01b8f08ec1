"""A training that is killed while it saves leaves what it had saved before, whole."""

import functools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from simpletorch import _atomic, checkpoint
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.train import Checkpoint, Trainer
from tests.checkpoint.training import At, Variant, nothing, same

fork = multiprocessing.get_context("fork")  # starting an interpreter for each kill would take a minute


class Announcing(Checkpoint):
    """Tells what is safely on the disk."""

    def __init__(self, *args, pipe=None, **options):
        super().__init__(*args, **options)
        self.pipe = pipe

    def _written(self, path):
        if self.pipe is not None:
            self.pipe.send(int(path.stem.removeprefix("step-")))
        super()._written(path)


def train(folder, steps, pipe=None, prepare=None, width=401, **options):
    """Save after every update; saving takes most of the time."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Linear(width, width), torch.nn.Linear(width, 2))
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
        callbacks=[Announcing(folder, pipe=pipe, every_steps=1, keep=2, **options)],
        progress=False,
    )
    loader = DataLoader(TensorDataset(torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])), 2, shuffle=True)
    if prepare is not None:
        prepare()
    trainer.fit(model, loader, steps=steps, resume="auto")
    return model


def check(folder, acknowledged):
    """What must hold after any crash; gives the step that a new process goes on from."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # latest() warns of what is damaged
        newest = checkpoint.latest(folder)
    for path in folder.glob("*.safetensors"):
        checkpoint.read(path)
    step = 0 if newest is None else checkpoint.read(newest).parts["step"]
    assert step >= acknowledged
    return step


STOPPED = "before a file gets its name"


def stop_before_naming(number, pipe):
    """Wait to be killed when the file of this number is complete, and has no name yet."""
    replace, left = os.replace, [number]

    def instead(source, target):
        if left[0] == 0:
            pipe.send(STOPPED)
            time.sleep(400)
        left[0] -= 1
        replace(source, target)

    _atomic.os.replace = instead


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_killed_at_random_moments(tmp_path, asynchronous):
    """A third of the kills come within a file, the others whenever they do."""
    drawn = random.Random(0)
    unfinished, step = 0, 1
    train(tmp_path, 1)  # what is imported only now need not be in every fork
    for attempt in range(15):
        receive, send = fork.Pipe(duplex=False)
        within = attempt % 3 == 0
        prepare = functools.partial(stop_before_naming, drawn.randrange(4), send) if within else None
        options = {"asynchronous": asynchronous, "prepare": prepare}
        process = fork.Process(target=train, args=(tmp_path, 10**6, send), kwargs=options)
        process.start()
        send.close()
        acknowledged, told = step, None
        while told is None or (within and told != STOPPED):
            assert receive.poll(400)
            told = receive.recv()
            acknowledged = told if told != STOPPED else acknowledged
        if not within:
            time.sleep(drawn.random() * 0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        while True:
            try:
                told = receive.recv()
            except EOFError:
                break
            acknowledged = told if told != STOPPED else acknowledged
        unfinished += len(list(tmp_path.glob(".*.tmp")))
        step = check(tmp_path, acknowledged)
        assert step <= acknowledged + 1
    assert unfinished >= 5
    train(tmp_path, step + 1)  # one more update: a new process goes on, and tidies up
    assert check(tmp_path, step + 1) == step + 1
    assert not list(tmp_path.glob(".*.tmp"))


CALLS = ("open", "fsync", "replace", "link", "unlink")


def count_calls(kill_at):
    """Be killed before the call of this number, of those that change what is on the disk; returns the counter."""
    done = [0]

    def counted(function):
        def call(*args, **options):
            if done[0] == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            done[0] += 1
            return function(*args, **options)

        return call

    for name in ("fsync", "replace", "link"):
        setattr(_atomic.os, name, counted(getattr(os, name)))
    Path.unlink = counted(Path.unlink)
    _atomic.open = counted(open)
    return done


@pytest.mark.slow
def test_killed_at_every_step_of_writing_a_file(tmp_path):
    def until_killed(folder, number):
        train(folder, 4, width=3, prepare=lambda: count_calls(number))

    for number in range(1000):
        folder = tmp_path / str(number)
        train(folder, 2, width=3)
        before = check(folder, 2)
        process = fork.Process(target=until_killed, args=(folder, number))
        process.start()
        process.join()
        step = check(folder, before)
        assert len(list(folder.glob("step-*"))) >= min(step, 2)
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        resumed = train(folder, 4, width=3)
        assert same(dict(resumed.state_dict()), dict(train(tmp_path / f"straight-{number}", 4, width=3).state_dict()))
    assert step == 4
    assert number > 15  # two files, each with its copies and the removal of older ones


ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from tests.checkpoint.training import At, Variant
variant = Variant(epochs=1000, workers=2)
print("ready", flush=True)
variant.run(sys.argv[1], At(5, lambda: print("training", flush=True)), resume="auto")
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_is_asked_to_end_saves_and_says_so_by_its_status(tmp_path, number):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    )
    assert process.stdout is not None
    while process.stdout.readline().strip() != "training":
        assert process.poll() is None
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # Ctrl-C reaches the workers as well
    else:
        process.send_signal(number)
    _, errors = process.communicate(timeout=400)
    assert process.returncode == 75, errors
    assert f"{number.name}: stopped after a whole update, saved in {tmp_path}" in errors
    assert "Traceback" not in errors
    newest = checkpoint.latest(tmp_path)
    step = checkpoint.read(newest).parts["step"]
    assert step >= 5
    variant = Variant(epochs=step // 8 + 1, workers=2)  # of 8 updates each
    straight = variant.run(tmp_path / "straight", At(0, nothing))
    assert same(straight, variant.run(tmp_path / "resumed", At(0, nothing), resume=newest, seed=1))
