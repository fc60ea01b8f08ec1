"""Blocks and vision models: sizes flow from the constructor, the dtype and the batch from the input."""

from typing import Generic

import torch

from simpletorch import Float32, Int64, Tensor, nn
from simpletorch.dims import B, D, Dim, H, T, V, W
from simpletorch.vision.models import resnet18, vgg11_bn, vit_b_16

tokens = torch.zeros(2, 3, 7)

mlp = nn.MLP(7, [11, 13], 5)
reveal_type(mlp)  # R: simpletorch.nn._blocks.MLP[7, 5]
reveal_type(mlp(tokens))  # R: Tensor[Float32, 2, 3, 5]
reveal_type(mlp.double()(tokens.double()))  # R: Tensor[Float64, 2, 3, 5]

reveal_type(nn.FeedForward(7, gated=True)(tokens))  # R: Tensor[Float32, 2, 3, 7]
reveal_type(nn.SelfAttention(7, 1)(tokens))  # R: Tensor[Float32, 2, 3, 7]
reveal_type(nn.Residual(nn.FeedForward(7))(tokens))  # R: Tensor[Float32, 2, 3, 7]

block = nn.TransformerBlock(7, 1, causal=True)
reveal_type(block)  # R: simpletorch.nn._blocks.TransformerBlock[7, 1]
reveal_type(block(tokens))  # R: Tensor[Float32, 2, 3, 7]
reveal_type(nn.Sequential(block, nn.MLP(7, 11, 2))(tokens))  # R: Tensor[Float32, 2, 3, 2]


def stack(x: Tensor[Float32, B, T, D], dim: Dim[D], heads: Dim[H]) -> Tensor[Float32, B, T, D]:
    x = nn.TransformerBlock(dim, heads)(x)
    reveal_type(x)  # R: Tensor[Float32, B, T, D]
    return x


stack(tokens, 7, 1)


class GPT(nn.Module, Generic[V, D, H]):
    def __init__(self, vocab: Dim[V], context: int, dim: Dim[D], heads: Dim[H], layers: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([nn.TransformerBlock(dim, heads, causal=True) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, B, T, V]:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


gpt = GPT(31, 13, 24, 3, 2)
reveal_type(gpt)  # R: reveal.blocks.GPT[31, 24, 3]
reveal_type(gpt(torch.zeros(2, 5, dtype=torch.int64)))  # R: Tensor[Float32, 2, 5, 31]

with torch.device("meta"):
    resnet = resnet18(num_classes=11)
    vgg = vgg11_bn()
    vit = vit_b_16(num_classes=5)
images = torch.zeros(2, 3, 224, 224, device="meta")
reveal_type(resnet)  # R: simpletorch.vision.models._resnet.ResNet[11]
reveal_type(resnet(images))  # R: Tensor[Float32, 2, 11]
reveal_type(vgg(images))  # R: Tensor[Float32, 2, 1000]
reveal_type(vit)  # R: simpletorch.vision.models._vit.VisionTransformer[224, 16, 768, 12, 5]
reveal_type(vit(images))  # R: Tensor[Float32, 2, 5]


def classify(x: Tensor[Float32, B, 3, H, W]) -> Tensor[Float32, B, 11]:
    scores = resnet(x)
    reveal_type(scores)  # R: Tensor[Float32, B, 11]
    return scores


classify(images)
