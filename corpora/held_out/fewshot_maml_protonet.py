# %% HW4 - few-shot learning. Part A: MAML by functional_call. Part B: manual fast weights (for comparison). Part C: ProtoNet
from collections import OrderedDict
from copy import deepcopy
import itertools
import math
import random

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call, vmap, grad
from torch.utils.data import DataLoader, Dataset, Sampler
from sklearn.datasets import load_digits

SEED = 3
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
WAYS, SHOTS, QUERY = 5, 2, 3
INNER_LR, INNER_STEPS, META_LR = 0.1, 2, 1e-3
META_BATCH = 4
ITERS = 2
FIRST_ORDER = False

# %%
# every (digit, rotation) pair is a class like in omniglot -> 40 classes
digits = load_digits()
imgs = torch.from_numpy(digits.images / 16.0).float().unsqueeze(1)
ys = torch.from_numpy(digits.target)
all_x, all_y = [], []
for r in range(4):
    all_x.append(torch.rot90(imgs, r, dims=(2, 3)))
    all_y.append(ys + 10 * r)
all_x = torch.cat(all_x)
all_y = torch.cat(all_y)
perm = torch.randperm(40)
train_classes, test_classes = perm[:30].tolist(), perm[30:].tolist()
print(all_x.shape, all_y.shape, all_y.max())
by_class = {c: (all_y == c).nonzero(as_tuple=True)[0] for c in range(40)}


def sample_task(classes, ways=WAYS, shots=SHOTS, query=QUERY):
    chosen = random.sample(classes, ways)
    sx, sy, qx, qy = [], [], [], []
    for i, c in enumerate(chosen):
        idx = by_class[c]
        idx = idx[torch.randperm(len(idx))[:shots + query]]
        x = all_x[idx]
        sx.append(x[:shots]); qx.append(x[shots:])
        sy += [i] * shots
        qy += [i] * query
    return torch.cat(sx), torch.tensor(sy), torch.cat(qx), torch.tensor(qy)


# %% Part A
def conv_block(in_c, out_c):
    return nn.Sequential(OrderedDict([
        ('conv', nn.Conv2d(in_c, out_c, 3, padding=1)),
        ('norm', nn.BatchNorm2d(out_c, momentum=1., track_running_stats=False)),
        ('relu', nn.ReLU()),
        ('pool', nn.MaxPool2d(2)),
    ]))


class ConvNet(nn.Module):
    def __init__(self, n_out, hid=16):
        super().__init__()
        self.features = nn.Sequential(OrderedDict([
            ('layer1', conv_block(1, hid)), ('layer2', conv_block(hid, hid)), ('layer3', conv_block(hid, 2 * hid))]))
        self.classifier = nn.Linear(2 * hid, n_out)

    def forward(self, x):
        x = self.features(x)
        return self.classifier(x.view((x.size(0), -1)))


def accuracy(logits, y):
    return (logits.argmax(dim=-1) == y).float().mean()


def adapt(model, params, sx, sy, steps, lr, create_graph=True):
    for _ in range(steps):
        loss = F.cross_entropy(functional_call(model, params, (sx,)), sy)
        grads = torch.autograd.grad(loss, list(params.values()), create_graph=create_graph)
        params = {k: p - lr * g for (k, p), g in zip(params.items(), grads)}
    return params


model = ConvNet(WAYS)
meta_opt = torch.optim.Adam(model.parameters(), lr=META_LR)
for it in range(ITERS):
    meta_opt.zero_grad()
    outer, accs = 0., []
    for _ in range(META_BATCH):
        sx, sy, qx, qy = sample_task(train_classes)
        fast = adapt(model, dict(model.named_parameters()), sx, sy, INNER_STEPS, INNER_LR, not FIRST_ORDER)
        q_logits = functional_call(model, fast, (qx,))
        outer = outer + F.cross_entropy(q_logits, qy)
        accs.append(accuracy(q_logits, qy).item())
    outer = outer / META_BATCH
    outer.backward()
    meta_opt.step()
    print(f'[MAML {it}] outer loss {outer.item():.3f} acc {np.mean(accs):.3f}')

# same thing but every task in parallel. needs no batchnorm so use a mlp
mlp = nn.Sequential(nn.Flatten(), nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, WAYS))


def task_loss(params, x, y):
    return F.cross_entropy(functional_call(mlp, params, (x,)), y)


def maml_loss(params, sx, sy, qx, qy):
    for _ in range(INNER_STEPS):
        g = grad(task_loss)(params, sx, sy)
        params = {k: params[k] - INNER_LR * g[k] for k in params}
    return task_loss(params, qx, qy)


tasks = [torch.stack(t) for t in zip(*[sample_task(train_classes) for _ in range(META_BATCH)])]
print([tuple(t.shape) for t in tasks])
mp = dict(mlp.named_parameters())
losses = vmap(maml_loss, in_dims=(None, 0, 0, 0, 0))(mp, *tasks)
losses.mean().backward()
print('vmap losses', losses.detach(), 'grad norm', mlp[1].weight.grad.norm().item())


# %% Part B: manual fast weights, old style
class FastLinear(nn.Linear):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.weight.fast = None
        self.bias.fast = None

    def forward(self, x):
        if self.weight.fast is not None and self.bias.fast is not None:
            return F.linear(x, self.weight.fast, self.bias.fast)
        return super().forward(x)


class FastConv(nn.Conv2d):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.weight.fast = None
        self.bias.fast = None

    def forward(self, x):
        if self.weight.fast is not None and self.bias.fast is not None:
            return F.conv2d(x, self.weight.fast, self.bias.fast, stride=self.stride, padding=self.padding)
        return super(FastConv, self).forward(x)


class FastNet(nn.Sequential):
    def __init__(self, ways, hid=12):
        super().__init__(FastConv(1, hid, 3, 2, 1), nn.ReLU(), FastConv(hid, hid, 3, 2, 1), nn.ReLU(),
                         nn.Flatten(), FastLinear(hid * 4, ways))

    def reset(self):
        for p in self.parameters():
            p.fast = None

    def set_forward_loss(self, sx, sy, qx, qy):
        self.reset()
        fast = list(self.parameters())
        for _ in range(INNER_STEPS):
            g = torch.autograd.grad(F.cross_entropy(self(sx), sy), fast, create_graph=True)
            if FIRST_ORDER:
                g = [gg.detach() for gg in g]
            fast = []
            for k, w in enumerate(self.parameters()):
                w.fast = w - INNER_LR * g[k] if w.fast is None else w.fast - INNER_LR * g[k]
                fast.append(w.fast)
        out = self(qx)
        return F.cross_entropy(out, qy), accuracy(out, qy)


fnet = FastNet(WAYS)
opt = torch.optim.Adam(fnet.parameters(), lr=META_LR)
for it in range(ITERS):
    res = [fnet.set_forward_loss(*sample_task(train_classes)) for _ in range(META_BATCH)]
    loss = torch.stack([r[0] for r in res]).sum(0)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f'[fast {it}] {loss.item():.3f} {torch.stack([r[1] for r in res]).mean().item():.3f}')
fnet.reset()


# %% Part C
class FewShotSampler(Sampler):
    def __init__(self, classes, n_way, n_per, episodes):
        self.classes, self.n_way, self.n_per, self.episodes = classes, n_way, n_per, episodes

    def __len__(self):
        return self.episodes

    def __iter__(self):
        for _ in range(self.episodes):
            cs = random.sample(self.classes, self.n_way)
            batch = [by_class[c][torch.randperm(by_class[c].numel())[:self.n_per]] for c in cs]
            yield torch.cat(batch).tolist()


class XY(Dataset):
    def __len__(self):
        return len(all_x)

    def __getitem__(self, i):
        return all_x[i], all_y[i].item()


def episodic_collate(shots):
    def fn(items):
        x = torch.stack([i[0] for i in items])
        y = torch.tensor([i[1] for i in items])
        names, local = torch.unique(y, return_inverse=True)
        x = x.view(len(names), -1, *x.shape[1:])
        local = local.view(len(names), -1)
        s, q = x[:, :shots], x[:, shots:]
        return s, q.flatten(0, 1), local[:, 0], local[:, shots:].flatten(), names
    return fn


def euclidean_dist(x, y):
    n, m, d = x.size(0), y.size(0), x.size(1)
    x = x.unsqueeze(1).expand(n, m, d)
    y = y.unsqueeze(0).expand(n, m, d)
    return torch.pow(x - y, 2).sum(2)


class ProtoNet(nn.Module):
    def __init__(self, encoder, metric='euclid'):
        super().__init__()
        self.encoder = encoder
        self.scale = nn.Parameter(torch.tensor(10.0))
        self.metric = metric

    def forward(self, support, query):
        w, s = support.shape[:2]
        z = self.encoder(torch.cat([support.reshape(w * s, *support.shape[2:]), query]))
        protos = z[:w * s].view(w, s, -1).mean(1)
        zq = z[w * s:]
        if self.metric == 'cosine':
            return self.scale * F.normalize(zq, dim=-1) @ F.normalize(protos, dim=-1).t()
        return -euclidean_dist(zq, protos) / zq.size(-1)


for metric in ['euclid', 'cosine']:
    enc = nn.Sequential(ConvNet(1).features, nn.Flatten())
    proto = ProtoNet(enc, metric)
    opt = torch.optim.SGD(proto.parameters(), lr=0.05, momentum=0.9)
    dl = DataLoader(XY(), batch_sampler=FewShotSampler(train_classes, 8, SHOTS + QUERY, ITERS), collate_fn=episodic_collate(SHOTS))
    for ep, (s, q, sl, ql, names) in enumerate(dl):
        logits = proto(s, q)
        # columns are in order of support blocks, map labels to columns
        cols = (ql[:, None] == sl[None]).long().argmax(1)
        loss = F.cross_entropy(logits, cols)
        opt.zero_grad(); loss.backward(); opt.step()
        print(f'[proto {metric} {ep}] {loss.item():.3f} acc {accuracy(logits, cols).item():.3f}')

# %% meta test, confidence interval over episodes
proto.eval()
scores = {'maml': [], 'proto': []}
for _ in range(6):
    sx, sy, qx, qy = sample_task(test_classes)
    fast = adapt(model, {k: v.detach().clone().requires_grad_() for k, v in model.named_parameters()}, sx, sy, 3, INNER_LR, False)
    with torch.no_grad():
        scores['maml'].append(accuracy(functional_call(model, fast, (qx,)), qy).item())
        scores['proto'].append(accuracy(proto(sx.view(WAYS, SHOTS, 1, 8, 8), qx), qy).item())
for k, v in scores.items():
    print('%s: %.2f%% +- %.2f%%' % (k, 100 * np.mean(v), 196 * np.std(v) / math.sqrt(len(v))))
