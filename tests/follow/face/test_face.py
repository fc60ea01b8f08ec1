"""Our own spelling is followed as torch's is: mistakes are found at their lines, right programs are silent."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow
from simpletorch.rules.core.codes import CODES
from tests.follow.face.programs import PROGRAMS

_BY_TITLE = {p.title: p for p in PROGRAMS}


def _said(tmp_path: Path, text: str) -> dict[int, str]:
    path = tmp_path / "program.py"
    path.write_text(text)
    result = follow(path)
    assert result.faults == ()
    return {f.line: f.code for f in (*result.errors, *result.warnings)}


@pytest.mark.parametrize("title", _BY_TITLE)
def test_a_mistake_is_found_at_its_line_and_the_right_program_is_silent(title: str, tmp_path: Path) -> None:
    """In our spelling and in torch's alike."""
    program = _BY_TITLE[title]
    assert _said(tmp_path, program.wrong) == program.mistakes
    assert _said(tmp_path, program.right) == {}
    if program.torchs is not None:
        assert _said(tmp_path, program.torchs) == program.mistakes


def test_many_programs_have_a_twin_in_torchs_spelling() -> None:
    """Each of them is written by a script."""
    assert sum(p.torchs is not None for p in PROGRAMS) >= 35


@pytest.mark.parametrize("title", _BY_TITLE)
def test_torch_raises_where_a_mistake_is_an_error_and_nowhere_else(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the programs say of themselves is what happens."""
    monkeypatch.chdir(tmp_path)  # some write files
    program = _BY_TITLE[title]
    if "CUDA" in program.wrong and not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    raises = {c.name for c in CODES.values() if c.severity == "error"} - {"tensor-pure"}  # torch knows of no promise
    errors = {line for line, code in program.mistakes.items() if code in raises}
    assert _lines_of_failure(program.right) == []
    failed = _lines_of_failure(program.wrong)
    assert errors <= set(failed) if errors else failed == []


def _lines_of_failure(text: str) -> list[int]:
    """The program's lines through which an exception goes; none if it runs."""
    try:
        exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
    except Exception:
        return [f.lineno or 0 for f in traceback.extract_tb(sys.exc_info()[2]) if f.filename == "<program>"]
    return []


EXPORTED = """
import torch
from simpletorch import Float32, Tensor, export, nn
from simpletorch.dims import B

class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(7, 3)

    def forward(self, x{hint}):
        return self.head(x)

export.program(Net(), inputs=torch.zeros(2, 5))
"""


def test_given_inputs_count_where_annotations_say_nothing(tmp_path: Path) -> None:
    """At run time the annotations say the sizes of a model's inputs, and inputs that are given only their kinds."""
    assert _said(tmp_path, EXPORTED.format(hint=": Tensor[Float32, B, 7]")) == {}
    assert list(_said(tmp_path, EXPORTED.format(hint=""))) == [12]
