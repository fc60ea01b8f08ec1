from __future__ import annotations

import math
from typing import Dict, Iterable, Optional, Type

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """Wraps a frozen nn.Linear and adds a low-rank update."""

    def __init__(self, base: nn.Linear, r: int = 4, alpha: float = 8.0, dropout: float = 0.0) -> None:
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.r = r
        self.scaling = alpha / r
        self.lora_A = nn.Parameter(base.weight.new_zeros(r, base.in_features))
        self.lora_B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        self.dropout = nn.Dropout(dropout) if dropout > 0 else nn.Identity()
        self.merged = False
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    @property
    def delta(self) -> Tensor:
        return (self.lora_B @ self.lora_A) * self.scaling

    def merge(self) -> None:
        if not self.merged:
            self.base.weight.data += self.delta
            self.merged = True

    def forward(self, x: Tensor) -> Tensor:
        out = self.base(x)
        if self.merged:
            return out
        return out + (self.dropout(x) @ self.lora_A.T @ self.lora_B.T) * self.scaling


class PrefixAttention(nn.Module):
    def __init__(self, attn: "SelfAttention", n_prefix: int) -> None:
        super().__init__()
        self.attn = attn
        self.prefix_k = nn.Parameter(torch.randn(attn.heads, n_prefix, attn.head_dim) * 0.02)
        self.prefix_v = nn.Parameter(torch.randn(attn.heads, n_prefix, attn.head_dim) * 0.02)

    def forward(self, x: Tensor) -> Tensor:
        bsz = x.size(0)
        return self.attn(x, past=(self.prefix_k.expand(bsz, -1, -1, -1), self.prefix_v.expand(bsz, -1, -1, -1)))


class SelfAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def _shape(self, t: Tensor) -> Tensor:
        return t.unflatten(-1, (self.heads, self.head_dim)).transpose(1, 2)

    def forward(self, x: Tensor, past: Optional[tuple[Tensor, Tensor]] = None) -> Tensor:
        q, k, v = (self._shape(proj(x)) for proj in (self.q_proj, self.k_proj, self.v_proj))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.o_proj(out.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    def __init__(self, dim: int, heads: int, ff: int) -> None:
        super().__init__()
        self.self_attn = SelfAttention(dim, heads)
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(dim, ff), nn.Linear(dim, ff), nn.Linear(ff, dim)
        self.norm1, self.norm2 = nn.RMSNorm(dim), nn.RMSNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.self_attn(self.norm1(x))
        h = self.norm2(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Classifier(nn.Module):
    def __init__(self, vocab: int, dim: int, heads: int, ff: int, n_layers: int, n_classes: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([Layer(dim, heads, ff) for _ in range(n_layers)])
        self.score = nn.Linear(dim, n_classes)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        lengths = mask.sum(dim=1, keepdim=True).clamp(min=1)
        pooled = (x * mask.unsqueeze(-1)).sum(dim=1) / lengths
        return self.score(pooled)


def replace_modules(root: nn.Module, targets: Iterable[str], cls: Type[nn.Module] = LoRALinear, **kwargs) -> Dict[str, nn.Module]:
    replaced = {}
    for name, module in list(root.named_modules()):
        if name.rsplit(".", 1)[-1] in set(targets) and isinstance(module, nn.Linear):
            parent_name, _, child = name.rpartition(".")
            parent = root.get_submodule(parent_name)
            wrapped = cls(module, **kwargs)
            setattr(parent, child, wrapped)
            replaced[name] = wrapped
    return replaced


def trainable(model: nn.Module) -> str:
    n = sum(p.numel() for p in model.parameters() if p.requires_grad)
    total = sum(p.numel() for p in model.parameters())
    return f"{n:,} of {total:,} ({100 * n / total:.2f}%)"


def batches(n: int, bsz: int, vocab: int, max_len: int = 14):
    for _ in range(n):
        lengths = torch.randint(5, max_len + 1, (bsz,))
        ids = torch.randint(1, vocab, (bsz, int(lengths.max())))
        mask = torch.arange(ids.size(1))[None, :] < lengths[:, None]
        labels = (ids * mask).sum(1) % 3
        yield ids * mask, mask.float(), labels


def main() -> None:
    torch.manual_seed(0)
    model = Classifier(vocab=40, dim=24, heads=4, ff=56, n_layers=2, n_classes=3)
    for p in model.parameters():
        p.requires_grad_(False)
    adapters = replace_modules(model, ["q_proj", "v_proj", "down_proj"], r=3, dropout=0.05)
    model.layers[-1].self_attn = PrefixAttention(model.layers[-1].self_attn, n_prefix=2)
    model.score.requires_grad_(True)
    print(sorted(adapters), trainable(model))

    opt = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    for ids, mask, labels in batches(4, 6, 40):
        loss = F.cross_entropy(model(ids, mask), labels)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        print(f"{loss:.3f}")

    model.eval()
    ids, mask, _ = next(batches(1, 2, 40))
    with torch.inference_mode():
        before = model(ids, mask)
        for a in adapters.values():
            a.merge()
        after = model(ids, mask)
    assert torch.allclose(before, after, atol=1e-5), (before - after).abs().max()
    lora_state = {k: v for k, v in model.state_dict().items() if "lora_" in k}
    print(len(lora_state), next(iter(lora_state.values())).shape)


if __name__ == "__main__":
    main()
