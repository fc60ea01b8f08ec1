"""Hostile programs are followed: the time and memory of each, faults inside, and what it makes the follower do.

    python benchmarks/hostile/follow.py                         # 3,500 programs
    python benchmarks/hostile/follow.py --count 300 --seed 7 --kind searched

Each is followed in a process of its own, which an audit hook watches. The hook refuses to write, to start a process, to
ask a network, to call foreign functions and to execute code that isn't a file of a library. Exit status 1 if a follow
takes more than 10 s of CPU or 1 GiB, dies, has a fault, or does any of this. It sets ``SIMPLETORCH_CACHE`` to ``off``,
so that no answer is kept.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from programs import KINDS, sources

import simpletorch.follow
import simpletorch.rules
import simpletorch.shapes
from simpletorch.follow import follow

__all__ = ["followed"]

SECONDS = 10.0
BYTES = 1 << 30
_SHOWN = 300  # characters of a message
_LIMIT = 60  # seconds of CPU, then the process is ended
_GRACE = 1.0  # of CPU beyond: the start of the process, and a step that the watchdog breaks off
_UNIT = 1 if sys.platform == "darwin" else 1024  # of `ru_maxrss`
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ACTS = (
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.kill", "os.remove", "os.rename"),
    *("os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.putenv"),
    *("os.chdir", "subprocess.", "socket.", "shutil.", "tempfile.", "ctypes.dlopen", "ctypes.call_function"),
    *("pickle.find_class", "marshal.loads", "mmap.", "signal.", "urllib.", "http.", "sqlite3.", "pty.", "webbrowser."),
)  # fmt: skip
_IMPORTED = ("marshal.loads",)
"""What Python does itself where it imports a file of a library."""


def _import_all() -> None:
    """Import the whole follower: its modules execute texts of their own, as dataclasses do."""
    for package in (simpletorch.follow, simpletorch.rules, simpletorch.shapes):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("importlib.metadata")


def _watch(folder: str, told: list[str]) -> None:
    """From here on this process does nothing of this; an audit hook can't be taken away again."""

    def hear(event: str, given: tuple[Any, ...]) -> None:
        if _is_act(event, given, folder):
            told.append(f"{event} {given!r}"[:_SHOWN])
            raise PermissionError(told[-1])

    sys.addaudithook(hear)


def _is_act(event: str, given: tuple[Any, ...], folder: str) -> bool:
    if event == "open":
        return isinstance(given[2], int) and bool(given[2] & _WRITES) and given[0] != os.devnull
    if event == "exec":
        name = getattr(given[0], "co_filename", "")
        is_file = os.path.isabs(name) or name.startswith("<frozen")
        is_tuple = sys._getframe(2).f_code.co_filename == collections.__file__  # `namedtuple`
        return name.startswith(folder) or not (is_file or is_tuple)
    return event.startswith(_ACTS) and event not in _IMPORTED


def _in_a_child(path: Path, seconds: float) -> tuple[int, int]:
    """Start a process that follows a program; gives it and the pipe to which it writes at the end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    told: list[str] = []
    answer: dict[str, Any] = {"effects": told, "complete": False, "begun": _peak()}
    try:
        os.close(reading)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT, _LIMIT))
        _watch(str(path.parent), told)
        found = follow(path, seconds=seconds)
        answer |= {"faults": [fault[:_SHOWN] for fault in found.faults[:9]], "complete": found.complete}
    except BaseException as error:
        answer["faults"] = [f"{type(error).__name__}: {error}"[:_SHOWN]]
    os.write(writing, json.dumps(answer).encode())
    os._exit(0)


def followed(source: str | bytes, folder: Path, seconds: float = SECONDS) -> dict[str, Any]:
    """What following this program took and did."""
    path = folder / "program.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    child, reading = _in_a_child(path, seconds)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status, used = os.wait4(child, 0)
    answer = json.loads(text) if text else {"faults": [], "effects": [], "complete": False, "begun": 0}
    if status:
        answer["faults"].append(
            f"ended by {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else "died"
        )
    answer["effects"] += [f"made {name}" for name in os.listdir(folder) if name != path.name]
    seconds_used = used.ru_utime + used.ru_stime
    return {**answer, "seconds": seconds_used, "bytes": used.ru_maxrss * _UNIT - answer["begun"]}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _complaints(found: dict[str, Any], seconds: float) -> Iterator[str]:
    if found["seconds"] > seconds + _GRACE:
        yield "time"
    if found["bytes"] > BYTES:
        yield "memory"
    if found["faults"]:
        yield "faults"
    if found["effects"]:
        yield "effects"


def _size(found: dict[str, Any]) -> str:
    return f"{found['seconds']:.1f} s of CPU, {found['bytes'] >> 20} MiB"


def main() -> int:
    """Follow them all; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=3_500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, help="only programs of this kind")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the budget of each")
    parser.add_argument("--kept", type=Path, help="a folder for the programs that fail")
    given = parser.parse_args()
    os.environ["SIMPLETORCH_CACHE"] = "off"
    _import_all()
    wrong: Counter[str] = Counter()
    slowest, largest, cut, total = 0.0, 0, 0, 0
    for number, (kind, source) in enumerate(sources(given.count, given.seed)):
        if given.kind not in (None, kind):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = followed(source, Path(folder), given.seconds)
        total, cut = total + 1, cut + (not found["complete"])
        if total % 100 == 0:
            print(f"{total} programs", file=sys.stderr, flush=True)
        slowest, largest = max(slowest, found["seconds"]), max(largest, found["bytes"])
        complaints = list(_complaints(found, given.seconds))
        wrong.update(complaints)
        if complaints:
            said = "; ".join([*found["faults"], *found["effects"]])
            print(f"{number} ({kind}): {', '.join(complaints)}: {_size(found)} {said[:_SHOWN]}", flush=True)
            if given.kept:
                (given.kept / f"{number}.py").write_bytes(source if isinstance(source, bytes) else source.encode())
    counts = ", ".join(f"{wrong[kind]} {name}" for kind, name in WORDS.items())
    print(f"{total} programs: {counts}; {cut} cut by the budget")
    print(f"the largest: {_size({'seconds': slowest, 'bytes': largest})}")
    return 1 if wrong else 0


WORDS = {"time": "over time", "memory": "over memory", "faults": "with faults", "effects": "with effects"}

if __name__ == "__main__":
    sys.exit(main())
