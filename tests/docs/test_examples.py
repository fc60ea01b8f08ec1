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
    "distributed.launch",
    "export",
    "language",
    "metrics.TorchMetric",
    "vision.models",
)
"""Prefixes of names whose examples load or build something large."""
NEEDS = {
    "export.onnx": ("onnx", "onnxruntime", "onnxscript"),
    "interop.from_transformers": ("transformers",),
    "interop.to_jax": ("jax",),
}
"""Packages of other projects that an example imports."""
RAY = "starts Ray: docs/guides/distributed.md has it, and tests/distributed/test_ray.py runs it"
FETCHED = "its files must be fetched: tests/data/datasets runs it on small ones of its format"
TRITON = "needs Triton: docs/kernels.md has it, and tests/kernels/test_triton_*.py run it"
WITHOUT = {
    "checkpoint.consolidate": "needs a checkpoint of several processes: tests/distributed/test_sharded.py runs it",
    "data.CIFAR10": FETCHED,
    "data.CIFAR100": FETCHED,
    "data.FashionMNIST": FETCHED,
    "data.ImageNet": FETCHED,
    "data.LabelledImages": FETCHED,
    "data.MNIST": FETCHED,
    "data.download": "needs the network: tests/data/datasets/test_download.py runs it beside a server",
    "distributed.actors.Actor": RAY,
    "distributed.actors.Actors": RAY,
    "distributed.actors.Pending": RAY,
    "distributed.actors.share": RAY,
    "distributed.actors.spawn": RAY,
    "distributed.ray.TrainingWorker": RAY,
    "distributed.ray.fit": RAY,
    "distributed.ray.start": RAY,
    "export.aot": "compiles C++ for some ten seconds: tests/export/test_aot.py runs it",
    "kernels.Number": TRITON,
    "kernels.Pointer": TRITON,
    "kernels.Size": TRITON,
    "kernels.Stride": TRITON,
    "kernels.TritonKernel": TRITON,
    "kernels.compile_check": TRITON,
    "kernels.extension": "compiles C++: docs/kernels.md has it, and tests/kernels/test_extension.py runs it",
    "kernels.triton": TRITON,
}
"""Why a function or class has no example that is run here."""


def marks(name: str) -> list[pytest.MarkDecorator]:
    """The marks of an example's test."""
    slow = [pytest.mark.thorough] if name.startswith(SLOW) else []
    return [*slow, *([pytest.mark.neighbour(*NEEDS[name])] if name in NEEDS else [])]


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in EXAMPLES])
def test_an_example_gives_what_its_docstring_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert said == []


def test_what_people_start_with_has_an_example():
    assert [name for name in FIRST if name not in EXAMPLES] == []


def test_every_function_and_class_has_an_example():
    """One for all dtypes is in `Tensor`; of a union of types there is nothing to run."""
    dtypes = {f"simpletorch.{name}" for name in import_module("simpletorch.dtypes").__all__}
    ours = {name for name, value in NAMES.items() if inspect.isclass(value) or inspect.isroutine(inspect.unwrap(value))}
    lacking = ours - set(EXAMPLES) - dtypes - {"distributed.ReduceOp", "simpletorch.TensorShape"}  # torch's
    assert sorted(lacking) == sorted(WITHOUT)
