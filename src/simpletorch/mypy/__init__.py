"""The checker: a mypy plugin that knows dtype, shape and device of tensors. Use it with ``plugins = simpletorch.mypy``."""

from simpletorch.mypy.plugin import plugin

__all__ = ["plugin"]
