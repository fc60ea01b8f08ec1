"""Live values as the follower has them: read, never called.

Nothing of the user's runs: attributes are read from ``__dict__`` and slots, never by ``getattr`` on what isn't torch's
or Python's own. A value that can't be read in this way is unknown.
"""

from __future__ import annotations

from simpletorch.notebook.live.program import LiveProgram
from simpletorch.notebook.live.values import Live

__all__ = ["Live", "LiveProgram"]
