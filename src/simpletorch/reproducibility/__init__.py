"""The same results again: seeds, deterministic operations, and a record of what a run was made of.

::

    seed_everything(7)
    deterministic()
    Manifest.collect(config=config, data={"train": dataset}, seed=7).save("run/manifest.json")
"""

from simpletorch.reproducibility._checksum import checksum as checksum
from simpletorch.reproducibility._determinism import deterministic as deterministic
from simpletorch.reproducibility._manifest import Manifest as Manifest
from simpletorch.reproducibility._random import rng_state as rng_state
from simpletorch.reproducibility._random import seed_everything as seed_everything
from simpletorch.reproducibility._random import set_rng_state as set_rng_state
