"""Lightning's trainer: what it calls of a program, with which batches, beside the trainer itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.models.installed_programs import right, wrong

pytestmark = pytest.mark.neighbour("lightning")
_HEAD = """
import torch
from torch import nn
import lightning as L
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset
seen = {}
def samples(n=6):
    return TensorDataset(torch.zeros(n, 7), torch.zeros(n, dtype=torch.long))
def loader(n=6):
    return DataLoader(samples(n), batch_size=3)
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
             accelerator="cpu")
class Lit(L.LightningModule):
    def __init__(self, hidden=5, *, classes=4, **rest):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(7, hidden), nn.BatchNorm1d(hidden), nn.Linear(hidden, classes))
    def forward(self, x):
        return self.net(x)
    def training_step(self, batch, batch_idx):
        seen["train"] = batch[0]
        seen["hidden"] = torch.zeros(self.hparams.hidden, self.hparams["classes"])
        return {"loss": cross_entropy(self(batch[0]), batch[1])}
    def validation_step(self, batch, batch_idx):
        seen["out"] = self(batch[0])
        self.log("loss", cross_entropy(seen["out"], batch[1]))
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
_RIGHT = {
    "loaders": "L.Trainer(max_epochs=2, **quiet).fit(Lit(), loader(), loader())",
    "one of the names": "from lightning.pytorch import Trainer\nTrainer(max_epochs=1, **quiet)."
    "fit(model=Lit(9, extra=3), train_dataloaders=loader(), val_dataloaders=loader())",
    "a data module": """
class Data(L.LightningDataModule):
    def __init__(self, size=2):
        super().__init__()
        self.save_hyperparameters()
    def setup(self, stage):
        self.kept = samples(4)
    def train_dataloader(self):
        return DataLoader(self.kept, batch_size=self.hparams.size)
    def val_dataloader(self):
        return DataLoader(self.kept, batch_size=4)
L.Trainer(max_epochs=1, **quiet).fit(Lit(classes=8), datamodule=Data())
""",
    "loaders of the module": """
class Own(Lit):
    def train_dataloader(self):
        return loader(9)
L.Trainer(max_epochs=1, **quiet).fit(Own())
""",
    "by hand": """
class Two(Lit):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        seen["train"] = batch[0]
        for optimizer in (first, second):
            optimizer.zero_grad()
            self.manual_backward(cross_entropy(self(batch[0]), batch[1]))
            optimizer.step()
    def configure_optimizers(self):
        return torch.optim.SGD(self.net[0].parameters(), 0.1), torch.optim.SGD(self.net[2].parameters(), 0.1)
L.Trainer(max_epochs=1, **quiet).fit(Two(), loader())
""",
    "schedules": """
class Scheduled(Lit):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "loss"}}
L.Trainer(max_epochs=2, **quiet).fit(Scheduled(), loader(), loader())
""",
    "pairs": """
class Pairs(Lit):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]
L.Trainer(max_epochs=2, **quiet).fit(Pairs(), loader(), loader())
""",
    "callbacks": """
class Keep(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        seen["kept"] = pl_module(batch[0])
L.Trainer(max_epochs=1, callbacks=[Keep()], **quiet).fit(Lit(), loader())
""",
    "callbacks of Lightning": """
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
best = ModelCheckpoint(save_top_k=0)
L.Trainer(max_epochs=1, callbacks=[EarlyStopping("loss")], **quiet).fit(Lit(), loader(), loader())
best.best_model_path
""",
    "a frozen part stays in eval mode": """
class Frozen(Lit):
    def __init__(self):
        super().__init__()
        self.net[1].eval()
    def on_train_epoch_end(self):
        seen["after"] = torch.zeros(3 if self.net[1].training else 2)
L.Trainer(max_epochs=2, **quiet).fit(Frozen(), DataLoader(samples(3), batch_size=1), loader())
""",
    "the ends of epochs": """
class Ends(Lit):
    def on_train_start(self):
        self.outs = []
    def validation_step(self, batch, batch_idx):
        self.outs.append(self(batch[0]))
    def on_validation_epoch_start(self):
        self.outs = []
    def on_validation_epoch_end(self):
        seen["all"] = torch.cat(self.outs)
L.Trainer(max_epochs=1, num_sanity_val_steps=0, **quiet).fit(Ends(), loader(), loader())
""",
    "a test": """
class Tested(Lit):
    def test_step(self, batch, batch_idx):
        seen["tested"] = self(batch[0])
    def predict_step(self, batch, batch_idx):
        seen["predicted"] = self(batch[0])
trainer, model = L.Trainer(max_epochs=1, **quiet), Tested()
trainer.test(model, loader(2))
trainer.predict(model, DataLoader(samples(2), batch_size=2))
""",
    "settings in a namespace": """
from argparse import Namespace
class Given(Lit):
    def __init__(self, args):
        super().__init__()
        self.save_hyperparameters(args)
        self.net = nn.Linear(7, self.hparams.hidden)
L.Trainer(max_epochs=1, **quiet).fit(Given(Namespace(hidden=4, classes=6)), loader())
""",
}
_READ = "".join(
    f'\nif "{name}" in seen:\n    {name} = seen["{name}"]'
    for name in ("train", "hidden", "out", "kept", "after", "all", "tested", "predicted")
)
_WRONG = {
    "a training step": _HEAD.replace("nn.Linear(7, hidden)", "nn.Linear(8, hidden)")
    + "L.Trainer(max_epochs=2, **quiet).fit(Lit(), loader())",
    "a validation step": _HEAD.replace('seen["out"] = self(batch[0])', 'seen["out"] = self(batch[0][0, :3])')
    + "L.Trainer(max_epochs=2, **quiet).fit(Lit(), loader(), loader())",
    "a batch of one": _HEAD + "L.Trainer(max_epochs=1, **quiet).fit(Lit(), DataLoader(samples(4), batch_size=1))",
    "a setting that isn't there": _HEAD.replace("self.hparams.hidden", "self.hparams.width")
    + "L.Trainer(max_epochs=2, **quiet).fit(Lit(), loader())",
}


@pytest.mark.parametrize("name", _RIGHT)
def test_a_trainer_calls_the_steps(tmp_path: Path, name: str):
    assert right(_HEAD + _RIGHT[name] + _READ, tmp_path / "program.py") == []


@pytest.mark.parametrize("name", _WRONG)
def test_a_mistake_in_a_step_is_found(tmp_path: Path, name: str):
    said, found = wrong(_WRONG[name], tmp_path / "program.py")
    assert said
    assert found.errors


@pytest.mark.parametrize(
    "source",
    [
        "import pytorch_lightning as pl\np = pl.Trainer.add_argparse_args(__import__('argparse').ArgumentParser())\n"
        "a = p.parse_args()\nt = pl.Trainer.from_argparse_args(a)\nt.fit(model, loader)\nprint(a.max_epochs)",
        "import pytorch_lightning as pl\nclass M(pl.LightningModule):\n"
        "    def training_step(self, batch, i, optimizer_idx):\n"
        "        return batch.mean()\n    def training_epoch_end(self, outputs):\n        outputs[0]['loss']\n"
        "    def configure_optimizers(self):\n        o = self.trainer.x(self.device)\n        return [o, o]\n"
        "pl.Trainer(gpus=1, precision=16).fit(M(), [1])",
    ],
    ids=["arguments", "optimizers"],
)
def test_older_spellings_are_no_mistakes(tmp_path: Path, source: str):
    path = tmp_path / "program.py"
    assert follow(path, opened={str(path): source}).errors == ()
