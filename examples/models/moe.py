"""A sparse mixture of experts as in Mixtral: a router sends each token to two of eight perceptrons.

Jiang et al., Mixtral of Experts, 2024; the loss that keeps the experts equally busy is from Fedus, Zoph and Shazeer,
Switch Transformers, 2022.

Letters: B batch, T time, N tokens of all sequences, D model width, M width of an expert, E experts, K experts for a
token, H heads, V vocabulary.
"""

from typing import Generic

import torch
import torch.nn.functional as F

from simpletorch import Float32, Int64, Tensor, nn
from simpletorch.dims import B, D, Dim, E, H, K, M, N, T, V


class Expert(nn.Module, Generic[D, M]):
    """A SwiGLU perceptron."""

    def __init__(self, dim: Dim[D], hidden: Dim[M]) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x: Tensor[Float32, N, D]) -> Tensor[Float32, N, D]:
        """The same for every token it is given."""
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Router(nn.Module, Generic[D, E, K]):
    """Chooses ``K`` of ``E`` experts for each token, and how much each of them counts."""

    def __init__(self, dim: Dim[D], experts: Dim[E], chosen: Dim[K]) -> None:
        super().__init__()
        self.experts, self.chosen = experts, chosen
        self.gate = nn.Linear(dim, experts, bias=False)

    def forward(
        self, x: Tensor[Float32, N, D]
    ) -> tuple[Tensor[Float32, N, K], Tensor[Int64, N, K], Tensor[Float32, ""]]:
        """Weights that sum to 1, the experts they belong to, and the loss that balances the experts."""
        scores = self.gate(x)
        weights, chosen = scores.topk(self.chosen, dim=-1)
        return weights.softmax(dim=-1), chosen, self.balance(scores, chosen)

    def balance(self, scores: Tensor[Float32, N, E], chosen: Tensor[Int64, N, K]) -> Tensor[Float32, ""]:
        """``E`` times the product of the experts' shares of the tokens and mean probabilities; ``K`` at best."""
        shares: Tensor[Float32, E] = F.one_hot(chosen, self.experts).sum(dim=1).float().mean(dim=0)
        probabilities: Tensor[Float32, E] = scores.softmax(dim=-1).mean(dim=0)
        return self.experts * shares @ probabilities


class MoE(nn.Module, Generic[D, M, E, K]):
    """A perceptron in ``E`` parts, of which each token uses ``K``."""

    def __init__(self, dim: Dim[D], hidden: Dim[M], experts: Dim[E], chosen: Dim[K]) -> None:
        super().__init__()
        self.router = Router(dim, experts, chosen)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(experts)])

    def forward(self, x: Tensor[Float32, B, T, D]) -> tuple[Tensor[Float32, B, T, D], Tensor[Float32, ""]]:
        """The weighted sum of what the chosen experts say, and the balancing loss."""
        b, t, d = x.shape
        tokens = x.view(b * t, d)
        weights, chosen, loss = self.router(tokens)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            rows, places = torch.where(chosen == i)
            out = out.index_add(0, rows, weights[rows, places, None] * expert(tokens[rows]))
        return out.view(b, t, d), loss


class Block(nn.Module, Generic[D, H, M, E, K]):
    """Causal attention and a mixture of experts, each normalized before and added after."""

    def __init__(self, dim: Dim[D], heads: Dim[H], hidden: Dim[M], experts: Dim[E], chosen: Dim[K]) -> None:
        super().__init__()
        self.norm1 = nn.RMSNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True, bias=False)
        self.norm2 = nn.RMSNorm(dim)
        self.moe = MoE(dim, hidden, experts, chosen)

    def forward(self, x: Tensor[Float32, B, T, D]) -> tuple[Tensor[Float32, B, T, D], Tensor[Float32, ""]]:
        """The tokens' next states, and the balancing loss."""
        t = x.shape[1]
        hidden = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        normed = self.norm1(x)
        attended, _ = self.attention(normed, normed, normed, attn_mask=hidden, need_weights=False)
        x = x + attended
        said, loss = self.moe(self.norm2(x))
        return x + said, loss


class Mixtral(nn.Module, Generic[V, D, H, M, E, K]):
    """Scores for the next token at every position. The defaults are Mixtral 8x7B's, with plain attention."""

    def __init__(
        self,
        vocab: Dim[V] = 32_000,
        dim: Dim[D] = 4096,
        heads: Dim[H] = 32,
        hidden: Dim[M] = 14_336,
        experts: Dim[E] = 8,
        chosen: Dim[K] = 2,
        layers: int = 32,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block(dim, heads, hidden, experts, chosen) for _ in range(layers)])
        self.norm = nn.RMSNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, tokens: Tensor[Int64, B, T]) -> tuple[Tensor[Float32, B, T, V], Tensor[Float32, ""]]:
        """Scores for the token after each, and the balancing loss of all blocks."""
        x = self.tokens(tokens)
        losses = torch.zeros((), device=x.device)
        for block in self.blocks:
            x, loss = block(x)
            losses = losses + loss
        return self.head(self.norm(x)), losses
