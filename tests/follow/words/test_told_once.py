"""A mistake is told once in a call, however often its lines come back to the object."""

from pathlib import Path

from simpletorch.follow import follow


def lines(tmp_path: Path, source: str) -> list[int]:
    """The lines of the errors in a program."""
    (tmp_path / "program.py").write_text(source)
    return [e.line for e in follow(tmp_path / "program.py").errors]


def test_items_of_none_are_one_mistake(tmp_path):
    source = "size = None\nheight = size[0]\nwidth = size[1]\nboth = [size[0] // 2, size[1] // 2]\n"
    assert lines(tmp_path, source) == [2]


def test_one_attribute_that_is_missing_is_one_mistake(tmp_path):
    source = "class A:\n    pass\n\na = A()\nif a.size:\n    print(a.size)\nprint(a.size)\n"
    assert lines(tmp_path, source) == [5]


def test_another_object_is_another_mistake(tmp_path):
    source = "size = None\nheight = size[0]\nother = None\nwidth = other[1]\n"
    assert lines(tmp_path, source) == [2, 4]


def test_another_call_is_another_mistake(tmp_path):
    source = "def first(size):\n    return size[0], size[1]\n\nfirst(None)\n\ndef second(size):\n    return size[1]\n"
    assert lines(tmp_path, source + "second(None)\n") == [2, 7]


def test_operations_that_fail_alike_are_told_each(tmp_path):
    source = "import torch\nx, y = torch.zeros(3), torch.zeros(4)\nx @ y\nx @ y\n"
    assert lines(tmp_path, source) == [3, 4]
