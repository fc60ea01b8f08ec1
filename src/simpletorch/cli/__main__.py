"""``python -m simpletorch.cli``."""

import sys

from simpletorch.cli import main

sys.exit(main())
