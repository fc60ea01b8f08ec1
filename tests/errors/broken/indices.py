"""Indices out of range, and things that are no indices."""

import torch
import torch.nn.functional as F
from torch import nn, zeros


def index() -> None:
    x = zeros(2, 3)
    x[5]


def too_many_indices() -> None:
    x = zeros(2, 3)
    x[0, 1, 2]


def a_mask_of_another_shape() -> None:
    x, keep = zeros(2, 3), zeros(5, dtype=torch.bool)
    x[keep]


def floats_as_indices() -> None:
    x, i = zeros(3), zeros(2)
    x[i]


def an_index_tensor_out_of_range() -> None:
    x, i = zeros(3, 2), torch.tensor([0, 2, 7])
    x[i]


def gather_out_of_range() -> None:
    x, i = zeros(2, 3), torch.tensor([[0, 1, 5]])
    x.gather(1, i)


def embedding_ids() -> None:
    embedding, ids = nn.Embedding(11, 3), torch.tensor([3, 13])
    embedding(ids)


def a_negative_embedding_id() -> None:
    embedding, ids = nn.Embedding(11, 3), torch.tensor([[3, -100]])
    embedding(ids)


def functional_embedding_ids() -> None:
    table, ids = zeros(11, 3), torch.tensor([2, 17])
    F.embedding(ids, table)


def class_targets() -> None:
    logits, y = zeros(3, 7), torch.tensor([0, 7, 1])
    F.cross_entropy(logits, y)


def class_targets_of_a_margin() -> None:
    scores, y = zeros(3, 7), torch.tensor([0, 7, 1])
    F.multi_margin_loss(scores, y)


def class_targets_of_several_labels() -> None:
    scores, y = zeros(2, 3), torch.tensor([[0, 3, -1], [1, -1, -1]])
    F.multilabel_margin_loss(scores, y)


def floats_into_an_embedding() -> None:
    embedding, ids = nn.Embedding(11, 3), zeros(5)
    embedding(ids)


def one_hot_with_too_few_classes() -> None:
    y = torch.tensor([0, 5])
    F.one_hot(y, 3)
