# In[1]:
# Growing neural cellular automata (small), pool training, damage
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
np.random.seed(11)

# In[2]:
CHANNEL_N = 12
H, W = 18, 22
HIDDEN_N = 36
FIRE_RATE = 0.5
POOL_SIZE = 20
BATCH = 5
STEPS_LO, STEPS_HI = 7, 12
N_ITER = 28
LR = 2e-3
DAMAGE_N = 1
ALIVE_TH = 0.1

# In[3]:
# target: a small ring with two colours
yy, xx = torch.meshgrid(torch.linspace(-1, 1, H), torch.linspace(-1.2, 1.2, W), indexing='ij')
r = (yy ** 2 + xx ** 2).sqrt()
alpha = ((r < 0.75) & (r > 0.3)).float()
rgb = torch.stack([torch.where(xx > 0, torch.ones_like(xx), torch.zeros_like(xx)), 0.5 * (yy + 1), 1 - r.clamp(0, 1)])
target = torch.cat([rgb * alpha, alpha[None]], dim=0)
print(target.shape, alpha.sum())
pad_target = target.unsqueeze(0)

# In[4]:


def to_rgba(x):
    return x[:, :4]


def to_alpha(x):
    return x[:, 3:4].clamp(0.0, 1.0)


def to_rgb(x):
    rgb, a = x[:, :3], to_alpha(x)
    return 1.0 - a + rgb


def get_living_mask(x):
    return F.max_pool2d(x[:, 3:4], kernel_size=3, stride=1, padding=1) > ALIVE_TH


def make_seed(n=1):
    x = torch.zeros(n, CHANNEL_N, H, W)
    x[:, 3:, H // 2, W // 2] = 1.0
    return x


print(make_seed(2).shape, get_living_mask(make_seed()).sum())


class CAModel(nn.Module):
    def __init__(self):
        super().__init__()
        identify = np.outer([0, 1, 0], [0, 1, 0]).astype(np.float32)
        dx = np.outer([1, 2, 1], [-1, 0, 1]).astype(np.float32) / 8.0
        dy = dx.T
        lap = np.array([[1, 2, 1], [2, -12, 2], [1, 2, 1]], dtype=np.float32) / 16.0
        kernel = np.stack([identify, dx, dy, lap])
        self.n_filt = kernel.shape[0]
        kernel = torch.from_numpy(kernel).repeat(CHANNEL_N, 1, 1)[:, None]
        self.register_buffer('kernel', kernel)
        self.dmodel = nn.Sequential(
            nn.Conv2d(CHANNEL_N * self.n_filt, HIDDEN_N, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(HIDDEN_N, CHANNEL_N, 1, bias=False),
        )
        nn.init.zeros_(self.dmodel[-1].weight)

    def perceive(self, x, angle=0.0):
        return F.conv2d(x, self.kernel, padding=1, groups=CHANNEL_N)

    def forward(self, x, fire_rate=None, step_size=1.0):
        pre_life = get_living_mask(x)
        y = self.perceive(x)
        dx = self.dmodel(y) * step_size
        if fire_rate is None:
            fire_rate = FIRE_RATE
        update = (torch.rand(x.size(0), 1, x.size(2), x.size(3)) <= fire_rate).float()
        x = x + dx * update
        post_life = get_living_mask(x)
        life = (pre_life & post_life).float()
        return x * life


ca = CAModel()
print(ca.kernel.shape, ca.perceive(make_seed(3)).shape, ca(make_seed(3)).shape)
print('params', sum(p.numel() for p in ca.parameters()))

# In[5]:


class SamplePool:
    def __init__(self, **slots):
        self._slot_names = list(slots.keys())
        self._parent = None
        self._parent_idx = None
        for k, v in slots.items():
            setattr(self, k, v)
        self._size = slots[self._slot_names[0]].shape[0]

    def sample(self, n):
        idx = np.random.choice(self._size, n, replace=False)
        batch = SamplePool(**{k: getattr(self, k)[idx] for k in self._slot_names})
        batch._parent, batch._parent_idx = self, idx
        return batch

    def commit(self):
        for k in self._slot_names:
            getattr(self._parent, k)[self._parent_idx] = getattr(self, k)


def make_circle_masks(n, h, w):
    x = torch.linspace(-1.0, 1.0, w)[None, None, :]
    y = torch.linspace(-1.0, 1.0, h)[None, :, None]
    center = torch.rand(2, n, 1, 1) - 0.5
    r = torch.rand(n, 1, 1) * 0.3 + 0.1
    x, y = (x - center[0]) / r, (y - center[1]) / r
    return (x * x + y * y < 1.0).float()


def loss_f(x):
    return (to_rgba(x) - pad_target).pow(2).mean(dim=(-2, -1, -3))


masks = make_circle_masks(4, H, W)
print('masks', masks.shape, masks.sum(dim=(1, 2)))
print(loss_f(make_seed(6)).shape)

# In[6]:
pool = SamplePool(x=make_seed(POOL_SIZE).clone(), age=torch.zeros(POOL_SIZE, dtype=torch.long))
optimizer = torch.optim.Adam(ca.parameters(), lr=LR, betas=(0.9, 0.99))
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[20], gamma=0.3)
loss_log = []
for it in range(N_ITER):
    batch = pool.sample(BATCH)
    x0 = batch.x
    with torch.no_grad():
        rank = loss_f(x0).argsort(descending=True)
        x0 = x0[rank]
        batch.age = batch.age[rank]
        batch._parent_idx = batch._parent_idx[rank.numpy()]
        x0[:1] = make_seed(1)
        batch.age[0] = 0
        if DAMAGE_N:
            damage = 1.0 - make_circle_masks(DAMAGE_N, H, W)[:, None]
            x0[-DAMAGE_N:] *= damage
    x = x0
    n_steps = np.random.randint(STEPS_LO, STEPS_HI)
    overflow = 0.0
    for k in range(n_steps):
        x = ca(x)
        overflow = overflow + (x - x.clamp(-2.0, 2.0)).abs().mean()
    loss = loss_f(x).mean() + 0.1 * overflow / n_steps
    optimizer.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in ca.parameters():
            p.grad /= (p.grad.norm() + 1e-8)
    optimizer.step()
    scheduler.step()
    batch.x = x.detach()
    batch.age = batch.age + n_steps
    batch.commit()
    loss_log.append(loss.item())
    if it % 9 == 0:
        print(f'iter {it:3d} log10 loss {np.log10(loss.item()):.3f} steps {n_steps}')

# In[7]:
print('loss', np.mean(loss_log[:5]), '->', np.mean(loss_log[-5:]), 'mean age', pool.age.float().mean())

# In[8]:
# roll out, damage and recover
with torch.no_grad():
    x = make_seed(1)
    frames = []
    for t in range(24):
        x = ca(x)
        if t == 15:
            x[..., : W // 2] = 0
        frames.append(to_rgb(x)[0])
frames = torch.stack(frames)
print(frames.shape, frames.min().item(), frames.max().item())
alive = torch.stack([(f < 0.99).any(0).float().mean() for f in frames])
print('alive fraction', alive[::5])

# In[9]:
# rotate the perception field: apply a rotation with grid_sample and compare
theta = np.pi / 6
rot = torch.tensor([[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0]], dtype=torch.float32)
grid = F.affine_grid(rot[None], size=(1, 4, H, W), align_corners=False)
rotated = F.grid_sample(to_rgba(x), grid, mode='bilinear', padding_mode='zeros', align_corners=False)
print(grid.shape, rotated.shape)
spec = torch.fft.rfft2(rotated).abs().mean(1)
print('spectrum', spec.shape, spec.flatten(1).topk(3, dim=1).values)
mosaic = frames[::6].permute(2, 0, 3, 1).reshape(H, -1, 3)
print('mosaic', mosaic.shape)
