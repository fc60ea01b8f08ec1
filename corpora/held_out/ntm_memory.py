"""Neural Turing Machine (copy + associative recall) with an LSTM controller; plus a key-value memory network baseline."""
import random
from collections import OrderedDict, namedtuple

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

TASKS = {}
MODELS = {}


def register(table, name):
    def wrap(fn):
        table[name] = fn
        return fn
    return wrap


@register(TASKS, 'copy')
def copy_task(batch, width, lo, hi):
    n = random.randint(lo, hi)
    seq = torch.bernoulli(torch.full((n, batch, width), 0.5))
    inp = torch.zeros(n + 1, batch, width + 1)
    inp[:n, :, :width] = seq
    inp[n, :, width] = 1.0
    return inp, seq


@register(TASKS, 'recall')
def recall_task(batch, width, lo, hi, item_len=2):
    n = random.randint(lo, hi)
    items = torch.bernoulli(torch.full((n, item_len, batch, width), 0.5))
    T = (n + 1) * (item_len + 1)
    inp = torch.zeros(T, batch, width + 1)
    pos = 0
    q = random.randint(0, n - 2)
    for it in list(items) + [items[q]]:
        inp[pos, :, width] = 1.0
        inp[pos + 1:pos + 1 + item_len, :, :width] = it
        pos += item_len + 1
    return inp, items[q + 1]


HeadParams = namedtuple('HeadParams', 'k beta g s gamma')


class NTMMemory(nn.Module):
    def __init__(self, N, M):
        super().__init__()
        self.N, self.M = N, M
        self.register_buffer('mem_bias', torch.empty(N, M).uniform_(-1 / np.sqrt(N + M), 1 / np.sqrt(N + M)))

    def reset(self, batch_size):
        self.batch_size = batch_size
        self.memory = self.mem_bias.clone().repeat(batch_size, 1, 1)

    def size(self):
        return self.N, self.M

    def read(self, w):
        return torch.matmul(w.unsqueeze(1), self.memory).squeeze(1)

    def write(self, w, e, a):
        erase = torch.matmul(w.unsqueeze(-1), e.unsqueeze(1))
        add = torch.matmul(w.unsqueeze(-1), a.unsqueeze(1))
        self.memory = self.memory * (1 - erase) + add

    def address(self, p, w_prev):
        wc = F.softmax(p.beta * F.cosine_similarity(self.memory + 1e-16, (p.k + 1e-16).unsqueeze(1), dim=-1), dim=1)
        wg = p.g * wc + (1 - p.g) * w_prev
        rolled = torch.stack([torch.roll(wg, shifts=i, dims=1) for i in (-1, 0, 1)], dim=-1)
        ws = torch.einsum('bns,bs->bn', rolled, p.s)
        w = (ws + 1e-8) ** p.gamma
        return w / (w.sum(dim=1, keepdim=True) + 1e-16)


class Head(nn.Module):
    def __init__(self, memory, controller_size, extra=()):
        super().__init__()
        self.memory = memory
        N, M = memory.size()
        self.splits = [M, 1, 1, 3, 1] + list(extra)
        self.fc = nn.Linear(controller_size, sum(self.splits))
        nn.init.xavier_uniform_(self.fc.weight, gain=1.4)
        nn.init.normal_(self.fc.bias, std=0.01)

    def initial(self, batch):
        return torch.zeros(batch, self.memory.N)

    def parse(self, h):
        k, beta, g, s, gamma, *rest = torch.split(self.fc(h), self.splits, dim=1)
        return HeadParams(k, F.softplus(beta), torch.sigmoid(g), F.softmax(s, dim=1), 1 + F.softplus(gamma)), rest


class ReadHead(Head):
    is_read = True

    def forward(self, h, w_prev):
        p, _ = self.parse(h)
        w = self.memory.address(p, w_prev)
        return self.memory.read(w), w


class WriteHead(Head):
    is_read = False

    def __init__(self, memory, controller_size):
        super().__init__(memory, controller_size, extra=(memory.M, memory.M))

    def forward(self, h, w_prev):
        p, (e, a) = self.parse(h)
        w = self.memory.address(p, w_prev)
        self.memory.write(w, torch.sigmoid(e), a)
        return w


class LSTMController(nn.Module):
    def __init__(self, num_inputs, num_outputs, num_layers):
        super().__init__()
        self.lstm = nn.LSTM(input_size=num_inputs, hidden_size=num_outputs, num_layers=num_layers)
        self.h_bias = nn.Parameter(torch.randn(num_layers, 1, num_outputs) * 0.05)
        self.c_bias = nn.Parameter(torch.randn(num_layers, 1, num_outputs) * 0.05)

    def create_new_state(self, batch_size):
        return self.h_bias.repeat(1, batch_size, 1), self.c_bias.repeat(1, batch_size, 1)

    def forward(self, x, prev_state):
        outp, state = self.lstm(x.unsqueeze(0), prev_state)
        return outp.squeeze(0), state


@register(MODELS, 'ntm')
class NTM(nn.Module):
    def __init__(self, width, N=17, M=9, controller_size=31, controller_layers=1, heads=('w', 'r', 'r'), **unused):
        super().__init__()
        self.memory = NTMMemory(N, M)
        self.heads = nn.ModuleList([WriteHead(self.memory, controller_size) if h == 'w' else ReadHead(self.memory, controller_size)
                                    for h in heads])
        self.num_read = sum(h.is_read for h in self.heads)
        self.controller = LSTMController(width + 1 + M * self.num_read, controller_size, controller_layers)
        self.fc = nn.Linear(controller_size + self.num_read * M, width)
        self.init_r = [torch.randn(1, M) * 0.01 for _ in range(self.num_read)]
        self.width = width

    def init_sequence(self, batch):
        self.memory.reset(batch)
        self.state = ([r.repeat(batch, 1) for r in self.init_r], self.controller.create_new_state(batch),
                      [h.initial(batch) for h in self.heads])

    def step(self, x=None):
        reads, cstate, hstates = self.state
        if x is None:
            x = torch.zeros(self.memory.batch_size, self.width + 1)
        h, cstate = self.controller(torch.cat([x] + reads, dim=1), cstate)
        reads, new = [], []
        for head, prev in zip(self.heads, hstates):
            if head.is_read:
                r, w = head(h, prev)
                reads.append(r)
            else:
                w = head(h, prev)
            new.append(w)
        self.state = (reads, cstate, new)
        return self.fc(torch.cat([h] + reads, dim=1))

    def forward(self, inp, out_len):
        self.init_sequence(inp.size(1))
        for x in inp:
            self.step(x)
        outs, self.attention = [], []
        for _ in range(out_len):
            outs.append(self.step())
            self.attention.append(self.state[2][-1])
        return torch.stack(outs)


@register(MODELS, 'kvmem')
class MemoryNetwork(nn.Module):
    """end-to-end memory network over the input slots, layer-wise tied, one query per output step"""

    def __init__(self, width, dim=25, hops=3, max_len=24, activation='relu', **unused):
        super().__init__()
        self.A = nn.Sequential(OrderedDict(proj=nn.Linear(width + 1, dim), norm=nn.LayerNorm(dim)))
        self.C = nn.Linear(width + 1, dim)
        self.temporal = nn.Embedding(max_len, dim)
        self.query = nn.Embedding(max_len, dim)
        self.H = nn.Linear(dim, dim, bias=False)
        self.out = nn.Linear(dim, width)
        self.hops = hops
        self.act = getattr(F, activation)

    def forward(self, inp, out_len):
        T, B, _ = inp.shape
        pos = self.temporal(torch.arange(T - 1, -1, -1))[:, None]
        keys, vals = self.A(inp) + pos, self.C(inp)
        u = self.query.weight[:out_len, None].expand(-1, B, -1)
        for hop in range(self.hops):
            p = torch.einsum('obd,tbd->obt', u, keys).div(keys.size(-1) ** 0.5).softmax(-1)
            o = torch.einsum('obt,tbd->obd', p, vals)
            u = self.act(self.H(u) + o) if hop < self.hops - 1 else self.H(u) + o
        return self.out(u)


class Trainer:
    def __init__(self, model, task, lr=4e-3, clip=10.0, **task_kwargs):
        self.model, self.sample, self.task_kwargs, self.clip = model, TASKS[task], task_kwargs, clip
        self.opt = torch.optim.RMSprop(model.parameters(), lr=lr, momentum=0.9, alpha=0.95)

    def train(self, iters, log_every=8):
        hist = []
        for i in range(1, iters + 1):
            inp, tgt = self.sample(**self.task_kwargs)
            out = self.model(inp, tgt.size(0))
            loss = F.binary_cross_entropy_with_logits(out, tgt)
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(self.model.parameters(), self.clip)
            self.opt.step()
            bits = ((out > 0).float() - tgt).abs().sum((0, 2)).mean()
            hist.append((loss.item(), bits.item()))
            if i % log_every == 0:
                print(f'  [{type(self.model).__name__}] {i} loss/bits', np.mean(hist[-log_every:], axis=0).round(4))
        return hist

    @torch.no_grad()
    def evaluate(self, **override):
        self.model.eval()
        inp, tgt = self.sample(**{**self.task_kwargs, **override})
        out = self.model(inp, tgt.size(0))
        return {'bce': F.binary_cross_entropy_with_logits(out, tgt).item(), 'acc': ((out > 0) == tgt.bool()).float().mean().item(),
                'shape': tuple(out.shape)}


if __name__ == '__main__':
    torch.manual_seed(6), random.seed(6)
    for model_name, task, iters in [('ntm', 'copy', 16), ('ntm', 'recall', 8), ('kvmem', 'copy', 40)]:
        net = MODELS[model_name](width=5)
        print(model_name, task, sum(p.numel() for p in net.parameters()))
        tr = Trainer(net, task, batch=7, width=5, lo=2, hi=4)
        tr.train(iters)
        print('  eval', tr.evaluate(batch=3, lo=5, hi=6))
        if hasattr(net, 'attention'):
            att = torch.stack(net.attention)
            print('  read focus', att.shape, att.max(-1).values.mean().item())
