"""The programs of ``corpora/``: PyTorch as other people write it, without one annotation.

A program is a file, or a folder of modules whose ``main.py`` is run.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

CORPORA = Path(__file__).parents[2] / "corpora"
PROGRAMS = CORPORA / "programs"
HELD_OUT = CORPORA / "held_out"


@dataclass(frozen=True)
class Program:
    """The text of a program: its files by name, and the one that is run."""

    name: str
    main: str
    files: Mapping[str, str]

    def changed(self, file: str, text: str) -> Program:
        """The program with another text in one of its files."""
        return replace(self, files={**self.files, file: text})

    @property
    def key(self) -> str:
        """What the program is known by in a cache: a hash of all that its run depends on."""
        return sha256(repr((self.main, sorted(self.files.items()))).encode()).hexdigest()[:16]

    @cached_property
    def statements(self) -> dict[str, dict[int, int]]:
        """For each file, from a line to the first line of the innermost statement that it is part of."""
        return {file: _statement_lines(text) for file, text in self.files.items()}

    def statement(self, file: str, line: int) -> tuple[str, int]:
        """The place of the statement that a line is part of: one mistake may be told at several lines of one call."""
        return file, self.statements.get(file, {}).get(line, line)

    @contextmanager
    def written(self) -> Iterator[Path]:
        """The program in a folder of its own; gives the path of its main file."""
        with tempfile.TemporaryDirectory(prefix="followed-") as folder:
            for file, text in self.files.items():
                Path(folder, file).write_text(text)
            yield Path(folder, self.main).resolve()

    def importable(self, main: Path) -> None:
        """Let this process, which is thrown away, import the program's modules, whatever else had their names in it."""
        own = {Path(file).stem for file in self.files}
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]
        os.chdir(main.parent)
        sys.path.insert(0, str(main.parent))
        sys.argv[:] = [str(main)]


def programs(names: Collection[str] = (), folder: Path = PROGRAMS) -> list[Program]:
    """The corpus, or the programs of these names."""
    found = [read(path) for path in sorted(folder.iterdir()) if path.suffix == ".py" or (path / "main.py").exists()]
    unknown = set(names) - {p.name for p in found}
    if unknown:
        raise SystemExit(f"no program of the name {', '.join(sorted(unknown))} in {folder}")
    return [p for p in found if not names or p.name in names]


def read(path: Path) -> Program:
    """The program of a file, or of a folder with a ``main.py``."""
    if path.is_file():
        return Program(path.stem, path.name, {path.name: path.read_text()})
    return Program(path.name, "main.py", {file.name: file.read_text() for file in sorted(path.glob("*.py"))})


def ports() -> list[Program]:
    """The models of ``examples/models``, each run as its test runs it, at sizes that stand in the program."""
    root = CORPORA.parent
    tree = ast.parse((root / "tests/examples/ports.py").read_text())
    functions = {f.name: ast.unparse(f) for f in tree.body if isinstance(f, ast.FunctionDef)}
    start = f"import torch\nfrom typing import Any\n\n{functions['tokens']}\n\n"
    start += "def sizes(seed: int, count: int) -> list[int]:\n    return [2, 3, 5, 7, 11, 13, 17][:count]\n\n"
    out = []
    for path in sorted((root / "examples/models").glob("*.py")):
        main = f"import {path.stem} as port\n{start}{functions[path.stem]}\n\n{path.stem}(port, 0)\n"
        out.append(Program(path.stem, "main.py", {"main.py": main, path.name: path.read_text()}))
    return out


def _statement_lines(text: str) -> dict[int, int]:
    lines: dict[int, int] = {}
    for node in ast.walk(ast.parse(text)):  # outer ones first, so inner ones write over them
        if isinstance(node, ast.stmt):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines[line] = node.lineno
    return lines
