"""What following a cell from live values costs, with a live ResNet-18 and GPT of 12 blocks.

    python -m benchmarks.notebook            # the table; exit status 1 where a measure is missed
    python -m benchmarks.notebook --write    # also into benchmarks/results/notebook.md

Each cell is followed as before it runs, from new: nothing that one follow has made of the models is kept for the next.
It needs IPython (the extra `notebook`).
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from IPython.core.interactiveshell import InteractiveShell

from simpletorch.notebook._following import follow_cell, read_tables

MOST_MS = 50
ROUNDS = 15
SETUP = """
import torch
import torch.nn.functional as F
from dataclasses import dataclass
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Basic(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or inner != outer:
            self.down = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        skip = x if self.down is None else self.down(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + skip)


class ResNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        blocks, width = [], 64
        for i, outer in enumerate((64, 128, 256, 512)):
            blocks += [Basic(width, outer, 1 if i == 0 else 2), Basic(outer, outer, 1)]
            width = outer
        self.blocks = nn.Sequential(*blocks)
        self.average = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = self.blocks(self.pool(self.stem(x)))
        return self.fc(self.average(x).flatten(1))


@dataclass
class Config:
    vocab: int = 503
    block: int = 64
    layers: int = 12
    heads: int = 4
    dim: int = 64


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.qkv = nn.Linear(c.dim, 3 * c.dim)
        self.out = nn.Linear(c.dim, c.dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=2)
        q, k, v = (s.view(b, t, self.heads, d // self.heads).transpose(1, 2) for s in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(b, t, d))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim)
        self.attention = Attention(c)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 4 * c.dim), nn.GELU(), nn.Linear(4 * c.dim, c.dim))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.token, self.place = nn.Embedding(c.vocab, c.dim), nn.Embedding(c.block, c.dim)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.norm = nn.LayerNorm(c.dim)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)

    def forward(self, ids, targets=None):
        b, t = ids.shape
        x = self.token(ids) + self.place(torch.arange(t, device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss


resnet, gpt = ResNet(), GPT(Config())
images, labels = torch.zeros(101, 3, 32, 32), torch.zeros(101, dtype=torch.int64)
pictures = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
ids = torch.zeros(13, 64, dtype=torch.int64)
texts = DataLoader(TensorDataset(ids), batch_size=3)
optimizer = torch.optim.AdamW(gpt.parameters(), lr=3e-4)
"""
CELLS = {
    "one line: x.mean()": "images.mean(0)",
    "ResNet: a forward": "y = resnet(images[:8])\ny.argmax(1)",
    "ResNet: another head": "resnet.fc = nn.Linear(512, 7)\nresnet(images[:8]).shape",
    "ResNet: a training loop": """
optimizer = torch.optim.SGD(resnet.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in pictures:
        optimizer.zero_grad()
        loss = F.cross_entropy(resnet(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
""",
    "GPT: a forward": "logits, loss = gpt(ids, ids)",
    "GPT: a training loop": """
for step, (x,) in enumerate(texts):
    logits, loss = gpt(x[:, :-1], x[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(gpt.parameters(), 1.0)
    optimizer.step()
""",
    "GPT: sampling": """
out = ids[:1, :5]
with torch.no_grad():
    for _ in range(20):
        logits, _ = gpt(out[:, -64:])
        out = torch.cat([out, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
""",
    "a class of a model": SETUP[SETUP.index("class Attention") : SETUP.index("class GPT")],
    "a mistake in GPT": "gpt.head = nn.Linear(65, 503)\ngpt(ids)",
}


def rows() -> Iterator[tuple[str, float, float, int]]:
    """Of each cell its name, the first time and the median one in milliseconds, and how many errors are found."""
    shell = InteractiveShell.instance()
    if not shell.run_cell(SETUP, store_history=True).success:
        raise SystemExit("the models can't be built")
    read_tables()  # as %load_ext does
    for name, source in CELLS.items():
        taken = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            seen = follow_cell(source, shell.user_ns, "Cell In[2]")
            taken.append((time.perf_counter() - started) * 1e3)
            if seen is None or not seen.followed.complete or seen.followed.faults:
                raise SystemExit(f"{name}: it isn't followed to its end")
        yield name, taken[0], statistics.median(taken[1:]), len(seen.followed.errors)


def table(found: list[tuple[str, float, float, int]]) -> str:
    """A table for a document."""
    lines = ["| cell | first, ms | median, ms | errors found |", "| --- | --- | --- | --- |"]
    lines += [f"| {name} | {first:.1f} | {median:.1f} | {errors} |" for name, first, median, errors in found]
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    found = list(rows())
    print(table(found))
    if write:
        where = f"Python {platform.python_version()}, torch {torch.__version__}, {platform.machine()}, shared machine"
        text = (
            "# Following a cell from live values\n\n`python -m benchmarks.notebook --write`: wall clock; "
            f"at most {MOST_MS} ms each; the tables of the rules are read by `%load_ext`.\n{where}.\n\n{table(found)}\n"
        )
        Path(__file__).with_name("results").joinpath("notebook.md").write_text(text)
    return int(any(max(first, median) > MOST_MS for _, first, median, _ in found))


if __name__ == "__main__":
    sys.exit(main())
