"""Unpacking one of several values: those that don't fit aren't the ones that are there."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

PROGRAM = """import sys
import torch
def pair(named):
    x = torch.zeros(3, 5)
    if named:
        return SHORT
    return x, x, x
mode = sys.argv[1]
batch = pair("short" in mode)
if "few" in mode:
    FEW = batch
else:
    MANY = batch
x @ torch.zeros(7, 2)
"""


def followed(folder: Path, short: str, few: str, many: str) -> Followed:
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("SHORT", short).replace("FEW", few).replace("MANY", many))
    return follow(path)


@pytest.mark.parametrize(("few", "many"), [("x, y", "x, y, z"), ("x, y", "x, *y"), ("[x, y]", "(x, y, z)")])
def test_a_length_that_fits_one_of_the_values_is_the_length(few: str, many: str, tmp_path: Path):
    (error,) = followed(tmp_path, "x, x", few, many).errors
    assert (error.line, error.message.partition(":")[0]) == (14, "@")


def test_a_length_that_fits_none_of_the_values_is_wrong(tmp_path: Path):
    found = followed(tmp_path, "x, x", "x, y, z, w", "x, y, z, w")
    assert [(e.line, e.message) for e in found.errors] == [
        (11, "these are 2 tensors, but 4 are unpacked"),
        (13, "these are 2 tensors, but 4 are unpacked"),
    ]


def test_values_of_one_length_keep_what_they_have_in_common(tmp_path: Path):
    assert [e.line for e in followed(tmp_path, "x.T, x, None", "x, y, z", "x, _, z").errors] == [14]
