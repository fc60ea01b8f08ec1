"""``diffusers``: bases of its models and schedulers, and outputs (`diffusers.txt`). Their own files are followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import ALIASES, native
from simpletorch.follow.libraries.installed import (
    stand,
    torch_geometric,  # noqa: F401  (parameters)
    transformers,  # noqa: F401  (outputs, and files of models)
)
from simpletorch.follow.values import Dict, Function, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_STANDING: Final = {
    "register_to_config": "configuration_utils.register_to_config",
    "ConfigMixin": "configuration_utils.ConfigMixin ConfigMixin",
    "SchedulerMixin": "schedulers.scheduling_utils.SchedulerMixin schedulers.SchedulerMixin SchedulerMixin",
    "ModelMixin": "models.modeling_utils.ModelMixin models.ModelMixin ModelMixin",
    "maybe_allow_in_graph": "utils.torch_utils.maybe_allow_in_graph",
    "randn_tensor": "utils.torch_utils.randn_tensor",
    "apply_forward_hook": "utils.accelerate_utils.apply_forward_hook",
}
"""By name in the text, where diffusers has it."""
stand("diffusers", "diffusers.txt", _STANDING)
for _place in ("utils", "utils.outputs"):
    ALIASES[f"diffusers.{_place}.BaseOutput"] = "transformers.utils.ModelOutput"


@native("simpletorch_installed.with_defaults")
def _with_defaults(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``with_defaults(function, args, kwargs)``: the arguments of a method behind ``self``, by name."""
    function, by_place, by_name = map(run.resolve, args)
    places = run.items(by_place) if isinstance(by_place, List | tuple) else None
    if not isinstance(function, Function) or places is None or not isinstance(by_name, Dict):
        return run.unknown("arguments")
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    defaults = dict(zip(reversed(names), reversed(function.defaults), strict=False))
    found = {name: defaults[name] for name in names[1:] if name in defaults} | dict(function.keyword_defaults)
    return Dict({**found, **dict(zip(names[1:], places, strict=False)), **by_name.cells}, by_name.rest)
