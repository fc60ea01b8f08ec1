"""
Sentiment classification with a bidirectional LSTM.

Reviews are made from templates (see `make_reviews`), tokenised with a regex and
padded per batch. Sequences are packed so that the LSTM never looks at <pad>.

    python lstm_text_packed.py --epochs 1 --bidirectional
"""
import argparse
import itertools
import logging
import os
import random
import re
import tempfile
from collections import Counter

import torch
from torch import nn, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
logger = logging.getLogger("lstm")

PAD, UNK = "<pad>", "<unk>"
TOKEN_RE = re.compile(r"[a-z]+(?:'[a-z]+)?|[!?.,]")

SUBJECTS = ["the movie", "this film", "the plot", "the acting", "the soundtrack", "every scene"]
GOOD = ["wonderful", "moving", "brilliant", "a joy", "worth seeing", "really funny"]
BAD = ["terrible", "dull", "a mess", "too long", "painful to watch", "wasn't funny"]
LINKS = [", and", ". Also", "! Besides,", ", while"]


def make_reviews(n, rng):
    """Yields (text, label) with between one and four clauses."""
    for _ in range(n):
        label = rng.random() < 0.5
        words = GOOD if label else BAD
        clauses = ["%s was %s" % (rng.choice(SUBJECTS), rng.choice(words))
                   for _ in range(rng.randint(1, 4))]
        text = clauses[0]
        for c in clauses[1:]:
            text += "%s %s" % (rng.choice(LINKS), c)
        yield text + rng.choice([".", "!", "?"]), int(label)


def tokenize(text):
    return TOKEN_RE.findall(text.lower())


class Vocab:
    def __init__(self, texts, min_freq=1, max_size=None):
        counter = Counter(itertools.chain.from_iterable(map(tokenize, texts)))
        kept = [w for w, c in counter.most_common(max_size) if c >= min_freq]
        self.itos = [PAD, UNK] + kept
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, text):
        unk = self.stoi[UNK]
        return [self.stoi.get(tok, unk) for tok in tokenize(text)]

    @property
    def pad_index(self):
        return self.stoi[PAD]


class ReviewDataset(Dataset):
    def __init__(self, examples, vocab):
        self.items = [(torch.tensor(vocab.encode(t)), y) for t, y in examples]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def lengths(self):
        return [len(x) for x, _ in self.items]


class BucketBatchSampler(Sampler):
    """Batches of alike lengths, in a random order of batches."""

    def __init__(self, lengths, batch_size, bucket_mult=8):
        self.lengths = lengths
        self.batch_size = batch_size
        self.bucket = batch_size * bucket_mult

    def __iter__(self):
        order = list(range(len(self.lengths)))
        random.shuffle(order)
        batches = []
        for s in range(0, len(order), self.bucket):
            chunk = sorted(order[s:s + self.bucket], key=lambda i: self.lengths[i])
            batches += [chunk[b:b + self.batch_size] for b in range(0, len(chunk), self.batch_size)]
        random.shuffle(batches)
        yield from batches

    def __len__(self):
        return (len(self.lengths) + self.batch_size - 1) // self.batch_size


class Collate:
    def __init__(self, pad_index):
        self.pad_index = pad_index

    def __call__(self, batch):
        xs, ys = zip(*batch)
        lengths = torch.tensor([len(x) for x in xs])
        padded = pad_sequence(xs, batch_first=True, padding_value=self.pad_index)
        return padded, lengths, torch.tensor(ys, dtype=torch.float)


class LSTMClassifier(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim, n_layers, bidirectional, dropout,
                 pad_idx, pooling="last"):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=pad_idx)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, num_layers=n_layers,
                            bidirectional=bidirectional, batch_first=True,
                            dropout=dropout if n_layers > 1 else 0.0)
        self.num_directions = 2 if bidirectional else 1
        self.attn = nn.Linear(hidden_dim * self.num_directions, 1)
        self.fc = nn.Linear(hidden_dim * self.num_directions, 1)
        self.dropout = nn.Dropout(dropout)
        self.pooling = pooling

    def forward(self, text, text_lengths):
        # text = [batch size, sent len]
        embedded = self.dropout(self.embedding(text))

        packed = pack_padded_sequence(embedded, text_lengths.cpu(), batch_first=True,
                                      enforce_sorted=False)
        packed_output, (hidden, cell) = self.lstm(packed)

        if self.pooling == "last":
            # concat the final forward and backward hidden state
            if self.num_directions == 2:
                hidden = torch.cat((hidden[-2], hidden[-1]), dim=1)
            else:
                hidden = hidden[-1]
        else:
            output, lens = pad_packed_sequence(packed_output, batch_first=True)
            mask = torch.arange(output.size(1))[None, :] < lens[:, None]
            scores = self.attn(output).squeeze(2)
            scores = scores.masked_fill(~mask.to(scores.device), float("-inf"))
            weights = torch.softmax(scores, dim=1)
            hidden = torch.bmm(weights.unsqueeze(1), output).squeeze(1)

        return self.fc(self.dropout(hidden)).squeeze(1)


def binary_accuracy(preds, y):
    rounded = torch.round(torch.sigmoid(preds))
    return (rounded == y).float().sum() / len(y)


def train_epoch(model, loader, optimizer, criterion, device, limit):
    model.train()
    total, total_acc, n = 0.0, 0.0, 0
    for text, lengths, labels in itertools.islice(loader, limit):
        text, labels = text.to(device), labels.to(device)
        optimizer.zero_grad()
        predictions = model(text, lengths)
        loss = criterion(predictions, labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        total_acc += binary_accuracy(predictions, labels).item()
        n += 1
    return total / n, total_acc / n


@torch.no_grad()
def evaluate(model, loader, criterion, device):
    model.eval()
    tp = fp = fn = tn = 0
    losses = []
    for text, lengths, labels in loader:
        text, labels = text.to(device), labels.to(device)
        logits = model(text, lengths)
        losses.append(criterion(logits, labels).item())
        pred = logits > 0
        gold = labels > 0.5
        tp += (pred & gold).sum().item()
        fp += (pred & ~gold).sum().item()
        fn += (~pred & gold).sum().item()
        tn += (~pred & ~gold).sum().item()
    precision = tp / max(tp + fp, 1)
    recall = tp / max(tp + fn, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return sum(losses) / len(losses), (tp + tn) / (tp + fp + fn + tn), f1


def parse_args(argv=None):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    p.add_argument("--embedding-dim", type=int, default=50)
    p.add_argument("--hidden-dim", type=int, default=64)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--bidirectional", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--dropout", type=float, default=0.3)
    p.add_argument("--pooling", choices=["last", "attention"], default="attention")
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--limit", type=int, default=3, help="training batches per epoch")
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=1234)
    return p.parse_args(argv)


def main():
    args = parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    data = list(make_reviews(200, random.Random(args.seed)))
    train_raw, test_raw = data[:160], data[160:]
    vocab = Vocab([t for t, _ in train_raw], min_freq=2)
    logger.info("vocabulary: %d words", len(vocab))

    train_ds, test_ds = ReviewDataset(train_raw, vocab), ReviewDataset(test_raw, vocab)
    collate = Collate(vocab.pad_index)
    train_loader = DataLoader(train_ds, collate_fn=collate,
                              batch_sampler=BucketBatchSampler(train_ds.lengths(), args.batch_size))
    test_loader = DataLoader(test_ds, batch_size=args.batch_size, collate_fn=collate)

    model = LSTMClassifier(len(vocab), args.embedding_dim, args.hidden_dim, args.layers,
                           args.bidirectional, args.dropout, vocab.pad_index, args.pooling)
    model = model.to(device)
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()

    best = float("inf")
    path = os.path.join(tempfile.mkdtemp(), "lstm.pt")
    for epoch in range(1, args.epochs + 1):
        tr_loss, tr_acc = train_epoch(model, train_loader, optimizer, criterion, device, args.limit)
        va_loss, va_acc, va_f1 = evaluate(model, test_loader, criterion, device)
        logger.info("epoch %d train %.3f/%.3f valid %.3f/%.3f f1 %.3f",
                    epoch, tr_loss, tr_acc, va_loss, va_acc, va_f1)
        if va_loss < best:
            best = va_loss
            torch.save(model.state_dict(), path)

    model.load_state_dict(torch.load(path, map_location=device))
    model.eval()
    for sentence in ["The film was brilliant, and the plot was moving!", "What a mess."]:
        ids = torch.tensor(vocab.encode(sentence)).unsqueeze(0).to(device)
        prob = torch.sigmoid(model(ids, torch.tensor([ids.size(1)])))
        logger.info("%.3f  %s", prob.item(), sentence)


if __name__ == "__main__":
    main()
