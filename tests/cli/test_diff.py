"""``--diff BASE``: findings on lines that have changed, in real repositories of git."""

import json
import re
import subprocess

import pytest

from simpletorch.cli import main

WRONG = "import torch\n\nx = torch.zeros(2, 3)\ny = torch.nn.Linear(5, 7)(x)\n"
ANOTHER = "z = x @ torch.zeros(11, 13)\n"


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(folder):
    """A repository with one program, which has a mistake."""
    (folder / ".git").rmdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "net.py").write_text(WRONG)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def lines(capsys, *words, code):
    assert main(["follow", *words]) == code
    return re.findall(r"^(.+): error:", capsys.readouterr().out, re.MULTILINE)


def test_findings_on_other_lines_are_counted(repository, capsys):
    assert main(["follow", "--diff", "HEAD", "net.py"]) == 0
    assert "No new error found: " in (out := capsys.readouterr().out)
    assert "; 1 finding on lines unchanged since HEAD (" in out


def test_a_changed_line_is_told_committed_or_not(repository, capsys):
    (repository / "net.py").write_text("import os\n" + WRONG + ANOTHER)
    assert lines(capsys, "--diff", "HEAD", "net.py", code=1) == ["net.py:6"]
    git(repository, "commit", "-q", "-a", "-m", "second")
    assert lines(capsys, "--diff", "HEAD", "net.py", code=0) == []
    assert lines(capsys, "--diff", "HEAD~1", "net.py", code=1) == ["net.py:6"]


def test_what_the_other_branch_has_changed_since_does_not_count(repository, capsys):
    git(repository, "checkout", "-q", "-b", "mine")
    (repository / "net.py").write_text(WRONG + ANOTHER)
    git(repository, "commit", "-q", "-a", "-m", "mine")
    git(repository, "checkout", "-q", "main")
    (repository / "net.py").write_text(WRONG.replace("5, 7", "5, 11"))
    git(repository, "commit", "-q", "-a", "-m", "theirs")
    git(repository, "checkout", "-q", "mine")
    assert lines(capsys, "--diff", "main", "net.py", code=1) == ["net.py:5"]


def test_a_renamed_file_keeps_its_lines(repository, capsys):
    git(repository, "mv", "net.py", "model.py")
    assert lines(capsys, "--diff", "HEAD", "model.py", code=0) == []
    (repository / "model.py").write_text(WRONG + ANOTHER)
    assert lines(capsys, "--diff", "HEAD", "model.py", code=1) == ["model.py:5"]


@pytest.mark.parametrize("name", ["new.py", "a b.py", 'quoted".py', "é.py", "in/side.py"])
@pytest.mark.parametrize("is_added", [False, True])
def test_a_new_file_is_new_as_a_whole(name, is_added, repository, capsys):
    (repository / name).parent.mkdir(exist_ok=True)
    (repository / name).write_text(WRONG)
    if is_added:
        git(repository, "add", ".")
    assert main(["follow", "--diff", "HEAD", name]) == 1


def test_an_edit_of_a_file_with_an_odd_name(repository, capsys):
    for name in ("a b.py", 'quoted".py', "é.py"):
        (repository / name).write_text(WRONG)
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "second")
    for name in ("a b.py", 'quoted".py', "é.py"):
        assert main(["follow", "--diff", "HEAD", name]) == 0
        (repository / name).write_text(WRONG + ANOTHER)
        assert main(["follow", "--diff", "HEAD", name]) == 1


def test_the_settings_of_the_user_do_not_matter(repository, capsys):
    for name, value in {"diff.noprefix": "true", "diff.relative": "true", "color.ui": "always"}.items():
        git(repository, "config", name, value)
    (repository / "net.py").write_text(WRONG + ANOTHER)
    assert lines(capsys, "--diff", "HEAD", "net.py", code=1) == ["net.py:5"]


def test_from_a_folder_within(repository, monkeypatch, capsys):
    (repository / "sub").mkdir()
    monkeypatch.chdir(repository / "sub")
    (repository / "net.py").write_text(WRONG + ANOTHER)
    assert lines(capsys, "--diff", "HEAD", "../net.py", code=1) == ["../net.py:5"]


def test_a_changed_call_of_an_unchanged_line(repository, capsys):
    """The mistake is where torch would raise; the change that makes it one is the call."""
    program = "import torch\n\ndef run(x):\n    return torch.nn.Linear(5, 7)(x)\n\nrun(torch.zeros(2, 5))\n"
    (repository / "net.py").write_text(program)
    git(repository, "commit", "-q", "-a", "-m", "second")
    (repository / "net.py").write_text(program.replace("2, 5", "2, 3"))
    assert lines(capsys, "--diff", "HEAD", "net.py", code=1) == ["net.py:4"]


def test_beside_lines_that_are_gone(repository, capsys):
    program = "import torch\nx = torch.zeros(2, 3, 5)\nx = x.flatten(1)\ntorch.nn.Linear(15, 7)(x)\n"
    (repository / "net.py").write_text(program)
    git(repository, "commit", "-q", "-a", "-m", "second")
    (repository / "net.py").write_text(program.replace("x = x.flatten(1)\n", ""))
    assert lines(capsys, "--diff", "HEAD", "net.py", code=1) == ["net.py:3"]


def test_cells_of_a_notebook(repository, capsys):
    def written(*cells):
        sources = [{"cell_type": "code", "source": cell} for cell in cells]
        (repository / "net.ipynb").write_text(json.dumps({"cells": sources}))

    written(WRONG)
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "second")
    written("import os", WRONG, ANOTHER)
    assert lines(capsys, "--diff", "HEAD", "net.ipynb", code=1) == ["net.ipynb:cell 3:1"]


def test_with_a_baseline(repository, capsys):
    assert main(["follow", "--baseline", "known.json", "--write-baseline", "net.py"]) == 0
    (repository / "net.py").write_text(WRONG.replace("x = ", "x  = ") + ANOTHER)
    assert lines(capsys, "--diff", "HEAD", "--baseline", "known.json", "net.py", code=1) == ["net.py:5"]


@pytest.mark.slow
def test_check_and_its_formats(repository, capsys):
    (repository / "net.py").write_text(WRONG + "m: int = 'four'\n")
    git(repository, "commit", "-q", "-a", "-m", "second")
    (repository / "net.py").write_text(WRONG + "m: int = 'four'\nn: int = 'five'\n")
    assert main(["check", "--diff", "HEAD", "--json", "net.py"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [d["line"] for d in document["diagnostics"]] == [6]
    assert document["not_shown"] == {"known": 0, "unchanged": 2, "stale": 0}
    assert main(["check", "--diff", "HEAD", "--output", "github", "net.py"]) == 1
    assert capsys.readouterr().out.count("::error ") == 1
    (repository / "net.py").write_text(WRONG + "m: int = 'four'\nn: int = 5\n")
    assert main(["check", "--diff", "HEAD", "net.py"]) == 0


def test_no_repository(folder, capsys):
    (folder / ".git").rmdir()
    (folder / "net.py").write_text(WRONG)
    assert main(["follow", "--diff", "HEAD", "net.py"]) == 2
    assert "git can't say what has changed: not a git repository" in capsys.readouterr().err


@pytest.mark.parametrize("base", ["nowhere", "--output=x"])
def test_an_unknown_revision(base, repository, capsys):
    assert main(["follow", f"--diff={base}", "net.py"]) == 2
    assert f"git knows no revision '{base}'" in capsys.readouterr().err


def test_a_shallow_clone_says_what_it_needs(repository, capsys):
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-q", "-m", "other")
    assert main(["follow", "--diff", "main", "net.py"]) == 2
    assert "no common ancestor" in (err := capsys.readouterr().err)
    assert "fetch-depth: 0" in err


def test_no_git(repository, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(repository))
    assert main(["follow", "--diff", "HEAD", "net.py"]) == 2
    assert "git can't be run" in capsys.readouterr().err
