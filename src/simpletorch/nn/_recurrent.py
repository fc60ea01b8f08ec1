"""Recurrent layers over sequences of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from simpletorch.errors import TorchError, as_also

_KERNELS: Final[dict[str, Callable[..., Any]]] = {
    "LSTM": torch.lstm,
    "GRU": torch.gru,
    "RNN_TANH": torch.rnn_tanh,
    "RNN_RELU": torch.rnn_relu,
}
_Wrong: Final = as_also(TorchError, ValueError)


def run_padded(rnn: nn.RNNBase, sequences: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """The outputs of a recurrent layer over padded sequences, each read as if it were alone; 0 after its end.

    It packs the sequences and pads the outputs. Under `torch.compile` and `torch.export`, which can't trace that, it
    computes the same in another way: a bidirectional layer then reads each sequence reversed within its own length.
    `simpletorch.export` keeps the batch and an LSTM's or GRU's steps open; ``torch.compile(fullgraph=True)`` takes
    recurrent layers only with ``torch._dynamo.config.allow_rnn``.

    Args:
        rnn: an `LSTM`, `GRU` or `RNN`; it starts from zeros.
        sequences: ``[B, T, I]``, or ``[T, B, I]`` if the layer is not ``batch_first``; float.
        lengths: ``[B]``, integer, from 1 to T, on any device.

    Returns:
        as ``rnn(sequences)[0]``: ``[B, T, O]`` or ``[T, B, O]``, O being ``hidden_size`` or ``proj_size``, twice that
        if the layer is bidirectional.

    Raises:
        ValueError: the shapes are not as above, or a length is not from 1 to T (not looked at while tracing); it is a
            `TorchError` too.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> rnn = nn.GRU(8, 16, batch_first=True)
        >>> nn.run_padded(rnn, torch.zeros(3, 5, 8), torch.tensor([5, 2, 4])).shape
        torch.Size([3, 5, 16])
    """
    if not isinstance(rnn, nn.RNNBase):
        raise _Wrong(f"run_padded got a {type(rnn).__name__}: it runs an LSTM, GRU or RNN layer")
    if sequences.ndim != 3:
        raise _Wrong(f"run_padded got sequences {list(sequences.shape)}: they must be [batch, steps, features]")
    batch_dim = 0 if rnn.batch_first else 1
    batch, steps = sequences.shape[batch_dim], sequences.shape[1 - batch_dim]
    if lengths.shape != (batch,):
        order = "[batch, steps, features]" if rnn.batch_first else "[steps, batch, features] (not batch_first)"
        raise _Wrong(
            f"run_padded got lengths {list(lengths.shape)} for sequences {list(sequences.shape)}, which are {order}: "
            f"there must be one for each of {batch}"
        )
    if torch.compiler.is_compiling():
        return _reversing(rnn, sequences, lengths)
    lengths = lengths.cpu()
    if batch and not 1 <= int(lengths.min()) <= int(lengths.max()) <= steps:
        raise _Wrong(
            f"run_padded got lengths from {int(lengths.min())} to {int(lengths.max())} for sequences padded to {steps} "
            f"steps: they must be from 1 to {steps}"
        )
    packed = pack_padded_sequence(sequences, lengths, batch_first=rnn.batch_first, enforce_sorted=False)
    return pad_packed_sequence(rnn(packed)[0], batch_first=rnn.batch_first, total_length=steps)[0]


def _reversing(rnn: nn.RNNBase, sequences: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """The same without packing: padding is read too, but only after the sequence itself."""
    x = sequences if rnn.batch_first else sequences.transpose(0, 1)
    steps = torch.arange(x.shape[1], device=x.device)
    ends = lengths.to(x.device).unsqueeze(1)
    backwards = torch.where(steps < ends, ends - 1 - steps, steps).unsqueeze(2)  # the padding stays where it is

    def reverse(y: torch.Tensor) -> torch.Tensor:
        return y.gather(1, backwards.expand(-1, -1, y.shape[2]))

    weights = iter(rnn.all_weights)
    for layer in range(rnn.num_layers):
        # torch's layers drop between their own layers, neither before the first nor after the last
        if layer:
            x = F.dropout(x, rnn.dropout, rnn.training)
        y = _one_way(rnn, x, next(weights))
        x = torch.cat([y, reverse(_one_way(rnn, reverse(x), next(weights)))], dim=-1) if rnn.bidirectional else y
    x = x.masked_fill((steps >= ends).unsqueeze(2), 0.0)
    return x if rnn.batch_first else x.transpose(0, 1)


def _one_way(rnn: nn.RNNBase, x: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """One layer in one direction, from zeros."""
    state = x.new_zeros(1, x.shape[0], rnn.proj_size or rnn.hidden_size)
    first = (state, x.new_zeros(1, x.shape[0], rnn.hidden_size)) if rnn.mode == "LSTM" else state
    output: torch.Tensor = _KERNELS[rnn.mode](x, first, weights, rnn.bias, 1, 0.0, rnn.training, False, True)[0]
    return output
