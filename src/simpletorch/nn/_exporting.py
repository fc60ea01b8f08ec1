"""Models write themselves: ``model.to_onnx(path)`` and ``model.to_torchscript(path)``, bare layers too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from simpletorch._atomic import StrPath
    from simpletorch.export import Exported

__all__ = ["every_module_exports", "to_onnx", "to_torchscript"]


def to_torchscript(self: nn.Module, path: StrPath, **options: Any) -> Exported[..., Any]:
    """Write the model as a TorchScript archive: `simpletorch.export.torchscript` with its options.

    Args:
        path: the file to write.
        options: keyword arguments of `simpletorch.export.torchscript`, such as ``inputs``.

    Returns:
        The exported model, which is called as this one is.
    """
    from simpletorch.export import torchscript  # seldom needed

    return torchscript(self, path, **options)


def to_onnx(self: nn.Module, path: StrPath, **options: Any) -> Exported[..., Any]:
    """Write the model as an ONNX file: `simpletorch.export.onnx` with its options.

    Args:
        path: the file to write.
        options: keyword arguments of `simpletorch.export.onnx`, such as ``inputs``.

    Returns:
        The exported model, which is called as this one is.
    """
    from simpletorch.export import onnx  # seldom needed

    return onnx(self, path, **options)


def every_module_exports() -> None:
    """Give `torch.nn.Module` both methods: a layer of ours is torch's own object, so it can have them nowhere else."""
    for method in (to_onnx, to_torchscript):
        if not hasattr(nn.Module, method.__name__):
            setattr(nn.Module, method.__name__, method)
