"""Hierarchical Attention Network (Yang et al., 2016) for tiny document classification."""
import json
import logging
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Dict, List

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import classification_report, f1_score
from torch.utils.data import DataLoader, Dataset, random_split

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
logger = logging.getLogger("han")

CONFIG_JSON = """
{
  "model": {"emb_dim": 20, "word_hidden": 12, "sent_hidden": 10, "dropout": 0.2},
  "data": {"max_sents": 5, "max_words": 9, "min_freq": 1, "val_frac": 0.25},
  "train": {"epochs": 2, "batch_size": 4, "accum": 2, "lr": 0.005}
}
"""

CORPUS = """
sports\tThe striker scored twice. The keeper was beaten at the near post. Fans sang all night.
sports\tShe won the final set in a tie break. Her serve was excellent.
sports\tThe team lost the match on penalties. The coach blamed the referee. Nobody was happy with the result.
sports\tA late goal rescued a point. The defender headed the ball home from a corner kick.
sports\tThe runner broke the record. It was a windy day. She crossed the line with her arms raised.
cooking\tChop the onions finely. Fry them in butter until golden. Add the stock and simmer.
cooking\tKnead the dough for ten minutes. Let it rest in a warm place.
cooking\tSeason the fish with salt and lemon. Bake it for twenty minutes. Serve with rice.
cooking\tWhisk the eggs with sugar. Fold in the flour. Pour the batter in a tin. Bake until firm.
cooking\tThe soup needs more garlic. Add a little cream at the end.
space\tThe rocket launched at dawn. The first stage landed on the barge.
space\tAstronomers found a planet around a dim star. It may have water. More data are needed.
space\tThe probe entered orbit yesterday. Its camera sent back pictures of the ice. Engineers cheered.
space\tA comet will pass near the sun. It can be seen with a small telescope.
space\tThe rover drilled in the rock. The sample was heated. The gas contained methane. The team was surprised.
cooking\tGrill the peppers. Peel off the skin and slice them. Dress with oil.
"""

SENT_RE = re.compile(r"(?<=[.!?])\s+")
TOKEN_RE = re.compile(r"[a-z]+")


class Vocabulary:
    PAD, UNK = 0, 1

    def __init__(self, docs: List[List[List[str]]], min_freq: int = 1):
        counts = Counter(w for d in docs for s in d for w in s)
        self.itos = ["<pad>", "<unk>"] + [w for w, c in counts.most_common() if c >= min_freq]
        self.stoi: Dict[str, int] = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, words):
        return [self.stoi.get(w, self.UNK) for w in words]


class DocumentDataset(Dataset):
    def __init__(self, text, cfg):
        rows = [line.split("\t") for line in text.strip().splitlines()]
        self.classes = sorted({r[0] for r in rows})
        self.docs = [[TOKEN_RE.findall(s.lower()) for s in SENT_RE.split(r[1])] for r in rows]
        self.labels = [self.classes.index(r[0]) for r in rows]
        self.vocab = Vocabulary(self.docs, cfg["min_freq"])
        self.max_sents, self.max_words = cfg["max_sents"], cfg["max_words"]

    def __len__(self):
        return len(self.docs)

    def __getitem__(self, i):
        doc = [self.vocab.encode(s[: self.max_words]) for s in self.docs[i][: self.max_sents]]
        return doc, self.labels[i]


def collate(batch):
    docs, labels = zip(*batch)
    n_sents = max(len(d) for d in docs)
    n_words = max(len(s) for d in docs for s in d)
    out = torch.zeros(len(docs), n_sents, n_words, dtype=torch.long)
    for i, d in enumerate(docs):
        for j, s in enumerate(d):
            out[i, j, : len(s)] = torch.tensor(s)
    return out, torch.tensor(labels)


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.context = nn.Parameter(torch.randn(dim) * 0.1)

    def forward(self, h, mask):
        u = torch.tanh(self.proj(h))
        scores = u @ self.context
        scores = scores.masked_fill(mask == 0, -1e4)
        alpha = torch.softmax(scores, dim=1)
        pooled = torch.bmm(alpha.unsqueeze(1), h).squeeze(1)
        return pooled, alpha


class HAN(nn.Module):
    def __init__(self, vocab_size, n_classes, emb_dim, word_hidden, sent_hidden, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_dim, padding_idx=0)
        self.word_gru = nn.GRU(emb_dim, word_hidden, bidirectional=True, batch_first=True)
        self.word_attn = AttentionPool(2 * word_hidden)
        self.sent_gru = nn.GRU(2 * word_hidden, sent_hidden, bidirectional=True, batch_first=True)
        self.sent_attn = AttentionPool(2 * sent_hidden)
        self.norm = nn.LayerNorm(2 * word_hidden)
        self.drop = nn.Dropout(dropout)
        self.classifier = nn.Linear(2 * sent_hidden, n_classes)

    def forward(self, docs):
        b, s, w = docs.size()
        flat = docs.view(b * s, w)
        word_mask = (flat != 0).long()
        h, _ = self.word_gru(self.drop(self.embedding(flat)))
        sents, word_alpha = self.word_attn(h, word_mask)
        sents = self.norm(sents).view(b, s, -1)
        sent_mask = (docs != 0).any(dim=2).long()
        h, _ = self.sent_gru(self.drop(sents))
        doc_vec, sent_alpha = self.sent_attn(h, sent_mask)
        return {
            "logits": self.classifier(self.drop(doc_vec)),
            "word_alpha": word_alpha.view(b, s, w),
            "sent_alpha": sent_alpha,
        }


class Trainer:
    def __init__(self, model, cfg, train_loader, val_loader, ckpt_dir):
        self.model, self.cfg = model, cfg
        self.train_loader, self.val_loader = train_loader, val_loader
        self.ckpt = Path(ckpt_dir) / "best.pt"
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
        self.best = -1.0

    def train_epoch(self):
        self.model.train()
        self.optimizer.zero_grad()
        total = 0.0
        for i, (docs, labels) in enumerate(self.train_loader):
            loss = F.cross_entropy(self.model(docs)["logits"], labels, label_smoothing=0.05)
            (loss / self.cfg["accum"]).backward()
            if (i + 1) % self.cfg["accum"] == 0 or i + 1 == len(self.train_loader):
                self.optimizer.step()
                self.optimizer.zero_grad()
            total += loss.item() * docs.size(0)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        preds, golds = [], []
        for docs, labels in self.val_loader:
            preds += self.model(docs)["logits"].argmax(-1).tolist()
            golds += labels.tolist()
        return preds, golds

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            loss = self.train_epoch()
            preds, golds = self.evaluate()
            f1 = f1_score(golds, preds, average="macro", zero_division=0)
            logger.info("epoch %d loss %.4f val f1 %.3f", epoch, loss, f1)
            if f1 > self.best:
                self.best = f1
                torch.save({"state": self.model.state_dict(), "epoch": epoch}, self.ckpt)
        state = torch.load(self.ckpt)
        self.model.load_state_dict(state["state"])
        return state["epoch"]


def main():
    torch.manual_seed(3)
    cfg = json.loads(CONFIG_JSON)
    ds = DocumentDataset(CORPUS, cfg["data"])
    n_val = int(len(ds) * cfg["data"]["val_frac"])
    train_set, val_set = random_split(ds, [len(ds) - n_val, n_val])
    bs = cfg["train"]["batch_size"]
    model = HAN(len(ds.vocab), len(ds.classes), **cfg["model"])
    with tempfile.TemporaryDirectory() as tmp:
        trainer = Trainer(model, cfg["train"],
                          DataLoader(train_set, bs, shuffle=True, collate_fn=collate),
                          DataLoader(val_set, bs, collate_fn=collate), tmp)
        best_epoch = trainer.fit()
        preds, golds = trainer.evaluate()
    logger.info("best epoch %d", best_epoch)
    print(classification_report(golds, preds, labels=range(len(ds.classes)),
                                target_names=ds.classes, zero_division=0))
    docs, _ = collate([ds[0]])
    out = model(docs)
    top = out["word_alpha"][0].argmax(dim=-1)
    for j, k in enumerate(top.tolist()):
        logger.info("sentence %d (%.2f): %s", j, out["sent_alpha"][0, j].item(), ds.docs[0][j][k])


if __name__ == "__main__":
    main()
