"""Operators of your own: one annotated function, and everything that torch wants of an operator is derived from it."""

from simpletorch.kernels._extension import extension
from simpletorch.kernels._operator import Operator, operator
from simpletorch.kernels._verify import Verification, verify

__all__ = ["Operator", "Verification", "extension", "operator", "verify"]
