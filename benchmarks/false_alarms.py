"""Does the plugin raise an alarm on code that nobody wrote for it, and how much does it slow mypy down?

Checks released packages with and without the plugin, each run with a cold cache, and counts *every* error that only the
run with the plugin has. The packages are fetched once, without their dependencies, into a folder outside the tree::

    python benchmarks/false_alarms.py                        # all packages, 100 model folders of transformers
    python benchmarks/false_alarms.py kornia timm --show     # two of them, with the new errors
    python benchmarks/false_alarms.py transformers --models 20
    python benchmarks/false_alarms.py torch                  # torch's own nn/modules and optim

An error is new if plain mypy has none with the same code on the same line. A ``tensor-*`` error that is listed in
``true_finds.md``, with a proof, is a mistake of the package and no false alarm. What mypy said of each package is kept
beside the packages, in ``said/``. CPU time is that of mypy's process and of its children, user and system together.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOME: Final = Path(os.environ.get("SIMPLETORCH_PACKAGES", Path.home() / ".cache/simpletorch/packages"))
TRUE_FINDS: Final = Path(__file__).with_name("true_finds.md")
PACKAGES: Final = {
    "kornia": "kornia==0.9.0",
    "transformer_lens": "transformer-lens==4.3.0",
    "timm": "timm==1.0.31",
    "torch_geometric": "torch-geometric==2.8.1",
    "torchvision": "torchvision==0.29.1",
    "nerfstudio": "nerfstudio==1.1.5",
    "diffusers": "diffusers==0.42.1",
    "transformers": "transformers==5.23.0",
}
TORCH: Final = ("torch/nn/modules", "torch/optim")
SETTINGS: Final = """\
[mypy]
{plugins}
check_untyped_defs = true
allow_redefinition = true
ignore_missing_imports = true
follow_imports = silent
"""
HEAD: Final = f"""\
| package | mypy's errors | with the plugin | gone | true finds | new `tensor-*` | other new errors \
| inside the plugin | CPU s plain | with the plugin | ratio |
{"| --- " * 11}|"""
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
    seconds: float


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


def check(home: Path, what: Sequence[str], *, plugin: bool, kept: Path) -> Run:
    """Run mypy with a cold cache."""
    with tempfile.TemporaryDirectory() as scratch:
        config = Path(scratch, "mypy.ini")
        config.write_text(SETTINGS.format(plugins="plugins = simpletorch.mypy" if plugin else ""))
        command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir", scratch, *what]
        environment = {**os.environ, "MYPYPATH": str(home), "SIMPLETORCH_FOLLOW": "off", "SIMPLETORCH_DEBUG": ""}
        with kept.open("w") as said:
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, cwd=home, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    lines = kept.read_text().splitlines()
    found = [m for m in map(_LINE.match, lines) if m is not None]
    alarms = [Alarm(m["file"], int(m["line"]), m["code"] or "", m["message"]) for m in found]
    inside = [line for line in lines if "simpletorch could not" in line or "INTERNAL ERROR" in line]
    if process.returncode not in (0, 1):
        inside.append(f"mypy ended with {process.returncode}: {' '.join(lines[-3:])}")
    return Run(alarms, inside, usage.ru_utime + usage.ru_stime)


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
    plain = check(home, what, plugin=False, kept=said / f"{name}.plain.txt")
    ours = check(home, what, plugin=True, kept=said / f"{name}.plugin.txt")
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
    return (
        f"| {result.package} | {len(plain.alarms)} | {len(ours.alarms)} | {gone} | {len(result.true)} "
        f"| {by_code(result.false)} | {by_code(result.other)} | {len(ours.inside)} "
        f"| {plain.seconds:.1f} | {ours.seconds:.1f} | {ours.seconds / plain.seconds:.2f} |"
    )


def main() -> int:
    """Check each package and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", choices=[*PACKAGES, "torch", []], help="all if none is named")
    parser.add_argument("--models", type=int, default=100, help="how many model folders of transformers")
    parser.add_argument("--show", action="store_true", help="print each new error")
    arguments = parser.parse_args()
    compile_plugin()
    print(HEAD, flush=True)
    results = []
    for name in arguments.packages or PACKAGES:
        results.append(judge(name, arguments.models))
        print(row(results[-1]), flush=True)
    print()
    for result in results:
        print(*result.ours.inside, *result.false, sep="\n")
        if arguments.show:
            print(*result.other, sep="\n")
    false, other = sum(len(r.false) for r in results), sum(len(r.other) for r in results)
    print(f"{false} tensor-* errors that nobody has proved, {other} other new errors")
    return bool(false or any(r.ours.inside for r in results))


if __name__ == "__main__":
    sys.exit(main())
