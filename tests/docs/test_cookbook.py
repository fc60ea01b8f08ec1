"""The cookbook: each question is answered by a program of at most 15 lines, and its page shows what the program does.

Below a program is its output. Below a wrong one, which begins with ``# bad``, are its findings. After a change that is
meant to change them: ``UPDATE_SNAPSHOTS=1 pytest tests/docs/test_cookbook.py``, and read the difference.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
import torch

from simpletorch.follow import follow
from tests.pages import BLOCK

COOKBOOK = Path(__file__).parents[2] / "docs" / "cookbook"
PAGES = sorted(path for path in COOKBOOK.glob("*.md") if path.name != "README.md")
QUESTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
MESSAGE = re.compile(r"(\w+(?:Error|Warning)): (.+)")
LONGEST = 15


class Question(NamedTuple):
    """A question, what stands below it, and the programs there."""

    title: str
    answer: str
    bad: list[str]
    good: list[str]


def questions() -> Iterator[Question]:
    """Those of all pages."""
    for page in PAGES:
        for found in QUESTION.finditer(page.read_text(encoding="utf-8")):
            programs = BLOCK.findall(found[2])
            bad = [program for program in programs if program.startswith("# bad\n")]
            good = [program for program in programs if program not in bad]
            yield Question(found[1].replace("`", ""), found[2], bad, good)


QUESTIONS = {question.title: question for question in questions()}
ERRORS = {title: (*found.groups(), each.bad[0]) for title, each in QUESTIONS.items() if (found := MESSAGE.match(title))}


@contextlib.contextmanager
def in_a_folder() -> Iterator[None]:
    """In a new folder, which a program may write to."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


def run(source: str) -> str:
    """What a program prints."""
    module = ModuleType("__main__")
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
        with in_a_folder(), contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(source, "program.py", "exec"), vars(module))
    finally:
        sys.modules["__main__"] = before
    return printed.getvalue()


def said_of(source: str) -> str:
    """What following says of a program."""
    with in_a_folder():
        Path("program.py").write_text(source, encoding="utf-8")
        found = follow("program.py")
    lines = [line for each in (*found.errors, *found.warnings, *found.remarks) for line in each.lines()]
    return "".join(f"{line}\n" for line in lines)


def shown(block: re.Match[str]) -> str:
    """A program and, below it, what it does."""
    text = said_of(block[1]) if block[1].startswith("# bad\n") else run(block[1])
    return f"```python\n{block[1]}```\n" + (f"\n```text\n{text}```\n" if text else "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_programs_do(page):
    text = page.read_text(encoding="utf-8")
    made = SHOWN.sub(shown, text)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        page.write_text(made, encoding="utf-8")
    assert made == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("title", QUESTIONS)
def test_a_question_is_answered_by_short_programs_and_links(title):
    found = QUESTIONS[title]
    assert len(found.good) == 1
    programs = [re.sub(r"^# (bad|good)\n", "", program) for program in found.bad + found.good]
    assert max(program.count("\n") for program in programs) <= LONGEST
    assert "](" in found.answer


@pytest.mark.parametrize("title", QUESTIONS)
def test_following_finds_the_wrong_programs_alone(title):
    found = QUESTIONS[title]
    assert [said_of(program) for program in found.good] == [""]
    assert all(said_of(program) for program in found.bad)


@pytest.mark.parametrize(("kind", "message", "source"), ERRORS.values(), ids=ERRORS)
def test_a_question_about_a_message_has_a_program_that_ends_with_it(kind, message, source):
    if "same device" in message and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            run(source)
            raised = [each.message for each in warned]
        except Exception as error:
            raised = [error]
    assert any(type(each).__name__ == kind and message in " ".join(str(each).split()) for each in raised), raised


def test_there_are_sixty_questions():
    assert len(QUESTIONS) >= 60
    assert len(QUESTIONS) == sum(page.read_text(encoding="utf-8").count("\n## ") for page in PAGES)
