"""What the pages name is there, and folders can be taken in at a glance."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests.test_pages import site_hooks

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "src").rglob("README.md"),
]  # fmt: skip
FOLDERS = [ROOT / name for name in ("src", "tests", "benchmarks", "corpora", "examples", "docs", "stubs")]
PATHS = [*ROOT.iterdir(), *(path for folder in FOLDERS for path in folder.rglob("*"))]
MADE = [f"/docs/reference/{module}.md" for module in site_hooks().MODULES]  # by mkdocs
NAMES = [*(f"/{path.relative_to(ROOT).as_posix()}" for path in PATHS), *MADE]
FILE = re.compile(r"(?<![\w./…-])[\w./-]*\w\.(?:pyi?|md)\b(?!\.)")
FOLDER = re.compile(r"`((?:src|tests|benchmarks|corpora|examples|docs|stubs)/[\w./-]*)`")
ABOVE = re.compile(r"^(?:\.\./)+")
PICTURE = re.compile(r"pictures/([\w-]+\.png)")
NAME = re.compile(r"(?<!/)\bsimpletorch(?:\.\w+)+\b(?!/)")

CATALOGUES = {  # a file of one kind for each thing
    "corpora/programs",
    "corpora/held_out",
    "corpora/several_processes",
}


def prose(page: Path) -> str:
    """The text without its blocks of code, which speak of the reader's files too."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def is_path(written: str) -> bool:
    """Whether it is a path in the repository, or the end of one."""
    return any(name.endswith(f"/{ABOVE.sub('', written).rstrip('/')}") for name in NAMES)


def is_name(written: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    try:
        resolve_name(written)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_names_is_there(page: Path):
    text = prose(page)
    assert [path for path in FILE.findall(text) + FOLDER.findall(text) if not is_path(path)] == []
    assert [name for name in NAME.findall(text) if not is_name(name)] == []


@pytest.mark.parametrize("gone", ["`calls/gone.py`", "../src/gone/README.md", "`src/gone/`"])
def test_a_path_that_is_gone_is_found(gone: str):
    (path,) = FILE.findall(gone) + FOLDER.findall(gone)
    assert not is_path(path)


def test_a_name_that_is_gone_is_found():
    found = NAME.findall("simpletorch.gone, `simpletorch.nn.Linaer` and simpletorch.nn.Linear.")
    assert [is_name(name) for name in found] == [False, False, True]


def test_pictures_are_there_and_small():
    """Light and dark; `docs/pictures/make.py` makes them."""
    folder = ROOT / "docs" / "pictures"
    named = {name for page in folder.parent.glob("*.md") for name in PICTURE.findall(page.read_text())}
    assert "card-light.png" in named
    assert {path.name for path in folder.glob("*.png")} == named
    assert {name.replace("-light", "-dark") for name in named} == {name for name in named if "-dark" in name}
    assert {path.name: path.stat().st_size for path in folder.glob("*.png") if path.stat().st_size > 60_000} == {}


def test_no_folder_holds_more_files_than_a_reader_can_take_in():
    sizes = Counter(path.relative_to(ROOT).parent.as_posix() for path in PATHS if path.suffix in (".py", ".pyi", ".md"))
    assert sizes["tests"] > 10
    assert {folder: size for folder, size in sizes.items() if size > 27 and folder not in CATALOGUES} == {}
