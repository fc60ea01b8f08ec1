"""mypy's cache is void when any file changes that runs with the plugin, and not when the framework does."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import simpletorch
from simpletorch.mypy.digest import digest, sources

ROOT = Path(simpletorch.__file__).parent
LOADED = """
import sys
import simpletorch.mypy, simpletorch.follow.followed, simpletorch.follow.cache.kept, simpletorch.follow.cache.shown
from simpletorch.follow.libraries import _FILES, load
[load(name) for name in _FILES]
from simpletorch.rules import MODULES, RULES
RULES.complete(), MODULES.complete()
print(*(m.__file__ for name, m in sys.modules.items() if name.partition(".")[0] == "simpletorch"), sep="\\n")
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    pycache = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(ROOT, tmp_path / "simpletorch", ignore=pycache)


def now(root: Path) -> str:
    digest.cache_clear()
    return digest(root)


def test_each_file_that_a_fresh_interpreter_loads_is_one_of_them():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = {Path(file).relative_to(ROOT).as_posix() for file in done.stdout.split()}
    assert {"__init__.py", "_empty.py", "dtypes.py", "mypy/calls/layers.py", "shapes/dim.py"} < loaded
    assert loaded <= set(sources(ROOT))


def test_a_change_of_a_file_is_seen(copy: Path):
    before = now(copy)
    assert before == now(ROOT), "it depends on the texts, and not on where they are"
    file = copy / "rules/functions/networks/linear.py"
    text = file.read_text()
    file.write_text(f"{text}# changed\n")
    assert now(copy) != before
    file.write_text(text)
    assert now(copy) == before


def test_the_whole_text_of_each_file_counts(copy: Path, monkeypatch: pytest.MonkeyPatch):
    texts = sources(copy)
    assert texts == {name: (copy / name).read_bytes() for name in texts}
    short = dict.fromkeys(texts, b"text")
    digests = set()
    for changed in (short, *(short | {name: b"another"} for name in short)):
        monkeypatch.setattr(sys.modules["simpletorch.mypy.digest"], "sources", lambda _, texts=changed: texts)
        digests.add(now(copy))
    assert len(digests) == len(texts) + 1


@pytest.mark.parametrize("name", ["cli/_check.py", "nn/__init__.py", "train/_trainer.py"])
def test_a_change_of_another_file_is_not(copy: Path, name: str):
    before = now(copy)
    (copy / name).write_text("# changed\n")
    assert now(copy) == before


@pytest.mark.parametrize("name", ["rules/functions/elementwise/new.py", "rules/new/__init__.py"])
def test_a_new_rule_is_seen(copy: Path, name: str):
    before = now(copy)
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("")
    assert now(copy) != before
