# %% [markdown]
# # Conditional WGAN-GP on 8x8 digits
# exported from colab

# %%
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.autograd as autograd
from torch.autograd import Variable
from torch.utils.data import TensorDataset, DataLoader
from sklearn.datasets import load_digits

torch.manual_seed(42)
np.random.seed(42)

# %%
# hyperparams
Z_DIM = 16
NGF = 16
NDF = 16
N_CLASSES = 10
EMB = 8
IMG = 16
CH = 1
BATCH = 12
CRITIC_ITERS = 2
LAMBDA_GP = 10
N_STEPS = 3
device = 'cuda' if torch.cuda.is_available() else 'cpu'
USE_SPECTRAL = False
MODE = 'projection'   # 'concat' or 'projection'

# %%
digits = load_digits()
print(digits.images.shape, digits.target[:10])
X = digits.images / 8.0 - 1.0          # [-1, 1]
X = np.pad(X, ((0, 0), (4, 4), (4, 4)), constant_values=-1.0)
X = torch.tensor(X, dtype=torch.float32)[:, None]
y = torch.LongTensor(digits.target)
print('X', X.shape, X.min().item(), X.max().item())
loader = DataLoader(TensorDataset(X, y), batch_size=BATCH, shuffle=True, drop_last=True)


# %%
class ConditionalBatchNorm2d(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.num_features = num_features
        self.bn = nn.BatchNorm2d(num_features, affine=False)
        self.embed = nn.Embedding(num_classes, num_features * 2)
        self.embed.weight.data[:, :num_features].normal_(1, 0.02)
        self.embed.weight.data[:, num_features:].zero_()

    def forward(self, x, y):
        out = self.bn(x)
        gamma, beta = self.embed(y).chunk(2, 1)
        out = gamma.view(-1, self.num_features, 1, 1) * out + beta.view(-1, self.num_features, 1, 1)
        return out


class GenBlock(nn.Module):
    def __init__(self, in_ch, out_ch, upsample=True):
        super().__init__()
        self.upsample = upsample
        self.cbn1 = ConditionalBatchNorm2d(in_ch, N_CLASSES)
        self.cbn2 = ConditionalBatchNorm2d(out_ch, N_CLASSES)
        self.c1 = nn.Conv2d(in_ch, out_ch, 3, 1, 1)
        self.c2 = nn.Conv2d(out_ch, out_ch, 3, 1, 1)
        self.sc = nn.Conv2d(in_ch, out_ch, 1, 1, 0) if in_ch != out_ch or upsample else None

    def shortcut(self, x):
        if self.upsample:
            x = F.interpolate(x, scale_factor=2)
        if self.sc is not None:
            x = self.sc(x)
        return x

    def forward(self, x, y):
        h = F.relu(self.cbn1(x, y))
        if self.upsample:
            h = F.interpolate(h, scale_factor=2)
        h = self.c1(h)
        h = F.relu(self.cbn2(h, y))
        return self.c2(h) + self.shortcut(x)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(Z_DIM, NGF * 4 * 4 * 4)
        self.b1 = GenBlock(NGF * 4, NGF * 2)
        self.b2 = GenBlock(NGF * 2, NGF)
        self.bn = nn.BatchNorm2d(NGF)
        self.out = nn.Conv2d(NGF, CH, 3, padding=1)

    def forward(self, z, y):
        h = self.l1(z).view(-1, NGF * 4, 4, 4)
        h = self.b1(h, y)
        h = self.b2(h, y)
        return torch.tanh(self.out(F.relu(self.bn(h))))


def sn(m):
    return nn.utils.spectral_norm(m) if USE_SPECTRAL else m


class DiscBlock(nn.Module):
    def __init__(self, in_ch, out_ch, down=True, first=False):
        super().__init__()
        self.first = first
        self.c1 = sn(nn.Conv2d(in_ch, out_ch, 3, 1, 1))
        self.c2 = sn(nn.Conv2d(out_ch, out_ch, 3, 1, 1))
        self.sc = sn(nn.Conv2d(in_ch, out_ch, 1))
        self.pool = nn.AvgPool2d(2) if down else nn.Identity()

    def forward(self, x):
        h = x if self.first else F.leaky_relu(x, 0.2)
        h = self.c2(F.leaky_relu(self.c1(h), 0.2))
        return self.pool(h) + self.pool(self.sc(x))


class Critic(nn.Module):
    def __init__(self, mode='projection'):
        super().__init__()
        self.mode = mode
        c_in = CH + (EMB if mode == 'concat' else 0)
        self.net = nn.Sequential(
            DiscBlock(c_in, NDF, first=True),
            DiscBlock(NDF, NDF * 2),
            DiscBlock(NDF * 2, NDF * 4, down=False),
            nn.LeakyReLU(0.2),
        )
        self.fc = sn(nn.Linear(NDF * 4, 1))
        if mode == 'projection':
            self.proj = nn.Embedding(N_CLASSES, NDF * 4)
        else:
            self.lab = nn.Embedding(N_CLASSES, EMB)

    def forward(self, x, y):
        if self.mode == 'concat':
            e = self.lab(y)[:, :, None, None].expand(-1, -1, x.size(2), x.size(3))
            x = torch.cat((x, e), 1)
        h = self.net(x).sum(dim=(2, 3))
        out = self.fc(h)
        if self.mode == 'projection':
            out = out + (self.proj(y) * h).sum(1, keepdim=True)
        return out.squeeze(1)


# %%
def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1 and hasattr(m, 'weight'):
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find('BatchNorm2d') != -1 and getattr(m, 'weight', None) is not None:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


G = Generator().to(device)
D = Critic(MODE).to(device)
G.apply(weights_init)
D.apply(weights_init)
print(sum(p.numel() for p in G.parameters()), sum(p.numel() for p in D.parameters()))

# sanity check
with torch.no_grad():
    _z = torch.randn(3, Z_DIM, device=device)
    _y = torch.tensor([0, 1, 2], device=device)
    _f = G(_z, _y)
    print('fake', _f.shape, 'score', D(_f, _y).shape)


# %%
def compute_gradient_penalty(D, real_samples, fake_samples, labels):
    """Calculates the gradient penalty loss for WGAN GP"""
    # Random weight term for interpolation between real and fake samples
    alpha = torch.rand(real_samples.size(0), 1, 1, 1, device=device)
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates, labels)
    fake = Variable(torch.ones(real_samples.shape[0]).to(device), requires_grad=False)
    # Get gradient w.r.t. interpolates
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    gradient_penalty = ((gradients.norm(2, dim=1) - 1) ** 2).mean()
    return gradient_penalty


def infinite(dl):
    while True:
        for batch in dl:
            yield batch


# %%
opt_G = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.0, 0.9))
opt_D = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.0, 0.9))
fixed_z = torch.randn(N_CLASSES * 4, Z_DIM, device=device)
fixed_y = torch.arange(N_CLASSES, device=device).repeat_interleave(4)
ema = {k: v.clone() for k, v in G.state_dict().items()}
hist = {'d': [], 'g': [], 'gp': [], 'w': []}
data_iter = infinite(loader)

for step in range(N_STEPS):
    # ---- train critic
    for p in D.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real, lab = next(data_iter)
        real, lab = real.to(device), lab.to(device)
        z = torch.randn(real.size(0), Z_DIM, device=device)
        fake = G(z, lab).detach()
        d_real = D(real, lab)
        d_fake = D(fake, lab)
        gp = compute_gradient_penalty(D, real, fake, lab)
        w_dist = d_real.mean() - d_fake.mean()
        d_loss = -w_dist + LAMBDA_GP * gp
        opt_D.zero_grad()
        d_loss.backward()
        opt_D.step()

    # ---- train generator
    for p in D.parameters():
        p.requires_grad = False
    z = torch.randn(BATCH, Z_DIM, device=device)
    gen_lab = torch.randint(0, N_CLASSES, (BATCH,), device=device)
    g_loss = -D(G(z, gen_lab), gen_lab).mean()
    opt_G.zero_grad()
    g_loss.backward()
    opt_G.step()

    with torch.no_grad():
        for k, v in G.state_dict().items():
            if v.dtype.is_floating_point:
                ema[k].mul_(0.9).add_(v, alpha=0.1)
            else:
                ema[k].copy_(v)

    for k, v in zip(('d', 'g', 'gp', 'w'), (d_loss, g_loss, gp, w_dist)):
        hist[k].append(v.item())
    print('[%d/%d] D: %.4f G: %.4f GP: %.4f W: %.4f' % (step + 1, N_STEPS, d_loss, g_loss, gp, w_dist))

# %%
# sample grid with the averaged generator
G.load_state_dict(ema)
G.eval()
with torch.no_grad():
    samples = G(fixed_z, fixed_y).cpu()
grid = samples.view(N_CLASSES, 4, IMG, IMG).permute(0, 2, 1, 3).reshape(N_CLASSES * IMG, 4 * IMG)
grid = ((grid + 1) / 2 * 255).clamp(0, 255).to(torch.uint8).numpy()
print('grid', grid.shape, grid.dtype, grid.mean())

# slerp between two latents, label fixed
def slerp(a, b, t):
    omega = torch.acos((a / a.norm() * (b / b.norm())).sum().clamp(-1, 1))
    so = torch.sin(omega)
    return torch.sin((1.0 - t) * omega) / so * a + torch.sin(t * omega) / so * b

path = torch.stack([slerp(fixed_z[0], fixed_z[-1], t) for t in np.linspace(0, 1, 5).tolist()])
with torch.no_grad():
    walk = G(path, torch.full((len(path),), 3, dtype=torch.long, device=device))
diffs = (walk[1:] - walk[:-1]).flatten(1).norm(dim=1)
print('walk', walk.shape, diffs)

# per class mean pixel distance real vs fake
real_means = torch.stack([X[y == c].mean(0) for c in range(N_CLASSES)])
fake_means = samples.view(N_CLASSES, 4, CH, IMG, IMG).mean(1)
print('class dist', F.mse_loss(fake_means, real_means, reduction='none').mean((1, 2, 3)))
# import matplotlib.pyplot as plt
# plt.imshow(grid, cmap='gray'); plt.show()
