from typing import List, Optional
import torch
from torch import Tensor, nn


class CrossViT(nn.Module):
    def collect(self, branches: List[List[Tensor]], reshape: bool) -> List[Tensor]:
        intermediates = []
        for feats in branches:
            if reshape:
                feats = [y.reshape(2, 7, 7, -1).permute(0, 3, 1, 2).contiguous() for y in feats]
            intermediates.extend(feats)
        return intermediates


class Sampler:
    def __init__(self) -> None:
        self.scale: Optional[float] = None
        self.token: Optional[int] = 5

    def stages(self, latents: Tensor, distilled: bool) -> List[Tensor]:
        starts = None
        for _ in range(3):
            if distilled:
                starts = [latents]
            latents = latents[:, :, None].repeat(1, 1, 2)
        return starts or []

    def places(self, ids: Tensor) -> Tensor:
        mask = ids == self.token
        return mask.sum() + (ids != self.token).unsqueeze(-1).sum()


class Neck(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.adjust = nn.ModuleList([nn.Conv2d(3, 8, 1) for _ in range(4)])

    def forward(self, maps: List[Tensor]) -> Tensor:
        adjusted = []
        for i, m in enumerate(maps):
            adjusted.append(self.adjust[i](m))
        bottom_up = [None] * 4
        bottom_up[0] = adjusted[0]
        for i in range(1, 4):
            bottom_up[i] = adjusted[i] + torch.ones(1)
        return adjusted[0]


class Scheduler:
    def __init__(self) -> None:
        self.times = None
        self.noise = None

    def set_times(self, times: Tensor, n: int) -> None:
        noise = times[:-1]
        times = times if n > 3 else times.new_zeros(n)
        self.times, self.noise = times, noise[-n:]
