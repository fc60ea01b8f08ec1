"""GPT-2, with transformers' parameter names.

Radford et al., Language Models are Unsupervised Multitask Learners, 2019.

Letters: B batch, T new tokens, S earlier tokens, D model width, H heads, V vocabulary, L longest context.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import torch
from torch import nn

from simpletorch.checks import checked
from simpletorch.dims import B, Batch, D, Dim, H, I, L, O, S, T, V
from simpletorch.dtypes import Float, Int64, Shaped
from simpletorch.language.models._activations import activation
from simpletorch.language.models._attention import KeyValues, attend, causal, earlier_tokens, empty, unpadded
from simpletorch.language.models._config import Config
from simpletorch.language.models._initialize import initialize_normal
from simpletorch.language.models._weights import Weights, load_weights
from simpletorch.nn import Module
from simpletorch.nn._arguments import divisible, refuse, sizes
from simpletorch.tensor import Tensor

__all__ = ["GPT2Config", "GPT2LMHeadModel", "GPT2Model", "gpt2", "gpt2_large", "gpt2_medium", "gpt2_xl"]

DT = TypeVar("DT", bound=Float)


@dataclass(frozen=True)
class GPT2Config(Config, Generic[V, L, D, H]):
    """The sizes and choices of a GPT-2, under transformers' names; widths are in values, lengths in tokens.

    Args:
        vocab_size: the number of tokens in the vocabulary.
        n_positions: the length of the longest text.
        n_embd: the width of a token's state; a multiple of ``n_head``.
        n_head: the number of heads in each layer.
        n_layer: the number of layers.
        n_inner: the hidden width of the perceptrons; None is four times ``n_embd``.
        activation_function: the perceptrons' activation: ``"gelu_new"``, ``"gelu"``, ``"relu"``, ``"silu"``, ….
        resid_pdrop: the dropout probability of each branch's result.
        embd_pdrop: the dropout probability of embeddings.
        attn_pdrop: the dropout probability of attention weights.
        layer_norm_epsilon: added to the variance in layer norms.
        initializer_range: the standard deviation of the first weights.
        scale_attn_weights: divide attention scores by the root of a head's width.
        scale_attn_by_inverse_layer_idx: divide attention scores by the layer's number too, from 1.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.GPT2Config(100, 32, 16, 2, n_layer=1)
        >>> models.GPT2Model(config).config.n_embd
        16
    """

    COMPUTED: ClassVar[Mapping[str, object]] = {"add_cross_attention": False, "tie_word_embeddings": True}

    vocab_size: Dim[V]
    n_positions: Dim[L]
    n_embd: Dim[D]
    n_head: Dim[H]
    n_layer: int = 12
    n_inner: int | None = None
    activation_function: str = "gelu_new"
    resid_pdrop: float = 0.1
    embd_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    layer_norm_epsilon: float = 1e-5
    initializer_range: float = 0.02
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False


class Conv1D(Module, Generic[I, O]):
    """A linear layer whose weight lies the other way round, ``(I, O)``: ``(*, I) -> (*, O)``."""

    def __init__(self, in_features: Dim[I], out_features: Dim[O]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, out_features).normal_(std=0.02))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x: Tensor[DT, *Batch, I]) -> Tensor[DT, *Batch, O]:
        """The same map for every vector along the last dim."""
        out: Tensor[DT, *Batch, O] = x @ self.weight + self.bias
        return out


class GPT2Attention(Module, Generic[D, H]):
    """Attention of new tokens to themselves and to earlier ones: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: GPT2Config[V, L, D, H], layer: int) -> None:
        super().__init__()
        self.heads, self.width = config.n_head, config.n_embd // config.n_head
        scale = self.width**-0.5 if config.scale_attn_weights else 1.0
        self.scale = scale / (layer + 1) if config.scale_attn_by_inverse_layer_idx else scale
        self.c_attn = Conv1D(config.n_embd, 3 * config.n_embd)
        self.c_proj = Conv1D(config.n_embd, config.n_embd)
        self.attn_dropout = nn.Dropout(config.attn_pdrop)
        self.resid_dropout = nn.Dropout(config.resid_pdrop)

    def forward(
        self, x: Tensor[DT, B, T, D], past: KeyValues[B, H, S, "D//H"] | None, mask: torch.Tensor | None
    ) -> tuple[Tensor[DT, B, T, D], KeyValues[B, H, "S+T", "D//H"]]:
        """The attention's result for each new token, and the keys and values with the new tokens'."""
        b, t, _ = x.shape
        q, k, v = self.c_attn(x).view(b, t, 3, self.heads, self.width).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past.keys, k], dim=2), torch.cat([past.values, v], dim=2)
        dropout = self.attn_dropout.p if self.training else 0.0
        seen = attend(q, k, v, mask, dropout=dropout, scale=self.scale, is_causal=mask is None)
        return self.resid_dropout(self.c_proj(seen)), KeyValues(k, v)


class GPT2MLP(Module, Generic[D]):
    """One hidden layer: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], hidden: int, act: str, dropout: float) -> None:
        super().__init__()
        self.c_fc = Conv1D(dim, hidden)
        self.c_proj = Conv1D(hidden, dim)
        self.act = activation(act)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """One perceptron for every token."""
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class GPT2Block(Module, Generic[D, H]):
    """Attention and a perceptron, each normalized before and added after: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, config: GPT2Config[V, L, D, H], layer: int) -> None:
        super().__init__()
        hidden = 4 * config.n_embd if config.n_inner is None else config.n_inner
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.attn = GPT2Attention(config, layer)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp = GPT2MLP(config.n_embd, hidden, config.activation_function, config.resid_pdrop)

    def forward(
        self, x: Tensor[DT, B, T, D], past: KeyValues[B, H, S, "D//H"] | None, mask: torch.Tensor | None
    ) -> tuple[Tensor[DT, B, T, D], KeyValues[B, H, "S+T", "D//H"]]:
        """The tokens' next states, and the layer's keys and values with the new tokens'."""
        learned, seen = self.attn(self.ln_1(x), past, mask)
        x = x + learned
        return x + self.mlp(self.ln_2(x)), seen


class GPT2Model(Module, Generic[V, L, D, H]):
    """A state for each token, without a head: ``(B, T) -> (B, T, D)``.

    Args:
        config: the sizes, `GPT2Config`; from transformers' own by ``GPT2Config.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.GPT2Config(100, 32, 16, 2, n_layer=1)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.GPT2Model(config)(tokens).shape
        torch.Size([2, 7, 16])
    """

    def __init__(self, config: GPT2Config[V, L, D, H]) -> None:
        super().__init__()
        c = config
        given = sizes(vocab_size=c.vocab_size, n_positions=c.n_positions, n_embd=c.n_embd, n_head=c.n_head)
        refuse("GPT2Config", [*given, *divisible("n_embd", c.n_embd, "n_head", c.n_head)])
        self.config = config
        self.wte = nn.Embedding(c.vocab_size, c.n_embd)
        self.wpe = nn.Embedding(c.n_positions, c.n_embd)
        self.drop = nn.Dropout(c.embd_pdrop)
        self.h = nn.ModuleList([GPT2Block(c, layer) for layer in range(c.n_layer)])
        self.ln_f = nn.LayerNorm(c.n_embd, eps=c.layer_norm_epsilon)
        _draw(self, c.initializer_range, c.n_layer)

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
        x = self._embed(input_ids, position_ids, 0)
        mask = None
        if attention_mask is not None:
            mask = causal(input_ids.shape[1], 0, input_ids.device) & unpadded(attention_mask)
        for block in self.h:
            x, _ = block(x, None, mask)
        return self.ln_f(x)

    @checked
    def step(
        self,
        input_ids: Tensor[Int64, B, T],
        past_key_values: Sequence[KeyValues[B, H, S, "D//H"]],
        attention_mask: Tensor[Shaped, B, "S+T"] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> tuple[Tensor[Float, B, T, D], list[KeyValues[B, H, "S+T", "D//H"]]]:
        """The states of new tokens after ``S`` earlier ones, and the cache that the next step needs.

        Args:
            input_ids: the new tokens.
            past_key_values: the cache of the step before, one item for each layer; `empty_cache` at first.
            attention_mask: 0 where a token, earlier or new, is padding that none may see.
            position_ids: the new tokens' positions; those after the earlier ones by default.

        Raises:
            ShapeMismatch: (a `ValueError` too) ``past_key_values`` has not one item for each layer.
        """
        earlier = earlier_tokens(past_key_values, len(self.h))
        x = self._embed(input_ids, position_ids, earlier)
        mask: torch.Tensor = causal(input_ids.shape[1], earlier, input_ids.device)
        if attention_mask is not None:
            mask = mask & unpadded(attention_mask)
        longer = []
        for block, past in zip(self.h, past_key_values, strict=True):
            x, seen = block(x, past, mask)
            longer.append(seen)
        return self.ln_f(x), longer

    def empty_cache(self, batch: Dim[B]) -> list[KeyValues[B, H, 0, "D//H"]]:
        """The keys and values of no token yet, for each layer.

        Args:
            batch: the number of texts, B.
        """
        c = self.config
        return [empty(self.wte.weight, batch, c.n_head, c.n_embd // c.n_head) for _ in self.h]

    def _embed(
        self, tokens: Tensor[Int64, B, T], positions: Tensor[Int64, B, T] | None, start: int
    ) -> Tensor[Float, B, T, D]:
        places = torch.arange(start, start + tokens.shape[1], device=tokens.device) if positions is None else positions
        return self.drop(self.wte(tokens) + self.wpe(places))


class GPT2LMHeadModel(Module, Generic[V, L, D, H]):
    """Scores for the next token at every position: ``(B, T) -> (B, T, V)``.

    Args:
        config: the sizes, `GPT2Config`; from transformers' own by ``GPT2Config.from_transformers(config)``.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.GPT2Config(100, 32, 16, 2, n_layer=1)
        >>> tokens = torch.zeros(2, 7, dtype=torch.int64)
        >>> models.GPT2LMHeadModel(config)(tokens).shape
        torch.Size([2, 7, 100])

    Source: Radford et al., 2019; state dict as of ``transformers.GPT2LMHeadModel``.
    """

    def __init__(self, config: GPT2Config[V, L, D, H]) -> None:
        super().__init__()
        self.config = config
        self.transformer = GPT2Model(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(
        self,
        input_ids: Tensor[Int64, B, T],
        attention_mask: Tensor[Shaped, B, T] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> Tensor[Float, B, T, V]:
        """The scores for the token after each, see `GPT2Model.forward`.

        Args:
            input_ids, attention_mask, position_ids: as for `GPT2Model.forward`.
        """
        return self.lm_head(self.transformer(input_ids, attention_mask, position_ids))

    @checked
    def step(
        self,
        input_ids: Tensor[Int64, B, T],
        past_key_values: Sequence[KeyValues[B, H, S, "D//H"]],
        attention_mask: Tensor[Shaped, B, "S+T"] | None = None,
        position_ids: Tensor[Int64, B, T] | None = None,
    ) -> tuple[Tensor[Float, B, T, V], list[KeyValues[B, H, "S+T", "D//H"]]]:
        """The scores for the token after each new one, and the cache for the next step, see `GPT2Model.step`.

        Args:
            input_ids, past_key_values, attention_mask, position_ids: as for `GPT2Model.step`.
        """
        states, longer = self.transformer.step(input_ids, past_key_values, attention_mask, position_ids)
        return self.lm_head(states), longer

    def empty_cache(self, batch: Dim[B]) -> list[KeyValues[B, H, 0, "D//H"]]:
        """The keys and values of no token yet, for each layer.

        Args:
            batch: the number of texts, B.
        """
        return self.transformer.empty_cache(batch)


def _draw(model: nn.Module, std: float, layers: int) -> None:
    """The paper's scheme: weights that feed the residual path are smaller, the more layers there are."""
    initialize_normal(model, std)
    for name, layer in model.named_modules():
        if isinstance(layer, Conv1D):
            nn.init.normal_(layer.weight, std=std / math.sqrt(2 * layers) if name.endswith("c_proj") else std)


def gpt2(*, weights: Weights | None = None) -> GPT2LMHeadModel[50257, 1024, 768, 12]:
    """GPT-2 small: 124M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.gpt2()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 50257])
    """
    model = GPT2LMHeadModel(GPT2Config(50257, 1024, n_embd=768, n_head=12, n_layer=12))
    load_weights(model, weights)
    return model


def gpt2_medium(*, weights: Weights | None = None) -> GPT2LMHeadModel[50257, 1024, 1024, 16]:
    """GPT-2 medium: 355M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.gpt2_medium()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 50257])
    """
    model = GPT2LMHeadModel(GPT2Config(50257, 1024, n_embd=1024, n_head=16, n_layer=24))
    load_weights(model, weights)
    return model


def gpt2_large(*, weights: Weights | None = None) -> GPT2LMHeadModel[50257, 1024, 1280, 20]:
    """GPT-2 large: 774M parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.gpt2_large()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 50257])
    """
    model = GPT2LMHeadModel(GPT2Config(50257, 1024, n_embd=1280, n_head=20, n_layer=36))
    load_weights(model, weights)
    return model


def gpt2_xl(*, weights: Weights | None = None) -> GPT2LMHeadModel[50257, 1024, 1600, 25]:
    """GPT-2 XL: 1.56 billion parameters.

    Args:
        weights: a file or folder with transformers' parameter names, its address, or a state dict; random by default.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> with torch.device("meta"):
        ...     model = models.gpt2_xl()
        >>> model(torch.zeros(2, 7, dtype=torch.int64, device="meta")).shape
        torch.Size([2, 7, 50257])
    """
    model = GPT2LMHeadModel(GPT2Config(50257, 1024, n_embd=1600, n_head=25, n_layer=48))
    load_weights(model, weights)
    return model
