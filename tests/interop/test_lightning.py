"""Typed modules, our loaders and our metrics in a LightningModule, under Lightning's Trainer."""

from __future__ import annotations

import lightning
import pytest
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.errors import ShapeMismatch
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD
from tests.interop.loops import INPUTS, TARGETS, Net, loader

# of few workers and of logging every 50 steps, it warns
pytestmark = [pytest.mark.neighbour("lightning"), pytest.mark.filterwarnings("ignore")]


class Classifier(lightning.LightningModule):
    """A typed module within one of Lightning's, and what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Net()
        self.accuracy = Accuracy()
        self.seen: list[list[int]] = []

    def training_step(self, batch, index):
        x, y = batch
        self.seen.append(y.tolist())
        loss = F.cross_entropy(self.net(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.accuracy.update(self.net(x), y)

    def on_validation_epoch_end(self):
        self.log("accuracy", self.accuracy.compute())
        self.accuracy.reset()

    def configure_optimizers(self):
        return SGD(self.parameters(), lr=0.1)


@pytest.fixture
def trainer(tmp_path):
    def make(**options):
        return lightning.Trainer(
            accelerator="cpu", max_epochs=2, logger=False, enable_progress_bar=False, enable_model_summary=False,
            enable_checkpointing=False, default_root_dir=tmp_path, **options,
        )  # fmt: skip

    return make


def validation() -> DataLoader:
    return DataLoader(TensorDataset(INPUTS, TARGETS), 7)


def by_hand() -> Net:
    model, batches = Net(), loader()
    optimizer = SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in batches:
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
    return model


def test_it_trains_as_by_hand_and_our_metric_is_logged(trainer):
    model, run = Classifier(), trainer()
    run.fit(model, loader(), validation())
    expected = by_hand()
    assert all(torch.equal(a, b) for a, b in zip(model.net.parameters(), expected.parameters(), strict=True))
    whole = Accuracy()
    whole.update(expected(INPUTS), TARGETS)
    assert run.callback_metrics["accuracy"] == pytest.approx(whole.compute())


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_its_forward_is_still_checked(trainer, precision):
    wrong = DataLoader(TensorDataset(torch.zeros(7, 4), torch.zeros(7, dtype=torch.int64)), 7)
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 4, not 3"):
        trainer(precision=precision).fit(Classifier(), wrong)


def test_what_predicts_gets_every_sample_of_our_loader(trainer):
    """Lightning makes it anew then, without ``drop_last``."""

    class Predicts(Classifier):
        def predict_step(self, batch, index):
            return self.net(batch[0])

    class Data(lightning.LightningDataModule):
        def predict_dataloader(self):
            return DataLoader(TensorDataset(INPUTS, TARGETS), batch_size=7, drop_last=True)

    model = Predicts()
    for batches in (Data(), Data().predict_dataloader()):
        found = trainer().predict(model, batches)
        assert [len(scores) for scores in found] == [7, 7, 7, 2]
        torch.testing.assert_close(torch.cat(found), model.net(INPUTS))


class SaveAt(lightning.Callback):
    """Saves in the middle of the first epoch."""

    def __init__(self, step, path):
        self.step, self.path = step, path

    def on_train_batch_end(self, trainer, *_):
        if trainer.global_step == self.step:
            trainer.save_checkpoint(self.path)


def test_our_loader_goes_on_in_the_middle_of_its_epoch(trainer, tmp_path):
    """Behind an epoch Lightning (2.6) puts no loader's state back, so the order is then that of a new training."""
    whole = Classifier()
    trainer(callbacks=[SaveAt(3, tmp_path / "middle.ckpt")]).fit(whole, loader(), validation())
    rest = Classifier()
    trainer().fit(rest, loader(seed=11), validation(), ckpt_path=tmp_path / "middle.ckpt")
    assert rest.seen == whole.seen[3:]
    assert all(torch.equal(a, b) for a, b in zip(rest.parameters(), whole.parameters(), strict=True))
