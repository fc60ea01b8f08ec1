"""What `import simpletorch` costs, against `import torch`, each in a fresh interpreter.

python benchmarks/import_time.py [--rounds 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

CODE = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
CASES = {
    "import simpletorch": "import simpletorch",
    "import simpletorch.mypy": "import simpletorch.mypy",
    "import torch": "import torch",
    "import torch, jaxtyping, beartype": "import torch, jaxtyping, beartype",
    "from simpletorch import Tensor, checked": "from simpletorch import Tensor, checked",
    "from simpletorch import nn, Tensor, checked": "from simpletorch import nn, Tensor, checked",
}


def seconds(code: str) -> float:
    """How long ``code`` takes in a fresh interpreter, its start not counted."""
    out = subprocess.run([sys.executable, "-c", CODE.format(code)], check=True, capture_output=True, text=True)
    return float(out.stdout)


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    for code in CASES.values():
        seconds(code)  # fills the page cache and writes the bytecode
    times: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(arguments.rounds):
        for name, code in CASES.items():
            times[name].append(seconds(code))
    medians = {name: statistics.median(t) for name, t in times.items()}
    if arguments.json:
        print(json.dumps(medians))
        return
    base = medians["import torch"]
    print(f"seconds, median of {arguments.rounds} fresh interpreters")
    for name, value in medians.items():
        print(f"  {name:45} {value:6.3f}   {value / base:6.1%} of import torch")


if __name__ == "__main__":
    main()
