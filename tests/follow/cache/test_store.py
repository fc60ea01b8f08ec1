"""The folder of answers: damaged entries, many writers, its bound, and folders that can't be written to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simpletorch.follow.cache.store import Store, folder_of


def entry(folder: Path) -> Path:
    (found,) = folder.glob("*.json")
    return found


def test_a_document_comes_back(tmp_path):
    document = {"a": [1, None, "×\ud800"], "b": {"c": True}}
    Store(tmp_path / "new/folder").put("key", document)
    assert Store(tmp_path / "new/folder").get("key") == document
    assert Store(tmp_path / "new/folder").get("other") is None
    assert Store(tmp_path / "nowhere").get("key") is None


@pytest.mark.parametrize("at", [0, 5, 32, 33, 40, -1])
def test_a_damaged_entry_is_none(at, tmp_path):
    store = Store(tmp_path)
    store.put("key", {"errors": [], "x": 7})
    whole = entry(tmp_path).read_bytes()
    damaged = bytearray(whole)
    damaged[at] ^= 1
    for content in (bytes(damaged), whole[:at], b""):
        entry(tmp_path).write_bytes(content)
        assert store.get("key") is None
    store.put("key", 11)
    assert store.get("key") == 11


def test_nothing_in_an_entry_is_executed():
    """A pickle would be."""
    imported = Path(sys.modules[Store.__module__].__file__ or "").read_text()
    assert not any(word in imported for word in ("pickle", "marshal", "eval(", "exec("))


def test_the_bound_removes_what_was_not_used_for_longest(tmp_path):
    store = Store(tmp_path, most=10_000)
    for number in range(9):
        store.put(f"{number}", "x" * 1_000)
        os.utime(tmp_path / f"{number}.json", (number, number))
    assert store.get("0") is not None  # which is in use again
    for number in range(10, 15):
        store.put(f"{number}", "x" * 1_000)
    size = sum(path.stat().st_size for path in tmp_path.glob("*.json"))
    assert size <= 10_000
    assert store.get("0") is not None
    assert store.get("1") is None
    assert store.get("14") is not None


def test_what_is_too_large_is_not_kept(tmp_path):
    store = Store(tmp_path, most=1_000)
    store.put("key", "x" * 2_000)
    assert store.get("key") is None


def test_what_another_process_left_unfinished_goes_in_the_end(tmp_path):
    store = Store(tmp_path)
    for name, age in (("old", 10_000), ("fresh", 0)):
        (tmp_path / f"{name}.new").write_text("")
        os.utime(tmp_path / f"{name}.new", (time.time() - age,) * 2)
    store.put("key", 3)
    assert {path.name for path in tmp_path.glob("*.new")} == {"fresh.new"}


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file/cache")
    store.put("key", 3)
    assert store.get("key") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path):
    Store(tmp_path).put("key", 3)
    tmp_path.chmod(0o500)
    Store(tmp_path).put("other", 5)
    assert Store(tmp_path).get("key") == 3
    tmp_path.chmod(0o700)


def test_it_is_left_out_of_repositories_and_backups(tmp_path):
    Store(tmp_path / "cache").put("key", 3)
    assert "*" in (tmp_path / "cache/.gitignore").read_text().splitlines()
    assert (tmp_path / "cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


WRITES = """
import sys
from pathlib import Path
from simpletorch.follow.cache.store import Store
store = Store(Path(sys.argv[1]), most=40_000)
for number in range(400):
    key = str(number % 13)
    found = store.get(key)
    assert found is None or found == [key] * 500, found
    store.put(key, [key] * 500)
"""


def test_processes_write_the_same_entries(tmp_path):
    """Each finds whole documents, while others replace them and remove them."""
    processes = [subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert list(tmp_path.glob("*.new")) == []
    for path in tmp_path.glob("*.json"):
        json.loads(path.read_bytes().partition(b"\n")[2])


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"SIMPLETORCH_CACHE": "/there"}, Path("/there/follow")),
        ({"SIMPLETORCH_CACHE": "off"}, None),
        ({"SIMPLETORCH_CACHE": "0"}, None),
        ({"SIMPLETORCH_CACHE": "", "XDG_CACHE_HOME": "/caches"}, Path("/caches/simpletorch/follow")),
        ({}, Path.home() / ".cache/simpletorch/follow"),
    ],
)
def test_the_folder(environment, folder):
    assert folder_of(environment) == folder
