from collections.abc import Sequence
from typing import Any

import numpy as np

def train_test_split(
    *arrays: Sequence[int],
    test_size: float | None = ...,
    random_state: int | None = ...,
    stratify: np.ndarray[Any, Any] | None = ...,
) -> list[list[int]]: ...
