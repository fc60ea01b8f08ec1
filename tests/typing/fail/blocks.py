"""Blocks and vision models given what doesn't fit them."""

import torch

from simpletorch import nn
from simpletorch.vision.models import resnet18, vit_b_16

tokens = torch.zeros(2, 3, 7)
images = torch.zeros(2, 3, 32, 32, device="meta")


def fail_mlp() -> None:
    nn.MLP(5, 11, 3)(tokens)  # E: tensor-shape


def fail_feed_forward() -> None:
    nn.FeedForward(11)(tokens)  # E: tensor-shape


def fail_transformer_block() -> None:
    nn.TransformerBlock(8, 2)(tokens)  # E: tensor-shape


def fail_attention_without_a_batch() -> None:
    nn.SelfAttention(7, 1)(tokens[0])  # E: tensor-shape


def fail_stack() -> None:
    nn.Sequential(nn.MLP(7, 11, 5), nn.FeedForward(7))(tokens)  # E: tensor-shape


def fail_channels() -> None:
    with torch.device("meta"):
        resnet18()(images[:, :1])  # E: tensor-shape


def fail_image_size() -> None:
    with torch.device("meta"):
        vit_b_16()(images)  # E: tensor-shape
