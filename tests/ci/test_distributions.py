"""Two distributions of one source: simpletorch-check needs no torch; simpletorch-typed requires it and torch."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

import simpletorch
from simpletorch import _distribution, _stub
from simpletorch.cli import main
from simpletorch.cli._checking.environment import environment
from simpletorch.cli._config import configure
from tests.sources import SOURCE, imported

ROOT = Path(__file__).parents[2]
FRAMEWORK = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHECKER = tomllib.loads((ROOT / "checker/pyproject.toml").read_text(encoding="utf-8"))
WHEEL = CHECKER["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]


def checker_files() -> list[Path]:
    """The files of Python in the checker's wheel."""
    paths = [ROOT / "checker" / source for source in WHEEL]
    files = {file.resolve() for path in paths for file in (path.rglob("*.py") if path.is_dir() else (path,))}
    return sorted(file for file in files if file.suffix == ".py")


def test_the_framework_leaves_out_what_the_checker_has():
    left_out = {path.removeprefix("/") for path in FRAMEWORK["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]}
    shipped = {
        source.removeprefix("../")
        for source, target in WHEEL.items()
        if source.startswith("../src/") and not target.startswith("simpletorch/types/")
    }
    assert shipped == left_out
    assert all((ROOT / path).exists() for path in left_out)


def test_mypy_finds_the_same_types_in_another_environment():
    copies = {Path(source).name for source, target in WHEEL.items() if target.startswith("simpletorch/types/")}
    assert copies == {path.name for path in (SOURCE.parent / "_simpletorch").iterdir() if path.is_file()}


class WithoutFunctions(ast.NodeTransformer):
    """Leaves what runs when a file is imported."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        return None


def test_no_file_of_the_checker_imports_the_framework_or_torch_before_it_is_asked_for():
    files = checker_files()
    assert len(files) > 400
    own = {".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__") for file in files}
    allowed = {re.split(r"[>=<]", need)[0].replace("-", "_") for need in CHECKER["project"]["dependencies"]}
    allowed |= {"pygments", "pygls", "lsprotocol", "_simpletorch", *sys.stdlib_module_names}  # rich brings the first
    wrong = {}
    for file in files:
        if file.name.startswith("_digits"):  # programs that `demo` copies
            continue
        at_import = WithoutFunctions().visit(ast.parse(file.read_text(encoding="utf-8")))
        for name in imported(at_import):
            is_its_own = name in own or name.rpartition(".")[0] in own
            if not is_its_own and name.split(".")[0] not in allowed:
                wrong.setdefault(file.relative_to(SOURCE.parent).as_posix(), []).append(name)
    assert wrong == {}


def test_requirements_are_the_same_in_both():
    framework = FRAMEWORK["project"]
    assert set(CHECKER["project"]["dependencies"]) < set(framework["dependencies"])
    extra = "language-server"
    assert CHECKER["project"]["optional-dependencies"][extra] == framework["optional-dependencies"][extra]
    assert {CHECKER["project"][key] == framework[key] for key in ("license", "requires-python", "authors")} == {True}


# -- without the framework ---------------------------------------------------------------------------------------------

MISSING = "it needs PyTorch and simpletorch's framework: pip install simpletorch-typed"


def test_a_name_of_the_framework_says_what_to_install(monkeypatch):
    def load(package, name):
        raise ModuleNotFoundError("No module named 'simpletorch.nn'", name="simpletorch.nn")

    monkeypatch.setattr(_stub, "load", load)
    monkeypatch.delitem(vars(simpletorch), "nn", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf"^simpletorch\.nn: {MISSING}$") as caught:
        simpletorch.__getattr__("nn")
    assert caught.value.name == "simpletorch.nn"


def test_another_module_that_is_missing_is_named_as_python_names_it(monkeypatch):
    def load(package, name):
        raise ModuleNotFoundError("No module named 'einops'", name="einops")

    monkeypatch.setattr(_stub, "load", load)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'einops'$"):
        simpletorch.__getattr__("nn")


@pytest.mark.parametrize("name", ["torch", "torch.nn", "simpletorch.nn"])
def test_a_command_that_needs_the_framework_says_so(name, monkeypatch, capsys):
    def missing():
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("simpletorch.cli._demo.torch_available", missing)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == f"simpletorch demo: {MISSING}\n"


@pytest.mark.parametrize(
    ("installed", "named"),
    [((), "typed"), (("simpletorch-check",), "check"), (("simpletorch-check", "simpletorch-typed"), "typed")],
)
def test_an_extra_is_one_of_the_distribution_that_is_installed(installed, named, monkeypatch):
    monkeypatch.setattr(_distribution, "version_of", lambda name: "7.0" if name in installed else None)
    assert _distribution.installing("language-server") == f"pip install 'simpletorch-{named}[language-server]'"
    assert _distribution.installed_version() == ("7.0" if installed else None)


# -- mypy in another environment ---------------------------------------------------------------------------------------


@pytest.fixture
def no_torch(monkeypatch, tmp_path):
    """The checker in an environment of its own, in a folder where nothing else is."""
    monkeypatch.setattr("simpletorch.cli._checking.environment.torch_available", lambda: False)
    monkeypatch.chdir(tmp_path)
    for variable in ("VIRTUAL_ENV", "MYPYPATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def environment_with(folder: Path, *packages: str) -> str:
    """An environment whose interpreter finds these packages; returns the interpreter."""
    python = folder / "bin/python"
    python.parent.mkdir(parents=True)
    for package in packages:
        (folder / "packages" / package).mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}/packages" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_where_torch_is_installed_nothing_is_added(tmp_path, monkeypatch):
    monkeypatch.delenv("MYPYPATH", raising=False)
    assert environment(configure(), []) == ([], "")


def test_without_torch_anywhere_it_is_said(no_torch):
    more, remark = environment(configure(), [])
    assert more == []
    assert remark.startswith("PyTorch is not installed here")


@pytest.mark.skipif(sys.platform == "win32", reason="the interpreter is a script of a shell")
@pytest.mark.parametrize("way", ["active", "folder", "option", "=option", "configuration"])
def test_the_project_s_environment_has_torch(way, no_torch, monkeypatch):
    python = environment_with(no_torch / ".venv" if way == "folder" else no_torch / "other", "torch")
    options = {"option": ["--python-executable", python], "=option": [f"--python-executable={python}"]}.get(way, [])
    if way == "active":
        monkeypatch.setenv("VIRTUAL_ENV", str(no_torch / "other"))
    if way == "configuration":
        (no_torch / "mypy.ini").write_text(f"[mypy]\npython_executable = {python}\n")
    (no_torch / "inner").mkdir()
    monkeypatch.chdir(no_torch / ("inner" if way == "folder" else "."))
    more, remark = environment(configure(), options)
    if way in ("active", "folder"):
        assert more == ["--python-executable", python]
        assert remark == f"mypy reads PyTorch in {Path(python).parents[1]}"
    else:
        assert (more, remark) == ([], "")
    assert os.environ["MYPYPATH"] == str(SOURCE.parent)


@pytest.mark.skipif(sys.platform == "win32", reason="the interpreter is a script of a shell")
def test_an_environment_that_has_our_types_is_left_as_it_is(no_torch):
    environment_with(no_torch / ".venv", "torch", "_simpletorch")
    assert environment(configure(), [])[0]
    assert "MYPYPATH" not in os.environ


def test_an_interpreter_that_does_not_start_is_mypy_s_to_refuse(no_torch, capsys):
    assert environment(configure(), ["--python-executable", "/nonexistent"]) == ([], "")
