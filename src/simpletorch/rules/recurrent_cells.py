"""One step of a recurrent network: the cells, as layers and as functions; and the functions behind the layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from simpletorch.rules.arguments import same_dtype
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.recurrent import check_state
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import as_dim, check_at_least, check_equal, need_float, need_ranks
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape


@record
class _Cell(ModuleRule):
    takes_parameters_dtype = ("input",)
    gates: ClassVar[int]

    input_size: Value
    hidden_size: Value
    bias: Value = True

    def check(self) -> None:
        check_at_least("input_size", (as_dim(self.input_size),), 0)
        check_at_least("hidden_size", (as_dim(self.hidden_size),), 0)

    def state(self, input: TensorType, **states: Value) -> TensorType:
        """``(N, input_size) -> (N, hidden_size)``, the given states checked"""
        need_float(input)
        need_ranks("input", input.shape, 1, 2, meaning="(N, features) or (features,)")
        check_equal("the last dim of input is", input.shape.dim(-1), "input_size is", as_dim(self.input_size))
        shape = Shape((*input.shape.drop_last(1).items, as_dim(self.hidden_size)))
        for name, value in states.items():
            check_state(name, value, shape)
        return TensorType(shape, input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        hidden = as_dim(self.hidden_size)
        gates = self.gates * hidden
        bias: Value = TensorType(Shape.of(gates), is_parameter=True) if self.bias is True else ANYTHING
        if self.bias is False:
            bias = None
        return {
            "weight_ih": TensorType(Shape.of(gates, as_dim(self.input_size)), is_parameter=True),
            "weight_hh": TensorType(Shape.of(gates, hidden), is_parameter=True),
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
        if isinstance(self.nonlinearity, str) and self.nonlinearity not in ("tanh", "relu"):
            raise Mismatch(
                f"nonlinearity is {self.nonlinearity!r}, but it must be 'tanh' or 'relu'", got=self.nonlinearity
            )
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


def _step(
    gates: int, input: TensorType, hx: TensorType, w_ih: TensorType, w_hh: TensorType, b_ih: Value, b_hh: Value
) -> TensorType:
    """``(N, I), h (N, H), w_ih (gates*H, I), w_hh (gates*H, H) -> (N, H)``"""
    dtype = same_dtype(("input", input), ("hx", hx), ("w_ih", w_ih), ("w_hh", w_hh))
    for name, x in (("input", input), ("hx", hx), ("w_ih", w_ih), ("w_hh", w_hh)):
        need_ranks(name, x.shape, 2)
    hidden = hx.shape.dim(-1)
    check_equal("the last dim of input is", input.shape.dim(-1), "w_ih takes", w_ih.shape.dim(-1))
    check_equal("hx has a batch of", hx.shape.dim(-2), "input has", input.shape.dim(-2))
    check_equal("the last dim of hx is", hidden, "w_hh takes", w_hh.shape.dim(-1))
    check_equal("w_ih gives", w_ih.shape.dim(-2), f"{gates} gates of hx need", gates * hidden)
    check_equal("w_hh gives", w_hh.shape.dim(-2), f"{gates} gates of hx need", gates * hidden)
    for name, b in (("b_ih", b_ih), ("b_hh", b_hh)):
        if isinstance(b, TensorType) and b.shape.rank == 1 and b.shape.dim(0) != 1:
            check_equal(f"{name} has", b.shape.dim(0), f"{gates} gates of hx need", gates * hidden)
    return TensorType(Shape.of(input.shape.dim(-2), hidden), dtype)


@rule("torch.rnn_tanh_cell", "torch.rnn_relu_cell")
def rnn_cell(
    input: TensorType, hx: TensorType, w_ih: TensorType, w_hh: TensorType, b_ih: Value = None, b_hh: Value = None
) -> TensorType:
    """``(N, I), h (N, H), w_ih (H, I), w_hh (H, H) -> (N, H)``"""
    return _step(1, input, hx, w_ih, w_hh, b_ih, b_hh)


@rule("torch.gru_cell")
def gru_cell(
    input: TensorType, hx: TensorType, w_ih: TensorType, w_hh: TensorType, b_ih: Value = None, b_hh: Value = None
) -> TensorType:
    """``(N, I), h (N, H), w_ih (3H, I), w_hh (3H, H) -> (N, H)``"""
    return _step(3, input, hx, w_ih, w_hh, b_ih, b_hh)


@rule("torch.lstm_cell")
def lstm_cell(
    input: TensorType, hx: Value, w_ih: TensorType, w_hh: TensorType, b_ih: Value = None, b_hh: Value = None
) -> Value:
    """``(N, I), (h, c) (N, H), w_ih (4H, I), w_hh (4H, H) -> h (N, H), c (N, H)``"""
    state = hx[0] if isinstance(hx, tuple) and len(hx) == 2 else None
    if not isinstance(state, TensorType):
        raise CannotTell
    out = _step(4, input, state, w_ih, w_hh, b_ih, b_hh)
    return (out, out)


def _sequence(input: TensorType, hx: TensorType, bidirectional: Value) -> tuple[TensorType, TensorType]:
    """The output over the whole sequence and the last state, from the shapes of the input and the first state."""
    need_ranks("input", input.shape, 3, meaning="(L, N, features) or (N, L, features)")
    need_ranks("hx", hx.shape, 3, meaning="(layers*directions, N, features)")
    directions: Dim = UNKNOWN if not isinstance(bidirectional, bool) else 2 if bidirectional else 1
    lead: tuple[Item, ...] = input.shape.drop_last(1).items
    lead = (UNKNOWN, UNKNOWN) if ANY_REST in lead else lead
    dtype = same_dtype(("input", input), ("hx", hx))
    return TensorType(Shape((*lead, directions * hx.shape.dim(-1))), dtype), TensorType(hx.shape, dtype)


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


__all__ = ["GRUCell", "LSTMCell", "RNNCell", "gru_cell", "lstm", "lstm_cell", "rnn", "rnn_cell"]
