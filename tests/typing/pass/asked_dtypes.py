"""Behind a question for a tensor's dtype it is the one that was asked for, whatever the annotation says."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def inverted(mask: Bool[Tensor, "*bs c"]) -> Bool[Tensor, "*bs c"]:
    return ~mask


def shown(image: Float[Tensor, "*bs c"]) -> Tensor:
    if image.dtype == torch.bool:
        return inverted(image)
    if not torch.is_floating_point(image):
        return inverted(image > 0)
    return image


shown(torch.zeros(3, 5))
