"""Losses that torch doesn't have; whatever it has is in `simpletorch.nn` and `simpletorch.nn.functional`.

A loss is any function from a model's outputs and the targets to a 0-d tensor; `Step` and `Trainer` ask for nothing
more, and assume that it is the mean over a batch. `WeightedSum` makes one of several.
"""

from simpletorch.losses._dice import dice_loss as dice_loss
from simpletorch.losses._focal import focal_loss as focal_loss
from simpletorch.losses._focal import sigmoid_focal_loss as sigmoid_focal_loss
from simpletorch.losses._smoothing import smooth_labels as smooth_labels
from simpletorch.losses._smoothing import smoothed_cross_entropy as smoothed_cross_entropy
from simpletorch.losses._sum import WeightedSum as WeightedSum
