"""Every module of examples/models under what surrounds a model: copies, pickles, compilation, export, two processes."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.parallel import DistributedDataParallel

from tests import meeting
from tests.examples import cases


def run(model: Any, args: Any) -> Any:
    torch.manual_seed(3)
    return model(*args)


def close(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(cases.tensors(actual), cases.tensors(expected), rtol=1e-4, atol=1e-5)


@pytest.fixture(autouse=True)
def _fresh_compiler():
    yield
    torch.compiler.reset()


def test_every_module_has_a_case():
    assert set(cases.CASES) == cases.modules()


@pytest.mark.parametrize("name", cases.CASES)
def test_copies_and_pickles(name: str):
    model, args = cases.case(name)
    expected = run(model, args)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        close(run(again, args), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.CASES)
@torch._dynamo.config.patch(allow_rnn=True)  # or torch 2.13 refuses to trace any LSTM
def test_compile_to_one_graph(name: str):
    model, args = cases.case(name)
    close(run(torch.compile(model, fullgraph=True, backend="eager"), args), run(model, args))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama.RMSNorm", "moe.Expert"])
@torch.no_grad()
def test_compile_to_machine_code(name: str):
    model, args = cases.case(name)
    close(torch.compile(model, fullgraph=True)(*args), model(*args))


@pytest.mark.slow
@pytest.mark.parametrize("name", cases.CASES)
def test_export(name: str):
    model, args = cases.case(name)
    close(run(torch.export.export(model, args).module(), args), run(model, args))


def _train(rank: int, folder: str) -> None:
    """One step of every module, as one of two processes with half of the batch."""
    meeting.meet(Path(folder) / "meeting", rank)
    gradients = {}
    for name in cases.CASES:
        model, args = cases.case(name)
        wrapped = DistributedDataParallel(model, find_unused_parameters=True)
        torch.manual_seed(rank)  # another noise in each process
        cases.mean(wrapped(*args)).backward()
        gradients[name] = {key: p.grad for key, p in model.named_parameters()}
    torch.save(gradients, Path(folder) / f"{rank}.pt")


@pytest.mark.slow
def test_two_processes_average_their_gradients(tmp_path: Path):
    meeting.start(_train, (str(tmp_path),), 2)
    zero, one = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    for name in cases.CASES:
        trained = {key: gradient for key, gradient in zero[name].items() if gradient is not None}
        assert trained, name
        assert len(trained) == len(zero[name]) or name == "vae.VAE", "only the VAE has parts that forward leaves out"
        torch.testing.assert_close(trained, {key: one[name][key] for key in trained}, rtol=0, atol=0)
