"""Weights from files of every kind, and files for and from ``torch.save``."""

from collections import OrderedDict, deque

import pytest
import safetensors.torch
import torch

from simpletorch import checkpoint
from simpletorch.errors import CheckpointError


def net(seed=0, classes=2):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        OrderedDict(body=torch.nn.Linear(3, 5), norm=torch.nn.BatchNorm1d(5), head=torch.nn.Linear(5, classes))
    )


WRITERS = {
    "checkpoint": lambda path, model: checkpoint.save(path, model=model, epoch=3),
    "compiled": lambda path, model: checkpoint.save(path, model=torch.compile(model, backend="eager").state_dict()),
    "safetensors": lambda path, model: safetensors.torch.save_file(model.state_dict(), path),
    "bare torch": lambda path, model: torch.save(model.state_dict(), path),
    "old torch": lambda path, model: torch.save(model.state_dict(), path, _use_new_zipfile_serialization=False),
    "torch": lambda path, model: torch.save({"epoch": 3, "model_state_dict": model.state_dict()}, path),
    "data parallel": lambda path, model: torch.save(torch.nn.DataParallel(model).state_dict(), path),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_weights_are_loaded_from_every_kind_of_file(tmp_path, kind):
    model, other = net(), net(seed=1)
    WRITERS[kind](tmp_path / "a", model)
    report = checkpoint.load_weights(tmp_path / "a", other)
    assert report.is_complete
    assert str(report) == "9 of 9 tensors loaded"
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))


def test_another_part_can_be_loaded(tmp_path):
    model, average, other = net(), net(seed=1), net(seed=2)
    checkpoint.save(tmp_path / "a", model=model, ema=average)
    checkpoint.load_weights(tmp_path / "a", other, part="ema")
    assert torch.equal(other.body.weight, average.body.weight)
    with pytest.raises(CheckpointError, match="has no teacher; it has ema, model, rng"):
        checkpoint.load_weights(tmp_path / "a", other, part="teacher")


def test_what_fits_is_loaded_and_the_rest_reported(tmp_path):
    checkpoint.save(tmp_path / "a", model=net().to(torch.float64))
    other = net(seed=1, classes=7)
    other.extra = torch.nn.Linear(2, 2, bias=False)
    del other.norm
    head = other.head.weight.detach().clone()
    report = checkpoint.load_weights(tmp_path / "a", other, partial=True)
    assert report.loaded == ("body.weight", "body.bias")
    assert torch.equal(other.body.weight, net().body.weight)
    assert torch.equal(other.head.weight, head)
    assert not report.is_complete
    assert str(report).splitlines() == [
        "2 of 5 tensors loaded",
        "head.weight: float64[2, 5] in the checkpoint, float32[7, 5] in the model",
        "head.bias: float64[2] in the checkpoint, float32[7] in the model",
        "extra.weight: float32[2, 2] in the model, missing in the checkpoint",
        "norm.weight: float64[5] in the checkpoint, missing in the model",
        "norm.bias: float64[5] in the checkpoint, missing in the model",
        "norm.running_mean: float64[5] in the checkpoint, missing in the model",
        "norm.running_var: float64[5] in the checkpoint, missing in the model",
        "norm.num_batches_tracked: int64[] in the checkpoint, missing in the model",
        "body.weight: float64[5, 3] in the checkpoint, converted to float32[5, 3]",
        "body.bias: float64[5] in the checkpoint, converted to float32[5]",
    ]


def test_without_partial_every_difference_is_an_error_and_nothing_changes(tmp_path):
    checkpoint.save(tmp_path / "a", model=net())
    other = net(seed=1, classes=7)
    before = other.body.weight.detach().clone()
    with pytest.raises(CheckpointError, match=r"another model, 2 differences:\n    head.weight: .*\n    head.bias: "):
        checkpoint.load_weights(tmp_path / "a", other)
    assert torch.equal(other.body.weight, before)


def test_names_can_be_mapped(tmp_path):
    torch.save({f"backbone.{name}": value for name, value in net().state_dict().items()}, tmp_path / "a")
    other = net(seed=1)
    with pytest.raises(CheckpointError, match=r"another model, 18 differences(.|\n)*hint: rename=… maps names"):
        checkpoint.load_weights(tmp_path / "a", other, partial=True)
    report = checkpoint.load_weights(tmp_path / "a", other, rename=lambda name: name.removeprefix("backbone."))
    assert report.is_complete
    assert torch.equal(other.body.weight, net().body.weight)


@pytest.mark.parametrize("content", [[1, 2], {"epoch": 3}, {1: torch.ones(2)}])
def test_a_torch_file_without_weights(tmp_path, content):
    torch.save(content, tmp_path / "a")
    with pytest.raises(
        CheckpointError, match=r"where a model's state, a dict by name, is due|weights of another model"
    ):
        checkpoint.load_weights(tmp_path / "a", net())


def test_a_damaged_safetensors_file(tmp_path):
    safetensors.torch.save_file(net().state_dict(), tmp_path / "a")
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-3])
    with pytest.raises(CheckpointError, match="is damaged, or no safetensors file"):
        checkpoint.load_weights(tmp_path / "a", net())


def test_a_file_of_torch_becomes_a_checkpoint(tmp_path):
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(7, 3)).sum().backward()
    optimizer.step()
    states = {"state_dict": model.state_dict(), "optimizer_state_dict": optimizer.state_dict(), "epoch": 3}
    torch.save(states, tmp_path / "a")
    saved = checkpoint.from_torch(tmp_path / "a", tmp_path / "b.safetensors")
    assert sorted(saved.parts) == ["epoch", "model", "optimizer"]
    other = net(seed=1)
    its_optimizer = torch.optim.Adam(other.parameters())
    checkpoint.load(tmp_path / "b.safetensors", model=other, optimizer=its_optimizer)
    assert torch.equal(other.body.weight, model.body.weight)
    assert torch.equal(its_optimizer.state[other.body.weight]["exp_avg"], optimizer.state[model.body.weight]["exp_avg"])


def test_a_bare_state_becomes_the_model(tmp_path):
    torch.save(net().state_dict(), tmp_path / "a")
    assert sorted(checkpoint.from_torch(tmp_path / "a", tmp_path / "b").parts) == ["model"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([1], "holds a list, not a dict of states by name"),
        ({}, "holds a dict, not a dict of states by name"),
        ({"model": {}, "state_dict": {}}, "one part under two names: model, state_dict"),
    ],
)
def test_what_can_not_become_a_checkpoint(tmp_path, content, sentence):
    torch.save(content, tmp_path / "a")
    with pytest.raises(CheckpointError, match=sentence):
        checkpoint.from_torch(tmp_path / "a", tmp_path / "b")


def test_a_checkpoint_becomes_a_file_that_torch_reads_safely(tmp_path):
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5])
    checkpoint.save(tmp_path / "a", model=model, optimizer=optimizer, scheduler=scheduler, pair=(1, {2: None}))
    checkpoint.to_torch(tmp_path / "a", tmp_path / "b.pt")
    parts = torch.load(tmp_path / "b.pt", weights_only=True)
    other = net(seed=1)
    other.load_state_dict(parts["model"])
    assert torch.equal(other.head.weight, model.head.weight)
    assert parts["optimizer"] == optimizer.state_dict()
    assert parts["scheduler"] == scheduler.state_dict()
    assert parts["pair"] == (1, {2: None})


def test_what_torch_s_safe_reader_would_refuse_is_not_written(tmp_path):
    checkpoint.save(tmp_path / "a", queue=deque([1]))
    with pytest.raises(CheckpointError, match=r"refuses: collections\.deque"):
        checkpoint.to_torch(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()
