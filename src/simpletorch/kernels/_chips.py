"""GPUs as compilers and data sheets know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch

__all__ = ["ARCHITECTURES", "GPU", "GPUS", "Architecture", "bandwidth"]


@dataclass(frozen=True)
class Architecture:
    """The target of a kernel's compilation.

    Attributes:
        backend: Triton's name of the compiler.
        target: Triton's name of the chip.
        warp: threads in a warp (AMD: a wavefront).
        shared: bytes of shared memory that one program may have.
        registers: that one thread may have.
        all_registers: that the threads of one program may have together.
        threads: that one program may have.
    """

    backend: str
    target: int | str
    warp: int
    shared: int
    registers: int = 255
    all_registers: int = 65536
    threads: int = 1024


# CUDA C++ programming guide, "Technical specifications per compute capability"; AMD CDNA 3 instruction set architecture
ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "sm75": Architecture("cuda", 75, 32, 64 << 10),
    "sm80": Architecture("cuda", 80, 32, 163 << 10),
    "sm86": Architecture("cuda", 86, 32, 99 << 10),
    "sm89": Architecture("cuda", 89, 32, 99 << 10),
    "sm90": Architecture("cuda", 90, 32, 227 << 10),
    "sm100": Architecture("cuda", 100, 32, 227 << 10),
    "sm120": Architecture("cuda", 120, 32, 99 << 10),
    "gfx90a": Architecture("hip", "gfx90a", 64, 64 << 10, registers=512, all_registers=512 * 512),
    "gfx942": Architecture("hip", "gfx942", 64, 64 << 10, registers=512, all_registers=512 * 512),
    "gfx950": Architecture("hip", "gfx950", 64, 160 << 10, registers=512, all_registers=512 * 512),
}


@dataclass(frozen=True)
class GPU:
    """The peak rates of a GPU: its roofline. Numbers of your own make one that isn't in the table.

    ::

        kernels.GPU("mine", bandwidth=1.2e12, float32=30e12, float16=120e12)

    Attributes:
        name: of the GPU.
        bandwidth: bytes a second between the GPU and its memory.
        float32: operations a second in matrix products of float32.
        float16: the same in float16 and bfloat16, without sparsity. By default as many as in float32; also below.
        tf32: where `torch.set_float32_matmul_precision` allows it.
        float8: the same in float8; by default as many as in float16.
        float64: the same in float64; by default half of those in float32.
        source: where the numbers are from.

    Raises:
        ValueError: a rate isn't above zero.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> gpu = kernels.GPU("mine", bandwidth=1.2e12, float32=30e12, float16=120e12)
        >>> gpu.flops(torch.bfloat16)
        120000000000000.0
    """

    name: str
    bandwidth: float
    float32: float
    float16: float | None = None
    tf32: float | None = None
    float8: float | None = None
    float64: float | None = None
    source: str = ""

    def __post_init__(self) -> None:
        for field in ("bandwidth", "float32", "float16", "tf32", "float8", "float64"):
            value = getattr(self, field)
            if value is not None and not value > 0:
                raise ValueError(f"GPU({self.name!r}): {field}={value} is no number of bytes or operations a second")

    def flops(self, dtype: torch.dtype) -> float:
        """The operations a second in matrix products of this dtype, as torch is set.

        Args:
            dtype: the dtype of the operands.
        """
        wide = self.float32
        if dtype in (torch.float64, torch.complex128):
            return self.float64 or wide / 2
        if dtype.is_floating_point and dtype.itemsize == 1:
            return self.float8 or self.float16 or wide
        if dtype in (torch.float16, torch.bfloat16):
            return self.float16 or wide
        return wide if torch.get_float32_matmul_precision() == "highest" else self.tf32 or wide


# Dense, half of what a data sheet says "with sparsity"; float32 is outside of tensor cores.
# bandwidth, float32, float16, tf32, float8, float64
_HOPPER: Final = (67e12, 989.4e12, 494.7e12, 1978.9e12, 67e12)
_AMPERE: Final = (19.5e12, 312e12, 156e12, None, 19.5e12)
GPUS: Final[Mapping[str, GPU]] = {
    gpu.name: gpu
    for gpu in (
        GPU("A100 40GB", 1.555e12, *_AMPERE, "NVIDIA A100 Tensor Core GPU data sheet, SXM 40GB"),
        GPU("A100 80GB", 2.039e12, *_AMPERE, "NVIDIA A100 Tensor Core GPU data sheet, SXM 80GB"),
        GPU("H100", 3.35e12, *_HOPPER, "NVIDIA H100 Tensor Core GPU data sheet, SXM5"),
        GPU("H100 PCIe", 2.04e12, 51e12, 756e12, 378e12, 1513e12, 51e12, "NVIDIA H100 data sheet, PCIe"),
        GPU("H100 NVL", 3.94e12, 60e12, 835.5e12, 417.5e12, 1670.5e12, 60e12, "NVIDIA H100 data sheet, NVL"),
        GPU("H200", 4.8e12, *_HOPPER, "NVIDIA H200 Tensor Core GPU data sheet, SXM"),
        GPU("B200", 7.7e12, 75e12, 2250e12, 1100e12, 4500e12, 37e12, "NVIDIA HGX B200 data sheet, for each GPU"),
        GPU("L4", 0.3e12, 30.3e12, 121e12, 60e12, 242.5e12, 0.47e12, "NVIDIA L4 data sheet"),
        GPU("L40S", 0.864e12, 91.6e12, 362.05e12, 183e12, 733e12, 1.43e12, "NVIDIA L40S data sheet"),
        GPU("RTX 4090", 1.008e12, 82.6e12, 165.2e12, 82.6e12, 330.3e12, 1.29e12, "NVIDIA Ada GPU architecture, 2022"),
        GPU("MI300X", 5.3e12, 163.4e12, 1307.4e12, 653.7e12, 2614.9e12, 163.4e12, "AMD Instinct MI300X data sheet"),
    )
}

# the GPUs of the table by a part of the name that torch gives; longer names first
_PARTS: Final[Mapping[str, str]] = {
    "A100-SXM4-80GB": "A100 80GB",
    **{name: name for name in sorted(GPUS, key=len, reverse=True)},
    "A100": "A100 40GB",
}


def bandwidth(name: str) -> float | None:
    """Bytes a second between a GPU and its memory, by the name that torch gives; None if it isn't in the table."""
    return next((GPUS[gpu].bandwidth for part, gpu in _PARTS.items() if part in name), None)
