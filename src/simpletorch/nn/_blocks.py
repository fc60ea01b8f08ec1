"""Blocks that most models are built from: `MLP`, `FeedForward`, `Residual`, `SelfAttention`, `TransformerBlock`.

Each is an ordinary module of torch's own layers, typed: sizes flow from the constructor into the type, any floating
dtype goes in and comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final, Generic, TypeAlias, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch.dims import B, Batch, D, Dim, H, I, O, Rest, T
from simpletorch.dtypes import Bool, Float
from simpletorch.errors import ShapeMismatch
from simpletorch.nn._arguments import divisible, probability, refuse, sizes
from simpletorch.nn._module import Module
from simpletorch.tensor import Tensor

__all__ = ["MLP", "FeedForward", "Residual", "SelfAttention", "TransformerBlock"]

DT = TypeVar("DT", bound=Float)
Activation: TypeAlias = Callable[[], nn.Module]  # a class or a `functools.partial` of it
Norm: TypeAlias = Callable[[int], nn.Module]  # is given the width

_HINTS: Final = {"dim=": "a width is the number of heads times the width of one head"}


class MLP(Module, Generic[I, O]):
    """A multilayer perceptron: ``(*, in_features) -> (*, out_features)``.

    ``MLP(784, [128, 64], 10)`` is Linear, ReLU, Linear, ReLU, Linear.

    Args:
        in_features: size of the last dim that comes in.
        hidden: widths of the hidden layers; an int is one of them, ``[]`` makes it one linear layer.
        out_features: size of the last dim that goes out.
        activation: makes the layer after each hidden layer (`torch.nn.GELU`, or a `functools.partial` of a class).
        norm: makes a norm, given its width, between a hidden layer and its activation; None for no norm.
        dropout: probability with which a hidden value is dropped.
        bias: whether the linear layers add one.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1.
        TypeMismatch: (a `TypeError` too) a size is no int.
        TorchError: (a `ValueError` too) the probability is outside of ``[0, 1]``.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> nn.MLP(784, [128, 64], 10)(torch.zeros(7, 784)).shape
        torch.Size([7, 10])

    Source: Rumelhart, Hinton and Williams, Learning representations by back-propagating errors, 1986.
    """

    def __init__(
        self,
        in_features: Dim[I],
        hidden: int | Sequence[int],
        out_features: Dim[O],
        *,
        activation: Activation = nn.ReLU,
        norm: Norm | None = None,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        widths = [hidden] if isinstance(hidden, int) else list(hidden)
        named = {f"hidden[{i}]": width for i, width in enumerate(widths)}
        given = sizes(in_features=in_features, **named, out_features=out_features)
        refuse("MLP", given)
        probability("MLP", "dropout", dropout)
        layers: list[nn.Module] = []
        before: int = in_features
        for width in widths:
            layers.append(nn.Linear(before, width, bias))
            layers += [] if norm is None else [norm(width)]
            layers.append(activation())
            layers += [nn.Dropout(dropout)] if dropout else []
            before = width
        self.layers = nn.Sequential(*layers, nn.Linear(before, out_features, bias))

    def forward(self, x: Tensor[DT, *Batch, I]) -> Tensor[DT, *Batch, O]:
        """Every vector along the last dim goes through the same layers.

        Args:
            x: a tensor ``(*, in_features)`` of a floating dtype.

        Returns:
            ``[*Batch, O]``: the outputs, of the input's dtype.
        """
        out: Tensor[DT, *Batch, O] = self.layers(x)
        return out


class FeedForward(Module, Generic[D]):
    """The position-wise perceptron of a transformer: ``(*, dim) -> (*, dim)`` through one hidden layer.

    Args:
        dim: width of the model.
        hidden: width of the hidden layer; ``4 * dim`` by default.
        activation: makes the activation.
        gated: ``down(activation(gate(x)) * up(x))`` instead of ``down(activation(up(x)))``; with
            ``activation=nn.SiLU`` that is SwiGLU.
        dropout: probability with which a hidden value, and a value of the result, is dropped.
        bias: whether the linear layers add one.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1.
        TypeMismatch: (a `TypeError` too) a size is no int.
        TorchError: (a `ValueError` too) the probability is outside of ``[0, 1]``.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> nn.FeedForward(32)(torch.zeros(7, 5, 32)).shape
        torch.Size([7, 5, 32])
        >>> swiglu = nn.FeedForward(32, 88, activation=nn.SiLU, gated=True, bias=False)
        >>> swiglu(torch.zeros(7, 5, 32)).shape
        torch.Size([7, 5, 32])

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.3; gated: Shazeer, GLU Variants Improve
    Transformer, 2020.
    """

    def __init__(
        self,
        dim: Dim[D],
        hidden: int | None = None,
        *,
        activation: Activation = nn.GELU,
        gated: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        given = sizes(dim=dim) if hidden is None else sizes(dim=dim, hidden=hidden)
        refuse("FeedForward", given)
        probability("FeedForward", "dropout", dropout)
        width = 4 * dim if hidden is None else hidden
        self.gate = nn.Linear(dim, width, bias) if gated else None
        self.up = nn.Linear(dim, width, bias)
        self.activation = activation()
        self.down = nn.Linear(width, dim, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor[DT, *Batch, D]) -> Tensor[DT, *Batch, D]:
        """The same perceptron for every vector along the last dim.

        Args:
            x: a tensor ``(*, D)`` of a floating dtype; D is the width that the constructor was given.

        Returns:
            ``[*Batch, D]``: the outputs, of the input's shape and dtype.
        """
        up = self.up(x)
        hidden = self.activation(up) if self.gate is None else self.activation(self.gate(x)) * up
        return self.dropout(self.down(self.dropout(hidden)))


class Residual(Module):
    """``x + inner(x)``, where ``inner`` keeps the shape.

    ``Residual(nn.Sequential(nn.LayerNorm(dim), FeedForward(dim)))`` is a pre-norm branch of a transformer. Arguments of
    a call beyond ``x`` are passed to ``inner``.

    Args:
        inner: a module that returns a tensor of the shape of its first argument.

    Raises:
        ShapeMismatch: when called, ``inner`` gives another shape; adding would broadcast or fail.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> block = nn.Residual(nn.Sequential(nn.LayerNorm(32), nn.FeedForward(32)))
        >>> block(torch.zeros(7, 5, 32)).shape
        torch.Size([7, 5, 32])

    Source: He et al., Deep Residual Learning for Image Recognition, 2016.
    """

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor[DT, *Rest], *args: Any, **kwargs: Any) -> Tensor[DT, *Rest]:
        """The input plus the output of the inner module.

        Args:
            x: a tensor of any shape, of a floating dtype.
            args: further positional arguments for ``inner``, such as a mask.
            kwargs: keyword arguments for ``inner``.
        """
        added: Tensor[DT, *Rest] = self.inner(x, *args, **kwargs)
        if added.shape != x.shape:
            name, before, after = type(self.inner).__name__, tuple(x.shape), tuple(added.shape)
            reason = f"{name} makes {after} of {before}, but what is added to x must have its shape"
            raise ShapeMismatch(before, after, reason, operation="Residual")
        return x + added


class SelfAttention(Module, Generic[D, H]):
    """Attention of a sequence to itself, in ``heads`` ways: ``(batch, time, dim) -> (batch, time, dim)``.

    Args:
        dim: width of the model.
        heads: number of heads, each of width ``dim // heads``.
        causal: whether a position sees only itself and those before it.
        dropout: probability with which an attention weight is dropped in training.
        bias: whether the linear layers add one.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.
        TypeMismatch: (a `TypeError` too) a size is no int.
        TorchError: (a `ValueError` too) the probability is outside of ``[0, 1]``.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> attention = nn.SelfAttention(32, heads=4, causal=True)
        >>> attention(torch.zeros(7, 5, 32)).shape
        torch.Size([7, 5, 32])

    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """

    def __init__(
        self, dim: Dim[D], heads: Dim[H], *, causal: bool = False, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        refuse("SelfAttention", chain(sizes(dim=dim, heads=heads), divisible("dim", dim, "heads", heads)), _HINTS)
        probability("SelfAttention", "dropout", dropout)
        self.heads, self.causal, self.dropout = heads, causal, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias)
        self.out = nn.Linear(dim, dim, bias)

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None = None) -> Tensor[DT, B, T, D]:
        """Self-attention: each position takes from those that it sees.

        Args:
            x: the sequences.
            mask: as torch's ``scaled_dot_product_attention`` takes it, of a shape that broadcasts to
                ``(batch, heads, time, time)``: True where a position (dim -2) may see another (dim -1), or floats that
                are added to the scores. Causal attention also hides later positions.

        Returns:
            ``[B, T, D]``: the new state of each position, of the input's dtype.
        """
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        if mask is not None and self.causal:
            mask = _before(mask, _causal(t, x.device))
        seen = F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=self.causal and mask is None)
        return self.out(seen.transpose(1, 2).reshape(b, t, d))

    def extra_repr(self) -> str:
        """The fields that torch's repr shows beside the submodules."""
        return f"heads={self.heads}" + (", causal=True" if self.causal else "")


def _causal(time: Dim[T], device: torch.device) -> Tensor[Bool, T, T]:
    return torch.ones(time, time, dtype=torch.bool, device=device).tril()


def _before(mask: torch.Tensor, causal: torch.Tensor) -> torch.Tensor:
    """A mask that also hides what comes later; torch's attention doesn't take both."""
    return mask & causal if mask.dtype == torch.bool else mask.masked_fill(~causal, float("-inf"))


class TransformerBlock(Module, Generic[D, H]):
    """Self-attention and a perceptron, each added to its input: ``(batch, time, dim) -> (batch, time, dim)``.

    The defaults are a pre-norm encoder block; ``causal=True`` makes a decoder-only block as in GPT-2, with
    ``norm=nn.RMSNorm, activation=nn.SiLU, gated=True, bias=False`` as in Llama.

    Args:
        dim: width of the model.
        heads: number of attention heads.
        hidden: width of the perceptron; ``4 * dim`` by default.
        causal: whether a position sees only itself and those before it.
        dropout: probability with which attention weights, hidden values and the outputs of the two branches are
            dropped.
        activation: makes the perceptron's activation.
        gated: whether the perceptron is gated, see `FeedForward`.
        norm: makes a norm, given its width.
        norm_first: whether a branch normalizes its input (pre-norm), or the sum is normalized (post-norm, as in the
            paper).
        bias: whether the linear layers add one.

    Raises:
        ShapeMismatch: (a `ValueError` too) a size is below 1, or the heads don't divide the width.
        TypeMismatch: (a `TypeError` too) a size is no int.
        TorchError: (a `ValueError` too) the probability is outside of ``[0, 1]``.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> block = nn.TransformerBlock(32, heads=4, causal=True)
        >>> block(torch.zeros(7, 5, 32)).shape
        torch.Size([7, 5, 32])

    Source: Vaswani et al., Attention Is All You Need, 2017; pre-norm: Xiong et al., On Layer Normalization in the
    Transformer Architecture, 2020.
    """

    def __init__(
        self,
        dim: Dim[D],
        heads: Dim[H],
        hidden: int | None = None,
        *,
        causal: bool = False,
        dropout: float = 0.0,
        activation: Activation = nn.GELU,
        gated: bool = False,
        norm: Norm = nn.LayerNorm,
        norm_first: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        given = sizes(dim=dim, heads=heads) if hidden is None else sizes(dim=dim, heads=heads, hidden=hidden)
        refuse("TransformerBlock", chain(given, divisible("dim", dim, "heads", heads)), _HINTS)
        probability("TransformerBlock", "dropout", dropout)
        self.norm_first = norm_first
        self.norm1 = norm(dim)
        self.attention = SelfAttention(dim, heads, causal=causal, dropout=dropout, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.norm2 = norm(dim)
        self.feed_forward = FeedForward(dim, hidden, activation=activation, gated=gated, dropout=dropout, bias=bias)

    def forward(self, x: Tensor[DT, B, T, D], mask: torch.Tensor | None = None) -> Tensor[DT, B, T, D]:
        """The positions' next states.

        Args:
            x: the sequences.
            mask: which positions see which, see `SelfAttention.forward`.
        """
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), mask))
            return x + self.feed_forward(self.norm2(x))
        between: Tensor[DT, B, T, D] = self.norm1(x + self.dropout(self.attention(x, mask)))
        after: Tensor[DT, B, T, D] = self.norm2(between + self.feed_forward(between))
        return after
