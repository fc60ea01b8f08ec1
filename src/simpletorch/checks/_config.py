"""Whether and how borders check: ``off``, ``once`` per signature, or ``full``."""

from __future__ import annotations

import os
from contextvars import ContextVar
from threading import RLock
from types import TracebackType
from typing import Final, Literal, TypeAlias, get_args

__all__ = ["SWITCH", "Config", "Mode", "config"]

Mode: TypeAlias = Literal["off", "once", "full"]

_MODES: Final[tuple[str, ...]] = get_args(Mode)


def _mode(text: str, where: str) -> Mode:
    for mode in get_args(Mode):
        if text == mode:
            found: Mode = mode
            return found
    raise ValueError(f"{where} is {text!r}, which is no mode; write {', '.join(_MODES[:-1])} or {_MODES[-1]}")


class _Switch:
    """A flag that a border reads on each call: whether another mode than ``once`` may hold, in any thread or task."""

    __slots__ = ("special",)

    def __init__(self, special: bool) -> None:
        self.special = special

    def __reduce__(self) -> str:
        return "SWITCH"  # there is one in a process; cloudpickle would copy it with a function it sends


class _Override:
    """The mode of a block. It lives as long as any thread or task is in the block, or was started there."""

    __slots__ = ("mode", "outer", "owner")

    def __init__(self, owner: Config, mode: Mode, outer: _Override | None) -> None:
        self.owner, self.mode, self.outer = owner, mode, outer
        owner._count(1)

    def __del__(self) -> None:
        # counted down here, not at the block's end: a task started inside carries it on in its own copy of the context
        self.owner._count(-1)


class Config:
    """The settings of this process, and of a block of code.

    ``config.check`` is the mode that holds here and now:

    - ``"once"`` (default): a signature (shapes, dtypes, devices and types of the arguments) is checked when first seen,
    - ``"full"``: every call is checked,
    - ``"off"``: nothing is checked; a function that is decorated while it holds stays the bare function for good.

    ``config.check = "full"`` sets it for the process, ``with config(check="off"):`` for a block, in this thread or task
    and in tasks started there. At the start it is taken from the environment variable ``SIMPLETORCH_CHECK``.

    Examples:
        >>> import simpletorch
        >>> with simpletorch.config(check="off"):
        ...     print(simpletorch.config.check)
        off
        >>> simpletorch.config.check
        'once'
    """

    def __init__(self, check: Mode) -> None:
        self._check: Mode = check
        self._override: ContextVar[_Override | None] = ContextVar("simpletorch_check", default=None)
        self._overrides = 0
        self._lock = RLock()  # re-entrant: the garbage collector may end an override while the lock is held
        self.switch: Final = _Switch(check != "once")

    @property
    def check(self) -> Mode:
        """The mode that holds in this thread or task."""
        override = self._override.get()
        return self._check if override is None else override.mode

    @check.setter
    def check(self, mode: Mode) -> None:
        with self._lock:
            self._check = _mode(mode, "config.check")
            self._update()

    def __call__(self, *, check: Mode) -> _Block:
        """A context manager that sets the mode for a block.

        Raises:
            ValueError: there is no such mode.
        """
        return _Block(self, _mode(check, "config(check=…)"))

    def _enter(self, mode: Mode) -> None:
        self._override.set(_Override(self, mode, self._override.get()))

    def _exit(self) -> None:
        # Set, not reset by a token: a generator may be left in another context than the one it was entered in.
        inner = self._override.get()
        self._override.set(None if inner is None else inner.outer)

    def _count(self, change: int) -> None:
        with self._lock:
            self._overrides += change
            self._update()

    def _update(self) -> None:
        self.switch.special = self._overrides > 0 or self._check != "once"

    def __repr__(self) -> str:
        return f"simpletorch.config(check={self.check!r})"

    def __reduce__(self) -> str:
        return "config"  # there is one in a process


class _Block:
    """``with config(check=…)``; it may be entered as often as one likes, by several threads and tasks at once."""

    __slots__ = ("_mode", "_owner")

    def __init__(self, owner: Config, mode: Mode) -> None:
        self._owner, self._mode = owner, mode

    def __enter__(self) -> Config:
        self._owner._enter(self._mode)
        return self._owner

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._owner._exit()


config: Final = Config(_mode(os.environ.get("SIMPLETORCH_CHECK", "once"), "SIMPLETORCH_CHECK"))
SWITCH: Final = config.switch
