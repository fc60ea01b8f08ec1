# %% [markdown]
# # Denoising autoencoder on the UCI digits
# Exported from a notebook.

# %%
import os, json, pickle, tempfile
import numpy as np
import torch, torch.nn as nn, torch.optim as optim
from torch.utils.data import Dataset, DataLoader, Sampler, Subset
from sklearn.datasets import load_digits

try:
    from tqdm.auto import tqdm_does_not_exist as tqdm
except ImportError:
    def tqdm(it, **kw):
        return it

# %%
class CFG:
    seed = 11
    side = 8
    n = 150
    bs = 32
    epochs = 2
    lr = 3e-3
    bottleneck = 5
    noise = {'gauss': 0.3, 'salt': 0.05}
    device = 'cuda' if torch.cuda.is_available() else 'cpu'

# %%
class NoisyDigits(Dataset):
    def __init__(self, arrays, targets, noise=None, flat=True):
        self.arrays, self.targets = arrays, targets
        self.noise = noise or {}
        self.flat = flat
    def __len__(self): return len(self.arrays)
    def __getitem__(self, i):
        clean = self.arrays[i].astype(np.float32) / 16
        dirty = clean + np.random.randn(*clean.shape).astype(np.float32) * self.noise.get('gauss', 0)
        mask = np.random.rand(*clean.shape) < self.noise.get('salt', 0)
        dirty[mask] = 1.0
        if self.flat:
            clean, dirty = clean.ravel(), dirty.ravel()
        return {'x': torch.from_numpy(dirty), 'y': torch.from_numpy(clean), 'label': int(self.targets[i])}

class EveryOther(Sampler):
    """Visits even indices first, then odd ones."""
    def __init__(self, data_source): self.data_source = data_source
    def __iter__(self):
        n = len(self.data_source)
        return iter(list(range(0, n, 2)) + list(range(1, n, 2)))
    def __len__(self): return len(self.data_source)

# %%
class Encoder(nn.Sequential):
    def __init__(self, sizes, act=nn.ELU):
        mods = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            mods += [nn.Linear(a, b), act()]
        super().__init__(*mods[:-1])

class Tied(nn.Module):
    """The decoder uses the encoder's weights, transposed."""
    def __init__(self, encoder):
        super().__init__()
        self.linears = [m for m in encoder if isinstance(m, nn.Linear)][::-1]
        self.biases = nn.ParameterList([nn.Parameter(torch.zeros(l.in_features)) for l in self.linears])
    def forward(self, z):
        for k, (l, b) in enumerate(zip(self.linears, self.biases)):
            z = nn.functional.linear(z, l.weight.t(), b)
            if k < len(self.linears) - 1: z = nn.functional.elu(z)
        return z.sigmoid()

class AE(nn.Module):
    def __init__(self, cfg=CFG):
        super().__init__()
        self.encoder = Encoder([cfg.side ** 2, 32, 16, cfg.bottleneck])
        self.decoder = Tied(self.encoder)
        self.probe = nn.Linear(cfg.bottleneck, 10)
    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z), self.probe(z.detach())

class ConvAE(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU())
        self.up = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(2 * width, width, 3, padding='same'), nn.ReLU(),
                                nn.PixelShuffle(1), nn.ConvTranspose2d(width, 1, 2, 2), nn.Sigmoid())
        self.probe = nn.LazyLinear(10)
    def forward(self, x):
        z = self.down(x[:, None])
        return self.up(z).squeeze(1), self.probe(z.detach().flatten(1))

# %%
def remember(store, name):
    def hook(module, inputs, output):
        store.setdefault(name, []).append(output.detach().mean(0))
    return hook

def mixup(batch, lam=0.9):
    perm = torch.randperm(batch['x'].size(0))
    return {**batch, 'x': lam * batch['x'] + (1 - lam) * batch['x'][perm]}

def run_epoch(model, loader, opt=None):
    train = opt is not None
    model.train(train)
    tot = hits = seen = 0
    with torch.set_grad_enabled(train):
        for batch in tqdm(loader, leave=False):
            if train: batch = mixup(batch)
            x, y = batch['x'].to(CFG.device), batch['y'].to(CFG.device)
            label = batch['label'].to(CFG.device)
            out, logits = model(x)
            loss = nn.functional.mse_loss(out, y, reduction='none').flatten(1).sum(1).mean()
            ce = nn.functional.cross_entropy(logits, label)
            if train:
                opt.zero_grad(); (loss + ce).backward(); opt.step()
            n = x.shape[0]
            tot += loss.item() * n; seen += n
            hits += int((logits.argmax(1) == label).sum())
    return tot / seen, hits / seen

# %%
def main():
    np.random.seed(CFG.seed); torch.manual_seed(CFG.seed)
    digits = load_digits()
    images, target = digits['images'][:CFG.n], digits['target'][:CFG.n]
    order = np.random.permutation(CFG.n)
    results = {}
    for name, make, flat in [('tied', AE, True), ('conv', ConvAE, False)]:
        full = NoisyDigits(images, target, CFG.noise, flat=flat)
        tr, va = Subset(full, order[:110].tolist()), Subset(full, order[110:].tolist())
        dl_tr = DataLoader(tr, CFG.bs, sampler=EveryOther(tr))
        dl_va = DataLoader(va, CFG.bs * 2)
        model = make().to(CFG.device)
        run_epoch(model, dl_va)
        opt = optim.NAdam(model.parameters(), lr=CFG.lr)
        seen = {}
        handle = model.probe.register_forward_hook(remember(seen, 'probe'))
        for ep in range(CFG.epochs):
            results[f'{name}/{ep}'] = run_epoch(model, dl_tr, opt) + run_epoch(model, dl_va)
        handle.remove()
        usage = torch.stack(seen['probe']).std(0)
        results[name + '/usage'] = usage.tolist()
    path = os.path.join(tempfile.mkdtemp(), 'results.json')
    with open(path, 'w') as f:
        json.dump(results, f)
    with open(path) as f:
        print(len(json.load(f)['tied/usage']), results['conv/1'])

if __name__ == '__main__':
    main()
