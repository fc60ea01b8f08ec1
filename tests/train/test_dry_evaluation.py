"""A validation batch and the metrics are tried before training: what doesn't fit is found, and nothing changes."""

import random

import numpy as np
import pytest
import torch
import torchmetrics
from torch.nn import functional as F
from torch.utils.data import IterableDataset

from simpletorch.data import BucketBatchSampler, DataLoader, DistributedSampler, TensorDataset
from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch, TorchError
from simpletorch.metrics import AUROC, Accuracy, Mean, MeanSquaredError, TorchMetric
from simpletorch.optim import EMA, SGD
from simpletorch.reproducibility import rng_state, seed_everything
from simpletorch.train import Callback, Trainer, Update
from simpletorch.train._peek import batch_of

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 2
FITTING = TensorDataset(INPUTS, TARGETS)
TRIAL = "in a trial before training: "


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Dropout(0.3), torch.nn.Linear(5, 2)
    )


def refused(validation, metrics=None, **settings):
    """What the training says of these, which has changed nothing."""
    model = net()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    trainer = Trainer(loss=F.cross_entropy, optimizer=optimizer, metrics=metrics or {}, progress=False, **settings)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the tests look at it
        trainer.fit(model, DataLoader(FITTING, 7), validation=validation)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not optimizer.state
    return caught.value


# -- what is found ----------------------------------------------------------------------------------------------------


def test_a_batch_that_does_not_fit_the_model_names_the_layer():
    error = refused(DataLoader(TensorDataset(INPUTS[:, :2], TARGETS), 7))
    assert isinstance(error, ShapeMismatch)
    assert (error.module_path, error.details) == ("model.0", (TRIAL + "a validation batch",))
    assert error.location.code.startswith("trainer.fit(")


def test_a_target_that_does_not_fit_the_loss_is_found():
    error = refused(DataLoader(TensorDataset(INPUTS, TARGETS.float()), 7))
    assert isinstance(error, DTypeMismatch)
    assert error.details == (TRIAL + "the loss on a validation batch",)
    assert error.reason == "target is Float32, but class indices must be Int64 or UInt8"


class Particular:
    """A metric of the user's that takes only what has one dim."""

    def reset(self):
        pass

    def update(self, output, target):
        if output.ndim != 1:
            raise ValueError(f"outputs have {output.ndim} dims")

    def compute(self):
        return 1.0


@pytest.mark.parametrize(
    ("metric", "kind", "sentence"),
    [
        (AUROC(3), DataError, r"AUROC\(classes=3\) got scores \[7, 2\]"),
        (MeanSquaredError(), DataError, r"MeanSquaredError got outputs \[7, 2\]"),
        (
            TorchMetric(torchmetrics.Accuracy("multiclass", num_classes=3)),
            ValueError,
            "the metric 'mine' refuses what the model gives: ValueError: If `preds` have one dimension more",
        ),
        (Particular(), ValueError, "the metric 'mine' refuses what the model gives: ValueError: outputs have 2 dims"),
    ],
    ids=["ours by classes", "ours by shape", "torchmetrics", "a user's"],
)
def test_a_metric_that_refuses_the_output_is_named(metric, kind, sentence):
    error = refused(DataLoader(FITTING, 7), {"accuracy": Accuracy(), "mine": metric})
    assert isinstance(error, TorchError)
    assert isinstance(error, kind)
    assert error.details == (TRIAL + "the metric 'mine' on a validation batch",)
    with pytest.raises(type(error), match=sentence):
        raise error


@pytest.mark.parametrize(
    ("validation", "sentence"),
    [
        (INPUTS.split(5), r"a batch is a Tensor, but training and evaluation need tuples"),
        ([(INPUTS, INPUTS, TARGETS)], r"a batch has 2 inputs beside its target, and Sequential\.forward takes"),
        (DataLoader([(torch.zeros(n), 0) for n in (3, 2)], 2), "samples 0 and 1 of list don't fit in one batch"),
        (
            DataLoader(FITTING, 29, drop_last=True),
            "a loader gives no batch: it reads 23 samples, fewer than batch_size=29, and drop_last=True",
        ),
    ],
    ids=["no pairs", "an input more", "samples that differ", "all left out"],
)
def test_a_loader_that_gives_no_batches_is_refused(validation, sentence):
    error = refused(validation)
    assert isinstance(error, DataError)
    assert error.details == (TRIAL + "a validation batch",)
    with pytest.raises(DataError, match=sentence):
        raise error


class Missing(torch.utils.data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        raise KeyError("no such file")


def test_a_dataset_s_own_error_says_when_it_was():
    error = refused(DataLoader(Missing(), 3))
    assert isinstance(error, KeyError)
    assert error.__notes__ == ["while loading sample 0 of Missing", TRIAL + "a validation batch"]


def test_a_trainer_with_a_step_of_one_s_own_is_tried_as_well():
    model = net()
    update = Update(SGD(model.parameters()))
    trainer = Trainer.with_step(
        lambda x, y: update(F.cross_entropy(model(x), y)), {"model": update}, metrics={"area": AUROC(3)}, progress=False
    )
    with pytest.raises(DataError, match="the metric 'area' on a validation batch"):
        trainer.fit(model, DataLoader(FITTING, 7), validation=DataLoader(FITTING, 7))
    assert model[1].num_batches_tracked == 0


# -- what is no mistake -----------------------------------------------------------------------------------------------


class OnCPU(Particular):
    def update(self, output, target):
        assert output.device.type == "cpu"


class Peeking(Particular):
    def update(self, output, target):
        if output.max().item() > 1e9:
            raise ValueError("too large")


@pytest.mark.parametrize("metric", [OnCPU(), Peeking()])
def test_a_metric_that_minds_only_tensors_without_data_is_left_alone(metric):
    model = net()
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), metrics={"own": metric}, progress=False)
    assert trainer.fit(model, DataLoader(FITTING, 7), validation=DataLoader(FITTING, 7))[0].validation["own"] == 1


class Uncopyable(Particular):
    def update(self, output, target):
        pass

    def __deepcopy__(self, memo):
        raise RuntimeError("there can be only one")


def test_what_can_not_be_copied_is_not_tried():
    model = net()
    trainer = Trainer(
        loss=F.cross_entropy, optimizer=SGD(model.parameters()), metrics={"own": Uncopyable()}, progress=False
    )
    assert trainer.fit(model, DataLoader(FITTING, 7), validation=DataLoader(FITTING, 7))[0].validation["own"] == 1


# -- nothing changes --------------------------------------------------------------------------------------------------


class Augmented(torch.utils.data.Dataset):
    """Draws for each sample from all global generators, and from generators of its own."""

    def __init__(self):
        self.own = torch.Generator().manual_seed(1), np.random.default_rng(2), random.Random(3)
        self.torch, self.numpy, self.python = self.own

    def __len__(self):
        return len(INPUTS)

    def __getitem__(self, index):
        theirs = random.random() + np.random.rand() + torch.rand(3)
        mine = self.python.random() + self.numpy.random() + torch.rand(3, generator=self.torch)
        return (INPUTS[index] * theirs + mine).float(), TARGETS[index]


def workers(**settings):
    return DataLoader(Augmented(), 5, num_workers=2, **settings)


VALIDATION = {
    "in order": lambda: DataLoader(FITTING, 5),
    "augmented": lambda: DataLoader(Augmented(), 5),
    "shuffled": lambda: DataLoader(Augmented(), 5, shuffle=True),
    "shuffled by itself": lambda: DataLoader(Augmented(), 5, shuffle=True, generator=torch.Generator().manual_seed(7)),
    "torch's": lambda: torch.utils.data.DataLoader(
        Augmented(), 5, shuffle=True, generator=torch.Generator().manual_seed(7)
    ),
    "sample by sample": lambda: DataLoader([(x[None], y[None]) for x, y in FITTING], None),
    "shared": lambda: DataLoader(FITTING, 5, sampler=DistributedSampler(FITTING, 2, 0)),
    "buckets": lambda: DataLoader(
        Augmented(), batch_sampler=BucketBatchSampler(list(range(23)), 5, generator=torch.Generator().manual_seed(7))
    ),
    "on a device": lambda: DataLoader(Augmented(), 5).to("cpu"),
    "workers": workers,
    "workers that stay": lambda: workers(persistent_workers=True),
    "torch's workers": lambda: torch.utils.data.DataLoader(Augmented(), 5, num_workers=2, persistent_workers=True),
    "a list": lambda: list(DataLoader(FITTING, 5)),
}


class Turns(torch.utils.data.Sampler):
    """A sampler of the user's that counts, shuffles in place, and draws from generators of all kinds."""

    def __init__(self, source, size=None):
        self.source, self.size, self.given = source, size, 0
        self.order = list(range(len(source)))
        self.weights = torch.arange(len(source))
        self.python, self.torch = random.Random(3), torch.Generator().manual_seed(1)

    def __len__(self):
        return len(self.source) if self.size is None else -(-len(self.source) // self.size)

    def __iter__(self):
        self.given += 1
        self.python.shuffle(self.order)
        self.weights += int(torch.randint(9, (), generator=self.torch)) + random.randrange(5)
        order = [(i + int(self.weights[0])) % len(self.source) for i in self.order]
        if self.size is None:
            return iter(order)
        return iter([order[i : i + self.size] for i in range(0, len(order), self.size)])


def turning(dataset, **settings):
    return DataLoader(dataset, 5, sampler=Turns(dataset), **settings)


VALIDATION["own sampler"] = lambda: turning(Augmented())
VALIDATION["own sampler, workers"] = lambda: turning(Augmented(), num_workers=2, persistent_workers=True)
VALIDATION["own sampler in batches"] = lambda: DataLoader(
    FITTING, batch_sampler=torch.utils.data.BatchSampler(Turns(FITTING), 5, False)
)
VALIDATION["own batches"] = lambda: DataLoader(FITTING, batch_sampler=Turns(FITTING, 5))


class Draws(Accuracy):
    """A metric that draws random numbers and has a state that `reset` leaves."""

    updates = 0

    def update(self, output, target):
        self.updates += 1
        super().update(output + torch.rand(()), target)


class Ends(Callback):
    def __init__(self):
        self.states = []

    def on_step_end(self, fit):
        self.states.append(fit.state_dict()["rng"])


def trained(validation, dry_run, **settings):
    """Everything that a training leaves behind."""
    seed_everything(5)
    model, ends, metric = net(), Ends(), Draws()
    loader = DataLoader(Augmented(), 7, shuffle=True)
    validation = loader if validation is None else validation()
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=SGD(model.parameters(), lr=0.1),
        ema=EMA(model, 0.9),
        metrics={"accuracy": metric},
        callbacks=[ends],
        progress=False,
        dry_run=dry_run,
        **settings,
    )
    history = trainer.fit(model, loader, epochs=2, validation=validation)
    measures = [(epoch.loss, epoch.validation) for epoch in history]
    return measures, [*model.state_dict().values(), *ends.states], rng_state(), metric.updates, vars(metric)


def assert_same(one, other):
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert_same(value, other[key])
    elif isinstance(one, list | tuple):
        for value, theirs in zip(one, other, strict=True):
            assert_same(value, theirs)
    else:
        assert one == other


@pytest.mark.parametrize("name", [*VALIDATION, "the training's own"])
def test_a_training_is_the_same_as_without_the_trial(name):
    validation = VALIDATION.get(name)
    assert_same(trained(validation, dry_run=True), trained(validation, dry_run=False))


@pytest.mark.parametrize(
    "name",
    [
        *("in order", "augmented", "sample by sample", "shared", "on a device", "a list"),
        *("own sampler in batches", "own batches"),
    ],
)
def test_the_batch_that_is_tried_is_the_one_that_comes_first(name):
    seed_everything(5)
    loader = VALIDATION[name]()
    tried = batch_of(loader)
    assert_same(list(tried), list(next(iter(loader))))


@pytest.mark.parametrize("name", ["shuffled", "shuffled by itself", "torch's", "buckets", "workers", "torch's workers"])
def test_where_an_order_is_drawn_it_is_one_like_it(name):
    inputs, targets = batch_of(VALIDATION[name]())
    assert (inputs.shape, inputs.dtype, targets.shape) == ((5, 3), torch.float32, (5,))


class Stream(IterableDataset):
    """Gives each sample once, as a socket does."""

    def __init__(self):
        self.samples = iter(FITTING)

    def __iter__(self):
        return self.samples


class Halves(torch.utils.data.DataLoader):
    """A loader of the user's that gives something else than batches of its dataset."""

    def __iter__(self):
        return (torch.chunk(batch, 2) for batch in INPUTS.split(5))


class Reads(torch.utils.data.Sampler):
    """A sampler that reads its dataset in each round."""

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        return iter([i for i in range(len(self.source)) if self.source[i][1] > 0])


class Generated(torch.utils.data.Sampler):
    """A sampler that goes on where it has stopped: it can't be copied."""

    def __init__(self):
        self.order = (i for i in range(23))

    def __iter__(self):
        return self.order


@pytest.mark.parametrize(
    "loader",
    [
        iter(DataLoader(FITTING, 5)),
        (batch for batch in DataLoader(FITTING, 5)),
        DataLoader(Stream(), 5),
        Halves(FITTING, 5),
        DataLoader(FITTING, 5, sampler=Reads(FITTING)),
        DataLoader(FITTING, batch_sampler=torch.utils.data.BatchSampler(Reads(FITTING), 5, False)),
        DataLoader(FITTING, 5, sampler=Generated()),
    ],
    ids=["iterator", "generator", "stream", "own loader", "sampler that reads", "in batches", "sampler that goes on"],
)
def test_a_loader_that_might_lose_its_batch_is_not_asked(loader):
    assert batch_of(loader) is None


class Fails(Turns):
    def __iter__(self):
        return iter(self.oder)


def test_a_sampler_that_fails_is_told_before_the_first_step():
    model = net()
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), progress=False)
    before = model.state_dict()["0.weight"].clone() if "0.weight" in model.state_dict() else None
    with pytest.raises(AttributeError, match="oder") as raised:
        trainer.fit(model, DataLoader(FITTING, 7), validation=DataLoader(FITTING, 5, sampler=Fails(FITTING)))
    assert any("in a trial before training" in note for note in raised.value.__notes__)
    assert before is None or torch.equal(before, model.state_dict()["0.weight"])


def test_a_stream_s_batches_are_all_evaluated():
    model, metric = net(), Mean()
    metric.update = lambda output, target: Mean.update(metric, 1.0, len(target))
    trainer = Trainer(loss=F.cross_entropy, optimizer=SGD(model.parameters()), metrics={"n": metric}, progress=False)
    trainer.fit(model, DataLoader(FITTING, 7), validation=DataLoader(Stream(), 5))
    assert metric._weight == 23
