"""Makes ``import corpus``, ``import mutants`` … work: the measures of ``benchmarks/follow`` are scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "follow"))
