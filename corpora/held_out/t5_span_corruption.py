import sys
import math
import functools
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

config = dict(
    d_model=48,
    d_kv=12,
    d_ff=96,
    num_layers=2,
    num_heads=4,
    relative_attention_num_buckets=16,
    relative_attention_max_distance=32,
    dropout_rate=0.1,
    extra_ids=10,
    pad_token_id=0,
    eos_token_id=1,
    decoder_start_token_id=0,
)
train_args = SimpleNamespace(seq_len=40, batch_size=8, steps=3, lr=1e-2, noise_density=0.15,
                             mean_span=3.0, seed=5)

TEXT = ("It was the best of times, it was the worst of times, it was the age of wisdom, it was the "
        "age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the "
        "season of Light, it was the season of Darkness, it was the spring of hope, it was the winter "
        "of despair, we had everything before us, we had nothing before us, we were all going direct "
        "to Heaven, we were all going direct the other way. ")

# byte-like vocabulary: 0 pad, 1 eos, 2 unk, then characters, then sentinels at the end
chars = sorted(set(TEXT))
stoi = {c: i + 3 for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
config["vocab_size"] = 3 + len(chars) + config["extra_ids"]


def sentinel(k):
    return config["vocab_size"] - 1 - k


def random_spans_noise_mask(length, noise_density, mean_span, rng):
    """Like the one of the T5 code base: alternate non-noise and noise spans of random lengths."""
    num_noise = min(max(int(round(length * noise_density)), 1), length - 1)
    num_spans = max(int(round(num_noise / mean_span)), 1)
    num_clean = length - num_noise

    def segment(n_items, n_segments):
        first = np.arange(n_items - 1) < (n_segments - 1)
        rng.shuffle(first)
        first = np.pad(first, [[1, 0]])
        ids = np.cumsum(first)
        return np.bincount(ids, minlength=n_segments)

    noise = segment(num_noise, num_spans)
    clean = segment(num_clean, num_spans)
    interleaved = np.reshape(np.stack([clean, noise], axis=1), [num_spans * 2])
    starts = np.cumsum(interleaved)[:-1]
    indicator = np.zeros((length,), dtype=np.int64)
    indicator[starts] = 1
    return np.cumsum(indicator) % 2 == 1


def corrupt(ids, mask):
    inputs, targets = [], []
    k = -1
    prev = False
    for tok, noisy in zip(ids, mask):
        if noisy:
            if not prev:
                k += 1
                inputs.append(sentinel(k))
                targets.append(sentinel(k))
            targets.append(tok)
        else:
            inputs.append(tok)
        prev = noisy
    targets.append(sentinel(k + 1))
    return inputs + [config["eos_token_id"]], targets + [config["eos_token_id"]]


def batches(args):
    rng = np.random.default_rng(args.seed)
    data = np.array([stoi[c] for c in TEXT])
    while True:
        xs, ys = [], []
        for _ in range(args.batch_size):
            s = rng.integers(0, len(data) - args.seq_len)
            chunk = data[s:s + args.seq_len]
            m = random_spans_noise_mask(len(chunk), args.noise_density, args.mean_span, rng)
            x, y = corrupt(chunk.tolist(), m)
            xs.append(torch.tensor(x))
            ys.append(torch.tensor(y))
        yield (nn.utils.rnn.pad_sequence(xs, batch_first=True),
               nn.utils.rnn.pad_sequence(ys, batch_first=True, padding_value=-100))


class T5LayerNorm(nn.Module):
    """No bias and no subtraction of mean."""

    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states


class T5Attention(nn.Module):
    def __init__(self, cfg, is_decoder=False, has_relative_bias=False):
        super().__init__()
        self.cfg = cfg
        self.is_decoder = is_decoder
        self.n_heads = cfg.num_heads
        self.inner_dim = cfg.num_heads * cfg.d_kv
        self.q = nn.Linear(cfg.d_model, self.inner_dim, bias=False)
        self.k = nn.Linear(cfg.d_model, self.inner_dim, bias=False)
        self.v = nn.Linear(cfg.d_model, self.inner_dim, bias=False)
        self.o = nn.Linear(self.inner_dim, cfg.d_model, bias=False)
        if has_relative_bias:
            self.relative_attention_bias = nn.Embedding(cfg.relative_attention_num_buckets, self.n_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=32, max_distance=128):
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).long() * num_buckets
            relative_position = torch.abs(relative_position)
        else:
            relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        large = max_exact + (
            torch.log(relative_position.float() / max_exact)
            / math.log(max_distance / max_exact)
            * (num_buckets - max_exact)
        ).long()
        large = torch.min(large, torch.full_like(large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, large)
        return relative_buckets

    def compute_bias(self, query_length, key_length, device):
        context_position = torch.arange(query_length, device=device)[:, None]
        memory_position = torch.arange(key_length, device=device)[None, :]
        buckets = self._relative_position_bucket(
            memory_position - context_position,
            bidirectional=not self.is_decoder,
            num_buckets=self.cfg.relative_attention_num_buckets,
            max_distance=self.cfg.relative_attention_max_distance,
        )
        values = self.relative_attention_bias(buckets)
        return values.permute([2, 0, 1]).unsqueeze(0)

    def forward(self, x, kv=None, bias=None):
        b, q_len = x.shape[:2]
        kv = x if kv is None else kv

        def shape(states):
            return states.view(b, -1, self.n_heads, self.cfg.d_kv).transpose(1, 2)

        q, k, v = shape(self.q(x)), shape(self.k(kv)), shape(self.v(kv))
        scores = torch.matmul(q, k.transpose(3, 2))
        if bias is not None:
            scores += bias
        weights = F.dropout(F.softmax(scores.float(), dim=-1), self.cfg.dropout_rate, self.training)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous().view(b, q_len, self.inner_dim)
        return self.o(out)


class GatedFF(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.wi_0 = nn.Linear(cfg.d_model, cfg.d_ff, bias=False)
        self.wi_1 = nn.Linear(cfg.d_model, cfg.d_ff, bias=False)
        self.wo = nn.Linear(cfg.d_ff, cfg.d_model, bias=False)
        self.dropout = nn.Dropout(cfg.dropout_rate)

    def forward(self, x):
        return self.wo(self.dropout(F.gelu(self.wi_0(x), approximate="tanh") * self.wi_1(x)))


class Block(nn.Module):
    def __init__(self, cfg, is_decoder, first):
        super().__init__()
        self.self_attn = T5Attention(cfg, is_decoder, has_relative_bias=first)
        self.norms = nn.ModuleList([T5LayerNorm(cfg.d_model) for _ in range(3 if is_decoder else 2)])
        self.cross = T5Attention(cfg, is_decoder) if is_decoder else None
        self.ff = GatedFF(cfg)
        self.drop = nn.Dropout(cfg.dropout_rate)

    def forward(self, x, bias, memory=None, memory_bias=None):
        x = x + self.drop(self.self_attn(self.norms[0](x), bias=bias))
        if self.cross is not None:
            x = x + self.drop(self.cross(self.norms[1](x), kv=memory, bias=memory_bias))
        return x + self.drop(self.ff(self.norms[-1](x)))


class Stack(nn.Module):
    def __init__(self, cfg, embed, is_decoder):
        super().__init__()
        self.embed = embed
        self.is_decoder = is_decoder
        self.block = nn.ModuleList([Block(cfg, is_decoder, i == 0) for i in range(cfg.num_layers)])
        self.final_norm = T5LayerNorm(cfg.d_model)

    def forward(self, ids, mask=None, memory=None, memory_mask=None):
        x = self.embed(ids)
        n = ids.shape[1]
        bias = self.block[0].self_attn.compute_bias(n, n, ids.device)
        if mask is not None:
            bias = bias + (~mask)[:, None, None, :].float() * -1e9
        if self.is_decoder:
            causal = torch.ones(n, n, dtype=torch.bool, device=ids.device).triu(1)
            bias = bias.masked_fill(causal, -1e9)
        memory_bias = None
        if memory_mask is not None:
            memory_bias = (~memory_mask)[:, None, None, :].float() * -1e9
        for blk in self.block:
            x = blk(x, bias, memory, memory_bias)
        return self.final_norm(x)


class T5(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.cfg = cfg = SimpleNamespace(**kwargs)
        self.shared = nn.Embedding(cfg.vocab_size, cfg.d_model)
        self.encoder = Stack(cfg, self.shared, is_decoder=False)
        self.decoder = Stack(cfg, self.shared, is_decoder=True)
        self.lm_head = nn.Linear(cfg.d_model, cfg.vocab_size, bias=False)

    def _shift_right(self, labels):
        shifted = labels.new_zeros(labels.shape)
        shifted[..., 1:] = labels[..., :-1].clone()
        shifted[..., 0] = self.cfg.decoder_start_token_id
        return shifted.masked_fill(shifted == -100, self.cfg.pad_token_id)

    def forward(self, input_ids, labels):
        mask = input_ids.ne(self.cfg.pad_token_id)
        memory = self.encoder(input_ids, mask)
        h = self.decoder(self._shift_right(labels), None, memory, mask)
        logits = self.lm_head(h)
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1), ignore_index=-100)
        return loss, logits

    @torch.inference_mode()
    def generate(self, input_ids, max_new_tokens=12):
        mask = input_ids.ne(self.cfg.pad_token_id)
        memory = self.encoder(input_ids, mask)
        out = torch.full((input_ids.size(0), 1), self.cfg.decoder_start_token_id,
                         dtype=torch.long, device=input_ids.device)
        for _ in range(max_new_tokens):
            h = self.decoder(out, None, memory, mask)
            nxt = self.lm_head(h[:, -1]).argmax(-1, keepdim=True)
            out = torch.cat([out, nxt], dim=-1)
        return out[:, 1:]


def decode(ids):
    lowest = sentinel(config["extra_ids"] - 1)
    return "".join(f"<{config['vocab_size'] - 1 - i}>" if i >= lowest else itos.get(i, "") for i in ids)


if __name__ == "__main__":
    torch.manual_seed(train_args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = T5(**config).to(device)
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.normal_(p, std=0.05)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=train_args.lr)
    stream = batches(train_args)
    report = functools.partial(print, file=sys.stdout, flush=True)

    for step in range(train_args.steps):
        x, y = next(stream)
        loss, logits = model(x.to(device), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc = (logits.argmax(-1).cpu() == y)[y != -100].float().mean()
        report(f"{step} loss={loss.item():.3f} acc={acc.item():.3f} in={tuple(x.shape)} out={tuple(y.shape)}")

    model.eval()
    x, y = next(stream)
    generated = model.generate(x[:2].to(device))
    for src, hyp in zip(x[:2].tolist(), generated.tolist()):
        report("source:", decode(src))
        report("filled:", decode(hyp))
