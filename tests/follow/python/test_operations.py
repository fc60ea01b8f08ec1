"""A hundred operations on values of every kind: what is known is what Python gives or raises."""

import contextlib
import io
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from simpletorch.follow import follow
from tests.follow.python.test_isinstance import HEAD as DEFINITIONS
from tests.follow.python.test_isinstance import VALUES

HEAD = "import collections.abc, copy, math, operator\n" + DEFINITIONS
_ENDLESS = "Full()"  # it can be gone over for ever
_UNKNOWN = ("OwnInt(3)", "OwnTuple()", "datetime.date(2020, 1, 1)", "decimal.Decimal(1)", "bytearray(b'a')")
_OPERATIONS = r"""
callable({v}); bool({v}); len({v}); hash({v}) is not None; type({v}).__name__; {v}.__class__.__name__; list({v})
tuple({v}); set({v}); dict({v}); frozenset({v}); bytes({v}); sorted({v}); sum({v}); min({v}); max({v}); abs({v})
round({v}); int({v}); float({v}); str({v}); complex({v}); any({v}); all({v}); repr({v}); chr({v}); ord({v}); bin({v})
hasattr({v}, '__len__'); hasattr({v}, '__call__'); hasattr({v}, '__iter__'); hasattr({v}, '__dict__'); {v}.x
hasattr({v}, '__name__'); hasattr({v}, 'shape'); hasattr({v}, 'x'); hasattr({v}, '__getitem__'); vars({v}) == {{}}
getattr({v}, 'x', None); {v}.__doc__ is None; setattr({v}, 'zz', 1); delattr({v}, 'x'); not {v}; -{v}; +{v}; ~{v}
{v} == {v}; {v} != 3; {v} is None; {v} + 1; {v} * 2; 2 * {v}; {v} < 3; {v} and 1; {v} or 1; 1 in {v}; 'a' in {v}
{v}[0]; {v}[0:1]; {v}['x']; {v}(); [*{v}]; {{**{v}}}; {{{v}: 1}}; next(iter({v})); list(reversed({v})); {v} // 2
list(enumerate({v})); list(zip({v}, [5])); (lambda *a: len(a))(*{v}); (lambda **k: len(k))(**{v}); f'{{{v}}}'
f'{{{v}:>5}}'; '%s' % ({v},); '%d' % {v}; isinstance({v}, type({v})); type({v}) is type({v}); {v} % 2; {v} ** 2
math.sqrt({v}); range(3)[{v}]; [1, 2][{v}]; 'ab'[{v}]; divmod({v}, 2); pow({v}, 2); {v} & 1; {v} | 1; {v} << 1
operator.index({v}); copy.copy({v}) == {v}; issubclass({v}, int); isinstance(3, {v}); max(3, {v}); '-'.join({v})
list(map(str, {v})); list(filter(None, {v})); dict.fromkeys({v}); [0] * {v}; 'a' * {v}; [1] + {v}; (1,) + {v}
'a' + {v}; {{1}} | {v}; collections.Counter({v}); slice({v}).stop
"""
OPERATIONS = [one.strip() for one in _OPERATIONS.replace("\n", ";").split(";") if one.strip()]


def _is_python(expression: str) -> bool:
    try:
        compile(expression, "<expression>", "eval")
    except SyntaxError:
        return False
    return True


def _given(expression: str, scope: dict[str, Any]) -> tuple[str | None, list[str]]:
    """What Python gives, as text, or the classes of what it raises."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = eval(expression, scope)
    except Exception as error:
        return None, [cls.__name__ for cls in type(error).__mro__]
    text = repr(result)
    plain = type(result) in (int, float, str, bool, type(None), list, tuple, dict, set, bytes, complex, frozenset)
    try:
        return (text if plain and bool(eval(text, scope) == result) else ""), []
    except Exception:  # an object in it has no such spelling
        return "", []


def _said(value: str, expressions: dict[str, str], folder: Path) -> list[list[str]]:
    """What is known of each expression: "True" if it is what Python gives, "raised E", or unknown."""
    lines = []
    for expression, text in expressions.items():
        shown = f"z == {text}" if text else "'value'"
        tried = f"    z = {expression}\n    reveal_type({shown})\n"
        lines.append(f"try:\n{tried}except Exception as x:\n    reveal_type('raised ' + type(x).__name__)\n")
    (folder / "program.py").write_text(HEAD + "".join(lines))
    found = follow(folder / "program.py")
    said: list[list[str]] = [[] for _ in expressions]
    for note in (*found.notes, *found.errors):
        at = (note.line - HEAD.count("\n") - 1) // 5
        shown = re.fullmatch(r"Revealed type is \"'?(.*?)'?\"", note.message)
        said[at].append(shown[1] if shown else f"raised {note.code}")
    return said


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [v for v in VALUES if v != _ENDLESS])
def test_what_is_known_of_an_operation_is_what_python_does(value: str, tmp_path: Path) -> None:
    scope: dict[str, Any] = {}
    exec(HEAD, scope)
    expressions = [one.format(v=value) for one in OPERATIONS]
    given = {one: _given(one, scope) for one in expressions if _is_python(one)}
    for module in (v for v in scope.values() if isinstance(v, ModuleType)):  # other tests ask for torch's names
        vars(module).pop("zz", None)
    said = _said(value, {one: text or "" for one, (text, _) in given.items()}, tmp_path)
    wrong, known = {}, 0
    for (expression, (text, raised)), answers in zip(given.items(), said, strict=True):
        values = [a for a in answers if not a.startswith(("raised", "unknown"))]
        unknown = any("unknown" in a or " or " in a for a in answers)
        names = [a.removeprefix("raised ") for a in answers if a.startswith("raised")]
        if unknown:
            continue
        known += 1
        if text is not None and (values == ["False"] or not values):
            wrong[expression] = f"gives {text or 'a value'}, said is {answers}"
        elif text is None and not values and not any(n in raised or n.startswith("tensor-") for n in names):
            wrong[expression] = f"raises {raised[0]}, said is {answers}"
    assert wrong == {}
    assert known >= 20 or value in _UNKNOWN
