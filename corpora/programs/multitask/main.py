import logging

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

from config import cfg, Config
from networks import MultiTask
from trainer import Trainer


class Digits(Dataset):
    def __init__(self, images, labels):
        self.images = torch.as_tensor(images, dtype=torch.float32).div(16).unsqueeze(1)
        self.labels = torch.as_tensor(labels)

    def __len__(self):
        return self.labels.numel()

    def __getitem__(self, i):
        x, y = self.images[i], self.labels[i]
        return x, {"digit": y, "parity": y % 2, "ink": x.mean()}


def main():
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(cfg.seed)
    digits = load_digits()
    tr_x, va_x, tr_y, va_y = train_test_split(
        digits.images[:200], digits.target[:200], test_size=0.25, random_state=cfg.seed
    )
    train_loader = DataLoader(Digits(tr_x, tr_y), batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(Digits(va_x, va_y), batch_size=2 * cfg.batch_size)

    Trainer(MultiTask.from_config(cfg), cfg, train_loader, val_loader).fit()

    conv = Config({**cfg, "trunk": {"type": "conv", "width": 6, "depth": 2, "act": "GELU"}})
    trainer = Trainer(MultiTask.from_config(conv), conv, train_loader, val_loader)
    trainer.fit()
    print(trainer.history[-1])


if __name__ == "__main__":
    main()
