"""Functions called in another way: torch.func, gradient checkpointing, compiled functions."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from torch.utils.checkpoint import checkpoint

from simpletorch import Float32, Tensor
from simpletorch.dims import B, N


def dot(x: Tensor[Float32, N], y: Tensor[Float32, N]) -> Tensor[Float32]:
    return (x * y).sum()


def widened(x: Tensor[Float32, 3]) -> Tensor[Float32, 7]:
    return torch.cat([x, x, x[:1]])


def with_logits(x: Tensor[Float32, 3]) -> tuple[Tensor[Float32], Tensor[Float32, 7]]:
    return x.sum(), widened(x)


xs, ys, x, y = torch.zeros(5, 3), torch.zeros(5, 3), torch.zeros(3), torch.zeros(3)

reveal_type(vmap(dot)(xs, ys))  # R: Tensor[Float32, 5]
reveal_type(vmap(dot, in_dims=(0, None))(xs, y))  # R: Tensor[Float32, 5]
reveal_type(vmap(widened)(xs))  # R: Tensor[Float32, 5, 7]
reveal_type(vmap(widened, in_dims=1, out_dims=1)(torch.zeros(3, 11)))  # R: Tensor[Float32, 7, 11]
reveal_type(vmap(widened, out_dims=-1)(xs))  # R: Tensor[Float32, 7, 5]
reveal_type(vmap(with_logits)(xs))  # R: tuple[Tensor[Float32, 5], Tensor[Float32, 5, 7]]
reveal_type(torch.vmap(torch.dot)(xs, ys))  # R: Tensor[Float32, 5]
reveal_type(vmap(vmap(torch.dot))(torch.zeros(2, 5, 3), torch.zeros(2, 5, 3)))  # R: Tensor[Float32, 2, 5]
reveal_type(vmap(torch.linalg.inv)(torch.eye(3).expand(2, 3, 3)))  # R: Tensor[Float32, 2, 3, 3]
reveal_type(vmap(lambda row: row @ torch.zeros(3, 13))(xs))  # R: Tensor[Float32, 5, 13]
reveal_type(vmap(nn.Linear(3, 17))(torch.zeros(2, 5, 3)))  # R: Tensor[Float32, 2, 5, 17]

reveal_type(grad(dot)(x, y))  # R: Tensor[Float32, 3]
reveal_type(grad(dot, argnums=(0, 1))(x, y))  # R: tuple[Tensor[Float32, 3], Tensor[Float32, 3]]
reveal_type(vmap(grad(dot))(xs, ys))  # R: Tensor[Float32, 5, 3]
reveal_type(grad(with_logits, has_aux=True)(x))  # R: tuple[Tensor[Float32, 3], Tensor[Float32, 7]]
reveal_type(grad_and_value(dot)(x, y))  # R: tuple[Tensor[Float32, 3], Tensor[Float32]]
reveal_type(jacrev(widened)(x))  # R: Tensor[Float32, 7, 3]
reveal_type(jacfwd(F.relu)(torch.zeros(2, 5)))  # R: Tensor[Float32, 2, 5, 2, 5]
reveal_type(hessian(dot)(x, y))  # R: Tensor[Float32, 3, 3]
reveal_type(jvp(widened, (x,), (y,)))  # R: tuple[Tensor[Float32, 7], Tensor[Float32, 7]]
value, pull = vjp(widened, x)
reveal_type(value)  # R: Tensor[Float32, 7]
reveal_type(pull(torch.zeros(7)))  # R: tuple[Tensor[Float32, 3]]
reveal_type(linearize(widened, x)[1](y))  # R: Tensor[Float32, 7]

reveal_type(checkpoint(widened, x, use_reentrant=False))  # R: Tensor[Float32, 7]
reveal_type(checkpoint(nn.Linear(3, 17), xs, use_reentrant=False))  # R: Tensor[Float32, 5, 17]


@torch.compile(fullgraph=True)
def projected(x: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 7]:
    return x @ torch.zeros(3, 7)


@torch.vmap
def summed(x: Tensor[Float32, N]) -> Tensor[Float32]:
    return x.sum()


reveal_type(projected(xs))  # R: Tensor[Float32, 5, 7]
reveal_type(summed(xs))  # R: Tensor[Float32, 5]
reveal_type(torch.segment_reduce(xs, "sum", lengths=torch.tensor([2, 3])))  # R: Tensor[Float32, 2, 3]


def unruled(x: Tensor[Float32, B, N], g: Tensor[Float32, N]) -> None:
    reveal_type(torch.norm_except_dim(x))  # R: Tensor[Float32, B, 1]
