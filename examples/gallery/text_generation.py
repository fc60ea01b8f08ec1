"""Text generation: an LSTM learns to write like Shakespeare's sonnets, letter by letter.

`CharTokens` makes samples of a text: 64 letters, and for each the one that follows. When the model writes, it carries
its state from letter to letter. The same text with a small GPT: `examples/char_gpt.py`. B is the batch, T the letters
of a sample, V the alphabet.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import CharTokens, DataLoader
from simpletorch.dims import B, T, V
from simpletorch.optim import AdamW, WarmupCosine
from simpletorch.train import Step

TEXT = Path(__file__).parents[1] / "data" / "sonnets.txt"
State = tuple[Tensor[Float32, 2, B, 256], Tensor[Float32, 2, B, 256]]


class Writer(nn.Module, Generic[V]):
    """Two layers of LSTM between letters and letters."""

    def __init__(self, alphabet: Dim[V]) -> None:
        super().__init__()
        self.letters = nn.Embedding(alphabet, 64)
        self.lstm = nn.LSTM(64, 256, num_layers=2, batch_first=True, dropout=0.2)
        self.head = nn.Linear(256, alphabet)

    def forward(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, B, T, V]:
        """Scores of the next letter, after each."""
        scores, _ = self.go_on(tokens, None)
        return scores

    def go_on(self, tokens: Tensor[Int64, B, T], state: State | None) -> tuple[Tensor[Float32, B, T, V], State]:
        """The same after what was read before, and the state to go on from."""
        out, state = self.lstm(self.letters(tokens), state)
        return self.head(out), state

    @torch.no_grad()
    def write(self, start: Tensor[Int64, Any], length: int, temperature: float = 0.5) -> Tensor[Int64, Any]:
        """``start``, and so many letters drawn after it; a low temperature prefers the likely ones."""
        self.eval()
        scores, state = self.go_on(start.unsqueeze(0), None)
        written = [start]
        for _ in range(length):
            letter = (scores[:, -1] / temperature).softmax(dim=1).multinomial(1)
            written.append(letter[0])
            scores, state = self.go_on(letter, state)
        return torch.cat(written)


def loss(scores: Tensor[Float32, B, T, V], targets: Tensor[Int64, B, T]) -> Tensor[Float32, ""]:
    """The mean cross-entropy of a letter, in nats."""
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def draw(losses: list[float], file: Path) -> None:
    """The loss of each update."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(losses, linewidth=0.8)
    axes.set_xlabel("update")
    axes.set_ylabel("nats a letter")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The first loss and the last; prints what the model writes."""
    seed_everything(0)
    text = CharTokens(TEXT.read_text(encoding="utf-8"), 64, stride=8)
    loader = DataLoader(text, 32, shuffle=True, drop_last=True)
    model = Writer(len(text.vocabulary))
    optimizer = AdamW(model.parameters(), lr=4e-3)
    epochs = 1 if quick else 12
    schedule = WarmupCosine(optimizer, warmup=10, total=epochs * len(loader), floor=0.05)
    step = Step(model, loss, optimizer, clip_norm=1.0)
    losses: list[float] = []
    for _ in range(epochs):
        for tokens, targets in loader:
            losses.append(step(tokens, targets).item())
            schedule.step()
            if quick and len(losses) == 15:
                break
    print(f"loss {losses[0]:.3f} at first, {losses[-1]:.3f} in the end\n")
    print(text.decode(model.write(text.encode("Shall I compare thee to "), 60 if quick else 400)))
    if picture is not None:
        draw(losses, picture)
    return {"first": losses[0], "last": losses[-1]}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
