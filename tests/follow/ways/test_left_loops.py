"""Lists that a loop fills which may be left in any round, and lists that both of two ways fill."""

from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from simpletorch.follow import Followed, follow

HEADS = ["while source.more():", "for x in source.rows():", "while True:", "for x in range(100):", "for x in range(5):"]
LEAVES = ["source.enough()", "n > 3"]
LOOP = """
rows, n = [], 0
HEAD
    n += 1
    if LEAVES:
        break
    rows.append(torch.zeros(3))
"""
WAYS = """
rows = [torch.zeros(2) for _ in source.rows()]
if source.more():
    rows.append(torch.zeros(3))
else:
    rows += [torch.zeros(3), torch.zeros(3)]
"""


def followed(source: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text("import source\nimport torch\n" + source)
    found = follow(path)
    assert not found.faults
    return found


def run(text: str) -> None:
    asked = count()
    source = SimpleNamespace(more=lambda: next(asked) < 4, rows=lambda: [3, 5], enough=lambda: next(asked) > 4)
    exec(text, {"source": source, "torch": torch})


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("leaves", LEAVES)
def test_a_list_that_a_loop_fills_before_it_is_left_may_have_items(head: str, leaves: str, tmp_path: Path):
    loop = LOOP.replace("HEAD", head).replace("LEAVES", leaves)
    run(loop + "torch.stack(rows) @ torch.zeros(3, 7)\n")
    assert followed(loop + "torch.stack(rows) @ torch.zeros(3, 7)\n", tmp_path).errors == ()
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        run(loop + "torch.stack(rows) @ torch.zeros(5, 7)\n")
    assert len(followed(loop + "torch.stack(rows) @ torch.zeros(5, 7)\n", tmp_path).errors) == 1


def test_a_list_that_is_left_empty_is_empty(tmp_path: Path):
    loop = LOOP.replace("HEAD", HEADS[0]).replace("LEAVES", LEAVES[0]).replace("rows.append", "print")
    assert len(followed(loop + "torch.stack(rows)\n", tmp_path).errors) == 1


def test_what_both_of_two_ways_add_to_a_list_is_in_it(tmp_path: Path):
    run(WAYS + "rows[-1] @ torch.zeros(3, 7)\n")
    assert followed(WAYS + "rows[-1] @ torch.zeros(3, 7)\n", tmp_path).errors == ()
