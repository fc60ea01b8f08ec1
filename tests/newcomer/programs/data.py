# == A dataset without a length
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __getitem__(self, index):
        return torch.tensor(float(index))


for batch in DataLoader(Numbers(), batch_size=5, shuffle=True):
    print(batch)

# == Samples of different sizes in one batch
import torch
from torch.utils.data import DataLoader

sentences = [torch.zeros(n) for n in (2, 3, 5, 7)]
for batch in DataLoader(sentences, batch_size=2):
    print(batch)

# == Tensors of different lengths in a TensorDataset
import torch
from torch.utils.data import TensorDataset

data = TensorDataset(torch.randn(101, 13), torch.randint(3, (103,)))

# == Parts that don't add up to the data
import torch
from torch.utils.data import TensorDataset, random_split

data = TensorDataset(torch.randn(101, 13))
train, test = random_split(data, [80, 20])

# == A batch is taken for the inputs alone
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(101, 13), torch.randint(3, (101,)))
model = nn.Linear(13, 3)
for batch in DataLoader(data, batch_size=7):
    print(model(batch))

# == Shuffling as well as a sampler
import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

data = TensorDataset(torch.randn(101, 13))
loader = DataLoader(data, batch_size=7, shuffle=True, sampler=RandomSampler(data))

# == A file that is no checkpoint
import torch

with open("picture.pt", "wb") as file:
    file.write(b"not a checkpoint")
state = torch.load("picture.pt")

# == The loader is indexed
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(101, 13)), batch_size=7)
first = loader[0]

# == Inputs and targets of a TensorDataset are swapped in the loop
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(101, 13), torch.randint(3, (101,)))
model = nn.Linear(13, 3)
for y, x in DataLoader(data, batch_size=16):
    loss = nn.functional.cross_entropy(model(x), y)

# == enumerate gives the index first
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(101, 13), torch.randint(3, (101,))), batch_size=16)
model = nn.Linear(13, 3)
for batch, (x, y) in enumerate(loader):
    print(model(batch))

# == A dataset gives lists of numbers, of which the loader makes columns
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        return [0.5 * i, 1.5 * i], i % 2


model = nn.Linear(2, 2)
for x, y in DataLoader(Points(), batch_size=4):
    print(model(x))

# == A worker of the loader reads past the end
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.x = torch.randn(10, 13)

    def __len__(self):
        return 12

    def __getitem__(self, i):
        return self.x[i]


if __name__ == "__main__":
    for x in DataLoader(Rows(), batch_size=4, num_workers=2):
        print(x.shape)

# == None among the samples
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i % 5 == 4:
            return None
        return torch.randn(3)


for x in DataLoader(Rows(), batch_size=6):
    print(x.shape)

# == The batch size is a float
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(100, 13))
for (x,) in DataLoader(data, batch_size=len(data) / 10):
    print(x.shape)

# == The lengths of random_split are floats of samples
import torch
from torch.utils.data import TensorDataset, random_split

data = TensorDataset(torch.randn(101, 13))
train, test = random_split(data, [0.8 * len(data), 0.2 * len(data)])
