import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def build_parser():
    p = argparse.ArgumentParser("vision transformer from scratch")
    p.add_argument("--img-size", type=int, default=28)
    p.add_argument("--patch", type=int, default=7)
    p.add_argument("--chans", type=int, default=1)
    p.add_argument("--embed", type=int, default=32)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--mlp-ratio", type=float, default=2.0)
    p.add_argument("--classes", type=int, default=10)
    p.add_argument("--pool", choices=["cls", "mean"], default="cls")
    p.add_argument("--bs", type=int, default=16)
    p.add_argument("--steps", type=int, default=3)
    return p


class PatchEmbedding(nn.Module):
    def __init__(self, img_size, patch, chans, embed):
        super().__init__()
        self.n_patches = (img_size // patch) ** 2
        self.proj = nn.Conv2d(chans, embed, kernel_size=patch, stride=patch)

    def forward(self, x):
        x = self.proj(x)        # (n, embed, p, p)
        x = x.flatten(2)        # (n, embed, n_patches)
        x = x.transpose(1, 2)   # (n, n_patches, embed)
        return x


class MHSA(nn.Module):
    def __init__(self, dim, n_heads=12, qkv_bias=True, attn_p=0., proj_p=0.):
        super().__init__()
        self.n_heads = n_heads
        self.dim = dim
        self.head_dim = dim // n_heads
        self.scale = self.head_dim ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.attn_drop = nn.Dropout(attn_p)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_p)

    def forward(self, x):
        n_samples, n_tokens, dim = x.shape
        if dim != self.dim:
            raise ValueError
        qkv = self.qkv(x)
        qkv = qkv.reshape(n_samples, n_tokens, 3, self.n_heads, self.head_dim)
        qkv = qkv.permute(2, 0, 3, 1, 4)  # (3, n_samples, n_heads, n_tokens, head_dim)
        q, k, v = qkv[0], qkv[1], qkv[2]
        k_t = k.transpose(-2, -1)
        dp = (q @ k_t) * self.scale
        attn = dp.softmax(dim=-1)
        attn = self.attn_drop(attn)
        weighted_avg = attn @ v
        weighted_avg = weighted_avg.transpose(1, 2)
        weighted_avg = weighted_avg.flatten(2)
        return self.proj_drop(self.proj(weighted_avg))


class Block(nn.Module):
    def __init__(self, dim, n_heads, mlp_ratio=4.0, p=0.):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = MHSA(dim, n_heads=n_heads, attn_p=p, proj_p=p)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        hidden_features = int(dim * mlp_ratio)
        self.fc1 = nn.Linear(dim, hidden_features)
        self.fc2 = nn.Linear(hidden_features, dim)

    def mlp(self, x):
        return self.fc2(F.gelu(self.fc1(x)))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class VisionTransformer(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.opt = opt
        self.patch_embed = PatchEmbedding(opt.img_size, opt.patch, opt.chans, opt.embed)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, opt.embed))
        extra = 1 if opt.pool == "cls" else 0
        self.pos_embed = nn.Parameter(self.sinusoid(extra + self.patch_embed.n_patches, opt.embed).unsqueeze(0))
        self.blocks = nn.ModuleList(
            [Block(dim=opt.embed, n_heads=opt.heads, mlp_ratio=opt.mlp_ratio) for _ in range(opt.layers)]
        )
        self.norm = nn.LayerNorm(opt.embed, eps=1e-6)
        self.head = nn.Linear(opt.embed, opt.classes)

    @staticmethod
    def sinusoid(n, d):
        pos = torch.arange(n).float()[:, None]
        div = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / d))
        pe = torch.zeros(n, d)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        return pe

    def forward(self, x):
        bs = x.shape[0]
        x = self.patch_embed(x)
        if self.opt.pool == "cls":
            cls = self.cls_token.expand(bs, -1, -1)
            x = torch.cat((cls, x), dim=1)
        x = x + self.pos_embed
        for blk in self.blocks:
            x = blk(x)
        x = self.norm(x)
        x = x[:, 0] if self.opt.pool == "cls" else x.mean(1)
        return self.head(x)


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def main():
    opt = build_parser().parse_args()
    torch.manual_seed(0)
    xs = torch.rand(opt.bs * opt.steps, opt.chans, opt.img_size, opt.img_size)
    ys = torch.randint(opt.classes, (len(xs),))
    net = VisionTransformer(opt)
    optim = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.OneCycleLR(optim, max_lr=1e-3, total_steps=opt.steps)
    loss_m, acc_m = AverageMeter(), AverageMeter()
    for i, (xb, yb) in enumerate(zip(xs.split(opt.bs), ys.split(opt.bs))):
        out = net(xb)
        loss = F.cross_entropy(out, yb)
        optim.zero_grad()
        loss.backward()
        optim.step()
        sched.step()
        loss_m.update(loss.item(), xb.size(0))
        acc_m.update((out.argmax(-1) == yb).float().mean().item(), xb.size(0))
        print("step %d/%d loss %.3f acc %.2f lr %.1e" % (i, opt.steps, loss_m.avg, acc_m.avg, sched.get_last_lr()[0]))


if __name__ == "__main__":
    main()
