"""BYOL and SimCLR on (tiny) images - both losses live behind one factory. Augmentations are pure tensor ops."""
import copy
import random
import sys
from argparse import Namespace
from contextlib import contextmanager
from functools import partial, wraps

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def singleton(cache_key):
    def inner_fn(fn):
        @wraps(fn)
        def wrapper(self, *args, **kwargs):
            if getattr(self, cache_key) is None:
                setattr(self, cache_key, fn(self, *args, **kwargs))
            return getattr(self, cache_key)
        return wrapper
    return inner_fn


def set_requires_grad(model, val):
    for p in model.parameters():
        p.requires_grad = val


@contextmanager
def evaluating(model):
    was = model.training
    model.eval()
    try:
        yield model
    finally:
        model.train(was)


# augmentations ------------------------------------------------------------------------------

class RandomApply(nn.Module):
    def __init__(self, fn, p):
        super().__init__()
        self.fn, self.p = fn, p

    def forward(self, x):
        if random.random() > self.p:
            return x
        return self.fn(x)


class RandomResizedCrop(nn.Module):
    """per sample crops through affine_grid"""

    def __init__(self, scale=(0.4, 1.0)):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        b = x.shape[0]
        lo, hi = self.scale
        s = (torch.rand(b, device=x.device) * (hi - lo) + lo).sqrt()
        t = (torch.rand(b, 2, device=x.device) * 2 - 1) * (1 - s)[:, None]
        theta = torch.zeros(b, 2, 3, device=x.device)
        theta[:, 0, 0] = s
        theta[:, 1, 1] = s
        theta[:, :, 2] = t
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        return F.grid_sample(x, grid, padding_mode='reflection', align_corners=False)


def hflip(x, p=0.5):
    m = torch.rand(len(x), 1, 1, 1, device=x.device) < p
    return torch.where(m, x.flip(-1), x)


class GaussianBlur(nn.Module):
    def __init__(self, ksize=3, sigma=(0.3, 1.5)):
        super().__init__()
        self.ksize, self.sigma = ksize, sigma

    def forward(self, x):
        sigma = random.uniform(*self.sigma)
        r = torch.arange(self.ksize, dtype=x.dtype) - self.ksize // 2
        k = torch.softmax(-r ** 2 / (2 * sigma ** 2), 0)
        kernel = torch.outer(k, k).expand(x.shape[1], 1, -1, -1)
        x = F.pad(x, [self.ksize // 2] * 4, mode='reflect')
        return F.conv2d(x, kernel, groups=kernel.shape[0])


class ColorJitter(nn.Module):
    def __init__(self, brightness=.4, contrast=.4):
        super().__init__()
        self.b, self.c = brightness, contrast

    def forward(self, x):
        n = x.size(0)
        br = 1 + (torch.rand(n, 1, 1, 1) * 2 - 1) * self.b
        ct = 1 + (torch.rand(n, 1, 1, 1) * 2 - 1) * self.c
        x = x * br
        mean = x.mean(dim=[1, 2, 3], keepdim=True)
        return ((x - mean) * ct + mean).clamp_(0, 1)


def cutout(x, size=4):
    x = x.clone()
    H, W = x.shape[-2:]
    for i in range(x.shape[0]):
        cy, cx = random.randrange(H - size), random.randrange(W - size)
        x[i, :, cy:cy + size, cx:cx + size] = 0.
    return x


# nets ---------------------------------------------------------------------------------------

class BasicBlock(nn.Module):
    def __init__(self, inp, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inp, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or inp != planes:
            self.shortcut = nn.Sequential(nn.Conv2d(inp, planes, 1, stride, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, widths=(16, 32, 64), blocks=(1, 1, 1), num_classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, widths[0], 3, padding=1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU())
        layers, c = [], widths[0]
        for i, (w, n) in enumerate(zip(widths, blocks)):
            for j in range(n):
                layers.append(BasicBlock(c, w, stride=2 if (i > 0 and j == 0) else 1))
                c = w
        self.layers = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(c, num_classes)

    def forward(self, x):
        x = self.layers(self.stem(x))
        x = torch.flatten(self.avgpool(x), 1)
        return self.fc(x)


def MLP(dim, projection_size, hidden_size=128):
    return nn.Sequential(nn.Linear(dim, hidden_size), nn.BatchNorm1d(hidden_size), nn.ReLU(inplace=True),
                         nn.Linear(hidden_size, projection_size))


class NetWrapper(nn.Module):
    """grabs the hidden layer by hook and puts a lazily made projector on it"""

    def __init__(self, net, projection_size, hidden_size, layer='avgpool'):
        super().__init__()
        self.net = net
        self.layer = layer
        self.projector = None
        self.projection_size = projection_size
        self.hidden_size = hidden_size
        self.hidden = {}
        self._register_hook()

    def _register_hook(self):
        modules = dict([*self.net.named_modules()])
        modules[self.layer].register_forward_hook(self._hook)

    def _hook(self, _, inp, output):
        self.hidden['x'] = output.flatten(1)

    @singleton('projector')
    def _get_projector(self, hidden):
        _, dim = hidden.shape
        return MLP(dim, self.projection_size, self.hidden_size).to(hidden)

    def get_representation(self, x):
        self.hidden.clear()
        self.net(x)
        return self.hidden['x']

    def forward(self, x, return_projection=True):
        representation = self.get_representation(x)
        if not return_projection:
            return representation
        projector = self._get_projector(representation)
        return projector(representation), representation


class SSLBase(nn.Module):
    def __init__(self, net, image_size, aug, projection_size=32, hidden_size=64):
        super().__init__()
        self.aug = aug
        self.online_encoder = NetWrapper(net, projection_size, hidden_size)
        self.projection_size, self.hidden_size = projection_size, hidden_size
        self.build()
        # send a mock image to instantiate singleton parameters
        with evaluating(self):
            self.loss_fn(*(torch.randn(2, 1, image_size, image_size) for _ in range(2)))

    def build(self):
        pass

    def loss_fn(self, one, two):
        raise NotImplementedError

    def after_step(self):
        pass

    def forward(self, x, return_embedding=False):
        if return_embedding:
            return self.online_encoder(x, return_projection=False)
        with torch.no_grad():
            one, two = self.aug(x), self.aug(x)
        return self.loss_fn(one, two)


class BYOL(SSLBase):
    def build(self, moving_average_decay=0.99):
        self.tau = moving_average_decay
        self.target_encoder = None
        self.online_predictor = MLP(self.projection_size, self.projection_size, self.hidden_size)

    @singleton('target_encoder')
    def _get_target_encoder(self):
        self.online_encoder.hidden.clear()  # non leaf tensors can't be deepcopied
        target_encoder = copy.deepcopy(self.online_encoder)
        set_requires_grad(target_encoder, False)
        return target_encoder

    def after_step(self):
        for cur, ma in zip(self.online_encoder.parameters(), self.target_encoder.parameters()):
            ma.data = ma.data * self.tau + (1 - self.tau) * cur.data

    @staticmethod
    def regression_loss(x, y):
        x = F.normalize(x, dim=-1, p=2)
        y = F.normalize(y, dim=-1, p=2)
        return 2 - 2 * (x * y).sum(dim=-1)

    def loss_fn(self, one, two):
        images = torch.cat((one, two), dim=0)
        proj, _ = self.online_encoder(images)
        pred_one, pred_two = self.online_predictor(proj).chunk(2, dim=0)
        with torch.no_grad():
            tgt, _ = self._get_target_encoder()(images)
            tgt_one, tgt_two = tgt.detach().chunk(2, dim=0)
        return (self.regression_loss(pred_one, tgt_two) + self.regression_loss(pred_two, tgt_one)).mean()


class SimCLR(SSLBase):
    temperature = 0.5

    def loss_fn(self, one, two):
        z, _ = self.online_encoder(torch.cat([one, two]))
        z = F.normalize(z, dim=1)
        n = z.shape[0] // 2
        sim = z @ z.t() / self.temperature
        # discard the main diagonal from both: labels and similarities matrix
        mask = torch.eye(2 * n, dtype=torch.bool)
        labels = torch.cat([torch.arange(n) for _ in range(2)])
        labels = (labels[None] == labels[:, None]).float()
        labels = labels[~mask].view(2 * n, -1)
        sim = sim[~mask].view(2 * n, -1)
        pos = sim[labels.bool()].view(2 * n, -1)
        neg = sim[~labels.bool()].view(2 * n, -1)
        logits = torch.cat([pos, neg], dim=1)
        return F.cross_entropy(logits, torch.zeros(2 * n, dtype=torch.long))


METHODS = {'byol': BYOL, 'simclr': partial(SimCLR, projection_size=24)}


def knn_eval(feats, labels, k=5):
    f = F.normalize(feats, dim=1)
    sim = f @ f.T
    sim.fill_diagonal_(-1)
    w, idx = sim.topk(k, dim=1)
    votes = torch.zeros(len(f), 10).scatter_add_(1, labels[idx], (w / 0.1).exp())
    return (votes.argmax(1) == labels).float().mean().item()


def run(cfg):
    torch.manual_seed(cfg.seed); random.seed(cfg.seed)
    d = load_digits()
    x = F.interpolate(torch.tensor(d.images).float()[:, None] / 16, scale_factor=2, mode='nearest')
    y = torch.tensor(d.target)
    aug = nn.Sequential(RandomResizedCrop(), RandomApply(hflip, 0.3), RandomApply(GaussianBlur(), .5),
                        ColorJitter(), RandomApply(partial(cutout, size=cfg.cut), p=0.8))
    learner = METHODS[cfg.method](ResNet(), x.shape[-1], aug)
    opt = torch.optim.SGD([p for p in learner.parameters() if p.requires_grad], lr=cfg.lr, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cfg.steps)
    for step, (img,) in zip(range(cfg.steps), DataLoader(TensorDataset(x), cfg.bs, shuffle=True)):
        loss = learner(img)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        learner.after_step()
        print(f'{cfg.method} {step}: {loss.item():.4f}')
    with evaluating(learner), torch.no_grad():
        emb = torch.cat([learner(b, return_embedding=True) for b in x[:300].split(64)])
    clf = LogisticRegression(max_iter=50).fit(emb[:200].numpy(), y[:200].numpy())
    print('linear', clf.score(emb[200:].numpy(), y[200:300].numpy()), 'knn', knn_eval(emb, y[:300]))


if __name__ == '__main__':
    base = dict(seed=0, bs=16, steps=3, lr=0.03, cut=4)
    for m in (sys.argv[1:] or METHODS):
        run(Namespace(method=m, **base))
