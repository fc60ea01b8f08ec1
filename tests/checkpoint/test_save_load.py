"""Saving and loading whole trainings."""

import errno
import multiprocessing
import os
import random
import stat
import subprocess
import sys
import threading
from importlib import metadata

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from simpletorch import _atomic, checkpoint
from simpletorch.checkpoint import _checkpoint
from simpletorch.errors import CheckpointError
from simpletorch.metrics import Accuracy, Mean


def net(hidden=5, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(3, hidden), torch.nn.BatchNorm1d(hidden), torch.nn.Dropout(0.3), torch.nn.Linear(hidden, 2)
    )


def same(left, right):
    left, right = left.state_dict(), right.state_dict()
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def train(model, optimizer, scheduler=None, steps=3):
    for _ in range(steps):
        loss = F.cross_entropy(model(torch.randn(7, 3)), torch.randint(2, (7,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()


def parts(seed=0, kind=torch.optim.AdamW):
    model = net(seed=seed)
    optimizer = kind(model.parameters(), lr=0.1)
    return model, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5], gamma=0.1)


@pytest.mark.parametrize(
    "kind",
    [
        torch.optim.AdamW,
        torch.optim.Adagrad,
        torch.optim.RMSprop,
        torch.optim.Adafactor,
        torch.optim.ASGD,
        torch.optim.Rprop,
    ],
)
def test_a_training_goes_on_bit_for_bit(tmp_path, kind):
    model, optimizer, scheduler = parts(kind=kind)
    train(model, optimizer, scheduler)
    checkpoint.save(tmp_path / "a.safetensors", model=model, optimizer=optimizer, scheduler=scheduler)
    train(model, optimizer, scheduler)

    later, its_optimizer, its_scheduler = parts(seed=1, kind=kind)
    torch.randn(11)
    checkpoint.load(tmp_path / "a.safetensors", model=later, optimizer=its_optimizer, scheduler=its_scheduler)
    train(later, its_optimizer, its_scheduler)
    assert same(model, later)
    assert scheduler.state_dict() == its_scheduler.state_dict()


@pytest.mark.parametrize(
    "make",
    [
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=11),
        lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o),
        lambda o: torch.optim.lr_scheduler.SequentialLR(
            o, [torch.optim.lr_scheduler.LinearLR(o), torch.optim.lr_scheduler.CosineAnnealingLR(o, 5)], [3]
        ),
        lambda o: torch.optim.lr_scheduler.CyclicLR(o, 0.01, 0.1),
        lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda step: 0.9**step),
        lambda o: torch.optim.lr_scheduler.ChainedScheduler([torch.optim.lr_scheduler.StepLR(o, 2)]),
    ],
)
def test_every_kind_of_scheduler_comes_back(tmp_path, make):
    model = net()
    scheduler = make(torch.optim.SGD(model.parameters(), lr=0.1))
    before = scheduler.state_dict()
    checkpoint.save(tmp_path / "a", scheduler=scheduler)
    other = make(torch.optim.SGD(model.parameters(), lr=0.1))
    checkpoint.load(tmp_path / "a", scheduler=other)
    assert repr(other.state_dict()) == repr(before)


def test_metrics_scalers_averages_and_data_come_back(tmp_path):
    metrics = {"accuracy": Accuracy(), "loss": Mean()}
    metrics["accuracy"].update(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0]))
    metrics["loss"].update(0.3)
    average = torch.optim.swa_utils.AveragedModel(net())
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**7)
    data = {"epoch": 3, "seen": (1, 2), "rates": [0.1, float("inf")]}
    checkpoint.save(tmp_path / "a", metrics=metrics, ema=average, scaler=scaler, both=[average, scaler], data=data)

    fresh = {"accuracy": Accuracy(), "loss": Mean()}
    other, its_scaler = torch.optim.swa_utils.AveragedModel(net(seed=1)), torch.amp.GradScaler("cpu")
    saved = checkpoint.load(tmp_path / "a", metrics=fresh, both=[other, its_scaler])
    assert fresh["accuracy"].compute() == pytest.approx(2 / 3)
    assert fresh["loss"].compute() == 0.3
    assert same(other, average)
    assert its_scaler.get_scale() == 2.0**7
    assert saved.parts["data"] == data


def draw():
    return random.random(), np.random.rand(), torch.rand(2).tolist(), random.gauss(0, 1), np.random.randn()


def test_the_generators_go_on(tmp_path):
    random.gauss(0, 1)  # leaves half of a pair behind, which is state too
    np.random.randn()
    checkpoint.save(tmp_path / "a")
    expected = draw()
    draw()
    checkpoint.load(tmp_path / "a")
    assert draw() == expected


def test_the_generators_can_be_left_alone(tmp_path):
    checkpoint.save(tmp_path / "a", rng=False)
    assert "rng" not in checkpoint.read(tmp_path / "a").parts
    checkpoint.save(tmp_path / "b")
    torch.manual_seed(5)
    checkpoint.load(tmp_path / "b", rng=False)
    later = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(later, torch.rand(3))


def test_saving_draws_no_random_number(tmp_path):
    torch.manual_seed(7)
    checkpoint.save(tmp_path / "a", model=net())
    torch.manual_seed(7)
    net()
    expected = torch.rand(3)
    torch.manual_seed(7)
    model = net()
    checkpoint.save(tmp_path / "a", model=model)
    assert torch.equal(torch.rand(3), expected)


def test_it_says_who_wrote_it_and_when(tmp_path):
    checkpoint.save(tmp_path / "a")
    saved = checkpoint.read(tmp_path / "a")
    assert saved.versions["torch"].startswith(torch.__version__.split("+")[0])
    assert set(saved.versions) == {"python", "torch", "simpletorch", "numpy"}
    assert saved.written.endswith("+00:00")
    assert saved.format == 1


def test_tied_weights_stay_tied(tmp_path):
    model = net()
    model.tied = torch.nn.Linear(5, 3)
    model.tied.weight = torch.nn.Parameter(torch.ones(3, 5))
    model.again = model.tied
    size = checkpoint.save(tmp_path / "a", model=model).stat().st_size
    del model.again
    assert size < 1.1 * checkpoint.save(tmp_path / "b", model=model).stat().st_size


def test_a_compiled_model_s_names_are_the_model_s(tmp_path):
    model = net()
    compiled = torch.compile(model, backend="eager")
    checkpoint.save(tmp_path / "a", model=compiled)
    assert "0.weight" in checkpoint.read(tmp_path / "a").parts["model"]
    other = net(seed=1)
    checkpoint.load(tmp_path / "a", model=other)
    assert same(model, other)
    checkpoint.load(tmp_path / "a", model=torch.compile(net(seed=2), backend="eager"))


def test_all_differences_of_another_model_are_listed_and_nothing_is_changed(tmp_path):
    model, optimizer, _ = parts()
    train(model, optimizer)
    checkpoint.save(tmp_path / "a", model=model, optimizer=optimizer)
    other = torch.nn.Sequential(
        torch.nn.Linear(3, 7), torch.nn.BatchNorm1d(5), torch.nn.Dropout(), torch.nn.Linear(5, 2)
    )
    other.head = torch.nn.Linear(2, 2)
    its_optimizer = torch.optim.AdamW(other.parameters())
    before = {name: value.clone() for name, value in other.state_dict().items()}
    torch.manual_seed(5)
    with pytest.raises(CheckpointError) as caught:
        checkpoint.load(tmp_path / "a", model=other, optimizer=its_optimizer)
    assert torch.initial_seed() == 5
    assert all(torch.equal(before[name], value) for name, value in other.state_dict().items())
    assert not its_optimizer.state
    lines = caught.value.reason.splitlines()
    assert lines[0].endswith("is not of what it is loaded into, 5 differences:")
    assert [line.strip() for line in lines[1:]] == [
        "model.0.weight: float32[5, 3] in the checkpoint, float32[7, 3] in the model",
        "model.0.bias: float32[5] in the checkpoint, float32[7] in the model",
        "model.head.weight: float32[2, 2] in the model, missing in the checkpoint",
        "model.head.bias: float32[2] in the model, missing in the checkpoint",
        "optimizer: group 0: 6 parameters in the checkpoint, 8 in the optimizer",
    ]
    assert "partial=True" in str(caught.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda m: torch.optim.SGD(m.parameters(), lr=1), "only in one of them, so it is another optimizer"),
        (
            lambda m: torch.optim.AdamW([{"params": [p]} for p in m.parameters()]),
            "1 parameter groups in the checkpoint",
        ),
        (lambda m: torch.optim.AdamW([*m.parameters()][::-1]), r"exp_avg is float32\[5, 3\] in the checkpoint"),
    ],
)
def test_another_optimizer_is_refused(tmp_path, make, sentence):
    model, optimizer, _ = parts()
    train(model, optimizer)
    checkpoint.save(tmp_path / "a", optimizer=optimizer)
    with pytest.raises(CheckpointError, match=sentence):
        checkpoint.load(tmp_path / "a", optimizer=make(model))


def test_a_part_that_was_not_saved_is_named(tmp_path):
    checkpoint.save(tmp_path / "a", model=net(), epoch=1)
    with pytest.raises(CheckpointError, match="has no optimizer, scaler; it has epoch, model, rng"):
        checkpoint.load(tmp_path / "a", optimizer=parts()[1], scaler=torch.amp.GradScaler("cpu"))


def test_groups_of_parts_must_be_the_same(tmp_path):
    checkpoint.save(tmp_path / "a", metrics={"a": Mean(), "b": Mean()}, models=[net(), net()])
    with pytest.raises(CheckpointError, match=r"metrics: \['a', 'b'\] in the checkpoint, \['a'\] here"):
        checkpoint.load(tmp_path / "a", metrics={"a": Mean()})
    with pytest.raises(CheckpointError, match="models: 2 states in the checkpoint, 1 here"):
        checkpoint.load(tmp_path / "a", models=[net()])


def test_a_part_that_refuses_is_named(tmp_path):
    checkpoint.save(tmp_path / "a", metric=Mean())
    with pytest.raises(CheckpointError, match="this state is of another metric than Accuracy"):
        checkpoint.load(tmp_path / "a", metric=Accuracy())
    checkpoint.save(tmp_path / "b", scaler={"nonsense": 1})
    with pytest.raises(CheckpointError, match=r"scaler: GradScaler\.load_state_dict refuses the saved state: KeyError"):
        checkpoint.load(tmp_path / "b", scaler=torch.amp.GradScaler("cpu"))


def test_what_is_no_data_is_refused_and_the_old_file_stays(tmp_path):
    path = checkpoint.save(tmp_path / "a", epoch=1)
    with pytest.raises(CheckpointError, match=r"data\.hook is a builtin_function_or_method"):
        checkpoint.save(path, data={"hook": len})
    loop = []
    loop.append(loop)
    with pytest.raises(CheckpointError, match="contains itself"):
        checkpoint.save(path, data=loop)
    assert checkpoint.read(path).parts["epoch"] == 1
    assert os.listdir(tmp_path) == ["a"]


def test_a_folder_is_made_and_permissions_are_ordinary(tmp_path):
    path = checkpoint.save(tmp_path / "new" / "folder" / "a", epoch=1)
    (tmp_path / "ordinary").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "ordinary").stat().st_mode)


@pytest.mark.parametrize(
    ("code", "also", "words"),
    [
        (errno.ENOSPC, OSError, "No space left on device (0.0 MiB needed, "),
        (errno.EACCES, PermissionError, "choose a folder that you may write to"),
        (errno.EROFS, OSError, "choose a folder that you may write to"),
        (errno.EIO, OSError, "what was there before is untouched"),
    ],
)
def test_what_the_disk_says_is_explained_and_the_old_file_stays(tmp_path, monkeypatch, code, also, words):
    path = checkpoint.save(tmp_path / "a", epoch=1)

    def fail(descriptor):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(_atomic.os, "fsync", fail)
    with pytest.raises(CheckpointError) as caught:
        checkpoint.save(path, epoch=2)
    assert isinstance(caught.value, also)
    assert words in str(caught.value)
    monkeypatch.undo()
    assert checkpoint.read(path).parts["epoch"] == 1
    assert os.listdir(tmp_path) == ["a"]


FULL_DISK = """
import resource, signal, sys, torch
from simpletorch import checkpoint
from simpletorch.errors import CheckpointError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
checkpoint.save(sys.argv[1], weights=torch.ones(11), rng=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    checkpoint.save(sys.argv[1], weights=torch.ones(100_003), rng=False)
except CheckpointError as error:
    print(error)
print(checkpoint.read(sys.argv[1]).parts["weights"].sum())
"""


def test_a_disk_that_takes_no_more_leaves_the_old_file(tmp_path):
    command = [sys.executable, "-c", FULL_DISK, tmp_path / "a"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "File too large (0.4 MiB needed" in done.stdout
    assert "tensor(11.)" in done.stdout
    assert os.listdir(tmp_path) == ["a"]


def test_a_path_that_can_not_be_a_file_is_explained(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="give the path of a file in a folder"):
        checkpoint.save(tmp_path / "file" / "a", epoch=1)
    with pytest.raises(CheckpointError, match="can't write"):
        checkpoint.save(tmp_path, epoch=1)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CheckpointError, match=r"can't read .*a: No such file or directory"):
        checkpoint.load(tmp_path / "a")


def test_rng_is_a_reserved_name():
    with pytest.raises(CheckpointError, match="rng is the name of the generators' states"):
        _checkpoint._packed({"rng": 1}, rng=True, copy=False)


def test_in_the_background_what_is_saved_is_what_was_there_then(tmp_path, monkeypatch):
    go = threading.Event()
    write = _checkpoint.write
    monkeypatch.setattr(_checkpoint, "write", lambda *args: (go.wait(60), write(*args)))
    model = net()
    weight = model[0].weight.detach().clone()
    pending = checkpoint.save_async(tmp_path / "a", model=model, epoch=1)
    with torch.no_grad():
        model[0].weight.zero_()
    assert not pending.done()
    go.set()
    assert pending.result() == tmp_path / "a"
    assert torch.equal(checkpoint.read(tmp_path / "a").parts["model"]["0.weight"], weight)


def test_background_writes_keep_their_order(tmp_path):
    pending = [checkpoint.save_async(tmp_path / "a", number=number) for number in range(7)]
    for each in pending:
        each.result()
    assert checkpoint.read(tmp_path / "a").parts["number"] == 6


def test_what_fails_in_the_background_is_raised_by_its_result(tmp_path):
    (tmp_path / "file").touch()
    pending = checkpoint.save_async(tmp_path / "file" / "a", epoch=1)
    with pytest.raises(CheckpointError, match="give the path of a file in a folder"):
        pending.result()


def test_a_program_that_ends_finishes_its_background_writes(tmp_path):
    code = (
        "import sys, torch; from simpletorch import checkpoint as c; c.save_async(sys.argv[1], x=torch.ones(3_000_017))"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "a"], check=True)
    assert len(checkpoint.read(tmp_path / "a").parts["x"]) == 3_000_017


def test_leftovers_of_killed_processes_are_removed_and_those_of_others_kept(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = {
        f".a.{_atomic._HOST}-{dead.pid}-00.tmp": False,
        f".a.{_atomic._HOST}-{os.getpid()}-00.tmp": True,
        f".a.elsewhere-{dead.pid}-00.tmp": True,
        "a": True,
    }
    for name in names:
        (tmp_path / name).touch()
    _atomic.remove_leftovers(tmp_path)
    assert {name: (tmp_path / name).exists() for name in names} == names


def test_plain_data_is_not_restored_in_place(tmp_path):
    checkpoint.save(tmp_path / "a", epoch=3)
    with pytest.raises(CheckpointError, match=r"epoch: a int can't be restored in place.*read\(path\)\.parts"):
        checkpoint.load(tmp_path / "a", epoch=3)


def test_a_forked_process_writes_in_the_background_too(tmp_path):
    checkpoint.save_async(tmp_path / "a", epoch=1).result()  # there is a thread now, which no fork has
    process = multiprocessing.get_context("fork").Process(
        target=lambda: checkpoint.save_async(tmp_path / "b", epoch=2).result(400)
    )
    process.start()
    process.join(400)
    assert process.exitcode == 0
    assert checkpoint.read(tmp_path / "b").parts["epoch"] == 2


def test_a_library_that_runs_from_its_source_has_an_unknown_version(tmp_path, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    _checkpoint.library_versions.cache_clear()
    try:
        saved = checkpoint.read(checkpoint.save(tmp_path / "a.safetensors", epoch=3))
    finally:
        _checkpoint.library_versions.cache_clear()
    assert saved.versions["simpletorch"] == "unknown"
    assert saved.parts["epoch"] == 3
