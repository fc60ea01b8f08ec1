from pathlib import Path
from typing import Any

import numpy as np

def loadmat(file_name: Path, *, squeeze_me: bool = ...) -> dict[str, np.ndarray[Any, Any]]: ...
