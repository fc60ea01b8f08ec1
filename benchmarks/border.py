"""What a checked call costs, against the bare function and against jaxtyping with beartype, in one run.

    python benchmarks/border.py [--json] [--shapes 1000000]

A function of two tensors and a result; the time of a call is the best of several interleaved rounds. Then the same for
the call of a module, and the number of remembered signatures after many distinct shapes.
"""
# ruff: noqa: D101, D102, D103 - what is measured does nothing

from __future__ import annotations

import argparse
import json
import timeit
from collections.abc import Callable
from typing import Generic

import torch
from beartype import beartype
from jaxtyping import jaxtyped

from simpletorch import Dim, Float32, K, M, N, Tensor, checked, config, nn

ROUNDS = 7


def bare(x: Tensor[Float32, M, K], y: Tensor[Float32, K, N]) -> Tensor[Float32, M, N]:
    return x


once = checked(bare)
full = checked(bare)
jaxtyping_beartype = jaxtyped(bare, typechecker=beartype)
with config(check="off"):
    off = checked(bare)


class Theirs(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Ours(nn.Module):
    def forward(self, x: Tensor[Float32, M, K]) -> Tensor[Float32, M, K]:
        return x


class Sized(nn.Module, Generic[K]):
    def __init__(self, k: Dim[K]) -> None:
        super().__init__()

    def forward(self, x: Tensor[Float32, M, K]) -> Tensor[Float32, M, K]:
        return x


with config(check="off"):

    class Off(nn.Module):
        def forward(self, x: Tensor[Float32, M, K]) -> Tensor[Float32, M, K]:
            return x


def measured(calls: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Microseconds a call: name to (call, how often), every round measuring each of them once."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, (call, number) in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=number) / number * 1e6)
    return best


def run() -> dict[str, float]:
    """All numbers, in microseconds a call."""
    x, y = torch.zeros(4, 4), torch.zeros(4, 4)
    theirs, ours, sized, unchecked = Theirs(), Ours(), Sized(4), Off()

    def in_full() -> None:
        with config(check="full"):
            for _ in range(100):
                full(x, y)

    times = measured(
        {
            "bare": (lambda: bare(x, y), 200_000),
            "off": (lambda: off(x, y), 200_000),
            "once": (lambda: once(x, y), 100_000),
            "full": (in_full, 5),
            "jaxtyping + beartype": (lambda: jaxtyping_beartype(x, y), 2_000),
            "torch.nn.Module": (lambda: theirs(x), 100_000),
            "nn.Module, off": (lambda: unchecked(x), 100_000),
            "nn.Module, once": (lambda: ours(x), 100_000),
            "nn.Module, Generic[K]": (lambda: sized(x), 100_000),
        }
    )
    times["full"] /= 100
    return times


def remembered(shapes: int) -> int:
    """The signatures that a border remembers after this many distinct shapes (all of them views of one number)."""

    @checked
    def length(x: Tensor[Float32, N]) -> int:
        return len(x)

    base = torch.zeros(1).expand(shapes)
    for size in range(shapes):
        length(base[:size])
    return len(length.__globals__["_st_seen"])


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--shapes", type=int, default=100_000, help="distinct shapes for the memory test")
    arguments = parser.parse_args()
    times = run()
    kept = remembered(arguments.shapes)
    cost = times["once"] - times["bare"]
    other = times["jaxtyping + beartype"] - times["bare"]
    if arguments.json:
        print(json.dumps({"us_per_call": times, "once_over_bare": cost, "ratio": other / cost, "remembered": kept}))
        return
    print(f"torch {torch.__version__}, two tensors and a result, µs a call (best of {ROUNDS} rounds)")
    for name, value in times.items():
        base = times["torch.nn.Module" if "Module" in name else "bare"]
        print(f"  {name:22} {value:8.3f}   +{value - base:.3f}")
    print(
        f"jaxtyping + beartype costs {other / cost:.0f} times what `once` costs (+{other:.1f} against +{cost:.2f} µs)"
    )
    print(f"signatures remembered after {arguments.shapes} distinct shapes: {kept}")


if __name__ == "__main__":
    main()
