"""CPython's own tests, followed as programs: what they assert, and what is known of it, must agree.

    python benchmarks/follow/cpython_tests.py                    # the files below, of this interpreter
    python benchmarks/follow/cpython_tests.py test_dict test_set
    python benchmarks/follow/cpython_tests.py --kept FOLDER      # what FOLDER has of an earlier run isn't run again

Each test case is a program: the module, with assertions as assignments (``holds_7 = 1 if a == b else 2``, and ``try``
for `assertRaises`), and calls of its tests, a few at a time. It is executed and followed. A claim that isn't true is
wrong, and so are a mistake told of what runs and an end that isn't there. Exit status 1 if anything is.

A file has a budget; the programs that are left when it is used up are counted.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import test

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "follow" / "python"))

__all__ = ["programs"]

NAMES = [
    *("abstract_numbers", "augassign", "baseexception", "binop", "bisect", "bool", "builtin", "call"),
    *("class", "collections", "compare", "complex", "contains", "contextlib", "copy", "dataclasses"),
    *("decorators", "defaultdict", "deque", "descr", "dict", "dictcomps", "dictviews", "dynamic"),
    *("enum", "enumerate", "except_star", "exception_group", "exception_variations", "exceptions", "extcall", "float"),
    *("format", "fractions", "fstring", "funcattrs", "functools", "future", "generator_stop", "generators"),
    *("genericalias", "genericclass", "genexps", "global", "grammar", "hash", "heapq", "index"),
    *("int", "int_literal", "isinstance", "iter", "iterlen", "itertools", "keywordonlyarg", "list"),
    *("listcomps", "long", "longexp", "math", "metaclass", "named_expressions", "numeric_tower", "operator"),
    *("ordered_dict", "patma", "positional_only_arg", "pow", "print", "property", "raise", "range"),
    *("reprlib", "richcmp", "scope", "set", "setcomps", "slice", "sort", "string"),
    *("string_literals", "subclassinit", "super", "syntax", "textwrap", "tuple", "typechecks", "types"),
    *("unary", "unpack", "unpack_ex", "userdict", "userlist", "userstring", "with", "yield_from"),
]
_FOLDER = Path(test.__file__).parent
_SHARED = ("list_tests", "seq_tests", "mapping_tests", "string_tests")
"""Modules of tests that several classes share."""
_PLACES = ("test_{0}.py", "test_{0}/test_{0}.py", "test_{0}/__init__.py")
_SHOWN = 6  # of what is wrong in one test case
_SECONDS = 150  # of CPU, for one file
_OF_ONE = 20  # of CPU, for one program
_AT_A_TIME = 12  # tests of one program
_MEMORY = 6 << 30
_OF_A_LOOP = re.compile(r"\d+: (async )?for .*: said is|\d+: for .*, said is")
"""What is said of the target of a long loop: not of each round, as the others are like those."""
_COMPARED: dict[str, type[ast.cmpop]] = {
    "assertEqual": ast.Eq, "assertEquals": ast.Eq, "assertNotEqual": ast.NotEq, "assertIs": ast.Is,
    "assertIsNot": ast.IsNot, "assertIn": ast.In, "assertNotIn": ast.NotIn, "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE, "assertGreater": ast.Gt, "assertGreaterEqual": ast.GtE, "assertListEqual": ast.Eq,
    "assertTupleEqual": ast.Eq, "assertDictEqual": ast.Eq, "assertSetEqual": ast.Eq, "assertSequenceEqual": ast.Eq,
    "assertMultiLineEqual": ast.Eq,
}  # fmt: skip
_RAISING = ("assertRaises", "assertRaisesRegex")
_BASE = """
class _Case_:
    def setUp(self): pass
    def tearDown(self): pass
    def addTypeEqualityFunc(self, *given): pass
    def fail(self, msg=None): raise AssertionError(msg)
    def assertEqual(self, first, second, msg=None):
        if not first == second: raise AssertionError(msg)
    def assertTrue(self, expr, msg=None):
        if not expr: raise AssertionError(msg)
    def assertFalse(self, expr, msg=None):
        if expr: raise AssertionError(msg)
    def assertIs(self, first, second, msg=None):
        if first is not second: raise AssertionError(msg)
    def assertIn(self, first, second, msg=None):
        if first not in second: raise AssertionError(msg)
    def assertIsInstance(self, first, second, msg=None):
        if not isinstance(first, second): raise AssertionError(msg)
    def assertRaises(self, expected, function, *args, **kwargs):
        try:
            function(*args, **kwargs)
        except expected:
            return
        raise AssertionError(expected)
    def _run_(self, name):
        self.setUp()
        try:
            getattr(self, name)()
        finally:
            self.tearDown()
"""
_CALL = """
try:
    {name}()._run_({test!r})
    ends_{number} = 1
except BaseException:
    ends_{number} = 2
"""


class _Assertions(ast.NodeTransformer):
    """Assertions become assignments."""

    def __init__(self) -> None:
        self.count = 0

    def _name(self) -> str:
        self.count += 1
        return f"holds_{self.count}"

    def _assigned(self, name: str, test: ast.expr) -> ast.stmt:
        return ast.Assign([ast.Name(name, ast.Store())], ast.IfExp(test, ast.Constant(1), ast.Constant(2)))

    def _raising(self, kind: ast.expr, body: list[ast.stmt]) -> ast.stmt:
        name = self._name()
        tells = [self._assigned(name, ast.Constant(value)) for value in (True, False)]
        return ast.Try(body, [ast.ExceptHandler(kind, None, [tells[0]])], [tells[1]], [])

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=method), args=args, keywords=[]):
                made = self._of(method, args)
                return node if made is None else made
        return node

    def _of(self, method: str, args: list[ast.expr]) -> ast.stmt | None:
        if any(isinstance(a, ast.Starred) for a in args[:2]):
            return None
        match method, args:
            case ("assertRaises", [kind, function, *rest]):
                return self._raising(kind, [ast.Expr(ast.Call(function, rest, []))])
            case ("assertTrue", [one, *_]):
                return self._assigned(self._name(), one)
            case ("assertFalse", [one, *_]):
                return self._assigned(self._name(), ast.UnaryOp(ast.Not(), one))
            case ("assertIsNone", [one, *_]):
                return self._assigned(self._name(), ast.Compare(one, [ast.Is()], [ast.Constant(None)]))
            case ("assertIsNotNone", [one, *_]):
                return self._assigned(self._name(), ast.Compare(one, [ast.IsNot()], [ast.Constant(None)]))
            case ("assertIsInstance", [one, kind, *_]):
                return self._assigned(self._name(), ast.Call(ast.Name("isinstance", ast.Load()), [one, kind], []))
            case (_, [one, other, *_]) if method in _COMPARED:
                return self._assigned(self._name(), ast.Compare(one, [_COMPARED[method]()], [other]))
        return None

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        match node.items:
            case [ast.withitem(ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=method), args=args), name)]:
                if method == "subTest":
                    return node.body
                if method in _RAISING and args and name is None:
                    return self._raising(args[0], node.body)
        return node


class _Renamed(ast.NodeTransformer):
    """The classes of modules that several tests share, under names of their own: ``seq_tests.CommonTest``."""

    def __init__(self, own: dict[str, str]) -> None:
        self.own = own

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.name = self.own.get(node.name, node.name)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.own.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        module = ast.unparse(node.value).removeprefix("test.")
        return ast.Name(_own_name(module, node.attr), node.ctx) if module in _SHARED else node


def _own_name(module: str, name: str) -> str:
    return f"{module}_{name}"


def _whole(source: str, module: str, seen: set[str]) -> list[ast.stmt]:
    """The statements of a module, behind those of the modules of shared tests that it imports."""
    tree = ast.parse(source)
    own = {n.name: _own_name(module, n.name) for n in tree.body if isinstance(n, ast.ClassDef)} if module else {}
    named = [
        a.name.removeprefix("test.") for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    ]
    before: list[ast.stmt] = []
    for name in named:
        if name in _SHARED and name not in seen:
            seen.add(name)
            before += _whole((_FOLDER / f"{name}.py").read_text(), name, seen)
    body = [n for n in _Renamed(own).visit(tree).body if not _is_main(n)]
    return [*filter(_is_head, body), *before, *(n for n in body if not _is_head(n))]


def programs(source: str) -> Iterator[tuple[str, str]]:
    """The test cases of a module: the name of each, and a program."""
    names = [n.name for n in ast.parse(source).body if isinstance(n, ast.ClassDef)]
    for name in names:
        body = _whole(source, "", set())
        classes = {n.name: n for n in body if isinstance(n, ast.ClassDef)}
        case = classes[name]
        own = _own_tests(case, classes)
        if not own:
            continue
        for one in classes.values():
            one.bases = [ast.Name("_Case_", ast.Load()) if _is_case(b) else b for b in one.bases]
            if _tests(one):
                one.decorator_list = []
        for one in own:
            one.decorator_list = []
        kept = _bases(case, classes)
        body = [n for n in body if not isinstance(n, ast.ClassDef) or n.name in kept or not _is_test(n, classes)]
        first = next((i for i, n in enumerate(body) if not _is_head(n)), 0)
        calls = [_CALL.format(name=name, test=t.name, number=i) for i, t in enumerate(own)]
        text = ast.Module([*body[:first], *ast.parse(_BASE).body, *body[first:]], [])
        text = ast.unparse(ast.fix_missing_locations(_Assertions().visit(text)))
        for begin in range(0, len(calls), _AT_A_TIME):
            more = "\n".join(calls[begin : begin + _AT_A_TIME])
            yield f"{name}, from {begin}", f"{text}\n{more}\n"


def _tests(case: ast.ClassDef) -> list[ast.FunctionDef]:
    return [n for n in case.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]


def _is_test(case: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a class has tests, or derives from one that has."""
    return any(_tests(classes[name]) for name in _bases(case, classes))


def _own_tests(case: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.FunctionDef]:
    """The tests of a case, and those that it has from a module of shared tests."""
    shared = [n for n in _bases(case, classes) if n.startswith(_SHARED)]
    if case.name.startswith(_SHARED):
        return []
    found = {t.name: t for n in sorted(shared, reverse=True) for t in _tests(classes[n])}
    return list({**found, **{t.name: t for t in _tests(case)}}.values())


def _bases(case: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str]:
    """The classes of the module that a class derives from, with itself."""
    found, todo = set[str](), [case.name]
    while todo:
        name = todo.pop()
        if name in classes and name not in found:
            found.add(name)
            todo += [n.id for b in classes[name].bases for n in ast.walk(b) if isinstance(n, ast.Name)]
    return found


def _is_case(base: ast.expr) -> bool:
    return ast.unparse(base) in ("unittest.TestCase", "TestCase")


def _is_head(node: ast.stmt) -> bool:
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, ast.Import | ast.ImportFrom)


def _is_main(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name in ("load_tests", "test_main", "setUpModule", "tearDownModule")
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


def _one(name: str, source: str) -> dict[str, Any]:
    """The counts of one program, and what is wrong."""
    from executed import compared

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_OF_ONE, _OF_ONE))
    with tempfile.TemporaryDirectory() as folder:
        found = compared(source, Path(folder) / "program.py", known_names=False)
    said = found.wrong
    if "the budget is used up" in said or found.raises:
        said = [w for w in said if "said is nothing" not in w and "the budget" not in w]
    if found.raises:  # where it ends, following may go on
        said = [w for w in said if " is certainly " not in w]
    said = [f"{name}: {w}" for w in said if not _OF_A_LOOP.match(w)]
    more = [f"{name}: and {len(said) - _SHOWN} more"] if len(said) > _SHOWN else []
    return {"claims": found.claims, "known": found.known, "count": len(said), "wrong": [*said[:_SHOWN], *more]}


def _file(file: Path) -> dict[str, Any]:
    """The counts of one file, each of its programs in a process of its own."""
    total: dict[str, Any] = {"claims": 0, "known": 0, "count": 0, "wrong": [], "programs": 0, "died": [], "left": 0}
    for name, source in programs(file.read_text()):
        if resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime > _SECONDS:
            total["left"] += 1
            continue
        found = _in_a_child(f"{file.name}, {name}", source)
        total["programs"] += 1
        if found is None:
            total["died"].append(name)
            continue
        for key, value in found.items():
            total[key] += value
    return total


def _in_a_child(name: str, source: str) -> dict[str, Any] | None:
    """What a fork of this process makes of a program, which may stop or change it."""
    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if child == 0:
            with open(os.devnull, "r+") as nothing:
                for stream in range(3):
                    os.dup2(nothing.fileno(), stream)
            try:
                json.dump(_one(name, source), answer)
                answer.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        text = answer.read()
    return json.loads(text) if text else None


def main(names: list[str], kept: Path | None) -> int:
    """Follow these files, each in a process of its own; gives the exit status."""
    total = dict.fromkeys(("files", "programs", "claims", "known", "count", "left"), 0)
    for name in names:
        file = next(filter(Path.is_file, (_FOLDER / place.format(name) for place in _PLACES)), None)
        if file is None:
            continue
        answer = kept / f"test_{name}.json" if kept is not None else None
        if answer is not None and answer.is_file():
            found = json.loads(answer.read_text())
        else:
            done = subprocess.run([sys.executable, __file__, "--one", str(file)], stdout=subprocess.PIPE, check=False)
            found = json.loads(done.stdout.splitlines()[-1])
            if answer is not None:
                answer.write_text(json.dumps(found))
        for line in found["wrong"]:
            print(line, flush=True)
        total["files"] += 1
        for key in ("programs", "claims", "known", "count", "left"):
            total[key] += found[key]
        died = f", died: {'; '.join(found['died'])}" if found["died"] else ""
        print(
            f"test_{name}: {found['claims']} values, {found['known']} known, {found['count']} wrong, "
            f"{found['left']} of {found['programs'] + found['left']} programs left out{died}",
            flush=True,
        )
    print(total)
    return 1 if total["count"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "follow" / "python"))
        import executed  # noqa: F401  (once, for all forks)

        print("\n" + json.dumps(_file(Path(sys.argv[2]))))
    else:
        words = sys.argv[1:]
        where = Path(words[words.index("--kept") + 1]) if "--kept" in words else None
        asked = [w for w in words if w not in ("--kept", str(where))]
        sys.exit(main([n.removeprefix("test_") for n in asked] or NAMES, where))
