"""Memory and CUDA: out of memory on the CPU for real, and what CUDA says as recorded, for no GPU is at hand here."""
# ruff: noqa: E501 - recorded texts are as long as they are

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from simpletorch.errors import (
    BackendError,
    CheckpointError,
    CUDAError,
    DeviceMismatch,
    OutOfMemory,
    TorchError,
    explain,
)

FROM_TORCH = os.path.join(os.path.dirname(torch.__file__), "recorded.py")


def raising(error: Exception) -> Callable[..., Tensor]:
    """A function that raises like one of torch's own."""
    space: dict[str, Callable[..., Tensor]] = {}
    exec(compile("def operation(*args):\n    raise error", FROM_TORCH, "exec"), {"error": error}, space)
    return space["operation"]


def explained(error: Exception) -> TorchError:
    operation = raising(error)
    with pytest.raises(TorchError) as caught, explain():
        operation()
    assert isinstance(caught.value, type(error))
    return caught.value


def test_out_of_memory_names_the_largest_tensors_and_the_batch():
    class Hungry(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(500_009, 5)

        def forward(self, x: Tensor) -> Tensor:
            cache = x.new_zeros(20_000_003)
            return torch.empty(10**15) + cache

    model, batch = Hungry(), torch.zeros(26, 3)
    with pytest.raises(OutOfMemory) as caught, explain():
        model(batch)
    error = caught.value
    assert error.requested == 4 * 10**15
    assert error.available is not None
    assert error.reason.startswith("3637.98 TiB requested, ")
    assert error.details[0] == "the largest tensors on cpu:"
    assert "  76.29 MiB  Float32[20000003]  cache" in error.details[1]
    assert error.details[2].split() == ["9.54", "MiB", "Float32[500009,", "5]", "model.table.weight"]
    assert error.hint is not None
    assert error.hint.startswith("a smaller batch (13 instead of 26 needs about half for activations)")


CUDA_OOM = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.00 GiB of which 512.00 MiB is "
    "free. Process 97 has 14.50 GiB memory in use. Of the allocated memory 11.00 GiB is allocated by PyTorch, and "
    "{} is reserved by PyTorch but unallocated."
)


def test_cuda_out_of_memory_reads_torchs_numbers():
    error = explained(torch.OutOfMemoryError(CUDA_OOM.format("200.00 MiB")))
    assert isinstance(error, OutOfMemory)
    assert (error.requested, error.available, error.total) == (2 * 2**30, 512 * 2**20, 15 * 2**30)
    assert error.reason == "2.00 GiB requested, 512.00 MiB of 15.00 GiB available"
    assert error.hint == "a smaller batch, mixed precision (amp) or gradient checkpointing need less"


def test_fragmented_memory_is_recognised():
    error = explained(torch.OutOfMemoryError(CUDA_OOM.format("3.00 GiB")))
    assert error.hint is not None
    assert error.hint.startswith("memory is fragmented: PYTORCH_ALLOC_CONF=expandable_segments:True")


ASSERT = (
    "CUDA error: device-side assert triggered\n"
    "Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/ for more information.\n"
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
    "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
)


@pytest.mark.parametrize("cls", [RuntimeError, getattr(torch, "AcceleratorError", RuntimeError)])
def test_a_device_side_assert(cls: type[Exception]):
    error = explained(cls(ASSERT))
    assert isinstance(error, CUDAError)
    assert error.code == "cudaErrorAssert"
    assert error.reason == "device-side assert triggered"
    assert error.hint is not None
    assert error.hint.startswith("usually an index or class target out of range; the CPU, or CUDA_LAUNCH_BLOCKING=1")


@pytest.mark.parametrize(
    ("said", "kind", "code", "words"),
    [
        ("CUDA error: an illegal memory access was encountered\n", CUDAError, "cudaErrorIllegalAddress", "late"),
        ("CUDA error: no kernel image is available for execution on the device\n", CUDAError, "cudaErrorNoKernelImageForDevice", "get_arch_list"),
        ("CUDA error: invalid device ordinal\nGPU device may be out of range", CUDAError, "cudaErrorInvalidDevice", "device_count"),
        ("CUDA error: unspecified launch failure\n", CUDAError, "cudaErrorLaunchFailure", "CUDA_LAUNCH_BLOCKING=1"),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", CUDAError, "CUBLAS_STATUS_ALLOC_FAILED", "memory is full"),
        ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", CUDAError, "CUDNN_STATUS_EXECUTION_FAILED", "late"),
        ("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method", CUDAError, "cudaErrorInitializationError", "spawn"),
    ],
)  # fmt: skip
def test_what_the_driver_says(said: str, kind: type[CUDAError], code: str, words: str):
    error = explained(RuntimeError(said))
    assert type(error) is kind
    assert error.code == code
    assert error.hint is not None
    assert words in error.hint


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!", DeviceMismatch, "the operands are on cuda:0 and cpu"),
        ("Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same", DeviceMismatch, "the operands are on cuda and cpu"),
        ("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.", DeviceMismatch, "the file holds tensors of a GPU that isn't there"),
        ("PytorchStreamReader failed reading zip archive: failed finding central directory", CheckpointError, "the file is damaged or incomplete: it is no readable torch archive"),
        ("[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=7, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.", BackendError, "this process waited 600.029 s in operation for a rank that didn't take part"),
        ("NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled cuda error, NCCL version 2.27.5", BackendError, "NCCL failed on this process: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled cuda error, NCCL version 2.27.5"),
        ("Expected to mark a variable ready only once. This error is caused by one of the following reasons", BackendError, "a parameter got its gradient twice in one backward"),
        ("[1]: params[3] in this process with sizes [5, 3] appears not to match sizes of the same param in process 0.", TorchError, "parameter 3 is (5, 3) on this process, but has another shape on rank 0"),
        ("DDP expects same model across all ranks, but Rank 1 has 7 params, while rank 0 has inconsistent 5 params.", TorchError, "the model has 7 parameters on rank 1, but 5 on rank 0"),
        ("The client socket has timed out after 300000ms while trying to connect to (10.0.0.7, 29500).", BackendError, "no process listens at 10.0.0.7:29500, where rank 0 should be"),
        ("Timed out after 61 seconds waiting for clients. 1/2 clients joined.", BackendError, "only 1 of 2 processes had joined after 61 s"),
        ("Default process group has not been initialized, please make sure to call init_process_group.", BackendError, "there is no process group yet"),
        ("[gloo/transport/tcp/pair.cc:537] Read error [10.0.0.7]:8594: Connection reset by peer.", BackendError, "this process lost the connection to another rank, which has ended"),
        ("[Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 20000 ms", BackendError, "this process waited 20 s in operation for others: rank 1, 3"),
        ("DataLoader worker (pid 97) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.", TorchError, "worker process 97 was killed (Bus error) while it was loading"),
    ],
)  # fmt: skip
def test_recorded_texts(said: str, kind: type[TorchError], reason: str):
    error = explained(RuntimeError(said))
    assert isinstance(error, kind)
    assert error.reason == reason
    assert error.hint


def test_who_waits_on_a_gpu_is_told_the_device_of_each_operand():
    x = torch.zeros(2, 3)
    said = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    y, fused = x.to("meta"), raising(RuntimeError(said))
    with pytest.raises(DeviceMismatch) as caught, explain():
        fused(x, y)
    assert caught.value.reason == "x is on cpu, but y is on meta"
