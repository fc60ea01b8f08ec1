"""A training of two processes that is asked to end."""

import sys

import torch
from torch.nn import functional as F

from simpletorch import distributed
from simpletorch.data import DataLoader, DistributedSampler, TensorDataset
from simpletorch.train import Callback, Checkpoint, Trainer


class Tell(Callback):
    def on_step_end(self, fit):
        if fit.step == 3:
            print("training", flush=True)


def train(folder):
    torch.manual_seed(3)
    model = torch.nn.Linear(5, 3)
    dataset = TensorDataset(torch.randn(23, 5), torch.randint(3, (23,)))
    trainer = Trainer(
        loss=F.cross_entropy,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        callbacks=[Tell(), Checkpoint(folder)],
        progress=False,
        parallel="ddp",
    )
    trainer.fit(model, DataLoader(dataset, 3, sampler=DistributedSampler(dataset)), epochs=10**6, resume="auto")


if __name__ == "__main__":
    distributed.launch(train, sys.argv[1], timeout=60)
