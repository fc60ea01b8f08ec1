"""Text classification: is a line Shakespeare's, from Python's manual, or from Python's source?

The three kinds of text come along with this repository and with Python, so nothing is downloaded. A line is cut into
words; `collate_fn` pads the lines of a batch to the longest. A bidirectional GRU reads the words. Which line is in the
test is drawn before the vocabulary is made, so the test has words that were never seen. B is the batch, T the
words of a line, V the vocabulary.
"""

import pydoc_data.topics
import random
import re
import tokenize
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any, Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import DataLoader, Dataset
from simpletorch.dims import B, T, V
from simpletorch.metrics import Accuracy, ConfusionMatrix
from simpletorch.optim import AdamW
from simpletorch.train import Trainer, evaluate

KINDS = ["sonnet", "manual", "source"]
Sample = tuple[list[str], int]


class Texts(Dataset[Sample]):
    """Lines and their kinds."""

    def __init__(self, samples: list[Sample]) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        return self.samples[index]


def samples() -> list[Sample]:
    """As many lines of each kind, in random order: their words, and the kind's number."""
    sonnets = (Path(__file__).parents[1] / "data" / "sonnets.txt").read_text(encoding="utf-8").splitlines()
    manual = "\n".join(pydoc_data.topics.topics.values()).splitlines()
    source = Path(tokenize.__file__).read_text(encoding="utf-8").splitlines()
    known: list[Sample] = []
    for kind, text in enumerate([sonnets, manual, source]):
        words = [found for line in text if len(found := re.findall(r"\w+|[^\w\s]", line.lower())) > 3]
        known += [(line, kind) for line in random.sample(words, 160)]
    random.shuffle(known)
    return known


class Reader(nn.Module, Generic[V]):
    """Words to numbers, a GRU in both directions, and the largest of what it noticed."""

    def __init__(self, vocabulary: Dim[V]) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, 32, padding_idx=0)
        self.gru = nn.GRU(32, 32, batch_first=True, bidirectional=True)
        self.dropout, self.head = nn.Dropout(0.4), nn.Linear(64, 3)

    def forward(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, B, 3]:
        """A number for each kind of text."""
        states, _ = self.gru(self.words(tokens))
        padding = (tokens == 0).unsqueeze(2)
        noticed = states.masked_fill(padding, -torch.inf).amax(dim=1)
        return self.head(self.dropout(noticed))


class Vocabulary:
    """The words that the training lines have more than once; 1 stands for all others, 0 for padding."""

    def __init__(self, train: list[Sample]) -> None:
        counts = Counter(word for words, _ in train for word in words)
        frequent = [word for word, count in counts.items() if count > 1]
        self.numbers = {word: number for number, word in enumerate(frequent, start=2)}

    def collate(self, batch: list[Sample]) -> tuple[Tensor[Int64, Any, Any], Tensor[Int64, Any]]:
        """A batch: padded lines [B, T], and their kinds [B]."""
        longest = max(len(words) for words, _ in batch)
        rows = [[self.numbers.get(word, 1) for word in words] + [0] * (longest - len(words)) for words, _ in batch]
        return torch.tensor(rows), torch.tensor([kind for _, kind in batch])


def draw(counts: Tensor[Int64, 3, 3], file: Path) -> None:
    """Which kind of text is taken for which."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4, 3), layout="constrained")
    axes = figure.subplots()
    axes.imshow(counts.tolist(), cmap="Blues")
    for row, values in enumerate(counts.tolist()):
        for column, value in enumerate(values):
            axes.text(column, row, str(value), ha="center", va="center")
    axes.set_xticks(range(3), KINDS)
    axes.set_yticks(range(3), KINDS)
    axes.set_xlabel("answer")
    axes.set_ylabel("truth")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracy on lines that were kept back."""
    seed_everything(0)
    known = samples()
    train, test = known[:380], known[380:]
    vocabulary = Vocabulary(train)
    model = Reader(len(vocabulary.numbers) + 2)
    loader = DataLoader(Texts(train), 32, shuffle=True, collate_fn=vocabulary.collate)
    trainer = Trainer(loss=F.cross_entropy, optimizer=AdamW(model.parameters(), lr=3e-3), clip_norm=1.0, progress=False)
    history = trainer.fit(model, loader, epochs=5 if quick else 20)

    held = DataLoader(Texts(test), len(test), collate_fn=vocabulary.collate)
    accuracy = evaluate(model, held, {"accuracy": Accuracy()})["accuracy"]
    counts = evaluate(model, held, {"counts": ConfusionMatrix(3)})["counts"]
    print(f"loss {history[0].loss:.3f} in the first epoch, {history[-1].loss:.3f} in the last")
    print(f"{accuracy:.1%} of {len(test)} lines are told apart by {len(vocabulary.numbers)} words")
    if picture is not None:
        draw(counts, picture)
    return {"first": history[0].loss, "last": history[-1].loss, "accuracy": accuracy}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
