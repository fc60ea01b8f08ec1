"""An operator whose implementation for the CPU is written in C++ with OpenMP.

    python examples/kernels/relu_add.py

It needs a C++ compiler and ninja (pip install ninja); the first run compiles, which takes half a minute.
"""

import torch
from jaxtyping import Float

from simpletorch import kernels

native = kernels.extension("relu_add.cpp", openmp=True)


@kernels.operator("examples::relu_add")
def relu_add(x: Float[torch.Tensor, "*n"], y: Float[torch.Tensor, "*n"]) -> Float[torch.Tensor, "*n"]:
    """relu(x + y)"""
    return torch.relu(x + y)


@relu_add.cpu
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = native.relu_add(x.contiguous(), y.to(x.dtype).contiguous())
    return result


@relu_add.backward
def _(grad: torch.Tensor, result: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kept = grad * (result > 0)
    return kept, kept


if __name__ == "__main__":
    print(kernels.verify(relu_add))
