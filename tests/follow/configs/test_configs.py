"""Configurations and a project's modules: what following knows is what the program has when it runs.

The programs stand in texts beside this file, a program under each line that begins with ``# ==`` with its command line,
further files under ``# --``. Behind each ``reveal_type`` stands what the program has there, as it was when it ran.
Where its libraries are installed, it runs again here.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from simpletorch.follow import follow

FOLDER = Path(__file__).parent
RUN = """
import builtins, json, os, runpy, sys
start, (main, *words) = os.getcwd(), json.loads(sys.argv[1])
def reveal(value):
    shown = f"tensor{tuple(value.shape)}" if hasattr(value, "shape") and hasattr(value, "dtype") else repr(value)
    frame = sys._getframe(1)
    print("shown", json.dumps([os.path.relpath(frame.f_code.co_filename, start), frame.f_lineno, shown]))
builtins.reveal_type = reveal
sys.argv, sys.path[0] = [main, *words], os.path.abspath(os.path.dirname(main))
runpy.run_path(main, run_name="__main__")
"""


@dataclass(frozen=True)
class Case:
    """A program: its files, the main one, its command line, and what each line that reveals something has."""

    files: dict[str, str]
    main: str
    words: tuple[str, ...]

    @property
    def expected(self) -> dict[tuple[str, int], str]:
        """By file and line."""
        return {
            (name, number): line.partition("  # is ")[2]
            for name, text in self.files.items()
            for number, line in enumerate(text.split("\n"), 1)
            if "  # is " in line
        }

    @property
    def missing(self) -> list[str]:
        """The libraries that it imports and that aren't installed."""
        own = {Path(n).stem for n in self.files} | {part for n in self.files for part in Path(n).parts}
        names = {
            (alias.name if isinstance(node, ast.Import) else node.module or "").partition(".")[0]
            for name, text in self.files.items()
            if name.endswith(".py")
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
            for alias in node.names
        }
        return [n for n in sorted(names - own) if find_spec(n) is None]

    def write(self, folder: Path) -> None:
        """Write its files."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


def cases() -> Iterator[tuple[str, Case]]:
    """Each program with its name."""
    for file in sorted(FOLDER.glob("*.txt")):
        for part in file.read_text().split("# == ")[1:]:
            title, _, body = part.partition("\n")
            name, _, words = title.partition(" args: ")
            main = re.match(r"# main: (\S+)\n", body)
            pieces = re.split(r"^# -- (\S+)\n", body, flags=re.MULTILINE)
            files = dict(zip(pieces[1::2], pieces[2::2], strict=True))
            first = {} if main else {"program.py": pieces[0]}
            yield (
                f"{file.stem}: {name}",
                Case({**first, **files}, main[1] if main else "program.py", tuple(words.split())),
            )


CASES = dict(cases())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_known_is_what_the_program_has(case, tmp_path, monkeypatch):
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = follow(case.main, case.words)
    shown = {(os.path.relpath(n.path), n.line): _shown(n.message) for n in found.notes}
    assert {k: v for k, v in shown.items() if k in case.expected} == case.expected
    assert not found.errors
    assert not found.faults


def _shown(message: str) -> str:
    text = message.removeprefix('Revealed type is "').removesuffix('"')
    return re.sub(r"\b(?:Float|Int)\d+\[([\d, ]+)\]", _as_torch_has_it, text)


def _as_torch_has_it(match: re.Match[str]) -> str:
    sizes = match[1]
    return f"tensor({sizes})" if "," in sizes else f"tensor({sizes},)"


@pytest.mark.parametrize("case", [pytest.param(c, id=n) for n, c in CASES.items() if not c.missing])
def test_the_program_has_it(case, tmp_path):
    case.write(tmp_path)
    words = json.dumps([case.main, *case.words])
    run = subprocess.run([sys.executable, "-c", RUN, words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found: dict[tuple[str, int], list[str]] = {}
    for line in run.stdout.splitlines():
        if line.startswith("shown "):
            name, number, shown = json.loads(line.removeprefix("shown "))
            held = found.setdefault((name, number), [])
            if shown not in held:
                held.append(shown)
    assert {k: " or ".join(v) for k, v in found.items()} == case.expected


# -- what isn't given, and what only an installation makes known -------------------------------------------------------


def known(folder: Path, source: str, **files: str) -> str:
    """What ``reveal_type`` shows of a program, joined."""
    path = folder / "program.py"
    path.write_text(source)
    for name, text in files.items():
        (folder / name).write_text(text)
    found = follow(path)
    assert not found.errors
    return "; ".join(_shown(n.message) for n in found.notes)


REQUIRED = """
import argparse, torch
from torch import nn
p = argparse.ArgumentParser()
p.add_argument("--dim", type=int, required=True)
p.add_argument("n", type=int)
p.add_argument("--gpu", type=int, required=True)
g = p.add_mutually_exclusive_group(required=True)
g.add_argument("--train", action="store_true")
g.add_argument("--test", action="store_true")
a = p.parse_args()
x = nn.Linear(a.dim, a.dim * 2)(torch.randn(a.n, a.dim))
reveal_type(x)
reveal_type(x.view(a.n, 2, a.dim))
reveal_type(a.gpu)
reveal_type(a.train)
if a.gpu > 0:
    print("not the first")
"""


def test_what_must_be_given_has_a_name(tmp_path):
    gpu, train = "unknown: --gpu of the command line", "unknown: --train of the command line"
    assert known(tmp_path, REQUIRED) == f"Float32[n, 2*dim]; Float32[n, 2, dim]; {gpu}; {train}"


@pytest.mark.parametrize(("size", "right"), [("a.dim * 2", True), ("a.dim * 2 + 1", False)])
def test_a_mistake_for_every_value_of_what_must_be_given(size, right, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"{REQUIRED}y = nn.Linear({size}, 3)(x)\n")
    found = follow(path)
    assert bool(found.errors) is not right
    for given in ("3", "7"):
        words = [str(path), "5", "--dim", given, "--gpu", "0", "--test"]
        source = path.read_text().replace("reveal_type", "str")
        (tmp_path / "run.py").write_text(source)
        run = subprocess.run([sys.executable, "run.py", *words[1:]], cwd=tmp_path, capture_output=True, check=False)
        assert (run.returncode == 0) is right


def test_a_size_that_a_caller_may_choose_is_no_mistake(tmp_path):
    assert known(tmp_path, f"{REQUIRED}y = nn.Linear(a.dim, 3)(torch.randn(5, 784))\n").startswith("Float32[n")


@pytest.mark.parametrize("folder", [".", "src"])
def test_packages_of_the_project(folder, tmp_path):
    (tmp_path / folder / "pkg").mkdir(parents=True)
    (tmp_path / folder / "pkg" / "__init__.py").write_text("")
    (tmp_path / folder / "pkg" / "net.py").write_text("N = 7\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "pkg"\n')
    (tmp_path / "scripts").mkdir()
    assert known(tmp_path / "scripts", "from pkg.net import N\nreveal_type(N)\n") == "7"


def test_a_folder_of_the_project_does_not_hide_a_library(tmp_path):
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "__init__.py").write_text("")
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "scripts").mkdir()
    source = "import packaging.version\nreveal_type(packaging.version.N)\n"
    assert known(tmp_path / "scripts", source).startswith("unknown")


@pytest.mark.parametrize("path", ["nope.yaml", "bad.yaml", "bomb.yaml", "deep.yaml", "python.yaml", "itself.yaml"])
@pytest.mark.parametrize("read", ["yaml.safe_load(open(P))", "OmegaConf.load(P)"])
def test_settings_that_cannot_be_read_are_unknown(path, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "bad.yaml": "a: [1\nb: }",
        "bomb.yaml": "a: &a {x: 1}\n"
        + "".join(f"b{i}: &b{i} {{<<: [{', '.join(['*a'] * 3000)}]}}\n" for i in range(12)),
        "deep.yaml": "a: " + "[" * 3000 + "]" * 3000,
        "python.yaml": "a: !!python/object/apply:os.system [touch made]",
        "itself.yaml": "a: &a [*a]",
    }
    source = f"import yaml\nfrom omegaconf import OmegaConf\nP = {path!r}\nx = {read}\nreveal_type(x['a'])\n"
    assert known(tmp_path, source, **files).startswith("unknown")
    assert not (tmp_path / "made").exists()


def test_settings_that_the_program_may_have_changed_are_unknown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = "import yaml, tool\ntool.fill('c.yaml')\nreveal_type(yaml.safe_load(open('c.yaml'))['a'])\n"
    assert known(tmp_path, source, **{"c.yaml": "a: 7"}).startswith("unknown")


MODEL = """
import hydra, torch
@hydra.main(version_base=None, config_path=".", config_name="config")
def main(cfg):
    net = hydra.utils.instantiate(cfg.net)
    net(torch.randn(3, cfg.dim))
main()
"""


@pytest.mark.parametrize(("size", "right"), [("${dim}", True), ("7", False)])
def test_a_mistake_in_a_configuration(size, right, tmp_path):
    (tmp_path / "program.py").write_text(MODEL)
    (tmp_path / "config.yaml").write_text(
        f"dim: 5\nnet:\n  _target_: torch.nn.Linear\n  in_features: {size}\n  out_features: 2\n"
    )
    assert bool(follow(tmp_path / "program.py").errors) is not right


CYCLES = {
    "itself": ({"config": "a: ${b}\nb: ${a}\n"}, "cfg.a"),
    "twice each": ({"config": "a0: x\n" + "".join(f"a{i + 1}: ${{a{i}}}${{a{i}}}\n" for i in range(40))}, "cfg.a40"),
    "its own defaults": ({"config": "defaults:\n  - config\na: 3\n"}, "cfg.a"),
    "a group of itself": ({"config": "defaults:\n  - a: b\n", "a/b": "defaults:\n  - /config\n"}, "cfg.a"),
}


@pytest.mark.parametrize(("files", "asked"), CYCLES.values(), ids=CYCLES)
def test_configurations_without_an_end_are_unknown(files, asked, tmp_path):
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(text)
    head = "import hydra\n@hydra.main(version_base=None, config_path='.', config_name='config')\n"
    (tmp_path / "program.py").write_text(f"{head}def main(cfg):\n    reveal_type({asked})\nmain()\n")
    found = follow(tmp_path / "program.py", seconds=2)
    assert found.complete
    assert not found.faults
    assert next(n.message for n in found.notes).startswith('Revealed type is "unknown')
