"""`simpletorch.cuda`: buffers have the shapes that are asked for, and what a stream computes has to be waited for."""

import torch

from simpletorch import Tensor, cuda

pool = cuda.TensorPool("cpu")
reveal_type(pool.get(64, 784))  # R: Tensor[Float32, 64, 784]
reveal_type(pool.get(3, 5, dtype=torch.float16))  # R: Tensor[Float16, 3, 5]
with pool.borrowed(7, 11, dtype=torch.int64) as buffer:
    reveal_type(buffer)  # R: Tensor[Int64, 7, 11]


def scaled(x: torch.Tensor, by: float) -> tuple[torch.Tensor, float]:
    return x * by, by


x = torch.ones(3, 5)
reveal_type(cuda.Stream("cpu").run(torch.matmul, x, x.T).wait())  # R: Tensor[Float32, 3, 3]
reveal_type(cuda.Stream("cpu").run(torch.nn.Linear(5, 2), x).synchronize())  # R: Tensor[Float32, 3, 2]
reveal_type(cuda.Stream("cpu").run(lambda: x.sum(1)).wait())  # R: Tensor[Float32, 3]
made = cuda.Stream("cpu").run(Tensor.randn, [3, 5])
reveal_type(made.wait())  # R: Tensor
pending = cuda.Stream("cpu").run(scaled, torch.ones(3), by=2.0)
reveal_type(pending.stream)  # R: simpletorch.cuda._streams.Stream
reveal_type(pending.wait()[1])  # R: float
reveal_type(cuda.pinned((torch.zeros(3, 5), 2.5)))  # R: tuple[Tensor[Float32, 3, 5], float]
for images, labels in cuda.prefetch([(torch.zeros(5, 3), torch.zeros(5, dtype=torch.int64))], "cpu"):
    reveal_type(images)  # R: Tensor[Float32, 5, 3]
    reveal_type(labels)  # R: Tensor[Int64, 5]
