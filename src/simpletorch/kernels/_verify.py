"""`verify`: everything that can be asked of an operator, asked at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch.testing import assert_close

from simpletorch.errors import TorchError
from simpletorch.kernels._operator import Operator
from simpletorch.kernels._samples import Sample, Unsampled, given_samples, made_samples, map_tensors, specs_of
from simpletorch.kernels._schema import Plain

__all__ = ["Verification", "verify"]

Tolerances = Mapping[torch.dtype, tuple[float, float]]


@dataclass
class Verification:
    """The checks of an operator, and their samples; `verify` raises if one fails.

    ``passed`` has the samples by check and implementation, ``refused`` those that the reference can't take.

    Attributes:
        name: the operator's name.
        passed: samples as text, by the pair of check and implementation.
        refused: samples as text.

    Examples:
        >>> import torch
        >>> from simpletorch import Float, kernels
        >>> @kernels.operator("docs::verified")
        ... def scaled(x: Float[torch.Tensor, "n"], factor: float) -> Float[torch.Tensor, "n"]:
        ...     return factor * x
        >>> verification = kernels.verify(scaled, [(torch.ones(3), 2.0)])
        >>> verification.name, verification.refused
        ('docs::verified', [])
    """

    name: str
    passed: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rows = [("check", "implementation", "samples", "dtypes")]
        for (check, where), samples in self.passed.items():
            dtypes = dict.fromkeys(found for text in samples for found in re.findall(r"(\w+)\[", text))
            rows.append((check, where, str(len(samples)), " ".join(dtypes)))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
        if self.refused:
            lines.append(f"refused by the reference: {'; '.join(self.refused)}")
        return "\n".join([self.name, *lines])


def verify(
    op: Operator[..., Any],
    samples: Sequence[Any] | None = None,
    *,
    tolerances: Tolerances | None = None,
) -> Verification:
    """Check an operator: its implementations against its reference, its gradients, and its registration in torch.

    ::

        print(kernels.verify(relu_add))

    It checks the CPU and each device of this machine that has an implementation. The results and the gradients must be
    those of the reference. The other checks are ``gradcheck`` in float64, ``opcheck`` (schema, fake implementation,
    dynamic shapes), and whether ``torch.vmap`` gives the same as a loop.

    Args:
        op: the operator.
        samples: arguments of calls, a tuple (or a dict of names) for each. By default they are made from the
            annotations: every dtype that they admit, sizes that are distinct primes, strided and transposed tensors,
            empty ones, None for optional arguments.
        tolerances: relative and absolute, by dtype; those of `torch.testing.assert_close` by default.

    Returns:
        The checks that were made, with their samples.

    Raises:
        TorchError: a check fails; it names the check, the implementation and the sample. Or there are no samples.

    Examples:
        >>> import torch
        >>> from simpletorch import Float, kernels
        >>> @kernels.operator("docs::third")
        ... def scaled(x: Float[torch.Tensor, "n"], factor: float) -> Float[torch.Tensor, "n"]:
        ...     return factor * x
        >>> verification = kernels.verify(scaled, [(torch.ones(3), 2.0)])
        >>> verification.refused
        []
    """
    run = _Run(op, Verification(op.name), tolerances or {})
    found = list(_samples(op, samples, run.done))
    for device in _devices(op):
        for sample in found:
            run.on(device, sample)
    return run.done


def _samples(op: Operator[..., Any], given: Sequence[Any] | None, done: Verification) -> Iterator[Sample]:
    if given is not None:
        yield from given_samples(op.signature, given)
        return
    right = "write verify(op, samples=[(x, y), …])"
    try:
        made = list(made_samples(op.signature))
    except Unsampled as error:
        raise TorchError(f"{error}; {right}", operation=f"verify({op.name})") from None
    first: Exception | None = None
    for sample in made:
        try:
            _reference(op, _own(sample.values))
        except Exception as error:  # values that the annotation admits and the operator doesn't: an index, an empty one
            if not sample.what and first is None:
                first = error
            done.refused.append(sample.text(op.signature.names))
        else:
            yield sample
    if len(done.refused) == len(made):
        reason = f"the reference refuses all arguments that were made from its annotations; {right}"
        raise TorchError(reason, operation=f"verify({op.name})") from first


def _devices(op: Operator[..., Any]) -> list[str]:
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return ["cpu", *(d for d in op.implementations if accelerator is not None and d == accelerator.type)]


def _own(values: Sequence[Any]) -> list[Any]:
    """The same arguments in memory of their own, with the same strides."""
    return list(Sample(tuple(values)).to(_device_of(values)).values)


def _device_of(values: Sequence[Any]) -> str:
    return next((str(t.device) for v in values for t in _tensors(v)), "cpu")


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, list | tuple):
        return [t for v in value for t in _tensors(v)]
    return [value] if isinstance(value, torch.Tensor) else []


def _reference(op: Operator[..., Any], values: Sequence[Any]) -> Any:
    named = dict(zip(op.signature.names, values, strict=True))
    positional = [named.pop(p.name) for p in op.signature.parameters if not p.keyword_only]
    return op.reference(*positional, **named)


_MANY: Final = 300  # of so many inputs gradcheck looks at all derivatives one by one in about a second
_LOW: Final = (torch.float16, torch.bfloat16)


@dataclass
class _Run:
    """The checks of one operator."""

    op: Operator[..., Any]
    done: Verification
    tolerances: Tolerances
    _checked: set[str] = field(default_factory=set)

    def on(self, device: str, sample: Sample) -> None:
        """Every check of one sample."""
        sample = sample.to(device)
        where = f"implementation on {device}" if device in self.op.implementations else f"reference on {device}"
        checks: list[tuple[str, Callable[[Sample], None]]] = [("results", self._results)]
        if not self.op.signature.mutated and self._differentiable(sample.values):
            checks.append(("gradients", self._gradients))
            if sample.is_small and self._is_double(sample):
                checks.append(("gradcheck", self._gradcheck))
        if sample.is_small and sample.what in ("", "empty"):
            checks.append(("opcheck", self._opcheck))
        if sample.is_small and not self.op.signature.mutated and any(map(_tensors, sample.values)):
            checks.append(("vmap", self._vmap))
        for name, check in checks:
            text = sample.text(self.op.signature.names)
            try:
                check(sample)
            except Exception as error:
                reason = f"{name} of the {where} on {text}: {_first_line(error)}"
                raise TorchError(reason, operation=f"verify({self.op.name})") from error
            self.done.passed.setdefault((name, where), []).append(text)

    # -- the checks ----------------------------------------------------------------------------------------------------

    def _results(self, sample: Sample) -> None:
        ours, theirs = _own(sample.values), _own(sample.values)
        with torch.no_grad():
            got, expected = self.op.unchecked(*ours), _reference(self.op, theirs)
            exact = self._exactly(sample.values)
        self._compare(got, expected, None if exact is None else exact[0])
        for i in self.op.signature.mutated:
            self._compare(ours[i], theirs[i], None if exact is None else exact[1][i])
        kept = [i for i in range(len(ours)) if i not in self.op.signature.mutated]
        for i in kept:
            assert_close(
                _tensors(ours[i]), _tensors(sample.values[i]), rtol=0, atol=0, equal_nan=True, msg=_changes(self, i)
            )

    def _gradients(self, sample: Sample) -> None:
        ours, theirs = self._leaves(sample.values), self._leaves(sample.values)
        got = self._pulled(self.op.unchecked(*ours), ours)
        expected = self._pulled(_reference(self.op, theirs), theirs)
        for g, e, name in zip(got, expected, self._leaf_names(ours), strict=True):
            try:
                self._compare(g, e, None)
            except AssertionError as error:
                raise AssertionError(f"the gradient of {name}: {error}") from None

    def _gradcheck(self, sample: Sample) -> None:
        leaves = self._leaves(map_tensors(list(sample.values), lambda t: t.double() if t.is_floating_point() else t))
        tensors = [t for v in leaves for t in _tensors(v)]

        def call(*given: torch.Tensor) -> Any:
            left = list(given)
            result = self.op.unchecked(*map_tensors(leaves, lambda _: left.pop(0)))
            return tuple(t for t in _tensors(result) if t.is_floating_point() or t.is_complex())

        wide = sum(t.numel() for t in tensors) > _MANY
        torch.autograd.gradcheck(call, tensors, fast_mode=wide)

    def _opcheck(self, sample: Sample) -> None:
        signature = self.op.signature
        kinds = [spec.is_differentiable for spec in signature.results or ()]
        # opcheck adds the sums of all results to that of the first, and can't add floats to integers
        plain = signature.mutated or (kinds and not kinds[0] and any(kinds))
        values = sample.values if plain else self._leaves(sample.values)
        torch.library.opcheck(self.op.op, tuple(list(v) if isinstance(v, tuple) else v for v in values))

    def _vmap(self, sample: Sample) -> None:
        batch = 2
        values = [map_tensors(v, lambda t: torch.stack([t] * batch)) for v in sample.values]
        dims = [map_tensors(v, lambda t: 0) if _tensors(v) else None for v in sample.values]
        with torch.no_grad():
            got = torch.vmap(self.op.unchecked, in_dims=tuple(dims), randomness="same")(*values)
            one = self.op.unchecked(*_own(sample.values))
        for g, o in zip(_tensors(got), _tensors(one), strict=True):
            self._compare(g, torch.stack([o] * batch), None)

    # -- values --------------------------------------------------------------------------------------------------------

    def _exactly(self, values: Sequence[Any]) -> tuple[Any, list[Any]] | None:
        """The reference's result in float64, for a result in 16 bits, where the reference itself is inexact."""
        if not any(t.dtype in _LOW for v in values for t in _tensors(v)):
            return None
        wide = map_tensors(_own(values), lambda t: t.double() if t.dtype in _LOW else t)
        return _reference(self.op, wide), wide

    def _compare(self, got: Any, expected: Any, exact: Any) -> None:
        exacts = _tensors(exact) if exact is not None else [None] * len(_tensors(expected))
        for g, e, x in zip(_tensors(got), _tensors(expected), exacts, strict=True):
            options = {}
            if g.dtype in self.tolerances:
                rtol, atol = self.tolerances[g.dtype]
                options = {"rtol": rtol, "atol": atol}
            try:
                assert_close(g, e, equal_nan=True, **options)  # type: ignore[arg-type]
            except AssertionError:
                if x is None or g.dtype != e.dtype or g.shape != e.shape:
                    raise
                assert_close(g, x.to(g.dtype), equal_nan=True, **options)  # type: ignore[arg-type]

    def _differentiable(self, values: Sequence[Any]) -> list[torch.Tensor]:
        pairs = zip(self.op.signature.parameters, values, strict=True)
        return [t for p, v in pairs if p.is_differentiable for t in _tensors(v) if _is_float(t)]

    def _leaves(self, values: Sequence[Any]) -> list[Any]:
        """The arguments, those that have gradients as leaves."""
        found = []
        for parameter, value in zip(self.op.signature.parameters, _own(values), strict=True):
            wants = parameter.is_differentiable and not isinstance(parameter.form, Plain)
            found.append(map_tensors(value, lambda t: t.requires_grad_() if _is_float(t) else t) if wants else value)
        return found

    def _leaf_names(self, values: Sequence[Any]) -> list[str]:
        pairs = zip(self.op.signature.names, values, strict=True)
        return [name for name, value in pairs for t in _tensors(value) if t.requires_grad]

    @staticmethod
    def _pulled(result: Any, values: Sequence[Any]) -> list[torch.Tensor]:
        """The gradients for given weights of the results; zeros where there is none."""
        leaves = [t for v in values for t in _tensors(v) if t.requires_grad]
        outputs = [t for t in _tensors(result) if t.requires_grad]
        generator = torch.Generator().manual_seed(1)
        weights = [
            torch.randn(t.shape, generator=generator, dtype=torch.float64).to(t) if t.numel() else torch.zeros_like(t)
            for t in outputs
        ]
        if not outputs:
            return [torch.zeros_like(t) for t in leaves]
        found = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
        return [torch.zeros_like(t) if g is None else g for g, t in zip(found, leaves, strict=True)]

    def _is_double(self, sample: Sample) -> bool:
        """Whether the operator takes the sample in float64, and has not yet."""
        specs = [s for p in self.op.signature.parameters if p.is_differentiable for s in specs_of(p)]
        if any(spec.dtypes is not None and torch.float64 not in spec.dtypes for spec in specs):
            return False
        key = repr([sample.what, *(t.shape for v in sample.values for t in _tensors(v)), *map(_plain, sample.values)])
        new = key not in self._checked
        self._checked.add(key)
        return new and sample.what in ("", "not contiguous")


def _is_float(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _plain(value: Any) -> str:
    return "" if _tensors(value) else repr(value)


def _changes(run: _Run, index: int) -> str:
    return f"it changes {run.op.signature.names[index]}, which mutates= doesn't name"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:4]) if lines else type(error).__name__
