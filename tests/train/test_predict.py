"""`predict`, `Trainer.predict` and `Trainer.test`."""

from typing import NamedTuple

import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import DataError
from simpletorch.metrics import Accuracy, ConfusionMatrix
from simpletorch.optim import EMA, SGD
from simpletorch.train import Trainer, predict

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 2


def loader():
    return DataLoader(TensorDataset(INPUTS, TARGETS), 7)


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Dropout(0.5), torch.nn.Linear(5, 2))


def by_hand(model):
    with torch.no_grad():
        return torch.cat([model.eval()(part) for part in INPUTS.split(7)])


@pytest.mark.parametrize("batches", [loader(), DataLoader(TensorDataset(INPUTS), 7), INPUTS.split(7)])
def test_all_outputs_come_together_in_eval_mode(batches):
    model = net().train()
    predicted = predict(model, batches)
    assert model.training
    assert not predicted.requires_grad
    assert torch.equal(predicted, by_hand(model))


def test_without_targets_all_of_a_tuple_is_input():
    model = torch.nn.Bilinear(3, 3, 2)
    assert torch.equal(predict(model, [(INPUTS, INPUTS)], targets=False), model(INPUTS, INPUTS))


def test_tuples_and_dicts_stay_what_they_are():
    class Out(NamedTuple):
        scores: torch.Tensor
        parts: dict

    class Model(torch.nn.Module):
        def forward(self, x):
            return Out(x.sum(1), {"first": x[:, :1], "name": "a"})

    predicted = predict(Model(), loader())
    assert isinstance(predicted, Out)
    assert torch.equal(predicted.scores, torch.cat([part.sum(1) for part in INPUTS.split(7)]))
    assert predicted.parts["first"].shape == (23, 1)
    assert predicted.parts["name"] == ["a"] * 4


def test_nothing_to_predict_is_said():
    with pytest.raises(DataError, match="there is nothing to predict: the loader gave no batch"):
        predict(net(), [])


def test_a_trainer_predicts_and_tests_with_the_average_of_weights():
    model = net()
    average = EMA(model, decay=0.5)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters(), lr=0.1),
        ema=average,
        metrics={"accuracy": Accuracy(), "confusion": ConfusionMatrix(2)},
        progress=False,
    )
    history = trainer.fit(model, loader(), epochs=2, validation=loader())
    assert torch.equal(trainer.predict(model, loader()), by_hand(average))
    measured = trainer.test(model, loader())
    assert (measured["loss"], measured["accuracy"]) == tuple(history[-1].validation.values())
    assert measured["confusion"].sum() == 23


def test_another_precision_is_for_predictions_too():
    model = net()
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), precision="bfloat16", progress=False)
    assert trainer.predict(model, loader()).dtype == torch.bfloat16
