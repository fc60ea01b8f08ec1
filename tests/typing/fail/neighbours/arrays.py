"""Mistakes that are seen through the border to NumPy."""

import numpy as np
import torch
from beartype import beartype
from jaxtyping import Float32, Float64
from jaxtyping import jaxtyped as jaxtyped
from numpy.typing import NDArray

from simpletorch import interop


def fail_sizes() -> None:
    def scores(points: Float32[np.ndarray, "n 3"]) -> torch.Tensor:
        return interop.from_dlpack(points) @ torch.zeros(5, 7)  # E: tensor-shape

    scores(np.zeros((11, 3), np.float32))


def fail_dtype() -> None:
    def scores(points: NDArray[np.float64]) -> torch.Tensor:
        return torch.from_numpy(points) @ torch.zeros(5, 7)  # E: tensor-dtype

    scores(np.zeros((3, 5)))


def fail_returned_size() -> None:
    @jaxtyped(typechecker=beartype)
    def points(x: Float32[torch.Tensor, "n 5"]) -> Float32[np.ndarray, "n 3"]:
        return x.numpy()  # E: tensor-shape

    points(torch.zeros(7, 5))


def fail_returned_dtype() -> None:
    @jaxtyped(typechecker=beartype)
    def points(x: Float32[torch.Tensor, "n 5"]) -> Float64[np.ndarray, "n 5"]:
        return x.detach().numpy()  # E: tensor-dtype

    points(torch.zeros(7, 5))


def fail_argument() -> None:
    @jaxtyped(typechecker=beartype)
    def scores(points: Float32[np.ndarray, "n 3"]) -> None:
        print(points.shape)

    scores(torch.zeros(7, 5).numpy())  # E: tensor-shape


def fail_assigned() -> None:
    doubles: NDArray[np.float64] = torch.zeros(7, 5).numpy()  # E: tensor-dtype
    torch.from_numpy(doubles) @ torch.zeros(5, 3, dtype=torch.float64)
