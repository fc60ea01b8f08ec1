"""``np.mgrid`` and its like: what is indexed gives arrays of the sizes that NumPy's have."""

from pathlib import Path

import pytest
from against_torch import agrees

HEAD = "import numpy as np\nimport torch\n"


@pytest.mark.parametrize(
    "source",
    [
        "y, x = np.mgrid[:5, :7]",
        "y, x = np.mgrid[2:5, 3:13]",
        "y = x = np.mgrid[0:1:11j]",
        "y = x = np.add(*np.ogrid[:5, :7])",
        "y = x = np.c_[np.zeros(5), np.ones((5, 2))]",
        "y = x = np.zeros((5, 7))[np.s_[:, 2]]",
    ],
)
def test_grids_are_numpys(source: str, tmp_path: Path) -> None:
    agrees(f"{HEAD}{source}\na, b = torch.from_numpy(y.copy()), torch.from_numpy(x.copy())\n", tmp_path, "a b")
