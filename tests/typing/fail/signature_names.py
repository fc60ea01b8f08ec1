"""Sizes that only a result has are the function's to choose, but each is one size; and overrides take what they must."""

import torch
from jaxtyping import Float32
from torch import nn


def fail_one_name_for_two_sizes() -> None:
    def square(x: Float32[torch.Tensor, "n m"]) -> Float32[torch.Tensor, "s s"]:
        return x  # E: tensor-shape

    assert square(torch.ones(3, 5)).shape[0] == square(torch.ones(3, 5)).shape[1]


def fail_another_number_of_dims() -> None:
    def flat(x: Float32[torch.Tensor, "n m"]) -> Float32[torch.Tensor, "s"]:
        return x  # E: tensor-shape

    (_,) = flat(torch.ones(3, 5)).shape


def fail_an_override_takes_less() -> None:
    class Images(nn.Module):
        def forward(self, x: Float32[torch.Tensor, "b 3 h w"]) -> Float32[torch.Tensor, "b d"]:
            return x.flatten(1)

    class Gray(Images):
        def forward(self, x: Float32[torch.Tensor, "n 1 h w"]) -> Float32[torch.Tensor, "n d"]:  # E: override
            return x.view(len(x), -1)

    def encode(images: Images) -> None:
        assert images(torch.ones(2, 3, 5, 7)).shape[1] == 35

    encode(Gray())
