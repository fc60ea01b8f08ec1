"""A face: torch's own class under our name, with subscripting added.

``simpletorch.nn.Linear`` has to mean `torch.nn.Linear` and yet allow ``nn.Linear[784, 128]`` in an annotation, which
torch's class refuses. A face is a class that is never instantiated. Calling it builds torch's own object, subclassing
it subclasses torch's own class, and `isinstance` and `issubclass` ask torch's class. It compares and hashes equal to
torch's class. So nothing downstream (state_dict, repr, pickle, ``torch.compile``, ``type(m) is torch.nn.Linear``) can
see a difference.
"""

from __future__ import annotations

import inspect
import types
from typing import Annotated, Any

from torch import nn
from typing_extensions import Protocol

from simpletorch.nn._construction import build


class Face(type(Protocol)):  # type: ignore[misc]  # the class of a class is known when it runs
    """Metaclass of faces.

    It extends the metaclass of protocols, and with it `ABCMeta`, because ``class Mine(nn.Linear, ABC)`` and
    ``class Mine(nn.Module, SomeProtocol)`` must find one metaclass that both bases accept.
    """

    torch_class: type

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        """Build what ``class name(*bases)`` would build had the user named torch's classes instead of their faces."""
        real = tuple(base.torch_class if isinstance(base, Face) else base for base in bases)
        return types.new_class(name, real, kwargs, lambda body: body.update(namespace))

    @classmethod
    def of(mcls, torch_class: type, module: str) -> Face:
        """The face of ``torch_class``, to be found as ``module.<its name>``."""
        namespace = {
            "__module__": module,
            "__qualname__": torch_class.__qualname__,
            "__doc__": torch_class.__doc__,
            "torch_class": torch_class,
            # torch.compile doesn't see `__call__` below: for ``nn.ReLU()(x)`` in a compiled forward it asks for this
            "__new__": lambda _cls, *args, **kwargs: torch_class(*args, **kwargs),
        }
        made: Face = super().__new__(mcls, torch_class.__name__, (torch_class,), namespace)
        return made

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Build torch's own object; what it can't be built from is explained."""
        return build(cls.torch_class, args, kwargs)

    @property
    def __signature__(cls) -> inspect.Signature:
        """The signature that help() and editors show; `__call__` would hide torch's."""
        return inspect.signature(cls.torch_class)

    def __getitem__(cls, parameters: Any) -> Any:
        """For annotations: ``nn.Linear[784, 128]`` is torch's class with sizes that only the checker reads."""
        return Annotated[cls.torch_class, parameters]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.torch_class)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.torch_class)

    def __eq__(cls, other: object) -> bool:
        return cls.torch_class is (other.torch_class if isinstance(other, Face) else other)

    def __hash__(cls) -> int:
        return hash(cls.torch_class)


class ModuleFace(Face):
    """The face of our own `Module`: any `torch.nn.Module` is an instance of it, and it takes ``[In, Out]``.

    A subclass is an ordinary class, without this metaclass: nothing is slower for it.
    """

    torch_class: Any  # our own class

    def __getitem__(cls, parameters: Any) -> Any:
        return cls.torch_class.__class_getitem__(parameters)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, nn.Module)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, nn.Module)
