"""The process that follows, asked without one."""

from __future__ import annotations

import gc
from pathlib import Path

from simpletorch.language_server.messages import Ask, Found
from simpletorch.language_server.worker import Worker

PROGRAM = Path(__file__).parents[2] / "corpora" / "programs" / "nanogpt.py"
FEW = 3_000  # objects; the syntax of the program alone is more than twice as many


def ask(number: int, path: Path, text: str) -> Ask:
    return Ask(number, str(path), {str(path): text}, (), severities={}, steps=50_000, seconds=20.0)


def test_edits_leave_nothing_that_must_be_looked_for_among_all_objects(tmp_path):
    worker, text = Worker(), PROGRAM.read_text()
    for number in range(1, 4):  # what is read and remembered once
        worker.answer(ask(number, tmp_path / "program.py", f"{text}\nlast = {number}\n"))
    gc.collect()
    gc.disable()
    try:
        for number in range(4, 9):
            worker.answer(ask(number, tmp_path / "program.py", f"{text}\nlast = {number}\n"))
            gc.collect(0)
        assert gc.collect() < FEW
    finally:
        gc.enable()


def test_an_edited_text_is_followed_and_the_last_good_one_where_it_is_no_python(tmp_path):
    worker, path = Worker(), tmp_path / "program.py"
    head = "import torch\nx = torch.zeros(3, 5)\n"
    found = [
        worker.answer(ask(number, path, head + line)).findings
        for number, line in enumerate(("x @ x\n", "x @ x.T\n", "x @ (\n", "\nx @ x\n"), 1)
    ]
    assert [[f.line for f in row] for row in found] == [[3], [], [], [4]]


def test_who_has_the_findings_and_asks_anew_waits_for_nothing_else(tmp_path):
    worker, said = Worker(), []

    def first(found: Found) -> None:
        said.append(found)
        worker.cancelled.add(found.number)

    answer = worker.answer(ask(1, tmp_path / "program.py", PROGRAM.read_text()), first)
    assert said
    assert answer.is_cancelled
    assert not answer.hints
