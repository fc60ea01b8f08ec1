"""torch's optimizers and schedulers under our face, all flat: ``optim.AdamW``, ``optim.OneCycleLR``.

For a type checker every class is torch's own, and at run time the optimizers are subclasses of torch's with the same
arguments, state and results, which

- choose the fused implementation (one kernel for the whole update) where torch has one and the parameters allow it;
  ``fused=False`` or ``foreach=…`` decides otherwise. It computes the same, but may round the last bit differently,
- refuse a parameter group with a misspelt option, which torch ignores.

Ours are `Optimizer` (the protocol that our training code asks for, so that an optimizer from elsewhere will do),
`ParameterGroup` and `decay_groups`, averages of weights (`EMA`, `SWA`), warm-ups, the two clipping functions, and
`LearningRate`.
"""

from typing import TYPE_CHECKING, NewType

import torch.optim
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
from torch.optim.swa_utils import SWALR as SWALR

from simpletorch.optim._averages import EMA as EMA
from simpletorch.optim._averages import SWA as SWA
from simpletorch.optim._clip import clip_grad_norm as clip_grad_norm
from simpletorch.optim._clip import clip_grad_value as clip_grad_value
from simpletorch.optim._groups import ParameterGroup as ParameterGroup
from simpletorch.optim._groups import decay_groups as decay_groups
from simpletorch.optim._optimizers import ours
from simpletorch.optim._protocol import Optimizer as Optimizer
from simpletorch.optim._warmup import LinearWarmup as LinearWarmup
from simpletorch.optim._warmup import WarmupCosine as WarmupCosine

if TYPE_CHECKING:
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
else:
    _theirs = {name: value for name, value in vars(torch.optim).items() if isinstance(value, type)}
    globals().update({name: ours(value) for name, value in _theirs.items() if name != "Optimizer"})

LearningRate = NewType("LearningRate", float)
"""A learning rate: a float that a checker keeps apart from other floats (a weight decay, a momentum)."""
