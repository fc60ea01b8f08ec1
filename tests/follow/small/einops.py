# == tensors
import torch
from einops import rearrange, reduce, repeat, einsum, pack, unpack
x = torch.zeros(2, 3, 8, 10)
a = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=5)
b = reduce(x, "b c h w -> b c", "mean")
c = repeat(torch.zeros(3, 5), "h w -> b h w", b=7)
d = einsum(torch.zeros(2, 3), torch.zeros(3, 5), "i j, j k -> i k")
e, ps = pack([torch.zeros(2, 3), torch.zeros(2, 5)], "b *")
sizes = {"h": 4}
f = rearrange(torch.zeros(2, 12), "b (h d) -> b h d", **sizes)
del ps

# == arrays
import numpy as np
from einops import rearrange, reduce
a = rearrange(np.zeros((2, 3, 5), dtype=np.float32), "a b c -> c (a b)")
b = reduce(np.zeros((2, 3)), "a b -> a", "max")

# == layers
import torch
from torch import nn
from einops.layers.torch import Rearrange, Reduce
net = nn.Sequential(Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2), nn.Linear(12, 5))
a = net(torch.zeros(3, 3, 4, 6))
b = Reduce("b n d -> b d", "mean")(a)
