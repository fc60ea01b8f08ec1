"""One small pure function per torch operation: shapes and dtypes in, shape and dtype out, or a `Mismatch`.

Importing this package loads every family, so that the table is complete.
"""

from simpletorch.rules import matmul
from simpletorch.rules.mismatch import CannotTell, Mismatch, Report
from simpletorch.rules.registry import MODULES, RULES, ModuleRule, Rule, infer, infer_module, new_module
from simpletorch.rules.values import ANYTHING, Device, Named, Scalar, TensorType, Value, tensor

__all__ = [
    "ANYTHING",
    "MODULES",
    "RULES",
    "CannotTell",
    "Device",
    "Mismatch",
    "ModuleRule",
    "Named",
    "Report",
    "Rule",
    "Scalar",
    "TensorType",
    "Value",
    "infer",
    "infer_module",
    "matmul",
    "new_module",
    "tensor",
]
