"""Datasets and loaders: torch's interfaces, typed batches, exact resumption, and no work per sample where the data are
tensors.

`Dataset`, `IterableDataset`, `Subset`, `ConcatDataset` and `DataLoader` are subclasses of torch's, and every function
here takes torch's too, so datasets and samplers written for torch work here and the other way round.
"""

from torch.utils.data import BatchSampler as BatchSampler
from torch.utils.data import RandomSampler as RandomSampler
from torch.utils.data import Sampler as Sampler
from torch.utils.data import SequentialSampler as SequentialSampler
from torch.utils.data import SubsetRandomSampler as SubsetRandomSampler
from torch.utils.data import WeightedRandomSampler as WeightedRandomSampler
from torch.utils.data import get_worker_info as get_worker_info

from simpletorch.data._dataset import CachedDataset as CachedDataset
from simpletorch.data._dataset import ConcatDataset as ConcatDataset
from simpletorch.data._dataset import Dataset as Dataset
from simpletorch.data._dataset import MappedDataset as MappedDataset
from simpletorch.data._dataset import Subset as Subset
from simpletorch.data._dataset import ZippedDataset as ZippedDataset
from simpletorch.data._split import random_split as random_split
from simpletorch.data._stream import IterableDataset as IterableDataset
from simpletorch.data._stream import Stateful as Stateful
from simpletorch.data._tensors import TensorDataset as TensorDataset
from simpletorch.data.datasets._archive import extract as extract
from simpletorch.data.datasets._cifar import CIFAR10 as CIFAR10
from simpletorch.data.datasets._cifar import CIFAR100 as CIFAR100
from simpletorch.data.datasets._digits import Digits as Digits
from simpletorch.data.datasets._download import download as download
from simpletorch.data.datasets._folder import ImageFolder as ImageFolder
from simpletorch.data.datasets._hugging_face import HuggingFaceDataset as HuggingFaceDataset
from simpletorch.data.datasets._hugging_face import HuggingFaceStream as HuggingFaceStream
from simpletorch.data.datasets._hugging_face import from_hugging_face as from_hugging_face
from simpletorch.data.datasets._idx import read_idx as read_idx
from simpletorch.data.datasets._imagenet import ImageNet as ImageNet
from simpletorch.data.datasets._images import LabelledImages as LabelledImages
from simpletorch.data.datasets._mnist import MNIST as MNIST
from simpletorch.data.datasets._mnist import FashionMNIST as FashionMNIST
from simpletorch.data.datasets._replay import Prioritized as Prioritized
from simpletorch.data.datasets._replay import PrioritizedReplayBuffer as PrioritizedReplayBuffer
from simpletorch.data.datasets._replay import ReplayBuffer as ReplayBuffer
from simpletorch.data.datasets._replay import Transition as Transition
from simpletorch.data.datasets._table import Table as Table
from simpletorch.data.datasets._text import CharTokens as CharTokens
from simpletorch.data.datasets._text import Lines as Lines
from simpletorch.data.datasets._text import lines as lines
from simpletorch.data.loading._buckets import BucketBatchSampler as BucketBatchSampler
from simpletorch.data.loading._builder import LoaderBuilder as LoaderBuilder
from simpletorch.data.loading._collate import collate as collate
from simpletorch.data.loading._device import DeviceLoader as DeviceLoader
from simpletorch.data.loading._distributed import DistributedSampler as DistributedSampler
from simpletorch.data.loading._loader import DataLoader as DataLoader
from simpletorch.data.loading._padded import Padded as Padded
