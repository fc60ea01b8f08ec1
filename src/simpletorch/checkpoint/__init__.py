"""Checkpoints: everything a training needs to go on, in one file that can't run code and is never half written.

::

    save("run/step-100.safetensors", model=model, optimizer=optimizer, loader=loader, epoch=3)
    saved = load("run/step-100.safetensors", model=model, optimizer=optimizer, loader=loader)
    saved.parts["epoch"]  # 3

A checkpoint is a safetensors file. Tensors are stored as such, by the names they have in their state; the rest is JSON.
Every byte is covered by a checksum, and the file appears in one step when it is complete and on the disk. The random
number generators of this process are saved with it, so that training goes on bit for bit. The `Trainer` does all of
this with the callback `simpletorch.train.Checkpoint` and ``fit(…, resume="auto")``.

A sharded model (`simpletorch.distributed.shard`) is saved as a folder, to which each process writes its part. Any
number of processes can load it, and `consolidate` makes one file of it.
"""

from simpletorch.checkpoint._checkpoint import Saved as Saved
from simpletorch.checkpoint._checkpoint import consolidate as consolidate
from simpletorch.checkpoint._checkpoint import load as load
from simpletorch.checkpoint._checkpoint import read as read
from simpletorch.checkpoint._checkpoint import save as save
from simpletorch.checkpoint._checkpoint import save_async as save_async
from simpletorch.checkpoint._differences import Report as Report
from simpletorch.checkpoint._folder import checkpoints_in as checkpoints_in
from simpletorch.checkpoint._folder import latest as latest
from simpletorch.checkpoint._names import unwrapped as unwrapped
from simpletorch.checkpoint._stateful import Data as Data
from simpletorch.checkpoint._stateful import Part as Part
from simpletorch.checkpoint._stateful import Stateful as Stateful
from simpletorch.checkpoint._torch_files import from_torch as from_torch
from simpletorch.checkpoint._torch_files import to_torch as to_torch
from simpletorch.checkpoint._weights import load_weights as load_weights
