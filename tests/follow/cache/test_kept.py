"""What is kept of a follow, and when it is given again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from simpletorch import _outside as outside
from simpletorch.cli import main
from simpletorch.follow import follow
from simpletorch.follow.cache import kept as module
from simpletorch.follow.cache.kept import Question
from simpletorch.follow.cache.told import Told
from tests.marks import thorough

PROGRAMS = sorted((Path(__file__).parents[3] / "corpora/programs").glob("*.py"))
PROGRAM = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(7, 5)

    def forward(self, x):
        pair = (x, x.T)
        return self.fc(x)

for n in (3, 11):
    y = Net()(torch.zeros(n, 7))
    reveal_type(y)
z = unknown(y)
nn.Linear(4, 2)(y)
nn.Linear(4, 2)(y)  # type: ignore
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMPLETORCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    Path("net.py").write_text(PROGRAM)
    return tmp_path / "cache/follow"


def asked(path: str = "net.py", *arguments: str, uses_cache: bool = True, **options: Any) -> Question:
    return Question(path, arguments, uses_cache=uses_cache, **options)


# -- the answer --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*PROGRAMS[:5], *thorough(PROGRAMS[5:])], ids=lambda path: path.stem)
def test_a_kept_answer_is_that_of_a_fresh_follow(path):
    fresh = Told.of(follow(str(path)))
    assert asked(str(path)).kept() is None
    assert asked(str(path)).told() == fresh
    assert asked(str(path)).kept() == fresh


def test_all_that_surfaces_print_is_kept():
    asked().told()
    kept = asked().kept()
    assert kept is not None
    assert [(f.line, f.code, f.is_certain, bool(f.passed)) for f in kept.errors] == [(17, "tensor-shape", True, True)]
    assert [f.line for f in kept.ignored] == [18]
    assert [n.line for n in kept.notes] == [15]
    assert kept.shown["net.py", 14]["y"] == ("Float32[3, 5]", "Float32[11, 5]")
    assert kept.shown["net.py", 10]["pair"] == ("(Float32[3, 7], Float32[7, 3])", "(Float32[11, 7], Float32[7, 11])")
    assert kept.reasons["net.py", 16]
    assert kept.coverage == (1, 1)
    assert kept == Told.of(follow("net.py"))
    found, fresh = kept.errors[0], follow("net.py").errors[0]
    assert (found.passed, found.entry, found.is_certain) == (fresh.passed, fresh.entry, fresh.is_certain)


# -- when it counts ----------------------------------------------------------------------------------------------------


def test_other_arguments_and_options_are_other_questions():
    asked().told()
    assert asked("net.py", "--n").kept() is None
    assert asked(data=False).kept() is None
    assert asked(kind="library").kept() is None
    assert asked(steps=5).kept() is None
    assert asked(severities={"tensor-shape": "warning"}).kept() is None
    assert asked("../project/net.py").kept() is None  # the report names the file like this
    assert asked().kept() is not None


def test_another_python_or_simpletorch_follows_again(monkeypatch):
    asked().told()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "3.99")
        assert asked().kept() is None
    with monkeypatch.context() as patch:
        patch.setattr(module, "digest_of_simpletorch", lambda store: "another one")
        assert asked().kept() is None
    assert asked().kept() is not None


def test_another_folder_follows_again(monkeypatch, tmp_path):
    asked().told()
    other = tmp_path / "other"
    other.mkdir()
    (other / "net.py").write_text(PROGRAM)
    monkeypatch.chdir(other)
    assert asked().kept() is None


def test_what_the_clock_has_cut_short_is_kept_only_where_that_is_asked_for():
    Path("net.py").write_text("import torch\nn = 0\nwhile n < 10**9:\n    n += torch.ones(3).shape[0]\n" * 40)
    assert follow("net.py", seconds=0.0, steps=10**7).is_cut
    asked(seconds=0.0, steps=10**7).told()
    assert asked(seconds=0.0, steps=10**7).kept() is None
    told = asked(seconds=0.0, steps=10**7, keeps_cut=True).told()
    assert asked(seconds=0.0, steps=10**7, keeps_cut=True).kept() == told


def test_what_the_steps_have_ended_is_kept():
    told = asked(steps=3).told()
    assert not told.complete
    assert asked(steps=3).kept() == told


def test_what_a_fault_of_ours_is_in_is_not_kept(monkeypatch):
    def fails(*args: Any, **kwargs: Any) -> object:
        raise ZeroDivisionError("seven by nothing")

    monkeypatch.delenv("SIMPLETORCH_DEBUG", raising=False)
    monkeypatch.setattr("simpletorch.follow.tensors.infer", fails)
    # of a size that no other test has: an answer that is known isn't asked for again
    Path("net.py").write_text("import torch\ny = torch.zeros(10_009).relu()\n")
    assert asked().told().faults
    assert asked().kept() is None


def test_what_changes_while_it_is_followed_is_not_kept(monkeypatch):
    Path("other.py").write_text("n = 3\n")
    Path("net.py").write_text("import torch\nimport other\nx = torch.zeros(other.n)\n")
    content = outside.content

    def reads(path: Any) -> bytes:
        found = content(path)
        if str(path).endswith("other.py"):
            Path(path).write_text(f"n = {len(found)}\n# {'x' * len(found)}\n")
            content(path)  # somebody else in the follow
        return found

    monkeypatch.setattr(outside, "content", reads)
    asked().told()
    monkeypatch.undo()
    assert asked().kept() is None


@pytest.mark.parametrize(
    "document",
    [{}, [], 3, "x", {"looks": {}}, {"looks": 3, "told": {}}, {"looks": {"content": 3}}, {"looks": {}, "told": []}],
)
def test_an_entry_of_another_hand_is_none(document):
    question = asked()
    assert question._store is not None
    assert question._key is not None
    question._store.put(question._key, document)
    assert asked().kept() is None
    assert asked().told().errors
    assert asked().kept() is not None


# -- the command -------------------------------------------------------------------------------------------------------


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["follow", *words])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [[], ["--shapes"], ["--why", "16"], ["--json"], ["--output", "sarif"], ["--output", "github"], ["--sizes"]]
)
def test_the_command_says_the_same_again(words, capsys):
    first, again = (said(capsys, *words, "net.py") for _ in range(2))
    plain = re.compile(r'\((?:followed|from the cache) in \d+ ms\)|"seconds": [\d.]+')
    assert first[0] == again[0] == 1
    assert plain.sub("", first[1]) == plain.sub("", again[1])
    assert ("from the cache in" in again[1]) is ("followed in" in first[1])


def test_it_follows_again_if_nothing_is_to_be_kept(capsys, monkeypatch, cache):
    assert "(followed in" in said(capsys, "--no-cache", "net.py")[1]
    Path("pyproject.toml").write_text("[tool.simpletorch]\ncache = false\n")
    assert "(followed in" in said(capsys, "net.py")[1]
    Path("pyproject.toml").unlink()
    monkeypatch.setenv("SIMPLETORCH_CACHE", "off")
    assert "(followed in" in said(capsys, "net.py")[1]
    assert not cache.exists()


def test_a_file_that_is_no_python_any_more(capsys):
    assert said(capsys, "net.py")[0] == 1
    Path("net.py").write_text("x =\n")
    assert said(capsys, "net.py")[0] == 2
    Path("net.py").unlink()
    assert said(capsys, "net.py")[0] == 2
    Path("net.py").write_text(PROGRAM)
    assert "from the cache" in said(capsys, "net.py")[1]


@pytest.mark.parametrize("mode", "01")
def test_a_kept_answer_needs_no_interpreter(mode, capsys, monkeypatch):
    said(capsys, "net.py")
    monkeypatch.setenv("PYTHONUTF8", mode)  # as a process without a locale has it, and its children don't
    code = (
        "import sys; from simpletorch.cli import main; main(['follow', 'net.py']);"
        "print(*(m for m in sys.modules if m.startswith('simpletorch.follow')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "from the cache" in done
    assert "simpletorch.follow.interpreter" not in done
    assert "simpletorch.follow.cache.kept" in done


def test_nothing_of_standard_input_is_kept(capsys, cache):
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "simpletorch.cli", "follow", "-"], input=PROGRAM, capture_output=True, text=True
        )
        assert "(followed in" in done.stdout
    assert not [path for path in cache.glob("*.json") if not path.name.startswith("own-")]


def test_an_entry_is_plain_json(cache):
    asked().told()
    (path,) = (path for path in cache.glob("*.json") if not path.name.startswith("own-"))
    document = json.loads(path.read_bytes().partition(b"\n")[2])
    assert document["looks"]["content"].keys() == {"net.py", str(Path("net.py").absolute())}
