"""The signatures of transformers' models, by task, for `from_transformers`.

Letters: B batch, T tokens, N tokens that are seen (also earlier ones), S tokens that are read, D model width,
V vocabulary, K classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional, Protocol, TypeAlias

from torch import nn

from simpletorch.dims import B, D, K, N, S, T, V
from simpletorch.dtypes import Float, Int64, Num, Shaped
from simpletorch.tensor import Tensor

if TYPE_CHECKING:
    from typing import TypeVar

    _X = TypeVar("_X")
    Asked: TypeAlias = _X
else:
    # There only for who asked for it, by ``labels``, ``output_hidden_states`` and the like, and then surely. A checker
    # that took it for perhaps None would object to `model(ids, labels=ids).loss.backward()`.
    Asked = Optional

__all__ = [
    "CausalLM",
    "ClassScores",
    "HiddenStates",
    "MaskedLM",
    "NextScores",
    "Output",
    "QuestionAnswering",
    "Seq2SeqLM",
    "Seq2SeqScores",
    "SequenceClassifier",
    "Spans",
    "States",
    "TokenClassifier",
    "TokenScores",
    "TransformersModel",
]

Mask: TypeAlias = Tensor[Shaped, B, T] | Tensor[Shaped, Any, Any, T] | Tensor[Shaped, Any, Any, Any, T]
"""0 where a token is padding; or which token sees which, of one text or all, for one head or all."""
LongMask: TypeAlias = Tensor[Shaped, B, N] | Tensor[Shaped, Any, Any, N] | Tensor[Shaped, Any, Any, Any, N]
"""The same of earlier tokens and new ones."""


class Output(Protocol):
    """The result of a transformers model: an object with attributes, which is also a dict and can be unpacked."""

    def __getitem__(self, key: Any) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __contains__(self, key: object) -> bool: ...
    def get(self, key: str, default: Any = ...) -> Any: ...
    def keys(self) -> Any: ...
    def values(self) -> Any: ...
    def items(self) -> Any: ...
    def to_tuple(self) -> tuple[Any, ...]: ...


class States(Output, Protocol[B, T, D]):
    """The result of a model without a head; optional outputs are there if they were asked for."""

    last_hidden_state: Tensor[Float, B, T, D]
    pooler_output: Asked[Tensor[Float, B, D]]
    hidden_states: Asked[tuple[Asked[Tensor[Float, B, T, D]], ...]]
    attentions: Any
    past_key_values: Any


class TokenScores(Output, Protocol[B, T, V]):
    """Scores of all tokens or classes at every place, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, T, V]
    loss: Asked[Tensor[Float, ""]]
    hidden_states: Asked[tuple[Asked[Tensor[Float, B, T, Any]], ...]]
    attentions: Any


class NextScores(Output, Protocol[B, T, V]):
    """Scores for the token after each, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, T, V]
    loss: Asked[Tensor[Float, ""]]
    hidden_states: Asked[tuple[Asked[Tensor[Float, B, T, Any]], ...]]
    attentions: Any
    past_key_values: Any


class Seq2SeqScores(Output, Protocol[B, T, V]):
    """Scores for the token after each that is written, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, T, V]
    loss: Asked[Tensor[Float, ""]]
    encoder_last_hidden_state: Asked[Tensor[Float, B, Any, Any]]
    encoder_hidden_states: Asked[tuple[Asked[Tensor[Float, B, Any, Any]], ...]]
    decoder_hidden_states: Asked[tuple[Asked[Tensor[Float, B, T, Any]], ...]]
    encoder_attentions: Any
    decoder_attentions: Any
    cross_attentions: Any
    past_key_values: Any


class ClassScores(Output, Protocol[B, K]):
    """Scores of a text for classes, not normalized; ``loss`` is there with labels."""

    logits: Tensor[Float, B, K]
    loss: Asked[Tensor[Float, ""]]
    hidden_states: Asked[tuple[Asked[Tensor[Float, B, Any, Any]], ...]]
    attentions: Any


class Spans(Output, Protocol[B, T]):
    """Scores of each token for being the answer's first and last one; ``loss`` is there with positions."""

    start_logits: Tensor[Float, B, T]
    end_logits: Tensor[Float, B, T]
    loss: Asked[Tensor[Float, ""]]
    hidden_states: Asked[tuple[Asked[Tensor[Float, B, T, Any]], ...]]
    attentions: Any


class TransformersModel(nn.Module):
    """A model of transformers, with all that it has: ``config``, ``generate``, ``save_pretrained``, …"""

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name)


# Arguments beside the parameters below are the model's own. A call with such an argument, or with more than one by its
# place, is none of the signature's: mypy lets it pass, and when it runs it isn't looked at. Parameters that aren't
# tensors are Any, because for `model(**batch)` mypy checks the values against each parameter.


class HiddenStates(TransformersModel):
    """Gives a state for each token."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T] | None = None,
        *others: Any,
        attention_mask: LongMask | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, ..., T] | None = None,
        past_key_values: Any = None,
        use_cache: Any = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> States[B, T, Any]:
        """The states; the mask is 0 where a token, earlier or new, is padding."""
        raise NotImplementedError


class CausalLM(TransformersModel):
    """Gives scores for the token after each."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T] | None = None,
        *others: Any,
        attention_mask: LongMask | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, ..., T] | None = None,
        labels: Tensor[Int64, B, T] | None = None,
        past_key_values: Any = None,
        use_cache: Any = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> NextScores[B, T, Any]:
        """The scores; the mask is 0 where a token, earlier or new, is padding."""
        raise NotImplementedError


class MaskedLM(TransformersModel):
    """Gives scores for the token at every place."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T] | None = None,
        *others: Any,
        attention_mask: Mask | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, ..., T] | None = None,
        labels: Tensor[Int64, B, T] | None = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> TokenScores[B, T, Any]:
        """The scores; the mask is 0 where a token is padding."""
        raise NotImplementedError


class SequenceClassifier(TransformersModel):
    """Gives scores of a text for classes."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T] | None = None,
        *others: Any,
        attention_mask: Mask | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, ..., T] | None = None,
        labels: Tensor[Num, B] | Tensor[Float, B, K] | None = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> ClassScores[B, Any]:
        """The scores; labels are classes, or floats: one for each text in regression, or one for each class."""
        raise NotImplementedError


class TokenClassifier(TransformersModel):
    """Gives scores of each token for classes."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T] | None = None,
        *others: Any,
        attention_mask: Mask | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, ..., T] | None = None,
        labels: Tensor[Int64, B, T] | Tensor[Int64, "B*T"] | None = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> TokenScores[B, T, Any]:
        """The scores; labels are -100 where a token has no class."""
        raise NotImplementedError


class QuestionAnswering(TransformersModel):
    """Finds where in a text the answer to its question begins and ends."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, T] | None = None,
        *others: Any,
        attention_mask: Mask | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, ..., T] | None = None,
        start_positions: Tensor[Int64, B] | Tensor[Int64, B, 1] | None = None,
        end_positions: Tensor[Int64, B] | Tensor[Int64, B, 1] | None = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> Spans[B, T]:
        """The scores; the positions are the answer's."""
        raise NotImplementedError


class Seq2SeqLM(TransformersModel):
    """Gives scores for the next token of a text that is written after another."""

    def forward(
        self,
        input_ids: Tensor[Int64, B, S] | None = None,
        *others: Any,
        attention_mask: Tensor[Shaped, B, S] | None = None,
        decoder_input_ids: Tensor[Int64, B, T] | None = None,
        decoder_attention_mask: LongMask | None = None,
        labels: Tensor[Int64, B, T] | None = None,
        past_key_values: Any = None,
        use_cache: Any = None,
        output_hidden_states: Any = None,
        output_attentions: Any = None,
        **more: Any,
    ) -> Seq2SeqScores[B, T, Any]:
        """The scores for ``decoder_input_ids``, or for the tokens before each of ``labels``."""
        raise NotImplementedError
