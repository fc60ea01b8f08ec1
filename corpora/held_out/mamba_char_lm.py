"""
Minimal Mamba in one file of PyTorch. Character level LM on a toy text.

Simple, no CUDA kernel, a python loop for the selective scan. Official implementation is in C++/CUDA,
this one just wants to be readable.
"""
from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, asdict
from typing import Union, Optional, Tuple, List

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, repeat, einsum

TEXT = """
It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of
foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light,
it was the season of Darkness, it was the spring of hope, it was the winter of despair, we had
everything before us, we had nothing before us, we were all going direct to Heaven, we were all going
direct the other way - in short, the period was so far like the present period, that some of its
noisiest authorities insisted on its being received, for good or for evil, in the superlative degree
of comparison only.
"""


@dataclass
class ModelArgs:
    d_model: int
    n_layer: int
    vocab_size: int
    d_state: int = 8
    expand: int = 2
    dt_rank: Union[int, str] = 'auto'
    d_conv: int = 4
    pad_vocab_size_multiple: int = 8
    conv_bias: bool = True
    bias: bool = False
    dropout: float = 0.0

    def __post_init__(self):
        self.d_inner = int(self.expand * self.d_model)

        if self.dt_rank == 'auto':
            self.dt_rank = math.ceil(self.d_model / 16)

        if self.vocab_size % self.pad_vocab_size_multiple != 0:
            self.vocab_size += (self.pad_vocab_size_multiple
                                - self.vocab_size % self.pad_vocab_size_multiple)


class CharTokenizer:
    def __init__(self, text):
        chars = sorted(set(text))
        self.stoi = {c: i for i, c in enumerate(chars)}
        self.itos = {i: c for c, i in self.stoi.items()}

    def __len__(self):
        return len(self.stoi)

    def encode(self, s: str) -> List[int]:
        return [self.stoi[c] for c in s]

    def decode(self, ids) -> str:
        # padded vocab entries decode to '?'
        return ''.join(self.itos.get(int(i), '?') for i in ids)


class Mamba(nn.Module):
    def __init__(self, args: ModelArgs):
        """Full Mamba model."""
        super().__init__()
        self.args = args

        self.embedding = nn.Embedding(args.vocab_size, args.d_model)
        self.layers = nn.ModuleList([ResidualBlock(args) for _ in range(args.n_layer)])
        self.norm_f = RMSNorm(args.d_model)

        self.lm_head = nn.Linear(args.d_model, args.vocab_size, bias=False)
        self.lm_head.weight = self.embedding.weight  # Tie output projection to embedding weights.

    def forward(self, input_ids, targets=None):
        x = self.embedding(input_ids)
        for layer in self.layers:
            x = layer(x)
        x = self.norm_f(x)

        logits = self.lm_head(x)
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

    def step(self, token, caches):
        """One decoding step. token is a vector of ids, caches one (conv, ssm) pair per layer."""
        x = self.embedding(token)
        for i, layer in enumerate(self.layers):
            x, caches[i] = layer.step(x, caches[i])
        x = self.norm_f(x)
        return self.lm_head(x), caches

    def empty_caches(self, batch):
        a = self.args
        p = self.embedding.weight
        return [
            (p.new_zeros(batch, a.d_inner, a.d_conv), p.new_zeros(batch, a.d_inner, a.d_state))
            for _ in range(a.n_layer)
        ]

    @torch.no_grad()
    def generate(self, idx, max_new_tokens, temperature=1.0, top_k: Optional[int] = None):
        caches = self.empty_caches(idx.shape[0])
        # prefill one token at a time, it's tiny anyway
        for t in range(idx.shape[1]):
            logits, caches = self.step(idx[:, t], caches)

        for _ in range(max_new_tokens):
            logits = logits / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float('Inf')
            probs = F.softmax(logits, dim=-1)
            nxt = torch.multinomial(probs, num_samples=1)
            idx = torch.cat((idx, nxt), dim=1)
            logits, caches = self.step(nxt.squeeze(1), caches)
        return idx


class ResidualBlock(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args
        self.mixer = MambaBlock(args)
        self.norm = RMSNorm(args.d_model)
        self.drop = nn.Dropout(args.dropout) if args.dropout > 0 else nn.Identity()

    def forward(self, x):
        return self.drop(self.mixer(self.norm(x))) + x

    def step(self, x, cache):
        out, cache = self.mixer.step(self.norm(x), cache)
        return out + x, cache


class MambaBlock(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args

        self.in_proj = nn.Linear(args.d_model, args.d_inner * 2, bias=args.bias)

        self.conv1d = nn.Conv1d(
            in_channels=args.d_inner,
            out_channels=args.d_inner,
            bias=args.conv_bias,
            kernel_size=args.d_conv,
            groups=args.d_inner,
            padding=args.d_conv - 1,
        )

        # x_proj takes in `x` and outputs the input-specific Δ, B, C
        self.x_proj = nn.Linear(args.d_inner, args.dt_rank + args.d_state * 2, bias=False)

        # dt_proj projects Δ from dt_rank to d_in
        self.dt_proj = nn.Linear(args.dt_rank, args.d_inner, bias=True)

        A = repeat(torch.arange(1, args.d_state + 1), 'n -> d n', d=args.d_inner)
        self.A_log = nn.Parameter(torch.log(A.float()))
        self.D = nn.Parameter(torch.ones(args.d_inner))
        self.out_proj = nn.Linear(args.d_inner, args.d_model, bias=args.bias)

    def forward(self, x):
        (b, l, d) = x.shape

        x_and_res = self.in_proj(x)
        (x, res) = x_and_res.split(split_size=[self.args.d_inner, self.args.d_inner], dim=-1)

        x = rearrange(x, 'b l d_in -> b d_in l')
        x = self.conv1d(x)[:, :, :l]
        x = rearrange(x, 'b d_in l -> b l d_in')

        x = F.silu(x)
        y = self.ssm(x)
        y = y * F.silu(res)

        return self.out_proj(y)

    def ssm(self, x):
        (d_in, n) = self.A_log.shape

        A = -torch.exp(self.A_log.float())
        D = self.D.float()

        x_dbl = self.x_proj(x)
        (delta, B, C) = x_dbl.split(split_size=[self.args.dt_rank, n, n], dim=-1)
        delta = F.softplus(self.dt_proj(delta))

        return self.selective_scan(x, delta, A, B, C, D)

    def selective_scan(self, u, delta, A, B, C, D):
        (b, l, d_in) = u.shape
        n = A.shape[1]

        # Discretize continuous parameters (A, B)
        # - A is discretized using zero-order hold (ZOH) discretization
        # - B is discretized using a simplified Euler discretization instead of ZOH.
        deltaA = torch.exp(einsum(delta, A, 'b l d_in, d_in n -> b l d_in n'))
        deltaB_u = einsum(delta, B, u, 'b l d_in, b l n, b l d_in -> b l d_in n')

        x = torch.zeros((b, d_in, n), device=deltaA.device)
        ys = []
        for i in range(l):
            x = deltaA[:, i] * x + deltaB_u[:, i]
            y = einsum(x, C[:, i, :], 'b d_in n, b n -> b d_in')
            ys.append(y)
        y = torch.stack(ys, dim=1)

        y = y + u * D
        return y

    def step(self, x, cache: Tuple[torch.Tensor, torch.Tensor]):
        conv_state, ssm_state = cache
        x, res = self.in_proj(x).chunk(2, dim=-1)

        conv_state = torch.roll(conv_state, shifts=-1, dims=-1)
        conv_state[:, :, -1] = x
        x = torch.sum(conv_state * self.conv1d.weight.squeeze(1), dim=-1)
        if self.args.conv_bias:
            x = x + self.conv1d.bias
        x = F.silu(x)

        A = -torch.exp(self.A_log.float())
        delta, B, C = self.x_proj(x).split([self.args.dt_rank, self.args.d_state, self.args.d_state], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        dA = torch.exp(delta.unsqueeze(-1) * A)
        dB = delta.unsqueeze(-1) * B.unsqueeze(1)
        ssm_state = ssm_state * dA + dB * x.unsqueeze(-1)
        y = (ssm_state @ C.unsqueeze(-1)).squeeze(-1)
        y = y + self.D * x
        y = y * F.silu(res)
        return self.out_proj(y), (conv_state, ssm_state)


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def get_batch(data, batch_size, block_size):
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block_size] for i in ix])
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=4)
    parser.add_argument('--block_size', type=int, default=32)
    parser.add_argument('--n_layer', type=int, default=2)
    parser.add_argument('--d_model', type=int, default=48)
    parser.add_argument('--iters', type=int, default=3)
    parser.add_argument('--lr', type=float, default=3e-3)
    parser.add_argument('--check', action='store_true', default=True)
    opt = parser.parse_args()

    torch.manual_seed(1337)
    tok = CharTokenizer(TEXT)
    data = torch.tensor(tok.encode(TEXT), dtype=torch.long)
    n = int(0.9 * len(data))
    train_data, val_data = data[:n], data[n:]

    args = ModelArgs(d_model=opt.d_model, n_layer=opt.n_layer, vocab_size=len(tok))
    print(json.dumps(asdict(args)))
    model = Mamba(args)
    print(f'{sum(p.numel() for p in model.parameters())/1e3:.1f}k parameters')
    decay = [p for p in model.parameters() if p.dim() >= 2]
    no_decay = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{'params': decay, 'weight_decay': 0.1}, {'params': no_decay, 'weight_decay': 0.0}], lr=opt.lr)

    for it in range(opt.iters):
        xb, yb = get_batch(train_data, opt.batch_size, opt.block_size)
        logits, loss = model(xb, yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f'iter {it}: loss {loss.item():.4f} grad norm {norm:.3f}')

    model.eval()
    with torch.no_grad():
        xv, yv = get_batch(val_data, 2, opt.block_size)
        full, val_loss = model(xv, yv)
        print('val', val_loss.item(), 'ppl', math.exp(val_loss.item()))
        if opt.check:
            caches = model.empty_caches(xv.size(0))
            outs = []
            for t in range(xv.size(1)):
                o, caches = model.step(xv[:, t], caches)
                outs.append(o)
            stepwise = torch.stack(outs, 1)
            print('recurrent vs scan max err', (stepwise - full).abs().max().item())

    prompt = torch.tensor(tok.encode('it was the '), dtype=torch.long)[None]
    out = model.generate(prompt, 40, temperature=0.9, top_k=10)
    print(tok.decode(out[0].tolist()))


if __name__ == '__main__':
    main()
