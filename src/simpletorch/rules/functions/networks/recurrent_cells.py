"""One step of a recurrent network."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_rank, need_size
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Shape


def _step(
    gates: int, input: TensorType, hx: TensorType, w_ih: TensorType, w_hh: TensorType, b_ih: Value, b_hh: Value
) -> TensorType:
    """``(N, I), h (N, H), w_ih (gates*H, I), w_hh (gates*H, H) -> (N, H)``"""
    dtype = same_dtype(("input", input), ("hx", hx), ("w_ih", w_ih), ("w_hh", w_hh))
    for name, x in (("input", input), ("hx", hx), ("w_ih", w_ih), ("w_hh", w_hh)):
        need_rank(name, x, 2)
    hidden = hx.shape.dim(-1)
    need_size("the last dim of input is", input.shape.dim(-1), "w_ih takes", w_ih.shape.dim(-1))
    need_size("hx has a batch of", hx.shape.dim(-2), "input has", input.shape.dim(-2))
    need_size("the last dim of hx is", hidden, "w_hh takes", w_hh.shape.dim(-1))
    need_size("w_ih gives", w_ih.shape.dim(-2), f"{gates} gates of hx need", gates * hidden)
    need_size("w_hh gives", w_hh.shape.dim(-2), f"{gates} gates of hx need", gates * hidden)
    for name, b in (("b_ih", b_ih), ("b_hh", b_hh)):
        if isinstance(b, TensorType) and b.shape.rank == 1 and b.shape.dim(0) != 1:
            need_size(f"{name} has", b.shape.dim(0), f"{gates} gates of hx need", gates * hidden)
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


__all__ = ["gru_cell", "lstm_cell", "rnn_cell"]
