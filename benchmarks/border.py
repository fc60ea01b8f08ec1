"""What a checked call costs, against the bare function and against jaxtyping with beartype, in one run.

    python benchmarks/border.py [--json] [--shapes 1000000]

1. A call: a function of two tensors and a result, a module whose forward takes two tensors. The time is the best of
   many short interleaved rounds, so that one in which nothing else ran is among them.
2. A training step (forward, backward, SGD; batch 64) of a model five modules deep: with checks ``once`` and ``off``,
   step by step in turn.
3. Memory after many distinct shapes: the signatures that are remembered, and how much the process grew.
"""
# ruff: noqa: D101, D102, D103 - what is measured does nothing

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
import timeit
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Generic

import psutil
import torch
from beartype import beartype
from jaxtyping import jaxtyped

from simpletorch import B, Dim, Float32, K, M, N, Tensor, checked, config, nn

ROUNDS = 150
STEPS = 1500


def bare(x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
    return x


once = checked(bare)
full = checked(bare)
jaxtyping_beartype = jaxtyped(bare, typechecker=beartype)
with config(check="off"):
    off = checked(bare)


class Theirs(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x


class Ours(nn.Module):
    def forward(self, x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
        return x


class Sized(nn.Module, Generic[K]):
    def __init__(self, k: Dim[K]) -> None:
        super().__init__()

    def forward(self, x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
        return x


with config(check="off"):

    class Off(nn.Module):
        def forward(self, x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
            return x


def at_depth(depth: int, call: Callable[[], object]) -> None:
    """Call from further down the stack.

    CPython keeps frames in chunks of 16 KiB and takes a new one from the system, for microseconds, at every call that
    crosses a boundary. Which call that is depends on nothing but the depth, so every depth gets its turn.
    """
    if depth:
        at_depth(depth - 1, call)
    else:
        call()


def measured(calls: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Microseconds a call: name to (call, how often), every round measuring each of them once."""
    best = dict.fromkeys(calls, float("inf"))

    def round_of_calls() -> None:
        for name, (call, number) in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=number) / number * 1e6)

    for i in range(ROUNDS):
        at_depth(7 * i % 128, round_of_calls)
    return best


MODULES: dict[str, Callable[[], torch.nn.Module]] = {
    "torch.nn.Module": Theirs,
    "nn.Module, off": Off,
    "nn.Module, once": Ours,
    "nn.Module, Generic[K]": lambda: Sized(4),
}


def module_call(name: str) -> float:
    """The time of a module's call, in microseconds."""
    module, x, y = MODULES[name](), torch.zeros(4, 4), torch.zeros(4, 4)
    return measured({name: (lambda: module(x, y), 5_000)})[name]


def calls() -> dict[str, float]:
    """The times of a call, in microseconds."""
    x, y = torch.zeros(4, 4), torch.zeros(4, 4)

    def in_full() -> None:
        with config(check="full"):
            for _ in range(100):
                full(x, y)

    times = measured(
        {
            "bare": (lambda: bare(x, y), 5_000),
            "off": (lambda: off(x, y), 5_000),
            "once": (lambda: once(x, y), 5_000),
            "full": (in_full, 1),
            "jaxtyping + beartype": (lambda: jaxtyping_beartype(x, y), 100),
        }
    )
    times["full"] /= 100
    # Each in a process of its own: CPython's caches of attributes are shared, and several classes push each other out.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        return times | dict(zip(MODULES, fresh.map(module_call, MODULES), strict=True))


def deep() -> nn.Module:
    """A classifier of 784 pixels, five modules deep, as it is built under the mode that holds."""

    class Layer(nn.Module, Generic[N, M]):
        def __init__(self, n: Dim[N], m: Dim[M]) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(n, m)

        def forward(self, x: Tensor[Float32, B, N]) -> Tensor[Float32, B, M]:
            return self.linear(x)

    class Activated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = Layer(784, 128)

        def forward(self, x: Tensor[Float32, B, 784]) -> Tensor[Float32, B, 128]:
            return torch.relu(self.layer(x))

    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.activated = Activated()

        def forward(self, x: Tensor[Float32, B, 784]) -> Tensor[Float32, B, 128]:
            return self.activated(x)

    class Body(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.head = Hidden(), torch.nn.Linear(128, 10)

        def forward(self, x: Tensor[Float32, B, 784]) -> Tensor[Float32, B, 10]:
            return self.head(self.hidden(x))

    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = Body()

        def forward(self, images: Tensor[Float32, B, 28, 28]) -> Tensor[Float32, B, 10]:
            return self.body(images.flatten(1))

    return Classifier()


def training_step(model: nn.Module) -> Callable[[], None]:
    torch.manual_seed(0)
    images, labels = torch.rand(64, 28, 28), torch.randint(10, (64,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def steps() -> dict[str, float]:
    """The median time of a training step in microseconds, and how much longer one takes with checks.

    The two take turns, so that what else the machine does falls on both; of each pair the difference is taken.
    """
    with config(check="off"):
        without = training_step(deep())
    with_checks = training_step(deep())
    gc.collect()
    times: dict[Callable[[], None], list[float]] = {without: [], with_checks: []}

    def timed(step: Callable[[], None]) -> None:
        start = time.perf_counter()
        step()
        times[step].append((time.perf_counter() - start) * 1e6)

    for i in range(STEPS + 50):
        for step in (without, with_checks) if i % 2 else (with_checks, without):
            at_depth(7 * i % 128, lambda step=step: timed(step))
    pairs = list(zip(times[without][50:], times[with_checks][50:], strict=True))
    off_time = statistics.median(a for a, _ in pairs)
    extra = statistics.median(b - a for a, b in pairs)
    return {"off": off_time, "once": off_time + extra, "percent": 100 * extra / off_time}


def memory(shapes: int) -> dict[str, float]:
    """After this many distinct shapes: the signatures that are remembered, and the MiB that the process grew.

    Growth is counted from a tenth of the way on, when every cache has filled. All shapes are views of one number.
    """

    @checked
    def length(x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x

    base = torch.zeros(1).expand(shapes)
    process = psutil.Process()
    start = 0
    for size in range(shapes):
        length(base[:size])
        if size == shapes // 10:
            gc.collect()
            start = process.memory_info().rss
    gc.collect()
    grown = (process.memory_info().rss - start) / 2**20
    return {"shapes": shapes, "remembered": len(length.__globals__["_st_seen"]), "grown_mib": grown}


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--shapes", type=int, default=1_000_000, help="distinct shapes for the memory test")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    times, step, kept = calls(), steps(), memory(arguments.shapes)
    cost = times["once"] - times["bare"]
    other = times["jaxtyping + beartype"] - times["bare"]
    if arguments.json:
        print(json.dumps({"us_per_call": times, "once_over_bare": cost, "ratio": other / cost, "step": step, **kept}))
        return
    print(f"torch {torch.__version__}, two tensors and a result, µs a call (best of {ROUNDS} rounds)")
    for name, value in times.items():
        base = times["torch.nn.Module" if "Module" in name else "bare"]
        print(f"  {name:22} {value:8.3f}   +{value - base:.3f}")
    print(f"  off is the bare function itself: {off is bare}")
    print(
        f"jaxtyping + beartype costs {other / cost:.0f} times what `once` costs (+{other:.1f} against +{cost:.2f} µs)"
    )
    print(f"a training step, five modules deep, batch 64: off {step['off']:.0f} µs, once +{step['percent']:.2f} %")
    print(
        f"after {arguments.shapes} distinct shapes: {kept['remembered']} signatures remembered, "
        f"{kept['grown_mib']:+.1f} MiB from a tenth of the way on"
    )


if __name__ == "__main__":
    main()
