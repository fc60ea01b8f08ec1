"""Modules: objects of ``torch.nn.Module`` and its subclasses, what calling them gives, and torch's own layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, tensors
from simpletorch.follow.libraries.pytorch.signatures import PARAMETERS
from simpletorch.follow.marks import carried, devices, gradients, layout, sequences, streams
from simpletorch.follow.marks.mark import LayerCall
from simpletorch.follow.memory import answers, closures, remembered
from simpletorch.follow.memory.answers import Answer, answer
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members
from simpletorch.follow.numbers import indexes, sizes
from simpletorch.follow.values import (
    MISSING,
    BoundNative,
    Choice,
    Dict,
    Function,
    Instance,
    List,
    Method,
    Native,
    Sizes,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from simpletorch.rules import (
    ANYTHING,
    CannotTell,
    Mismatch,
    ModuleRule,
    Report,
    TensorType,
    infer_module,
    new_module,
    parameters,
)
from simpletorch.rules import Value as RuleValue
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.layers.linear import Linear, flattened
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "CONVERTED",
    "MODULE",
    "attribute",
    "build",
    "call",
    "children",
    "forward",
    "holds_known",
    "hooks_of",
    "is_certain",
    "is_module",
    "is_of_none",
    "lacks",
    "named_modules",
    "named_tensors",
    "note_change",
    "only",
    "optimized",
    "own_tensors",
]

MODULE: Final = members.MODULE
_OPEN: Final = (Unknown, Choice, Instance)


def is_module(value: Value) -> bool:
    """Whether it is an ``nn.Module``."""
    return isinstance(value, Instance) and value.cls.is_a(MODULE)


def call(run: Interpreter, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``module(*args, **kwargs)``: hooks aren't known, so a module with some gives what isn't known."""
    run.training.called[id(module.cells)] = module
    if (refused := events.MODULE(run, module)) is not None:
        return refused
    if module.state and (found := _with_hooks(run, module, args, kwargs)) is not MISSING:
        return found
    found = module.cells.get("forward")
    if found is not None:
        return run.call(found, args, kwargs)
    in_class = module.cls.find("forward")
    if in_class is None and (refused := events.NO_FORWARD(run, module)) is not None:
        return refused
    if in_class is None:
        return run.call_in_the_dark(run.unknown(f"{module!r} has no forward that is known"), args, kwargs)
    if isinstance(in_class[0], Function):
        inside = run.training.inside
        inside.append(module)
        try:
            return remembered.call(run, module, in_class[0], args, kwargs)
        finally:
            inside.pop()
    if type(in_class[0]) is Native:
        return run.call(in_class[0], (module, *args), kwargs)
    return run.call(Method(in_class[0], module), args, kwargs)


def hooks_of(run: Interpreter, module: Instance, kind: str = "hooks") -> tuple[Value, ...] | None:
    """The hooks that are called with a module's result, or before it; None where only some ways here have added one."""
    found = run.resolve(module.state.get(kind, ()))
    return found if isinstance(found, tuple) else None


def _with_hooks(run: Interpreter, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a module gives whose call is another one, MISSING where it isn't."""
    around = module.state.get("around")
    if around is not None and not module.state.get("hooked"):
        with run.heap.instead(module.state, "around", None):
            return run.call(around, (module, *args), kwargs)
    before, behind = hooks_of(run, module, "pre_hooks"), hooks_of(run, module)
    if before is None or behind is None or module.state.get("hooked"):
        return _not_followed(run, module, args, kwargs)
    if not (before or behind):
        return MISSING
    with run.heap.instead(module.state, "pre_hooks", ()), run.heap.instead(module.state, "hooks", ()):
        for hook in before:
            args = _instead(run, args, run.resolve(run.call(hook, (module, args))))
        result = call(run, module, args, kwargs)
    for hook in behind:
        new = run.resolve(run.call(hook, (module, args, result)))
        if isinstance(new, Unknown):
            return run.unknown("what a hook makes of a module's result")
        result = result if new is None else new
    return result


def _instead(run: Interpreter, args: tuple[Value, ...], new: Value) -> tuple[Value, ...]:
    """The arguments behind a hook that may have given others."""
    if new is None or isinstance(new, tuple):
        return args if new is None else new
    if isinstance(new, Unknown | Choice):
        return tuple(run.unknown("what a hook makes of an argument") for _ in args)
    return (new,)


def _not_followed(run: Interpreter, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A call that goes another way than is known: modules there may have changed as their ``forward`` changes them."""
    for _, one in named_modules(run, module):
        run.heap.write(one.state, "open", True)
        forward = one.cls.find("forward")
        if forward is not None and isinstance(forward[0], Function):
            run.escape(tuple(closures.changed_by_method(run, one, forward[0])))
    hooks = (module.state.get("pre_hooks"), module.state.get("hooks"))
    return run.call_in_the_dark(run.unknown("what a hook makes of a module's result"), (*args, *hooks), kwargs)


# -- torch's own layers ----------------------------------------------------------------------------------------------


_SIZES: Final = frozenset({
    "in_features", "out_features", "in_channels", "out_channels", "num_embeddings", "embedding_dim", "num_features",
    "input_size", "hidden_size", "num_layers", "embed_dim", "num_heads", "d_model", "nhead", "dim_feedforward",
    "kernel_size", "groups", "num_groups", "num_channels",
})  # fmt: skip
_FEATURES: Final = _SIZES - {"num_layers", "num_heads", "nhead", "kernel_size", "groups", "num_groups"}


_IGNORES: Final = "ignores"  # in the state of a loss
CONVERTED: Final = "converted"  # in the state of a layer: the dtype that it has got since, ANYTHING if that isn't known


def _is_no_size(name: str, value: Value) -> bool:
    return branches.type_name(value) == "float" or (isinstance(value, BoundNative | Sizes) and name != "kernel_size")


def build(run: Interpreter, module: Instance, name: str, arguments: dict[str, Value]) -> None:
    """What a layer's constructor makes of its arguments, by name."""
    given = {k: tensors.settle(run, v) for k, v in arguments.items()}
    for inner in ("encoder_layer", "decoder_layer"):
        if isinstance(given.get(inner), Instance):
            run.heap.write(module.state, sequences.INNER, given[inner])
    if "ignore_index" in given:
        run.heap.write(module.state, _IGNORES, given["ignore_index"])
    choice = tensors.first_choice(tuple(given.values()))
    if choice is not None:
        module.native = _built_from_choice(run, name, given, choice)
        return
    made = next((tensors.no_int(name, k, v) for k, v in given.items() if k in _SIZES and _is_no_size(k, v)), None)
    given |= {k: sizes.of_layer(run, given[k]) for k in _FEATURES & given.keys()}
    made = made or new_module(name, {k: tensors.to_rule(v) for k, v in given.items()})
    if isinstance(made, Report):
        run.report(made)
        made = None
    module.native = only(made)
    if run.places:
        devices.made_of(run, module, given)
    if made is not None:
        events.LAYER_MADE(run, module, made)


_rules: Final[dict[tuple[ModuleRule, tuple[type, ...]], ModuleRule]] = {}
_MOST_RULES: Final = 4_096


def only(rule: ModuleRule | None) -> ModuleRule | None:
    """One object for all rules that are equal: they are keys of what is remembered, and compared each time."""
    if rule is None:
        return None
    if len(_rules) >= _MOST_RULES:
        _rules.clear()
    try:
        hash(rule)  # which it keeps beside its fields
        return _rules.setdefault((rule, tuple(map(type, vars(rule).values()))), rule)  # 1 and True are two
    except TypeError:  # one of its fields has no hash
        return rule


def _built_from_choice(run: Interpreter, name: str, given: dict[str, Value], choice: Choice) -> ModuleRule | None:
    """Arguments that differ by a condition: what both layers have in common is known."""
    made = []
    for value in (choice.when_true, choice.when_false):
        one = {k: value if v is choice else v for k, v in given.items()}
        if any(isinstance(v, Choice) for v in one.values()):
            one = {
                k: run.unknown("one of several sizes", "int") if isinstance(v, Choice) else v for k, v in one.items()
            }
        made.append(new_module(name, {k: tensors.to_rule(v) for k, v in one.items()}))
    left, right = made
    if not isinstance(left, ModuleRule) or not isinstance(right, ModuleRule):
        return None
    common = {
        k: v if v == getattr(right, k) else (UNKNOWN if isinstance(v, int) and not isinstance(v, bool) else ANYTHING)
        for k, v in vars(left).items()
    }
    return type(left)(**common)


def forward(run: Interpreter, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a layer of torch's gives, by its rule."""
    if tensors.holds_choice(args) or (kwargs and tensors.holds_choice(kwargs.values())):
        args = tuple(tensors.settle(run, a) for a in args)
        kwargs = {k: tensors.settle(run, v) for k, v in kwargs.items()}
        args = (tensors.not_none(args[0]), *args[1:]) if args else args
        choice = tensors.first_choice((*args, *kwargs.values()))
        if choice is not None:
            return run.each(choice, lambda _: forward(run, module, args, kwargs))
    own = module.native if isinstance(module.native, ModuleRule) and not module.state.get("changed") else None
    run.training.called[id(module.cells)] = module
    if (refused := events.LAYER_OPERANDS(run, module, own, args, kwargs)) is not None:
        return refused
    if own is None:
        return run.unknown(f"what a {module.cls.name} gives whose sizes aren't known")
    rule: ModuleRule = own
    if run.converts_dtypes and not rule.takes_parameters_dtype and hasattr(rule, "dtype"):
        changes: dict[str, Any] = {"dtype": _dtype_of(run, module, rule)}
        rule = replace(rule, **changes)  # the result has the parameters' dtype
    if run.order is not None:
        streams.check(run, str(rule), (*args, *kwargs.values()))
    given, named = tensors.operands(args), {k: tensors.to_rule(v) for k, v in kwargs.items()} if kwargs else {}
    counts, cast = not run.converts_dtypes, tensors.autocast(run)

    def ask() -> Any:
        return infer_module(rule, given, named, dtype_counts=counts, autocast=cast)

    known = answers.known((rule, counts, cast), given, named, ask) if run.is_plain else None
    result = run.adapting(ask) if known is None else known.result
    if isinstance(result, Report) and devices.is_doubtful(run, result, (*args, *kwargs.values()), module):
        rule, given = devices.untold(rule), devices.untold(given)
        named = {k: devices.untold(v) for k, v in named.items()}
        known = None
        result = infer_module(rule, given, named, dtype_counts=counts, autocast=cast)
    if isinstance(result, Report):
        return run.report(_with_hint(rule, args, result))
    name = _short(rule.names[0])
    misfit = indexes.check_layer(name, rule, args, module.state.get(_IGNORES, indexes.IGNORED))
    if misfit is not None:
        run.report(misfit)
    events.LAYER(run, module, name, rule, args, kwargs)
    _learn(run, name, rule, args)
    out = tensors.made(run, result) if isinstance(result, TensorType) else tensors.from_rule(run, result, str(rule))
    gradients.forward(run, module, name, rule, args, kwargs, out)
    _mark(run, known, LayerCall(name, module, rule, args, kwargs, out))
    if name in sequences.LAYERS:
        sequences.of_sequence(run, name, module, args, out)
    return out


def _dtype_of(run: Interpreter, module: Instance, rule: ModuleRule) -> RuleValue:
    """The dtype of a layer's parameters: the one that it was converted to, else the one that it was made with."""
    found = run.resolve(module.state.get(CONVERTED, MISSING))
    if found is MISSING:
        made: RuleValue = getattr(rule, "dtype", None)
        return ANYTHING if made is None and run.modes.get("other default dtype") else made
    return found if isinstance(found, DType) else ANYTHING


def _with_hint(rule: ModuleRule, args: tuple[Value, ...], report: Report) -> Report:
    """The hint that what the input was before a ``view`` gives, where that is known."""
    first = args[0] if args else None
    if not isinstance(rule, Linear) or not isinstance(first, Tensor) or first.base is None or report.kind != "shape":
        return report
    if first.type.shape.rank != 1:
        return report
    hint = flattened(rule, first.type.shape, first.base.type.shape)
    return report if hint is None else replace(report, hint=hint)


@cache
def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _mark(run: Interpreter, known: Answer | None, call: LayerCall) -> None:
    """Results get their marks: those that are remembered with the answer, or what each mark says."""
    own = devices.of_parameters(run, call.module, call.rule) if run.places else None
    key: list[Any] = [run.places, own, run.modes.get(layout.OTHER_FORMAT)]
    if known is None or call.kwargs or not answers.marks(call.args, key, run.moved):
        known = None
    elif answers.recall(known, tuple(key), call.result):
        return
    carried.of_layer(run, call)
    if known is not None and devices.agree(run, call.args, own):
        answers.keep(known, tuple(key), call.result, call.args)


_LAST: Final = {"Linear": "in_features", "LSTM": "input_size", "GRU": "input_size", "RNN": "input_size"}
_SPATIAL: Final = {
    **{f"Conv{n}d": ("in_channels", n) for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": ("in_channels", n) for n in (1, 2, 3)},
    "BatchNorm2d": ("num_features", 2),
    "BatchNorm3d": ("num_features", 3),
}


def _learn(run: Interpreter, name: str, rule: ModuleRule, args: tuple[Value, ...]) -> None:
    """Who got through a layer had the sizes that it demands."""
    if not args or not isinstance(args[0], Tensor):
        return
    shape = args[0].type.shape
    if shape.is_exact and UNKNOWN not in shape.items:
        return  # all is known of it
    field, dims = (_LAST[name], 0) if name in _LAST else _SPATIAL.get(name, ("", 0))
    size: Any = getattr(rule, field, None)
    if is_int(size):
        tensors.narrow(run, args[0], Shape((ANY_REST, size, *(UNKNOWN,) * dims)), dims + 2 if dims else None)


def own_tensors(rule: ModuleRule) -> Mapping[str, RuleValue] | None:
    """The parameters and buffers of a layer, None where its sizes aren't known."""
    try:
        found: Mapping[str, RuleValue] = answer(own_tensors, (rule,), {}, lambda: parameters(rule))
    except (CannotTell, Mismatch):  # torch builds some layers that no input fits
        return None
    return found


_FOR_EACH_DIM: Final = frozenset({"kernel_size", "stride", "padding", "dilation", "output_padding"})
"""What a convolution keeps as a tuple, also where it is given an int."""


def attribute(run: Interpreter, module: Instance, name: str) -> Value:
    """An attribute that a layer has by its rule: a parameter, a buffer, or what its constructor was given."""
    rule = module.native
    if not isinstance(rule, ModuleRule):
        return MISSING
    own = own_tensors(rule)
    if own is None:
        return MISSING if name in vars(rule) else run.unknown(f"{name} of a layer whose sizes aren't known")
    if name in own:
        value = own[name]
        if run.converts_dtypes and isinstance(value, TensorType) and (value.dtype is None or value.dtype.is_floating):
            converted = run.resolve(module.state.get(CONVERTED))
            value = replace(value, dtype=converted if isinstance(converted, DType) else None)
        made = tensors.from_rule(run, value, name)
        if isinstance(made, Tensor):
            gradients.mark(made, gradients.layer_parameter(module, value))
            devices.moved(run, made, devices.place_of(run, module))
            run.parameters[id(made)] = made, module
        run.heap.write(module.cells, name, made)
        return made
    if name in vars(rule):
        value = getattr(rule, name)
        if name in _FOR_EACH_DIM and type(value) is int and "Conv" in (kind := rule.names[0].rpartition(".")[2]):
            value = (value,) * int(kind[-2])
        return run.unknown(f"{name} of a layer") if value is ANYTHING else tensors.from_rule(run, value, name)
    decides_no_shape = name in PARAMETERS.get(rule.names[0].rpartition(".")[2], ())
    return run.unknown(f"{name} of a layer") if decides_no_shape else MISSING


_OF_SOME: Final = frozenset({
    "weight", "bias", "in_features", "out_features", "in_channels", "out_channels", "kernel_size", "stride", "padding",
    "dilation", "groups", "num_features", "running_mean", "running_var", "hidden_size", "input_size", "num_layers",
    "num_embeddings", "embedding_dim", "normalized_shape", "embed_dim", "num_heads",
})  # fmt: skip
"""What some layers of torch have; those of their constructors' arguments that decide no shape are left out."""


_OF_ANY: Final = frozenset({
    "activation", "activation_post_process", "activation_relu_or_gelu", "add_zero_attn", "affine", "align_corners",
    "all_weights", "alpha", "approximate", "batch_first", "beta", "bias", "bias_hh", "bias_ih", "bias_k",
    "bias_mask", "bias_orig", "bias_v", "bidirectional", "blank", "ceil_mode", "check_forward_args",
    "check_hidden_size", "check_input", "cls_to_become", "convert_sync_batchnorm", "count_include_pad", "cutoffs",
    "d_model", "decoder", "delta", "dilation", "dim", "div_value", "divisor_override", "downscale_factor",
    "dropout", "dropout1", "dropout2", "dropout3", "elementwise_affine", "embed_dim", "embedding_dim",
    "enable_nested_tensor", "encoder", "end_dim", "eps", "flatten_parameters", "freeze", "from_pretrained", "full",
    "gather", "generate_square_subsequent_mask", "get_expected_cell_size", "get_expected_hidden_size", "groups",
    "has_uninitialized_params", "head", "head_bias", "head_dim", "hidden_size", "ignore_index", "in1_features",
    "in2_features", "in_channels", "in_features", "in_proj_bias", "in_proj_weight", "include_last_offset", "init",
    "initialize_parameters", "inplace", "input_size", "k", "k_proj_weight", "kdim", "keepdim", "kernel_size",
    "label_smoothing", "lambd", "layers", "linear", "linear1", "linear2", "log_input", "log_prob", "log_target",
    "lower", "margin", "mask_check", "max_norm", "max_val", "merge_masks", "min_val", "mode", "module", "momentum",
    "multihead_attn", "n_classes", "name", "negative_slope", "nhead", "nonlinearity", "norm", "norm1", "norm2",
    "norm3", "norm_first", "norm_type", "normalized_shape", "num_batches_tracked", "num_channels", "num_classes",
    "num_embeddings", "num_features", "num_groups", "num_heads", "num_layers", "num_parameters", "options",
    "out_channels", "out_features", "out_proj", "output_padding", "output_ratio", "output_size", "p", "padding",
    "padding_idx", "padding_mode", "parallel_apply", "parametrizations", "permute_hidden", "pos_weight", "predict",
    "proj_size", "q_proj_weight", "qconfig", "recompute_scale_factor", "reduction", "replicate", "reset_parameters",
    "reset_running_stats", "return_indices", "running_mean", "running_var", "scale_factor", "scale_grad_by_freq",
    "scatter", "self_attn", "size", "sparse", "start_dim", "stride", "swap", "tail", "threshold",
    "track_running_stats", "training", "transposed", "unflattened_size", "upper", "upscale_factor",
    "use_nested_tensor", "v_proj_weight", "value", "vdim", "weight", "weight_g", "weight_hh", "weight_hr",
    "weight_ih", "weight_mask", "weight_orig", "weight_u", "weight_v", "zero_infinity",
})  # fmt: skip
"""What some layer of torch has, beside what all modules have, and what torch's own tools give to layers."""
_OF_DEPTH: Final = re.compile(r"_l\d+(_reverse)?$")  # of a recurrent network's layers


def is_of_none(rule: ModuleRule, name: str) -> bool:
    """Whether no layer of torch's has an attribute of this name: ``layer.weigth``."""
    if name.startswith("_") or name in vars(rule) or rule.holds_modules or rule.names[0].startswith("torch.nn.Lazy"):
        return False
    return _OF_DEPTH.sub("", name) not in _OF_ANY and name not in (own_tensors(rule) or ())


def lacks(rule: ModuleRule, name: str) -> bool:
    """Whether a layer of torch's surely has no such attribute, which other layers have: ``relu.weight``."""
    if name not in _OF_SOME or name in vars(rule) or rule.holds_modules or rule.names[0].startswith("torch.nn.Lazy"):
        return False
    own = own_tensors(rule)
    return own is not None and name not in own


def note_change(run: Interpreter, module: Instance, name: str, new: Value) -> None:
    """``layer.weight = …``: where that isn't what the layer was made with, what it gives isn't known any more."""
    rule = module.native
    if not isinstance(rule, ModuleRule):
        return
    of_layer, given = own_tensors(rule), tensors.to_rule(run.resolve(new))
    own = None if of_layer is None else of_layer.get(name)
    if of_layer is None:
        kept = False
    elif own is not None:
        kept = isinstance(given, TensorType) and isinstance(own, TensorType) and _is_alike(given, own)
    elif name == "bias" and isinstance(given, TensorType):  # of a layer that was made without one
        sizes = [getattr(rule, size, None) for size in ("out_features", "out_channels")]
        kept = given.shape.rank == 1 and given.shape.dim(0) in sizes
    else:
        kept = name not in vars(rule) or getattr(rule, name) == given
    if not kept:
        run.heap.write(module.state, "changed", True)


def _is_alike(given: TensorType, own: TensorType) -> bool:
    return given.shape == own.shape and not _is_other(given.dtype, own.dtype)


def _is_other(given: DType | None, own: DType | None) -> bool:
    return given is not None and own is not None and given != own


def note_data(run: Interpreter, value: Tensor, kind: TensorType) -> None:
    """``layer.weight.data = …``: the same, of sizes and dtypes that are known."""
    found = run.parameters.get(id(value))
    is_other = kind.shape.is_exact and kind.shape != value.type.shape
    if found is not None and (is_other or _is_other(kind.dtype, value.type.dtype)):
        run.heap.write(found[1].state, "changed", True)


# -- what is inside a module -----------------------------------------------------------------------------------------


def named_modules(
    run: Interpreter, module: Instance, prefix: str = "", seen: set[int] | None = None, *, again: bool = False
) -> Iterator[tuple[str, Instance]]:
    """The module and those inside it, by path, each once, or ``again`` by each path that leads to it."""
    seen = set() if seen is None else seen
    todo = [(prefix, module)]
    while todo:
        path, one = todo.pop()
        if id(one) in seen and (not again or path.count(".") > _DEEPEST):
            continue
        seen.add(id(one))
        if run.heap.recorders:
            remembered.note(run.heap, one)
        yield path, one
        todo += [(f"{path}.{name}" if path else name, inner) for name, inner in children(run, one)][::-1]


_DEEPEST: Final = 30  # a module that holds itself


def children(run: Interpreter, module: Instance) -> list[tuple[str, Instance]]:
    """The modules directly inside."""
    out: list[tuple[str, Instance]] = []
    for name, value in list(module.cells.items()):
        found = run.resolve(value) if type(value) is Choice else value
        if type(found) is Instance and found.cls.is_a(MODULE) and isinstance(name, str):
            out.append((name, found))
    return out


def is_certain(run: Interpreter, module: Instance) -> bool:
    """Whether all that is inside is known."""
    return all(holds_known(run, inner) for _, inner in named_modules(run, module))


def lists_all(run: Interpreter, module: Instance) -> bool:
    """Whether `named_modules` and `named_tensors` give all that there is."""
    inside = [inner for _, inner in named_modules(run, module)]
    return all(lists_own(run, inner) for inner in inside)


def lists_own(run: Interpreter, module: Instance) -> bool:
    """Whether `children` gives all modules that there are, and the rule all tensors."""
    return holds_known(run, module) and not (isinstance(module.native, ModuleRule) and module.native.holds_modules)


def holds_known(run: Interpreter, module: Instance) -> bool:
    """Whether it is known what is directly inside."""
    unknown = any(members.may_be_module(run.resolve(v)) for v in module.cells.values() if type(v) in _OPEN)
    unfinished = module.cls.native is not None and module.native is None
    return not (module.state.get("open") or module.cls.unknown_base is not None or unknown or unfinished)


def named_tensors(
    run: Interpreter, module: Instance, *, parameters_only: bool, again: bool = False
) -> Iterator[tuple[str, Tensor]]:
    """The parameters, or all tensors, by path, each once, or ``again`` by each path that leads to it."""
    seen: set[int] = set()
    for path, inner in named_modules(run, module, again=again):
        if isinstance(inner.native, ModuleRule):
            for name, value in (own_tensors(inner.native) or {}).items():
                if isinstance(value, TensorType) and name not in inner.cells:
                    run.attribute(inner, name)
        for name, value in list(inner.cells.items()):
            found = run.resolve(value) if type(value) is Choice else value
            if (
                type(found) is Tensor
                and (again or id(found) not in seen)
                and (found.type.is_parameter or not parameters_only)
            ):
                seen.add(id(found))
                yield f"{path}.{name}" if path else name, found


def optimized(run: Interpreter, optimizer: Instance) -> Iterator[Tensor | None]:
    """The parameters of an optimizer; None for what isn't known."""
    groups = run.resolve(optimizer.cells.get("param_groups"))
    if not isinstance(groups, List) or groups.items is None:
        yield None
        return
    for group in map(run.resolve, groups.items):
        held = run.resolve(group.cells.get("params")) if isinstance(group, Dict) else None
        if not isinstance(held, List) or held.items is None:
            yield None
            return
        for one in map(run.resolve, held.items):
            yield one if isinstance(one, Tensor) else None
