"""Programs that get their sizes from a command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import compare, follow_source

PARSER = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data", nargs="?", default="here")
parser.add_argument("--dim", type=int, default=7)
parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3])
parser.add_argument("--fast", action="store_true")
parser.add_argument("-v", action="count", default=1)
parser.add_argument("--tag", action="append", default=["x"])
args = parser.parse_args()
del parser
"""


@pytest.mark.parametrize(
    "words",
    [(), ("--dim", "11"), ("--dim=5", "--fast", "there"), ("--sizes", "3", "5", "7", "-vv"), ("--tag", "a", "--tag=b")],
)
def test_arguments_after_the_file_name(words: tuple[str, ...], tmp_path: Path) -> None:
    compare(PARSER, tmp_path / "program.py", words)


def test_sys_argv(tmp_path: Path) -> None:
    source = "import sys\nn = int(sys.argv[1])\nm = len(sys.argv)\nrest = sys.argv[1:]\n"
    compare(source, tmp_path / "program.py", ("5", "x"))


FUNCTIONS = {
    "fire": "import fire\nseen = []\ndef main(dim=7, name='a'):\n    seen.append((dim, name))\nfire.Fire(main)\n",
    "typer": "import typer\nseen = []\ndef main(dim: int = typer.Option(7), name: str = 'a'):\n"
    "    seen.append((dim, name))\ntyper.run(main)\n",
    "an app of typer's": "import typer\napp = typer.Typer()\nseen = []\n@app.command()\n"
    "def main(dim: int = 7, name: str = 'a'):\n    seen.append((dim, name))\napp()\n",
    "hydra": "import hydra\nseen = []\n@hydra.main(config_path=None)\n"
    "def main(cfg):\n    seen.append((7, 'a'))\nmain()\n",
}


@pytest.mark.parametrize("source", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_libraries_that_call_a_function_are_followed_into_it(source: str, tmp_path: Path) -> None:
    found, reports = follow_source(source, tmp_path / "program.py")
    assert found["seen"].items == ((7, "a"),)
    assert not reports


def test_fire_gets_the_arguments(tmp_path: Path) -> None:
    found, _ = follow_source(FUNCTIONS["fire"], tmp_path / "program.py", ("--dim=11", "--name", "b"))
    assert found["seen"].items == ((11, "b"),)


def test_an_argument_that_must_be_given_is_a_symbol_and_no_error(tmp_path: Path) -> None:
    source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--dim', type=int, required=True)\n"
    found, reports = follow_source(f"{source}dim = p.parse_args().dim\n", tmp_path / "program.py")
    assert str(found["dim"]) == "dim"
    assert not reports


@pytest.mark.parametrize("part", ["[1:3]", "[1:]", "[-2:]", "[1:-1]"])
def test_as_many_words_as_are_asked_for_are_given(part: str, tmp_path: Path) -> None:
    _, reports = follow_source(f"import sys\nfolder, count = sys.argv{part}\n", tmp_path / "program.py")
    assert not reports


def test_words_that_are_given_are_counted(tmp_path: Path) -> None:
    source = "import sys\nfolder, count = sys.argv[1:3]\n"
    assert not follow_source(source, tmp_path / "program.py", ("here", "3"))[1]
    assert len(follow_source(source, tmp_path / "program.py", ("here",))[1]) == 1


OPEN = {
    "parents from elsewhere": "from nowhere import parent\np = argparse.ArgumentParser(parents=[parent])\n",
    "some parents": "from nowhere import parents\np = argparse.ArgumentParser(parents=parents)\n",
    "an open parent": "from nowhere import fill\nq = argparse.ArgumentParser(add_help=False)\nfill(q)\n"
    "p = argparse.ArgumentParser(parents=[q])\n",
    "names that are read": "p = argparse.ArgumentParser()\nfor n in open('names'):\n    p.add_argument('--' + n)\n",
    "names in a group": "p = argparse.ArgumentParser()\ng = p.add_argument_group('all')\nfor n in open('names'):\n"
    "    g.add_argument(f'--{n}', default=3)\n",
}


@pytest.mark.parametrize("parser", OPEN.values(), ids=OPEN)
def test_a_parser_of_which_not_all_is_known_may_give_any_option(parser: str, tmp_path: Path) -> None:
    _, reports = follow_source(f"import argparse\n{parser}n = p.parse_args().width\n", tmp_path / "program.py")
    assert not reports


def test_an_option_that_no_parent_has_is_said(tmp_path: Path) -> None:
    source = "import argparse\nq = argparse.ArgumentParser(add_help=False)\nq.add_argument('--dim', default=7)\n"
    source += "args = argparse.ArgumentParser(parents=[q]).parse_args()\nn = args.dim\nargs.width\n"
    found, reports = follow_source(source, tmp_path / "program.py")
    assert found["n"] == 7
    assert ["Namespace has no attribute 'width'" in str(r) for r in reports] == [True]
