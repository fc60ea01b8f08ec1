"""Tiny RetinaNet on synthetic rectangles / ellipses.   python detector.py --steps 3"""
import argparse
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class ShapesDataset(Dataset):
    """Images with 1..max_obj coloured shapes. Returns (img, boxes, labels)."""

    def __init__(self, n, height=96, width=128, num_classes=3, max_obj=4, seed=0):
        self.n, self.seed = n, seed
        self.h, self.w = height, width
        self.num_classes, self.max_obj = num_classes, max_obj

    def __len__(self):
        return self.n

    def __getitem__(self, idx):
        rng = np.random.RandomState(self.seed * 1000 + idx)
        img = rng.uniform(0, 0.3, size=(self.h, self.w, 3)).astype(np.float32)
        k = rng.randint(1, self.max_obj + 1)
        boxes = np.zeros((k, 4), dtype=np.float32)
        labels = rng.randint(0, self.num_classes, size=k)
        yy, xx = np.mgrid[0:self.h, 0:self.w]
        for i in range(k):
            bw, bh = rng.randint(14, 50, size=2)
            x1, y1 = rng.randint(0, self.w - bw), rng.randint(0, self.h - bh)
            boxes[i] = [x1, y1, x1 + bw, y1 + bh]
            if labels[i] == 0:
                img[y1:y1 + bh, x1:x1 + bw, 0] = 0.9
            elif labels[i] == 1:
                m = ((yy - y1 - bh / 2) / (bh / 2)) ** 2 + ((xx - x1 - bw / 2) / (bw / 2)) ** 2 <= 1
                img[m, 1] = 0.9
            else:
                img[y1:y1 + bh:2, x1:x1 + bw, 2] = 0.9
        img = torch.from_numpy(img).permute(2, 0, 1).contiguous()
        return img, torch.from_numpy(boxes), torch.as_tensor(labels, dtype=torch.long)


def collate(batch):
    imgs = torch.stack([b[0] for b in batch])
    boxes = [b[1] for b in batch]
    n = max(len(b) for b in boxes)
    # pad with -1 like most retinanet ports do
    annots = -torch.ones(len(batch), n, 5)
    for i, (_, b, l) in enumerate(batch):
        annots[i, :b.size(0), :4] = b
        annots[i, :b.size(0), 4] = l.float()
    return imgs, annots


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, planes, 1, stride=stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        identity = x
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, layers=(1, 1, 1), widths=(24, 48, 80)):
        super().__init__()
        self.inplanes = 16
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        self.layer1, self.layer2, self.layer3 = [self._make_layer(w, n, 2) for w, n in zip(widths, layers)]
        self.out_channels = list(widths)

    def _make_layer(self, planes, blocks, stride):
        layers = [BasicBlock(self.inplanes, planes, stride)]
        self.inplanes = planes
        for _ in range(1, blocks):
            layers.append(BasicBlock(planes, planes))
        return nn.Sequential(*layers)

    def forward(self, x):
        c3 = self.layer1(self.stem(x))
        c4 = self.layer2(c3)
        c5 = self.layer3(c4)
        return c3, c4, c5


class FPN(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(c, out_channels, 1) for c in in_channels])
        self.smooth = nn.ModuleList([nn.Conv2d(out_channels, out_channels, 3, padding=1) for _ in in_channels])

    def forward(self, feats):
        lat = [l(f) for l, f in zip(self.lateral, feats)]
        for i in range(len(lat) - 1, 0, -1):
            lat[i - 1] = lat[i - 1] + F.interpolate(lat[i], size=lat[i - 1].shape[-2:], mode='nearest')
        return [s(p) for s, p in zip(self.smooth, lat)]


class Head(nn.Module):
    def __init__(self, in_ch, num_anchors, out_per_anchor, depth=2, prior=None):
        super().__init__()
        tower = []
        for _ in range(depth):
            tower += [nn.Conv2d(in_ch, in_ch, 3, padding=1), nn.GroupNorm(4, in_ch), nn.ReLU()]
        self.tower = nn.Sequential(*tower)
        self.pred = nn.Conv2d(in_ch, num_anchors * out_per_anchor, 3, padding=1)
        nn.init.normal_(self.pred.weight, std=0.01)
        nn.init.constant_(self.pred.bias, 0.0 if prior is None else -math.log((1 - prior) / prior))
        self.out_per_anchor = out_per_anchor

    def forward(self, x):
        out = self.pred(self.tower(x))
        return out.permute(0, 2, 3, 1).reshape(out.shape[0], -1, self.out_per_anchor)


class Anchors(nn.Module):
    def __init__(self, strides=(8, 16, 32), ratios=(0.5, 1.0, 2.0), scales=(1.0, 2 ** 0.5)):
        super().__init__()
        self.strides = strides
        self.ratios = torch.tensor(ratios)
        self.scales = torch.tensor(scales)
        self.num = len(ratios) * len(scales)

    def forward(self, shapes):
        all_anchors = []
        for (h, w), s in zip(shapes, self.strides):
            size = s * 2.0 * self.scales
            ws = (size[:, None] / self.ratios.sqrt()[None, :]).reshape(-1)
            hs = (size[:, None] * self.ratios.sqrt()[None, :]).reshape(-1)
            base = torch.stack([-ws, -hs, ws, hs], dim=1) / 2
            sx = (torch.arange(w) + 0.5) * s
            sy = (torch.arange(h) + 0.5) * s
            gy, gx = torch.meshgrid(sy, sx, indexing='ij')
            shifts = torch.stack((gx, gy, gx, gy), dim=-1).reshape(-1, 1, 4)
            all_anchors.append((shifts + base[None]).reshape(-1, 4))
        return torch.cat(all_anchors, dim=0)


def box_iou(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b - inter + 1e-7)


def nms(boxes, scores, thresh):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        if order.numel() == 1:
            break
        ious = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][ious <= thresh]
    return torch.stack(keep) if keep else torch.zeros(0, dtype=torch.long)


def encode(anchors, gt):
    aw, ah = anchors[:, 2] - anchors[:, 0], anchors[:, 3] - anchors[:, 1]
    ax, ay = anchors[:, 0] + 0.5 * aw, anchors[:, 1] + 0.5 * ah
    gw = (gt[:, 2] - gt[:, 0]).clamp(min=1)
    gh = (gt[:, 3] - gt[:, 1]).clamp(min=1)
    gx, gy = gt[:, 0] + 0.5 * gw, gt[:, 1] + 0.5 * gh
    t = torch.stack([(gx - ax) / aw, (gy - ay) / ah, torch.log(gw / aw), torch.log(gh / ah)]).t()
    return t / torch.tensor([0.1, 0.1, 0.2, 0.2])


def decode(anchors, deltas):
    deltas = deltas * deltas.new_tensor([0.1, 0.1, 0.2, 0.2])
    wh = anchors[:, 2:] - anchors[:, :2]
    ctr = anchors[:, :2] + 0.5 * wh
    dxy, dwh = deltas.chunk(2, dim=-1)
    ctr = ctr + dxy * wh
    wh = wh * dwh.clamp(max=4.0).exp()
    return torch.cat([ctr - 0.5 * wh, ctr + 0.5 * wh], dim=-1)


class RetinaNet(nn.Module):
    def __init__(self, num_classes, fpn_dim=32):
        super().__init__()
        self.num_classes = num_classes
        self.backbone = ResNet()
        self.fpn = FPN(self.backbone.out_channels, fpn_dim)
        self.anchors = Anchors()
        self.cls_head = Head(fpn_dim, self.anchors.num, num_classes, prior=0.01)
        self.reg_head = Head(fpn_dim, self.anchors.num, 4)

    def forward(self, imgs):
        feats = self.fpn(self.backbone(imgs))
        cls = torch.cat([self.cls_head(f) for f in feats], dim=1)
        reg = torch.cat([self.reg_head(f) for f in feats], dim=1)
        anchors = self.anchors([f.shape[-2:] for f in feats])
        return cls, reg, anchors

    @torch.no_grad()
    def detect(self, imgs, score_thresh=0.0, iou_thresh=0.5, pre_topk=60, max_det=20):
        cls, reg, anchors = self(imgs)
        H, W = imgs.shape[-2:]
        results = []
        for c, r in zip(cls.sigmoid(), reg):
            scores, flat = c.flatten().topk(pre_topk)
            mask = scores > score_thresh
            scores, flat = scores[mask], flat[mask]
            anchor_idx = torch.div(flat, self.num_classes, rounding_mode='floor')
            labels = flat % self.num_classes
            boxes = decode(anchors[anchor_idx], r[anchor_idx])
            boxes[:, 0::2].clamp_(0, W)
            boxes[:, 1::2].clamp_(0, H)
            # class aware nms by offsetting
            keep = nms(boxes + labels[:, None].float() * (max(H, W) + 1), scores, iou_thresh)[:max_det]
            results.append(dict(boxes=boxes[keep], scores=scores[keep], labels=labels[keep]))
        return results


def focal_loss(logits, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction='none')
    pt = p * targets + (1 - p) * (1 - targets)
    at = alpha * targets + (1 - alpha) * (1 - targets)
    return at * (1 - pt) ** gamma * ce


def retina_loss(cls, reg, anchors, annots):
    cls_losses, reg_losses = [], []
    for j, ann in enumerate(annots):
        ann = ann[ann[:, 4] != -1]
        iou = box_iou(anchors, ann[:, :4])
        iou_max, iou_arg = iou.max(dim=1)
        # every gt gets at least its best anchor
        best = iou.argmax(dim=0)
        iou_max[best] = 1.0
        iou_arg[best] = torch.arange(ann.shape[0])
        pos = iou_max >= 0.5
        ignore = (iou_max >= 0.4) & ~pos
        assigned = ann[iou_arg]
        targets = torch.zeros_like(cls[j])
        targets[pos, assigned[pos, 4].long()] = 1
        loss = focal_loss(cls[j], targets)
        loss = loss.masked_fill(ignore.unsqueeze(1), 0.)
        npos = pos.sum().clamp(min=1)
        cls_losses.append(loss.sum() / npos)
        reg_losses.append(F.smooth_l1_loss(reg[j][pos], encode(anchors[pos], assigned[pos, :4]), beta=1 / 9))
    return torch.stack(cls_losses).mean(), torch.stack(reg_losses).mean()


def evaluate(model, loader):
    model.eval()
    hits, total = 0, 0
    for imgs, annots in loader:
        for det, ann in zip(model.detect(imgs), annots):
            gt = ann[ann[:, 4] >= 0]
            total += len(gt)
            iou = box_iou(gt[:, :4], det['boxes'])
            ok = (iou > 0.5) & (gt[:, 4:5].long() == det['labels'][None, :])
            hits += ok.any(dim=1).sum().item()
    return hits / max(total, 1)


def main(args):
    torch.manual_seed(args.seed)
    train_ds = ShapesDataset(args.steps * args.batch_size, num_classes=args.num_classes)
    val_ds = ShapesDataset(6, num_classes=args.num_classes, seed=1)
    train_loader = DataLoader(train_ds, batch_size=args.batch_size, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(val_ds, batch_size=2, collate_fn=collate)

    model = RetinaNet(args.num_classes)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.steps)
    for it, (imgs, annots) in enumerate(train_loader):
        cls, reg, anchors = model(imgs)
        lc, lr_ = retina_loss(cls, reg, anchors, annots)
        loss = lc + lr_
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        opt.step()
        sched.step()
        print(f'[{it}] cls {lc.item():.4f} reg {lr_.item():.4f} anchors {anchors.shape[0]}')
    print('recall@0.5: %.3f' % evaluate(model, val_loader))
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'retina.pth')
        torch.save({'model': model.state_dict(), 'args': vars(args)}, path)
        model.load_state_dict(torch.load(path)['model'])


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=3)
    p.add_argument('--batch-size', type=int, default=4)
    p.add_argument('--num-classes', type=int, default=3)
    p.add_argument('--lr', type=float, default=1e-3)
    p.add_argument('--seed', type=int, default=0)
    main(p.parse_args())
