# == Matrices that don't multiply
import torch

a, b = torch.randn(7, 13), torch.randn(7, 17)
print(a @ b)

# == Shapes that don't broadcast
import torch

images, mean = torch.randn(7, 3, 29, 31), torch.tensor([0.4, 0.5, 0.6])
print(images - mean)

# == Joined tensors that differ in another dim
import torch

x, y = torch.randn(7, 13), torch.randn(11, 17)
print(torch.cat([x, y], dim=1))

# == Stacked tensors of different lengths
import torch

sentences = [torch.tensor([2, 3, 5]), torch.tensor([7, 11])]
print(torch.stack(sentences))

# == A view with the wrong number of elements
import torch

x = torch.randn(7, 3, 5)
print(x.view(7, 16))

# == A view of what is transposed
import torch

x = torch.randn(7, 13, 5)
print(x.transpose(1, 2).view(7, -1))

# == A dim that doesn't exist
import torch

x = torch.randn(7, 13)
print(x.sum(dim=2))

# == permute without all dims
import torch

image = torch.randn(7, 29, 31, 3)
print(image.permute(2, 0, 1))

# == transpose with three dims
import torch

image = torch.randn(29, 31, 3)
print(image.transpose(2, 0, 1))

# == An index past the end
import torch

x = torch.arange(10)
print(x[10])

# == An index of floats
import torch

x, order = torch.randn(7, 13), torch.tensor([0.0, 2.0])
print(x[order])

# == Integers and floats in a matrix product
import torch

pixels = torch.randint(256, (7, 784))
weight = torch.randn(784, 10)
print(pixels @ weight)

# == A model of floats gets doubles from NumPy
import numpy as np
import torch
from torch import nn

data = np.random.rand(7, 13)
model = nn.Linear(13, 3)
print(model(torch.from_numpy(data)))

# == A model gets an array of NumPy
import numpy as np
from torch import nn

model = nn.Linear(13, 3)
print(model(np.random.rand(7, 13)))

# == The mean of integers
import torch

print(torch.arange(10).mean())

# == A device that doesn't exist
import torch

x = torch.randn(7, 13).to("gpu")

# == CUDA, where there is none
import torch
from torch import nn

model = nn.Linear(13, 3).to("cuda")

# == A list of lists of different lengths
import torch

batch = torch.tensor([[2, 3, 5], [7, 11]])

# == A condition on many elements
import torch

x = torch.randn(7)
if x > 0:
    print("positive")

# == .item() of many elements
import torch

losses = torch.randn(7)
print(losses.item())

# == A dtype by its name
import torch

x = torch.zeros(7, 13, dtype="float32")

# == The mask is of integers
import torch

scores = torch.randn(2, 5, 5)
mask = torch.tril(torch.ones(5, 5, dtype=torch.int64))
scores = scores.masked_fill(mask - 1, float("-inf"))

# == A batch of matrices is transposed with .T
import torch

q, k = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
scores = q @ k.T

# == Labels are strings
import torch
from torch.utils.data import DataLoader, TensorDataset

labels = torch.tensor(["cat", "dog", "cat"])

# == An array of texts becomes a tensor
import torch
import numpy as np

x = torch.from_numpy(np.array(["1", "2"]))

# == einsum with the wrong letters
import torch

q, k = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
print(torch.einsum("btd,bds->bts", q, k).shape)

# == torch.tensor of a list of tensors
import torch

x = torch.tensor([torch.randn(3), torch.randn(3)])

# == max gives values and places
import torch
from torch import nn

scores = torch.randn(7, 10)
predicted = scores.max(dim=1)
accuracy = (predicted == torch.randint(10, (7,))).float().mean()
