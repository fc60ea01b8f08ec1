"""Without a model a value is unknown, something may be raised, and what was reached may have changed."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path
from types import GetSetDescriptorType

import pytest
import torch
from executed import compared
from test_corners import SOURCES

from simpletorch.follow import attributes, expressions, statements
from simpletorch.follow.libraries import CLASSES, METHODS, NATIVES

YIELDS = (ast.Yield, ast.YieldFrom)
EXPRESSIONS = sorted(set(expressions.TABLE) - {ast.Name, ast.Constant, *YIELDS}, key=lambda k: k.__name__)
STATEMENTS = (
    *(ast.Assign, ast.AugAssign, ast.Expr, ast.With, ast.Assert, ast.ClassDef, ast.Match, ast.TryStar, ast.Pass),
)
"""Those that end nowhere else than behind them, and that only change what they name."""


def programs_with(kind: type[ast.AST]) -> list[str]:
    """Some of the programs in which this kind of syntax is."""
    trees = {source: [type(n) for n in ast.walk(ast.parse(source))] for source in SOURCES.values()}
    is_statement = issubclass(kind, ast.stmt)
    found = [
        s for s, kinds in trees.items() if kind in kinds and not (is_statement and {*YIELDS, ast.Return} & {*kinds})
    ]
    return found[:: max(1, len(found) // 12)]


@pytest.mark.parametrize("kind", EXPRESSIONS, ids=lambda k: k.__name__)
def test_an_expression_without_a_model(kind: type[ast.expr], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(expressions.TABLE, kind)
    assert_nothing_is_wrong(programs_with(kind), tmp_path)


@pytest.mark.parametrize("kind", STATEMENTS, ids=lambda k: k.__name__)
def test_a_statement_without_a_model(kind: type[ast.stmt], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(statements.TABLE, kind)
    assert_nothing_is_wrong(programs_with(kind), tmp_path)


def assert_nothing_is_wrong(sources: list[str], folder: Path) -> None:
    """Follow each program: it may be that nothing is known, but nothing may be wrong."""
    for source in sources:
        found = compared(source, folder / "program.py", known_names=False)
        assert not found.wrong, source


def test_every_kind_of_syntax_has_an_answer() -> None:
    for base, table in ((ast.expr, expressions.TABLE), (ast.stmt, statements.TABLE)):
        for kind in base.__subclasses__():
            assert callable(table[kind])


CALLED = """
xs = [2, 3]
d = {{"a": xs}}
try:
    y = {call}
    k = 5
except BaseException:
    k = 7
n = len(xs)
m = len(d)
x = xs[0]
"""


@pytest.mark.parametrize("name", sorted(n for n in dir(builtins) if n.isidentifier() and n[0] != "_"))
def test_a_builtin_without_a_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in ("True", "False", "None", "object"):
        pytest.skip("it is no name, or what every class needs")
    if name in ("exit", "quit", "input", "breakpoint", "help", "copyright", "credits", "license"):
        pytest.skip("it is for who sits before it")
    monkeypatch.delitem(NATIVES, f"builtins.{name}", raising=False)
    monkeypatch.delitem(CLASSES, f"builtins.{name}", raising=False)
    for call in (f"{name}(xs)", f"{name}(d)", f"{name}(xs, d)", f"{name}()", f"{name}(d['a'])"):
        found = compared(CALLED.format(call=call), tmp_path / "program.py")
        assert not found.wrong, call


METHODS_CALLED = sorted(
    (kind, name)
    for kind, value in {"list": "xs", "dict": "d", "set": "s", "str": "t"}.items()
    for name in dir(getattr(builtins, kind))
    if not name.startswith("_")
)


@pytest.mark.parametrize(("kind", "name"), METHODS_CALLED)
def test_a_method_without_a_model(kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in METHODS.values():
        monkeypatch.delitem(table, name, raising=False)
    literal = {"list": "[3, 2]", "dict": "{3: 2}", "set": "{3, 2}", "str": "'abc'"}[kind]
    for arguments in ("", "2", "3, 5", "[2]", "'a'"):
        source = CALLED.format(call=f"v.{name}({arguments})").replace("xs = ", f"v = {literal}\nxs = ", 1)
        found = compared(
            source + "q = len(v)\nr = sum(v) if all(type(i) is int for i in v) else 0\n", tmp_path / "p.py"
        )
        assert not found.wrong, arguments


def test_torch_refuses_to_set_the_fixed_attributes_of_a_tensor_and_no_others():
    refused = set()
    for name in (n for n in dir(torch.Tensor) if not n.startswith("_")):
        owner = next(c for c in torch.Tensor.__mro__ if name in vars(c))
        if isinstance(vars(owner)[name], GetSetDescriptorType | property):
            try:
                setattr(torch.zeros(2, 3), name, 3)
            except AttributeError:
                refused.add(name)
            except (RuntimeError, TypeError):  # it can be set, but not to this
                pass
    assert refused == attributes._FIXED
