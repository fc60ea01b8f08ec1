"""All random number generators of this process together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the generators of Python, NumPy (the global one) and torch, the latter on all devices.

    Raises:
        ValueError: ``seed`` is outside 0 to 2**32 - 1, the range that all of them take.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"a seed is an int from 0 to 2**32 - 1, not {seed}")
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def rng_state() -> dict[str, Any]:
    """The states of Python's, NumPy's (the global one) and torch's generators, as plain data and tensors."""
    version, words, gauss = random.getstate()
    legacy = np.random.get_state(legacy=False)
    # Int64, since torch's own pickles, which go from process to process, have no UInt32.
    words_of_numpy = torch.from_numpy(legacy["state"]["key"].astype(np.int64))
    return {
        "python": {"version": version, "words": torch.tensor(words, dtype=torch.int64), "gauss": gauss},
        "numpy": {**legacy, "state": {**legacy["state"], "key": words_of_numpy}},
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else [],
        "mps": torch.mps.get_rng_state() if torch.backends.mps.is_available() else None,
    }


def set_rng_state(state: dict[str, Any]) -> None:
    """Go on from what `rng_state` gave. States of devices that aren't here are left out."""
    python, legacy = state["python"], state["numpy"]
    random.setstate((python["version"], tuple(python["words"].tolist()), python["gauss"]))
    words_of_numpy = legacy["state"]["key"].numpy().astype(np.uint32)
    np.random.set_state({**legacy, "state": {**legacy["state"], "key": words_of_numpy}})
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available():
        for device, each in enumerate(state["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(each, device)
    if state["mps"] is not None and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])
