"""A folder of answers: one file an entry, bounded in size, used by several processes at once, and safe to delete.

An entry is JSON behind a digest of it. One that is damaged, cut short or unreadable isn't there. A folder that can't be
written to is no error: nothing is kept.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

from simpletorch._outside import digest

__all__ = ["CACHE_VARIABLE", "Store", "folder_of"]

CACHE_VARIABLE: Final = "SIMPLETORCH_CACHE"
"""In the environment: the folder of all that simpletorch keeps, or ``off``, which keeps nothing of follows."""
MOST_BYTES: Final = 1 << 26
_LARGEST: Final = 1 << 22  # of an entry
_NO: Final = ("0", "false", "no", "off")
_ENTRY: Final = ".json"
_UNFINISHED: Final = ".new"
_ABANDONED: Final = 3600  # seconds after which an unfinished file is left over
_USED_AGAIN: Final = 600  # seconds between two notes that an entry is in use


def folder_of(environment: Mapping[str, str]) -> Path | None:
    """The folder that a process with this environment uses; None where nothing is to be kept."""
    said = environment.get(CACHE_VARIABLE, "").strip()
    if said.lower() in _NO:
        return None
    home = Path(said) if said else Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache", "simpletorch")
    return home / "follow"


@final
class Store:
    """The entries in a folder.

    Args:
        folder: made when the first entry is written.
        most: bytes that all entries may take; beyond them those go that were not used for longest.
    """

    def __init__(self, folder: Path, most: int = MOST_BYTES) -> None:
        self._folder = os.fspath(folder)
        self._most = most
        self._size: int | None = None  # of all entries, when they were last counted, with what was written since

    def get(self, key: str) -> Any:
        """The document of an entry; None if it isn't there or damaged."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                said, _, body = file.read().partition(b"\n")
        except OSError:
            return None
        if said.decode(errors="replace") != digest(body):
            return None
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return None
        with suppress(OSError):
            if time.time() - os.stat(path).st_mtime > _USED_AGAIN:
                os.utime(path)
        return document

    def put(self, key: str, document: Any) -> None:
        """Keep a document; another process sees it whole or not at all."""
        body = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")
        if len(body) > min(_LARGEST, self._most):
            return
        new = os.path.join(self._folder, f"{key}.{secrets.token_hex(8)}{_UNFINISHED}")
        with suppress(OSError):
            self._make_folder()
            try:
                with open(new, "xb") as file:
                    file.write(digest(body).encode() + b"\n" + body)
                os.replace(new, self._path(key))
            except BaseException:
                with suppress(OSError):
                    os.unlink(new)
                raise
            self._bound(len(body))

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key + _ENTRY)

    def _make_folder(self) -> None:
        if os.path.isdir(self._folder):
            return
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        for name, text in _OF_A_CACHE.items():
            with suppress(FileExistsError), open(os.path.join(self._folder, name), "x", encoding="utf-8") as file:
                file.write(text)

    def _bound(self, written: int) -> None:
        """Count what was written, and remove entries where that is too much, down to three quarters."""
        if self._size is not None:
            self._size += written
            if self._size <= self._most:
                return
        found = self._entries()
        self._size = sum(size for _, size, _ in found)
        if self._size <= self._most:
            return
        for _, size, path in sorted(found):
            if self._size <= self._most * 3 // 4:
                break
            with suppress(OSError):
                os.unlink(path)
            self._size -= size

    def _entries(self) -> list[tuple[float, int, str]]:
        """When each entry was last used, its size and its path."""
        found = []
        with os.scandir(self._folder) as files:
            for file in files:
                with suppress(OSError):
                    about = file.stat()
                    if file.name.endswith(_ENTRY):
                        found.append((about.st_mtime, about.st_size, file.path))
                    elif file.name.endswith(_UNFINISHED) and time.time() - about.st_mtime > _ABANDONED:
                        os.unlink(file.path)
        return found


_OF_A_CACHE: Final = {
    ".gitignore": "# made by simpletorch\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# What simpletorch has followed; safe to delete.\n",
}
