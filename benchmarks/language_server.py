"""The language server as an editor has it: how soon it answers, how many tensors have a hint, and a storm of edits.

python -m benchmarks.language_server [--only times|hints|storm] [--edits 10000] [--seed 0] [--write]

- Times: of programs of some 300 lines, from the server's start and from opening the file to the first diagnostics, and
  from an edit to those of the new text.
- Hints: the examples and those programs run under torch, with a look at each assignment; of those that give a tensor,
  how many the server shows a shape for. What a program hasn't run within its time isn't counted.
- Storm: random edits, many of them nonsense, and messages that are none. Now and then the text is Python again; what
  the server says then must be what following that text says.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from simpletorch.follow import follow
from tests.language_server.client import Client

ROOT = Path(__file__).parents[1]
PROGRAMS = [ROOT / "corpora/programs" / f"{name}.py" for name in ("nanogpt", "swin", "ddpm", "efficient_zoo")]
RESULTS = ROOT / "benchmarks/results/language_server.md"
STEPS, SECONDS = 50_000, 2.0  # the server's
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 64, 128)
NONSENSE = [
    "(",
    ")",
    '"',
    "'''",
    "\n",
    "\n    ",
    "\t",
    "🔥",
    "形",
    "\u2028",
    "\f",
    "\0",
    "\\",
    ":",
    "x",
    "7",
    " ",
    "#",
    "=",
]
NO_MESSAGES = (b"{", b"[]", b"null", b'"x"', b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "method": 5}', b"\xff\xfe")


# -- times -------------------------------------------------------------------------------------------------------------


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def times(path: Path, edits: int = 30) -> dict[str, float]:
    """Seconds of one program; of the edits the median and the slowest of twenty."""
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with Client(Path(folder)) as client:
            uri = client.open(Path(folder) / path.name, text)
            client.said(uri)
            cold = time.perf_counter() - start
            again = Path(folder) / "again.py"
            opened = timed(lambda: client.said(client.open(again, text)))
            found = []
            for version in range(2, edits + 2):
                client.edit(uri, version, {"text": text + f"\n# {version}\nlast_{version} = {version}\n"})
                found.append(timed(lambda: client.said(uri, version)))  # noqa: B023
            client.leave()
    found.sort()
    return {"cold": cold, "opened": opened, "edit": statistics.median(found), "slowest": found[int(len(found) * 0.95)]}


# -- hints -------------------------------------------------------------------------------------------------------------

_LOOK = """
import ast, os, runpy, signal, sys
import torch
path, seconds, told = sys.argv[1], float(sys.argv[2]), sys.argv[3]
targets = {}
for node in ast.walk(ast.parse(open(path, encoding="utf-8").read())):
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and getattr(node, "value", None) is not None:
        row = list(node.targets) if isinstance(node, ast.Assign) else [node.target]
        while row:
            target = row.pop()
            if isinstance(target, ast.Tuple | ast.List):
                row += target.elts
            elif isinstance(target, ast.Name):
                targets.setdefault(node.lineno, []).append((node.end_lineno, target))
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                targets.setdefault(node.lineno, []).append((node.end_lineno, target))
found = set()
class Enough(BaseException):
    pass
def stop(*_):
    raise Enough
signal.signal(signal.SIGALRM, stop)  # also a server that waits
signal.setitimer(signal.ITIMER_REAL, seconds, 1)
def value(frame, target):
    if isinstance(target, ast.Name):
        return frame.f_locals.get(target.id)
    return getattr(frame.f_locals.get(target.value.id), target.attr, None)
def look(frame, last):
    for end, target in targets.get(last, ()):
        if isinstance(value(frame, target), torch.Tensor):
            found.add((last, ast.unparse(target)))
def trace(frame, event, argument):
    if frame.f_code.co_filename != path:
        return None
    last = [frame.f_lineno]
    def inner(frame, event, argument):
        look(frame, last[0])
        if event == "line":
            last[0] = frame.f_lineno if frame.f_lineno in targets else last[0]
        return inner
    return inner
sys.argv = [path]
sys.stdout = open(os.devnull, "w")
sys.settrace(trace)
try:
    runpy.run_path(path, run_name="__main__")
except (Enough, SystemExit):
    pass
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.settrace(None)
open(told, "w").write("".join(f"{line} {name}\\n" for line, name in sorted(found)))
"""


def assigned(path: Path, seconds: float) -> set[tuple[int, str]]:
    """The assignments that give a tensor as the program runs: lines and names."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "assigned.txt"  # the program's own processes write to the output
        command = [sys.executable, "-c", _LOOK, str(path), str(seconds), str(told)]
        subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=seconds + 60)
        rows = [line.split(" ", 1) for line in told.read_text().splitlines()] if told.exists() else []
    return {(int(line), name) for line, name in rows}


def hints(seconds: float) -> tuple[int, int, list[str]]:
    """How many assignments of tensors have a hint, how many there are, and those that have none."""
    with_hint, count, without = 0, 0, []
    with Client(ROOT) as client:
        for path in (*sorted((ROOT / "examples").rglob("*.py")), *PROGRAMS):
            truth = assigned(path, seconds)
            text = path.read_text()
            uri = client.open(path, text)
            client.said(uri)
            ends = {(line, column) for line, column, _ in client.hints(uri)}
            places = dict(_places(text))
            for line, name in sorted(truth):
                count += 1
                shown = ends & set(places.get((line, name), ()))
                with_hint += bool(shown)
                if not shown:
                    without.append(f"{path.relative_to(ROOT)}:{line}: {name}")
    return with_hint, count, without


def _places(text: str) -> Iterator[tuple[tuple[int, str], list[tuple[int, int]]]]:
    """Where the hints of each assigned name may stand."""
    found: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name | ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    last = node.annotation if isinstance(node, ast.AnnAssign) else inner
                    place = (last.end_lineno or 0) - 1, last.end_col_offset or 0
                    found.setdefault((node.lineno, ast.unparse(inner)), []).append(place)
    yield from found.items()


# -- storm -------------------------------------------------------------------------------------------------------------


def position(text: str, offset: int) -> dict[str, int]:
    """An offset as an editor says it, in UTF-16."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    row = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(row.encode("utf-16-le", "surrogatepass")) // 2}


def change(text: str, first: int, last: int, new: str) -> tuple[str, dict[str, object]]:
    """The text after an edit, and the edit as an editor says it."""
    span = {"start": position(text, first), "end": position(text, last)}
    return text[:first] + new + text[last:], {"range": span, "text": new}


def gentle(draw: random.Random, text: str) -> tuple[str, dict[str, object]]:
    """An edit after which the text is Python still: another number, or a line more."""
    numbers = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and type(n.value) is int]
    rows = text.split("\n")
    if draw.random() < 0.3 or not numbers:
        at = sum(len(row) + 1 for row in rows[: draw.randrange(len(rows))])
        return change(text, at, at, "\n") if "'''" not in text and '"""' not in text else change(text, 0, 0, "# 🔥\n")
    node = draw.choice(numbers)
    start = sum(len(row) + 1 for row in rows[: node.lineno - 1])
    start += len(rows[node.lineno - 1].encode()[: node.col_offset].decode())
    return change(text, start, start + (node.end_col_offset or 0) - node.col_offset, str(draw.choice(PRIMES)))


def wild(draw: random.Random, text: str) -> tuple[str, dict[str, object]]:
    """Any edit."""
    first = draw.randrange(len(text) + 1)
    last = min(len(text), first + draw.choice((0, 0, 0, 1, 2, 40)))
    return change(text, first, last, "".join(draw.choices(NONSENSE, k=draw.choice((0, 1, 1, 3)))))


def expected(path: Path, text: str) -> list[tuple[int, str, str]] | None:
    """What following this text finds: lines from 0, codes and sentences; None where the time may not be enough."""
    start = time.perf_counter()
    found = follow(path, steps=STEPS, seconds=SECONDS, opened={str(path): text})
    if not found.complete or time.perf_counter() - start > SECONDS / 4:
        return None
    return sorted((f.line - 1, f.code, f.message) for f in (*found.errors, *found.warnings) if f.path == str(path))


def memory(client: Client) -> int:
    """Bytes of the server and its processes."""
    mine = {client.process.pid}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent in mine:
                mine.add(int(entry.name))
    pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in mine]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE")


def storm(edits: int, seed: int, programs: list[Path] = PROGRAMS) -> dict[str, object]:
    """Random edits and messages. Memory is compared with what it was after the first fifth."""
    draw = random.Random(seed)
    compared, early, start = 0, 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, Client(Path(folder)) as client:
        path = Path(folder) / "program.py"
        text, version, done = programs[0].read_text(), 1, 0
        uri = client.open(path, text)
        client.said(uri)
        while done < edits:
            text = draw.choice(programs).read_text()
            version += 1
            client.edit(uri, version, {"text": text})
            kind = draw.choice((gentle, wild))
            for _ in range(min(draw.choice((5, 20, 50)), edits - done)):
                text, edit = kind(draw, text)
                version, done = version + 1, done + 1
                client.edit(uri, version, edit)
                if draw.random() < 0.05:
                    body = draw.choice(NO_MESSAGES)
                    client.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                if draw.random() < 0.1:
                    client.hints(uri)
            said = client.said(uri, version)
            if kind is gentle:
                shown = sorted(
                    (d["range"]["start"]["line"], d["code"], d["message"].split("\nhint: ")[0]) for d in said
                )
                right = expected(path, text)
                compared += right is not None
                if right is not None and shown != right:
                    kept = Path(tempfile.gettempdir()) / "language_server_storm.py"
                    kept.write_text(text)
                    raise AssertionError(f"edit {done}, seed {seed}, text in {kept}: {shown} instead of {right}")
            if not early and done >= edits / 5:
                early = memory(client)
        late = memory(client)
        assert client.leave() == 0
    return {"edits": done, "compared": compared, "growth": late / early - 1, "seconds": time.perf_counter() - start}


def _times() -> list[str]:
    """The table of the times."""
    rows = [
        "| program | lines | cold | opened | edit, median | slowest of 20 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for path in PROGRAMS:
        found = times(path)
        lines = len(path.read_text().splitlines())
        rows.append(f"| {path.stem} | {lines} | " + " | ".join(f"{s * 1e3:.0f} ms" for s in found.values()) + " |")
        print(rows[-1], flush=True)
    return rows


def _hints(seconds: float) -> list[str]:
    """How many assignments have a hint, and which have none."""
    good, count, without = hints(seconds)
    print(json.dumps({"hints": good, "of": count, "without": without}), flush=True)
    said = f"Hints on {good} of {count} assignments of tensors in the examples and these ({good / count:.1%}). Without:"
    return ["", said, "", *(f"- {place}" for place in without)]


def _storm(edits: int, seed: int) -> list[str]:
    """What random edits have shown."""
    found = storm(edits, seed)
    said = f"Storm: {found['edits']} edits in {found['seconds']:.0f} s, compared {found['compared']} times; memory"
    said += f" grew by {found['growth']:.1%} from the first fifth to the end."
    print(said)
    return ["", said]


def main() -> None:
    """Print (and with --write keep) what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0, help="that each example may run")
    parser.add_argument("--only", choices=("times", "hints", "storm"), help="one of the three parts; nothing is kept")
    parser.add_argument("--write", action="store_true", help=f"keep it in {RESULTS.relative_to(ROOT)}")
    arguments = parser.parse_args()
    parts = {arguments.only} if arguments.only else {"times", "hints", "storm"}
    rows = ["# The language server", "", "`python -m benchmarks.language_server`, 2 cores.", ""]
    if "times" in parts:
        rows += _times()
    if "hints" in parts:
        rows += _hints(arguments.seconds)
    if "storm" in parts:
        rows += _storm(arguments.edits, arguments.seed)
    if arguments.write and not arguments.only:
        RESULTS.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
