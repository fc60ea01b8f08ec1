"""Measures that are updated batch by batch and are exact over all samples, however uneven the batches, on all ranks.

Every one has `update`, `compute` and `reset`, and `state_dict` and `load_state_dict` for checkpoints. Under a process
group `compute` is collective: it takes all ranks together (``synchronize=False`` keeps it to this one).
"""

from simpletorch.metrics._accuracy import Accuracy as Accuracy
from simpletorch.metrics._auroc import AUROC as AUROC
from simpletorch.metrics._confusion import ConfusionMatrix as ConfusionMatrix
from simpletorch.metrics._mean import Mean as Mean
from simpletorch.metrics._mean import MeanLoss as MeanLoss
from simpletorch.metrics._metric import Metric as Metric
from simpletorch.metrics._perplexity import Perplexity as Perplexity
from simpletorch.metrics._precision_recall import F1 as F1
from simpletorch.metrics._precision_recall import Precision as Precision
from simpletorch.metrics._precision_recall import Recall as Recall
from simpletorch.metrics._squared_error import MeanSquaredError as MeanSquaredError
from simpletorch.metrics._torchmetrics import TorchMetric as TorchMetric
