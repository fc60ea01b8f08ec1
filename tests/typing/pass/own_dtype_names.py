"""jaxtyping's spelling with our own names of dtypes: a size in a string of one word is no name."""

import torch

from simpletorch import Float, Float32, checked


@checked
def weighted(
    x: Float32[torch.Tensor, "n"], by: Float[torch.Tensor, "n k"], w: "Float32[torch.Tensor, 'k'] | None"
) -> Float32[torch.Tensor, "n"]:
    return x if w is None else x + by @ w


class Net(torch.nn.Module):
    def forward(self, x: Float32[torch.Tensor, "n"]) -> Float32[torch.Tensor, "n"]:
        def doubled(y: Float32[torch.Tensor, "m"]) -> Float32[torch.Tensor, "m"]:
            return y + y

        return doubled(x)


weighted(torch.ones(3), torch.ones(3, 5), torch.ones(5))
Net()(torch.ones(7))
