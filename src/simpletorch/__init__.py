"""PyTorch with shapes in the types: mypy proves them, jaxtyping and beartype enforce them.

``__init__.pyi`` lists the names. The names resolve on first use (PEP 562): ``import simpletorch`` and
``import simpletorch.mypy`` load no torch. Functions such as `zeros` or `cross_entropy` call torch's own and
explain its errors.
"""

import sys
from importlib import import_module
from types import ModuleType

from simpletorch import _stub
from simpletorch._stub import homes

__version__ = "0.1.0"
_OF_IPYTHON = ("load_ipython_extension", "unload_ipython_extension")


def __getattr__(name: str) -> object:
    """Resolve a name once; from then on it is an ordinary attribute of this module."""
    if name == "__all__":
        value: object = ["__version__", *sorted(homes(__name__))]
    elif name in homes(__name__):
        value = _loaded(name)
    elif name in _OF_IPYTHON:  # ``%load_ext simpletorch`` asks this module for them
        value = getattr(import_module("simpletorch.notebook"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    # `setdefault`: two threads that ask at once get the same object
    return globals().setdefault(name, value)


def _loaded(name: str) -> object:
    try:
        value = _stub.load(__name__, name)
        return _explaining(name, value) if homes(__name__)[name].partition(".")[0] == "torch" else value
    except ModuleNotFoundError as error:
        from simpletorch._distribution import framework_missing

        if missing := framework_missing(error):
            raise ModuleNotFoundError(f"simpletorch.{name}: {missing}", name=error.name, path=error.path) from None
        raise


def _explaining(name: str, value: object) -> object:
    from simpletorch.errors.context import function_of_torch, is_function  # torch is loaded by now

    return function_of_torch(name, value) if is_function(value) else value


def __dir__() -> list[str]:
    return sorted({*globals(), *homes(__name__)})


class _Face(ModuleType):
    """Keeps ``simpletorch.tensor`` what it is in torch, the function.

    Importing the submodule of that name makes the import system bind it here; `simpletorch.tensor.Tensor` is reached
    by ``from simpletorch.tensor import Tensor`` all the same.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name == "tensor" and isinstance(value, ModuleType):
            value = value.tensor
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by name: a pickled function brings the modules that it uses."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Face
