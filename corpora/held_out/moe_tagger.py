# Sparsely gated mixture-of-experts for sequence tagging.
# noisy top-k gating + load balancing loss + capacity dropping (Switch style)
import logging
from collections import Counter, defaultdict
from dataclasses import dataclass, field, asdict
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
log = logging.getLogger("moe")

PAD = 0
IGNORE = -100


@dataclass
class MoEConfig:
    vocab: int = 61
    n_tags: int = 7
    dim: int = 28
    expert_hidden: int = 45
    n_experts: int = 6
    top_k: int = 2
    capacity_factor: float = 1.3
    depth: int = 2
    aux_weight: float = 0.02
    z_weight: float = 1e-3
    lr: float = 4e-3
    epochs: int = 3
    batch_size: int = 10
    lengths: List[int] = field(default_factory=lambda: [6, 19])


class TagDataset(Dataset):
    """tag depends on the token class and on the class of the token before it"""

    def __init__(self, cfg, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        lo, hi = cfg.lengths
        self.items = []
        for _ in range(n):
            length = int(torch.randint(lo, hi, (1,), generator=g))
            toks = torch.randint(1, cfg.vocab, (length,), generator=g)
            prev = torch.cat([toks.new_zeros(1), toks[:-1]])
            tags = ((toks % 5) + (prev % 3)) % cfg.n_tags
            self.items.append((toks, tags))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        return self.items[idx]


def collate(batch):
    batch = sorted(batch, key=lambda b: -len(b[0]))
    lens = torch.tensor([len(b[0]) for b in batch])
    x = torch.full((len(batch), int(lens[0])), PAD)
    y = torch.full_like(x, IGNORE)
    for row, (toks, tags) in enumerate(batch):
        x[row, :len(toks)] = toks
        y[row, :len(tags)] = tags
    return x, y, lens


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up = nn.Linear(dim, hidden * 2)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        a, b = self.up(x).chunk(2, dim=-1)
        return self.down(F.silu(a) * b)


class NoisyTopKRouter(nn.Module):
    def __init__(self, dim, n_experts, k):
        super().__init__()
        self.k = k
        self.n_experts = n_experts
        self.w_gate = nn.Linear(dim, n_experts, bias=False)
        self.w_noise = nn.Linear(dim, n_experts, bias=False)
        nn.init.zeros_(self.w_noise.weight)

    def forward(self, x):
        logits = self.w_gate(x)
        clean = logits
        if self.training:
            std = F.softplus(self.w_noise(x)) + 1e-2
            logits = logits + torch.randn_like(logits) * std
        top_val, top_idx = logits.topk(self.k, dim=-1)
        gates = torch.zeros_like(logits).scatter(-1, top_idx, top_val.softmax(-1))
        probs = clean.softmax(-1)
        importance = probs.mean(0)
        load = (gates > 0).float().mean(0)
        aux = self.n_experts * (importance * load).sum() / self.k
        z = torch.logsumexp(clean, dim=-1).pow(2).mean()
        return gates, aux, z


class MoELayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.router = NoisyTopKRouter(cfg.dim, cfg.n_experts, cfg.top_k)
        self.experts = nn.ModuleList([Expert(cfg.dim, cfg.expert_hidden) for _ in range(cfg.n_experts)])
        self.register_buffer("usage", torch.zeros(cfg.n_experts), persistent=False)
        self.losses = {}

    def forward(self, x, mask):
        shape = x.shape
        flat = x.reshape(-1, shape[-1])
        keep = mask.reshape(-1).nonzero(as_tuple=True)[0]
        tokens = flat.index_select(0, keep)
        gates, aux, z = self.router(tokens)
        self.losses = {"aux": aux, "z": z}

        capacity = int(self.cfg.capacity_factor * self.cfg.top_k * tokens.size(0) / self.cfg.n_experts) + 1
        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            idx = torch.where(gates[:, e] > 0)[0]
            if self.training and idx.numel() > capacity:
                best = gates[idx, e].argsort(descending=True)[:capacity]
                idx = idx[best]
            if idx.numel() == 0:
                continue
            out.index_add_(0, idx, expert(tokens[idx]) * gates[idx, e].unsqueeze(1))
            self.usage[e] += idx.numel()
        full = torch.zeros_like(flat)
        full[keep] = out
        return full.view(shape)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm1 = nn.LayerNorm(cfg.dim)
        self.mix = nn.Conv1d(cfg.dim, cfg.dim, kernel_size=3, groups=4)
        self.norm2 = nn.LayerNorm(cfg.dim)
        self.moe = MoELayer(cfg)

    def forward(self, x, mask):
        h = self.norm1(x) * mask.unsqueeze(-1)
        h = F.pad(h.transpose(1, 2), (2, 0))          # causal
        x = x + self.mix(h).transpose(1, 2)
        return x + self.moe(self.norm2(x), mask)


class MoETagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim, padding_idx=PAD)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.depth))
        self.head = nn.Sequential(nn.LayerNorm(cfg.dim), nn.Linear(cfg.dim, cfg.n_tags))

    def forward(self, x):
        mask = x.ne(PAD)
        h = self.embed(x)
        for b in self.blocks:
            h = b(h, mask)
        return self.head(h)

    def router_losses(self):
        total = defaultdict(float)
        for b in self.blocks:
            for name, value in b.moe.losses.items():
                total[name] = total[name] + value / len(self.blocks)
        return total


@torch.no_grad()
def accuracy(model, loader):
    was = model.training
    model.eval()
    right = seen = 0
    confusions = Counter()
    for x, y, _ in loader:
        pred = model(x).argmax(-1)
        valid = y != IGNORE
        right += (pred[valid] == y[valid]).sum().item()
        seen += valid.sum().item()
        wrong = valid & (pred != y)
        confusions.update(zip(y[wrong].tolist(), pred[wrong].tolist()))
    model.train(was)
    return right / max(seen, 1), confusions.most_common(2)


def main():
    torch.manual_seed(7)
    cfg = MoEConfig()
    log.info("config %s", asdict(cfg))
    train = DataLoader(TagDataset(cfg, 150, seed=1), cfg.batch_size, shuffle=True, collate_fn=collate)
    test = DataLoader(TagDataset(cfg, 57, seed=2), 13, collate_fn=collate)
    model = MoETagger(cfg)
    optim = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(optim, max_lr=cfg.lr, total_steps=cfg.epochs * len(train))
    for epoch in range(cfg.epochs):
        running = 0.0
        for x, y, lens in train:
            logits = model(x)
            task = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=IGNORE, label_smoothing=0.05)
            extra = model.router_losses()
            loss = task + cfg.aux_weight * extra["aux"] + cfg.z_weight * extra["z"]
            optim.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
            sched.step()
            running += task.item()
        acc, worst = accuracy(model, test)
        log.info("epoch %d loss %.3f aux %.3f acc %.3f worst %s", epoch, running / len(train),
                 extra["aux"].item(), acc, worst)
    for i, b in enumerate(model.blocks):
        share = b.moe.usage / b.moe.usage.sum()
        log.info("layer %d expert usage: %s", i, " ".join("%.2f" % s for s in share))


if __name__ == "__main__":
    main()
