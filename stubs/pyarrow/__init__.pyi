from typing import Any

import numpy as np

class ArrowException(Exception): ...

class Schema:
    @property
    def names(self) -> list[str]: ...

class ChunkedArray:
    def to_numpy(self) -> np.ndarray[Any, Any]: ...

class Table:
    def __getitem__(self, column: str) -> ChunkedArray: ...

class Array: ...

class FixedSizeListArray(Array):
    @staticmethod
    def from_arrays(values: Array, size: int) -> FixedSizeListArray: ...
