"""Libraries that call a program's function, or stand around its training: beside the libraries themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow
from tests.follow.models.installed_programs import right, wrong

_HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
"""
_STUDY = (
    _HEAD
    + """
import optuna
optuna.logging.disable_default_handler()
def objective(trial):
    global x, y
    width = trial.suggest_int("width", 4, 8)
    depth = trial.suggest_int("depth", 3, 9, step=3)
    act = {"relu": nn.ReLU, "tanh": nn.Tanh}[trial.suggest_categorical("act", ["relu", "tanh"])]
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    net = nn.Sequential(nn.Linear(7, width), act(), nn.Dropout(rate), nn.Linear(trial.suggest_int("width", 4, 8), 3))
    x = net(torch.zeros(5, 7))
    y = torch.zeros(depth, 2)
    trial.report(0.5, 1)
    if trial.should_prune():
        raise optuna.TrialPruned()
    return x.mean().item()
study = optuna.create_study(direction="minimize")
study.optimize(objective, n_trials=2)
n = study.best_params["width"]
"""
)
_ACCELERATED = (
    _HEAD
    + """
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
net = nn.Linear(7, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = DataLoader(TensorDataset(torch.zeros(8, 7)), batch_size=4)
net, optimizer, data = accelerator.prepare(net, optimizer, data)
for (x,) in data:
    with accelerator.accumulate(net):
        y = net(x)
        accelerator.backward(y.mean())
        accelerator.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
z = accelerator.gather_for_metrics(y)
w = accelerator.unwrap_model(net).weight
"""
)
_LAUNCHED = {
    "pyspark": "from pyspark.ml.torch.distributor import TorchDistributor\n"
    "TorchDistributor(num_processes=2, local_mode=True).run(train, 5)",
    "ray": "import ray.train.torch\nray.train.torch.TorchTrainer(train, train_loop_config=5).fit()",
    "ray without settings": "from ray.train.torch import TorchTrainer\nTorchTrainer(lambda: train(5)).fit()",
}
_TRAIN = _HEAD + "def train(n):\n    nn.Linear(n, 2)(torch.zeros(3, {size})).mean().backward()\n    return 5\n"


def _followed(source: str, path: Path) -> Followed:
    return follow(path, opened={str(path): source})


def test_a_study_calls_its_objective(tmp_path: Path):
    assert [f for f in right(_STUDY, tmp_path / "program.py") if not f.startswith("-")] == []


def test_a_mistake_in_a_trial_is_found(tmp_path: Path):
    said, found = wrong(_STUDY.replace("nn.Linear(7, width)", "nn.Linear(6, width)"), tmp_path / "program.py")
    assert said
    assert [f.line for f in found.errors] == [16]


@pytest.mark.neighbour("accelerate")
def test_accelerate_changes_no_size(tmp_path: Path):
    assert right(_ACCELERATED, tmp_path / "program.py") == []


def test_a_mistake_under_accelerate_is_found(tmp_path: Path):
    found = _followed(_ACCELERATED.replace("nn.Linear(7, 3)", "nn.Linear(8, 3)"), tmp_path / "program.py")
    assert [f.line for f in found.errors] == [13]


@pytest.mark.parametrize("name", _LAUNCHED)
def test_a_launcher_calls_a_function(tmp_path: Path, name: str):
    path = tmp_path / "program.py"
    assert _followed(_TRAIN.format(size=5) + _LAUNCHED[name], path).errors == ()
    assert [f.line for f in _followed(_TRAIN.format(size=6) + _LAUNCHED[name], path).errors] == [6]
