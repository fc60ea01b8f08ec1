"""One small pure function per torch operation: shapes and dtypes in, shape and dtype out, or a `Mismatch`.

The tables have every name, and read a family when one of its names is asked for (`core.index` says which has it).
"""

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
    try_hint,
)
from simpletorch.rules.core.values import (
    ANYTHING,
    Device,
    Group,
    Many,
    Named,
    Packed,
    Scalar,
    TensorType,
    Value,
    tensor,
)

__all__ = [
    "ANYTHING",
    "MODULES",
    "RULES",
    "CannotTell",
    "Device",
    "Group",
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
    "try_hint",
]
