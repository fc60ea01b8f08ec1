"""``torch.optim``: optimizers, schedulers of learning rates, and averages of weights.

Learning rates are never known: schedulers and programs change them all the time, and no size depends on them. What an
optimizer is made with is looked at all the same: torch refuses some of it.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards, iteration, layers
from simpletorch.follow.libraries import ALIASES, NATIVES, by_name, library_class
from simpletorch.follow.marks import gradients
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import often
from simpletorch.follow.values import Dict, Instance, List, Native, Tensor, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_OPTIM: Final = "torch.optim"
_OPTION: Final = "tensor-option"
_OPTIMIZERS: Final = ("ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam",
                      "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam")  # fmt: skip
_OPTIONS: Final = {
    "ASGD": "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    "Adadelta": "lr rho eps weight_decay foreach capturable maximize differentiable",
    "Adafactor": "lr beta2_decay eps d weight_decay foreach maximize",
    "Adagrad": "lr lr_decay weight_decay initial_accumulator_value eps foreach maximize differentiable fused",
    "Adam": "lr betas eps weight_decay amsgrad foreach maximize capturable differentiable fused decoupled_weight_decay",
    "AdamW": "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused",
    "Adamax": "lr betas eps weight_decay foreach maximize differentiable capturable",
    "NAdam": "lr betas eps weight_decay momentum_decay decoupled_weight_decay foreach maximize capturable "
    "differentiable",
    "RAdam": "lr betas eps weight_decay decoupled_weight_decay foreach maximize capturable differentiable",
    "RMSprop": "lr alpha eps weight_decay momentum centered capturable foreach maximize differentiable",
    "Rprop": "lr etas step_sizes capturable foreach maximize differentiable",
    "SGD": "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused",
}
"""What each takes beside its parameters, in torch's order; those that aren't here may take anything."""
_SCHEDULERS: Final = ("ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
                      "ExponentialLR", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
                      "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR")  # fmt: skip
ALIASES.update(
    {
        f"{_OPTIM}.optimizer": _OPTIM,
        f"{_OPTIM}.lr_scheduler._LRScheduler": f"{_OPTIM}.lr_scheduler.LRScheduler",
        "simpletorch.optim": _OPTIM,
        "simpletorch.optim.SWALR": f"{_OPTIM}.swa_utils.SWALR",
        "simpletorch.optim.clip_grad_value": "torch.nn.utils.clip_grad_value_",
        **{f"{_OPTIM}.{name.lower()}": _OPTIM for name in _OPTIMIZERS},
        **{f"simpletorch.optim.{name}": f"{_OPTIM}.lr_scheduler.{name}" for name in (*_SCHEDULERS, "LRScheduler")},
    }
)


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _rate(run: Interpreter) -> Unknown:
    return run.unknown("a learning rate", "float", "data")


def _state(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Dict({}, run.unknown("an entry of a state dict"))


# -- optimizers ------------------------------------------------------------------------------------------------------


def _init(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, *rest = args
    given = by_name("params", tuple(rest), kwargs)
    params = run.resolve(given.get("params"))
    if events.PARAMETERS(run, me, params) is not None:
        params = run.unknown("parameters")
    options = {k: v for k, v in given.items() if k != "params"}
    _check_options(run, me, tuple(rest[1:]), kwargs)
    _check_groups(run, me, params)
    groups = _groups(run, params, options)
    for group in groups.items or ():
        held = group.cells.get("params")
        gradients.check_leaf(run, (held.items or ()) if isinstance(held, List) else (), me.cls.name)
    run.heap.write(me.cells, "param_groups", groups)
    events.OPTIMIZER(run, me)
    run.heap.write(me.cells, "defaults", Dict(options, run.unknown("a default of an optimizer")))
    if me.cls.module == run.program.main:
        state = Dict()
        state.default = run.program.builtin(run, "dict")
    else:  # torch's own fill it as they step
        state = Dict({}, run.unknown("what an optimizer keeps of a parameter"))
    run.heap.write(me.cells, "state", state)
    return None


def _check_options(run: Interpreter, me: Instance, rest: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """Options that torch refuses: one of another optimizer, a learning rate that is none."""
    name = me.cls.name
    options = _OPTIONS.get(name, "").split()
    if me.cls.qualified != f"{_OPTIM}.{name}" or not options:
        return
    other = next((k for k in kwargs if k not in options and k != "params"), None)
    if other is not None:
        others = [n for n, taken in _OPTIONS.items() if other in taken.split()]
        hint = f"{' and '.join(others[-2:])} have it" if len(others) > 1 else f"{others[0]} has it" if others else None
        guards.refuse(run, f"{name} has no option {other}", hint, code=_OPTION)
        return
    rate = run.resolve(rest[0] if rest else kwargs.get("lr", 0.0))
    if isinstance(rate, str):
        message = f"{name}: lr is the text {rate!r}, but it must be a number"
        guards.refuse(run, message, "float(...) makes a number of a text", code=_OPTION)
    elif isinstance(rate, int | float) and rate < 0:
        guards.refuse(run, f"{name}: lr is {rate}, but it can't be negative", None, "ValueError", _OPTION)
    betas = run.resolve(kwargs.get("betas"))
    for beta in map(run.resolve, betas) if isinstance(betas, tuple) else ():
        if isinstance(beta, int | float) and not 0 <= beta < 1:
            message = f"{name}: a beta is {beta}, but it must be at least 0 and less than 1"
            guards.refuse(run, message, None, "ValueError", _OPTION)


def _check_groups(run: Interpreter, me: Instance, params: Value) -> None:
    """An option of a group that torch ignores, since it knows none of this name, where one is spelt nearly so."""
    known = _OPTIONS.get(me.cls.name, "").split() if me.cls.qualified == f"{_OPTIM}.{me.cls.name}" else []
    groups = run.items(params) if known and isinstance(params, List | tuple) else None
    for position, group in enumerate(map(run.resolve, groups or ())):
        names = group.cells if isinstance(group, Dict) else ()
        for name in (n for n in names if isinstance(n, str) and n not in known and n not in _OF_GROUPS):
            close = get_close_matches(name, known, 1, 0.8)
            if close:
                message = f"{me.cls.name} ignores the option {name!r} of parameter group {position}"
                run.find("tensor-training", message, f"did you mean {close[0]!r}?")


_OF_GROUPS: Final = ("params", "param_names", "name", "initial_lr")


def _init_base(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``Optimizer.__init__(params, defaults)``, as subclasses of the program call it."""
    given = by_name("params defaults", args[1:], kwargs)
    defaults = run.resolve(given.get("defaults"))
    options = dict(defaults.cells) if isinstance(defaults, Dict) else {}
    return _init(run, (args[0], given.get("params")), {k: v for k, v in options.items() if isinstance(k, str)})


def _groups(run: Interpreter, params: Value, options: dict[str, Value]) -> List:
    rows = run.items(params)
    if rows is None:
        one = run.resolve(iteration.item(run, params))
        if isinstance(one, Tensor):
            return List((_group(run, List(None, one), options),))
        return List(None, Dict({}, run.unknown("an option of a group of parameters")))
    found = tuple(map(run.resolve, rows))
    if any(isinstance(v, Dict) for v in found):
        return List(tuple(_of_dict(run, v, options) for v in found))
    return List((_group(run, List(found), options),))


def _of_dict(run: Interpreter, value: Value, options: dict[str, Value]) -> Dict:
    if not isinstance(value, Dict):
        return Dict({}, run.unknown("an option of a group of parameters"))
    own = {k: v for k, v in value.cells.items() if isinstance(k, str)}
    source = run.resolve(own.pop("params", None))
    if isinstance(source, Tensor):
        params = List((source,))
    else:
        rows = run.items(source)
        params = List(rows) if rows is not None else List(None, iteration.item(run, source))
    return _group(run, params, {**options, **own})


def _group(run: Interpreter, params: List, options: dict[str, Value]) -> Dict:
    rest = run.unknown("an option of a group of parameters")
    return Dict({"params": params, **options, "lr": _rate(run)}, rest)


def _step(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.updates += 1
    closure = args[1] if len(args) > 1 else kwargs.get("closure")
    events.STEP(run, args[0], closure is not None)
    if closure is None:
        return None
    is_once = not isinstance(args[0], Instance) or not args[0].cls.is_a("torch.optim.LBFGS")
    return run.call(closure, ()) if is_once else often.repeat(run, lambda: run.call(closure, ()))


def _zero(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    events.ZERO(run, args[0])
    return None


def _add_group(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, group = args[0], run.resolve(args[1] if len(args) > 1 else kwargs.get("param_group"))
    groups = run.resolve(me.cells.get("param_groups"))
    if isinstance(groups, List):
        run.call(run.attribute(groups, "append"), (_of_dict(run, group, {}),))
    return None


library_class(
    f"{_OPTIM}.Optimizer",
    methods={
        "__init__": _init_base,
        "step": _step,
        "add_param_group": _add_group,
        "state_dict": _state,
        "zero_grad": _zero,
        **dict.fromkeys(("load_state_dict", "train", "eval"), _nothing),
    },
)
for _name in _OPTIMIZERS:
    library_class(f"{_OPTIM}.{_name}", (f"{_OPTIM}.Optimizer",), {"__init__": _init})


# -- schedulers ------------------------------------------------------------------------------------------------------


_NEEDS: Final = {
    "CosineAnnealingLR": "T_max",
    "CosineAnnealingWarmRestarts": "T_0",
    "CyclicLR": "base_lr max_lr",
    "ExponentialLR": "gamma",
    "LambdaLR": "lr_lambda",
    "MultiStepLR": "milestones",
    "MultiplicativeLR": "lr_lambda",
    "OneCycleLR": "max_lr",
    "SequentialLR": "schedulers milestones",
    "StepLR": "step_size",
}
"""What each needs beside its optimizer."""
_ORDER: Final = {
    "ChainedScheduler": "schedulers optimizer",
    "OneCycleLR": "optimizer max_lr total_steps epochs steps_per_epoch",
    "CosineAnnealingLR": "optimizer T_max eta_min last_epoch",
    "PolynomialLR": "optimizer total_iters power last_epoch",
    "LinearLR": "optimizer start_factor end_factor total_iters last_epoch",
}


def _step_scheduler(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    events.SCHEDULE(run, args[0])
    return None


def _step_plateau(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if len(args) == 1 and not kwargs:
        message = "ReduceLROnPlateau.step is called without the measure that it watches"
        guards.refuse(run, message, "step(validation_loss), once an epoch")
        return None
    return _step_scheduler(run, args, kwargs)


def _init_scheduler(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, *rest = args
    needs = _NEEDS.get(me.cls.name, "") if me.cls.module == f"{_OPTIM}.lr_scheduler" else ""
    said = by_name(f"optimizer {needs}", tuple(rest), kwargs)
    lacking = [name for name in needs.split() if name not in said]
    if lacking and "optimizer" in said:
        guards.refuse(run, f"{me.cls.name} is made without its {lacking[0]}", None)
    given = by_name(_ORDER.get(me.cls.name, "optimizer"), tuple(rest), kwargs)
    optimizer = run.resolve(given.get("optimizer"))
    if isinstance(optimizer, Instance) and optimizer.cls.is_a(layers.MODULE):
        message = f"{me.cls.name} takes an optimizer, but it is given the module {optimizer.cls.name}"
        guards.refuse(run, message, "the optimizer of its parameters")
        given["optimizer"] = run.unknown("an optimizer")
    often.may_call(run, said.get("lr_lambda"))
    events.SCHEDULER(run, me, given)
    run.heap.write(me.cells, "optimizer", given.get("optimizer", run.unknown("the optimizer of a scheduler")))
    for name in ("last_epoch", "_step_count"):
        run.heap.write(me.cells, name, run.unknown("how often a scheduler stepped", "int", "data"))
    run.heap.write(me.cells, "base_lrs", List(None, _rate(run)))
    return None


def _rates(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    optimizer = run.resolve(args[0].cells.get("optimizer"))
    groups = optimizer.cells.get("param_groups") if isinstance(optimizer, Instance) else None
    if isinstance(groups, List) and groups.items is not None:
        return List(tuple(_rate(run) for _ in groups.items))
    return List(None, _rate(run))


_SCHEDULING: Final = {
    "__init__": _init_scheduler,
    "get_last_lr": _rates,
    "get_lr": _rates,
    "state_dict": _state,
    "step": _step_scheduler,
    **dict.fromkeys(("load_state_dict", "print_lr"), _nothing),
}
library_class(f"{_OPTIM}.lr_scheduler.LRScheduler", methods=_SCHEDULING)
_OWN: Final = {"lr_scheduler.ReduceLROnPlateau": {"step": _step_plateau}}
for _name in (*(f"lr_scheduler.{n}" for n in _SCHEDULERS), "swa_utils.SWALR"):
    library_class(f"{_OPTIM}.{_name}", (f"{_OPTIM}.lr_scheduler.LRScheduler",), _OWN.get(_name))


# -- averages --------------------------------------------------------------------------------------------------------


def _init_average(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, "module", by_name("model", args[1:], kwargs).get("model"))
    return None


def _averaged(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.attribute(args[0], "module"), args[1:], kwargs)


library_class(
    f"{_OPTIM}.swa_utils.AveragedModel",
    (layers.MODULE,),
    {"__init__": _init_average, "forward": _averaged, "update_parameters": _nothing},
)
NATIVES[f"{_OPTIM}.swa_utils.update_bn"] = Native(f"{_OPTIM}.swa_utils.update_bn", _nothing)
