# BiLSTM-CRF for named entity recognition, batched, with char-CNN features.
#
# Homework 4, part 2.
from typing import Dict, List, Tuple

import torch
import torch.nn as nn

CORPUS = """
John/B-PER Smith/I-PER lives/O in/O New/B-LOC York/I-LOC ./O
Mary/B-PER visited/O Paris/B-LOC last/O summer/O ./O
The/O United/B-ORG Nations/I-ORG met/O in/O Geneva/B-LOC ./O
Google/B-ORG hired/O Alan/B-PER Kay/I-PER and/O Grace/B-PER Hopper/I-PER ./O
It/O rained/O ./O
Peter/B-PER flew/O from/O Berlin/B-LOC to/O San/B-LOC Francisco/I-LOC with/O Lufthansa/B-ORG ./O
Microsoft/B-ORG opened/O an/O office/O near/O London/B-LOC ./O
Yesterday/O Ada/B-PER Lovelace/I-PER spoke/O at/O Oxford/B-ORG University/I-ORG ./O
""".strip()

PAD_ID = 0
UNK_ID = 1
NEG_INF = -1e4


def read_corpus(text: str) -> List[List[Tuple[str, str]]]:
    sents = []
    for line in text.splitlines():
        sents.append([tuple(tok.rsplit("/", 1)) for tok in line.split()])
    return sents


def build_vocab(items) -> Dict[str, int]:
    vocab = {"<pad>": PAD_ID, "<unk>": UNK_ID}
    for it in items:
        vocab.setdefault(it, len(vocab))
    return vocab


class Batch:
    """Pads words, characters and tags of some sentences."""

    def __init__(self, sents, word_vocab, char_vocab, tag_vocab, device):
        self.sents = sents
        lengths = [len(s) for s in sents]
        max_len = max(lengths)
        max_chars = max(max(len(w) for w, _ in s) for s in sents)
        max_chars = max(max_chars, 3)

        self.words = torch.full((len(sents), max_len), PAD_ID, dtype=torch.long)
        self.chars = torch.full((len(sents), max_len, max_chars), PAD_ID, dtype=torch.long)
        self.tags = torch.zeros(len(sents), max_len, dtype=torch.long)
        for i, sent in enumerate(sents):
            for j, (w, t) in enumerate(sent):
                self.words[i, j] = word_vocab.get(w.lower(), UNK_ID)
                self.tags[i, j] = tag_vocab[t]
                ids = [char_vocab.get(c, UNK_ID) for c in w]
                self.chars[i, j, :len(ids)] = torch.tensor(ids)

        self.lengths = torch.tensor(lengths)
        self.mask = torch.arange(max_len).unsqueeze(0) < self.lengths.unsqueeze(1)
        for name in ("words", "chars", "tags", "mask"):
            setattr(self, name, getattr(self, name).to(device))


class CharCNN(nn.Module):
    def __init__(self, num_chars: int, char_dim: int, num_filters: int, widths=(2, 3)):
        super().__init__()
        self.emb = nn.Embedding(num_chars, char_dim, padding_idx=PAD_ID)
        self.convs = nn.ModuleList(
            nn.Conv1d(char_dim, num_filters, w, padding=w - 1) for w in widths
        )
        self.output_dim = num_filters * len(widths)

    def forward(self, chars):
        b, t, c = chars.shape
        e = self.emb(chars.view(b * t, c)).transpose(1, 2)
        feats = [torch.relu(conv(e)).max(dim=2)[0] for conv in self.convs]
        return torch.cat(feats, dim=-1).view(b, t, -1)


class CRF(nn.Module):
    def __init__(self, num_tags: int):
        super().__init__()
        self.num_tags = num_tags
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))
        self.start = nn.Parameter(torch.empty(num_tags))
        self.end = nn.Parameter(torch.empty(num_tags))
        for p in self.parameters():
            nn.init.uniform_(p, -0.1, 0.1)

    def forbid(self, pairs):
        """transitions that the BIO scheme does not allow"""
        with torch.no_grad():
            for i, j in pairs:
                self.transitions[i, j] = NEG_INF

    def _score_sentence(self, emissions, tags, mask):
        batch, seq_len = tags.shape
        idx = torch.arange(batch, device=tags.device)
        score = self.start[tags[:, 0]] + emissions[idx, 0, tags[:, 0]]
        for t in range(1, seq_len):
            step = self.transitions[tags[:, t - 1], tags[:, t]] + emissions[idx, t, tags[:, t]]
            score = score + step * mask[:, t].float()
        last = mask.long().sum(1) - 1
        return score + self.end[tags[idx, last]]

    def _forward_alg(self, emissions, mask):
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.size(1)):
            scores = alpha.unsqueeze(2) + self.transitions + emissions[:, t].unsqueeze(1)
            new_alpha = torch.logsumexp(scores, dim=1)
            alpha = torch.where(mask[:, t].unsqueeze(1), new_alpha, alpha)
        return torch.logsumexp(alpha + self.end, dim=1)

    def neg_log_likelihood(self, emissions, tags, mask):
        gold = self._score_sentence(emissions, tags, mask)
        total = self._forward_alg(emissions, mask)
        return (total - gold).mean()

    @torch.no_grad()
    def viterbi(self, emissions, mask) -> List[List[int]]:
        batch, seq_len, _ = emissions.shape
        score = self.start + emissions[:, 0]
        backpointers = []
        for t in range(1, seq_len):
            cand = score.unsqueeze(2) + self.transitions
            best, ptr = cand.max(dim=1)
            best = best + emissions[:, t]
            keep = mask[:, t].unsqueeze(1)
            score = torch.where(keep, best, score)
            # where the sentence is over, point to yourself
            identity = torch.arange(self.num_tags, device=ptr.device).expand_as(ptr)
            backpointers.append(torch.where(keep, ptr, identity))

        last_tag = (score + self.end).argmax(dim=1)
        paths = [last_tag]
        for ptr in reversed(backpointers):
            last_tag = ptr.gather(1, last_tag.unsqueeze(1)).squeeze(1)
            paths.append(last_tag)
        paths = torch.stack(paths[::-1], dim=1)

        lengths = mask.sum(dim=1).tolist()
        return [paths[i, :n].tolist() for i, n in enumerate(lengths)]


class BiLSTM_CRF(nn.Module):
    def __init__(self, n_words, n_chars, n_tags, word_dim=32, char_dim=12, filters=10, hidden=64):
        super().__init__()
        self.word_emb = nn.Embedding(n_words, word_dim, padding_idx=PAD_ID)
        self.char_cnn = CharCNN(n_chars, char_dim, filters)
        in_dim = word_dim + self.char_cnn.output_dim
        self.lstm = nn.LSTM(in_dim, hidden // 2, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.25)
        self.hidden2tag = nn.Linear(hidden, n_tags)
        self.crf = CRF(n_tags)

    def features(self, batch: Batch):
        x = torch.cat([self.word_emb(batch.words), self.char_cnn(batch.chars)], dim=-1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.drop(x), batch.lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        return self.hidden2tag(self.drop(out))

    def loss(self, batch: Batch):
        return self.crf.neg_log_likelihood(self.features(batch), batch.tags, batch.mask)

    def forward(self, batch: Batch):
        return self.crf.viterbi(self.features(batch), batch.mask)


def spans(tags: List[str]):
    """BIO tags -> set of (start, end, type)"""
    found, start, kind = set(), None, None
    for i, t in enumerate(tags + ["O"]):
        if start is not None and not t.startswith("I-"):
            found.add((start, i, kind))
            start = None
        if t.startswith("B-"):
            start, kind = i, t[2:]
    return found


def illegal_transitions(tag_vocab: Dict[str, int]):
    for a, i in tag_vocab.items():
        for b, j in tag_vocab.items():
            if b.startswith("I-") and a[2:] != b[2:]:
                yield i, j


def main():
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sents = read_corpus(CORPUS)
    train, dev = sents[:6], sents[6:]

    word_vocab = build_vocab(w.lower() for s in train for w, _ in s)
    char_vocab = build_vocab(c for s in train for w, _ in s for c in w)
    tag_vocab = {t: i for i, t in enumerate(sorted({t for s in sents for _, t in s}))}
    inv_tags = {i: t for t, i in tag_vocab.items()}
    print("words", len(word_vocab), "chars", len(char_vocab), "tags", len(tag_vocab))

    model = BiLSTM_CRF(len(word_vocab), len(char_vocab), len(tag_vocab)).to(device)
    model.crf.forbid(illegal_transitions(tag_vocab))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)

    batch_size = 3
    for epoch in range(3):
        model.train()
        total = 0.0
        for k in range(0, len(train), batch_size):
            batch = Batch(train[k:k + batch_size], word_vocab, char_vocab, tag_vocab, device)
            model.zero_grad()
            loss = model.loss(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total:.3f}")

    model.eval()
    batch = Batch(dev, word_vocab, char_vocab, tag_vocab, device)
    predicted = model(batch)
    correct = guessed = gold_total = 0
    for sent, path in zip(dev, predicted):
        names = [inv_tags[i] for i in path]
        gold = spans([t for _, t in sent])
        guess = spans(names)
        correct += len(gold & guess)
        guessed += len(guess)
        gold_total += len(gold)
        print(" ".join(f"{w}/{t}" for (w, _), t in zip(sent, names)))
    p = correct / guessed if guessed else 0.0
    r = correct / gold_total
    print(f"precision {p:.2f} recall {r:.2f}")


if __name__ == "__main__":
    main()
