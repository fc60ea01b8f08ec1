"""Arguments to try an operator with, made from its annotations: sizes are distinct primes, then 0; every dtype."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import torch

from simpletorch.errors.context import describe
from simpletorch.kernels._schema import Parameter, Plain, Signature, TensorList, TensorSpec
from simpletorch.shapes import Axis, evaluate, parse_dim, variables

__all__ = ["Sample", "Unsampled", "given_samples", "made_samples", "map_tensors", "specs_of"]

_SMALL: Final = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
_LARGER: Final = (131, 37, 67, 41, 43, 47, 53, 59, 61, 71)  # no multiples of a block of 2^k, the first more than 128
_MOST_ELEMENTS: Final = 1 << 20
_FLOATS: Final = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
_OTHERS: Final = (torch.int64, torch.int32, torch.bool, torch.complex64)
_VALUES: Final[dict[str, Any]] = {"SymInt": 2, "float": 0.5, "bool": True, "Scalar": 2}


class Unsampled(Exception):
    """Raised for a parameter whose annotation gives no possible argument."""


@dataclass(frozen=True)
class Sample:
    """The arguments of one call, by position, and a description."""

    values: tuple[Any, ...]
    what: str = ""
    is_small: bool = True

    def to(self, device: str) -> Sample:
        """The same on another device, in memory of its own and with the same strides."""
        return replace(self, values=tuple(map_tensors(v, lambda t: _moved(t, device)) for v in self.values))

    def text(self, names: Sequence[str]) -> str:
        """The arguments by name, tensors by dtype and shape."""
        shown = [f"{n}: {_shown(n, v)}" for n, v in zip(names, self.values, strict=True)]
        return ", ".join(shown) + (f" ({self.what})" if self.what else "")


def _shown(name: str, value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_shown(name, v) for v in value)}]"
    return describe(name, value).type_text if isinstance(value, torch.Tensor) else repr(value)


def map_tensors(value: Any, change: Any) -> Any:
    """A value with its tensors changed, those in lists too."""
    if isinstance(value, list | tuple):
        return type(value)(map_tensors(v, change) for v in value)
    return change(value) if isinstance(value, torch.Tensor) else value


def _moved(tensor: torch.Tensor, device: str) -> torch.Tensor:
    moved = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    return moved.copy_(tensor.detach())


def given_samples(signature: Signature, samples: Sequence[Any]) -> list[Sample]:
    """The user's samples: a tuple of positional arguments, or a dict of named ones, for each call."""
    found = []
    for sample in samples:
        args, kwargs = ((), sample) if isinstance(sample, Mapping) else (sample, {})
        args = args if isinstance(args, tuple | list) else (args,)
        bound = signature.plain.bind(*args, **kwargs)
        bound.apply_defaults()
        found.append(Sample(tuple(bound.arguments.values())))
    return found


def made_samples(signature: Signature) -> Iterator[Sample]:
    """Samples that the annotations admit: each dtype, two sizes of everything, not contiguous, and empty.

    Raises:
        Unsampled: no value of a parameter's type can be made.
    """
    kinds = _kinds(signature)
    first = {kind: dtypes[0] for kind, dtypes in kinds.items()}
    yield _Maker(signature, _SMALL, first).sample("")
    for kind, dtypes in kinds.items():
        for dtype in dtypes[1:]:
            yield _Maker(signature, _SMALL, {**first, kind: dtype}).sample("")
    yield _Maker(signature, _LARGER, first).sample("larger", is_small=False)
    for what, change in (("not contiguous", _strided), ("transposed", _transposed)):
        sample = _Maker(signature, _SMALL, first).sample(what)
        yield replace(sample, values=tuple(map_tensors(v, change) for v in sample.values))
    for name in _names(signature):
        yield _Maker(signature, _SMALL, first, empty=name).sample("empty")
    for i, parameter in enumerate(signature.parameters):
        if isinstance(parameter.form, TensorSpec) and parameter.form.optional:
            sample = _Maker(signature, _SMALL, first).sample("")
            yield replace(sample, values=(*sample.values[:i], None, *sample.values[i + 1 :]))
        if isinstance(parameter.form, Plain) and parameter.form.type == "bool":
            sample = _Maker(signature, _SMALL, first).sample("")
            yield replace(sample, values=(*sample.values[:i], not sample.values[i], *sample.values[i + 1 :]))


def _strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, each second one of a larger tensor."""
    return torch.stack([tensor, tensor], dim=-1)[..., 0]


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, stored column by column."""
    return tensor.mT.contiguous().mT if tensor.ndim > 1 else tensor


def specs_of(parameter: Parameter) -> tuple[TensorSpec, ...]:
    """The specs of the tensors that a parameter takes."""
    form = parameter.form
    if isinstance(form, TensorList):
        return form.items or (form.item,)
    return (form,) if isinstance(form, TensorSpec) else ()


def _kinds(signature: Signature) -> dict[object, tuple[torch.dtype, ...]]:
    """The dtypes to try for each kind of dtypes in the annotations."""
    found: dict[object, tuple[torch.dtype, ...]] = {}
    for spec in (s for p in signature.parameters for s in specs_of(p)):
        known = (*_FLOATS, *_OTHERS)
        admitted = tuple(d for d in known if spec.dtypes is None or d in spec.dtypes) or spec.dtypes or ()
        if any(d in _FLOATS for d in admitted):
            admitted = tuple(d for d in admitted if d in _FLOATS)
        found[spec.kind] = admitted
    return found


def _names(signature: Signature) -> list[str]:
    """The names of sizes that a caller chooses; variadic ones as ``*name``."""
    found: dict[str, None] = {}
    for axis in (a for p in signature.parameters for s in specs_of(p) for a in s.axes or ()):
        if axis.kind == "rest":
            found[f"*{axis.expression}"] = None
        elif axis.kind == "dim" and "{" not in axis.expression:
            found |= dict.fromkeys(sorted(v.name for v in variables(parse_dim(axis.expression))))
    for parameter in signature.parameters:
        if isinstance(parameter.form, Plain) and parameter.form.size is not None:
            found |= dict.fromkeys(sorted(v.name for v in variables(parse_dim(parameter.form.size.expression))))
    return list(found)


class _Maker:
    """Makes the arguments of one call, for a size of each name and a dtype of each kind."""

    def __init__(
        self, signature: Signature, sizes: Sequence[int], dtypes: Mapping[object, torch.dtype], empty: str = ""
    ) -> None:
        self.signature = signature
        self.dtypes = dtypes
        left = list(sizes)
        self.sizes: dict[str, int] = {}
        self.rests: dict[str, tuple[int, ...]] = {}
        for name in _names(signature):
            if name.startswith("*"):
                self.rests[name] = (0,) if name == empty else (left.pop(0), left.pop(0))
            else:
                self.sizes[name] = 0 if name == empty else left.pop(0) if left else sizes[-1]
        self.free = left[0] if left else sizes[-1]
        self.generator = torch.Generator().manual_seed(0)

    def sample(self, what: str, *, is_small: bool = True) -> Sample:
        return Sample(tuple(map(self._value, self.signature.parameters)), what, is_small)

    def _value(self, parameter: Parameter) -> Any:
        form = parameter.form
        default = self.signature.plain.parameters[parameter.name].default
        if isinstance(form, TensorList):
            made = [self._tensor(s) for s in form.specs(3)]
            return made if form.container is list else tuple(made)
        if isinstance(form, TensorSpec):
            return self._tensor(form)
        if form.size is not None:
            return self._size(form.size)
        if default is not inspect.Parameter.empty:
            return default
        if form.type.endswith("?"):
            return None
        if form.type not in _VALUES:
            raise Unsampled(f"the annotation of {parameter.name} doesn't say what could be given for it")
        return _VALUES[form.type]

    def _size(self, axis: Axis) -> int:
        if axis.kind != "dim" or "{" in axis.expression:
            return self.free
        dim = parse_dim(axis.expression)
        size = evaluate(dim, {v: self.sizes[v.name] for v in variables(dim)})
        return max(size or 0, 0)

    def _tensor(self, spec: TensorSpec) -> torch.Tensor:
        shape: list[int] = []
        for axis in spec.axes if spec.axes is not None else (Axis("any"), Axis("any")):
            if axis.kind == "rest":
                shape += self.rests[f"*{axis.expression}"]
            else:
                shape.append(self._size(axis))
        dtype = self.dtypes[spec.kind]
        if torch.Size(shape).numel() > _MOST_ELEMENTS:
            raise Unsampled(f"a tensor of shape {tuple(shape)} would be too large")
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(shape, generator=self.generator, dtype=torch.float64).to(dtype)
        # small enough to be an index into anything that isn't empty
        return torch.randint(0, 2, shape, generator=self.generator).to(dtype)
