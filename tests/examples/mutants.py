"""Mutated copies of the ports: whether they still run, what mypy says, and where it says it.

Table of all: python tests/examples/mutants.py
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TypeAlias

import torch

from tests import warm
from tests.examples import ports
from tests.examples.mutations import MUTATIONS

SEEDS = (0, 1)
ERROR = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: (?P<message>.*)$")


Error: TypeAlias = tuple[int, str]  # line and message


@dataclass
class Mutant:
    """One slip in one port."""

    name: str
    old: str
    new: str
    path: Path
    line: int
    failure: str = ""  # what a run says; empty: it runs and every shape is right
    errors: list[Error] = field(default_factory=list)  # what mypy says

    @property
    def is_near(self) -> bool:
        """Whether mypy's first error is in the mutated statement or in one that uses what that one makes."""
        return bool(self.errors) and self.errors[0][0] in near(self.path.read_text(), self.line)

    def __str__(self) -> str:
        said = f"mypy, line {self.errors[0][0]}: {self.errors[0][1]}" if self.errors else "mypy: nothing"
        return f"{self.name}:{self.line}: {self.old}  ->  {self.new}\n    run: {self.failure or 'fine'}\n    {said}"


def write(folder: Path) -> list[Mutant]:
    """All mutants, as files in ``folder``."""
    mutants = []
    for name, slips in MUTATIONS.items():
        source = (ports.MODELS / f"{name}.py").read_text()
        for i, (old, new) in enumerate(slips):
            if source.count(old) != 1:
                raise ValueError(f"{name}: {old!r} occurs {source.count(old)} times, not once")
            path = folder / f"{name}_{i}.py"
            path.write_text(source.replace(old, new))
            mutants.append(Mutant(name, old, new, path, source[: source.index(old)].count("\n") + 1))
    return mutants


def run(mutant: Mutant) -> None:
    """Note the error that the mutant raises at one of some random sizes."""
    try:
        port = ports.load(mutant.path)
        for seed in SEEDS:
            torch.manual_seed(seed)
            ports.PORTS[mutant.name](port, seed)
    except Exception as error:  # anything at all: the mutant is broken
        mutant.failure = f"{type(error).__name__}: {str(error).strip() or 'wrong shape'}".splitlines()[0]


def check(mutants: list[Mutant], folder: Path) -> None:
    """Note what mypy says about each, in one run."""
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", warm.cache(folder)]
    files = [mutant.path for mutant in mutants]
    done = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or "could not analyse" in done.stderr:
        raise RuntimeError(f"mypy failed:\n{done.stdout}{done.stderr}")
    said = _errors(done.stdout)
    for mutant in mutants:
        mutant.errors = sorted(said.get(mutant.path.name, []))


def check_in_daemon(mutants: list[Mutant], folder: Path) -> Iterator[tuple[Mutant, list[Error], list[Error]]]:
    """What mypy's daemon says when the port is edited to be each mutant, and when it is the port again."""
    dmypy = [sys.executable, "-m", "mypy.dmypy", "--status-file", str(folder / "dmypy.json")]
    names = sorted({f"{mutant.name}.py" for mutant in mutants})
    ticks = count(int(time.time()))  # mypy takes a file of the same size and second to be the same

    def edit(name: str, source: str) -> list[Error]:
        (folder / name).write_text(source)
        now = next(ticks)
        os.utime(folder / name, (now, now))
        done = subprocess.run([*dmypy, "check", *names], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return sorted(_errors(done.stdout).get(name, []))

    for name in names:
        shutil.copy(ports.MODELS / name, folder)
    settings = ["--config-file", str(warm.STRICT), "--cache-dir", str(folder / ".mypy_cache")]
    subprocess.run([*dmypy, "start", "--", *settings], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    try:
        for mutant in mutants:
            name = f"{mutant.name}.py"
            said = edit(name, mutant.path.read_text())
            yield mutant, said, edit(name, (ports.MODELS / name).read_text())
    finally:
        subprocess.run([*dmypy, "stop"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _errors(output: str) -> dict[str, list[Error]]:
    """mypy's errors, by the names of the files."""
    found: dict[str, list[Error]] = {}
    for line in output.splitlines():
        match = ERROR.match(line)
        if match is not None:
            found.setdefault(Path(match["file"]).name, []).append((int(match["line"]), match["message"]))
    return found


def near(source: str, line: int) -> set[int]:
    """The lines of the statement at ``line`` and of its direct consumers.

    Consumers are the statements of the same function that use a variable which it assigns. Where it makes an attribute,
    such as a layer, the statements of the class that use the attribute come first, and then their consumers.
    A statement that only packs or unpacks sequences hands on what it gets: its consumers count as well.
    """
    tree = ast.parse(source)
    scope = _scopes(tree)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    mutated = max((s for s in statements if line in _lines(s)), key=lambda s: s.lineno)
    found = [mutated]
    made = _names(mutated, ast.Store)
    if attributes := {name for name in made if name.startswith("self.")}:
        found += [s for s in statements if scope[s][:1] == scope[mutated][:1] and attributes & _names(s, ast.Load)]
    for maker in tuple(found):
        consumers = _consumers(maker, statements, scope)
        found += consumers
        for carrier in consumers:
            if any(name in ast.unparse(carrier) for name in ("pack_padded_sequence(", "pad_packed_sequence(")):
                found += _consumers(carrier, statements, scope)
    return {number for statement in found for number in _lines(statement)}


def _consumers(maker: ast.stmt, statements: list[ast.stmt], scope: dict[ast.AST, tuple[str, ...]]) -> list[ast.stmt]:
    variables = {name for name in _names(maker, ast.Store) if not name.startswith("self.")}
    return [s for s in statements if scope[s] == scope[maker] and variables & _names(s, ast.Load)]


def _scopes(tree: ast.Module) -> dict[ast.AST, tuple[str, ...]]:
    """The classes and functions around each node, outermost first."""
    scopes: dict[ast.AST, tuple[str, ...]] = {}

    def visit(node: ast.AST, around: tuple[str, ...]) -> None:
        scopes[node] = around
        inner = (*around, node.name) if isinstance(node, ast.ClassDef | ast.FunctionDef) else around
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(tree, ())
    return scopes


def _head(statement: ast.stmt) -> list[ast.AST]:
    """A statement without the statements in it."""
    nodes: list[ast.AST] = []
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        nodes.append(node)
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    return nodes


def _lines(statement: ast.stmt) -> range:
    """The lines of a statement; of one with a body, those before it."""
    body = getattr(statement, "body", None)
    return range(statement.lineno, (body[0].lineno if body else (statement.end_lineno or statement.lineno) + 1))


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    """The variables and attributes (``self.fc``) that a statement stores or loads."""
    names = set()
    for node in _head(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, context):
            names.add(node.id if isinstance(node, ast.Name) else f"self.{node.attr}")
    return names


def examine(folder: Path) -> list[Mutant]:
    """All mutants, run and checked."""
    mutants = write(folder)
    for mutant in mutants:
        run(mutant)
    check(mutants, folder)
    return mutants


def main() -> None:
    """Print every mutant that is missed or reported far away, and the totals."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        mutants = examine(Path(folder))
        broken = [m for m in mutants if m.failure]
        caught = [m for m in broken if m.errors]
        near_by = [m for m in caught if m.is_near]
        for title, some in (
            ("RUNS", [m for m in mutants if not m.failure]),
            ("MISSED", [m for m in broken if not m.errors]),
            ("FAR", [m for m in caught if not m.is_near]),
        ):
            for mutant in some:
                print(title, mutant)
        print(f"{len(mutants)} mutants, {len(broken)} broken, {len(caught)} caught, {len(near_by)} near")


if __name__ == "__main__":
    main()
