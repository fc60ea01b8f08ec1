"""Errors that the CUDA driver and its libraries report, often long after the operation that caused them."""

from __future__ import annotations

import re
from typing import Final

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import CUDAError, DeviceMismatch
from simpletorch.errors._reasons._table import Reason, message

_LATE: Final = "CUDA reports late: CUDA_LAUNCH_BLOCKING=1 in the environment shows the line that really failed"

# what the driver says, the name of its code, and what to do
_CODES: Final = (
    (
        "device-side assert",
        "cudaErrorAssert",
        "usually an index or class target out of range; the CPU, or CUDA_LAUNCH_BLOCKING=1, shows which. "
        "The process can't use CUDA any more: restart it",
    ),
    ("illegal memory access", "cudaErrorIllegalAddress", f"{_LATE}; compute-sanitizer finds the access"),
    ("misaligned address", "cudaErrorMisalignedAddress", _LATE),
    (
        "no kernel image is available",
        "cudaErrorNoKernelImageForDevice",
        "this build of torch has no code for this GPU; install one that has (torch.cuda.get_arch_list() shows them)",
    ),
    (
        "driver version is insufficient",
        "cudaErrorInsufficientDriver",
        "update the NVIDIA driver, or install a torch build for an older CUDA",
    ),
    ("invalid device ordinal", "cudaErrorInvalidDevice", "torch.cuda.device_count() GPUs are there, counted from 0"),
    ("initialization error", "cudaErrorInitializationError", "a forked process can't use CUDA: start it by spawn"),
    (
        "launch timed out",
        "cudaErrorLaunchTimeout",
        "the GPU drives a display, too, which limits a kernel",
    ),
    ("unspecified launch failure", "cudaErrorLaunchFailure", _LATE),
    ("too many resources requested", "cudaErrorLaunchOutOfResources", _LATE),
)


@message(r"(CUBLAS_STATUS_\w+|CUSOLVER_STATUS_\w+|CUSPARSE_STATUS_\w+|CUFFT_\w+|cuDNN error: (CUDNN_STATUS_\w+))")
def _library(_f: Failure, m: re.Match[str]) -> Reason:
    code = m[2] or m[1]
    hint = _LATE
    if "ALLOC_FAILED" in code or "NOT_INITIALIZED" in code:
        hint = "usually the GPU's memory is full, or an index was out of range before this: " + _LATE
    return Reason(CUDAError, f"a CUDA library refused: {code}", hint=hint, fields={"code": code})


@message(r"CUDA error: ([^\n]+)")
def _cuda(_f: Failure, m: re.Match[str]) -> Reason:
    text = m[1].strip()
    named = re.search(r"cudaError_?t?\.?(\w+)", m.string)
    for words, code, hint in _CODES:
        if words in text:
            return Reason(CUDAError, text, hint=hint, fields={"code": code})
    return Reason(CUDAError, text, hint=_LATE, fields={"code": named[0] if named else None})


@message(
    r"Torch not compiled with CUDA enabled", r"Found no NVIDIA driver on your system", r"No CUDA GPUs are available"
)
def _no_cuda(_f: Failure, m: re.Match[str]) -> Reason:
    said = {
        "Torch": "this build of torch has no CUDA",
        "Found": "there is no NVIDIA driver",
        "No": "no GPU is visible to this process",
    }
    hint = "Device.best(), or 'cuda' if torch.cuda.is_available() else 'cpu', takes what there is"
    return Reason(DeviceMismatch, said[m[0].partition(" ")[0]], "a CUDA device", "none", hint)


@message(r"Cannot re-initialize CUDA in forked subprocess")
def _forked(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        CUDAError,
        "a forked process can't use CUDA, which its parent has initialised",
        hint="start workers by spawn (multiprocessing_context='spawn'), or move data to the GPU in the main process",
        fields={"code": "cudaErrorInitializationError"},
    )


@message(r"Attempting to deserialize object on (?:a )?CUDA(?: device)?")
def _no_cuda_to_load(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        DeviceMismatch,
        "the file holds tensors of a GPU that isn't there",
        "cuda",
        "cpu",
        "torch.load(..., map_location='cpu')",
    )
