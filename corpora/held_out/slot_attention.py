"""Object-centric learning with Slot Attention (spatial broadcast decoder, ARI metric)."""
from itertools import permutations
from math import comb
import functools
import operator

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import Adam

resolution = (18, 22)
num_slots = 4
num_iterations = 3
hid_dim = 16
slot_dim = 24
batch_size = 6
warmup_steps, decay_rate, decay_steps = 8, 0.5, 40
learning_rate = 4e-3
train_steps = 26


def make_scene(rng):
    h, w = resolution
    image = np.full((h, w, 3), 0.1) + rng.normal(0, 0.01, (h, w, 3))
    mask = np.zeros((h, w), dtype=np.int64)
    palette = np.array([[.9, .2, .2], [.2, .9, .2], [.2, .3, .95], [.9, .9, .2], [.8, .2, .9]])
    n_obj = rng.integers(1, num_slots)
    for k, color in enumerate(rng.permutation(palette)[:n_obj], 1):
        y, x = rng.integers(2, h - 5), rng.integers(2, w - 5)
        s = rng.integers(3, 6)
        yy, xx = np.ogrid[:h, :w]
        kind = rng.integers(3)
        if kind == 0:
            m = (abs(yy - y) < s) & (abs(xx - x) < s)
        elif kind == 1:
            m = (yy - y) ** 2 + (xx - x) ** 2 < s * s
        else:
            m = (yy >= y) & (yy - y < s) & (abs(xx - x) <= yy - y)
        image[m], mask[m] = color, k
    return image.astype(np.float32), mask


def scene_generator(n, bs, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        images, masks = map(np.stack, zip(*[make_scene(rng) for _ in range(bs)]))
        yield torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(masks)


class SlotAttention(nn.Module):
    def __init__(self, num_slots, in_dim, dim, iters=3, eps=1e-8, hidden_dim=32):
        super().__init__()
        self.num_slots = num_slots
        self.iters = iters
        self.eps = eps
        self.scale = dim ** -0.5

        self.slots_mu = nn.Parameter(torch.randn(1, 1, dim))
        self.slots_log_sigma = nn.Parameter(torch.rand(1, 1, dim) * 0.1)

        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(in_dim, dim, bias=False)
        self.to_v = nn.Linear(in_dim, dim, bias=False)

        self.gru = nn.GRUCell(dim, dim)
        hidden_dim = max(dim, hidden_dim)
        self.fc1 = nn.Linear(dim, hidden_dim)
        self.fc2 = nn.Linear(hidden_dim, dim)

        self.norm_input = nn.LayerNorm(in_dim)
        self.norm_slots = nn.LayerNorm(dim)
        self.norm_pre_ff = nn.LayerNorm(dim)

    def step(self, slots, k, v):
        b, n, d = slots.shape
        slots_prev = slots
        q = self.to_q(self.norm_slots(slots))
        dots = torch.einsum('bid,bjd->bij', q, k) * self.scale
        attn_vis = dots.softmax(dim=1)
        attn = attn_vis + self.eps
        attn = attn / attn.sum(dim=-1, keepdim=True)
        updates = torch.einsum('bjd,bij->bid', v, attn)
        slots = self.gru(updates.reshape(-1, d), slots_prev.reshape(-1, d)).reshape(b, -1, d)
        return slots + self.fc2(F.relu(self.fc1(self.norm_pre_ff(slots)))), attn_vis

    def forward(self, inputs, num_slots=None):
        b = inputs.shape[0]
        n_s = num_slots if num_slots is not None else self.num_slots
        mu = self.slots_mu.expand(b, n_s, -1)
        sigma = self.slots_log_sigma.exp().expand(b, n_s, -1)
        slots = torch.normal(mu, sigma) if not self.training else mu + sigma * torch.randn_like(mu)
        inputs = self.norm_input(inputs)
        k, v = self.to_k(inputs), self.to_v(inputs)
        attns = []
        for it in range(self.iters):
            if it == self.iters - 1:
                slots = slots.detach() + mu - mu.detach()       # implicit / truncated gradient
            slots, attn = self.step(slots, k, v)
            attns.append(attn)
        return slots, attns


def build_grid(resolution):
    ranges = [np.linspace(0., 1., num=res) for res in resolution]
    grid = np.meshgrid(*ranges, sparse=False, indexing="ij")
    grid = np.stack(grid, axis=-1)
    grid = np.reshape(grid, [resolution[0], resolution[1], -1])
    grid = np.expand_dims(grid, axis=0).astype(np.float32)
    return torch.from_numpy(np.concatenate([grid, 1.0 - grid], axis=-1))


class SoftPositionEmbed(nn.Module):
    def __init__(self, hidden_size, resolution):
        super().__init__()
        self.embedding = nn.Linear(4, hidden_size, bias=True)
        self.register_buffer("grid", build_grid(resolution), persistent=False)

    def forward(self, inputs):
        return inputs + self.embedding(self.grid)


class Encoder(nn.Module):
    def __init__(self, resolution, hid_dim):
        super().__init__()
        for i in range(1, 4):
            setattr(self, f"conv{i}", nn.Conv2d(3 if i == 1 else hid_dim, hid_dim, 5, padding=2))
        self.encoder_pos = SoftPositionEmbed(hid_dim, resolution)

    def forward(self, x):
        for i in range(1, 4):
            x = F.relu(getattr(self, f"conv{i}")(x))
        x = x.permute(0, 2, 3, 1)
        x = self.encoder_pos(x)
        return torch.flatten(x, 1, 2)


class Decoder(nn.Module):
    def __init__(self, hid_dim, slot_dim, resolution):
        super().__init__()
        self.init_size = tuple((r + 1) // 2 for r in resolution)
        self.resolution = resolution
        self.decoder_pos = SoftPositionEmbed(slot_dim, self.init_size)
        self.conv1 = nn.ConvTranspose2d(slot_dim, hid_dim, 5, stride=(2, 2), padding=2, output_padding=1)
        self.conv2 = nn.ConvTranspose2d(hid_dim, hid_dim, 3, stride=(1, 1), padding=1)
        self.conv3 = nn.ConvTranspose2d(hid_dim, 4, 3, stride=(1, 1), padding=1)

    def forward(self, x):
        x = self.decoder_pos(x).permute(0, 3, 1, 2)
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = self.conv3(x)
        x = x[:, :, :self.resolution[0], :self.resolution[1]]
        return x.permute(0, 2, 3, 1)


class SlotAttentionAutoEncoder(nn.Module):
    def __init__(self, resolution, num_slots, num_iterations, hid_dim, slot_dim):
        super().__init__()
        self.hid_dim, self.resolution, self.num_slots = hid_dim, resolution, num_slots
        self.encoder_cnn = Encoder(resolution, hid_dim)
        self.decoder_cnn = Decoder(hid_dim, slot_dim, resolution)
        self.norm = nn.LayerNorm(hid_dim)
        self.mlp = nn.Sequential(nn.Linear(hid_dim, hid_dim + 3), nn.ReLU(), nn.Linear(hid_dim + 3, hid_dim))
        self.slot_attention = SlotAttention(num_slots, hid_dim, slot_dim, iters=num_iterations, hidden_dim=30)

    def forward(self, image, n=None):
        x = self.mlp(self.norm(self.encoder_cnn(image)))
        slots, attns = self.slot_attention(x, n)
        b = image.shape[0]
        flat = slots.reshape((-1, slots.shape[-1])).unsqueeze(1).unsqueeze(2)
        flat = flat.repeat((1,) + self.decoder_cnn.init_size + (1,))
        x = self.decoder_cnn(flat)
        recons, masks = x.reshape(b, -1, *x.shape[1:]).split([3, 1], dim=-1)
        masks = nn.Softmax(dim=1)(masks)
        recon_combined = torch.sum(recons * masks, dim=1).permute(0, 3, 1, 2)
        return recon_combined, recons, masks, slots, attns


def adjusted_rand_index(true, pred):
    """foreground ARI for one image, 1-D integer arrays"""
    fg = true > 0
    true, pred = true[fg], pred[fg]
    if len(true) < 2:
        return 1.0
    table = np.zeros((true.max() + 1, pred.max() + 1), dtype=np.int64)
    np.add.at(table, (true, pred), 1)
    c2 = np.vectorize(lambda v: comb(int(v), 2))
    index, a, b = c2(table).sum(), c2(table.sum(1)).sum(), c2(table.sum(0)).sum()
    expected = a * b / comb(len(true), 2)
    top = (a + b) / 2
    return 1.0 if top == expected else float((index - expected) / (top - expected))


def best_iou(true, pred, k):
    """mean IoU with exhaustive matching of the ground truth objects to slots"""
    objs = [o for o in range(1, true.max() + 1) if (true == o).any()]
    iou = np.array([[np.logical_and(true == o, pred == s).sum() / max(np.logical_or(true == o, pred == s).sum(), 1)
                     for s in range(k)] for o in objs])
    return max(np.mean([iou[r, c] for r, c in enumerate(p)]) for p in permutations(range(k), len(objs)))


def main():
    torch.manual_seed(0)
    model = SlotAttentionAutoEncoder(resolution, num_slots, num_iterations, hid_dim, slot_dim)
    n_params = sum(functools.reduce(operator.mul, p.shape, 1) for p in model.parameters())
    print('parameters:', n_params)
    criterion = nn.MSELoss()
    optimizer = Adam([{'params': model.parameters()}], lr=learning_rate)
    i = total_loss = 0
    for image, _ in scene_generator(train_steps, batch_size, 1):
        i += 1
        lr = learning_rate * (i / warmup_steps) if i < warmup_steps else learning_rate
        lr = lr * (decay_rate ** (i / decay_steps))
        optimizer.param_groups[0]['lr'] = lr
        recon_combined, recons, masks, slots, attns = model(image)
        loss = criterion(recon_combined, image)
        total_loss += loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del recons, masks, slots
        if i % 13 == 0:
            ent = -(attns[-1] * (attns[-1] + 1e-9).log()).sum(1).mean().item()
            print("step {}, Loss: {:.5f}, attn entropy {:.3f}, lr {:.5f}".format(i, total_loss / 13, ent, lr))
            total_loss = 0
    model.eval()
    for slots_at_test in (num_slots, num_slots + 2):
        aris, ious = [], []
        with torch.no_grad():
            for image, gt in scene_generator(2, 5, 99):
                masks = model(image, slots_at_test)[2]
                seg = masks.squeeze(-1).argmax(1).numpy()
                for t, p in zip(gt.numpy(), seg):
                    aris.append(adjusted_rand_index(t.ravel(), p.ravel()))
                    ious.append(best_iou(t.ravel(), p.ravel(), slots_at_test))
        print("slots %d: FG-ARI %.3f, mIoU %.3f" % (slots_at_test, np.mean(aris), np.mean(ious)))


if __name__ == '__main__':
    main()
