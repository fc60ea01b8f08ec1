"""Whether and how borders check: ``off``, ``once`` per signature, or ``full``."""

from __future__ import annotations

import os
from contextvars import ContextVar, Token
from threading import Lock
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
    """What a border looks at on every call: whether anything but ``once`` may hold, for anybody."""

    __slots__ = ("special",)

    def __init__(self, special: bool) -> None:
        self.special = special


class Config:
    """The settings of this process, and of a block of code.

    ``config.check`` is the mode that holds here and now:

    - ``"once"`` (default): a signature (shapes, dtypes, devices and types of the arguments) is checked when first seen,
    - ``"full"``: every call is checked,
    - ``"off"``: nothing is checked; what is decorated while it holds stays the bare function for good.

    ``config.check = "full"`` sets it for the process, ``with config(check="off"):`` for a block, in this thread or task
    only. At the start it is taken from the environment variable ``SIMPLETORCH_CHECK``.
    """

    def __init__(self, check: Mode) -> None:
        self._check: Mode = check
        self._override: ContextVar[Mode | None] = ContextVar("simpletorch_check", default=None)
        self._blocks = 0
        self._lock = Lock()
        self.switch: Final = _Switch(check != "once")

    @property
    def check(self) -> Mode:
        """The mode that holds in this thread or task."""
        return self._override.get() or self._check

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

    def _enter(self, mode: Mode) -> Token[Mode | None]:
        with self._lock:
            self._blocks += 1
            self._update()
        return self._override.set(mode)

    def _exit(self, token: Token[Mode | None]) -> None:
        self._override.reset(token)
        with self._lock:
            self._blocks -= 1
            self._update()

    def _update(self) -> None:
        self.switch.special = self._blocks > 0 or self._check != "once"

    def __repr__(self) -> str:
        return f"simpletorch.config(check={self.check!r})"


class _Block:
    """One use of ``with config(check=…)``; it may be entered again after it was left."""

    def __init__(self, owner: Config, mode: Mode) -> None:
        self._owner, self._mode = owner, mode
        self._tokens: list[Token[Mode | None]] = []

    def __enter__(self) -> Config:
        self._tokens.append(self._owner._enter(self._mode))
        return self._owner

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._owner._exit(self._tokens.pop())


config: Final = Config(_mode(os.environ.get("SIMPLETORCH_CHECK", "once"), "SIMPLETORCH_CHECK"))
SWITCH: Final = config.switch
