"""The checker: a mypy plugin that knows dtype, shape and device of tensors (``plugins = simpletorch.mypy``)."""

from simpletorch.mypy.plugin import plugin

__all__ = ["plugin"]
