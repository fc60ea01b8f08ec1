"""Training steps of a transformer in each precision: ``python -m benchmarks.amp [--compile] [--small] [--out FILE]``.

On a GPU: a decoder of 300 million parameters (24 layers, 1,024 wide, 8 × 1,024 tokens). Without one, or with
``--small``, one of 0.6 million, to see that every precision trains; its times say nothing. Times are the median of
single steps, taken with events after warm-up; the loss is that of the same batches from the same start.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from simpletorch import amp, cuda


@dataclass(frozen=True)
class Size:
    """Of the model and its batches."""

    layers: int
    width: int
    heads: int
    vocabulary: int
    batch: int
    length: int


LARGE = Size(24, 1024, 16, 32_000, 8, 1024)
SMALL = Size(2, 128, 4, 512, 4, 64)


class Block(nn.Module):
    """Attention and a feed-forward layer, normalised first."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``(B, T, D) -> (B, T, D)``."""
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    """A language model of GPT-2's kind."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocabulary, size.width)
        self.places = nn.Embedding(size.length, size.width)
        self.blocks = nn.ModuleList(Block(size.width, size.heads) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """``(B, T) -> (B, T, V)``."""
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def batches(size: Size, device: torch.device) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Sequences that count up by a step of their own: what comes next can be learnt."""
    generator = torch.Generator().manual_seed(1)
    while True:
        start = torch.randint(0, size.vocabulary, (size.batch, 1), generator=generator)
        step = torch.randint(1, 4, (size.batch, 1), generator=generator)
        ids = ((start + step * torch.arange(size.length + 1)) % size.vocabulary).to(device)
        yield ids[:, :-1], ids[:, 1:]


@dataclass(frozen=True)
class Precision:
    """How the products of a step are computed."""

    name: str
    matmul: str = "highest"
    dtype: torch.dtype | None = None
    scaled: bool = False
    eight: bool = False

    def context(self, kind: str) -> AbstractContextManager[object]:
        """Of the forward pass."""
        return nullcontext() if self.dtype is None else amp.autocast(kind, self.dtype)


PRECISIONS = (
    Precision("float32"),
    Precision("float32, products in TF32", matmul="high"),
    Precision("float16, scaled", dtype=torch.float16, scaled=True),
    Precision("bfloat16", dtype=torch.bfloat16),
    Precision("float8 in bfloat16", dtype=torch.bfloat16, eight=True),
)


@dataclass
class Result:
    """Of one precision."""

    name: str
    milliseconds: float
    bytes: int | None
    losses: tuple[float, float]
    scale: float | None


def measured(precision: Precision, size: Size, device: torch.device, steps: int, compiled: bool) -> Result:
    """``steps`` steps after a quarter as many to warm up."""
    torch.manual_seed(0)
    amp.set_float32_matmul_precision(precision.matmul)
    model: nn.Module = Decoder(size).to(device)
    if precision.eight:
        model = amp.float8(model, lambda path, layer: path != "head")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    scaler = amp.GradScaler(device.type, enabled=precision.scaled)
    forward: Callable[[torch.Tensor], torch.Tensor] = torch.compile(model) if compiled else model
    times: list[float] = []
    losses: list[float] = []
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    source = batches(size, device)
    for _ in range(steps + max(3, steps // 4)):
        ids, targets = next(source)
        with cuda.Event(device, enable_timing=True) as event:
            with precision.context(device.type):
                loss = F.cross_entropy(forward(ids).flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        times.append(event.elapsed())
        losses.append(loss.item())
    peak = torch.cuda.max_memory_allocated() if device.type == "cuda" else None
    scale = scaler.get_scale() if precision.scaled else None
    return Result(precision.name, statistics.median(times[-steps:]), peak, (losses[0], losses[-1]), scale)


def table(results: list[Result], size: Size, device: torch.device, compiled: bool) -> str:
    """What was measured, as Markdown."""
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    parameters = sum(p.numel() for p in Decoder(size).to("meta").parameters())
    tokens = size.batch * size.length
    lines = [
        f"{date.today()}, {where}, torch {torch.__version__}: {parameters / 1e6:,.0f} M parameters, "
        f"{size.batch} × {size.length} tokens a step{', torch.compile' if compiled else ''}",
        "",
        "| precision | ms a step | tokens/s | against float32 | peak memory | loss, first and last step |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for r in results:
        peak = "" if r.bytes is None else f"{r.bytes / 2**30:.1f} GiB"
        faster = results[0].milliseconds / r.milliseconds
        scale = "" if r.scale is None else f" (scale {r.scale:.0f})"
        lines.append(
            f"| {r.name} | {r.milliseconds:.1f} | {1000 * tokens / r.milliseconds:,.0f} | {faster:.2f}× | {peak} | "
            f"{r.losses[0]:.3f}, {r.losses[1]:.3f}{scale} |"
        )
    return "\n".join([*lines, ""])


def main() -> int:
    """Measures each precision and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="the small model")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--only", default="", help="a part of the names of the precisions that count")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", type=Path, help="a file that the table is added to")
    arguments = parser.parse_args()
    device = cuda.current_stream().device
    size = SMALL if arguments.small or device.type == "cpu" else LARGE
    results: list[Result] = []
    for precision in PRECISIONS:
        if arguments.only not in precision.name or (precision.eight and not amp.float8_available(device)):
            continue
        results.append(measured(precision, size, device, arguments.steps, arguments.compile))
        print(results[-1], flush=True)
        cuda.empty_cache()
        torch.compiler.reset()
    text = table(results, size, device, arguments.compile)
    print(text)
    if arguments.out is not None:
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
