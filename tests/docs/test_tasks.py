"""The page of each task that a newcomer begins with says in its first paragraph how long the task takes."""

import re

import pytest

from tests.test_english import ROOT

TASKS = {
    "annotate a model": "guides/annotating.md",
    "find a bug in a script": "tutorial/1_first_program.md",
    "train": "tutorial/5_training.md",
    "resume": "tutorial/6_saving.md",
    "export": "guides/export.md",
    "add a library's model": "interop.md",
}


@pytest.mark.parametrize("task", TASKS)
def test_a_page_promises_a_time(task):
    _title, first, *_ = (ROOT / "docs" / TASKS[task]).read_text().split("\n\n")
    assert re.search(r"\b(five|ten|fifteen) minutes\b", first)
