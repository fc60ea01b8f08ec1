"""What the pages in docs show runs, from the first block of a page to the last, and is typed; links lead somewhere."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

import pytest

from simpletorch.follow import follow
from tests import warm
from tests.pages import BAD, BLOCK, program

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
OF_THEIR_OWN = ("errors/", "cookbook/", "kernels.md", "gpu.md")  # pages that have tests of their own

PROGRAMS = {
    name: text for name, page in PAGES.items() if not name.startswith("cookbook/") and (text := program(page)).strip()
}
# of the codes' pages and the cookbook, written without regard to torch's stubs, only our own errors count
GOOD = {
    f"{name}-{number}": block
    for name, page in PAGES.items()
    for number, block in enumerate(BLOCK.findall(page), 1)
    if block.startswith("# good\n") or (name.startswith("cookbook/") and not block.startswith("# bad\n"))
}
RUN_HERE = [name for name in PROGRAMS if not name.startswith(OF_THEIR_OWN)]
MISTAKES = {
    f"{name}-{number}": found.group(1, 2)
    for name, page in PAGES.items()
    if not name.startswith(OF_THEIR_OWN)
    for number, found in enumerate(BAD.finditer(page), 1)
}


@pytest.mark.parametrize("name", RUN_HERE)
def test_the_program_of_a_page_runs(name, tmp_path, monkeypatch):
    path = tmp_path / "page.py"
    path.write_text(PROGRAMS[name])
    module = ModuleType("__main__")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "__main__", module)
    monkeypatch.chdir(tmp_path)
    exec(compile(PROGRAMS[name], str(path), "exec"), vars(module))


@pytest.mark.parametrize("name", RUN_HERE)
def test_nothing_is_found_in_the_program_of_a_page(name, tmp_path):
    path = tmp_path / "page.py"
    path.write_text(PROGRAMS[name])
    found = follow(path)
    assert [finding.lines() for finding in (*found.errors, *found.warnings, *found.remarks)] == []


@pytest.mark.parametrize(("source", "said"), MISTAKES.values(), ids=MISTAKES)
def test_what_a_page_says_of_a_mistake_is_said(source, said, tmp_path):
    path = tmp_path / "net.py"
    path.write_text(source)
    found = follow(path)
    lines = [line for finding in (*found.errors, *found.warnings) for line in finding.lines()]
    assert "".join(f"{line}\n".replace(f"{tmp_path}/", "") for line in lines) == said


@pytest.mark.slow
def test_mypy_finds_nothing_in_the_programs_of_all_pages(tmp_path):
    for name, text in (PROGRAMS | GOOD).items():
        (tmp_path / f"{re.sub('[^a-z0-9]+', '_', name.replace('.md', ''))}.py").write_text(text)
    kept = warm.readme(tmp_path)
    command = [sys.executable, "-m", "mypy", "--config-file", kept / "mypy.ini", "--cache-dir", kept, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = re.findall(r"^(\w+)\.py:\d+: error: (.*)$", done.stdout, re.MULTILINE)
    lenient = ("errors_", "cookbook_")
    ours = {(file, text) for file, text in errors if not file.startswith(lenient) or "[tensor-" in text}
    ours = {(file, text) for file, text in ours if not text.endswith("[import-not-found]")}
    assert ours == set(), done.stdout + done.stderr


@pytest.mark.parametrize("name", PAGES)
def test_a_fragment_is_python_too(name):
    for fragment in re.findall(r"^```py\n(.*?)^```$", PAGES[name], re.MULTILINE | re.DOTALL):
        ast.parse(fragment)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files_and_headings_that_are_there(name):
    gone = []
    for link in LINK.findall(re.sub(r"^```.*?^```$", "", PAGES[name], flags=re.MULTILINE | re.DOTALL)):
        file, _, heading = link.partition("#")
        target = (DOCS / name).parent / file if file else DOCS / name
        if "://" in link or file.startswith("reference/") or "/reference/" in file:  # the reference is made by mkdocs
            continue
        if not target.exists() or (heading and heading not in headings(target.read_text())):
            gone.append(link)
    assert gone == []


def site_hooks() -> Any:
    """The module that makes the reference for mkdocs."""
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_public_module_and_names_that_are_there():
    hooks = site_hooks()
    face = (ROOT / "src" / "simpletorch" / "__init__.pyi").read_text()
    modules = set(re.findall(r"^from simpletorch import (\w+) as", face, re.MULTILINE))
    assert modules - {module.partition(".")[0] for module in hooks.MODULES} == {"dims", "dtypes"}
    assert {module for module in hooks.MODULES if not hooks.public(module)} == set()
    for module in hooks.MODULES:
        for path in hooks.public(module):
            assert resolve_name(f"{path.rpartition('.')[0]}:{path.rpartition('.')[2]}") is not None


def headings(page: str) -> set[str]:
    """The anchors that mkdocs gives a page's headings."""
    return {
        re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower())
        for title in re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    }
