"""Spellings of the documents that have torch's beside them."""

import torch

import simpletorch as st
from simpletorch import Err, Float32, Ok, Tensor, cuda, data, distributed, errors, nn, vision
from simpletorch.dims import B, I, O

Weight = Tensor[Float32, I, O]


def dense(x: Tensor[Float32, B, I], w: Weight[I, O]) -> Tensor[Float32, B, O]:
    return x @ w


def rank(shape: st.TensorShape) -> int:
    return len(shape)


def hint(result: errors.Result[Tensor[Float32, 2, 3]]) -> str | None:
    match result:
        case Ok(_):
            return None
        case Err(error):
            return error.hint


total: Tensor[Float32] = Tensor.sum(Tensor.ones([2, 3]))
long: Tensor[Float32, "...", 50] = Tensor.zeros([2, 50])
zeros = st.zeros(3, dtype=st.float32)
square: Tensor[Float32, 2, 2] = st.from_array([1.0, 2.0, 3.0, 4.0], shape=[2, 2])
shared = st.from_dlpack(zeros.to_dlpack())
replay = data.ReplayBuffer(100)
replay.push(st.rand(4), 1, 1.0, st.rand(4), False)
buffer: Tensor[Float32, 64, 784] = cuda.TensorPool().get([64, 784], Float32)
flips = vision.transforms.Compose([vision.transforms.RandomHorizontalFlip()])
layers: Tensor[Float32, 2, 5] = nn.Sequential([nn.Linear(3, 5), nn.ReLU()])(torch.zeros(2, 3))
sampler = data.DistributedSampler(data.TensorDataset(torch.arange(10)), 2, 0)
start, wrap = distributed.init_process_group, distributed.DistributedDataParallel

# outside of functions a name of a size is that of whatever is assigned
images: Tensor[Float32, B, 3] = Tensor.zeros([2, 3])
write = nn.Linear(3, 5).to_onnx


def main() -> None:
    rows: Tensor[Float32, B, 3] = images
    columns: Tensor[Float32, O] = rows.sum(1)
    print(columns.shape)
