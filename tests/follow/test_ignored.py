"""``# type: ignore`` silences findings as it silences mypy; ``reveal_type`` shows what is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.sources.notebooks import follow_document

MISTAKE = "import torch\n\nx = torch.zeros(3, 5)\ny = x @ torch.zeros(7, 11){}\n"


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("", False),
        ("  # type: ignore", True),
        ("  # type: ignore[tensor-shape]", True),
        ("  # type:ignore[tensor-dtype, tensor-shape]  # known", True),
        ("  # type: ignore[tensor-dtype]", False),
        ("  # type: ignored", False),
    ],
)
def test_a_comment_silences_its_codes(comment: str, silent: bool, tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(MISTAKE.format(comment))
    found = follow(program)
    assert [f.line for f in found.errors] == ([] if silent else [4])
    assert [f.line for f in found.ignored] == ([4] if silent else [])


OF_TYPES = {  # with mypy's own code
    "y = x[i]": "index",
    "y = x[0, i]": "index",
    "y = x + none": "operator",
    "y = -1 * (x @ [1, 2])": "operator",
    "y = (x, x).shape": "attr-defined",
    "y = nn.Linear(3, 2)(x, x)": "call-arg",
    "y = F.softmax(x.max(1), 0)": "arg-type",
    "y = torch.zeros(i)": "call-overload",
    "y = DataLoader(x, batch_size=i)": "arg-type",
}
OF_SHAPES = {
    "y = x @ x": "operator",
    "y = x[torch.zeros(2)]": "index",
    "y = x.reshape(3, 5)": "arg-type",
    "y = x + none": "index",  # another code than that of the expression
    "y = x[i]": "operator",
}
ABOVE = """import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
x = torch.zeros(2, 3)
i: float = 2.5
none = None
"""


@pytest.mark.parametrize(("line", "code"), OF_TYPES.items())
@pytest.mark.parametrize("is_notebook", [False, True])
def test_a_comment_for_mypys_own_code_silences_the_same_mistake(
    line: str, code: str, is_notebook: bool, tmp_path: Path
):
    def said(line: str) -> tuple[int, int]:
        path = tmp_path / ("program.ipynb" if is_notebook else "program.py")
        if is_notebook:
            cells = [{"cell_type": "code", "source": text} for text in (ABOVE, line)]
            path.write_text(json.dumps({"cells": cells}))
        else:
            path.write_text(f"{ABOVE}{line}\n")
        found = follow_document(path) if is_notebook else follow(path)
        return len(found.errors), len(found.ignored)

    assert said(line) == (1, 0)
    assert said(f"{line}  # type: ignore[{code}]") == (0, 1)


@pytest.mark.parametrize(("line", "code"), OF_SHAPES.items())
def test_a_comment_for_mypys_own_code_leaves_mistakes_that_it_does_not_know(line: str, code: str, tmp_path: Path):
    (tmp_path / "program.py").write_text(f"{ABOVE}{line}  # type: ignore[{code}]\n")
    assert len(follow(tmp_path / "program.py").errors) == 1


def test_a_comment_at_the_end_of_a_long_expression(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text("import torch\nx = torch.zeros(3, 5).view(\n    7, 11\n)  # type: ignore[tensor-shape]\n")
    assert follow(program).errors == ()


@pytest.mark.parametrize("strange", ["\f", "x = '\u2028\x1c\x85'"])
def test_only_what_ends_a_line_of_python_counts_lines(strange: str, tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(f"import torch\n{strange}\ny = torch.zeros(3) @ torch.zeros(5)  # type: ignore\n", "utf-8")
    found = follow(program)
    assert ([f.line for f in found.errors], [f.line for f in found.ignored]) == ([], [3])


def test_a_comment_before_all_else_silences_the_file(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text("# type: ignore\n" + MISTAKE.format(""))
    assert follow(program).errors == ()


def test_reveal_type_shows_what_is_known(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\nfrom typing import reveal_type\n"
        "for n in (5, 7):\n    x = torch.zeros(3, n)\n    reveal_type(x)\n"
        "reveal_type([n, x])\nreveal_type(input())\n"
        "reveal_type(x if input() else torch.ones(11))\n"
    )
    assert [(n.line, n.message) for n in follow(program).notes] == [
        (5, 'Revealed type is "Float32[3, 5] or Float32[3, 7]"'),
        (6, 'Revealed type is "[7, Float32[3, 7]]"'),
        (7, 'Revealed type is "unknown: what builtins.input gives"'),
        (8, 'Revealed type is "Float32[3, 7] or Float32[11]"'),
    ]
