"""torch's modules under our face: the same classes, the same constructor arguments, with sizes in their types.

For a type checker ``simpletorch.nn.Linear`` *is* `torch.nn.Linear`. At run time a name resolves on first use to torch's
own object, or for a module class to its `Face`, which builds torch's own instances and only adds subscripting
(``fc: nn.Linear[784, 128]``). Ours are:

- `Module`: a `torch.nn.Module` whose ``forward`` annotations are enforced and whose errors name the submodule,
- `Sequential`: torch's, with `Sequential.add_layer`,
- `MLP`, `FeedForward`, `Residual`, `SelfAttention`, `TransformerBlock`: blocks that most models are built from,
- `initialize`: a model's weights drawn anew by the recipe of a paper,
- `run_padded`: a recurrent layer over sequences of different lengths, which can be compiled and exported,
- `summary`: what each part of a model takes, gives, holds and costs,
- `typed_repr`: a model's repr with the types of its calls,
- `load_state_dict`: any module's state loaded whole or not at all, with all that doesn't fit in one error.

``functional``, ``init``, ``utils`` … are torch's own modules; ``import simpletorch.nn.functional as F`` works too.
"""

import sys

import torch.nn

from simpletorch._stub import homes, load
from simpletorch.errors import context as _errors
from simpletorch.nn import _exporting
from simpletorch.nn._face import Face, ModuleFace

__all__ = sorted({*homes(__name__), *torch.nn.modules.__all__})

_errors.explain_layers()
_exporting.every_module_exports()

# `import simpletorch.nn.functional as F` has to find torch's module itself, whatever was imported before.
for _name in ("functional", "init"):
    sys.modules[f"{__name__}.{_name}"] = getattr(torch.nn, _name)


def __getattr__(name: str) -> object:
    """Resolve a name once; from then on it is an ordinary attribute of this module."""
    if name in homes(__name__):
        value = load(__name__, name)
        if name == "Module":
            value = ModuleFace.of(value, __name__)
    elif not name.startswith("_") and hasattr(torch.nn, name):
        value = getattr(torch.nn, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return globals().setdefault(name, _with_face(value))


def _with_face(value: object) -> object:
    """The face of a class of torch's; what else there is, is itself."""
    is_module = isinstance(value, type) and issubclass(value, torch.nn.Module) and value.__module__.startswith("torch.")
    # A deprecated class would warn about its face as if a user had subclassed it.
    return Face.of(value, __name__) if is_module and not hasattr(value, "__deprecated__") else value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
