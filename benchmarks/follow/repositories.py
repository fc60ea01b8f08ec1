"""How far the follower comes in sixty repositories by others, and what it says of them.

``repositories.txt`` has the repositories and the rule that chose them. ``--mirrors`` is a folder with a git directory
for each (``owner+name``, or one ``repo`` or ``repo/.git`` in it); its files are unpacked below ``--unpacked``, once.
Each file is followed as the main program, in the repository's folder; nothing is installed for it. It sets
``SIMPLETORCH_CACHE=off``, so that nothing was followed before::

    python benchmarks/follow/repositories.py --mirrors ~/mirrors               # results/sixty_repositories.md
    python benchmarks/follow/repositories.py --mirrors ~/mirrors --only gan    # prints only, of these kinds or names

An *entry script* trains: from its statements outside of definitions the names of the repository's own functions,
classes and methods lead to a ``backward``, or to a ``fit`` and a ``training_step``. It is *reached* if following comes
to a ``….backward(…)`` while it follows the program itself, and its *loss is known* if that has a tensor.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import multiprocessing
import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from simpletorch.follow import Followed, expressions, follow
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources.notebooks import follow_document, is_notebook, read

LIST: Final = Path(__file__).with_suffix(".txt")
PAGE: Final = Path(__file__).parents[1] / "results/sixty_repositories.md"
UNPACKED: Final = Path(os.environ.get("SIMPLETORCH_PACKAGES", Path.home() / ".cache/simpletorch/packages")) / "sixty"
BY_HAND: Final = "## Read by hand"
"""The part of the page that a new run keeps."""
_MODEL: Final = re.compile(r"(?i)net|model")  # of these ``.train()`` only chooses a mode
_DEFINES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Repository:
    """One of the sixty."""

    kind: str
    name: str
    commit: str

    def unpacked(self, mirrors: Path, into: Path) -> Path:
        """The folder with its files."""
        folder = into / self.name.replace("/", "+")
        if not folder.exists():
            mirror = mirrors / folder.name
            git = next(g for g in (mirror / "repo/.git", mirror / "repo", mirror) if (g / "HEAD").exists())
            listed = _git(git, "ls-tree", "-r", "-z", self.commit).decode().split("\0")[:-1]
            blobs = {
                path: about.split()[2]
                for about, _, path in (line.partition("\t") for line in listed)
                if " blob " in about
            }
            for path, text in zip(blobs, _contents(git, list(blobs.values())), strict=True):
                if text is not None:
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    (folder / path).write_bytes(text)
        return folder


def _git(git: Path, *command: str, given: str = "") -> bytes:
    return subprocess.run(
        ["git", f"--git-dir={git}", *command], input=given.encode(), check=True, capture_output=True
    ).stdout


def _contents(git: Path, blobs: Sequence[str]) -> Iterator[bytes | None]:
    """The files of these names; None for one that a mirror lacks, as some lack large ones."""
    stream = io.BytesIO(_git(git, "cat-file", "--batch", given="\n".join(blobs)))
    for _ in blobs:
        about = stream.readline().split()
        if about[-1] == b"missing":
            yield None
        else:
            yield stream.read(int(about[-1]))
            stream.readline()


@dataclass
class Result:
    """What came of one file."""

    repository: str
    path: str
    is_entry: bool
    reached: bool = False
    loss: bool = False
    known: int = 0
    lines: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    stopped: str = ""
    """Where following the program ended before its last statement, and why."""
    dark: list[str] = field(default_factory=list)
    """What was called and not followed."""
    causes: list[str] = field(default_factory=list)
    """Why lines with tensors aren't known, each with its place."""


def chosen(only: Sequence[str]) -> Iterator[Repository]:
    """The repositories of the list, or those of these kinds and names."""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, place = line.split()
            name, _, commit = place.partition("@")
            if not only or kind in only or any(part in name for part in only):
                yield Repository(kind, name, commit)


# -- entry scripts -----------------------------------------------------------------------------------------------------


@cache
def _parsed(path: Path) -> ast.Module | None:
    try:
        return ast.parse(read(path).text if is_notebook(path) else path.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, ValueError, RecursionError, OSError):
        return None


@cache
def _named(root: Path) -> dict[str, list[Path]]:
    """The modules of a repository by the last part of their names."""
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*.py")):
        found.setdefault(path.parent.name if path.stem == "__init__" else path.stem, []).append(path)
    return found


def is_entry(path: Path, root: Path) -> bool:
    """Whether a file trains as it is run, as far as names say."""
    tree = _parsed(path)
    if tree is None:
        return False
    defined = _defined(path, root)
    left: list[ast.AST] = [s for s in tree.body if not isinstance(s, _DEFINES)]
    met: set[str] = set()
    while left:
        for name in _mentioned(left.pop()):
            if name not in met:
                met.add(name)
                left += defined.get(name, ())
    return "backward" in met or {"fit", "training_step"} <= met


def _defined(path: Path, root: Path) -> dict[str, list[ast.AST]]:
    """The functions and classes of a file, and of the modules that it may import, by name."""
    found: dict[str, list[ast.AST]] = {}
    left, met = [path], {path}
    while left:
        tree = _parsed(left.pop())
        for node in () if tree is None else ast.walk(tree):
            if isinstance(node, _DEFINES):
                found.setdefault(node.name, []).append(node)
            new = {other for name in _imported(node) for other in _named(root).get(name, ())} - met
            left += sorted(new)
            met |= new
    return found


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (part for a in node.names for part in a.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
        yield from (a.name for a in node.names)


def _mentioned(node: ast.AST) -> Iterator[str]:
    """The names in some code: in a class its constructor's and its call's, and a step of a training."""
    if isinstance(node, ast.ClassDef):
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name in ("__init__", "__call__"):
                yield from _mentioned(method)
            elif isinstance(method, ast.FunctionDef) and method.name == "training_step":
                yield method.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute) and not (
            inner.attr == "train" and _MODEL.search(ast.unparse(inner.value))
        ):
            yield inner.attr


# -- following ---------------------------------------------------------------------------------------------------------


class Watch:
    """Notes while it lasts whether a training step is reached, and whether it has a loss that is known."""

    reached = loss = False

    def __init__(self) -> None:
        plain = expressions.TABLE[ast.Call]
        backward = events.BACKWARD

        def call(run: Any, node: ast.expr, scope: Any) -> Any:
            match node:
                case ast.Call(func=ast.Attribute(attr="backward")):
                    self.reached |= not run.hypothetical
            return plain(run, node, scope)

        def differentiated(run: Any, loss: Any) -> None:
            self.reached |= not run.hypothetical
            self.loss |= not run.hypothetical

        expressions.TABLE[ast.Call] = call
        backward.add(differentiated)


WATCH: Watch | None = None


def followed(work: tuple[str, Path, str]) -> Result:
    """What comes of a file of a repository."""
    global WATCH
    name, root, path = work
    WATCH = WATCH or Watch()
    WATCH.reached = WATCH.loss = False
    os.chdir(root)
    result = Result(name, path, is_entry(root / path, root))
    start = time.process_time()
    try:
        found: Followed = follow_document(path) if is_notebook(path) else follow(path)
    except (ValueError, OSError):
        return result
    result.seconds = time.process_time() - start
    result.reached, result.loss = WATCH.reached, WATCH.loss
    result.known, result.lines = found.coverage
    result.stopped, result.faults = found.ended, list(found.faults)
    here = f"{root}/"  # of modules that were found by an absolute path
    result.findings = [
        f"{f.path.removeprefix(here)}:{f.line}: {f.message} [{f.code}]" for f in (*found.errors, *found.warnings)
    ]
    result.causes = [f"{where.removeprefix(here)}:{line}: {why}" for where, line, why, _ in found.causes]
    result.dark = [f"{where.removeprefix(here)}:{line}: {what}" for where, line, what in found.not_followed]
    return result


def files(root: Path) -> Iterator[str]:
    """The files of a repository that are programs, or may be."""
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".ipynb") and path.is_file() and ".ipynb_checkpoints" not in path.parts:
            yield str(path.relative_to(root))


# -- the report --------------------------------------------------------------------------------------------------------


def table(repositories: Sequence[Repository], results: Sequence[Result]) -> Iterator[str]:
    """A row for each repository, and their sum."""
    yield "| kind | repository | files | entry scripts | reached | loss known | lines known | findings | CPU s |"
    yield f"{'| --- | --- ' + '| ---: ' * 7}|"
    for r in repositories:
        yield _row(r.kind, f"{r.name}@{r.commit[:8]}", [f for f in results if f.repository == r.name])
    yield _row("", f"**all {len(repositories)}**", results)


def _row(kind: str, name: str, results: Sequence[Result]) -> str:
    entries = [r for r in results if r.is_entry]
    lines, found = sum(r.lines for r in entries), {f for r in results for f in r.findings}
    known = f"{sum(r.known for r in entries) / lines:.0%} of {lines}" if lines else "–"
    counts = len(results), len(entries), sum(r.reached for r in entries), sum(r.loss for r in entries)
    seconds = sum(r.seconds for r in results)
    return f"| {kind} | {name} | {' | '.join(map(str, counts))} | {known} | {len(found)} | {seconds:.1f} |"


def page(repositories: Sequence[Repository], results: Sequence[Result]) -> str:
    """The whole report."""
    entries = [r for r in results if r.is_entry]
    seconds = sorted(r.seconds for r in entries)
    rule = [line[2:] for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
    found = sorted({f"{r.repository} `{f}`" for r in results for f in r.findings})
    parts = [
        "# Sixty repositories that were chosen by a rule",
        "Written by `python benchmarks/follow/repositories.py`, whose docstring says what is counted.",
        "\n".join(rule),
        f"Of {len(entries)} entry scripts {sum(r.reached for r in entries)} are followed to a training step, "
        f"{sum(r.loss for r in entries)} with a loss that is known. In the median a script takes "
        f"{seconds[len(seconds) // 2]:.2f} s of CPU time.",
        "\n".join(table(repositories, results)),
        "## What isn't reached\n\n" + "\n".join(f"- {line}" for line in missed(entries)),
        "## What was said\n\n" + "\n".join(f"- {line}" for line in found),
    ]
    return "\n\n".join(parts) + "\n"


def missed(entries: Sequence[Result]) -> Iterator[str]:
    """The entry scripts that aren't followed to a training step, with the last that is known of each."""
    for r in entries:
        if not r.reached:
            why = r.stopped or "; ".join(r.dark[-2:])
            yield f"{r.repository} `{r.path}`: {why or 'no reason is known'}"


def main() -> None:
    """Follow the repositories, and write or print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--unpacked", type=Path, default=UNPACKED)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("-j", type=int, default=1)
    options = parser.parse_args()
    os.environ["SIMPLETORCH_CACHE"] = "off"
    repositories = list(chosen(options.only))
    roots = {r.name: r.unpacked(options.mirrors, options.unpacked).absolute() for r in repositories}
    work = [(name, root, path) for name, root in roots.items() for path in files(root)]
    with multiprocessing.get_context("spawn").Pool(options.j, maxtasksperchild=40) as pool:
        results = pool.map(followed, work, chunksize=1)
    if options.json:
        options.json.write_text(json.dumps([vars(r) for r in results], indent=1))
    print("\n".join((*table(repositories, results), *missed([r for r in results if r.is_entry]))))
    if not options.only:
        before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        kept = "".join(before.partition(BY_HAND)[1:])
        PAGE.write_text("\n".join((page(repositories, results), kept)).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
