"""The patterns of shipped kernels in torch's operations; each matches from the last node of a chain."""

from simpletorch.kernels._opportunities.patterns.attention import attended as attended
from simpletorch.kernels._opportunities.patterns.elementwise import dropout_added as dropout_added
from simpletorch.kernels._opportunities.patterns.elementwise import gated as gated
from simpletorch.kernels._opportunities.patterns.elementwise import rectified_sum as rectified_sum
from simpletorch.kernels._opportunities.patterns.elementwise import scaled_softmax as scaled_softmax
from simpletorch.kernels._opportunities.patterns.losses import class_loss as class_loss
from simpletorch.kernels._opportunities.patterns.norms import mean_normalized as mean_normalized
from simpletorch.kernels._opportunities.patterns.norms import root_normalized as root_normalized
from simpletorch.kernels._opportunities.patterns.norms import summed_root_normalized as summed_root_normalized
from simpletorch.kernels._opportunities.patterns.rotary import turned as turned

PATTERNS = (
    attended,
    class_loss,
    dropout_added,
    gated,
    mean_normalized,
    rectified_sum,
    root_normalized,
    scaled_softmax,
    summed_root_normalized,
    turned,
)
