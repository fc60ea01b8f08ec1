"""Which versions of Python, torch and mypy the checker works with: docs/versions.md.

    python benchmarks/versions.py [--write] [--torch 2.11.0 2.12.0 2.13.0] [--python /usr/bin/python3.13 …]

Each row is an environment of its own, with what pyproject.toml declares, and torch's Python files and stubs as they
stand in its wheel. They are read, not installed: any platform's wheel has them, and a small one is fetched (80 MB). So
what is tried is what reads programs: mypy with the plugin over tests/typing, where every line says what it must say
(``SIMPLETORCH_FOLLOW=off``, as the tests of these files have it; ``SIMPLETORCH_DEBUG=1``, so that a failure of the
plugin is one), and `simpletorch follow` over the examples. What runs tensors is tried by the tests, with the torch
installed. For the versions of Python above those on this machine mypy is told ``--python-version``. Of mypy each older
version is installed, and must be refused in a sentence. The exit status is 1 if a row doesn't hold.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
CACHE: Final = Path(os.environ.get("SIMPLETORCH_PACKAGES", Path.home() / ".cache/simpletorch/packages")) / "versions"
PAGE: Final = ROOT / "docs/versions.md"
BEGIN, END = "<!-- table: python benchmarks/versions.py --write -->", "<!-- end of the table -->"
TORCH: Final = ("2.11.0", "2.12.0", "2.13.0")
PYTHON: Final = ("3.11", "3.12", "3.13", "3.14")
MYPY: Final = ("2.0.0", "2.1.0", "2.2.0", "2.3.0")  # older than what pyproject.toml asks for
WHEELS: Final = ("macosx_11_0_arm64", "macosx_14_0_arm64")
LINE: Final = re.compile(r"^([^:]+):(\d+): (error|note): (.*?)(?:  \[([\w-]+)\])?$")


@dataclass(frozen=True)
class Row:
    """One environment, and what was seen in it."""

    python: str
    torch: str
    mypy: str
    said: str
    holds: bool


def interpreters(given: Sequence[str]) -> dict[str, Path]:
    """The Pythons on this machine by version, ``"3.12"``."""
    homes = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
    candidates = [*map(Path, given), Path(sys.executable), *homes]
    candidates += [Path(path) for v in PYTHON if (path := shutil.which(f"python{v}"))]
    found: dict[str, Path] = {}
    for python in candidates:
        said = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True, text=True
        )
        if said.returncode == 0 and said.stdout.strip() in PYTHON:
            found.setdefault(said.stdout.strip(), python)
    return found


def environment(python: Path, version: str, torch: str, mypy: str | None = None) -> Path:
    """The folder of an environment with what is declared; ``mypy``: in the place of the one that is."""
    folder = CACHE / f"python{version}-torch{torch}" / (f"mypy{mypy}" if mypy else "declared")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", folder], check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needs = [
        n
        for n in (*project["dependencies"], *extras["einops"], *extras["vision"])
        if not n.startswith(("torch>", "mypy>" if mypy else "torch>"))
    ]
    constraints = folder / "constraints.txt"
    constraints.write_text(
        "".join(
            r for r in (ROOT / "constraints.txt").read_text().splitlines(True) if not (mypy and r.startswith("mypy=="))
        )
    )
    install: list[str | Path] = [
        folder / "bin/python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    asked = [*needs, f"mypy=={mypy}"] if mypy else needs
    subprocess.run([*install, "-c", constraints, *asked], check=True)
    subprocess.run([*install, "--no-deps", ROOT], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    _unpack_torch(torch, site)
    return folder


def _unpack_torch(version: str, site: Path) -> None:
    """Put torch's Python files into an environment."""
    kept = CACHE / f"torch-{version}.zip"
    if not kept.exists():
        with TemporaryDirectory() as fetched:
            wanted = ["--no-deps", "--only-binary=:all:", "--python-version", "3.11", "--dest", fetched]
            for platform in WHEELS:
                wanted += ["--platform", platform]
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", *wanted, f"torch=={version}"], check=True
            )
            (wheel,) = Path(fetched).glob("*.whl")
            part = kept.with_suffix(".part")
            with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as small:
                for name in whole.namelist():
                    if name.endswith((".py", ".pyi", "py.typed", "METADATA")):
                        small.writestr(name, whole.read(name))
            part.rename(kept)
    with zipfile.ZipFile(kept) as file:
        file.extractall(site)


def _run(folder: Path, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    away = ("PYTHONPATH", "MYPYPATH", "VIRTUAL_ENV")
    env = {**{k: v for k, v in os.environ.items() if k not in away}, "SIMPLETORCH_DEBUG": "1"}
    return subprocess.run([folder / "bin/python", *command], cwd=cwd, env=env, capture_output=True, text=True)


# -- what is tried ---------------------------------------------------------------------------------------------------


def tried(folder: Path, version: str) -> Iterator[str]:
    """What doesn't hold in an environment."""
    done = _run(folder, "-W", "error", "-m", "compileall", "-q", ROOT / "src", cwd=ROOT)
    if done.returncode:
        yield f"src isn't {version}: {done.stdout[-300:]}"
    yield from _typed(folder, version)
    for path in sorted((ROOT / "examples").glob("*.py")) + sorted((ROOT / "examples/models").glob("*.py")):
        done = _run(folder, "-m", "simpletorch.cli", "follow", path, cwd=ROOT)
        if done.returncode:
            yield f"follow {path.name}: {(done.stdout + done.stderr)[-300:]}"


def _typed(folder: Path, version: str) -> Iterator[str]:
    """Where mypy says of tests/typing what its comments don't, but for what this torch's own annotations lead it to.

    Nor is torch asked of operations without a rule, as it can't be loaded: what is known with it may be unknown.
    """
    home = ROOT / "tests/typing"
    files = [p.relative_to(home) for kind in ("pass", "fail", "reveal") for p in sorted((home / kind).rglob("*.py"))]
    said = _mypy(folder, version, home / "mypy.ini", files)
    if isinstance(said, str):
        yield said
        return
    wrong: dict[Path, list[tuple[int, list[str], list[str]]]] = {}
    for path in files:
        for number, line in enumerate((home / path).read_text().splitlines(), 1):
            mark = re.search(r"# ([ER]): (.*)$", line)
            asked = [] if mark is None else [mark[2].strip()] if mark[1] == "R" else re.split(r",\s*", mark[2].strip())
            got = said.get((path.as_posix(), number), [])
            if sorted(asked) != sorted(got) and got != ["Tensor"]:
                wrong.setdefault(path, []).append((number, asked, got))
    if not wrong:
        return
    with TemporaryDirectory() as other:
        plain = Path(other, "mypy.ini")
        plain.write_text((home / "mypy.ini").read_text().replace("plugins = simpletorch.mypy", ""))
        own = _mypy(folder, version, plain, list(wrong))
    for path, rows in wrong.items():
        for number, asked, got in rows:
            theirs = [] if isinstance(own, str) else own.get((path.as_posix(), number), [])
            if sorted(asked) != sorted(code for code in got if code not in theirs or code.startswith("tensor-")):
                yield f"{path}:{number}: {got or 'nothing'} instead of {asked or 'nothing'}"


def _mypy(folder: Path, version: str, config: Path, files: Sequence[Path]) -> dict[tuple[str, int], list[str]] | str:
    """By file and line the codes of its errors and the types that it reveals; a text where it fails."""
    command: list[str | Path] = ["-m", "mypy", "--config-file", config, "--python-version", version]
    os.environ["SIMPLETORCH_FOLLOW"] = "off"  # as the tests of these files have it
    done = _run(folder, *command, "--cache-dir", folder / "mypy", *files, cwd=ROOT / "tests/typing")
    os.environ.pop("SIMPLETORCH_FOLLOW")
    if done.returncode not in (0, 1):
        return f"mypy ends with {done.returncode}: {(done.stdout + done.stderr)[-300:]}"
    said: dict[tuple[str, int], list[str]] = {}
    for row in map(LINE.match, done.stdout.splitlines()):
        if row is not None and (row[3] == "error" or row[4].startswith("Revealed type is")):
            revealed = row[4].removeprefix('Revealed type is "').removesuffix('"')
            said.setdefault((row[1], int(row[2])), []).append(revealed if row[3] == "note" else row[5] or row[4])
    return said


def refused(folder: Path) -> str:
    """What an older mypy is told."""
    with TemporaryDirectory() as empty:
        Path(empty, "a.py").write_text("import torch\n")
        Path(empty, "mypy.ini").write_text("[mypy]\nplugins = simpletorch.mypy\n")
        done = _run(folder, "-m", "mypy", "a.py", cwd=Path(empty))
    lines = (done.stdout + done.stderr).splitlines()
    return next((line.strip() for line in lines if "needs mypy" in line), done.stderr[-300:])


def rows(torch: Sequence[str], given: Sequence[str]) -> Iterator[Row]:
    """Each environment, one after the other."""
    found = interpreters(given)
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    declared = re.search(r"^mypy==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    mypy = declared[1] if declared else "?"
    for version in PYTHON:
        python, newest = found.get(version), max(found, key=lambda v: tuple(map(int, v.split("."))))
        for one in torch if version == own else torch[-1:]:
            folder = environment(python or found[newest], version, one)
            wrong = list(tried(folder, version))
            for line in wrong[:10]:
                print("   ", line, file=sys.stderr)
            how = "" if python else f" (`--python-version`, in {newest})"
            yield Row(version + how, one, mypy, f"{len(wrong)} differ" if wrong else "as promised", not wrong)
    for old in MYPY:
        told = refused(environment(found[own], own, torch[-1], old))
        yield Row(own, torch[-1], old, f"refused: {told}", "needs mypy" in told)


def main() -> int:
    """Try them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/versions.md")
    parser.add_argument("--torch", nargs="*", default=TORCH)
    parser.add_argument("--python", nargs="*", default=(), help="interpreters beside those that are found")
    given = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    lines, holds = ["| Python | torch | mypy | |", "| --- | --- | --- | --- |"], True
    for row in rows(given.torch, given.python):
        lines.append(f"| {row.python} | {row.torch} | {row.mypy} | {row.said} |")
        holds &= row.holds
        print(lines[-1], flush=True)
    if given.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        table = "\n".join(lines)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
    return not holds


if __name__ == "__main__":
    sys.exit(main())
