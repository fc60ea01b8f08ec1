"""The same numbers each time, where it was asked for and nowhere else."""

import os

import pytest
import torch

import simpletorch as st
from simpletorch.errors import TorchError
from simpletorch.reproducibility import deterministic


def settings():
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.backends.cudnn.deterministic,
        torch.backends.cudnn.benchmark,
        os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
    )


@pytest.fixture(autouse=True)
def _as_before():
    before = settings()
    # torch.testing, which other tests of the process import, forbids to set these flags from then on
    with getattr(torch.backends, "__allow_nonbracketed_mutation")():
        yield
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = before[2:4]


def test_a_block_is_deterministic_and_what_follows_is_as_before():
    torch.backends.cudnn.benchmark = True
    before = settings()
    with st.deterministic():
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.backends.cudnn.deterministic
        assert not torch.backends.cudnn.benchmark
    assert settings() == before


def test_it_is_as_before_after_an_error():
    before = settings()
    with pytest.raises(KeyError), deterministic():
        raise KeyError
    assert settings() == before


def test_a_call_holds_from_then_on():
    deterministic()
    assert torch.are_deterministic_algorithms_enabled()
    deterministic(False)
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_function_is_deterministic_while_it_runs():
    @deterministic()
    def enabled(a: int, *, b: int) -> tuple[bool, int]:
        """Says whether."""
        return torch.are_deterministic_algorithms_enabled(), a + b

    assert not torch.are_deterministic_algorithms_enabled()
    assert enabled(2, b=3) == (True, 5)
    assert not torch.are_deterministic_algorithms_enabled()
    assert enabled.__doc__ == "Says whether."


def test_blocks_nest():
    with deterministic():
        with deterministic(False):
            assert not torch.are_deterministic_algorithms_enabled()
        assert torch.are_deterministic_algorithms_enabled()


def test_an_operation_without_a_deterministic_way_raises():
    target, index, values = torch.zeros(3), torch.zeros(5, dtype=torch.int64), torch.arange(5.0)
    with deterministic(), pytest.raises(RuntimeError, match="put_ does not have a deterministic implementation"):
        target.put_(index, values)
    with deterministic(warn_only=True), pytest.warns(UserWarning, match="put_ does not have a deterministic"):
        target.put_(index, values)


def pretend_cuda(monkeypatch, *, in_use):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: in_use)
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)


def test_cublas_is_told_in_time(monkeypatch):
    pretend_cuda(monkeypatch, in_use=False)
    with deterministic():
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ


def test_cublas_can_not_be_told_too_late(monkeypatch):
    pretend_cuda(monkeypatch, in_use=True)
    before = settings()
    with pytest.raises(TorchError, match=r"can't be made deterministic any more(.|\n)*CUBLAS_WORKSPACE_CONFIG=:4096:8"):
        deterministic()
    assert settings() == before
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with deterministic():
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
