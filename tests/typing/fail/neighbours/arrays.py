"""Mistakes that are seen through the border to NumPy."""

import jax
import numpy as np
import torch
from beartype import beartype
from jaxtyping import Float32, Float64
from jaxtyping import jaxtyped as jaxtyped
from numpy.typing import NDArray

from simpletorch import interop, nn
from simpletorch.interop import from_dlpack, to_jax, to_numpy

Points = Float32[np.ndarray, "n 3"]


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


def fail_returned_by_a_function() -> None:
    @jaxtyped(typechecker=beartype)
    def points(x: Float32[torch.Tensor, "n 5"]) -> Float32[np.ndarray, "n 3"]:
        return to_numpy(x)  # E: tensor-shape

    points(torch.zeros(7, 5))


def fail_returned_to_jax() -> None:
    @jaxtyped(typechecker=beartype)
    def points(x: Float32[torch.Tensor, "n 5"]) -> Float32[jax.Array, "n 3"]:
        return to_jax(x)  # E: tensor-shape

    points(torch.zeros(7, 5))


def fail_from_jax_again() -> None:
    nn.Linear(3, 2)(from_dlpack(to_jax(torch.zeros(7, 5))))  # E: tensor-shape


def fail_argument() -> None:
    @jaxtyped(typechecker=beartype)
    def scores(points: Float32[np.ndarray, "n 3"]) -> None:
        print(points.shape)

    scores(torch.zeros(7, 5).numpy())  # E: tensor-shape


def fail_assigned() -> None:
    doubles: NDArray[np.float64] = torch.zeros(7, 5).numpy()  # E: tensor-dtype
    torch.from_numpy(doubles) @ torch.zeros(5, 3, dtype=torch.float64)


def fail_array_of_another_size() -> None:
    @jaxtyped(typechecker=beartype)
    def scores(points: Points) -> None:
        print(points.shape)

    def passed(points: Float32[np.ndarray, "n 5"]) -> None:
        scores(points)  # E: tensor-shape

    passed(np.zeros((7, 5), np.float32))


def fail_array_of_another_rank() -> None:
    @jaxtyped(typechecker=beartype)
    def scores(points: Points | None) -> None:
        print(points)

    scores(np.zeros((7, 5, 3), np.float32))  # E: tensor-shape


def fail_array_of_another_dtype() -> None:
    @jaxtyped(typechecker=beartype)
    def scores(points: Points) -> None:
        print(points.shape)

    scores(np.zeros((7, 3)))  # E: tensor-dtype


def fail_array_and_tensor() -> None:
    @jaxtyped(typechecker=beartype)
    def scores(points: Points, x: Float32[torch.Tensor, "n 5"]) -> None:
        print(points.shape, x.shape)

    scores(torch.zeros(7, 3).numpy(), torch.zeros(11, 5))  # E: tensor-shape


def fail_array_that_was_given() -> None:
    def given() -> Float32[np.ndarray, "7 5"]:
        return np.zeros((7, 5), np.float32)

    @jaxtyped(typechecker=beartype)
    def scores(points: Points) -> None:
        print(points.shape)

    scores(given())  # E: tensor-shape


def fail_array_of_numpys_own_type() -> None:
    def scores(points: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> torch.Tensor:
        return torch.from_numpy(points) @ torch.zeros(3, 7)

    def passed(points: Float32[np.ndarray, "n 5 3"]) -> None:
        if scores(points).ndim != 2:  # E: tensor-shape
            raise TypeError(points.shape)

    passed(np.zeros((7, 5, 3), np.float32))
