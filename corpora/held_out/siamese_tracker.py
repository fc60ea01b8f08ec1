"""SiamFC / SiamRPN-flavoured single object tracker on generated videos (registries, hook-based runner)."""
import logging
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(message)s")
logger = logging.getLogger("siam")


class Registry:
    def __init__(self):
        self._modules = {}

    def register_module(self, cls):
        self._modules[cls.__name__] = cls
        return cls

    def build(self, cfg, **extra):
        cfg = dict(cfg)
        kind = cfg.pop("type")
        return self._modules[kind](**cfg, **extra)


BACKBONES = Registry()
HEADS = Registry()
HOOKS = Registry()

model_cfg = dict(
    backbone=dict(type="AlexNetLike", widths=(24, 48, 64, 48), norm=True),
    head=dict(type="CorrHead", hidden=32, with_box=True),
)
data_cfg = dict(exemplar_size=47, instance_size=95, stride=4, r_pos=8, clip_len=12)
train_cfg = dict(steps=3, batch_size=8, lr=0.01, momentum=0.9, weight_decay=5e-4,
                 hooks=[dict(type="LrHook", warmup=1), dict(type="GradClipHook", max_norm=10.0),
                        dict(type="LogHook", interval=1)])


# ---------------------------------------------------------------------------------- videos
class BlobVideo:
    """A textured square which wanders over a cluttered ground and slowly changes its size."""

    def __init__(self, seed, n_frames, size=160):
        rng = np.random.RandomState(seed)
        self.background = rng.rand(3, size // 8, size // 8).repeat(8, 1).repeat(8, 2) * 0.5
        self.texture = rng.rand(3, 4, 4) * 0.6 + 0.4
        steps = rng.randn(n_frames, 2) * 3
        self.centres = np.clip(size / 2 + np.cumsum(steps, axis=0), 40, size - 40)
        self.sizes = np.clip(20 + np.cumsum(rng.randn(n_frames)), 16, 28)

    def __len__(self):
        return len(self.centres)

    def frame(self, t):
        img = self.background.copy()
        cy, cx = self.centres[t]
        s = int(self.sizes[t])
        top, left = int(cy - s / 2), int(cx - s / 2)
        idx = np.arange(s) * 4 // s
        img[:, top:top + s, left:left + s] = self.texture[:, idx][:, :, idx]
        return torch.from_numpy(img).float()

    def box(self, t):
        return (*self.centres[t], self.sizes[t])


def crop(img, centre, side, out_size):
    """Square crop about the centre, padded with the mean colour, resized."""
    side = pad = int(round(side))
    mean = img.mean(dim=(1, 2), keepdim=True)
    padded = F.pad(img - mean, (pad, pad, pad, pad)) + mean
    top = int(round(centre[0] - side / 2)) + pad
    left = int(round(centre[1] - side / 2)) + pad
    patch = padded[:, top:top + side, left:left + side]
    return F.interpolate(patch[None], size=(out_size, out_size), mode="bilinear", align_corners=False)[0]


class PairStream(IterableDataset):
    def __init__(self, exemplar_size, instance_size, clip_len, seed=0, **_):
        self.z_size, self.x_size, self.clip_len, self.seed = exemplar_size, instance_size, clip_len, seed

    def __iter__(self):
        rng = np.random.RandomState(self.seed)
        while True:
            video = BlobVideo(rng.randint(1 << 30), self.clip_len)
            a, b = rng.choice(len(video), 2, replace=False)
            ya, xa, sa = video.box(a)
            yb, xb, sb = video.box(b)
            shift = rng.uniform(-12, 12, 2)
            z = crop(video.frame(a), (ya, xa), 2 * sa, self.z_size)
            x_side = 2 * sa * self.x_size / self.z_size
            x = crop(video.frame(b), (yb + shift[0], xb + shift[1]), x_side, self.x_size)
            scale = self.x_size / x_side
            target = np.array([-shift[0] * scale, -shift[1] * scale, np.log(sb / sa)], dtype=np.float32)
            yield z, x, torch.from_numpy(target)


# ---------------------------------------------------------------------------------- model
@BACKBONES.register_module
class AlexNetLike(nn.Module):
    def __init__(self, widths, norm):
        super().__init__()
        a, b, c, d = widths

        def unit(i, o, k, s=1):
            layers = [nn.Conv2d(i, o, k, stride=s, bias=not norm)]
            if norm:
                layers.append(nn.BatchNorm2d(o))
            return nn.Sequential(*layers, nn.ReLU(inplace=True))

        self.conv1 = unit(3, a, 7, 2)
        self.pool = nn.MaxPool2d(3, 2)
        self.conv2 = unit(a, b, 3)
        self.conv3 = unit(b, c, 3)
        self.conv4 = nn.Conv2d(c, d, 3)
        self.out_channels = d

    def forward(self, x):
        x = self.pool(self.conv1(x))
        return self.conv4(self.conv3(self.conv2(x)))


def xcorr_group(x, z):
    """each image with its own kernel, channels summed"""
    nz, nx = z.size(0), x.size(0)
    _, c, h, w = x.size()
    x = x.view(-1, nz * c, h, w)
    out = F.conv2d(x, z, groups=nz)
    return out.view(nx, -1, out.size(-2), out.size(-1))


def xcorr_depthwise(x, kernel):
    batch, channel = kernel.shape[:2]
    x = x.view(1, batch * channel, x.size(2), x.size(3))
    kernel = kernel.view(batch * channel, 1, kernel.size(2), kernel.size(3))
    out = F.conv2d(x, kernel, groups=batch * channel)
    return out.view(batch, channel, out.size(2), out.size(3))


@HEADS.register_module
class CorrHead(nn.Module):
    def __init__(self, in_channels, hidden, with_box):
        super().__init__()
        self.adjust = nn.Parameter(torch.tensor([1e-2, 0.0]))
        self.with_box = with_box
        if with_box:
            self.reduce_z = nn.Conv2d(in_channels, hidden, 1)
            self.reduce_x = nn.Conv2d(in_channels, hidden, 1)
            self.reg = nn.Sequential(nn.Conv2d(hidden, hidden, 1), nn.ReLU(), nn.Conv2d(hidden, 1, 1))

    def forward(self, z, x):
        response = xcorr_group(x, z) * self.adjust[0] + self.adjust[1]
        log_scale = None
        if self.with_box:
            corr = xcorr_depthwise(self.reduce_x(x), self.reduce_z(z))
            log_scale = self.reg(corr / (z.size(2) * z.size(3)))
        return response, log_scale


class SiameseTracker(nn.Module):
    def __init__(self, backbone, head):
        super().__init__()
        self.backbone = BACKBONES.build(backbone)
        self.head = HEADS.build(head, in_channels=self.backbone.out_channels)

    def template(self, z):
        return self.backbone(z)

    def forward(self, z, x):
        return self.head(self.template(z), self.backbone(x))

    def loss(self, z, x, target, stride, r_pos):
        response, log_scale = self(z, x)
        n = response.size(-1)
        coords = (torch.arange(n, device=z.device) - (n - 1) / 2) * stride
        dy = coords[None, :, None] - target[:, 0, None, None]
        dx = coords[None, None, :] - target[:, 1, None, None]
        labels = ((dy ** 2 + dx ** 2).sqrt() <= r_pos).float()
        pos, neg = labels.sum().clamp(min=1), (1 - labels).sum()
        weights = torch.where(labels > 0, 0.5 / pos, 0.5 / neg)
        response = response.squeeze(1)
        losses = {"cls": F.binary_cross_entropy_with_logits(response, labels, weights, reduction="sum")}
        if log_scale is not None:
            err = (log_scale.squeeze(1) - target[:, 2].view(-1, 1, 1)).abs()
            losses["scale"] = (err * labels).sum() / pos
        return losses


# ---------------------------------------------------------------------------------- runner
class Hook:
    def before_step(self, runner): pass
    def after_backward(self, runner): pass
    def after_step(self, runner): pass


@HOOKS.register_module
class LrHook(Hook):
    def __init__(self, warmup):
        self.warmup = warmup

    def before_step(self, runner):
        k = runner.step
        factor = (k + 1) / (self.warmup + 1) if k < self.warmup else 0.9 ** (k - self.warmup)
        for group in runner.optimizer.param_groups:
            group["lr"] = runner.cfg["lr"] * factor


@HOOKS.register_module
class GradClipHook(Hook):
    def __init__(self, max_norm):
        self.max_norm = max_norm

    def after_backward(self, runner):
        runner.log["grad"] = nn.utils.clip_grad_norm_(runner.model.parameters(), self.max_norm).item()


@HOOKS.register_module
class LogHook(Hook):
    def __init__(self, interval):
        self.interval = interval
        self.begin = time.time()

    def after_step(self, runner):
        if runner.step % self.interval == 0:
            text = " ".join(f"{k}={v:.4f}" for k, v in runner.log.items())
            logger.info("step %d (%.1fs) %s", runner.step, time.time() - self.begin, text)


class Runner:
    def __init__(self, model, cfg, device):
        self.model, self.cfg, self.device = model, cfg, device
        kwargs = {k: cfg[k] for k in ("lr", "momentum", "weight_decay")}
        self.optimizer = torch.optim.SGD(model.parameters(), **kwargs)
        self.hooks = [HOOKS.build(h) for h in cfg["hooks"]]
        self.log, self.step = {}, 0

    def call(self, name):
        for hook in self.hooks:
            getattr(hook, name)(self)

    def run(self, loader, **loss_kwargs):
        self.model.train()
        for self.step, batch in zip(range(self.cfg["steps"]), loader):
            z, x, target = (b.to(self.device) for b in batch)
            self.call("before_step")
            losses = self.model.loss(z, x, target, **loss_kwargs)
            total = sum(losses.values())
            self.optimizer.zero_grad()
            total.backward()
            self.call("after_backward")
            self.optimizer.step()
            self.log.update({k: v.item() for k, v in losses.items()})
            self.call("after_step")


@torch.no_grad()
def track(model, video, device, cfg, window_influence=0.3, up=4):
    model.eval()
    cy, cx, s = video.box(0)
    z = crop(video.frame(0), (cy, cx), 2 * s, cfg["exemplar_size"]).unsqueeze(0).to(device)
    kernel = model.template(z)
    errors = []
    for t in range(1, len(video)):
        side = 2 * s * cfg["instance_size"] / cfg["exemplar_size"]
        x = crop(video.frame(t), (cy, cx), side, cfg["instance_size"]).unsqueeze(0).to(device)
        response, log_scale = model.head(kernel, model.backbone(x))
        n = response.size(-1) * up
        resp = F.interpolate(response, size=(n, n), mode="bicubic", align_corners=False)[0, 0].cpu()
        window = torch.outer(torch.hann_window(n, periodic=False), torch.hann_window(n, periodic=False))
        resp = resp - resp.min()
        resp = (1 - window_influence) * resp / resp.sum() + window_influence * window / window.sum()
        row, col = divmod(resp.argmax().item(), n)
        to_image = cfg["stride"] / up * side / cfg["instance_size"]
        cy += (row - (n - 1) / 2) * to_image
        cx += (col - (n - 1) / 2) * to_image
        if log_scale is not None:
            s *= float(log_scale.median().clamp(-0.1, 0.1).exp())
        gy, gx, _ = video.box(t)
        errors.append(np.hypot(cy - gy, cx - gx))
    return np.array(errors)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(PairStream(**data_cfg), batch_size=train_cfg["batch_size"])
    model = SiameseTracker(**model_cfg).to(device)
    Runner(model, train_cfg, device).run(loader, stride=data_cfg["stride"], r_pos=data_cfg["r_pos"])
    for seed in (100, 101):
        err = track(model, BlobVideo(seed, data_cfg["clip_len"]), device, data_cfg)
        logger.info("clip %d: mean centre error %.1f px, precision@20 %.2f", seed, err.mean(), (err < 20).mean())


if __name__ == "__main__":
    main()
