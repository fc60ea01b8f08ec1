"""A program says the same in our spelling and in torch's: newcomers', the gallery's and the tutorial's, rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.face.programs import as_torch
from tests.follow.face.spellings import as_ours
from tests.marks import thorough
from tests.newcomer.test_newcomer import mistakes
from tests.pages import program

ROOT = Path(__file__).parents[3]
RIGHT_IN_OURS = {"A list of layers goes into Sequential without a star"}  # our Sequential takes a list
NEWCOMERS = {each.title: each.source for each in mistakes()}
PAGES = {path.stem: program(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "docs/tutorial").glob("*.md"))}
GALLERY = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples/gallery").glob("*.py"))}
WHOLE = {**PAGES, **GALLERY}


def said(folder: Path, text: str) -> set[tuple[int, str]]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    found = follow(path)
    assert found.faults == ()
    return {(each.line, each.code) for each in (*found.errors, *found.warnings)}


@pytest.mark.parametrize("title", NEWCOMERS)
def test_a_newcomer_is_told_the_same_in_our_spelling(title: str, tmp_path: Path):
    rewritten = as_ours(NEWCOMERS[title])
    assert rewritten != NEWCOMERS[title]
    expected = set() if title in RIGHT_IN_OURS else said(tmp_path, NEWCOMERS[title])
    assert said(tmp_path, rewritten) == expected


@pytest.mark.parametrize("title", NEWCOMERS)
def test_and_back(title: str, tmp_path: Path):
    back = as_torch(as_ours(NEWCOMERS[title]))
    if back is not None:
        assert said(tmp_path, back) == said(tmp_path, NEWCOMERS[title])


@pytest.mark.parametrize("name", thorough(WHOLE))
def test_nothing_is_said_of_a_whole_program_in_either_spelling(name: str, tmp_path: Path):
    for text in (WHOLE[name], as_ours(WHOLE[name]), as_torch(WHOLE[name])):
        if text is not None:
            assert said(tmp_path, text) == set()
