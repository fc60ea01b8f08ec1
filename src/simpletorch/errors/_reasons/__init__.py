"""The meaning of torch's messages, one file a topic; importing this package fills the table."""

from importlib import import_module
from pkgutil import iter_modules

from simpletorch.errors._reasons._table import Reason, reason_for

__all__ = ["Reason", "reason_for"]

# sorted by name: that is the order in which messages are tried
for _topic in iter_modules(__path__):
    import_module(f"{__name__}.{_topic.name}")
