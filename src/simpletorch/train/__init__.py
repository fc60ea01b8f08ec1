"""Training: parts for a loop of your own, and a `Trainer` made of exactly these parts.

By hand::

    step = Step(model, F.cross_entropy, optimizer, clip_norm=1.0)
    for images, targets in track(loader):
        loss = step(images, targets)
    print(evaluate(model, test_loader, {"accuracy": Accuracy()}))

or::

    trainer = Trainer(loss=F.cross_entropy, optimizer=optimizer, clip_norm=1.0, metrics={"accuracy": Accuracy()})
    history = trainer.fit(model, loader, epochs=20, validation=test_loader)

A `Callback` is told about the events in a `Trainer`, and gets the running `Fit`. Several optimizers, as in a GAN, are
an `Update` each in a step that you write: for a loop by hand, or for `Trainer.with_step`.
"""

from simpletorch.reproducibility import rng_state as rng_state
from simpletorch.reproducibility import set_rng_state as set_rng_state
from simpletorch.train._callback import Callback as Callback
from simpletorch.train._device import device_of as device_of
from simpletorch.train._device import to_device as to_device
from simpletorch.train._dry_step import dry_step as dry_step
from simpletorch.train._epoch import Epoch as Epoch
from simpletorch.train._evaluate import evaluate as evaluate
from simpletorch.train._fit import Fit as Fit
from simpletorch.train._mode import mode as mode
from simpletorch.train._predict import predict as predict
from simpletorch.train._recompute import recompute as recompute
from simpletorch.train._resume import Resume as Resume
from simpletorch.train._step import Step as Step
from simpletorch.train._track import track as track
from simpletorch.train._trainer import Trainer as Trainer
from simpletorch.train._update import Update as Update
from simpletorch.train.callbacks._aim_logger import AimLogger as AimLogger
from simpletorch.train.callbacks._batch_size_finder import BatchSizeFinder as BatchSizeFinder
from simpletorch.train.callbacks._checkpoint import INTERRUPTED as INTERRUPTED
from simpletorch.train.callbacks._checkpoint import Checkpoint as Checkpoint
from simpletorch.train.callbacks._csv_logger import CSVLogger as CSVLogger
from simpletorch.train.callbacks._detect_nan import DetectNaN as DetectNaN
from simpletorch.train.callbacks._early_stopping import EarlyStopping as EarlyStopping
from simpletorch.train.callbacks._gradient_monitor import GradientMonitor as GradientMonitor
from simpletorch.train.callbacks._learning_rate_finder import LearningRateFinder as LearningRateFinder
from simpletorch.train.callbacks._live import Live as Live
from simpletorch.train.callbacks._mlflow_logger import MLflowLogger as MLflowLogger
from simpletorch.train.callbacks._profiler import Profiler as Profiler
from simpletorch.train.callbacks._tensorboard_logger import TensorBoardLogger as TensorBoardLogger
from simpletorch.train.callbacks._wandb_logger import WandbLogger as WandbLogger
