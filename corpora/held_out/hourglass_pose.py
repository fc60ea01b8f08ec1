# Stacked hourglass for stick-figure pose (heatmap regression with intermediate supervision)
import argparse
import os
import shutil
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

JOINTS = ["head", "neck", "l_hand", "r_hand", "hip", "l_foot", "r_foot"]
LIMBS = [(0, 1), (1, 2), (1, 3), (1, 4), (4, 5), (4, 6)]
FLIP_PAIRS = [(2, 3), (5, 6)]


class AverageMeter(object):
    def __init__(self):
        self.reset()

    def reset(self):
        self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def draw_line(img, p, q):
    n = int(max(abs(q - p).max() * 2, 2))
    pts = np.linspace(p, q, n).round().astype(int)
    h, w = img.shape
    ok = (pts[:, 0] >= 0) & (pts[:, 0] < w) & (pts[:, 1] >= 0) & (pts[:, 1] < h)
    img[pts[ok, 1], pts[ok, 0]] = 1.0


class StickFigures(torch.utils.data.Dataset):
    def __init__(self, n, inp_res=(40, 32), out_stride=2, sigma=1.0, train=True, seed=0):
        self.n, self.h, self.w = n, inp_res[0], inp_res[1]
        self.stride, self.sigma, self.train = out_stride, sigma, train
        self.seed = seed

    def _pose(self, rng):
        scale = rng.uniform(0.8, 1.2)
        hip = np.array([self.w / 2 + rng.uniform(-4, 4), self.h * 0.55 + rng.uniform(-2, 2)])
        neck = hip + scale * np.array([rng.uniform(-2, 2), -10])
        head = neck + scale * np.array([rng.uniform(-1, 1), -5])
        arms = [neck + scale * 8 * np.array([s * np.cos(a), np.sin(a)])
                for s, a in ((-1, rng.uniform(-1, 1.2)), (1, rng.uniform(-1, 1.2)))]
        legs = [hip + scale * 11 * np.array([s * np.sin(a), np.cos(a)])
                for s, a in ((-1, rng.uniform(0.1, .8)), (1, rng.uniform(0.1, .8)))]
        return np.stack([head, neck, arms[0], arms[1], hip, legs[0], legs[1]])

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        rng = np.random.RandomState(self.seed + index)
        pts = self._pose(rng)
        img = rng.rand(self.h, self.w) * 0.2
        for a, b in LIMBS:
            draw_line(img, pts[a], pts[b])
        hx, hy = pts[0].round().astype(int)
        img[max(hy - 1, 0):hy + 2, max(hx - 1, 0):hx + 2] = 1
        visible = (pts >= 0).all(1) & (pts[:, 0] < self.w) & (pts[:, 1] < self.h)
        if self.train and rng.rand() < 0.5:
            img = img[:, ::-1]
            pts[:, 0] = self.w - 1 - pts[:, 0]
            for a, b in FLIP_PAIRS:
                pts[[a, b]] = pts[[b, a]]
                visible[[a, b]] = visible[[b, a]]
        img = torch.from_numpy(np.ascontiguousarray(img)).float().unsqueeze(0)
        tpts = torch.from_numpy(pts / self.stride).float()
        ys = torch.arange(self.h // self.stride).view(1, -1, 1)
        xs = torch.arange(self.w // self.stride).view(1, 1, -1)
        d2 = (xs - tpts[:, 0].view(-1, 1, 1)) ** 2 + (ys - tpts[:, 1].view(-1, 1, 1)) ** 2
        target = torch.exp(-d2 / (2 * self.sigma ** 2))
        weight = torch.from_numpy(visible.astype(np.float32))
        return img, target * weight.view(-1, 1, 1), {"index": index, "tpts": tpts, "target_weight": weight}


class Bottleneck(nn.Module):
    expansion = 2

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super(Bottleneck, self).__init__()
        self.bn1 = nn.BatchNorm2d(inplanes)
        self.conv1 = nn.Conv2d(inplanes, planes, kernel_size=1, bias=True)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=stride, padding=1, bias=True)
        self.bn3 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * 2, kernel_size=1, bias=True)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        out = self.conv1(self.relu(self.bn1(x)))
        out = self.conv2(self.relu(self.bn2(out)))
        out = self.conv3(self.relu(self.bn3(out)))
        out += x if self.downsample is None else self.downsample(x)
        return out


class Hourglass(nn.Module):
    def __init__(self, block, num_blocks, planes, depth):
        super(Hourglass, self).__init__()
        self.depth = depth
        self.block = block
        hg = []
        for i in range(depth):
            res = [self._make_residual(block, num_blocks, planes) for _ in range(3)]
            if i == 0:
                res.append(self._make_residual(block, num_blocks, planes))
            hg.append(nn.ModuleList(res))
        self.hg = nn.ModuleList(hg)

    def _make_residual(self, block, num_blocks, planes):
        return nn.Sequential(*[block(planes * block.expansion, planes) for _ in range(num_blocks)])

    def _hour_glass_forward(self, n, x):
        up1 = self.hg[n - 1][0](x)
        low1 = F.max_pool2d(x, 2, stride=2)
        low1 = self.hg[n - 1][1](low1)
        if n > 1:
            low2 = self._hour_glass_forward(n - 1, low1)
        else:
            low2 = self.hg[n - 1][3](low1)
        low3 = self.hg[n - 1][2](low2)
        return up1 + F.interpolate(low3, scale_factor=2)

    def forward(self, x):
        return self._hour_glass_forward(self.depth, x)


class HourglassNet(nn.Module):
    def __init__(self, block, num_stacks=2, num_blocks=1, num_classes=7, feats=7, depth=2):
        super(HourglassNet, self).__init__()
        self.inplanes, self.num_feats, self.num_stacks = 6, feats, num_stacks
        self.conv1 = nn.Conv2d(1, self.inplanes, kernel_size=5, stride=2, padding=2)
        self.bn1 = nn.BatchNorm2d(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.layer1 = self._make_residual(block, feats, 1)
        ch = feats * block.expansion
        hg, res, fc, score, fc_, score_ = [], [], [], [], [], []
        for i in range(num_stacks):
            hg.append(Hourglass(block, num_blocks, feats, depth))
            res.append(self._make_residual(block, feats, num_blocks))
            fc.append(nn.Sequential(nn.Conv2d(ch, ch, kernel_size=1), nn.BatchNorm2d(ch), self.relu))
            score.append(nn.Conv2d(ch, num_classes, kernel_size=1))
            if i < num_stacks - 1:
                fc_.append(nn.Conv2d(ch, ch, kernel_size=1))
                score_.append(nn.Conv2d(num_classes, ch, kernel_size=1))
        self.hg, self.res, self.fc = nn.ModuleList(hg), nn.ModuleList(res), nn.ModuleList(fc)
        self.score, self.fc_, self.score_ = nn.ModuleList(score), nn.ModuleList(fc_), nn.ModuleList(score_)

    def _make_residual(self, block, planes, blocks, stride=1):
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(nn.Conv2d(self.inplanes, planes * block.expansion, kernel_size=1, stride=stride))
        layers = [block(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * block.expansion
        for i in range(1, blocks):
            layers.append(block(self.inplanes, planes))
        return nn.Sequential(*layers)

    def forward(self, x):
        out = []
        x = self.layer1(self.relu(self.bn1(self.conv1(x))))
        for i in range(self.num_stacks):
            y = self.fc[i](self.res[i](self.hg[i](x)))
            score = self.score[i](y)
            out.append(score)
            if i < self.num_stacks - 1:
                x = x + self.fc_[i](y) + self.score_[i](score)
        return out


def get_preds(scores):
    """heatmaps [N,K,H,W] -> coordinates [N,K,2] with quarter pixel offset"""
    n, k, h, w = scores.shape
    maxval, idx = torch.max(scores.view(n, k, -1), 2)
    preds = torch.stack([(idx % w).float(), torch.div(idx, w, rounding_mode="floor").float()], dim=-1)
    px, py = preds[..., 0].long().clamp(1, w - 2), preds[..., 1].long().clamp(1, h - 2)
    b, j = torch.meshgrid(torch.arange(n), torch.arange(k), indexing="ij")
    dx = scores[b, j, py, px + 1] - scores[b, j, py, px - 1]
    dy = scores[b, j, py + 1, px] - scores[b, j, py - 1, px]
    preds += torch.stack([dx.sign(), dy.sign()], -1) * 0.25
    return preds * (maxval > 0).unsqueeze(-1).float()


def pck(output, meta, thr=1.5):
    dist = (get_preds(output) - meta["tpts"]).norm(dim=-1)
    vis = meta["target_weight"] > 0
    return ((dist < thr) & vis).float().sum() / vis.sum().clamp(min=1)


def joints_mse(outputs, target, weight):
    return sum((0.5 * (o - target).pow(2).mean((2, 3)) * weight).mean() for o in outputs)


def run_epoch(loader, model, optimizer=None):
    losses, acces, end = AverageMeter(), AverageMeter(), time.time()
    model.train(optimizer is not None)
    for i, (inp, target, meta) in enumerate(loader):
        with torch.set_grad_enabled(optimizer is not None):
            output = model(inp)
            loss = joints_mse(output, target, meta["target_weight"])
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.update(loss.item(), inp.size(0))
        acces.update(pck(output[-1].detach(), meta).item(), inp.size(0))
    return losses.avg, acces.avg, time.time() - end


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--stacks", default=2, type=int)
    parser.add_argument("--epochs", default=3, type=int)
    parser.add_argument("--train-batch", default=6, type=int)
    parser.add_argument("--schedule", type=int, nargs="+", default=[2])
    args = parser.parse_args(sys.argv[1:] if argv is None else argv)
    torch.manual_seed(8)
    model = HourglassNet(Bottleneck, num_stacks=args.stacks, num_classes=len(JOINTS))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2.5e-3)
    sched = torch.optim.lr_scheduler.MultiStepLR(optimizer, args.schedule, gamma=0.2)
    tr = torch.utils.data.DataLoader(StickFigures(48), args.train_batch, shuffle=True)
    va = torch.utils.data.DataLoader(StickFigures(20, train=False, seed=9000), 8)
    ckpt_dir, best = tempfile.mkdtemp(), -1
    try:
        for epoch in range(args.epochs):
            tl, ta, _ = run_epoch(tr, model, optimizer)
            vl, acc, dt = run_epoch(va, model)
            sched.step()
            print("Epoch %d train %.5f/%.3f valid %.5f/%.3f (%.2fs)" % (epoch + 1, tl, ta, vl, acc, dt))
            torch.save({"epoch": epoch + 1, "state_dict": model.state_dict()}, os.path.join(ckpt_dir, "checkpoint.pth.tar"))
            if acc > best:
                best = acc
                shutil.copyfile(os.path.join(ckpt_dir, "checkpoint.pth.tar"), os.path.join(ckpt_dir, "model_best.pth.tar"))
        print("best PCK %.3f, files: %s" % (best, sorted(os.listdir(ckpt_dir))))
    finally:
        shutil.rmtree(ckpt_dir)


if __name__ == "__main__":
    main()
