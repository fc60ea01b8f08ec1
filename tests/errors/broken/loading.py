"""Loaders whose datasets fail, in this process and in workers."""

import os
import signal
import time

from torch import Tensor, zeros
from torch.utils.data import DataLoader, Dataset

from simpletorch import data
from simpletorch.errors import explain


class Rows(Dataset[Tensor]):
    """Seven rows, of which one is bad."""

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Tensor:
        if index == 5:
            return self.bad()
        return zeros(3)

    def bad(self) -> Tensor:
        match self.problem:
            case "value":
                raise ValueError("row 5 has no label")
            case "key":
                return {"image": zeros(3)}["label"]
            case "shape":
                with explain():
                    return zeros(2, 3) @ zeros(5, 7)
            case "torch":
                return zeros(2, 3) @ zeros(5, 7)
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "slow":
                time.sleep(60)
        return zeros(11)


def batches(problem: str, workers: int, timeout: float = 0) -> None:
    loader = DataLoader(Rows(problem), batch_size=3, num_workers=workers, timeout=timeout)
    for _ in loader:
        pass


def a_value_error_in_a_worker() -> None:
    batches("value", workers=1)


def a_missing_key_in_a_worker() -> None:
    batches("key", workers=1)


def a_shape_error_in_a_worker() -> None:
    batches("shape", workers=1)


def samples_of_different_shapes() -> None:
    batches("uneven", workers=0)


def a_killed_worker() -> None:
    batches("killed", workers=1)


def a_worker_that_hangs() -> None:
    batches("slow", workers=1, timeout=1)


def our_batches(workers: int) -> None:
    for _ in data.DataLoader(Rows("torch"), batch_size=3, num_workers=workers):
        pass


def a_shape_error_in_our_loader() -> None:
    our_batches(workers=0)


def a_shape_error_in_our_loaders_worker() -> None:
    our_batches(workers=1)
