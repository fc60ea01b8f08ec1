# skip-gram with negative sampling
import re
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import IterableDataset, DataLoader

CORPUS = """the king rules the land and the queen rules the king . the land is old and the river is long .
a river runs through the land and the people drink from the river . the queen loves the people and the people love
the queen . the old king sleeps by the long river while the young queen walks the land"""


class Vocab:
    def __init__(self, text, min_count=1):
        self.tokens = re.findall(r"\w+", text.lower())
        counts = Counter(self.tokens)
        self.itos = [w for w, c in counts.most_common() if c >= min_count]
        self.stoi = {w: i for i, w in enumerate(self.itos)}
        freq = np.array([counts[w] for w in self.itos], dtype=np.float64)
        self.noise = torch.tensor(freq ** 0.75 / (freq ** 0.75).sum())

    def __len__(self):
        return len(self.itos)

    def __getitem__(self, w):
        return self.stoi[w]


class SkipGramPairs(IterableDataset):
    def __init__(self, vocab, window=2):
        self.ids = [vocab[t] for t in vocab.tokens if t in vocab.stoi]
        self.window = window

    def __iter__(self):
        for i, center in enumerate(self.ids):
            lo, hi = max(0, i - self.window), min(len(self.ids), i + self.window + 1)
            context = self.ids[lo:i] + self.ids[i + 1:hi]
            if len(context) < 2 * self.window:
                continue
            yield center, torch.tensor(context)


class SGNS(nn.Module):
    def __init__(self, n_vocab, n_embed, noise_dist):
        super().__init__()
        self.n_vocab, self.n_embed, self.noise_dist = n_vocab, n_embed, noise_dist
        self.in_embed = nn.Embedding(n_vocab, n_embed)
        self.out_embed = nn.Embedding(n_vocab, n_embed)
        self.in_embed.weight.data.uniform_(-1, 1)
        self.out_embed.weight.data.uniform_(-1, 1)

    def forward(self, center, context, n_neg=5):
        B, C = context.shape
        v = self.in_embed(center)                                  # B, E
        u = self.out_embed(context)                                # B, C, E
        noise = torch.multinomial(self.noise_dist, B * C * n_neg, replacement=True)
        n = self.out_embed(noise).view(B, C * n_neg, self.n_embed).neg()
        pos = torch.bmm(u, v.unsqueeze(2)).squeeze(2)              # B, C
        neg = (n @ v[..., None])[..., 0].view(B, C, n_neg)
        return -(F.logsigmoid(pos) + F.logsigmoid(neg).sum(2)).mean(1).mean()


class CBOW(nn.Module):
    def __init__(self, n_vocab, n_embed, context_size):
        super().__init__()
        self.embeddings = nn.Embedding(n_vocab, n_embed, max_norm=1)
        self.linear1 = nn.Linear(2 * context_size * n_embed, 21)
        self.linear2 = nn.Linear(21, n_vocab)

    def forward(self, inputs):
        embeds = self.embeddings(inputs).view((inputs.shape[0], -1))
        out = F.relu(self.linear1(embeds))
        out = self.linear2(out)
        return F.log_softmax(out, dim=1)


def cosine_similarity(embedding, k=4):
    w = embedding.weight
    magnitudes = w.pow(2).sum(dim=1).sqrt().unsqueeze(0)
    idx = torch.randint(0, w.size(0), (k,))
    vectors = embedding(idx)
    sims = torch.mm(vectors, w.t()) / (magnitudes * vectors.norm(dim=1)[:, None])
    return idx, sims


def main():
    torch.manual_seed(0)
    vocab = Vocab(CORPUS)
    loader = DataLoader(SkipGramPairs(vocab), batch_size=12)
    model = SGNS(len(vocab), 10, vocab.noise)
    optimizer = torch.optim.SparseAdam([p for p in nn.ModuleList([nn.Embedding(3, 2, sparse=True)]).parameters()]) \
        if False else torch.optim.Adam(model.parameters(), lr=0.003)
    step = 0
    for epoch in range(2):
        for center, context in loader:
            loss = model(center, context)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 4 == 0:
                print("loss:", loss.item())
    with torch.no_grad():
        idx, sims = cosine_similarity(model.in_embed)
        _, closest = sims.topk(4)
        for i, row in zip(idx.tolist(), closest.tolist()):
            print(vocab.itos[i], "|", ", ".join(vocab.itos[j] for j in row[1:]))

    cbow = CBOW(len(vocab), 7, context_size=2)
    sgd = torch.optim.SGD(cbow.parameters(), lr=0.1)
    for center, context in loader:
        nll = F.nll_loss(cbow(context), center)
        sgd.zero_grad(); nll.backward(); sgd.step()
    print("cbow", nll.item())


if __name__ == "__main__":
    main()
