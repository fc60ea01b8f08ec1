"""What imports what: no circles, one direction, no reaching into another package, and nothing before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.sources import SOURCE, imported, modules_of


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return modules_of(SOURCE)


# -- circles -----------------------------------------------------------------------------------------------------------


def circle_in(modules: dict[str, ast.Module]) -> list[str]:
    """The names along a circle of imports, the first one again at the end; none if there is no circle.

    ``from a import b`` is the file ``a.b`` if there is one. The packages around it, which Python loads too, don't
    count: each face imports what is in its folder, and would be a circle with all of it.
    """
    graph = {
        importer: {home for name in imported(tree) for home in [name if name in modules else name.rpartition(".")[0]]}
        for importer, tree in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1][::-1]  # each name imports the next
    return []


def test_no_file_s_imports_lead_back_to_it(modules):
    """An import in a function is for what loads slowly or may be missing, never a way around a circle."""
    assert len(modules) > 100
    assert circle_in(modules) == []


@pytest.mark.parametrize(
    ("files", "circle"),
    [
        ({"a": "import p.b", "b": "import p.c", "c": "x = 5"}, []),
        ({"a": "import p.b", "b": "import p.c", "c": "from p import a"}, ["p.a", "p.b", "p.c", "p.a"]),
        ({"a": "from p.b import x", "b": "try:\n    import p.a\nfinally:\n    pass"}, ["p.a", "p.b", "p.a"]),
        ({"a": "import p.b", "b": "class C:\n    import p.a"}, ["p.a", "p.b", "p.a"]),
        ({"a": "import p.b", "b": "def f():\n    import p.a"}, ["p.a", "p.b", "p.a"]),
        ({"a": "import p.b", "b": "if TYPE_CHECKING:\n    import p.a\nelse:\n    import p.c", "c": ""}, []),
        ({"a": "import p.b", "b": "if TYPE_CHECKING:\n    pass\nelse:\n    import p.a"}, ["p.a", "p.b", "p.a"]),
        ({"a": "import p.a"}, ["p.a", "p.a"]),
        ({"__init__": "from p.a import x", "a": "from p.b import x", "b": "from p import x"}, ["p", "p.a", "p.b", "p"]),
        ({"__init__": "from p.a import x", "a": "from p import b", "b": "x = 3"}, []),
    ],
)
def test_circles_are_found(tmp_path, files, circle):
    folder = tmp_path / "p"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    assert circle_in(modules_of(folder)) == circle


# -- directions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "allowed"),
    [("shapes", ("simpletorch.shapes",)), ("rules", ("simpletorch.shapes", "simpletorch.rules"))],
)
def test_shapes_and_rules_need_the_standard_library_only(modules, package, allowed):
    below = {name: tree for name, tree in modules.items() if name.startswith(f"simpletorch.{package}")}
    assert len(below) > 5
    for importer, tree in below.items():
        others = [name for name in imported(tree) if not name.startswith(allowed)]
        assert {name.partition(".")[0] for name in others} <= sys.stdlib_module_names, importer


@pytest.mark.parametrize(("lower", "upper"), [("_", "loading"), ("_", "datasets"), ("loading", "datasets")])
def test_the_floors_of_data_lie_on_each_other(modules, lower, upper):
    below = {name: tree for name, tree in modules.items() if name.startswith(f"simpletorch.data.{lower}")}
    assert below
    for importer, tree in below.items():
        assert not [name for name in imported(tree) if name.startswith(f"simpletorch.data.{upper}")], importer


REACHED: dict[str, str] = {
    "checkpoint": "distributed._failures reproducibility._random",
    "distributed": (
        "checkpoint._plain checkpoint._sharded language.models._rotary nn._summary_inputs nn._summary_trace"
    ),
    "export": "nn._scriptable nn._summary_inputs nn._summary_symbols",
    "kernels": "nn._summary_inputs nn._summary_trace",
    "language": "nn._arguments",
    "language_server": "cli._config cli._followed cli._run cli._shapes",
    "train": (
        "checkpoint._checkpoint checkpoint._differences checkpoint._folder checkpoint._plain checkpoint._sharded "
        "checkpoint._stateful data.loading._collate distributed._failures distributed._group distributed._mesh "
        "distributed._own distributed._plans distributed._replicate distributed._shard reproducibility._random"
    ),
    "vision": "data.datasets._download nn._arguments",
}
"""The private modules that packages still import of others; none may be added."""


def private_module(name: str) -> str | None:
    """The private module of a package that a name is in, without ``simpletorch``."""
    parts = name.split(".")
    place = next((i for i, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")), 0)
    return ".".join(parts[1 : place + 1]) if parts[0] == "simpletorch" and place > 1 else None


def test_a_package_imports_no_private_module_of_another(modules):
    reached: dict[str, set[str]] = {}
    for importer, tree in modules.items():
        package = importer.split(".")[1] if "." in importer else importer
        for name in imported(tree, for_type_checkers=True):
            found = private_module(name)
            if found is not None and found.partition(".")[0] != package:
                reached.setdefault(package, set()).add(found)
    assert reached == {package: set(names.split()) for package, names in REACHED.items()}


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("simpletorch.nn._arguments.refuse", "nn._arguments"),
        ("simpletorch.data.datasets._download", "data.datasets._download"),
        ("simpletorch._settings.read", None),
        ("simpletorch.nn.__version__", None),
        ("torch._dynamo.config", None),
    ],
)
def test_private_modules_are_told_from_others(name, module):
    assert private_module(name) == module


# -- before it is needed -----------------------------------------------------------------------------------------------

LATE = ["simpletorch.rules", "simpletorch.errors._translation", "simpletorch.errors._place", "executing"]


def loaded_of(names: list[str], *programs: str) -> list[list[str]]:
    """Which of these modules are loaded after each program, run one after the other in a new interpreter."""
    code = "import sys\n" + "".join(
        f"{program}\nprint(*(name for name in {names} if name in sys.modules))\n" for program in programs
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return [line.split() for line in done.stdout.splitlines()]


def test_nothing_of_a_failure_is_loaded_before_one():
    works = "import torch, simpletorch as st; st.nn.Linear(2, 3)(torch.ones(5, 2))"
    fails = "st.errors.attempt(st.nn.Linear(2, 3), torch.ones(5, 7))"
    assert loaded_of(LATE, works, fails) == [
        [],
        ["simpletorch.rules", "simpletorch.errors._translation", "executing"],
    ]


def test_operators_need_no_compiler_before_one_runs():
    compilers = ["triton", "torch._dynamo", "torch._inductor", "torch.utils.cpp_extension"]
    assert loaded_of(compilers, "import simpletorch.kernels") == [[]]


def test_interop_loads_nothing_before_its_first_name_and_then_is_a_module_without_a_detour():
    names = ["torch", "jax", "pyarrow", "transformers", "simpletorch.interop.hub"]
    first_name = "interop.__all__; assert '__getattr__' not in vars(interop)"
    before, then, later = loaded_of(names, "from simpletorch import interop; dir(interop)", first_name, "interop.hub")
    assert before == []
    assert then == later == ["torch", "simpletorch.interop.hub"]
