"""In from other libraries, and out to them, with the types.

What is here is listed in ``__init__.pyi``. The names resolve on first use: importing this package loads neither torch
nor any of the libraries, and each of them is needed only by what is about it.

::

    x = interop.from_dlpack(jnp.ones((3, 5)))     # JAX, CuPy, NumPy: whoever speaks DLPack
    y = interop.to_jax(x)
    price = interop.from_arrow(table["price"])    # a column; columns of lists of one length are tensors of two dims

Arrays are shared: nothing is copied unless ``copy=True`` asks for it, and what can't be shared is an error that says
why and what would do. Whoever holds the memory lives as long as anyone looks at it. What one side writes, the other
sees; JAX and Arrow take their arrays for constants, so write to a copy of those. `torch.from_numpy` and
`torch.from_dlpack` are there too, as `simpletorch.from_numpy` and `simpletorch.from_dlpack`; they warn where these
refuse, and a view that runs backwards ends the process in `torch.from_dlpack` (torch 2.13).
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
