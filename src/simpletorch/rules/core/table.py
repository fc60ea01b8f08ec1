"""A table whose entries are read when they are asked for: a program uses a tenth of the families of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

__all__ = ["Table"]

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

E = TypeVar("E")
_ROOT: Final = __name__.removesuffix(".core.table")


@final
class Table(dict[str, E]):
    """Entries by name, and for those that aren't read yet the module that registers them, below ``simpletorch.rules``.

    It has all names from the beginning. A method that needs all entries (``items()``, ``values()``) reads all modules.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        super().__init__()
        self._modules = {name: module for module, names in modules.items() for name in names.split()}

    def is_read(self, name: str) -> bool:
        """Whether the entry is there already."""
        return dict.__contains__(self, name)

    def complete(self) -> None:
        """Read all modules."""
        for module in dict.fromkeys(self._modules.values()):
            import_module(f"{_ROOT}.{module}")

    def __missing__(self, name: str) -> E:
        module = self._modules.get(name)
        if module is None:
            raise KeyError(name)
        import_module(f"{_ROOT}.{module}")
        if not dict.__contains__(self, name):  # the index is older than the module
            raise KeyError(name)
        return dict.__getitem__(self, name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self._modules

    def get(self, name: str, default: Any = None) -> Any:
        """The entry, or the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def clear(self) -> None:
        """Forget all entries, those too that weren't read."""
        self._modules.clear()
        super().clear()

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(dict.__iter__(self)), **self._modules})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> dict_keys[str, E]:
        """The names."""
        self.complete()
        return super().keys()

    def items(self) -> dict_items[str, E]:
        """The names and their entries."""
        self.complete()
        return super().items()

    def values(self) -> dict_values[str, E]:
        """The entries."""
        self.complete()
        return super().values()
