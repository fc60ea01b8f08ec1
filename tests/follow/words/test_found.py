"""The cases of issue 35 with their right values: ``#!`` ends a line that raises, ``#?`` one that a warning is for."""

import sys
from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.words.against_torch import raises

BESIDE = {"configurator.py": "n = 4\n", "somewhere.py": "epochs = 3\n"}  # what the follower doesn't see


def _cases() -> dict[str, str]:
    parts = ("\n" + Path(__file__).with_name("found.txt").read_text()).split("\n== ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


CASES = _cases()


def _lines(source: str, mark: str) -> list[int]:
    return [n for n, line in enumerate(source.splitlines(), 1) if line.endswith(mark)]


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_right_value(name: str, tmp_path: Path, monkeypatch):
    source = CASES[name]
    if name.endswith("type_statement.py") and sys.version_info < (3, 12):
        pytest.skip("type statements are Python 3.12's")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for file, text in BESIDE.items():
        (tmp_path / file).write_text(text)
    raised = raises(source, tmp_path / "program.py")
    assert ([] if raised is None else [raised]) == _lines(source, "#!")
    for file in BESIDE:
        (tmp_path / file).unlink()
        sys.modules.pop(Path(file).stem, None)
    found = follow(tmp_path / "program.py")
    assert [e.line for e in found.errors] == _lines(source, "#!")
    assert [w.line for w in found.warnings] == _lines(source, "#?")
    assert found.faults == ()
