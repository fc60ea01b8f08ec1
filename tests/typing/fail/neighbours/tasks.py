"""Calls of transformers' models that their task refuses; nothing is loaded here: the signatures are the tasks' own."""

import torch
from torch import nn

from simpletorch.interop import _tasks
from simpletorch.interop._typed import attach_signature


class Model(_tasks.SequenceClassifier):
    def __init__(self) -> None:
        nn.Module.__init__(self)
        attach_signature(self, _tasks.SequenceClassifier, {}, shared=True)


model = Model()
ids = torch.zeros(2, 5, dtype=torch.int64)


def fail_dtype() -> None:
    model(ids.float())  # E: tensor-dtype


def fail_rank() -> None:
    model(ids[0])  # E: tensor-shape


def fail_types() -> None:
    model(ids, token_type_ids=ids[:, :3])  # E: tensor-shape


def fail_mask() -> None:
    model(ids, attention_mask=torch.ones(2, 4))  # E: tensor-shape


def fail_labels() -> None:
    model(ids, labels=torch.zeros(3))  # E: tensor-shape


