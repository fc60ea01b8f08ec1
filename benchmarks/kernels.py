"""The shipped kernels against eager torch and torch.compile, on a GPU forward and backward; on the CPU what it can say.

    python -m benchmarks.kernels [--only NAME[,NAME]] [--quick] [--tiles] [--seconds N] [--python] [--out FILE]

On a GPU each call is captured in a CUDA graph and replayed, with the L2 cache flushed before each: the time is that of
the GPU, whatever Python takes. "backward" is `torch.autograd.grad` of a kept graph. The share of the bandwidth counts
the bytes that must move at least (each input read once, each result written once) by the data sheet's bytes a second.
The last column is what Python takes to enqueue a call, ours and eager torch's. ``--tiles`` prints the times of other
tiles instead, for who chooses them. A kernel that fails is recorded, and the others go on; nothing is started after
``--seconds``.

Without a GPU: CPU times, the bytes of the model, the peak memory of linear_cross_entropy against eager torch, each in a
process of its own, and what Python takes for a call (``--python``: that alone).
"""
# ruff: noqa: D103 - what is measured does nothing

from __future__ import annotations

import argparse
import datetime
import gc
import importlib
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.nn.functional as F
from torch._functorch import config as functorch

from simpletorch.kernels._chips import bandwidth
from simpletorch.kernels._operator import Operator
from simpletorch.kernels.shipped.adamw_step import adamw_step
from simpletorch.kernels.shipped.cross_entropy import cross_entropy
from simpletorch.kernels.shipped.dropout_add import dropout_add
from simpletorch.kernels.shipped.gated import geglu, swiglu_packed
from simpletorch.kernels.shipped.layer_norm import layer_norm
from simpletorch.kernels.shipped.linear_cross_entropy import linear_cross_entropy
from simpletorch.kernels.shipped.relu_add import relu_add
from simpletorch.kernels.shipped.rms_norm import add_rms_norm, rms_norm
from simpletorch.kernels.shipped.rotary import rotary
from simpletorch.kernels.shipped.softmax import softmax

Sizes = tuple[int, ...]
BF16, F32 = torch.bfloat16, torch.float32


@dataclass(frozen=True)
class Workload:
    """One operator: ours and torch's with the same arguments, and the numbers of elements that must move.

    ``forward`` and ``backward`` are in elements of the dtype, from the sizes. ``sizes`` begin with the one for --quick.
    """

    name: str
    ours: Callable[..., Any]
    eager: Callable[..., Any]
    make: Callable[[Sizes, torch.dtype, str], tuple[Any, ...]]
    sizes: tuple[Sizes, ...]
    forward: Callable[..., float]
    backward: Callable[..., float] | None
    constant: tuple[int, ...] = ()
    small: Sizes = (512, 1024)
    tiny: Sizes = (3, 8)


def rand(*shape: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, device=device)


def tensors(count: int, weights: int = 0) -> Callable[[Sizes, torch.dtype, str], tuple[Any, ...]]:
    def make(size: Sizes, dtype: torch.dtype, device: str) -> tuple[Any, ...]:
        wide = [rand(*size, dtype=dtype, device=device) for _ in range(count)]
        return (*wide, *[rand(size[-1], dtype=dtype, device=device) for _ in range(weights)])

    return make


def packed(size: Sizes, dtype: torch.dtype, device: str) -> tuple[Any, ...]:
    return (rand(size[0], 2 * size[1], dtype=dtype, device=device),)


def turning(size: Sizes, dtype: torch.dtype, device: str) -> tuple[Any, ...]:
    _, tokens, _, wide = size
    angles = torch.arange(tokens, device=device)[:, None] / 10000 ** (torch.arange(wide // 2, device=device) / wide * 2)
    return rand(*size, dtype=dtype, device=device), angles.cos().to(dtype), angles.sin().to(dtype)


def scored(size: Sizes, dtype: torch.dtype, device: str) -> tuple[Any, ...]:
    return rand(*size, dtype=dtype, device=device), torch.randint(size[1], size[:1], device=device)


def projected(size: Sizes, dtype: torch.dtype, device: str) -> tuple[Any, ...]:
    rows, wide, classes = size
    hidden, weight = rand(rows, wide, dtype=dtype, device=device), rand(classes, wide, dtype=dtype, device=device)
    return hidden, weight * wide**-0.5, torch.randint(classes, (rows,), device=device)


def stepped(size: Sizes, dtype: torch.dtype, device: str) -> tuple[Any, ...]:
    count, each = size
    lists = [[rand(each, dtype=dtype, device=device) for _ in range(count)] for _ in range(4)]
    return (*lists[:3], [square.square() for square in lists[3]])


def eager_rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def eager_add_rms_norm(x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = x + y
    return eager_rms_norm(total, weight), total


def eager_rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    cos, sin = (torch.cat((table, table), -1)[None, :, None] for table in (cos, sin))
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def eager_swiglu(x: torch.Tensor) -> torch.Tensor:
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def eager_geglu(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.gelu(x) * y


def eager_adamw(parameters: list[Any], grads: list[Any], averages: list[Any], squares: list[Any]) -> None:
    steps = [torch.ones((), device=parameters[0].device) for _ in parameters]
    torch._fused_adamw_(
        *(parameters, grads, averages, squares, [], steps),
        lr=1e-3,
        beta1=0.9,
        beta2=0.999,
        weight_decay=1e-2,
        eps=1e-8,
        amsgrad=False,
        maximize=False,
    )


def ours_adamw(parameters: list[Any], grads: list[Any], averages: list[Any], squares: list[Any]) -> None:
    adamw_step(parameters, grads, averages, squares, step=1)


ROWS: tuple[Sizes, ...] = ((16384, 4096), (65536, 1024), (8192, 16384), (32768, 8192), (8192, 1024))

WORKLOADS = [
    Workload(
        "relu_add",
        relu_add,
        lambda x, y: F.relu(x + y),
        tensors(2),
        ROWS[:3],
        lambda m, n: 3 * m * n,
        lambda m, n: 3 * m * n,
    ),
    Workload(
        "softmax",
        lambda x: softmax(x, 0.5),
        lambda x: torch.softmax(x * 0.5, -1),
        tensors(1),
        (*ROWS, (4096, 65536)),
        lambda m, n: 2 * m * n,
        lambda m, n: 3 * m * n,
    ),
    Workload(
        "layer_norm",
        layer_norm,
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b),
        tensors(1, 2),
        ROWS,
        lambda m, n: 2 * m * n,
        lambda m, n: 3 * m * n,
    ),
    Workload("rms_norm", rms_norm, eager_rms_norm, tensors(1, 1), ROWS, lambda m, n: 2 * m * n, lambda m, n: 3 * m * n),
    Workload(
        "add_rms_norm",
        add_rms_norm,
        eager_add_rms_norm,
        tensors(2, 1),
        ROWS[:3],
        lambda m, n: 4 * m * n,
        lambda m, n: 4 * m * n,
    ),
    Workload(
        "swiglu_packed",
        swiglu_packed,
        eager_swiglu,
        packed,
        ((16384, 11008), (8192, 14336), (65536, 1408)),
        lambda m, n: 3 * m * n,
        lambda m, n: 5 * m * n,
    ),
    Workload(
        "geglu",
        geglu,
        eager_geglu,
        tensors(2),
        ((16384, 8192), (65536, 2048)),
        lambda m, n: 3 * m * n,
        lambda m, n: 5 * m * n,
    ),
    Workload(
        "rotary",
        rotary,
        eager_rotary,
        turning,
        ((8, 4096, 32, 128), (16, 2048, 16, 64), (8, 4096, 8, 128)),
        lambda b, t, h, d: 2 * b * t * h * d,
        lambda b, t, h, d: 2 * b * t * h * d,
        constant=(1, 2),
        small=(2, 128, 4, 64),
        tiny=(2, 3, 2, 8),
    ),
    Workload(
        "cross_entropy",
        cross_entropy,
        F.cross_entropy,
        scored,
        ((8192, 32000), (8192, 128256), (16384, 50257)),
        lambda m, n: m * n,
        lambda m, n: 2 * m * n,
        small=(128, 5000),
    ),
    Workload(
        "linear_cross_entropy",
        linear_cross_entropy,
        lambda h, w, t: F.cross_entropy(h @ w.T, t),
        projected,
        ((8192, 4096, 32000), (16384, 2048, 32000), (8192, 4096, 128256)),
        lambda m, d, v: m * d + v * d,
        None,
        small=(512, 64, 5000),
        tiny=(3, 4, 8),
    ),
    Workload(
        "dropout_add",
        lambda x, y: dropout_add(x, y, 0.1),
        lambda x, y: F.dropout(x, 0.1) + y,
        tensors(2),
        ROWS[:3],
        lambda m, n: 3 * m * n,
        lambda m, n: 2 * m * n,
    ),
    Workload(
        "adamw_step",
        ours_adamw,
        eager_adamw,
        stepped,
        ((64, 4 << 20), (400, 1 << 18)),
        lambda k, n: 7 * k * n,
        None,
        constant=(0, 1, 2, 3),
        small=(4, 4096),
    ),
]


# -- measuring on a GPU ------------------------------------------------------------------------------------------------


def captured(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call as a CUDA graph; the call itself where it can't be captured, which is said."""
    # a backward runs on the stream of its forward, so all of it runs on the current one, which isn't the default stream
    try:
        for _ in range(2):
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
            call()
    except Exception as error:
        print(f"not captured in a CUDA graph: {type(error).__name__}: {str(error)[:200]}", flush=True)
        return call
    return graph.replay


def milliseconds(call: Callable[[], Any], budget: float = 0.12) -> float:
    """The median time of the GPU for a call, with cold caches."""
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    rounds = int(min(100, max(8, budget / max(time.perf_counter() - start, 1e-5))))
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(rounds)]
    for begin, end in pairs:
        flush.zero_()
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in pairs)


def enqueueing(call: Callable[[], Any]) -> float:
    """Microseconds that Python takes for a call."""
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20):
        call()
    taken = (time.perf_counter() - start) / 20
    torch.cuda.synchronize()
    return taken * 1e6


def differentiated(call: Callable[..., Any], given: tuple[Any, ...], constant: tuple[int, ...]) -> Callable[[], Any]:
    """The backward of a call, of a graph that is made once."""
    leaves, results, grads = graph_of(call, given, constant)
    return lambda: torch.autograd.grad(results, leaves, grads, retain_graph=True)


def graph_of(
    call: Callable[..., Any], given: tuple[Any, ...], constant: tuple[int, ...]
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    moved = [
        x.detach().requires_grad_() if i not in constant and x.is_floating_point() else x for i, x in enumerate(given)
    ]
    results = call(*moved)
    results = list(results) if isinstance(results, tuple) else [results]
    return [x for x in moved if x.requires_grad], results, [torch.randn_like(result) for result in results]


def whole(call: Callable[..., Any], given: tuple[Any, ...], constant: tuple[int, ...]) -> Callable[[], Any]:
    """Forward and backward."""
    moved = [
        x.detach().requires_grad_() if i not in constant and x.is_floating_point() else x for i, x in enumerate(given)
    ]
    leaves = [x for x in moved if x.requires_grad]
    with torch.no_grad():
        result = call(*moved)
    grad = torch.ones_like(result) if result.dim() else None
    return lambda: torch.autograd.grad(call(*moved), leaves, grad)


def directions(work: Workload) -> tuple[str, ...]:
    if work.name == "adamw_step":
        return ("step",)
    if work.backward is None:
        return ("both",)
    # what a compiled forward keeps for its backward is seen in the sum only
    return ("forward", "backward", "both") if work.name == "relu_add" else ("forward", "backward")


def timed(work: Workload, call: Callable[..., Any], given: tuple[Any, ...], direction: str) -> tuple[float, float]:
    """Milliseconds of the GPU, microseconds of Python."""
    if direction == "backward":
        run = differentiated(call, given, work.constant)
    elif direction == "both":
        run = whole(call, given, work.constant)
    else:

        def run() -> Any:
            with torch.no_grad():
                return call(*given)

    python = enqueueing(run)
    return milliseconds(captured(run)), python


@dataclass
class Row:
    """A line of the table."""

    name: str
    size: Sizes
    dtype: str
    direction: str
    ours: float | None = None
    eager: float | None = None
    compiled: float | None = None
    share: float | None = None
    python: float | None = None
    eager_python: float | None = None
    peak: tuple[float, float] | None = None
    failure: str = ""

    def cells(self) -> list[str]:
        """What stands in the line."""

        def ms(value: float | None) -> str:
            return "–" if value is None else f"{value:.3f}"

        def ratio(other: float | None) -> str:
            return "–" if other is None or self.ours is None else f"{other / self.ours:.2f}×"

        return [
            self.name,
            " × ".join(map(str, self.size)),
            self.dtype,
            self.direction,
            ms(self.ours),
            ms(self.eager),
            ms(self.compiled),
            ratio(self.eager),
            ratio(self.compiled),
            "–" if self.share is None else f"{100 * self.share:.0f} %",
            "–" if self.python is None or self.eager_python is None else f"{self.python:.0f} / {self.eager_python:.0f}",
            self.failure or ("" if self.peak is None else f"peak {self.peak[0]:.0f} MiB, eager {self.peak[1]:.0f}"),
        ]


COLUMNS = (
    *("kernel", "size", "dtype", "direction", "ours ms", "eager ms", "compile ms"),
    *("to eager", "to compile", "bandwidth", "Python µs, eager's", ""),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{' --- |' * 4}{' ---: |' * 7} --- |"


def free() -> None:
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


def peak(call: Callable[[], Any]) -> float:
    """MiB that a call needs besides what was there before."""
    free()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def rows_of(work: Workload, size: Sizes, dtype: torch.dtype, limit: float | None) -> Iterator[Row]:
    """The lines of one size; a failure is a line."""
    for direction in directions(work):
        row = Row(work.name, size, str(dtype).removeprefix("torch."), direction)
        given = work.make(size, dtype, "cuda")
        torch._dynamo.reset()
        compiled = None if work.name == "adamw_step" else torch.compile(work.eager, dynamic=False)
        for column, call in (("ours", work.ours), ("eager", work.eager), ("compiled", compiled)):
            if call is None:
                continue
            try:
                time_of, python = timed(work, call, given, direction)
                setattr(row, column, time_of)
                if column == "ours":
                    row.python = python
                elif column == "eager":
                    row.eager_python = python
            except Exception as error:
                traceback.print_exc()
                row.failure += f"{column}: {type(error).__name__}: {' '.join(str(error).split())[:160]} "
            free()
        if work.backward is None and direction == "both":
            try:
                row.peak = tuple(peak(whole(call, given, work.constant)) for call in (work.ours, work.eager))  # type: ignore[assignment]
            except Exception as error:
                row.failure += f"peak: {type(error).__name__} "
        elif row.ours is not None and limit is not None:
            counted = {"backward": (work.backward,), "both": (work.forward, work.backward)}.get(
                direction, (work.forward,)
            )
            elements = sum(count(*size) for count in counted if count is not None)
            row.share = elements * dtype.itemsize / (row.ours * 1e-3) / limit
        del given
        free()
        yield row


def variants(works: list[Workload], quick: bool) -> list[tuple[int, Workload, Sizes, torch.dtype]]:
    """What is measured: the first size of each kernel, then that in float32, then the second of each, and so on."""
    found: list[tuple[int, int, Workload, Sizes, torch.dtype]] = []
    for place, work in enumerate(works):
        first, *others = work.sizes
        found.append((0, place, work, first, F32 if work.name == "adamw_step" else BF16))
        if not quick and work.name not in ("adamw_step", "linear_cross_entropy"):
            found.append((1, place, work, first, F32))
        if not quick:
            dtype = F32 if work.name == "adamw_step" else BF16
            found.extend((2 + number, place, work, size, dtype) for number, size in enumerate(others))
    return [(place, work, size, dtype) for _, place, work, size, dtype in sorted(found, key=lambda one: one[:2])]


def on_gpu(works: list[Workload], quick: bool, seconds: float, out: Callable[[str], None], file: Path | None) -> None:
    if hasattr(functorch, "donated_buffer"):  # private: the backward of a compiled function is run many times
        functorch.donated_buffer = False
    name = torch.cuda.get_device_name()
    limit = bandwidth(name)
    torch.cuda.set_stream(torch.cuda.Stream())
    triton = importlib.import_module("triton")
    big = torch.empty(1 << 30, dtype=torch.int8, device="cuda")
    other = torch.empty_like(big)
    copied = 2 * big.numel() / (milliseconds(lambda: other.copy_(big)) * 1e-3)
    del big, other
    said = "not in the table of data sheets" if limit is None else f"{limit / 1e12:.2f} TB/s in the data sheet"
    head = [
        f"# Kernels on {name}, {datetime.date.today()}\n",
        f"torch {torch.__version__}, Triton {triton.__version__}, Python {platform.python_version()}.\n",
        f"Bandwidth: {said}; a copy of 1 GiB reaches {copied / 1e12:.2f} TB/s.\n",
        HEAD,
    ]
    for line in head:
        out(line)
    begin = time.perf_counter()
    lines: list[tuple[int, str]] = []
    for place, work, size, dtype in variants(works, quick):
        left = seconds - (time.perf_counter() - begin)
        for line in measured(work, size, dtype, limit or copied, left):
            lines.append((place, line))
            out(line)
    if file is not None:  # until now in the order of measuring
        ordered = [line for _, line in sorted(lines, key=lambda one: one[0])]
        file.write_text("\n".join([*head, *ordered]) + "\n")


def measured(work: Workload, size: Sizes, dtype: torch.dtype, limit: float, left: float) -> Iterator[str]:
    """The lines of one size; what went wrong instead."""
    start = f"| {work.name} | {' × '.join(map(str, size))} | {str(dtype).removeprefix('torch.')}"
    if left <= 0:
        yield f"{start} | not measured, the time was over {'| ' * 8}|"
        return
    try:
        for row in rows_of(work, size, dtype, limit):
            yield f"| {' | '.join(row.cells())} |"
    except Exception as error:
        traceback.print_exc()
        yield f"{start} | {type(error).__name__}: {' '.join(str(error).split())[:160]} {'| ' * 8}|"
        free()


# -- tiles -------------------------------------------------------------------------------------------------------------


@contextmanager
def instead(module: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def walking_tiles(n: int, rows: int) -> Iterator[tuple[int, dict[str, int]]]:
    block = 1 << (n - 1).bit_length()
    for height in (1, 2, 4):
        for each in (8, 16, 32):
            warps = height * block // (32 * each)
            if not (4 <= warps <= 32 and height * block <= max(4096, block)):
                continue
            for stages in (1, 2, 3):
                if height * block * 4 * (stages - 1) > 150_000 or (stages == 1 and block < 16384):
                    continue
                for full in (16, 32):
                    programs = min(-(-rows // height), 132 * max(1, full // warps))
                    yield programs, {"BLOCK_M": height, "BLOCK": block, "STAGES": stages, "num_warps": warps}


BLOCKS = [
    {"BLOCK": b, "num_warps": w} for b in (1024, 2048, 4096, 8192, 16384) for w in (4, 8, 16) if 4 <= b / 32 / w <= 64
]


MODULES = {"add_rms_norm": "rms_norm", "swiglu_packed": "gated", "geglu": "gated"}


LOOPS = [{"BLOCK": b, "STAGES": t, "num_warps": w} for b in (4096, 8192, 16384) for t in (1, 2, 3) for w in (4, 8, 16)]


def tiles(work: Workload, size: Sizes) -> Iterator[tuple[str, Any, str, Any]]:
    """Direction, module, name and value of what decides on a tile."""
    module = importlib.import_module(f"simpletorch.kernels.shipped.{MODULES.get(work.name, work.name)}")
    if work.name in ("layer_norm", "rms_norm"):
        for found in walking_tiles(size[-1], size[0]):
            yield "backward", module, "walking_tile", lambda *_, f=found: f
    if work.name == "relu_add":
        for tile in BLOCKS:
            yield "forward", module, "_TILE", tile
    if work.name == "cross_entropy":
        for tile in LOOPS:
            yield "forward", module, "FORWARD_TILE", tile
        for tile in BLOCKS:
            yield "backward", module, "BACKWARD_TILE", tile
    if work.name == "linear_cross_entropy":
        for tile in LOOPS[3:]:
            yield (
                "both",
                importlib.import_module("simpletorch.kernels.shipped.linear_cross_entropy"),
                "IN_PLACE_TILE",
                tile,
            )
    if work.name == "dropout_add":
        for warps in (2, 4, 8, 16):
            yield "forward", module, "_WARPS", warps
    if work.name in ("swiglu_packed", "geglu"):
        for tile in BLOCKS:
            for direction in ("forward", "backward"):
                yield direction, module, "_tile", lambda _, kind, t=tile: {"ACTIVATION": kind, **t}


def try_tiles(works: list[Workload], quick: bool, seconds: float, out: Callable[[str], None]) -> None:
    begin = time.perf_counter()
    torch.cuda.set_stream(torch.cuda.Stream())
    limit = bandwidth(torch.cuda.get_device_name()) or float("nan")
    for work in works:
        for size in work.sizes[:1] if quick else work.sizes:
            given = work.make(size, BF16, "cuda")
            found: dict[str, list[tuple[float, str]]] = {}
            for direction, module, name, value in tiles(work, size):
                if time.perf_counter() - begin > seconds:
                    break
                shown = value
                if callable(value):
                    shown = value(0, 0) if name == "_tile" else value(0)
                try:
                    with instead(module, name, value):
                        taken, _ = timed(work, work.ours, given, direction)
                except Exception as error:
                    print(work.name, size, shown, type(error).__name__, str(error)[:120], flush=True)
                    continue
                found.setdefault(direction, []).append((taken, str(shown)))
                free()
            for direction, times in found.items():
                elements = (work.backward if direction == "backward" else work.forward)(*size)  # type: ignore[misc]
                out(f"## {work.name} {size} {direction}")
                for taken, shown in sorted(times)[:6]:
                    out(f"- {taken:.4f} ms, {100 * elements * 2 / (taken * 1e-3) / limit:.0f} %: {shown}")
            del given
            free()


# -- without a GPU -----------------------------------------------------------------------------------------------------


def peak_of(which: str) -> None:
    """Print the MiB that one loss with its gradients needs: run in a process of its own."""
    torch.set_num_threads(1)
    hidden, weight, targets = projected((2048, 128, 32000), F32, "cpu")
    hidden.requires_grad_()
    weight.requires_grad_()
    loss = linear_cross_entropy if which == "ours" else lambda h, w, t: F.cross_entropy(h @ w.T, t)
    torch.autograd.grad(loss(hidden[:4], weight[:64].detach().requires_grad_(), targets[:4] % 64), hidden)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    torch.autograd.grad(loss(hidden, weight, targets), (hidden, weight))
    seconds = time.perf_counter() - start
    print(json.dumps({"mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, "seconds": seconds}))


def on_cpu(works: list[Workload], out: Callable[[str], None]) -> None:
    out(f"# Kernels on the CPU, {datetime.date.today()}\n")
    out(f"torch {torch.__version__}, {torch.get_num_threads()} threads; no GPU: the operators run their CPU paths.\n")
    out(
        "| kernel | size | ours ms | eager ms | bytes by the model, bfloat16, at |  |  |\n"
        "| --- | --- | ---: | ---: | --- | ---: | ---: |"
    )
    for work in works:
        given = work.make(work.small, F32, "cpu")
        times = []
        for call in (work.ours, work.eager):
            call(*given)
            taken = []
            for _ in range(7):
                start = time.perf_counter()
                call(*given)
                taken.append(time.perf_counter() - start)
            times.append(min(taken) * 1e3)
        size = work.sizes[0]
        moved = f"{2 * work.forward(*size) / 2**20:.0f} MiB forward"
        back = "" if work.backward is None else f"{2 * work.backward(*size) / 2**20:.0f} MiB backward"
        out(f"| {work.name} | {work.small} | {times[0]:.3f} | {times[1]:.3f} | {size} | {moved} | {back} |")
    out(
        "\nPeak memory of a loss with its gradients, 2048 × 128 hidden, vocabulary 32000, float32, each in a process:\n"
    )
    found = {}
    for which in ("ours", "eager"):
        command = [sys.executable, "-m", "benchmarks.kernels", "--peak", which]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        found[which] = json.loads(done.stdout.splitlines()[-1])
        out(f"- {which}: {found[which]['mib']:.0f} MiB, {found[which]['seconds']:.2f} s")
    out(f"- ours / eager: {found['ours']['mib'] / found['eager']['mib']:.3f} (wanted: at most 0.25)")


def least(call: Callable[[], Any], calls: int, rounds: int = 25) -> float:
    """Microseconds of this thread for a call: the least of some rounds, because other programs run beside it."""
    for _ in range(calls):
        call()
    taken = []
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            call()
        taken.append(time.thread_time() - start)
    return min(taken) / calls * 1e6


def calls_of(work: Workload, call: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    """What is done with tensors so small that computing takes next to nothing."""
    given = work.make(work.tiny, F32, "cpu")
    if work.name == "adamw_step":
        return {"step": lambda: call(*given)}
    leaves = [
        x.detach().requires_grad_() if i not in work.constant and x.is_floating_point() else x
        for i, x in enumerate(given)
    ]

    def without_grad() -> None:
        with torch.no_grad():
            call(*given)

    return {
        "no_grad": without_grad,
        "forward": lambda: call(*leaves),
        "backward": differentiated(call, given, work.constant),
    }


class Unlaunched:
    """Stands for a compiled kernel: a launch does nothing."""

    def __getitem__(self, _grid: Any) -> Callable[..., None]:
        return lambda *_arguments, **_options: None


def without_launching() -> None:
    """From now on the operators do on the CPU what they do on a GPU, but for Triton's own part of a launch."""
    triton = importlib.import_module("simpletorch.kernels._triton")
    importlib.import_module("simpletorch.kernels._compile_check")._bind_shipped()
    triton.interpreted = lambda: True  # or a launch refuses tensors on the CPU
    for bound in triton.KERNELS.values():
        bound.function = Unlaunched()
    for name in {MODULES.get(work.name, work.name) for work in WORKLOADS}:
        module = importlib.import_module(f"simpletorch.kernels.shipped.{name}")
        for found in list(vars(module).values()):
            if isinstance(found, Operator) and "cpu" not in found.implementations:
                found.cpu(found.implementations["cuda"])


def python_of(works: list[Workload], out: Callable[[str], None], launching: bool) -> None:
    """A line for each operator: ours, the same through torch's dispatcher, eager torch's."""
    torch.set_num_threads(1)
    direct = importlib.import_module("simpletorch.kernels._direct")
    if launching:
        without_launching()
        works = [work for work in works if work.name not in ("linear_cross_entropy", "adamw_step")]
    for work in works:
        ours, eager = calls_of(work, work.ours), calls_of(work, work.eager)
        with instead(direct, "_STATES", frozenset()):
            asked = calls_of(work, work.ours)
        for direction in ours:
            short = least(ours[direction], 100)
            with instead(direct, "_STATES", frozenset()):
                long = least(asked[direction], 100)
            theirs = least(eager[direction], 100)
            out(f"| {work.name} | {direction} | {short:.1f} | {long:.1f} | {long / short:.1f}× | {theirs:.1f} |")


PYTHON_HEAD = (
    "| kernel | direction | ours µs | by the dispatcher µs | ratio | eager torch's µs |\n"
    "| --- | --- | ---: | ---: | ---: | ---: |"
)


def python_on_cpu(names: str, out: Callable[[str], None]) -> None:
    """What Python takes for a call, in processes of their own."""
    for said, flag in (
        ("Microseconds of Python for a call on tiny tensors (CPU paths, one thread)", "--python-cpu"),
        ("The same of the paths for a GPU, without Triton's own part of a launch", "--python-gpu"),
    ):
        if flag == "--python-gpu" and importlib.util.find_spec("triton") is None:
            continue
        out(f"\n{said}:\n\n{PYTHON_HEAD}")
        command = [sys.executable, "-m", "benchmarks.kernels", flag, "--only", names]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        out(done.stdout.rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tiles", action="store_true")
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--peak", choices=("ours", "eager"), help=argparse.SUPPRESS)
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--python-cpu", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--python-gpu", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peak:
        peak_of(given.peak)
        return
    names = [name for name in given.only.split(",") if name]
    if unknown := [name for name in names if name not in {work.name for work in WORKLOADS}]:
        parser.error(f"no kernel is called {', '.join(unknown)}")
    works = [work for work in WORKLOADS if not names or work.name in names]

    def out(line: str) -> None:
        # at once, so that what was measured is kept when the time is over
        print(line, flush=True)
        if given.out is not None:
            with open(given.out, "a") as file:
                file.write(line + "\n")

    if given.python_cpu or given.python_gpu:
        python_of(works, out, launching=given.python_gpu)
        return
    if given.out is not None:
        given.out.unlink(missing_ok=True)
    if given.python:
        python_on_cpu(given.only, out)
    elif not torch.cuda.is_available():
        on_cpu(works, out)
        python_on_cpu(given.only, out)
    elif given.tiles:
        try_tiles(works, given.quick, given.seconds, out)
    else:
        on_gpu(works, given.quick, given.seconds, out, given.out)


if __name__ == "__main__":
    main()
