"""Does the plugin raise a false alarm on code that nobody wrote for it?

Checks torch's own ``nn/modules`` and ``optim`` and, where they are importable, the model files of transformers, with
``--check-untyped-defs``. Lists every ``tensor-*`` error (each must be a real bug) and every error inside the plugin
(there must be none)::

    python benchmarks/false_alarms.py
    python benchmarks/false_alarms.py --path FOLDER   # transformers unpacked outside the environment
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TORCH = ("torch/nn/modules", "torch/optim")
TRANSFORMERS = ("bert", "gpt2", "llama", "t5", "vit", "resnet")
SETTINGS = """\
[mypy]
plugins = simpletorch.mypy
check_untyped_defs = true
allow_redefinition = true
ignore_missing_imports = true
follow_imports = silent
hide_error_codes = false
"""


def targets(path: Path | None) -> list[str]:
    """The modules to check that are there."""
    site = Path(next(iter(importlib.util.find_spec("torch").submodule_search_locations))).parent
    roots = [(site, f) for folder in TORCH for f in sorted((site / folder).glob("*.py"))]
    root = path or site
    for model in TRANSFORMERS:
        roots += [(root, f) for f in sorted((root / "transformers/models" / model).glob("modeling_*.py"))]
    names = [".".join(f.relative_to(base).with_suffix("").parts).removesuffix(".__init__") for base, f in roots]
    return [n for n in names if not n.rpartition(".")[2].startswith(("modeling_flax", "modeling_tf"))]


def main() -> int:
    """Run mypy once over everything and judge its output."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--path", type=Path, help="a folder that holds transformers/")
    parser.add_argument("--cache", type=Path, default=Path(".mypy_cache/false_alarms"))
    arguments = parser.parse_args()
    modules = targets(arguments.path)
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as config:
        config.write(SETTINGS)
        config.flush()
        command = [sys.executable, "-m", "mypy", "--config-file", config.name, "--cache-dir", str(arguments.cache)]
        started = time.perf_counter()
        environment = {**os.environ, "MYPYPATH": str(arguments.path or ""), "SIMPLETORCH_DEBUG": ""}
        done = subprocess.run(
            [*command, *(part for name in modules for part in ("-m", name))],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    alarms = [line for line in done.stdout.splitlines() if re.search(r"\[tensor-\w+\]$", line)]
    inside = [line for line in (done.stdout + done.stderr).splitlines() if "simpletorch could not" in line]
    crashed = done.returncode not in (0, 1)
    print(*alarms, *inside, sep="\n")
    if crashed:
        print(done.stdout[-2000:], done.stderr[-2000:])
    seconds = time.perf_counter() - started
    print(f"{len(modules)} modules in {seconds:.1f} s: {len(alarms)} tensor-* errors, {len(inside)} inside the plugin")
    print("mypy crashed" if crashed else done.stdout.strip().splitlines()[-1])
    return bool(alarms or inside or crashed)


if __name__ == "__main__":
    sys.exit(main())
