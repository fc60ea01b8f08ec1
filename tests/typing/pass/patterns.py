"""How programs build modules when they don't say which: nothing of it is an error."""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn


def activation(name: str) -> nn.Module:
    return {"relu": nn.ReLU(), "gelu": nn.GELU()}[name]


NORM = partial(nn.LayerNorm, eps=1e-6)


class Flexible(nn.Module):
    def __init__(
        self,
        config: Any,
        act_layer: type[nn.Module] = nn.GELU,
        norm_layer: Callable[..., nn.Module] = NORM,
    ) -> None:
        super().__init__()
        self.act = act_layer()
        self.norm = norm_layer(config["width"])
        self.other = activation("relu")
        self.fc = nn.Linear(config["width"], config.get("hidden", 3))
        for i in range(2):
            setattr(self, f"layer{i}", nn.Linear(3, 3))
        self.downsample = None
        if config.get("stride", 1) != 1:
            self.downsample = nn.Conv2d(3, 5, 1)
        self.layers = [nn.Linear(5, 3)]
        self.layers.append(nn.ReLU())
        self.layers.append(nn.Linear(3, 7))
        self.body = nn.Sequential(*self.layers)
        self.last = nn.Linear(7, 7)
        self.last = nn.Identity()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        x = self.fc(self.act(self.norm(self.other(args[0]))))
        for i in range(2):
            x = getattr(self, f"layer{i}")(x)
        if self.downsample is not None:
            x = self.downsample(x)
        return x


config: dict[str, Any] = {"width": 5}
model = Flexible(config)
model(torch.zeros(2, 5), scale=3)
model.forward = lambda x: x  # type: ignore[method-assign, misc]
model(torch.zeros(2, 7))


class Pooled(nn.Module):
    def __init__(self, kind: str, inputs: int, outputs: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1) if kind == "avg" else nn.AdaptiveMaxPool2d(1)
        self.norm = getattr(nn, "BatchNorm2d")(inputs)  # noqa: B009
        self.proj = nn.Linear(inputs, outputs) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.proj(self.pool(self.norm(x)).flatten(1))
        return out


Pooled("avg", 3, 5)(torch.zeros(2, 3, 7, 7))


class Residual(nn.Module):
    def __init__(self, width: int, wide: bool) -> None:
        super().__init__()
        self.shortcut: nn.Module = nn.Identity()
        if wide:
            self.shortcut = nn.Linear(width, 2 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = x + self.shortcut(x)
        return out


Residual(3, False)(torch.zeros(2, 3))
choice = nn.Linear(12, 13) if len(config) > 3 else nn.Identity()
choice(torch.zeros(2, 11))


def vgg(plan: list[int | str]) -> nn.Sequential:
    layers: list[nn.Module] = []
    channels = 3
    for step in plan:
        if isinstance(step, str):
            layers += [nn.MaxPool2d(2)]
        else:
            layers += [nn.Conv2d(channels, step, 3, padding=1), nn.ReLU(inplace=True)]
            channels = step
    return nn.Sequential(*layers)


vgg([5, "M", 7])(torch.zeros(2, 3, 8, 8))


def initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.zeros_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.BatchNorm2d | nn.LayerNorm):
        nn.init.ones_(module.weight)


vgg([5]).apply(initialise)
half = nn.Sequential(nn.Linear(3, 5)).half()
half(torch.zeros(2, 3, dtype=torch.float16))


class Half(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x.to(torch.float16))


Half().half()(torch.zeros(2, 3))
scripted = torch.jit.script(Half())


class Computed(nn.Module):
    """Its layers' names are made when it runs."""

    def __init__(self, count: int) -> None:
        super().__init__()
        for i in range(count):
            setattr(self, f"fc{i}", nn.Linear(3, 3))
            self.add_module(f"norm{i}", nn.LayerNorm(3))
        self.body = nn.Sequential(OrderedDict([("conv", nn.Conv2d(3, 5, 3)), ("act", nn.ReLU())]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.norm1(self.fc1(x)) + self.body.conv(x) + self.body.conv.weight.sum()
        return out


class Derived(Computed): ...


def of_any_model(model: nn.Module, derived: Derived) -> None:
    model.encoder.layer[0](torch.zeros(3))
    derived.fc0.weight.data.zero_()


def resized(kernel: torch.Tensor, patch: tuple[int] = (2, 3, 5)) -> torch.Tensor:  # type: ignore[assignment]
    return nn.functional.interpolate(kernel.view(-1, 1, *patch), size=7, mode="trilinear")


resized(torch.zeros(11, 2, 3, 5))
