"""Mini two-stage detector (Faster R-CNN-like): hand-made anchors, RPN, NMS, RoIAlign by grid_sample, box head."""
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

REGISTRY = {}

def register(name):
    def deco(cls):
        REGISTRY[name] = cls
        return cls
    return deco

@dataclass
class Config:
    num_classes: int = 2
    image_hw: tuple = (48, 64)
    strides: int = 4
    anchor_sizes: tuple = (9, 16)
    anchor_ratios: tuple = (0.5, 1.0, 2.0)
    backbone: str = 'fpn_tiny'
    backbone_kwargs: dict = field(default_factory=lambda: dict(widths=(8, 14, 22), out_channels=18, act='LeakyReLU'))
    rpn_batch: int = 40
    pre_nms: int = 60
    post_nms: int = 17
    rpn_nms: float = 0.7
    roi_size: tuple = (4, 5)
    box_nms: float = 0.4
    steps: int = 12
    batch: int = 3
    lr: float = 0.02

def encode_boxes(ref, prop, weights=(10., 10., 5., 5.)):
    w = torch.tensor(weights)
    pw, ph = prop[:, 2] - prop[:, 0], prop[:, 3] - prop[:, 1]
    px, py = prop[:, 0] + .5 * pw, prop[:, 1] + .5 * ph
    gw, gh = ref[:, 2] - ref[:, 0], ref[:, 3] - ref[:, 1]
    gx, gy = ref[:, 0] + .5 * gw, ref[:, 1] + .5 * gh
    return torch.stack([(gx - px) / pw, (gy - py) / ph, torch.log(gw / pw), torch.log(gh / ph)], dim=1) * w

def decode_boxes(deltas, boxes, weights=(10., 10., 5., 5.), clip=math.log(1000. / 16)):
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    cx, cy = boxes[:, 0] + .5 * w, boxes[:, 1] + .5 * h
    dx, dy, dw, dh = (deltas / torch.tensor(weights)).unbind(-1)
    if dx.dim() == 2:  # class specific
        w, h, cx, cy = [t[:, None] for t in (w, h, cx, cy)]
    cx, cy = dx * w + cx, dy * h + cy
    pw, ph = torch.exp(dw.clamp(max=clip)) * w, torch.exp(dh.clamp(max=clip)) * h
    return torch.stack([cx - .5 * pw, cy - .5 * ph, cx + .5 * pw, cy + .5 * ph], dim=-1)

def pairwise_iou(a, b):
    lt = torch.maximum(a[:, None, :2], b[None, :, :2])
    rb = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp_(min=0).prod(dim=2)
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    return inter / (area(a)[:, None] + area(b)[None] - inter + 1e-6)

def nms(boxes, scores, thr):
    order = scores.argsort(descending=True)
    iou = pairwise_iou(boxes[order], boxes[order])
    keep = torch.ones(len(order), dtype=torch.bool)
    for i in range(len(order)):
        if keep[i]:
            keep[i + 1:] &= iou[i, i + 1:] <= thr
    return order[keep]

def clip_boxes(b, hw):
    x, y = b[..., 0::2].clamp(0, hw[1]), b[..., 1::2].clamp(0, hw[0])
    return torch.stack((x[..., 0], y[..., 0], x[..., 1], y[..., 1]), dim=-1)

def subsample(labels, n, pos_frac=0.5):
    pos, neg = torch.where(labels >= 1)[0], torch.where(labels == 0)[0]
    npos = min(len(pos), int(n * pos_frac))
    nneg = min(len(neg), n - npos)
    return pos[torch.randperm(len(pos))[:npos]], neg[torch.randperm(len(neg))[:nneg]]

@register('fpn_tiny')
class TinyFPN(nn.Module):
    def __init__(self, widths, out_channels, act='ReLU', **kwargs):
        super().__init__()
        dims = (3,) + tuple(widths)
        self.stages = nn.ModuleList()
        for i, (a, b) in enumerate(zip(dims[:-1], dims[1:])):
            self.stages.append(nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.GroupNorm(2, b), getattr(nn, act)(**kwargs)))
        self.lateral = nn.ModuleList([nn.Conv2d(w, out_channels, 1) for w in widths[1:]])
        self.smooth = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        self.out_channels = out_channels

    def forward(self, x):
        feats = []
        for s in self.stages:
            x = s(x)
            feats.append(x)
        c3, c4 = feats[1:]
        p4 = self.lateral[1](c4)
        p3 = self.lateral[0](c3) + F.interpolate(p4, size=c3.shape[-2:], mode='nearest')
        return self.smooth(p3)

class RPN(nn.Module):
    def __init__(self, cfg, cin):
        super().__init__()
        self.cfg = cfg
        self.A = len(cfg.anchor_sizes) * len(cfg.anchor_ratios)
        self.conv = nn.Conv2d(cin, cin, 3, padding=1)
        self.cls, self.reg = nn.Conv2d(cin, self.A, 1), nn.Conv2d(cin, self.A * 4, 1)
        for l in (self.cls, self.reg):
            nn.init.normal_(l.weight, std=0.01)
            nn.init.constant_(l.bias, 0)
        s, r = torch.tensor(cfg.anchor_sizes).float(), torch.tensor(cfg.anchor_ratios)
        ws, hs = (s[:, None] / r.sqrt()[None]).flatten(), (s[:, None] * r.sqrt()[None]).flatten()
        self.register_buffer('cell', torch.stack([-ws, -hs, ws, hs], 1) / 2)

    def anchors(self, h, w):
        sy, sx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing='ij')
        shift = (torch.stack([sx, sy, sx, sy], -1).reshape(-1, 1, 4) + 0.5) * self.cfg.strides
        return (shift + self.cell[None]).reshape(-1, 4)

    def forward(self, feat, targets=None):
        t = F.relu(self.conv(feat))
        N, _, h, w = feat.shape
        obj = self.cls(t).permute(0, 2, 3, 1).reshape(N, -1)
        reg = self.reg(t).view(N, self.A, 4, h, w).permute(0, 3, 4, 1, 2).reshape(N, -1, 4)
        anchors = self.anchors(h, w)
        proposals = []
        with torch.no_grad():
            for o, r in zip(obj, reg):
                top = o.topk(min(self.cfg.pre_nms, o.numel())).indices
                b = clip_boxes(decode_boxes(r[top], anchors[top], (1., 1., 1., 1.)), self.cfg.image_hw)
                ok = ((b[:, 2] - b[:, 0]) > 1) & ((b[:, 3] - b[:, 1]) > 1)
                b, s = b[ok], o[top][ok]
                proposals.append(b[nms(b, s, self.cfg.rpn_nms)[:self.cfg.post_nms]])
        losses = {}
        if targets is not None:
            lc, lr, n = 0., 0., 0
            for o, r, tgt in zip(obj, reg, targets):
                iou = pairwise_iou(anchors, tgt['boxes'])
                best, gt_idx = iou.max(1)
                labels = torch.full_like(gt_idx, -1)
                labels[best < 0.3] = 0
                labels[best > 0.6] = 1
                labels[iou.argmax(0)] = 1
                pos, neg = subsample(labels, self.cfg.rpn_batch)
                idx = torch.cat([pos, neg])
                lc = lc + F.binary_cross_entropy_with_logits(o[idx], labels[idx].float(), reduction='sum')
                lr = lr + F.smooth_l1_loss(r[pos], encode_boxes(tgt['boxes'][gt_idx[pos]], anchors[pos], (1., 1., 1., 1.)),
                                           beta=1 / 9, reduction='sum')
                n += len(idx)
            losses = {'rpn_cls': lc / n, 'rpn_reg': lr / n}
        return proposals, losses

def roi_align(feat, boxes_list, size, stride):
    """feat [N,C,h,w], boxes in image coords"""
    oh, ow = size
    outs = []
    for f, b in zip(feat, boxes_list):
        gy, gx = (torch.arange(oh) + .5) / oh, (torch.arange(ow) + .5) / ow
        ys = b[:, 1:2] + gy[None] * (b[:, 3:4] - b[:, 1:2])
        xs = b[:, 0:1] + gx[None] * (b[:, 2:3] - b[:, 0:1])
        ys, xs = ys / (stride * f.shape[1]) * 2 - 1, xs / (stride * f.shape[2]) * 2 - 1
        grid = torch.stack([xs[:, None, :].expand(-1, oh, -1), ys[:, :, None].expand(-1, -1, ow)], dim=-1)
        outs.append(F.grid_sample(f[None].expand(len(b), -1, -1, -1), grid, align_corners=False))
    return torch.cat(outs)

@register('two_fc')
class BoxHead(nn.Module):
    def __init__(self, cfg, cin, hidden=46):
        super().__init__()
        self.cfg = cfg
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(cin * cfg.roi_size[0] * cfg.roi_size[1], hidden), nn.ReLU(),
                                  nn.Linear(hidden, hidden - 8), nn.ReLU())
        self.cls_score = nn.Linear(hidden - 8, cfg.num_classes + 1)
        self.bbox_pred = nn.Linear(hidden - 8, 4 * cfg.num_classes)

    def forward(self, feat, proposals, targets=None):
        cfg = self.cfg
        if targets is not None:
            labels, regs, props = [], [], []
            for p, t in zip(proposals, targets):
                p = torch.cat([p, t['boxes']])
                iou, gi = pairwise_iou(p, t['boxes']).max(1)
                l = torch.where(iou >= 0.5, t['labels'][gi] + 1, torch.zeros_like(gi))
                pos, neg = subsample(l, 16, 0.4)
                keep = torch.cat([pos, neg])
                props.append(p[keep]); labels.append(l[keep]); regs.append(encode_boxes(t['boxes'][gi[keep]], p[keep]))
            proposals, labels, regs = props, torch.cat(labels), torch.cat(regs)
        x = self.body(roi_align(feat, proposals, cfg.roi_size, cfg.strides))
        cls, reg = self.cls_score(x), self.bbox_pred(x).view(-1, cfg.num_classes, 4)
        if targets is not None:
            fg = torch.nonzero(labels > 0).squeeze(1)
            lreg = F.smooth_l1_loss(reg[fg, labels[fg] - 1], regs[fg], reduction='sum') / labels.numel()
            return {'roi_cls': F.cross_entropy(cls, labels), 'roi_reg': lreg}
        results = []
        sizes = [len(p) for p in proposals]
        for c, r, p in zip(cls.softmax(-1).split(sizes), reg.split(sizes), proposals):
            boxes = clip_boxes(decode_boxes(r, p), cfg.image_hw)
            out = []
            for k in range(cfg.num_classes):
                keep = nms(boxes[:, k], c[:, k + 1], cfg.box_nms)[:4]
                out.append(torch.cat([boxes[keep, k], c[keep, k + 1:k + 2], torch.full((len(keep), 1), float(k))], 1))
            results.append(torch.cat(out))
        return results

class Detector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.backbone = REGISTRY[cfg.backbone](**cfg.backbone_kwargs)
        self.rpn = RPN(cfg, self.backbone.out_channels)
        self.roi_heads = REGISTRY['two_fc'](cfg, self.backbone.out_channels)

    def forward(self, images, targets=None):
        feat = self.backbone(images)
        proposals, losses = self.rpn(feat, targets)
        out = self.roi_heads(feat, proposals, targets)
        return {**losses, **out} if targets is not None else out

def make_batch(cfg):
    H, W = cfg.image_hw
    imgs, targets = torch.randn(cfg.batch, 3, H, W) * 0.1, []
    for i in range(cfg.batch):
        n = int(torch.randint(1, 4, ()))
        wh = torch.randint(8, 20, (n, 2)).float()
        xy = torch.rand(n, 2) * (torch.tensor([W, H]) - wh)
        boxes, labels = torch.cat([xy, xy + wh], 1).round(), torch.randint(0, cfg.num_classes, (n,))
        for (x1, y1, x2, y2), l in zip(boxes.int().tolist(), labels.tolist()):
            imgs[i, l, y1:y2, x1:x2] += 1.0
        targets.append({'boxes': boxes, 'labels': labels})
    return imgs, targets

if __name__ == '__main__':
    torch.manual_seed(8)
    cfg = Config()
    model = Detector(cfg)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9, nesterov=True)
    for it in range(cfg.steps):
        losses = model(*make_batch(cfg))
        total = sum(l for l in losses.values())
        opt.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.)
        opt.step()
        if it % 4 == 0:
            print(f'{it}: {total.item():.3f} ' + ' '.join(f'{k}={v.item():.3f}' for k, v in losses.items()))
    model.eval()
    with torch.no_grad():
        imgs, t = make_batch(cfg)
        dets = model(imgs)
    print([d.shape for d in dets], dets[0][dets[0][:, 4].argmax()], t[0])
