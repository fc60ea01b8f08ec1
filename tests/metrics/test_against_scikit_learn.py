"""Every metric over uneven batches gives what scikit-learn gives for all samples at once."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference
from torch.nn import functional as F

from simpletorch.errors import DataError
from simpletorch.metrics import AUROC, F1, Accuracy, ConfusionMatrix, MeanSquaredError, Perplexity, Precision, Recall

SIZES = st.lists(st.integers(1, 13), min_size=1, max_size=7)
SEEDS = st.integers(0, 999)
examples = settings(deadline=None, max_examples=40)

RATIOS = {
    Precision: reference.precision_score,
    Recall: reference.recall_score,
    F1: reference.f1_score,
}


def labelled(sizes, classes, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(sum(sizes), classes, generator=generator)
    return scores, torch.randint(classes, (sum(sizes),), generator=generator)


def updated(metric, sizes, *columns):
    for batch in zip(*[column.split(sizes) for column in columns], strict=True):
        metric.update(*batch)
    return metric


@examples
@given(
    sizes=SIZES,
    classes=st.integers(2, 7),
    seed=SEEDS,
    kind=st.sampled_from(sorted(RATIOS, key=str)),
    average=st.sampled_from(["micro", "macro", "weighted"]),
    zero_division=st.sampled_from([0.0, 1.0]),
)
def test_an_average_over_classes(sizes, classes, seed, kind, average, zero_division):
    scores, targets = labelled(sizes, classes, seed)
    metric = updated(kind(classes, average, zero_division=zero_division), sizes, scores, targets)
    expected = RATIOS[kind](targets, scores.argmax(1), average=average, zero_division=zero_division)
    assert metric.compute() == pytest.approx(expected)


@examples
@given(sizes=SIZES, classes=st.integers(1, 7), seed=SEEDS, kind=st.sampled_from(sorted(RATIOS, key=str)))
def test_the_value_of_each_class(sizes, classes, seed, kind):
    scores, targets = labelled(sizes, classes, seed)
    metric = updated(kind(classes), sizes, scores, targets)
    expected = RATIOS[kind](targets, scores.argmax(1), average=None, zero_division=0, labels=range(classes))
    assert metric.per_class().tolist() == pytest.approx(expected.tolist())


@examples
@given(sizes=SIZES, seed=SEEDS, kind=st.sampled_from(sorted(RATIOS, key=str)), threshold=st.floats(-1, 1))
def test_scores_of_one_class_against_a_threshold(sizes, seed, kind, threshold):
    scores, targets = labelled(sizes, 2, seed)
    metric = updated(kind(2, "binary", threshold=threshold), sizes, scores[:, 1], targets.bool())
    expected = RATIOS[kind](targets, scores[:, 1] > threshold, zero_division=0)
    assert metric.compute() == pytest.approx(expected)


@examples
@given(sizes=SIZES, seed=SEEDS, threshold=st.floats(-1, 1), ignore=st.sampled_from([None, 0, 1]))
def test_targets_of_a_binary_loss_are_floats(sizes, seed, threshold, ignore):
    scores, targets = labelled([2, *sizes], 2, seed)
    scores, targets[:2] = scores[:, 1], torch.tensor([0, 1])
    kept = targets != ignore if ignore is not None else torch.ones_like(targets, dtype=torch.bool)
    settings = {"threshold": threshold, "ignore_index": ignore}
    for metric in (Accuracy(**settings), ConfusionMatrix(2, **settings), *(kind(2, **settings) for kind in RATIOS)):
        of_floats = updated(metric, [2, *sizes], scores, targets.float()).compute()
        metric.reset()
        of_integers = updated(metric, [int(kept.sum())], scores[kept], targets[kept]).compute()
        assert torch.equal(torch.as_tensor(of_floats), torch.as_tensor(of_integers)), type(metric).__name__
    area = updated(AUROC(), [2, *sizes], scores, targets.double()).compute()
    assert area == pytest.approx(reference.roc_auc_score(targets, scores))


@examples
@given(sizes=SIZES, seed=SEEDS, k=st.integers(1, 4))
def test_the_top_k(sizes, seed, k):
    scores, targets = labelled(sizes, 5, seed)
    metric = updated(Accuracy(top_k=k), sizes, scores, targets)
    right = reference.top_k_accuracy_score(targets, scores, k=k, labels=range(5))
    assert metric.compute() == pytest.approx(right)


@examples
@given(sizes=SIZES, seed=SEEDS)
def test_ignored_targets_do_not_count(sizes, seed):
    scores, targets = labelled(sizes, 5, seed)
    kept = targets != 3
    if not kept.any():
        return
    accuracy = updated(Accuracy(ignore_index=3), sizes, scores, targets)
    assert accuracy.compute() == pytest.approx(reference.accuracy_score(targets[kept], scores.argmax(1)[kept]))
    recall = updated(Recall(5, ignore_index=3), sizes, scores, targets)
    expected = reference.recall_score(targets[kept], scores.argmax(1)[kept], average="macro", zero_division=0)
    assert recall.compute() == pytest.approx(expected)


@examples
@given(
    sizes=SIZES, seed=SEEDS, levels=st.sampled_from([2, 5, 10**6]), form=st.sampled_from(["score", "logits", "shares"])
)
def test_the_area_of_two_classes_with_ties(sizes, seed, levels, form):
    logits, targets = labelled([2, *sizes], 2, seed)
    targets[:2] = torch.tensor([0, 1])
    score = (logits[:, 1].sigmoid() * levels).round() / levels
    given = {
        "score": score,
        "logits": torch.stack([torch.zeros_like(score), score], 1),
        "shares": torch.stack([1 - score, score], 1),
    }[form]
    metric = updated(AUROC(), [2, *sizes], given, targets)
    assert metric.compute() == pytest.approx(reference.roc_auc_score(targets, score))


@examples
@given(sizes=SIZES, seed=SEEDS, classes=st.integers(3, 5), average=st.sampled_from(["macro", "weighted"]))
def test_the_area_of_several_classes(sizes, seed, classes, average):
    sizes = [classes, *sizes]
    logits, targets = labelled(sizes, classes, seed)
    targets[:classes] = torch.arange(classes)
    shares = logits.double().softmax(1)
    metric = updated(AUROC(classes, average), sizes, shares, targets)
    expected = reference.roc_auc_score(targets, shares, multi_class="ovr", average=average)
    assert metric.compute() == pytest.approx(expected)


@examples
@given(sizes=SIZES, seed=SEEDS)
def test_squared_errors(sizes, seed):
    outputs, targets = torch.randn(2, sum(sizes), 3, generator=torch.Generator().manual_seed(seed))
    mean = reference.mean_squared_error(targets, outputs)
    assert updated(MeanSquaredError(), sizes, outputs, targets).compute() == pytest.approx(mean, rel=1e-6)
    root = reference.root_mean_squared_error(targets.flatten(), outputs.flatten())
    assert updated(MeanSquaredError(root=True), sizes, outputs, targets).compute() == pytest.approx(root, rel=1e-6)


@examples
@given(sizes=SIZES, seed=SEEDS)
def test_a_perplexity(sizes, seed):
    logits, targets = labelled(sizes, 7, seed)
    metric = updated(Perplexity(), sizes, logits, targets)
    shares = logits.double().softmax(1)
    expected = math.exp(reference.log_loss(targets, shares, labels=range(7)))
    assert metric.compute() == pytest.approx(expected, rel=1e-5)


def test_padding_has_no_perplexity():
    generator = torch.Generator().manual_seed(0)
    logits, targets = torch.randn(3, 5, 7, generator=generator), torch.randint(7, (3, 5), generator=generator)
    targets[1, 2:] = -100
    metric = Perplexity()
    metric.update(logits, targets)
    loss = F.cross_entropy(logits.movedim(-1, 1), targets)
    assert metric.compute() == pytest.approx(loss.exp().item(), rel=1e-5)


def test_a_hopeless_perplexity_is_infinite():
    metric = Perplexity()
    metric.update(torch.tensor([[1e4, 0.0]]), torch.tensor([1]))
    assert metric.compute() == math.inf


def test_a_lost_order_is_not_blamed_on_large_logits():
    # sigmoid(30.0) and sigmoid(40.0) are both 1 in Float32, the logits are not equal.
    metric = AUROC()
    metric.update(torch.tensor([30.0, 40.0]), torch.tensor([0, 1]))
    assert metric.compute() == 1


@pytest.mark.parametrize(
    ("make", "output", "target", "sentence"),
    [
        (MeanSquaredError, torch.zeros(5, 1), torch.zeros(5), r"outputs \[5, 1\] .* for targets \[5\]"),
        (MeanSquaredError, torch.zeros(5, dtype=torch.complex64), torch.zeros(5), "both must be real"),
        (Perplexity, torch.zeros(3, 7, 5), torch.zeros(3, 5, dtype=torch.int64), "the vocabulary last"),
        (Perplexity, torch.zeros(3, 7), torch.tensor([0, 6, 7]), "targets range from 0 to 7"),
        (AUROC, torch.zeros(3, 3), torch.zeros(3, dtype=torch.int64), r"scores must be \[B\] or \[B, 2\]"),
        (AUROC, torch.tensor([math.nan]), torch.tensor([0]), "NaN"),
        (AUROC, torch.zeros(2), torch.tensor([0, 2]), "targets range from 0 to 2"),
        (lambda: Accuracy(top_k=3), torch.zeros(5, 2), torch.zeros(5, dtype=torch.int64), "at least 3 classes"),
        (Accuracy, torch.zeros(5), torch.zeros(5, dtype=torch.int64), r"pass Accuracy\(threshold=…\)"),
        (lambda: Precision(2), torch.tensor([2]), torch.tensor([1]), "predicted classes range from 2 to 2"),
    ],
)
def test_what_does_not_fit_is_refused(make, output, target, sentence):
    with pytest.raises(DataError, match=sentence):
        make().update(output, target)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Precision(0), "classes=0"),
        (lambda: F1(3, "binary"), "average='binary' with classes=3"),
        (lambda: Recall(3, "samples"), "average='samples'"),
        (lambda: AUROC(1), "classes=1"),
        (lambda: AUROC(3, "micro"), "average='micro'"),
        (lambda: Accuracy(top_k=0), "top_k=0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(make, sentence):
    with pytest.raises(DataError, match=sentence):
        make()


@pytest.mark.parametrize("metric", [AUROC(), Precision(3), MeanSquaredError(), Perplexity()])
def test_nothing_has_no_value(metric):
    with pytest.raises(DataError, match="has seen no"):
        metric.compute()


def test_one_class_alone_has_no_area():
    metric = AUROC()
    metric.update(torch.zeros(3), torch.ones(3, dtype=torch.int64))
    with pytest.raises(DataError, match="no target is of class 0"):
        metric.compute()
