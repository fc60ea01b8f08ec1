"""Programs whose training waits for an option are followed with it too, and what is found then says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import Finding, follow

MODEL = """
import torch
from torch import nn

net = nn.Linear(7, 3)

def learn():
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.zeros(4, 5)).sum().backward()
        optimizer.step()

def load():
    net(torch.zeros(2, 7))
"""
ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("-t", "--learn", action="store_true")
parser.add_argument("--mode", default="test")
parser.add_argument("--quick", action="store_true")
"""
WAITING = {
    "a flag": (ARGPARSE + "args = parser.parse_args()\nif args.learn:\n    learn()\nelse:\n    load()\n", "--learn"),
    "a flag among others": (
        ARGPARSE
        + "args = parser.parse_args()\nif args.quick:\n    load()\nif args.learn and not args.quick:\n    learn()\n",
        "--learn",
    ),
    "a word": (
        ARGPARSE + "args = parser.parse_args()\nif args.mode == 'fit':\n    learn()\nelse:\n    load()\n",
        "--mode fit",
    ),
    "a dict": (ARGPARSE + "args = vars(parser.parse_args())\nif args['learn']:\n    learn()\n", "--learn"),
    "exit": (
        ARGPARSE + "args = parser.parse_args()\nif not args.quick and not args.learn:\n    raise SystemExit\n"
        "if args.learn:\n    learn()\n",
        "--learn",
    ),
    "click": (
        "import click\n@click.command()\n@click.option('--learning', is_flag=True)\ndef main(learning):\n"
        "    if learning:\n        learn()\nmain()\n",
        "--learning",
    ),
    "absl": (
        "from absl import app, flags\nflags.DEFINE_bool('learning', False, 'x')\nFLAGS = flags.FLAGS\n"
        "def main(_):\n    if FLAGS.learning:\n        learn()\napp.run(main)\n",
        "--learning",
    ),
}


def errors(tmp_path: Path, source: str, *words: str) -> tuple[Finding, ...]:
    (tmp_path / "program.py").write_text(MODEL + source)
    found = follow(tmp_path / "program.py", words)
    assert not found.faults
    return found.errors


@pytest.mark.parametrize(("source", "words"), WAITING.values(), ids=WAITING.keys())
def test_the_training_behind_an_option_is_followed(source: str, words: str, tmp_path: Path) -> None:
    (error,) = errors(tmp_path, source)
    assert error.message.startswith("Linear(7, 3)")
    assert error.lines()[-1].endswith(f"note: the program is run with {words}")
    assert not error.is_certain


def test_an_option_that_is_given_is_no_news(tmp_path: Path) -> None:
    (error,) = errors(tmp_path, WAITING["a flag"][0], "here", "--learn")
    assert not any(call.words for call in error.trace)


def test_a_program_that_trains_anyway_is_followed_once(tmp_path: Path) -> None:
    source = MODEL.replace("zeros(4, 5)", "zeros(4, 7)") + ARGPARSE + (
        "args = parser.parse_args()\nlearn()\nif args.learn:\n    net(torch.zeros(2, 9))\n    learn()\n"
    )  # fmt: skip
    (tmp_path / "program.py").write_text(source)
    assert not follow(tmp_path / "program.py").errors


@pytest.mark.parametrize(
    "source",
    [
        ARGPARSE + "args = parser.parse_args(['here'])\nif args.learn:\n    learn()\n",
        ARGPARSE + "args = parser.parse_args()\nif args.quick:\n    net(torch.zeros(2, 9))\n",
    ],
    ids=["the program gives the words", "no training"],
)
def test_what_no_command_line_reaches_is_not_followed(source: str, tmp_path: Path) -> None:
    found = errors(tmp_path, source)
    assert not [f for f in found if any(call.words for call in f.trace)]


def test_an_option_that_must_be_given_has_no_default(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import argparse\nimport torch\np = argparse.ArgumentParser()\n"
        "p.add_argument('--n', type=int, required=True, default=5)\n"
        "torch.nn.Linear(7, 3)(torch.zeros(2, p.parse_args().n))\n"
    )
    assert not follow(tmp_path / "program.py").errors


def test_files_and_names_of_both_runs_are_shown(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("")
    (tmp_path / "second.py").write_text("")
    source = ARGPARSE + (
        "args = parser.parse_args()\nif args.learn:\n    import second\n    a = torch.zeros(2)\n    learn()\n"
        "else:\n    import first\n    b = torch.zeros(3)\n"
    )
    (tmp_path / "program.py").write_text(MODEL + source)
    found = follow(tmp_path / "program.py", watched=True)
    assert {Path(f).name for f in found.files} == {"program.py", "first.py", "second.py"}
    assert {"a", "b"} <= {name for names in found.claims.values() for name in names}
    assert found.seen is not None
    assert {"Float32[2]", "Float32[3]"} <= {str(look.type) for looks in found.seen.looks.values() for look in looks}


NONE = """
import argparse
import torch
p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int)
p.add_argument("--size", type=int)
p.add_argument("--path")
p.add_argument("--train", action="store_true")
args = p.parse_args()
"""
NEEDED = {
    "in arithmetic": ("args.epochs + 1\n", "--epochs"),
    "in another name": ("class S: pass\ns = S()\ns.n = args.epochs\ns.n // 2\n", "--epochs or --size or --path"),
    "halved": ("torch.zeros(3, args.size // 2)\n", "--size"),
    "an item": ("args.path[0]\n", "--path"),
    "in a function": ("def f(a):\n    return a.size * 2\nf(args)\n", "--size"),
    "behind its default": ("if args.path is None:\n    (args.path or None)[0]\n", "--path"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_what_fails_without_an_option_is_a_note(name: str, tmp_path: Path) -> None:
    source, flags = NEEDED[name]
    (tmp_path / "program.py").write_text(NONE + source)
    found = follow(tmp_path / "program.py")
    assert not found.errors
    assert [f.message.partition(", unless ")[2] for f in found.remarks] == [f"{flags} is given"]


@pytest.mark.parametrize(
    "source",
    [
        "x = None\nx + 1\n",
        "x = None if args.size is None else None\nx + 1\n",
        "def f():\n    args.epochs\nf()[0]\n",
        "torch.zeros(3) @ torch.zeros(4)\n",
    ],
)
def test_what_fails_with_the_option_too_is_an_error(source: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(NONE + source)
    found = follow(tmp_path / "program.py")
    assert (len(found.errors), found.remarks) == (1, ())


def test_a_note_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(NONE + "args.epochs + 1\n")
    assert not follow(tmp_path / "program.py", severities={"tensor-class": "off"}).remarks


CHAIN = (
    ARGPARSE
    + """
import torch
args = parser.parse_args()
def sample(n):
    if args.mode == "one":
        x = torch.randn(n, 4)
    elif args.mode == "two":
        x = torch.randn(n, {width})
    elif args.mode == "three":
        x = torch.randn(n, {width}){more}
    else:
        raise ValueError(args.mode)
    return x
torch.nn.Linear(4, 2)(sample(3))
"""
)


@pytest.mark.parametrize(
    ("width", "more", "count"), [(5, "", 0), (4, ".double()", 0), (4, "", 0)], ids=["width", "dtype", "right"]
)
def test_an_option_that_no_branch_knows_may_be_any_of_them(width: int, more: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(CHAIN.format(width=width, more=more))
    assert len(follow(tmp_path / "program.py").errors) == count


def test_a_mistake_in_each_branch_is_found(tmp_path: Path) -> None:
    source = CHAIN.format(width=5, more="").replace("(n, 4)", "(n, 5)")
    (tmp_path / "program.py").write_text(source)
    assert len(follow(tmp_path / "program.py").errors) == 1
