"""How many wrong sizes of layers the follower finds in sixty repositories by others.

In each entry script of `repositories.py`, sizes of layers that the program makes are changed one at a time, in any file
of the repository: what a layer takes becomes one more, as ``nn.Linear(64, 10)`` becomes ``nn.Linear((64) + 1, 10)``.
Such a layer fails at its first call. The mistake is found if the follower says something that it doesn't say of the
script as it is. A layer that is made and never called can't be told from one whose call isn't reached; both are in the
row "not called". It sets ``SIMPLETORCH_CACHE=off``. Files are changed below ``--unpacked`` and put back::

    python benchmarks/follow/seeded.py --mirrors ~/mirrors              # results/seeded_sizes.md
    python benchmarks/follow/seeded.py --mirrors ~/mirrors --only gan   # prints only, of these kinds or names
"""

from __future__ import annotations

import argparse
import ast
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from repositories import UNPACKED, Repository, chosen, files, is_entry

from simpletorch.follow import follow
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources.notebooks import is_notebook

PAGE: Final = Path(__file__).parents[1] / "results/seeded_sizes.md"
MOST: Final = 6
"""Sizes that are changed in one script."""
TAKES: Final = {
    **dict.fromkeys(("Linear", "LazyLinear"), "in_features"),
    **dict.fromkeys((f"{kind}{n}d" for kind in ("Conv", "ConvTranspose") for n in (1, 2, 3)), "in_channels"),
    **dict.fromkeys((f"BatchNorm{n}d" for n in (1, 2, 3)), "num_features"),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell"), "input_size"),
}
"""The parameter of each layer that says what it takes; it is the first one too."""
Place = tuple[str, int, int]


@dataclass
class Made:
    """A call that makes layers, and what these are given while the program is followed."""

    name: str
    given: list[Any] = field(default_factory=list)


class Watch:
    """Notes while it lasts where layers are made, and what they are called with."""

    def __init__(self) -> None:
        self.made: dict[Place, Made] = {}
        self._places: dict[int, tuple[Place, Any]] = {}
        events.LAYER_MADE.add(self._make)
        events.LAYER_OPERANDS.add(self._call)

    def clear(self) -> None:
        """Forget what was noted."""
        self.made.clear()
        self._places.clear()

    def _make(self, run: Any, module: Any, rule: Any) -> None:
        path, node, _ = run.place
        place = os.path.abspath(path), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        self.made.setdefault(place, Made(module.cls.name.rpartition(".")[2]))
        self._places[id(module)] = place, module

    def _call(self, run: Any, module: Any, rule: Any, args: Any, kwargs: Any) -> None:
        place, _ = self._places.get(id(module), (None, None))
        if place is not None:
            self.made[place].given.append(args[0] if args else None)


@dataclass(frozen=True)
class Seed:
    """A size that is made wrong: its file, where it stands there, and what came of it."""

    repository: str
    script: str
    place: str
    shown: str
    kind: str


def _argument(text: str, place: Place, name: str) -> ast.expr | None:
    """The size that a layer takes, in the call at a place of a file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == place[1:]:
            named = {k.arg: k.value for k in node.keywords}
            plain = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
            return named.get(TAKES[name], plain)
    return None


def _changed(text: bytes, size: ast.expr) -> bytes:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    begin = starts[size.lineno - 1] + size.col_offset
    end = starts[(size.end_lineno or 0) - 1] + (size.end_col_offset or 0)
    return text[:begin] + b"(" + text[begin:end] + b") + 1" + text[end:]


def _said(path: str) -> set[tuple[str, int, str]]:
    found = follow(path)
    return {(f.path, f.line, f.message) for f in (*found.errors, *found.warnings)}


def seeds(repository: Repository, root: Path, watch: Watch) -> Iterator[Seed]:
    """The sizes that are made wrong in a repository."""
    os.chdir(root)
    for script in files(root):
        if is_notebook(root / script) or not is_entry(root / script, root):
            continue
        watch.clear()
        before = _said(script)
        made = [(p, m) for p, m in watch.made.items() if m.name in TAKES and Path(p[0]).is_relative_to(root)]
        random.Random(1).shuffle(made)
        for place, layer in made[:MOST]:
            file = Path(place[0])
            text = file.read_bytes()
            size = _argument(text.decode(), place, layer.name)
            if size is None:
                continue
            given = list(layer.given)
            file.write_bytes(_changed(text, size))
            try:
                is_found = bool(_said(script) - before)
            finally:
                file.write_bytes(text)
            kind = "found" if is_found else "missed" if given else "not called"
            where = f"{file.relative_to(root)}:{place[1]}"
            yield Seed(repository.name, script, where, f"{layer.name}({ast.unparse(size)} + 1)", kind)


def page(found: list[Seed]) -> str:
    """The whole report."""
    counts = Counter(seed.kind for seed in found)
    rows = [f"| {kind} | {counts[kind]} |" for kind in ("found", "missed", "not called")]
    missed = [f"- {s.repository} `{s.script}`: `{s.place}` {s.shown}" for s in found if s.kind == "missed"]
    return "\n".join(
        (
            "# Wrong sizes in sixty repositories",
            "",
            "Written by `python benchmarks/follow/seeded.py`, whose docstring says what is counted.",
            "",
            f"Of {len(found)} sizes that were made wrong:",
            "",
            "| | sizes |",
            "| --- | ---: |",
            *rows,
            "",
            "## Missed",
            "",
            *missed,
            "",
        )
    )


def main() -> None:
    """Make sizes wrong, and write or print what is found of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--unpacked", type=Path, default=UNPACKED)
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    os.environ["SIMPLETORCH_CACHE"] = "off"
    unpacked, watch, found = options.unpacked.absolute(), Watch(), []
    for repository in chosen(options.only):
        for seed in seeds(repository, repository.unpacked(options.mirrors.absolute(), unpacked), watch):
            print(seed.kind, seed.repository, seed.place, seed.shown, flush=True)
            found.append(seed)
    if not options.only:
        PAGE.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
