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
