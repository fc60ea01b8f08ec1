"""Layers and losses that don't fit what they are given, alone and inside models."""

import torch
from torch import Tensor, zeros

from simpletorch import nn


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3)
        self.fc = nn.Linear(7, 11)

    def forward(self, images: Tensor) -> Tensor:
        x = torch.relu(self.conv(images))
        return self.fc(x.flatten(1))


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(7, 5)
        self.fc2 = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.fc1(x))
        return self.fc2(x)


class Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.ModuleList([Two() for _ in range(2)])

    def forward(self, x: Tensor) -> Tensor:
        for block in self.encoder:
            x = block(x)
        return x


def two_layers() -> None:
    model = Two()
    model(zeros(2, 7))


def a_nested_model() -> None:
    model = Deep()
    model(zeros(2, 7))


def sequential() -> None:
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(11, 3))
    model(zeros(2, 5))


def linear_after_flatten() -> None:
    model = Classifier()
    model(zeros(2, 3, 7, 7))


def linear_without_flatten() -> None:
    layer, x = nn.Linear(45, 2), zeros(2, 5, 3, 3)
    layer(x)


def channels_last() -> None:
    model = Classifier()
    model(zeros(2, 13, 17, 3))


def grey_images() -> None:
    conv, images = nn.Conv2d(3, 5, 3), zeros(2, 1, 7, 7)
    conv(images)


def an_image_without_a_batch_and_channels() -> None:
    conv, image = nn.Conv2d(1, 5, 3), zeros(29, 31)
    conv(image)


def a_kernel_larger_than_the_image() -> None:
    conv, images = nn.Conv2d(1, 2, 5), zeros(2, 1, 3, 3)
    conv(images)


def pooling_too_often() -> None:
    pool, images = nn.MaxPool2d(2), zeros(2, 3, 1, 1)
    pool(images)


def batch_norm_channels() -> None:
    norm, x = nn.BatchNorm2d(7), zeros(2, 5, 3, 3)
    norm(x)


def batch_norm_rank() -> None:
    norm, x = nn.BatchNorm2d(7), zeros(2, 7)
    norm(x)


def a_batch_of_one() -> None:
    norm, x = nn.BatchNorm1d(7), zeros(1, 7)
    norm(x)


def layer_norm() -> None:
    norm, x = nn.LayerNorm(7), zeros(2, 5)
    norm(x)


def group_norm() -> None:
    norm, x = nn.GroupNorm(2, 6), zeros(2, 5, 3)
    norm(x)


def lstm_features() -> None:
    lstm, x = nn.LSTM(5, 7), zeros(2, 3, 11)
    lstm(x)


def lstm_batch_first() -> None:
    lstm, x = nn.LSTM(5, 7, batch_first=True), zeros(2, 3, 5)
    state = zeros(1, 3, 7)
    lstm(x, (state, state))


def multihead_attention() -> None:
    attention, x = nn.MultiheadAttention(6, 2), zeros(5, 3, 7)
    attention(x, x, x)


def embedding_dim_that_heads_do_not_divide() -> None:
    torch.nn.MultiheadAttention(7, 3)


def transformer() -> None:
    layer, x = nn.TransformerEncoderLayer(6, 2, 11), zeros(5, 3, 7)
    layer(x)


def targets_of_another_batch_size() -> None:
    criterion, logits, y = nn.CrossEntropyLoss(), zeros(3, 7), zeros(5, dtype=torch.int64)
    criterion(logits, y)


def targets_with_a_dim_too_many() -> None:
    criterion, logits, y = nn.CrossEntropyLoss(), zeros(3, 7), zeros(3, 1, dtype=torch.int64)
    criterion(logits, y)


def one_hot_integer_targets() -> None:
    criterion, logits, y = nn.CrossEntropyLoss(), zeros(3, 7), zeros(3, 7, dtype=torch.int64)
    criterion(logits, y)


def a_row_against_a_column() -> None:
    criterion, logits, y = nn.BCEWithLogitsLoss(), zeros(3, 1), zeros(3)
    criterion(logits, y)


def a_batch_of_one_squeezed_away() -> None:
    criterion, logits, y = nn.BCEWithLogitsLoss(), zeros(1, 1), zeros(1)
    criterion(logits.squeeze(), y)


def language_model_logits() -> None:
    criterion, logits, tokens = nn.CrossEntropyLoss(), zeros(2, 3, 11), zeros(2, 3, dtype=torch.int64)
    criterion(logits, tokens)
