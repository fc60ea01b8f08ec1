"""The same script on one process, on two, on a cluster.

::

    device = distributed.init()                 # of torchrun; without torchrun one process and no group
    model = distributed.replicate(Net().to(device))
    if distributed.is_main():
        ...                                     # `print` speaks for all already: the others' standard output is silent

``__init__.pyi`` lists the names. The names resolve on first use. The work is torch.distributed's: values stay
plain tensors, groups and handles are torch's own.
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
