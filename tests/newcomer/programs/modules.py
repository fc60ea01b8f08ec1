# == super().__init__() is missing
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(13, 3)

    def forward(self, x):
        return self.fc(x)


print(Net()(torch.randn(7, 13)))

# == Layers in a plain list
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(13, 13), nn.Linear(13, 3)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# == forward is missing (written with another name)
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def foward(self, x):
        return self.fc(x)


print(Net()(torch.randn(7, 13)))

# == forward returns nothing
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def forward(self, x):
        x = self.fc(x)


output = Net()(torch.randn(7, 13))
print(output.argmax(dim=1))

# == The class is used instead of an object
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def forward(self, x):
        return self.fc(x)


model = Net
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# == A list of layers goes into Sequential without a star
import torch
from torch import nn

layers = [nn.Linear(13, 17), nn.ReLU(), nn.Linear(17, 3)]
model = nn.Sequential(layers)

# == A function in Sequential
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(13, 17), F.relu, nn.Linear(17, 3))

# == The optimizer gets the model
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.Adam(model, lr=0.001)

# == model.parameters without its parentheses
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.Adam(model.parameters, lr=0.001)

# == The weights are of another model
import torch
from torch import nn

trained = nn.Sequential(nn.Linear(13, 17), nn.ReLU(), nn.Linear(17, 3))
model = nn.Sequential(nn.Linear(13, 19), nn.ReLU(), nn.Linear(19, 3))
model.load_state_dict(trained.state_dict())

# == The weights have other names
import torch
from torch import nn

trained = nn.Sequential(nn.Linear(13, 17), nn.ReLU(), nn.Linear(17, 3))
state = {f"module.{name}": value for name, value in trained.state_dict().items()}
model = nn.Sequential(nn.Linear(13, 17), nn.ReLU(), nn.Linear(17, 3))
model.load_state_dict(state)

# == A scheduler whose steps are epochs is stepped once a batch
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=5)
for epoch in range(5):
    for batch in range(7):
        optimizer.zero_grad()
        model(torch.randn(11, 13)).sum().backward()
        optimizer.step()
        scheduler.step()

# == The scheduler is given the model
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(model, step_size=10)

# == ReduceLROnPlateau steps without a measure
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
for epoch in range(3):
    loss = model(torch.randn(7, 13)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

# == A learning rate in a string
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.Adam(model.parameters(), lr="0.001")

# == A negative learning rate
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=-1e-3)

# == Adam has no momentum
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, momentum=0.9)

# == forward forgets self
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def forward(x):
        return self.fc(x)


print(Net()(torch.randn(7, 13)))

# == A layer is used that __init__ doesn't make
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(13, 3)

    def forward(self, x):
        return self.fc2(self.fc1(x))


print(Net()(torch.randn(7, 13)))

# == A layer's class is called in forward
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def forward(self, x):
        return nn.ReLU(self.fc(x))


out = Net()(torch.randn(7, 13))
print(out.sum())

# == load_state_dict is given a path
import torch
from torch import nn

model = nn.Linear(13, 3)
torch.save(model.state_dict(), "weights.pt")
model.load_state_dict("weights.pt")

# == A checkpoint with an optimizer is loaded into the model
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.Adam(model.parameters())
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "checkpoint.pt")
model.load_state_dict(torch.load("checkpoint.pt"))

# == Names of weights have DataParallel's prefix
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 3))
torch.save({f"module.{name}": value for name, value in model.state_dict().items()}, "weights.pt")
model.load_state_dict(torch.load("weights.pt"))

# == A whole model is saved, and read as weights are
import torch
from torch import nn

torch.save(nn.Linear(13, 3), "model.pt")
model = torch.load("model.pt")

# == forward gets more than it takes
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(13, 3)

    def forward(self, x):
        return self.fc(x)


print(Net()(torch.randn(7, 13), torch.randn(7)))

# == The constructor lacks an argument
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.fc = nn.Linear(features, classes)

    def forward(self, x):
        return self.fc(x)


print(Net(13)(torch.randn(7, 13)))

# == A weights file that isn't there
import torch
from torch import nn

model = nn.Linear(13, 3)
model.load_state_dict(torch.load("no_such_file.pt"))
