"""What can't be saved or restored is seen before the program runs."""

import tempfile
from pathlib import Path

import torch

from simpletorch import checkpoint, nn


def somewhere() -> Path:
    return Path(tempfile.mkdtemp()) / "a.safetensors"


def fail_a_function_is_no_data() -> None:
    checkpoint.save(somewhere(), model=lambda x: x)  # E: arg-type


def fail_a_name_can_not_be_restored() -> None:
    path = checkpoint.save(somewhere(), model=nn.Linear(3, 5))
    checkpoint.load(path, model="model")  # E: arg-type


def fail_a_number_can_not_be_restored() -> None:
    path = checkpoint.save(somewhere(), epoch=3)
    checkpoint.load(path, epoch=3)  # E: arg-type


def fail_a_tensor_can_not_be_restored() -> None:
    path = checkpoint.save(somewhere(), weight=torch.zeros(3))
    checkpoint.load(path, weight=torch.zeros(3))  # E: arg-type


def fail_weights_are_loaded_into_a_module() -> None:
    path = checkpoint.save(somewhere(), model=nn.Linear(3, 5))
    checkpoint.load_weights(path, nn.Linear(3, 5).state_dict())  # E: arg-type
