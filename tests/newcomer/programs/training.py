# == Trainer: the optimizer's class
import torch
from simpletorch import data, nn, optim, train

model = nn.Linear(13, 3)
loader = data.DataLoader(data.TensorDataset(torch.randn(101, 13), torch.randint(3, (101,))), 16)
trainer = train.Trainer(loss=nn.functional.cross_entropy, optimizer=optim.AdamW)
trainer.fit(model, loader, epochs=1)

# == Trainer: the loader's batches have three parts
import torch
from simpletorch import data, nn, optim, train

model = nn.Linear(13, 3)
loader = data.DataLoader(data.TensorDataset(torch.randn(101, 13), torch.randint(3, (101,)), torch.ones(101)), 16)
trainer = train.Trainer(loss=nn.functional.cross_entropy, optimizer=optim.AdamW(model.parameters()))
trainer.fit(model, loader, epochs=1)

# == Trainer: the loss's arguments are the other way round
import torch
from simpletorch import data, nn, optim, train

model = nn.Linear(13, 3)
loader = data.DataLoader(data.TensorDataset(torch.randn(101, 13), torch.randint(3, (101,))), 16)


def loss(targets, outputs):
    return nn.functional.cross_entropy(outputs, targets)


trainer = train.Trainer(loss=loss, optimizer=optim.AdamW(model.parameters()))
trainer.fit(model, loader, epochs=1)

# == Trainer: the loss returns an item
import torch
from simpletorch import data, nn, optim, train

model = nn.Linear(13, 3)
loader = data.DataLoader(data.TensorDataset(torch.randn(101, 13), torch.randint(3, (101,))), 16)
trainer = train.Trainer(
    loss=lambda outputs, targets: nn.functional.cross_entropy(outputs, targets).item(),
    optimizer=optim.AdamW(model.parameters()),
)
trainer.fit(model, loader, epochs=1)

# == Trainer: an optimizer of another model
import torch
from simpletorch import data, nn, optim, train

model, other = nn.Linear(13, 3), nn.Linear(13, 3)
loader = data.DataLoader(data.TensorDataset(torch.randn(101, 13), torch.randint(3, (101,))), 16)
trainer = train.Trainer(loss=nn.functional.cross_entropy, optimizer=optim.AdamW(other.parameters()))
trainer.fit(model, loader, epochs=1)

# == A learning rate that explodes: the loss becomes NaN
import torch
from torch import nn
from simpletorch import data, optim, train

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(13, 50), nn.ReLU(), nn.Linear(50, 1))
x = torch.randn(101, 13) * 1000
loader = data.DataLoader(data.TensorDataset(x, x.sum(dim=1, keepdim=True)), 16)
trainer = train.Trainer(loss=nn.functional.mse_loss, optimizer=optim.SGD(model.parameters(), lr=100.0), callbacks=[train.DetectNaN()])
trainer.fit(model, loader, epochs=3)
