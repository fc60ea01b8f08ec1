"""Samples for operations that torch's op_db lacks: a row is the names of an operation, and calls that torch accepts.

To add an operation, write one `row` with sizes that are distinct primes, and where the operation takes them, one sample
without a batch and one with an argument that changes the shape. The dims and dtypes that are wrong, the oracle makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch

from tests.oracle.verdict import Call


@dataclass(frozen=True)
class Sample:
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def sample(*args: Any, **kwargs: Any) -> Sample:
    """The arguments as they are written in a call."""
    return Sample(args, kwargs)


def f(*shape: int) -> torch.Tensor:
    """A tensor of floats between 0 and 1."""
    return torch.full(shape, 0.5)


def i(*shape: int) -> torch.Tensor:
    """A tensor of indices, all 1."""
    return torch.ones(shape, dtype=torch.int64)


def row(names: str, *samples: Sample) -> tuple[tuple[str, ...], tuple[Sample, ...]]:
    """An operation: its names, and calls of it."""
    return tuple(names.split()), samples


_NN: Final = "torch.nn.functional."

TABLE: Final = (
    row("torch.dropout", sample(f(3, 5), 0.5, True), sample(f(3, 5), 0.5, False)),
    row(f"{_NN}dropout1d", sample(f(2, 3, 5)), sample(f(3, 5), 0.5, False)),
    row("torch.native_dropout", sample(f(3, 5), 0.5, True)),
    row(f"{_NN}gumbel_softmax", sample(f(3, 5)), sample(f(3, 5), dim=0)),
    row("torch.svd_lowrank", sample(f(7, 5), 3), sample(f(2, 7, 5), q=3)),
    row("torch.slogdet Tensor.slogdet", sample(torch.eye(3)), sample(torch.eye(5).expand(2, 5, 5))),
    row("torch.vander", sample(f(5)), sample(f(5), 3), sample(i(5), N=3)),
    row("torch.chain_matmul", sample(f(2, 3), f(3, 5), f(5, 7)), sample(f(2, 3))),
    row("torch.poisson", sample(f(3, 5))),
    row("torch.binomial", sample(f(3, 5), f(5)), sample(f(3), f(1))),
    row("torch.nn.init.xavier_uniform_ torch.nn.init.orthogonal_", sample(f(3, 5)), sample(f(2, 3, 5))),
    row("torch.nn.init.eye_", sample(f(3, 5))),
    row("torch.nn.init.dirac_", sample(f(3, 5, 7)), sample(f(3, 5, 7, 11))),
    row(f"{_NN}adaptive_max_pool2d_with_indices", sample(f(2, 3, 7, 11), 5), sample(f(3, 7, 11), (5, None))),
    row(f"{_NN}max_pool1d_with_indices", sample(f(2, 3, 11), 3), sample(f(3, 11), 3, 2, 1)),
    row(f"{_NN}lp_pool1d", sample(f(2, 3, 11), 2.0, 3), sample(f(3, 11), 2.0, 3, 2, True)),
    row(f"{_NN}lp_pool2d", sample(f(2, 3, 11, 7), 2.0, 3), sample(f(3, 11, 7), 2.0, (3, 2))),
    row(
        f"{_NN}conv_tbc torch.conv_tbc",
        sample(f(7, 2, 3), f(5, 3, 11), f(11)),
        sample(f(7, 2, 3), f(5, 3, 11), f(11), 2),
    ),
    row("torch.embedding", sample(f(11, 7), i(2, 5)), sample(f(11, 7), i())),
    row("torch.rnn_tanh_cell torch.rnn_relu_cell", sample(f(2, 3), f(2, 5), f(5, 3), f(5, 5), f(5), f(5))),
    row("torch.gru_cell", sample(f(2, 3), f(2, 5), f(15, 3), f(15, 5), f(15), f(15))),
    row("torch.lstm_cell", sample(f(2, 3), (f(2, 5), f(2, 5)), f(20, 3), f(20, 5), f(20), f(20))),
    row(f"{_NN}upsample", sample(f(2, 3, 5, 7), (11, 13)), sample(f(2, 3, 5), scale_factor=2)),
    row(f"{_NN}affine_grid", sample(f(2, 2, 3), (2, 3, 5, 7)), sample(f(2, 3, 4), (2, 3, 5, 7, 11))),
    row(f"{_NN}fold", sample(f(2, 18, 25), (6, 7), (2, 3)), sample(f(18, 25), (6, 7), (2, 3))),
    row("torch.nn.utils.rnn.pad_sequence", sample([f(3, 5), f(7, 5)]), sample([f(3), f(7)], batch_first=True)),
    row("torch.nuclear_norm", sample(f(3, 5)), sample(f(2, 3, 5), (1, 2))),
    row("torch.frobenius_norm", sample(f(3, 5), 1), sample(f(2, 3, 5), (0, 2), True)),
    row("torch.nn.utils.parameters_to_vector", sample([f(3, 5), f(7)])),
    row("Tensor.fill_diagonal_", sample(f(3, 5), 2.0), sample(f(3, 3, 3), 2.0)),
    row("Tensor.mT Tensor.T", sample(f(3, 5))),
    row("Tensor.__len__", sample(f(3, 5)), sample(f(7))),
    row("Tensor.size", sample(f(3, 5)), sample(f(3, 5), -1)),
    row("Tensor.resize_as", sample(f(3, 5), f(5, 3))),
    row("torch.fft.rfftfreq torch.fft.fftfreq", sample(7), sample(11, 0.5)),
    row("torch.hann_window torch.kaiser_window", sample(7), sample(11, False)),
    row("torch.range", sample(0, 7), sample(1, 11, 2)),
    row("torch.randperm", sample(7)),
    row("torch.nn.Transformer.generate_square_subsequent_mask", sample(7), sample(5, dtype=torch.float64)),
)


def calls() -> Iterator[Call]:
    """Every sample under every name."""
    for names, samples in TABLE:
        for name in names:
            yield from (Call(name, s.args, s.kwargs, origin="by hand") for s in samples)
