"""Measures that are updated batch by batch and are exact over all samples, however uneven the batches."""

from simpletorch.metrics._accuracy import Accuracy as Accuracy
from simpletorch.metrics._confusion import ConfusionMatrix as ConfusionMatrix
from simpletorch.metrics._mean import Mean as Mean
from simpletorch.metrics._mean import MeanLoss as MeanLoss
from simpletorch.metrics._metric import Metric as Metric
