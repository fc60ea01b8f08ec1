"""Arrays of tensors where arrays are wanted that they may be."""

from typing import Any

import jax
import numpy as np
import torch
from jaxtyping import Float, Float32, Float64
from numpy import ndarray as Tensor
from numpy.typing import NDArray

from simpletorch.interop import to_jax, to_numpy


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


def of_a_function(
    x: Float32[torch.Tensor, "n 5"], y: Float32[torch.Tensor, "n 3"], unknown: torch.Tensor, flag: bool
) -> Float32[np.ndarray, "m 5"] | None:
    a: NDArray[Any] = to_numpy(x)
    b: NDArray[np.float64] = to_numpy(unknown)
    c: Float32[np.ndarray, "n 3"] = to_numpy(y if flag else x)
    d: Float32[np.ndarray, "k 5"] = to_numpy(x, copy=True) if flag else to_numpy(x[1:])
    x = x.double()
    e: NDArray[np.float64] = to_numpy(x)
    print(a.shape, b.shape, c.shape, d.shape, e.shape, np.stack([to_numpy(x), to_numpy(x)]), to_numpy(y) / 2.0)
    return to_numpy(x.float())


def of_jax(x: Float32[torch.Tensor, "n 5"], doubles: Float64[torch.Tensor, " n"]) -> Float32[jax.Array, "m 5"]:
    print(to_jax(doubles).shape)
    return to_jax(x)


Points = Float32[np.ndarray, "n 3"]


def cloud(points: Points, weights: Float[np.ndarray, " n"] | None = None) -> Float32[torch.Tensor, "n 3"]:
    x = torch.from_numpy(points)
    return x if weights is None else x * torch.from_numpy(weights)[:, None]


Cloud = Float32[torch.Tensor, "n 3"]


def of_an_alias(x: Cloud) -> Float32[torch.Tensor, "n 3"]:
    return x.relu()


def of_two_dims(points: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    print(points.shape)


def passed(points: Points, several: Float32[np.ndarray, "b n 3"], any: np.ndarray) -> None:
    found = of_an_alias(cloud(points))
    one = several[0]
    print(found, cloud(one), cloud(any), cloud(any, any[:, 0]), cloud(points / 2), cloud(points * 2.0))
    print(cloud(weights=None, points=points), cloud(*(points,)), cloud(points[:5]), list(map(cloud, several)))
    halves = points / 2
    of_two_dims(points)
    of_two_dims(any)
    of_two_dims(several[0])
    print(cloud(halves), cloud(np.fft.ifft(np.fft.fft(points)).real.astype("float32")), cloud(np.sqrt(points)))
    points = points.reshape(-1, 5, 3)
    print([cloud(p) for p in points], cloud(points[0]))


passed(np.ones((5, 3), np.float32), np.ones((2, 5, 3), np.float32), np.ones((5, 3), np.float32)[:, :3])
of_any_kind(torch.zeros(7, 5), torch.zeros(7, dtype=torch.float64))
of_its_own_names(torch.zeros(7, 5))
of_any_float(torch.zeros(7, 5))
again(torch.zeros(7, 5), True)
one_or_the_other(torch.zeros(7, 5), torch.zeros(7, 3), True)
another_one(torch.zeros(7, 5))


def of_that_name(x: Tensor) -> list[float]:
    found: list[float] = x.tolist()
    return found


of_that_name(np.zeros(3))
