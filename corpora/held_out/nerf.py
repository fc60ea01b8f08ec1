# minimal NeRF trained on a ray-traced analytic scene (two soft spheres).
# flat script, tiny-nerf notebook style
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(0)
torch.manual_seed(0)

config = {
    'H': 24, 'W': 32, 'focal': 30.0,
    'near': 2.0, 'far': 6.0,
    'n_coarse': 20, 'n_fine': 28,
    'L_pos': 6, 'L_dir': 3,
    'width': 64, 'depth': 5, 'skips': [2],
    'n_rand': 150,
    'iters': 3,
    'lr': 5e-4, 'lr_decay': 250,
    'n_views': 7,
    'chunk': 256,
}

# ---------------------------------------------------------------- scene

def pose_spherical(theta, phi, radius):
    theta, phi = np.deg2rad(theta), np.deg2rad(phi)
    trans = np.eye(4, dtype=np.float32)
    trans[2, 3] = radius
    rot_phi = np.array([[1, 0, 0, 0],
                        [0, np.cos(phi), -np.sin(phi), 0],
                        [0, np.sin(phi), np.cos(phi), 0],
                        [0, 0, 0, 1]], dtype=np.float32)
    rot_theta = np.array([[np.cos(theta), 0, -np.sin(theta), 0],
                          [0, 1, 0, 0],
                          [np.sin(theta), 0, np.cos(theta), 0],
                          [0, 0, 0, 1]], dtype=np.float32)
    c2w = rot_theta @ rot_phi @ trans
    c2w = np.array([[-1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], dtype=np.float32) @ c2w
    return torch.from_numpy(c2w)


def get_rays(H, W, focal, c2w):
    i, j = torch.meshgrid(torch.linspace(0, W - 1, W), torch.linspace(0, H - 1, H), indexing='xy')
    dirs = torch.stack([(i - W * .5) / focal, -(j - H * .5) / focal, -torch.ones_like(i)], -1)
    rays_d = torch.sum(dirs[..., None, :] * c2w[:3, :3], -1)
    rays_o = c2w[:3, -1].expand(rays_d.shape)
    return rays_o, rays_d


def analytic_field(pts):
    centres = torch.tensor([[0.0, 0.0, 0.4], [0.6, -0.5, -0.3]])
    radii = torch.tensor([0.8, 0.5])
    colors = torch.tensor([[0.9, 0.2, 0.1], [0.1, 0.4, 0.9]])
    d = (pts[..., None, :] - centres).norm(dim=-1) - radii
    dens = 12.0 * torch.sigmoid(-20 * d)
    w = dens / (dens.sum(-1, keepdim=True) + 1e-6)
    rgb = (w[..., None] * colors).sum(-2)
    return rgb, dens.sum(-1)

# ---------------------------------------------------------------- rendering


def raw2outputs(rgb, sigma, z_vals, rays_d, white_bkgd=True):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, torch.full_like(dists[..., :1], 1e10)], -1)
    dists = dists * torch.norm(rays_d[..., None, :], dim=-1)
    alpha = 1. - torch.exp(-sigma * dists)
    T = torch.cumprod(torch.cat([torch.ones(alpha.shape[0], 1), 1. - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * T
    rgb_map = torch.sum(weights[..., None] * rgb, -2)
    depth_map = torch.sum(weights * z_vals, -1)
    acc_map = weights.sum(-1)
    if white_bkgd:
        rgb_map = rgb_map + (1. - acc_map[..., None])
    return rgb_map, depth_map, acc_map, weights


def sample_pdf(bins, weights, n_samples, det=False):
    weights = weights + 1e-5
    pdf = weights / torch.sum(weights, -1, keepdim=True)
    cdf = torch.cumsum(pdf, -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    if det:
        u = torch.linspace(0., 1., steps=n_samples)
        u = u.expand(list(cdf.shape[:-1]) + [n_samples])
    else:
        u = torch.rand(list(cdf.shape[:-1]) + [n_samples])
    u = u.contiguous()
    inds = torch.searchsorted(cdf, u, right=True)
    below = torch.max(torch.zeros_like(inds - 1), inds - 1)
    above = torch.min((cdf.shape[-1] - 1) * torch.ones_like(inds), inds)
    inds_g = torch.stack([below, above], -1)
    matched_shape = [inds_g.shape[0], inds_g.shape[1], cdf.shape[-1]]
    cdf_g = torch.gather(cdf.unsqueeze(1).expand(matched_shape), 2, inds_g)
    bins_g = torch.gather(bins.unsqueeze(1).expand(matched_shape), 2, inds_g)
    denom = cdf_g[..., 1] - cdf_g[..., 0]
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    t = (u - cdf_g[..., 0]) / denom
    return bins_g[..., 0] + t * (bins_g[..., 1] - bins_g[..., 0])


class Embedder:
    def __init__(self, n_freqs, input_dims=3, include_input=True):
        self.fns = []
        out_dim = 0
        if include_input:
            self.fns.append(lambda x: x)
            out_dim += input_dims
        for freq in 2. ** torch.linspace(0., n_freqs - 1, n_freqs):
            for p_fn in [torch.sin, torch.cos]:
                self.fns.append(lambda x, p_fn=p_fn, freq=freq: p_fn(x * freq))
                out_dim += input_dims
        self.out_dim = out_dim

    def __call__(self, x):
        return torch.cat([fn(x) for fn in self.fns], -1)


class NeRF(nn.Module):
    def __init__(self, D=8, W=256, input_ch=3, input_ch_views=3, skips=(4,)):
        super(NeRF, self).__init__()
        self.skips = skips
        self.input_ch, self.input_ch_views = input_ch, input_ch_views
        self.pts_linears = nn.ModuleList(
            [nn.Linear(input_ch, W)] +
            [nn.Linear(W, W) if i not in self.skips else nn.Linear(W + input_ch, W) for i in range(D - 1)])
        self.views_linears = nn.ModuleList([nn.Linear(input_ch_views + W, W // 2)])
        self.feature_linear = nn.Linear(W, W)
        self.alpha_linear = nn.Linear(W, 1)
        self.rgb_linear = nn.Linear(W // 2, 3)

    def forward(self, x):
        input_pts, input_views = torch.split(x, [self.input_ch, self.input_ch_views], dim=-1)
        h = input_pts
        for i, l in enumerate(self.pts_linears):
            h = F.relu(self.pts_linears[i](h))
            if i in self.skips:
                h = torch.cat([input_pts, h], -1)
        alpha = self.alpha_linear(h)
        h = torch.cat([self.feature_linear(h), input_views], -1)
        for l in self.views_linears:
            h = F.relu(l(h))
        return torch.cat([self.rgb_linear(h), alpha], -1)


embed_pos = Embedder(config['L_pos'])
embed_dir = Embedder(config['L_dir'])


def batchify(fn, chunk):
    def ret(inputs):
        return torch.cat([fn(inputs[i:i + chunk]) for i in range(0, inputs.shape[0], chunk)], 0)
    return ret


def run_network(pts, viewdirs, fn):
    flat = torch.reshape(pts, [-1, pts.shape[-1]])
    dirs = viewdirs[:, None].expand(pts.shape)
    dirs_flat = torch.reshape(dirs, [-1, dirs.shape[-1]])
    embedded = torch.cat([embed_pos(flat), embed_dir(dirs_flat)], -1)
    out = batchify(fn, config['chunk'] * 16)(embedded)
    return torch.reshape(out, list(pts.shape[:-1]) + [out.shape[-1]])


def render_rays(ray_batch, coarse, fine, perturb=True):
    rays_o, rays_d, viewdirs = ray_batch[:, 0:3], ray_batch[:, 3:6], ray_batch[:, -3:]
    n_rays = ray_batch.shape[0]
    t_vals = torch.linspace(0., 1., steps=config['n_coarse'])
    z_vals = config['near'] * (1. - t_vals) + config['far'] * t_vals
    z_vals = z_vals.expand([n_rays, config['n_coarse']])
    if perturb:
        mids = .5 * (z_vals[..., 1:] + z_vals[..., :-1])
        upper = torch.cat([mids, z_vals[..., -1:]], -1)
        lower = torch.cat([z_vals[..., :1], mids], -1)
        z_vals = lower + (upper - lower) * torch.rand(z_vals.shape)
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
    raw = run_network(pts, viewdirs, coarse)
    rgb0, _, acc0, weights = raw2outputs(torch.sigmoid(raw[..., :3]), F.relu(raw[..., 3]), z_vals, rays_d)

    z_mid = .5 * (z_vals[..., 1:] + z_vals[..., :-1])
    z_samples = sample_pdf(z_mid, weights[..., 1:-1], config['n_fine'], det=not perturb).detach()
    z_vals, _ = torch.sort(torch.cat([z_vals, z_samples], -1), -1)
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z_vals[..., :, None]
    raw = run_network(pts, viewdirs, fine)
    rgb, depth, acc, _ = raw2outputs(torch.sigmoid(raw[..., :3]), F.relu(raw[..., 3]), z_vals, rays_d)
    return {'rgb_map': rgb, 'depth_map': depth, 'acc_map': acc, 'rgb0': rgb0,
            'z_std': torch.std(z_samples, dim=-1, unbiased=False)}


def render_image(c2w, coarse, fine):
    H, W = config['H'], config['W']
    rays_o, rays_d = get_rays(H, W, config['focal'], c2w)
    viewdirs = rays_d / rays_d.norm(dim=-1, keepdim=True)
    rays = torch.cat([rays_o, rays_d, viewdirs], -1).reshape(-1, 9)
    all_ret = {}
    for i in range(0, rays.shape[0], config['chunk']):
        ret = render_rays(rays[i:i + config['chunk']], coarse, fine, perturb=False)
        for k in ret:
            if k not in all_ret:
                all_ret[k] = []
            all_ret[k].append(ret[k])
    all_ret = {k: torch.cat(all_ret[k], 0) for k in all_ret}
    return {k: v.reshape([H, W] + list(v.shape[1:])) for k, v in all_ret.items()}


img2mse = lambda x, y: torch.mean((x - y) ** 2)
mse2psnr = lambda x: -10. * torch.log(x) / torch.log(torch.Tensor([10.]))
to8b = lambda x: (255 * np.clip(x, 0, 1)).astype(np.uint8)

# ---------------------------------------------------------------- build data
H, W, focal = config['H'], config['W'], config['focal']
poses = torch.stack([pose_spherical(a, -30.0, 4.0) for a in np.linspace(-180, 180, config['n_views'] + 1)[:-1]], 0)
images = []
for p in poses:
    ro, rd = get_rays(H, W, focal, p)
    ro, rd = ro.reshape(-1, 3), rd.reshape(-1, 3)
    z = torch.linspace(config['near'], config['far'], 48).expand(ro.shape[0], 48)
    rgb_gt, sig_gt = analytic_field(ro[:, None] + rd[:, None] * z[..., None])
    im, *_ = raw2outputs(rgb_gt, sig_gt, z, rd)
    images.append(im.view(H, W, 3))
images = torch.stack(images)
print('images', images.shape, 'poses', poses.shape)
i_train, i_test = list(range(config['n_views'] - 1)), config['n_views'] - 1

rays = torch.stack([torch.stack(get_rays(H, W, focal, p), 0) for p in poses[i_train]], 0)   # ro+rd
rays_rgb = torch.cat([rays, images[i_train][:, None]], 1)
rays_rgb = rays_rgb.permute(0, 2, 3, 1, 4).reshape(-1, 3, 3)
rays_rgb = rays_rgb[torch.randperm(rays_rgb.shape[0])]

model_kwargs = dict(D=config['depth'], W=config['width'], input_ch=embed_pos.out_dim,
                    input_ch_views=embed_dir.out_dim, skips=config['skips'])
model = NeRF(**model_kwargs)
model_fine = NeRF(**model_kwargs)
grad_vars = list(model.parameters()) + list(model_fine.parameters())
optimizer = torch.optim.Adam(params=grad_vars, lr=config['lr'], betas=(0.9, 0.999))

i_batch = 0
for step in range(1, config['iters'] + 1):
    t0 = time.time()
    batch = rays_rgb[i_batch:i_batch + config['n_rand']]
    batch = torch.transpose(batch, 0, 1)
    batch_rays, target_s = batch[:2], batch[2]
    i_batch += config['n_rand']
    if i_batch >= rays_rgb.shape[0]:
        rays_rgb = rays_rgb[torch.randperm(rays_rgb.shape[0])]
        i_batch = 0
    rays_o, rays_d = batch_rays
    viewdirs = rays_d / torch.norm(rays_d, dim=-1, keepdim=True)
    out = render_rays(torch.cat([rays_o, rays_d, viewdirs], -1), model, model_fine)
    optimizer.zero_grad()
    img_loss = img2mse(out['rgb_map'], target_s)
    loss = img_loss + img2mse(out['rgb0'], target_s)
    psnr = mse2psnr(img_loss.detach())
    loss.backward()
    optimizer.step()
    new_lr = config['lr'] * (0.1 ** (step / (config['lr_decay'] * 1000)))
    for g in optimizer.param_groups:
        g['lr'] = new_lr
    print(f"step {step} loss {loss.item():.4f} psnr {psnr.item():.2f} ({time.time() - t0:.2f}s)")

with torch.no_grad():
    res = render_image(poses[i_test], model, model_fine)
test_psnr = mse2psnr(img2mse(res['rgb_map'], images[i_test]))
frame = to8b(res['rgb_map'].numpy())
print('test psnr', float(test_psnr), frame.shape, 'depth', res['depth_map'].shape, res['depth_map'].mean().item())

with tempfile.TemporaryDirectory() as logdir:
    path = os.path.join(logdir, '{:06d}.tar'.format(step))
    torch.save({'global_step': step,
                'network_fn_state_dict': model.state_dict(),
                'network_fine_state_dict': model_fine.state_dict(),
                'optimizer_state_dict': optimizer.state_dict()}, path)
    ckpt = torch.load(path)
    model.load_state_dict(ckpt['network_fn_state_dict'])
    model_fine.load_state_dict(ckpt['network_fine_state_dict'])
    optimizer.load_state_dict(ckpt['optimizer_state_dict'])
