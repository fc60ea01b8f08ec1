"""Whatever a file holds: silence or a finding, never a traceback, never more than the budget."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from simpletorch.cli import main
from simpletorch.follow import Followed, follow

SECONDS = 2.0
TRAINED = "import torch\n{}\ntorch.zeros(3, 5) @ torch.zeros(7, 11)\n"  # what comes before must not hide the mistake

SILENT = {
    "empty": "",
    "syntax error": "def f(:\n",
    "binary": b"\x00\xff\xfe\x80" * 50,
    "a null": b"x = 1\n\x00\n",
    "another encoding": b"# \xe9\nx = 1\n",
    "an encoding that nobody knows": b"# -*- coding: nonsense -*-\nx = 1\n",
    "raises on purpose": "raise NotImplementedError\n",
    "abstract method": "class A:\n    def f(self):\n        raise NotImplementedError\nA().f()\n",
    "exit": "import sys\nsys.exit(3)\n",
    "imports itself": "import program\nfrom program import a\na = 1\n",
    "class of itself": "class A(A): pass\n",
    "module below a class": "import simpletorch.data.Digits.x\n",
}
HARMLESS = {
    "a byte order mark": "\ufeffx = 1\n".lstrip("\ufeff"),
    "module that can't be found": "try:\n    import nowhere\nexcept ImportError:\n    nowhere = None\n",
    "exec": "exec('x = 1')\neval('2')\n",
    "recursion": "def f(n):\n    return f(n + 1)\nf(0)\n",
    "attribute that asks itself": "class A:\n    def __getattr__(self, n): return getattr(self, n)\nA().x\n",
    "equality that asks itself": "class A:\n    def __eq__(self, o): return self == o\nA() == A()\n",
    "text that asks itself": "class A:\n    def __repr__(self): return repr(self)\nstr(A())\n",
    "list in itself": "xs = []\nxs.append(xs)\nys = xs + xs\nstr(xs)\nreveal_type(xs)\n",
    "object in itself": "import copy\nclass A: pass\na = A()\na.a = a\nb = copy.deepcopy(a)\n",
    "generator without end": "def g():\n    n = 0\n    while True:\n        yield n\n        n += 1\n"
    "for a in g():\n    if a > 7:\n        break\n",
    "range": "for i in range(10**12):\n    x = i\ny = range(10**12)[::2]\nz = 10**11 in range(10**12)\n",
    "list of a million": "xs = [0] * 10**6\nfor x in xs:\n    y = x\n",
    "lists that don't fit into memory": "xs = [0] * 10**12\nt = (0,) * 10**12\ns = 'a' * 10**12\nb = b'a' * 10**12\n",
    "list that doubles": "xs = [1]\nfor i in range(60):\n    xs = xs + xs\n",
    "text that doubles": "s = 'ab'\nfor i in range(60):\n    s = s + s\nt = s.replace('a', s)\n",
    "number that squares itself": "x = 3\nfor i in range(60):\n    x = x * x\n",
    "power": "x = 10 ** 10 ** 10\ny = 1 << 10**10\nz = pow(3, 10**9)\n",
    "factorial": "import math\nx = math.factorial(10**7)\n",
    "wide formats": "a = '%999999999d' % 3\nb = f'{3:999999999d}'\nc = '{:>999999999}'.format(3)\nd = 'a'.ljust(10**11)\n",  # noqa: E501
    "slow pattern": "import re\nre.sub('(a|a)*$', '', 'a' * 40 + 'b')\n",
    "tensor that doesn't fit": "x = torch.zeros(10**9, 10**9)\nfor row in x:\n    y = row\nz = x.unbind()\nw = x.split(1)\n",  # noqa: E501
    "hundred thousand layers": "m = torch.nn.Sequential(*[torch.nn.Linear(7, 7) for _ in range(100_000)])\nm(torch.zeros(3, 7))\n",  # noqa: E501
    "deep brackets": "x = " + "(" * 150 + "1" + ")" * 150 + "\n",
    "long sum": "x = " + " + ".join(["1"] * 500) + "\n",
    "many conditions": "import os\nx = os.environ.get('a')\n"
    + "".join(f"if x == 'a{i}':\n    y = {i}\n" for i in range(1_000)),
}
ENDLESS = {
    "loop": "x = 0\nwhile True:\n    x += 1\n",
    "loop that catches": "while True:\n    try:\n        raise ValueError\n    except ValueError:\n        continue\n",
    "tuple that doubles": "xs = (1,)\nwhile True:\n    xs += xs\n",
    "iterators": "import itertools\nx = list(itertools.count())\n",
    "objects": "class N:\n    def __init__(self, n): self.n = n\nn = None\nwhile True:\n    n = N(n)\n",
}
LONG = {
    "two that call each other": "def f(n):\n    return g(n) + g(n + 1)\ndef g(n):\n    return f(n) + f(n + 1)\nf(0)\n",
    "a million calls": "def f(n):\n    return f(n - 1) + f(n - 1) if n else 0\nf(20)\n",
    "nested comprehension": "x = [i * j * k for i in range(4000) for j in range(4000) for k in range(4000)]\n",
    "nested loops": "".join("    " * i + f"for i{i} in range(100):\n" for i in range(8)) + "    " * 8 + "pass\n",
}


def megabytes(name: str) -> int:
    """The memory that this process has (VmRSS), or has had at most (VmHWM)."""
    return int(re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)[1]) // 1024


def followed(source: str | bytes, path: Path) -> Followed:
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    before = megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is counted
    start = time.thread_time()
    found = follow(path, seconds=SECONDS)
    assert time.thread_time() - start < 2 * SECONDS
    assert megabytes("VmHWM") - before < 1024
    assert found.faults == ()
    return found


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program.py"


@pytest.mark.parametrize("source", [*SILENT.values(), *ENDLESS.values()], ids=[*SILENT, *ENDLESS])
def test_nothing_is_said_of_what_can_not_be_followed_or_never_ends(source: str | bytes, program: Path):
    assert followed(source, program).errors == ()


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_comes_after_is_still_followed(source: str, program: Path):
    (error,) = followed(TRAINED.format(source), program).errors
    assert error.code == "tensor-shape"


@pytest.mark.parametrize("source", LONG.values(), ids=LONG.keys())
def test_the_budget_ends_what_takes_too_long(source: str, program: Path):
    assert not followed(source, program).complete


def test_modules_that_import_each_other(program: Path, tmp_path: Path):
    (tmp_path / "one.py").write_text("import two\nimport torch\nA = torch.zeros(3, 5)\n")
    (tmp_path / "two.py").write_text("import one\nimport torch\ndef f():\n    return one.A @ torch.zeros(7, 11)\n")
    (error,) = followed("import one, two\ntwo.f()\n", program).errors
    assert (Path(error.path).name, error.line) == ("two.py", 4)


@pytest.mark.parametrize(
    ("source", "said"),
    [("def f(:\n", "invalid syntax"), ("x = 1\n\x00\n", "null bytes"), (None, "no such file")],
    ids=["syntax", "binary", "missing"],
)
def test_the_command_says_in_a_line_why_a_file_can_not_be_followed(
    source: str | None, said: str, program: Path, capsys
):
    if source is not None:
        program.write_text(source)
    assert main(["follow", str(program)]) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""
