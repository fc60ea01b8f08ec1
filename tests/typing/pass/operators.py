"""Operators of the user's own: strict mypy has nothing to say of implementations, gradients and calls."""

from collections.abc import Callable

import jaxtyping
import torch

from simpletorch import Dim, Float, Float32, Tensor, kernels
from simpletorch.dims import B, D, N


@kernels.operator
def relu_add(x: Float[Tensor, "*n"], y: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """relu(x + y)"""
    return torch.relu(x + y)


@relu_add.cpu
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x.add(y))


@relu_add.cuda
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x.add(y))


@relu_add.on("mps")
def _(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x.add(y))


@relu_add.backward
def _(grad: torch.Tensor, result: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kept = grad * (result > 0)
    return kept, kept


@kernels.operator("typing::double_", mutates=("x",))
def double_(x: jaxtyping.Float[torch.Tensor, "*n"]) -> None:
    x.mul_(2)


@kernels.operator
def halve(x: Tensor[Float32, B, "2*N"], scale: float = 3.0) -> Tensor[Float32, B, N]:
    return x[:, ::2] * scale


def twice(x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
    return relu_add(relu_add(x, x), x)


def plain(x: torch.Tensor) -> torch.Tensor:
    return halve(relu_add(x, x))


@kernels.operator
def grown(x: jaxtyping.Float[torch.Tensor, "b d"], n: Dim[N]) -> jaxtyping.Float[torch.Tensor, "b 2*d"]:
    return halve.reference(torch.cat((x, x, x, x), 1), 1.0)


def through(x: jaxtyping.Float[torch.Tensor, "m k"]) -> jaxtyping.Float[torch.Tensor, "m 2*k"]:
    y = grown.reference(relu_add.reference(x, x), 3)
    return relu_add.reference(y, y=y)


def applied(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    return function(x)


x = torch.ones(3, 10)
twice(x)
plain(x)
through(x)
applied(halve, x)
double_(x)
torch.vmap(relu_add)(x, x)
name: str = relu_add.name
