"""What the rules say under autocast is what torch does, on the CPU and on (fake) CUDA tensors."""

import random

import pytest
import torch

from simpletorch.rules import Report, TensorType, infer
from simpletorch.rules.core.autocast import Autocast
from simpletorch.rules.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT64
from simpletorch.rules.core.values import Device, tensor
from tests.oracle.autocast import LOWER, trials_of, trials_of_module
from tests.oracle.modules import cases
from tests.oracle.samples import samples
from tests.oracle.truth import lift_dtype

CUDA = Autocast.of("cuda", None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_functions_give_what_torch_gives(device):
    rng = random.Random(11)
    autocast = Autocast(device, lift_dtype(LOWER[device]))
    count = 0
    for call in samples(lambda names: rng.random() < 0.12, dtypes=(torch.float32,), count=3):
        for trial in trials_of(call, device):
            count += 1
            assert trial.agrees(autocast), f"{call}: {trial.ask(autocast)}, but torch gives {trial.truth}"
    assert count > 300


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_layers_give_what_torch_gives(device):
    autocast = Autocast(device, lift_dtype(LOWER[device]))
    count = 0
    for case in random.Random(13).sample(cases(), 100):
        for trial in trials_of_module(case, device):
            count += 1
            assert trial.agrees(autocast), f"{case}: {trial.ask(autocast)}, but torch gives {trial.truth}"
    assert count > 100


@pytest.mark.parametrize(
    ("name", "operands", "dtype"),
    [
        ("torch.matmul", (tensor(3, 5, dtype=FLOAT32), tensor(5, 7, dtype=FLOAT16)), FLOAT16),
        ("torch.exp", (tensor(3, dtype=FLOAT16),), FLOAT32),
        ("torch.exp", (tensor(3, dtype=FLOAT64),), FLOAT64),
        ("torch.exp", (tensor(3, dtype=INT64),), FLOAT32),
        ("torch.relu", (tensor(3, dtype=FLOAT16),), FLOAT16),
        ("torch.atan2", (tensor(3, dtype=FLOAT16), tensor(3, dtype=FLOAT32)), FLOAT32),
        ("torch.matmul", (tensor(3, 5), tensor(5, 7, dtype=FLOAT32)), FLOAT16),
        (
            "torch.matmul",
            (tensor(3, 5, dtype=FLOAT32, device=Device("cpu")), tensor(5, dtype=FLOAT32, device=Device("cpu"))),
            FLOAT32,
        ),
    ],
)
def test_casts_by_operation(name, operands, dtype):
    found = infer(name, operands, autocast=CUDA)
    assert isinstance(found, TensorType)
    assert found.dtype == dtype


def test_what_two_devices_do_differently_is_not_known_where_either_may_be():
    x = tensor(3, 5, dtype=BFLOAT16)
    either = Autocast(None, BFLOAT16)
    assert infer("torch.exp", (x,), autocast=either).dtype is None
    assert infer("torch.mm", (x, tensor(5, 7, dtype=FLOAT32)), autocast=either).dtype == BFLOAT16
    assert infer("torch.exp", (x,), autocast=Autocast("npu", BFLOAT16)).dtype is None


def test_what_is_perhaps_in_force_leaves_known_what_it_never_changes():
    perhaps = Autocast("cuda", FLOAT16, certain=False)
    x = tensor(3, 5, dtype=FLOAT32)
    assert infer("torch.relu", (x,), autocast=perhaps).dtype == FLOAT32
    assert infer("torch.mm", (x, tensor(5, 7, dtype=FLOAT32)), autocast=perhaps).dtype is None
    assert isinstance(infer("torch.mm", (x, tensor(7, 5, dtype=FLOAT32)), autocast=perhaps), Report)
