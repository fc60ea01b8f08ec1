"""What a variable may hold after a branch or a loop: where one way is unknown, nothing is known."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

# -- branches -------------------------------------------------------------------------------------------------------


def chosen(x: Tensor, flat: bool) -> Tensor:
    y = x.flatten(1) if flat else x
    return y.permute(0, 2, 3, 1)


def overwritten(x: Tensor, flat: bool) -> Tensor:
    if flat:
        x = x.flatten(1)
    return x.permute(0, 2, 3, 1)


class Head(nn.Module):
    def __init__(self, pooled: bool) -> None:
        super().__init__()
        self.pooled = pooled
        self.flatten = nn.Flatten(1) if pooled else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        x = self.flatten(x)
        return x if self.pooled else x.permute(0, 2, 3, 1)


def combined(weight: nn.Parameter, h: Tensor, bases: bool) -> Tensor:
    w: Tensor = weight
    if bases:
        w = weight.view(2, -1, 5)
    return torch.einsum("abc,bcd->abd", h, w[0])


def known_or_not(x: Tensor, y: Float[Tensor, "b n"], first: bool) -> Float[Tensor, "b n k"]:
    return y if first else x


def from_untyped(x: Any, y: Float[Tensor, "b n"], first: bool) -> Float[Tensor, "b n k"]:
    z = x if first else y
    z = z.relu()
    return z


def revived(a: Any, many: bool) -> Any:
    if many:
        p = torch.zeros(3, 2, 2)
        return p
    p = a.long() - 1
    return p.unsqueeze(0).expand(7, -1, -1)


def one_or_batch(x: Float[Tensor, "n"] | Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    if x.ndim < 2:
        x = x[None]
    return x


def last_of_either(loss: Float[Tensor, ""] | Float[Tensor, "b t"]) -> Tensor:
    return loss if loss.ndim == 0 else loss[:, -1]


def added(x: Tensor, stacked: bool) -> Tensor:
    a = torch.zeros(2) if stacked else torch.zeros(3, 2)
    return (a * 2 + torch.zeros(3, 2)) + x


# -- placeholders ---------------------------------------------------------------------------------------------------


def placeholder(x: Any, given: bool) -> Tensor:
    root = torch.empty(0)
    if given:
        root = x / 2
    return root.squeeze(1) if root.numel() else root


def gathered(x: Float[Tensor, "b n"], rounds: int) -> Tensor:
    out = torch.empty(0)
    for _ in range(rounds):
        out = torch.cat([out, x], 0) if out.numel() else x
    return out.view(2, -1) + 1


def nothing_yet(grid: Tensor, once: bool, rounds: int) -> Tensor:
    every = torch.empty(0)
    if once:
        every = grid.view(2, 3, 5, 7, 2)
    out = grid
    for _ in range(rounds):
        part = every if once else grid.view(2, 3, 5, 7, 2)
        out = part * 2 + grid.view(2, 3, 5, 7, 2)
    return out


# -- loops ----------------------------------------------------------------------------------------------------------


def pyramid(x: Float[Tensor, "b 3 h w"], rounds: int) -> Float[Tensor, "b 3 h w"]:
    for _ in range(rounds):
        x = F.max_pool2d(x, 2)
    for _ in range(rounds):
        x = F.interpolate(x, scale_factor=2)
    return x


def levels(x: Float[Tensor, "b 3 h w"]) -> list[Tensor]:
    found = [x]
    while x.shape[-1] > 1:
        x = F.avg_pool2d(x, 2)
        found.append(x)
    return found


def halved(x: Float[Tensor, "64"]) -> Float[Tensor, "1"]:
    while x.shape[0] > 1:
        x = x[::2] + x[1::2]
    return x


def padded(x: Float[Tensor, "b 5"]) -> Float[Tensor, "b 25"]:
    for _ in range(10):
        x = F.pad(x, (1, 1))
    return x


class Dense(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(16 + 8 * i, 8, 3, padding=1) for i in range(4)])

    def forward(self, x: Float[Tensor, "b 16 h w"]) -> Float[Tensor, "b 48 h w"]:
        for layer in self.layers:
            x = torch.cat([x, layer(x)], dim=1)
        return x


class UNet(nn.Module):
    def __init__(self, depth: int = 2) -> None:
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(3, 3, 3, padding=1) for _ in range(depth)])
        self.up = nn.ModuleList([nn.Conv2d(6, 3, 3, padding=1) for _ in range(depth)])

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 3 h w"]:
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        for up in self.up:
            s = skips.pop()
            x = up(torch.cat([F.interpolate(x, size=s.shape[-2:]), s], 1))
        return x


class Middle(nn.Module):
    def forward(self, x: Float[Tensor, "b 16 4 4"]) -> Float[Tensor, "b 16 4 4"]:
        return x


class Skips(nn.Module):
    def __init__(self, down: list[nn.Module]) -> None:
        super().__init__()
        self.down, self.middle = nn.ModuleList(down), Middle()

    def forward(self, x: Float[Tensor, "b 8 16 16"]) -> Float[Tensor, "b 32 4 4"]:
        h = [x]
        y = x
        for layer in self.down:
            x = layer(x)
            y = layer(y)
            h.append(y)
        return torch.cat((self.middle(x), h.pop()), 1)


def best(xs: list[Tensor], x: Float[Tensor, "b n"]) -> Float[Tensor, "b 7"]:
    found = x
    for other in xs:
        if found.sum() < other.sum():
            found = other
    return found


# -- lists and dicts ------------------------------------------------------------------------------------------------


def grown(x: Float[Tensor, "b 8"], layers: list[nn.Module]) -> Tensor:
    found = {"input": x}
    for i, layer in enumerate(layers):
        found[f"hidden {i}"] = layer(x)
    states = [x]
    states += [layer(x) for layer in layers]
    return found["hidden 0"] @ torch.zeros(3, 5) + states[-1] @ torch.zeros(3, 5)


def other_sizes() -> Tensor:
    out = [torch.zeros(2, 3)]
    out.append(torch.zeros(5, 3))
    return out[1] + torch.zeros(5, 3)


def by_key(x: Tensor, y: Tensor, keys: list[str]) -> Tensor:
    found = {}
    for k in keys:
        if k == "uu":
            found[k] = torch.einsum("zui,zuj->zuij", x, y)
        else:
            found[k] = torch.einsum("zui,zvj->zuvij", x, y)
        if k != "uu":
            return torch.einsum("ijk,zuvij->zuk", torch.ones(2, 2, 3), found[k])
    return x


def unpacked(x: Float[Tensor, "n"] | Float[Tensor, "n d"] | Float[Tensor, "b n d"]) -> Tensor:
    if x.ndim == 1:
        x = x[None, :, None]
    elif len(x.shape) == 2:
        x = x[None]
    b, n, d = x.size()
    b, (n, d) = x.size(0), x[0].size()
    return x.new_zeros(n, b, d)


images = torch.zeros(2, 3, 16, 16)
chosen(images, False)
overwritten(images, False)
Head(False)(images)
Head(True)(images)
combined(nn.Parameter(torch.zeros(2, 7, 3, 5)), torch.zeros(11, 7, 3), False)
known_or_not(torch.zeros(2, 3, 5), torch.zeros(2, 3), False)
from_untyped(images[0], torch.zeros(2, 3), True)
revived(torch.zeros(2, 3), False)
one_or_batch(torch.zeros(3))
last_of_either(torch.zeros(2, 3))
added(torch.zeros(3, 2), True)
placeholder(images, True)
gathered(torch.zeros(2, 3), 2)
nothing_yet(torch.zeros(420), False, 1)
pyramid(images, 2)
levels(images)
halved(torch.zeros(64))
padded(torch.zeros(2, 5))
Dense()(torch.zeros(1, 16, 5, 7))
UNet()(images)
Skips([nn.Conv2d(8, 16, 4, stride=4)])(torch.zeros(1, 8, 16, 16))
best([torch.ones(2, 7)], torch.zeros(2, 5))
grown(torch.zeros(2, 8), [nn.Linear(8, 3)])
other_sizes()
by_key(torch.zeros(7, 3, 2), torch.zeros(7, 5, 2), ["a"])
unpacked(torch.zeros(3))
unpacked(torch.zeros(3, 5))
unpacked(torch.zeros(2, 3, 5))
