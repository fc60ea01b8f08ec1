from typing import Any

import numpy as np
from sklearn.utils import Bunch

class _Digits(Bunch):
    images: np.ndarray[Any, Any]
    target: np.ndarray[Any, Any]

def load_digits() -> _Digits: ...
def load_sample_image(image_name: str) -> np.ndarray[Any, Any]: ...
