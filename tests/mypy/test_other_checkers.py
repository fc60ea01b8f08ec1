"""Type checkers without the plugin say nothing against right code, and see a tensor where a layer is called.

Each is installed from the package index into an environment of its own, once, outside the tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import neighbours

ROOT = Path(__file__).parents[2]
VERSIONS = {
    "basedpyright": "1.40.2",
    "ty": "0.0.105",
    "pyrefly": "1.4.1",
}  # two of them are young, and change from week to week
HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "simpletorch" / "checkers"
NOT_THEIRS = {
    "gpt.py": ("basedpyright", "ty", "pyrefly"),  # Cache[B, "S+T", "D//H"]: sizes of a generic class of the program's
    "actor_critic.py": ("basedpyright",),  # *Batch: pyright takes no TypeVarTuple in what to it is Annotated[...]
    "kernels.py": ("basedpyright",),  # the same
    "autograd.py": (
        "basedpyright",
        "ty",
        "pyrefly",
    ),  # Function.backward(ctx, *grads), as in torch's docs
    "int8.py": ("basedpyright", "ty", "pyrefly"),  # nn.Linear[I, O]: torch's class to them, which isn't generic
    # our Digits and CharTokens are of our own Tensor[...], which to them isn't the one that a program writes
    **dict.fromkeys(("transfer.py", "hyperparameters.py", "text_generation.py"), ("basedpyright", "ty", "pyrefly")),
}
"""Examples with a spelling that a checker without the plugin can't take."""

COMMANDS: dict[str, Callable[[str, list[str]], list[str]]] = {
    "basedpyright": lambda program, paths: [program, "--level", "error", "--pythonpath", sys.executable, *paths],
    "ty": lambda program, paths: [
        *(program, "check", "--python", sys.prefix, "--output-format", "concise"),
        *("--extra-search-path", str(ROOT / "src"), *paths),
    ],
    "pyrefly": lambda program, paths: [
        *(program, "check", "--python-interpreter-path", sys.executable, "--output-format", "min-text"),
        *("--search-path", str(ROOT / "src"), *paths),
    ],
}


@pytest.fixture(scope="module", params=COMMANDS)
def checker(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The name of a checker, and where its program is."""
    name, folder = request.param, HOME / f"{request.param}-{VERSIONS[request.param]}"
    program = folder / "bin" / name
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        command = [folder / "bin" / "python", "-m", "pip", "install", "-q", f"{name}=={VERSIONS[name]}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"{name} can't be installed here: {done.stderr.strip().splitlines()[-1]}")
    return name, str(program)


def errors(checker: tuple[str, str], paths: list[Path], folder: Path) -> list[str]:
    """What it finds wrong in copies of these files: there no settings of this project are near."""
    name, program = checker
    copies = [shutil.copy(path, folder / f"{path.parent.name}_{path.name}") for path in paths]
    (folder / "pyrightconfig.json").write_text(
        f'{{"typeCheckingMode": "standard", "extraPaths": ["{ROOT / "src"}"], "pythonVersion": "3.11"}}'
    )
    done = subprocess.run(
        COMMANDS[name](program, [Path(c).name for c in copies]), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line.strip() for line in done.stdout.splitlines() if "error" in line.lower() and ".py:" in line]


@pytest.mark.slow
def test_what_the_readme_teaches_is_quiet(checker: tuple[str, str], tmp_path: Path):
    assert errors(checker, [ROOT / "tests/typing/other/readme.py"], tmp_path) == []


EXAMPLES = {path: neighbours.imported(path) for path in sorted((ROOT / "examples").rglob("*.py"))}


@pytest.mark.slow
def test_the_examples_are_quiet(checker: tuple[str, str], tmp_path: Path):
    plain = [path for path, needs in EXAMPLES.items() if not needs]
    assert errors(checker, suited(plain, checker), tmp_path) == []


@pytest.mark.slow
@pytest.mark.neighbour(*sorted({name for needs in EXAMPLES.values() for name in needs}))
def test_the_examples_with_neighbours_are_quiet(checker: tuple[str, str], tmp_path: Path):
    others = [path for path, needs in EXAMPLES.items() if needs]
    assert errors(checker, suited(others, checker), tmp_path) == []


def suited(paths: list[Path], checker: tuple[str, str]) -> list[Path]:
    return [path for path in paths if checker[0] not in NOT_THEIRS.get(path.name, ())]
