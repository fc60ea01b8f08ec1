"""The common base of the models' configurations, which are read from transformers' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Final, Self

from simpletorch.errors import TorchError, as_also

__all__ = ["Config", "read"]

_ABSENT: Final = object()


@dataclass(frozen=True)
class Config:
    """Sizes and choices of a model, under the names that transformers gives them.

    A subclass is a frozen dataclass; ``COMPUTED`` has, of what transformers' configuration can also say, the only
    value that the model here computes.
    """

    COMPUTED: ClassVar[Mapping[str, object]] = {}

    @classmethod
    def from_transformers(cls, config: Any) -> Self:
        """The same sizes and choices as transformers' ``config`` has.

        Args:
            config: a configuration of transformers (``GPT2Config()``, ``model.config``), or what its ``config.json``
                holds, as a dict. Missing options have transformers' defaults.

        Returns:
            The configuration.

        Raises:
            TorchError: (a `ValueError` too) it asks for something that this model doesn't compute, or lacks a size.
        """
        error = as_also(TorchError, ValueError)
        for name, value in cls.COMPUTED.items():
            if (got := _read(config, name)) is not _ABSENT and got != value:
                reason = f"{name} is {got!r}, but this model computes {value!r} only; transformers' own has the rest"
                raise error(reason, operation=cls.__name__, expected=value, got=got)
        found = {field.name: _read(config, field.name) for field in fields(cls)} | cls._derived(config)
        required = {field.name for field in fields(cls) if field.default is field.default_factory is MISSING}
        missing = [name for name in sorted(required) if found[name] in (_ABSENT, None)]
        if missing:
            reason = f"{type(config).__name__} has no {', '.join(missing)}"
            raise error(reason, operation=cls.__name__, hint=f"is it a configuration of the kind of {cls.__name__}?")
        return cls(**{name: value for name, value in found.items() if value is not _ABSENT})

    @classmethod
    def _derived(cls, config: Any) -> dict[str, Any]:
        """The fields that are not simply read."""
        return {}


def _read(config: Any, name: str, default: object = _ABSENT) -> Any:
    return config.get(name, default) if isinstance(config, Mapping) else getattr(config, name, default)


def read(config: Any, name: str, default: object = None) -> Any:
    """The option ``name`` of transformers' configuration, or of its file's dict; the default also for None."""
    found = _read(config, name, default)
    return default if found is None else found
