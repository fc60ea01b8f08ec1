"""A training on a cluster: Ray Train starts its processes, and starts them again when one is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from simpletorch._atomic import StrPath
from simpletorch.distributed._ray import library, start
from simpletorch.errors import TorchError, as_also

__all__ = ["fit"]

T = TypeVar("T")


def fit(
    train: Callable[[], T],
    *,
    workers: int = 2,
    resources: Mapping[str, float] | None = None,
    restarts: int = 0,
    storage: StrPath | None = None,
) -> T:
    """Run ``train`` in ``workers`` processes, as torchrun would.

    ::

        def train() -> dict[str, torch.Tensor]:
            device = distributed.init()                      # the group that Ray has made
            model = Net().to(device)
            saved = Checkpoint("/shared/run", every_steps=100)
            trainer = Trainer(loss=loss, optimizer=AdamW(model.parameters()), callbacks=[saved], parallel="ddp")
            trainer.fit(model, loader, epochs=9, resume="auto")
            return model.state_dict()

        weights = distributed.ray.fit(train, workers=8, resources={"GPU": 1}, restarts=9)

    When a process dies (or its machine, or it raises), all are started again and run ``train`` anew, up to ``restarts``
    times: with ``resume="auto"`` it goes on from the last checkpoint, exactly. The checkpoints are ours, in a folder
    that all machines can reach; Ray has none of its own.

    The processes work in this one's folder, if there is one of that name on their machine.

    Args:
        train: any function without arguments; it and its result are pickled, so it returns tensors on the CPU.
        workers: how many processes.
        resources: of each worker: ``{"CPU": 1}`` by default; with a ``"GPU"`` the group is one of NCCL.
        restarts: how often a failure starts all processes again; none by default, as of torchrun.
        storage: where Ray keeps its notes of the run; ``~/ray_results`` by default.

    Returns:
        The result of the first process.

    Raises:
        TorchError: the training failed more often than that, or (an `ImportError` too) Ray is not installed; (a
            `ValueError` too) there is no worker.

    Source: https://docs.ray.io/en/latest/train/api/doc/ray.train.torch.TorchTrainer.html
    """
    if workers < 1 or restarts < 0:
        raise as_also(TorchError, ValueError)(
            f"fit got workers={workers} and restarts={restarts}: it takes 1 worker or more, and 0 restarts or more"
        )
    start(cpus=max(workers + 1, os.cpu_count() or 1))
    own = dict(resources or {"CPU": 1})
    api, torch_api = library("ray.train"), library("ray.train.torch")
    settings = {
        "scaling_config": api.ScalingConfig(
            num_workers=workers, use_gpu=own.get("GPU", 0) > 0, resources_per_worker=own
        ),
        "run_config": api.RunConfig(
            storage_path=None if storage is None else os.path.abspath(storage),
            failure_config=api.FailureConfig(max_failures=restarts),
        ),
    }
    given: T = _run(lambda: torch_api.TorchTrainer(_in_folder(train, os.getcwd()), **settings).fit(), restarts, api)
    return given


def _in_folder(train: Callable[[], object], folder: str) -> Callable[[], bytes]:
    def run() -> bytes:
        if os.path.isdir(folder):
            os.chdir(folder)  # Ray's workers are in a folder of its own, where no relative path of the program leads
        packed: bytes = library("ray.cloudpickle").dumps(train())  # Ray refuses to hand back tensors as they are
        return packed

    return run


def _run(attempt: Callable[[], Any], restarts: int, api: Any) -> Any:
    for left in range(restarts, -1, -1):
        try:
            return library("ray.cloudpickle").loads(attempt().return_value)
        except api.ControllerError as error:
            # a process that dies before Ray has heard of all of them: Ray counts no failure, and doesn't try again
            if not left:
                raise TorchError(f"the training failed: {_first_line(error)}") from error
        except api.TrainingFailedError as error:
            raise TorchError(
                f"the training failed: {_reason(error)}",
                hint=f"it was started {restarts + 1} times; fit(restarts={restarts + 3}) allows more"
                if restarts
                else None,
            ) from error
    raise AssertionError("unreachable")


def _reason(error: Any) -> str:
    """Of each worker that failed, what it said."""
    failures = getattr(error, "worker_failures", None) or {}
    said = [f"rank {rank}: {_first_line(failure)}" for rank, failure in sorted(failures.items())]
    return "; ".join(said) or _first_line(error)


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
