"""Every message as a reader sees it: one for each kind of mistake, and what holds for all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch

from simpletorch.rules import RULES, Device, ModuleRule, Report, TensorType, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import BOOL, COMPLEX64, FLOAT32, INT32, INT64
from simpletorch.shapes import Item, Shape, var
from tests import oracle
from tests.rules.symbolic import B, K, N, T

M = var("M")
f, i32, i64, b, c64 = (partial(tensor, dtype=d) for d in (FLOAT32, INT32, INT64, BOOL, COMPLEX64))


def on(device: str, *items: Item) -> TensorType:
    """A Float32 tensor on a device."""
    return TensorType(Shape(items), FLOAT32, Device(device))


def op(name: str, *args: Any, **kwargs: Any) -> Report:
    """What the call of an operation gives."""
    found = infer(name, args, kwargs)
    assert isinstance(found, Report), found
    return found


def build(name: str, **arguments: Any) -> Report:
    """What the construction of a layer gives."""
    found = new_module(f"torch.nn.{name}", arguments)
    assert isinstance(found, Report), found
    return found


def layer(name: str, *inputs: Any, **arguments: Any) -> Report:
    """What the call of a layer gives."""
    built = new_module(f"torch.nn.{name}", arguments)
    assert isinstance(built, ModuleRule), built
    found = infer_module(built, inputs)
    assert isinstance(found, Report), found
    return found


# fmt: off
MESSAGES = [
    # products
    (
        op("torch.mm", f(5, 11), f(7, 2)),
        "mm: the inner dims differ: input has 11, mat2 has 7 [input: Float32[5, 11], mat2: Float32[7, 2]]",
        None,
    ),
    (
        op("torch.mm", f(5, 11), f(7, 11)),
        "mm: the inner dims differ: input has 11, mat2 has 7 [input: Float32[5, 11], mat2: Float32[7, 11]]",
        "mat2.mT would fit",
    ),
    (
        op("Tensor.__matmul__", f(B, N), f(M, K)),
        "@: the inner dims differ: input has N, other has M; they are not equal for all sizes [input: "
        "Float32[B, N], other: Float32[M, K]]",
        None,
    ),
    (
        op("torch.matmul", f(3, 5), f(3, 7)),
        "matmul: the inner dims differ: input has 5, other has 3 [input: Float32[3, 5], other: Float32[3, 7]]",
        "input.mT would fit",
    ),
    (
        op("torch.bmm", f(3, 5, 7), f(2, 7, 11)),
        "bmm: the batch dims differ: input has 3, mat2 has 2 [input: Float32[3, 5, 7], mat2: Float32[2, 7, 11]]",
        None,
    ),
    (
        op("torch.mm", f(2, 3, 5), f(5, 7)),
        "mm: input must have 2 dims, but it is (2, 3, 5) [input: Float32[2, 3, 5], mat2: Float32[5, 7]]",
        None,
    ),
    (
        op("torch.mm", f(5, 7), i64(7, 2)),
        "mm: input is Float32, but mat2 is Int64; both must have one dtype [input: Float32[5, 7], mat2: "
        "Int64[7, 2]]",
        "mat2.to(input.dtype)",
    ),
    (
        op("torch.addmm", f(11), f(3, 5), f(5, 7)),
        "addmm: input (11,) can't be expanded to the product (3, 7): 11 is not 7 at dim -1 [input: "
        "Float32[11], mat1: Float32[3, 5], mat2: Float32[5, 7]]",
        None,
    ),
    (
        op("torch.dot", f(5), f(7)),
        "dot: the sizes differ: input has 5, tensor has 7 [input: Float32[5], tensor: Float32[7]]",
        None,
    ),
    (
        op("torch.nn.functional.linear", f(B, 128), f(128, 10)),
        "linear: the inner dims differ: input has 128, weight has 10 [input: Float32[B, 128], weight: "
        "Float32[128, 10]]",
        "weight.T would fit: the weight of linear is (out, in)",
    ),
    (
        layer("Linear", f(B, 128), in_features=100, out_features=10),
        "Linear(100, 10): the last dim of input is 128, but the layer takes 100 features [input: Float32[B, "
        "128]]",
        "Linear(128, 10) would fit",
    ),
    (
        layer("Linear", i64(B, 100), in_features=100, out_features=10),
        "Linear(100, 10): input is Int64, but the weights are floats [input: Int64[B, 100]]",
        "input.float()",
    ),
    (
        build("Linear", in_features=-1, out_features=10),
        "Linear: in_features is -1, but it must be at least 0",
        None,
    ),
    (
        op("torch.einsum", "ij,jk->ik", f(3, 5), f(7, 2)),
        "einsum: j is 5 in operands[0] (ij), but 7 in operands[1] (jk) [operands[0]: Float32[3, 5], "
        "operands[1]: Float32[7, 2]]",
        None,
    ),
    (
        op("torch.einsum", "bij->b", f(3, 5)),
        "einsum: bij names 3 dims, but operands[0] is (3, 5) [operands[0]: Float32[3, 5]]",
        None,
    ),
    # element by element
    (
        op("Tensor.__add__", f(64, 10), f(64)),
        "+: input (64, 10) and other (64,) can't be broadcast: 10 and 64 differ and neither is 1 at dim -1 "
        "[input: Float32[64, 10], other: Float32[64]]",
        "other.unsqueeze(-1) would fit",
    ),
    (
        op("Tensor.__radd__", f(7), f(B, 5)),
        "+: input (B, 5) and other (7,) can't be broadcast: 5 and 7 differ and neither is 1 at dim -1 [input: "
        "Float32[B, 5], other: Float32[7]]",
        None,
    ),
    (
        op("torch.mul", f(B, N), f(B, M)),
        "mul: input (B, N) and other (B, M) can't be broadcast: N and M are not equal for all sizes at dim -1 "
        "[input: Float32[B, N], other: Float32[B, M]]",
        None,
    ),
    (
        op("Tensor.__iadd__", f(5), f(3, 5)),
        "+=: input is (5,), but the result would be (3, 5); an in-place operation can't add dims [input: "
        "Float32[5], other: Float32[3, 5]]",
        None,
    ),
    (
        op("Tensor.add_", i64(5), f(5)),
        "add_: the result is Float32, which can't be cast to the Int64 of input [input: Int64[5], other: "
        "Float32[5]]",
        "use the form that isn't in place, which gives a new tensor",
    ),
    (
        op("Tensor.__and__", f(5), f(5)),
        "&: input is Float32, but it must be Bool or integer [input: Float32[5], other: Float32[5]]",
        None,  # other is as wrong
    ),
    (
        op("torch.sub", b(5), b(5)),
        "sub: input is Bool, which can't be subtracted [input: Bool[5], other: Bool[5]]",
        "~mask negates and a ^ b compares; otherwise cast with .int() or .float()",
    ),
    (
        op("torch.pow", i64(5), -1),
        "pow: input is Int64 and exponent is -1; integers have no negative powers [input: Int64[5]]",
        "input.float()",
    ),
    (
        op("torch.sigmoid_", i64(5)),
        "sigmoid_: the result is Float32, which can't be cast to the Int64 of input [input: Int64[5]]",
        "use the form that isn't in place, which gives a new tensor",
    ),
    (
        op("torch.where", f(5), f(5), f(5)),
        "where: condition is Float32, but it must be Bool or UInt8 [condition: Float32[5], input: Float32[5], other: "
        "Float32[5]]",
        "condition.bool(), or a comparison such as condition > 0",
    ),
    (
        op("torch.clamp", c64(5), 0, 1),
        "clamp: input is Complex64, but it must be Bool, integer or floating [input: Complex64[5]]",
        None,
    ),
    # reductions and order
    (
        op("torch.mean", i64(3, 5)),
        "mean: input is Int64, but it must be floating or complex [input: Int64[3, 5]]",
        "input.float()",
    ),
    (
        op("torch.sum", f(3, 5), 2),
        "sum: dim=2 is out of range for 2 dims (3, 5); it must be in [-2, 1] [input: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.amax", f(3, 5), (0, -2)),
        "amax: dim=(0, -2) names a dim twice [input: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.argmax", f(3, 0), 1),
        "argmax: dim 1 of input (3, 0) is empty; there is no element to choose [input: Float32[3, 0]]",
        None,
    ),
    (
        op("torch.topk", f(3, 5), 7),
        "topk: k is 7, but dim 1 of input (3, 5) has only 5 [input: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.quantile", f(5), f(2, 3)),
        "quantile: q must have at most 1 dim, but it is (2, 3) [input: Float32[5], q: Float32[2, 3]]",
        None,
    ),
    (
        op("torch.cumsum", f(5), 1),
        "cumsum: dim=1 is out of range for 1 dim (5,); it must be in [-1, 0] [input: Float32[5]]",
        None,
    ),
    (
        op("Tensor.backward", f(B)),
        "backward: input is (B,), but without gradient only one number can be differentiated [input: "
        "Float32[B]]",
        "reduce it to a scalar first, as .mean() or .sum() does",
    ),
    (
        op("Tensor.item", f(3)),
        "item: input is (3,), but only a tensor of one element is a Python number [input: Float32[3]]",
        "tolist() gives all elements",
    ),
    # moving dims
    (
        op("Tensor.view", f(2, 3, 20), 7, -1),
        "view: 120 elements can't be viewed as (7, -1): 120 is not divisible by 7 [input: Float32[2, 3, 20]]",
        None,
    ),
    (
        op("Tensor.view", f(B, 784), 64, 784),
        "view: 784*B elements can't be viewed as (64, 784): 784*B and 50176 are not equal for all sizes "
        "[input: Float32[B, 784]]",
        None,
    ),
    (
        op("torch.reshape", f(6, 5), (5, 5)),
        "reshape: 30 elements can't be reshaped to (5, 5), which has 25 [input: Float32[6, 5]]",
        None,
    ),
    (
        op("torch.permute", f(2, 3, 5), (0, 2)),
        "permute: dims names 2 dims, but input is (2, 3, 5) [input: Float32[2, 3, 5]]",
        None,
    ),
    (
        op("torch.transpose", f(2, 3), 0, 2),
        "transpose: dim1=2 is out of range for 2 dims (2, 3); it must be in [-2, 1] [input: Float32[2, 3]]",
        None,
    ),
    (
        op("Tensor.expand", f(7, 3), 7, 5),
        "expand: input (7, 3) can't be expanded to (7, 5): dim -1 is 3, not 1 or 5 [input: Float32[7, 3]]",
        None,
    ),
    (
        op("torch.unflatten", f(7, 12), 1, (5, -1)),
        "unflatten: dim 1 of size 12 can't be unflattened to (5, -1): 12 is not divisible by 5 [input: "
        "Float32[7, 12]]",
        None,
    ),
    (
        op("torch.squeeze", f(2, 3), 2),
        "squeeze: dim=2 is out of range for 2 dims (2, 3); it must be in [-2, 1] [input: Float32[2, 3]]",
        None,
    ),
    (
        op("torch.flatten", f(2, 3, 5), 2, 1),
        "flatten: start_dim=2 comes after end_dim=1 in (2, 3, 5) [input: Float32[2, 3, 5]]",
        None,
    ),
    # joining and splitting
    (
        op("torch.cat", (f(3, 5), f(3, 7))),
        "cat: the sizes of dim 1 differ: tensors[0] has 5, tensors[1] has 7 [tensors[0]: Float32[3, 5], tensors[1]: "
        "Float32[3, 7]]",
        None,
    ),
    (
        op("torch.cat", (f(3, 5), f(3))),
        "cat: tensors[0] is (3, 5), but tensors[1] is (3,); they must have the same number of dims [tensors[0]: "
        "Float32[3, 5], tensors[1]: Float32[3]]",
        None,
    ),
    (
        op("torch.stack", (f(3, 5), f(3, 7))),
        "stack: the sizes of dim 1 differ: tensors[0] has 5, tensors[1] has 7 [tensors[0]: Float32[3, 5], tensors[1]: "
        "Float32[3, 7]]",
        None,
    ),
    (
        op("torch.cat", ()),
        "cat: tensors is an empty list; it needs at least one tensor",
        None,
    ),
    (
        op("torch.split", f(10, 3), (3, 3, 3)),
        "split: the sum of split_sizes (3, 3, 3) is 9, but dim 0 of input is 10 [input: Float32[10, 3]]",
        None,
    ),
    (
        op("torch.chunk", f(10), 0),
        "chunk: chunks is 0, but it must be at least 1 [input: Float32[10]]",
        None,
    ),
    # indexing
    (
        op("Tensor.__getitem__", f(3, 5), 3),
        "[]: index 3 is out of range for dim 0 of size 3 [input: Float32[3, 5]]",
        None,
    ),
    (
        op("Tensor.__getitem__", f(3, 5), (0, 0, 0)),
        "[]: too many indices: 3 for 2 dims (3, 5) [input: Float32[3, 5]]",
        None,
    ),
    (
        op("Tensor.__getitem__", f(3, 5), f(3)),
        "[]: an index tensor must be Int64, Int32 or Bool, but this one is Float32 [input: Float32[3, 5], "
        "index: Float32[3]]",
        "use .long() or .bool()",
    ),
    (
        op("Tensor.__getitem__", f(3, 5), b(5)),
        "[]: the mask (5,) has 5 where the tensor has 3 (dim 0) [input: Float32[3, 5], index: Bool[5]]",
        None,
    ),
    (
        op("Tensor.__setitem__", f(3, 5), 0, f(7)),
        "[]=: value (7,) can't be expanded to what is selected (5,): 7 is not 5 at dim -1 [input: Float32[3, "
        "5], value: Float32[7]]",
        None,
    ),
    (
        op("torch.gather", f(3, 5), 1, i64(3)),
        "gather: input is (3, 5), but index is (3,); they must have the same number of dims [input: "
        "Float32[3, 5], index: Int64[3]]",
        None,
    ),
    (
        op("torch.index_select", f(3, 5), 0, f(2)),
        "index_select: index is Float32, but it must be Int64 or Int32 [input: Float32[3, 5], index: "
        "Float32[2]]",
        "index.long()",
    ),
    (
        op("Tensor.scatter_", f(3, 5), 1, i64(3, 7), f(3, 5)),
        "scatter_: index has 7 at dim 1, which is larger than src's 5 [input: Float32[3, 5], index: Int64[3, "
        "7], src: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.masked_fill", f(3, 5), i64(3, 5), 0),
        "masked_fill: mask is Int64, but it must be Bool [input: Float32[3, 5], mask: Int64[3, 5]]",
        "mask.bool()",
    ),
    # linear algebra and transforms
    (
        op("torch.linalg.inv", f(3, 5)),
        "inv: the matrices of A (3, 5) must be square, but they are 3 by 5 [A: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.linalg.solve", f(3, 3), f(5, 2)),
        "solve: the numbers of rows differ: A has 3, B has 5 [A: Float32[3, 3], B: Float32[5, 2]]",
        None,
    ),
    (
        op("torch.linalg.svd", i64(3, 5)),
        "svd: A is Int64, but it must be floating or complex [A: Int64[3, 5]]",
        "A.float()",
    ),
    (
        op("torch.linalg.norm", f(2, 3, 5), "fro"),
        "norm: with ord and without dim, A must have 1 or 2 dims, but it is (2, 3, 5) [A: Float32[2, 3, 5]]",
        None,
    ),
    (
        op("torch.cdist", f(3, 5), f(7, 11)),
        "cdist: the last dims differ: x1 has 5, x2 has 11 [x1: Float32[3, 5], x2: Float32[7, 11]]",
        None,
    ),
    (
        op("torch.fft.fft", f()),
        "fft: input must have at least 1 dim, but it is 0-dim [input: Float32[]]",
        None,
    ),
    (
        op("torch.stft", f(101), 16),
        "stft: return_complex must be given where input is real [input: Float32[101]]",
        "return_complex=True",
    ),
    # neural networks
    (
        op("torch.nn.functional.conv2d", f(B, 3, 32, 32), f(16, 1, 5, 5)),
        "conv2d: input has 3 channels at dim 1, but weight takes 1 [input: Float32[B, 3, 32, 32], weight: "
        "Float32[16, 1, 5, 5]]",
        None,
    ),
    (
        op("torch.nn.functional.conv2d", f(2, 3, 3, 3), f(16, 3, 5, 5)),
        "conv2d: the kernel spans 5 x 5, but the padded input is only 3 x 3 [input: Float32[2, 3, 3, 3], "
        "weight: Float32[16, 3, 5, 5]]",
        None,
    ),
    (
        layer("Conv2d", f(B, 1, 28, 28), in_channels=3, out_channels=16, kernel_size=3),
        "Conv2d(3, 16, 3): input has 1 channel at dim 1, but the layer takes 3 [input: Float32[B, 1, 28, 28]]",
        "a layer for 1 channel would fit",
    ),
    (
        layer("Conv2d", f(28, 28), in_channels=1, out_channels=16, kernel_size=3),
        "Conv2d(1, 16, 3): input must have 4 or 3 dims (N, C, H, W) or (C, H, W), but it is (28, 28) [input: "
        "Float32[28, 28]]",
        "input.unsqueeze(0) adds the channel dim",
    ),
    (
        layer("MaxPool2d", f(B, 3, 2, 2), kernel_size=3),
        "MaxPool2d(3): the window spans 3, but the padded input is only 2 [input: Float32[B, 3, 2, 2]]",
        None,
    ),
    (
        layer("BatchNorm2d", f(B, 3, 8, 8), num_features=16),
        "BatchNorm2d(16): input has 3 channels at dim 1, but the layer takes 16 [input: Float32[B, 3, 8, 8]]",
        "a layer for 3 channels would fit",
    ),
    (
        layer("LayerNorm", f(B, 128), normalized_shape=100),
        "LayerNorm(100): the last dim of input is 128, but normalized_shape is 100 [input: Float32[B, 128]]",
        None,
    ),
    (
        layer("Embedding", f(B, 7), num_embeddings=100, embedding_dim=16),
        "Embedding(100, 16): input is Float32, but indices must be Int64 or Int32 [input: Float32[B, 7]]",
        "input.long()",
    ),
    (
        layer("LSTM", f(T, B, 16), input_size=10, hidden_size=20),
        "LSTM(10, 20): the last dim of input is 16, but input_size is 10 [input: Float32[T, B, 16]]",
        "LSTM(16, 20) would fit",
    ),
    (
        layer("MultiheadAttention", f(T, B, 16), f(T, B, 16), f(T, B, 16), embed_dim=32, num_heads=4),
        "MultiheadAttention(32, 4): the last dim of query is 16, but embed_dim is 32 [query: Float32[T, B, "
        "16], key: Float32[T, B, 16], value: Float32[T, B, 16]]",
        None,
    ),
    (
        build("MultiheadAttention", embed_dim=10, num_heads=3),
        "MultiheadAttention: embed_dim is 10, which is not divisible by num_heads=3",
        None,
    ),
    (
        build("Conv2d", in_channels=3, out_channels=16, kernel_size=3, groups=2),
        "Conv2d: in_channels is 3, which is not divisible by groups=2",
        None,
    ),
    (
        op("torch.nn.functional.scaled_dot_product_attention", f(B, T, 16), f(B, T, 8), f(B, T, 8)),
        "scaled_dot_product_attention: the last dim of key is 8, but that of query is 16 [query: Float32[B, T, "
        "16], key: Float32[B, T, 8], value: Float32[B, T, 8]]",
        None,
    ),
    (
        op("torch.nn.functional.softmax", i64(3, 5), -1),
        "softmax: input is Int64, but it must be floating [input: Int64[3, 5]]",
        "input.float()",
    ),
    (
        op("torch.nn.functional.pad", f(3, 5), (1, 1, 1, 1, 1, 1)),
        "pad: input must have at least 3 dims, but it is (3, 5) [input: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.nn.functional.interpolate", f(3, 5), 8),
        "interpolate: input must have 3, 4 or 5 dims (N, C, L), (N, C, H, W), (N, C, D, H, W), but it is (3, "
        "5) [input: Float32[3, 5]]",
        None,
    ),
    (
        op("torch.nn.functional.group_norm", f(B, 6, 8), 4),
        "group_norm: the number of channels is 6, which is not divisible by num_groups=4 [input: Float32[B, 6, 8]]",
        None,
    ),
    (
        op("torch.nn.functional.glu", f(11, 3)),
        "glu: dim -1 of input is 3, which can't be halved [input: Float32[11, 3]]",
        None,
    ),
    (
        op("torch.nn.functional.pixel_shuffle", f(1, 10, 2, 2), 3),
        "pixel_shuffle: the number of channels is 10, which is not divisible by upscale_factor**2=9 [input: "
        "Float32[1, 10, 2, 2]]",
        None,
    ),
    (
        op("torch.nn.functional.one_hot", f(3), 5),
        "one_hot: tensor is Float32, but indices must be Int64 [tensor: Float32[3]]",
        "tensor.long()",
    ),
    # losses
    (
        op("torch.nn.functional.cross_entropy", f(B, 10), i64(B, 1)),
        "cross_entropy: target is (B, 1), but for input (B, 10) it must be (B,) for all sizes [input: "
        "Float32[B, 10], target: Int64[B, 1]]",
        "target.squeeze(-1)",
    ),
    (
        op("torch.nn.functional.cross_entropy", f(B, T, 10), i64(B, T)),
        "cross_entropy: target is (B, T), but for input (B, T, 10) it must be (B, 10) for all sizes [input: "
        "Float32[B, T, 10], target: Int64[B, T]]",
        "the classes must be dim 1 of input: input.transpose(1, 2)",
    ),
    (
        op("torch.nn.functional.cross_entropy", f(B, 10), f(B)),
        "cross_entropy: target is Float32, but class indices must be Int64 or UInt8 [input: Float32[B, 10], target: "
        "Float32[B]]",
        "target.long()",
    ),
    (
        op("torch.nn.functional.mse_loss", f(32), f(32, 1)),
        "mse_loss: input (32,) and target (32, 1) are broadcast to (32, 32), which is larger than both [input: "
        "Float32[32], target: Float32[32, 1]]",
        "target.squeeze(-1)",
    ),
    (
        op("torch.nn.functional.mse_loss", f(B, 5), f(B, 7)),
        "mse_loss: input (B, 5) and target (B, 7) can't be broadcast: 5 and 7 differ and neither is 1 at dim "
        "-1 [input: Float32[B, 5], target: Float32[B, 7]]",
        None,
    ),
    (
        op("torch.nn.functional.binary_cross_entropy", f(32, 1), f(32)),
        "binary_cross_entropy: input is (32, 1), but target is (32,); they must be equal [input: Float32[32, "
        "1], target: Float32[32]]",
        "input.squeeze(-1)",
    ),
    (
        op("torch.nn.functional.nll_loss", f(B, 10), i32(B)),
        "nll_loss: target is Int32, but class indices must be Int64 or UInt8 [input: Float32[B, 10], target: Int32[B]]",
        "target.long()",
    ),
    # making tensors, devices
    (
        op("torch.zeros", -3),
        "zeros: dim 0 of size is -3, but it must be at least 0",
        None,
    ),
    (
        op("torch.linspace", 0, 1, 2.5),
        "linspace: steps is a float, but it must be an int",
        None,
    ),
    (
        op("torch.add", on("cuda", 5), on("cpu", 5)),
        "add: input is on cuda, but other is on cpu [input: Float32[5], other: Float32[5]]",
        "move one of them: other.to('cuda')",
    ),
    (
        op("torch.masked.mean", f(B, 5), 1, mask=b(7)),
        "mean: mask (7,) can't be expanded to input (B, 5): 7 is not 5 at dim -1 [input: Float32[B, 5], mask: "
        "Bool[7]]",
        None,
    ),
    # einops
    (
        op("einops.rearrange", f(B, 10), "b (h w) -> b h w", h=3),
        "rearrange: 10 can't be divided into (h w) with h=3 [tensor: Float32[B, 10]]",
        None,
    ),
    (
        op("einops.rearrange", f(B, 3, 5), "b c -> c b"),
        "rearrange: the pattern names 2 dims \"b c\", but the tensor is (B, 3, 5) [tensor: Float32[B, 3, 5]]",
        None,
    ),
    (
        op("einops.reduce", f(B, 3, 5), "b c h w -> b c", "mean"),
        "reduce: the pattern names 4 dims \"b c h w\", but the tensor is (B, 3, 5) [tensor: Float32[B, 3, 5]]",
        None,
    ),
]
# fmt: on


@pytest.mark.parametrize(("found", "text", "hint"), [pytest.param(*m, id=m[1].partition(" [")[0]) for m in MESSAGES])
def test_message(found: Report, text: str, hint: str | None) -> None:
    assert (found.text, found.hint) == (text, hint)


def test_all_kinds_of_mistakes_are_in_the_table() -> None:
    assert Counter(found.kind for found, _, _ in MESSAGES).keys() == {"shape", "dtype", "device", "broadcast"}


# -- what holds for every message --------------------------------------------------------------------------------------

LONGEST = 200
OURS = re.compile(r"\b(None|Expr|Shape|Rest|TensorType|DType|Scalar|UNKNOWN|ANYTHING|ANY_\w+)\b|<\w+|\boperand \d")
SIZE_WORDS = (
    "elements",
    "channels",
    "height",
    "width",
    "mask",
    "index",
    "items",
)  # stand for a parameter by themselves
NO_SIZE = ("is an empty list", "normalized_shape is empty", "return_complex must be given")
COMPUTED = ("the kernel spans", "the window spans")  # sizes that no operand has, but that follow from them


def refused() -> Iterator[tuple[oracle.Call, Report]]:
    """One report of each wording that torch's own inputs with a dim or a dtype changed, and its error inputs, give."""
    seen = set()

    def calls() -> Iterator[oracle.Call]:
        some = oracle.samples(lambda names: any(n in RULES for n in names), dtypes=(torch.float32,), count=1, seed=7)
        for call in some:
            yield from oracle.perturbations(call, seed=7, count=2)
        yield from oracle.error_inputs()

    for call in calls():
        found = infer(call.name, oracle.lift(tuple(call.args)), {k: oracle.lift(v) for k, v in call.kwargs.items()})
        if isinstance(found, Report):
            wording = call.name, re.sub(r"\d+", "#", found.reason)
            if wording not in seen:
                seen.add(wording)
                yield call, found


@pytest.fixture(scope="module")
def reports() -> list[tuple[oracle.Call, Report]]:
    found = list(refused())
    assert len(found) > 500
    return found


def violations(reports: list[tuple[oracle.Call, Report]], wrong: Callable[[oracle.Call, Report], bool]) -> str:
    return "\n".join(f"{call}\n  {r.text}\n  hint: {r.hint}" for call, r in reports if wrong(call, r))


def test_a_message_begins_with_the_operation(reports: list[tuple[oracle.Call, Report]]) -> None:
    def wrong(call: oracle.Call, found: Report) -> bool:
        short = call.name.rpartition(".")[2]
        return not found.text.startswith(f"{found.op}: ") or (short[:2] != "__" and found.op != short)

    bad = violations(reports, wrong)
    assert not bad, bad


def test_a_message_is_short_and_in_the_reader_s_words(reports: list[tuple[oracle.Call, Report]]) -> None:
    def wrong(_: oracle.Call, found: Report) -> bool:
        words = f"{found.text} {found.hint or ''}"
        return len(found.text) > LONGEST or OURS.search(words) is not None or found.reason.endswith(".")

    bad = violations(reports, wrong)
    assert not bad, bad


def test_a_message_about_shapes_names_sizes_that_disagree(reports: list[tuple[oracle.Call, Report]]) -> None:
    def wrong(call: oracle.Call, found: Report) -> bool:
        if found.kind != "shape" or any(text in found.reason for text in NO_SIZE):
            return False
        named = {int(n) for n in re.findall(r"\d+", found.reason)}
        shapes = [t.shape for t in oracle.tensors_in(call.args, call.kwargs)]
        sizes = {s for shape in shapes for s in (*shape, shape.numel(), len(shape))}
        return not named or (call.change == "dim" and not named & sizes and not found.reason.startswith(COMPUTED))

    bad = violations(reports, wrong)
    assert not bad, bad


def test_a_message_about_dtypes_names_one(reports: list[tuple[oracle.Call, Report]]) -> None:
    def wrong(_: oracle.Call, found: Report) -> bool:
        return found.kind == "dtype" and not re.search(
            r"\b(Bool|U?Int\d+|B?Float\d+|Complex\d+|Python|complex)\b", found.reason
        )

    bad = violations(reports, wrong)
    assert not bad, bad


def test_a_message_speaks_of_parameters_by_torch_s_names(reports: list[tuple[oracle.Call, Report]]) -> None:
    def wrong(call: oracle.Call, found: Report) -> bool:
        known = {*RULES[call.name].signature.parameters, *found.operands, *SIZE_WORDS}
        known |= {k.partition("[")[0] for k in found.operands} | {*call.kwargs}
        return "can be -1" not in found.reason and not known & set(re.findall(r"[A-Za-z_]\w*", found.reason))

    bad = violations(reports, wrong)
    assert not bad, bad
