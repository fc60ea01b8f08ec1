"""Mistakes listen to events: the core names none of them."""

import ast
from pathlib import Path

import pytest

from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.listeners import MISTAKES

FOLLOW = Path(events.__file__).parents[1]
CORE = sorted(path for path in FOLLOW.rglob("*.py") if path.parent.name != "mistakes")
EVENTS = {name: event for name, event in vars(events).items() if isinstance(event, events.Event | events.OfOperations)}


def imported(path: Path) -> set[str]:
    """The modules of mistakes/ that a file imports."""
    package = "simpletorch.follow.mistakes"
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            found.add(node.module.removeprefix(f"{package}."))
    return found


def test_the_core_imports_no_mistake():
    named = {path.relative_to(FOLLOW).as_posix(): imported(path) - {"events"} for path in CORE}
    assert {path: names for path, names in named.items() if names} == {"interpreter.py": {"listeners"}}


def test_each_file_of_mistakes_is_in_the_tuple():
    files = {path.stem for path in (FOLLOW / "mistakes").glob("*.py")} - {"__init__", "events", "listeners"}
    assert {mistake.__name__.rpartition(".")[2] for mistake in MISTAKES} == files
    assert len(MISTAKES) == len(files)


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_an_event_happens_and_somebody_listens(name):
    event = EVENTS[name]
    assert event.listeners if isinstance(event, events.Event) else event.makers
    told = f"events.{name}" + ("(" if isinstance(event, events.Event) else ".of(")
    assert any(told in path.read_text() for path in CORE)


def test_the_first_answer_refuses():
    happens: events.Event[[list]] = events.Event()
    asked: list[str] = []
    for name, answer in (("a", None), ("b", "no"), ("c", None)):
        happens.add(lambda seen, name=name, answer=answer: seen.append(name) or answer)
    assert happens(asked) == "no"
    assert asked == ["a", "b"]


def test_who_listens_to_an_operation_is_asked_once_by_its_name():
    asked = []

    def make(name):
        asked.append(name)
        return (lambda value: value) if name == "torch.sort" else None

    operations: events.OfOperations[[int]] = events.OfOperations()
    operations.add(make)
    sort, others = operations.of("torch.sort"), operations.of("torch.sum")
    assert [sort(1), sort(2), others(3)] == [1, 2, None]
    assert asked == ["torch.sort", "torch.sum"]
