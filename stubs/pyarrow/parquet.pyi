from collections.abc import Sequence
from pathlib import Path

from pyarrow import Schema, Table

class ParquetDataset:
    def __init__(self, path_or_paths: Path) -> None: ...
    @property
    def schema(self) -> Schema: ...

def read_table(source: Path, *, columns: Sequence[str] | None = ...) -> Table: ...
