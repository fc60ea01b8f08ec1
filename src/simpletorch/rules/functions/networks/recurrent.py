"""The functions behind the recurrent layers: a whole sequence at once."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_rank
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape


def directions(bidirectional: Value) -> Dim:
    """How often the sequence is read."""
    return UNKNOWN if not isinstance(bidirectional, bool) else 2 if bidirectional else 1


def _sequence(input: TensorType, hx: TensorType, bidirectional: Value) -> tuple[TensorType, TensorType]:
    """The output over the whole sequence and the last state, from the shapes of the input and the first state."""
    need_rank("input", input, 3, meaning="(L, N, features) or (N, L, features)")
    need_rank("hx", hx, 3, meaning="(layers*directions, N, features)")
    lead: tuple[Item, ...] = input.shape.drop_last(1).items
    lead = (UNKNOWN, UNKNOWN) if ANY_REST in lead else lead
    dtype = same_dtype(("input", input), ("hx", hx))
    return TensorType(Shape((*lead, directions(bidirectional) * hx.shape.dim(-1))), dtype), TensorType(hx.shape, dtype)


@rule("torch.rnn_tanh", "torch.rnn_relu", "torch.gru")
def rnn(
    input: TensorType,
    hx: TensorType,
    params: Value,
    has_biases: Value,
    num_layers: Value,
    dropout: Value,
    train: Value,
    bidirectional: Value,
    batch_first: Value = None,
) -> Value:
    """``(L, N, I), h (layers*D, N, H) -> (L, N, D*H), h (layers*D, N, H)``"""
    if isinstance(params, TensorType) or batch_first is None:
        raise CannotTell  # the form for packed sequences
    return _sequence(input, hx, bidirectional)


@rule("torch.lstm")
def lstm(
    input: TensorType,
    hx: Value,
    params: Value,
    has_biases: Value,
    num_layers: Value,
    dropout: Value,
    train: Value,
    bidirectional: Value,
    batch_first: Value = None,
) -> Value:
    """``(L, N, I), (h, c) (layers*D, N, H) -> (L, N, D*H), h, c (layers*D, N, H)``"""
    if not isinstance(hx, tuple) or len(hx) != 2 or batch_first is None:
        raise CannotTell  # the form for packed sequences
    h, c = hx
    if not isinstance(h, TensorType) or not isinstance(c, TensorType):
        raise CannotTell
    out, state = _sequence(input, h, bidirectional)
    return (out, state, TensorType(c.shape, out.dtype))


__all__ = ["directions", "lstm", "rnn"]
