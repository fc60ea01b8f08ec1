"""What transformers' models take and give, by task: the signatures that `from_transformers` gives them.

Letters: B batch, T tokens, N tokens that are seen (also earlier ones), S tokens that are read, D model width,
V vocabulary, K classes.
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import nn

from simpletorch.dims import B, D, K, N, S, T, V
from simpletorch.dtypes import Float, Int64, Shaped
from simpletorch.tensor import Tensor

__all__ = [
    "CausalLM",
    "ClassScores",
    "HiddenStates",
    "MaskedLM",
    "NextScores",
    "Seq2SeqLM",
    "SequenceClassifier",
    "States",
    "TokenScores",
    "TransformersModel",
]


class States(Protocol[B, T, D]):
    """What a model without a head gives; ``hidden_states`` are there where they are asked for."""

    last_hidden_state: Tensor[Float, B, T, D]
    hidden_states: tuple[Tensor[Float, B, T, D], ...] | None
    past_key_values: Any


class TokenScores(Protocol[B, T, V]):
    """Scores of all tokens at every place, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, T, V]
    loss: Tensor[Float, ""] | None


class NextScores(Protocol[B, T, V]):
    """Scores for the token after each, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, T, V]
    loss: Tensor[Float, ""] | None
    past_key_values: Any


class ClassScores(Protocol[B, K]):
    """Scores of a text for classes, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, K]
    loss: Tensor[Float, ""] | None


class TransformersModel(nn.Module):
    """A model of transformers, with all that it has: ``config``, ``generate``, ``save_pretrained``, …"""

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name)


class HiddenStates(TransformersModel):
    """Gives a state for each token."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        *,
        attention_mask: Tensor[Shaped, B, N] | None = None,
        output_hidden_states: bool | None = None,
        past_key_values: Any = None,
        use_cache: bool | None = None,
    ) -> States[B, T, Any]:
        """The states; the mask is 0 where a token, earlier or new, is padding."""
        raise NotImplementedError


class CausalLM(TransformersModel):
    """Gives scores for the token after each."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        *,
        attention_mask: Tensor[Shaped, B, N] | None = None,
        labels: Tensor[Int64, B, T] | None = None,
        past_key_values: Any = None,
        use_cache: bool | None = None,
    ) -> NextScores[B, T, Any]:
        """The scores; the mask is 0 where a token, earlier or new, is padding."""
        raise NotImplementedError


class MaskedLM(TransformersModel):
    """Gives scores for the token at every place."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        *,
        attention_mask: Tensor[Shaped, B, T] | None = None,
        labels: Tensor[Int64, B, T] | None = None,
    ) -> TokenScores[B, T, Any]:
        """The scores; the mask is 0 where a token is padding."""
        raise NotImplementedError


class SequenceClassifier(TransformersModel):
    """Gives scores of a text for classes."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        *,
        attention_mask: Tensor[Shaped, B, T] | None = None,
        labels: Tensor[Int64, B] | Tensor[Float, B, K] | None = None,
    ) -> ClassScores[B, Any]:
        """The scores; the mask is 0 where a token is padding."""
        raise NotImplementedError


class Seq2SeqLM(TransformersModel):
    """Gives scores for the next token of a text that is written after another."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, S],
        *,
        attention_mask: Tensor[Shaped, B, S] | None = None,
        decoder_input_ids: Tensor[Int64, B, T] | None = None,
        decoder_attention_mask: Tensor[Shaped, B, T] | None = None,
        labels: Tensor[Int64, B, T] | None = None,
        use_cache: bool | None = None,
    ) -> NextScores[B, T, Any]:
        """The scores, of ``decoder_input_ids`` or of what comes before each of ``labels``."""
        raise NotImplementedError
