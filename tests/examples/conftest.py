"""Makes ``import ports`` and ``import mutations`` work."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
