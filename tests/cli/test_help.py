"""What the command line says to somebody who doesn't know it yet, or mistypes."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simpletorch.cli import main
from simpletorch.cli._commands import COMMANDS, EXIT_CODES
from simpletorch.cli._follow import OPTIONS


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
        ("check --cach=x net.py", "unrecognized arguments: --cach=x (put mypy's own after --)"),
        ("explain tensor-layot", "there is no code tensor-layot; did you mean tensor-layout?"),
        ("explain layot", "there is no code layot; did you mean tensor-layout?"),
        ("follow -m nowhere.net", "simpletorch follow: there is no module nowhere.net in this folder"),
        ("env -- x", "it takes no arguments after --"),
    ],
)
def test_a_mistake_in_the_command_line(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        sys.exit(main(words.split()))
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["follow"], ["check"]])
def test_the_exit_codes_are_in_the_help(command, capsys):
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert EXIT_CODES in capsys.readouterr().out
    guide = (Path(__file__).parents[2] / "docs/guides/ci.md").read_text(encoding="utf-8")
    for code, meaning in re.findall(r"^  (\d)  (.*?)(?: \(.*)?$", EXIT_CODES, re.MULTILINE):
        assert f"| {code} | {meaning}" in guide


def test_follow_and_check_share_their_options():
    def options(command):
        parser = argparse.ArgumentParser()
        COMMANDS[command](parser)
        return {option for action in parser._actions for option in action.option_strings}

    shared = options("follow") & options("check")
    assert shared > {"--json", "--output", "--quiet", "--jobs", "--baseline", "--diff", "--no-data", "--no-cache"}
    assert {f"--{option}" for option in ("shapes", "html", "why", "coverage", "sizes")} == {
        o for o in options("follow") - shared if o.startswith("--")
    }
    assert {option for option in options("follow") if option.startswith("--")} - {"--help", "--write-baseline"} <= {
        *OPTIONS
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--output", "xml"], "'xml' is no format; write one of text, json, github, sarif, markdown"),
        (["--output", "sarif="], "'sarif=' is no format"),
        (["-j", "none"], "'none' is no number of processes"),
        (["-j", "0"], "'0' is no number of processes"),
    ],
)
def test_a_value_that_an_option_doesn_t_take(words, said, capsys):
    for command in ("follow", "check"):
        with pytest.raises(SystemExit):
            main([command, *words, "net.py"])
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_s_completion_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("follow", "watch", "write-baseline", "jobs"))
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_package_is_a_command_of_the_interpreter():
    done = subprocess.run(
        [sys.executable, "-m", "simpletorch", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("simpletorch ")
