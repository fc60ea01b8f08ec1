"""What is made of a module is called as the module is: compiled, parametrised, functional, averaged."""

import copy
from typing import Generic

import torch
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.optim.swa_utils import AveragedModel

import simpletorch as st
from simpletorch import Float32, Tensor
from simpletorch.dims import B, Dim, N

x = torch.zeros(7, 11)


class Net(nn.Module, Generic[N]):
    def __init__(self, n: Dim[N]) -> None:
        super().__init__()
        self.fc = nn.Linear(11, n)

    def forward(self, x: Tensor[Float32, B, 11]) -> Tensor[Float32, B, N]:
        return self.fc(x)


net = Net(5)
reveal_type(net.eval().requires_grad_(False).to("cpu").float()(x))  # R: Tensor[Float32, 7, 5]
reveal_type(net.apply(lambda m: None)(x))  # R: Tensor[Float32, 7, 5]
reveal_type(copy.deepcopy(net)(x))  # R: Tensor[Float32, 7, 5]
compiled = torch.compile(net, backend="eager")
reveal_type(compiled)  # R: reveal.wrappers.Net[5]
reveal_type(compiled(x))  # R: Tensor[Float32, 7, 5]
reveal_type(torch.func.functional_call(net, dict(net.named_parameters()), (x,)))  # R: Tensor[Float32, 7, 5]
reveal_type(torch.func.functional_call(net, dict(net.named_parameters()), x))  # R: Tensor[Float32, 7, 5]
averaged = AveragedModel(net)
reveal_type(averaged(x))  # R: Tensor[Float32, 7, 5]
reveal_type(averaged.module)  # R: reveal.wrappers.Net[5]
reveal_type(nn.DataParallel(net)(x))  # R: Tensor[Float32, 7, 5]


def distribute(model: Net[N]) -> None:
    reveal_type(nn.parallel.DistributedDataParallel(model)(x))  # R: Tensor[Float32, 7, N]


reveal_type(parametrizations.weight_norm(nn.Linear(11, 3))(x))  # R: Tensor[Float32, 7, 3]
reveal_type(parametrizations.orthogonal(nn.Linear(11, 3))(x))  # R: Tensor[Float32, 7, 3]
reveal_type(nn.utils.spectral_norm(nn.Linear(11, 3))(x))  # R: Tensor[Float32, 7, 3]
reveal_type(prune.l1_unstructured(nn.Linear(11, 3), "weight", 0.5)(x))  # R: Tensor[Float32, 7, 3]
synced = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(11, 3)))
reveal_type(synced(x))  # R: Tensor[Float32, 7, 3]
reveal_type(net.fc.forward(x))  # R: Tensor[Float32, 7, 5]


class Stated(st.nn.Module[Tensor[Float32, B, 11], Tensor[Float32, B, 3]]):
    pass


def run(model: st.nn.Module[Tensor[Float32, 7, 11], Tensor[Float32, 7, 3]]) -> None:
    reveal_type(model(x))  # R: Tensor[Float32, 7, 3]


run(st.nn.Sequential(nn.Linear(11, 3)))
