"""torch's optimizers and schedulers under our face, all flat: ``optim.AdamW``, ``optim.OneCycleLR``.

Every class here is torch's own. Ours are `Optimizer` (the protocol that our training code asks for, so that an
optimizer from elsewhere will do), `LearningRate`, and the two clipping functions.
"""

from typing import NewType

from torch.optim import ASGD as ASGD
from torch.optim import LBFGS as LBFGS
from torch.optim import SGD as SGD
from torch.optim import Adadelta as Adadelta
from torch.optim import Adafactor as Adafactor
from torch.optim import Adagrad as Adagrad
from torch.optim import Adam as Adam
from torch.optim import Adamax as Adamax
from torch.optim import AdamW as AdamW
from torch.optim import Muon as Muon
from torch.optim import NAdam as NAdam
from torch.optim import RAdam as RAdam
from torch.optim import RMSprop as RMSprop
from torch.optim import Rprop as Rprop
from torch.optim import SparseAdam as SparseAdam
from torch.optim import lr_scheduler as lr_scheduler
from torch.optim import swa_utils as swa_utils
from torch.optim.lr_scheduler import ChainedScheduler as ChainedScheduler
from torch.optim.lr_scheduler import ConstantLR as ConstantLR
from torch.optim.lr_scheduler import CosineAnnealingLR as CosineAnnealingLR
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from torch.optim.lr_scheduler import CyclicLR as CyclicLR
from torch.optim.lr_scheduler import ExponentialLR as ExponentialLR
from torch.optim.lr_scheduler import LambdaLR as LambdaLR
from torch.optim.lr_scheduler import LinearLR as LinearLR
from torch.optim.lr_scheduler import LRScheduler as LRScheduler
from torch.optim.lr_scheduler import MultiplicativeLR as MultiplicativeLR
from torch.optim.lr_scheduler import MultiStepLR as MultiStepLR
from torch.optim.lr_scheduler import OneCycleLR as OneCycleLR
from torch.optim.lr_scheduler import PolynomialLR as PolynomialLR
from torch.optim.lr_scheduler import ReduceLROnPlateau as ReduceLROnPlateau
from torch.optim.lr_scheduler import SequentialLR as SequentialLR
from torch.optim.lr_scheduler import StepLR as StepLR

from simpletorch.optim._clip import clip_grad_norm as clip_grad_norm
from simpletorch.optim._clip import clip_grad_value as clip_grad_value
from simpletorch.optim._protocol import Optimizer as Optimizer

LearningRate = NewType("LearningRate", float)
"""A learning rate: a float that a checker keeps apart from other floats (a weight decay, a momentum)."""
