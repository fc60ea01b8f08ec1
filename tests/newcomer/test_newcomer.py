"""Mistakes of newcomers: what is said of each before the program runs, and when it fails.

``programs/`` has the programs, several in a file, each under its title. ``docs/mistakes.md`` is the table that they
make; after a change that is meant to change it: ``UPDATE_SNAPSHOTS=1 pytest tests/newcomer``, and read the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from simpletorch._excepthook import report
from simpletorch.follow import follow

PROGRAMS = Path(__file__).parent / "programs"
PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"
TITLE = re.compile(r"^# == (.*)\n", re.MULTILINE)
TOPICS = {
    "tensors": "Tensors",
    "layers": "Layers",
    "modules": "Models and optimizers",
    "losses": "Losses",
    "gradients": "Gradients",
    "data": "Data",
    "training": "Training",
}

SILENT = {
    # neither found nor explained yet: torch's (or Python's) own words are all there is
    "The gradient is read before backward",
    "A weights file that isn't there",
}
"""A program that is said something of must leave this list: the test of it fails until then."""


class Mistake(NamedTuple):
    topic: str
    title: str
    source: str


class Said(NamedTuple):
    before: str
    when: str
    raised: bool


def mistakes() -> Iterator[Mistake]:
    for topic in TOPICS:
        _, *parts = TITLE.split((PROGRAMS / f"{topic}.py").read_text())
        for title, source in zip(parts[::2], parts[1::2], strict=True):
            yield Mistake(topic, title, source)


MISTAKES = list(mistakes())


def said_of(mistake: Mistake, folder: Path) -> Said:
    """What following finds first, and what is shown of the exception that ends the program."""
    file = folder / "net.py"
    file.write_text(mistake.source)
    followed = follow(str(file))
    found = next(iter((*followed.errors, *followed.warnings)), None)
    try:
        exec(compile(mistake.source, str(file), "exec"), {"__name__": "__main__"})
    except Exception as error:
        text = report(error, str(file), []) or ""
        why = re.search(r"^(?:\w+|tensor-\w+): .*$", text.partition("\n")[2], re.MULTILINE)
        return Said(found.message if found else "", plain(why[0]) if why else "", True)
    return Said(found.message if found else "", "", False)


def plain(text: str) -> str:
    """Without what differs from machine to machine: why there is no CUDA."""
    return re.sub(
        "there is no NVIDIA driver|no GPU is visible to this process", "this build of torch has no CUDA", text
    )


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[str, Said]:
    folder = tmp_path_factory.mktemp("mistakes")
    here = Path.cwd()
    os.chdir(folder)
    try:
        return {mistake.title: said_of(mistake, folder) for mistake in MISTAKES}
    finally:
        os.chdir(here)


def test_there_are_enough_of_them():
    assert len({mistake.title for mistake in MISTAKES}) == len(MISTAKES) > 60 + len(SILENT)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_something_is_said(mistake: Mistake, said: dict[str, Said]):
    before, when, raised = said[mistake.title]
    assert bool(before or when) == (mistake.title not in SILENT)
    if mistake.title not in SILENT and raised:
        assert when, "torch's own text is all that is shown"


RIGHT = TITLE.split((Path(__file__).parent / "right.py").read_text())[1:]


@pytest.mark.parametrize("source", RIGHT[1::2], ids=RIGHT[::2])
def test_nothing_is_said_of_what_is_right(source: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "net.py"
    file.write_text(source)
    followed = follow(str(file))
    assert [f.message for f in (*followed.errors, *followed.warnings)] == []
    exec(compile(source, str(file), "exec"), {"__name__": "__main__"})


@pytest.mark.skipif(torch.cuda.is_available(), reason="the program that asks for CUDA runs here")
def test_the_page_is_up_to_date(said: dict[str, Said]):
    text = page(said)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


def test_the_readme_has_the_numbers_of_the_page(said: dict[str, Said]):
    readme = (PAGE.parents[1] / "README.md").read_text()
    found = sum(bool(one.before) for one in said.values())
    assert f"It finds {found} of [{len(MISTAKES)} mistakes of newcomers](docs/mistakes.md) before the" in readme


def page(said: dict[str, Said]) -> str:
    found = sum(bool(s.before) for s in said.values())
    explained, raised = sum(bool(s.when) for s in said.values()), sum(s.raised for s in said.values())
    lines = [
        "# Mistakes of newcomers",
        "",
        f"{len(MISTAKES)} small programs with one mistake each (`tests/newcomer/programs`). `simpletorch follow` finds",
        f"{found} of them before the program runs; {raised} end with an exception, and `simpletorch run` explains",
        f"{explained} of these. This page is made by `tests/newcomer/test_newcomer.py`.",
    ]
    for topic, name in TOPICS.items():
        lines += ["", f"## {name}", "", "| mistake | before it runs | when it runs |", "| --- | --- | --- |"]
        for mistake in MISTAKES:
            if mistake.topic == topic:
                one = said[mistake.title]
                when = one.when or ("torch's own words" if one.raised else "nothing: it runs")
                lines.append(f"| {cell(mistake.title)} | {cell(one.before) or '—'} | {cell(when)} |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
