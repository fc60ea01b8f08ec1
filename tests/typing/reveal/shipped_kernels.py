"""What each operator that `simpletorch.kernels` ships gives: sizes by the annotation, the dtype of the argument."""

import torch

from simpletorch import kernels

x, y, weight = torch.ones(3, 5), torch.ones(3, 5), torch.ones(5)
half = torch.ones(3, 10).bfloat16()
query, key, value = torch.ones(2, 6, 5, 8), torch.ones(2, 3, 7, 8), torch.ones(2, 3, 7, 4)
scores, targets = torch.ones(7, 11), torch.arange(7)
tokens, table = torch.ones(2, 5, 3, 8), torch.ones(5, 4)
average, square = torch.zeros(3, 5), torch.zeros(3, 5)

reveal_type(kernels.relu_add(x, y))  # R: Tensor[Float32, 3, 5]
reveal_type(kernels.softmax(x.double(), 0.5))  # R: Tensor[Float64, 3, 5]
reveal_type(kernels.layer_norm(x, weight, weight))  # R: Tensor[Float32, 3, 5]
reveal_type(kernels.rms_norm(x, weight))  # R: Tensor[Float32, 3, 5]
reveal_type(kernels.add_rms_norm(x.half(), y, weight)[0])  # R: Tensor[Float16, 3, 5]
reveal_type(kernels.swiglu(x, y))  # R: Tensor[Float32, 3, 5]
reveal_type(kernels.geglu(x, y, True))  # R: Tensor[Float32, 3, 5]
reveal_type(kernels.swiglu_packed(half))  # R: Tensor[BFloat16, 3, 5]
reveal_type(kernels.geglu_packed(half))  # R: Tensor[BFloat16, 3, 5]
reveal_type(kernels.rotary(tokens, table, table))  # R: Tensor[Float32, 2, 5, 3, 8]
reveal_type(kernels.cross_entropy(scores.half(), targets))  # R: Tensor[Float32]
reveal_type(kernels.cross_entropy(scores.double(), targets))  # R: Tensor[Float64]
reveal_type(kernels.linear_cross_entropy(torch.ones(7, 3), torch.ones(11, 3), targets))  # R: Tensor[Float32]
reveal_type(kernels.dropout_add(half, half, 0.1, seed=3))  # R: Tensor[BFloat16, 3, 10]
reveal_type(kernels.attention(query, key, value))  # R: Tensor[Float32, 2, 6, 5, 4]
reveal_type(kernels.attention_backend(query, query, query) == "math")  # R: bool
reveal_type(kernels.adamw_step([x], [y], [average], [square], step=1))  # R: None

with torch.autocast("cpu", dtype=torch.bfloat16):
    reveal_type(kernels.rms_norm(x, weight))  # R: Tensor[Float32, 3, 5]
    reveal_type(kernels.attention(query, key, value))  # R: Tensor[Any, 2, 6, 5, 4]
