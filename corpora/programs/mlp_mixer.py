from functools import partial

import torch
from einops.layers.torch import Rearrange, Reduce
from torch import nn

pair = lambda x: x if isinstance(x, tuple) else (x, x)

class PreNormResidual(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.fn(self.norm(x)) + x

def FeedForward(dim, expansion_factor = 4, dropout = 0., dense = nn.Linear):
    inner_dim = int(dim * expansion_factor)
    return nn.Sequential(
        dense(dim, inner_dim),
        nn.GELU(),
        nn.Dropout(dropout),
        dense(inner_dim, dim),
        nn.Dropout(dropout)
    )

def MLPMixer(*, image_size, channels, patch_size, dim, depth, num_classes, expansion_factor = 4, expansion_factor_token = 0.5, dropout = 0.):
    image_h, image_w = pair(image_size)
    assert (image_h % patch_size) == 0 and (image_w % patch_size) == 0, 'image must be divisible by patch size'
    num_patches = (image_h // patch_size) * (image_w // patch_size)
    chan_first, chan_last = partial(nn.Conv1d, kernel_size = 1), nn.Linear

    return nn.Sequential(
        Rearrange('b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1 = patch_size, p2 = patch_size),
        nn.Linear((patch_size ** 2) * channels, dim),
        *[nn.Sequential(
            PreNormResidual(dim, FeedForward(num_patches, expansion_factor, dropout, chan_first)),
            PreNormResidual(dim, FeedForward(dim, expansion_factor_token, dropout, chan_last))
        ) for _ in range(depth)],
        nn.LayerNorm(dim),
        Reduce('b n c -> b c', 'mean'),
        nn.Linear(dim, num_classes)
    )

def cycle(dl):
    while True:
        yield from dl

def cutmix(images, labels, num_classes, alpha = 1.):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    perm = torch.randperm(images.shape[0])
    h, w = images.shape[-2:]
    ch, cw = int(h * (1 - lam) ** 0.5), int(w * (1 - lam) ** 0.5)
    y, x = torch.randint(0, h - ch + 1, ()).item(), torch.randint(0, w - cw + 1, ()).item()
    mixed = images.clone()
    mixed[:, :, y:y + ch, x:x + cw] = images[perm, :, y:y + ch, x:x + cw]
    onehot = nn.functional.one_hot(labels, num_classes).float()
    return mixed, lam * onehot + (1 - lam) * onehot[perm]

def main():
    torch.manual_seed(7)
    num_classes = 12
    model = MLPMixer(
        image_size = (24, 32),
        channels = 3,
        patch_size = 8,
        dim = 20,
        depth = 3,
        num_classes = num_classes
    )
    opt = torch.optim.Adam(model.parameters(), lr = 3e-4)
    ds = torch.utils.data.TensorDataset(torch.randn(14, 3, 24, 32), torch.randint(0, num_classes, (14,)))
    dl = cycle(torch.utils.data.DataLoader(ds, batch_size = 5, shuffle = True, drop_last = True))

    for i in range(4):
        images, labels = next(dl)
        images, soft = cutmix(images, labels, num_classes)
        logits = model(images)
        loss = -(soft * logits.log_softmax(dim = -1)).sum(dim = -1).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(f'{i}: {loss.item():.3f}')

    model.eval()
    with torch.no_grad():
        pred = model(torch.randn(1, 3, 24, 32)) # (1, 12)
        top = pred.topk(3).indices.squeeze(0).tolist()
        print(top)

if __name__ == '__main__':
    main()
