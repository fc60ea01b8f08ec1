"""Activations, dropout and identity as modules of torch.nn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.common.conditions import need_at_least, need_probability, need_rank
from simpletorch.rules.common.dtypes import float_dtype
from simpletorch.rules.common.parameters import parameter
from simpletorch.rules.common.pointwise import ALL_BUT_FLOAT, need_kernel
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.elementwise.activation import (
    glu,
    need_parameters,
    same_shape,
    softmax,
    softsign,
    tanhshrink,
)
from simpletorch.shapes import Dim

_FUNCTION_OF: Final = {
    "ReLU": "relu",
    "ReLU6": "relu6",
    "ELU": "elu",
    "SELU": "selu",
    "CELU": "celu",
    "LeakyReLU": "leaky_relu",
    "RReLU": "rrelu",
    "GELU": "gelu",
    "LogSigmoid": "logsigmoid",
    "Hardshrink": "hardshrink",
    "Softplus": "softplus",
    "Softshrink": "softshrink",
    "Hardsigmoid": "hardsigmoid",
    "Mish": "mish",
    "Hardswish": "hardswish",
    "Threshold": "threshold",
    "SiLU": "silu",
}


@record
class _Pointwise(ModuleRule):
    """``(*b) -> (*b)``"""

    function: ClassVar[str]

    def forward(self, input: TensorType) -> TensorType:
        return same_shape(self.function, input)


for _name, _function in _FUNCTION_OF.items():
    # a class for each, so that a message names the module that the user wrote
    module(f"torch.nn.{_name}")(type(_name, (_Pointwise,), {"function": _function, "__doc__": _Pointwise.__doc__}))


@module("torch.nn.Hardtanh")
@record
class Hardtanh(_Pointwise):
    """``(*b) -> (*b)``"""

    function = "hardtanh"

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        low, high = given.get("min_val", -1.0), given.get("max_val", 1.0)
        if isinstance(low, int | float) and isinstance(high, int | float) and high <= low:
            raise Mismatch(f"max_val is {high}, but it must be greater than min_val={low}", expected=low, got=high)


@record
class _Floating(ModuleRule):
    """``(*b) -> (*b)``"""

    def forward(self, input: TensorType) -> TensorType:
        return TensorType(input.shape, float_dtype(input))


@module("torch.nn.Sigmoid")
class Sigmoid(_Floating):
    """``(*b) -> (*b)``"""


@module("torch.nn.Tanh")
class Tanh(_Floating):
    """``(*b) -> (*b)``"""


@module("torch.nn.Softsign")
@record
class Softsign(ModuleRule):
    """``(*b) -> (*b)``"""

    def forward(self, input: TensorType) -> TensorType:
        return softsign(input)


@module("torch.nn.Tanhshrink")
@record
class Tanhshrink(ModuleRule):
    """``(*b) -> (*b)``"""

    def forward(self, input: TensorType) -> TensorType:
        return tanhshrink(input)


@record
class _AlongDim(ModuleRule):
    """``(*b) -> (*b)``"""

    dim: Value = None

    def forward(self, input: TensorType) -> TensorType:
        return softmax(input, self.dim, None)


@module("torch.nn.Softmax")
class Softmax(_AlongDim):
    """``(*b) -> (*b)``"""


@module("torch.nn.LogSoftmax")
class LogSoftmax(_AlongDim):
    """``(*b) -> (*b)``"""


@module("torch.nn.Softmin")
class Softmin(_AlongDim):
    """``(*b) -> (*b)``"""


@module("torch.nn.Softmax2d")
@record
class Softmax2d(ModuleRule):
    """``(b, c, h, w) -> (b, c, h, w)``, or without b"""

    def forward(self, input: TensorType) -> TensorType:
        need_rank("input", input, 3, 4)
        return softmax(input, -3, None)


@module("torch.nn.GLU")
@record
class GLU(ModuleRule):
    """``(*a, 2*n, *b) -> (*a, n, *b)``"""

    dim: Value = -1

    def forward(self, input: TensorType) -> TensorType:
        return glu(input, self.dim)


@module("torch.nn.PReLU")
@record
class PReLU(ModuleRule):
    """``(b, c, *) -> (b, c, *)``, with one parameter or c of them"""

    takes_parameters_dtype = ("input",)

    num_parameters: Value = 1
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        need_at_least("num_parameters", self.num_parameters, 1)

    @property
    def _count(self) -> Dim:
        return dim_or_unknown(self.num_parameters)

    def forward(self, input: TensorType) -> TensorType:
        need_parameters(input, self._count, "the layer")
        need_kernel(ALL_BUT_FLOAT, input=input)
        return TensorType(input.shape, input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": parameter(self._count)}


@record
class _Dropout(ModuleRule):
    """``(*b) -> (*b)``"""

    p: Value = 0.5

    def check(self) -> None:
        need_probability("p", self.p)

    def forward(self, input: TensorType) -> TensorType:
        return TensorType(input.shape, input.dtype)


for _name in ("Dropout", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"):
    module(f"torch.nn.{_name}")(type(_name, (_Dropout,), {"__doc__": _Dropout.__doc__}))


@module("torch.nn.Dropout1d")
@record
class Dropout1d(ModuleRule):
    """``(b, c, l) -> (b, c, l)``, or without b"""

    p: Value = 0.5

    def check(self) -> None:
        need_probability("p", self.p)

    def forward(self, input: TensorType) -> TensorType:
        need_rank("input", input, 2, 3)
        return TensorType(input.shape, input.dtype)


@module("torch.nn.Identity")
@record
class Identity(ModuleRule):
    """``x -> x``"""

    def forward(self, input: Value) -> Value:
        return input
