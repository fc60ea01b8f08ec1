"""Tensor parallel of a GPT-2's layers, whose weights lie the other way round: ``(inputs, outputs)``."""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ParallelStyle

from simpletorch.errors import TorchError, as_also

__all__ = ["Conv1DParallel"]


class Conv1DParallel(ParallelStyle):
    """Divide the outputs (``"out"``), the inputs (``"in"``), or queries, keys and values by heads (``"thirds"``).

    Thirds are no contiguous part of the weight, so that this one stays whole; its columns are taken in each call.
    """

    def __init__(self, style: str) -> None:
        super().__init__()
        if style not in ("out", "in", "thirds"):
            raise as_also(TorchError, ValueError)(f"a Conv1D is divided by 'out', 'in' or 'thirds', not by {style!r}")
        self.style = style
        whole = Replicate()
        self.weight: Placement = {"out": Shard(1), "in": Shard(0)}.get(style, whole)
        self.bias: Placement = Shard(0) if style == "out" else whole

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        if self.style == "thirds":
            module.forward = MethodType(_own_heads, module)
            return distribute_module(module, device_mesh, self._partition)
        return distribute_module(module, device_mesh, self._partition, self._enter, self._leave)

    def _partition(self, _name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        for name, parameter in list(module.named_parameters(recurse=False)):
            placement = self.bias if name == "bias" else self.weight
            divided = distribute_tensor(parameter, mesh, [placement])
            module.register_parameter(name, nn.Parameter(divided, requires_grad=parameter.requires_grad))

    def _enter(self, _module: nn.Module, inputs: Any, mesh: DeviceMesh) -> Any:
        x, *others = inputs
        placement = Shard(-1) if self.style == "in" else Replicate()
        return DTensor.from_local(x, mesh, [placement], run_check=False), *others

    def _leave(self, _module: nn.Module, output: Any, _mesh: DeviceMesh) -> Any:
        return (output.redistribute(placements=[Replicate()]) if self.style == "in" else output).to_local()


def _own_heads(self: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """This process's columns of queries, keys and values, side by side."""
    weight, bias = self.get_parameter("weight"), self.get_parameter("bias")
    assert isinstance(weight, DTensor)
    # every process has its part of the gradient for its input
    whole = DTensor.from_local(x, weight.device_mesh, [Replicate()], run_check=False)
    return whole.to_local(grad_placements=[Partial()]) @ _columns(weight) + _columns(bias)


def _columns(parameter: torch.Tensor) -> torch.Tensor:
    thirds = parameter.unflatten(-1, (3, -1))
    assert isinstance(thirds, DTensor)
    return thirds.redistribute(placements=[Shard(thirds.ndim - 1)]).to_local().flatten(-2)
