"""``action.yml``: its inputs are documented and used, and its steps do what they say, run here by bash."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "action.yml").read_text(encoding="utf-8")
ACTION = yaml.safe_load(TEXT)
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
WRONG = "import torch\nx = torch.zeros(2, 3)\ny = torch.nn.Linear(5, 7)(x)\n"
RIGHT = "import torch\nx = torch.zeros(2, 5)\ny = torch.nn.Linear(5, 7)(x)\n"


def test_inputs_are_used_and_those_that_are_used_exist():
    assert set(re.findall(r"inputs\.([\w-]+)", TEXT)) == ACTION["inputs"].keys()
    assert all(value["description"] and isinstance(value["default"], str) for value in ACTION["inputs"].values())


def test_inputs_and_outputs_are_documented():
    guide = (ROOT / "docs/guides/ci.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| .* \| `?(.*?)`? \|$", guide, re.MULTILINE))
    assert {name: rows.get(name) for name in ACTION["inputs"]} == {
        name: value["default"] or "none" for name, value in ACTION["inputs"].items()
    } | {"requirement": "this version"}
    assert all(f"`{name}`" in guide for name in ACTION["outputs"])


def test_no_step_puts_an_input_into_a_script():
    assert all("${{" not in step.get("run", "") for step in STEPS.values())
    assert all(step["shell"] == "bash" for step in STEPS.values() if "run" in step)


def run(name, folder, **inputs):
    """Run a step of the action as GitHub does, with ``simpletorch`` on the path."""
    given = {key: value["default"] for key, value in ACTION["inputs"].items()}
    given |= {key.replace("_", "-"): value for key, value in inputs.items()}

    def filled(text):
        def value(match):
            return "/the/action" if match[1] == "github.action_path" else given[match[1].removeprefix("inputs.")]

        return re.sub(r"\$\{\{ (.+?) \}\}", value, text)

    tools = folder / ".tools"
    tools.mkdir(exist_ok=True)
    for tool, command in {
        "simpletorch": f'exec "{sys.executable}" -m simpletorch.cli "$@"',
        "python": 'printf "%s\\n" "$@" "$PIP_EXTRA_INDEX_URL"',  # of the installation: shows what it would do
    }.items():
        (tools / tool).write_text(f"#!/bin/bash\n{command}\n")
        (tools / tool).chmod(0o755)
    step = STEPS[name]
    environment = {
        **os.environ,
        **{key: filled(value) for key, value in step["env"].items()},
        "PATH": f"{tools}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_WORKSPACE": str(folder),
        "PYTHONPATH": str(ROOT / "src"),
    }
    where = folder / filled(step.get("working-directory", "."))
    bash = [shutil.which("bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(bash, cwd=where, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMPLETORCH_CACHE", str(tmp_path / ".cache"))
    monkeypatch.delenv("SIMPLETORCH_FOLLOW", raising=False)
    (tmp_path / "net.py").write_text(WRONG)
    return tmp_path


def test_findings_are_annotations_a_file_and_a_summary(folder):
    done = run("Find mistakes", folder, command="follow")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=net.py,line=3,")
    assert (folder / "output").read_text() == "exit-code=1\nsarif=./findings.sarif\n"
    (sarif,) = json.loads((folder / "findings.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in sarif["results"]] == ["tensor-shape"]
    summary = (folder / "summary").read_text()
    assert "### simpletorch follow: errors found" in summary
    assert "**Coverage**: 1 of 2 tensor lines known (50%)" in summary
    assert "| `net.py:3` |" in summary


def test_silence_says_how_much_it_knows(folder):
    (folder / "net.py").write_text(RIGHT)
    (folder / "summary").write_text("another step's\n")
    assert run("Find mistakes", folder, command="follow", paths="net.py").returncode == 0
    assert (folder / "summary").read_text().startswith("another step's\n### simpletorch follow: no error\n")
    assert "**Coverage**: 2 of 2 tensor lines known (100%)" in (folder / "summary").read_text()


def test_inputs_are_words_and_never_commands(folder):
    (folder / "a b").mkdir()
    (folder / "a b/net.py").write_text(RIGHT)
    evil = "$(touch evil);`touch evil`"
    done = run("Find mistakes", folder, command="follow", diff=evil, working_directory="a b", paths="net.py\n")
    assert done.returncode == 2
    assert "::error title=simpletorch follow::" in done.stdout
    assert not list(folder.rglob("evil"))
    assert (folder / "output").read_text() == "exit-code=2\nsarif=a b/findings.sarif\n"
    assert "failed" in (folder / "summary").read_text()


def test_paths_arguments_and_a_baseline(folder):
    (folder / "other.py").write_text(WRONG)
    known = {"command": "follow", "paths": "net.py other.py", "baseline": "known.json"}
    assert run("Find mistakes", folder, arguments="--write-baseline --no-data", **known).returncode == 0
    assert run("Find mistakes", folder, **known).returncode == 0
    assert run("Find mistakes", folder, command="follow", paths="net.py\nother.py").returncode == 1


@pytest.mark.slow
def test_check(folder):
    done = run("Find mistakes", folder, paths="net.py")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("::error ") == 1
    assert "**Coverage**: 1 of 2 tensor lines known (50%)" in (folder / "summary").read_text()


def test_the_installation(folder):
    index = "https://download.pytorch.org/whl/cpu"
    install = ["-m", "pip", "install", "--quiet"]
    done = run("Install simpletorch", folder)
    assert done.stdout.splitlines() == [*install, "/the/action/checker", "/the/action", index]
    done = run("Install simpletorch", folder, command="follow")  # needs no torch
    assert done.stdout.splitlines() == [*install, "/the/action/checker", index]
    done = run("Install simpletorch", folder, requirement="simpletorch-typed==0.1.0")
    assert done.stdout.splitlines() == [*install, "simpletorch-typed==0.1.0", index]
