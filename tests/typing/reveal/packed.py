"""Sequences of different lengths: packed, through a recurrent layer, and padded again."""

from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

from simpletorch import Float32, Int64, Tensor
from simpletorch.dims import B, T
from simpletorch.nn import run_padded


def tag(x: Tensor[Float32, B, T, 11], lengths: Tensor[Int64, B]) -> Tensor[Float32, B, Any, 10]:
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    reveal_type(packed.data)  # R: Tensor[Float32, Any, 11]
    reveal_type(packed.sorted_indices)  # R: Tensor[Int64, B] | None
    out, (h, _) = nn.LSTM(11, 5, 2, batch_first=True, bidirectional=True)(packed)
    reveal_type(out.data)  # R: Tensor[Float32, Any, 10]
    reveal_type(h)  # R: Tensor[Float32, 4, B, 5]
    padded, counts = pad_packed_sequence(out, batch_first=True)
    reveal_type(padded)  # R: Tensor[Float32, B, Any, 10]
    reveal_type(counts)  # R: Tensor[Int64, B]
    longer, counts = pad_packed_sequence(out, total_length=13)
    reveal_type(longer)  # R: Tensor[Float32, 13, B, 10]
    return padded


tag(torch.zeros(3, 7, 11), torch.tensor([7, 2, 5]))
reveal_type(pad_sequence([torch.zeros(5, 3), torch.zeros(2, 3)]))  # R: Tensor[Float32, 5, 2, 3]
reveal_type(pad_sequence([torch.zeros(5, 3), torch.zeros(2, 3)], batch_first=True))  # R: Tensor[Float32, 2, 5, 3]
two = pack_sequence([torch.zeros(5, 3), torch.zeros(2, 3)])
reveal_type(two.data)  # R: Tensor[Float32, 7, 3]
reveal_type(nn.GRU(3, 5)(two)[1])  # R: Tensor[Float32, 1, 2, 5]


def of_anybody(given: PackedSequence) -> None:
    out, state = nn.GRU(3, 5)(given)
    reveal_type(state)  # R: Tensor[Any, 1, Any, 5]
    reveal_type(pad_packed_sequence(out)[0])  # R: Tensor[Any, Any, Any, 5]


of_anybody(two)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(3, 5)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        out, state = self.rnn(pack_padded_sequence(x, lengths.cpu()))
        reveal_type(state)  # R: Tensor[Any, 1, Any, 5]
        return pad_packed_sequence(out)[0]


Encoder()(torch.zeros(7, 2, 3), torch.tensor([7, 5]))


def unpacked(x: Tensor[Float32, B, T, 11], lengths: Tensor[Int64, B], any_layer: nn.RNNBase) -> None:
    both = nn.LSTM(11, 5, batch_first=True, bidirectional=True)
    reveal_type(run_padded(both, x, lengths))  # R: Tensor[Float32, B, T, 10]
    reveal_type(run_padded(nn.LSTM(11, 5, proj_size=3), x, lengths))  # R: Tensor[Float32, B, T, 3]
    reveal_type(run_padded(lengths=lengths, rnn=nn.GRU(11, 7), sequences=x))  # R: Tensor[Float32, B, T, 7]
    reveal_type(run_padded(any_layer, x, lengths))  # R: Tensor
