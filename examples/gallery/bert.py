"""BERT: an encoder that sees both sides guesses the letters that are hidden from it.

Of Shakespeare's sonnets a seventh of the letters is hidden: most are replaced by a mask, some by another letter, some
left as they are, and only they count in the loss (targets of -100 don't). What is learned is tried on two sonnets that
were kept back. B is the batch, T the letters of a sample, V the alphabet with the mask.

Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, 2018.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import CharTokens, DataLoader
from simpletorch.dims import B, T, V
from simpletorch.optim import AdamW, WarmupCosine
from simpletorch.train import Step

TEXT = (Path(__file__).parents[1] / "data" / "sonnets.txt").read_text(encoding="utf-8").lower()
LETTERS = sorted(set(TEXT))
MASK = len(LETTERS)  # a token of its own
LENGTH, WIDTH = 48, 96


class Bert(nn.Module, Generic[V]):
    """Tokens and places, encoded together by attention in both directions."""

    def __init__(self, alphabet: Dim[V]) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(alphabet, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=4, dim_feedforward=4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, alphabet)

    def forward(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, B, T, V]:
        """Scores of each letter at each place, hidden or not."""
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.encoder(x)))


def hide(tokens: Tensor[Int64, B, T], generator: torch.Generator) -> tuple[Tensor[Int64, B, T], Tensor[Int64, B, T]]:
    """The tokens with some hidden, and as targets what was there; -100 where nothing was hidden."""
    chance = torch.rand(tokens.shape, generator=generator)
    other = torch.randint(MASK, tokens.shape, generator=generator)
    hidden = torch.where(chance < 0.12, MASK, torch.where(chance < 0.135, other, tokens))
    return hidden, torch.where(chance < 0.15, tokens, -100)


def loss(scores: Tensor[Float32, B, T, V], targets: Tensor[Int64, B, T]) -> Tensor[Float32, ""]:
    """The cross-entropy of a hidden letter, in nats."""
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def draw(losses: list[float], file: Path) -> None:
    """The loss of each update."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(losses, linewidth=0.6)
    axes.set_xlabel("update")
    axes.set_ylabel("nats a hidden letter")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The losses, and the share of hidden letters that are found in sonnets that were kept back."""
    seed_everything(0)
    split = len(TEXT) * 5 // 6
    train = CharTokens(TEXT[:split], LENGTH, stride=8, vocabulary=LETTERS)
    test = CharTokens(TEXT[split:], LENGTH, stride=LENGTH, vocabulary=LETTERS)
    model = Bert(len(LETTERS) + 1)
    optimizer = AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(train, 32, shuffle=True, drop_last=True)
    epochs = 2 if quick else 50
    schedule = WarmupCosine(optimizer, warmup=10, total=epochs * len(loader), floor=0.05)
    step = Step(model, loss, optimizer, clip_norm=1.0)
    losses: list[float] = []
    for _ in range(epochs):
        for tokens, _ in loader:
            losses.append(step(*hide(tokens, generator)).item())
            schedule.step()

    model.eval()
    tokens, _ = next(iter(DataLoader(test, len(test))))
    hidden, targets = hide(tokens, torch.Generator().manual_seed(1))
    with torch.no_grad():
        guesses = model(hidden).argmax(dim=2)
    asked = targets != -100
    right = (guesses == targets)[asked].float().mean().item()
    always = (targets[asked] == targets[asked].mode().values).float().mean().item()
    shown = [*LETTERS, "_"]
    print(f"loss {losses[0]:.2f} at first, {losses[-1]:.2f} in the end")
    print(f"{right:.0%} of the hidden letters are found ({always:.0%} by always the same letter)")
    print("read:   ", repr("".join(shown[token] for token in hidden[0].tolist())))
    print("guessed:", repr("".join(shown[token] for token in torch.where(asked, guesses, tokens)[0].tolist())))
    if picture is not None:
        draw(losses, picture)
    return {"first": losses[0], "last": losses[-1], "right": right, "always": always}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
