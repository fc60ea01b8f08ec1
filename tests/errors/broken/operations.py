"""Operations on tensors whose shapes don't fit."""

import torch
import torch.nn.functional as F
from torch import zeros


def matmul() -> None:
    x, w = zeros(31, 127), zeros(101, 11)
    x @ w


def matmul_with_a_transposed_weight() -> None:
    x, w = zeros(31, 127), zeros(11, 127)
    torch.matmul(x, w)


def matmul_of_two_expressions() -> None:
    x, w = zeros(3, 5, 7), zeros(11, 13)
    x.flatten(1).relu() @ w[1:].T


def batched_matmul() -> None:
    a, b = zeros(2, 3, 5), zeros(2, 7, 5)
    torch.bmm(a, b)


def attention_scores_without_a_transpose() -> None:
    q, k = zeros(2, 3, 5, 7), zeros(2, 3, 5, 7)
    q @ k


def linear_with_a_transposed_weight() -> None:
    x, weight = zeros(2, 5), zeros(5, 7)
    F.linear(x, weight)


def add() -> None:
    x, y = zeros(3, 5), zeros(3, 7)
    x + y


def a_vector_over_rows() -> None:
    x, mean = zeros(5, 3), zeros(5)
    x - mean


def in_place_growth() -> None:
    x, y = zeros(3), zeros(2, 3)
    x += y


def assignment() -> None:
    x, row = zeros(2, 3), zeros(5)
    x[0] = row


def cat_along_the_wrong_dim() -> None:
    a, b = zeros(2, 3), zeros(2, 5)
    torch.cat([a, b])


def cat_of_a_list() -> None:
    parts = [zeros(2, 3), zeros(2, 3), zeros(5, 7)]
    torch.cat(parts)


def stack() -> None:
    a, b = zeros(2, 3), zeros(2, 5)
    torch.stack((a, b))


def view_of_another_size() -> None:
    x = zeros(7, 3)
    x.view(5, 3)


def reshape_that_does_not_divide() -> None:
    x = zeros(2, 3)
    x.reshape(-1, 5)


def heads_merged_without_contiguous() -> None:
    heads = zeros(2, 3, 5, 7).transpose(1, 2)
    heads.view(2, 5, 21)


def heads_that_do_not_divide() -> None:
    x = zeros(2, 5, 22)
    x.unflatten(-1, (3, 7))


def permute_of_too_few_dims() -> None:
    images = zeros(2, 3, 5, 7)
    images.permute(0, 2, 1)


def a_dim_that_is_not_there() -> None:
    x = zeros(2, 3)
    x.sum(2)


def einsum() -> None:
    a, b = zeros(2, 3), zeros(5, 7)
    torch.einsum("ij,jk->ik", a, b)


def split() -> None:
    x = zeros(7, 3)
    x.split([2, 3])


def expand() -> None:
    bias = zeros(3, 1)
    bias.expand(5, 7)


def inverse_of_a_rectangle() -> None:
    a = zeros(3, 5)
    torch.linalg.inv(a)


def truth_of_several_numbers() -> None:
    x = zeros(3)
    if x > 0:
        pass


def item_of_several_numbers() -> None:
    losses = zeros(3)
    losses.item()


def a_negative_size() -> None:
    n = 3
    zeros(n - 5, 2)


def narrow() -> None:
    x = zeros(2, 3)
    x.narrow(0, 1, 5)


def scaled_dot_product_attention() -> None:
    q, k, v = zeros(2, 3, 5, 7), zeros(2, 3, 5, 11), zeros(2, 3, 5, 7)
    F.scaled_dot_product_attention(q, k, v)
