"""Hard sentences become fewer: a change may not add one, and one that removes some lowers the limit."""

from __future__ import annotations

import pytest

from tests.english import KINDS, ROOT, hard

LIMITS = {"pages": 82, "docstrings": 654, "comments": 71}


@pytest.mark.parametrize("kind", KINDS)
def test_hard_sentences_become_fewer(kind):
    found = [f"{path}: {reason}: {sentence}" for path, reason, sentence in hard(kind)]
    assert len(found) <= LIMITS[kind], f"python -m tests.english {kind} lists them"
    assert len(found) >= LIMITS[kind] - 20, f"only {len(found)} are left: lower the limit"


def test_a_clause_as_the_subject_is_found(monkeypatch):
    monkeypatch.setitem(
        KINDS, "pages", lambda: [(ROOT / "README.md", "What a batch holds is kept. What is kept?\n\n## What is kept")]
    )
    assert [sentence for _, _, sentence in hard("pages")] == ["What a batch holds is kept."]
