"""Programs of each kind that issue 35 names, right and wrong ones: Python says which, and following agrees.

They stand in ``kinds.txt`` and ``scripts.txt``: a kind under each line with ``==``, its programs with an empty line
between them. A line that ends with ``#!`` is the one that raises.
"""

from collections import Counter
from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.words.against_torch import raises

HEAD = """import collections, dataclasses, math, os, random, sys
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from dataclasses import dataclass
"""
LEAST = 10
FILES = ("kinds.txt", "scripts.txt")


def _programs() -> dict[str, str]:
    found: dict[str, str] = {}
    text = "".join("\n" + Path(__file__).with_name(name).read_text() for name in FILES)
    for part in text.split("\n== ")[1:]:
        kind, _, text = part.partition("\n")
        found |= {f"{kind}: {i}": HEAD + one.strip() + "\n" for i, one in enumerate(text.split("\n\n"))}
    return found


PROGRAMS = _programs()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_following_agrees_with_python(name: str, tmp_path: Path):
    source = PROGRAMS[name]
    lines = [n for n, line in enumerate(source.splitlines(), 1) if line.endswith("#!")]
    raised = raises(source, tmp_path / "program.py")
    assert ([] if raised is None else [raised]) == lines
    found = follow(tmp_path / "program.py")
    assert ([e.line for e in found.errors], found.warnings, found.faults) == (lines, (), ())


def test_each_kind_has_right_and_wrong_programs():
    all_of = Counter(name.partition(":")[0] for name in PROGRAMS)
    wrong = Counter(name.partition(":")[0] for name, source in PROGRAMS.items() if "#!" in source)
    assert {kind for kind, count in all_of.items() if count < LEAST or not 3 <= wrong[kind] < count} == set()
