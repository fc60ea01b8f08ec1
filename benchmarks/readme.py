"""README's numbers: what it tells a user to write, and a run of all benchmarks that it names, one after the other.

    python -m benchmarks.readme          # everything, an hour and a half on two cores; results/readme.txt
    python -m benchmarks.readme --only check_time border

The machine should do nothing else meanwhile. Nothing is set for the commands that README doesn't tell.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

__all__ = ["commands", "mypy_settings"]

README: Final = Path(__file__).parents[1] / "README.md"
RESULTS: Final = Path(__file__).parent / "results" / "readme.txt"


def mypy_settings(*, plugin: bool = True) -> str:
    """The section for mypy that README has, or the same without our plugin."""
    (section,) = re.findall(
        r"^```ini\n(\[mypy\]\n.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert "plugins = simpletorch.mypy\n" in section
    return section if plugin else section.replace("plugins = simpletorch.mypy\n", "")


def commands() -> list[str]:
    """Those in README's table of numbers, each once."""
    found: dict[str, None] = {}
    for row in re.findall(r"^\|.*\| ([^|]*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE):
        quoted = re.findall(r"`([^`]+)`", row)
        if quoted and quoted[0].startswith("python "):
            found[quoted[0]] = None
            found |= dict.fromkeys(f"{quoted[0]} {more}" for more in quoted[1:] if more.startswith("--"))
    return list(found)


def main() -> int:
    """Run the commands, and keep what they print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", help="those in whose command one of these words is")
    only = parser.parse_args().only
    chosen = [c for c in commands() if only is None or any(word in c for word in only)]
    failed = []
    with (Path(os.devnull) if only else RESULTS).open("w", encoding="utf-8") as kept:
        for command in chosen:
            start = time.perf_counter()
            head = f"== {command}   # {datetime.now(UTC):%Y-%m-%d %H:%M}, Python {platform.python_version()}"
            print(head, flush=True)
            done = subprocess.run(
                [sys.executable, *shlex.split(command)[1:]], stdout=subprocess.PIPE, text=True, check=False
            )
            print(done.stdout, f"-- {done.returncode}, {time.perf_counter() - start:.0f} s\n", sep="", flush=True)
            kept.write(f"{head}\n{done.stdout}\n")
            if done.returncode:
                failed.append(command)
    print(*(f"failed: {command}" for command in failed), sep="\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
