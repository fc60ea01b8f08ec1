"""`simpletorch check` of files without annotations: what surely fails, and a count of what mypy guesses."""

import ast
import json
import subprocess
import sys

import pytest

from simpletorch._settings import FOLLOW_VARIABLE
from simpletorch.cli import main
from simpletorch.cli._checking.unannotated import is_annotated
from simpletorch.cli._config import daemon_file

GUESSED = """\
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(batch):
    return pad_sequence(tuple(batch))


loss = 0.0
for x, y in DataLoader([(torch.zeros(3), torch.zeros(3))], batch_size=2, collate_fn=collate):
    loss = loss + (x - y).sum()
loss.backward()
results = {}
reveal_type(loss)
"""
HINT = "4 other mypy errors in files without annotations: --all shows them"
WRONG = "import torch\n\ny = torch.zeros(3, 5) @ torch.zeros(7, 11)\nx = None\nx.size()\n"


def codes(capsys, text, folder, *arguments):
    """The codes of the errors by their lines, the number of those that aren't shown, and the exit code."""
    (folder / "script.py").write_text(text)
    code = main(["check", "--json", "script.py", *arguments])
    document = json.loads(capsys.readouterr().out)
    shown = [(d["line"], d["code"]) for d in document["diagnostics"] if d["severity"] == "error"]
    return shown, document["hidden"], code


def test_what_mypy_guesses_is_counted_and_no_error(folder, capsys):
    (folder / "script.py").write_text(GUESSED)
    assert main(["check", "script.py"]) == 0
    *notes, summary, last = capsys.readouterr().out.splitlines()
    assert (summary, last) == ("Success: no issues found in 1 source file", HINT)
    assert len(notes) == 1, "reveal_type"
    assert main(["check", "script.py", "--output", "github"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{summary}; {HINT}"
    assert main(["check", "script.py", "--output", "sarif"]) == 0
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert [r["level"] for r in results] == ["note"]


def test_all_shows_it(folder, capsys):
    shown, hidden, code = codes(capsys, GUESSED, folder, "--all")
    assert ([c for _, c in shown], hidden, code) == (["arg-type", "arg-type", "union-attr", "var-annotated"], 0, 1)


@pytest.mark.parametrize(
    "annotated",
    ["def f(x: int):\n    return x\n", "n: int = 3\n", "def f() -> None:\n    pass\n", "class A:\n    x: int = 3\n"],
)
def test_a_file_with_annotations_keeps_all(folder, capsys, annotated):
    shown, hidden, code = codes(capsys, annotated + GUESSED, folder)
    assert (len(shown), hidden, code) == (4, 0, 1)


def test_a_dataclass_is_no_annotated_file():
    fields = "@dataclasses.dataclass(frozen=True)\nclass Config:\n    rate: float = 0.1\n"
    assert not is_annotated(ast.parse(fields))
    assert not is_annotated(ast.parse("class Pair(typing.NamedTuple):\n    x: int\n"))
    assert is_annotated(ast.parse(f"{fields}\n    def half(self) -> float:\n        return 0.5\n"))
    assert is_annotated(ast.parse(f"{fields}\nrate: float = Config().rate\n"))


def test_our_errors_are_shown_and_counted(folder, capsys):
    assert codes(capsys, WRONG, folder) == ([(3, "tensor-shape")], 1, 1)
    assert main(["check", "script.py"]) == 1
    assert capsys.readouterr().out.splitlines()[-2] == "Found 1 error in 1 file (checked 1 source file)"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("import a_module_that_is_nowhere", "import-not-found"),
        ("print(undefined)", "name-defined"),
        ("print(F.cross_entorpy)", "attr-defined"),
        ("nn.Linear(3)", "call-arg"),
        ("def f():\n    return g(1)", "call-arg"),
    ],
)
def test_what_surely_raises_is_shown(folder, capsys, line, code):
    text = f"import torch.nn.functional as F\nfrom torch import nn\n\n\ndef g(a, b):\n    return a\n\n\n{line}\n"
    shown, hidden, status = codes(capsys, text, folder, "--no-follow")
    assert ([c for _, c in shown], hidden, status) == ([code], 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    unicode\nexcept NameError:\n    unicode = str\n",
        "from json import *\n\nprint(something)\n",
        "exec('a = 3')\nprint(a)\n",
        "display(3)\n",
        "def h(a):\n    return a\n\n\nh = staticmethod(h)\nh(1, 2)\n",
        "import json\n\njson.nothing_like_it\n",
        "try:\n    import a_nowhere\nexcept ImportError:\n    pass\n\n\ndef f():\n    import b_nowhere\n",
        "import sys\n\nsys.path.append('..')\nimport a_module_that_is_nowhere\n",
    ],
    ids=["try", "star", "exec", "display", "assigned", "unlike all", "optional", "elsewhere"],
)
def test_what_need_not_raise_is_only_counted(folder, capsys, text):
    shown, hidden, status = codes(capsys, text, folder, "--no-follow")
    assert (shown, status) == ([], 0)
    assert hidden


def test_strict_and_a_configuration_ask_for_all(folder, capsys):
    assert codes(capsys, GUESSED, folder, "--strict")[1:] == (0, 1)
    (folder / "mypy.ini").write_text("[mypy]\n")
    assert codes(capsys, GUESSED, folder)[1:] == (0, 1)


def test_a_wrong_call_is_said_once(folder, capsys, monkeypatch):
    monkeypatch.delenv(FOLLOW_VARIABLE, raising=False)
    text = "import torch\n\n\ndef g(a, b):\n    return a\n\n\ng(torch.zeros(3))\n"
    assert codes(capsys, text, folder)[0] == [(8, "tensor-class")]


@pytest.mark.slow
@pytest.mark.thorough
def test_a_daemon_hides_the_same(folder, capsys):
    try:
        for _ in range(2):
            assert codes(capsys, GUESSED, folder, "--daemon") == ([], 4, 0)
    finally:
        subprocess.run([sys.executable, "-m", "mypy.dmypy", "--status-file", daemon_file(), "stop"], check=True)
