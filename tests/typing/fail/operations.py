"""One mistake a function: the operation is an error for mypy, and raises when the function is called."""

import torch
import torch.nn.functional as F
from torch import nn

x = torch.zeros(7, 11)
y = torch.zeros(13, 5)
images = torch.zeros(2, 3, 17, 19)
labels = torch.zeros(7, dtype=torch.int64)


def fail_add() -> None:
    x + y  # E: tensor-shape


def fail_add_scalar_first() -> None:
    2.0 * (x - y)  # E: tensor-shape


def fail_in_place() -> None:
    a = torch.zeros(7, 11)
    a += torch.zeros(3, 7, 11)  # E: tensor-shape


def fail_matmul() -> None:
    x @ y  # E: tensor-shape


def fail_matmul_function() -> None:
    torch.matmul(x, y)  # E: tensor-shape


def fail_mm_dtype() -> None:
    torch.mm(x, torch.zeros(11, 3, dtype=torch.float64))  # E: tensor-dtype


def fail_linear() -> None:
    F.linear(x, torch.zeros(5, 13))  # E: tensor-shape


def fail_view() -> None:
    x.view(7, 12)  # E: tensor-shape


def fail_view_minus_one() -> None:
    x.view(-1, 13)  # E: tensor-shape


def fail_reshape() -> None:
    torch.reshape(x, (5, 5))  # E: tensor-shape


def fail_permute() -> None:
    x.permute(0, 1, 2)  # E: tensor-shape


def fail_transpose() -> None:
    x.transpose(0, 2)  # E: tensor-shape


def fail_expand() -> None:
    x.expand(7, 12)  # E: tensor-shape


def fail_cat() -> None:
    torch.cat([x, y])  # E: tensor-shape


def fail_stack() -> None:
    torch.stack([x, y])  # E: tensor-shape


def fail_split() -> None:
    torch.split(x, [3, 5])  # E: tensor-shape


def fail_sum_dim() -> None:
    x.sum(dim=2)  # E: tensor-shape


def fail_mean_of_ints() -> None:
    labels.mean()  # E: tensor-dtype


def fail_softmax_dim() -> None:
    torch.softmax(x, dim=3)  # E: tensor-shape


def fail_index() -> None:
    x[7]  # E: tensor-shape


def fail_too_many_indices() -> None:
    x[0, 1, 2]  # E: tensor-shape


def fail_assignment() -> None:
    a = torch.zeros(7, 11)
    a[:, 0] = torch.zeros(5)  # E: tensor-shape


def fail_conv_channels() -> None:
    nn.Conv2d(4, 5, 3)(images)  # E: tensor-shape


def fail_conv_kernel() -> None:
    nn.Conv2d(3, 5, 23)(images)  # E: tensor-shape


def fail_pool() -> None:
    F.max_pool2d(torch.zeros(2, 3, 1, 1), 2)  # E: tensor-shape


def fail_norm_channels() -> None:
    nn.BatchNorm2d(5)(images)  # E: tensor-shape


def fail_layer_norm() -> None:
    nn.LayerNorm(13)(x)  # E: tensor-shape


def fail_group_norm() -> None:
    nn.GroupNorm(3, 10)  # E: tensor-shape


def fail_embedding_dtype() -> None:
    nn.Embedding(5, 3)(torch.zeros(3))  # E: tensor-dtype


def fail_attention() -> None:
    nn.MultiheadAttention(10, 3)  # E: tensor-shape


def fail_cross_entropy_dtype() -> None:
    F.cross_entropy(x, labels.int())  # E: tensor-dtype


def fail_cross_entropy_shape() -> None:
    F.cross_entropy(x, torch.zeros(5, dtype=torch.int64))  # E: tensor-shape


def fail_einsum() -> None:
    torch.einsum("ij,jk->ik", x, y)  # E: tensor-shape


def fail_bitwise() -> None:
    x & x  # E: tensor-dtype


def fail_sequential() -> None:
    model = nn.Sequential(nn.Linear(11, 13), nn.ReLU(), nn.Linear(17, 3))  # E: tensor-shape
    model(x)


def fail_sequential_input() -> None:
    model = nn.Sequential(nn.Linear(13, 13), nn.ReLU())
    model(x)  # E: tensor-shape


def fail_chain() -> None:
    nn.Linear(13, 3)(F.relu(nn.Linear(11, 17)(x)))  # E: tensor-shape
