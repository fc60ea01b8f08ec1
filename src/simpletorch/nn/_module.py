"""`Module`: a `torch.nn.Module` whose annotations are enforced and whose errors explain themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import FrameType, FunctionType, GenericAlias
from typing import Any, Final

from torch import nn

from simpletorch.checks import bordered, config, is_bordered, local_names, remember_sizes
from simpletorch.nn._contract import hold
from simpletorch.nn._exporting import to_onnx, to_torchscript
from simpletorch.nn._state import IncompatibleKeys, load

__all__ = ["Module"]

_MAKERS_OF_CLASSES: Final = frozenset({"abc", "types", "simpletorch.nn._face"})


class _Stated(GenericAlias):
    """``Module[In, Out]``: as an annotation any module that is called so, and as a base class `Module`."""

    def __mro_entries__(self, bases: Iterable[object]) -> tuple[type[Module]]:
        return (Module,)


class Module(nn.Module):
    """A `torch.nn.Module`: same state_dict, same repr, same call, with a border around ``forward``.

    ::

        class MLP(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.fc1 = nn.Linear(784, 128)
                self.fc2 = nn.Linear(128, 10)

            def forward(self, x: Tensor[Float32, B, 784]) -> Tensor[Float32, B, 10]:
                return self.fc2(F.relu(self.fc1(x)))

    - ``forward``'s annotations are enforced, once for each signature (`simpletorch.checked`, `simpletorch.config`).
    - In a generic class (``class MLP(nn.Module, Generic[N])``) the sizes that ``__init__`` was given for ``n: Dim[N]``
      hold in ``forward`` as well, and in its `simpletorch.checked` methods.
    - An error of torch inside becomes a `simpletorch.errors.TorchError` that names the submodule
      (``model.encoder.2.fc``).
    - `load_state_dict` names all keys that don't fit at once, and a failed load leaves the module as it was.

    ``Module[In, Out]`` in an annotation gives the types of the call. A type checker judges a module by its ``forward``,
    whatever class it is of; at run time any `torch.nn.Module` is one.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, nn
        >>> from simpletorch.dims import B
        >>> class Net(nn.Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.fc = nn.Linear(13, 3)
        ...
        ...     def forward(self, x: Tensor[Float32, B, 13]) -> Tensor[Float32, B, 3]:
        ...         return self.fc(x)
        >>> Net()(torch.zeros(7, 13)).shape
        torch.Size([7, 3])
        >>> Net()(torch.zeros(7, 11))
        Traceback (most recent call last):
        simpletorch.errors.ShapeMismatch: ...

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
    """

    to_onnx = to_onnx
    to_torchscript = to_torchscript

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check = config.check != "off"
        frame = _place_of_class()  # annotations may use what is local there
        sizes = remember_sizes(cls, frame) if check else None
        for name, member in list(vars(cls).items()):
            # a method's own `checked` ran before the class was there: its border gets the sizes of the class only here
            if isinstance(member, FunctionType) and (name == "forward" or (sizes and is_bordered(member))):
                names = {**local_names(member, frame), cls.__name__: cls}
                wanted = check and not getattr(member, "__no_type_check__", False)
                if wanted and name == "forward" and "__orig_bases__" in vars(cls):
                    hold(cls, member, names)
                setattr(cls, name, bordered(member, names, check=wanted, sizes=sizes))

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Load a state dict whole or not at all, see `simpletorch.nn.load_state_dict`.

        Returns:
            The missing and the unexpected keys, which ``strict=False`` allows.

        Raises:
            StateMismatch: (a `CheckpointError`) with all missing, unexpected and misshapen keys; nothing has changed.
        """
        return load(self, super().load_state_dict, state_dict, strict, assign)

    def __prepare_scriptable__(self) -> nn.Module:
        """The module that `torch.jit.script` compiles instead of this one: torch asks each submodule for it."""
        from simpletorch.nn._scriptable import scriptable  # seldom needed

        return scriptable(self)

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return _Stated(nn.Module, item) if cls is Module else GenericAlias(cls, item)


def _place_of_class() -> FrameType:
    """The frame in which a class is written, past those that make it: of metaclasses and of `types.new_class`."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _MAKERS_OF_CLASSES:
        frame = frame.f_back
    return frame
