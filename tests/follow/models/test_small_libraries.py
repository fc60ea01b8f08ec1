"""Small libraries, and old spellings of large ones: what they give is known, and nothing is said of right programs."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

_HEAD = """import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
from somewhere import unknown
data = TensorDataset(torch.zeros(8, 3), torch.zeros(8))
"""
KNOWN = {
    "a dataclass of pydantic": "from pydantic.dataclasses import dataclass\n@dataclass\nclass C:\n    n: int\n"
    "    m: int = 3\n    @property\n    def k(self):\n        return self.n * self.m\n"
    "y = torch.zeros(C(5).n, C(n=5).k, C(5, m=2).m)",
    "batches that are fetched ahead": "from prefetch_generator import BackgroundGenerator\nclass L(DataLoader):\n"
    "    def __iter__(self):\n        return BackgroundGenerator(super().__iter__())\n"
    "for x, z in L(data, batch_size=5):\n    y = x @ torch.zeros(3, 2)",
    "the next batch of an old torch": "x, z = iter(DataLoader(data, batch_size=4)).next()\ny = x @ torch.zeros(3, 2)",
    "a sum that is a number": "s = np.sum(unknown())\ny = torch.zeros(3, 4) * s + np.max(unknown()) ** 2",
    "the larger number": "s = max(np.mean(unknown()), 0.0)\ny = torch.zeros(3, 4) * s",
    "a power of a number": "p = pow(0.9, int(unknown()))\ny = np.zeros((3, 4)) / (1 - p)",
    "a running mean of arrays": "m = 0\na = np.zeros((3, 4))\nwhile unknown():\n    m = m * 0.9 + a.mean() * 0.1\n"
    "y = a - m",
    "an observation of an old gym": "import gym\nclass Half(gym.ObservationWrapper):\n"
    "    def _observation(self, observation):\n        return observation[:2]\n"
    "env = Half(gym.make('CartPole-v1'))\ns = env.reset()\ns, reward, done, info = env.step(0)\n"
    "y = torch.from_numpy(s)",
    "an image that is loaded as torchvision does": "from torchvision.datasets.folder import default_loader\n"
    "from torchvision import transforms as T\ny = T.ToTensor()(T.Resize((32, 32))(default_loader('x.png')))",
    "a batch of unknown size": "for x, z in DataLoader(data, batch_size=unknown()):\n    y = x @ torch.zeros(3, 2)",
}
WRONG = {
    "a dataclass of pydantic": KNOWN["a dataclass of pydantic"] + "\ny @ torch.zeros(3, 1)",
    "batches that are fetched ahead": KNOWN["batches that are fetched ahead"] + "\ntorch.zeros(4, 2) @ x",
    "a sum that is a number": KNOWN["a sum that is a number"] + "\ny @ torch.zeros(3, 1)",
    "a power of a number": KNOWN["a power of a number"] + "\ntorch.from_numpy(y) + torch.zeros(3)",
}
FIELD = """from pydantic import Field
from pydantic.dataclasses import dataclass
@dataclass
class C:
    n: int = Field(default=5, gt=0)
torch.zeros(2, 5) @ torch.zeros(C().n, 3)
"""


def followed(program: str, folder: Path):
    (folder / "program.py").write_text(_HEAD + program + "\n")
    return follow(folder / "program.py")


@pytest.mark.parametrize("name", KNOWN)
def test_what_it_gives_is_known(name: str, tmp_path: Path):
    found = followed(KNOWN[name], tmp_path)
    assert (found.errors, found.warnings, found.faults) == ((), (), ())
    last = [line for (_, line), names in found.claims.items() if "y" in names]
    assert last, "the tensor has a shape"
    assert not [cause for _, line, *cause in found.causes if line in last]


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_behind_it_is_found(name: str, tmp_path: Path):
    assert len(followed(WRONG[name], tmp_path).errors) == 1


def test_a_field_that_says_more_is_left_alone(tmp_path: Path):
    found = followed(FIELD, tmp_path)
    assert (found.errors, found.faults) == ((), ())
