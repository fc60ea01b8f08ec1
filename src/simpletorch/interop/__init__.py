"""In from other libraries, and out to them, with the types.

What is here is listed in ``__init__.pyi``. The names resolve on first use: importing this package loads neither torch
nor any of the libraries, and each of them is needed only by what is about it.
"""

import sys

from simpletorch._stub import homes, load


def __getattr__(name: str) -> object:
    """Resolve a name once; from then on it is an ordinary attribute of this module."""
    if name == "__all__":
        value: object = sorted(homes(__name__))
    elif name in homes(__name__):
        value = load(__name__, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*globals(), *homes(__name__)})
