"""Datasets and loaders: torch's interfaces, typed batches, and no work per sample where the data are tensors.

`Dataset`, `IterableDataset`, `Subset`, `ConcatDataset` and the samplers are torch's own classes, so every dataset
written for torch works here and the other way round.
"""

from torch.utils.data import BatchSampler as BatchSampler
from torch.utils.data import ConcatDataset as ConcatDataset
from torch.utils.data import Dataset as Dataset
from torch.utils.data import IterableDataset as IterableDataset
from torch.utils.data import RandomSampler as RandomSampler
from torch.utils.data import Sampler as Sampler
from torch.utils.data import SequentialSampler as SequentialSampler
from torch.utils.data import Subset as Subset
from torch.utils.data import SubsetRandomSampler as SubsetRandomSampler
from torch.utils.data import WeightedRandomSampler as WeightedRandomSampler

from simpletorch.data._archive import extract as extract
from simpletorch.data._cifar import CIFAR10 as CIFAR10
from simpletorch.data._cifar import CIFAR100 as CIFAR100
from simpletorch.data._collate import collate as collate
from simpletorch.data._digits import Digits as Digits
from simpletorch.data._download import download as download
from simpletorch.data._idx import read_idx as read_idx
from simpletorch.data._images import LabelledImages as LabelledImages
from simpletorch.data._loader import DataLoader as DataLoader
from simpletorch.data._mnist import MNIST as MNIST
from simpletorch.data._mnist import FashionMNIST as FashionMNIST
from simpletorch.data._split import random_split as random_split
from simpletorch.data._tensors import TensorDataset as TensorDataset
