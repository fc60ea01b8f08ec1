"""The model as a function of tensors alone, and the inputs that it is compared on."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode  # where torch's own documentation imports it from

from simpletorch.checks import config
from simpletorch.export._reading import Parameter, Request
from simpletorch.export._signature import Symbol, TensorSpec, leaves, rebuilt, size_at, substituted, tensors_of
from simpletorch.shapes import Dim

__all__ = ["Call", "evaluating"]

_SEED: Final = 20_011


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model in eval mode, each module back in its own mode and with its own buffers afterwards.

    `nn.TransformerEncoder` goes its ordinary way, as an exported program does: torch's fast path gives other numbers
    where a text is padded.
    """
    modes = [(module, module.training) for module in model.modules()]
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    model.eval()
    try:
        with Buffers(model).kept():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)
        for module, training in modes:
            module.training = training


class Buffers:
    """The buffers of a model, which it may change when it is called: ``changed`` has the names of those."""

    def __init__(self, model: nn.Module) -> None:
        self.changed: set[str] = set()
        self._found = [
            (module, f"{path}.{name}".lstrip("."), name, tensor, tensor.clone())
            for path, module in model.named_modules()
            for name, tensor in module.named_buffers(recurse=False)
            if not tensor.is_inference()  # which can't be changed, and has no version
        ]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Put back what is changed within."""
        versions = [tensor._version for *_, tensor, _ in self._found]
        try:
            yield
        finally:
            for (module, path, name, tensor, value), version in zip(self._found, versions, strict=True):
                if getattr(module, name, None) is not tensor:
                    setattr(module, name, tensor)
                    self.changed.add(path)
                if tensor._version != version:
                    with torch.no_grad():
                        tensor.copy_(value)
                    self.changed.add(path)


class Flat(nn.Module):
    """A model whose inputs and outputs are tensors, whatever containers it has itself."""

    def __init__(self, model: nn.Module, parameters: Sequence[Parameter]) -> None:
        super().__init__()
        self.model = model
        self._parameters_read = tuple(parameters)

    def run(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """The model's tensors for these."""
        args, kwargs = arguments(self._parameters_read, tensors)
        return tuple(leaves(self.model(*args, **kwargs)))


def arguments(parameters: Sequence[Parameter], tensors: Sequence[torch.Tensor]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of ``forward``, made of its tensors in order."""
    rest = iter(tensors)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    names_only = False
    for parameter in parameters:
        value = rebuilt(parameter.node, rest)
        names_only = names_only or parameter.keyword_only
        if names_only:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return args, kwargs


def flattened(model: nn.Module, parameters: Sequence[Parameter]) -> Flat:
    """A `Flat` whose ``forward`` has the tensors' own names, which artefacts take over."""
    names = [spec.name for p in parameters for spec in tensors_of(p.node)]
    if not all(name.isidentifier() for name in names):
        raise AssertionError(names)
    listed = ", ".join(names)
    space: dict[str, Any] = {}
    # text, as only a function with these parameters has their names; they are identifiers, see above
    exec(f"def forward(self, {listed}):\n    return self.run(({listed},))\n", space)
    made: Flat = type("Flat", (Flat,), {"forward": space["forward"]})(model, parameters)
    return made


class Call:
    """A request as something to call: eagerly, and in the form that is exported."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.specs = request.specs()
        self.ranges: dict[str, tuple[int, int]] = {}
        self.buffers = Buffers(request.model)
        self.ran: set[tuple[tuple[str, int], ...]] = set()  # sizes at which the model has run
        self.alone = False  # what a boolean is that has a row of a mask for itself

    def with_sizes(self, sizes: Mapping[str, Dim], symbols: Sequence[Symbol]) -> Call:
        """The call with these sizes in the place of symbols, and these symbols left."""
        parameters = tuple(dataclasses.replace(p, node=substituted(p.node, sizes)) for p in self.request.parameters)
        call = Call(dataclasses.replace(self.request, parameters=parameters, symbols=tuple(symbols)))
        call.ranges = self.ranges
        call.buffers = self.buffers
        return call

    def tensors(self, sizes: Mapping[str, int]) -> list[torch.Tensor] | None:
        """Inputs of these sizes, the same at each call; None where a size comes out negative or unknown."""
        generator = torch.Generator().manual_seed(_SEED)
        made = []
        for spec in self.specs:
            shape = [size_at(size, sizes) for size in spec.shape]
            if any(size is None or size < 0 for size in shape):
                return None
            made.append(self._tensor(spec, [size for size in shape if size is not None], generator))
        return made

    def _tensor(self, spec: TensorSpec, shape: list[int], generator: torch.Generator) -> torch.Tensor:
        given = self.request.given.get(spec.name)
        device = next((t.device for t in self.request.model.parameters()), torch.device("cpu"))
        if given is not None:
            if list(given.shape) == shape:
                return given.detach()
            if not given.numel():
                return torch.zeros(shape, dtype=spec.dtype, device=given.device)
            # what the caller gave shows which values are right: masks, positions, probabilities
            drawn = torch.randint(given.numel(), shape, generator=generator)
            return given.detach().flatten()[drawn.to(given.device)]
        if spec.dtype == torch.bool:
            return self._mask(shape, generator).to(device)
        if spec.dtype.is_floating_point or spec.dtype.is_complex:
            wide = torch.complex64 if spec.dtype.is_complex else torch.float32
            return torch.randn(shape, generator=generator, dtype=wide).to(device, spec.dtype)
        least, most = self.ranges.get(spec.name, _integers(spec.dtype))
        return torch.randint(least, most + 1, shape, generator=generator, dtype=torch.int64).to(device, spec.dtype)

    def _mask(self, shape: list[int], generator: torch.Generator) -> torch.Tensor:
        """Booleans, both of them in each row: attention to nothing has no result, which formats differ about."""
        mask = torch.rand(shape, generator=generator) < 0.5
        if not shape or shape[-1] == 1:
            return torch.full_like(mask, self.alone) if shape else mask
        if shape[-1]:
            mask[..., -1] = ~mask[..., 0]
        return mask

    def draws_masks(self) -> bool:
        """Whether booleans are drawn, in rows."""
        return any(s.dtype == torch.bool and s.shape and s.name not in self.request.given for s in self.specs)

    def eager(self, tensors: Sequence[torch.Tensor]) -> Any:
        """The model's own result."""
        args, kwargs = arguments(self.request.parameters, tensors)
        with torch.no_grad(), self.buffers.kept():
            return self.request.model(*args, **kwargs)

    def precise(self, tensors: Sequence[torch.Tensor]) -> Any:
        """The result of a float64 copy of the model; None if there is none."""
        wide = [t.double() if t.is_floating_point() else t for t in tensors]
        args, kwargs = arguments(self.request.parameters, wide)
        # a model may not be copied, or insist on its dtype
        with contextlib.suppress(Exception), torch.no_grad(), config(check="off"):
            return copy.deepcopy(self.request.model).double()(*args, **kwargs)
        return None

    def is_plain(self, output: Any) -> bool:
        """Whether the model's own ``forward`` takes and gives what an artefact can."""
        plain = all(isinstance(p.node, TensorSpec) and not p.keyword_only for p in self.request.parameters)
        return plain and _is_plain(output)

    def exported_form(self, output: Any) -> nn.Module:
        """The module that is exported: the model, or a `Flat` around it."""
        if self.is_plain(output):
            return self.request.model
        return flattened(self.request.model, self.request.parameters).eval()

    def find_ranges(self, sizes: Mapping[str, int]) -> None:
        """Find which integers each input may hold, by the tables of the model that it is looked up in."""
        specs = [s for s in self.specs if _is_index(s.dtype) and s.name not in self.request.given]
        for spec in specs:
            self.ranges[spec.name] = (0, 0)
        zeros = self.tensors(sizes) if specs else None
        if zeros is None:
            return
        before = self._lookups(zeros)
        for spec in specs:
            place = self.specs.index(spec)
            ones = list(zeros)
            ones[place] = torch.ones_like(zeros[place])
            after = self._lookups(ones)
            rows = [
                (count - 1 - low) // (high - low)
                for (count, low), (_, high) in zip(before, after, strict=False)
                if high > low
            ]
            self.ranges[spec.name] = (0, max(min(rows), 0) if rows else _integers(spec.dtype)[1])

    def lookups(self, sizes: Mapping[str, int]) -> list[tuple[int, int]]:
        """How many rows the tables have that are looked up at these sizes, and the highest row, in order.

        Integers that are given are zeros, so that what is looked up comes of the sizes.
        """
        tensors = self.tensors(sizes)
        return (
            []
            if tensors is None
            else self._lookups([torch.zeros_like(t) if _is_index(t.dtype) else t for t in tensors])
        )

    def _lookups(self, tensors: Sequence[torch.Tensor]) -> list[tuple[int, int]]:
        """How many rows the tables have that are looked up, and the highest row, in order."""
        seen = _Lookups(self.request.model)
        # where a number is out of some range, what was looked up before counts
        with contextlib.suppress(Exception), seen:
            self.eager([t.clone() for t in tensors])
        return seen.found


class _Lookups(TorchDispatchMode):
    """Notes which rows of the model's own tables are looked up: how many there are, and the highest index."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: list[tuple[int, int]] = []
        self._tables = {t.data_ptr() for t in (*model.parameters(), *model.buffers()) if t.numel()}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in _TABLE_OPERATIONS and args[0].data_ptr() in self._tables:
            dim = args[1] if name in ("index_select", "gather") else 0
            index = args[2] if name in ("index_select", "gather") else args[1]
            for d, tensor in enumerate(index) if isinstance(index, list | tuple) else [(dim, index)]:
                if tensor is not None and tensor.numel() and _is_index(tensor.dtype):
                    self.found.append((args[0].shape[d], int(tensor.max())))
        return func(*args, **(kwargs or {}))


_TABLE_OPERATIONS: Final = (
    "embedding",
    "index",
    "index_select",
    "gather",
    "_embedding_bag",
    "_embedding_bag_forward_only",
)


def _integers(dtype: torch.dtype) -> tuple[int, int]:
    """The integers of a dtype that inputs are drawn from where no table says more: bytes are pixels, others small."""
    return (0, 255) if dtype == torch.uint8 else (0, 7)


def _is_index(dtype: torch.dtype) -> bool:
    return dtype in (torch.int64, torch.int32)


def _is_plain(output: Any) -> bool:
    if isinstance(output, torch.Tensor):
        return True
    if type(output) in (tuple, list):
        return all(map(_is_plain, output))
    return type(output) is dict and all(map(_is_plain, output.values()))
