"""Image transforms on tensors: typed, for one image or a whole batch, and repeatable under a generator.

An image is ``[C, H, W]`` with UInt8 values from 0 to 255 or float values from 0 to 1; in front of these dims there
may be others. A random transform draws for each image of a batch separately, and the same numbers as for one image
after the other: ``transform(images)`` is ``torch.stack([transform(image) for image in images])`` for the same state of
the generator.

All are modules of torch and can be pickled. In worker processes of a loader, a transform with a generator of its own
draws from one that depends on the worker as well. So workers and epochs differ, and a seeded loader repeats them.
"""

from simpletorch.transforms._blur import GaussianBlur as GaussianBlur
from simpletorch.transforms._color import ColorJitter as ColorJitter
from simpletorch.transforms._color import Grayscale as Grayscale
from simpletorch.transforms._compose import Compose as Compose
from simpletorch.transforms._convert import Normalize as Normalize
from simpletorch.transforms._convert import ToTensor as ToTensor
from simpletorch.transforms._crop import CenterCrop as CenterCrop
from simpletorch.transforms._crop import RandomCrop as RandomCrop
from simpletorch.transforms._erase import RandomErasing as RandomErasing
from simpletorch.transforms._flip import RandomHorizontalFlip as RandomHorizontalFlip
from simpletorch.transforms._flip import RandomVerticalFlip as RandomVerticalFlip
from simpletorch.transforms._mix import CutMix as CutMix
from simpletorch.transforms._mix import MixUp as MixUp
from simpletorch.transforms._pad import Pad as Pad
from simpletorch.transforms._resize import RandomResizedCrop as RandomResizedCrop
from simpletorch.transforms._resize import Resize as Resize
from simpletorch.transforms._transform import Transform as Transform
from simpletorch.transforms._transform import takes_batches as takes_batches
