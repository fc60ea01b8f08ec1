"""The Triton kernels in Triton's interpreter; `test_triton_interpreted.py` runs this with TRITON_INTERPRET=1.

The interpreter is chosen when a kernel is decorated, so this is a process of its own.
"""

from __future__ import annotations

import pytest
import torch

from simpletorch.kernels._operator import Operator
from simpletorch.kernels._triton import interpreted
from simpletorch.kernels.shipped import (
    adamw_step,
    cross_entropy,
    dropout_add,
    gated,
    layer_norm,
    relu_add,
    rms_norm,
    rotary,
    softmax,
)
from tests.kernels.cases import cases, check

assert interpreted()

# what runs on CUDA otherwise, kernels and all
for module in (relu_add, softmax, layer_norm, rms_norm, gated, rotary, cross_entropy, dropout_add, adamw_step):
    for found in list(vars(module).values()):
        if isinstance(found, Operator):
            found.cpu(found.implementations["cuda"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("case", cases(), ids=repr)
def test_kernel(case, dtype):
    check(case, dtype, "cpu")
