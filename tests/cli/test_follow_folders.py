"""``simpletorch follow FOLDER``: its programs, in several processes."""

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from simpletorch.cli import main
from simpletorch.cli._following.many import answers, processes_for
from simpletorch.cli._following.programs import Asked, Program, answer

WRONG = "import torch\nimport sizes\ntorch.nn.Linear(sizes.n, 3)(torch.zeros(2, 5))\n"
COUNT = 12


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMPLETORCH_CACHE", str(tmp_path / "kept"))


@pytest.fixture
def programs(folder):
    """Programs that are wrong, one that is right, a module of a package, and a file that is broken."""
    (folder / "sizes.py").write_text("n = 7\n")
    for number in range(COUNT):
        (folder / f"p{number:02}.py").write_text(WRONG)
    (folder / "right.py").write_text("import torch\nx = torch.zeros(7, 5)\n")
    (folder / "package").mkdir()
    (folder / "package/__init__.py").write_text("")
    (folder / "package/module.py").write_text("import torch\ndef f():\n    return torch.zeros(3) @ torch.zeros(5)\n")
    (folder / "broken.py").write_text("def f(:\n")
    return folder


def test_the_programs_of_a_folder(programs, capsys):
    assert main(["follow", "."]) == 1
    out = capsys.readouterr().out
    assert re.findall(r"^(\S+):3: error", out, re.MULTILINE) == [f"p{number:02}.py" for number in range(COUNT)]
    assert "broken.py: note: left out: broken.py:1: " in out
    assert f"Found {COUNT} errors in {COUNT + 2} files (followed in " in out
    assert "module.py" not in out


@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_the_number_of_processes_changes_nothing(jobs, programs, capsys):
    def said(*words):
        assert main(["follow", "--no-cache", *words, "."]) == 1
        return re.sub(r"\(followed in .*\)", "", capsys.readouterr().out)

    assert said("-j", jobs) == said()


def test_a_second_run_is_from_the_cache(programs, capsys):
    assert main(["follow", "-j2", "."]) == 1
    assert main(["follow", "-j2", "."]) == 1
    assert "(from the cache in " in capsys.readouterr().out.splitlines()[-1]


def test_folders_and_files(programs, capsys):
    (programs / "sub").mkdir()
    (programs / "sub/net.py").write_text("import torch\ntorch.zeros(3) @ torch.zeros(5)\n")
    assert main(["follow", "package", "sub", "p00.py"]) == 1
    out = capsys.readouterr().out
    assert re.findall(r"^(\S+):\d: error", out, re.MULTILINE) == ["p00.py", "sub/net.py"]


def test_how_many_processes():
    assert processes_for(None, 3) == processes_for(1, 3) == processes_for(2, 1) == 0
    assert processes_for(2, 3) == 2
    assert processes_for(5, 3) == 3
    assert processes_for(1, 100) == 1  # so that its memory is freed
    assert 1 <= processes_for(None, 100) <= 8


class Deadly(str):
    """A path that ends the process that gets it."""

    def __reduce__(self):
        return os._exit, (7,)


def test_a_process_that_dies_takes_only_its_program_with_it(programs):
    asked = Asked(uses_cache=False)
    named = [Program("p00.py"), Program(Deadly("p01.py")), Program("p02.py"), Program("right.py")]
    found = list(answers(named, asked, 2))
    assert [len(a.told.errors) for a in found] == [1, 0, 1, 0]
    assert found[1].told.faults == ("p01.py:1: the process that followed it ended with exit code 7",)
    assert not found[1].told.complete
    assert found[3].told.coverage == answer(named[3], asked).told.coverage


def test_a_reader_who_has_enough_ends_all(programs):
    coming = answers([Program(f"p{number:02}.py") for number in range(COUNT)], Asked(uses_cache=False), 2)
    assert len(next(coming).told.errors) == 1
    coming.close()  # terminates the processes and waits for them


def in_group(number):
    """The processes of a group that are still at work."""
    found = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in found.splitlines()]
    return [row for row in rows if row[0] == str(number) and not row[1].startswith("Z")]


@pytest.mark.slow
def test_ctrl_c_ends_it_and_the_next_run_goes_on(folder, capsys):
    slow = "import torch\nx = torch.zeros(2, 3)\n" + "for i in range(40_000):\n    x = x + i * len(str(i))\n" * 3
    for number in range(40):
        (folder / f"p{number:02}.py").write_text(f"{slow}x @ torch.zeros({number + 5}, 7)\n")
    listens = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "simpletorch.cli", "follow", "-j2", "."]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, preexec_fn=listens, **pipes) as running:
        assert "p00.py" in running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == "interrupted\n"
    until = time.monotonic() + 20
    while (left := in_group(running.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []
    assert main(["follow", "p00.py"]) == 1
    assert "(from the cache in " in capsys.readouterr().out
