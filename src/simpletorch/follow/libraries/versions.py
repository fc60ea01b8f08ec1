"""Versions that a program compares: `packaging`, `pkg_resources`, `distutils`, and torch's own (`versions.txt`)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch import _outside as outside
from simpletorch.follow.libraries import ALIASES, MADE, OWN, gives
from simpletorch.follow.sources import installed
from simpletorch.follow.values import Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_TEXT: Final = Path(__file__).with_suffix(".txt")
_VERSION: Final = re.compile(r"^__version__ = '([^']*)'", re.MULTILINE)
OWN.update(dict.fromkeys(("packaging.version.Version", "packaging.version.parse"), _TEXT))
ALIASES["pkg_resources.parse_version"] = "packaging.version.parse"
for _class in ("distutils.version.LooseVersion", "distutils.version.StrictVersion", "looseversion.LooseVersion"):
    ALIASES[_class] = "packaging.version.Version"
gives("simpletorch_versions.other")


class TorchVersion(str):
    """A text that compares with others as versions do: ``torch.torch_version.TorchVersion``."""

    __slots__ = ()

    def __lt__(self, other: Any) -> Any:
        return _compared(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _compared(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _compared(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _compared(operator.ge, self, other)


def _compared(compare: Callable[[Any, Any], bool], a: str, b: Any) -> Any:
    try:
        return compare(_key(a), _key(b))
    except ValueError:  # other words than numbers
        return compare(str(a), b)


def _key(version: Any) -> tuple[tuple[int, ...], bool]:
    """The numbers without zeros behind them, and whether it is a build, as 2.13.0+cpu, which comes after 2.13.0."""
    release, build, _ = version.partition("+") if isinstance(version, str) else (".".join(map(str, version)), "", "")
    numbers = [int(n) for n in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), bool(build)


def _of_torch(run: Interpreter) -> Value:
    """The version of the torch that is installed here, by the text of its own file."""
    source = installed.source_of("torch.version")
    found = None if source is None else _VERSION.search(outside.content(source).decode(errors="replace"))
    if found is None:
        return Unknown("torch's version", "str")
    return TorchVersion(found[1])


MADE["torch.__version__"] = _of_torch
ALIASES["torch.version.__version__"] = "torch.__version__"
