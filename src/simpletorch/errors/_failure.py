"""A failed operation, as far as known: its name, its values and their names."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import nn

from simpletorch.errors._description import describe, dtype_name, layer_text
from simpletorch.errors._fields import Location, Operand
from simpletorch.errors._lookup import MISSING
from simpletorch.errors._stack import Step
from simpletorch.rules import ANYTHING, ModuleRule, Report, TensorType, infer, infer_module, try_hint
from simpletorch.rules import Value as RuleValue
from simpletorch.rules.core.mismatch import Kind

__all__ = ["Failure", "Judge", "Value"]


@dataclass(frozen=True, slots=True)
class Judge:
    """The rule of an operation or a layer, with the arguments that it is asked about; without one it knows nothing."""

    rule: str | ModuleRule = ""
    args: Sequence[RuleValue] = ()
    kwargs: Mapping[str, RuleValue] = field(default_factory=dict)
    said: Report | None = None  # of a layer that couldn't be built

    def __call__(self) -> RuleValue | Report:
        """The rule's answer."""
        if self.said is not None:
            return self.said
        if isinstance(self.rule, ModuleRule):
            return infer_module(self.rule, self.args, self.kwargs)
        return infer(self.rule, self.args, self.kwargs)

    def try_hint(self, kind: Kind, hint: str) -> bool | None:
        """Whether the call, refused for this kind of reason, goes through with what a hint writes (`try_hint`)."""
        return try_hint(self.rule, self.args, self.kwargs, kind, hint)


@dataclass(frozen=True, slots=True)
class Value:
    """An argument: its name in the source, the parameter it is for, itself, and what rules know of it.

    ``value`` is `MISSING` where the argument is an expression whose value is gone; what it was may still be known.
    """

    name: str
    role: str
    value: Any
    known: RuleValue = ANYTHING

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor of known shape and dtype."""
        return isinstance(self.value, torch.Tensor) or (self.value is MISSING and self._inferred is not None)

    @property
    def _inferred(self) -> TensorType | None:
        known = self.known
        if not isinstance(known, TensorType) or known.dtype is None or not known.shape.is_exact:
            return None
        return known if all(type(d) is int for d in known.shape.dims) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape, () for other values."""
        if isinstance(self.value, torch.Tensor):
            return describe("", self.value).shape or ()
        inferred = self._inferred if self.value is MISSING else None
        return () if inferred is None else tuple(d for d in inferred.shape.dims if isinstance(d, int))

    @property
    def dtype(self) -> str | None:
        """The name of the tensor's dtype, None for other values."""
        if isinstance(self.value, torch.Tensor):
            return dtype_name(self.value.dtype)
        inferred = self._inferred if self.value is MISSING else None
        return None if inferred is None else str(inferred.dtype)

    @property
    def device(self) -> str | None:
        """Where the tensor is, None if that isn't known."""
        if isinstance(self.value, torch.Tensor):
            return str(self.value.device)
        known = self.known
        return str(known.device) if isinstance(known, TensorType) and known.device is not None else None

    def operand(self, role: str | None = None) -> Operand:
        """The value as an error shows it."""
        return Operand(self.name, self.dtype, self.shape, self.device, role=None if role == self.name else role)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed operation, as far as known. Everything may be missing but torch's message."""

    message: str
    operation: str | None = None
    values: tuple[Value, ...] = ()
    layer: nn.Module | None = None
    layer_name: str = ""
    step: Step | None = None
    node: ast.AST | None = None
    module_path: str | None = None
    judge: Judge = Judge()
    error: BaseException | None = None
    frames: tuple[FrameType, ...] = ()  # the user's, from the inside out
    models: tuple[tuple[str, nn.Module], ...] = ()  # the outermost module being called, by name
    batch_size: int | None = None
    location: Location | None = None

    @property
    def tensors(self) -> list[Value]:
        """The arguments that are tensors, in the order of the call."""
        return [v for v in self.values if v.is_tensor]

    def role(self, *names: str) -> Value | None:
        """The argument for the first of these parameters that has one."""
        return next(
            (v for name in names for v in self.values if v.role == name and (v.value is not MISSING or v.is_tensor)),
            None,
        )

    def tensor(self, index: int, *roles: str) -> Value | None:
        """The tensor that was given for one of ``roles``, else the tensor number ``index`` (from 0), if it is known."""
        found = self.role(*roles)
        if found is not None and found.is_tensor:
            return found
        tensors = self.tensors
        # an operand that isn't known may be a tensor, and then the count is off
        return tensors[index] if index < len(tensors) and not self._has_gaps else None

    def with_shape(self, shape: Sequence[int]) -> Value | None:
        """The one tensor among the arguments that has this shape."""
        found = [v for v in self.tensors if v.shape == tuple(shape)]
        return found[0] if len(found) == 1 else None

    @property
    def _has_gaps(self) -> bool:
        return any(v.value is MISSING and not v.is_tensor for v in self.values)

    def operands(self, report: Report | None = None) -> list[Operand]:
        """The tensors and the layer, described; with the parameters that a rule's sentence speaks of."""
        # by identity: two operands of one dtype and shape are equal
        roles = {} if report is None else {id(known): name for name, known in report.operands.items()}
        out = [v.operand(roles.get(id(v.known))) for v in self.tensors]
        if self.layer is not None:
            out.append(Operand(self.layer_name, text=layer_text(self.layer)))
        return out
