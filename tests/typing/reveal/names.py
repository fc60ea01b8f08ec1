"""Names of simpletorch, however they are imported, are torch's own with their types."""

# ruff: noqa: F403, F405
import simpletorch
from simpletorch import *
from simpletorch import cross_entropy

reveal_type(simpletorch.zeros(2, 3))  # R: Tensor[Float32, 2, 3]
reveal_type(zeros(2, 3))  # R: Tensor[Float32, 2, 3]
reveal_type(simpletorch.tensor([2.0, 3.0, 5.0]))  # R: Tensor[Float32, 3]
reveal_type(simpletorch.eigvalsh(zeros(7, 7)))  # R: Tensor[Float32, 7]

logits = simpletorch.nn.Linear(5, 7)(randn(3, 5))
reveal_type(logits)  # R: Tensor[Float32, 3, 7]
reveal_type(nn.MLP(5, 11, 7)(randn(3, 5)))  # R: Tensor[Float32, 3, 7]
reveal_type(cross_entropy(logits, randint(7, (3,))))  # R: Tensor[Float32]
