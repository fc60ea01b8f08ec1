"""Each look-up of a follow is recorded: files and folders are asked for in one place, and nowhere else."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simpletorch import _outside as outside
from simpletorch import _settings
from simpletorch.follow import follow
from simpletorch.follow.cache.own import digest_of_simpletorch
from simpletorch.follow.cache.store import Store
from simpletorch.follow.sources import installed, syntax
from tests.sources import SOURCE

# -- one place ---------------------------------------------------------------------------------------------------------

_METHODS = re.compile(
    r"exists|is_file|is_dir|is_symlink|stat|lstat|glob|rglob|iterdir|read_text|read_bytes|samefile|"
    r"readlink|listdir|scandir|realpath|isfile|isdir|islink|getsize|getmtime|environ|getenv|"
    r"find_spec|cwd|home|expanduser|expandvars|fdopen|import_module"
)
_FUNCTIONS = frozenset({"open", "find_spec", "__import__", "input"})
_MODULES = re.compile(
    r"subprocess|socket|shutil|glob|tempfile|random|datetime|time|platform|getpass|locale|linecache|"
    r"fileinput"
)
_ALLOWED = {
    "_programs.py": "the kind of a file, before a follow",
    "budget.py": "the clock of the budget, which marks what it cuts short",
    "cache": "what is kept, and of which version",
    "disk/reach.py": "the current folder, which is in the key",
    "interpreter.py": "whether a fault of ours is raised; an answer with a fault isn't kept",
    "libraries/pytorch/signatures.py": "names of torch's, which are part of a version",
    "sources/comparing.py": "runs programs of a test on purpose",
    "sources/installed.py": "answers of its own, recorded as such",
    "sources/notebooks.py": "before a follow",
    "sources/piped.py": "standard input, before a follow",
    "sources/python.py": "before a follow",
    "sources/texts.py": "paths of what an editor has opened; then nothing is kept",
}


def _asks(tree: ast.AST) -> Iterator[str]:
    """Names in a file of the follower that may ask the system for something."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="os" | "Path" | "time" | "sys"), attr=name) if _METHODS.fullmatch(
                name
            ):
                yield name
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if _METHODS.fullmatch(name):
                if not (isinstance(value, ast.Name) and value.id in ("outside", "texts", "files")):
                    yield name
            case ast.Call(func=ast.Attribute(attr="resolve"), args=[], keywords=[]):
                yield "resolve"
            case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
                yield name
            case ast.Import(names=names):
                yield from (n.name for n in names if _MODULES.fullmatch(n.name))
            case ast.ImportFrom(module=name) if _MODULES.fullmatch(str(name)):
                yield str(name)


def test_nothing_else_asks_the_system():
    found = {}
    folder = SOURCE / "follow"
    for path in (*folder.rglob("*.py"), SOURCE / "_programs.py"):
        name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
        if asks := sorted(set(_asks(ast.parse(path.read_text())))):
            found[name] = asks
    unknown = {name: asks for name, asks in found.items() if not any(name.startswith(known) for known in _ALLOWED)}
    assert unknown == {}
    assert [name for name in _ALLOWED if not any(other.startswith(name) for other in found)] == []


CONFIGURATIONS = (*_settings._NAMES, ".git", ".hg")


# -- all that is asked is recorded -------------------------------------------------------------------------------------

_heard: list[tuple[str, Any]] | None = None


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if _heard is not None and event in ("open", "os.listdir", "os.scandir"):
        _heard.append((event, args[0]))


sys.addaudithook(_hear)  # it can't be taken away; it does nothing but in a test


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, Any]]]:
    """The paths that the system is asked for: opened, listed, or looked for (what no audit event tells)."""
    global _heard
    _heard = paths = []

    def spy(function: Callable[..., Any]) -> Callable[..., Any]:
        def asked(path: Any, *args: Any, **kwargs: Any) -> Any:
            paths.append(("look", path))
            return function(path, *args, **kwargs)

        return asked

    for name in ("stat", "lstat", "readlink", "access"):
        monkeypatch.setattr(os, name, spy(getattr(os, name)))
    yield paths
    _heard = None


PROGRAM = """\
import glob, os
import numpy as np, pandas as pd, torch, torchvision
from model import Net
import package.deep.leaf
from namespace import inner
try:
    import flash_attn
except ImportError:
    pass
try:
    from transformers import nothing_of_this_name
except ImportError:
    pass
x = torch.from_numpy(np.load("data/x.npy"))
t = torch.tensor(pd.read_csv("data/t.csv").values)
n = len(os.listdir("data")) + len(glob.glob("data/**/*.npy", recursive=True)) + int(open("data/n.txt").read())
w = torch.load("data/nowhere.pt")
d = torchvision.datasets.ImageFolder("data")
y = Net()(x)
"""


def test_every_path_that_is_asked_for_is_in_the_record(tmp_path, monkeypatch, heard):
    for name, text in {
        "program.py": PROGRAM,
        "pyproject.toml": "",
        "model.py": "import torch\nclass Net(torch.nn.Linear):\n    def __init__(self): super().__init__(3, 5)\n",
        "package/__init__.py": "",
        "package/deep/__init__.py": "from . import leaf, twig\n",
        "package/deep/leaf.py": "from ..deep import twig\n",
        "namespace/inner.py": "",
        "data/t.csv": "a,b\n1,2\n",
        "data/n.txt": "3",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    np.save(tmp_path / "data/x.npy", np.zeros((7, 3), np.float32))
    monkeypatch.chdir(tmp_path)
    heard.clear()
    with outside.recording() as looks:
        found = follow("program.py")
    assert not found.faults
    assert found.shapes_at("program.py", 19)["y"][0].shape.items == (7, 5)
    recorded = {os.path.abspath(of) for known in looks.answers.values() for of in known}
    above = {str(folder) for path in recorded for folder in Path(path).parents}  # `realpath` looks for each folder
    elsewhere = (str(SOURCE), *(p for p in sys.path if p and not tmp_path.is_relative_to(p)))  # ours, and installed
    # of the files with settings the answer is recorded: the folders of stubs
    settings = tuple(f"{folder}/{name}".replace("//", "/") for folder in above for name in CONFIGURATIONS)
    assert "folders of stubs" in looks.answers
    for event, path in heard:
        if not isinstance(path, int) and not os.path.abspath(path).startswith((*elsewhere, *settings)):
            assert os.path.abspath(path) in (recorded | above if event == "look" else recorded), event
    assert {str(tmp_path / name) for name in ("model.py", "data", "data/x.npy", "data/nowhere.pt")} <= recorded
    assert {"flash_attn"} <= looks.answers["module"].keys() | looks.answers.get("member", {}).keys()


# -- a look-up that is answered differently ----------------------------------------------------------------------------


def _tree(folder: Path) -> None:
    (folder / "a.py").write_text("first")
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(folder / "sub")


CHANGES: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    "exists": (lambda f: outside.exists(f / "b"), lambda f: (f / "b").mkdir()),
    "exists no more": (lambda f: outside.exists(f / "a.py"), lambda f: (f / "a.py").unlink()),
    "is_file": (lambda f: outside.is_file(f / "b.py"), lambda f: (f / "b.py").write_text("")),
    "is_dir": (lambda f: outside.is_dir(f / "sub"), lambda f: (f / "sub").rmdir()),
    "real": (lambda f: outside.real(f / "link"), lambda f: (f / "link").unlink()),
    "real_of_existing": (lambda f: outside.real_of_existing(f / "link/x"), lambda f: (f / "sub/x").write_text("")),
    "size": (lambda f: outside.size(f / "a.py"), lambda f: (f / "a.py").write_text("longer")),
    "has_python": (lambda f: outside.has_python(f / "sub"), lambda f: (f / "sub/c.py").write_text("")),
    "names": (lambda f: outside.names(str(f)), lambda f: (f / "new").write_text("")),
    "content": (lambda f: outside.content(f / "a.py"), lambda f: (f / "a.py").write_text("other")),
    "parts": (lambda f: _read_all(f / "a.py"), lambda f: (f / "a.py").write_text("fresh")),
    "parts of what isn't there": (lambda f: outside.opened(str(f / "b")), lambda f: (f / "b").write_text("")),
}


def _read_all(path: Path) -> bytes:
    file = outside.opened(str(path))
    assert file is not None
    with file:
        return file.read()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name, tmp_path):
    _tree(tmp_path)
    ask, change = CHANGES[name]
    with outside.recording() as looks:
        ask(tmp_path)
    assert sum(map(len, looks.answers.values())) == 1
    assert outside.still(looks.answers, installed.AGAIN)
    change(tmp_path)
    assert not outside.still(looks.answers, installed.AGAIN)


def test_of_a_data_file_the_parts_that_were_read_count(tmp_path):
    path = tmp_path / "large.npy"
    np.save(path, np.zeros((1_000, 300), np.float32))
    with outside.recording() as looks:
        file = outside.opened(str(path))
        assert file is not None
        with file:
            file.read(32)
    with open(path, "r+b") as changed:
        changed.seek(500_000)
        changed.write(b"other")
    assert outside.still(looks.answers, {})
    with open(path, "r+b") as changed:
        changed.seek(20)
        changed.write(b"other")
    assert not outside.still(looks.answers, {})


def test_a_module_that_is_installed_later_is_seen(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    with outside.recording() as looks:
        assert not installed.has_module("a_module_for_this_test")
    assert outside.still(looks.answers, installed.AGAIN)
    (tmp_path / "a_module_for_this_test.py").write_text("")
    installed._has_module.cache_clear()  # in another process
    monkeypatch.syspath_prepend(tmp_path)
    assert not outside.still(looks.answers, installed.AGAIN)


def test_a_file_that_changes_while_it_is_followed(tmp_path):
    with outside.recording() as looks:
        for text in ("one", "two"):
            (tmp_path / "a.py").write_text(text)
            outside.content(tmp_path / "a.py")
    assert not looks.is_stable


def test_an_edit_of_the_same_length_in_the_same_moment(tmp_path):
    """The clocks of file systems are coarse: a file's time and size may be what they were."""
    path = tmp_path / "a.py"
    found = []
    for number in range(9):
        path.write_text(f"x = {number}\n")
        os.utime(path, ns=(1_000, 1_000))
        tree = syntax.parse(path)
        assert tree is not None
        found.append(ast.unparse(tree))
    assert found == [f"x = {number}" for number in range(9)]


def test_what_nobody_knows_how_to_ask_again_has_changed():
    assert not outside.still({"something of a later version": {"a": 1}}, {})


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert not outside.still({"content": {str(tmp_path / "pipe"): "digest"}}, {})
    assert not outside.still({"parts": {str(tmp_path / "pipe"): [3]}}, {})


def test_the_digest_of_simpletorch_is_that_of_its_files(tmp_path):
    first = digest_of_simpletorch.__wrapped__(Store(tmp_path / "a"))
    assert first == digest_of_simpletorch.__wrapped__(Store(tmp_path / "a")) == digest_of_simpletorch(Store(tmp_path))
