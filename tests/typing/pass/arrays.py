"""Arrays of tensors where arrays are wanted that they may be."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32
from numpy.typing import NDArray


def of_any_kind(x: Float32[torch.Tensor, "n 5"], y: torch.Tensor) -> np.ndarray:
    a: NDArray[Any] = x.numpy()
    b: NDArray[np.floating[Any]] = x.numpy()
    c: NDArray[np.generic] = x.numpy()
    d: np.ndarray[tuple[int, int], np.dtype[np.float32]] = x.numpy()
    e: NDArray[np.float64] = y.numpy()
    print(a.shape, b.shape, c.shape, d.shape, e.shape, np.sort(x.numpy()), np.stack([x.numpy(), x.numpy()]))
    return x.numpy()


def of_its_own_names(x: Float32[torch.Tensor, "n 5"]) -> Float32[np.ndarray, "m 5"]:
    return x.numpy()


def of_any_float(x: Float32[torch.Tensor, "*b 5"]) -> Float[np.ndarray, "n 5"] | None:
    return x.numpy()


def again(x: Float32[torch.Tensor, "n 5"], deeper: bool) -> Float32[np.ndarray, "n 5"]:
    found: Float32[np.ndarray, "k 5"] = again(x[1:], False) if deeper else x.numpy()
    return found


def one_or_the_other(x: Float32[torch.Tensor, "n 5"], y: Float32[torch.Tensor, "n 3"], flag: bool) -> None:
    z = y if flag else x
    found: Float32[np.ndarray, "n 3"] = z.numpy()
    print(found.shape)


def another_one(x: Float32[torch.Tensor, "n 5"]) -> NDArray[np.float64]:
    x = x.double()
    return x.numpy()


of_any_kind(torch.zeros(7, 5), torch.zeros(7, dtype=torch.float64))
of_its_own_names(torch.zeros(7, 5))
of_any_float(torch.zeros(7, 5))
again(torch.zeros(7, 5), True)
one_or_the_other(torch.zeros(7, 5), torch.zeros(7, 3), True)
another_one(torch.zeros(7, 5))
