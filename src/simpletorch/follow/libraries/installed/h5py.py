"""``h5py``: groups and datasets of files that are read (`h5py.txt`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import files
from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.installed import spoils, stand
from simpletorch.follow.values import Dict, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

stand("h5py", "h5py.txt", {name: f"{name} _hl.{place}.{name}" for name, place in (
    ("File", "files"), ("Group", "group"), ("Dataset", "dataset"),
)})  # fmt: skip
spoils("simpletorch_h5py.written", "what is written to a file of HDF5")


@native("simpletorch_h5py.contents")
def _contents(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The members of a file by name; unknown where they aren't known."""
    found = files.load(run, ("hdf5",), args[0])
    return found if isinstance(found, Dict) else run.unknown("what is in a file of HDF5", None, "data")


@native("simpletorch_h5py.kind")
def _kind(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether a member is a "group" or a "dataset"; "" if that isn't known."""
    found = run.resolve(args[0])
    return "group" if isinstance(found, Dict) else "dataset" if isinstance(found, Tensor) else ""
