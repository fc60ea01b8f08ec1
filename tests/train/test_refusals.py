"""What can't work is said in a sentence, before the first step."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from simpletorch.data import DataLoader, Digits, TensorDataset
from simpletorch.errors import TorchError
from simpletorch.metrics import Accuracy, ConfusionMatrix
from simpletorch.optim import SGD, CosineAnnealingLR, OneCycleLR
from simpletorch.train import Callback, Checkpoint, EarlyStopping, Trainer

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 2


def loader(size=7):
    return DataLoader(TensorDataset(INPUTS, TARGETS), size)


def fitted(epochs=1, validation=None, model=None, batches=None, scheduler=None, **settings):
    model = nn.Linear(3, 2) if model is None else model
    parameters = nn.Linear(3, 2).parameters() if isinstance(model, type) else model.parameters()
    settings = {"loss": F.cross_entropy, "optimizer": SGD(parameters), "progress": False} | settings
    if scheduler is not None:
        settings["scheduler"] = scheduler(settings["optimizer"])
    batches = loader() if batches is None else batches
    return Trainer(**settings).fit(model, batches, epochs=epochs, validation=validation)


REFUSED = {
    "loss class": ({"loss": nn.CrossEntropyLoss}, "loss is the class CrossEntropyLoss, but an object of it is needed"),
    "loss name": ({"loss": "cross_entropy"}, "loss is 'cross_entropy': give a function of outputs and targets"),
    "optimizer class": ({"optimizer": SGD}, r"optimizer is the class SGD, but an object of it is needed: SGD\(…\)"),
    "callback class": ({"callbacks": [EarlyStopping]}, r"callbacks\[0\] is the class EarlyStopping, but an object"),
    "callback alone": (
        {"callbacks": EarlyStopping()},
        r"callbacks is one object, a EarlyStopping: callbacks=\[…\] needs a list",
    ),
    "callback function": ({"callbacks": [print]}, r"callbacks\[0\] is a builtin_function_or_method: a callback is an"),
    "metric class": ({"train_metrics": {"a": Accuracy}}, "the metric 'a' is the class Accuracy, but an object"),
    "metric list": (
        {"metrics": [Accuracy()]},
        r"metrics is a list: each metric has a name, as in metrics=\{'accuracy'",
    ),
    "metric function": ({"train_metrics": {"a": F.l1_loss}}, "'a' is a function, which lacks the methods update, comp"),
    "evaluation unused": ({"evaluate_every": 3}, "evaluate_every is 3, but there is nothing to evaluate on: fit"),
    "model class": ({"model": nn.Identity}, r"the model is the class Identity, not a model: Identity\(…\) makes one"),
    "dataset": (
        {"batches": Digits()},
        r"loader is the dataset Digits, which gives single samples: DataLoader\(dataset",
    ),
    "validation dataset": ({"validation": Digits()}, "validation is the dataset Digits, which gives single samples"),
    "tensor": ({"batches": INPUTS}, r"loader is a tensor, .*: DataLoader\(TensorDataset\(inputs, targets\), 64\)"),
    "number": ({"batches": 7}, "loader is 7, which gives no batches: DataLoader"),
    "monitor": ({"callbacks": [EarlyStopping("lss")]}, "EarlyStopping monitors 'lss', but what is measured is 'loss'"),
    "monitor without validation": (
        {"callbacks": [EarlyStopping("validation loss")]},
        r"measured is 'loss'; without fit\(…, validation=loader\) nothing is measured in validation",
    ),
    "monitor in validation": (
        {
            "callbacks": [Checkpoint("nowhere", monitor="accuracy")],
            "metrics": {"accuracy": Accuracy()},
            "validation": loader(),
        },
        "'validation loss', 'validation accuracy'; what is measured in validation is called 'validation accuracy'",
    ),
    "updates as epochs": (
        {"scheduler": lambda optimizer: OneCycleLR(optimizer, 0.1, total_steps=5 * 4), "epochs": 5},
        "made for total_steps=20 steps, as many as this training makes updates, but with schedule='epoch' it makes 5",
    ),
    "far from epochs": (
        {"scheduler": lambda optimizer: OneCycleLR(optimizer, 0.1, total_steps=23), "epochs": 5},
        "the OneCycleLR has 23 steps, but with schedule='epoch' this training makes 5 of them: use schedule='step'",
    ),
    "cosine of updates": (
        {"scheduler": lambda optimizer: CosineAnnealingLR(optimizer, T_max=5 * 4), "epochs": 5},
        "the CosineAnnealingLR is made for T_max=20 steps, as many as this training makes updates",
    ),
}


@pytest.mark.parametrize(("settings", "sentence"), REFUSED.values(), ids=REFUSED)
def test_it_is_said_before_the_first_step(settings, sentence):
    with pytest.raises(ValueError, match=sentence) as raised:
        fitted(**settings)
    assert isinstance(raised.value, TorchError)


class Measures(Callback):
    def on_epoch_end(self, fit):
        fit.metrics["own"] = 0.7


GOOD = {
    "loss object": {"loss": nn.CrossEntropyLoss()},
    "a callback that measures": {"callbacks": [Measures(), EarlyStopping("own", mode="min")]},
    "monitored while training": {"callbacks": [EarlyStopping("accuracy")], "train_metrics": {"accuracy": Accuracy()}},
    "the old spelling": {"callbacks": [EarlyStopping("validation_loss")], "validation": loader()},
    "a cycle of epochs": {"scheduler": lambda optimizer: OneCycleLR(optimizer, 0.1, total_steps=5), "epochs": 5},
    "some epochs of many": {"scheduler": lambda optimizer: CosineAnnealingLR(optimizer, T_max=100), "epochs": 5},
    "an iterator": {"batches": iter([(INPUTS, TARGETS)])},
    "a dataset of batches": {"batches": TensorDataset(INPUTS.reshape(1, 23, 3), TARGETS.reshape(1, 23))},
}


@pytest.mark.parametrize("settings", GOOD.values(), ids=GOOD)
def test_what_can_work_is_not_refused(settings):
    assert fitted(**settings)


def test_metrics_without_validation_are_said_but_may_be_for_a_test_later(capsys):
    fitted(metrics={"accuracy": Accuracy()}, progress=True)
    assert capsys.readouterr().out.startswith(
        "no validation batches, so nothing measures 'accuracy' while training: give fit(…, validation=loader), or"
    )


def test_a_metric_that_gives_no_number_is_in_the_history_and_not_in_the_log(capsys):
    metrics = {"accuracy": Accuracy(), "confusion": ConfusionMatrix(2)}
    history = fitted(2, loader(), metrics=metrics, train_metrics={"seen": ConfusionMatrix(2)}, progress=True)
    assert set(history[0].validation) == {"loss", "accuracy"}
    assert history[0].training == {}
    assert history[0].others["seen"].sum() == history[0].others["validation confusion"].sum() == 23
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "validation accuracy 0." in lines[0]
    assert "confusion" not in lines[0]


def test_a_matrix_in_the_history_survives_a_resume(tmp_path):
    def trainer(model):
        return Trainer(
            loss=F.cross_entropy,
            optimizer=SGD(model.parameters()),
            metrics={"confusion": ConfusionMatrix(2)},
            callbacks=[Checkpoint(tmp_path)],
            progress=False,
        )

    model = nn.Linear(3, 2)
    first = trainer(model).fit(model, loader(), epochs=1, validation=loader())
    again = trainer(model).fit(model, loader(), epochs=2, validation=loader(), resume="auto")
    assert torch.equal(again[0].others["validation confusion"], first[0].others["validation confusion"])
    assert len(again) == 2


def test_a_number_in_a_tensor_is_a_number():
    class Share:
        def reset(self):
            self.sum = torch.zeros(1)

        def update(self, output, target):
            self.sum += 1

        def compute(self):
            return self.sum

    assert fitted(1, loader(), metrics={"share": Share()})[0].validation["share"] == 4.0
