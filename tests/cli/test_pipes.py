"""Programs that come through a pipe, and readers that go away."""

import json
import os
import subprocess
import sys
import threading

import pytest

from simpletorch.cli import main

WRONG = "import torch\nfrom sizes import n\n\nx = torch.zeros(n)\ny = x + torch.zeros(5)\n"
SAID = ":5: error: +: input (3,) and other (5,) can't be broadcast"


def follow(text, *arguments):
    """What ``simpletorch follow`` prints of a text on its standard input."""
    command = [sys.executable, "-m", "simpletorch.cli", "follow", *arguments]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_a_reader_that_has_seen_enough_is_no_error(folder):
    lines = "".join(f"reveal_type({n})\n" for n in range(20_000))  # more than a pipe holds
    (folder / "long.py").write_text(lines)
    command = [sys.executable, "-m", "simpletorch.cli", "follow", "long.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == 'long.py:1: note: Revealed type is "0"\n'
        running.stdout.close()
        assert running.stderr.read() == ""


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_program_on_standard_input_is_followed_with_its_neighbours(folder, name):
    (folder / "sizes.py").write_text("n = 3\n")
    done = follow(WRONG.encode(), name)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.decode().startswith(f"<stdin>{SAID}")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--shapes"], "x = torch.zeros(n)      # x: Float32[3]"),
        (["--html"], "<i>x: Float32[3]</i>"),
        (["--why", "4"], "<stdin>:4: x: Float32[3]"),
    ],
)
def test_its_text_is_read_once(folder, options, shown):
    (folder / "sizes.py").write_text("n = 3\n")
    assert shown in follow(WRONG.encode(), *options, "-").stdout.decode()


def test_its_arguments_are_its_own():
    program = b"import sys\nimport torch\n\ntorch.zeros(int(sys.argv[1])) + torch.zeros(5)\n"
    assert b"input (7,) and other (5,)" in follow(program, "-", "7").stdout
    assert follow(program, "-", "5").returncode == 0


def test_a_pipe_has_its_own_name(folder, capsys):
    os.mkfifo(folder / "pipe")
    (folder / "sizes.py").write_text("n = 3\n")
    writing = threading.Thread(target=(folder / "pipe").write_text, args=(WRONG,))
    writing.start()
    assert main(["follow", "--json", "pipe"]) == 1
    writing.join()
    found = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert (found["file"], found["line"]) == ("pipe", 5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [(b"x = 1\ndef f(:\n", b"<stdin>:2: invalid syntax"), (b"'\xff'", b"<stdin> can't be read: 'utf-8' codec")],
)
def test_what_is_no_python_is_one_sentence(text, reason):
    done = follow(text, "-")
    assert done.returncode == 2
    assert done.stderr.startswith(b"simpletorch follow: " + reason)


def test_nothing_is_a_program_too():
    assert follow(b"", "-").stdout.startswith(b"No error found")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("check", "- is no file, and mypy reads files: 'simpletorch follow -' follows such a program"),
        ("run", "- is no file, so an error couldn't show its lines; name the file to run"),
    ],
)
def test_other_commands_say_that_they_need_a_file(folder, capsys, command, reason):
    assert main([command, "-"]) == 2
    assert capsys.readouterr().err == f"simpletorch {command}: {reason}\n"
