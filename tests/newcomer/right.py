"""Right programs as newcomers write them, several in this text: nothing may be said of any of them, and each runs."""

# == A function with a default, called with and without it
import torch


def scaled(x, factor=2.0, *, shift=0.0):
    return x * factor + shift


print(scaled(torch.randn(3)), scaled(torch.randn(3), 3.0), scaled(torch.randn(3), shift=1.0))

# == forward takes a mask that may be missing
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=13):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x, mask=None):
        x = self.fc(x)
        if mask is not None:
            x = x.masked_fill(mask.view(-1, 1), 0.0)
        return x


net = Net()
print(net(torch.randn(7, 13)).shape, net(torch.randn(7, 13), torch.rand(7) > 0.5).shape)

# == Arguments go on through a wrapper
import functools

import torch


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@timed
def product(a, b, transpose=False):
    return a @ (b.T if transpose else b)


print(product(torch.randn(2, 3), torch.randn(5, 3), transpose=True).shape)

# == A wrong call is tried on purpose
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x


try:
    Net()(torch.randn(3), torch.randn(3))
except TypeError:
    print("it takes one")

# == A hook gets three arguments
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 3))
seen = []
model[0].register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
model(torch.randn(7, 13))
print(seen)

# == partial gives what is missing
from functools import partial

import torch
from torch import nn


def block(width, depth, activation):
    return nn.Sequential(*[nn.Sequential(nn.Linear(width, width), activation()) for _ in range(depth)])


make = partial(block, activation=nn.GELU)
print(make(13, 2)(torch.randn(7, 13)).shape)

# == Static and class methods
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    @classmethod
    def small(cls):
        return cls(3)

    @staticmethod
    def noise(n, width):
        return torch.randn(n, width)

    def forward(self, x):
        return self.fc(x)


net = Net.small()
print(net(net.noise(2, 3)).shape, Net.noise(2, 3).shape)

# == A sigmoid and binary cross-entropy
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 1), nn.Sigmoid())
print(nn.BCELoss()(model(torch.randn(7, 13)), torch.randint(2, (7, 1)).float()))

# == Probabilities of scores that were clamped
import torch
from torch import nn
from torch.nn import functional as F

score = nn.Linear(13, 1)(torch.randn(7, 13))
print(F.binary_cross_entropy(score.clamp(0, 1), torch.ones(7, 1)), F.binary_cross_entropy(torch.sigmoid(score), torch.ones(7, 1)))

# == Log-softmax and negative log-likelihood
import torch
from torch import nn
from torch.nn import functional as F

x = nn.Linear(13, 5)(torch.randn(7, 13))
print(F.nll_loss(F.log_softmax(x, dim=1), torch.randint(5, (7,))))

# == Optimizers with options
import torch
from torch import nn

model = nn.Linear(13, 3)
for make in (
    lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True),
    lambda p: torch.optim.Adam(p, lr=1e-3, betas=(0.9, 0.95), fused=True),
    lambda p: torch.optim.AdamW(p, lr=torch.tensor(1e-3), capturable=False),
    lambda p: torch.optim.RMSprop(p, lr=1e-3, momentum=0.9),
):
    print(make(model.parameters()).defaults["lr"])

# == Parameters by name for an optimizer
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 17), nn.ReLU(), nn.Linear(17, 3))
groups = [{"params": model[0].parameters(), "lr": 1e-4}, {"params": model[2].parameters()}]
optimizer = torch.optim.Adam(groups, lr=1e-3)
weights = nn.ParameterList([nn.Parameter(torch.zeros(3)) for _ in range(2)])
print(optimizer, torch.optim.SGD(weights, lr=0.1), torch.optim.SGD(model.named_parameters(), lr=0.1))

# == A rate that is read from the command line
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-3)
args, _ = parser.parse_known_args([])
print(torch.optim.Adam(nn.Linear(13, 3).parameters(), lr=args.lr))

# == Plateau and epochs
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
steps = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
for _ in range(3):
    loss = model(torch.randn(7, 13)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    plateau.step(loss.item())
    steps.step()

# == A stream of samples has no length
import torch
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(10.0))


for batch in DataLoader(Numbers(), batch_size=4):
    print(batch)

# == A sampler decides what a dataset without a length gives
import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __getitem__(self, index):
        return torch.tensor(float(index**2))


for batch in DataLoader(Squares(), batch_size=4, sampler=range(8)):
    print(batch)

# == A dataset whose length is inherited
import torch
from torch.utils.data import DataLoader, Dataset


class Base(Dataset):
    def __len__(self):
        return 9


class Cubes(Base):
    def __getitem__(self, index):
        return torch.tensor(float(index**3))


print(next(iter(DataLoader(Cubes(), batch_size=4, shuffle=True))))

# == The first batch, and batches by their number
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(101, 13)), batch_size=int(32 / 2))
(first,) = next(iter(loader))
print(first.shape, loader.dataset[3][0].shape, len(list(loader)))

# == Weights go from one model to another
import torch
from torch import nn

a, b = nn.Linear(13, 3), nn.Linear(13, 3)
torch.save({"model": a.state_dict(), "epoch": 3}, "right.pt")
b.load_state_dict(torch.load("right.pt")["model"])
b.load_state_dict(a.state_dict())

# == A function that returns nothing is a statement
import torch
from torch import nn


def initialise(layer):
    if isinstance(layer, nn.Linear):
        nn.init.zeros_(layer.bias)


model = nn.Sequential(nn.Linear(13, 3))
model.apply(initialise)
result = initialise(model[0])
print(result is None, model(torch.randn(7, 13)).shape)

# == None until the first batch
import torch


class Average:
    def __init__(self):
        self.value = None

    def update(self, x):
        self.value = x.detach() if self.value is None else 0.9 * self.value + 0.1 * x.detach()


average = Average()
for _ in range(3):
    average.update(torch.randn(3))
print(average.value.shape, average.value.mean())

# == A closure steps
import torch
from torch import nn

model = nn.Linear(13, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)
x, y = torch.randn(7, 13), torch.randn(7, 1)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


optimizer.step(closure)

# == A learner steps for the program
import torch
from torch import nn


class Learner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def learn(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


learner = Learner(nn.Linear(13, 1))
print(learner.learn(torch.randn(7, 13), torch.randn(7, 1)))

# == Gradients of the input, without an optimizer's step
import torch
from torch import nn

model = nn.Linear(13, 3)
x = torch.randn(7, 13, requires_grad=True)
nn.functional.cross_entropy(model(x), torch.randint(3, (7,))).backward()
print(x.grad.abs().max())

# == Two models in one loop
import torch
from torch import nn

make, judge = nn.Linear(5, 13), nn.Linear(13, 1)
optimizers = {"make": torch.optim.Adam(make.parameters()), "judge": torch.optim.Adam(judge.parameters())}
for _ in range(2):
    fake = make(torch.randn(7, 5))
    loss = nn.functional.binary_cross_entropy_with_logits(judge(fake.detach()), torch.zeros(7, 1))
    optimizers["judge"].zero_grad()
    loss.backward()
    optimizers["judge"].step()
    loss = nn.functional.binary_cross_entropy_with_logits(judge(fake), torch.ones(7, 1))
    optimizers["make"].zero_grad()
    loss.backward()
    optimizers["make"].step()

# == A model that is called in three ways
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, *, classes=3, **options):
        super().__init__()
        self.fc = nn.Linear(width, classes, **options)

    def forward(self, *inputs, scale=1.0, **more):
        return self.fc(inputs[0]) * scale


net = Net(13, bias=False)
print(net(torch.randn(7, 13)), net(torch.randn(7, 13), None, scale=2.0), net(torch.randn(7, 13), extra=1))
