import contextlib
import copy
import logging
import os
import tempfile

import torch
import torch.nn.functional as F

log = logging.getLogger(__name__)


@contextlib.contextmanager
def evaluating(model):
    was = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was)


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)


class Trainer:
    LOSSES = {
        "digit": F.cross_entropy,
        "parity": F.cross_entropy,
        "ink": lambda out, y: F.mse_loss(out.squeeze(-1), y),
    }

    def __init__(self, model, cfg, train_loader, val_loader):
        self.model, self.cfg = model, cfg
        self.train_loader, self.val_loader = train_loader, val_loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        self.ema = EMA(model)
        self.history = []
        self.best, self.patience = float("inf"), 2

    def losses(self, outputs, targets):
        return {name: self.LOSSES[name](out, targets[name]) for name, out in outputs.items()}

    def step(self, x, targets):
        outputs = self.model(x)
        loss = self.model.weigh(self.losses(outputs, targets))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.ema.update(self.model)
        return loss.detach()

    def validate(self):
        correct = total = 0
        sums = {}
        with evaluating(self.ema.shadow) as model:
            for x, targets in self.val_loader:
                outputs = model(x)
                for name, value in self.losses(outputs, targets).items():
                    sums[name] = sums.get(name, 0.0) + value.item() * len(x)
                correct += (outputs["digit"].argmax(1) == targets["digit"]).sum().item()
                total += x.shape[0]
        return {k: v / total for k, v in sums.items()} | {"acc": correct / total}

    def fit(self):
        bad = 0
        for epoch in range(self.cfg.epochs):
            running = torch.stack([self.step(x, t) for x, t in self.train_loader]).mean()
            metrics = self.validate()
            self.history.append(metrics)
            log.info("epoch %d: train %.3f %s", epoch, running, metrics)
            if metrics["digit"] < self.best:
                self.best, bad = metrics["digit"], 0
                self.save()
            else:
                bad += 1
                if bad >= self.patience:
                    break
        return self.history

    def save(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "model.pt")
            torch.save({"model": self.model.state_dict(), "opt": self.optimizer.state_dict()}, path)
            state = torch.load(path)
            self.model.load_state_dict(state["model"])
