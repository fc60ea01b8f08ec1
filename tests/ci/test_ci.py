"""CI does what README tells its reader to do, and a benchmark does what its row in README says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest

from benchmarks.readme import mypy_settings
from simpletorch.cli import main
from tests import neighbours, warm
from tests.sources import imported

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = sorted((ROOT / ".ci").iterdir())
ALLOWED = {
    "XDG_CACHE_HOME": "a folder of the run's own: what an earlier run has read or fetched mustn't help",
    "PATH": "the environment that was made for the wheel, as its user has activated it",
}
"""Variables that a script of `.ci` sets for what it runs, and why README needn't mention them."""
SET = re.compile(r"(?:^|\bexport +|\benv +)([A-Z][A-Z_\d]*)=", re.MULTILINE)


def readme_commands() -> list[str]:
    command = [sys.executable, ROOT / ".ci/readme"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_ci_runs_the_commands_that_readme_names_and_no_others_of_that_name():
    commands = readme_commands()
    assert commands[:2] == ["make demo", "make test"]
    assert all(f"`{command}`" in README for command in commands)
    run = (ROOT / ".ci/run").read_text()
    assert "readme=$(.ci/readme)" in run
    assert [command for command in commands if re.search(rf"{command}(?![\w-])", run)] == []


def test_the_clone_has_the_neighbours_only_after_readme_s_commands():
    run = (ROOT / ".ci/run").read_text()
    assert re.findall(r'for command in "\$\{commands\[@\]\}" (.*); do', run) == [
        '"make lint" "make types" "make test-all" .ci/pythons .ci/wheel'
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_of_ci_sets_no_variable_and_installs_no_extra_that_readme_does_not_state(script: Path):
    text = script.read_text()
    assert {name for name in SET.findall(text) if name not in README} <= ALLOWED.keys()
    assert not re.search(r"environ\[.*\] *=|setenv|putenv|environ\.(update|setdefault)", text)
    assert not re.search(r"(\.|\.whl)\[", text)


@pytest.mark.parametrize("command", [c for c in readme_commands() if c != "make docs"])
def test_a_command_of_readme_s_sets_no_variable(command: str):
    done = subprocess.run([*command.split(), "-nB"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "-m venv" in done.stdout, "with all that it makes first"
    assert re.findall(r"(?:^|\s)([A-Z][A-Z_\d]*)=", done.stdout) == []
    assert "neighbours" not in done.stdout


def packages(extra: str) -> set[str]:
    """The distributions that an extra installs, and the extras that it sums up."""
    found: set[str] = set()
    for need in PROJECT["optional-dependencies"][extra]:
        name, summed = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", need).groups()
        found |= {name} if name != PROJECT["name"] else set().union(*map(packages, summed.split(",")))
    return found


def test_every_package_that_a_test_names_is_of_the_extra_that_is_installed_for_them():
    """``ml_dtypes`` comes with JAX."""
    assert neighbours.INSTALLED - {"ml_dtypes"} <= packages("neighbours")
    assert not (neighbours.INSTALLED | neighbours.NOT_INSTALLED) & packages("dev")
    assert not neighbours.NOT_INSTALLED & packages("neighbours")


# -- benchmarks --------------------------------------------------------------------------------------------------------

BENCHMARKS = [
    path
    for path in sorted((ROOT / "benchmarks").rglob("*.py"))
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
]


each_benchmark = pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.relative_to(ROOT).as_posix())


def variables_set(source: str) -> set[str]:
    """Our variables that a program sets, for itself or for what it starts."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Dict():
                pairs = list(zip(node.keys, node.values, strict=True))
            case ast.Assign(targets=[ast.Subscript(slice=key)]):
                pairs = [(key, node.value)]
            case ast.Call(func=ast.Attribute(attr="setdefault" | "putenv" | "setenv"), args=[key, value]):
                pairs = [(key, value)]
            case ast.Call():
                pairs = [(ast.Constant(keyword.arg), keyword.value) for keyword in node.keywords]
            case _:
                continue
        for key, value in pairs:
            is_ours = isinstance(key, ast.Constant) and re.fullmatch("SIMPLETORCH_[A-Z]+", str(key.value))
            if is_ours and not (isinstance(value, ast.Constant) and value.value == ""):  # set to nothing is not set
                found.add(key.value)
    return found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('run(env={**os.environ, "SIMPLETORCH_FOLLOW": "off"})', {"SIMPLETORCH_FOLLOW"}),
        ('run(env=os.environ | dict(SIMPLETORCH_CHECK="off"))', {"SIMPLETORCH_CHECK"}),
        ('os.environ["SIMPLETORCH_FOLLOW"] = "off"', {"SIMPLETORCH_FOLLOW"}),
        ('os.environ.setdefault("SIMPLETORCH_DEBUG", "1")', {"SIMPLETORCH_DEBUG"}),
        ('os.environ.get("SIMPLETORCH_PACKAGES", HOME)', set()),
        ('os.environ.pop("SIMPLETORCH_FOLLOW")', set()),
        ('run(env={"SIMPLETORCH_DEBUG": ""})', set()),
    ],
)
def test_variables_that_are_set_are_found(source: str, found: set[str]):
    assert variables_set(source) == found


def rows_of(path: Path) -> list[str]:
    """The rows of README's tables that name a benchmark's command."""
    name = path.relative_to(ROOT).as_posix()
    command = re.compile(rf"python ({re.escape(name)}|-m {name.removesuffix('.py').replace('/', '.')})\\b")
    return [row for row in README.splitlines() if row.startswith("|") and command.search(row)]


@each_benchmark
def test_a_benchmark_that_sets_a_variable_says_so_where_its_number_stands(path: Path):
    text = path.read_text(encoding="utf-8")
    for variable in variables_set(text):
        assert variable in ast.get_docstring(ast.parse(text)), f"its docstring should say that it sets {variable}"
        for row in rows_of(path):
            assert variable in row, f"README's row should say that it sets {variable}"


@each_benchmark
def test_a_benchmark_that_needs_another_extra_says_so(path: Path):
    """README's table is for the extra `benchmarks`, which the line above it names."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    ours = {"benchmarks", "simpletorch", "tests", *(other.stem for other in path.parent.glob("*.py"))}
    names = {name.partition(".")[0] for name in imported(tree)} - sys.stdlib_module_names - ours
    given = packages("benchmarks") | {re.match(r"[\w-]+", need)[0] for need in PROJECT["dependencies"]}
    for name in (name for name in names if {"ignite": "pytorch-ignite"}.get(name, name) not in given):
        assert name in ast.get_docstring(tree), f"its docstring should say that it needs {name}"
        for row in rows_of(path):
            assert name in row, f"README's row should say that it needs {name}"


def test_mypy_s_settings_are_those_of_readme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """What `simpletorch init` writes for mypy, README shows and benchmarks measure."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mypy.ini").touch()
    assert main(["init"]) == 0
    written, shown = ConfigParser(), ConfigParser()
    written.read(tmp_path / "mypy.ini")
    shown.read_string(mypy_settings())
    assert dict(written["mypy"]) == dict(shown["mypy"])
    assert mypy_settings(plugin=False) == mypy_settings().replace("plugins = simpletorch.mypy\n", "")


# -- pre-commit --------------------------------------------------------------------------------------------------------

HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", re.findall(r"^  entry: simpletorch (.*)$", HOOKS, re.MULTILINE))
def test_a_hook_takes_the_changed_files_and_fails_if_one_is_wrong(entry, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(warm.home(tmp_path)))
    monkeypatch.chdir(tmp_path)
    Path("right.py").write_text("import torch\nx = torch.zeros(3, 5)\n")
    Path("wrong.py").write_text("import torch\nx = torch.zeros(3, 5) + torch.zeros(7)\n")
    assert main([*entry.split(), "right.py"]) == 0
    assert main([*entry.split(), "right.py", "wrong.py"]) == 1
    assert "wrong.py:2" in capsys.readouterr().out
    assert f"id: simpletorch-{entry}" in (ROOT / "docs/guides/ci.md").read_text(encoding="utf-8")
