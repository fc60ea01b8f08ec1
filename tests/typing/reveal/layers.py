"""Layers: parameters and buffers with dtype and device, sizes as attributes, constructors with what they can't know."""

from typing import Any

import torch
from einops.layers.torch import Rearrange, Reduce
from torch import nn

import simpletorch  # noqa: F401  # CPUTensor is ours: where nothing loads it, a layer on the CPU gives a Tensor

linear = nn.Linear(4, 6)
reveal_type(linear.weight)  # R: Parameter[Float32, 6, 4]
reveal_type(linear.bias)  # R: Parameter[Float32, 6]
reveal_type(nn.Linear(4, 6, bias=False).bias)  # R: None
reveal_type(linear.in_features)  # R: Dim[4]
reveal_type(nn.Linear(linear.out_features, 3))  # R: torch.nn.modules.linear.Linear[6, 3]
reveal_type(nn.Linear(4, 6, dtype=torch.float64).weight)  # R: Parameter[Float64, 6, 4]
reveal_type(nn.Linear(4, 6, dtype=torch.float64)(torch.zeros(2, 4, dtype=torch.float64)))  # R: Tensor[Float64, 2, 6]
reveal_type(nn.Linear(4, 6, device="meta"))  # R: torch.nn.modules.linear.Linear[4, 6, True, 'meta']
reveal_type(nn.Linear(4, 6, device="cpu")(torch.zeros(2, 4)))  # R: CPUTensor[Float32, 2, 6]

reveal_type(nn.Conv2d(6, 10, 3, groups=2).weight)  # R: Parameter[Float32, 10, 3, 3, 3]
reveal_type(nn.ConvTranspose1d(6, 10, 3).weight)  # R: Parameter[Float32, 6, 10, 3]
reveal_type(nn.BatchNorm2d(7).running_mean)  # R: Tensor[Float32, 7]
reveal_type(nn.BatchNorm2d(7).num_batches_tracked)  # R: Tensor[Int64]
reveal_type(nn.LayerNorm((3, 5)).weight)  # R: Parameter[Float32, 3, 5]
reveal_type(nn.LayerNorm(5, bias=False).bias)  # R: None
reveal_type(nn.PReLU(3).weight)  # R: Parameter[Float32, 3]
reveal_type(nn.LSTM(3, 5, 2, bidirectional=True).weight_ih_l1_reverse)  # R: Parameter[Float32, 20, 10]
reveal_type(nn.GRUCell(3, 5).weight_hh)  # R: Parameter[Float32, 15, 5]
reveal_type(nn.MultiheadAttention(6, 2).in_proj_weight)  # R: Parameter[Float32, 18, 6]
reveal_type(nn.Embedding(11, 5, dtype=torch.float16)(torch.zeros(3, dtype=torch.int64)))  # R: Tensor[Float16, 3, 5]
reveal_type(nn.CrossEntropyLoss(weight=torch.ones(7)).weight)  # R: Tensor[Float32, 7]
reveal_type(nn.SyncBatchNorm(7))  # R: torch.nn.modules.batchnorm.SyncBatchNorm[7]

reveal_type(nn.Linear(4, 6).half().weight)  # R: Parameter[Float16, 6, 4]
reveal_type(nn.Linear(4, 6).to(torch.float64)(torch.zeros(2, 4, dtype=torch.float64)))  # R: Tensor[Float64, 2, 6]
reveal_type(nn.Sequential(nn.Linear(4, 6)).double()[0].weight)  # R: Parameter[Float64, 6, 4]
converted = nn.Linear(4, 6)
converted.bfloat16()
reveal_type(converted.weight)  # R: Parameter[Any, 6, 4]
converted(torch.zeros(2, 4, dtype=torch.bfloat16))


def build(size: int, options: dict[str, Any], sizes: tuple[int, int]) -> None:
    reveal_type(nn.Linear(4, size))  # R: torch.nn.modules.linear.Linear[4, Any]
    reveal_type(nn.Linear(4, 6, **options).weight)  # R: Parameter[Any, 6, 4]
    reveal_type(nn.Linear(*sizes))  # R: torch.nn.modules.linear.Linear
    reveal_type(nn.LSTM(3, 5, **options)(torch.zeros(7, 2, 3))[0])  # R: Tensor[Float32, 7, 2, Any]


build(3, {}, (3, 5))
patches = Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=5)
reveal_type(patches(torch.zeros(2, 3, 6, 35)))  # R: Tensor[Float32, 2, 21, 30]
reveal_type(Reduce("b c (h 2) w -> b c h", "max")(torch.zeros(2, 3, 6, 5)))  # R: Tensor[Float32, 2, 3, 3]


class Scaled(nn.Linear):
    def __init__(self) -> None:
        super().__init__(4, 6)
        self.gain = nn.Parameter(torch.ones(6))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input) * self.gain


reveal_type(Scaled().gain)  # R: Parameter[Float32, 6]
reveal_type(Scaled()(torch.zeros(2, 4)))  # R: Tensor


def causal(x: torch.Tensor) -> None:
    net = nn.Transformer(8, 2, batch_first=True)
    reveal_type(net.generate_square_subsequent_mask(7))  # R: Tensor[Float32, 7, 7]
    reveal_type(nn.Transformer.generate_square_subsequent_mask(x.size(1)))  # R: Tensor[Float32, Any, Any]
    reveal_type(net(torch.zeros(2, 5, 8), torch.zeros(2, 3, 8)))  # R: Tensor[Float32, 2, 3, 8]
