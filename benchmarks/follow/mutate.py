"""Mutants of a program: one small mistake each, as people make them, at a place that its syntax tree gives.

    python benchmarks/follow/mutate.py vit_plain --count 8      # shows the first eight of one program

A mutant differs from its program in one or two places of one file; all lines stay where they are. The mistakes of one
program come in an order that depends on its name and the seed alone, one kind after the other: the first twelve are the
beginning of the first twenty.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass

import corpus
from corpus import Program
from mistakes import KINDS, Edit, Source


@dataclass(frozen=True)
class Mutant:
    """A program with one mistake in it."""

    program: Program
    kind: str
    file: str
    lines: tuple[int, ...]
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.file}:{self.lines[0]}: {self.kind}: {self.was}  =>  {self.now}"


def mutants(program: Program, count: int, seed: int = 0) -> list[Mutant]:
    """The first so many mutants, no two of the same text."""
    seen, distinct = {program.key}, []
    for mutant in _unfiltered(program, seed):
        if len(distinct) == count:
            break
        if mutant.program.key not in seen:
            seen.add(mutant.program.key)
            distinct.append(mutant)
    return distinct


def _unfiltered(program: Program, seed: int) -> Iterator[Mutant]:
    sources = {file: Source(text) for file, text in program.files.items()}
    piles = []
    for kind, find in KINDS.items():
        pile = [(kind, file, edits) for file, source in sources.items() for edits in find(source) if all(edits)]
        random.Random(f"{seed}/{program.name}/{kind}").shuffle(pile)
        piles.append(pile)
    random.Random(f"{seed}/{program.name}").shuffle(piles)
    while piles := [pile for pile in piles if pile]:
        for pile in piles:
            kind, file, edits = pile.pop()
            if mutant := _mutant(program, kind, file, sources[file], edits):
                yield mutant


def _mutant(program: Program, kind: str, file: str, source: Source, edits: tuple[Edit, ...]) -> Mutant | None:
    text = source.edited(edits)
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    lines = tuple(sorted({edit.line for edit in edits}))
    was, now = (t.split("\n")[lines[0] - 1].strip() for t in (program.files[file], text))
    return Mutant(program.changed(file, text), kind, file, lines, was, now)


def main() -> None:
    """Show mutants."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names of programs (all)")
    parser.add_argument("--count", type=int, default=12, help="mutants of each program (12)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for program in corpus.programs(arguments.program):
        for mutant in mutants(program, arguments.count, arguments.seed):
            print(f"{program.name}: {mutant}")


if __name__ == "__main__":
    main()
