"""Does the plugin raise an alarm on code that nobody wrote for it, and what does it cost mypy there?

Checks released packages with and without the plugin and counts *every* error that only the run with the plugin has. The
settings are README's; beside them mypy is told to go on where a package's dependencies are missing. The packages are
fetched once, without their dependencies, into a folder outside the tree::

    python -m benchmarks.false_alarms                        # all packages, 100 model folders of transformers
    python -m benchmarks.false_alarms kornia timm --show     # two of them, with the new errors
    python -m benchmarks.false_alarms transformers --models 20
    python -m benchmarks.false_alarms torch                  # torch's own nn/modules and optim
    python -m benchmarks.false_alarms --write                # the table goes into results/false_alarms.md

An error is new if plain mypy has none with the same code on the same line. A ``tensor-*`` error that is listed in
``true_finds.md``, with a proof, is a mistake of the package and no false alarm. What mypy said of each package is kept
beside the packages, in ``said/``. CPU time is that of mypy's process, user and system together; "cold" is without a
cache, "warm" with a cache of mypy's that has torch and all else but the package itself; in both nothing was followed
before. Memory is the peak of the warm run. An edit is one changed line in one file of the package, under dmypy.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.check_time import cpu_of
from benchmarks.readme import mypy_settings

HOME: Final = Path(os.environ.get("SIMPLETORCH_PACKAGES", Path.home() / ".cache/simpletorch/packages"))
TRUE_FINDS: Final = Path(__file__).with_name("true_finds.md")
PACKAGES: Final = {
    "kornia": "kornia==0.9.0",
    "transformer_lens": "transformer-lens==4.3.0",
    "timm": "timm==1.0.31",
    "vit_pytorch": "vit-pytorch==1.26.11",
    "torch_geometric": "torch-geometric==2.8.1",
    "torchvision": "torchvision==0.29.1",
    "nerfstudio": "nerfstudio==1.1.5",
    "diffusers": "diffusers==0.42.1",
    "transformers": "transformers==5.23.0",
}
TORCH: Final = ("torch/nn/modules", "torch/optim")
MISSING: Final = "ignore_missing_imports = true\nfollow_imports = silent\n"  # what packages depend on isn't installed
EDITED: Final = {
    "timm": "timm/models/vision_transformer.py",
    "vit_pytorch": "vit_pytorch/vit.py",
    "kornia": "kornia/geometry/homography.py",
}
"""The file of a package that is edited."""
BEGIN, END = "<!-- table: python -m benchmarks.false_alarms --write -->", "<!-- end of the table -->"
PAGE: Final = Path(__file__).parent / "results/false_alarms.md"
HEAD: Final = f"""\
| package | mypy's errors | with the plugin | gone | true finds | new `tensor-*` | other new errors | in the plugin |
{"| --- " * 8}|"""
COSTS: Final = f"""\
| package | cold, CPU s | ratio | warm, CPU s | ratio | memory, MB | ratio | an edit under dmypy, CPU s | ratio |
{"| --- " * 9}|"""
_LINE: Final = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?$")
_FIND: Final = re.compile(r"^\| (?P<package>\S+) [^|]*\| `(?P<file>[^:`]+):(?P<line>\d+)`")


@dataclass(frozen=True)
class Alarm:
    """One error of mypy's."""

    file: str
    line: int
    code: str
    message: str

    @property
    def place(self) -> tuple[str, int, str]:
        """What makes it the same error in another run."""
        return self.file, self.line, self.code

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}  [{self.code}]"


@dataclass(frozen=True)
class Run:
    """What mypy said, and the CPU time that it took."""

    alarms: Sequence[Alarm]
    inside: Sequence[str]
    """Errors inside the plugin, and crashes."""
    cold: float
    warm: float
    megabytes: float
    edit: float | None


@dataclass(frozen=True)
class Result:
    """One package with and without the plugin."""

    package: str
    plain: Run
    ours: Run
    true: Sequence[Alarm]
    false: Sequence[Alarm]
    """New ``tensor-*`` errors that nobody has proved."""
    other: Sequence[Alarm]
    """New errors with a code of mypy's own."""


def unpacked(name: str) -> Path:
    """The folder that holds the package, which is fetched if it isn't there."""
    home = HOME / PACKAGES[name].replace("==", "-").replace("-", "_")
    if not (home / name).is_dir():
        with tempfile.TemporaryDirectory() as wheels:
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*fetch, "--dest", wheels, PACKAGES[name]], check=True)
            (wheel,) = Path(wheels).glob("*.whl")
            zipfile.ZipFile(wheel).extractall(home)
    return home


def targets(name: str, models: int) -> tuple[Path, list[str]]:
    """Where mypy runs, and what it is to check."""
    if name == "torch":
        torch = importlib.util.find_spec("torch")
        assert torch is not None
        assert torch.submodule_search_locations is not None
        site = Path(next(iter(torch.submodule_search_locations))).parent
        files = [f.relative_to(site) for folder in TORCH for f in sorted((site / folder).glob("*.py"))]
        names = [".".join(f.with_suffix("").parts).removesuffix(".__init__") for f in files]
        return Path(__file__).parent, [part for name in names for part in ("-m", name)]
    home = unpacked(name)
    if name != "transformers":
        return home, ["-p", name]
    folders = sorted(f for f in (home / "transformers/models").iterdir() if any(f.glob("modeling_*.py")))
    chosen = folders[:: max(1, len(folders) // models)][:models]
    return home, [part for f in chosen for part in ("-p", ".".join(f.relative_to(home).parts))]


def check(name: str, home: Path, what: Sequence[str], *, plugin: bool, kept: Path) -> Run:
    """Run mypy with a cold cache, then with one that lacks the package alone, then in the daemon after an edit."""
    with tempfile.TemporaryDirectory() as scratch:
        config = Path(scratch, "mypy.ini")
        config.write_text(mypy_settings(plugin=plugin) + MISSING)
        options = ["--config-file", str(config), "--cache-dir", scratch]
        status, cold, _ = _run([*options, *what], home, kept)
        lines = kept.read_text().splitlines()
        _forget(Path(scratch), name)
        again, warm, megabytes = _run([*options, *what], home, Path(os.devnull))
        config.write_text(mypy_settings(plugin=plugin) + MISSING.replace("silent", "normal"))  # as the daemon wants it
        edit = _edit(name, home, options) if name in EDITED else None
    found = [m for m in map(_LINE.match, lines) if m is not None]
    alarms = [Alarm(m["file"], int(m["line"]), m["code"] or "", m["message"]) for m in found]
    inside = [line for line in lines if "simpletorch could not" in line or "INTERNAL ERROR" in line]
    if not {status, again} <= {0, 1}:
        inside.append(f"mypy ended with {status} and {again}: {' '.join(lines[-3:])}")
    return Run(alarms, inside, cold, warm, megabytes, edit)


def environment(home: Path) -> dict[str, str]:
    """The package is where mypy looks; modules are kept compiled, as where a package is installed."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"MYPYPATH": str(home)}


def _without_answers(home: Path, folder: str) -> dict[str, str]:
    """The same, where nothing has been followed before."""
    return environment(home) | {"XDG_CACHE_HOME": folder}


def _run(arguments: Sequence[str], home: Path, kept: Path) -> tuple[int, float, float]:
    """mypy's exit code, its CPU time, and the most megabytes that it took."""
    with kept.open("w") as said, tempfile.TemporaryDirectory() as answers:
        command = [sys.executable, "-m", "mypy", *arguments]
        process = subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, cwd=home, env=_without_answers(home, answers)
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _forget(cache: Path, package: str) -> None:
    """Take a package's files out of mypy's cache."""
    for file in cache.rglob("*.db"):
        with closing(sqlite3.connect(file)) as database, database:
            for pattern in (f"{package}/%", f"{package}.%"):
                database.execute("delete from files2 where path like ?", (pattern,))


def _edit(name: str, home: Path, options: Sequence[str]) -> float:
    """The CPU time that the daemon takes to check again after a line has changed; the least of five."""
    dmypy = [sys.executable, "-m", "mypy.dmypy"]
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(home / name, Path(copy, name))
        file = Path(copy, EDITED[name])
        text = file.read_text()
        quiet = {
            "cwd": copy,
            "env": environment(Path(copy)),
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        subprocess.run([*dmypy, "start", "--", *options], check=True, **quiet)
        try:
            pid = json.loads(Path(copy, ".dmypy.json").read_text())["pid"]
            subprocess.run([*dmypy, "check", name], check=False, **quiet)
            seconds = []
            for i in range(6):
                file.write_text(f"{text}\n\ndef edited(x: int) -> int:\n    return x + {'1' * (i + 1)}\n")
                before = cpu_of(pid)
                subprocess.run([*dmypy, "check", name], check=False, **quiet)
                seconds.append(cpu_of(pid) - before)
        finally:
            subprocess.run([*dmypy, "stop"], check=False, **quiet)
    return min(seconds[1:])  # the first adds the function


def new(plain: Run, ours: Run) -> Iterator[Alarm]:
    """The errors that only the run with the plugin has."""
    known = Counter(alarm.place for alarm in plain.alarms)
    for alarm in ours.alarms:
        if known[alarm.place]:
            known[alarm.place] -= 1
        else:
            yield alarm


def true_finds(package: str) -> set[tuple[str, int]]:
    """The places of proved mistakes."""
    found = map(_FIND.match, TRUE_FINDS.read_text().splitlines() if TRUE_FINDS.exists() else ())
    return {(m["file"], int(m["line"])) for m in found if m is not None and m["package"] == package}


def compile_plugin() -> None:
    """Compile our modules, as pip does, also where Python is told to write no compiled ones."""
    for package in ("simpletorch", "_simpletorch"):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            compileall.compile_dir(folder, quiet=1)


def judge(name: str, models: int) -> Result:
    """Check one package twice."""
    home, what = targets(name, models)
    said = HOME.parent / "said"
    said.mkdir(parents=True, exist_ok=True)
    plain = check(name, home, what, plugin=False, kept=said / f"{name}.plain.txt")
    ours = check(name, home, what, plugin=True, kept=said / f"{name}.plugin.txt")
    alarms = list(new(plain, ours))
    proved = true_finds(name)
    tensor = [alarm for alarm in alarms if alarm.code.startswith("tensor-")]
    return Result(
        name,
        plain,
        ours,
        [alarm for alarm in tensor if (alarm.file, alarm.line) in proved],
        [alarm for alarm in tensor if (alarm.file, alarm.line) not in proved],
        [alarm for alarm in alarms if not alarm.code.startswith("tensor-")],
    )


def by_code(alarms: Sequence[Alarm]) -> str:
    """Such as ``2 arg-type, 1 index``."""
    return ", ".join(f"{count} {code}" for code, count in Counter(a.code for a in alarms).most_common()) or "none"


def row(result: Result) -> str:
    """One line of the table."""
    plain, ours = result.plain, result.ours
    gone = sum((Counter(a.place for a in plain.alarms) - Counter(a.place for a in ours.alarms)).values())
    cells = [result.package, len(plain.alarms), len(ours.alarms), gone, len(result.true), by_code(result.false)]
    return f"| {' | '.join(map(str, [*cells, by_code(result.other), len(ours.inside)]))} |"


def costs(result: Result) -> str:
    """One line of the table of costs: plain mypy, with the plugin, and how many times as much that is."""
    plain, ours = result.plain, result.ours
    cells = [result.package]
    for digits, before, after in (
        (1, plain.cold, ours.cold),
        (1, plain.warm, ours.warm),
        (0, plain.megabytes, ours.megabytes),
        (2, plain.edit, ours.edit),
    ):
        known = before is not None and after is not None
        cells += [f"{before:,.{digits}f} → {after:,.{digits}f}", f"**{after / before:.2f}**"] if known else ["", ""]
    return f"| {' | '.join(cells)} |"


def tables(results: Sequence[Result]) -> str:
    """What was found, and what it cost."""
    return "\n".join([HEAD, *map(row, results), "", COSTS, *map(costs, results)])


def written(results: Sequence[Result]) -> str:
    """The page with new tables."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    said = f"{datetime.now(UTC):%Y-%m-%d}, at {commit.strip()}, Python {sys.version.split()[0]}:"
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n\n{said}\n\n{tables(results)}\n\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Check each package and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, "torch", []], help="all if none is named")
    parser.add_argument("--models", type=int, default=100, help="how many model folders of transformers")
    parser.add_argument("--show", action="store_true", help="print each new error")
    parser.add_argument("--write", action="store_true", help="put the table into results/false_alarms.md")
    arguments = parser.parse_args()
    compile_plugin()
    results = []
    for name in arguments.packages or PACKAGES:
        results.append(judge(name, arguments.models))
        print(row(results[-1]), costs(results[-1]), sep="\n", flush=True)
    if arguments.write:
        PAGE.write_text(written(results), encoding="utf-8")
    print("", tables(results), "", sep="\n")
    for result in results:
        print(*result.ours.inside, *result.false, sep="\n")
        if arguments.show:
            print(*result.other, sep="\n")
    false, other = sum(len(r.false) for r in results), sum(len(r.other) for r in results)
    print(f"{false} tensor-* errors that nobody has proved, {other} other new errors")
    return bool(false or any(r.ours.inside for r in results))


if __name__ == "__main__":
    sys.exit(main())
