"""torch's own module: `simpletorch.nn` puts `torch.nn.functional` in this one's place before anyone can import it.

The file is there for type checkers, which say of a stub without one that its source is missing.
"""

from torch.nn.functional import *  # noqa: F403
