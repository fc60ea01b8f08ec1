# == A layer takes another number of features than it gets
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(64, 3))
print(model(torch.randn(7, 13)))

# == Images are not flattened before a linear layer
import torch
from torch import nn

model = nn.Sequential(nn.Linear(784, 10))
print(model(torch.randn(7, 1, 28, 28)))

# == Grey images for a layer that takes three channels
import torch
from torch import nn

conv = nn.Conv2d(3, 17, kernel_size=3)
print(conv(torch.randn(7, 1, 28, 28)).shape)

# == The channel is missing
import torch
from torch import nn

conv = nn.Conv2d(1, 17, kernel_size=3)
print(conv(torch.randn(7, 28, 28)).shape)

# == The batch dim is missing
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5))
print(model(torch.randn(3, 28, 28)).shape)

# == Channels come last, as in NumPy
import torch
from torch import nn

conv = nn.Conv2d(3, 17, kernel_size=3)
image = torch.randn(1, 29, 31, 3)
print(conv(image).shape)

# == The linear layer after convolutions has the wrong size
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 17, 3)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(17 * 28 * 28, 10)

    def forward(self, x):
        x = self.pool(self.conv(x))
        return self.fc(x.flatten(1))


print(Net()(torch.randn(7, 1, 28, 28)).shape)

# == The image is smaller than the kernel
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 5, 3), nn.MaxPool2d(4), nn.Conv2d(5, 7, 5))
print(model(torch.randn(2, 1, 17, 17)).shape)

# == Batch norm for another number of channels
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 17, 3), nn.BatchNorm2d(19))
print(model(torch.randn(7, 3, 29, 31)).shape)

# == Batch norm on a batch of one
import torch
from torch import nn

model = nn.Sequential(nn.Linear(13, 17), nn.BatchNorm1d(17))
print(model(torch.randn(1, 13)))

# == The hidden state has the wrong shape
import torch
from torch import nn

lstm = nn.LSTM(13, 17, num_layers=2, batch_first=True)
hidden = torch.zeros(1, 5, 17), torch.zeros(1, 5, 17)
print(lstm(torch.randn(5, 7, 13), hidden)[0].shape)

# == The LSTM's result is used as a tensor
import torch
from torch import nn

model = nn.Sequential(nn.LSTM(13, 17), nn.Linear(17, 3))
print(model(torch.randn(7, 5, 13)))

# == Words are given to an embedding as floats
import torch
from torch import nn

embedding = nn.Embedding(101, 17)
print(embedding(torch.tensor([[1.0, 5.0, 7.0]])).shape)

# == A word that the embedding doesn't have
import torch
from torch import nn

embedding = nn.Embedding(100, 17)
print(embedding(torch.tensor([3, 100])).shape)

# == Attention's width can't be divided by the heads
import torch
from torch import nn

attention = nn.MultiheadAttention(embed_dim=100, num_heads=8)

# == The mask of attention has the wrong shape
import torch
from torch import nn

attention = nn.MultiheadAttention(24, 3, batch_first=True)
x = torch.randn(5, 7, 24)
mask = torch.ones(5, 7, 7, dtype=torch.bool)
print(attention(x, x, x, attn_mask=mask)[0].shape)

# == Groups that don't divide the channels
import torch
from torch import nn

norm = nn.GroupNorm(4, 30)

# == Layer norm over the wrong dim
import torch
from torch import nn

norm = nn.LayerNorm(17)
print(norm(torch.randn(5, 17, 13)).shape)

# == Tokens past the longest position
import torch
from torch import nn


class Embed(nn.Module):
    def __init__(self, vocabulary, longest, width):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(longest, width)

    def forward(self, ids):
        return self.words(ids) + self.places(torch.arange(ids.shape[1]))


print(Embed(101, 16, 32)(torch.randint(101, (2, 20))).shape)

# == The batch comes second in an LSTM
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(13, 17)
        self.fc = nn.Linear(17, 5)

    def forward(self, x):
        out, (h, c) = self.rnn(x)
        return self.fc(out[:, -1])


model = Tagger()
loss = nn.functional.cross_entropy(model(torch.randn(64, 20, 13)), torch.randint(5, (64,)))

# == One sample is classified without a batch dim
import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
image = torch.randn(1, 28, 28)
print(model(image).argmax(dim=1).item())
image = torch.randn(28, 28)
print(model(image))

# == A model of half precision gets floats
import torch
from torch import nn

model = nn.Linear(13, 3).half()
x, y = torch.randn(7, 13), torch.randint(3, (7,))
loss = nn.functional.cross_entropy(model(x), y)

# == An image of PIL instead of a tensor
import torch
from torch import nn
from PIL import Image

image = Image.new("RGB", (32, 32))
print(nn.Conv2d(3, 8, 3)(image))

# == Images are bytes, because ToTensor is left out
import torch
from torch import nn

images = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8)
print(nn.Conv2d(3, 8, 3)(images).shape)

# == A kernel's size is a float
import torch
from torch import nn

layer = nn.Conv2d(3, 17, kernel_size=7 / 2)

# == Dropout of 50 percent
import torch
from torch import nn

layer = nn.Dropout(50)
