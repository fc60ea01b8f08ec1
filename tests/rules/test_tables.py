"""Tables of torch's operations outside of `simpletorch.rules`: a fact of torch's belongs into a rule's card.

Both counts may only fall. A new table is a fact that a card lacks; one that stays says beside it why it isn't torch's.
"""

import ast
from pathlib import Path

import simpletorch
from simpletorch.rules import RULES
from simpletorch.rules.core.dtype import BY_TORCH_NAME

ROOT = Path(simpletorch.__file__).parent
MOST = 72
MOST_WITHOUT_A_WORD = 54
LEAST_NAMES = 3
SHARE = 0.6
OTHER_LIBRARIES = ("follow/libraries", "mypy/calls/arrays")  # their names only look like torch's
OF_TORCH = ("follow/libraries/pytorch", "follow/libraries/simpletorch")
NO_OPERATIONS = {
    *BY_TORCH_NAME,
    "half",
    "float",
    "double",
    "short",
    "int",
    "long",
    "byte",
    "char",
    "cpu",
    "cuda",
    "dtype",
}


def _operations():
    """The last names of all operations that have a rule, but for Python's operators and the names of dtypes."""
    last = {name.rpartition(".")[2] for name in RULES}
    return {name for name in last if not name.startswith("__")} - NO_OPERATIONS


def _items(value):
    """The words of all strings in an expression."""
    strings = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [word.rpartition(".")[2] for text in strings for word in text.split()]


def _is_table(value, operations):
    words = [w for w in _items(value) if not w.startswith("__") and w not in NO_OPERATIONS]
    named = [w for w in words if w in operations]
    return len(named) >= LEAST_NAMES and len(named) >= SHARE * len(words)


def _has_a_word(body, at, lines):
    """Whether a comment stands above a statement or at one of its ends, or a text below it."""
    statement = body[at]
    below = body[at + 1] if at + 1 < len(body) else None
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
        return True
    ends = [lines[statement.lineno - 1], lines[statement.end_lineno - 1]]
    own = [line.partition("  # ")[2] for line in ends]
    return lines[statement.lineno - 2].startswith("#") or any(o and o != "fmt: skip" for o in own)


def tables(source, operations):
    """The tables of a module, each with its name, its line, and whether something is said of it."""
    lines, body = source.splitlines(), ast.parse(source).body
    for at, statement in enumerate(body):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if ast.unparse(target) != "__all__" and _is_table(statement.value, operations):
                yield ast.unparse(target), statement.lineno, _has_a_word(body, at, lines)


def _found():
    operations = _operations()
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        other = place.startswith(OTHER_LIBRARIES) and not place.startswith(OF_TORCH)
        if not place.startswith("rules/") and not other:
            yield from ((f"{place}:{line} {name}", said) for name, line, said in tables(path.read_text(), operations))


def test_tables_of_operations_become_fewer():
    found = list(_found())
    silent = [name for name, said in found if not said]
    assert len(found) <= MOST, "\n".join(name for name, _ in found)
    assert len(silent) <= MOST_WITHOUT_A_WORD, "\n".join(silent)


def test_a_table_is_seen():
    source = (
        '_A = {"view", "reshape", "permute"}\n'
        '# why\n_B = {"view": 1, "add": 2, "mul": 3}\n'
        '_C = ("view", "x", "y", "z")\n'
    )
    assert list(tables(source, _operations())) == [("_A", 1, False), ("_B", 3, True)]
