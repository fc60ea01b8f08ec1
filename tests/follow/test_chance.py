"""What is chosen by chance: each of the two happens now and then."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = "import random\nimport numpy as np\nimport torch\nthree, five = torch.zeros(3), torch.zeros(5)\n"


def lines(source: str, folder: Path) -> list[int]:
    """The lines of the source with mistakes, from 1."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return [f.line - HEAD.count("\n") for f in found.errors]


@pytest.mark.parametrize(
    "condition",
    [
        "random.random() < 0.5",
        "0.1 > random.random()",
        "np.random.rand() >= 0.9",
        "random.randint(0, 9) < 4",
        "random.randrange(3) == 1",
        "random.random() < 1 / (1 + len(open('f').read()))",
    ],
)
def test_both_values_of_a_toss_must_fit(condition, tmp_path):
    assert lines(f"x = three if {condition} else five\nx + five\n", tmp_path) == [2]


@pytest.mark.parametrize(
    "condition",
    [
        "random.random() < 0",
        "random.random() < 1.0",
        "random.randint(0, 9) > 9",
        "len(open('f').read()) < 5",
        "random.random() < random.random()",
        "torch.rand(()) < 0.5",
    ],
)
def test_a_condition_that_may_have_one_answer_is_no_toss(condition, tmp_path):
    assert lines(f"x = three if {condition} else five\nx + five\n", tmp_path) == []


def test_another_condition_on_the_same_number_may_decide(tmp_path):
    source = """
number = random.random()
flag = number < 0.3
x = three if flag else five
if number > 0.6:
    x + five
if flag:
    x + three
else:
    x + five
y = x.clone() if not flag else torch.zeros(5)
y + five
"""
    assert lines(source, tmp_path) == []


def test_the_next_round_takes_either(tmp_path):
    source = """
token = three
for _ in range(random.randint(3, 7)):
    logits = token + torch.zeros(2, 3)
    token = three if random.random() < 0.5 else logits.argmax(1)
"""
    assert lines(source, tmp_path) == [4]
