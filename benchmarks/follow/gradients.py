"""Whether tensors require a gradient where the follower says so: each program is run, and followed.

``python benchmarks/follow/gradients.py`` prints what is said and isn't so, and how much is known.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import corpus
import random_programs
import recording
import torch
from corpus import Program
from follower import Place
from forked import forked

from simpletorch.follow import follow
from simpletorch.follow.interpreter import Interpreter
from simpletorch.follow.marks import gradients
from simpletorch.follow.values import Tensor


def said(program: Program) -> dict[Place, dict[str, set[bool | None]]]:
    """For each line and name, whether the values require a gradient; None stands for what isn't known."""
    found: dict[Place, dict[str, set[bool | None]]] = defaultdict(lambda: defaultdict(set))
    before = Interpreter.claim

    def claim(run: Interpreter, name: str, value: Any) -> None:
        value = run.resolve(value)
        if not run.entry:
            place = Path(run.path).name, getattr(run.node, "lineno", 0)
            known = gradients.of(run, value) if isinstance(value, Tensor) and not value.array else None
            found[place][name].add(known)
        before(run, name, value)

    Interpreter.claim = claim  # type: ignore[method-assign]
    try:
        with program.written() as main:
            follow(main)
    finally:
        Interpreter.claim = before  # type: ignore[method-assign]
    return found


def real(program: Program) -> list[list[Any]]:
    """What torch says of the same."""
    recording._value = lambda value: value.requires_grad if isinstance(value, torch.Tensor) else None
    recorded, _ = recording.record(program)
    return [[*place, name, sorted(values)] for place in recorded for name, values in recorded[place].items()]


def main() -> int:
    """Print what is wrong, and how much is known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names of programs (all)")
    parser.add_argument("--random", type=int, default=0, help="so many random programs instead")
    arguments = parser.parse_args()
    made_up = [random_programs.program(seed) for seed in range(arguments.random)]
    names = known = wrong = 0
    for program, answer in forked(real, made_up or corpus.programs(arguments.program), 1):
        if not isinstance(answer, list):
            print(f"{program.name} doesn't run: {answer}")
            continue
        claims = said(program)
        for file, line, name, values in answer:
            names += 1
            claimed = claims.get((file, line), {}).get(name, {None})
            known += None not in claimed
            if None not in claimed and not set(values) <= claimed:
                wrong += 1
                print(f"{program.name}: {file}:{line}: {name} is said to be {claimed}, but is {values}")
    print(f"{names} tensors by line and name, {known} known, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
