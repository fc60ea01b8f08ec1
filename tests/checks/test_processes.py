"""Checked functions in other processes: loader workers, spawned processes, distributed training."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import multiprocessing
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from simpletorch import B, Float32, N, Tensor, checked, config, nn
from simpletorch.errors import ShapeMismatch, TorchError
from tests.meeting import meet


class Rows(Dataset[torch.Tensor]):
    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes

    def __len__(self) -> int:
        return len(self.sizes)

    @checked
    def __getitem__(self, index: int) -> Tensor[Float32, 3]:
        return torch.full((self.sizes[index],), float(index))


@checked
def stacked(rows: list[Tensor[Float32, N]]) -> Tensor[Float32, B, N]:
    return torch.stack(rows)


@pytest.mark.slow
@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_loader_workers(context: str):
    loader = DataLoader(Rows((3, 3, 3)), 2, collate_fn=stacked, num_workers=1, multiprocessing_context=context)
    assert [batch.tolist() for batch in loader] == [[[0.0] * 3, [1.0] * 3], [[2.0] * 3]]
    wrong = DataLoader(Rows((3, 5)), 2, collate_fn=stacked, num_workers=1, multiprocessing_context=context)
    with pytest.raises(ShapeMismatch, match="dim 0 of the result is 5, not 3"):
        list(wrong)


class Doubled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 2]:
        return 2 * self.fc(x)


def _work(rank: int, folder: str) -> None:
    """Train a step, then give the model what its forward refuses."""
    meet(Path(folder) / "meeting", rank)
    torch.manual_seed(0)
    model = DistributedDataParallel(Doubled())
    model(torch.full((5, 3), float(rank))).sum().backward()
    said: dict[str, Any] = {"gradient": model.module.fc.weight.grad, "mode": config.check}
    try:
        model(torch.zeros(5, 7))
    except TorchError as error:
        said["refusal"] = pickle.loads(pickle.dumps(error)).to_dict()
    torch.save(said, Path(folder) / f"{rank}.pt")


@pytest.mark.slow
def test_distributed_data_parallel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "SIMPLETORCH_CHECK", "full")
    multiprocessing.spawn(_work, (str(tmp_path),), nprocs=2)
    zero, one = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    assert torch.equal(zero["gradient"], one["gradient"])
    assert zero["gradient"].tolist() == [[5.0] * 3] * 2  # the mean over ranks of 2 * 5 rows of 0 and of 1
    assert zero["mode"] == one["mode"] == "full"
    assert one["refusal"]["reason"] == "dim 1 of x is 7, not 3"
    assert one["refusal"]["module_path"] == "model.module"


def test_functions_methods_and_modules_are_pickled_by_name():
    for thing in (stacked, Rows.__getitem__, Doubled):
        assert pickle.loads(pickle.dumps(thing)) is thing
    rows = pickle.loads(pickle.dumps(Rows((3, 5))))
    assert rows[0].tolist() == [0.0] * 3
    with pytest.raises(ShapeMismatch):
        rows[1]
