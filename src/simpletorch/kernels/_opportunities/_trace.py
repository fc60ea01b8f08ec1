"""A model run on tensors without values, and every kernel that its step would start, with where it came from."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from inspect import signature
from pathlib import Path
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import torch
from torch import nn

# The documented way to run a program without computing (docs.pytorch.org/docs/stable/torch.compiler_fake_tensor.html)
# has no public name yet.
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from simpletorch.errors import explain
from simpletorch.kernels._opportunities._collapse import collapsed
from simpletorch.kernels._opportunities._graph import Graph, Node, Value, values_in
from simpletorch.kernels._opportunities._traffic import traffic
from simpletorch.nn._summary_trace import FORMULAS, undisturbed

__all__ = ["traced"]

_TORCH: Final = str(Path(torch.__file__).parent)
_OURS: Final = str(Path(__file__).parents[2])
# what holds no tensor of the step
_PLAIN: Final = (
    *(int, float, complex, str, bytes, type(None), type, torch.dtype, torch.device),
    *(FunctionType, MethodType, BuiltinFunctionType, ModuleType),
)
# parts of simpletorch that models are made of, rather than what calls them
_MODELS: Final = tuple(f"{_OURS}/{part}" for part in ("nn/_blocks", "nn/_recurrent", "vision/", "losses/"))
_WRAPPERS: Final = tuple(f"{_TORCH}/{part}" for part in ("_compile", "_dynamo/", "utils/_python_dispatch", "_ops"))
# functions that torch makes out of several kernels on the CPU, where a GPU has one
_COMPOSED: Final = frozenset(("dropout", "rms_norm"))


def traced(
    model: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    dtype: torch.dtype | None,
    backward: bool,
    loss: Callable[..., Any] | None,
    targets: Sequence[Any],
) -> Graph:
    """The kernels of ``model(*args, **kwargs)``, then of ``loss(output, *targets)``, then of the gradients.

    Raises:
        ValueError: the model asks for values, has lazy layers, or gives nothing to differentiate.
        Exception: raised by the model; torch's own as `TorchError`.
    """
    model = getattr(model, "_orig_mod", model)  # a compiled model by its parts
    owner = _owner(model)
    if any(nn.parameter.is_lazy(tensor) for tensor in (*owner.parameters(), *owner.buffers())):
        raise ValueError(
            "opportunities: the model has lazy layers; call it once on a real input, and they learn their sizes"
        )
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    recorder = _Recorder(mode)
    fake = _Fakes(mode, dtype, recorder)
    args, kwargs, targets = pytree.tree_map_only(torch.Tensor, fake, (tuple(args), dict(kwargs), tuple(targets)))
    try:
        with undisturbed(owner, evaluation=False), mode, _places(recorder, owner), torch.set_grad_enabled(backward):
            own = _exchanged(owner, fake)
            wanted = [leaf for leaf in (*own, *pytree.tree_leaves((args, kwargs))) if _is_leaf(leaf)]
            with explain(), _AsOnAGpu(), recorder:
                output = model(*args, **kwargs)
                if loss is not None:
                    output = loss(output, *targets)
                slopes = _gradients(output, wanted, recorder) if backward else None
            return recorder.graph((output, slopes, owner))  # the model, for what it keeps
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        where = "" if recorder.place is None else f" at {Path(recorder.place[0]).name}:{recorder.place[1]}"
        raise ValueError(
            f"opportunities: the model asks for values ({error.func}{where}), and a step that values decide can't be "
            "counted on shapes alone; give the parts of the model that don't ask"
        ) from error


def _is_leaf(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.requires_grad


def _owner(model: Callable[..., Any]) -> nn.Module:
    """The module whose parameters take part: the model itself, or that of a method."""
    found = model if isinstance(model, nn.Module) else getattr(model, "__self__", None)
    return found if isinstance(found, nn.Module) else nn.Module()


def _tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors that can be reached from a value; results, and models' caches, are objects of any kind."""
    todo, seen = [value], set()
    while todo:
        item = todo.pop()
        if isinstance(item, _PLAIN) or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, torch.Tensor):
            yield item
            continue
        if isinstance(item, Mapping):
            todo += item.values()
        elif isinstance(item, list | tuple | set | frozenset | deque):
            todo += item
        todo += getattr(item, "__dict__", {}).values()


def _exchanged(owner: nn.Module, fake: _Fakes) -> list[torch.Tensor]:
    """Put tensors without values in place of a model's own, until `undisturbed` puts these back."""
    found = []
    for module in owner.modules():
        for tensors in (module._parameters, module._buffers):
            for name, tensor in tensors.items():
                if tensor is not None:
                    tensors[name] = made = fake(tensor)
                    found.append(made)
    return list(dict.fromkeys(found))


def _gradients(output: Any, wanted: Sequence[torch.Tensor], recorder: _Recorder) -> Any:
    """The gradients of everything that the step gave; those that arrive from behind it are given."""
    leaves = [tensor for tensor in _tensors_in(output) if tensor.requires_grad]
    if not leaves:
        raise ValueError(
            "opportunities: the model gives nothing that requires a gradient, so backward=True has no work"
        )
    with recorder.aside():
        starts = [torch.empty_like(leaf) for leaf in leaves]
    recorder.backward = True
    try:
        return torch.autograd.grad(leaves, [*wanted, *recorder.leaves.values()], starts, allow_unused=True)
    finally:
        recorder.backward = False


class _Fakes:
    """Makes tensors without values, each once."""

    def __init__(self, mode: FakeTensorMode, dtype: torch.dtype | None, recorder: _Recorder) -> None:
        self._mode, self._dtype, self._recorder = mode, dtype, recorder
        self._made: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._made:
            self._made[id(tensor)] = (tensor, self._of(tensor))
        return self._made[id(tensor)][1]

    def _of(self, tensor: torch.Tensor) -> torch.Tensor:
        dtype = tensor.dtype
        if self._dtype is not None and dtype.is_floating_point:
            dtype = self._dtype
        with self._mode:
            if tensor.is_meta or dtype != tensor.dtype:
                device = torch.device("cpu") if tensor.is_meta else tensor.device
                made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype, device=device)
                made.requires_grad_(tensor.requires_grad)
            elif isinstance(tensor, FakeTensor):
                made = tensor
            else:
                made = self._mode.from_tensor(tensor)
        if not tensor.is_meta and not isinstance(tensor, FakeTensor):
            self._recorder.note_source(made, tensor)
        return made


class _AsOnAGpu(TorchFunctionMode):
    """Calls attention without dropout: the CPU has no fused kernel that drops, GPUs have, with the same traffic."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if func is torch.nn.functional.scaled_dot_product_attention:
            if len(args) > 4:
                args = (*args[:4], 0.0, *args[5:])
            elif "dropout_p" in given:
                given["dropout_p"] = 0.0
        elif func is torch.nn.functional.multi_head_attention_forward:
            bound = signature(func).bind(*args, **given)
            if not bound.arguments.get("need_weights", True):
                bound.arguments["dropout_p"] = 0.0
            args, given = bound.args, bound.kwargs
        return func(*args, **given)


class _Recorder(TorchDispatchMode):
    """Notes every operation that isn't a view."""

    def __init__(self, mode: FakeTensorMode) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._mode = mode
        self.backward = False
        self.leaves: dict[int, torch.Tensor] = {}
        """Parameters that a function brought along."""
        self.paths: list[str] = []
        self.place: tuple[str, int] | None = None
        self._nodes: list[Node] = []
        self._owners: dict[int, tuple[str, tuple[str, int] | None]] = {}
        self._views: dict[Value, tuple[Value, int | None]] = {}
        self._kept: list[Any] = []  # so that no storage is used again
        self._buffers: dict[int, int] = {}
        self._versions: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._differentiable: set[int] = set()
        self._seen: set[Value] = set()
        self._sources: dict[int, tuple[torch.Tensor, int]] = {}
        self._aside = False
        self._frame: FrameType | None = None
        self._calls = 0

    def note_source(self, fake: torch.Tensor, real: torch.Tensor) -> None:
        """Remember which tensor with values a fake one stands for."""
        value = self.value(fake)
        self._sources[value.buffer] = (real, real.storage_offset() - value.offset)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Operations inside aren't part of the step."""
        self._aside = True
        try:
            yield
        finally:
            self._aside = False

    def value(self, tensor: torch.Tensor) -> Value:
        """The present value of a tensor."""
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError) as error:
            layout = str(tensor.layout).removeprefix("torch.")
            raise ValueError(
                f"opportunities: a tensor of layout {layout} has no bytes that could be counted"
            ) from error
        # the address of the storage's header: a fake storage has no data whose address could tell it from others
        buffer = self._buffers.setdefault(storage._cdata, len(self._buffers))
        if buffer not in self._sizes:
            self._kept.append(tensor)
            self._sizes[buffer] = storage.nbytes()
        if tensor.requires_grad:
            self._differentiable.add(buffer)
        shape = tuple(tensor.shape)
        strides = tuple(stride if size != 1 else 0 for size, stride in zip(shape, tensor.stride(), strict=True))
        lazy = tensor.is_conj() or tensor.is_neg()
        version = self._versions.get(buffer, 0)
        return Value(buffer, version, int(tensor.storage_offset()), shape, strides, tensor.dtype, lazy)

    def _described(self, tree: Any) -> Any:
        return pytree.tree_map_only(torch.Tensor, self.value, tree)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given, named = args, dict(kwargs or {})
        if self._aside:
            return func(*given, **named)
        if torch.is_inference_mode_enabled() and func._can_decompose():
            with self:
                parts = func.decompose(*given, **named)
            if parts is not NotImplemented:
                return parts
        given, named = pytree.tree_map_only(torch.Tensor, self._fake, (given, named))
        frame = _caller(sys._getframe(1))
        if not self.backward:
            self.place = _place(frame)
        before = self._described((given, named))
        changed = self._changed(func, given, named)
        out = func(*given, **named)
        tensors = [leaf for leaf in pytree.tree_leaves(out) if isinstance(leaf, torch.Tensor)]
        bases = list(values_in(before))
        buffers = {value.buffer for value in bases}
        if changed or any(self.value(tensor).buffer not in buffers for tensor in tensors):
            self._note(func, given, named, before, changed, out, tensors, frame)
        elif tensors and bases:
            number = self._number(self.paths[-1] if self.paths else "", self.place)
            self._seen.update(bases)
            for tensor in tensors:
                # what was there before isn't made by this view: a view of a view may be the whole again
                if (value := self.value(tensor)) not in self._seen:
                    self._seen.add(value)
                    self._views[value] = (bases[0], number)
        return out

    def _number(self, path: str, place: tuple[str, int] | None) -> int | None:
        """The number that autograd gave to the operation that runs, if it has a gradient."""
        if self.backward or not torch.is_grad_enabled():
            return None
        number = torch._C._autograd._get_sequence_nr() - 1
        if number in self._owners:  # an operation without gradient has the number of the one before it
            return None
        self._owners[number] = (path, place)
        return number

    def _fake(self, tensor: torch.Tensor) -> torch.Tensor:
        if isinstance(tensor, FakeTensor):
            return tensor
        fake = self._mode.from_tensor(tensor)
        self.note_source(fake, tensor)
        if tensor.requires_grad and tensor.is_leaf:
            self.leaves.setdefault(id(tensor), tensor)
        return fake

    def _changed(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
        """The tensors that the schema says are written to."""
        found = []
        for i, argument in enumerate(func._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = args[i] if i < len(args) else kwargs.get(argument.name)
                found += [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        return found

    def _note(
        self,
        func: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        before: Any,
        changed: Sequence[torch.Tensor],
        out: Any,
        tensors: Sequence[torch.Tensor],
        frame: FrameType,
    ) -> None:
        earlier = [self.value(tensor) for tensor in changed]
        for buffer in {value.buffer for value in earlier}:
            self._versions[buffer] = self._versions.get(buffer, 0) + 1
        outputs = tuple(dict.fromkeys(self.value(tensor) for tensor in (*changed, *tensors)))
        self._seen.update(outputs)
        name = func.overloadpacket.__name__
        arguments, keywords = before
        reads, writes = traffic(name, arguments, keywords, earlier, outputs)
        # what is changed in part depends on what it was
        partial = {old.key for old in earlier if old.bytes < self._sizes[old.buffer]}
        node = Node(
            index=len(self._nodes),
            op=func,
            args=tuple(arguments),
            kwargs=dict(keywords),
            outputs=outputs,
            reads=reads,
            writes=writes,
            uses=frozenset(value.key for value, _ in reads) | partial,
            flops=_flops(func, args, kwargs, out),
            backward=self.backward,
            sequences=(),
            path=self.paths[-1] if self.paths else "",
            place=self.place,
        )
        self._belongs(node, frame)
        self._nodes.append(node)

    def _belongs(self, node: Node, frame: FrameType) -> None:
        """Which forward operation a node of the backward pass belongs to, by the numbers that autograd gives."""
        if not self.backward:
            node.call = self._call(frame)
            number = self._number(node.path, node.place)
            node.sequences = () if number is None else (number,)
            return
        # private; what torch.compile's tracer asks for the same purpose (torch.fx.proxy)
        current = torch._C._current_autograd_node()
        number = -1 if current is None else int(current._sequence_nr())
        node.path, node.place = self._owners.get(number, ("", None))
        node.sequences = (number,) if number in self._owners else ()

    def _call(self, frame: FrameType) -> tuple[str, int] | None:
        """The function of torch that this operation is a part of, if that is one kernel on a GPU."""
        code = frame.f_code
        if code.co_name not in _COMPOSED or code.co_filename != torch.nn.functional.__file__:
            return None
        if frame is not self._frame:
            self._frame, self._calls = frame, self._calls + 1
        return code.co_name, self._calls

    def graph(self, left: Any) -> Graph:
        """The recorded graph; ``left`` are the tensors that the step leaves behind."""
        keys = {self.value(tensor).key for tensor in _tensors_in(left) if isinstance(tensor, FakeTensor)}
        # what was there before the step, and was changed
        made = {value.buffer for node in self._nodes for value in node.outputs if value.version == 0}
        keys |= {(buffer, version) for buffer, version in self._versions.items() if buffer not in made}
        known = (self._views, self._sources, self._sizes)
        return collapsed(Graph(self._nodes, frozenset(keys), frozenset(self._differentiable), *known))


def _flops(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    formula = flop_registry.get(func.overloadpacket)
    if formula is not None:
        return int(formula(*args, **kwargs, out_val=out))
    formula = FORMULAS.get(func.overloadpacket)
    if formula is None:
        return 0
    sizes = [arg.shape if isinstance(arg, torch.Tensor) else arg for arg in args]
    return int(formula(*sizes, **kwargs))


def _caller(frame: FrameType) -> FrameType:
    """The frame that called torch's operation: between it and a mode lie wrappers of torch's."""
    while frame.f_code.co_filename.startswith(_WRAPPERS) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _place(frame: FrameType | None) -> tuple[str, int] | None:
    """The innermost line of the program; in a model of this package, a line of it."""
    ours = None
    while frame is not None and frame.f_code is not traced.__code__:
        file = frame.f_code.co_filename
        if file.startswith(_MODELS):
            ours = ours or (file, frame.f_lineno)
        elif not file.startswith((_TORCH, _OURS, "<")) or file.startswith("<ipython") or file == "<stdin>":
            return file, frame.f_lineno
        frame = frame.f_back
    return ours


@contextmanager
def _places(recorder: _Recorder, owner: nn.Module) -> Iterator[None]:
    """Hooks on every module, so that the recorder knows which one is running."""
    with ExitStack() as stack:
        for name, module in owner.named_modules():
            if isinstance(module, torch.jit.ScriptModule):  # takes no hooks once it is compiled
                continue

            def enter(_module: nn.Module, _args: Any, name: str = name) -> None:
                recorder.paths.append(name)

            def leave(_module: nn.Module, _args: Any, _output: Any) -> None:
                recorder.paths.pop()

            stack.callback(module.register_forward_pre_hook(enter, prepend=True).remove)
            stack.callback(module.register_forward_hook(leave).remove)
        yield
