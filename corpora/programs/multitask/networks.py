import torch
from torch import nn


class Trunk(nn.Module):
    in_features: int = 64

    @property
    def out_features(self):
        raise NotImplementedError


class MLPTrunk(Trunk):
    def __init__(self, width, depth, act="ReLU"):
        super().__init__()
        self._width = width
        dims = [self.in_features] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(dims, dims[1:]))
        self.norms = nn.ModuleList(nn.LayerNorm(o) for o in dims[1:])
        self.act = getattr(nn, act)()

    @property
    def out_features(self):
        return self._width

    def forward(self, x):
        x = x.flatten(1)
        for layer, norm in zip(self.layers, self.norms):
            x = self.act(norm(layer(x)))
        return x


class ConvTrunk(Trunk):
    def __init__(self, width, depth, act="ReLU"):
        super().__init__()
        self.body = nn.Sequential()
        chans = 1
        for i in range(depth):
            self.body.append(nn.Conv2d(chans, width, 3, padding=1, stride=2))
            self.body.append(getattr(nn, act)())
            chans = width
        self.side = 8 // 2 ** depth

    @property
    def out_features(self):
        return self.body[-2].out_channels * self.side ** 2

    def forward(self, x):
        return self.body(x).flatten(start_dim=1)


TRUNKS = {"mlp": MLPTrunk, "conv": ConvTrunk}


class MultiTask(nn.Module):
    def __init__(self, trunk, heads):
        super().__init__()
        self.trunk = trunk
        self.heads = nn.ModuleDict({name: nn.Linear(trunk.out_features, n) for name, n in heads.items()})
        # homoscedastic uncertainty weighting
        self.log_vars = nn.ParameterDict({name: nn.Parameter(torch.zeros(())) for name in heads})

    @classmethod
    def from_config(cls, cfg):
        kind = cfg.trunk.type
        kwargs = {k: v for k, v in cfg.trunk.items() if k != "type"}
        return cls(TRUNKS[kind](**kwargs), cfg.heads)

    def forward(self, x):
        z = self.trunk(x)
        return {name: head(z) for name, head in self.heads.items()}

    def weigh(self, losses):
        total = 0.0
        for name, loss in losses.items():
            s = self.log_vars[name]
            total = total + torch.exp(-s) * loss + s
        return total
