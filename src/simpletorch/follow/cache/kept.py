"""Following with what is kept: a program is followed if it wasn't before, or if a look-up is answered differently."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from locale import getpreferredencoding
from pathlib import Path
from typing import Any, Final, final

from simpletorch import _outside as outside
from simpletorch._programs import Kind
from simpletorch.follow.cache.own import digest_of_simpletorch
from simpletorch.follow.cache.store import Store, folder_of
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import installed
from simpletorch.rules.core.codes import Severity

__all__ = ["Question"]

_FORM: Final = 1
"""Of the documents: another one is another key."""


@cache
def _store(folder: Path) -> Store:
    return Store(folder)


def _holds(document: Any) -> bool:
    """Whether all that the answer's follow looked up is as it was."""
    return document is not None and outside.still(document["looks"], installed.AGAIN)


@final
class Question:
    """A follow that is asked for: `follow`'s arguments, and what else decides its answer beside look-ups.

    Args:
        uses_cache: whether an answer may be kept, and one that is kept may be given.
        keeps_cut: also one that the limit of time or memory has cut short. A fresh follow would end somewhere near.
        opened: texts that count instead of the disk's; then nothing is kept.
        path, arguments, kind, steps, seconds, severities, data: those of `follow`.
    """

    def __init__(
        self,
        path: str,
        arguments: Sequence[str] = (),
        *,
        uses_cache: bool,
        keeps_cut: bool = False,
        kind: Kind = "program",
        data: bool | Sequence[Path] = True,
        severities: Mapping[str, Severity] | None = None,
        opened: Mapping[str, str] | None = None,
        **limits: float,
    ) -> None:
        self._path, self._arguments, self._opened = path, arguments, opened
        self._keeps_cut = keeps_cut
        self._options: dict[str, Any] = {"kind": kind, "data": data, "severities": severities, **limits}
        folder = folder_of(os.environ) if uses_cache and not opened else None
        self._store = None if folder is None else _store(folder)
        self._key = None if self._store is None else self._made_key(self._store)

    def _made_key(self, store: Store) -> str | None:
        """The name of the entry; None where nothing may be kept."""
        try:
            own, here = digest_of_simpletorch(store), os.getcwd()
        except OSError:
            return None
        options = {
            name: sorted(value.items()) if isinstance(value, Mapping) else str(value)
            for name, value in self._options.items()
        }
        # the encoding, not `sys.flags.utf8_mode`: a process without a locale is in that mode, its children aren't
        python = sys.version, sys.platform, sys.byteorder, getpreferredencoding(False).lower()
        asked = _FORM, own, python, here, self._keeps_cut, self._path, tuple(self._arguments), sorted(options.items())
        return outside.digest(repr(asked).encode(errors="surrogatepass"))

    def kept(self) -> Told | None:
        """The answer that is kept, if all that it looked up is as it was."""
        if self._store is None or self._key is None:
            return None
        document = self._store.get(self._key)
        try:
            return Told.from_json(document["told"]) if _holds(document) else None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):  # of another hand
            return None

    def followed(self) -> Told:
        """Follow the program, and keep the answer unless a fault of ours is in it, or a file changed meanwhile."""
        from simpletorch.follow.followed import follow

        with outside.recording() as looks:
            found = follow(self._path, self._arguments, opened=self._opened, **self._options)
        told = Told.of(found)
        is_whole = self._keeps_cut or not found.is_cut
        if self._store is not None and self._key is not None and is_whole and looks.is_stable and not found.faults:
            self._store.put(self._key, {"looks": looks.answers, "told": told.as_json()})
        return told

    def told(self) -> Told:
        """The answer, kept or fresh."""
        kept = self.kept()
        return self.followed() if kept is None else kept
