"""Under autocast the operands are cast as torch's tables say, by operation and type of device."""

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch import amp

x = torch.zeros(7, 11)
half = torch.zeros(11, 5, dtype=torch.float16)
double = torch.zeros(7, 11, dtype=torch.float64)
targets = torch.zeros(7, dtype=torch.int64)
linear = nn.Linear(11, 13)

with torch.autocast("cpu", dtype=torch.bfloat16):
    y = linear(x)
    reveal_type(y)  # R: Tensor[BFloat16, 7, 13]
    reveal_type(x @ half)  # R: Tensor[BFloat16, 7, 5]
    reveal_type(y.softmax(-1))  # R: Tensor[BFloat16, 7, 13]
    reveal_type(F.cross_entropy(y, targets))  # R: Tensor[Float32]
    reveal_type(F.relu(y))  # R: Tensor[BFloat16, 7, 13]
    reveal_type(torch.zeros(3))  # R: Tensor[Float32, 3]
    reveal_type(double.exp())  # R: Tensor[Float64, 7, 11]
    with torch.autocast("cpu", enabled=False):
        reveal_type(linear(x))  # R: Tensor[Float32, 7, 13]

with torch.autocast("cpu"):
    reveal_type(linear(x))  # R: Tensor[BFloat16, 7, 13]
    reveal_type(linear(x).exp())  # R: Tensor[BFloat16, 7, 13]


def on_a_gpu() -> None:  # never called: a machine without one switches these off
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = linear(x)
        reveal_type(y)  # R: Tensor[BFloat16, 7, 13]
        reveal_type(x @ half)  # R: Tensor[BFloat16, 7, 5]
        reveal_type(y.softmax(-1))  # R: Tensor[Float32, 7, 13]
        reveal_type(F.cross_entropy(y, targets))  # R: Tensor[Float32]
        reveal_type(F.relu(y))  # R: Tensor[BFloat16, 7, 13]
        reveal_type(y + x.sum())  # R: Tensor[BFloat16, 7, 13]
        reveal_type(torch.zeros(3))  # R: Tensor[Float32, 3]
        reveal_type(double.exp())  # R: Tensor[Float64, 7, 11]
        with torch.autocast("cuda", enabled=False):
            reveal_type(linear(x))  # R: Tensor[Float32, 7, 13]
        reveal_type(nn.LayerNorm(13)(y))  # R: Tensor[Float32, 7, 13]

    with torch.autocast("cuda"):
        reveal_type(linear(x))  # R: Tensor[Float16, 7, 13]

    with torch.cuda.amp.autocast():
        reveal_type(linear(x))  # R: Tensor[Float16, 7, 13]

    with amp.autocast("cuda", dtype=torch.float16):
        reveal_type(linear(x))  # R: Tensor[Float16, 7, 13]


def either(device: str, use_amp: bool, dtype: torch.dtype) -> None:
    with torch.autocast(device, dtype=torch.bfloat16):
        reveal_type(linear(x))  # R: Tensor[BFloat16, 7, 13]
        reveal_type(linear(x).exp())  # R: Tensor[Any, 7, 13]
    with torch.autocast("cuda", enabled=use_amp):
        reveal_type(linear(x))  # R: Tensor[Any, 7, 13]
        reveal_type(F.relu(x))  # R: Tensor[Float32, 7, 11]
    with torch.autocast("cuda", dtype=dtype):
        reveal_type(linear(x))  # R: Tensor[Any, 7, 13]


@torch.autocast("cuda", dtype=torch.bfloat16)  # type: ignore[untyped-decorator]
def decorated(x: torch.Tensor) -> None:
    reveal_type(nn.Linear(11, 5)(torch.zeros(3, 11)))  # R: Tensor[BFloat16, 3, 5]
