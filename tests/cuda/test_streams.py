"""Streams, events and results that are under way: the same program with and without an accelerator."""

import pytest
import torch

from simpletorch import cuda
from simpletorch.errors import BackendError

ACCELERATED = torch.accelerator.is_available()


def test_a_result_is_given_to_who_waits():
    x = torch.arange(7.0, device=cuda.current_stream().device)
    pending = cuda.Stream().run(torch.add, x, 3)
    assert isinstance(pending, cuda.Pending)
    assert pending.wait().tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert pending.synchronize().tolist() == [3, 4, 5, 6, 7, 8, 9]
    assert pending.query()
    assert "call wait()" in repr(pending)


def test_a_block_on_a_stream_runs_and_the_current_stream_comes_back():
    before = cuda.current_stream()
    stream = cuda.Stream()
    with stream as entered:
        assert entered is stream
        assert cuda.current_stream() == stream
        y = torch.ones(5, device=stream.device) * 3
    cuda.current_stream().wait(stream)
    assert cuda.current_stream() == before
    assert y.tolist() == [3] * 5


def test_streams_wait_for_streams_and_events():
    a, b = cuda.Stream(), cuda.Stream(priority=-1)
    event = a.record_event()
    b.wait(event, a)
    b.wait_stream(a)
    b.wait_event(event)
    b.synchronize()
    assert event.query()
    assert b.query()
    cuda.synchronize()


def test_an_event_takes_the_time_of_its_block():
    x = torch.ones(301, 307, device=cuda.current_stream().device)
    with cuda.Event(enable_timing=True) as event:
        for _ in range(5):
            x = x * 1.5
    assert event.elapsed() > 0
    with cuda.Event(enable_timing=True) as nothing:
        pass
    assert nothing.elapsed() < event.elapsed()


def test_times_that_nobody_took_are_explained():
    with pytest.raises(BackendError, match="enable_timing=True"):
        cuda.Event().elapsed_time(cuda.Event())
    with pytest.raises(BackendError, match="context of a block"):
        cuda.Event(enable_timing=True).elapsed()


@pytest.mark.skipif(ACCELERATED, reason="there is one")
def test_a_device_that_isn_t_there_is_explained():
    with pytest.raises(BackendError, match=r"device is 'cuda:0', but torch finds no accelerator here"):
        cuda.Stream("cuda:0")
    with pytest.raises(BackendError, match="leave device out"):
        cuda.TensorPool("cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_work_on_two_streams_overlaps_and_results_are_right():
    x = torch.randn(2048, 2048, device="cuda")
    one, two = cuda.Stream(), cuda.Stream()
    first, second = one.run(torch.matmul, x, x), two.run(torch.matmul, x, x.T)
    torch.testing.assert_close(first.wait() + second.wait(), x @ x + x @ x.T)
