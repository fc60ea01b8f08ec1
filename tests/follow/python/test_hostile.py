"""What grows, or takes for ever, is counted before it is made: each program is followed within its budget."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.budget import is_slow_pattern, weight

DOUBLING = {
    "a text": ("'a'", "x = x + x"),
    "a formatted text": ("'a'", "x = f'{x}{x}'"),
    "a text by percent": ("'a'", "x = '%s%s' % (x, x)"),
    "a joined text": ("'a'", "x = ''.join([x, x])"),
    "a path": ("__import__('pathlib').Path('a')", "x = x / x"),
    "bytes": ("b'a'", "x = x + x"),
    "a number": ("3", "x = x * x"),
    "a list": ("[1]", "x = x + x"),
    "a list in place": ("[1]", "x += x"),
    "a list by stars": ("[1]", "x = [*x, *x]"),
    "a list that is extended": ("[1]", "x.extend(x)"),
    "a list by a slice": ("[1]", "x[0:0] = x"),
    "a nested list": ("[1]", "x = [x, x]"),
    "a tuple": ("(1,)", "x = x + x"),
    "a nested tuple": ("(1,)", "x = (x, x)"),
    "a nested dict": ("{}", "x = {'a': x, 'b': x}"),
    "a set": ("{0}", "x = x | {v + len(x) for v in x}"),
}
ASKED = "y = x == x\nz = repr(x)\nw = str(x)\ntry:\n    h = hash(x)\nexcept TypeError:\n    pass\n"
LARGE = (
    "x = round(5, -10**9)",
    "x = 10 ** 10 ** 10",
    "x = 1 << 10**12",
    "x = len(range(10**30))",
    "x = (41282 ** 476).to_bytes(2**50, 'big')",
    "x = (3).to_bytes(length=2**33)",
    "x = sum(range(10**30))",
    "x = [0] * 10**10",
    "x = '%0999999999d' % 5",
    "x = format(5, '>999999999')",
    "x = str(10**400000)",
    "import torch\nx = torch.zeros(2, 3).flatten(-10**9)",
    "import re\nx = re.match(r'(a+)+$', 'a' * 40 + 'b')",
    "import re\nx = re.search(r'a*a*a*a*a*a*a*a*b', 'a' * 300)",
    "import re\nx = re.search(r'(?:a?){60}a{60}', 'a' * 60)",
    "import itertools\nx = list(itertools.product(range(1000), repeat=9))",
    "x = " + "(" * 5000 + "1" + ")" * 5000,
    "x = " + "-" * 5000 + "1",
    "x = 1" + " + 1" * 5000,
    "x = a" + ".b" * 5000,
)


def follow_in_time(source: str, folder: Path) -> None:
    """Follow a program: it ends soon, and nothing goes wrong inside."""
    path = folder / "program.py"
    path.write_text(source)
    began = time.thread_time()
    found = follow(path)
    assert not found.faults
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(("first", "step"), DOUBLING.values(), ids=DOUBLING.keys())
def test_what_doubles(first: str, step: str, tmp_path: Path) -> None:
    follow_in_time(f"x = {first}\nfor i in range(60):\n    {step}\n{ASKED}", tmp_path)


@pytest.mark.parametrize("source", LARGE, ids=range(len(LARGE)))
def test_what_is_large_at_once(source: str, tmp_path: Path) -> None:
    follow_in_time(source + "\n", tmp_path)


@pytest.mark.parametrize(
    ("pattern", "size", "slow"),
    [
        (r"layer(\d+)\.weight", 40, False),
        (r"^epoch_(\d+)_(\d+)\.pt$", 50, False),
        (r"\s+", 1000, False),
        (r"(a+)+$", 40, True),
        (r"(a|aa)+$", 60, True),
        (r"(.*)*x", 40, True),
        (r"(a+)+$", 8, False),
    ],
)
def test_patterns_by_the_ways_in_which_they_may_be_tried(pattern: str, size: int, slow: bool) -> None:
    assert is_slow_pattern(pattern, size) is slow


def test_a_weight_is_counted_up_to_its_end() -> None:
    nested: tuple[object, ...] = (1,)
    for _ in range(200):
        nested = (nested, nested)
    assert weight(("ab", (3, 5))) == 1 + 1 + 2 + 1 + 1 + 1
    assert 1_000 < weight(nested, 1_000) < 1_010
