"""
DETR-style set prediction, single file. Matching is exact (brute force over permutations) since N is tiny.
"""
import copy
import itertools
import math
from collections import OrderedDict
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

class Config(dict):
    __getattr__ = dict.__getitem__

    def __setattr__(self, k, v):
        self[k] = v

def get_config(**overrides):
    cfg = Config(seed=17, num_classes=3, num_queries=6, max_objects=3, hidden_dim=36, nheads=4, enc_layers=1,
                 dec_layers=2, dim_feedforward=54, dropout=0.1, activation='relu', img_size=(32, 44), batch_size=5,
                 steps=11, lr=1e-3, lr_backbone=3e-4, weight_decay=1e-4, clip_max_norm=0.1, eos_coef=0.1,
                 cost=dict(cls=1.0, bbox=5.0, giou=2.0), aux_loss=True)
    cfg.update(overrides)
    return cfg

# ----------------------------------------------------------------------------- box ops
def box_cxcywh_to_xyxy(x):
    x_c, y_c, w, h = x.unbind(-1)
    b = [(x_c - 0.5 * w), (y_c - 0.5 * h), (x_c + 0.5 * w), (y_c + 0.5 * h)]
    return torch.stack(b, dim=-1)

def box_iou(boxes1, boxes2):
    area1 = (boxes1[:, 2] - boxes1[:, 0]) * (boxes1[:, 3] - boxes1[:, 1])
    area2 = (boxes2[:, 2] - boxes2[:, 0]) * (boxes2[:, 3] - boxes2[:, 1])
    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = area1[:, None] + area2 - inter
    return inter / union, union

def generalized_box_iou(boxes1, boxes2):
    iou, union = box_iou(boxes1, boxes2)
    lt = torch.min(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.max(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    area = wh[:, :, 0] * wh[:, :, 1]
    return iou - (area - union) / area

# ----------------------------------------------------------------------------- model
class FrozenBatchNorm2d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("weight", torch.ones(n))
        self.register_buffer("bias", torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        w, b = self.weight.reshape(1, -1, 1, 1), self.bias.reshape(1, -1, 1, 1)
        rv, rm = self.running_var.reshape(1, -1, 1, 1), self.running_mean.reshape(1, -1, 1, 1)
        scale = w * (rv + 1e-5).rsqrt()
        return x * scale + (b - rm * scale)

class PositionEmbeddingSine(nn.Module):
    def __init__(self, num_pos_feats=18, temperature=10000):
        super().__init__()
        self.num_pos_feats = num_pos_feats
        self.temperature = temperature

    def forward(self, mask):
        not_mask = ~mask
        y_embed = not_mask.cumsum(1, dtype=torch.float32)
        x_embed = not_mask.cumsum(2, dtype=torch.float32)
        y_embed = y_embed / (y_embed[:, -1:, :] + 1e-6) * 2 * math.pi
        x_embed = x_embed / (x_embed[:, :, -1:] + 1e-6) * 2 * math.pi
        dim_t = torch.arange(self.num_pos_feats, dtype=torch.float32)
        dim_t = self.temperature ** (2 * torch.div(dim_t, 2, rounding_mode='floor') / self.num_pos_feats)
        pos = [e[:, :, :, None] / dim_t for e in (y_embed, x_embed)]
        pos = [torch.stack((p[..., 0::2].sin(), p[..., 1::2].cos()), dim=4).flatten(3) for p in pos]
        return torch.cat(pos, dim=3).permute(0, 3, 1, 2)

def build_backbone(widths=(3, 12, 20, 30), norm=FrozenBatchNorm2d):
    body = OrderedDict()
    for i, (cin, cout) in enumerate(zip(widths[:-1], widths[1:])):
        body[f'layer{i}'] = nn.Sequential(OrderedDict([
            ('conv', nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False)), ('norm', norm(cout)), ('act', nn.ReLU())]))
    net = nn.Sequential(body)
    net.num_channels = widths[-1]
    return net

class DecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward, dropout, activation):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout)
        self.multihead_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout)
        self.linear1, self.linear2 = nn.Linear(d_model, dim_feedforward), nn.Linear(dim_feedforward, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))
        self.drop = nn.Dropout(dropout)
        self.activation = getattr(F, activation)

    @staticmethod
    def with_pos_embed(tensor, pos):
        return tensor if pos is None else tensor + pos

    def forward(self, tgt, memory, memory_key_padding_mask=None, pos=None, query_pos=None):
        q = k = self.with_pos_embed(tgt, query_pos)
        tgt = self.norms[0](tgt + self.drop(self.self_attn(q, k, value=tgt)[0]))
        tgt2, self.last_attn = self.multihead_attn(self.with_pos_embed(tgt, query_pos), self.with_pos_embed(memory, pos),
                                                   value=memory, key_padding_mask=memory_key_padding_mask)
        tgt = self.norms[1](tgt + self.drop(tgt2))
        return self.norms[2](tgt + self.drop(self.linear2(self.activation(self.linear1(tgt)))))

class MLP(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, num_layers):
        super().__init__()
        h = [hidden_dim] * (num_layers - 1)
        self.layers = nn.ModuleList(nn.Linear(n, k) for n, k in zip([input_dim] + h, h + [output_dim]))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = F.relu(layer(x)) if i < len(self.layers) - 1 else layer(x)
        return x

class DETR(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg.hidden_dim
        self.backbone = build_backbone()
        self.pos = PositionEmbeddingSine(d // 2)
        self.input_proj = nn.Conv2d(self.backbone.num_channels, d, kernel_size=1)
        enc = nn.TransformerEncoderLayer(d, cfg.nheads, cfg.dim_feedforward, cfg.dropout, cfg.activation)
        self.encoder = nn.TransformerEncoder(enc, cfg.enc_layers, enable_nested_tensor=False)
        dec = DecoderLayer(d, cfg.nheads, cfg.dim_feedforward, cfg.dropout, cfg.activation)
        self.decoder = nn.ModuleList([copy.deepcopy(dec) for _ in range(cfg.dec_layers)])
        self.norm = nn.LayerNorm(d)
        self.query_embed = nn.Embedding(cfg.num_queries, d)
        self.class_embed = nn.Linear(d, cfg.num_classes + 1)
        self.bbox_embed = MLP(d, d, 4, 3)

    def forward(self, images, mask):
        src = self.input_proj(self.backbone(images))
        m = F.interpolate(mask[None].float(), size=src.shape[-2:]).to(torch.bool)[0]
        pos = self.pos(m).flatten(2).permute(2, 0, 1)
        bs = src.shape[0]
        src, m = src.flatten(2).permute(2, 0, 1), m.flatten(1)
        memory = self.encoder(src + pos, src_key_padding_mask=m)
        query = self.query_embed.weight.unsqueeze(1).repeat(1, bs, 1)
        tgt = torch.zeros_like(query)
        hs = []
        for layer in self.decoder:
            tgt = layer(tgt, memory, m, pos, query)
            hs.append(self.norm(tgt))
        hs = torch.stack(hs).transpose(1, 2)
        cls, box = self.class_embed(hs), self.bbox_embed(hs).sigmoid()
        out = {'pred_logits': cls[-1], 'pred_boxes': box[-1]}
        out['aux_outputs'] = [{'pred_logits': a, 'pred_boxes': b} for a, b in zip(cls[:-1], box[:-1])]
        return out

class SetCriterion(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        empty_weight = torch.ones(cfg.num_classes + 1)
        empty_weight[-1] = cfg.eos_coef
        self.register_buffer('empty_weight', empty_weight)

    @torch.no_grad()
    def match(self, outputs, targets):
        w, indices = self.cfg.cost, []
        for logit, box, t in zip(outputs['pred_logits'], outputs['pred_boxes'], targets):
            C = -w['cls'] * logit.softmax(-1)[:, t['labels']] + w['bbox'] * torch.cdist(box, t['boxes'], p=1)
            C = C - w['giou'] * generalized_box_iou(box_cxcywh_to_xyxy(box), box_cxcywh_to_xyxy(t['boxes']))
            perms = torch.tensor(list(itertools.permutations(range(C.shape[0]), C.shape[1])))
            total = C[perms, torch.arange(C.shape[1])].sum(1)
            indices.append((perms[total.argmin()], torch.arange(C.shape[1])))
        return indices

    def losses(self, outputs, targets):
        indices = self.match(outputs, targets)
        batch_idx = torch.cat([torch.full_like(src, i) for i, (src, _) in enumerate(indices)])
        src_idx = torch.cat([src for (src, _) in indices])
        num_boxes = max(sum(len(t['labels']) for t in targets), 1)
        target_o = torch.cat([t['labels'][J] for t, (_, J) in zip(targets, indices)])
        logits = outputs['pred_logits']
        target_classes = torch.full(logits.shape[:2], self.cfg.num_classes, dtype=torch.int64)
        target_classes[batch_idx, src_idx] = target_o
        src_boxes = outputs['pred_boxes'][batch_idx, src_idx]
        tgt_boxes = torch.cat([t['boxes'][J] for t, (_, J) in zip(targets, indices)], dim=0)
        giou = torch.diag(generalized_box_iou(*map(box_cxcywh_to_xyxy, (src_boxes, tgt_boxes))))
        return {'loss_ce': F.cross_entropy(logits.transpose(1, 2), target_classes, self.empty_weight),
                'loss_bbox': self.cfg.cost['bbox'] * F.l1_loss(src_boxes, tgt_boxes, reduction='none').sum() / num_boxes,
                'loss_giou': self.cfg.cost['giou'] * (1 - giou).sum() / num_boxes}

    def forward(self, outputs, targets):
        losses = self.losses(outputs, targets)
        if self.cfg.aux_loss:
            for i, aux in enumerate(outputs['aux_outputs']):
                losses.update({f'{k}_{i}': v for k, v in self.losses(aux, targets).items()})
        return losses

def synth_batch(cfg, rng):
    H, W = cfg.img_size
    imgs, masks = torch.zeros(cfg.batch_size, 3, H, W), torch.ones(cfg.batch_size, H, W, dtype=torch.bool)
    targets = []
    for b in range(cfg.batch_size):
        h, w = rng.integers(H - 8, H + 1), rng.integers(W - 10, W + 1)
        masks[b, :h, :w] = False
        n = rng.integers(1, cfg.max_objects + 1)
        boxes, labels = [], rng.integers(0, cfg.num_classes, n)
        for c in labels:
            bw, bh = rng.integers(6, 16), rng.integers(5, 13)
            x, y = rng.integers(0, w - bw), rng.integers(0, h - bh)
            imgs[b, c, y:y + bh, x:x + bw] = 1.0
            boxes.append([(x + bw / 2) / W, (y + bh / 2) / H, bw / W, bh / H])
        targets.append({'labels': torch.tensor(labels), 'boxes': torch.tensor(boxes, dtype=torch.float32)})
    return imgs, masks, targets

def main():
    cfg = get_config()
    torch.manual_seed(cfg.seed)
    sample = partial(synth_batch, cfg, np.random.default_rng(cfg.seed))
    model, criterion = DETR(cfg), SetCriterion(cfg)
    groups = [{"params": [p for n, p in model.named_parameters() if "backbone" not in n]},
              {"params": [p for n, p in model.named_parameters() if "backbone" in n], "lr": cfg.lr_backbone}]
    optimizer = torch.optim.AdamW(groups, lr=cfg.lr, weight_decay=cfg.weight_decay)
    for step in range(cfg.steps):
        imgs, masks, targets = sample()
        loss_dict = criterion(model(imgs, masks), targets)
        loss = sum(loss_dict.values())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), cfg.clip_max_norm)
        optimizer.step()
        if step % 5 == 0:
            print(step, round(loss.item(), 3), {k: round(v.item(), 3) for k, v in loss_dict.items()})
    model.eval()
    with torch.no_grad():
        imgs, masks, targets = sample()
        out = model(imgs, masks)
        scores, labels = out['pred_logits'].softmax(-1)[..., :-1].max(-1)
        print(scores.shape, labels[0], model.decoder[-1].last_attn.shape)

if __name__ == '__main__':
    main()
