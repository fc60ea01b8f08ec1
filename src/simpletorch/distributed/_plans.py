"""Tensor parallel: one layer's weights divided among processes that compute on the same batch.

Shoeybi et al., Megatron-LM, 2019 (https://arxiv.org/abs/1909.08053): what widens is divided by its outputs, what
narrows after it by its inputs, so that each pair needs one sum.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import torch
from torch import nn

from simpletorch.checks import is_bordered
from simpletorch.distributed._group import has_group
from simpletorch.distributed._mesh import Mesh, direction
from simpletorch.distributed._sequence import sequence_styles
from simpletorch.errors import ShapeMismatch, TorchError, as_also

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

M = TypeVar("M", bound=nn.Module)

_Wrong: Final = as_also(TorchError, ValueError)

Style: TypeAlias = Literal["out", "in", "out and gather", "rows", "thirds"]
"""How a layer is divided. ``"out"``: its outputs, which stay divided; ``"in"``: its inputs, which are divided already,
and its outputs are sums; ``"out and gather"``: its outputs, which every process then gets whole; ``"rows"``: an
embedding's rows; ``"thirds"``: the outputs of a GPT-2's ``c_attn``, by heads, while its weight stays whole."""

Plan: TypeAlias = Mapping[str, Style]
"""A style for each module, by name; ``*`` is a part of a name between dots."""

LLAMA: Final[Plan] = {
    "model.embed_tokens": "rows",
    "model.layers.*.self_attn.q_proj": "out",
    "model.layers.*.self_attn.k_proj": "out",
    "model.layers.*.self_attn.v_proj": "out",
    "model.layers.*.self_attn.o_proj": "in",
    "model.layers.*.mlp.gate_proj": "out",
    "model.layers.*.mlp.up_proj": "out",
    "model.layers.*.mlp.down_proj": "in",
    "lm_head": "out and gather",
}
"""Llama, Mistral, Qwen2 and others with these names, ours and transformers'."""

_BLOCKS: Final[Mapping[str, Plan]] = {
    "BertLayer": {
        **dict.fromkeys([f"attention.self.{name}" for name in ("query", "key", "value")], "out"),
        "attention.output.dense": "in",
        "intermediate.dense": "out",
        "output.dense": "in",
    },
    "T5Attention": {**dict.fromkeys(("q", "k", "v", "relative_attention_bias"), "out"), "o": "in"},
    "T5DenseActDense": {"wi": "out", "wo": "in"},
    "T5DenseGatedActDense": {"wi_0": "out", "wi_1": "out", "wo": "in"},
    "GPT2Attention": {"c_attn": "thirds", "c_proj": "in"},
    "GPT2MLP": {"c_fc": "out", "c_proj": "in"},
}
"""Styles within our language models, by class. Embeddings and heads, whose weights are tied, stay whole."""

_HEADS: Final = ("heads", "kv_heads")  # of ours; transformers' attention counts heads by the width that it gets


def parallelize(model: M, mesh: Mesh | DeviceMesh, plan: Plan | None = None, *, sequence: bool = False) -> M:
    """Divide a model's layers along the direction ``tensor``, in place: every process there computes on one batch.

    Do this before `shard`, which then divides the rest along ``data``. Afterwards the parameters are `DTensor`, and
    their ``shape`` is the whole one. On one process without a group the model comes back as it was.

    Args:
        model: on any device, ``meta`` included.
        mesh: has a direction ``tensor``.
        plan: which layers are divided and how, such as ``{"layers.*.up": "out", "layers.*.down": "in"}``; by default
            that of a Llama, or of the blocks of our BERT, T5 and GPT-2, and of our `MLP` and `FeedForward`, wherever
            they are.
        sequence: between layers each process has its part of the tokens, as a `DTensor` (sequence parallel), which
            takes less memory and sends as much; of a `LlamaForCausalLM` with its own plan.

    Returns:
        The model.

    Raises:
        ValueError: a name of the plan is none of the model, the mesh has no direction ``tensor``, or ``sequence`` is
            asked of another model or with a plan.
        ValueError: the plan divides one weight, which two layers share, in two ways.
        ShapeMismatch: the processes don't divide a layer, or its heads; all such layers are listed.

    Source: https://docs.pytorch.org/docs/stable/distributed.tensor.parallel.html

    Examples:
        >>> from simpletorch import distributed, nn
        >>> model = distributed.parallelize(nn.MLP(8, 32, 3), distributed.Mesh(tensor=1))  # one process
        >>> distributed.held(model)
        387
    """
    if sequence and plan is not None:
        raise _Wrong("parallelize(sequence=True) has a plan of its own: leave plan= out")
    in_sequence = sequence_styles(model) if sequence else {}
    styles = styles_of(model, plan_for(model) if plan is None else plan)
    if isinstance(mesh, Mesh) and not has_group():
        return model
    part = direction(mesh, "tensor")
    if part is None:
        raise _Wrong(f"parallelize needs a mesh with the direction tensor, not {mesh}: use Mesh(tensor=…)")
    if lines := _undivided(model, styles, part.size()):
        raise as_also(ShapeMismatch, ValueError)(
            part.size(),
            lines,
            "\n    ".join([f"{part.size()} processes can't divide these layers evenly:", *lines]),
            operation="parallelize",
        )
    ties = _ties(model, styles)
    from torch.distributed.tensor.parallel import parallelize_module

    own = in_sequence or {name: _torch_style(model.get_submodule(name), style) for name, style in styles.items()}
    parallelize_module(model, part, own)
    _replicate_rest(model, part, set(own))
    for (first, attribute), *others in ties:
        for module, name in others:
            module.register_parameter(name, first.get_parameter(attribute))
    for name, style in styles.items():
        if style in ("out", "thirds"):
            _divide_heads(model, name, part.size())
    for name in _seeing_parts(model, styles):
        _leave_border(model.get_submodule(name))
    return model


def plan_for(model: nn.Module) -> Plan:
    """The plan for a model whose names are known.

    Raises:
        ValueError: they aren't.
    """
    names = {name for name, _ in model.named_modules()}
    for plan in (LLAMA, {name.removeprefix("model."): style for name, style in LLAMA.items() if name != "lm_head"}):
        if all(any(fnmatch.fnmatchcase(name, pattern) for name in names) for pattern in plan):
            return plan
    blocks = _pairs(model)
    if not blocks:
        raise _Wrong(
            f"parallelize has no plan for a {type(model).__name__}",
            hint="give one by the modules' names: parallelize(model, mesh, {'*.up': 'out', '*.down': 'in'})",
        )
    return blocks


def _pairs(model: nn.Module) -> dict[str, Style]:
    """In our blocks, the first layer of two by its outputs, the second by its inputs."""
    from simpletorch.nn import MLP, FeedForward

    found: dict[str, Style] = {}
    for name, module in model.named_modules():
        prefix = f"{name}." if name else ""
        children = dict(module.named_modules())
        if isinstance(module, (MLP, FeedForward)):
            layers = [child for child, layer in children.items() if isinstance(layer, nn.Linear)]
            for first, second in zip(layers[::2], layers[1::2], strict=False):
                found |= {prefix + first: "out", prefix + second: "in"}
        elif type(module).__module__.startswith("simpletorch.language.models."):
            styles = _BLOCKS.get(type(module).__name__, {})
            found |= {prefix + child: style for child, style in styles.items() if child in children}
    return found


def styles_of(model: nn.Module, plan: Plan) -> dict[str, Style]:
    """The plan with each module's own name.

    Raises:
        ValueError: nothing of the model has a name, or a style is unknown.
    """
    found: dict[str, Style] = {}
    for pattern, style in plan.items():
        if style not in _STYLES:
            raise _Wrong(f"{pattern} has the style {style!r}: it must be one of {', '.join(map(repr, _STYLES))}")
        names = [
            name
            for name, _ in model.named_modules()
            if fnmatch.fnmatchcase(name, pattern) and name.count(".") == pattern.count(".")
        ]
        if not names:
            raise _Wrong(
                f"the plan divides {pattern!r}, and a {type(model).__name__} has no such module",
                hint="names are those of model.named_modules(), with * for a part between dots",
            )
        found |= dict.fromkeys(names, style)
    return found


_STYLES: Final = ("out", "in", "out and gather", "rows", "thirds")


def divided_dim(module: nn.Module, style: str | None) -> int | None:
    """The dim of a layer's weight that a style divides, None for a weight that stays whole."""
    if style in (None, "thirds"):
        return None
    if style == "rows":
        return 0
    outputs_last = isinstance(module, nn.Embedding) or type(module).__name__ == "Conv1D"
    return int((style == "in") != outputs_last)


def _ties(model: nn.Module, styles: Mapping[str, Style]) -> list[list[tuple[nn.Module, str]]]:
    """The places of each parameter that several modules have: torch would give every place a parameter of its own.

    Raises:
        ValueError: they are divided along different dims.
    """
    places: dict[int, list[tuple[nn.Module, str]]] = {}
    dims: dict[int, set[int | None]] = {}
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            places.setdefault(id(parameter), []).append((module, name))
            dims.setdefault(id(parameter), set()).add(divided_dim(module, styles.get(path)))
            if len(dims[id(parameter)]) > 1:
                raise _Wrong(f"{path}.{name} is the weight of another layer too, and the plan divides that otherwise")
    return [those for those in places.values() if len(those) > 1]


def _seeing_parts(model: nn.Module, styles: Mapping[str, Style]) -> Iterable[str]:
    """The modules that give or take a part of a divided result: they divide outputs or inputs, but not both."""
    for path, _ in model.named_modules():
        within = {style for name, style in styles.items() if name.startswith(f"{path}.")}
        if within & {"out", "thirds", "in"} and (not within & {"out", "thirds"} or "in" not in within):
            yield path


def _leave_border(module: nn.Module) -> None:
    """Call a module's ``forward`` without its border: the annotations give the undivided sizes."""
    forward = type(module).forward
    if is_bordered(forward):
        module.forward = MethodType(forward.__wrapped__, module)  # type: ignore[attr-defined]


def _torch_style(module: nn.Module, style: Style) -> Any:
    if type(module).__name__ == "Conv1D":
        from simpletorch.distributed._conv1d import Conv1DParallel

        return Conv1DParallel(style)
    if style == "thirds":
        raise _Wrong(f"only a Conv1D of a GPT-2 is divided by 'thirds', not a {type(module).__name__}")
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

    if style == "out":
        return ColwiseParallel()
    if style == "in":
        return RowwiseParallel()
    if style == "rows":
        return RowwiseParallel(input_layouts=Replicate())
    return ColwiseParallel(output_layouts=Replicate())


def _undivided(model: nn.Module, styles: Mapping[str, Style], size: int) -> list[str]:
    lines = []
    for name, style in styles.items():
        module = model.get_submodule(name)
        weight = module.weight
        assert isinstance(weight, torch.Tensor)
        dim = divided_dim(module, style)
        # an embedding's or a head's last part may be smaller: nothing is computed beside it
        if dim is not None and style in ("out", "in") and weight.shape[dim] % size:
            what = "inputs" if style == "in" else "outputs"
            lines.append(f"{name}: {weight.shape[dim]} {what} for {size} processes")
        owner = model.get_submodule(name.rpartition(".")[0])
        for heads in _HEADS:
            number = getattr(owner, heads, None)
            line = f"{name.rpartition('.')[0]}: {number} {heads} for {size} processes"
            if style in ("out", "thirds") and isinstance(number, int) and number % size and line not in lines:
                lines.append(line)
    return lines


def _replicate_rest(model: nn.Module, mesh: DeviceMesh, planned: set[str]) -> None:
    """Norms and the like compute on all of their input in every process; with parameters that are `DTensor` too, since
    neither optimizers nor `clip_grad_norm` take some of these and some of those."""
    from torch.distributed.tensor import DTensor, Replicate, distribute_module

    def enter(_module: nn.Module, inputs: Any, mesh: DeviceMesh) -> Any:
        return tuple(
            DTensor.from_local(value, mesh, [Replicate()], run_check=False)
            if isinstance(value, torch.Tensor) and not isinstance(value, DTensor)
            else value
            for value in inputs
        )

    def leave(_module: nn.Module, outputs: Any, _mesh: DeviceMesh) -> Any:
        return outputs.to_local() if isinstance(outputs, DTensor) else outputs

    for name, module in model.named_modules():
        if name not in planned and any(True for _ in module.parameters(recurse=False)):
            distribute_module(module, mesh, None, enter, leave)


def _divide_heads(model: nn.Module, name: str, size: int) -> None:
    """A module that views its projections as heads has a part of the heads now."""
    owner = model.get_submodule(name.rpartition(".")[0])
    if vars(owner).get("_divided_by") is None:
        for heads in _HEADS:
            if isinstance(getattr(owner, heads, None), int):
                setattr(owner, heads, getattr(owner, heads) // size)
        owner._divided_by = size  # type: ignore[assignment]  # once, though three layers ask
