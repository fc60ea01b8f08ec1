"""Makes ``import trees`` work: the strategies are shared by the tests of this folder."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("simpletorch", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("simpletorch")
