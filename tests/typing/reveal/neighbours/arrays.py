"""Tensors over arrays: what NumPy's types and jaxtyping's strings say of the array, the tensor has."""

from typing import Any, TypeVar, cast

import numpy as np
import torch
from jaxtyping import Float32, Int64
from numpy.typing import NDArray
from torch.utils.dlpack import from_dlpack

from simpletorch import CPUTensor, Tensor, interop

reveal_type(torch.from_numpy(np.zeros((3, 5), dtype=np.float32)))  # R: Tensor[Float32, Any, Any]
reveal_type(torch.as_tensor(np.zeros(7)))  # R: Tensor[Float64, Any]
reveal_type(torch.tensor(np.zeros(7), dtype=torch.float32))  # R: Tensor[Float32, Any]
steps = np.zeros((3, 5), dtype=np.complex64)
reveal_type(from_dlpack(steps))  # R: Tensor[Complex64, Any, Any]


def of_numpys_types(a: NDArray[np.float32], b: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> None:
    reveal_type(torch.from_numpy(a))  # R: Tensor[Float32, ...]
    reveal_type(torch.from_numpy(b))  # R: Tensor[UInt8, Any, Any]
    reveal_type(torch.from_numpy(a.astype(np.int64)))  # R: Tensor[Int64, ...]


of_numpys_types(np.zeros((3, 5), np.float32), np.zeros((3, 5), np.uint8))


def of_jaxtypings_strings(points: Float32[np.ndarray, "n 3"], x: Float32[torch.Tensor, "n 5"]) -> None:
    reveal_type(torch.from_numpy(points))  # R: Tensor[Float32, n, 3]
    reveal_type(interop.from_numpy(points))  # R: Tensor[Float32, n, 3]
    reveal_type(interop.from_dlpack(points))  # R: Tensor[Float32, n, 3]
    reveal_type(Tensor.from_dlpack(points))  # R: Tensor[Float32, n, 3]
    reveal_type(CPUTensor.from_dlpack(points))  # R: CPUTensor[Float32, n, 3]
    reveal_type(torch.from_numpy(points) @ torch.zeros(3, 7))  # R: Tensor[Float32, n, 7]
    reveal_type(torch.cat([torch.from_numpy(points), x], 1))  # R: Tensor[Float32, n, 8]


of_jaxtypings_strings(np.zeros((11, 3), np.float32), torch.zeros(11, 5))


class Cloud:
    points: Float32[np.ndarray, "512 3"]

    def __init__(self) -> None:
        self.points = np.zeros((512, 3), np.float32)

    def mean(self) -> torch.Tensor:
        reveal_type(torch.from_numpy(self.points))  # R: Tensor[Float32, 512, 3]
        return torch.from_numpy(self.points).mean(0)


Cloud().mean()


# -- arrays that are passed, given and named


Points = Float32[np.ndarray, "n 3"]


def cloud(points: Points) -> Float32[torch.Tensor, "n 3"]:
    reveal_type(torch.from_numpy(points))  # R: Tensor[Float32, n, 3]
    return torch.from_numpy(points)


def sampled(points: Points, k: int) -> Float32[np.ndarray, "k 3"]:
    return points[:k]


def doubled(points: Float32[np.ndarray, "n c"]) -> Float32[np.ndarray, "n 2*c"]:
    return np.concatenate([points, points], axis=1)


def beside(points: Points, x: Float32[torch.Tensor, "n 5"]) -> Float32[torch.Tensor, "n 8"]:
    return torch.cat([torch.from_numpy(points), x], 1)


class Shared:
    """An array of a library that mypy knows nothing of."""

    def __init__(self, array: NDArray[np.float32]) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def of_another_library(points: Float32[Shared, "n 3"]) -> Float32[torch.Tensor, "n 3"]:
    reveal_type(interop.from_dlpack(points))  # R: Tensor[Float32, n, 3]
    return interop.from_dlpack(points)


def that_are_passed(points: Float32[np.ndarray, "11 3"], x: Float32[torch.Tensor, "7 3"], any: NDArray[Any]) -> None:
    reveal_type(cloud(points))  # R: Tensor[Float32, 11, 3]
    reveal_type(cloud(x.numpy()))  # R: Tensor[Float32, 7, 3]
    reveal_type(cloud(np.zeros((5, 3), np.float32)))  # R: Tensor[Float32, Any, 3]
    reveal_type(cloud(any))  # R: Tensor[Float32, Any, 3]
    reveal_type(beside(x.numpy(), torch.zeros(7, 5)))  # R: Tensor[Float32, 7, 8]
    reveal_type(torch.from_numpy(doubled(points)))  # R: Tensor[Float32, 11, 6]
    reveal_type(torch.from_numpy(sampled(points, 5)))  # R: Tensor[Float32, Any, 3]
    two = doubled(points)
    reveal_type(torch.from_numpy(two))  # R: Tensor[Float32, 11, 6]
    own = interop.to_numpy(x)
    reveal_type(torch.from_numpy(own))  # R: Tensor[Float32, 7, 3]


that_are_passed(np.zeros((11, 3), np.float32), torch.zeros(7, 3), np.zeros((5, 3), np.float32))
of_another_library(Shared(np.zeros((5, 3), np.float32)))


# -- where NumPy's own types say what isn't so


def halved(a: NDArray[np.float32], b: Float32[np.ndarray, "n 3"], c: NDArray[np.float64]) -> None:
    reveal_type(torch.from_numpy(a / 2))  # R: Tensor
    reveal_type(torch.from_numpy(b * 2.0))  # R: Tensor
    half = a / 2
    reveal_type(torch.from_numpy(half.reshape(-1)))  # R: Tensor[Any, Any]
    reveal_type(torch.from_numpy(c.reshape(-1)))  # R: Tensor[Float64, Any]


halved(np.zeros((5, 3), np.float32), np.zeros((5, 3), np.float32), np.zeros((5, 3)))


# -- where the type that a name had first may not be what it holds


A = TypeVar("A", bound=np.ndarray)


def cropped(array: A) -> A:
    return cast(A, array[:2])


def that_may_have_changed(a: Int64[np.ndarray, "n 3"], b: Int64[np.ndarray, "n 3"]) -> None:
    a = a[0]
    reveal_type(torch.from_numpy(a))  # R: Tensor
    reveal_type(torch.from_numpy(cropped(b)))  # R: Tensor
    c = cropped(b)
    reveal_type(torch.from_numpy(c))  # R: Tensor


that_may_have_changed(np.zeros((5, 3), np.int64), np.zeros((5, 3), np.int64))
