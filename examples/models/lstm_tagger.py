"""A bidirectional LSTM that gives each word of a sentence a tag; sentences of different lengths are packed.

Huang, Xu and Yu, Bidirectional LSTM-CRF Models for Sequence Tagging, 2015 (without the CRF). Annotated with jaxtyping's
strings; ``K`` is the module's own size, its number of tags.
"""

from typing import Generic

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float32, Int64
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from simpletorch.dims import Dim, E, H, K, V
from simpletorch.nn import run_padded

NO_TAG = -100
"""The label of padding, which `torch.nn.functional.cross_entropy` leaves out."""


class Tagger(nn.Module, Generic[V, E, H, K]):
    """``V`` words, as vectors of ``E``, read both ways by LSTMs of width ``H``; ``K`` tags."""

    def __init__(
        self, words: Dim[V] = 30_000, embedding: Dim[E] = 100, hidden: Dim[H] = 300, tags: Dim[K] = 45, layers: int = 2
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding, hidden, num_layers=layers, batch_first=True, bidirectional=True, dropout=0.3)
        self.head = nn.Linear(2 * hidden, tags)

    def forward(
        self, words: Int64[Tensor, "batch time"], lengths: Int64[Tensor, " batch"]
    ) -> Float32[Tensor, "batch time K"]:
        """Scores for the tags of each word; those after a sentence's end mean nothing."""
        vectors = self.embedding(words)
        if torch.compiler.is_compiling():  # torch doesn't trace packed sequences
            return self.head(run_padded(self.lstm, vectors, lengths))
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = self.lstm(packed)
        padded, _ = pad_packed_sequence(states, batch_first=True, total_length=words.shape[1])
        return self.head(padded)

    def loss(
        self,
        words: Int64[Tensor, "batch time"],
        lengths: Int64[Tensor, " batch"],
        labels: Int64[Tensor, "batch time"],
    ) -> Float32[Tensor, ""]:
        """The mean cross-entropy of a word's tag, in nats."""
        labels = labels.masked_fill(~inside(lengths, words.shape[1]), NO_TAG)
        scores = self(words, lengths)
        return F.cross_entropy(scores.transpose(1, 2), labels, ignore_index=NO_TAG)

    @torch.no_grad()
    def tag(self, words: Int64[Tensor, "batch time"], lengths: Int64[Tensor, " batch"]) -> list[list[int]]:
        """The best tag of each word, sentence by sentence."""
        best = self(words, lengths).argmax(dim=-1)
        return [row[:length].tolist() for row, length in zip(best, lengths.tolist(), strict=True)]


def inside(lengths: Int64[Tensor, " batch"], time: int) -> Bool[Tensor, "batch time"]:
    """Which positions belong to a sentence, and which are padding."""
    return torch.arange(time, device=lengths.device) < lengths[:, None]
