"""`Fit`: a training that is stopped anywhere and resumed is the training that was never stopped."""

import copy
import random
import warnings

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import TorchError
from simpletorch.optim import AdamW, CosineAnnealingLR, StepLR
from simpletorch.train import Callback, Fit, Trainer

INPUTS, TARGETS = torch.randn(43, 3, generator=torch.Generator().manual_seed(0)), torch.arange(43) % 2


class Stopped(Exception):
    pass


class StopAt(Callback):
    """Takes the state after one update, and ends the program there."""

    def __init__(self, step=None, epoch=None):
        self.step, self.epoch = step, epoch
        self.state = None

    def take(self, fit):
        self.state = copy.deepcopy(fit.state_dict())
        raise Stopped

    def on_step_end(self, fit):
        if fit.step == self.step:
            self.take(fit)

    def on_epoch_end(self, fit):
        if fit.epoch == self.epoch:
            self.take(fit)


class Augmented(torch.utils.data.Dataset):
    """Draws from all three generators for each sample."""

    def __len__(self):
        return len(INPUTS)

    def __getitem__(self, index):
        return INPUTS[index] * random.random() + np.random.rand() + torch.rand(3), TARGETS[index]


def in_memory():
    return DataLoader(TensorDataset(INPUTS, TARGETS), 5, shuffle=True)


def augmenting():
    return DataLoader(Augmented(), 5, shuffle=True)


def torch_s_own():
    return torch.utils.data.DataLoader(Augmented(), 5, shuffle=True, generator=torch.Generator().manual_seed(7))


def run(loader, callback, *, resume=None, schedule="step", epochs=3, **settings):
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 7), torch.nn.BatchNorm1d(7), torch.nn.Dropout(0.3), torch.nn.Linear(7, 2)
    )
    optimizer = AdamW(model.parameters(), lr=0.01)
    scheduler = CosineAnnealingLR(optimizer, 40) if schedule == "step" else StepLR(optimizer, 1, 0.5)
    ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=optimizer,
        scheduler=scheduler,
        schedule=schedule,
        ema=ema,
        callbacks=[callback],
        progress=False,
        **settings,
    )
    validation = DataLoader(TensorDataset(INPUTS, TARGETS), 11)
    history = trainer.fit(model, loader(), epochs=epochs, validation=validation, resume=resume)
    return [*model.state_dict().values(), *ema.state_dict().values()], history


def assert_same(ours, theirs):
    for tensor, other in zip(ours[0], theirs[0], strict=True):
        assert torch.equal(tensor, other)
    for epoch, other in zip(ours[1], theirs[1], strict=True):
        assert (epoch.loss, epoch.validation, epoch.samples, epoch.steps, epoch.learning_rate) == (
            other.loss,
            other.validation,
            other.samples,
            other.steps,
            other.learning_rate,
        )


@pytest.mark.parametrize("loader", [in_memory, augmenting, torch_s_own])
@pytest.mark.parametrize("stop", [1, 8, 9, 10, 16, 26])
def test_a_resumed_training_is_the_uninterrupted_one(loader, stop):
    stopping = StopAt(stop)
    with pytest.raises(Stopped):
        run(loader, stopping)
    assert_same(run(loader, StopAt(), resume=stopping.state), run(loader, StopAt()))


@pytest.mark.parametrize("loader", [in_memory, augmenting, torch_s_own])
def test_a_training_resumes_between_epochs(loader):
    stopping = StopAt(epoch=2)
    with pytest.raises(Stopped):
        run(loader, stopping, schedule="epoch")
    resumed = run(loader, StopAt(), schedule="epoch", resume=stopping.state)
    assert_same(resumed, run(loader, StopAt(), schedule="epoch"))


def test_resuming_before_the_epoch_s_scheduler_step_is_no_reason_to_warn():
    stopping = StopAt(3)
    with pytest.raises(Stopped):
        run(augmenting, stopping, accumulate=4, schedule="epoch")
    assert stopping.state["phase"] == "drained"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(augmenting, StopAt(), accumulate=4, schedule="epoch", resume=stopping.state)


@pytest.mark.parametrize("stop", [1, 2, 3, 4, 7])
def test_accumulation_resumes_at_every_update(stop):
    stopping = StopAt(stop)  # 9 batches in fours: an epoch has 3 updates, the last of one batch
    with pytest.raises(Stopped):
        run(augmenting, stopping, accumulate=4)
    assert_same(run(augmenting, StopAt(), accumulate=4, resume=stopping.state), run(augmenting, StopAt(), accumulate=4))


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_resumes(precision):
    stopping = StopAt(13)
    with pytest.raises(Stopped):
        run(in_memory, stopping, precision=precision)
    resumed = run(in_memory, StopAt(), precision=precision, resume=stopping.state)
    assert_same(resumed, run(in_memory, StopAt(), precision=precision))


def test_evaluating_between_epochs_is_behind_a_saved_state():
    stopping = StopAt(6)
    with pytest.raises(Stopped):
        run(augmenting, stopping, evaluate_every=3)
    assert_same(
        run(augmenting, StopAt(), evaluate_every=3, resume=stopping.state),
        run(augmenting, StopAt(), evaluate_every=3),
    )


class Count(Callback):
    def __init__(self):
        self.updates = 0

    def on_step_end(self, fit):
        self.updates += 1

    def state_dict(self):
        return {"updates": self.updates}

    def load_state_dict(self, state):
        self.updates = state["updates"]


def fit_of(model=None, **parts):
    model = torch.nn.Linear(3, 2) if model is None else model
    return Fit(model=model, optimizer=AdamW(model.parameters()), loader=[], **parts)


def test_callbacks_remember():
    before, after = Count(), Count()
    before.updates = 17
    fit_of(callbacks=[after]).load_state_dict(fit_of(callbacks=[before]).state_dict())
    assert after.updates == 17


def test_other_callbacks_are_refused():
    with pytest.raises(TorchError, match=r"has the callbacks \['Count'\], this one \[\]"):
        fit_of().load_state_dict(fit_of(callbacks=[Count()]).state_dict())


def test_a_scheduler_more_is_refused():
    model = torch.nn.Linear(3, 2)
    with pytest.raises(TorchError, match="the saved training has no scheduler, this one has one"):
        fit_of(scheduler=StepLR(AdamW(model.parameters()), 1)).load_state_dict(fit_of().state_dict())


def test_a_loader_that_can_be_resumed_and_one_that_can_not_are_not_mixed_up():
    stopping = StopAt(8)
    with pytest.raises(Stopped):
        run(in_memory, stopping)
    with pytest.raises(TorchError, match="the loader can be resumed in only one of the saved training and this one"):
        run(lambda: [(INPUTS[:5], TARGETS[:5])] * 9, StopAt(), resume=stopping.state)


def test_a_shorter_loader_is_refused():
    stopping = StopAt(8)
    with pytest.raises(Stopped):
        run(lambda: [(INPUTS[:5], TARGETS[:5])] * 9, stopping)
    with pytest.raises(TorchError, match="had done 8 batches of epoch 1, but this loader has only 3"):
        run(lambda: [(INPUTS[:5], TARGETS[:5])] * 3, StopAt(), resume=stopping.state)
