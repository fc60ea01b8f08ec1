import math, copy, contextlib
from collections import OrderedDict
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

# Ladder / "very deep" style VAE on 12x12 synthetic shapes
H = {
    'image_size': 12, 'image_channels': 1, 'width': 18, 'zdim': 5,
    'enc_blocks': '12x1,12d2,6x1,6d2,3x1',
    'dec_blocks': '3x1,6m3,6x1,12m6,12x1',
    'bottleneck_multiple': 0.5, 'batch': 7, 'iters': 16,
    'lr': 2e-3, 'ema_rate': 0.9, 'skip_threshold': 400., 'kl_warmup': 10, 'accum': 2,
}


def parse_layer_string(s):
    layers = []
    for ss in s.split(','):
        if 'x' in ss:
            res, num = ss.split('x')
            layers += [(int(res), None) for _ in range(int(num))]
        elif 'm' in ss:
            res, mixin = [int(a) for a in ss.split('m')]
            layers.append((res, mixin))
        elif 'd' in ss:
            res, down = [int(a) for a in ss.split('d')]
            layers.append((res, down))
        else:
            layers.append((int(ss), None))
    return layers


def shapes(n, size, seed=0):
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[:size, :size]
    out = np.zeros((n, size, size), np.float32)
    for i in range(n):
        cy, cx = rng.uniform(3, size - 3, 2)
        r = rng.uniform(1.5, 4)
        if rng.rand() < .5:
            out[i] = ((yy - cy) ** 2 + (xx - cx) ** 2) < r ** 2
        else:
            out[i] = (np.abs(yy - cy) < r) & (np.abs(xx - cx) < r * .7)
    return torch.from_numpy(out)[:, None]


def forever(x, bs):
    while True:
        p = torch.randperm(len(x))
        for i in range(0, len(x) - bs + 1, bs):
            yield x[p[i:i + bs]]


@torch.jit.ignore
def gaussian_analytical_kl(mu1, mu2, logsigma1, logsigma2):
    return -0.5 + logsigma2 - logsigma1 + 0.5 * (logsigma1.exp() ** 2 + (mu1 - mu2) ** 2) / (logsigma2.exp() ** 2)


def draw_gaussian_diag_samples(mu, logsigma):
    eps = torch.empty_like(mu).normal_(0., 1.)
    return torch.exp(logsigma) * eps + mu


def get_conv(in_dim, out_dim, kernel_size, stride, padding, zero_bias=True, zero_weights=False, scaled=False):
    c = nn.Conv2d(in_dim, out_dim, kernel_size, stride, padding)
    if zero_bias:
        c.bias.data *= 0.0
    if zero_weights:
        c.weight.data *= 0.0
    return c


get_3x3 = lambda i, o, **k: get_conv(i, o, 3, 1, 1, **k)
get_1x1 = lambda i, o, **k: get_conv(i, o, 1, 1, 0, **k)


class Block(nn.Module):
    def __init__(self, in_width, middle_width, out_width, down_rate=None, residual=False, use_3x3=True, zero_last=False):
        super().__init__()
        self.down_rate = down_rate
        self.residual = residual
        self.c1 = get_1x1(in_width, middle_width)
        self.c2 = get_3x3(middle_width, middle_width) if use_3x3 else get_1x1(middle_width, middle_width)
        self.c3 = get_3x3(middle_width, middle_width) if use_3x3 else get_1x1(middle_width, middle_width)
        self.c4 = get_1x1(middle_width, out_width, zero_weights=zero_last)

    def forward(self, x):
        xhat = self.c1(F.gelu(x))
        xhat = self.c2(F.gelu(xhat))
        xhat = self.c3(F.gelu(xhat))
        xhat = self.c4(F.gelu(xhat))
        out = x + xhat if self.residual else xhat
        if self.down_rate is not None:
            out = F.avg_pool2d(out, kernel_size=self.down_rate, stride=self.down_rate)
        return out


class Encoder(nn.Module):
    def __init__(self, H):
        super().__init__()
        w = H['width']
        self.in_conv = get_3x3(H['image_channels'], w)
        blocks = []
        for res, down in parse_layer_string(H['enc_blocks']):
            blocks.append(Block(w, int(w * H['bottleneck_multiple']), w, down_rate=down, residual=True, use_3x3=res > 2))
        n = len(blocks)
        for b in blocks:
            b.c4.weight.data *= np.sqrt(1 / n)
        self.enc_blocks = nn.ModuleList(blocks)

    def forward(self, x):
        x = self.in_conv(x)
        activations = {x.shape[2]: x}
        for block in self.enc_blocks:
            x = block(x)
            activations[x.shape[2]] = x
        return activations


class DecBlock(nn.Module):
    def __init__(self, H, res, mixin, n_blocks):
        super().__init__()
        self.base, self.mixin, self.zdim = res, mixin, H['zdim']
        w, mid = H['width'], int(H['width'] * H['bottleneck_multiple'])
        self.enc = Block(w * 2, mid, self.zdim * 2, use_3x3=res > 2)
        self.prior = Block(w, mid, self.zdim * 2 + w, use_3x3=res > 2, zero_last=True)
        self.z_proj = get_1x1(self.zdim, w)
        self.z_proj.weight.data *= np.sqrt(1 / n_blocks)
        self.resnet = Block(w, mid, w, residual=True, use_3x3=res > 2)

    def split_prior(self, x):
        feats = self.prior(x)
        return feats[:, :self.zdim], feats[:, self.zdim:self.zdim * 2], feats[:, self.zdim * 2:]

    def get_inputs(self, xs, bs):
        x = xs.get(self.base)
        if x is None:
            x = torch.zeros(bs, self.z_proj.out_channels, self.base, self.base)
        if self.mixin is not None:
            lower = xs[self.mixin]
            x = x + F.interpolate(lower[:, :x.shape[1], ...], scale_factor=self.base // self.mixin)
        return x

    def forward(self, xs, bs, activations=None, t=None):
        x = self.get_inputs(xs, bs)
        pm, pv, xpp = self.split_prior(x)
        stats = {}
        if activations is not None:
            qm, qv = self.enc(torch.cat([x, activations[self.base]], dim=1)).chunk(2, dim=1)
            z = draw_gaussian_diag_samples(qm, qv)
            stats['kl'] = gaussian_analytical_kl(qm, pm, qv, pv).sum(dim=(1, 2, 3))
        else:
            z = draw_gaussian_diag_samples(pm, pv + math.log(t) if t is not None else pv)
        x = self.resnet(x + xpp + self.z_proj(z))
        xs[self.base] = x
        return xs, stats


class HVAE(nn.Module):
    def __init__(self, H):
        super().__init__()
        self.encoder = Encoder(H)
        spec = parse_layer_string(H['dec_blocks'])
        self.dec_blocks = nn.ModuleList([DecBlock(H, r, m, len(spec)) for r, m in spec])
        self.bias_xs = nn.ParameterDict({
            str(res): nn.Parameter(torch.zeros(1, H['width'], res, res)) for res in sorted({r for r, _ in spec})})
        self.gain = nn.Parameter(torch.ones(1, H['width'], 1, 1))
        self.out = get_1x1(H['width'], H['image_channels'])
        self.final_res = H['image_size']

    def _start(self, n):
        return {int(k): v.repeat(n, 1, 1, 1) for k, v in self.bias_xs.items()}

    def forward(self, x, beta=1.0):
        acts = self.encoder(x * 2 - 1)
        xs, kls = self._start(x.shape[0]), []
        for b in self.dec_blocks:
            xs, st = b(xs, x.shape[0], acts)
            kls.append(st['kl'])
        logits = self.out(xs[self.final_res] * self.gain)
        nll = F.binary_cross_entropy_with_logits(logits, x, reduction='none').flatten(1).sum(-1)
        rate = torch.stack(kls).sum(0)
        return OrderedDict(elbo=(nll + beta * rate).mean(), distortion=nll.mean(), rate=rate.mean(),
                           per_layer=torch.stack(kls).mean(1).detach())

    @torch.no_grad()
    def sample(self, n, t=None):
        xs = self._start(n)
        for b in self.dec_blocks:
            xs, _ = b(xs, n, t=t)
        return torch.sigmoid(self.out(xs[self.final_res] * self.gain))


@contextlib.contextmanager
def evaluating(m):
    was = m.training
    m.eval()
    try:
        yield m
    finally:
        m.train(was)


def main():
    torch.manual_seed(0)
    data, valid = shapes(130, H['image_size']), shapes(31, H['image_size'], seed=9)
    vae = HVAE(H)
    ema = copy.deepcopy(vae).requires_grad_(False)
    opt = torch.optim.AdamW(vae.parameters(), lr=H['lr'], betas=(.9, .9), weight_decay=.01)
    stream, skipped = forever(data, H['batch']), 0
    for it in range(1, H['iters'] + 1):
        vae.zero_grad()
        for _ in range(H['accum']):
            stats = vae(next(stream), beta=min(1., it / H['kl_warmup']))
            (stats['elbo'] / H['accum']).backward()
        gn = torch.nn.utils.clip_grad_norm_(vae.parameters(), 200.).item()
        if not math.isnan(gn) and gn < H['skip_threshold']:
            opt.step()
            for p, q in zip(vae.parameters(), ema.parameters()):
                q.data.mul_(H['ema_rate']).add_(p.data * (1 - H['ema_rate']))
        else:
            skipped += 1
        if it % 8 == 0:
            print('it %d elbo %.2f dist %.2f rate %.2f gnorm %.1f skipped %d' % (
                it, *(stats[k].item() for k in ('elbo', 'distortion', 'rate')), gn, skipped))
    with evaluating(ema), torch.no_grad():
        res = ema(valid)
        print('ema elbo %.3f' % res['elbo'].item(), 'kl per layer', res['per_layer'].numpy().round(2))
    for im in vae.sample(2, t=.8)[:, 0]:
        print('\n'.join(''.join(' .:#'[int(v)] for v in row) for row in (im * 3.99).clamp(0, 3)))


if __name__ == '__main__':
    main()
