from typing import Optional, Protocol
from jaxtyping import Float, Shaped
from torch import Tensor


class DensityFn(Protocol):
    def __call__(
        self, positions: Float[Tensor, "*batch 3"], times: Optional[Float[Tensor, "*batch 1"]] = None
    ) -> Float[Tensor, "*batch 1"]: ...


class Wider(Protocol):
    def __call__(self, positions: Float[Tensor, "*batch 4"]) -> Float[Tensor, "*batch 1"]: ...


class Counted(Protocol):
    def __call__(self, positions: Float[Tensor, "*batch 3"], count: int) -> Float[Tensor, "*batch 1"]: ...


class Field:
    def density_fn(
        self, positions: Shaped[Tensor, "*bs 3"], times: Optional[Shaped[Tensor, "*bs 1"]] = None
    ) -> Shaped[Tensor, "*bs 1"]:
        return positions[..., :1]


def sample(density_fn: Optional[DensityFn] = None) -> None: ...


def sample_wider(density_fn: Wider) -> None: ...


def sample_counted(density_fn: Counted) -> None: ...


field = Field()
sample(density_fn=field.density_fn)
own: DensityFn = field.density_fn


def chosen(field: Field) -> DensityFn:
    return field.density_fn


sample_wider(field.density_fn)  # 4 where the field takes 3
sample_counted(field.density_fn)  # a count where the field takes times
