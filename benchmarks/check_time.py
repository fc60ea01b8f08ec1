"""What checking costs: mypy alone, with the plugin, as `simpletorch check`, and in the daemon; in one run.

    python -m benchmarks.check_time               # two to four minutes: reading torch without a cache is slow
    python -m benchmarks.check_time --rounds 3    # the fastest of three, where the machine is shared
    python -m benchmarks.check_time --json        # for programs

The file checked is benchmarks/model.py, 300 lines, with README's settings. CPU seconds are those of the checking
process (user and system).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.readme import mypy_settings

MODEL = Path(__file__).with_name("model.py")
BEFORE, AFTER = "x = torch.tanh(self.fc2(x))", "x = torch.sigmoid(self.fc2(x))"

HEADER = """\
import math

import torch
import torch.nn.functional as F
from jaxtyping import Float32, Int64
from torch import Tensor
"""

BODY = """\
x = F.embedding(tokens, table)
x = x + torch.arange({t}).unsqueeze(-1) * 0.01
mean = x.mean(dim=-1, keepdim=True)
spread = x.var(dim=-1, keepdim=True)
x = (x - mean) / torch.sqrt(spread + 1e-5)
x = F.layer_norm(x, (3 * {e},))
q, k, v = x.chunk(3, dim=-1)
scores = q @ k.transpose(-2, -1) / math.sqrt({e})
mask = torch.ones({t}, {t}, dtype=torch.bool).tril()
scores = scores.masked_fill(~mask, float("-inf"))
weights = torch.softmax(scores, dim=-1)
mixed = torch.einsum("bts,bsd->btd", weights, v)
heads = mixed.view({b}, {t}, 1, {e}).permute(0, 2, 1, 3)
y = F.linear(x, weight)
y = F.gelu(y)
y = F.dropout(y, 0.1)
last = y[:, -1]
first = y[:, 0, :]
both = torch.cat([first, last], dim=1)
stacked = torch.stack((first, last), dim=0)
values, indices = stacked.max(dim=0)
picked = torch.gather(both, 1, labels.unsqueeze(1))
loss = F.cross_entropy(both, labels)
z = F.conv2d(images, torch.randn(8, 3, 3, 3), padding=1)
z = F.relu(z)
z = F.max_pool2d(z, 2)
z = F.batch_norm(z, torch.zeros(8), torch.ones(8), training=True)
pooled = z.mean((2, 3))
flat = z.flatten(1)
norm = F.normalize(pooled, dim=1)
similarity = norm @ norm.T
top = similarity.topk(2, dim=1).values
hot = F.one_hot(labels, {m}).float()
error = ((values - hot) ** 2).sum() / labels.shape[0]
n, c = pooled.shape
grid = pooled.view(n, c // 2, 2).transpose(1, 2).reshape(n, -1)
order = torch.argsort(error + grid, dim=1, descending=True)
total = loss + error + top.sum() + heads.abs().mean() - picked.norm()
print(total.item(), flat.shape, order.shape, indices.shape)
"""
FUNCTIONS = 60
PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


# -- measuring ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Time:
    """Seconds on the clock and of the processor."""

    wall: float
    cpu: float


def environment(folder: Path) -> dict[str, str]:
    """Caches below the folder; bytecode is kept, as where a package is installed."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode")}


def timed(command: Sequence[str | Path], folder: Path) -> Time:
    """Run a checker that must find nothing wrong.

    Raises:
        RuntimeError: it found something, or failed.
    """
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment(folder), stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            raise RuntimeError(f"{' '.join(map(str, command))}\n{output.read()[-3000:]}")
    return Time(wall, usage.ru_utime + usage.ru_stime)


def fastest(times: Sequence[Time]) -> Time:
    """The least disturbed of several rounds."""
    return min(times, key=lambda t: t.cpu)


@dataclass(frozen=True)
class Checker:
    """A way to check a file: its name in the table, the command, and where it keeps what it learns."""

    name: str
    command: tuple[str | Path, ...]
    folder: Path

    def check(self, file: str = "model.py") -> Time:
        """Check one file."""
        return timed([*self.command, file], self.folder)

    def forget(self) -> None:
        """Empty the cache."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)


def checkers(root: Path) -> list[Checker]:
    """mypy alone, mypy with the plugin, and ``simpletorch check`` with its defaults, each in its folder."""
    found = []
    for name, settings in (
        ("mypy", mypy_settings(plugin=False)),
        ("with the plugin", mypy_settings()),
        ("simpletorch check", None),
    ):
        folder = root / name.replace(" ", "_")
        folder.mkdir()
        shutil.copy(MODEL, folder)
        command: tuple[str | Path, ...] = (sys.executable, "-m", "simpletorch.cli", "check")
        if settings is not None:
            (folder / "settings.ini").write_text(settings)
            command = (sys.executable, "-m", "mypy", "--config-file", "settings.ini", "--cache-dir", "cache")
        found.append(Checker(name, command, folder))
    return found


def edit(folder: Path) -> None:
    """Change one line of the model, or change it back."""
    file = folder / "model.py"
    text = file.read_text()
    file.write_text(text.replace(BEFORE, AFTER) if BEFORE in text else text.replace(AFTER, BEFORE))


def measure_checks(found: Sequence[Checker], rounds: int) -> dict[str, dict[str, Time]]:
    """Cold, warm and edited, for each checker."""
    cold: dict[str, list[Time]] = {c.name: [] for c in found}
    for _ in range(rounds):
        for checker in found:
            checker.forget()
            cold[checker.name].append(checker.check())
    times = {"cold": {name: fastest(t) for name, t in cold.items()}, "warm": {}, "edited": {}}
    for checker in found:
        times["warm"][checker.name] = fastest([checker.check() for _ in range(3)])
        edited = []
        for _ in range(3):
            edit(checker.folder)
            edited.append(checker.check())
        times["edited"][checker.name] = fastest(edited)
    return times


# -- the daemon --------------------------------------------------------------------------------------------------------


def cpu_of(pid: int) -> float:
    """The CPU seconds that a process has used so far; 0 where the system doesn't tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_daemon(checker: Checker) -> dict[str, Time]:
    """Warm and edited in dmypy; the CPU time is the daemon's and the client's."""
    dmypy = [sys.executable, "-m", "mypy.dmypy"]
    times: dict[str, list[Time]] = {"daemon, warm": [], "daemon, edited": []}
    timed([*dmypy, "start", "--", *checker.command[3:]], checker.folder)
    try:
        pid = json.loads((checker.folder / ".dmypy.json").read_text())["pid"]
        timed([*dmypy, "check", "model.py"], checker.folder)
        for kind, seen in times.items():
            for _ in range(4):
                if kind.endswith("edited"):
                    edit(checker.folder)
                before = cpu_of(pid)
                client = timed([*dmypy, "check", "model.py"], checker.folder)
                seen.append(Time(client.wall, client.cpu + cpu_of(pid) - before))
    finally:
        subprocess.run([*dmypy, "stop"], cwd=checker.folder, stdout=subprocess.DEVNULL, check=False)
    return {kind: min(seen, key=lambda t: t.wall) for kind, seen in times.items()}


# -- throughput --------------------------------------------------------------------------------------------------------


def tensor_code(empty: bool) -> str:
    """A long file of ordinary tensor code, or the same functions without their bodies."""
    lines = HEADER.splitlines()
    for i in range(FUNCTIONS):
        b, t, e, m, h = (PRIMES[(i * step + step) % len(PRIMES)] for step in (1, 2, 3, 4, 5))
        tensors = (
            f"images: Float32[Tensor, '{b} 3 {2 * h} {2 * h}']",
            f"tokens: Int64[Tensor, '{b} {t}']",
            f"table: Float32[Tensor, '101 {3 * e}']",
            f"weight: Float32[Tensor, '{m} {3 * e}']",
            f"labels: Int64[Tensor, '{b}']",
        )
        body = "pass" if empty else BODY.format(b=b, t=t, e=e, m=m)
        lines += ["", "", f"def step_{i}({', '.join(tensors)}) -> None:", *(f"    {s}" for s in body.splitlines())]
    return "\n".join(lines) + "\n"


def expressions(source: str) -> int:
    """Calls, operators and indexings in the bodies of functions: what is evaluated, and so what is inferred."""
    kinds = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)
    return sum(
        isinstance(node, kinds)
        for function in ast.parse(source).body
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
    )


@dataclass(frozen=True)
class Throughput:
    """Tensor expressions per CPU second in one long file, the time of the same file without bodies taken off."""

    lines: int
    expressions: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Expressions in a second."""
        return self.expressions / self.seconds


def measure_throughput(checker: Checker, rounds: int) -> Throughput:
    """Check the long file and the empty one, each changed a little so that it is checked again."""
    texts = {"long.py": tensor_code(empty=False), "empty.py": tensor_code(empty=True)}
    best: dict[str, float] = {}
    for name, text in texts.items():
        times = []
        for i in range(rounds + 1):
            # another size each time: of the same size and second mypy takes a file to be the same
            (checker.folder / name).write_text(text + "#" * (i + 1) + "\n")
            times.append(checker.check(name).cpu)
        best[name] = min(times[1:])
    full = texts["long.py"]
    return Throughput(full.count("\n"), expressions(full), best["long.py"] - best["empty.py"])


def import_seconds(folder: Path, rounds: int) -> float:
    """CPU seconds of ``import simpletorch.mypy`` in a process that has mypy already."""
    code = "import mypy.main, time; t = time.process_time(); import simpletorch.mypy; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    kept = environment(folder)
    runs = [subprocess.run(command, check=True, capture_output=True, text=True, env=kept) for _ in range(rounds + 1)]
    return min(float(run.stdout) for run in runs[1:])


# -- printing ----------------------------------------------------------------------------------------------------------


def table(times: dict[str, dict[str, Time]]) -> str:
    """Seconds of CPU (and on the clock) for each way to check."""
    names = list(times["cold"])
    lines = [f"{'CPU s (wall s)':16}" + "".join(f"{name:>20}" for name in names) + f"{'the plugin adds':>18}"]
    for kind, by_checker in times.items():
        cells = [f"{t.cpu:.2f} ({t.wall:.2f})" if (t := by_checker.get(name)) else "" for name in names]
        alone, ours = by_checker[names[0]].cpu, by_checker[names[1]].cpu
        lines.append(f"{kind:16}" + "".join(f"{c:>20}" for c in cells) + f"{(ours - alone) / ours:>17.0%} ")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1, help="how often to check with an empty cache")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = checkers(Path(folder))
        imported = import_seconds(found[0].folder, options.rounds + 4)
        times = measure_checks(found, options.rounds)
        daemons = {checker.name: measure_daemon(checker) for checker in found[:2]}
        times |= {kind: {name: d[kind] for name, d in daemons.items()} for kind in ("daemon, warm", "daemon, edited")}
        throughputs = {checker.name: measure_throughput(checker, options.rounds + 1) for checker in found[:2]}
    if options.json:
        shown = {kind: {name: asdict(t) for name, t in by.items()} for kind, by in times.items()}
        rates = {name: {**asdict(t), "per_second": t.per_second} for name, t in throughputs.items()}
        print(json.dumps({"checks": shown, "throughput": rates, "import": imported}))
        return
    print(table(times))
    for name, t in throughputs.items():
        print(f"{name}: {t.per_second:,.0f} tensor expressions a second ({t.expressions} in {t.lines} lines)")
    print(f"import simpletorch.mypy after mypy: {imported:.3f} CPU s")


if __name__ == "__main__":
    main()
