"""The operators that come with simpletorch, a file each: reference, what runs on a GPU, gradient, and why it exists."""

from simpletorch.kernels.shipped.adamw_step import adamw_step as adamw_step
from simpletorch.kernels.shipped.attention import attention as attention
from simpletorch.kernels.shipped.attention import attention_backend as attention_backend
from simpletorch.kernels.shipped.cross_entropy import cross_entropy as cross_entropy
from simpletorch.kernels.shipped.dropout_add import dropout_add as dropout_add
from simpletorch.kernels.shipped.gated import geglu as geglu
from simpletorch.kernels.shipped.gated import geglu_packed as geglu_packed
from simpletorch.kernels.shipped.gated import swiglu as swiglu
from simpletorch.kernels.shipped.gated import swiglu_packed as swiglu_packed
from simpletorch.kernels.shipped.layer_norm import layer_norm as layer_norm
from simpletorch.kernels.shipped.linear_cross_entropy import linear_cross_entropy as linear_cross_entropy
from simpletorch.kernels.shipped.relu_add import relu_add as relu_add
from simpletorch.kernels.shipped.rms_norm import add_rms_norm as add_rms_norm
from simpletorch.kernels.shipped.rms_norm import rms_norm as rms_norm
from simpletorch.kernels.shipped.rotary import rotary as rotary
from simpletorch.kernels.shipped.softmax import softmax as softmax
