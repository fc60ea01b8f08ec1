# Swin transformer (simplified) trained on upscaled sklearn digits
# adapted from the official repo, removed timm
import logging
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint as checkpoint
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, Subset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="[%(levelname)s] %(message)s")
logger = logging.getLogger("swin")

_C = SimpleNamespace()
_C.DATA = SimpleNamespace(IMG_SIZE=32, BATCH_SIZE=16)
_C.MODEL = SimpleNamespace(
    PATCH_SIZE=2, IN_CHANS=1, EMBED_DIM=24, DEPTHS=[2, 2], NUM_HEADS=[2, 4], WINDOW_SIZE=4,
    MLP_RATIO=2.0, QKV_BIAS=True, DROP_PATH_RATE=0.1, APE=False, PATCH_NORM=True, NUM_CLASSES=10,
)
_C.TRAIN = SimpleNamespace(STEPS=3, LR=1e-3, USE_CHECKPOINT=False, LABEL_SMOOTHING=0.1, MIXUP=0.2)


to_2tuple = lambda x: tuple(x) if isinstance(x, (tuple, list)) else (x, x)


def drop_path(x, drop_prob=0., training=False):
    if drop_prob == 0. or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)  # work with diff dim tensors, not just 2D ConvNets
    random_tensor = keep_prob + torch.rand(shape, dtype=x.dtype, device=x.device)
    random_tensor.floor_()
    return x.div(keep_prob) * random_tensor


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.):
        super(DropPath, self).__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training)


class Mlp(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None, act_layer=nn.GELU, drop=0.):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden_features or in_features)
        self.act = act_layer()
        self.fc2 = nn.Linear(hidden_features or in_features, out_features or in_features)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        x = self.drop(self.act(self.fc1(x)))
        return self.drop(self.fc2(x))


def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window_size, window_size, C)


def window_reverse(windows, window_size, H, W):
    B = int(windows.shape[0] / (H * W / window_size / window_size))
    x = windows.view(B, H // window_size, W // window_size, window_size, window_size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim, window_size, num_heads, qkv_bias=True, qk_scale=None, attn_drop=0., proj_drop=0.):
        super().__init__()
        self.window_size = window_size  # Wh, Ww
        self.num_heads = num_heads
        self.scale = qk_scale or (dim // num_heads) ** -0.5

        self.relative_position_bias_table = nn.Parameter(
            torch.zeros((2 * window_size[0] - 1) * (2 * window_size[1] - 1), num_heads))

        coords = torch.stack(torch.meshgrid([torch.arange(w) for w in self.window_size], indexing="ij"))
        coords_flatten = torch.flatten(coords, 1)
        relative_coords = coords_flatten[:, :, None] - coords_flatten[:, None, :]
        relative_coords = relative_coords.permute(1, 2, 0).contiguous()
        relative_coords[:, :, 0] += self.window_size[0] - 1  # shift to start from 0
        relative_coords[:, :, 1] += self.window_size[1] - 1
        relative_coords[:, :, 0] *= 2 * self.window_size[1] - 1
        self.register_buffer("relative_position_index", relative_coords.sum(-1))

        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=.02)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]

        q = q * self.scale
        attn = (q @ k.transpose(-2, -1))

        relative_position_bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(
            self.window_size[0] * self.window_size[1], self.window_size[0] * self.window_size[1], -1)
        relative_position_bias = relative_position_bias.permute(2, 0, 1).contiguous()
        attn = attn + relative_position_bias.unsqueeze(0)

        if mask is not None:
            nW = mask.shape[0]
            attn = attn.view(B_ // nW, nW, self.num_heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.num_heads, N, N)
        attn = self.attn_drop(self.softmax(attn))

        x = (attn @ v).transpose(1, 2).reshape(B_, N, C)
        return self.proj_drop(self.proj(x))


class SwinTransformerBlock(nn.Module):
    def __init__(self, dim, input_resolution, num_heads, window_size=7, shift_size=0, mlp_ratio=4., qkv_bias=True,
                 drop_path=0., norm_layer=nn.LayerNorm):
        super().__init__()
        self.input_resolution = input_resolution
        self.window_size = window_size
        self.shift_size = shift_size
        if min(self.input_resolution) <= self.window_size:
            self.shift_size = 0
            self.window_size = min(self.input_resolution)
        assert 0 <= self.shift_size < self.window_size

        self.norm1 = norm_layer(dim)
        self.attn = WindowAttention(dim, to_2tuple(self.window_size), num_heads, qkv_bias)
        self.drop_path = DropPath(drop_path) if drop_path > 0. else nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(in_features=dim, hidden_features=int(dim * mlp_ratio))

        if self.shift_size > 0:
            H, W = self.input_resolution
            img_mask = torch.zeros((1, H, W, 1))
            h_slices = (slice(0, -self.window_size),
                        slice(-self.window_size, -self.shift_size),
                        slice(-self.shift_size, None))
            for cnt, (h, w) in enumerate((h, w) for h in h_slices for w in h_slices):
                img_mask[:, h, w, :] = cnt
            mask_windows = window_partition(img_mask, self.window_size)
            mask_windows = mask_windows.view(-1, self.window_size * self.window_size)
            attn_mask = mask_windows.unsqueeze(1) - mask_windows.unsqueeze(2)
            attn_mask = attn_mask.masked_fill(attn_mask != 0, float(-100.0)).masked_fill(attn_mask == 0, float(0.0))
        else:
            attn_mask = None
        self.register_buffer("attn_mask", attn_mask)

    def forward(self, x):
        H, W = self.input_resolution
        B, L, C = x.shape
        assert L == H * W, "input feature has wrong size"

        shortcut = x
        x = self.norm1(x)
        x = x.view(B, H, W, C)
        if self.shift_size > 0:
            x = torch.roll(x, shifts=(-self.shift_size, -self.shift_size), dims=(1, 2))

        x_windows = window_partition(x, self.window_size)
        x_windows = x_windows.view(-1, self.window_size * self.window_size, C)
        attn_windows = self.attn(x_windows, mask=self.attn_mask)
        attn_windows = attn_windows.view(-1, self.window_size, self.window_size, C)
        x = window_reverse(attn_windows, self.window_size, H, W)

        if self.shift_size > 0:
            x = torch.roll(x, shifts=(self.shift_size, self.shift_size), dims=(1, 2))
        x = shortcut + self.drop_path(x.view(B, H * W, C))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PatchMerging(nn.Module):
    def __init__(self, input_resolution, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.input_resolution = input_resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        H, W = self.input_resolution
        B, L, C = x.shape
        x = x.view(B, H, W, C)
        x = torch.cat([x[:, i::2, j::2, :] for j in (0, 1) for i in (0, 1)], -1)
        return self.reduction(self.norm(x.view(B, -1, 4 * C)))


class BasicLayer(nn.Module):
    def __init__(self, dim, input_resolution, depth, num_heads, window_size, drop_path=0., downsample=None,
                 use_checkpoint=False, **kw):
        super().__init__()
        self.use_checkpoint = use_checkpoint
        self.blocks = nn.ModuleList([
            SwinTransformerBlock(dim, input_resolution, num_heads, window_size,
                                 shift_size=0 if (i % 2 == 0) else window_size // 2,
                                 drop_path=drop_path[i] if isinstance(drop_path, list) else drop_path, **kw)
            for i in range(depth)])
        self.downsample = downsample(input_resolution, dim) if downsample is not None else None

    def forward(self, x):
        for blk in self.blocks:
            x = checkpoint.checkpoint(blk, x, use_reentrant=False) if self.use_checkpoint else blk(x)
        if self.downsample is not None:
            x = self.downsample(x)
        return x


class SwinTransformer(nn.Module):
    def __init__(self, img_size, m, use_checkpoint=False, norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.num_layers = len(m.DEPTHS)
        self.num_features = int(m.EMBED_DIM * 2 ** (self.num_layers - 1))
        self.patch_embed = nn.Conv2d(m.IN_CHANS, m.EMBED_DIM, kernel_size=m.PATCH_SIZE, stride=m.PATCH_SIZE)
        self.patch_norm = norm_layer(m.EMBED_DIM) if m.PATCH_NORM else None
        res = img_size // m.PATCH_SIZE
        self.ape = m.APE
        if self.ape:
            self.absolute_pos_embed = nn.Parameter(torch.zeros(1, res * res, m.EMBED_DIM))
        dpr = [x.item() for x in torch.linspace(0, m.DROP_PATH_RATE, sum(m.DEPTHS))]

        self.layers = nn.ModuleList()
        for i in range(self.num_layers):
            self.layers.append(BasicLayer(
                dim=int(m.EMBED_DIM * 2 ** i), input_resolution=(res // (2 ** i), res // (2 ** i)),
                depth=m.DEPTHS[i], num_heads=m.NUM_HEADS[i], window_size=m.WINDOW_SIZE,
                drop_path=dpr[sum(m.DEPTHS[:i]):sum(m.DEPTHS[:i + 1])],
                downsample=PatchMerging if (i < self.num_layers - 1) else None,
                use_checkpoint=use_checkpoint, mlp_ratio=m.MLP_RATIO, qkv_bias=m.QKV_BIAS, norm_layer=norm_layer))
        self.norm = norm_layer(self.num_features)
        self.avgpool = nn.AdaptiveAvgPool1d(1)
        self.head = nn.Linear(self.num_features, m.NUM_CLASSES) if m.NUM_CLASSES > 0 else nn.Identity()
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.trunc_normal_(m.weight, std=.02)
            _ = nn.init.zeros_(m.bias) if m.bias is not None else None

    def forward_features(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        if self.patch_norm is not None:
            x = self.patch_norm(x)
        if self.ape:
            x = x + self.absolute_pos_embed
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)  # B L C
        x = self.avgpool(x.transpose(1, 2))  # B C 1
        return torch.flatten(x, 1)

    def forward(self, x):
        return self.head(self.forward_features(x))


class DigitsDataset(Dataset):
    def __init__(self, size):
        d = load_digits()
        imgs = torch.from_numpy(d.images.astype(np.float32) / 16.0).unsqueeze(1)
        self.imgs = F.interpolate(imgs, size=(size, size), mode='bilinear', align_corners=False)
        self.labels = torch.from_numpy(d.target).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.imgs[i], self.labels[i]


def mixup(x, y, alpha, n_cls):
    y = F.one_hot(y, n_cls).float()
    if alpha <= 0:
        return x, y
    lam = np.random.beta(alpha, alpha)
    return lam * x + (1 - lam) * x.flip(0), lam * y + (1 - lam) * y.flip(0)


def main(config):
    torch.manual_seed(0)
    np.random.seed(0)
    ds = DigitsDataset(config.DATA.IMG_SIZE)
    train_loader = DataLoader(Subset(ds, range(0, 1500)), batch_size=config.DATA.BATCH_SIZE, shuffle=True, drop_last=True)
    val_loader = DataLoader(Subset(ds, range(1500, 1560)), batch_size=25)
    model = SwinTransformer(config.DATA.IMG_SIZE, config.MODEL, config.TRAIN.USE_CHECKPOINT)
    logger.info(f"number of params: {sum(p.numel() for p in model.parameters() if p.requires_grad)}")
    criterion = nn.CrossEntropyLoss(label_smoothing=config.TRAIN.LABEL_SMOOTHING)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.TRAIN.LR, weight_decay=0.05)

    model.train()
    for idx, (samples, targets) in enumerate(train_loader):
        if idx >= config.TRAIN.STEPS:
            break
        samples, targets = mixup(samples, targets, config.TRAIN.MIXUP, config.MODEL.NUM_CLASSES)
        loss = criterion(model(samples), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.info(f"[{idx}] loss {loss.item():.4f}")

    model.eval()
    correct = total = 0
    with torch.no_grad():
        for images, target in val_loader:
            output = model(images)
            _, pred = output.topk(5, 1, True, True)
            hits = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
            correct += hits[:1].reshape(-1).float().sum().item()
            total += target.numel()
    logger.info(f" * Acc@1 {100 * correct / total:.2f}")


if __name__ == '__main__':
    main(_C)
