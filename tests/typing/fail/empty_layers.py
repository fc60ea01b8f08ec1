"""Sizes of 0, which our classes refuse when they run, too."""

import simpletorch
from simpletorch import nn

WIDTH = 7


def fail_divided() -> None:
    nn.Linear(WIDTH // 8, 5)  # E: tensor-shape


def fail_by_name() -> None:
    nn.Linear(3, out_features=0)  # E: tensor-shape


def fail_convolution() -> None:
    nn.Conv2d(0, 5, 3)  # E: tensor-shape


def fail_one_of_several() -> None:
    simpletorch.nn.LayerNorm((3, 0))  # E: tensor-shape


def fail_batch_norm() -> None:
    nn.BatchNorm1d(0)  # E: tensor-shape


def fail_recurrent() -> None:
    nn.LSTM(0, 3)  # E: tensor-shape


def fail_attention() -> None:
    nn.MultiheadAttention(0, 1)  # E: tensor-shape
