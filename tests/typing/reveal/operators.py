"""What operators give: sizes by the annotation, a kind of dtypes as the first argument has it."""

import jaxtyping
import torch

from simpletorch import Float, Float32, Tensor, kernels
from simpletorch.dims import B, N


@kernels.operator
def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    return torch.relu(x + y)


@kernels.operator(autocast=torch.float32)
def halve(x: Tensor[Float32, B, "2*N"], scale: float = 3.0) -> Tensor[Float32, B, N]:
    return x[:, ::2] * scale


@kernels.operator
def turned(
    x: jaxtyping.Float[torch.Tensor, "a b"],
) -> tuple[jaxtyping.Float[torch.Tensor, "b a"], jaxtyping.Int64[torch.Tensor, "b"]]:
    return x.mT.clone(), x.argmax(0)


x = torch.ones(3, 10)
reveal_type(relu_add(x, x))  # R: Tensor[Float32, 3, 10]
reveal_type(relu_add(x.double(), x))  # R: Tensor[Float64, 3, 10]
reveal_type(halve(x))  # R: Tensor[Float32, 3, 5]
reveal_type(halve(x, scale=5.0))  # R: Tensor[Float32, 3, 5]
reveal_type(turned(x.half())[0])  # R: Tensor[Float16, 10, 3]
reveal_type(turned(x)[1])  # R: Tensor[Int64, 10]
reveal_type(torch.vmap(halve)(torch.ones(2, 3, 10)))  # R: Tensor[Float32, 2, 3, 5]
reveal_type(relu_add)  # R: def (x: Tensor[Float, *n], y: Tensor[Float, *n]) -> Tensor[Float, *n]
reveal_type(relu_add.name)  # R: str


def generic(x: Tensor[Float, B, "2*N"], y: torch.Tensor) -> None:
    reveal_type(relu_add(x, x))  # R: Tensor[Float, B, 2*N]
    reveal_type(relu_add(y, y))  # R: Tensor
    reveal_type(halve(y))  # R: Tensor[Float32, Any, Any]
