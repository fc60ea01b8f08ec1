"""Loaders whose batches don't fit the model are found where the training is started."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.nn import functional as F

from simpletorch import B, Float32, Int64, Tensor, nn
from simpletorch.data import DataLoader, Dataset, TensorDataset
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD
from simpletorch.train import Trainer, evaluate, predict


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 3)

    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
        return self.fc(x)


class Pair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 3)

    def forward(self, x: Tensor[Float32, B, 7], y: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 3]:
        return self.fc(x) + y


right = DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11, dtype=torch.int64)), 5)
narrow = DataLoader(TensorDataset(torch.zeros(11, 5), torch.zeros(11, dtype=torch.int64)), 5)
whole = DataLoader(TensorDataset(torch.zeros(11, 7, dtype=torch.int64), torch.zeros(11, dtype=torch.int64)), 5)


def fail_shape() -> None:
    model = Classifier()
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).fit(model, narrow)  # E: tensor-shape


def fail_dtype() -> None:
    model = Classifier()
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).fit(model, whole)  # E: tensor-dtype


def fail_target_dtype() -> None:
    model = Classifier()
    scores = DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11)), 5)
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).fit(model, scores)  # E: tensor-dtype


def fail_target_of_a_variable() -> None:
    model = Classifier()
    trainer = Trainer(loss=nn.CrossEntropyLoss(), optimizer=SGD(model.parameters()))
    trainer.fit(model, DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11)), 5))  # E: tensor-dtype


def fail_target_shape() -> None:
    model = Classifier()
    trainer = Trainer(loss=F.mse_loss, optimizer=SGD(model.parameters()))
    trainer.fit(model, DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11, 2)), 5))  # E: tensor-shape


def fail_validation() -> None:
    model = Classifier()
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).fit(
        model,
        right,
        validation=narrow,  # E: tensor-shape
    )


def fail_inputs_missing() -> None:
    model = Pair()
    Trainer(loss=F.mse_loss, optimizer=SGD(model.parameters())).fit(model, right)  # E: call-arg


def fail_plain_torch_modules() -> None:
    model = nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3))
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).fit(model, narrow)  # E: tensor-shape


def fail_list_of_batches() -> None:
    model = Classifier()
    batches = [(torch.zeros(5, 2), torch.zeros(5, dtype=torch.int64))]
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).fit(model, batches, epochs=1)  # E: tensor-shape


@dataclass
class Sample:
    x: Tensor[Float32, 5]
    label: Tensor[Int64]


class Samples(Dataset[Sample]):
    def __len__(self) -> int:
        return 11

    def __getitem__(self, index: int) -> Sample:
        return Sample(torch.zeros(5), torch.tensor(2))


class Named(NamedTuple):
    label: torch.Tensor
    y: torch.Tensor


def fail_shape_of_a_field() -> None:
    model = Classifier()
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), target="label")
    trainer.fit(model, DataLoader(Samples(), 7))  # E: tensor-shape


def fail_name_that_forward_lacks() -> None:
    model = Classifier()
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), target="label")
    trainer.fit(model, [Named(torch.zeros(5, dtype=torch.int64), torch.zeros(5, 7))])  # E: call-arg


def fail_test() -> None:
    model = Classifier()
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).test(model, narrow)  # E: tensor-shape


def fail_prediction() -> None:
    predict(Classifier(), narrow)  # E: tensor-shape


def fail_prediction_of_a_trainer() -> None:
    model = Classifier()
    Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters())).predict(model, [torch.zeros(3, 5)])  # E: tensor-shape


def fail_evaluation() -> None:
    evaluate(Classifier(), narrow, {"accuracy": Accuracy()})  # E: tensor-shape
