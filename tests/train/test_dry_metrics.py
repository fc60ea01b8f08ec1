"""Metrics are tried with real targets before the first step: what they raise then isn't raised after an epoch."""

import pytest
import torch
from torch.nn import functional as F
from torch.utils.data import IterableDataset

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import DataError, ShapeMismatch, TorchError
from simpletorch.metrics import AUROC, Accuracy
from simpletorch.optim import SGD
from simpletorch.train import Trainer

INPUTS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0))
FITTING = TensorDataset(INPUTS, torch.arange(23) % 5)


class Own:
    """A metric of the user's."""

    def reset(self):
        self.outputs = []

    def update(self, output, target):
        self.outputs.append(output)

    def compute(self):
        return 0.5


class Misspelt(Own):
    def update(self, output, target):
        self.output.append(output)


class Broken(Own):
    def update(self, output, target):
        raise RuntimeError("boom")


class MisspeltLater(Own):
    def compute(self):
        return self.autputs[0].mean()


class TakesNothing(Own):
    def compute(self):
        return torch.cat(self.outputs, self.outputs)


class OfClass(Own):
    """Needs a sample of class 4, which the first batch lacks."""

    def update(self, output, target):
        self.outputs.append(output[target == 4])

    def compute(self):
        return torch.cat(self.outputs).max().item()


class NeverComputes(Own):
    def compute(self):
        if len(self.outputs) != len(self.targets if hasattr(self, "targets") else ()):
            raise ValueError("outputs and targets differ")
        return 0.0


class Divides(Own):
    def compute(self):
        return sum(len(o) for o in self.outputs) / len([o for o in self.outputs if o is None])


class WrongSplit(Own):
    def compute(self):
        return torch.cat(self.outputs).split([1, 1])[0].mean().item()


class Unreachable(Own):
    def compute(self):
        raise ValueError("average='makro' isn't known")


class NeedsMany(Own):
    """Has enough samples after an epoch, not after a batch."""

    def compute(self):
        if sum(map(len, self.outputs)) < 20:
            raise ValueError("at least 20 samples are needed")
        return 0.0


class NeedsClasses(Own):
    def reset(self):
        super().reset()
        self.targets = []

    def update(self, output, target):
        super().update(output, target)
        self.targets += target.tolist()

    def compute(self):
        if len(set(self.targets)) < 5:
            raise ValueError("a class is missing")
        return 0.0


class NeedsSpread(Own):
    def compute(self):
        if float(torch.cat(self.outputs).std()) < 1e-6:
            raise ValueError("constant outputs have no correlation")
        return 0.0


class OfProbabilities(Own):
    def update(self, output, target):
        assert torch.allclose(output.exp().sum(1), torch.ones(len(target))), "no log probabilities"


def fit(validation, metrics=None, *, train_metrics=None, epochs=2, end=()):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), *end)
    before = model[0].weight.detach().clone()
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters(), lr=0.1),
        metrics=metrics or {},
        train_metrics=train_metrics or {},
        progress=False,
    )
    try:
        trainer.fit(model, DataLoader(FITTING, 7), validation=validation, epochs=epochs)
    finally:
        fit.changed = not torch.equal(before, model[0].weight)


@pytest.mark.parametrize("metric", [Misspelt(), Broken(), MisspeltLater(), TakesNothing(), AUROC(7)])
@pytest.mark.parametrize("where", ["metrics", "train_metrics"])
def test_a_metric_that_raises_is_refused_before_the_first_step(metric, where):
    with pytest.raises(TorchError, match=r"in a trial before training: the metric 'own' on a \w+ batch"):
        fit(DataLoader(FITTING, 7), **{where: {"own": metric}})
    assert not fit.changed


@pytest.mark.parametrize("metric", [NeverComputes(), Divides(), WrongSplit(), Unreachable()])
def test_a_metric_that_can_never_compute_is_refused_before_the_first_step(metric):
    with pytest.raises(TorchError, match=r"in a trial before training: the metric 'own' on a validation batch"):
        fit(DataLoader(FITTING, 7), {"own": metric})
    assert not fit.changed


def test_a_label_out_of_range_in_validation_is_found_before_the_first_step():
    wrong = TensorDataset(INPUTS, torch.full((23,), 5))
    with pytest.raises(ShapeMismatch, match=r"class 5 in target is out of range: input has 5 classes \(0 to 4\)"):
        fit(DataLoader(wrong, 7))
    assert not fit.changed


class Stream(IterableDataset):
    def __init__(self, width):
        self.width, self.begun = width, 0

    def __iter__(self):
        self.begun += 1
        for i in range(11):
            yield torch.zeros(self.width), i % 5


def test_a_stream_is_tried_by_a_copy_of_it():
    with pytest.raises(ShapeMismatch, match="the last dim of input is 2"):
        fit(DataLoader(Stream(2), 7))
    assert not fit.changed
    right = Stream(3)
    fit(DataLoader(right, 7), {"accuracy": Accuracy()})
    assert right.begun == 2
    assert fit.changed


def test_an_iterator_is_refused_where_it_would_be_empty():
    with pytest.raises(DataError, match="it is empty in the second epoch"):
        fit(iter(DataLoader(FITTING, 7)))
    assert not fit.changed
    fit(iter(DataLoader(FITTING, 7)), epochs=1)
    assert fit.changed


@pytest.mark.parametrize("metric", [Own(), OfClass(), AUROC(5), Accuracy(), NeedsMany(), NeedsClasses(), NeedsSpread()])
def test_what_a_whole_epoch_pleases_is_left_alone(metric):
    fit(DataLoader(FITTING, 3), {"own": metric}, train_metrics={"own": Own()})
    assert fit.changed


def test_a_metric_of_log_probabilities_alone_is_left_alone():
    fit(DataLoader(FITTING, 7), {"own": OfProbabilities()}, end=(torch.nn.LogSoftmax(1),))
    assert fit.changed


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bool])
def test_auroc_takes_columns_as_binary_losses_do(dtype):
    column, row = AUROC(), AUROC()
    scores, targets = torch.rand(11, 1), (torch.arange(11) % 2)[:, None].to(dtype)
    column.update(scores, targets)
    row.update(scores[:, 0], targets[:, 0])
    assert column.compute() == row.compute()
    with pytest.raises(DataError):
        AUROC().update(scores, targets[:, 0])
