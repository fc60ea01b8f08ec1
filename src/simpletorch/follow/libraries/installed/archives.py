"""``zipfile`` and ``tarfile``: the names in archives on the disk (`archives.txt`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import files
from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.installed import spoils, stand
from simpletorch.follow.values import List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

stand("zipfile", "archives.txt", {"ZipFile": "ZipFile"})
stand("tarfile", "archives.txt", {"TarFile": "TarFile", "open": "open"})
spoils("simpletorch_archives.written", "what is in an archive", "data")


@native("simpletorch_archives.names")
def _names(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The names of an archive's members, in its order; unknown where they aren't known."""
    found = files.members_of(run, args[0])
    return run.unknown("what is in an archive", None, "data") if found is None else List(tuple(found))
