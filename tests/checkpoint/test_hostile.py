"""Files that are damaged, or written by somebody with bad intentions, change nothing before they are refused."""

import copy
import json
import os
import random
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from simpletorch import _atomic, checkpoint
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import CheckpointError
from simpletorch.metrics import Accuracy, Mean
from simpletorch.reproducibility import rng_state, set_rng_state
from simpletorch.reproducibility._random import check_rng_state
from simpletorch.train import Checkpoint, Trainer
from tests.checkpoint.test_format import damaged, mutated, parsed, signed
from tests.marks import thorough


def parts(seed):
    """All kinds of parts, each in the middle of its work."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1 + seed)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2 + seed)
    for _ in range(2 + seed):
        F.cross_entropy(model(torch.randn(7, 3)), torch.randint(2, (7,))).backward()
        optimizer.step()
        scheduler.step()
    loader = DataLoader(TensorDataset(torch.randn(11, 3)), 2, shuffle=True)
    for _ in zip(range(1 + seed), loader, strict=False):
        pass
    metrics = {"accuracy": Accuracy(), "loss": Mean()}
    metrics["accuracy"].update(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0]))
    metrics["loss"].update(0.3 + seed)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** (7 + seed))
    return {
        "model": model, "optimizer": optimizer, "scheduler": scheduler, "loader": loader, "metrics": metrics,
        "scaler": scaler,
    }  # fmt: skip


def everything(its):
    """What may not change."""
    states = {name: part.state_dict() for name, part in its.items() if name != "metrics"}
    states["metrics"] = {name: metric.state_dict() for name, metric in its["metrics"].items()}
    states["identities"] = [id(p) for p in its["model"].parameters()], sorted(vars(its["scheduler"]))
    return as_text([states, rng_state()])


def as_text(value):
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, dict):
        return {repr(key): as_text(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_text(item) for item in value]
    return repr(value)


def hostile(path, original, drawn):
    """A file with a right checksum and something broken in it, or with a wrong one."""
    header, data = original
    changed = copy.deepcopy(header)
    kind = drawn.random()
    if kind < 0.15:
        name = drawn.choice([name for name in changed if name != "__metadata__"])
        changed[name] = mutated(changed[name], drawn, 3)
        return signed(path, changed, data)
    if kind < 0.25:
        return signed(path, changed, data[: drawn.randrange(len(data))] if drawn.random() < 0.5 else data + b"more")
    state = json.loads(changed["__metadata__"]["state"])
    part = drawn.choice([name for name in state if name != "model"])
    changed["__metadata__"]["state"] = json.dumps({**state, part: mutated(state[part], drawn, 2)})
    return signed(path, changed, data)


@pytest.mark.parametrize("seed", [0, *thorough(range(1, 10))])
def test_what_is_refused_changes_nothing(tmp_path, seed):
    original = parsed(checkpoint.save(tmp_path / "a", **parts(1)))
    its, drawn = parts(0), random.Random(seed)
    before, refused = everything(its), 0
    for _ in range(150):
        path = hostile(tmp_path / "b", original, drawn)
        try:
            checkpoint.load(path, **its)
        except CheckpointError:
            refused += 1
            assert everything(its) == before
        else:  # a mutation that is as good as what was there: a rate of 0.5
            its = parts(0)
            before = everything(its)
    assert refused > 75


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("optimizer", ("param_groups", 0, "lr"), "tensor"),
        ("optimizer", ("param_groups", 0, "betas"), None),
        ("optimizer", ("param_groups", 0, "params"), {"$": "tuple", "v": [0, 0, 1, 2, 3, 4]}),
        ("scheduler", ("last_epoch",), "seven"),
        ("scaler", ("scale",), []),
        ("loader", (), {}),
        ("metrics", ("loss",), None),
        ("rng", ("python", "gauss"), "x"),
        ("rng", ("numpy", "state", "pos"), 10**8),
        ("rng", ("torch",), {"$": "tensor", "v": "model.0.bias"}),
        ("rng", ("cuda",), None),
        ("model", (), {"$": "ordered", "v": [["0.weight", 3]]}),
    ],
)
def test_each_part_is_looked_at_before_any_is_changed(tmp_path, name, place, value):
    header, data = parsed(checkpoint.save(tmp_path / "a", **parts(1)))
    state = json.loads(header["__metadata__"]["state"])
    at, key = state, name
    for inner in place:
        at, key = at[key], inner
    at[key] = value
    header["__metadata__"]["state"] = json.dumps(state)
    its = parts(0)
    before = everything(its)
    with pytest.raises(CheckpointError, match=name):
        checkpoint.load(signed(tmp_path / "b", header, data), **its)
    assert everything(its) == before


class Refusing:
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        raise KeyError("nothing suits")


class Strange(torch.nn.Linear):
    def set_extra_state(self, state):
        if state != "good":
            raise ValueError("no good state")

    def get_extra_state(self):
        return "bad"


def test_a_part_that_refuses_at_last_leaves_the_others_as_they_were(tmp_path):
    path = checkpoint.save(tmp_path / "a", **parts(1), last=Refusing(), strange=[Strange(2, 3)])
    its = parts(0)
    before = everything(its)
    with pytest.raises(CheckpointError, match="nothing suits"):
        checkpoint.load(path, **its, last=Refusing())
    assert everything(its) == before
    strange = Strange(2, 3)
    weight, before = strange.weight.detach().clone(), everything(its)
    with pytest.raises(CheckpointError, match="no good state"):
        checkpoint.load(path, **its, strange=[strange])
    assert everything(its) == before
    assert torch.equal(strange.weight, weight)


def test_generators_take_all_of_a_state_or_nothing():
    state = rng_state()
    broken = {**state, "torch": torch.zeros(3)}
    random.random()
    before = as_text(rng_state())
    with pytest.raises(ValueError, match="Error: "):
        set_rng_state(broken)
    assert as_text(rng_state()) == before
    check_rng_state(state)
    assert as_text(rng_state()) == before


@pytest.mark.parametrize("seed", [0, *thorough(range(1, 5))])
def test_a_training_isn_t_resumed_from_nonsense_and_nothing_changes(tmp_path, seed):
    def trainer(folder, seed):
        torch.manual_seed(seed)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        loader = DataLoader(TensorDataset(torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])), 2, shuffle=True)
        settings = {"loss": F.cross_entropy, "progress": False, "scheduler": scheduler}
        return Trainer(optimizer=optimizer, callbacks=[Checkpoint(folder)], **settings), model, loader

    one, model, loader = trainer(tmp_path / "run", 0)
    one.fit(model, loader, epochs=2)
    header, data = parsed(checkpoint.latest(tmp_path / "run"))
    drawn, refused = random.Random(seed), 0
    for number in range(60):
        path = hostile(tmp_path / "b", (header, data), drawn)
        other, model, loader = trainer(tmp_path / f"other-{number}", 1)
        rest = model, other.optimizer, other.scheduler, loader
        before = as_text([*(part.state_dict() for part in rest), rng_state()])
        try:
            other.fit(model, loader, epochs=2, resume=path)
        except CheckpointError:
            refused += 1
            assert as_text([*(part.state_dict() for part in rest), rng_state()]) == before
    assert refused > 20


# -- beside a writer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loads", [100, *thorough([300])])
def test_a_load_beside_a_writer_has_one_of_its_files(tmp_path, loads):
    def write(number):
        checkpoint.save(
            path, rng=False, model={"a": torch.full((2003,), number), "b": torch.full((5,), number)}, n=number
        )

    path, done = tmp_path / "a", threading.Event()
    write(0)

    def writing():
        number = 0
        while not done.is_set():
            write(number := number + 1)

    thread = threading.Thread(target=writing)
    thread.start()
    try:
        seen = set()
        for _ in range(loads):
            found = checkpoint.read(path).parts
            numbers = {found["n"], *found["model"]["a"].tolist(), *found["model"]["b"].tolist()}
            assert len(numbers) == 1
            seen |= numbers
    finally:
        done.set()
        thread.join()
    assert len(seen) > 1


def test_a_file_that_is_replaced_between_two_reads_is_read_as_it_was_opened(tmp_path, monkeypatch):
    from simpletorch.checkpoint import _format

    path = checkpoint.save(tmp_path / "a", rng=False, x=torch.full((7,), 1), n=1)
    laid_out = _format._laid_out

    def replace(*args):
        checkpoint.save(path, rng=False, x=torch.full((7,), 2), n=2)
        return laid_out(*args)

    monkeypatch.setattr(_format, "_laid_out", replace)
    found = checkpoint.read(path).parts
    assert (found["n"], found["x"].tolist()) == (1, [1] * 7)


@pytest.mark.parametrize("seed", [0, *thorough(range(1, 10))])
def test_damaged_files_change_nothing(tmp_path, seed):
    original = checkpoint.save(tmp_path / "a", **parts(1)).read_bytes()
    its, drawn = parts(0), random.Random(seed)
    before = everything(its)
    for _ in range(100):
        (tmp_path / "b").write_bytes(damaged(original, drawn))
        if (tmp_path / "b").read_bytes() != original:
            with pytest.raises(CheckpointError):
                checkpoint.load(tmp_path / "b", **its)
    assert everything(its) == before


# -- places ------------------------------------------------------------------------------------------------------------


def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path):
    (tmp_path / "disk").mkdir()
    there = checkpoint.save(tmp_path / "disk" / "a", rng=False, n=1)
    link = tmp_path / "link"
    link.symlink_to("disk/a")
    checkpoint.save(link, rng=False, n=2)
    assert link.is_symlink()
    assert checkpoint.read(there).parts["n"] == checkpoint.read(link).parts["n"] == 2
    assert sorted(os.listdir(tmp_path / "disk")) == ["a"]
    _atomic.duplicate(checkpoint.save(tmp_path / "b", rng=False, n=3), link)
    assert link.is_symlink()
    assert checkpoint.read(there).parts["n"] == 3


def irregular(folder):
    """What is no file, by what it is called in messages."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "looping").symlink_to("looping")
    (folder / "to a device").symlink_to(os.devnull)
    (folder / "to a folder").symlink_to("folder")
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(folder / "socket"))
    sock.close()
    names = ["folder", "pipe", "dangling", "looping", "to a device", "to a folder", "socket"]
    return [*(folder / name for name in names), Path(os.devnull)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_no_file_is_neither_replaced_nor_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path may not be long
    paths = irregular(Path())
    before = sorted((name, os.lstat(name).st_ino) for name in os.listdir())
    model = torch.nn.Linear(2, 3)
    for path in paths:
        for act in (
            lambda: checkpoint.save(path, n=1),  # noqa: B023  # called at once
            lambda: checkpoint.read(path),  # noqa: B023
            lambda: checkpoint.load_weights(path, model),  # noqa: B023
            lambda: checkpoint.from_torch(path, "new"),  # noqa: B023
        ):
            with pytest.raises(CheckpointError) as caught:
                act()
            assert isinstance(caught.value, OSError)
    assert sorted((name, os.lstat(name).st_ino) for name in os.listdir()) == before


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk")
def test_a_full_disk_and_one_that_becomes_read_only(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        path = checkpoint.save(disk / "a", rng=False, n=1)
        for act in (
            lambda: checkpoint.save(path, rng=False, x=torch.zeros(1 << 19)),
            lambda: checkpoint.save_async(path, rng=False, x=torch.zeros(1 << 19)).result(),
        ):
            with pytest.raises(CheckpointError, match="No space left on device"):
                act()
        assert os.listdir(disk) == ["a"]
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(CheckpointError, match="Read-only file system"):
            checkpoint.save(path, rng=False, n=2)
        assert checkpoint.read(path).parts["n"] == 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_clock_that_jumps_changes_no_order(tmp_path, monkeypatch):
    for step, year in ((3, 2031), (5, 1999), (7, 2020)):
        path = checkpoint.save(tmp_path / f"step-{step:09d}.safetensors", rng=False, n=step)
        stamp = (year - 1970) * 31_556_952
        os.utime(path, (stamp, stamp))
    assert checkpoint.latest(tmp_path) == path


def test_a_torch_file_of_which_gigabytes_would_come(tmp_path):
    torch.save({"model": {"x": torch.zeros(1 << 20)}}, tmp_path / "a")
    with (
        zipfile.ZipFile(tmp_path / "a") as source,
        zipfile.ZipFile(tmp_path / "b", "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in source.infolist():
            target.writestr(member.filename, source.read(member))
    with pytest.raises(CheckpointError, match="is compressed, as torch"):
        checkpoint.from_torch(tmp_path / "b", tmp_path / "c")
