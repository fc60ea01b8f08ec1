"""Results: fields of named tuples, sizes that only a result has, Python's functions of a tensor, a list as an index."""

import torch
import torch.nn.functional as F
from jaxtyping import Float32
from torch import Tensor

x = torch.zeros(7, 11)

found = x.max(dim=1)
reveal_type(found.values)  # R: Tensor[Float32, 7]
reveal_type(found.indices)  # R: Tensor[Int64, 7]
reveal_type(torch.linalg.svd(x, full_matrices=False).S)  # R: Tensor[Float32, 7]
reveal_type(torch.linalg.svd(x, full_matrices=False).Vh)  # R: Tensor[Float32, 7, 11]
reveal_type(x.topk(3).indices)  # R: Tensor[Int64, 7, 3]
reveal_type(torch.unique(x))  # R: Tensor[Float32, Any]
reveal_type(torch.unbind_copy(x, 0)[1])  # R: Tensor[Float32, 11]

reveal_type(abs(x))  # R: Tensor[Float32, 7, 11]
reveal_type(x[[0, 1, 2]])  # R: Tensor[Float32, 3, 11]
reveal_type(x[0, 1])  # R: Tensor[Float32]
reveal_type(F.logsigmoid(x))  # R: Tensor[Float32, 7, 11]
reveal_type(torch.signal.windows.hann(13))  # R: Tensor[Float32, 13]


def encode(pixels: Float32[Tensor, "b n"], weight: Tensor) -> Float32[Tensor, "b d"]:
    return pixels @ weight


codes = encode(x, torch.zeros(11, 5))
reveal_type(codes)  # R: Tensor[Float32, 7, Any]
reveal_type(x.sum().item())  # R: float
