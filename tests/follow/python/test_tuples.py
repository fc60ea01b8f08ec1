"""Tuples of which it isn't known how many items they have are tuples all the same."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

HEAD = "import torch\nwords = tuple(input().split())\nn = 3\n"
RIGHT = {
    "isinstance": "n = 5 if isinstance(words, tuple) else 7",
    "no list": "n = 7 if isinstance(words, list) else 5",
    "type": "n = 5 if type(words) is tuple else 7",
    "a slice": "n = 5 if isinstance(words[1:], tuple) else 7",
    "joined": "n = 5 if isinstance(('x',) + words + words, tuple) else 7",
    "repeated": "n = 5 if isinstance(words * 2, tuple) else 7",
    "a key": "try:\n    {words: 3}, {words}, hash(words)\n    n = 5\nexcept TypeError:\n    n = 7",
    "an index": "seen = {}\ntry:\n    seen[words] = 1\n    n = 5\nexcept TypeError:\n    n = 7",
    "compared": "n = 5\nif words == ('a', 'b'):\n    pass\nelif words != ('a', 'b', 'c'):\n    n = 7",
    "ordered": "try:\n    words < ('b',)\n    n = 5\nexcept TypeError:\n    n = 7",
    "one of two": "if len(input()) > 1:\n    words = tuple(input().split())\nn = 5 if isinstance(words, tuple) else 7",
}
LISTS = {
    "a list is no key": "try:\n    {list(words): 3}\n    n = 7\nexcept TypeError:\n    n = 5",
    "a list is added to no tuple": "try:\n    words + [3]\n    n = 7\nexcept TypeError:\n    n = 5",
    "a list is a list": "n = 5 if isinstance(list(words), list) else 7",
}
END = "\nx = torch.zeros(5) @ torch.zeros(n)\n"


def followed(body: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(HEAD + body + END)
    found = follow(path)
    assert not found.faults
    assert not any("seems to raise" in name for _, _, name in found.not_followed)
    return found


@pytest.mark.parametrize("body", [*RIGHT.values(), *LISTS.values()], ids=[*RIGHT, *LISTS])
def test_what_runs_is_left_alone(body: str, tmp_path: Path):
    exec(compile(HEAD + body + END, "program.py", "exec"), {"input": lambda: "a b c"})
    assert followed(body, tmp_path).errors == ()


@pytest.mark.parametrize("name", ["isinstance", "no list", "type", "a slice", "joined", "repeated"])
def test_what_fails_is_found(name: str, tmp_path: Path):
    body = RIGHT[name].replace("5", "6").replace("7", "5").replace("6", "7")
    with pytest.raises(RuntimeError):
        exec(compile(HEAD + body + END, "program.py", "exec"), {"input": lambda: "a b c"})
    assert len(followed(body, tmp_path).errors) == 1
