"""Batches that are no tuples: dicts, dataclasses, named tuples, what tokenizers give."""

from collections import UserDict
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader
from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD
from simpletorch.train import DetectNaN, Step, Trainer, dry_step, evaluate, predict

INPUTS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0))
MORE, LABELS = INPUTS.flip(0), torch.arange(23) % 2


class TwoInputs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, first, second):
        return self.fc(first) - self.fc(second)


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor
    labels: torch.Tensor


class LabelFirst(NamedTuple):
    labels: torch.Tensor
    first: torch.Tensor
    second: torch.Tensor


class BatchEncoding(UserDict):
    """As that of transformers: it moves itself."""

    def to(self, device):
        return BatchEncoding({key: value.to(device) for key, value in self.items()})


def encoded(first, second, labels):
    return BatchEncoding({"first": first, "labels": labels, "second": second})


def tupled(first, second, labels):
    return first, second, labels


def named(first, second, labels):
    return LabelFirst(labels, first, second)


def mapped(first, second, labels):
    return {"second": second, "first": first, "labels": labels}


def batches(kind, size=7):
    return [kind(*(part[at : at + size] for part in (INPUTS, MORE, LABELS))) for at in range(0, 23, size)]


def trained(kind, *, target="labels", **options):
    torch.manual_seed(0)
    model = TwoInputs()
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters(), lr=0.1),
        metrics={"accuracy": Accuracy()},
        train_metrics={"accuracy": Accuracy()},
        progress=False,
        target=target,
        **options,
    )
    history = trainer.fit(model, batches(kind), epochs=2, validation=batches(kind, 5))
    return model, [(epoch.loss, epoch.validation, epoch.training, epoch.samples) for epoch in history]


@pytest.mark.parametrize("kind", [mapped, Pair, named, encoded])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_names_say_what_goes_where(kind, accumulate):
    model, history = trained(kind, accumulate=accumulate, callbacks=[DetectNaN()])
    other, expected = trained(tupled, target=None, accumulate=accumulate)
    assert torch.equal(model.fc.weight, other.fc.weight)
    assert history == expected


def test_without_target_a_named_tuple_is_a_tuple():
    class Images(NamedTuple):
        image: torch.Tensor
        label: torch.Tensor

    model = torch.nn.Linear(3, 2)
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False)
    assert trainer.fit(model, [Images(INPUTS, LABELS)])[0].samples == 23


def test_samples_that_are_dicts_make_batches_that_are_dicts():
    samples = [{"input": row, "label": int(label)} for row, label in zip(INPUTS, LABELS, strict=True)]
    model = torch.nn.Linear(3, 2)
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False, target="label")
    assert [epoch.samples for epoch in trainer.fit(model, DataLoader(samples, 7), epochs=2)] == [23, 23]


def test_which_item_is_the_target_has_to_be_said():
    said = r"a batch is a dict with 'second', 'first', 'labels': say which of them is the target, such as target='la"
    with pytest.raises(DataError, match=said):
        trained(mapped, target=None)


def test_a_target_that_no_batch_has_is_said():
    with pytest.raises(DataError, match="a batch has 'first', 'second', 'labels', and no 'label': give as target="):
        trained(Pair, target="label")


def test_names_of_items_without_names_are_refused():
    with pytest.raises(DataError, match="a batch is a tuple, whose items have no names, so there is no 'labels'"):
        trained(tupled)


def test_what_forward_does_not_take_is_said_before_the_first_step():
    def more(first, second, labels):
        return {"first": first, "second": second, "index": labels, "labels": labels}

    said = r"'first', 'second', 'index' beside its target, and TwoInputs.forward takes \(first, second\)"
    with pytest.raises(DataError, match=said):
        trained(more)


def test_the_target_of_one_sample_is_no_batch():
    model = TwoInputs()
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False)
    said = "the target of a batch is a tensor without dims: it is that of a single sample"
    with pytest.raises(DataError, match=said):
        trainer.fit(model, [(INPUTS[0], MORE[0], LABELS[0])])


def test_the_parts_take_whole_batches():
    model = TwoInputs()
    step = Step(model, F.cross_entropy, SGD(model.parameters()), target="labels")
    assert step(batches(Pair)[0]).shape == ()
    tuples = Step(model, F.cross_entropy, SGD(model.parameters()))
    assert tuples(batches(tupled)[0]).shape == ()
    assert dry_step(model, F.cross_entropy, batches(mapped)[0], target="labels")
    assert set(evaluate(model, batches(encoded), {"accuracy": Accuracy()}, target="labels")) == {"accuracy"}
    assert predict(model, batches(Pair), target="labels").shape == (23, 2)


def test_a_dry_step_finds_what_does_not_fit_in_a_dict():
    wrong = {"first": torch.zeros(7, 5), "second": torch.zeros(7, 3), "labels": LABELS[:7]}
    with pytest.raises(ShapeMismatch, match="5"):
        dry_step(TwoInputs(), F.cross_entropy, wrong, target="labels")


def test_nan_in_a_dict_is_found():
    bad = mapped(INPUTS.clone().fill_(float("nan")), MORE, LABELS)
    model = TwoInputs()
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters()),
        callbacks=[DetectNaN()],
        progress=False,
        target="labels",
    )
    with pytest.raises(Exception, match="the batch's input already has a value that is not finite"):
        trainer.fit(model, [bad])
