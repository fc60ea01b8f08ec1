"""
Distilling a convnet into a small vision transformer (DeiT style), with patch dropout.

Images are coloured shapes drawn with numpy.  First the CNN teacher is trained a little, then the
student learns from the labels and from the teacher through its distillation token.
"""
import argparse
import copy
import json

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch.utils.data import DataLoader, TensorDataset


# --------------------------------------------------------------------------------------
# data
# --------------------------------------------------------------------------------------

def draw_shape(kind, size, rng):
    yy, xx = np.mgrid[:size, :size]
    cy, cx = rng.uniform(size * 0.35, size * 0.65, 2)
    r = rng.uniform(size * 0.15, size * 0.3)
    if kind == 0:
        inside = (yy - cy) ** 2 + (xx - cx) ** 2 < r ** 2
    elif kind == 1:
        inside = (np.abs(yy - cy) < r) & (np.abs(xx - cx) < r)
    elif kind == 2:
        inside = np.abs(yy - cy) + np.abs(xx - cx) < r
    else:
        inside = (np.abs(yy - cy) < r / 3) | (np.abs(xx - cx) < r / 3)
    img = rng.uniform(0, 0.3, (3, size, size))
    img[:, inside] = rng.uniform(0.5, 1.0, (3, 1))
    return img


def make_dataset(n, size, num_classes, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, num_classes, n)
    images = np.stack([draw_shape(k, size, rng) for k in labels]).astype("float32")
    images = (images - images.mean((0, 2, 3), keepdims=True)) / images.std((0, 2, 3), keepdims=True)
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))


# --------------------------------------------------------------------------------------
# teacher
# --------------------------------------------------------------------------------------

def conv_bn(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout),
                         nn.ReLU(inplace=True))


class Teacher(nn.Module):
    def __init__(self, num_classes, width=24):
        super().__init__()
        self.features = nn.Sequential(
            conv_bn(3, width),
            conv_bn(width, 2 * width, 2),
            conv_bn(2 * width, 2 * width),
            conv_bn(2 * width, 4 * width, 2),
        )
        self.head = nn.Linear(4 * width, num_classes)

    def forward(self, x):
        x = self.features(x)
        return self.head(x.mean(dim=(2, 3)))


# --------------------------------------------------------------------------------------
# student
# --------------------------------------------------------------------------------------

class PatchDropout(nn.Module):
    """Keeps a random subset of patches while training; https://arxiv.org/abs/2208.07220"""

    def __init__(self, prob=0.25):
        super().__init__()
        assert 0 <= prob < 1.
        self.prob = prob

    def forward(self, x):
        if not self.training or self.prob == 0.:
            return x
        b, n, d = x.shape
        keep = max(1, int(n * (1 - self.prob)))
        idx = torch.randn(b, n, device=x.device).topk(keep, dim=-1).indices
        rows = torch.arange(b, device=x.device)[:, None]
        return x[rows, idx]


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0.):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_dim, dim),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64, dropout=0.):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads = heads
        self.scale = dim_head ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(dropout)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        x = self.norm(x)
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h=self.heads), qkv)
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        attn = self.dropout(self.attend(dots))
        out = torch.matmul(attn, v)
        out = rearrange(out, 'b h n d -> b n (h d)')
        return self.to_out(out)


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0. or not self.training:
            return x
        keep = torch.rand((x.shape[0],) + (1,) * (x.ndim - 1), device=x.device) >= self.p
        return x * keep / (1 - self.p)


class Transformer(nn.Module):
    def __init__(self, dim, depth, heads, dim_head, mlp_dim, dropout=0., drop_path=0.):
        super().__init__()
        self.layers = nn.ModuleList([])
        for rate in np.linspace(0, drop_path, depth):
            self.layers.append(nn.ModuleList([
                Attention(dim, heads=heads, dim_head=dim_head, dropout=dropout),
                FeedForward(dim, mlp_dim, dropout=dropout),
                DropPath(float(rate)),
            ]))
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        for attn, ff, drop in self.layers:
            x = drop(attn(x)) + x
            x = drop(ff(x)) + x
        return self.norm(x)


class DistillableViT(nn.Module):
    def __init__(self, *, image_size, patch_size, num_classes, dim, depth, heads, mlp_dim, channels=3,
                 dim_head=16, dropout=0., patch_dropout=0.25, drop_path=0.1):
        super().__init__()
        assert image_size % patch_size == 0, 'image must be divisible by the patch size'
        num_patches = (image_size // patch_size) ** 2
        patch_dim = channels * patch_size ** 2

        self.to_patch_embedding = nn.Sequential(
            Rearrange('b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=patch_size, p2=patch_size),
            nn.LayerNorm(patch_dim),
            nn.Linear(patch_dim, dim),
            nn.LayerNorm(dim),
        )
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches, dim) * 0.02)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.distill_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.patch_dropout = PatchDropout(patch_dropout)
        self.transformer = Transformer(dim, depth, heads, dim_head, mlp_dim, dropout, drop_path)
        self.mlp_head = nn.Linear(dim, num_classes)
        self.distill_head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.to_patch_embedding(img)
        x = self.patch_dropout(x + self.pos_embedding)
        cls = repeat(self.cls_token, '1 1 d -> b 1 d', b=x.shape[0])
        dist = repeat(self.distill_token, '1 1 d -> b 1 d', b=x.shape[0])
        x = torch.cat((cls, dist, x), dim=1)
        x = self.transformer(x)
        cls_logits, dist_logits = self.mlp_head(x[:, 0]), self.distill_head(x[:, 1])
        if self.training:
            return cls_logits, dist_logits
        return (cls_logits + dist_logits) / 2


def distillation_loss(outputs, labels, teacher_logits, kind, tau, alpha):
    cls_logits, dist_logits = outputs
    base = F.cross_entropy(cls_logits, labels)
    if kind == 'none':
        return base
    if kind == 'soft':
        distill = F.kl_div(F.log_softmax(dist_logits / tau, dim=1),
                           F.log_softmax(teacher_logits / tau, dim=1),
                           reduction='sum', log_target=True) * (tau * tau) / dist_logits.numel()
    else:
        distill = F.cross_entropy(dist_logits, teacher_logits.argmax(dim=1))
    return base * (1 - alpha) + distill * alpha


class ModelEma:
    def __init__(self, model, decay=0.99):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.state_dict().values(), model.state_dict().values()):
            e.copy_(self.decay * e + (1 - self.decay) * p)


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    hits = torch.zeros(0, dtype=torch.bool)
    for x, y in loader:
        pred = model(x.to(device)).argmax(-1).cpu()
        hits = torch.cat([hits, pred == y])
    return hits.float().mean().item()


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--image-size', default=32, type=int)
    parser.add_argument('--patch-size', default=8, type=int)
    parser.add_argument('--num-classes', default=4, type=int)
    parser.add_argument('--distillation-type', default='soft', choices=['none', 'soft', 'hard'])
    parser.add_argument('--distillation-alpha', default=0.5, type=float)
    parser.add_argument('--distillation-tau', default=3.0, type=float)
    parser.add_argument('--patch-dropout', default=0.3, type=float)
    parser.add_argument('--steps', default=3, type=int)
    parser.add_argument('--batch-size', default=32, type=int)
    parser.add_argument('--device', default='cpu')
    return parser.parse_args()


def main(args):
    torch.manual_seed(0)
    device = torch.device(args.device)
    train = make_dataset(args.batch_size * args.steps, args.image_size, args.num_classes, seed=0)
    val = make_dataset(64, args.image_size, args.num_classes, seed=1)
    train_loader = DataLoader(train, args.batch_size, shuffle=True)
    val_loader = DataLoader(val, args.batch_size)

    teacher = Teacher(args.num_classes).to(device)
    opt = torch.optim.SGD(teacher.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        opt.zero_grad()
        F.cross_entropy(teacher(x), y).backward()
        opt.step()
    teacher.eval().requires_grad_(False)

    student = DistillableViT(image_size=args.image_size, patch_size=args.patch_size,
                             num_classes=args.num_classes, dim=64, depth=3, heads=4, mlp_dim=128,
                             patch_dropout=args.patch_dropout).to(device)
    ema = ModelEma(student)
    opt = torch.optim.AdamW(student.parameters(), lr=1e-3, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.steps)

    student.train()
    for step, (x, y) in enumerate(train_loader):
        x, y = x.to(device), y.to(device)
        with torch.no_grad():
            teacher_logits = teacher(x)
        loss = distillation_loss(student(x), y, teacher_logits, args.distillation_type,
                                 args.distillation_tau, args.distillation_alpha)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        ema.update(student)
        print(json.dumps({'step': step, 'loss': round(loss.item(), 4), 'lr': sched.get_last_lr()[0]}))

    print(json.dumps({'teacher': accuracy(teacher, val_loader, device),
                      'student': accuracy(student, val_loader, device),
                      'student_ema': accuracy(ema.module, val_loader, device)}))


if __name__ == '__main__':
    main(get_args())
