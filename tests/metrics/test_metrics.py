"""Metrics over uneven batches, against scikit-learn."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix
from torch.nn import functional as F

from simpletorch.errors import DataError, ShapeMismatch
from simpletorch.metrics import AUROC, F1, Accuracy, ConfusionMatrix, Mean, MeanLoss, Precision, Recall

SIZES = st.lists(st.integers(1, 13), min_size=1, max_size=7)


def batches(sizes, classes, seed):
    generator = torch.Generator().manual_seed(seed)
    for size in sizes:
        yield (
            torch.randn(size, classes, generator=generator),
            torch.randint(classes, (size,), generator=generator),
        )


@settings(deadline=None, max_examples=50)
@given(sizes=SIZES, classes=st.integers(2, 7), seed=st.integers(0, 999))
def test_accuracy_and_confusions_are_scikit_learn_s(sizes, classes, seed):
    accuracy, confusions = Accuracy(), ConfusionMatrix(classes)
    true, predicted = [], []
    for scores, targets in batches(sizes, classes, seed):
        accuracy.update(scores, targets)
        confusions.update(scores, targets)
        true += targets.tolist()
        predicted += scores.argmax(1).tolist()
    assert accuracy.compute() == pytest.approx(accuracy_score(true, predicted))
    expected = confusion_matrix(true, predicted, labels=range(classes))
    assert confusions.compute().tolist() == expected.tolist()


@settings(deadline=None, max_examples=50)
@given(sizes=SIZES, seed=st.integers(0, 999))
def test_a_mean_loss_over_uneven_batches_is_that_of_all_samples(sizes, seed):
    metric = MeanLoss(F.cross_entropy)
    everything = list(batches(sizes, 5, seed))
    for scores, targets in everything:
        metric.update(scores, targets)
    whole = F.cross_entropy(torch.cat([s for s, _ in everything]), torch.cat([t for _, t in everything]))
    assert metric.compute() == pytest.approx(whole.item(), rel=1e-5)


def test_accuracy_takes_classes_instead_of_scores():
    accuracy = Accuracy()
    accuracy.update(torch.tensor([0, 3, 2]), torch.tensor([0, 1, 2]))
    assert accuracy.compute() == pytest.approx(2 / 3)


def test_accuracy_of_a_segmentation_counts_positions():
    scores = torch.randn(2, 3, 5, 7)
    accuracy = Accuracy()
    accuracy.update(scores, scores.argmax(1))
    assert accuracy.compute() == 1
    accuracy.update(scores, (scores.argmax(1) + 1) % 3)
    assert accuracy.compute() == 0.5


def test_reset_forgets():
    accuracy, confusions, mean = Accuracy(), ConfusionMatrix(2), Mean()
    for metric in (accuracy, confusions):
        metric.update(torch.tensor([1]), torch.tensor([0]))
        metric.reset()
        metric.update(torch.tensor([1]), torch.tensor([1]))
    mean.update(3.0)
    mean.reset()
    mean.update(5.0)
    assert accuracy.compute() == 1
    assert confusions.compute().tolist() == [[0, 0], [0, 1]]
    assert mean.compute() == 5


def test_computing_twice_gives_the_same_and_nobody_can_change_the_state():
    confusions = ConfusionMatrix(2)
    confusions.update(torch.tensor([1]), torch.tensor([0]))
    confusions.compute().zero_()
    assert confusions.compute().tolist() == [[0, 1], [0, 0]]


def test_a_mean_is_weighted():
    mean = Mean()
    mean.update(torch.tensor(2.0), 3)
    mean.update(7.0, 2)
    assert mean.compute() == pytest.approx((2 * 3 + 7 * 2) / 5)


def test_a_mean_of_python_numbers_is_as_exact_as_they_are():
    mean = Mean()
    mean.update(0.1)
    assert mean.compute() == 0.1


def test_every_element_of_a_tensor_counts():
    mean = Mean()
    mean.update(torch.tensor([1.0, 2.0, 6.0]))
    mean.update(11.0)
    assert mean.compute() == pytest.approx(20 / 4)


def test_a_mean_keeps_its_digits_over_many_steps():
    mean = Mean()
    value = torch.tensor(0.1)
    for _ in range(30_011):
        mean.update(value)
    assert mean.compute() == pytest.approx(value.double().item(), rel=1e-12)


def test_a_mean_holds_no_graph():
    mean = Mean()
    loss = torch.ones(3, requires_grad=True).sum()
    mean.update(loss)
    assert mean._total is not None
    assert not mean._total.requires_grad


@pytest.mark.parametrize("metric", [Accuracy(), Mean(), MeanLoss(F.cross_entropy)])
def test_nothing_has_no_mean(metric):
    with pytest.raises(DataError, match="has seen no"):
        metric.compute()


def test_a_confusion_matrix_of_nothing_is_zero():
    assert ConfusionMatrix(3).compute().tolist() == [[0] * 3] * 3


@pytest.mark.parametrize("metric", [Accuracy(), ConfusionMatrix(5)])
@pytest.mark.parametrize(
    ("output", "target", "sentence"),
    [
        (torch.randn(3, 5), torch.zeros(3), r"needs class numbers as targets, but they are torch\.float32"),
        (torch.randn(3, 5), torch.zeros(2, dtype=torch.int64), r"outputs \[3, 5\] .* for targets \[2\]"),
        (torch.randn(3), torch.zeros(3, dtype=torch.int64), r"outputs \[3\] of torch\.float32 for targets \[3\]"),
        (torch.zeros(3, 5, dtype=torch.int64), torch.zeros(3, dtype=torch.int64), "must be scores"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(metric, output, target, sentence):
    with pytest.raises(DataError, match=sentence):
        metric.update(output, target)


BINARY = [
    Accuracy(threshold=0.0),
    ConfusionMatrix(2, threshold=0.0),
    Precision(2, "binary", threshold=0.0),
    Recall(2, "binary", threshold=0.0),
    F1(2, "binary", threshold=0.0),
    AUROC(),
]


@pytest.mark.parametrize("metric", BINARY, ids=lambda metric: type(metric).__name__)
def test_soft_labels_are_no_classes(metric):
    with pytest.raises(DataError, match=r"each is class 0 or 1, but some are neither: 0\.25 is one") as caught:
        metric.update(torch.randn(3), torch.tensor([0.0, 1.0, 0.25]))
    assert caught.value.hint == "(target > 0.5) makes classes of soft labels"
    with pytest.raises(DataError, match="neither: nan is one"):
        metric.update(torch.randn(2), torch.tensor([0.0, math.nan]))


@pytest.mark.parametrize("metric", BINARY, ids=lambda metric: type(metric).__name__)
def test_floats_in_another_shape_than_the_outputs_are_no_classes(metric):
    with pytest.raises(DataError, match=r"pass integers, or 0 and 1 in the shape of the outputs, \[3, 2\]"):
        metric.update(torch.randn(3, 2), torch.tensor([0.0, 1.0, 1.0]))


def test_float_targets_of_outputs_without_a_threshold_ask_for_one():
    with pytest.raises(DataError, match=r"for scores of one class, pass Accuracy\(threshold=…\)"):
        Accuracy().update(torch.randn(3), torch.tensor([0.0, 1.0, 1.0]))


def test_no_update_of_an_accuracy_waits_for_a_device():
    scores = torch.empty(3, device="meta")  # reading a value of it is an error
    metric = Accuracy(threshold=0.0)
    metric.update(scores, torch.empty(3, device="meta"))
    assert metric.state_dict()["right"].device == scores.device


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_soft_labels_on_a_gpu_are_found_when_the_accuracy_is_computed():
    metric = Accuracy(threshold=0.0)
    right, soft = torch.tensor([0.0, 1.0]).cuda(), torch.tensor([0.0, 0.25]).cuda()
    metric.update(right - 0.5, right)
    assert metric.compute() == 1
    state = metric.state_dict()
    metric.update(soft, soft)
    metric.update(right, right)
    with pytest.raises(DataError, match="class 0 or 1, but some are neither"):
        metric.compute()
    metric.load_state_dict(state)
    assert metric.compute() == 1


@pytest.mark.parametrize(
    ("predicted", "target", "sentence"),
    [
        ([3], [0], "3 classes, 0 to 2, but predicted classes range from 3 to 3: pass classes=4"),
        ([0, 1], [-1, 2], "target classes range from -1 to 2"),
    ],
)
def test_classes_out_of_range_are_refused(predicted, target, sentence):
    with pytest.raises(DataError, match=sentence):
        ConfusionMatrix(3).update(torch.tensor(predicted), torch.tensor(target))


@pytest.mark.parametrize("scores", [2, 5])
@pytest.mark.parametrize("kind", [ConfusionMatrix, F1])
def test_scores_of_other_classes_are_refused(kind, scores):
    """Also where no sample's best score is out of range."""
    metric = kind(3)
    with pytest.raises(ShapeMismatch, match=f"{kind.__name__} has 3 classes, but is given scores of {scores}"):
        metric.update(torch.eye(scores)[:2], torch.tensor([0, 1]))


def test_a_matrix_needs_a_class():
    with pytest.raises(DataError, match="classes=0: there must be at least one"):
        ConfusionMatrix(0)
