"""Devices by name, and the devices of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeAlias

import torch

__all__ = [
    "Device",
    "DeviceLike",
    "cuda_available",
    "device_count",
    "torch_version",
]

DeviceLike: TypeAlias = torch.device | str | int | None


def _indexed(kind: str, index: int) -> torch.device:
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise ValueError(f"a device index is an int of 0 or more, not {index!r}; the first is Device.{kind}(0)")
    return torch.device(kind.lower(), index)


if TYPE_CHECKING:

    class Device(torch.device):
        """A device: `Device.CPU`, `Device.CUDA(0)`, `Device.MPS`, `Device.Vulkan(0)`, or the `best` there is.

        All of them are plain `torch.device`s, so torch takes them wherever it takes a device.

        Examples:
            >>> from simpletorch import Device
            >>> Device.CPU
            device(type='cpu')
            >>> Device.CUDA(1)
            device(type='cuda', index=1)
        """

        CPU: ClassVar[Device]
        MPS: ClassVar[Device]

        @staticmethod
        def CUDA(index: int = 0) -> Device:
            """The CUDA device with this index."""

        @staticmethod
        def Vulkan(index: int = 0) -> Device:
            """The Vulkan device with this index: a name only, since torch's wheels have no Vulkan backend."""

        @staticmethod
        def best() -> Device:
            """The accelerator that torch can use here, else the CPU."""

else:

    class _DeviceType(type):
        """The class of `Device`: every `torch.device` is one, and none is made by calling it."""

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, torch.device)

        def __call__(cls, *args: object) -> NoReturn:
            shown = ", ".join(map(repr, args))
            raise TypeError(
                f"Device({shown}): write torch.device({shown}), or Device.CPU, Device.CUDA(0), Device.best()"
            )

    class Device(metaclass=_DeviceType):
        """A device: `Device.CPU`, `Device.CUDA(0)`, `Device.MPS`, `Device.Vulkan(0)`, or the `best` there is.

        All of them are plain `torch.device`s, so torch takes them wherever it takes a device.

        Examples:
            >>> from simpletorch import Device
            >>> Device.CPU
            device(type='cpu')
            >>> Device.CUDA(1)
            device(type='cuda', index=1)
        """

        CPU = torch.device("cpu")
        MPS = torch.device("mps")

        @staticmethod
        def CUDA(index: int = 0) -> torch.device:
            """The CUDA device with this index.

            Args:
                index: the number of the GPU, from 0, as `torch.cuda` counts.
            """
            return _indexed("CUDA", index)

        @staticmethod
        def Vulkan(index: int = 0) -> torch.device:
            """The Vulkan device with this index.

            Args:
                index: the number of the device, from 0.
            """
            return _indexed("Vulkan", index)

        @staticmethod
        def best() -> torch.device:
            """The accelerator that torch can use here (the current one of several), else the CPU."""
            if not torch.accelerator.is_available():
                return Device.CPU
            found = torch.accelerator.current_accelerator()
            if found is None:
                return Device.CPU
            return torch.device(found.type, torch.accelerator.current_device_index()) if found.type != "mps" else found


def torch_version() -> str:
    """The version of torch: ``"2.13.0+cpu"``.

    Examples:
        >>> import torch
        >>> import simpletorch
        >>> simpletorch.torch_version() == torch.__version__
        True
    """
    return str(torch.__version__)


def cuda_available() -> bool:
    """Whether torch can use a CUDA device here.

    Examples:
        >>> import torch
        >>> import simpletorch
        >>> simpletorch.cuda_available() == torch.cuda.is_available()
        True
    """
    return torch.cuda.is_available()


def device_count() -> int:
    """The number of accelerators that torch can use here, 0 if there is none.

    Examples:
        >>> import simpletorch
        >>> simpletorch.device_count() >= 0
        True
    """
    return torch.accelerator.device_count() if torch.accelerator.is_available() else 0
