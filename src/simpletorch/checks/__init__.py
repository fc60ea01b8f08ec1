"""The run-time border: annotations are enforced where a user names a border, and cost almost nothing there."""

from simpletorch.checks._border import Border, bordered, checked, local_names
from simpletorch.checks._config import Config, Mode, config
from simpletorch.checks._instances import remember_sizes

__all__ = ["Border", "Config", "Mode", "bordered", "checked", "config", "local_names", "remember_sizes"]
