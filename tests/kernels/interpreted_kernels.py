"""The Triton kernels in Triton's interpreter; `test_triton_interpreted.py` runs this with TRITON_INTERPRET=1.

The interpreter is chosen when a kernel is decorated, so this is a process of its own.
"""

from __future__ import annotations

from importlib import import_module

import pytest
import torch

from simpletorch.kernels._operator import Operator
from simpletorch.kernels._triton import interpreted
from simpletorch.kernels.shipped._triton.cross_entropy import cross_entropy_in_place
from simpletorch.kernels.shipped.adamw_step import adamw_step, adamw_step_in_place
from tests.kernels.cases import cases, check, classes, normal

assert interpreted()

MODULES = "relu_add softmax layer_norm rms_norm gated rotary cross_entropy dropout_add adamw_step"

# what runs on CUDA otherwise, kernels and all
for module in MODULES.split():
    for found in list(vars(import_module(f"simpletorch.kernels.shipped.{module}")).values()):
        if isinstance(found, Operator):
            found.cpu(found.implementations["cuda"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("case", cases(), ids=repr)
def test_kernel(case, dtype):
    check(case, dtype, "cpu")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_adamw_step(dtype):
    """Lists of odd sizes, of which some lie where loads can't be wide."""
    torch.manual_seed(1)
    room = [torch.rand(3, 4103).to(dtype if i < 2 else torch.float32) for i in range(4)]
    lists = [[x[0, :4099], x[1, 1:8], x[2, :2048]] for x in room]
    exact = [[x.double() for x in one] for one in lists]
    for step in (1, 2):
        adamw_step(*lists, step=step, lr=0.1)
        adamw_step_in_place.reference(*exact, None, step, 0.1, 0.9, 0.999, 1e-8, 1e-2)
    for one, other in zip(lists, exact, strict=True):
        for a, b in zip(one, other, strict=True):
            torch.testing.assert_close(a.double(), b, rtol=3 * torch.finfo(dtype).eps, atol=3 * torch.finfo(dtype).eps)


def test_losses_and_gradients_in_place():
    """The kernel of linear_cross_entropy, which runs on a GPU only."""
    logits, targets = normal(11, 5003).float(), classes(11, 5003)
    rows = logits.double().requires_grad_()
    right = torch.nn.functional.cross_entropy(rows, targets, reduction="none", label_smoothing=0.1)
    (right_grad,) = torch.autograd.grad(right.sum(), rows)
    losses = torch.empty(11)
    cross_entropy_in_place(logits, targets, losses, 11, 5003, 5003, -100, 0.1, SMOOTH=True, BLOCK=1024, STAGES=2)
    torch.testing.assert_close(losses, right.float())
    torch.testing.assert_close(logits, right_grad.float())
