"""Loops that aren't unrolled to their end, as their rounds differ evenly: nothing that is said of them is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import difference, follow_source, run_source
from random_loops import program

from simpletorch.follow.numbers.progress import Progress

_PROGRAMS = 200


def test_what_is_known_behind_a_loop_is_what_python_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = []
    skip = Progress.skip
    monkeypatch.setattr(Progress, "skip", lambda *given: skipped.append(skip(*given)) or skipped[-1])
    ended = 0
    for seed in range(_PROGRAMS):
        source = program(seed)
        try:
            real = run_source(source, tmp_path / "program.py")
        except (RuntimeError, IndexError):  # it is about those that are right
            continue
        ended += 1
        found, reports = follow_source(source, tmp_path / "program.py")
        assert not reports, f"{seed}: {reports}"
        for name, value in real.items():
            if name != "torch":
                wrong = difference(found[name], value, lenient=True)
                assert wrong is None, f"{seed}: {name}: {wrong}"
    assert ended > 0.9 * _PROGRAMS
    assert sum(skipped) > 0.05 * _PROGRAMS
