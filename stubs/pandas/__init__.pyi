from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

class Series:
    def to_numpy(self) -> np.ndarray[Any, Any]: ...

class DataFrame:
    @property
    def columns(self) -> Sequence[object]: ...
    @columns.setter
    def columns(self, value: Sequence[str]) -> None: ...
    def __getitem__(self, column: str) -> Series: ...

def read_csv(filepath_or_buffer: Path, **options: Any) -> DataFrame: ...
