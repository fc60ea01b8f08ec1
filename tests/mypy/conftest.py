"""Makes ``import programs`` work: the generator is shared by test_oracle.py and benchmarks/op_coverage.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
