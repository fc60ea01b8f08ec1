from typing import Any, Dict, List, Literal, Optional, Union
import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn


def float_image() -> Float[Tensor, "h w c"]:
    return torch.rand(5, 7, 3)


def byte_image() -> UInt8[Tensor, "h w c"]:
    return torch.zeros(5, 7, 3, dtype=torch.uint8)


def sample(index: int, kind: Literal["float", "uint8"], mask: Tensor, color: Tensor) -> Dict:
    if kind == "float":
        image = float_image()
    else:
        image = byte_image()
    data = {"index": index, "image": image}
    data["mask"] = mask
    assert data["mask"].shape[:2] == data["image"].shape[:2]
    data["image"] = torch.where(data["mask"] == 1.0, data["image"], torch.ones_like(data["image"]) * color)
    return data


Kept = Union[Tensor, str]


class Store:
    def __getattr__(self, name: Any) -> Union["Store", Kept]:
        return self

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Store) and self.kept == other.kept and self.name == other.name

    def places(self, index: Optional[Any], wanted: Tensor) -> Tensor:
        return torch.cat([(index == v).nonzero() for v in wanted]).view(-1)


class Patches(nn.Module):
    def __init__(self, channels: Optional[int], out: Optional[int] = None) -> None:
        super().__init__()
        self.out_channels = channels if out is None else out
        self.norm = nn.LayerNorm(32)

    def forward(self, x: Tensor, square: bool) -> Tensor:
        batch, channels, height, width = x.shape
        x = self.norm(x)
        if square:
            height = width = int(x.shape[1] ** 0.5)
        x = x.reshape(
            shape=(-1, height, width, self.out_channels)
        )
        return x


class Views:
    def prepare(self, n, latents=None):
        return torch.randn((n, 4, 8, 8)) if latents is None else latents

    def __call__(self, n: int, circular: bool, latents: Optional[Tensor] = None):
        latents = self.prepare(n, latents)
        for views in [[(0, 1, 2, 3)]] * n:
            if circular:
                found = []
                for top, bottom, left, right in views:
                    if right > latents.shape[3]:
                        view = torch.cat((latents[:, :, top:bottom, left:], latents[:, :, top:bottom, :1]), dim=-1)
                    else:
                        view = latents[:, :, top:bottom, left:right]
                    found.append(view)
                found = torch.cat(found)
            else:
                found = torch.cat([latents[:, :, top:bottom, left:right] for top, bottom, left, right in views])
            found.repeat_interleave(2, dim=0)


class Nets(nn.Module):
    def __init__(self, nets):
        super().__init__()
        self.nets = nn.ModuleList(nets)


def encoded(x: Tensor, generator: Optional[torch.Generator] = None) -> Tensor:
    return x


def prepared(nets: Nets, x: Tensor, generators: Optional[List[torch.Generator]], n: Optional[int]) -> Tensor:
    if nets.nets[0].hint is None:
        x = encoded(x, generator=generators)
        return x[: n * 3]
    for net in nets.nets:
        if net.hint is None:
            x = encoded(x, generator=generators)
    return x
