"""Programs of newer Pythons, executed and followed by such a Python, without torch: each int that a name has at last.

    python3.13 tests/follow/python/newer/ints.py    # those of 3.12 and of 3.13; `.ci/pythons` does it

A program stands under each line that begins with ``# ==``, in a file that is named after its Python. A value that isn't
known is never wrong.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[3] / "src"))

MARK = "\n# == "


def wrong(source: str, path: Path) -> list[str]:
    """What following says of a program and isn't so."""
    from simpletorch.follow import follow

    path.write_text(source, encoding="utf-8")
    real: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(source, str(path), "exec", dont_inherit=True), real)
    result = follow(path)
    found = [f"a fault: {f}" for f in result.faults] + [f"{e.line}: {e.message}" for e in result.errors]
    if result.ended:
        found.append(f"it doesn't end at {result.ended}")
    last: dict[str, tuple[Any, ...]] = {}
    for (_, _), names in sorted(result.claims.items()):
        last |= {name: tuple(values) for name, values in names.items()}
    for name, value in real.items():
        said = last.get(name, ())
        if type(value) is int and said and all(type(v) is int for v in said) and value not in said:
            found.append(f"{name} is {value}, but said is {said}")
    return found


def main() -> int:
    """Exit status 1 if anything is wrong."""
    count, bad = 0, 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for file in sorted(HERE.glob("*.txt")):
            if tuple(map(int, file.stem.split("."))) > sys.version_info[:2]:
                continue
            for part in f"\n{file.read_text(encoding='utf-8')}".split(MARK)[1:]:
                title, _, source = part.partition("\n")
                count += 1
                for line in wrong(source, Path(folder) / "program.py"):
                    bad += 1
                    print(f"{file.name}: {title}: {line}")
    print(f"{count} programs of newer Pythons, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
