"""Recurrent layers: RNN, LSTM, GRU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_float_or_complex,
    need_one_of,
    need_probability,
    need_rank,
    need_shape,
    need_size,
)
from simpletorch.rules.common.parameters import parameter
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import ANYTHING, Packed, TensorType, Value
from simpletorch.rules.functions.networks.recurrent import directions
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape, at_least

_GATES: Final = {"RNN": 1, "LSTM": 4, "GRU": 3}


def need_state(name: str, state: Value, wanted: Shape, *, batch_first: Value = None) -> None:
    """A hidden state, if there is one, must have exactly the wanted shape."""
    if isinstance(state, TensorType):
        hint = f"batch_first={not batch_first} would fit" if isinstance(batch_first, bool) else None
        need_shape(name, state.shape, wanted, hint=hint)


@dataclass(frozen=True)
class _Sizes:
    """The sizes that decide the shapes of a recurrent layer."""

    input_size: Dim
    hidden_size: Dim
    num_layers: Dim
    directions: Dim
    proj_size: Dim
    batch_first: Value
    kind: str

    @property
    def output_size(self) -> Dim:
        """The features of the output, of one direction."""
        if self.proj_size is UNKNOWN:
            return UNKNOWN
        return self.hidden_size if self.proj_size == 0 else self.proj_size

    def output(self, input: TensorType) -> TensorType:
        """``(L, N, input_size) -> (L, N, directions*output_size)``"""
        need_float_or_complex("input", input, why="the weights are floats")
        need_rank("input", input, 2, 3, meaning="(L, N, features), (N, L, features) or (L, features)")
        features = input.shape.dim(-1)
        hint = (
            f"input.mT has {self.input_size} features in its last dim",
            f"{self.kind}({features}, {self.hidden_size}) would fit",
        )
        need_size("the last dim of input is", features, "input_size is", self.input_size, hint=hint)
        return TensorType(Shape((*input.shape.drop_last(1).items, self.directions * self.output_size)), input.dtype)

    def packed(self, input: Packed) -> Packed:
        """The same for sequences of different lengths."""
        need_float_or_complex("input", input.data, why="the weights are floats")
        if input.data.shape.min_rank >= 1:
            need_size("the last dim of input's data is", input.data.shape.dim(-1), "input_size is", self.input_size)
        shape = Shape((input.data.shape.dim(0), self.directions * self.output_size))
        return Packed(TensorType(shape, input.data.dtype), input.batch)

    def result(self, input: Value) -> Value:
        """The result for either kind of input."""
        if isinstance(input, Packed):
            return self.packed(input)
        return self.output(input) if isinstance(input, TensorType) else ANYTHING

    def _batch(self, input: Value) -> tuple[Item, ...]:
        """The dims that a state has between its layers and its features."""
        if isinstance(input, Packed):
            return (input.batch,)
        if not isinstance(input, TensorType) or input.shape.rank is None:
            return (ANY_REST,)
        if input.shape.rank == 2:
            return ()
        if not isinstance(self.batch_first, bool):
            return (UNKNOWN,)
        return (input.shape.dim(0 if self.batch_first else 1),)

    def state(self, input: Value, features: Dim) -> TensorType:
        """``(num_layers*directions, N, features)``"""
        shape = Shape((self.num_layers * self.directions, *self._batch(input), features))
        given = input.data if isinstance(input, Packed) else input
        return TensorType(shape, given.dtype if isinstance(given, TensorType) else None)


def _need_flags(given: Mapping[str, Value], *, projects: bool) -> None:
    """torch takes nothing for a bool here that isn't one, though mypy can't know: the constructor takes ``*args``."""
    for name in ("bias", "batch_first"):
        value = given.get(name, True)
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            raise Mismatch(f"{name} is {value!r}, but it must be True or False", got=value)
    for name in ("input_size", "hidden_size"):
        value = given.get(name, 1)
        if isinstance(value, bool | float | str) and value is not True:
            raise Mismatch(f"{name} is {value!r}, but it must be an int", got=value)
    if "proj_size" in given and not projects:
        raise Mismatch("proj_size is for LSTM only", got=given["proj_size"])


@record
class _Recurrent(ModuleRule):
    """The rule that RNN and GRU share: one state."""

    takes_parameters_dtype = ("input",)
    kind: ClassVar[str]

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        _need_flags(given, projects=cls.kind == "LSTM")

    def _sizes(self) -> _Sizes:
        raise NotImplementedError

    def _has_bias(self) -> Value:
        raise NotImplementedError

    def need_sizes(self, dropout: Value) -> None:
        """Refuse the sizes that torch refuses when it builds the layer."""
        sizes = self._sizes()
        for name in ("input_size", "hidden_size", "num_layers"):
            need_at_least(name, getattr(sizes, name), 1)
        need_at_least("proj_size", sizes.proj_size, 0)
        if sizes.proj_size != 0 and at_least(sizes.proj_size, sizes.hidden_size) is True:
            raise Mismatch(
                f"proj_size is {sizes.proj_size}, but it must be smaller than hidden_size={sizes.hidden_size}",
                expected=sizes.hidden_size,
                got=sizes.proj_size,
            )
        if isinstance(dropout, bool):
            raise Mismatch(f"dropout is {dropout}, but it must be a probability", got=dropout)
        need_probability("dropout", dropout)

    def forward(self, input: Value, hx: Value = None) -> Value:
        sizes = self._sizes()
        out = sizes.result(input)
        state = sizes.state(input, sizes.hidden_size)
        if isinstance(input, TensorType | Packed):
            need_state("hx", hx, state.shape, batch_first=sizes.batch_first)
        return (out, state)

    def attributes(self) -> Mapping[str, Value]:
        s = self._sizes()
        # two to five parameters a layer and direction: of a huge num_layers none is listed
        if not isinstance(s.num_layers, int) or not isinstance(s.directions, int) or s.num_layers > 64:
            return {}
        gates = _GATES[self.kind] * s.hidden_size
        found: dict[str, Value] = {}
        for layer in range(s.num_layers):
            inputs = s.input_size if layer == 0 else s.output_size * s.directions
            for suffix in ("", "_reverse")[: s.directions]:
                end = f"l{layer}{suffix}"
                found[f"weight_ih_{end}"] = parameter(gates, inputs)
                found[f"weight_hh_{end}"] = parameter(gates, s.output_size)
                if self._has_bias() is True:
                    found[f"bias_ih_{end}"] = found[f"bias_hh_{end}"] = parameter(gates)
                if isinstance(s.proj_size, int) and s.proj_size > 0:
                    found[f"weight_hr_{end}"] = parameter(s.proj_size, s.hidden_size)
        return found


@module("torch.nn.RNN")
@record
class RNN(_Recurrent):
    """``(L, N, input_size) -> (L, N, D*hidden_size), h (num_layers*D, N, hidden_size)``; D directions"""

    kind = "RNN"

    input_size: Value
    hidden_size: Value
    num_layers: Value = 1
    nonlinearity: Value = "tanh"
    bias: Value = True
    batch_first: Value = False
    dropout: Value = 0.0
    bidirectional: Value = False
    device: Value = None
    dtype: Value = None

    def _sizes(self) -> _Sizes:
        sizes = (as_dim(self.input_size), as_dim(self.hidden_size), as_dim(self.num_layers))
        return _Sizes(*sizes, directions(self.bidirectional), 0, self.batch_first, self.kind)

    def _has_bias(self) -> Value:
        return self.bias

    def check(self) -> None:
        self.need_sizes(self.dropout)
        need_one_of("nonlinearity", self.nonlinearity, "tanh", "relu")


@module("torch.nn.GRU")
@record
class GRU(_Recurrent):
    """``(L, N, input_size) -> (L, N, D*hidden_size), h (num_layers*D, N, hidden_size)``; D directions"""

    kind = "GRU"

    input_size: Value
    hidden_size: Value
    num_layers: Value = 1
    bias: Value = True
    batch_first: Value = False
    dropout: Value = 0.0
    bidirectional: Value = False
    device: Value = None
    dtype: Value = None

    def _sizes(self) -> _Sizes:
        sizes = (as_dim(self.input_size), as_dim(self.hidden_size), as_dim(self.num_layers))
        return _Sizes(*sizes, directions(self.bidirectional), 0, self.batch_first, self.kind)

    def _has_bias(self) -> Value:
        return self.bias

    def check(self) -> None:
        self.need_sizes(self.dropout)


@module("torch.nn.LSTM")
@record
class LSTM(_Recurrent):
    """``(L, N, input_size) -> (L, N, D*Hout), (h (num_layers*D, N, Hout), c (num_layers*D, N, hidden_size))``"""

    kind = "LSTM"

    input_size: Value
    hidden_size: Value
    num_layers: Value = 1
    bias: Value = True
    batch_first: Value = False
    dropout: Value = 0.0
    bidirectional: Value = False
    proj_size: Value = 0
    device: Value = None
    dtype: Value = None

    def _sizes(self) -> _Sizes:
        sizes = (as_dim(self.input_size), as_dim(self.hidden_size), as_dim(self.num_layers))
        return _Sizes(*sizes, directions(self.bidirectional), as_dim(self.proj_size), self.batch_first, self.kind)

    def _has_bias(self) -> Value:
        return self.bias

    def check(self) -> None:
        self.need_sizes(self.dropout)

    def forward(self, input: Value, hx: Value = None) -> Value:
        sizes = self._sizes()
        out = sizes.result(input)
        h, c = sizes.state(input, sizes.output_size), sizes.state(input, sizes.hidden_size)
        if isinstance(hx, tuple) and len(hx) == 2 and isinstance(input, TensorType | Packed):
            need_state("hx[0]", hx[0], h.shape, batch_first=sizes.batch_first)
            need_state("hx[1]", hx[1], c.shape, batch_first=sizes.batch_first)
        if isinstance(hx, TensorType) and isinstance(input, TensorType):
            _need_pair(hx, input)
        return (out, (h, c))


def _need_pair(hx: TensorType, input: TensorType) -> None:
    """Torch takes no single tensor; beside an input without a batch, its first two rows are h and c."""
    if input.shape.rank == 3 or (input.shape.rank == 2 and hx.shape.rank not in (None, 3)):
        raise Mismatch(f"hx is a tensor {hx.shape}, but it must be a pair (h, c)", hint="(h, c) of an LSTM, h of a GRU")


__all__ = ["GRU", "LSTM", "RNN", "need_state"]
