import argparse, json, logging, math, re, tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import ConcatDataset, DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger(__name__)

IGNORE_INDEX = -100
PROMPT = "### Q: {instruction}\n### A: "


@dataclass
class LlamaConfig:
    dim: int = 48
    n_layers: int = 2
    n_heads: int = 6
    n_kv_heads: Optional[int] = 2
    vocab_size: int = 259
    multiple_of: int = 16
    norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    max_seq_len: int = 96


@dataclass
class LoraConfig:
    r: int = 4
    alpha: int = 8
    dropout: float = 0.05
    target_modules: List[str] = field(default_factory=lambda: ["wq", "wv", "w2"])


class ByteTokenizer:
    pad_id, bos_id, eos_id = 256, 257, 258

    def encode(self, s, bos=True, eos=False):
        return [self.bos_id] * bos + list(s.encode("utf8")) + [self.eos_id] * eos

    def decode(self, ids):
        return bytes(i for i in ids if i < 256).decode("utf8", errors="replace")


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        h = x.float()
        return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)).type_as(x) * self.weight


def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end, device=freqs.device)
    freqs = torch.outer(t, freqs)
    return torch.polar(torch.ones_like(freqs), freqs)  # complex64


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = freqs_cis.view(*[d if i in (1, xq_.ndim - 1) else 1 for i, d in enumerate(xq_.shape)])
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


def repeat_kv(x, n_rep):
    bs, slen, n_kv_heads, head_dim = x.shape
    if n_rep == 1:
        return x
    x = x[:, :, :, None, :].expand(bs, slen, n_kv_heads, n_rep, head_dim)
    return x.reshape(bs, slen, n_kv_heads * n_rep, head_dim)


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_kv_heads = cfg.n_heads if cfg.n_kv_heads is None else cfg.n_kv_heads
        self.n_heads = cfg.n_heads
        self.n_rep = self.n_heads // self.n_kv_heads
        self.head_dim = cfg.dim // cfg.n_heads
        self.wq = nn.Linear(cfg.dim, cfg.n_heads * self.head_dim, bias=False)
        self.wk, self.wv = (nn.Linear(cfg.dim, self.n_kv_heads * self.head_dim, bias=False) for _ in 'kv')
        self.wo = nn.Linear(cfg.n_heads * self.head_dim, cfg.dim, bias=False)
        self.cache_k = self.cache_v = None

    def forward(self, x, start_pos, freqs_cis, mask):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
        xq = xq.view(bsz, seqlen, self.n_heads, self.head_dim)
        xk = xk.view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        xv = xv.view(bsz, seqlen, self.n_kv_heads, self.head_dim)
        xq, xk = apply_rotary_emb(xq, xk, freqs_cis=freqs_cis)

        if self.cache_k is not None:
            self.cache_k[:bsz, start_pos:start_pos + seqlen] = xk
            self.cache_v[:bsz, start_pos:start_pos + seqlen] = xv
            xk, xv = self.cache_k[:bsz, :start_pos + seqlen], self.cache_v[:bsz, :start_pos + seqlen]
        keys = repeat_kv(xk, self.n_rep).transpose(1, 2)
        values = repeat_kv(xv, self.n_rep).transpose(1, 2)
        xq = xq.transpose(1, 2)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values).transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(output)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, multiple_of):
        super().__init__()
        hidden_dim = int(2 * hidden_dim / 3)
        hidden_dim = multiple_of * ((hidden_dim + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = nn.Linear(hidden_dim, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden_dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attention = Attention(cfg)
        self.feed_forward = FeedForward(cfg.dim, 4 * cfg.dim, cfg.multiple_of)
        self.attention_norm, self.ffn_norm = (RMSNorm(cfg.dim, eps=cfg.norm_eps) for _ in range(2))

    def forward(self, x, start_pos, freqs_cis, mask):
        h = x + self.attention(self.attention_norm(x), start_pos, freqs_cis, mask)
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok_embeddings = nn.Embedding(cfg.vocab_size, cfg.dim)
        self.layers = nn.ModuleList([TransformerBlock(cfg) for _ in range(cfg.n_layers)])
        self.norm = RMSNorm(cfg.dim, eps=cfg.norm_eps)
        self.output = nn.Linear(cfg.dim, cfg.vocab_size, bias=False)
        self.freqs_cis = precompute_freqs_cis(cfg.dim // cfg.n_heads, cfg.max_seq_len * 2, cfg.rope_theta)

    def setup_caches(self, bsz):
        for m in self.modules():
            if isinstance(m, Attention):
                m.cache_k = torch.zeros(bsz, self.cfg.max_seq_len, m.n_kv_heads, m.head_dim)
                m.cache_v = torch.zeros_like(m.cache_k)

    def forward(self, tokens, start_pos=0):
        _bsz, seqlen = tokens.shape
        h = self.tok_embeddings(tokens)
        freqs_cis = self.freqs_cis[start_pos: start_pos + seqlen]
        mask = None
        if seqlen > 1:
            mask = torch.triu(torch.full((seqlen, seqlen), float("-inf"), device=tokens.device), diagonal=1)
            mask = torch.hstack([torch.zeros((seqlen, start_pos), device=tokens.device), mask]).type_as(h)
        for layer in self.layers:
            h = layer(h, start_pos, freqs_cis, mask)
        return self.output(self.norm(h)).float()


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.drop = nn.Dropout(dropout) if dropout else nn.Identity()

    def forward(self, x):
        return self.base(x) + (self.drop(x) @ self.lora_A.T @ self.lora_B.T) * self.scaling

    def merge(self):
        self.base.weight.data += (self.lora_B @ self.lora_A) * self.scaling
        return self.base


def inject_lora(model, lcfg):
    pat = re.compile(r"\.(%s)$" % "|".join(lcfg.target_modules))
    for name, mod in list(model.named_modules()):
        if isinstance(mod, nn.Linear) and pat.search(name):
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, LoRALinear(mod, lcfg.r, lcfg.alpha, lcfg.dropout))
    for n, p in model.named_parameters():
        p.requires_grad_("lora_" in n)
    return model


def merge_lora(model):
    for name, mod in list(model.named_modules()):
        for child, sub in list(mod.named_children()):
            if isinstance(sub, LoRALinear):
                setattr(mod, child, sub.merge())
    return model


lora_state_dict = lambda m: {k: v for k, v in m.state_dict().items() if "lora_" in k}


class SFTDataset(Dataset):
    def __init__(self, records, tok, max_len):
        self.items = []
        for r in records:
            p = tok.encode(PROMPT.format(**r))
            a = tok.encode(r["output"], bos=False, eos=True)
            self.items.append({"input_ids": (p + a)[:max_len], "labels": ([IGNORE_INDEX] * len(p) + a)[:max_len]})

    __len__ = lambda self: len(self.items)

    def __getitem__(self, i) -> Dict[str, torch.Tensor]:
        return {k: torch.tensor(v) for k, v in self.items[i].items()}


def collate(features, pad_id=ByteTokenizer.pad_id):
    ids, labels = ([f[k] for f in features] for k in ("input_ids", "labels"))
    return (pad_sequence(ids, batch_first=True, padding_value=pad_id),
            pad_sequence(labels, batch_first=True, padding_value=IGNORE_INDEX))


def loss_fn(logits, labels):
    shift_logits = logits[..., :-1, :].contiguous()
    return F.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), labels[..., 1:].reshape(-1), ignore_index=IGNORE_INDEX)


@torch.inference_mode()
def generate(model, tok, prompt, n=12, temperature=0.0, top_p=0.9):
    model.eval()
    model.setup_caches(1)
    toks = torch.tensor([tok.encode(prompt)])
    logits, prev = model(toks), toks.shape[1]
    for _ in range(n):
        if temperature > 0:
            probs, idx = torch.sort(torch.softmax(logits[:, -1] / temperature, dim=-1), dim=-1, descending=True)
            probs[probs.cumsum(-1) - probs > top_p] = 0.0
            nxt = idx.gather(-1, torch.multinomial(probs / probs.sum(-1, keepdim=True), 1))
        else:
            nxt = logits[:, -1].argmax(-1, keepdim=True)
        toks = torch.cat([toks, nxt], dim=-1)
        if nxt.item() == tok.eos_id:
            break
        logits = model(nxt, prev)
        prev += 1
    for l in model.layers:
        l.attention.cache_k = l.attention.cache_v = None
    return tok.decode(toks[0].tolist())


def train(args):
    torch.manual_seed(args.seed)
    tok, cfg, lcfg = ByteTokenizer(), LlamaConfig(), LoraConfig(r=args.lora_r)
    model = Llama(cfg)
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(args.output_dir or tmp)
        torch.save({"model": model.state_dict(), "cfg": cfg.__dict__}, out / "base.pt")
        model = inject_lora(model, lcfg)
        params = [p for p in model.parameters() if p.requires_grad]
        log.info("trainable %d / %d", sum(p.numel() for p in params), sum(p.numel() for p in model.parameters()))
        adds = [{"instruction": f"{a}+{b}?", "output": str(a + b)} for a in range(4) for b in range(3)]
        caps = [{"instruction": f"upper {w}", "output": w.upper()} for w in "red green blue grey".split()]
        ds = ConcatDataset([SFTDataset(d, tok, cfg.max_seq_len) for d in (adds, caps)])
        loader = DataLoader(ds, batch_size=args.micro_batch, shuffle=True, collate_fn=collate)
        opt = torch.optim.AdamW(params, lr=args.lr, weight_decay=0.0)
        lr_at = lambda s: min(1.0, (s + 1) / args.warmup) * 0.5 * (1 + math.cos(math.pi * s / args.max_steps))
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)
        ctx = torch.autocast("cpu", dtype=torch.bfloat16) if args.bf16 else nullcontext()
        step, running = 0, 0.0
        model.train()
        for micro, (ids, labels) in enumerate(loader):
            with ctx:
                loss = loss_fn(model(ids), labels) / args.grad_accum
            loss.backward()
            running += loss.item()
            if (micro + 1) % args.grad_accum == 0:
                gn = torch.nn.utils.clip_grad_norm_(params, args.clip)
                opt.step()
                sched.step()
                opt.zero_grad(set_to_none=True)
                step, running, avg = step + 1, 0.0, running
                log.info("step %d loss %.4f gnorm %.3f lr %.2e", step, avg, gn.item(), sched.get_last_lr()[0])
                torch.save({"lora": lora_state_dict(model), "opt": opt.state_dict(), "step": step}, out / f"lora_{step}.pt")
            if step >= args.max_steps:
                break
        (out / "adapter_config.json").write_text(json.dumps(lcfg.__dict__))
        # reload everything from disk, and compare with merged
        ck = torch.load(out / "base.pt", weights_only=True)
        fresh = Llama(LlamaConfig(**ck["cfg"]))
        fresh.load_state_dict(ck["model"])
        fresh = inject_lora(fresh, LoraConfig(**json.loads((out / "adapter_config.json").read_text())))
        last = max(out.glob("lora_*.pt"), key=lambda p: int(p.stem.split("_")[1]))
        missing, unexpected = fresh.load_state_dict(torch.load(last)["lora"], strict=False)
        assert not unexpected and not any("lora_" in k for k in missing)
    with torch.no_grad():
        a, b = model.eval()(ids), merge_lora(fresh.eval())(ids)
    log.info("max diff merged vs adapters: %.2e", (a - b).abs().max().item())
    for q, t in [("1+2?", 0.0), ("upper red", 0.8)]:
        print(repr(generate(fresh, tok, PROMPT.format(instruction=q), temperature=t)))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    for flag, default in dict(seed=0, micro_batch=2, grad_accum=2, max_steps=3, warmup=1, lr=5e-3, clip=1.0, lora_r=4).items():
        ap.add_argument(f"--{flag}", type=type(default), default=default)
    ap.add_argument("--bf16", action="store_true")
    ap.add_argument("--output_dir", default=None)
    train(ap.parse_args())
