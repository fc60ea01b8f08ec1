"""3D U-Net with deep supervision, attention gates, Dice+CE(+topk) and sliding-window inference on synthetic volumes."""
import json
import time
from collections import OrderedDict
from functools import partial

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

NORMS = {
    'instance': partial(nn.InstanceNorm3d, affine=True),
    'batch': nn.BatchNorm3d,
    'group': lambda c, **kw: nn.GroupNorm(2, c, **kw),
}

class PlanConfig:
    patch = (16, 24, 20)
    in_channels = 2
    n_classes = 3
    widths = [6, 10, 16]
    strides = [(1, 1, 1), (2, 2, 2), (1, 2, 2)]
    norm = 'instance'
    nonlin, nonlin_kwargs = 'LeakyReLU', {'negative_slope': 1e-2, 'inplace': True}
    deep_supervision = True
    batch = 2
    iters = 6
    lr = 1e-2
    poly = 0.9
    topk = 0.2

    def __init__(self, **kwargs):
        for k, v in kwargs.items():
            assert hasattr(self, k), k
            setattr(self, k, v)

    def dump(self):
        return json.dumps({k: getattr(self, k) for k in dir(self) if not k.startswith('_') and not callable(getattr(self, k))}, default=str)

class ConvDropoutNormNonlin(nn.Module):
    def __init__(self, cin, cout, cfg, stride=1, p=0.0):
        super().__init__()
        self.conv = nn.Conv3d(cin, cout, 3, stride=stride, padding=1, bias=True)
        self.dropout = nn.Dropout3d(p) if p else None
        self.norm = NORMS[cfg.norm](cout)
        self.act = getattr(nn, cfg.nonlin)(**cfg.nonlin_kwargs)

    def forward(self, x):
        x = self.conv(x)
        if self.dropout is not None:
            x = self.dropout(x)
        return self.act(self.norm(x))

def stacked(cin, cout, n, cfg, first_stride=1, **kwargs):
    return nn.Sequential(OrderedDict(
        (f'block{i}', ConvDropoutNormNonlin(cin if i == 0 else cout, cout, cfg, first_stride if i == 0 else 1, **kwargs)) for i in range(n)))

class AttentionGate(nn.Module):
    def __init__(self, skip, gate, inter):
        super().__init__()
        self.theta = nn.Conv3d(skip, inter, 1, bias=False)
        self.phi = nn.Conv3d(gate, inter, 1)
        self.psi = nn.Conv3d(inter, 1, 1)

    def forward(self, x, g):
        a = torch.sigmoid(self.psi(F.relu(self.theta(x) + self.phi(g))))
        return x * a, a

class UNet3D(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.encoder, self.ups, self.gates, self.decoder, self.seg = [nn.ModuleList() for _ in range(5)]
        cin = cfg.in_channels
        for w, s in zip(cfg.widths, cfg.strides):
            self.encoder.append(stacked(cin, w, 2, cfg, s))
            cin = w
        for i in range(len(cfg.widths) - 1)[::-1]:
            lo, hi = cfg.widths[i + 1], cfg.widths[i]
            self.ups.append(nn.ConvTranspose3d(lo, hi, cfg.strides[i + 1], cfg.strides[i + 1], bias=False))
            self.gates.append(AttentionGate(hi, hi, max(hi // 2, 3)))
            self.decoder.append(stacked(2 * hi, hi, 1, cfg))
            self.seg.append(nn.Conv3d(hi, cfg.n_classes, 1, bias=False))
        self.apply(self.init_weights)

    @staticmethod
    def init_weights(m, slope=1e-2):
        if isinstance(m, (nn.Conv3d, nn.ConvTranspose3d)):
            nn.init.kaiming_normal_(m.weight, a=slope)
            if m.bias is not None:
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        skips = []
        for enc in self.encoder:
            x = enc(x)
            skips.append(x)
        outs, self.attn = [], []
        for up, gate, dec, seg, skip in zip(self.ups, self.gates, self.decoder, self.seg, skips[:-1][::-1]):
            x = up(x)
            s, a = gate(skip, x)
            self.attn.append(a)
            x = dec(torch.cat([x, s], dim=1))
            outs.append(seg(x))
        return outs[::-1] if self.cfg.deep_supervision and self.training else outs[-1]

def get_tp_fp_fn(probs, gt, axes):
    with torch.no_grad():
        onehot = torch.zeros_like(probs).scatter_(1, gt.long(), 1)
    tp = probs * onehot
    fp = probs * (1 - onehot)
    fn = (1 - probs) * onehot
    return [t.sum(dim=axes) for t in (tp, fp, fn)]

class SoftDiceLoss(nn.Module):
    def __init__(self, batch_dice=True, do_bg=False, smooth=1e-5):
        super().__init__()
        self.batch_dice, self.do_bg, self.smooth = batch_dice, do_bg, smooth

    def forward(self, logits, gt):
        axes = ([0] if self.batch_dice else []) + list(range(2, logits.dim()))
        tp, fp, fn = get_tp_fp_fn(logits.softmax(1), gt, axes)
        dc = (2 * tp + self.smooth) / (2 * tp + fp + fn + self.smooth)
        dc = dc if self.do_bg else dc[..., 1:]
        return -dc.mean()

class TopKCE(nn.CrossEntropyLoss):
    def __init__(self, k, **kwargs):
        super().__init__(reduction='none', **kwargs)
        self.k = k

    def forward(self, logits, gt):
        res = super().forward(logits, gt[:, 0].long()).flatten()
        return res.topk(int(res.numel() * self.k), sorted=False)[0].mean()

class DeepSupervisionWrapper(nn.Module):
    def __init__(self, losses, n):
        super().__init__()
        self.losses = nn.ModuleDict(losses)
        w = np.array([1 / 2 ** i for i in range(n)])
        self.weights = (w / w.sum()).tolist()

    def forward(self, outs, target):
        total, logs = 0., {}
        for i, (w, o) in enumerate(zip(self.weights, outs)):
            t = target if o.shape[2:] == target.shape[2:] else F.interpolate(target.float(), size=o.shape[2:], mode='nearest')
            for name, fn in self.losses.items():
                l = fn(o, t)
                logs[f'{name}/{i}'] = l.item()
                total = total + w * l
        return total, logs

class SyntheticVolumes:
    def __init__(self, cfg, seed=0):
        self.cfg, self.rng = cfg, np.random.default_rng(seed)

    def volume(self, shape):
        g = np.stack(np.meshgrid(*[np.arange(s) for s in shape], indexing='ij')).astype(np.float32)
        seg = np.zeros(shape, np.int64)
        c = np.array([self.rng.uniform(.35 * s, .65 * s) for s in shape])[:, None, None, None]
        r = np.array([self.rng.uniform(.2 * s, .35 * s) for s in shape])[:, None, None, None]
        d = (((g - c) / r) ** 2).sum(0)
        seg[d < 1] = 1
        off = self.rng.uniform(-.3, .3, (3, 1, 1, 1)) * r
        seg[(((g - c - off) / (0.45 * r)) ** 2).sum(0) < 1] = 2
        img = np.stack([(seg > 0) * 1.0 + 0.3 * (seg == 2), (seg == 2) * 1.2]) + 0.4 * self.rng.normal(size=(2, *shape))
        return img.astype(np.float32), seg[None]

    def augment(self, x, y):
        for ax in (2, 3, 4):
            if self.rng.random() < 0.5:
                x, y = torch.flip(x, (ax,)), torch.flip(y, (ax,))
        theta = torch.eye(3, 4)[None].repeat(len(x), 1, 1) * float(self.rng.uniform(0.85, 1.15))
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False, padding_mode='border')
        y = F.grid_sample(y.float(), grid, mode='nearest', align_corners=False).long()
        gamma = torch.from_numpy(self.rng.uniform(0.8, 1.3, (len(x), 1, 1, 1, 1)).astype(np.float32))
        mn, rg = x.amin((2, 3, 4), True), x.amax((2, 3, 4), True) - x.amin((2, 3, 4), True)
        return ((x - mn) / (rg + 1e-7)).pow(gamma) * rg + mn, y

    def batch(self):
        xs, ys = zip(*[self.volume(self.cfg.patch) for _ in range(self.cfg.batch)])
        x, y = torch.from_numpy(np.stack(xs)), torch.from_numpy(np.stack(ys))
        x = (x - x.mean((2, 3, 4), keepdim=True)) / x.std((2, 3, 4), keepdim=True)
        return self.augment(x, y)

@torch.no_grad()
def sliding_window(model, vol, patch, overlap=0.5, mirror=True):
    model.eval()
    gauss = torch.ones(())
    for n in patch:
        t = torch.arange(n) - (n - 1) / 2
        gauss = gauss[..., None] * torch.exp(-0.5 * (t / (n / 8)) ** 2)
    gauss = gauss.clamp(min=gauss[gauss > 0].min())
    steps = []
    for s, p in zip(vol.shape[1:], patch):
        n = int(np.ceil((s - p) / (p * overlap))) + 1
        steps.append([int(round(v)) for v in np.linspace(0, s - p, n)])
    agg, cnt = torch.zeros(model.cfg.n_classes, *vol.shape[1:]), torch.zeros(vol.shape[1:])
    for z in steps[0]:
        for y in steps[1]:
            for x in steps[2]:
                sl = (slice(z, z + patch[0]), slice(y, y + patch[1]), slice(x, x + patch[2]))
                inp = vol[(slice(None),) + sl][None]
                p = model(inp).softmax(1)
                if mirror:
                    p = 0.5 * (p + model(inp.flip(4)).softmax(1).flip(4))
                agg[(slice(None),) + sl] += p[0] * gauss
                cnt[sl] += gauss
    return agg / cnt, steps

class Trainer:
    def __init__(self, cfg):
        self.cfg, self.model, self.data = cfg, UNet3D(cfg), SyntheticVolumes(cfg)
        self.loss = DeepSupervisionWrapper({'dice': SoftDiceLoss(), 'ce': TopKCE(cfg.topk)}, len(cfg.widths) - 1)
        self.opt = torch.optim.SGD(self.model.parameters(), cfg.lr, momentum=0.99, nesterov=True, weight_decay=3e-5)

    def run(self):
        for it in range(self.cfg.iters):
            self.model.train()
            self.opt.param_groups[0]['lr'] = self.cfg.lr * (1 - it / self.cfg.iters) ** self.cfg.poly
            x, y = self.data.batch()
            loss, logs = self.loss(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 12)
            self.opt.step()
            if it % 2 == 0:
                print(it, round(loss.item(), 4), {k: round(v, 3) for k, v in logs.items()})

if __name__ == '__main__':
    torch.manual_seed(0)
    t0 = time.time()
    trainer = Trainer(PlanConfig(norm='instance'))
    print(trainer.cfg.dump())
    trainer.run()
    img, seg = trainer.data.volume((20, 30, 25))
    prob, steps = sliding_window(trainer.model, torch.from_numpy(img), trainer.cfg.patch)
    tp, fp, fn = get_tp_fp_fn(F.one_hot(prob.argmax(0), 3).permute(3, 0, 1, 2)[None].float(), torch.from_numpy(seg)[None], (0, 2, 3, 4))
    print(prob.shape, steps, 'dice', 2 * tp / (2 * tp + fp + fn), [a.shape for a in trainer.model.attn], round(time.time() - t0, 1))
