"""CLIP on captioned coloured shapes: ViT or ResNet image tower + causal text tower."""
from __future__ import annotations

import itertools
import math
import os
import random
import re
import tempfile
from collections import OrderedDict
from functools import partial

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch.utils.data import DataLoader, Dataset

COLORS = {"red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "purple": (.7, 0, .7)}
SHAPES = ["square", "disk", "cross", "ring"]
PLACES = ["left", "right"]
TEMPLATES = ["a {c} {s} on the {p}", "there is a {s} which is {c} , {p} side", "{c} {s} {p}"]


class SimpleTokenizer:
    def __init__(self, corpus):
        words = sorted({w for line in corpus for w in self.split(line)})
        self.vocab = {w: i for i, w in enumerate(["<pad>", "<sot>", "<eot>"] + words)}
        # eot must be the largest id, clip finds it by argmax
        self.vocab["<eot>"] = len(self.vocab)

    @staticmethod
    def split(text):
        return re.findall(r"[a-z]+|[^\sa-z]", text.lower())

    def __len__(self):
        return max(self.vocab.values()) + 1

    def __call__(self, texts, context_length=13):
        if isinstance(texts, str):
            texts = [texts]
        result = torch.zeros(len(texts), context_length, dtype=torch.long)
        for i, t in enumerate(texts):
            toks = [self.vocab["<sot>"]] + [self.vocab[w] for w in self.split(t)] + [self.vocab["<eot>"]]
            if len(toks) > context_length:
                toks = toks[:context_length]
                toks[-1] = self.vocab["<eot>"]
            result[i, :len(toks)] = torch.tensor(toks)
        return result


def draw(color, shape, place, hw=(28, 40), rng=np.random):
    h, w = hw
    img = 0.1 * rng.rand(h, w, 3)
    cy, cx = rng.randint(9, h - 9), rng.randint(9, w // 2 - 9)
    cx += w // 2 if place == "right" else 0
    y, x = np.ogrid[:h, :w]
    dy, dx = np.abs(y - cy), np.abs(x - cx)
    r2 = dy ** 2 + dx ** 2
    m = {"square": np.maximum(dy, dx) < 6, "disk": r2 < 49,
         "cross": ((dy < 2) & (dx < 7)) | ((dx < 2) & (dy < 7)), "ring": (r2 < 64) & (r2 > 25)}[shape]
    img[m] = np.array(COLORS[color])
    return img.astype(np.float32)


class CaptionedShapes(Dataset):
    mean, std = (0.2, 0.2, 0.2), (0.3, 0.25, 0.3)

    def __init__(self, length, transform=None):
        self.combos = list(itertools.product(COLORS, SHAPES, PLACES))
        self.length = length
        self.transform = transform

    def __len__(self):
        return self.length

    def __getitem__(self, idx):
        c, s, p = self.combos[(idx * 7) % len(self.combos)]
        rng = np.random.RandomState(idx)
        img = torch.from_numpy(draw(c, s, p, rng=rng)).permute(2, 0, 1)
        if self.transform:
            img = self.transform(img)
        return {"image": img, "caption": TEMPLATES[rng.randint(3)].format(c=c, s=s, p=p), "label": (idx * 7) % len(self.combos)}


def normalize(img, mean, std):
    return (img - torch.tensor(mean)[:, None, None]) / torch.tensor(std).view(-1, 1, 1)


class LayerNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.type(torch.float32)).type(x.dtype)


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class ResidualAttentionBlock(nn.Module):
    def __init__(self, d_model, n_head, attn_mask=None):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head)
        self.ln_1 = LayerNorm(d_model)
        self.mlp = nn.Sequential(OrderedDict([
            ("c_fc", nn.Linear(d_model, d_model * 4)), ("gelu", QuickGELU()), ("c_proj", nn.Linear(d_model * 4, d_model))]))
        self.ln_2 = LayerNorm(d_model)
        self.attn_mask = attn_mask

    def attention(self, x):
        mask = self.attn_mask.to(dtype=x.dtype, device=x.device) if self.attn_mask is not None else None
        return self.attn(x, x, x, need_weights=False, attn_mask=mask)[0]

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class Transformer(nn.Module):
    def __init__(self, width, layers, heads, attn_mask=None):
        super().__init__()
        self.resblocks = nn.Sequential(*[ResidualAttentionBlock(width, heads, attn_mask) for _ in range(layers)])

    def forward(self, x):
        return self.resblocks(x)


class VisionTransformer(nn.Module):
    def __init__(self, image_size, patch_size, width, layers, heads, output_dim):
        super().__init__()
        gh, gw = image_size[0] // patch_size, image_size[1] // patch_size
        self.to_patch = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=patch_size, p2=patch_size),
            nn.Linear(3 * patch_size ** 2, width))
        scale = width ** -0.5
        self.class_embedding = nn.Parameter(scale * torch.randn(width))
        self.positional_embedding = nn.Parameter(scale * torch.randn(gh * gw + 1, width))
        self.ln_pre, self.ln_post = LayerNorm(width), LayerNorm(width)
        self.transformer = Transformer(width, layers, heads)
        self.proj = nn.Parameter(scale * torch.randn(width, output_dim))

    def forward(self, x):
        x = self.to_patch(x)
        cls = repeat(self.class_embedding, "d -> b 1 d", b=x.shape[0])
        x = torch.cat([cls, x], dim=1) + self.positional_embedding
        x = rearrange(self.ln_pre(x), "b n d -> n b d")
        x = self.transformer(x)
        x = self.ln_post(x[0])
        return x @ self.proj


class AttentionPool2d(nn.Module):
    def __init__(self, spatial, embed_dim, num_heads, output_dim):
        super().__init__()
        self.positional_embedding = nn.Parameter(torch.randn(spatial[0] * spatial[1] + 1, embed_dim) / embed_dim ** 0.5)
        self.qkv = nn.Linear(embed_dim, embed_dim * 3)
        self.c_proj = nn.Linear(embed_dim, output_dim)
        self.num_heads = num_heads

    def forward(self, x):
        x = rearrange(x, "b c h w -> b (h w) c")
        x = torch.cat([x.mean(dim=1, keepdim=True), x], dim=1) + self.positional_embedding[None]
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.num_heads), self.qkv(x).chunk(3, dim=-1))
        attn = torch.einsum("bhd,bhnd->bhn", q[:, :, 0] * q.shape[-1] ** -0.5, k).softmax(dim=-1)
        out = torch.einsum("bhn,bhnd->bhd", attn, v)
        return self.c_proj(rearrange(out, "b h d -> b (h d)"))


class ConvTower(nn.Module):
    def __init__(self, image_size, widths, heads, output_dim):
        super().__init__()
        blocks, c = [], 3
        for w in widths:
            blocks += [nn.Conv2d(c, w, 3, padding=1, bias=False), nn.BatchNorm2d(w), nn.ReLU(inplace=True), nn.AvgPool2d(2)]
            c = w
        self.trunk = nn.Sequential(*blocks)
        f = 2 ** len(widths)
        self.attnpool = AttentionPool2d((image_size[0] // f, image_size[1] // f), c, heads, output_dim)

    def forward(self, x):
        return self.attnpool(self.trunk(x))


VISION = {
    "vit": partial(VisionTransformer, patch_size=4, width=48, layers=2, heads=4),
    "conv": partial(ConvTower, widths=(20, 44), heads=2),
}


class CLIP(nn.Module):
    def __init__(self, *, embed_dim, vision, image_size, context_length, vocab_size, text_width, text_heads, text_layers):
        super().__init__()
        self.context_length = context_length
        self.visual = VISION[vision](image_size=image_size, output_dim=embed_dim)
        self.transformer = Transformer(text_width, text_layers, text_heads, self.build_attention_mask())
        self.token_embedding = nn.Embedding(vocab_size, text_width)
        self.positional_embedding = nn.Parameter(torch.empty(context_length, text_width))
        self.ln_final = LayerNorm(text_width)
        self.text_projection = nn.Parameter(torch.empty(text_width, embed_dim))
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        nn.init.normal_(self.positional_embedding, std=0.01)
        nn.init.normal_(self.text_projection, std=text_width ** -0.5)

    def build_attention_mask(self):
        mask = torch.empty(self.context_length, self.context_length)
        mask.fill_(float("-inf"))
        mask.triu_(1)
        return mask

    def encode_image(self, image):
        return self.visual(image)

    def encode_text(self, text):
        x = self.token_embedding(text)
        x = x + self.positional_embedding
        x = x.permute(1, 0, 2)
        x = self.transformer(x)
        x = x.permute(1, 0, 2)
        x = self.ln_final(x)
        return x[torch.arange(x.shape[0]), text.argmax(dim=-1)] @ self.text_projection

    def forward(self, image, text):
        image_features = self.encode_image(image)
        text_features = self.encode_text(text)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logits_per_image = self.logit_scale.exp() * image_features @ text_features.t()
        return logits_per_image, logits_per_image.t()


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.named_parameters():
            self.shadow[k].lerp_(v, 1 - self.decay)

    def copy_to(self, model):
        model.load_state_dict(self.shadow, strict=False)


@torch.no_grad()
def zero_shot_weights(model, tokenizer, combos):
    ws = []
    for c, s, p in combos:
        texts = tokenizer([t.format(c=c, s=s, p=p) for t in TEMPLATES], model.context_length)
        e = F.normalize(model.encode_text(texts), dim=-1).mean(dim=0)
        ws.append(e / e.norm())
    return torch.stack(ws, dim=1)


def accuracy(output, target, topk=(1,)):
    pred = output.topk(max(topk), 1, True, True)[1].t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    return [float(correct[:k].reshape(-1).float().sum(0, keepdim=True).numpy().item()) for k in topk]


def run(vision):
    torch.manual_seed(0)
    random.seed(0)
    ds = CaptionedShapes(51, transform=partial(normalize, mean=CaptionedShapes.mean, std=CaptionedShapes.std))
    tok = SimpleTokenizer([t.format(c=c, s=s, p=p) for t in TEMPLATES for c, s, p in ds.combos])
    config = {"embed_dim": 36, "vision": vision, "image_size": (28, 40), "context_length": 13, "vocab_size": len(tok),
              "text_width": 40, "text_heads": 5, "text_layers": 2}
    model = CLIP(**config)
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
    no_decay = [p for n, p in model.named_parameters() if p.ndim < 2]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.2}, {"params": no_decay, "weight_decay": 0.}],
                            lr=1e-3, betas=(0.9, 0.98), eps=1e-6)
    ema = EMA(model)

    def collate(items):
        return (torch.stack([i["image"] for i in items]), tok([i["caption"] for i in items]),
                torch.tensor([i["label"] for i in items]))

    for step, (images, tokens, _) in enumerate(DataLoader(ds, batch_size=17, shuffle=True, collate_fn=collate)):
        logits_i, logits_t = model(images, tokens)
        gt = torch.arange(len(images))
        loss = (F.cross_entropy(logits_i, gt) + F.cross_entropy(logits_t, gt)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0, math.log(100))
        ema.update(model)
        print(f"[{vision}] step {step} loss {loss.item():.4f} scale {model.logit_scale.exp().item():.2f}")

    with tempfile.TemporaryDirectory() as td:
        torch.save({"config": config, "state_dict": model.state_dict()}, os.path.join(td, "clip.pt"))
        ck = torch.load(os.path.join(td, "clip.pt"), weights_only=False)
        model = CLIP(**ck["config"])
        model.load_state_dict(ck["state_dict"])
    ema.copy_to(model)
    model.eval()
    w = zero_shot_weights(model, tok, ds.combos)
    top1 = top5 = n = 0.
    with torch.no_grad():
        for images, _, labels in DataLoader(ds, batch_size=20, collate_fn=collate):
            f = F.normalize(model.encode_image(images), dim=-1)
            a1, a5 = accuracy(100. * f @ w, labels, topk=(1, 5))
            top1, top5, n = top1 + a1, top5 + a5, n + images.size(0)
    print(f"[{vision}] zero shot top1 {100 * top1 / n:.1f} top5 {100 * top5 / n:.1f}")


if __name__ == "__main__":
    for name in VISION:
        run(name)
