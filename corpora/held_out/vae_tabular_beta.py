# -*- coding: utf-8 -*-
"""
Variational autoencoder for mixed-type tables (numbers + categories), with cyclical
annealing of beta.  Table: wine data of sklearn plus two invented categorical columns.
"""

import copy
import itertools
import os
import shutil
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler, random_split


params = {
    'latent_dim': 6,
    'hidden': [64, 32],
    'emb_dim': 4,
    'batch_size': 32,
    'epochs': 3,
    'batches_per_epoch': 2,
    'lr': 2e-3,
    'beta_max': 0.5,
    'n_cycles': 2,
    'free_bits': 0.02,
    'dropout': 0.1,
    'patience': 2,
}


class Table:
    """A very small data frame: numeric matrix + dict of categorical columns."""

    def __init__(self, numeric, names, categorical):
        self.numeric = numeric
        self.names = list(names)
        self.categories = {}
        self.codes = {}
        for col, values in categorical.items():
            levels, codes = np.unique(values, return_inverse=True)
            self.categories[col] = levels.tolist()
            self.codes[col] = codes.astype(np.int64)

    @property
    def cardinalities(self):
        return [len(v) for v in self.categories.values()]

    def standardize(self):
        self.mu = self.numeric.mean(axis=0)
        self.sd = self.numeric.std(axis=0) + 1e-8
        self.numeric = (self.numeric - self.mu) / self.sd
        return self

    def __len__(self):
        return len(self.numeric)


def load_table(seed=0):
    rng = np.random.RandomState(seed)
    wine = load_wine()
    region = np.array(['north', 'coast', 'valley'])[wine.target]
    flip = rng.rand(len(region)) < 0.2
    region[flip] = rng.choice(['north', 'coast', 'valley', 'island'], flip.sum())
    alcohol = wine.data[:, 0]
    grade = np.where(alcohol > 13.2, 'strong', np.where(alcohol > 12.5, 'medium', 'light'))
    return Table(wine.data, wine.feature_names, {'region': region, 'grade': grade}), wine.target


class TableDataset(Dataset):
    def __init__(self, table, target):
        self.x_num = torch.tensor(table.numeric, dtype=torch.float32)
        self.x_cat = torch.tensor(np.stack(list(table.codes.values()), axis=1))
        self.target = torch.tensor(target)

    def __len__(self):
        return self.x_num.shape[0]

    def __getitem__(self, item):
        return self.x_num[item], self.x_cat[item], self.target[item]


class MLP(nn.Sequential):
    def __init__(self, sizes, dropout=0.0):
        layers = []
        for i, o in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(i, o), nn.BatchNorm1d(o), nn.ELU(), nn.Dropout(dropout)]
        super().__init__(*layers)


class TabularVAE(nn.Module):

    def __init__(self, n_numeric, cardinalities, latent_dim, hidden, emb_dim, dropout):
        super().__init__()
        self.n_numeric = n_numeric
        self.cardinalities = cardinalities
        self.embeddings = nn.ModuleList([nn.Embedding(c, emb_dim) for c in cardinalities])
        in_dim = n_numeric + emb_dim * len(cardinalities)

        self.encoder = MLP([in_dim] + hidden, dropout)
        self.fc_mu = nn.Linear(hidden[-1], latent_dim)
        self.fc_logvar = nn.Linear(hidden[-1], latent_dim)

        self.decoder = MLP([latent_dim] + hidden[::-1], dropout)
        self.num_head = nn.Linear(hidden[0], n_numeric)
        self.num_log_sigma = nn.Parameter(torch.zeros(n_numeric))
        self.cat_heads = nn.ModuleList([nn.Linear(hidden[0], c) for c in cardinalities])

    def encode(self, x_num, x_cat):
        embs = [emb(x_cat[:, i]) for i, emb in enumerate(self.embeddings)]
        h = self.encoder(torch.cat([x_num] + embs, dim=1))
        return self.fc_mu(h), self.fc_logvar(h).clamp(-8, 8)

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return eps.mul(std).add_(mu)

    def decode(self, z):
        h = self.decoder(z)
        return self.num_head(h), [head(h) for head in self.cat_heads]

    def forward(self, x_num, x_cat):
        mu, logvar = self.encode(x_num, x_cat)
        z = self.reparameterize(mu, logvar)
        num, cats = self.decode(z)
        return num, cats, mu, logvar

    def loss_function(self, x_num, x_cat, beta, free_bits=0.0):
        num, cats, mu, logvar = self(x_num, x_cat)
        sigma2 = torch.exp(2 * self.num_log_sigma)
        nll = 0.5 * ((num - x_num) ** 2 / sigma2) + self.num_log_sigma
        recon = nll.sum(dim=1).mean()
        for i, logits in enumerate(cats):
            recon = recon + F.cross_entropy(logits, x_cat[:, i])
        kl_per_dim = (-0.5 * (1 + logvar - mu.pow(2) - logvar.exp())).mean(dim=0)
        kl = torch.clamp(kl_per_dim, min=free_bits).sum()
        return recon + beta * kl, {'recon': recon.item(), 'kl': kl.item(),
                                   'active': int((kl_per_dim > 0.05).sum())}

    @torch.no_grad()
    def sample(self, n, temperature=1.0):
        device = self.num_log_sigma.device
        z = torch.randn(n, self.fc_mu.out_features, device=device)
        num, cats = self.decode(z)
        num = num + torch.randn_like(num) * self.num_log_sigma.exp() * temperature
        cats = [torch.multinomial(F.softmax(c / temperature, dim=-1), 1) for c in cats]
        return num, torch.cat(cats, dim=1)


def frange_cycle_linear(start, stop, n_steps, n_cycle=4, ratio=0.5):
    L = np.ones(n_steps) * stop
    period = n_steps / n_cycle
    step = (stop - start) / (period * ratio)
    for c in range(n_cycle):
        v, i = start, 0
        while v <= stop and int(i + c * period) < n_steps:
            L[int(i + c * period)] = v
            v += step
            i += 1
    return L


class EarlyStopping:
    def __init__(self, patience, path):
        self.patience = patience
        self.path = path
        self.best = None
        self.counter = 0
        self.early_stop = False

    def __call__(self, val_loss, model):
        if self.best is None or val_loss < self.best:
            self.best = val_loss
            self.counter = 0
            torch.save(copy.deepcopy(model.state_dict()), self.path)
        else:
            self.counter += 1
            self.early_stop = self.counter >= self.patience


def run_training(params):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    table, target = load_table()
    table.standardize()
    dataset = TableDataset(table, target)
    n_val = len(dataset) // 5
    train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val],
                                      generator=torch.Generator().manual_seed(1))

    # rare classes are drawn more often
    train_targets = dataset.target[train_set.indices]
    weights = 1.0 / torch.bincount(train_targets).float()
    sampler = WeightedRandomSampler(weights[train_targets], num_samples=len(train_set))
    train_loader = DataLoader(train_set, batch_size=params['batch_size'], sampler=sampler)
    val_loader = DataLoader(val_set, batch_size=len(val_set))

    model = TabularVAE(len(table.names), table.cardinalities, params['latent_dim'], params['hidden'],
                       params['emb_dim'], params['dropout']).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=params['lr'])
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
    total = params['epochs'] * params['batches_per_epoch']
    betas = iter(frange_cycle_linear(0.0, params['beta_max'], total, params['n_cycles']))

    folder = tempfile.mkdtemp()
    stopper = EarlyStopping(params['patience'], os.path.join(folder, 'best.pth'))
    for epoch in range(params['epochs']):
        model.train()
        for x_num, x_cat, _ in itertools.islice(train_loader, params['batches_per_epoch']):
            x_num, x_cat = x_num.to(device), x_cat.to(device)
            beta = next(betas)
            loss, info = model.loss_function(x_num, x_cat, beta, params['free_bits'])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()

        model.eval()
        with torch.no_grad():
            val = [model.loss_function(n.to(device), c.to(device), params['beta_max'])[0].item()
                   for n, c, _ in val_loader]
        print('epoch {:2d} | beta {:.2f} | train {:.3f} | val {:.3f} | {}'.format(
            epoch, beta, loss.item(), np.mean(val), info))
        stopper(np.mean(val), model)
        if stopper.early_stop:
            break

    model.load_state_dict(torch.load(stopper.path))
    shutil.rmtree(folder)
    return model.eval(), table, dataset, device


if __name__ == '__main__':
    torch.manual_seed(11)
    model, table, dataset, device = run_training(params)

    # ---- synthetic rows ----
    num, cat = model.sample(5)
    num = num.cpu().numpy() * table.sd + table.mu
    for row, codes in zip(num, cat.tolist()):
        words = [table.categories[c][k] for c, k in zip(table.categories, codes)]
        print(' '.join('%.2f' % v for v in row[:4]), *words)

    # ---- outliers: rows with the worst reconstruction ----
    with torch.no_grad():
        recon, _, mu, _ = model(dataset.x_num.to(device), dataset.x_cat.to(device))
    err = ((recon.cpu() - dataset.x_num) ** 2).mean(dim=1)
    worst = err.topk(3)
    print('outliers', worst.indices.tolist(), worst.values.numpy().round(2))

    # ---- do classes part in the latent space? ----
    centroids = torch.stack([mu.cpu()[dataset.target == k].mean(dim=0) for k in range(3)])
    nearest = torch.cdist(mu.cpu(), centroids).argmin(dim=1)
    print('nearest centroid accuracy: %.3f' % (nearest == dataset.target).float().mean())
