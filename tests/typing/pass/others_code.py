"""Code of others, of which mypy alone says nothing: what the plugin knows more of is no reason for mypy to complain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from einops import rearrange
from jaxtyping import Float, Shaped
from numpy.typing import NDArray
from torch import Tensor, nn

# -- what a module gives is Any to mypy alone -----------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, heads: int | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(7)
        self.head = nn.Linear(7, 5) if heads else nn.Identity()
        self.blocks = nn.ModuleList([nn.Linear(7, 7) for _ in range(3)])
        self.kept = self.norm(torch.zeros(3, 7))

    def reset(self) -> None:
        self.kept = None

    def forward(self, x: Tensor, bias: Tensor | None = None) -> Tensor:
        y = self.norm(x)
        y = y.reshape(-1, self.heads)
        return y + bias

    def layers(self, x: Tensor) -> tuple[Tensor, list[int]]:
        found = []
        for block in self.blocks:
            x = block(x)
            found.append(self.norm(x))
        found = [y[:, : self.heads] for y in found]
        first = {"x": found, "y": self.heads}
        first["z"] = self.norm(x)
        return found[0], found[0].shape[-2:]

    def split(self, x: Tensor, parts: int | None) -> Tensor:
        x = self.norm(x).reshape(3, parts, 7).permute(1, 0, 2)
        return x

    def renamed(self) -> None:
        self.blocks[0].called = self.blocks[0].forward


# -- nor does torch say what iterating over a tensor gives ----------------------------------------------------------


def rounded(sigma: float) -> float:
    return 2.0 * sigma


def each(sigmas: Tensor, names: Sequence[str]) -> list[float]:
    order = [names[i] for i in torch.randperm(len(names))]
    return [rounded(sigma) for sigma in sigmas] if order else []


def spaced(steps: int) -> Tensor:
    return torch.linspace(0, 1, steps)


def scheduled(n: int) -> NDArray[np.float64]:
    sigmas = np.linspace(0, 1, n)
    if n > 3:
        sigmas = spaced(n)
        return np.array([rounded(sigma) for sigma in sigmas])
    return sigmas


def named(orphans: list[Tensor]) -> list[float]:
    return [rounded(name) for name, _ in orphans]


def weighed(gains: list[Tensor]) -> Tensor:
    gain = None
    for part in gains:
        gain = part if gain is None else gain * part
    return torch.fft.ifft(torch.fft.fft(gains[0]) * gain)


def stacked(x: Tensor, labelled: bool = False) -> Tensor | tuple[Tensor, list[str]]:
    return (x, ["x"]) if labelled else x


def labelled() -> list[str]:
    x, labels = stacked(torch.zeros(3, 5), labelled=True)
    labels.append(str(x.shape))
    return labels


def grid(x: Tensor) -> tuple[int, int]:
    size: tuple[int, int] | None = None
    size = x.shape[-2:]
    return size or (1, 1)


def halves(x: Tensor) -> list[Tensor]:
    return x.split(3)


# -- a type inside another one ---------------------------------------------------------------------------------------


def gathered(x: Tensor) -> Tensor:
    parts = []
    for _ in range(3):
        parts.append(x.detach().cpu())
    return torch.cat(parts)


def by_layer(x: Float[Tensor, "n m"]) -> dict[int, Float[Tensor, "m m"]]:
    found = {}
    for i in range(3):
        found[i] = torch.zeros(int(x.shape[0]), int(x.shape[1]))
    return found


def mixed() -> list[Tensor]:
    scalars = [torch.tensor([value], dtype=torch.float64) for value in (2.0, 3.0)]
    scalars += [torch.tensor(value, dtype=torch.int64) for value in (5, 7)]
    return scalars


WHITE = torch.tensor([1.0, 0.5, 0.25])


def coloured(image: Float[Tensor, "*b 1"], colour: Float[Tensor, "*b c=3"] = WHITE) -> Float[Tensor, "*b c=3"]:
    return image * colour


def blended(image: Float[Tensor, "*b 3"], background: str | Float[Tensor, "3"] | Float[Tensor, "*b 3"]) -> Tensor:
    return image if isinstance(background, str) else image * background


def rendered(image: Float[Tensor, "*n 3"], background: str | Float[Tensor, "3"] | Float[Tensor, "*n 3"]) -> Tensor:
    return blended(image, background if image.shape[0] else torch.rand_like(image))


class Factored:
    @cached_property
    def _svd(self) -> tuple[Float[Tensor, "*lead n"], Float[Tensor, "*lead m"]]:
        return torch.zeros(3, 5), torch.zeros(3, 7)

    def svd(self) -> tuple[Float[Tensor, "*lead n"], Float[Tensor, "*lead m"]]:
        return self._svd


# -- signatures ------------------------------------------------------------------------------------------------------


class Component(nn.Module):
    def forward(self, x: Shaped[Tensor, "*b n"]) -> Shaped[Tensor, "*b m"]:
        return x


class Encoding(Component):
    def forward(self, x: Float[Tensor, "*b k"], scale: Tensor | None = None) -> Float[Tensor, "*b m"]:
        return x if scale is None else x * scale


class Sampled(nn.Module):
    def forward(self, x: Float[Tensor, "*b 3"], step: float = 0.5) -> Float[Tensor, "*b 3"] | list[str]:
        return x * step


def sampled(sampler: Sampled, encoding: Component, step: float | None) -> Tensor:
    x = sampler(torch.zeros(5, 3), step=step)
    return encoding(x + 2.0)


@dataclass
class Encoded:
    hidden: Tensor | None = None


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Module()

    def forward(self, image: Tensor | None, points: Tensor, hidden: Tensor | None) -> Tensor:
        if image is not None:
            found: Encoded = self.encoder(image)
            hidden = found.hidden
        if hidden.shape[0] != points.shape[0]:
            raise ValueError("as many: ", f"{hidden.shape[0]} and {points.shape[0]}")
        return points


def either(encoding: Component, x: Tensor | list[str]) -> Tensor:
    return encoding(x)


def applied(f: Callable[[Tensor], Float[Tensor, "b n"]], x: Tensor) -> Float[Tensor, "b n"]:
    return f(x)


def swapped(y: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    y = rearrange(y, "h w -> w h")
    return {"y": y}


inverse = Tensor.__rtruediv__
model = Attention(7)
model(torch.zeros(3, 7), torch.zeros(7))
each(torch.zeros(5), ["a", "b"])
labelled()
gathered(torch.zeros(3, 5))
Factored().svd()
swapped(np.zeros((3, 5)))
Masked()(None, torch.zeros(3, 5), torch.zeros(3, 7))
sampled(Sampled(), Component(), 0.5)
coloured(torch.zeros(5, 1))
