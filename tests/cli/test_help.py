"""What the command line says to somebody who doesn't know it yet, or mistypes."""

import re
import subprocess
import sys

import pytest

from simpletorch.cli import main
from simpletorch.cli._commands import COMMANDS


def test_alone_it_shows_where_to_begin(capsys):
    assert main([]) == 0
    shown = re.findall(r"^  simpletorch ([\w-]+)", capsys.readouterr().out, re.MULTILINE)
    assert shown == ["follow", "check", "run", "summary", "new"]
    assert set(shown) <= COMMANDS.keys()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("folow net.py", "there is no command folow; did you mean follow?"),
        ("frobnicate", "there is no command frobnicate; simpletorch --help lists them"),
        ("net.py", "net.py is no command; did you mean: simpletorch follow net.py"),
        ("follow --shape net.py", "unrecognized arguments: --shape; did you mean --shapes?"),
        ("check --jsn net.py", "unrecognized arguments: --jsn; did you mean --json?"),
        ("check --cach=x net.py", "unrecognized arguments: --cach=x (mypy's own go behind --)"),
        ("env -- x", "it takes no arguments after --"),
    ],
)
def test_a_mistake_in_the_command_line(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_the_package_is_a_command_of_the_interpreter():
    done = subprocess.run(
        [sys.executable, "-m", "simpletorch", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("simpletorch ")
