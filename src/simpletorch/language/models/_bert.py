"""BERT, with transformers' parameter names: without a head, for masked tokens, for classes of texts.

Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, 2019.

Letters: B batch, T tokens, D model width, H heads, V vocabulary, L longest text, K classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, D, Dim, H, I, K, L, T, V
from simpletorch.dtypes import Float, Int64, Shaped
from simpletorch.language.models._activations import activation
from simpletorch.language.models._attention import attend, unpadded
from simpletorch.language.models._config import Config, read
from simpletorch.language.models._initialize import initialize_normal
from simpletorch.language.models._weights import Weights, load_weights
from simpletorch.nn import Module
from simpletorch.nn._arguments import divisible, refuse, sizes
from simpletorch.tensor import Tensor

__all__ = [
    "BertConfig",
    "BertForMaskedLM",
    "BertForSequenceClassification",
    "BertModel",
    "BertOutput",
    "bert_base",
    "bert_large",
]

DT = TypeVar("DT", bound=Float)


@dataclass(frozen=True)
class BertConfig(Config, Generic[V, L, D, H, K]):
    """The sizes and choices of a BERT, under transformers' names; widths are in values, lengths in tokens.

    Args:
        vocab_size: the number of tokens in the vocabulary.
        max_position_embeddings: the length of the longest text.
        hidden_size: the width of a token's state; a multiple of ``num_attention_heads``.
        num_attention_heads: the number of heads in each layer.
        num_labels: the number of classes of `BertForSequenceClassification`.
        num_hidden_layers: the number of layers.
        intermediate_size: the hidden width of the perceptrons.
        type_vocab_size: the number of kinds of ``token_type_ids``.
        hidden_act: the perceptrons' activation: ``"gelu"``, ``"gelu_new"``, ``"relu"``, ``"silu"``, ….
        hidden_dropout_prob: the dropout probability of states.
        attention_probs_dropout_prob: the dropout probability of attention weights.
        classifier_dropout: the dropout probability before the classifier; None takes ``hidden_dropout_prob``.
        initializer_range: the standard deviation of the first weights.
        layer_norm_eps: added to the variance in layer norms.
        pad_token_id: the number of the padding token, whose embedding isn't trained; None for no such token.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.BertConfig(100, 32, 16, 2, 5, num_hidden_layers=1, intermediate_size=32)
        >>> models.BertModel(config).config.hidden_size
        16
    """

    COMPUTED: ClassVar[Mapping[str, object]] = {
        "is_decoder": False,
        "add_cross_attention": False,
        "tie_word_embeddings": True,
    }

    vocab_size: Dim[V]
    max_position_embeddings: Dim[L]
    hidden_size: Dim[D]
    num_attention_heads: Dim[H]
    num_labels: Dim[K]
    num_hidden_layers: int = 12
    intermediate_size: int = 3072
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    classifier_dropout: float | None = None
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0

    @classmethod
    def _derived(cls, config: Any) -> dict[str, Any]:
        """The number of classes, which a file says by their names; transformers' default are two."""
        return {"num_labels": read(config, "num_labels", len(read(config, "id2label", (0, 1))))}


class BertEmbeddings(Module, Generic[D]):
    """Tokens, their places and their texts, added and normalized: ``(B, T) -> (B, T, D)``."""

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        dim = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, dim, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, dim)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, dim)
        self.LayerNorm = nn.LayerNorm(dim, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        token_type_ids: Tensor[Int64, B, T] | None,
        position_ids: Tensor[Int64, B, T] | None,
    ) -> Tensor[Float, B, T, D]:
        """The input of the first layer."""
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        places = torch.arange(input_ids.shape[1], device=input_ids.device) if position_ids is None else position_ids
        tokens = self.word_embeddings(input_ids) + self.token_type_embeddings(types)
        return self.dropout(self.LayerNorm(tokens + self.position_embeddings(places)))


class BertSelfAttention(Module, Generic[D, H]):
    """Self-attention: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], heads: Dim[H], dropout: float) -> None:
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None) -> Tensor[DT, B, T, D]:
        """The heads' findings side by side."""
        b, t, _ = x.shape
        q = self.query(x).view(b, t, self.heads, self.width).transpose(1, 2)
        k = self.key(x).view(b, t, self.heads, self.width).transpose(1, 2)
        v = self.value(x).view(b, t, self.heads, self.width).transpose(1, 2)
        return attend(q, k, v, mask, dropout=self.dropout.p if self.training else 0.0)


class BertOutputLayer(Module, Generic[I, D]):
    """A linear layer whose result is added to the residual, and normalized: ``(B, T, I) -> (B, T, D)``."""

    def __init__(self, in_features: Dim[I], dim: Dim[D], eps: float, dropout: float) -> None:
        super().__init__()
        self.dense = nn.Linear(in_features, dim)
        self.LayerNorm = nn.LayerNorm(dim, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor[DT, B, T, I], before: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        return self.LayerNorm(self.dropout(self.dense(x)) + before)


class BertAttention(Module, Generic[D, H]):
    """Attention, added to its input and normalized: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        dim = config.hidden_size
        self.self = BertSelfAttention(dim, config.num_attention_heads, config.attention_probs_dropout_prob)
        self.output = BertOutputLayer(dim, dim, config.layer_norm_eps, config.hidden_dropout_prob)

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        return self.output(self.self(x, mask), x)


class BertIntermediate(Module, Generic[D, I]):
    """The perceptron's hidden layer: ``(B, T, D) -> (B, T, I)``."""

    def __init__(self, dim: Dim[D], hidden: Dim[I], act: str) -> None:
        super().__init__()
        self.dense = nn.Linear(dim, hidden)
        self.intermediate_act_fn = activation(act)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, I]:
        """The hidden values."""
        hidden: Tensor[DT, B, T, I] = self.intermediate_act_fn(self.dense(x))
        return hidden


class BertLayer(Module, Generic[D, H]):
    """Attention and a perceptron, each normalized after it is added: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        dim, hidden = config.hidden_size, config.intermediate_size
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(dim, hidden, config.hidden_act)
        self.output = BertOutputLayer(hidden, dim, config.layer_norm_eps, config.hidden_dropout_prob)

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class BertEncoder(Module, Generic[D, H]):
    """The layers, one after the other: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        self.layer = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None) -> Tensor[DT, B, T, D]:
        """The tokens' last states."""
        for layer in self.layer:
            x = layer(x, mask)
        return x


class _Body(Module, Generic[V, L, D, H, K]):
    """Embeddings and layers."""

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        c = config
        given = sizes(
            vocab_size=c.vocab_size,
            max_position_embeddings=c.max_position_embeddings,
            hidden_size=c.hidden_size,
            num_attention_heads=c.num_attention_heads,
            num_labels=c.num_labels,
            intermediate_size=c.intermediate_size,
        )
        divided = divisible("hidden_size", c.hidden_size, "num_attention_heads", c.num_attention_heads)
        refuse("BertConfig", [*given, *divided])
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = BertEncoder(config)
        initialize_normal(self, config.initializer_range)

    def _states(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None,
        token_type_ids: Tensor[Int64, B, T] | None,
        position_ids: Tensor[Int64, B, T] | None,
    ) -> Tensor[Float, B, T, D]:
        mask = None if attention_mask is None else unpadded(attention_mask)
        return self.encoder(self.embeddings(input_ids, token_type_ids, position_ids), mask)


class BertStates(_Body[V, L, D, H, K]):
    """A state for each token: ``(B, T) -> (B, T, D)``; transformers' ``BertModel`` without its pooler.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.
    """

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> Tensor[Float, B, T, D]:
        """The tokens' last states, with the arguments of `BertModel.forward`."""
        return self._states(input_ids, attention_mask, token_type_ids, position_ids)


class BertPooler(Module, Generic[D]):
    """A layer over the first token's state: ``(B, T, D) -> (B, D)``."""

    def __init__(self, dim: Dim[D]) -> None:
        super().__init__()
        self.dense = nn.Linear(dim, dim)

    def forward(self, states: Tensor[DT, B, T, D]) -> Tensor[DT, B, D]:
        """The text's state."""
        return torch.tanh(self.dense(states[:, 0]))


class BertOutput(NamedTuple, Generic[B, T, D]):
    """The result of `BertModel`: a state for each token, and one for the text.

    Attributes:
        last_hidden_state: the tokens' states, ``(B, T, D)``.
        pooler_output: the text's state, ``(B, D)``.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.BertConfig(100, 32, 16, 2, 5, num_hidden_layers=1, intermediate_size=32)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> states, pooled = models.BertModel(config)(tokens)
        >>> states.shape, pooled.shape
        (torch.Size([2, 7, 16]), torch.Size([2, 16]))
    """

    last_hidden_state: Tensor[Float, B, T, D]
    pooler_output: Tensor[Float, B, D]


class BertModel(_Body[V, L, D, H, K]):
    """A state for each token and one for the text: ``(B, T) -> (B, T, D)`` and ``(B, D)``.

    Args:
        config: the sizes, `BertConfig`; from transformers' own by ``BertConfig.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.BertConfig(100, 32, 16, 2, 5, num_hidden_layers=1, intermediate_size=32)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> output = models.BertModel(config)(tokens)
        >>> output.last_hidden_state.shape, output.pooler_output.shape
        (torch.Size([2, 7, 16]), torch.Size([2, 16]))

    Source: https://arxiv.org/abs/1810.04805; state dict as of ``transformers.BertModel``.
    """

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__(config)
        self.pooler = BertPooler(config.hidden_size)
        initialize_normal(self.pooler, config.initializer_range)

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> BertOutput[B, T, D]:
        """The tokens' last states and the text's.

        Args:
            input_ids: the tokens.
            attention_mask: 0 where a token is padding that none may see.
            token_type_ids: 0 for the tokens of the first text, 1 for those of the second; 0 by default.
            position_ids: the tokens' positions; 0, 1, 2, … by default.
        """
        states = self._states(input_ids, attention_mask, token_type_ids, position_ids)
        return BertOutput(states, self.pooler(states))


class BertTransform(Module, Generic[D]):
    """A hidden layer before the tokens' scores: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], act: str, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(dim, dim)
        self.transform_act_fn = activation(act)
        self.LayerNorm = nn.LayerNorm(dim, eps=eps)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """The states from which the scores are computed."""
        transformed: Tensor[DT, B, T, D] = self.LayerNorm(self.transform_act_fn(self.dense(x)))
        return transformed


class BertPredictions(Module, Generic[V, D]):
    """Scores of all tokens at every place: ``(B, T, D) -> (B, T, V)``; the weights are those of the embeddings."""

    def __init__(self, config: BertConfig[V, L, D, H, K], embeddings: nn.Parameter) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.transform = BertTransform(config.hidden_size, config.hidden_act, config.layer_norm_eps)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        initialize_normal(self.transform, config.initializer_range)
        self.decoder.weight, self.decoder.bias = embeddings, self.bias

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, V]:
        """The scores, not normalized."""
        return self.decoder(self.transform(x))


class BertMaskedHead(Module, Generic[V, D]):
    """The place that transformers gives these scores in the state dict."""

    def __init__(self, config: BertConfig[V, L, D, H, K], embeddings: nn.Parameter) -> None:
        super().__init__()
        self.predictions = BertPredictions(config, embeddings)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, V]:
        """The scores, not normalized."""
        return self.predictions(x)


class BertForMaskedLM(Module, Generic[V, L, D, H, K]):
    """The scores for the token at every place: ``(B, T) -> (B, T, V)``.

    Args:
        config: the sizes, `BertConfig`; from transformers' own by ``BertConfig.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.BertConfig(100, 32, 16, 2, 5, num_hidden_layers=1, intermediate_size=32)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.BertForMaskedLM(config)(tokens).shape
        torch.Size([2, 7, 100])

    Source: https://arxiv.org/abs/1810.04805; state dict as of ``transformers.BertForMaskedLM``.
    """

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        self.config = config
        self.bert = BertStates(config)
        self.cls = BertMaskedHead(config, self.bert.embeddings.word_embeddings.weight)

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> Tensor[Float, B, T, V]:
        """The scores, not normalized, with the arguments of `BertModel.forward`.

        Args:
            input_ids, attention_mask, token_type_ids, position_ids: as for `BertModel.forward`.
        """
        return self.cls(self.bert(input_ids, attention_mask, token_type_ids, position_ids))


class BertForSequenceClassification(Module, Generic[V, L, D, H, K]):
    """Scores of a text for ``K`` classes: ``(B, T) -> (B, K)``.

    Args:
        config: the sizes, `BertConfig`; from transformers' own by ``BertConfig.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.BertConfig(100, 32, 16, 2, 5, num_hidden_layers=1, intermediate_size=32)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.BertForSequenceClassification(config)(tokens).shape
        torch.Size([2, 5])

    Source: https://arxiv.org/abs/1810.04805; state dict as of ``transformers.BertForSequenceClassification``.
    """

    def __init__(self, config: BertConfig[V, L, D, H, K]) -> None:
        super().__init__()
        dropout = config.hidden_dropout_prob if config.classifier_dropout is None else config.classifier_dropout
        self.config = config
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        initialize_normal(self.classifier, config.initializer_range)

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        token_type_ids: Tensor[Int64, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> Tensor[Float, B, K]:
        """The scores, not normalized, with the arguments of `BertModel.forward`.

        Args:
            input_ids, attention_mask, token_type_ids, position_ids: as for `BertModel.forward`.
        """
        output = self.bert(input_ids, attention_mask, token_type_ids, position_ids)
        return self.classifier(self.dropout(output.pooler_output))


def bert_base(*, weights: Weights | None = None) -> BertModel[30522, 512, 768, 12, 2]:
    """The base BERT model, uncased: 109M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.bert_base()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).pooler_output.shape
        torch.Size([2, 768])
    """
    model = BertModel(BertConfig(30522, 512, hidden_size=768, num_attention_heads=12, num_labels=2))
    load_weights(model, weights)
    return model


def bert_large(*, weights: Weights | None = None) -> BertModel[30522, 512, 1024, 16, 2]:
    """The large BERT model, uncased: 335M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.bert_large()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).last_hidden_state.shape
        torch.Size([2, 7, 1024])
    """
    sizes_of_large = BertConfig(
        30522,
        512,
        hidden_size=1024,
        num_attention_heads=16,
        num_labels=2,
        num_hidden_layers=24,
        intermediate_size=4096,
    )
    model = BertModel(sizes_of_large)
    load_weights(model, weights)
    return model
