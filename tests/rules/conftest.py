"""Makes ``import oracle`` work: the oracle is shared by the tests of this folder and by benchmarks/op_coverage.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
