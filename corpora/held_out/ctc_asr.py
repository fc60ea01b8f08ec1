"""DeepSpeech2-flavoured acoustic model (masked convs, bidirectional GRUs, lookahead), CTC, beam search."""
import argparse
import collections
import math
from itertools import groupby

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import BatchSampler, DataLoader, Dataset

LABELS = "_'abcdefghi "
LABEL2ID = {c: i for i, c in enumerate(LABELS)}
WORDS = ["bad", "cab", "face", "hide", "abide", "egg", "chief", "high", "if", "dab"]


class SpectrogramDataset(Dataset):
    def __init__(self, size, n_freq=33, seed=0):
        rng = np.random.RandomState(seed)
        self.proto = np.random.RandomState(99).rand(len(LABELS), n_freq) ** 3 * 3
        self.n_freq, self.items = n_freq, []
        for _ in range(size):
            text = " ".join(rng.choice(WORDS, rng.randint(1, 4)))
            self.items.append((text, rng.randint(2 ** 31 - 1)))
        self.items.sort(key=lambda it: len(it[0]))     # SortaGrad

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        text, seed = self.items[idx]
        rng = np.random.RandomState(seed)
        cols = []
        for ch in text:
            cols += [self.proto[LABEL2ID[ch]]] * rng.randint(4, 8) + [np.zeros(self.n_freq)]
        spec = np.stack(cols, axis=1) + 0.15 * rng.randn(self.n_freq, len(cols))
        spec = (spec - spec.mean()) / spec.std()
        return torch.FloatTensor(spec), [LABEL2ID[c] for c in text]


def _collate_fn(batch):
    batch = sorted(batch, key=lambda sample: sample[0].size(1), reverse=True)
    freq_size, max_len = batch[0][0].shape
    inputs = torch.zeros(len(batch), 1, freq_size, max_len)
    input_percentages = torch.FloatTensor(len(batch))
    target_sizes = torch.IntTensor(len(batch))
    targets = []
    for x, (tensor, target) in enumerate(batch):
        inputs[x][0].narrow(1, 0, tensor.size(1)).copy_(tensor)
        input_percentages[x] = tensor.size(1) / float(max_len)
        target_sizes[x] = len(target)
        targets.extend(target)
    return inputs, torch.tensor(targets, dtype=torch.long), input_percentages, target_sizes


class BucketingSampler:
    def __init__(self, data_source, batch_size):
        ids = list(range(len(data_source)))
        self.bins = [ids[i:i + batch_size] for i in range(0, len(ids), batch_size)]
        self.epoch = 0

    def __iter__(self):
        order = range(len(self.bins)) if self.epoch == 0 else np.random.permutation(len(self.bins))
        for i in order:
            yield list(np.random.permutation(self.bins[i]))
        self.epoch += 1

    def __len__(self):
        return len(self.bins)


class SequenceWise(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        t, n = x.size(0), x.size(1)
        return self.module(x.reshape(t * n, -1)).view(t, n, -1)


class MaskConv(nn.Module):
    def __init__(self, seq_module):
        super().__init__()
        self.seq_module = seq_module

    def forward(self, x, lengths):
        for module in self.seq_module:
            x = module(x)
            mask = torch.zeros(x.size(), dtype=torch.bool)
            for i, length in enumerate(lengths):
                length = int(length)
                if mask[i].size(2) - length > 0:
                    mask[i].narrow(2, length, mask[i].size(2) - length).fill_(True)
            x = x.masked_fill(mask, 0)
        return x, lengths


class BatchRNN(nn.Module):
    def __init__(self, input_size, hidden_size, rnn_type=nn.GRU, bidirectional=False, batch_norm=True):
        super().__init__()
        self.hidden_size, self.bidirectional = hidden_size, bidirectional
        self.batch_norm = SequenceWise(nn.BatchNorm1d(input_size)) if batch_norm else None
        self.rnn = rnn_type(input_size=input_size, hidden_size=hidden_size, bidirectional=bidirectional)

    def forward(self, x, output_lengths):
        if self.batch_norm is not None:
            x = self.batch_norm(x)
        x = pack_padded_sequence(x, output_lengths)
        x, h = self.rnn(x)
        x, _ = pad_packed_sequence(x)
        if self.bidirectional:
            x = x.view(x.size(0), x.size(1), 2, -1).sum(2).view(x.size(0), x.size(1), -1)
        return x


class Lookahead(nn.Module):
    def __init__(self, n_features, context):
        super().__init__()
        self.pad = (0, context - 1)
        self.conv = nn.Conv1d(n_features, n_features, kernel_size=context, groups=n_features, bias=False)

    def forward(self, x):
        x = x.transpose(0, 1).transpose(1, 2)
        x = self.conv(F.pad(x, pad=self.pad, value=0))
        return x.transpose(1, 2).transpose(0, 1).contiguous()


class DeepSpeech(nn.Module):
    def __init__(self, n_freq, hidden=38, layers=2, context=4, channels=5):
        super().__init__()
        self.conv = MaskConv(nn.Sequential(
            nn.Conv2d(1, channels, kernel_size=(11, 5), stride=(2, 2), padding=(5, 2)),
            nn.BatchNorm2d(channels), nn.Hardtanh(0, 20),
            nn.Conv2d(channels, channels + 2, kernel_size=(7, 3), stride=(2, 1), padding=(3, 1)),
            nn.BatchNorm2d(channels + 2), nn.Hardtanh(0, 20)))
        size = int(math.floor(n_freq + 2 * 5 - 11) / 2 + 1)
        size = int(math.floor(size + 2 * 3 - 7) / 2 + 1) * (channels + 2)
        rnns = [("0", BatchRNN(size, hidden, bidirectional=True, batch_norm=False))]
        for i in range(layers - 1):
            rnns.append(("%d" % (i + 1), BatchRNN(hidden, hidden, bidirectional=(i % 2 == 1))))
        self.rnns = nn.Sequential(collections.OrderedDict(rnns))
        self.lookahead = nn.Sequential(Lookahead(hidden, context), nn.Hardtanh(0, 20, inplace=True))
        self.fc = nn.Sequential(SequenceWise(nn.Sequential(
            nn.BatchNorm1d(hidden), nn.Linear(hidden, len(LABELS), bias=False))))

    def get_seq_lens(self, input_length):
        seq_len = input_length
        for m in self.conv.modules():
            if type(m) == nn.modules.conv.Conv2d:
                seq_len = (seq_len + 2 * m.padding[1] - m.dilation[1] * (m.kernel_size[1] - 1) - 1) // m.stride[1] + 1
        return seq_len.int()

    def forward(self, x, lengths):
        output_lengths = self.get_seq_lens(lengths.cpu().int())
        x, _ = self.conv(x, output_lengths)
        sizes = x.size()
        x = x.view(sizes[0], sizes[1] * sizes[2], sizes[3])
        x = x.transpose(1, 2).transpose(0, 1).contiguous()     # T x N x H
        for rnn in self.rnns:
            x = rnn(x, output_lengths)
        x = self.fc(self.lookahead(x)).transpose(0, 1)
        if not self.training:
            x = F.softmax(x, dim=-1)
        return x, output_lengths


def greedy(probs, sizes):
    ids = probs.argmax(-1)
    out = []
    for row, n in zip(ids, sizes):
        collapsed = [k for k, _ in groupby(row[:int(n)].tolist())]
        out.append("".join(LABELS[i] for i in collapsed if i != 0))
    return out


def prefix_beam(probs, width=5, topk=4):
    beams = {(): (1.0, 0.0)}
    for frame in probs:
        nxt = collections.defaultdict(lambda: [0.0, 0.0])
        for prefix, (pb, pnb) in beams.items():
            for p, c in zip(*(t.tolist() for t in frame.topk(topk))):
                if c == 0:
                    nxt[prefix][0] += p * (pb + pnb)
                elif prefix and prefix[-1] == c:
                    nxt[prefix][1] += p * pnb
                    nxt[prefix + (c,)][1] += p * pb
                else:
                    nxt[prefix + (c,)][1] += p * (pb + pnb)
        beams = dict(sorted(nxt.items(), key=lambda kv: -sum(kv[1]))[:width])
    return "".join(LABELS[i] for i in max(beams.items(), key=lambda kv: sum(kv[1]))[0])


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


def main():
    ap = argparse.ArgumentParser(description="DeepSpeech training")
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch-size", type=int, default=8)
    ap.add_argument("--learning-anneal", type=float, default=1.15)
    ap.add_argument("--lr", type=float, default=6e-3)
    args, _ = ap.parse_known_args()
    torch.manual_seed(123456)
    np.random.seed(123456)
    train = SpectrogramDataset(64, seed=1)
    loader = DataLoader(train, batch_sampler=BucketingSampler(train, args.batch_size), collate_fn=_collate_fn)
    test_loader = DataLoader(SpectrogramDataset(11, seed=2), batch_size=4, collate_fn=_collate_fn)
    model = DeepSpeech(train.n_freq)
    criterion = nn.CTCLoss(blank=0, reduction="sum", zero_infinity=True)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0
        for inputs, targets, pct, tsizes in loader:
            out, osizes = model(inputs, pct.mul(int(inputs.size(3))).round().int())
            logp = out.transpose(0, 1).float().log_softmax(-1)
            loss = criterion(logp, targets, osizes, tsizes) / inputs.size(0)
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 40)
            opt.step()
            total += loss.item()
        for g in opt.param_groups:
            g["lr"] = g["lr"] / args.learning_anneal
        model.eval()
        cer = wer = chars = words = 0
        with torch.no_grad():
            for inputs, targets, pct, tsizes in test_loader:
                probs, osizes = model(inputs, pct.mul(int(inputs.size(3))).round().int())
                refs = ["".join(LABELS[i] for i in t.tolist()) for t in targets.split(tsizes.tolist())]
                for hyp, ref in zip(greedy(probs, osizes), refs):
                    cer += levenshtein(hyp.replace(" ", ""), ref.replace(" ", ""))
                    wer += levenshtein(hyp.split(), ref.split())
                    chars, words = chars + len(ref.replace(" ", "")), words + len(ref.split())
        print(f"Epoch {epoch + 1}\tloss {total / len(loader):.3f}\tWER {100 * wer / words:.1f}\tCER {100 * cer / chars:.1f}")
    print("beam:", repr(prefix_beam(probs[0, :int(osizes[0])])), "ref:", repr(refs[0]))


if __name__ == "__main__":
    main()
