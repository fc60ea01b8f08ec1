# == One-hot targets of integers
import torch
from torch.nn import functional as F

logits = torch.randn(7, 10, requires_grad=True)
targets = F.one_hot(torch.randint(10, (7,)), 10)
loss = F.cross_entropy(logits, targets)

# == Targets of floats
import torch
from torch import nn

logits = torch.randn(7, 10, requires_grad=True)
targets = torch.randint(10, (7,)).float()
loss = nn.CrossEntropyLoss()(logits, targets)

# == Targets have a dim too many
import torch
from torch import nn

logits = torch.randn(7, 10, requires_grad=True)
targets = torch.randint(10, (7, 1))
loss = nn.CrossEntropyLoss()(logits, targets)

# == A class that the model doesn't have
import torch
from torch.nn import functional as F

logits = torch.randn(7, 10, requires_grad=True)
targets = torch.arange(1, 8) + 5
loss = F.cross_entropy(logits, targets)

# == Predictions and targets are of different batches
import torch
from torch.nn import functional as F

logits = torch.randn(64, 10, requires_grad=True)
targets = torch.randint(10, (63,))
loss = F.cross_entropy(logits, targets)

# == Softmax before cross-entropy
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 10), nn.Softmax(dim=1))
loss = nn.CrossEntropyLoss()(model(torch.randn(7, 13)), torch.randint(10, (7,)))
loss.backward()

# == Binary cross-entropy of logits
import torch
from torch import nn

model = nn.Linear(13, 1)
torch.manual_seed(0)
loss = nn.BCELoss()(model(torch.randn(50, 13)), torch.ones(50, 1))

# == Binary targets are integers
import torch
from torch import nn

logits = torch.randn(7, 1, requires_grad=True)
targets = torch.randint(2, (7, 1))
loss = nn.BCEWithLogitsLoss()(logits, targets)

# == Binary targets lack the last dim
import torch
from torch import nn

logits = torch.randn(7, 1, requires_grad=True)
targets = torch.randint(2, (7,)).float()
loss = nn.BCEWithLogitsLoss()(logits, targets)

# == A squared error that broadcasts
import torch
from torch import nn

model = nn.Linear(13, 1)
x, y = torch.randn(7, 13), torch.randn(7)
loss = nn.MSELoss()(model(x), y)
loss.backward()

# == The loss's class is called with the outputs
import torch
from torch import nn

logits = torch.randn(7, 10, requires_grad=True)
targets = torch.randint(10, (7,))
loss = nn.CrossEntropyLoss(logits, targets)
loss.backward()

# == The loss isn't a scalar
import torch
from torch import nn

model = nn.Linear(13, 3)
loss = (model(torch.randn(7, 13)) - torch.zeros(7, 3)) ** 2
loss.backward()

# == The loss is a plain number
import torch
from torch import nn

model = nn.Linear(13, 1)
loss = model(torch.randn(7, 13)).mean().item()
loss.backward()

# == Accuracy as a loss
import torch
from torch import nn

model = nn.Linear(13, 10)
targets = torch.randint(10, (7,))
loss = (model(torch.randn(7, 13)).argmax(dim=1) != targets).float().mean()
loss.backward()

# == Negative log-likelihood of what is no logarithm
import torch
from torch import nn

model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = nn.NLLLoss()(model(torch.randn(7, 13)), torch.randint(3, (7,)))
loss.backward()

# == squeeze takes the batch away too
import torch
from torch import nn

model = nn.Linear(13, 1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(65, 13), torch.rand(65)), batch_size=16)
for x, y in loader:
    loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(), y)
