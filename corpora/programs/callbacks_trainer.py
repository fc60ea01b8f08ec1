"""A hand-written trainer with callbacks, registries and a config in the manner of Hydra's."""
import copy
import functools
import math
from collections import defaultdict
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

REGISTRY = defaultdict(dict)


def register(kind, name=None):
    def wrap(obj):
        REGISTRY[kind][name or obj.__name__.lower()] = obj
        return obj
    return wrap


def build(kind, cfg, *args, **extra):
    cfg = dict(cfg)
    return REGISTRY[kind][cfg.pop("_name_")](*args, **{**cfg, **extra})


def to_namespace(tree):
    if isinstance(tree, dict) and "_name_" not in tree:
        return SimpleNamespace(**{k: to_namespace(v) for k, v in tree.items()})
    return tree


def override(cfg, dotted):
    cfg = copy.deepcopy(cfg)
    for item in dotted:
        key, _, value = item.partition("=")
        *path, last = key.split(".")
        node = functools.reduce(lambda n, k: n[k], path, cfg)
        node[last] = type(node[last])(value)
    return cfg


DEFAULTS = {
    "seed": 7,
    "data": {"_name_": "rings", "n": 40, "dim": 6, "classes": 3, "batch_size": 8},
    "model": {"_name_": "resmlp", "width": 20, "depth": 3, "drop": 0.1},
    "optim": {"_name_": "sgd", "lr": 0.05, "momentum": 0.9},
    "trainer": {"max_epochs": 2, "clip": 1.0, "accumulate": 2},
    "callbacks": [{"_name_": "earlystopping", "patience": 2}, {"_name_": "ema", "decay": 0.9}, {"_name_": "mixup", "alpha": 0.4}],
}


@register("data", "rings")
def rings(n, dim, classes, batch_size):
    g = torch.Generator().manual_seed(0)
    y = torch.randint(classes, (n,), generator=g)
    x = torch.randn(n, dim, generator=g)
    x = x / x.norm(dim=1, keepdim=True) * (1 + y.float().unsqueeze(1))
    sets = torch.utils.data.random_split(torch.utils.data.TensorDataset(x, y), [n - n // 4, n // 4], generator=g)
    make = functools.partial(torch.utils.data.DataLoader, batch_size=batch_size)
    return SimpleNamespace(train=make(sets[0], shuffle=True), val=make(sets[1]), dim=dim, classes=classes)


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


@register("model")
class ResMLP(nn.Module):
    def __init__(self, dim, classes, width, depth, drop):
        super().__init__()
        block = lambda: Residual(nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GLU(), nn.Dropout(drop), nn.Linear(width, width)))
        self.net = nn.Sequential(nn.Linear(dim, width), *(block() for _ in range(depth)), nn.LayerNorm(width))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.net(x))


class Task:
    """What is learnt: steps return losses, as in Lightning."""

    def __init__(self, model, classes):
        self.model, self.classes = model, classes

    def one_hot(self, y):
        return F.one_hot(y, self.classes).float() if y.dim() == 1 else y

    def training_step(self, batch, trainer):
        x, y = batch
        logits = self.model(x)
        loss = -(self.one_hot(y) * F.log_softmax(logits, -1)).sum(-1).mean()
        trainer.log("train/loss", loss)
        return loss

    def validation_step(self, batch, trainer):
        x, y = batch
        logits = self.model(x)
        top = logits.topk(2, dim=-1).indices
        trainer.log("val/loss", F.cross_entropy(logits, y), n=len(y))
        trainer.log("val/acc", (logits.argmax(-1) == y).float().mean(), n=len(y))
        trainer.log("val/top2", (top == y[:, None]).any(-1).float().mean(), n=len(y))
        return logits


class Callback:
    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *a, **k: None
        raise AttributeError(name)


@register("callback")
class EarlyStopping(Callback):
    def __init__(self, patience, monitor="val/loss"):
        self.patience, self.monitor = patience, monitor
        self.best, self.bad = math.inf, 0

    def on_validation_end(self, trainer):
        value = trainer.metrics[self.monitor]
        self.best, self.bad = (value, 0) if value < self.best else (self.best, self.bad + 1)
        trainer.should_stop = self.bad > self.patience


@register("callback", "ema")
class WeightAverage(Callback):
    def __init__(self, decay):
        self.decay = decay

    def on_fit_start(self, trainer):
        self.shadow = {k: v.detach().clone() for k, v in trainer.task.model.state_dict().items()}

    def on_step_end(self, trainer):
        for k, v in trainer.task.model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)

    def on_fit_end(self, trainer):
        trainer.task.model.load_state_dict(self.shadow)


@register("callback")
class Mixup(Callback):
    def __init__(self, alpha):
        self.beta = torch.distributions.Beta(alpha, alpha)

    def on_batch_start(self, trainer, batch):
        x, y = batch
        y = trainer.task.one_hot(y)
        lam = self.beta.sample((len(x), 1))
        perm = torch.randperm(len(x))
        batch[:] = [lam * x + (1 - lam) * x[perm], lam * y + (1 - lam) * y[perm]]


class Trainer:
    def __init__(self, cfg, callbacks):
        self.cfg, self.callbacks = cfg, callbacks
        self.should_stop = False
        self._sums = defaultdict(lambda: [0.0, 0])
        self.global_step = 0

    @property
    def metrics(self):
        return {k: s / n for k, (s, n) in self._sums.items()}

    def log(self, name, value, n=1):
        entry = self._sums[name]
        entry[0] += float(value.detach()) * n
        entry[1] += n

    def call(self, hook, *args):
        for c in self.callbacks:
            getattr(c, f"on_{hook}")(self, *args)

    def fit(self, task, data, optimizer):
        self.task = task
        self.call("fit_start")
        for epoch in range(self.cfg.max_epochs):
            self._sums.clear()
            task.model.train()
            for i, batch in enumerate(data.train):
                batch = list(batch)
                self.call("batch_start", batch)
                loss = task.training_step(batch, self) / self.cfg.accumulate
                loss.backward()
                if (i + 1) % self.cfg.accumulate == 0 or i + 1 == len(data.train):
                    norm = nn.utils.clip_grad_norm_(task.model.parameters(), self.cfg.clip)
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
                    self.global_step += 1
                    self.call("step_end")
            self.validate(data)
            print(epoch, self.global_step, f"{norm:.2f}", {k: round(v, 3) for k, v in self.metrics.items()})
            if self.should_stop:
                break
        self.call("fit_end")

    @torch.no_grad()
    def validate(self, data):
        self.task.model.eval()
        outs = [self.task.validation_step(b, self) for b in data.val]
        self.call("validation_end")
        return torch.cat(outs)


REGISTRY["optim"].update(sgd=torch.optim.SGD, adamw=torch.optim.AdamW)


def main(overrides=("trainer.max_epochs=2", "model.width=24")):
    raw = override(DEFAULTS, overrides)
    cfg = to_namespace(raw)
    torch.manual_seed(cfg.seed)
    data = build("data", cfg.data)
    model = build("model", cfg.model, dim=data.dim, classes=data.classes)
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = build("optim", cfg.optim, [{"params": decay, "weight_decay": 1e-3}, {"params": rest}])
    trainer = Trainer(cfg.trainer, [build("callback", c) for c in cfg.callbacks])
    trainer.fit(Task(model, data.classes), data, optimizer)
    logits = trainer.validate(data)
    confusion = torch.zeros(data.classes, data.classes, dtype=torch.long)
    truth = torch.cat([y for _, y in data.val])
    confusion.index_put_((truth, logits.argmax(1)), torch.tensor(1), accumulate=True)
    print(confusion.diag().sum() / confusion.sum())


if __name__ == "__main__":
    main()
