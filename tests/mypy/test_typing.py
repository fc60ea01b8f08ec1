"""tests/typing: ordinary files, checked in one mypy run, and executed.

``pass/`` has no error and runs; every line of ``fail/`` that mypy reports carries ``# E: code`` and every function
``fail_…`` raises when called; ``reveal/`` carries the exact revealed type in ``# R: …``, and what is revealed is true
of the value at run time.
"""

from __future__ import annotations

import builtins
import os
import re
import runpy
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

import pytest
import torch

from tests import neighbours, warm

TYPING = Path(__file__).parents[1] / "typing"
FILES = {kind: sorted((TYPING / kind).rglob("*.py")) for kind in ("pass", "fail", "reveal")}
NEEDS = {path: neighbours.imported(path) for files in FILES.values() for path in files}
PARAMETERS = {
    kind: [pytest.param(p, id=p.stem, marks=[pytest.mark.neighbour(*NEEDS[p])] if NEEDS[p] else []) for p in files]
    for kind, files in FILES.items()
}
LINE = re.compile(
    r"^(?P<file>[^:]+):(?P<line>\d+): (?P<severity>error|note): (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?$"
)


def relative(path: Path) -> str:
    return path.relative_to(TYPING).as_posix()


Findings: TypeAlias = dict[tuple[str, int], list[tuple[str, str, str | None]]]
"""What mypy says: (file, line) -> (severity, message, code)."""


def check(cache: Path) -> Findings:
    """One run over every file whose imports are there."""
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", cache]
    done = subprocess.run(
        [*command, *(relative(path) for path, needs in NEEDS.items() if not neighbours.missing(needs))],
        cwd=TYPING,
        env={**os.environ, "SIMPLETORCH_DEBUG": "1", "SIMPLETORCH_FOLLOW": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout[-5000:] + done.stderr
    found: Findings = defaultdict(list)
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if match is not None:
            found[match["file"], int(match["line"])].append((match["severity"], match["message"], match["code"]))
    return found


@pytest.fixture(scope="session")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return check(warm.cache(tmp_path_factory.mktemp("typing")))


@pytest.mark.thorough  # tests/warm.py holds a first run to a small program
@pytest.mark.slow
def test_torch_from_the_cache_is_the_same(findings: Findings):
    """The cache has to hold all that we make of torch."""
    fresh = check(Path(os.devnull))
    assert {place: said for place, said in fresh.items() if said != findings.get(place)} == {}
    assert len(fresh) == len(findings)


def comments(path: Path, mark: str) -> dict[int, str]:
    """The ``# E: …`` or ``# R: …`` comments of a file by line."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.search(rf"# {mark}: (.*)$", line)
        if match is not None:
            found[number] = match[1].strip()
    return found


def errors(findings, path: Path) -> dict[int, list[str]]:
    name = relative(path)
    return {
        line: sorted(code or message for severity, message, code in entries if severity == "error")
        for (file, line), entries in findings.items()
        if file == name and any(severity == "error" for severity, _, _ in entries)
    }


@pytest.mark.parametrize("path", PARAMETERS["pass"])
def test_pass_has_no_error(findings, path):
    assert errors(findings, path) == {}


@pytest.mark.parametrize("path", PARAMETERS["pass"])
def test_pass_runs(path):
    runpy.run_path(str(path))


@pytest.mark.parametrize("path", PARAMETERS["fail"])
def test_fail_reports_each_marked_line_once(findings, path):
    expected = {line: sorted(code.strip() for code in text.split(",")) for line, text in comments(path, "E").items()}
    assert errors(findings, path) == expected


@pytest.mark.filterwarnings("ignore::UserWarning")  # what torch warns of is what these files are about
@pytest.mark.parametrize("path", PARAMETERS["fail"])
def test_fail_really_raises(path):
    names = runpy.run_path(str(path))
    functions = {name: value for name, value in names.items() if name.startswith("fail_")}
    assert functions
    for name, function in functions.items():
        try:
            function()
        except (RuntimeError, IndexError, TypeError, ValueError, AttributeError, AssertionError, ImportError):
            continue
        pytest.fail(f"{path.name}: {name}() is an error for mypy, but it runs")


@pytest.mark.parametrize("path", PARAMETERS["reveal"])
def test_reveal_is_exact(findings, path):
    name = relative(path)
    revealed = {
        line: message.removeprefix('Revealed type is "').removesuffix('"')
        for (file, line), entries in findings.items()
        if file == name
        for severity, message, _ in entries
        if severity == "note" and message.startswith("Revealed type")
    }
    assert revealed == comments(path, "R")
    assert errors(findings, path) == {}


@pytest.mark.filterwarnings("ignore::UserWarning")  # what torch warns of is what these files are about
@pytest.mark.parametrize("path", PARAMETERS["reveal"])
def test_reveal_is_true(path, monkeypatch):
    """Executes the file; where a literal tensor type is claimed, the value must be such a tensor."""
    claims = comments(path, "R")

    def check(value: object) -> object:
        line = sys._getframe(1).f_lineno
        claim = re.fullmatch(r"(?:CPU)?(?:Tensor|Parameter)\[(\w+)((?:, [^\[\]]+)*)\]", claims[line])
        if claim is None or not isinstance(value, torch.Tensor):
            return value
        dtype, dims = claim[1], [d for d in claim[2].split(", ") if d]
        assert dtype in ("Any", "Float") or dtype.lower() == str(value.dtype).removeprefix("torch."), f"line {line}"
        if not any(d.startswith(("*", "...")) for d in dims):
            assert len(dims) == value.ndim, f"line {line}: {claims[line]} but {tuple(value.shape)}"
            for dim, size in zip(dims, value.shape, strict=True):
                assert not dim.isdigit() or int(dim) == size, f"line {line}: {claims[line]} but {tuple(value.shape)}"
        return value

    monkeypatch.setattr(builtins, "reveal_type", check, raising=False)
    runpy.run_path(str(path))
