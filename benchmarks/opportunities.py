"""The bytes that `kernels.opportunities` counts for a compiled step, against those that Inductor counts itself.

    OMP_NUM_THREADS=1 python -m benchmarks.opportunities [--only NAME[,NAME]] [--out FILE]

Inductor lowers each model, fuses, and adds up what its kernels read and write (`torch._inductor.metrics`). Nothing is
compiled to machine code and nothing computed. It does so for the CPU, so what it does for CPUs alone is switched off:
oneDNN's products with epilogues, the layouts that it wants, and concatenations in a kernel for each part. So are its
patterns, which replace attention that is written out: `opportunities` has a row of its own for that.
"""
# ruff: noqa: D102, D103 - what is measured does nothing

from __future__ import annotations

import argparse
import importlib.util
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._logging
import torch.nn.functional as F
from torch import nn
from torch._inductor import config, metrics
from torch._inductor.async_compile import AsyncCompile

from simpletorch.kernels._chips import GPUS
from simpletorch.kernels._opportunities._search import compiled_bytes
from simpletorch.kernels._opportunities._trace import traced

MODELS = Path(__file__).parents[1] / "examples/models"


class Block(nn.Module):
    """A block as in BERT, attention written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        q, k, v = (
            layer(x).view(batch, tokens, self.heads, -1).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        shares = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        x = self.first(x + self.out((shares @ v).transpose(1, 2).reshape(batch, tokens, width)))
        return self.second(x + self.down(F.gelu(self.up(x))))


@dataclass(frozen=True)
class Step:
    """A model, what it is called with, and the loss of what it gives."""

    model: nn.Module
    inputs: tuple[Any, ...]
    loss: Callable[[Any], torch.Tensor]


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"examples_models_{name}", MODELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where torch.compile looks it up
    spec.loader.exec_module(module)
    return module


def block() -> Step:
    return Step(nn.Sequential(Block(256, 4), Block(256, 4)), (torch.randn(4, 128, 256),), lambda y: y.sum())


def llama() -> Step:
    ported = example("llama")
    sizes = {"vocab": 1024, "dim": 128, "heads": 4, "kv_heads": 2, "head_dim": 32, "hidden": 352, "context": 256}
    targets = torch.randint(1024, (4 * 128,))
    model = ported.Llama(ported.Config(**sizes, layers=2))
    return Step(model, (torch.randint(1024, (4, 128)),), lambda y: F.cross_entropy(y.view(-1, 1024), targets))


class Loss(nn.Module):
    """A method of a model as a model."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = self.model.loss(tokens)
        return loss


def gpt() -> Step:
    model = example("gpt").GPT(vocab=1024, context=256, dim=128, heads=4, layers=2)
    return Step(Loss(model), (torch.randint(1024, (4, 129)),), lambda loss: loss)


def resnet() -> Step:
    targets = torch.randint(10, (8,))
    model = example("resnet").ResNet(10, 3, blocks=(1, 1, 1, 1))
    return Step(model, (torch.randn(8, 3, 64, 64),), lambda y: F.cross_entropy(y, targets))


STEPS: dict[str, Callable[[], Step]] = {"block": block, "llama": llama, "gpt": gpt, "resnet": resnet}


@contextmanager
def lowering_only() -> Iterator[None]:
    """Inductor lowers and counts; its kernels are neither compiled nor run."""

    def nothing(*_args: Any, **_kwargs: Any) -> Callable[..., None]:
        return lambda *_given: None

    def silent(_record: logging.LogRecord) -> bool:
        return False

    log = logging.getLogger("torch._inductor.compile_fx.__inductor_metrics")
    before = AsyncCompile.cpp_pybinding, AsyncCompile.cpp
    AsyncCompile.cpp_pybinding = AsyncCompile.cpp = nothing
    torch._logging.set_logs(inductor_metrics=True)  # or bytes aren't counted
    log.addFilter(silent)
    try:
        with (
            config.patch(
                fx_graph_cache=False, layout_optimization=False, pattern_matcher=False, force_pointwise_cat=True
            ),
            torch.backends.mkldnn.flags(enabled=False),
        ):
            yield
    finally:
        AsyncCompile.cpp_pybinding, AsyncCompile.cpp = before
        log.removeFilter(silent)
        torch._logging.set_logs()
        torch._dynamo.reset()


def of_inductor(step: Step, training: bool) -> int:
    """Bytes that Inductor counts for its kernels."""
    torch._dynamo.reset()
    metrics.reset()
    step.model.train(training)
    with lowering_only():  # what a result is computed from isn't there
        if training:
            torch.compile(lambda: step.loss(step.model(*step.inputs)))().backward()
        else:
            with torch.no_grad():
                torch.compile(lambda: step.model(*step.inputs))()
    return int(metrics.num_bytes_accessed)


def of_ours(step: Step, training: bool) -> tuple[int, int]:
    """Bytes of eager torch, and of `torch.compile`, by the model of `kernels.opportunities`."""
    step.model.train(training)
    loss = step.loss if training else None
    graph = traced(step.model, step.inputs, {}, dtype=None, backward=training, loss=loss, targets=())
    return sum(node.bytes for node in graph.nodes), compiled_bytes(graph, GPUS["H100"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    lines = ["| model | step | eager MiB | compiled, ours MiB | Inductor's MiB | ours / Inductor's |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: |")
    print("\n".join(lines), flush=True)
    for name in given.only.split(",") if given.only else STEPS:
        for training in (False, True):
            torch.manual_seed(0)
            step = STEPS[name]()
            eager, ours = of_ours(step, training)
            right = of_inductor(step, training)
            mib = " | ".join(f"{one / 2**20:.1f}" for one in (eager, ours, right))
            lines.append(f"| {name} | {'training' if training else 'inference'} | {mib} | {ours / right:.2f} |")
            print(lines[-1], flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
