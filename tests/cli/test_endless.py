"""Constants that mypy would compute for ever: the file is left out with a line, and the check ends."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from simpletorch.cli._check import check
from simpletorch.cli._checking.endless import why_endless
from simpletorch.follow.sources.python import why_refused

ENDLESS = ("10 ** 10 ** 10", "2 ** (2 ** 100)", "1 << 10 ** 12", "'a' * 10 ** 12", "-(7 ** 10 ** 9)", "1 << 99_999_999")
HARMLESS = (
    "2 ** 100",
    "10 ** 9",
    "1 << 20",
    "f(**kwargs) ** n",
    "'-' * 80",
    "n ** 10 ** 10",
    "[0] * 10_000_000",
    "2 ** -9",
)


@pytest.mark.parametrize("constant", ENDLESS)
def test_it_is_told_with_its_line(constant: str, tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text(f"n = 3\nx = {constant}\n")
    assert "(line 2)" in why_endless(str(file))


@pytest.mark.parametrize("constant", HARMLESS)
def test_others_are_mypys(constant: str, tmp_path: Path) -> None:
    file = tmp_path / "harmless.py"
    file.write_text(f"x = {constant}\n")
    assert why_endless(str(file)) == ""


def test_the_check_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "endless.py").write_text("x = 10 ** 10 ** 10\n")
    (tmp_path / "fine.py").write_text("x: int = 'a'\n")
    assert check([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "endless.py: note: left out: mypy would compute 10 ** 10 ** 10 (line 1)" in out
    assert "Found 1 error" in out


@pytest.mark.parametrize("deep", ["-" * 5000 + "1", "lambda: " * 5000 + "1", "+".join(["1"] * 5000)])
def test_what_is_nested_too_deeply_has_a_line(deep: str) -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # as the command has it
    try:
        why = why_refused(f"import torch\n\nx = (\n    1\n)\ny = {deep}\nz = [1, 2, 3]\n")
    finally:
        sys.setrecursionlimit(before)
    assert why is not None
    assert (why.line, why.reason) == (6, "this is nested too deeply for Python to read it")


@pytest.mark.parametrize("constant", ["'a' * 10 ** 6 + 'b' * 10 ** 6", "N ** N", "(1 << 9_000_000) * (1 << 9_000_000)"])
def test_what_is_made_of_constants_counts(constant: str, tmp_path: Path) -> None:
    file = tmp_path / "endless.py"
    file.write_text(f"from typing import Final\nN: Final = 10_000_000\nx = {constant}\n")
    assert "(line 3)" in why_endless(str(file))


def test_a_long_chain_is_computed_once(tmp_path: Path) -> None:
    file = tmp_path / "chain.py"
    file.write_text("x = 1 << 10_000\n" + "y = " + " + ".join(["7"] * 900) + "\n" + "z = 2 ** 9999\n" * 3000)
    begun = time.process_time()
    assert why_endless(str(file)) == ""
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("named", ["main.py", "."])
def test_the_check_ends_if_the_constant_is_imported(
    named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import x\n")
    (package / "inner.py").write_text("x = 10 ** 10 ** 10\n")
    (tmp_path / "main.py").write_text("from pack import x\n\ny: int = 'a'\n")
    monkeypatch.chdir(tmp_path)
    assert check([named]) == 1
    out = capsys.readouterr().out
    assert "inner.py: note: left out: mypy would compute 10 ** 10 ** 10 (line 1)" in out
    assert "main.py:3" in out
