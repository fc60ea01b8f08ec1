"""All random number generators of this process together."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def seed_everything(seed: int) -> None:
    """Seed the generators of Python, NumPy (the global one) and torch, the latter on all devices.

    Args:
        seed: the seed of all generators.

    Raises:
        ValueError: ``seed`` is outside 0 to 2**32 - 1, the range that all of them take.

    Examples:
        >>> import torch
        >>> from simpletorch import seed_everything
        >>> seed_everything(7)
        >>> first = torch.rand(3)
        >>> seed_everything(7)
        >>> torch.equal(first, torch.rand(3))
        True
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"a seed is an int from 0 to 2**32 - 1, not {seed}")
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def rng_state() -> dict[str, Any]:
    """The states of Python's, NumPy's (the global one) and torch's generators, as plain data and tensors.

    Returns:
        What `set_rng_state` takes.

    Examples:
        >>> import torch
        >>> from simpletorch import reproducibility
        >>> state = reproducibility.rng_state()
        >>> first = torch.rand(3)
        >>> reproducibility.set_rng_state(state)
        >>> torch.equal(first, torch.rand(3))
        True
    """
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


def check_rng_state(state: Any) -> None:
    """See that `set_rng_state` takes ``state``; no generator is changed.

    Raises:
        ValueError: it is nothing that `rng_state` gave.
    """
    try:
        random.Random().setstate(_of_python(state))
        numpy = _of_numpy(state)
        # NumPy takes any position, and then reads what lies there in memory
        if numpy["bit_generator"] == "MT19937" and not 0 <= numpy["state"]["pos"] <= len(numpy["state"]["key"]) == 624:
            raise ValueError("the position of NumPy's generator is out of its range")
        np.random.RandomState(0).set_state(numpy)
        torch.Generator().set_state(state["torch"])
        others = [*state["cuda"], *([] if state["mps"] is None else [state["mps"]])]
        if not all(isinstance(each, torch.Tensor) and each.dtype == torch.uint8 for each in others):
            raise ValueError("the state of a device's generator is no tensor of bytes")
        if torch.cuda.is_available():
            for device, each in enumerate(state["cuda"][: torch.cuda.device_count()]):
                torch.Generator(f"cuda:{device}").set_state(each)
    except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def set_rng_state(state: dict[str, Any]) -> None:
    """Restore the state that `rng_state` returned. States of devices that aren't here are left out.

    Args:
        state: a state that `rng_state` returned.

    Raises:
        ValueError: ``state`` is nothing that `rng_state` gave; no generator is changed.

    Examples:
        >>> import torch
        >>> from simpletorch import reproducibility
        >>> state = reproducibility.rng_state()
        >>> first = torch.rand(3)
        >>> reproducibility.set_rng_state(state)
        >>> torch.equal(first, torch.rand(3))
        True
    """
    check_rng_state(state)
    random.setstate(_of_python(state))
    np.random.set_state(_of_numpy(state))
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available():
        for device, each in enumerate(state["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(each, device)
    if state["mps"] is not None and torch.backends.mps.is_available():
        torch.mps.set_rng_state(state["mps"])


def _of_python(state: dict[str, Any]) -> tuple[Any, ...]:
    python = state["python"]
    if not isinstance(python["gauss"], float | None):
        raise TypeError("the number that Python's generator keeps is none")
    return python["version"], tuple(python["words"].tolist()), python["gauss"]


def _of_numpy(state: dict[str, Any]) -> dict[str, Any]:
    legacy = state["numpy"]
    return {**legacy, "state": {**legacy["state"], "key": legacy["state"]["key"].numpy().astype(np.uint32)}}
