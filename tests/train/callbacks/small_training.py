"""A training of no size, for callbacks to look at."""

import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.optim import SGD, AdamW
from simpletorch.train import Trainer

INPUTS, TARGETS = torch.randn(23, 3, generator=torch.Generator().manual_seed(0)), torch.arange(23) % 2


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))


def loader(size=7, **options):
    return DataLoader(TensorDataset(INPUTS, TARGETS), size, **options)


def many(size):
    return DataLoader(TensorDataset(INPUTS.repeat(11, 1), TARGETS.repeat(11)), size, shuffle=True)


def trainer(model, *callbacks, lr=0.1, **settings):
    settings.setdefault("optimizer", SGD(model.parameters(), lr=lr))
    return Trainer(loss=F.cross_entropy, callbacks=callbacks, progress=False, **settings)


def after_one_epoch(*callbacks, **settings):
    model = net()
    torch.manual_seed(3)
    optimizer = AdamW(model.parameters(), lr=0.01)
    trainer(model, *callbacks, optimizer=optimizer, **settings).fit(model, loader(shuffle=True))
    return model, optimizer
