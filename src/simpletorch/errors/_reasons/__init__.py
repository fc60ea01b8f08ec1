"""What torch's messages mean, by topic. Importing this package fills the table (`simpletorch.errors._reason`)."""

from importlib import import_module
from pkgutil import iter_modules

for _topic in iter_modules(__path__):
    import_module(f"{__name__}.{_topic.name}")
