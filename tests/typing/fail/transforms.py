"""Functions called in another way: what the function inside refuses, and samples that don't match."""

import torch
from torch.func import grad, jacrev, vmap
from torch.utils.checkpoint import checkpoint

from simpletorch import Float32, Tensor, checked
from simpletorch.dims import N


@checked
def dot(x: Tensor[Float32, N], y: Tensor[Float32, N]) -> Tensor[Float32]:
    return (x * y).sum()


@checked
def widened(x: Tensor[Float32, 3]) -> Tensor[Float32, 7]:
    return torch.cat([x, x, x[:1]])


def fail_vmapped_sizes() -> None:
    vmap(dot)(torch.zeros(5, 3), torch.zeros(5, 2))  # E: tensor-shape


def fail_samples() -> None:
    vmap(dot)(torch.zeros(5, 3), torch.zeros(4, 3))  # E: tensor-shape


def fail_no_such_dim() -> None:
    vmap(torch.sum, in_dims=2)(torch.zeros(5, 3))  # E: tensor-shape


def fail_mapped_dim() -> None:
    vmap(widened)(torch.zeros(3, 11))  # E: tensor-shape


def fail_lambda() -> None:
    vmap(lambda row: row @ torch.zeros(3, 13))(torch.zeros(5, 4))  # E: tensor-shape


def fail_torch_function() -> None:
    vmap(torch.dot)(torch.zeros(5, 3), torch.zeros(5, 2))  # E: tensor-shape


def fail_gradient_of_many() -> None:
    grad(widened)(torch.zeros(3))  # E: tensor-shape


def fail_jacobian() -> None:
    jacrev(widened)(torch.zeros(5))  # E: tensor-shape


def fail_checkpoint() -> None:
    checkpoint(widened, torch.zeros(4), use_reentrant=False)  # E: tensor-shape
