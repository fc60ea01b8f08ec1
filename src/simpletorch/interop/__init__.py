"""In from other libraries, and out to them, with the types.

``__init__.pyi`` lists the names. The names resolve on first use: importing this package loads neither torch nor any of
the libraries, and each library is needed only by its own functions.

::

    x = interop.from_dlpack(jnp.ones((3, 5)))     # JAX, CuPy, NumPy: any array with DLPack
    y = interop.to_jax(x)
    price = interop.from_arrow(table["price"])    # a column; columns of lists of one length are tensors of two dims

Arrays are shared: nothing is copied unless ``copy=True`` asks for it, and an array that can't be shared is an error
that gives the reason and a remedy. The owner of the memory lives as long as any view of it. A write on one side is
seen on the other. JAX and Arrow take their arrays for constants, so write to a copy of those. `torch.from_numpy` and
`torch.from_dlpack` are there too, as `simpletorch.from_numpy` and `simpletorch.from_dlpack`; they warn where these
refuse, and a view that runs backwards ends the process in `torch.from_dlpack` (torch 2.13).
"""

import sys

from simpletorch._stub import homes, load


def __getattr__(name: str) -> object:
    """Resolve every name at the first one that is asked for; from then on this is an ordinary module.

    Python looks up attributes of a module that has a ``__getattr__`` in a slower way, also those that are there: by
    50 ns, which is a tenth of ``interop.from_numpy(array)``. The other names load in 25 ms, where torch takes 1,100.
    """
    names = homes(__name__)
    if name not in {"__all__", *names}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    module = globals()
    for each in names:
        module.setdefault(each, load(__name__, each))
    module.setdefault("__all__", sorted(names))
    module.pop("__getattr__", None)
    return module[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *homes(__name__)})
