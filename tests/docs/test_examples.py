"""The examples in public docstrings run, and what people start with has one."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from typing import Any

import pytest

from tests.test_pages import site_hooks

FIRST = (
    *("train.Trainer", "train.Step", "train.Checkpoint", "train.EarlyStopping", "train.evaluate", "train.predict"),
    *("data.DataLoader", "data.Dataset", "data.TensorDataset", "data.random_split", "nn.Module", "nn.MLP"),
    *("optim.WarmupCosine", "optim.clip_grad_norm", "checkpoint.save", "checkpoint.load"),
    *("metrics.Accuracy", "metrics.AUROC", "metrics.ConfusionMatrix", "metrics.F1", "metrics.Mean"),
    *("metrics.MeanSquaredError", "metrics.Perplexity", "metrics.Precision", "metrics.Recall"),
    "reproducibility.seed_everything",
)


def documented() -> dict[str, Any]:
    """The public names that the reference has, with their objects."""
    hooks, found = site_hooks(), {}
    for module in hooks.MODULES:
        for path in hooks.public(module):
            home, _, name = path.rpartition(".")
            found[f"{module}.{name}"] = getattr(import_module(home), name)
    return found


NAMES = documented()
EXAMPLES = {name: test for name, value in NAMES.items() if ">>> " in (test := getattr(value, "__doc__", None) or "")}


SLOW = (
    "amp",
    "cuda.graph",
    "checkpoint.unwrapped",
    "data.Hugging",
    "export",
    "language",
    "metrics.TorchMetric",
    "vision.models",
)
"""Prefixes of names whose examples load or build something large."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * name.startswith(SLOW)) for name in EXAMPLES]
)
def test_an_example_gives_what_its_docstring_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert said == []


WHOLE = ("nn", "losses", "optim", "amp", "transforms", "metrics", "cuda", "language.models", "vision.models", "errors")
"""Modules of which every class has an example."""
MOST_CLASSES_WITHOUT = 59  # of all modules, half of them dtypes; it may only fall


def test_what_people_start_with_has_an_example():
    assert [name for name in FIRST if name not in EXAMPLES] == []


def test_classes_without_an_example_become_fewer():
    without = [name for name, value in NAMES.items() if inspect.isclass(value) and name not in EXAMPLES]
    assert [name for name in without if name.rpartition(".")[0] in WHOLE] == []
    assert len(without) <= MOST_CLASSES_WITHOUT, without
    assert len(without) > MOST_CLASSES_WITHOUT - 5, f"only {len(without)} are left: lower the limit"
