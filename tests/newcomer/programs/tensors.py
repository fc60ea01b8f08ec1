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
