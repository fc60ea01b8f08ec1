"""Makes ``import programs`` and ``import oracle`` work, which tests here, those of rules, and benchmarks share."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "rules")]
