"""Programs of several processes in various styles, as they are and each with slips: what following them finds.

    python benchmarks/follow/slips.py                # followed: false alarms, slips found
    python benchmarks/follow/slips.py --run          # each run by two processes first (gloo): whether torch refuses it

A slip is found where following says a mistake of any line. ``--run`` takes five seconds a program and writes nothing.
Exit status 1 for a false alarm, a slip that torch (with ``--run``) doesn't refuse, or a program that doesn't run.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from corpus import CORPORA
from follower import simpletorch_follower

FOLDER: Final = CORPORA / "several_processes"
SPAWNING: Final = ("ddp_tutorial", "pipeline_launch", "tutorial_collectives")  # they start their processes themselves

SLIPS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "clip_gather": (
        ("nn.Linear(3 * 16 * 16, width)", "nn.Linear(3 * 16 * 15, width)"),
        ("[torch.zeros_like(text_features) for", "[torch.zeros(len(text_features), 32) for"),
        ("labels = torch.arange(num_logits,", "labels = torch.arange(2 * num_logits,"),
        ("text_features @ all_image_features.T", "text_features @ all_image_features"),
    ),
    "ddp_tutorial": (
        ("nn.Linear(11, 5)", "nn.Linear(13, 5)"),
        ("labels = torch.randn(20, 5)", "labels = torch.randn(20, 7)"),
        ("torch.randint(5, (20,))", "torch.randint(5, (21,))"),
    ),
    "dtensor_mesh": (
        ("torch.randn(6, 4), flat", "torch.randn(7, 4), flat"),
        ("sharded @ replicated", "sharded @ torch.randn(6, 4)"),
        ("self.head = nn.Linear(dim, classes)", "self.head = nn.Linear(hidden, classes)"),
        ("nn.Linear(6, 3), flat", "nn.Linear(5, 3), flat"),
        ("torch.randint(7, (9,))", "torch.randint(7, (8,))"),
    ),
    "evaluate_gather": (
        ("nn.Linear(32, 5)", "nn.Linear(31, 5)"),
        ("world_size * x.shape[0],", "world_size * (x.shape[0] + 1),"),
        (".reshape(num_classes, num_classes)", ".reshape(num_classes, num_classes + 1)"),
    ),
    "fsdp1_language_model": (
        ("self.head = nn.Linear(width, vocab)", "self.head = nn.Linear(vocab, vocab)"),
        ("[torch.zeros(len(tokens)) for", "[torch.zeros(len(tokens) + 1) for"),
        ("F.cross_entropy(logits.transpose(1, 2), ", "F.cross_entropy(logits, "),
    ),
    "fsdp2_tutorial": (
        ("nn.Linear(4 * args.dim, args.dim)", "nn.Linear(3 * args.dim, args.dim)"),
        ("vocab_size), x.view(-1))", "vocab_size), x[:, 1:].reshape(-1))"),
        ("self.output = nn.Linear(args.dim, ", "self.output = nn.Linear(args.n_heads, "),
    ),
    "imagenet_style": (
        ("nn.Linear(16 * 8 * 8, num_classes)", "nn.Linear(16 * 7 * 7, num_classes)"),
        ("torch.randint(10, (96,))", "torch.randint(10, (95,))"),
        ("nn.BatchNorm2d(16)", "nn.BatchNorm2d(3)"),
    ),
    "megatron_layers": (
        ("size[0] = size[0] * world", "size[0] = size[0] * world * 2"),
        ("y = torch.randint(classes, (10,))", "y = torch.randint(classes, (11,))"),
        ("x = torch.randn(10, hidden)", "x = torch.randn(10, ffn)"),
    ),
    "moe_all_to_all": (
        ("self.down = nn.Linear(hidden, dim)", "self.down = nn.Linear(dim, dim)"),
        ("received = torch.empty_like(buffer)", "received = x.new_empty(self.world * self.capacity, dim + 1)"),
        ("y = torch.randint(3, (6,))", "y = torch.randint(3, (5,))"),
        ("assert out.shape == part.shape", "out = out + funcol.all_gather_tensor(part, 1, dist.group.WORLD)[:, :5]"),
    ),
    "nanogpt_style": (
        ("nn.Linear(4 * config.n_embd, config.n_embd)", "nn.Linear(2 * config.n_embd, config.n_embd)"),
        ("targets.view(-1), ignore", "targets, ignore"),
        ("q = q.view(B, T, self.n_head, C // self.n_head)", "q = q.view(B, T, self.n_head, C)"),
    ),
    "pipeline_launch": (
        ("nn.Linear(28, 13)", "nn.Linear(29, 13)"),
        ("PARTS = 4", "PARTS = 3"),
        ("torch.randint(5, (20,))", "torch.randint(5, (24,))"),
        ("torch.linspace(0, 1, 7)", "torch.linspace(0, 1, 9)"),
    ),
    "tensor_parallel_plan": (
        ("layer.attention.n_heads //= tp_mesh.size()", "pass"),
        (
            '"layers.*.feed_forward.w3": ColwiseParallel(),',
            '"layers.*.feed_forward.w3": ColwiseParallel(output_layouts=Replicate()),',
        ),
        ('"layers.*.feed_forward.w1": ColwiseParallel(),\n', ""),
        ("self.w2 = nn.Linear(args.hidden, args.dim, ", "self.w2 = nn.Linear(args.dim, args.dim, "),
        ("tokens[:, 1:].flatten()", "tokens.flatten()"),
    ),
    "torchrun_multigpu": (
        ("torch.nn.Linear(20, 1)", "torch.nn.Linear(21, 1)"),
        ("output = self.model(source)", "output = self.model(source.t())"),
        ("F.mse_loss(output, targets)", "F.cross_entropy(output, targets.long()[:, 0:1].view(-1)[1:])"),
    ),
    "tutorial_collectives": (
        ("nn.Linear(320, 50)", "nn.Linear(340, 50)"),
        ("rows = [torch.zeros(2, 3) for", "rows = [torch.zeros(3, 5) for"),
        ("mine = torch.zeros(5)", "mine = torch.zeros(6)"),
        ("x = x.view(-1, 320)", "x = x.view(-1, 321)"),
    ),
}
"""By program: what is written, and what stands there instead."""


def runs(path: Path) -> bool:
    """Whether two processes get to the end of it."""
    torchrun = [str(Path(sys.executable).with_name("torchrun")), "--nproc-per-node", "2", "--rdzv-backend", "c10d"]
    started = [sys.executable] if path.stem in SPAWNING else [*torchrun, "--rdzv-endpoint", "localhost:0"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MASTER_PORT": str(random.randint(20_000, 40_000))}
    with subprocess.Popen(
        [*started, str(path)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            return process.wait(120) == 0
        except subprocess.TimeoutExpired:
            process.terminate()
            return False


def main() -> int:
    """Follow (and run) all; print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="all if none is named")
    parser.add_argument("--run", action="store_true")
    arguments = parser.parse_args()
    follow = simpletorch_follower()
    wrong = found = count = 0
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.programs or SLIPS:
            text = (FOLDER / f"{name}.py").read_text()
            for old, new in (("", ""), *SLIPS[name]):
                if old and text.count(old) != 1:
                    raise SystemExit(f"{name}: {old!r} stands there {text.count(old)} times")
                path = Path(folder, f"{name}.py")
                path.write_text(text.replace(old, new) if old else text)
                answer = follow(path)
                seconds.append(answer.seconds)
                said = "; ".join(f"line {f.place[1]}: {f.message}" for f in answer.found) or answer.crash
                right = None if not arguments.run else runs(path)
                told = "" if right is None else " [runs]" if right else " [refused]"
                if not old:
                    wrong += bool(said) + (right is False)
                    print(f"{name}{told}: {said or 'nothing said'}")
                else:
                    count, found, wrong = count + 1, found + bool(answer.found), wrong + bool(right)
                    print(f"    {new}{told}: {said or 'MISSED'}")
    print(f"{found} of {count} slips found; {wrong} wrong; slowest {1000 * max(seconds):.0f} ms")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
