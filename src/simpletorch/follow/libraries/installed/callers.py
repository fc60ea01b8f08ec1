"""Libraries that call a program's function: `optuna`, and launchers of `ray` and `pyspark` (`callers.txt`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import gives, native
from simpletorch.follow.libraries.installed import stand
from simpletorch.follow.numbers import processes
from simpletorch.follow.values import Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_STANDING: Final = {
    "optuna": {
        "Trial": "Trial trial.Trial",
        "Study": "Study study.Study",
        "create_study": "create_study load_study study.create_study study.load_study",
        "TrialPruned": "TrialPruned exceptions.TrialPruned",
    },
    "ray": {
        "TorchTrainer": "train.torch.TorchTrainer",
        "prepare_model": "train.torch.prepare_model",
        "prepare_data_loader": "train.torch.prepare_data_loader",
        "report": "train.report",
    },
    "pyspark": {
        "TorchDistributor": "ml.torch.distributor.TorchDistributor "
        "ml.deepspeed.deepspeed_distributor.DeepspeedTorchDistributor"
    },
}
"""By library and name in the text, where the library has it."""
for _library, _names in _STANDING.items():
    stand(_library, "callers.txt", _names)
gives("simpletorch_installed.some_bool", "bool")


@native("simpletorch_installed.in_process")
def _in_process(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call a function as one of several processes does: its changes are changes there alone."""
    with processes.as_process(run, run.some_size(0)):
        run.call(args[0], args[1:], kwargs)
    return run.unknown("what another process gives")
