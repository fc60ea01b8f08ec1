"""Dtypes, devices and values of other classes."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, zeros


def float_targets() -> None:
    logits, y = zeros(3, 7), zeros(3)
    F.cross_entropy(logits, y)


def int32_targets() -> None:
    criterion, logits, y = nn.CrossEntropyLoss(), zeros(3, 7), zeros(3, dtype=torch.int32)
    criterion(logits, y)


def integer_probabilities() -> None:
    logits, y = zeros(3), zeros(3, dtype=torch.int64)
    F.binary_cross_entropy_with_logits(logits, y)


def numpy_doubles() -> None:
    layer = nn.Linear(3, 5)
    x = torch.from_numpy(np.zeros((2, 3)))
    layer(x)


def bytes_into_a_convolution() -> None:
    conv, images = nn.Conv2d(3, 5, 3), zeros(2, 3, 7, 7, dtype=torch.uint8)
    conv(images)


def half_against_float() -> None:
    x, w = zeros(2, 3, dtype=torch.float16), zeros(3, 5)
    x @ w


def matmul_with_integers() -> None:
    a, b = zeros(2, 3), zeros(3, 5, dtype=torch.int64)
    a @ b


def mean_of_integers() -> None:
    counts = zeros(3, dtype=torch.int64)
    counts.mean()


def softmax_of_integers() -> None:
    scores = zeros(3, dtype=torch.int64)
    torch.softmax(scores, 0)


def a_float_result_in_place_of_integers() -> None:
    counts = zeros(3, dtype=torch.int64)
    counts /= 2


def bitwise_not_of_floats() -> None:
    mask = zeros(3)
    ~mask  # noqa: B018


def none_for_a_tensor() -> None:
    layer, x = nn.Linear(3, 5), None
    layer(x)


def a_list_for_a_tensor() -> None:
    layer, x = nn.Linear(3, 5), [1.0, 2.0, 3.0]
    layer(x)


def two_devices() -> None:
    x, mask = zeros(2, device="meta"), zeros(2)
    x * mask


def data_on_another_device_than_the_model() -> None:
    layer, x = nn.Linear(3, 5, device="meta"), zeros(2, 3)
    layer(x)


def cuda_where_there_is_none() -> None:
    x = zeros(2)
    x.to("cuda:97")


def numpy_of_a_tensor_that_requires_grad() -> None:
    w = zeros(3, requires_grad=True)
    w.numpy()
