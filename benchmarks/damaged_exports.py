"""Damaged artefacts, given to `simpletorch.export.load`: each is refused with our error, and nothing is executed.

    python benchmarks/damaged_exports.py [--count 1000] [--seed 0]

An exported program, an ONNX model and a TorchScript archive are damaged at random: bytes flipped, cut off, filled with
zeros or others, manifests swapped, and replaced by pickles and archives that would create a file when they are read.
They are loaded with their manifest, without one, and, where no pickle was put in, as files that the caller trusts; what
can be read is run. A file without a manifest whose flipped byte leaves it valid counts as read: nothing says what its
weights were. The exit status is 1 if an
error is of another kind, if a damaged artefact is read in spite of its manifest, or if anything was executed.
"""

from __future__ import annotations

import argparse
import io
import pickle
import random
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from jaxtyping import Float32
from torch import nn

from simpletorch import export
from simpletorch.errors import BackendError, CheckpointError

FILES: Final = ("net.pt2", "net.onnx", "net.ts")


class Net(nn.Module):
    """What is exported."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 5)

    def forward(self, x: Float32[torch.Tensor, "batch 7"]) -> Float32[torch.Tensor, "batch 5"]:
        """One layer."""
        return self.fc(x).relu()


def artefacts(folder: Path) -> None:
    """Whole artefacts, one of each kind."""
    torch.manual_seed(0)
    model = Net()
    export.program(model, folder / "net.pt2")
    export.onnx(model, folder / "net.onnx")
    export.torchscript(model, folder / "net.ts")


class Bomb:
    """A pickle that creates a file when it is read."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.sentinel,)


def flipped(data: bytes, draw: random.Random) -> bytes:
    """One to five bytes are others."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 5)):
        changed[draw.randrange(len(changed))] ^= draw.randint(1, 255)
    return bytes(changed)


def cut(data: bytes, draw: random.Random) -> bytes:
    """The end is missing."""
    return data[: draw.randrange(len(data))]


def zeroed(data: bytes, draw: random.Random) -> bytes:
    """A block was never written."""
    begin = draw.randrange(len(data))
    length = min(draw.randint(1, 512), len(data) - begin)
    return data[:begin] + bytes(length) + data[begin + length :]


def noise(data: bytes, draw: random.Random) -> bytes:
    """Something else altogether."""
    return draw.randbytes(draw.randint(0, 2 * len(data)))


DAMAGES: Final = (flipped, cut, zeroed, noise)


def bomb(sentinel: Path, archive: bytes | None) -> bytes:
    """A pickle that runs code, alone or as every pickle of an archive."""
    payload = pickle.dumps(Bomb(sentinel))
    if archive is None:
        return payload
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            pickled = name.endswith((".pkl", ".pt")) or "/weights/" in name or "/constants/" in name
            new.writestr(name, payload if pickled else old.read(name))
    return out.getvalue()


def one(whole: Path, folder: Path, draw: random.Random) -> tuple[str, str]:
    """Damage one artefact, load it, and say what was done and what came of it."""
    name = draw.choice(FILES)
    data, manifest = (whole / name).read_bytes(), (whole / f"{name}.json").read_bytes()
    sentinel, path = folder / "executed", folder / name
    beside = folder / f"{name}.json"
    trust = False
    what = draw.choice(("artefact", "manifest", "swapped", "none", "bomb", "bomb without manifest", "trusted"))
    if what == "artefact":
        damaged = draw.choice(DAMAGES)(data, draw)
    elif what == "manifest":
        damaged, manifest = data, draw.choice(DAMAGES)(manifest, draw)
    elif what == "swapped":
        other = draw.choice([file for file in FILES if file != name])
        damaged, manifest = data, (whole / f"{other}.json").read_bytes()
    elif what.startswith("bomb"):
        damaged = bomb(sentinel, data if name != "net.onnx" and draw.random() < 0.5 else None)
    else:
        damaged = draw.choice(DAMAGES)(data, draw)
        trust = what == "trusted"
    path.write_bytes(damaged)
    if what in ("none", "trusted", "bomb without manifest"):
        beside.unlink(missing_ok=True)
    else:
        beside.write_bytes(manifest)
    same = damaged == data and (not beside.exists() or manifest == (whole / f"{name}.json").read_bytes())
    kind = f"{what}, {name}"
    try:
        run = export.load(path, trust=trust)
        run(torch.zeros(3, 7))
    except (CheckpointError, BackendError) as error:
        result = type(error).__name__
    except Exception as error:  # what is looked for
        result = f"WRONG: {type(error).__name__}: {error}"
    else:
        read = same or trust or (name == "net.onnx" and not beside.exists())
        result = "read" if read else "WRONG: it was read"
    return kind, "WRONG: code was executed" if sentinel.exists() else result


def main() -> int:
    """Damage, load and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as folder:
        artefacts(Path(whole))
        for i in range(given.count):
            counts[one(Path(whole), Path(folder), random.Random(f"{given.seed} {i}"))] += 1
    for (kind, result), count in sorted(counts.items()):
        print(f"{count:5}  {kind}: {result}")
    return 1 if any(result.startswith("WRONG") for _, result in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
