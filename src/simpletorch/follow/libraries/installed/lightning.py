"""Lightning, under both of its names: `Trainer.fit` calls the steps of a module (`lightning.txt`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import ALIASES, gives, native
from simpletorch.follow.libraries.installed import stand
from simpletorch.follow.values import Dict, Function, Method, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_PLACES: Final = {
    "LightningModule": "core core.module core.lightning",
    "LightningDataModule": "core core.datamodule",
    "Trainer": "trainer trainer.trainer",
    "Callback": "callbacks callbacks.callback callbacks.base",
    "seed_everything": "utilities.seed",
}
"""By name, the modules that have it beside the package."""
_CALLBACKS: Final = """
    model_checkpoint.ModelCheckpoint early_stopping.EarlyStopping lr_monitor.LearningRateMonitor timer.Timer
    progress.TQDMProgressBar progress.RichProgressBar progress.ProgressBar progress.ProgressBarBase
    model_summary.ModelSummary rich_model_summary.RichModelSummary device_stats_monitor.DeviceStatsMonitor
    gpu_stats_monitor.GPUStatsMonitor
"""
stand(
    "pytorch_lightning",
    "lightning.txt",
    {
        name: " ".join(
            f"{package}{place}{name}"
            for package in ("", "pytorch.")
            for place in ("", *(f"{module}." for module in modules.split()))
        )
        for name, modules in _PLACES.items()
    }
    | {
        "OfLightning": " ".join(
            f"{package}callbacks.{place}"
            for package in ("", "pytorch.")
            for name in _CALLBACKS.split()
            for place in (name.rpartition(".")[2], name)
        )
    },
)
ALIASES["lightning"] = "pytorch_lightning"
gives("simpletorch_installed.some_int", "int")


@native("simpletorch_installed.given_to")
def _given_to(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The arguments of the constructors of an object that run now, by the names of their parameters."""
    made, found = run.resolve(args[0]), Dict()
    for call in reversed(run.running):
        if getattr(call.node, "name", None) == "__init__" and next(iter(call.names.values()), None) is made:
            spec = call.node.args  # type: ignore[attr-defined]
            names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)][1:]
            more = run.resolve(call.names.get(spec.kwarg.arg)) if spec.kwarg is not None else None
            found.cells.update({name: call.names[name] for name in names})
            found.cells.update(more.cells if isinstance(more, Dict) else ())
    return found


@native("simpletorch_installed.taken")
def _taken(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """How many of so many arguments a function takes: an older trainer gives fewer than another one."""
    given = args[1]

    def taken(found: Value) -> Value:
        function = found.function if isinstance(found, Method) else found
        if not isinstance(function, Function) or not isinstance(given, int) or function.node.args.vararg is not None:
            return given
        spec = function.node.args
        return min(given, len(spec.posonlyargs) + len(spec.args) - isinstance(found, Method))

    return run.each(args[0], taken)
