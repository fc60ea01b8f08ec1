"""CUDA graphs: recorded and replayed on a GPU, simply called elsewhere."""

import pytest
import torch
from torch import nn

from simpletorch import cuda
from simpletorch.errors import BackendError

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_without_cuda_tensors_the_function_is_called():
    calls = []

    @cuda.graph
    def double(x: torch.Tensor, by: int = 2) -> torch.Tensor:
        """Twice."""
        calls.append(by)
        return x * by

    assert double(torch.ones(3)).tolist() == [2, 2, 2]
    assert double(torch.ones(3), by=5).tolist() == [5, 5, 5]
    assert calls == [2, 5]
    assert (double.__name__, double.__doc__, double.recorded) == ("double", "Twice.", 0)


def test_warmup_is_once_or_more():
    with pytest.raises(BackendError, match="warmup is 0"):
        cuda.graph(torch.add, warmup=0)


@needs_gpu
def test_a_graph_gives_what_the_function_gives_for_each_kind_of_arguments():
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(37, 61), nn.GELU(), nn.Linear(61, 11)).cuda()
    graphed = cuda.graph(model, warmup=2)
    with torch.no_grad():
        for rows in (3, 7, 3, 7, 3, 7, 3, 7):
            x = torch.randn(rows, 37, device="cuda")
            torch.testing.assert_close(graphed(x), model(x))
    assert graphed.recorded == 2


@needs_gpu
def test_results_are_copies_unless_asked_otherwise():
    x = torch.arange(5.0, device="cuda")
    for clone in (True, False):
        graphed = cuda.graph(lambda t: t * 2, warmup=1, clone=clone)
        graphed(x)
        first = graphed(x)
        second = graphed(x + 1)
        assert (first.data_ptr() == second.data_ptr()) is not clone
        assert second.tolist() == [2, 4, 6, 8, 10]


@needs_gpu
def test_a_whole_training_step_is_recorded():
    def made():
        torch.manual_seed(7)
        model = nn.Linear(13, 5).cuda()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, capturable=True)

        def step(x, y):
            optimizer.zero_grad(set_to_none=False)
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return model, step

    torch.manual_seed(3)
    data = [(torch.randn(17, 13, device="cuda"), torch.randn(17, 5, device="cuda")) for _ in range(11)]
    one, plain = made()
    other, step = made()
    graphed = cuda.graph(step)
    for x, y in data:
        torch.testing.assert_close(graphed(x, y), plain(x, y).detach(), check_device=False)
    torch.testing.assert_close(one.weight, other.weight)
    assert graphed.recorded == 1


@needs_gpu
def test_what_can_t_be_recorded_is_explained():
    graphed = cuda.graph(lambda x: x * x.sum().item(), warmup=1)
    x = torch.ones(3, device="cuda")
    graphed(x)
    with pytest.raises(BackendError, match=r"(?s)can't be recorded as a CUDA graph.*\.item\(\)"):
        graphed(x)
    assert torch.randn(3, device="cuda").isfinite().all()  # random numbers are drawn as before
