# == backward() twice
import torch
from torch import nn

model = nn.Linear(13, 3)
loss = (model(torch.randn(7, 13)) ** 2).mean()
loss.backward()
loss.backward()

# == The hidden state is kept from batch to batch
import torch
from torch import nn

rnn = nn.GRU(13, 17)
hidden = torch.zeros(1, 5, 17)
for _ in range(3):
    output, hidden = rnn(torch.randn(7, 5, 13), hidden)
    output.mean().backward()

# == A leaf is changed in place
import torch

weights = torch.randn(13, 3, requires_grad=True)
weights -= 0.1

# == What backward needs is changed in place
import torch

x = torch.randn(7, 13, requires_grad=True)
y = torch.sigmoid(x)
y += 1
y.sum().backward()

# == A tensor of integers requires a gradient
import torch

x = torch.tensor([2, 3, 5], requires_grad=True)

# == A NumPy array of what requires a gradient
import torch
from torch import nn

model = nn.Linear(13, 3)
print(model(torch.randn(7, 13)).numpy())

# == Training under no_grad
import torch
from torch import nn

model = nn.Linear(13, 3)
with torch.no_grad():
    loss = model(torch.randn(7, 13)).mean()
loss.backward()

# == The gradient is read before backward
import torch
from torch import nn

model = nn.Linear(13, 3)
print(model.weight.grad.norm())

# == Gradients are never set to zero
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(7, 13), torch.randint(3, (7,))
for _ in range(10):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

# == The optimizer never steps
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(7, 13), torch.randint(3, (7,))
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()

# == All of the model is frozen
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 17), nn.ReLU(), nn.Linear(17, 3))
for parameter in model.parameters():
    parameter.requires_grad = False
loss = nn.functional.cross_entropy(model(torch.randn(7, 13)), torch.randint(3, (7,)))
loss.backward()

# == deepcopy of a tensor in the graph
import copy

import torch
from torch import nn

hidden = nn.Linear(13, 3)(torch.randn(7, 13))
kept = copy.deepcopy(hidden)
