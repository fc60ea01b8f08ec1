"""
Multi-task learning with homoscedastic uncertainty weights (Kendall, Gal & Cipolla 2018).

One shared trunk, three tasks on rendered scenes: segmentation, depth and counting.
The Trainer below is a much reduced imitation of Lightning.
"""
from __future__ import annotations

import abc
import math
import os
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


# ============================== data ==============================

class SceneDataset(Dataset):
    N_CLASSES = 4  # background, disc, box, bar

    def __init__(self, n: int, size: int = 32, max_objects: int = 4, seed: int = 0) -> None:
        self.n, self.size, self.max_objects, self.seed = n, size, max_objects, seed

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        rng = np.random.default_rng((self.seed, index))
        s = self.size
        yy, xx = np.mgrid[0:s, 0:s]
        seg = np.zeros((s, s), dtype=np.int64)
        depth = np.full((s, s), 10.0)
        n_objects = int(rng.integers(1, self.max_objects + 1))
        for z in sorted(rng.uniform(1, 8, n_objects), reverse=True):
            kind = int(rng.integers(1, self.N_CLASSES))
            cy, cx = rng.uniform(4, s - 4, 2)
            r = 12 / (z + 1) + 2
            if kind == 1:
                hit = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
            elif kind == 2:
                hit = (abs(yy - cy) < r) & (abs(xx - cx) < r)
            else:
                hit = abs(yy - cy) < r / 3
            seg[hit] = kind
            depth[hit] = z
        palette = np.array([[.1, .1, .1], [.9, .3, .2], [.2, .8, .3], [.2, .4, .9]])
        image = palette[seg] * (1 - depth[..., None] / 14) + rng.normal(0, 0.03, (s, s, 3))
        return {
            "image": torch.tensor(image, dtype=torch.float32).permute(2, 0, 1),
            "seg": torch.from_numpy(seg),
            "depth": torch.tensor(depth, dtype=torch.float32).unsqueeze(0) / 10,
            "count": torch.tensor(float(n_objects)),
        }


# ============================== model ==============================

class SharedTrunk(nn.Module):
    def __init__(self, channels: list[int]) -> None:
        super().__init__()
        stages = []
        for c_in, c_out in zip([3] + channels, channels):
            stages.append(nn.Sequential(
                nn.Conv2d(c_in, c_out, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(),
                nn.Conv2d(c_out, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(),
            ))
        self.stages = nn.ModuleList(stages)

    def forward(self, x: Tensor) -> list[Tensor]:
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class Task(nn.Module, abc.ABC):
    name: str

    @abc.abstractmethod
    def forward(self, maps: list[Tensor], size) -> Tensor: ...

    @abc.abstractmethod
    def loss(self, pred: Tensor, target: Tensor) -> Tensor: ...

    @abc.abstractmethod
    def metric(self, pred: Tensor, target: Tensor) -> dict[str, float]: ...


class DenseMixin:
    """Feature pyramid style decoder shared by the per-pixel tasks."""

    def build_decoder(self, channels: list[int], width: int, out: int) -> None:
        self.lateral = nn.ModuleList([nn.Conv2d(c, width, 1) for c in channels])
        self.smooth = nn.Conv2d(width, width, 3, padding=1)
        self.predict = nn.Conv2d(width, out, 1)

    def decode(self, maps: list[Tensor], size) -> Tensor:
        x = self.lateral[-1](maps[-1])
        for lateral, m in zip(reversed(self.lateral[:-1]), reversed(maps[:-1])):
            x = F.interpolate(x, size=m.shape[-2:], mode="nearest") + lateral(m)
        x = self.predict(F.relu(self.smooth(x)))
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class SegmentationTask(DenseMixin, Task):
    name = "seg"

    def __init__(self, channels, width=16):
        super().__init__()
        self.build_decoder(channels, width, SceneDataset.N_CLASSES)

    def forward(self, maps, size):
        return self.decode(maps, size)

    def loss(self, pred, target):
        return F.cross_entropy(pred, target)

    def metric(self, pred, target):
        k = SceneDataset.N_CLASSES
        index = target.flatten() * k + pred.argmax(1).flatten()
        cm = torch.bincount(index, minlength=k * k).view(k, k).float()
        iou = cm.diag() / (cm.sum(0) + cm.sum(1) - cm.diag()).clamp(min=1)
        return {"miou": iou.mean().item()}


class DepthTask(DenseMixin, Task):
    name = "depth"

    def __init__(self, channels, width=16):
        super().__init__()
        self.build_decoder(channels, width, 1)

    def forward(self, maps, size):
        return torch.sigmoid(self.decode(maps, size))

    def loss(self, pred, target):
        return F.l1_loss(pred, target)

    def metric(self, pred, target):
        ratio = torch.maximum(pred / target, target / pred.clamp(min=1e-3))
        return {"rmse": (pred - target).pow(2).mean().sqrt().item(), "d1": (ratio < 1.25).float().mean().item()}


class CountTask(Task):
    name = "count"

    def __init__(self, channels, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(sum(channels), hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, maps, size):
        pooled = torch.cat([m.mean(dim=(2, 3)) for m in maps], dim=1)
        return F.softplus(self.net(pooled)).squeeze(1)

    def loss(self, pred, target):
        return F.poisson_nll_loss(pred, target, log_input=False)

    def metric(self, pred, target):
        return {"mae": (pred - target).abs().mean().item()}


class UncertaintyWeights(nn.Module):
    """total = sum_i exp(-s_i) * L_i * c_i + s_i / 2, with s_i = log sigma_i^2"""

    def __init__(self, names: list[str], regression: set[str]) -> None:
        super().__init__()
        self.log_vars = nn.ParameterDict({n: nn.Parameter(torch.zeros(())) for n in names})
        self.regression = regression

    def forward(self, losses: dict[str, Tensor]) -> Tensor:
        terms = []
        for name, loss in losses.items():
            s = self.log_vars[name]
            coef = 0.5 if name in self.regression else 1.0
            terms.append(coef * torch.exp(-s) * loss + 0.5 * s)
        return torch.stack(terms).sum()

    def sigmas(self) -> dict[str, float]:
        return {n: math.exp(0.5 * p.item()) for n, p in self.log_vars.items()}


class MultiTaskModule(nn.Module):
    def __init__(self, channels: list[int], lr: float = 2e-3):
        super().__init__()
        self.lr = lr
        self.trunk = SharedTrunk(channels)
        self.tasks = nn.ModuleList([SegmentationTask(channels), DepthTask(channels), CountTask(channels)])
        self.weights = UncertaintyWeights([t.name for t in self.tasks], regression={"depth"})

    def forward(self, image):
        maps = self.trunk(image)
        return {task.name: task(maps, image.shape[-2:]) for task in self.tasks}

    def training_step(self, batch):
        preds = self(batch["image"])
        losses = {t.name: t.loss(preds[t.name], batch[t.name]) for t in self.tasks}
        return self.weights(losses), {k: v.detach() for k, v in losses.items()}

    def validation_step(self, batch):
        preds = self(batch["image"])
        return {f"{t.name}/{k}": v for t in self.tasks
                for k, v in t.metric(preds[t.name], batch[t.name]).items()}

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW([
            {"params": [*self.trunk.parameters(), *self.tasks.parameters()], "weight_decay": 1e-4},
            {"params": self.weights.parameters(), "lr": self.lr * 5, "weight_decay": 0.0},
        ], lr=self.lr)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)


# ============================== trainer ==============================

@dataclass
class Trainer:
    max_steps: int = 3
    accumulate: int = 2
    clip: float = 1.0
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    callbacks: list[Any] = field(default_factory=list)

    def _move(self, batch):
        return {k: v.to(self.device) for k, v in batch.items()}

    def fit(self, module, train_loader, val_loader):
        module.to(self.device)
        optimizer, scheduler = module.configure_optimizers()
        module.train()
        micro = step = 0
        while step < self.max_steps:
            for batch in train_loader:
                total, parts = module.training_step(self._move(batch))
                (total / self.accumulate).backward()
                micro += 1
                if micro % self.accumulate:
                    continue
                nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                optimizer.step()
                optimizer.zero_grad()
                scheduler.step()
                for cb in self.callbacks:
                    cb.on_step_end(module, step, total.item(), parts)
                step += 1
                if step >= self.max_steps:
                    break
        metrics = self.validate(module, val_loader)
        for cb in self.callbacks:
            cb.on_fit_end(module, metrics)
        return metrics

    @torch.no_grad()
    def validate(self, module, loader):
        module.eval()
        sums = defaultdict(list)
        for batch in loader:
            for k, v in module.validation_step(self._move(batch)).items():
                sums[k].append(v)
        return {k: float(np.mean(v)) for k, v in sums.items()}


class PrintCallback:
    def on_step_end(self, module, step, total, parts):
        shown = ", ".join(f"{k} {v.item():.3f}" for k, v in parts.items())
        print(f"step {step}: total {total:.3f} ({shown})")

    def on_fit_end(self, module, metrics):
        print("sigmas", {k: round(v, 3) for k, v in module.weights.sigmas().items()})


class CheckpointCallback(PrintCallback):
    def __init__(self, folder):
        self.path = os.path.join(folder, "last.ckpt")

    def on_fit_end(self, module, metrics):
        super().on_fit_end(module, metrics)
        torch.save({"state_dict": module.state_dict(), "metrics": metrics}, self.path)


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(SceneDataset(64, seed=1), batch_size=16, shuffle=True)
    val_loader = DataLoader(SceneDataset(24, seed=2), batch_size=12)
    with tempfile.TemporaryDirectory() as folder:
        saver = CheckpointCallback(folder)
        trainer = Trainer(device=device, callbacks=[saver])
        trainer.fit(MultiTaskModule([16, 32, 48]), train_loader, val_loader)
        restored = MultiTaskModule([16, 32, 48]).to(device)
        restored.load_state_dict(torch.load(saver.path, map_location=device)["state_dict"])
        for name, value in trainer.validate(restored, val_loader).items():
            print(f"{name:12s} {value:.4f}")
