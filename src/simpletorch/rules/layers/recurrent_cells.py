"""One step of a recurrent network: RNNCell, GRUCell, LSTMCell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_at_least, need_float_or_complex, need_one_of, need_rank, need_size
from simpletorch.rules.common.parameters import flagged, parameter
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.layers.recurrent import need_state
from simpletorch.shapes import Shape


@record
class _Cell(ModuleRule):
    takes_parameters_dtype = ("input",)
    gates: ClassVar[int]

    input_size: Value
    hidden_size: Value
    bias: Value = True

    def check(self) -> None:
        need_at_least("input_size", as_dim(self.input_size), 0)
        need_at_least("hidden_size", as_dim(self.hidden_size), 0)

    def state(self, input: TensorType, **states: Value) -> TensorType:
        """``(N, input_size) -> (N, hidden_size)``, the given states checked"""
        need_float_or_complex("input", input, why="the weights are floats")
        need_rank("input", input, 1, 2, meaning="(N, features) or (features,)")
        need_size("the last dim of input is", input.shape.dim(-1), "input_size is", as_dim(self.input_size))
        shape = Shape((*input.shape.drop_last(1).items, as_dim(self.hidden_size)))
        for name, value in states.items():
            need_state(name, value, shape)
        return TensorType(shape, input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        hidden = as_dim(self.hidden_size)
        gates = self.gates * hidden
        bias = flagged(self.bias, parameter(gates))
        return {
            "weight_ih": parameter(gates, as_dim(self.input_size)),
            "weight_hh": parameter(gates, hidden),
            "bias_ih": bias,
            "bias_hh": bias,
        }


@module("torch.nn.RNNCell")
@record
class RNNCell(_Cell):
    """``(N, input_size), h (N, hidden_size) -> (N, hidden_size)``"""

    gates = 1

    nonlinearity: Value = "tanh"
    device: Value = None
    dtype: Value = None

    def forward(self, input: TensorType, hx: Value = None) -> TensorType:
        need_one_of("nonlinearity", self.nonlinearity, "tanh", "relu")
        return self.state(input, hx=hx)


@module("torch.nn.GRUCell")
@record
class GRUCell(_Cell):
    """``(N, input_size), h (N, hidden_size) -> (N, hidden_size)``"""

    gates = 3

    device: Value = None
    dtype: Value = None

    def forward(self, input: TensorType, hx: Value = None) -> TensorType:
        return self.state(input, hx=hx)


@module("torch.nn.LSTMCell")
@record
class LSTMCell(_Cell):
    """``(N, input_size), (h, c) (N, hidden_size) -> h, c (N, hidden_size)``"""

    gates = 4

    device: Value = None
    dtype: Value = None

    def forward(self, input: TensorType, hx: Value = None) -> Value:
        given = isinstance(hx, tuple) and len(hx) == 2
        states = {f"hx[{i}]": s for i, s in enumerate(hx)} if given and isinstance(hx, tuple) else {}
        out = self.state(input, **states)
        return (out, out)


__all__ = ["GRUCell", "LSTMCell", "RNNCell"]
