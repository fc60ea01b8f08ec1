"""Sentences that are hard to read become fewer: a change may not add one, and one that removes some lowers the limit.

``python -m tests.test_english pages`` lists them. A sentence counts if it has more than 35 words or one of the forms
that ``TELLS`` names.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST = 35

TELLS = {
    "a clause as the subject": re.compile(r"^(?:What|Who|Whoever|Of which)\b.*[^?]$"),
    "of which": re.compile(r"\b[Oo]f (?:which|whom)\b"),
    "nobody": re.compile(r"\b[Nn]obody\b"),
}
_CODE = re.compile(r"```.*?```|(?:(?<=::)|(?<=^Examples:))\n(?:\n|[ ]{4}[^\n]*(?:\n|\Z))+", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"``[^`]+``|`[^`]+`")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|>]|\d+\.)\s)|\n(?=\s+\w+: )")
_PROSE = re.compile(r" (?:an?|the|is|are|of|to|it|not?|in|for|or) ")  # a list of names has none of these
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(`])")


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text in Markdown, without headings, tables and blocks of code."""
    for paragraph in _PARAGRAPH.split(_CODE.sub("\n\n", text)):
        joined = " ".join(paragraph.split())
        if joined.startswith(("#", "<", "$", ">>>", "====")) or joined.count("|") > 2:
            continue
        yield from _SENTENCE.split(re.sub(r"^(?:[-*>|]|\d+\.)\s+", "", joined))


def pages() -> Iterator[tuple[Path, str]]:
    """README, the pages of docs, and the READMEs beside the code; the table of operations is generated."""
    found = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.md"),
    ]
    return ((path, path.read_text()) for path in sorted(found) if path.name != "operations.md")


def docstrings() -> Iterator[tuple[Path, str]]:
    """The docstrings of modules, classes and functions."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            if documented and (text := ast.get_docstring(node)):
                yield path, text


def messages() -> Iterator[tuple[Path, str]]:
    """The strings that may be printed: one line of six words or more, each placeholder one of them."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text())
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (parts | alone):
                text = node.value
            else:
                continue
            if "\n" not in text and len(text.split()) >= 6 and _PROSE.search(text):
                yield path, text


def comments() -> Iterator[tuple[Path, str]]:
    """The comments, with neighbouring lines joined."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        block: list[str] = []
        last = 0
        for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
            if token.type != tokenize.COMMENT:
                continue
            if block and token.start[0] != last + 1:
                yield path, " ".join(block)
                block = []
            block.append(token.string.lstrip("#: "))
            last = token.start[0]
        if block:
            yield path, " ".join(block)


KINDS: dict[str, Callable[[], Iterator[tuple[Path, str]]]] = {
    "pages": pages,
    "docstrings": docstrings,
    "messages": messages,
    "comments": comments,
}


def hard(kind: str) -> Iterator[tuple[Path, str, str]]:
    """The hard sentences of a kind: the file, the reason, the sentence."""
    for path, text in KINDS[kind]():
        for sentence in _sentences(text):
            plain = _QUOTED.sub("X", sentence)
            reasons = [name for name, tell in TELLS.items() if tell.search(plain)]
            if len(plain.split()) > LONGEST:
                reasons.append(f"over {LONGEST} words")
            if reasons:
                yield path.relative_to(ROOT), ", ".join(reasons), sentence


LIMITS = {"pages": 0, "docstrings": 297, "messages": 0, "comments": 35}


@pytest.mark.parametrize("kind", KINDS)
def test_hard_sentences_become_fewer(kind):
    found = [f"{path}: {reason}: {sentence}" for path, reason, sentence in hard(kind)]
    assert len(found) <= LIMITS[kind], f"python -m tests.test_english {kind} lists them"
    assert len(found) >= LIMITS[kind] - 20, f"only {len(found)} are left: lower the limit"


def test_a_clause_as_the_subject_is_found(monkeypatch):
    monkeypatch.setitem(
        KINDS, "pages", lambda: [(ROOT / "README.md", "What a batch holds is kept. What is kept?\n\n## What is kept")]
    )
    assert [sentence for _, _, sentence in hard("pages")] == ["What a batch holds is kept."]


if __name__ == "__main__":
    for chosen in sys.argv[1:] or KINDS:
        for path, reason, sentence in hard(chosen):
            print(f"{path}: {reason}: {sentence}")
