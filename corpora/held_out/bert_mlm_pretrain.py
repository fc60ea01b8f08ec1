"""BERT-like masked language model pre-training (MLM + NSP), nano edition."""
from __future__ import annotations

import json
import math
import random
import re
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

TEXT = """
The lighthouse stood at the end of the pier. Every night the keeper climbed the stairs.
He lit the lamp and wrote the weather in a book. The sea was calm in June.
In winter the waves broke over the wall. Ships passed slowly and sounded their horns.

A baker in the village rose before the sun. She mixed flour, water and salt.
The bread was sold by noon. Children waited at the door for the first rolls.
On Sundays the oven stayed cold. The baker walked to the pier with her dog.

The keeper and the baker were old friends. They talked about the weather and the price of flour.
The dog slept under the bench. When the fog came they went home.
"""


@dataclass
class BertConfig:
    vocab_size: int = 0
    hidden_size: int = 64
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    intermediate_size: int = 128
    hidden_dropout_prob: float = 0.1
    max_position_embeddings: int = 48
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    initializer_range: float = 0.02


@dataclass
class TrainConfig:
    batch_size: int = 8
    steps: int = 3
    warmup: int = 1
    peak_lr: float = 1e-3
    grad_accum: int = 2
    mlm_prob: float = 0.15
    use_amp: bool = True
    model: BertConfig = field(default_factory=BertConfig)


class Tokenizer:
    SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

    def __init__(self, text: str):
        words = sorted(set(self.split(text)))
        self.vocab = {w: i for i, w in enumerate(self.SPECIAL + words)}
        self.pad, self.unk, self.cls, self.sep, self.mask = range(5)

    @staticmethod
    def split(text: str) -> list[str]:
        return re.findall(r"\w+|[^\w\s]", text.lower())

    def __call__(self, text: str) -> list[int]:
        return [self.vocab.get(w, self.unk) for w in self.split(text)]


class NSPDataset(Dataset):
    """Pairs of neighbouring sentences, half of them with a random second one."""

    def __init__(self, text, tokenizer, seed=0):
        self.tok = tokenizer
        self.docs = []
        for para in text.strip().split("\n\n"):
            sents = re.split(r"(?<=\.)\s+", para.strip())
            self.docs.append([tokenizer(s) for s in sents])
        self.index = [(d, i) for d, doc in enumerate(self.docs) for i in range(len(doc) - 1)]
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.index) * 2

    def __getitem__(self, i):
        d, s = self.index[i % len(self.index)]
        first = self.docs[d][s]
        is_next = self.rng.random() < 0.5
        if is_next:
            second = self.docs[d][s + 1]
        else:
            other = self.rng.choice([k for k in range(len(self.docs)) if k != d])
            second = self.rng.choice(self.docs[other])
        ids = [self.tok.cls] + first + [self.tok.sep] + second + [self.tok.sep]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        return {"input_ids": ids, "token_type_ids": types, "next_sentence_label": int(not is_next)}


class MLMCollator:
    def __init__(self, tok, mlm_prob, max_len):
        self.tok, self.p, self.max_len = tok, mlm_prob, max_len

    def __call__(self, examples):
        longest = min(max(len(e["input_ids"]) for e in examples), self.max_len)

        def pad(key, value):
            rows = [e[key][:longest] + [value] * (longest - len(e[key])) for e in examples]
            return torch.tensor(rows)

        batch = {"input_ids": pad("input_ids", self.tok.pad),
                 "token_type_ids": pad("token_type_ids", 0),
                 "next_sentence_label": torch.tensor([e["next_sentence_label"] for e in examples])}
        batch["attention_mask"] = (batch["input_ids"] != self.tok.pad).long()
        batch["input_ids"], batch["labels"] = self.mask_tokens(batch["input_ids"])
        return batch

    def mask_tokens(self, inputs):
        labels = inputs.clone()
        prob = torch.full(labels.shape, self.p)
        special = inputs < len(Tokenizer.SPECIAL)
        prob.masked_fill_(special, 0.0)
        masked = torch.bernoulli(prob).bool()
        labels[~masked] = -100

        # 80% [MASK], 10% random word, 10% unchanged
        replaced = torch.bernoulli(torch.full(labels.shape, 0.8)).bool() & masked
        inputs[replaced] = self.tok.mask
        randomised = torch.bernoulli(torch.full(labels.shape, 0.5)).bool() & masked & ~replaced
        words = torch.randint(len(self.tok.vocab), labels.shape)
        inputs[randomised] = words[randomised]
        return inputs, labels


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.hidden_size % config.num_attention_heads:
            raise ValueError("hidden size must be a multiple of the number of heads")
        self.num_heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def transpose_for_scores(self, x):
        new_shape = x.size()[:-1] + (self.num_heads, self.head_size)
        return x.view(*new_shape).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        q = self.transpose_for_scores(self.query(hidden_states))
        k = self.transpose_for_scores(self.key(hidden_states))
        v = self.transpose_for_scores(self.value(hidden_states))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_size)
        scores = scores + attention_mask
        probs = self.dropout(F.softmax(scores, dim=-1))
        context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return context.view(*context.size()[:-2], self.num_heads * self.head_size)


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = BertSelfAttention(config)
        self.attn_out = nn.Linear(config.hidden_size, config.hidden_size)
        self.attn_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.intermediate = nn.Linear(config.hidden_size, config.intermediate_size)
        self.output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.out_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, h, mask):
        h = self.attn_norm(h + self.dropout(self.attn_out(self.attention(h, mask))))
        return self.out_norm(h + self.dropout(self.output(F.gelu(self.intermediate(h)))))


class BertForPreTraining(nn.Module):
    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.emb_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.emb_drop = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer("position_ids", torch.arange(config.max_position_embeddings)[None])
        self.layers = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])
        self.pooler = nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.Tanh())
        self.transform = nn.Sequential(nn.Linear(config.hidden_size, config.hidden_size), nn.GELU(),
                                       nn.LayerNorm(config.hidden_size))
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.seq_relationship = nn.Linear(config.hidden_size, 2)
        self.apply(self._init_weights)
        self.decoder.weight = self.word_embeddings.weight

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight.data.normal_(0.0, self.config.initializer_range)
        if isinstance(module, nn.Linear) and module.bias is not None:
            module.bias.data.zero_()

    def forward(self, input_ids, token_type_ids, attention_mask, labels=None,
                next_sentence_label=None):
        seq_length = input_ids.size(1)
        emb = (self.word_embeddings(input_ids)
               + self.position_embeddings(self.position_ids[:, :seq_length])
               + self.token_type_embeddings(token_type_ids))
        h = self.emb_drop(self.emb_norm(emb))

        extended = attention_mask[:, None, None, :].to(h.dtype)
        extended = (1.0 - extended) * -10000.0
        for layer in self.layers:
            h = layer(h, extended)

        prediction_scores = self.decoder(self.transform(h))
        seq_scores = self.seq_relationship(self.pooler(h[:, 0]))
        if labels is None:
            return prediction_scores, seq_scores
        mlm = F.cross_entropy(prediction_scores.view(-1, self.config.vocab_size), labels.view(-1))
        nsp = F.cross_entropy(seq_scores.view(-1, 2), next_sentence_label.view(-1))
        return mlm + nsp, {"mlm": mlm.item(), "nsp": nsp.item()}


def lr_lambda(warmup, total):
    def fn(step):
        if step < warmup:
            return (step + 1) / (warmup + 1)
        return max(0.05, (total - step) / max(1, total - warmup))
    return fn


def param_groups(model, weight_decay):
    decay = [p for n, p in model.named_parameters() if p.ndim >= 2]
    no_decay = [p for n, p in model.named_parameters() if p.ndim < 2]
    return [{"params": decay, "weight_decay": weight_decay},
            {"params": no_decay, "weight_decay": 0.0}]


def infinite(loader):
    while True:
        yield from loader


def main():
    random.seed(0)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tok = Tokenizer(TEXT)
    cfg = TrainConfig()
    cfg.model.vocab_size = len(tok.vocab)
    print(json.dumps(asdict(cfg), indent=1))

    loader = DataLoader(NSPDataset(TEXT, tok), batch_size=cfg.batch_size, shuffle=True, drop_last=True,
                        collate_fn=MLMCollator(tok, cfg.mlm_prob, cfg.model.max_position_embeddings))
    model = BertForPreTraining(cfg.model).to(device)
    opt = torch.optim.AdamW(param_groups(model, 0.01), lr=cfg.peak_lr, betas=(0.9, 0.98))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda(cfg.warmup, cfg.steps))
    amp = torch.autocast(device.type, dtype=torch.bfloat16) if cfg.use_amp else nullcontext()

    stream = infinite(loader)
    model.train()
    for step in range(cfg.steps):
        opt.zero_grad(set_to_none=True)
        for _ in range(cfg.grad_accum):
            batch = {k: v.to(device) for k, v in next(stream).items()}
            with amp:
                loss, parts = model(**batch)
            (loss / cfg.grad_accum).backward()
        gnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        print(f"step {step} loss {loss.item():.3f} {parts} gnorm {gnorm:.2f} lr {sched.get_last_lr()[0]:.1e}")

    with TemporaryDirectory() as tmp:
        path = Path(tmp) / "bert.pt"
        torch.save({"model": model.state_dict(), "config": asdict(cfg.model)}, path)
        ckpt = torch.load(path)
        model = BertForPreTraining(BertConfig(**ckpt["config"])).to(device)
        model.load_state_dict(ckpt["model"])

    model.eval()
    ids = [tok.cls] + tok("the keeper lit the") + [tok.mask] + tok(".") + [tok.sep]
    x = torch.tensor([ids], device=device)
    with torch.no_grad():
        scores, _ = model(x, torch.zeros_like(x), torch.ones_like(x))
    pos = ids.index(tok.mask)
    top = scores[0, pos].topk(5).indices.tolist()
    words = {i: w for w, i in tok.vocab.items()}
    print("the keeper lit the ...", [words[i] for i in top])


if __name__ == "__main__":
    main()
