# Energy based model with Langevin (SGLD) sampling, replay buffer, spectral norm.
# kernel-style script, 10x14 "digits" rendered from a 7-segment font
import random
import time
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm

params = {
    'img': (1, 14, 10),
    'batch_size': 16,
    'buffer_size': 120,
    'reinit_freq': 0.05,
    'langevin_steps': 10,
    'step_size': 4.0,
    'noise': 0.01,
    'alpha': 0.1,
    'class_weight': 0.5,
    'lr': 1.5e-3,
    'iters': 20,
    'grad_clip': 0.1,
    'hidden': 14,
}

SEGMENTS = {0: 'abcdef', 1: 'bc', 2: 'abged', 3: 'abgcd', 4: 'fgbc', 5: 'afgcd', 6: 'afgedc', 7: 'abc', 8: 'abcdefg', 9: 'abcdfg'}


def glyph(d, dx=0, dy=0, thick=1):
    a = np.zeros(params['img'][1:], dtype=np.float32)
    t, m, b, l, r = 1 + dy, 6 + dy, 11 + dy, 2 + dx, 7 + dx
    for s in SEGMENTS[d]:
        if s in 'agd':
            y = {'a': t, 'g': m, 'd': b}[s]
            a[y:y + thick, l:r + 1] = 1
        else:
            x = l if s in 'fe' else r
            y0, y1 = (t, m) if s in 'fb' else (m, b)
            a[y0:y1 + 1, x:x + thick] = 1
    return a


def data_stream(bs, seed=None):
    rng = np.random.default_rng(seed)
    while True:
        labels = rng.integers(0, 10, size=bs)
        imgs = np.stack([glyph(int(d), int(rng.integers(-1, 2)), int(rng.integers(-1, 2)), int(rng.integers(1, 3))) for d in labels])
        x = torch.from_numpy(imgs).unsqueeze(1).mul(2).sub(1)
        yield (x + 0.03 * torch.randn_like(x)).clamp_(-1, 1), torch.from_numpy(labels)


class Swish(torch.autograd.Function):
    """memory-friendly swish with double backward support"""

    @staticmethod
    def forward(ctx, i):
        ctx.save_for_backward(i)
        return i * torch.sigmoid(i)

    @staticmethod
    def backward(ctx, grad_output):
        i, = ctx.saved_tensors
        s = torch.sigmoid(i)
        return grad_output * (s * (1 + i * (1 - s)))


class MemoryEfficientSwish(nn.Module):
    def forward(self, x):
        return Swish.apply(x)


def conv(i, o, k, s=1, p=0):
    return spectral_norm(nn.Conv2d(i, o, k, s, p), n_power_iterations=1)


class Res(nn.Module):
    def __init__(self, i, o, down=False):
        super().__init__()
        self.a, self.b = conv(i, o, 3, 1, 1), conv(o, o, 3, 1, 1)
        self.act = MemoryEfficientSwish()
        self.skip = conv(i, o, 1) if i != o else None
        self.down = nn.AvgPool2d(2, ceil_mode=True) if down else None

    def forward(self, x):
        y = self.b(self.act(self.a(x)))
        y = y + (x if self.skip is None else self.skip(x))
        y = self.act(y)
        return y if self.down is None else self.down(y)


class JEM(nn.Module):
    """logits f(x)[y];  E(x) = -logsumexp_y f(x)[y]"""

    def __init__(self, c=14, n_classes=10):
        super().__init__()
        self.stem = conv(params['img'][0], c, 3, 1, 1)
        stages, width = [], c
        for mult, down in ((1, True), (1.5, True), (2, False)):
            nxt = int(c * mult)
            stages.append(Res(width, nxt, down))
            width = nxt
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d((2, 1))
        self.head = nn.Linear(width * 2, n_classes)
        self.scale = nn.Parameter(torch.tensor(3.0))

    def classify(self, x):
        h = self.pool(self.stages(self.stem(x)))
        return self.scale * self.head(h.flatten(1))

    def forward(self, x, y=None):
        logits = self.classify(x)
        if y is None:
            return -logits.logsumexp(1)
        return -torch.gather(logits, 1, y[:, None]).squeeze(1)


class Sampler:
    def __init__(self, model, img_shape, sample_size, max_len):
        self.model, self.img_shape, self.sample_size, self.max_len = model, img_shape, sample_size, max_len
        self.examples = [(torch.rand((1,) + img_shape) * 2 - 1) for _ in range(sample_size)]

    def sample_new_exmps(self, steps, step_size, noise, reinit):
        n_new = np.random.binomial(self.sample_size, reinit)
        rand_imgs = torch.rand((n_new,) + self.img_shape) * 2 - 1
        old_imgs = torch.cat(random.choices(self.examples, k=self.sample_size - n_new), dim=0)
        inp_imgs = torch.cat([rand_imgs, old_imgs], dim=0).detach()
        inp_imgs = Sampler.generate_samples(self.model, inp_imgs, steps, step_size, noise)
        self.examples = list(inp_imgs.chunk(self.sample_size, dim=0)) + self.examples
        self.examples = self.examples[:self.max_len]
        return inp_imgs

    @staticmethod
    def generate_samples(model, inp_imgs, steps=20, step_size=5., noise_std=.005, y=None, trace=None):
        is_training = model.training
        model.eval()
        for p in model.parameters():
            p.requires_grad = False
        inp_imgs.requires_grad = True
        had_gradients_enabled = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        noise = torch.randn(inp_imgs.shape)
        for k in range(steps):
            noise.normal_(0, noise_std)
            inp_imgs.data.add_(noise.data)
            inp_imgs.data.clamp_(min=-1.0, max=1.0)
            out = model(inp_imgs) if y is None else model(inp_imgs, y)
            out.sum().backward()
            inp_imgs.grad.data.clamp_(-0.03, 0.03)
            inp_imgs.data.add_(-step_size * inp_imgs.grad.data)
            inp_imgs.grad.detach_()
            inp_imgs.grad.zero_()
            inp_imgs.data.clamp_(min=-1.0, max=1.0)
            if trace is not None:
                trace.append(out.detach().mean().item())
        for p in model.parameters():
            p.requires_grad = True
        model.train(is_training)
        torch.set_grad_enabled(had_gradients_enabled)
        return inp_imgs.detach()


def ascii_art(batch):
    ramp = ' .:-=+*#'
    rows = []
    for lines in batch.squeeze(1).permute(1, 0, 2):
        rows.append('  '.join(''.join(ramp[int((v + 1) / 2 * 7.99)] for v in l) for l in lines))
    return '\n'.join(rows)


def auroc(inlier, outlier):
    return (inlier[:, None] > outlier[None, :]).float().mean().item()


def main():
    warnings.simplefilter('ignore')
    for seeder in (random.seed, np.random.seed, torch.manual_seed):
        seeder(2024)
    model = JEM(params['hidden'])
    sampler = Sampler(model, params['img'], params['batch_size'], params['buffer_size'])
    opt = torch.optim.Adam(model.parameters(), lr=params['lr'], betas=(0.0, 0.999))
    sched = torch.optim.lr_scheduler.StepLR(opt, 10, gamma=0.9)
    t0 = time.time()
    hist = {'cdiv': [], 'reg': [], 'ce': [], 'acc': []}
    for it, (real, y) in zip(range(params['iters']), data_stream(params['batch_size'], 0)):
        fake = sampler.sample_new_exmps(params['langevin_steps'], params['step_size'], params['noise'], params['reinit_freq'])
        inp = torch.cat([real, fake], dim=0)
        logits = model.classify(inp)
        real_out, fake_out = (-(-logits.logsumexp(1))).chunk(2, dim=0)
        reg = params['alpha'] * (real_out ** 2 + fake_out ** 2).mean()
        cdiv = fake_out.mean() - real_out.mean()
        ce = F.cross_entropy(logits[:real.size(0)], y)
        loss = reg + cdiv + params['class_weight'] * ce
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), params['grad_clip'])
        opt.step()
        sched.step()
        acc = (logits[:real.size(0)].argmax(1) == y).float().mean()
        for k, v in zip(hist, (cdiv, reg, ce, acc)):
            hist[k].append(v.item())
        if (it + 1) % 10 == 0:
            print('it %3d ' % (it + 1) + ' '.join('%s %.3f' % (k, np.mean(v[-10:])) for k, v in hist.items()), '%.1fs' % (time.time() - t0))

    model.eval()
    real, y = next(data_stream(40, 5))
    with torch.no_grad():
        scores = {
            'real': -model(real),
            'noise': -model(torch.rand_like(real) * 2 - 1),
            'flipped': -model(real.flip(-1)),
            'transposed-ish': -model(F.interpolate(real.transpose(2, 3), size=real.shape[2:], mode='nearest')),
        }
    for name in list(scores)[1:]:
        print('AUROC vs %-15s %.3f' % (name, auroc(scores['real'], scores[name])))
    trace = []
    start = torch.rand((4,) + params['img']) * 2 - 1
    out = Sampler.generate_samples(model, start, steps=30, step_size=6., y=torch.tensor([0, 1, 7, 8]), trace=trace)
    print('energy along chain: %s' % np.round(trace[::6], 2))
    print(ascii_art(out))
    grad_ok = torch.autograd.gradcheck(Swish.apply, (torch.randn(3, 5, dtype=torch.double, requires_grad=True),))
    print('gradcheck', grad_ok)


if __name__ == '__main__':
    main()
