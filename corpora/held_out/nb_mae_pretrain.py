# %% [markdown]
# # Masked autoencoder on toy shapes
# trying MAE + linear probe on generated images

# %%
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 7
np.random.seed(SEED)
torch.manual_seed(SEED)

# %% hyperparameters
IMG_H, IMG_W = 24, 36
IN_CHANS = 3
PATCH = 6
MASK_RATIO = 0.7
ENC_DIM = 40
ENC_DEPTH = 2
ENC_HEADS = 5
DEC_DIM = 28
DEC_DEPTH = 1
DEC_HEADS = 4
BATCH_SIZE = 14
EPOCHS = 3
N_TRAIN = 98
N_CLASSES = 3
NORM_PIX = True

GRID_H, GRID_W = IMG_H // PATCH, IMG_W // PATCH
NUM_PATCHES = GRID_H * GRID_W
print('grid', GRID_H, GRID_W, 'patches', NUM_PATCHES)

# %% data


def make_image(cls):
    yy, xx = np.mgrid[0:IMG_H, 0:IMG_W]
    cy, cx = np.random.uniform(7, IMG_H - 7), np.random.uniform(9, IMG_W - 9)
    r = np.random.uniform(4, 7)
    if cls == 0:
        m = ((yy - cy) ** 2 + (xx - cx) ** 2) < r ** 2
    elif cls == 1:
        m = (np.abs(yy - cy) < r) & (np.abs(xx - cx) < r)
    else:
        m = (np.abs(yy - cy) + np.abs(xx - cx)) < r
    col = np.random.rand(3, 1, 1)
    bg = np.random.rand(3, 1, 1) * 0.3
    img = bg + m[None] * (col - bg)
    return img + 0.02 * np.random.randn(3, IMG_H, IMG_W)


labels = np.random.randint(0, N_CLASSES, size=N_TRAIN)
images = np.stack([make_image(c) for c in labels]).astype(np.float32)
images = torch.from_numpy(images)
labels = torch.from_numpy(labels).long()
mean = images.mean(dim=(0, 2, 3), keepdim=True)
std = images.std(dim=(0, 2, 3), keepdim=True)
images = (images - mean) / std
print(images.shape, labels.shape, mean.flatten(), std.flatten())

# %%


def patchify(imgs):
    """(N, 3, H, W) -> (N, L, patch**2 * 3)"""
    x = F.unfold(imgs, kernel_size=PATCH, stride=PATCH)
    return x.transpose(1, 2)


def unpatchify(x):
    return F.fold(x.transpose(1, 2), output_size=(IMG_H, IMG_W), kernel_size=PATCH, stride=PATCH)


p = patchify(images[:2])
print(p.shape)
assert torch.allclose(unpatchify(p), images[:2])


def sincos_1d(dim, pos):
    omega = np.arange(dim // 2, dtype=np.float64) / (dim / 2.)
    omega = 1. / 10000 ** omega
    out = np.einsum('m,d->md', pos.reshape(-1), omega)
    return np.concatenate([np.sin(out), np.cos(out)], axis=1)


def sincos_2d(dim, gh, gw, cls_token=True):
    grid = np.meshgrid(np.arange(gw, dtype=np.float32), np.arange(gh, dtype=np.float32))
    grid = np.stack(grid, axis=0)
    emb = np.concatenate([sincos_1d(dim // 2, grid[0]), sincos_1d(dim // 2, grid[1])], axis=1)
    if cls_token:
        emb = np.concatenate([np.zeros([1, dim]), emb], axis=0)
    return torch.from_numpy(emb).float().unsqueeze(0)


print(sincos_2d(ENC_DIM, GRID_H, GRID_W).shape)

# %%


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_ratio=3.):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, int(dim * mlp_ratio)), nn.GELU(), nn.Linear(int(dim * mlp_ratio), dim))

    def attn(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        a = (q @ k.transpose(-2, -1)) * (C // self.heads) ** -0.5
        a = a.softmax(dim=-1)
        return self.proj((a @ v).transpose(1, 2).reshape(B, N, C))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class MAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(IN_CHANS, ENC_DIM, kernel_size=PATCH, stride=PATCH)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, ENC_DIM))
        self.pos_embed = nn.Parameter(sincos_2d(ENC_DIM, GRID_H, GRID_W), requires_grad=False)
        self.blocks = nn.ModuleList([Block(ENC_DIM, ENC_HEADS) for _ in range(ENC_DEPTH)])
        self.norm = nn.LayerNorm(ENC_DIM)

        self.decoder_embed = nn.Linear(ENC_DIM, DEC_DIM)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, DEC_DIM))
        self.decoder_pos_embed = nn.Parameter(sincos_2d(DEC_DIM, GRID_H, GRID_W), requires_grad=False)
        self.decoder_blocks = nn.ModuleList([Block(DEC_DIM, DEC_HEADS) for _ in range(DEC_DEPTH)])
        self.decoder_norm = nn.LayerNorm(DEC_DIM)
        self.decoder_pred = nn.Linear(DEC_DIM, PATCH ** 2 * IN_CHANS)
        nn.init.normal_(self.cls_token, std=.02)
        nn.init.normal_(self.mask_token, std=.02)

    def random_masking(self, x):
        N, L, D = x.shape
        len_keep = int(L * (1 - MASK_RATIO))
        noise = torch.rand(N, L, device=x.device)
        ids_shuffle = torch.argsort(noise, dim=1)
        ids_restore = torch.argsort(ids_shuffle, dim=1)
        ids_keep = ids_shuffle[:, :len_keep]
        x_masked = torch.gather(x, dim=1, index=ids_keep.unsqueeze(-1).repeat(1, 1, D))
        mask = torch.ones([N, L], device=x.device)
        mask[:, :len_keep] = 0
        mask = torch.gather(mask, dim=1, index=ids_restore)
        return x_masked, mask, ids_restore

    def forward_encoder(self, imgs, do_mask=True):
        x = self.patch_embed(imgs).flatten(2).transpose(1, 2)
        x = x + self.pos_embed[:, 1:, :]
        mask = ids = None
        if do_mask:
            x, mask, ids = self.random_masking(x)
        cls = self.cls_token + self.pos_embed[:, :1, :]
        x = torch.cat((cls.expand(x.shape[0], -1, -1), x), dim=1)
        for blk in self.blocks:
            x = blk(x)
        return self.norm(x), mask, ids

    def forward_decoder(self, x, ids_restore):
        x = self.decoder_embed(x)
        mask_tokens = self.mask_token.repeat(x.shape[0], ids_restore.shape[1] + 1 - x.shape[1], 1)
        x_ = torch.cat([x[:, 1:, :], mask_tokens], dim=1)
        x_ = torch.gather(x_, dim=1, index=ids_restore.unsqueeze(-1).repeat(1, 1, x.shape[2]))
        x = torch.cat([x[:, :1, :], x_], dim=1)
        x = x + self.decoder_pos_embed
        for blk in self.decoder_blocks:
            x = blk(x)
        return self.decoder_pred(self.decoder_norm(x))[:, 1:, :]

    def forward(self, imgs):
        latent, mask, ids = self.forward_encoder(imgs)
        pred = self.forward_decoder(latent, ids)
        target = patchify(imgs)
        if NORM_PIX:
            mu = target.mean(dim=-1, keepdim=True)
            var = target.var(dim=-1, keepdim=True)
            target = (target - mu) / (var + 1.e-6) ** .5
        loss = ((pred - target) ** 2).mean(dim=-1)
        loss = (loss * mask).sum() / mask.sum()
        return loss, pred, mask


mae = MAE()
loss, pred, mask = mae(images[:BATCH_SIZE])
print('initial', loss.item(), pred.shape, mask.shape, mask.sum(1))

# %% train
opt = torch.optim.AdamW([q for q in mae.parameters() if q.requires_grad], lr=2e-3, weight_decay=0.05)
for epoch in range(EPOCHS):
    perm = torch.randperm(N_TRAIN)
    running = 0.0
    for i in range(0, N_TRAIN, BATCH_SIZE):
        batch = images[perm[i:i + BATCH_SIZE]]
        if np.random.rand() < 0.5:
            batch = torch.flip(batch, dims=[3])
        loss, _, _ = mae(batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * batch.shape[0]
    print('epoch', epoch, 'loss', running / N_TRAIN)

# %% look at the reconstruction
with torch.no_grad():
    loss, pred, mask = mae(images[:5])
    rec = unpatchify(pred)
    m = unpatchify(mask.unsqueeze(-1).repeat(1, 1, PATCH ** 2 * IN_CHANS))
    masked = images[:5] * (1 - m)
    paste = masked + rec * m
print(rec.shape, m.unique(), paste.shape)

# %% linear probe
with torch.no_grad():
    feats, _, _ = mae.forward_encoder(images, do_mask=False)
    feats = feats[:, 1:].mean(1)
print(feats.shape)
Y = F.one_hot(labels, N_CLASSES).float()
X = torch.cat([feats, torch.ones(N_TRAIN, 1)], dim=1)
W = torch.linalg.solve(X.T @ X + 1e-2 * torch.eye(X.shape[1]), X.T @ Y)
acc = ((X @ W).argmax(1) == labels).float().mean()
print('linear probe acc', acc.item())
