"""Tables of numbers that a program computes: sizes are known at little cost, numbers that weren't followed aren't."""

from __future__ import annotations

import pytest
import torch
from scripts import Scripts

from simpletorch.follow import follow

SCRIPTS = Scripts("import math, random\nimport numpy as np\nimport torch\n\n")
TABLES = {
    "the original Transformer's": """
def table(positions, width):
    def row(position):
        return [position / np.power(10000, 2 * (j // 2) / width) for j in range(width)]
    made = np.array([row(i) for i in range(positions)])
    made[:, 0::2] = np.sin(made[:, 0::2])
    return torch.FloatTensor(made).unsqueeze(0)
x = table(200, 512)
""",
    "nested": "x = torch.tensor([[p / math.pow(10000, 2 * (i // 2) / 512) for i in range(512)] for p in range(200)])",
    "two loops in one": "x = torch.tensor([math.sin(p * i) for i in range(211) for p in range(197)])",
    "rows that are filled": """
rows = []
for position in range(197):
    row = []
    for i in range(509):
        row.append(position / 10000 ** (i / 509))
    rows.append(row)
x = torch.tensor(rows)
""",
    "ints that take long": """
def steps(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count
x = torch.tensor([steps(i) for i in range(1, 3001)])
""",
    "made data": """
data = []
for i in range(20011):
    a, b = random.random(), random.gauss(0, 1)
    data.append([a, b, a * b])
x = torch.tensor(data)
""",
    "None among them": """
numbers = [None if i == 97 else i for i in range(199)]
x = torch.tensor([0.5 if i is None else i / 3 for i in numbers])
""",
}


@pytest.mark.parametrize("source", TABLES.values(), ids=TABLES)
def test_sizes_are_what_running_gives(source, tmp_path):
    x = SCRIPTS.run(source)["x"]
    assert isinstance(x, torch.Tensor)
    dtype = {torch.float32: "Float32", torch.int64: "Int64", torch.float64: "Float64"}[x.dtype]
    path = tmp_path / "program.py"
    path.write_text(f"{SCRIPTS.head}{source}\nreveal_type(x)\n")
    found = follow(path, steps=60_000)  # of 100,000 and more numbers
    assert found.complete
    assert [n.message for n in found.notes] == [f'Revealed type is "{dtype}[{", ".join(map(str, x.shape))}]"']


@pytest.mark.parametrize(("size", "right"), [(512, True), (509, False)])
def test_a_mistake_behind_a_table(size, right, tmp_path):
    source = f"{TABLES['nested']}\ny = torch.nn.Linear({size}, 3)(x)\n"
    assert bool(SCRIPTS.lines(source, tmp_path)) is not right
    if right:
        SCRIPTS.run(source)
    else:
        with pytest.raises(RuntimeError):
            SCRIPTS.run(source)


UNEQUAL = {
    "of different kinds": ("x = [i / 3 if i < 100 else 'last' for i in range(128)]", "type(x[127]).__name__"),
    "rows of different lengths": ("x = [[0.5] * min(i + 1, 9) for i in range(128)]", "len(x[127]), len(x[3])"),
    "the element that something counts": (
        "seen = []\ndef f(i):\n    seen.append(i)\n    return i / 3\nx = [f(i) for i in range(128)]",
        "len(seen)",
    ),
    "a generator": ("g = iter(range(128))\nx = [next(g) / 3 for _ in range(100)]", "next(g)"),
    "an index": ("x = [i * 2 for i in range(128)]", "x[127]"),
    "a size": ("x = [i / 2 for i in range(128)]\nn = [int(v) for v in x]", "len(n)"),
}


@pytest.mark.parametrize(("source", "asked"), UNEQUAL.values(), ids=UNEQUAL)
def test_what_an_element_does_counts(source, asked, tmp_path):
    real = eval(asked, SCRIPTS.run(source))
    shown = SCRIPTS.shown(f"{source}\nx = ({asked})", tmp_path, right=True)
    assert shown == repr(real)


def test_numbers_that_were_not_followed_are_not_known(tmp_path):
    x = SCRIPTS.shown("t = [i / 3 for i in range(128)]\nx = t[127] > 3 and t[3] == t[127]", tmp_path)
    assert x.startswith("unknown")
