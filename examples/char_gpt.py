"""A character-level GPT learns to write like Shakespeare's sonnets, of which twelve come along.

Run:    python examples/char_gpt.py
Check:  simpletorch check examples/char_gpt.py
"""

from pathlib import Path
from typing import Any, Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.dims import B, D, H, T, V
from simpletorch.optim import AdamW, WarmupCosine, decay_groups
from simpletorch.train import Callback, Fit, Trainer

TEXT = (Path(__file__).parent / "data" / "sonnets.txt").read_text(encoding="utf-8")
LETTERS = sorted(set(TEXT))
CONTEXT, STRIDE, BATCH, EPOCHS = 64, 5, 32, 12


class Block(nn.Module, Generic[D, H]):
    """Causal self-attention of H heads and a perceptron, each added to what it read."""

    def __init__(self, dim: Dim[D], heads: Dim[H]) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor[Float32, B, T, D]) -> Tensor[Float32, B, T, D]:
        """The tokens' new states."""
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.proj(attended.transpose(1, 2).reshape(b, t, d)))
        return x + self.dropout(self.mlp(self.norm2(x)))


class CharGPT(nn.Module, Generic[V]):
    """Scores for the next of V characters at every position of a text."""

    def __init__(self, vocab: Dim[V]) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, 64), nn.Embedding(CONTEXT, 64)
        self.blocks = nn.ModuleList([Block(64, 4) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, vocab)

    def forward(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, B, T, V]:
        """The largest score is the likeliest character."""
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    @torch.no_grad()
    def write(self, start: str, length: int) -> str:
        """The beginning of a text, and so many characters sampled after it."""
        self.eval()
        tokens: Tensor[Int64, 1, Any] = encoded(start).unsqueeze(0)
        for _ in range(length):
            likely = self(tokens[:, -CONTEXT:])[:, -1].softmax(-1)
            tokens = torch.cat([tokens, likely.multinomial(1)], dim=1)
        return "".join(LETTERS[token] for token in tokens[0].tolist())


class Curve(Callback):
    """Remembers the loss of each update."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def on_step_end(self, fit: Fit) -> None:
        """Remember it."""
        if fit.loss is not None:
            self.losses.append(float(fit.loss))


def encoded(text: str) -> Tensor[Int64, Any]:
    """The characters' numbers."""
    return torch.tensor([LETTERS.index(letter) for letter in text])


def windows() -> TensorDataset[Tensor[Int64, 64], Tensor[Int64, 64]]:
    """Pieces of the text, and for each character of a piece the one after it."""
    pieces = encoded(TEXT).unfold(0, CONTEXT + 1, STRIDE)
    return TensorDataset(pieces[:, :-1], pieces[:, 1:])


def loss(scores: Tensor[Float32, B, T, V], targets: Tensor[Int64, B, T]) -> Tensor[Float32, ""]:
    """Mean cross-entropy of the next character, in nats."""
    return F.cross_entropy(scores.transpose(1, 2), targets)


def train(epochs: int = EPOCHS, *, progress: bool = True) -> tuple[CharGPT[Any], list[float]]:
    """The trained model, and the loss of each update."""
    seed_everything(1337)
    model = CharGPT(len(LETTERS))
    loader = DataLoader(windows(), BATCH, shuffle=True)
    optimizer = AdamW(decay_groups(model, weight_decay=0.1), lr=1e-2)
    schedule, curve = WarmupCosine(optimizer, warmup=20, total=epochs * len(loader), floor=0.1), Curve()
    trainer = Trainer(
        loss=loss,
        optimizer=optimizer,
        scheduler=schedule,
        schedule="step",
        clip_norm=1.0,
        callbacks=[curve],
        progress=progress,
    )
    trainer.fit(model, loader, epochs=epochs)
    return model, curve.losses


if __name__ == "__main__":
    torch.set_num_threads(1)  # the model is so small that threads only wait for each other
    model, losses = train()
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} in the end\n")
    print(model.write("Shall I compare thee to ", 300))
