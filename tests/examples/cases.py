"""Every module of examples/models, small, with arguments for its call."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import torch
from torch import nn

from tests.examples import ports

Case: TypeAlias = tuple[nn.Module, tuple[Any, ...]]

B, T, D, H, V = 2, 5, 12, 3, 17  # batch, time, width, heads, vocabulary


def tokens(*shape: int) -> torch.Tensor:
    return torch.randint(V, shape)


def cache(port: Any) -> Any:
    return port.KVCache(torch.randn(B, H, 2, D // H), torch.randn(B, H, 2, D // H))


def gpt(port: Any) -> Case:
    model = port.GPT(vocab=V, context=2 * T, dim=D, heads=H, layers=2)
    return model, (tokens(B, T), model.empty_cache(B))


def llama(port: Any) -> Case:
    return port.Llama(port.Config(V, D, 6, 3, 4, 7, context=2 * T, layers=2)), (tokens(B, T),)


class Loss(nn.Module):
    """A model without a forward, called by its loss."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, *args: Any) -> torch.Tensor:
        return self.model.loss(*args)


def turned(port: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return port.rotations(T, 4, 10_000.0)


def denoiser(port: Any) -> nn.Module:
    return port.Denoiser(3, 8, groups=2)


CASES: dict[str, Callable[[Any], Case]] = {
    "actor_critic.ActorCritic": lambda p: (p.ActorCritic(7, D, 5), (torch.randn(B, 7),)),
    "diffusion.ResidualBlock": lambda p: (
        p.ResidualBlock(6, 10, 7, groups=2),
        (torch.randn(B, 6, 5, 3), torch.randn(B, 7)),
    ),
    "diffusion.SelfAttention": lambda p: (p.SelfAttention(6, groups=2), (torch.randn(B, 6, 5, 3),)),
    "diffusion.Denoiser": lambda p: (denoiser(p), (torch.randn(B, 3, 12, 8), torch.randint(11, (B,)))),
    "diffusion.Diffusion": lambda p: (Loss(p.Diffusion(denoiser(p), 11)), (torch.randn(B, 3, 12, 8),)),
    "dqn.QNetwork": lambda p: (p.QNetwork(5), (torch.randint(256, (B, 4, 84, 84), dtype=torch.uint8),)),
    "gpt.Attention": lambda p: (p.Attention(D, H), (torch.randn(B, T, D), cache(p))),
    "gpt.Block": lambda p: (p.Block(D, H), (torch.randn(B, T, D), cache(p))),
    "gpt.GPT": gpt,
    "llama.RMSNorm": lambda p: (p.RMSNorm(D), (torch.randn(B, T, D),)),
    "llama.Attention": lambda p: (p.Attention(D, 6, 3, 4), (torch.randn(B, T, D), *turned(p))),
    "llama.SwiGLU": lambda p: (p.SwiGLU(D, 7), (torch.randn(B, T, D),)),
    "llama.Layer": lambda p: (p.Layer(D, 6, 3, 4, 7), (torch.randn(B, T, D), *turned(p))),
    "llama.Llama": llama,
    "lstm_tagger.Tagger": lambda p: (p.Tagger(V, 5, 7, 3), (tokens(B, T), torch.tensor([T, 3]))),
    "moe.Expert": lambda p: (p.Expert(D, 7), (torch.randn(T, D),)),
    "moe.Router": lambda p: (p.Router(D, 5, 2), (torch.randn(T, D),)),
    "moe.MoE": lambda p: (p.MoE(D, 7, 5, 2), (torch.randn(B, T, D),)),
    "moe.Block": lambda p: (p.Block(D, H, 7, 5, 2), (torch.randn(B, T, D),)),
    "moe.Mixtral": lambda p: (p.Mixtral(V, D, H, 7, 5, 2, layers=1), (tokens(B, T),)),
    "resnet.Bottleneck": lambda p: (p.Bottleneck(3, 5, 2), (torch.randn(B, 3, 13, 11),)),
    "resnet.Stage": lambda p: (p.Stage(3, 5, 2, 2), (torch.randn(B, 3, 13, 11),)),
    "resnet.ResNet": lambda p: (p.ResNet(5, 3, blocks=(1, 1, 1, 1)), (torch.randn(B, 3, 67, 37),)),
    "unet.DoubleConv": lambda p: (p.DoubleConv(3, 5), (torch.randn(B, 3, 7, 11),)),
    "unet.Down": lambda p: (p.Down(3), (torch.randn(B, 3, 14, 10),)),
    "unet.Up": lambda p: (p.Up(3), (torch.randn(B, 6, 7, 5), torch.randn(B, 3, 14, 10))),
    "unet.UNet": lambda p: (p.UNet(1, 2, 3), (torch.randn(B, 1, 32, 48),)),
    "vae.Encoder": lambda p: (p.Encoder(), (torch.rand(B, 28, 28),)),
    "vae.Decoder": lambda p: (p.Decoder(), (torch.randn(B, 20),)),
    "vae.VAE": lambda p: (p.VAE(), (torch.rand(B, 28, 28),)),
    "vit.PatchEmbedding": lambda p: (p.PatchEmbedding(3, 15, 5, D), (torch.randn(B, 3, 15, 15),)),
    "vit.SelfAttention": lambda p: (p.SelfAttention(D, H), (torch.randn(B, T, D),)),
    "vit.Layer": lambda p: (p.Layer(D, H, 7, 0.1), (torch.randn(B, T, D),)),
    "vit.ViT": lambda p: (p.ViT(3, 15, 5, D, H, 7, 11, layers=2), (torch.randn(B, 3, 15, 15),)),
}


def module(stem: str) -> ModuleType:
    """A file of examples/models as a module that pickle finds again."""
    name = f"examples_models_{stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ports.MODELS / f"{stem}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def case(name: str) -> Case:
    """The module called ``name`` and its arguments, the same in every process; it is in evaluation mode."""
    torch.manual_seed(7)
    model, args = CASES[name](module(name.partition(".")[0]))
    return model.eval(), args


def modules() -> set[str]:
    """The names of all modules that examples/models defines."""
    found = set()
    for path in ports.MODELS.glob("*.py"):
        port = module(path.stem)
        for name, cls in vars(port).items():
            if inspect.isclass(cls) and issubclass(cls, nn.Module) and cls.__module__ == port.__name__:
                found.add(f"{path.stem}.{name}")
    return found


def tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in the result of a call, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors(item)] if isinstance(value, list | tuple) else []


def mean(value: Any) -> torch.Tensor:
    """The mean of all floats in the result of a call, to differentiate."""
    return torch.stack([t.mean() for t in tensors(value) if t.is_floating_point()]).sum()
