"""Activations, dropout and identity as modules of torch.nn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from simpletorch.rules.activation import check_prelu, check_ranks, glu, same_shape, softmax, softsign, tanhshrink
from simpletorch.rules.arguments import float_dtype, is_dim
from simpletorch.rules.matmul import check_size
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.pointwise import ALL_BUT_FLOAT, check_dtypes
from simpletorch.rules.registry import ModuleRule, module, record
from simpletorch.rules.spatial import check_probability
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape

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
        check_ranks(input, (3, 4))
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
        check_size("num_parameters", self.num_parameters)

    @property
    def _count(self) -> Dim:
        return self.num_parameters if is_dim(self.num_parameters) else UNKNOWN

    def forward(self, input: TensorType) -> TensorType:
        check_prelu(input, self._count, "the layer")
        check_dtypes(ALL_BUT_FLOAT, input=input)
        return TensorType(input.shape, input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": TensorType(Shape.of(self._count), is_parameter=True)}


@record
class _Dropout(ModuleRule):
    """``(*b) -> (*b)``"""

    p: Value = 0.5

    def check(self) -> None:
        check_probability("p", self.p)

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
        check_probability("p", self.p)

    def forward(self, input: TensorType) -> TensorType:
        check_ranks(input, (2, 3))
        return TensorType(input.shape, input.dtype)


@module("torch.nn.Identity")
@record
class Identity(ModuleRule):
    """``x -> x``"""

    def forward(self, input: Value) -> Value:
        return input
