"""Buffers that are used again, and what a debug pool says of misuse."""

import gc

import pytest
import torch

from simpletorch import Float64
from simpletorch.cuda import TensorPool
from simpletorch.errors import TorchError


def test_a_buffer_is_used_again_by_shape_dtype_and_device():
    pool = TensorPool("cpu")
    first = pool.get(3, 5)
    address = first.data_ptr()
    other = pool.get(3, 5)
    assert other.data_ptr() != address
    pool.give(first)
    assert pool.get(3, 5, dtype=torch.float64).data_ptr() != address
    assert pool.get(5, 3).data_ptr() != address
    again = pool.get(3, 5)
    assert again.data_ptr() == address
    assert (again.shape, again.dtype, again.is_contiguous()) == ((3, 5), torch.float32, True)
    assert (pool.hits, pool.misses) == (1, 4)


def test_borrowing_gives_back_whatever_happens():
    pool = TensorPool("cpu")
    with pytest.raises(KeyError, match="int64"), pool.borrowed(7, dtype=torch.int64) as buffer:
        {torch.int32: 3}[buffer.dtype]
    assert pool.bytes == 7 * 8
    pool.clear()
    assert pool.bytes == 0


def test_no_more_lies_unused_than_the_limit():
    pool = TensorPool("cpu", limit=100)
    a, b = pool.get(11, 2), pool.get(11, 2)  # 88 bytes each
    pool.give(a)
    pool.give(b)
    assert pool.bytes == 88


def test_what_isn_t_given_back_is_freed():
    pool = TensorPool("cpu")
    tensor = pool.get(13)
    del tensor
    gc.collect()
    assert len(pool._loans) == 0


@pytest.mark.parametrize("debug", [False, True])
def test_a_buffer_given_back_twice_names_the_first_line(debug):
    pool = TensorPool("cpu", debug=debug)
    x = pool.get(3, 5)
    pool.give(x)
    with pytest.raises(TorchError, match=r"given back already, at .*test_pool\.py:\d+"):
        pool.give(x)


def test_what_is_no_buffer_of_the_pool_is_refused():
    pool = TensorPool("cpu")
    x = pool.get(3, 5)
    with pytest.raises(TorchError, match="was not handed out by this pool"):
        pool.give(x[:2])
    with pytest.raises(TorchError, match="was not handed out by this pool"):
        pool.give(torch.zeros(3, 5))


def test_writing_after_giving_back_is_found_at_the_next_get():
    pool = TensorPool("cpu", debug=True)
    x = pool.get(3, 5)
    row = x[1]
    pool.give(x)
    row.zero_()
    with pytest.raises(TorchError, match=r"written to after it was given back at .*test_pool\.py"):
        pool.get(3, 5)


def test_every_use_after_giving_back_is_found_under_with():
    with TensorPool("cpu", debug=True) as pool:
        x = pool.get(3, 5).zero_()
        row = x[1]
        pool.give(x)
        new = pool.get(3, 5).zero_()  # the same memory
        assert (new + 1).sum() == 15  # the new user may
        with pytest.raises(TorchError, match=r"(?s)add.*a buffer of float32 \(3, 5\) is used"):
            row + 1
        with pytest.raises(TorchError, match="sum"):
            torch.sum(x)
        with pytest.raises(TorchError, match="stack"):
            torch.stack([new, x])
    assert (row + 1).sum() == 5  # outside of the block nobody looks


def test_a_debug_pool_hands_out_nan():
    assert TensorPool("cpu", debug=True).get(3).isnan().all()


@pytest.mark.parametrize("shape", [(-1,), (2.0,), (True,), ((2, -3),), ([2.0, 3],)])
def test_sizes_that_are_none_are_refused(shape):
    with pytest.raises(ValueError, match="a size is an int of 0 or more"):
        TensorPool("cpu").get(*shape)
    with pytest.raises(ValueError, match="limit is -3"):
        TensorPool("cpu", limit=-3)


def test_buffers_in_inference_mode():
    with torch.inference_mode():
        pool = TensorPool("cpu", debug=True)
        pool.give(pool.get(3, 5))
        assert pool.get(3, 5).shape == (3, 5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_another_stream_waits_for_the_last_use():
    from simpletorch import cuda

    pool = TensorPool()
    side = cuda.Stream()
    with side:
        x = pool.get(4096, 4096)
        torch.cuda._sleep(100_000_000)
        x.fill_(3.0)
        pool.give(x)
    y = pool.get(4096, 4096)
    y.fill_(5.0)
    cuda.synchronize()
    assert (y == 5).all()


def test_a_list_of_sizes_and_a_dtype():
    pool = TensorPool()
    first = pool.get([2, 3], Float64)
    assert first.shape == (2, 3)
    assert first.dtype == torch.float64
    pool.give(first)
    assert pool.get(2, 3, dtype=torch.float64).data_ptr() == first.data_ptr()
    with pytest.raises(ValueError, match="a list of sizes and a dtype"):
        pool.get([2], Float64, 3)
