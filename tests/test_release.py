"""What a release is made of agrees with itself."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SUMS_UP = re.compile(r"simpletorch-typed\[([\w,-]+)\]")


def number(version):
    return tuple(map(int, version.split(".")))


def test_the_changelog_has_a_section_for_each_version_the_newest_first():
    sections = re.findall(r"^## (.*)$", CHANGES, re.MULTILINE)
    released = [section for section in sections if section != "Unreleased"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", section) for section in released)
    versions = [number(section.partition(" ")[0]) for section in released]
    assert versions == sorted(versions, reverse=True)
    assert sections[0] == "Unreleased" or versions[0] == number(PROJECT["version"])
    assert all(version <= number(PROJECT["version"]) for version in versions)


def test_checkers_are_told_that_the_package_has_types():
    assert (ROOT / "src/simpletorch/py.typed").is_file()


def test_each_command_of_readme_s_table_has_what_it_imports_in_one_extra():
    table = re.findall(r"`python (?:-m )?(benchmarks[\w./]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(table) >= 6
    extra = {re.split(r"[>=;\[ ]", need)[0] for need in PROJECT["optional-dependencies"]["benchmarks"]}
    distributions = {"ignite": "pytorch-ignite"}
    declared = {re.split(r"[>=;\[ ]", need)[0] for need in PROJECT["dependencies"]} | extra
    for command in table:
        path = ROOT / (command if command.endswith(".py") else command.replace(".", "/") + ".py")
        for name in (
            "psutil",
            "greenlet",
            "lightning",
            "ignite",
            "accelerate",
            "torchmetrics",
            "transformers",
            "einops",
        ):
            if re.search(rf"^ *(import|from) {name}\b", path.read_text(), re.MULTILINE):
                assert distributions.get(name, name) in declared, (command, name)


def test_every_extra_that_another_sums_up_is_there():
    extras = PROJECT["optional-dependencies"]
    named = {
        name
        for needs in extras.values()
        for need in needs
        for each in SUMS_UP.findall(need)
        for name in each.split(",")
    }
    assert named
    assert named <= extras.keys()


def test_the_workflow_does_what_ci_does_for_each_python():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert "- run: .ci/run\n" in workflow
    pythons = re.findall(r'"(3\.\d+)"', workflow)
    declared = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    assert pythons == declared
    assert PROJECT["requires-python"] == f">={pythons[0]}"


@pytest.mark.parametrize("form", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.stem)
def test_forms_and_workflows_are_yaml(form):
    yaml = pytest.importorskip("yaml")
    assert isinstance(yaml.safe_load(form.read_text(encoding="utf-8")), dict)


def test_both_archives_come_with_what_the_source_needs():
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"][
        "include"
    ]
    assert [name for name in included if not (ROOT / name).exists()] == []
    assert {"SECURITY.md", "CHANGELOG.md", "LICENSE", "constraints.txt"} <= set(included)
