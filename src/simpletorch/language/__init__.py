"""Text: language models with transformers' parameter names (`simpletorch.language.models`)."""

import sys

from simpletorch._stub import homes, load


def __getattr__(name: str) -> object:
    """Resolve a name once; from then on it is an ordinary attribute of this module."""
    if name in homes(__name__):
        return globals().setdefault(name, load(__name__, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
