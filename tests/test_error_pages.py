"""Each code has a page: what its bad programs do, what is said of them, and that nothing is said of the good ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from simpletorch.follow import Followed, follow
from simpletorch.rules.core.codes import CODES
from tests import warm

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "errors"
BLOCKS = re.compile(
    r"```python\n(?P<bad># bad\n.*?)```\n\n```text\n(?P<said>.*?)```\n\n```python\n(?P<good># good\n.*?)```", re.DOTALL
)
OF_MYPY = {"tensor-annotation"}


class Example(NamedTuple):
    code: str
    bad: str
    said: str
    good: str


EXAMPLES = {
    f"{page.stem}-{number}": Example(page.stem, *match.group("bad", "said", "good"))
    for page in sorted(PAGES.glob("tensor-*.md"))
    for number, match in enumerate(BLOCKS.finditer(page.read_text()), 1)
}
FOLLOWED = {name: example for name, example in EXAMPLES.items() if example.code not in OF_MYPY}


def followed(example: Example, source: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(source)
    return follow(path, severities={example.code: "warning"} if CODES[example.code].severity == "off" else None)


def raised(source: str) -> Exception | None:
    """What running a program raises."""
    if '"cuda' in source and not torch.cuda.is_available() and "is_available()" not in source:
        pytest.skip("needs a GPU")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})
    except Exception as error:
        return error
    return None


def test_each_code_has_a_page():
    assert {example.code for example in EXAMPLES.values()} == CODES.keys()
    assert {page.stem for page in PAGES.glob("tensor-*.md")} == CODES.keys()
    index = (PAGES / "README.md").read_text()
    assert [line for line in index.splitlines() if line.startswith("| [")] == [
        f"| [`{code.name}`]({code.name}.md) | {code.severity} | {code.about} |" for code in CODES.values()
    ]


@pytest.mark.parametrize("example", FOLLOWED.values(), ids=FOLLOWED)
def test_what_the_page_says_is_said(example, tmp_path, monkeypatch):
    found = followed(example, example.bad, tmp_path)
    lines = [line for f in (*found.errors, *found.warnings, *found.remarks) for line in f.lines()]
    assert "".join(f"{line}\n".replace(f"{tmp_path}/", "") for line in lines) == example.said
    assert {f.code for f in (*found.errors, *found.warnings, *found.remarks)} == {example.code}


@pytest.mark.parametrize("example", FOLLOWED.values(), ids=FOLLOWED)
def test_nothing_is_said_of_what_is_right(example, tmp_path):
    found = followed(example, example.good, tmp_path)
    assert (found.errors, found.warnings, found.remarks) == ((), (), ())


@pytest.mark.parametrize("example", FOLLOWED.values(), ids=FOLLOWED)
def test_only_errors_raise(example):
    torch.manual_seed(0)
    assert raised(example.good) is None
    error = CODES[example.code].severity == "error" and not _runs_here(example)
    error = error and example.code != "tensor-pure"  # a promise, of which torch knows nothing
    assert (raised(example.bad) is not None) == error


def _runs_here(example: Example) -> bool:
    return "fails where CUDA is available" in example.said and not torch.cuda.is_available()


@pytest.mark.slow
def test_what_the_page_says_of_annotations_is_said(tmp_path):
    (example,) = (e for e in EXAMPLES.values() if e.code in OF_MYPY)
    (tmp_path / "program.py").write_text(example.bad)
    (tmp_path / "good.py").write_text(example.good)
    command = [sys.executable, "-m", "simpletorch.cli", "check", "--no-follow", "program.py", "good.py"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(warm.home(tmp_path))}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{example.said}Found 1 error in 1 file (checked 2 source files)\n"
