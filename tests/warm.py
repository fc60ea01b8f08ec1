"""mypy's cache with torch in it: made once for each of two settings, then copied for each test.

To read torch takes mypy 20 seconds of CPU. It has to do so again wherever an option differs that mypy holds for part of
its result, and two processes must not write to one cache. So the tests have two settings between them, ``STRICT`` and
those that ``simpletorch check`` writes, and each works on a copy of its own: a result never depends on another test.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from filelock import FileLock

import simpletorch
from simpletorch.mypy.digest import digest

ROOT: Final = Path(__file__).parents[1]
STRICT: Final = ROOT / "tests" / "typing" / "mypy.ini"
CACHE: Final = ROOT / ".mypy_cache" / "warm"
IMPORTS: Final = (
    *("einops", "einops.layers.torch", "jaxtyping", "numpy", "numpy.typing"),
    *("torch", "torch.func", "torch.masked", "torch.nn.functional", "torch.optim.swa_utils", "torch.signal"),
    *("torch.distributed._functional_collectives", "torch.distributed.fsdp", "torch.distributed.nn.functional"),
    *("torch.distributed.tensor", "torch.distributions", "torch.nn.utils.rnn", "torch.utils.checkpoint"),
    *("torch.utils.data", "torch.utils.dlpack"),
    *("simpletorch", "simpletorch.data", "simpletorch.interop", "simpletorch.language.models", "simpletorch.metrics"),
    *("simpletorch.nn", "simpletorch.optim", "simpletorch.train", "simpletorch.transforms", "simpletorch.vision.io"),
    "simpletorch.vision.models",
)
PROGRAM: Final = "".join(f"import {name}\n" for name in IMPORTS)
# A first run has to see what one from the cache sees: this one, too, is held to what it should say.
MISTAKE: Final = "torch.nn.Linear(7, 3)(torch.zeros(2, 5))\n"
SAID: Final = "error: Linear(7, 3): the last dim of input is 5, but the layer takes 7 features"


def cache(folder: Path) -> Path:
    """A copy of mypy's cache for the settings ``STRICT``, in ``folder``, for ``--cache-dir``."""
    command = (sys.executable, "-m", "mypy", "--config-file", str(STRICT), "--cache-dir", "cache", "program.py")
    return _copy("strict", command, {"SIMPLETORCH_FOLLOW": "off"}, STRICT.read_text(), folder) / "cache"


def home(folder: Path) -> Path:
    """A folder for ``XDG_CACHE_HOME``, in ``folder``, in which ``simpletorch check`` finds torch already read."""
    command = (sys.executable, "-m", "simpletorch.cli", "check", "--no-follow", "program.py", "--", "--config-file=")
    return _copy("check", command, {"XDG_CACHE_HOME": "."}, "", folder)


def readme(folder: Path) -> Path:
    """A copy of what ``simpletorch check`` keeps: ``mypy.ini`` with README's settings, and their cache beside it."""
    return home(folder) / "simpletorch" / "mypy" / "default"


def _copy(name: str, command: Sequence[str], variables: dict[str, str], settings: str, folder: Path) -> Path:
    """Where the copy is of what ``command`` leaves in an empty folder with ``program.py``."""
    versions = [sys.version, *(metadata.version(package) for package in ("mypy", "torch", "numpy"))]
    digests = [digest(Path(simpletorch.__file__).parent), PROGRAM, settings, *command, *versions]
    made = CACHE / f"{name}-{hashlib.sha256(repr(digests).encode()).hexdigest()[:16]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / f"{name}.lock"):
        if not made.exists():
            for old in CACHE.glob(f"{name}-*"):
                shutil.rmtree(old)
            place = CACHE / f"{name}-unfinished"
            place.mkdir()
            _make(command, variables, place)
            place.rename(made)
        copy = Path(tempfile.mkdtemp(prefix=".mypy_cache_", dir=folder))  # mypy and pytest pass such a folder over
        return shutil.copytree(made, copy, dirs_exist_ok=True)


def _make(command: Sequence[str], variables: dict[str, str], place: Path) -> None:
    (place / "program.py").write_text(PROGRAM + MISTAKE)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MYPY", "SIMPLETORCH"))}
    done = subprocess.run(command, cwd=place, env=kept | variables, capture_output=True, text=True, check=False)
    said = [line.partition(": ")[2] for line in done.stdout.splitlines() if ": error: " in line]
    assert len(said) == 1, done.stdout + done.stderr
    assert said[0].startswith(SAID), said
