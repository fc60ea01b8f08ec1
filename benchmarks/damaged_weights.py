"""Damaged weight files, given to `simpletorch.vision.models`: refused as such, and nothing in them runs.

    python -m benchmarks.damaged_weights [--times 1000] [--seed 0]

Each damage is drawn at random: bytes changed, cut off, cut out, put in, set to zero or repeated. It is done to a file
of torch's own format (``zip``), of torch's format before 1.6 (``legacy``), a safetensors file, and a file whose pickle
would run a function (``code``). What must happen: a CheckpointError (``refused``), or the damage changes nothing that
is read (``unchanged``). ``legacy`` and ``safetensors`` files have no checksums, so that changed numbers are ``unseen``
there. Anything else is a failure, with its name: another exception, or ``ran`` if a process was started, a file
written or the function called. The exit status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save_file

from simpletorch import nn
from simpletorch.errors import CheckpointError
from simpletorch.vision.models import read_weights
from simpletorch.vision.models._weights import load_weights

KINDS: Final = ("zip", "legacy", "safetensors", "code")
_REFUSED_EVENTS: Final = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "os.remove")
_seen: Final[list[str]] = []
_listening: Final[list[bool]] = []


class Code:
    """Would write a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return (open, (str(self.path), "w"))


class Net(nn.Module):
    """What the files are for."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7)
        self.bn1 = nn.BatchNorm2d(64)
        self.fc = nn.Linear(64, 7)


def written(kind: str, folder: Path) -> Path:
    """A whole file of a kind."""
    path = folder / ("whole.safetensors" if kind == "safetensors" else "whole.pth")
    state = Net().state_dict()
    if kind == "safetensors":
        save_file(state, path)
    elif kind == "code":
        torch.save({**state, "bn1.weight": Code(folder / "it ran")}, path)
    else:
        torch.save(state, path, _use_new_zipfile_serialization=kind == "zip")
    return path


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The bytes with one damage."""
    made = bytearray(content)
    start = chance.randrange(len(made))
    # half of the damages are near an end, where headers and directories are
    if chance.random() < 0.5:
        start = chance.randrange(min(2000, len(made)))
        start = start if chance.random() < 0.5 else len(made) - 1 - start
    stop = min(len(made), start + chance.choice((1, 1, 2, 8, 64, 1024)))
    match chance.randrange(7):
        case 0:
            made[start] ^= 1 << chance.randrange(8)
        case 1:
            made[start:stop] = chance.randbytes(stop - start)
        case 2:
            del made[start:]
        case 3:
            del made[start:stop]
        case 4:
            made[start:start] = chance.randbytes(stop - start)
        case 5:
            made[start:stop] = bytes(stop - start)
        case _:
            made[start:start] = made[start:stop]
    return bytes(made)


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    writes = event == "open" and isinstance(arguments[1], str) and bool(set("wax+") & set(arguments[1]))
    if _listening and (writes or event in _REFUSED_EVENTS):
        _seen.append(event)


def _tried(path: Path, expected: Mapping[str, torch.Tensor]) -> str:
    """What came of loading the file."""
    model = Net()
    _seen.clear()
    _listening.append(True)
    try:
        load_weights(model, path)
        state = model.state_dict()
        said = "unchanged" if all(torch.equal(state[key], expected[key]) for key in expected) else "unseen"
    except CheckpointError:
        said = "refused"
    except Exception as error:
        said = type(error).__name__
    finally:
        _listening.clear()
    return "ran" if _seen else said


def run(kind: str, times: int, folder: Path, seed: int = 0) -> Counter[str]:
    """How often each thing happened to so many damages of a kind's file."""
    if _listen not in _hooked:
        sys.addaudithook(_listen)  # for the process's life: Python takes none back
        _hooked.append(_listen)
    chance = random.Random(f"{seed} {kind}")
    torch.manual_seed(seed)
    file = written(kind, folder)
    content, expected = file.read_bytes(), read_weights(file) if kind != "code" else {}
    found = Counter[str]()
    path = folder / ("damaged.safetensors" if kind == "safetensors" else "damaged.pth")
    for _ in range(times):
        path.write_bytes(damaged(content, chance))
        found[_tried(path, expected)] += 1
    if (folder / "it ran").exists():
        found["ran"] += 1
    return found


_hooked: Final[list[Any]] = []


def main() -> int:
    """Damage and read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000, help="how many damages in all")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    bad = 0
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            found = run(kind, given.times // len(KINDS), Path(folder), given.seed)
        allowed = {"refused", "unchanged"} | ({"unseen"} if kind in ("legacy", "safetensors") else set())
        bad += sum(count for what, count in found.items() if what not in allowed)
        print(f"{kind:<12} " + ", ".join(f"{what} {count}" for what, count in sorted(found.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
