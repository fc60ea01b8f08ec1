#!/usr/bin/env python
# coding: utf-8

# # Spatial Transformer Networks on distorted digits
#
# Exported from `stn.ipynb`. We rotate / shift / scale the sklearn digits and let a small
# localisation net undo it.

# In[1]:


import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
np.random.seed(0)
device = torch.device("cpu")


# ## Loading the data

# In[2]:


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16.
labels = torch.tensor(digits.target)
images = F.pad(images, (2, 2, 2, 2))
images = F.interpolate(images, scale_factor=2, mode='bilinear', align_corners=False)
images.shape, labels.shape


# In[3]:


def random_affine(x, max_deg=45, max_shift=0.3, scale=(0.7, 1.2)):
    n = x.shape[0]
    ang = (torch.rand(n) * 2 - 1) * math.radians(max_deg)
    s = torch.empty(n).uniform_(*scale)
    tx, ty = ((torch.rand(2, n) * 2 - 1) * max_shift).unbind(0)
    cos, sin = torch.cos(ang) / s, torch.sin(ang) / s
    row1 = torch.stack([cos, -sin, tx], dim=1)
    row2 = torch.stack([sin, cos, ty], dim=1)
    theta = torch.stack([row1, row2], dim=1)
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, align_corners=False)


distorted = random_affine(images)
print(distorted.shape, distorted.mean())


# In[4]:


perm = torch.randperm(len(distorted))
n_test = 200
train_ds = TensorDataset(distorted[perm[n_test:]], labels[perm[n_test:]])
test_ds = TensorDataset(distorted[perm[:n_test]], labels[perm[:n_test]])
train_loader = DataLoader(train_ds, batch_size=64, shuffle=True)
test_loader = DataLoader(test_ds, batch_size=64)

xb, yb = next(iter(train_loader))
xb.shape


# ## The model

# In[5]:


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=3)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

        # Spatial transformer localization-network
        self.localization = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=5),
            nn.MaxPool2d(2, stride=2),
            nn.ReLU(True),
            nn.Conv2d(8, 10, kernel_size=3),
            nn.MaxPool2d(2, stride=2),
            nn.ReLU(True)
        )

        # Regressor for the 3 * 2 affine matrix
        self.fc_loc = nn.Sequential(
            nn.Linear(10 * 4 * 4, 32),
            nn.ReLU(True),
            nn.Linear(32, 3 * 2)
        )

        # Initialize the weights/bias with identity transformation
        self.fc_loc[2].weight.data.zero_()
        self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    # Spatial transformer network forward function
    def stn(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 10 * 4 * 4)
        theta = self.fc_loc(xs)
        theta = theta.view(-1, 2, 3)

        grid = F.affine_grid(theta, x.size(), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False)

        return x

    def forward(self, x):
        # transform the input
        x = self.stn(x)

        # Perform the usual forward pass
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv2(x)), 2))
        x = x.view(-1, 320)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, training=self.training)
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)


model = Net().to(device)
sum(p.numel() for p in model.parameters())


# In[6]:


with torch.no_grad():
    tmp = model.localization(xb[:2])
    print(tmp.shape)
    print(torch.allclose(model.stn(xb[:2]), xb[:2], atol=1e-5))


# ## Training

# In[7]:


optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
history = {'loss': [], 'acc': []}


def train(epoch, max_batches=3):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        if batch_idx >= max_batches:
            break
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        history['loss'].append(loss.item())
        print('Train Epoch: {} [{}/{}]\tLoss: {:.6f}'.format(
            epoch, batch_idx * len(data), len(train_loader.dataset), loss.item()))


def test():
    with torch.no_grad():
        model.eval()
        test_loss = 0
        correct = 0
        for data, target in test_loader:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction='sum').item()
            pred = output.max(1, keepdim=True)[1]
            correct += pred.eq(target.view_as(pred)).sum().item()
        test_loss /= len(test_loader.dataset)
        history['acc'].append(correct / len(test_loader.dataset))
        print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{}\n'.format(
            test_loss, correct, len(test_loader.dataset)))


# In[8]:


for epoch in range(1, 2 + 1):
    train(epoch)
    test()


# ## Visualising the transformer (as ascii, no matplotlib on the server)

# In[9]:


def convert_image_np(inp):
    inp = inp.numpy().transpose((1, 2, 0))
    return np.clip(inp, 0, 1)


with torch.no_grad():
    data = next(iter(test_loader))[0][:3]
    warped = model.stn(data)
    side = np.concatenate([convert_image_np(torch.cat(list(data), dim=2)),
                           convert_image_np(torch.cat(list(warped), dim=2))], axis=0)

for line in side[::2, ::1, 0]:
    print(''.join(' .:*#'[int(v * 4.99)] for v in line))


# In[10]:


np.round(history['loss'], 3), history['acc']
