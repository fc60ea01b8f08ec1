"""Metrics that stop in the middle and go on, and metrics of several processes."""

import json

import pytest
import torch
import torchmetrics
from torch.nn import functional as F

from simpletorch.errors import CheckpointError
from simpletorch.metrics import (
    AUROC,
    F1,
    Accuracy,
    ConfusionMatrix,
    Mean,
    MeanLoss,
    MeanSquaredError,
    Perplexity,
    Precision,
    Recall,
    TorchMetric,
)
from tests import meeting

CLASSIFYING = {
    "accuracy": Accuracy,
    "confusion": lambda: ConfusionMatrix(5),
    "precision": lambda: Precision(5),
    "recall": lambda: Recall(5, "weighted"),
    "f1": lambda: F1(5, "micro"),
    "auroc": lambda: AUROC(5),
    "loss": lambda: MeanLoss(F.cross_entropy),
    "perplexity": Perplexity,
}
OURS = {**CLASSIFYING, "squared error": MeanSquaredError, "mean": Mean}


def batches(sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    for size in sizes:
        targets = torch.cat([torch.arange(5), torch.randint(5, (size,), generator=generator)])
        yield torch.randn(len(targets), 5, generator=generator), targets


def update(name, metric, scores, targets):
    if name == "mean":
        metric.update(scores.mean(), len(targets))
    elif name == "squared error":
        metric.update(scores[:, 0], targets)
    else:
        metric.update(scores, targets)


def value(metric):
    result = metric.compute()
    return result.flatten().tolist() if isinstance(result, torch.Tensor) else result


@pytest.mark.parametrize("name", OURS)
def test_a_metric_goes_on_where_its_state_was_taken(name):
    straight, first, second = OURS[name](), OURS[name](), OURS[name]()
    everything = list(batches([3, 11, 2, 7], seed=0))
    for batch in everything:
        update(name, straight, *batch)
    for batch in everything[:2]:
        update(name, first, *batch)
    state = first.state_dict()
    update(name, first, *everything[2])  # must not change what was taken
    second.load_state_dict(state)
    for batch in everything[2:]:
        update(name, second, *batch)
    assert value(second) == value(straight)


@pytest.mark.parametrize("name", OURS)
def test_the_state_of_nothing_is_nothing(name):
    metric = OURS[name]()
    metric.load_state_dict(OURS[name]().state_dict())
    with_batch = OURS[name]()
    for each in (metric, with_batch):
        update(name, each, *next(batches([3], seed=1)))
    assert value(metric) == value(with_batch)


@pytest.mark.parametrize(
    ("metric", "other"),
    [
        (ConfusionMatrix(3), ConfusionMatrix(5)),
        (Accuracy(), MeanSquaredError()),
        (AUROC(), AUROC(3)),
        (Mean(), AUROC()),
    ],
)
def test_the_state_of_another_metric_is_refused(metric, other):
    with pytest.raises(CheckpointError, match="this state is of another metric"):
        metric.load_state_dict(other.state_dict())


def test_a_metric_of_torchmetrics_is_one_of_ours_and_goes_on():
    make = lambda: TorchMetric(torchmetrics.CohenKappa("multiclass", num_classes=5))  # noqa: E731
    straight, first, second = make(), make(), make()
    everything = list(batches([3, 11, 2], seed=2))
    for batch in everything:
        straight.update(*batch)
    for batch in everything[:2]:
        first.update(*batch)
    second.load_state_dict(first.state_dict())
    second.update(*everything[2])
    assert second.compute() == straight.compute()
    assert isinstance(second.compute(), float)


def two_ranks(rank, rendezvous, results):
    meeting.meet(rendezvous, rank)
    metrics = {name: make() for name, make in OURS.items()}
    alone = Accuracy(synchronize=False)
    # Uneven: rank 1 has fewer and smaller batches, and its metrics of nothing are asked as well.
    values = {}
    for batch in list(batches([3, 11, 2, 7], seed=3))[slice(0, 3) if rank == 0 else slice(3, 4)]:
        for name, metric in metrics.items():
            update(name, metric, *batch)
        alone.update(*batch)
    values = {name: value(metric) for name, metric in metrics.items()}
    values["alone"] = alone.compute()
    only_first = {name: make() for name, make in OURS.items()}
    if rank == 0:
        for name, metric in only_first.items():
            update(name, metric, *next(batches([3], seed=4)))
    values["only first"] = {name: value(metric) for name, metric in only_first.items()}
    (results / f"{rank}.json").write_text(json.dumps(values))


@pytest.mark.slow
def test_two_ranks_together_give_what_one_gives_for_all(tmp_path):
    meeting.start(two_ranks, (tmp_path / "rendezvous", tmp_path), 2)
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    everything = list(batches([3, 11, 2, 7], seed=3))
    for name, make in OURS.items():
        whole, lone = make(), make()
        for batch in everything:
            update(name, whole, *batch)
        update(name, lone, *next(batches([3], seed=4)))
        assert first[name] == second[name] == pytest.approx(value(whole), rel=1e-9), name
        assert first["only first"][name] == second["only first"][name] == pytest.approx(value(lone), rel=1e-9), name
    assert first["alone"] != second["alone"]
