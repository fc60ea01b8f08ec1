"""T5, with transformers' parameter names: a text in, a text out; also version 1.1 and FLAN.

Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020.

Letters: B batch, S tokens that are read, T tokens that are written, N tokens that are seen, D model width, H heads,
E width of a head, M width of the perceptron, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import nn

from simpletorch.checks import checked
from simpletorch.dims import B, D, Dim, E, H, M, N, S, T, V
from simpletorch.dtypes import Float, Int64, Shaped
from simpletorch.errors import TorchError, as_also
from simpletorch.language.models._activations import activation
from simpletorch.language.models._attention import attend, causal, unpadded
from simpletorch.language.models._config import Config, read
from simpletorch.language.models._norm import RMSNorm
from simpletorch.language.models._weights import Weights, load_weights
from simpletorch.nn import Module
from simpletorch.nn._arguments import refuse, sizes
from simpletorch.tensor import Tensor

__all__ = ["T5Config", "T5ForConditionalGeneration", "T5Stack", "t5_base", "t5_large", "t5_small"]

DT = TypeVar("DT", bound=Float)


@dataclass(frozen=True)
class T5Config(Config, Generic[V, D, E, H, M]):
    """The sizes and choices of a T5, under transformers' names; widths are in values, lengths in tokens.

    ``feed_forward_proj`` is an activation, or one with ``gated-`` before it. ``scale_decoder_outputs`` is False from
    version 1.1 on.

    Args:
        vocab_size: the number of tokens in the vocabulary.
        d_model: the width of a token's state.
        d_kv: the width of a head.
        num_heads: the number of heads in each layer.
        d_ff: the hidden width of the perceptrons.
        num_layers: the number of layers in the encoder.
        num_decoder_layers: the number of layers in the decoder.
        relative_attention_num_buckets: the number of learned weights for distances between tokens, in each head.
        relative_attention_max_distance: the distance from which on all share the last weight, in tokens.
        dropout_rate: the dropout probability of states and of attention weights.
        layer_norm_epsilon: added to the mean square in norms.
        initializer_factor: the factor of the standard deviations of the first weights.
        feed_forward_proj: the perceptrons' activation: ``"relu"``, ``"gelu"``, ``"gated-gelu"``, ….
        scale_decoder_outputs: multiply the decoder's states by ``d_model**-0.5`` before the head.
        pad_token_id: the number of the padding token.
        decoder_start_token_id: the number of the token that the decoder starts with.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.T5Config(100, 16, 4, 4, 32, num_layers=1, num_decoder_layers=1)
        >>> models.T5ForConditionalGeneration(config).config.d_model
        16
    """

    COMPUTED: ClassVar[Mapping[str, object]] = {"is_encoder_decoder": True}

    vocab_size: Dim[V]
    d_model: Dim[D]
    d_kv: Dim[E]
    num_heads: Dim[H]
    d_ff: Dim[M]
    num_layers: int = 6
    num_decoder_layers: int = 6
    relative_attention_num_buckets: int = 32
    relative_attention_max_distance: int = 128
    dropout_rate: float = 0.1
    layer_norm_epsilon: float = 1e-6
    initializer_factor: float = 1.0
    feed_forward_proj: str = "relu"
    scale_decoder_outputs: bool = True
    pad_token_id: int = 0
    decoder_start_token_id: int = 0

    @classmethod
    def _derived(cls, config: Any) -> dict[str, Any]:
        """Options that a configuration may leave out, or gives by another field."""
        pad = read(config, "pad_token_id", 0)
        scaled = read(config, "scale_decoder_outputs")
        return {
            "num_decoder_layers": read(config, "num_decoder_layers", read(config, "num_layers", cls.num_layers)),
            "pad_token_id": pad,
            "decoder_start_token_id": read(config, "decoder_start_token_id", pad),
            # a file of version 1.1 says it by weights that are not tied (they are, see transformers' T5Config)
            "scale_decoder_outputs": read(config, "tie_word_embeddings", True) if scaled is None else scaled,
        }


class T5DenseActDense(Module, Generic[D, M]):
    """One hidden layer: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], hidden: Dim[M], act: str, dropout: float) -> None:
        super().__init__()
        self.wi = nn.Linear(dim, hidden, bias=False)
        self.wo = nn.Linear(hidden, dim, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.act = activation(act)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """One perceptron for every token."""
        return self.wo(self.dropout(self.act(self.wi(x))))


class T5DenseGatedActDense(Module, Generic[D, M]):
    """One hidden layer whose values are gated: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], hidden: Dim[M], act: str, dropout: float) -> None:
        super().__init__()
        self.wi_0 = nn.Linear(dim, hidden, bias=False)
        self.wi_1 = nn.Linear(dim, hidden, bias=False)
        self.wo = nn.Linear(hidden, dim, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.act = activation(act)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """One perceptron for every token."""
        return self.wo(self.dropout(self.act(self.wi_0(x)) * self.wi_1(x)))


class T5LayerFF(Module, Generic[D, M]):
    """A perceptron, normalized before and added after: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: T5Config[V, D, E, H, M]) -> None:
        super().__init__()
        c = config
        gate, _, act = c.feed_forward_proj.rpartition("-")
        if gate not in ("", "gated"):
            reason = f"feed_forward_proj is {c.feed_forward_proj!r}: an activation, or 'gated-' and one, was due"
            raise as_also(TorchError, ValueError)(reason, operation="T5Config")
        if gate:
            # what transformers calls gelu here is its approximation
            act = "gelu_new" if act == "gelu" else act
            self.DenseReluDense: nn.Module = T5DenseGatedActDense(c.d_model, c.d_ff, act, c.dropout_rate)
        else:
            self.DenseReluDense = T5DenseActDense(c.d_model, c.d_ff, act, c.dropout_rate)
        self.layer_norm = RMSNorm(c.d_model, c.layer_norm_epsilon)
        self.dropout = nn.Dropout(c.dropout_rate)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        added: Tensor[DT, B, T, D] = self.DenseReluDense(self.layer_norm(x))
        return x + self.dropout(added)


def buckets(distances: Tensor[Int64, T, N], both_ways: bool, count: int, farthest: int) -> Tensor[Int64, T, N]:
    """Which of ``count`` weights each distance has: near ones one of their own, far ones share.

    Args:
        distances: how far what is seen lies behind what sees.
        both_ways: whether what lies behind is seen too; it has half of the weights then.
        count: how many weights there are.
        farthest: the distance from which on all have the last weight.
    """
    side = torch.zeros_like(distances)
    if both_ways:
        count = count // 2
        side = (distances > 0).long() * count
        far = distances.abs()
    else:
        far = (-distances).clamp(min=0)
    exact = count // 2
    share = torch.log(far.clamp(min=1).float() / exact) / math.log(farthest / exact)
    shared = (exact + (share * (count - exact)).long()).clamp(max=count - 1)
    return side + torch.where(far < exact, far, shared)


class T5Attention(Module, Generic[D, E, H]):
    """Attention whose scores are not scaled: ``(B, T, D) -> (B, T, D)`` of ``(B, N, D)``."""

    def __init__(self, config: T5Config[V, D, E, H, M], *, has_bias: bool) -> None:
        super().__init__()
        c = config
        self.heads, self.width, self.dropout = c.num_heads, c.d_kv, c.dropout_rate
        self.q = nn.Linear(c.d_model, self.heads * self.width, bias=False)
        self.k = nn.Linear(c.d_model, self.heads * self.width, bias=False)
        self.v = nn.Linear(c.d_model, self.heads * self.width, bias=False)
        self.o = nn.Linear(self.heads * self.width, c.d_model, bias=False)
        if has_bias:
            self.relative_attention_bias = nn.Embedding(c.relative_attention_num_buckets, c.num_heads)

    def forward(
        self, x: Tensor[DT, B, T, D], seen: Tensor[DT, B, N, D], mask: torch.Tensor | None
    ) -> Tensor[DT, B, T, D]:
        """The attention's result for each token; the mask is added to the scores."""
        b, t, _ = x.shape
        n = seen.shape[1]
        q = self.q(x).view(b, t, self.heads, self.width).transpose(1, 2)
        k = self.k(seen).view(b, n, self.heads, self.width).transpose(1, 2)
        v = self.v(seen).view(b, n, self.heads, self.width).transpose(1, 2)
        return self.o(attend(q, k, v, mask, dropout=self.dropout if self.training else 0.0, scale=1.0))


class T5LayerSelfAttention(Module, Generic[D, E, H]):
    """Attention of a text to itself, normalized before and added after: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: T5Config[V, D, E, H, M], *, has_bias: bool) -> None:
        super().__init__()
        self.SelfAttention = T5Attention(config, has_bias=has_bias)
        self.layer_norm = RMSNorm(config.d_model, config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        normed = self.layer_norm(x)
        return x + self.dropout(self.SelfAttention(normed, normed, mask))


class T5LayerCrossAttention(Module, Generic[D, E, H]):
    """Attention to the text that is read, normalized before and added after: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: T5Config[V, D, E, H, M]) -> None:
        super().__init__()
        self.EncDecAttention = T5Attention(config, has_bias=False)
        self.layer_norm = RMSNorm(config.d_model, config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(
        self, x: Tensor[DT, B, T, D], seen: Tensor[DT, B, S, D], mask: torch.Tensor | None
    ) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        return x + self.dropout(self.EncDecAttention(self.layer_norm(x), seen, mask))


class T5Block(Module, Generic[D, E, H, M]):
    """Attention to itself, in a decoder also to what is read, and a perceptron: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: T5Config[V, D, E, H, M], *, is_decoder: bool, has_bias: bool) -> None:
        super().__init__()
        own = T5LayerSelfAttention(config, has_bias=has_bias)
        cross = [T5LayerCrossAttention(config)] if is_decoder else []
        self.layer = nn.ModuleList([own, *cross, T5LayerFF(config)])
        self.is_decoder = is_decoder

    def forward(
        self,
        x: Tensor[DT, B, T, D],
        mask: torch.Tensor | None,
        read: Tensor[DT, B, S, D] | None,
        read_mask: torch.Tensor | None,
    ) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        x = self.layer[0](x, mask)
        if self.is_decoder:
            x = self.layer[1](x, read, read_mask)
        y: Tensor[DT, B, T, D] = self.layer[-1](x)
        return y


class T5Stack(Module, Generic[V, D, E, H, M]):
    """An encoder or a decoder: ``(B, T) -> (B, T, D)``."""

    def __init__(self, config: T5Config[V, D, E, H, M], embeddings: nn.Embedding, *, is_decoder: bool) -> None:
        super().__init__()
        c = config
        self.config, self.is_decoder = c, is_decoder
        self.embed_tokens = embeddings
        layers = c.num_decoder_layers if is_decoder else c.num_layers
        self.block = nn.ModuleList([T5Block(c, is_decoder=is_decoder, has_bias=i == 0) for i in range(layers)])
        self.final_layer_norm = RMSNorm(c.d_model, c.layer_norm_epsilon)
        self.dropout = nn.Dropout(c.dropout_rate)

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        read: Tensor[Float, B, S, D] | None = None,
        read_mask: Tensor[Shaped, B, S] | None = None,
    ) -> Tensor[Float, B, T, D]:
        """The tokens' states after the last norm.

        Args:
            input_ids: the tokens.
            attention_mask: 0 where a token is padding that none may see.
            read: in a decoder, the states of the text that is read.
            read_mask: 0 where a token of that text is padding.
        """
        x: Tensor[Float, B, T, D] = self.dropout(self.embed_tokens(input_ids))
        length = input_ids.shape[1]
        seen = None if attention_mask is None else unpadded(attention_mask)
        if self.is_decoder:
            before = causal(length, 0, input_ids.device)
            seen = before if seen is None else before & seen
        mask = self._bias(length, input_ids.device)
        if seen is not None:
            mask = mask + _added(seen, x.dtype)
        cross = None if read_mask is None else _added(unpadded(read_mask), x.dtype)
        for block in self.block:
            x = block(x, mask, read, cross)
        return self.dropout(self.final_layer_norm(x))

    def _bias(self, length: Dim[T], device: torch.device) -> Tensor[Float, 1, H, T, T]:
        """The bias of the scores: the weights of the distances, which all layers share."""
        c = self.config
        places = torch.arange(length, device=device)
        distances = places[None, :] - places[:, None]
        known, farthest = c.relative_attention_num_buckets, c.relative_attention_max_distance
        weights = self.block[0].layer[0].SelfAttention.relative_attention_bias
        found = buckets(distances, not self.is_decoder, known, farthest)
        bias: Tensor[Float, 1, H, T, T] = weights(found).permute(2, 0, 1)[None]
        return bias


def _added(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A mask of True and False as what is added to scores; not infinite, for rows in which all is hidden."""
    return torch.zeros_like(seen, dtype=dtype).masked_fill(~seen, torch.finfo(dtype).min)


class T5ForConditionalGeneration(Module, Generic[V, D, E, H, M]):
    """Scores for the next token of the text that is written: ``(B, S), (B, T) -> (B, T, V)``.

    Args:
        config: the sizes, `T5Config`; from transformers' own by ``T5Config.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1.
        TorchError: (a `ValueError` too) there is no activation of the configuration's name.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.T5Config(100, 16, 4, 4, 32, num_layers=1, num_decoder_layers=1)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.T5ForConditionalGeneration(config)(tokens, torch.zeros(2, 5, dtype=torch.int64)).shape
        torch.Size([2, 5, 100])

    Source: https://arxiv.org/abs/1910.10683; state dict as of ``transformers.T5ForConditionalGeneration``.
    """

    def __init__(self, config: T5Config[V, D, E, H, M]) -> None:
        super().__init__()
        c = config
        layers = {"num_layers": c.num_layers, "num_decoder_layers": c.num_decoder_layers}
        refuse(
            "T5Config",
            sizes(
                vocab_size=c.vocab_size, d_model=c.d_model, d_kv=c.d_kv, num_heads=c.num_heads, d_ff=c.d_ff, **layers
            ),
        )
        self.config = config
        self.shared = nn.Embedding(c.vocab_size, c.d_model)
        self.encoder = T5Stack(c, self.shared, is_decoder=False)
        self.decoder = T5Stack(c, self.shared, is_decoder=True)
        self.lm_head = nn.Linear(c.d_model, c.vocab_size, bias=False)
        self.lm_head.weight = self.shared.weight
        _draw(self, c)

    def forward(
        self,
        input_ids: Tensor[Int64, B, S],
        decoder_input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, S] | None = None,
        decoder_attention_mask: Tensor[Shaped, B, T] | None = None,
    ) -> Tensor[Float, B, T, V]:
        """The scores for the token after each of ``decoder_input_ids``.

        Args:
            input_ids: the text that is read.
            decoder_input_ids: the tokens written so far; `shift_right` makes them of a whole text.
            attention_mask: 0 where a token that is read is padding.
            decoder_attention_mask: 0 where a token that is written is padding.
        """
        states = self.encoder(input_ids, attention_mask)
        return self.scores(decoder_input_ids, states, attention_mask, decoder_attention_mask)

    @checked
    def scores(
        self,
        decoder_input_ids: Tensor[Int64, B, T],
        states: Tensor[Float, B, S, D],
        attention_mask: Tensor[Shaped, B, S] | None = None,
        decoder_attention_mask: Tensor[Shaped, B, T] | None = None,
    ) -> Tensor[Float, B, T, V]:
        """The same of a text that ``self.encoder`` has read, so that many tokens can be written after one reading.

        Args:
            decoder_input_ids: the tokens written so far.
            states: the result of ``self.encoder``.
            attention_mask: 0 where a token that is read is padding.
            decoder_attention_mask: 0 where a token that is written is padding.

        Returns:
            ``[B, T, V]``: scores for the token after each of ``decoder_input_ids``.
        """
        written = self.decoder(decoder_input_ids, decoder_attention_mask, states, attention_mask)
        if self.config.scale_decoder_outputs:
            written = written * self.config.d_model**-0.5
        return self.lm_head(written)

    @checked
    def shift_right(self, labels: Tensor[Int64, B, T]) -> Tensor[Int64, B, T]:
        """The decoder's input for a whole text: a start token, and all tokens but the last.

        Labels of -100, which the loss ignores, become padding.

        Args:
            labels: the text to write.
        """
        start = torch.full_like(labels[:, :1], self.config.decoder_start_token_id)
        shifted = torch.cat([start, labels], dim=1)[:, :-1]
        return shifted.masked_fill(shifted == -100, self.config.pad_token_id)


def _draw(model: nn.Module, config: T5Config[V, D, E, H, M]) -> None:
    """The authors' scheme: by the number of values that come in, and queries smaller by the root of a head's width."""
    factor, inner = config.initializer_factor, config.num_heads * config.d_kv
    stds = {
        "shared": factor,
        "q": factor * (config.d_model * config.d_kv) ** -0.5,
        "k": factor * config.d_model**-0.5,
        "v": factor * config.d_model**-0.5,
        "o": factor * inner**-0.5,
        "relative_attention_bias": factor * config.d_model**-0.5,
        "wi": factor * config.d_model**-0.5,
        "wi_0": factor * config.d_model**-0.5,
        "wi_1": factor * config.d_model**-0.5,
        "wo": factor * config.d_ff**-0.5,
    }
    for name, layer in model.named_modules():
        std = stds.get(name.rpartition(".")[2])
        if std is not None and isinstance(layer, nn.Linear | nn.Embedding):
            nn.init.normal_(layer.weight, std=std)


def t5_small(*, weights: Weights | None = None) -> T5ForConditionalGeneration[32128, 512, 64, 8, 2048]:
    """T5 small: 60.5M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.t5_small()
        >>> sum(parameter.numel() for parameter in model.parameters())
        60506624
    """
    model = T5ForConditionalGeneration(T5Config(32128, 512, d_kv=64, num_heads=8, d_ff=2048))
    load_weights(model, weights)
    return model


def t5_base(*, weights: Weights | None = None) -> T5ForConditionalGeneration[32128, 768, 64, 12, 3072]:
    """T5 base: 223M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.t5_base()
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64, device="meta")
        >>> model(tokens, decoder_input_ids=tokens).shape
        torch.Size([2, 7, 32128])
    """
    config = T5Config(32128, 768, d_kv=64, num_heads=12, d_ff=3072, num_layers=12, num_decoder_layers=12)
    model = T5ForConditionalGeneration(config)
    load_weights(model, weights)
    return model


def t5_large(*, weights: Weights | None = None) -> T5ForConditionalGeneration[32128, 1024, 64, 16, 4096]:
    """T5 large: 738M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.t5_large()
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64, device="meta")
        >>> model(tokens, decoder_input_ids=tokens).shape
        torch.Size([2, 7, 32128])
    """
    config = T5Config(32128, 1024, d_kv=64, num_heads=16, d_ff=4096, num_layers=24, num_decoder_layers=24)
    model = T5ForConditionalGeneration(config)
    load_weights(model, weights)
    return model
