"""Recurrent layers: RNN, LSTM, GRU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import ModuleRule, module, record
from simpletorch.rules.spatial import as_dim, check_at_least, check_equal, check_probability, need_float, need_ranks
from simpletorch.rules.values import ANYTHING, Packed, TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape, at_least, same

_GATES: Final = {"RNN": 1, "LSTM": 4, "GRU": 3}


def check_state(name: str, state: Value, wanted: Shape) -> None:
    """A hidden state must have exactly the wanted shape."""
    if isinstance(state, TensorType) and same(state.shape, wanted) is False:
        raise Mismatch(f"{name} has shape {state.shape}, but it must be {wanted}", expected=wanted, got=state.shape)


@dataclass(frozen=True)
class _Sizes:
    """What decides the shapes of a recurrent layer."""

    input_size: Dim
    hidden_size: Dim
    num_layers: Dim
    directions: Dim
    proj_size: Dim
    batch_first: Value

    @property
    def output_size(self) -> Dim:
        """The features of the output, of one direction."""
        if self.proj_size is UNKNOWN:
            return UNKNOWN
        return self.hidden_size if self.proj_size == 0 else self.proj_size

    def output(self, input: TensorType) -> TensorType:
        """``(L, N, input_size) -> (L, N, directions*output_size)``"""
        need_float(input)
        need_ranks("input", input.shape, 2, 3, meaning="(L, N, features), (N, L, features) or (L, features)")
        check_equal("the last dim of input is", input.shape.dim(-1), "input_size is", self.input_size)
        return TensorType(Shape((*input.shape.drop_last(1).items, self.directions * self.output_size)), input.dtype)

    def packed(self, input: Packed) -> Packed:
        """The same for sequences of different lengths."""
        need_float(input.data)
        if input.data.shape.min_rank >= 1:
            check_equal("the last dim of input's data is", input.data.shape.dim(-1), "input_size is", self.input_size)
        shape = Shape((input.data.shape.dim(0), self.directions * self.output_size))
        return Packed(TensorType(shape, input.data.dtype), input.batch)

    def result(self, input: Value) -> Value:
        """What comes out of either."""
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


def _check_flags(given: Mapping[str, Value], *, projects: bool) -> None:
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
    """What RNN and GRU share: one state."""

    takes_parameters_dtype = ("input",)
    kind: ClassVar[str]

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        _check_flags(given, projects=cls.kind == "LSTM")

    def _sizes(self) -> _Sizes:
        raise NotImplementedError

    def _has_bias(self) -> Value:
        raise NotImplementedError

    def check_sizes(self, dropout: Value) -> None:
        """What torch refuses when it builds the layer."""
        sizes = self._sizes()
        for name in ("input_size", "hidden_size", "num_layers"):
            check_at_least(name, (getattr(sizes, name),), 1)
        check_at_least("proj_size", (sizes.proj_size,), 0)
        if sizes.proj_size != 0 and at_least(sizes.proj_size, sizes.hidden_size) is True:
            raise Mismatch(
                f"proj_size is {sizes.proj_size}, but it must be smaller than hidden_size={sizes.hidden_size}",
                expected=sizes.hidden_size,
                got=sizes.proj_size,
            )
        if isinstance(dropout, bool):
            raise Mismatch(f"dropout is {dropout}, but it must be a probability", got=dropout)
        check_probability("dropout", dropout)

    def forward(self, input: Value, hx: Value = None) -> Value:
        sizes = self._sizes()
        out = sizes.result(input)
        state = sizes.state(input, sizes.hidden_size)
        if isinstance(input, TensorType | Packed):
            check_state("hx", hx, state.shape)
        return (out, state)

    def attributes(self) -> Mapping[str, Value]:
        s = self._sizes()
        if not isinstance(s.num_layers, int) or not isinstance(s.directions, int) or s.num_layers > 64:
            return {}
        gates = _GATES[self.kind] * s.hidden_size
        found: dict[str, Value] = {}
        for layer in range(s.num_layers):
            inputs = s.input_size if layer == 0 else s.output_size * s.directions
            for suffix in ("", "_reverse")[: s.directions]:
                end = f"l{layer}{suffix}"
                found[f"weight_ih_{end}"] = _parameter(gates, inputs)
                found[f"weight_hh_{end}"] = _parameter(gates, s.output_size)
                if self._has_bias() is True:
                    found[f"bias_ih_{end}"] = found[f"bias_hh_{end}"] = _parameter(gates)
                if isinstance(s.proj_size, int) and s.proj_size > 0:
                    found[f"weight_hr_{end}"] = _parameter(s.proj_size, s.hidden_size)
        return found


def _parameter(*dims: Dim) -> TensorType:
    return TensorType(Shape(dims), is_parameter=True)


def _directions(bidirectional: Value) -> Dim:
    return UNKNOWN if not isinstance(bidirectional, bool) else 2 if bidirectional else 1


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
        return _Sizes(*sizes, _directions(self.bidirectional), 0, self.batch_first)

    def _has_bias(self) -> Value:
        return self.bias

    def check(self) -> None:
        self.check_sizes(self.dropout)
        if isinstance(self.nonlinearity, str) and self.nonlinearity not in ("tanh", "relu"):
            raise Mismatch(
                f"nonlinearity is {self.nonlinearity!r}, but it must be 'tanh' or 'relu'", got=self.nonlinearity
            )


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
        return _Sizes(*sizes, _directions(self.bidirectional), 0, self.batch_first)

    def _has_bias(self) -> Value:
        return self.bias

    def check(self) -> None:
        self.check_sizes(self.dropout)


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
        return _Sizes(*sizes, _directions(self.bidirectional), as_dim(self.proj_size), self.batch_first)

    def _has_bias(self) -> Value:
        return self.bias

    def check(self) -> None:
        self.check_sizes(self.dropout)

    def forward(self, input: Value, hx: Value = None) -> Value:
        sizes = self._sizes()
        out = sizes.result(input)
        h, c = sizes.state(input, sizes.output_size), sizes.state(input, sizes.hidden_size)
        if isinstance(hx, tuple) and len(hx) == 2 and isinstance(input, TensorType | Packed):
            check_state("hx[0]", hx[0], h.shape)
            check_state("hx[1]", hx[1], c.shape)
        return (out, (h, c))


__all__ = ["GRU", "LSTM", "RNN", "check_state"]
