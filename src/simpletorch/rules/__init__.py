"""One small pure function per torch operation: shapes and dtypes in, shape and dtype out, or a `Mismatch`.

Importing this package loads every family (every module in this folder), so that the table is complete.
"""

from importlib import import_module
from pkgutil import walk_packages

from simpletorch.rules.core.mismatch import CannotTell, Mismatch, Report
from simpletorch.rules.core.registry import (
    MODULES,
    RULES,
    ModuleRule,
    Rule,
    infer,
    infer_module,
    new_module,
    parameters,
)
from simpletorch.rules.core.values import ANYTHING, Device, Many, Named, Packed, Scalar, TensorType, Value, tensor

for _family in walk_packages(__path__, f"{__name__}."):
    import_module(_family.name)

__all__ = [
    "ANYTHING",
    "MODULES",
    "RULES",
    "CannotTell",
    "Device",
    "Many",
    "Mismatch",
    "ModuleRule",
    "Named",
    "Packed",
    "Report",
    "Rule",
    "Scalar",
    "TensorType",
    "Value",
    "infer",
    "infer_module",
    "new_module",
    "parameters",
    "tensor",
]
