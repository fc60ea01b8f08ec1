"""The run-time border: annotations are enforced where a user names a border, and cost almost nothing there."""

from simpletorch.checks._border import Border
from simpletorch.checks._checked import checked
from simpletorch.checks._config import Config, Mode, config
from simpletorch.checks._hints import UNRESOLVED, Resolver, is_tensor_hint, mapped
from simpletorch.checks._pure import pure
from simpletorch.checks._remembered_sizes import remember_sizes
from simpletorch.checks._scope import local_names, outer_names
from simpletorch.checks._wrapper import bordered, is_bordered

__all__ = [
    "UNRESOLVED",
    "Border",
    "Config",
    "Mode",
    "Resolver",
    "bordered",
    "checked",
    "config",
    "is_bordered",
    "is_tensor_hint",
    "local_names",
    "mapped",
    "outer_names",
    "pure",
    "remember_sizes",
]
