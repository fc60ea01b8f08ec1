"""Arguments by parameter name, as `inspect.Signature.bind` gives them, at a fraction of its time."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.values import Value

__all__ = ["Binder"]

_MOST_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class Binder:
    """The parameters of a function, read once."""

    order: tuple[str, ...]
    positional: tuple[str, ...]
    by_name: frozenset[str]
    required: tuple[str, ...]
    star: str | None  # the name of *args
    double_star: str | None  # the name of **kwargs

    @classmethod
    def of(cls, signature: inspect.Signature) -> Binder:
        """The binder for a signature."""
        parameters = signature.parameters.values()
        fixed = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]

        def only(kind: Any) -> str | None:
            return next((p.name for p in parameters if p.kind is kind), None)

        return cls(
            order=tuple(p.name for p in parameters),
            positional=tuple(p.name for p in fixed if p.kind is not p.KEYWORD_ONLY),
            by_name=frozenset(p.name for p in fixed if p.kind is not p.POSITIONAL_ONLY),
            required=tuple(p.name for p in fixed if p.default is p.empty),
            star=only(inspect.Parameter.VAR_POSITIONAL),
            double_star=only(inspect.Parameter.VAR_KEYWORD),
        )

    def bind(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Any]:
        """The arguments by name, in the order of the parameters.

        Raises:
            CannotTell: the function can't be called with them.
        """
        found: dict[str, Any] = dict(zip(self.positional, args, strict=False))
        if len(args) > len(self.positional):
            if self.star is None:
                raise CannotTell
            found[self.star] = tuple(args[len(self.positional) :])
        if kwargs:
            found = self._with_names(found, kwargs)
        for name in self.required:
            if name not in found:
                raise CannotTell
        return found

    def misfit(self, count: int, names: Collection[str], own: int = 0) -> str | None:
        """Why a call with so many arguments by place, and these by name, fails; None of one that fits.

        Args:
            count: arguments by place, with the object that a method is called on.
            names: those that are given by name.
            own: how many of the first the caller doesn't write (1: the object).
        """
        positional = self.positional
        if count > len(positional) and self.star is None:
            takes = positional[own:]
            counted = f"{len(takes)} argument{'s' * (len(takes) != 1)}{_listed(takes)}" if takes else "no argument"
            return f"takes {counted}, but it is given {count - own}"
        for name in names:
            if name in positional[:count] and name in self.by_name:
                return f"is given {name} twice"
            if name not in self.by_name and self.double_star is None:
                return f"has no argument {name}{_listed(positional[own:])}"
        filled = {*positional[:count], *names}
        lacking = [name for name in self.required if name not in filled]
        return f"is called without {' and '.join(lacking)}" if lacking else None

    def split(self, bound: Mapping[str, Any]) -> tuple[list[Value], dict[str, Any]]:
        """The way back: arguments by name as the function takes them, by place as far as they go without a gap."""
        given = dict(bound)
        args: list[Value] = []
        for name in self.positional:
            if name not in given:
                break
            args.append(given.pop(name))
        starred = given.pop(self.star, ()) if self.star is not None else ()
        args.extend(starred)
        if self.double_star is not None:
            given.update(given.pop(self.double_star, {}))
        return args, given

    def _with_names(self, found: dict[str, Any], kwargs: Mapping[str, Value]) -> dict[str, Any]:
        rest: dict[str, Value] = {}
        for name, value in kwargs.items():
            if name not in self.by_name:
                if self.double_star is None:
                    raise CannotTell
                rest[name] = value
            elif name in found:
                raise CannotTell
            else:
                found[name] = value
        if rest and self.double_star is not None:
            found[self.double_star] = rest
        return {name: found[name] for name in self.order if name in found}


def _listed(names: Sequence[str]) -> str:
    """The names in brackets, if they are few enough to be read."""
    return f" ({', '.join(names)})" if names and len(names) <= _MOST_LISTED else ""
