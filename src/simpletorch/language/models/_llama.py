"""Llama, with transformers' parameter names: versions 1, 2 and 3.

Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023; Grattafiori et al., The Llama 3 Herd of
Models, 2024. Grouped queries: Ainslie et al., GQA, 2023. SwiGLU: Shazeer, GLU Variants Improve Transformer, 2020.

Letters: B batch, T new tokens, S earlier tokens, D model width, H query heads, G key-value heads, E width of a head,
M width of the perceptron, V vocabulary. Every key-value head serves ``H//G`` query heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from simpletorch.checks import checked
from simpletorch.dims import B, D, Dim, E, G, H, M, S, T, V
from simpletorch.dtypes import Float, Float32, Int64, Shaped
from simpletorch.language.models._activations import activation
from simpletorch.language.models._attention import KeyValues, attend, causal, earlier_tokens, empty, unpadded
from simpletorch.language.models._config import Config, read
from simpletorch.language.models._initialize import initialize_normal
from simpletorch.language.models._norm import RMSNorm
from simpletorch.language.models._rotary import Rotary, rotate, turns
from simpletorch.language.models._weights import Weights, load_weights
from simpletorch.nn import Module
from simpletorch.nn._arguments import divisible, refuse, sizes
from simpletorch.tensor import Tensor

__all__ = ["LlamaConfig", "LlamaForCausalLM", "LlamaModel", "llama_2_7b", "llama_3_2_1b", "llama_3_8b"]

DT = TypeVar("DT", bound=Float)


@dataclass(frozen=True)
class LlamaConfig(Config, Generic[V, D, H, G, E, M]):
    """The sizes and choices of a Llama, under transformers' names; widths are in values, lengths in tokens.

    ``rope_parameters`` is a `Rotary`; `from_transformers` makes it of transformers' dict.

    Args:
        vocab_size: the number of tokens in the vocabulary.
        hidden_size: the width of a token's state.
        num_attention_heads: the number of query heads in each layer; a multiple of ``num_key_value_heads``.
        num_key_value_heads: the number of heads of keys and values in each layer.
        head_dim: the width of a head; even.
        intermediate_size: the hidden width of the perceptrons.
        num_hidden_layers: the number of layers.
        hidden_act: the activation of the perceptrons' gates: ``"silu"``, ``"gelu"``, ….
        initializer_range: the standard deviation of the first weights.
        rms_norm_eps: added to the mean square in norms.
        tie_word_embeddings: the head shares the weight of the token embedding.
        rope_parameters: how positions turn queries and keys.
        attention_bias: whether the linear layers of attention add a bias.
        attention_dropout: the dropout probability of attention weights.
        mlp_bias: whether the linear layers of the perceptrons add a bias.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.LlamaConfig(100, 16, 4, 2, 4, 32, num_hidden_layers=1)
        >>> models.LlamaModel(config).config.hidden_size
        16
    """

    vocab_size: Dim[V]
    hidden_size: Dim[D]
    num_attention_heads: Dim[H]
    num_key_value_heads: Dim[G]
    head_dim: Dim[E]
    intermediate_size: Dim[M]
    num_hidden_layers: int = 32
    hidden_act: str = "silu"
    initializer_range: float = 0.02
    rms_norm_eps: float = 1e-6
    tie_word_embeddings: bool = False
    rope_parameters: Rotary = field(default_factory=Rotary)
    attention_bias: bool = False
    attention_dropout: float = 0.0
    mlp_bias: bool = False

    @classmethod
    def _derived(cls, config: Any) -> dict[str, Any]:
        """Sizes that a configuration may leave out, and the rotary positions, also as older files have them."""
        dim, heads = read(config, "hidden_size", 0), read(config, "num_attention_heads", 1)
        older = {"rope_theta": read(config, "rope_theta", Rotary.theta), **read(config, "rope_scaling", {})}
        older.setdefault("rope_type", older.pop("type", "default"))
        return {
            "num_key_value_heads": read(config, "num_key_value_heads", heads),
            "head_dim": read(config, "head_dim", dim // heads),
            "rope_parameters": Rotary.from_transformers(
                read(config, "rope_parameters", older), read(config, "max_position_embeddings", 2048)
            ),
        }


class LlamaAttention(Module, Generic[D, H, G, E]):
    """Attention with fewer key-value heads than query heads: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: LlamaConfig[V, D, H, G, E, M]) -> None:
        super().__init__()
        c = config
        self.heads, self.kv_heads, self.width = c.num_attention_heads, c.num_key_value_heads, c.head_dim
        self.dropout = c.attention_dropout
        self.q_proj = nn.Linear(c.hidden_size, self.heads * self.width, bias=c.attention_bias)
        self.k_proj = nn.Linear(c.hidden_size, self.kv_heads * self.width, bias=c.attention_bias)
        self.v_proj = nn.Linear(c.hidden_size, self.kv_heads * self.width, bias=c.attention_bias)
        self.o_proj = nn.Linear(self.heads * self.width, c.hidden_size, bias=c.attention_bias)

    def forward(
        self,
        x: Tensor[DT, B, T, D],
        cos: Tensor[Float, B, 1, T, E],
        sin: Tensor[Float, B, 1, T, E],
        past: KeyValues[B, G, S, E] | None,
        mask: torch.Tensor | None,
    ) -> tuple[Tensor[DT, B, T, D], KeyValues[B, G, "S+T", E]]:
        """The attention's result for each new token, and the keys and values with the new tokens'."""
        b, t, _ = x.shape
        q = rotate(self.q_proj(x).view(b, t, self.heads, self.width).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(b, t, self.kv_heads, self.width).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.width).transpose(1, 2)
        if past is not None:
            k, v = torch.cat([past.keys, k], dim=2), torch.cat([past.values, v], dim=2)
        group = self.heads // self.kv_heads
        keys, values = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        dropout = self.dropout if self.training else 0.0
        seen = attend(q, keys, values, mask, dropout=dropout, is_causal=mask is None)
        return self.o_proj(seen), KeyValues(k, v)


class LlamaMLP(Module, Generic[D, M]):
    """A perceptron whose hidden values are gated: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], hidden: Dim[M], act: str, bias: bool) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=bias)
        self.up_proj = nn.Linear(dim, hidden, bias=bias)
        self.down_proj = nn.Linear(hidden, dim, bias=bias)
        self.act_fn = activation(act)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """One perceptron for every token."""
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(Module, Generic[D, H, G, E, M]):
    """Attention and a perceptron, each normalized before and added after: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: LlamaConfig[V, D, H, G, E, M]) -> None:
        super().__init__()
        c = config
        self.self_attn = LlamaAttention(c)
        self.mlp = LlamaMLP(c.hidden_size, c.intermediate_size, c.hidden_act, c.mlp_bias)
        self.input_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)

    def forward(
        self,
        x: Tensor[DT, B, T, D],
        cos: Tensor[Float, B, 1, T, E],
        sin: Tensor[Float, B, 1, T, E],
        past: KeyValues[B, G, S, E] | None,
        mask: torch.Tensor | None,
    ) -> tuple[Tensor[DT, B, T, D], KeyValues[B, G, "S+T", E]]:
        """The tokens' next states, and the layer's keys and values with the new tokens'."""
        learned, seen = self.self_attn(self.input_layernorm(x), cos, sin, past, mask)
        x = x + learned
        return x + self.mlp(self.post_attention_layernorm(x)), seen


class LlamaModel(Module, Generic[V, D, H, G, E, M]):
    """A state for each token, without a head: ``(B, T) -> (B, T, D)``.

    Args:
        config: the sizes, `LlamaConfig`; from transformers' own by ``LlamaConfig.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the key-value heads don't divide the query heads.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.LlamaConfig(100, 16, 4, 2, 4, 32, num_hidden_layers=1)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.LlamaModel(config)(tokens).shape
        torch.Size([2, 7, 16])
    """

    def __init__(self, config: LlamaConfig[V, D, H, G, E, M]) -> None:
        super().__init__()
        c = config
        given = sizes(
            vocab_size=c.vocab_size,
            hidden_size=c.hidden_size,
            num_attention_heads=c.num_attention_heads,
            num_key_value_heads=c.num_key_value_heads,
            head_dim=c.head_dim,
            intermediate_size=c.intermediate_size,
        )
        groups = divisible("num_attention_heads", c.num_attention_heads, "num_key_value_heads", c.num_key_value_heads)
        pairs = divisible("head_dim", c.head_dim, "the values that turn together", 2)
        refuse("LlamaConfig", [*given, *groups, *pairs, *c.rope_parameters.misfits(c.head_dim)])
        self.config = config
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList([LlamaDecoderLayer(c) for _ in range(c.num_hidden_layers)])
        self.norm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        initialize_normal(self, c.initializer_range)

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> Tensor[Float, B, T, D]:
        """The tokens' states after the last norm.

        Args:
            input_ids: the tokens.
            attention_mask: 0 where a token is padding that none may see.
            position_ids: the tokens' positions; 0, 1, 2, … by default.
        """
        mask = None
        if attention_mask is not None:
            mask = causal(input_ids.shape[1], 0, input_ids.device) & unpadded(attention_mask)
        cos, sin = self._turns(input_ids, position_ids, 0)
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x, _ = layer(x, cos, sin, None, mask)
        return self.norm(x)

    @checked
    def step(
        self,
        input_ids: Tensor[Int64, B, T],
        past_key_values: Sequence[KeyValues[B, G, S, E]],
        attention_mask: Tensor[Shaped, B, "S+T"] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> tuple[Tensor[Float, B, T, D], list[KeyValues[B, G, "S+T", E]]]:
        """The states of new tokens after ``S`` earlier ones, and the cache that the next step needs.

        Args:
            input_ids: the new tokens.
            past_key_values: the cache of the step before, one item for each layer; `empty_cache` at first.
            attention_mask: 0 where a token, earlier or new, is padding that none may see.
            position_ids: the new tokens' positions; those after the earlier ones by default.

        Raises:
            ShapeMismatch: (a `ValueError` too) ``past_key_values`` has not one item for each layer.
        """
        earlier = earlier_tokens(past_key_values, len(self.layers))
        mask: torch.Tensor = causal(input_ids.shape[1], earlier, input_ids.device)
        if attention_mask is not None:
            mask = mask & unpadded(attention_mask)
        cos, sin = self._turns(input_ids, position_ids, earlier)
        x = self.embed_tokens(input_ids)
        longer = []
        for layer, past in zip(self.layers, past_key_values, strict=True):
            x, seen = layer(x, cos, sin, past, mask)
            longer.append(seen)
        return self.norm(x), longer

    def empty_cache(self, batch: Dim[B]) -> list[KeyValues[B, G, 0, E]]:
        """The keys and values of no token yet, for each layer.

        Args:
            batch: the number of texts, B.
        """
        c = self.config
        return [empty(self.embed_tokens.weight, batch, c.num_key_value_heads, c.head_dim) for _ in self.layers]

    def _turns(
        self, tokens: Tensor[Int64, B, T], positions: Tensor[Int64, B, T] | None, start: int
    ) -> tuple[Tensor[Float32, B, 1, T, E], Tensor[Float32, B, 1, T, E]]:
        if positions is None:
            positions = torch.arange(start, start + tokens.shape[1], device=tokens.device).expand(tokens.shape)
        return turns(positions, self.config.head_dim, self.config.rope_parameters)


class LlamaForCausalLM(Module, Generic[V, D, H, G, E, M]):
    """Scores for the next token at every position: ``(B, T) -> (B, T, V)``.

    Args:
        config: the sizes, `LlamaConfig`; from transformers' own by ``LlamaConfig.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the key-value heads don't divide the query heads.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.LlamaConfig(100, 16, 4, 2, 4, 32, num_hidden_layers=1)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.LlamaForCausalLM(config)(tokens).shape
        torch.Size([2, 7, 100])

    Source: https://arxiv.org/abs/2302.13971; state dict as of ``transformers.LlamaForCausalLM``.
    """

    def __init__(self, config: LlamaConfig[V, D, H, G, E, M]) -> None:
        super().__init__()
        self.config = config
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        initialize_normal(self.lm_head, config.initializer_range)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> Tensor[Float, B, T, V]:
        """The scores for the token after each, see `LlamaModel.forward`.

        Args:
            input_ids, attention_mask, position_ids: as for `LlamaModel.forward`.
        """
        return self.lm_head(self.model(input_ids, attention_mask, position_ids))

    @checked
    def step(
        self,
        input_ids: Tensor[Int64, B, T],
        past_key_values: Sequence[KeyValues[B, G, S, E]],
        attention_mask: Tensor[Shaped, B, "S+T"] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> tuple[Tensor[Float, B, T, V], list[KeyValues[B, G, "S+T", E]]]:
        """The scores for the token after each new one, and the cache for the next step, see `LlamaModel.step`.

        Args:
            input_ids, past_key_values, attention_mask, position_ids: as for `LlamaModel.step`.
        """
        states, longer = self.model.step(input_ids, past_key_values, attention_mask, position_ids)
        return self.lm_head(states), longer

    def empty_cache(self, batch: Dim[B]) -> list[KeyValues[B, G, 0, E]]:
        """The keys and values of no token yet, for each layer.

        Args:
            batch: the number of texts, B.
        """
        return self.model.empty_cache(batch)


def llama_2_7b(*, weights: Weights | None = None) -> LlamaForCausalLM[32000, 4096, 32, 32, 128, 11008]:
    """The model Llama 2 7B: 6.7 billion parameters, 27 GB as float32, none under ``torch.device("meta")``.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.llama_2_7b()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 32000])
    """
    config = LlamaConfig(
        32000,
        4096,
        num_attention_heads=32,
        num_key_value_heads=32,
        head_dim=128,
        intermediate_size=11008,
        rms_norm_eps=1e-5,
    )
    model = LlamaForCausalLM(config)
    load_weights(model, weights)
    return model


def llama_3_8b(*, weights: Weights | None = None) -> LlamaForCausalLM[128256, 4096, 32, 8, 128, 14336]:
    """The model Llama 3 8B: 8.0 billion parameters, 32 GB as float32, none under ``torch.device("meta")``.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.llama_3_8b()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 128256])
    """
    config = LlamaConfig(
        128256,
        4096,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=14336,
        rms_norm_eps=1e-5,
        rope_parameters=Rotary(theta=500_000.0),
    )
    model = LlamaForCausalLM(config)
    load_weights(model, weights)
    return model


def llama_3_2_1b(*, weights: Weights | None = None) -> LlamaForCausalLM[128256, 2048, 32, 8, 64, 8192]:
    """The model Llama 3.2 1B: 1.24 billion parameters, 4.9 GB as float32.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.llama_3_2_1b()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 128256])
    """
    config = LlamaConfig(
        128256,
        2048,
        num_attention_heads=32,
        num_key_value_heads=8,
        head_dim=64,
        intermediate_size=8192,
        num_hidden_layers=16,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        rope_parameters=Rotary(500_000.0, "llama3", factor=32.0),
    )
    model = LlamaForCausalLM(config)
    load_weights(model, weights)
    return model
