"""The memory that a forward keeps for the backward: autograd's saved tensors of a call on shapes alone.

Tensors are torch's fake ones on the CPU, so that autograd saves what it saves there; a GPU's kernels may keep a little
less (the mask of a dropout) or more (a seed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import nn

# as nn/_summary_trace.py says: it has no public name yet
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode

from simpletorch.distributed._planning._precision import Precision
from simpletorch.errors import explain
from simpletorch.nn._summary_inputs import Inputs, Sized
from simpletorch.nn._summary_trace import undisturbed

__all__ = ["Traced", "traced"]


@dataclass
class Traced:
    """The tensors that one forward kept. Storages are numbered; a view doesn't count beside what it is a view of."""

    bytes: dict[int, int] = field(default_factory=dict)
    """Of each storage that is kept, or is an input of a block."""
    saved: dict[int, set[str]] = field(default_factory=dict)
    """Of each storage that autograd saved the blocks that saved it; ``""`` is outside of them."""
    inputs: dict[str, set[int]] = field(default_factory=dict)
    """The storages that each block was given."""
    shared: set[int] = field(default_factory=set)
    """The storages of which each rank of the tensor axis has its part."""
    last: dict[str, int] = field(default_factory=dict)
    """Of each parameter, how many blocks had begun when it was last used."""
    sizes: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Of each call of a module that was asked for: the bytes of its first input and of its output."""

    def kept(self, tensor: int) -> int:
        """The bytes that a rank keeps until the backward, if ``tensor`` ranks share what they can."""
        return sum(self._share(storage, tensor) for storage in self.saved)

    def kept_by_recomputing(self, tensor: int) -> tuple[int, int]:
        """The same if blocks are recomputed: the kept bytes, and the most that a block adds while it is recomputed."""
        outside = {storage for storage, blocks in self.saved.items() if "" in blocks}
        kept = outside.union(*self.inputs.values())
        adds = {
            block: sum(self._share(s, tensor) for s, blocks in self.saved.items() if block in blocks and s not in kept)
            for block in self.inputs
        }
        return sum(self._share(storage, tensor) for storage in kept), max(adds.values(), default=0)

    def _share(self, storage: int, tensor: int) -> int:
        return self.bytes[storage] // (tensor if storage in self.shared else 1)


def traced(
    model: nn.Module,
    inputs: Inputs,
    sizes: Mapping[str, int],
    *,
    precision: Precision,
    autocast: bool,
    blocks: Sequence[str] = (),
    split: Mapping[str, str] | None = None,
    loss: Callable[[Any], torch.Tensor] | None = None,
) -> Traced:
    """Call the model in training mode at these sizes, without computing or allocating, and count what is kept.

    Args:
        autocast: whether ``precision.compute`` is entered by autocast (whose copies of the weights are kept too), or
            the parameters themselves are of it.
        blocks: paths of modules that could be computed again.
        split: the style (``"out"``, ``"in"``) of the modules that the tensor axis shares, by path.
        loss: applied to the output before the backward.

    Raises:
        Exception: raised by the model; torch's own as `TorchError`.
    """
    found, split = Traced(), split or {}
    compute = precision.of_parameter if autocast else precision.of_compute
    with undisturbed(model, evaluation=False), FakeTensorMode(allow_non_fake_inputs=True), explain():
        state = {
            name: torch.empty(p.shape, dtype=compute(p.dtype), requires_grad=p.requires_grad)
            for name, p in model.named_parameters()
        }
        buffers = {name: torch.empty(b.shape, dtype=b.dtype) for name, b in model.named_buffers()}
        watch = _Watch(found, (*state.values(), *buffers.values()), state)
        watch.share(p for name, p in state.items() if name.rpartition(".")[0] in split and _is_split(name, p, split))
        floating = next((p.dtype for p in state.values() if p.is_floating_point()), torch.get_default_dtype())
        args, kwargs = inputs.made(_maker(sizes, floating))
        model.train()
        with ExitStack() as stack:
            stack.enter_context(_hooks(model, watch, blocks, split))
            stack.enter_context(watch)
            stack.enter_context(torch.autograd.graph.saved_tensors_hooks(watch.pack, _unpack))
            if autocast and precision.compute is not None:
                stack.enter_context(torch.autocast("cpu", precision.compute))
            output = functional_call(model, {**state, **buffers}, args, kwargs)
            if loss is not None:
                loss(output)
    return found


def _is_split(name: str, parameter: torch.Tensor, split: Mapping[str, str]) -> bool:
    """A bias that is added after the sum over the ranks is whole, and so are the weights of thirds."""
    style = split[name.rpartition(".")[0]]
    return style != "thirds" and (parameter.ndim > 1 or style != "in")


def _maker(sizes: Mapping[str, int], floating: torch.dtype) -> Callable[[Any], torch.Tensor]:
    def made(value: Sized | torch.Tensor) -> torch.Tensor:
        if isinstance(value, Sized):
            return torch.empty(value.at(sizes), dtype=value.dtype or floating)
        return torch.empty(value.shape, dtype=value.dtype)

    return made


def _unpack(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


class _Watch(TorchDispatchMode):
    """Follows which storages come from a shared parameter, and counts what is saved."""

    def __init__(self, found: Traced, own: Sequence[torch.Tensor], names: Mapping[str, torch.Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found, self.blocks = found, [""]
        self._alive: list[Any] = [t.untyped_storage() for t in own]  # an address is a name while it is in use
        self._own = {storage._cdata for storage in self._alive}
        self._names = {t.untyped_storage()._cdata: name for name, t in names.items()}

    def share(self, tensors: Any) -> None:
        self.found.shared.update(t.untyped_storage()._cdata for t in tensors)

    def whole(self, value: Any) -> None:
        self.found.shared.difference_update(t.untyped_storage()._cdata for t in _tensors(value))

    def pack(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = self.note(tensor)
        if storage not in self._own:
            self.found.saved.setdefault(storage, set()).add(self.blocks[-1])
        return tensor

    def note(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        self._alive.append(storage)
        self.found.bytes[storage._cdata] = storage.nbytes()
        return int(storage._cdata)

    def is_own(self, storage: int) -> bool:
        return storage in self._own

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is _BATCH_NORM and args[1] is not None:
            result = (result[0], *(torch.empty_like(r, dtype=args[1].dtype) for r in result[1:]))
        made = list(_tensors(result))
        self._alive += [t.untyped_storage() for t in made]
        given = {t.untyped_storage()._cdata for t in _tensors((args, kwargs))}
        self.found.last.update((self._names[s], len(self.found.inputs)) for s in given if s in self._names)
        if given & self.found.shared:
            self.share(made)
        return result


# torch's fake one keeps a batch's mean and deviation in the dtype of the input, where kernels have that of the weight
_BATCH_NORM: Final = torch.ops.aten.native_batch_norm.default


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif hasattr(value, "__dataclass_fields__"):
        yield from _tensors(vars(value) if hasattr(value, "__dict__") else ())


@contextmanager
def _hooks(model: nn.Module, watch: _Watch, blocks: Sequence[str], split: Mapping[str, str]) -> Iterator[None]:
    """Hooks that record the place in the forward, and where the ranks of the tensor axis join their parts."""
    modules = dict(model.named_modules())
    with ExitStack() as stack:
        for path in blocks:

            def enter(_module: Any, args: Any, kwargs: Any, path: str = path) -> None:
                given = {watch.note(t) for t in _tensors((args, kwargs))}
                watch.found.inputs.setdefault(path, set()).update(s for s in given if not watch.is_own(s))
                watch.blocks.append(path)

            def leave(_module: Any, _args: Any, _output: Any) -> None:
                watch.blocks.pop()

            module = modules[path]
            stack.callback(module.register_forward_pre_hook(enter, prepend=True, with_kwargs=True).remove)
            stack.callback(module.register_forward_hook(leave).remove)
        for path, style in split.items():

            def joined(module: Any, args: Any, output: Any, path: str = path, style: str = style) -> None:
                given = next(_tensors(args))
                learning = _bytes(given) if given.is_floating_point() else 0  # indices have no gradient
                watch.found.sizes.setdefault(path, []).append((learning, _bytes(next(_tensors(output)))))
                if style not in ("out", "thirds"):
                    watch.whole(output)

            stack.callback(modules[path].register_forward_hook(joined).remove)
        yield


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
