# %% imports
# RAFT-ish: all-pairs correlation pyramid, lookup with grid_sample, ConvGRU updates, convex upsampling
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)

# %% settings
HT, WD = 40, 56
BATCH = 2
ITERS = 3
FDIM = 26
HDIM = 18
CDIM = 14
CORR_LEVELS = 2
CORR_RADIUS = 2
GAMMA = 0.8
MAX_FLOW = 40
N_STEPS = 9
LR = 4e-4
CLIP = 1.0
DOWN = 4

# %%


def coords_grid(b, h, w):
    ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing='ij')
    c = torch.stack([xs, ys], dim=0).float()
    return c[None].repeat(b, 1, 1, 1)


def bilinear_sampler(img, coords, mask=False):
    """ Wrapper for grid_sample, uses pixel coordinates """
    H, W = img.shape[-2:]
    xgrid, ygrid = coords.split([1, 1], dim=-1)
    xgrid = 2 * xgrid / (W - 1) - 1
    ygrid = 2 * ygrid / (H - 1) - 1
    grid = torch.cat([xgrid, ygrid], dim=-1)
    img = F.grid_sample(img, grid, align_corners=True)
    if mask:
        mask = (xgrid > -1) & (ygrid > -1) & (xgrid < 1) & (ygrid < 1)
        return img, mask.float()
    return img


def warp(img, flow):
    c = coords_grid(img.shape[0], *img.shape[-2:]) + flow
    return bilinear_sampler(img, c.permute(0, 2, 3, 1), mask=True)


def make_batch(n=BATCH):
    base = torch.randn(n, 3, HT // 8, WD // 8)
    img1 = F.interpolate(base, size=(HT, WD), mode='bicubic', align_corners=False)
    img1 = img1 + 0.3 * F.interpolate(torch.randn(n, 3, HT // 2, WD // 2), size=(HT, WD), mode='bilinear')
    A = torch.randn(n, 2, 2) * 0.02
    t = torch.randn(n, 2) * 2
    c = coords_grid(n, HT, WD)
    centered = c - torch.tensor([WD / 2, HT / 2]).view(1, 2, 1, 1)
    flow = torch.einsum('nij,njhw->nihw', A, centered) + t[:, :, None, None]
    img2_back, valid = warp(img1, -flow)
    return img1, img2_back, flow, valid.squeeze(-1)


i1, i2, fl, va = make_batch(3)
print(i1.shape, i2.shape, fl.shape, va.shape, va.mean())
print('epe of zero flow', fl.norm(dim=1).mean())

# %% correlation


class CorrBlock:
    def __init__(self, fmap1, fmap2, num_levels=CORR_LEVELS, radius=CORR_RADIUS):
        self.num_levels = num_levels
        self.radius = radius
        self.corr_pyramid = []
        corr = CorrBlock.corr(fmap1, fmap2)
        batch, h1, w1, dim, h2, w2 = corr.shape
        corr = corr.reshape(batch * h1 * w1, dim, h2, w2)
        self.corr_pyramid.append(corr)
        for i in range(self.num_levels - 1):
            corr = F.avg_pool2d(corr, 2, stride=2)
            self.corr_pyramid.append(corr)

    def __call__(self, coords):
        r = self.radius
        coords = coords.permute(0, 2, 3, 1)
        batch, h1, w1, _ = coords.shape
        out_pyramid = []
        for i in range(self.num_levels):
            corr = self.corr_pyramid[i]
            d = torch.linspace(-r, r, 2 * r + 1)
            delta = torch.stack(torch.meshgrid(d, d, indexing='ij'), axis=-1)
            centroid_lvl = coords.reshape(batch * h1 * w1, 1, 1, 2) / 2 ** i
            coords_lvl = centroid_lvl + delta.view(1, 2 * r + 1, 2 * r + 1, 2)
            corr = bilinear_sampler(corr, coords_lvl)
            out_pyramid.append(corr.view(batch, h1, w1, -1))
        out = torch.cat(out_pyramid, dim=-1)
        return out.permute(0, 3, 1, 2).contiguous().float()

    @staticmethod
    def corr(fmap1, fmap2):
        batch, dim, ht, wd = fmap1.shape
        fmap1 = fmap1.view(batch, dim, ht * wd)
        fmap2 = fmap2.view(batch, dim, ht * wd)
        corr = torch.matmul(fmap1.transpose(1, 2), fmap2)
        corr = corr.view(batch, ht, wd, 1, ht, wd)
        return corr / torch.sqrt(torch.tensor(dim).float())


f1, f2 = torch.randn(2, FDIM, HT // DOWN, WD // DOWN), torch.randn(2, FDIM, HT // DOWN, WD // DOWN)
cb = CorrBlock(f1, f2)
print([c.shape for c in cb.corr_pyramid], cb(coords_grid(2, HT // DOWN, WD // DOWN)).shape)

# %% networks


class ResidualBlock(nn.Module):
    def __init__(self, in_planes, planes, norm_fn='group', stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, padding=1, stride=stride)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        make = {'group': lambda: nn.GroupNorm(2, planes), 'batch': lambda: nn.BatchNorm2d(planes),
                'instance': lambda: nn.InstanceNorm2d(planes), 'none': lambda: nn.Sequential()}[norm_fn]
        self.norm1, self.norm2 = make(), make()
        self.downsample = None
        if stride != 1 or in_planes != planes:
            self.downsample = nn.Sequential(nn.Conv2d(in_planes, planes, kernel_size=1, stride=stride), make())

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.relu(self.norm2(self.conv2(y)))
        if self.downsample is not None:
            x = self.downsample(x)
        return self.relu(x + y)


def encoder(out_dim, norm_fn):
    return nn.Sequential(nn.Conv2d(3, 12, 5, stride=2, padding=2), nn.ReLU(),
                         ResidualBlock(12, 16, norm_fn), ResidualBlock(16, 22, norm_fn, stride=2),
                         nn.Conv2d(22, out_dim, 1))


class ConvGRU(nn.Module):
    def __init__(self, hidden_dim, input_dim):
        super().__init__()
        self.convz = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)
        self.convr = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)
        self.convq = nn.Conv2d(hidden_dim + input_dim, hidden_dim, 3, padding=1)

    def forward(self, h, x):
        hx = torch.cat([h, x], dim=1)
        z = torch.sigmoid(self.convz(hx))
        r = torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * h, x], dim=1)))
        return (1 - z) * h + z * q


class UpdateBlock(nn.Module):
    def __init__(self):
        super().__init__()
        cor_planes = CORR_LEVELS * (2 * CORR_RADIUS + 1) ** 2
        self.convc = nn.Conv2d(cor_planes, 24, 1)
        self.convf = nn.Conv2d(2, 10, 5, padding=2)
        self.conv = nn.Conv2d(34, 20 - 2, 3, padding=1)
        self.gru = ConvGRU(HDIM, 20 + CDIM)
        self.flow_head = nn.Sequential(nn.Conv2d(HDIM, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 3, padding=1))
        self.mask = nn.Sequential(nn.Conv2d(HDIM, 28, 3, padding=1), nn.ReLU(), nn.Conv2d(28, DOWN * DOWN * 9, 1))

    def forward(self, net, inp, corr, flow):
        m = torch.cat([F.relu(self.convc(corr)), F.relu(self.convf(flow))], dim=1)
        m = torch.cat([F.relu(self.conv(m)), flow], dim=1)
        net = self.gru(net, torch.cat([inp, m], dim=1))
        return net, .25 * self.mask(net), self.flow_head(net)


class RAFT(nn.Module):
    def __init__(self):
        super().__init__()
        self.fnet = encoder(FDIM, 'instance')
        self.cnet = encoder(HDIM + CDIM, 'group')
        self.update_block = UpdateBlock()

    def upsample_flow(self, flow, mask):
        N, _, H, W = flow.shape
        mask = mask.view(N, 1, 9, DOWN, DOWN, H, W)
        mask = torch.softmax(mask, dim=2)
        up = F.unfold(DOWN * flow, [3, 3], padding=1)
        up = up.view(N, 2, 9, 1, 1, H, W)
        up = torch.sum(mask * up, dim=2)
        up = up.permute(0, 1, 4, 2, 5, 3)
        return up.reshape(N, 2, DOWN * H, DOWN * W)

    def forward(self, image1, image2, iters=ITERS):
        fmap1, fmap2 = self.fnet(torch.cat([image1, image2], dim=0)).chunk(2, dim=0)
        corr_fn = CorrBlock(fmap1, fmap2)
        net, inp = torch.split(self.cnet(image1), [HDIM, CDIM], dim=1)
        net, inp = torch.tanh(net), torch.relu(inp)
        coords0 = coords_grid(image1.shape[0], *fmap1.shape[-2:])
        coords1 = coords0.clone()
        preds = []
        for itr in range(iters):
            coords1 = coords1.detach()
            corr = corr_fn(coords1)
            net, up_mask, delta = self.update_block(net, inp, corr, coords1 - coords0)
            coords1 = coords1 + delta
            preds.append(self.upsample_flow(coords1 - coords0, up_mask))
        return preds


# %% train
def sequence_loss(preds, gt, valid):
    mag = torch.sum(gt ** 2, dim=1).sqrt()
    valid = (valid >= 0.5) & (mag < MAX_FLOW)
    loss = 0.0
    for i, p in enumerate(preds):
        loss += GAMMA ** (len(preds) - i - 1) * (valid[:, None] * (p - gt).abs()).mean()
    epe = torch.sum((preds[-1] - gt) ** 2, dim=1).sqrt().view(-1)[valid.view(-1)]
    return loss, {'epe': epe.mean().item(), '1px': (epe < 1).float().mean().item()}


model = RAFT()
print('Parameter Count: %d' % sum(p.numel() for p in model.parameters() if p.requires_grad))
optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=1e-5, eps=1e-8)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, LR * 3, N_STEPS + 5, pct_start=0.2, anneal_strategy='linear')
for step in range(N_STEPS):
    i1, i2, fl, va = make_batch()
    loss, metrics = sequence_loss(model(i1, i2), fl, va)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
    scheduler.step()
    if step % 3 == 0:
        print(step, loss.item(), metrics)

# %% eval
model.eval()
with torch.no_grad():
    i1, i2, fl, va = make_batch(3)
    preds = model(i1, i2, iters=5)
    print(len(preds), preds[-1].shape, [(p - fl).norm(dim=1).mean().item() for p in preds])
    rec, occ = warp(i2, preds[-1])
    print('photometric', (rec - i1).abs().mean().item(), occ.mean().item())
    ang = torch.atan2(preds[-1][:, 1], preds[-1][:, 0])
    print('angle hist', torch.histc(ang, bins=6, min=-np.pi, max=np.pi))
