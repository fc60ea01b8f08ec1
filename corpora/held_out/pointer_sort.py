# Pointer Network (Vinyals et al. 2015) learns to sort numbers
# sequences have different length, so everything is padded + masked

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler

CONFIG = {
    'embedding_size': 24,
    'hidden_size': 32,
    'min_len': 4,
    'max_len': 9,
    'n_train': 96,
    'n_val': 32,
    'batch_size': 16,
    'lr': 1e-3,
    'epochs': 2,
    'max_batches': 3,
    'teacher_forcing': 0.7,
}


class SortDataset(Dataset):
    def __init__(self, n, min_len, max_len, seed=0):
        rng = np.random.RandomState(seed)
        self.seqs = []
        for _ in range(n):
            L = rng.randint(min_len, max_len + 1)
            self.seqs.append(rng.rand(L).astype('float32'))

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        seq = self.seqs[i]
        order = np.argsort(seq)
        return torch.from_numpy(seq), torch.from_numpy(order)


class BucketSampler(Sampler):
    """Yields batches of indices with roughly the same length."""

    def __init__(self, dataset, batch_size, shuffle=True):
        self.lengths = [len(s) for s in dataset.seqs]
        self.batch_size = batch_size
        self.shuffle = shuffle

    def __iter__(self):
        idx = list(range(len(self.lengths)))
        if self.shuffle:
            random.shuffle(idx)
        idx.sort(key=lambda i: self.lengths[i])
        batches = [idx[i:i + self.batch_size] for i in range(0, len(idx), self.batch_size)]
        if self.shuffle:
            random.shuffle(batches)
        yield from batches

    def __len__(self):
        return (len(self.lengths) + self.batch_size - 1) // self.batch_size


def collate_fn(batch):
    seqs, targets = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    seqs = pad_sequence(seqs, batch_first=True)
    targets = pad_sequence(targets, batch_first=True, padding_value=-100)
    return seqs.unsqueeze(-1), targets, lengths


class Encoder(nn.Module):
    def __init__(self, emb, hid):
        super(Encoder, self).__init__()
        self.hid = hid
        self.rnn = nn.LSTM(emb, hid, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        # sum both directions
        out = out[:, :, :self.hid] + out[:, :, self.hid:]
        return out, (h[0] + h[1], c[0] + c[1])


class Attention(nn.Module):
    def __init__(self, hid):
        super(Attention, self).__init__()
        self.W1 = nn.Linear(hid, hid, bias=False)
        self.W2 = nn.Linear(hid, hid, bias=False)
        self.v = nn.Linear(hid, 1, bias=False)

    def forward(self, query, keys, mask):
        scores = self.v(torch.tanh(self.W1(keys) + self.W2(query).unsqueeze(1))).squeeze(-1)
        scores = scores.masked_fill(~mask, -1e9)
        return F.log_softmax(scores, dim=-1)


class PointerNet(nn.Module):
    def __init__(self, embedding_size, hidden_size):
        super(PointerNet, self).__init__()
        self.embedding = nn.Linear(1, embedding_size)
        self.encoder = Encoder(embedding_size, hidden_size)
        self.cell = nn.LSTMCell(embedding_size, hidden_size)
        self.attn = Attention(hidden_size)
        self.start = nn.Parameter(torch.zeros(embedding_size))
        nn.init.uniform_(self.start, -0.1, 0.1)

    def forward(self, x, lengths, targets=None, teacher_forcing=0.0):
        B, L, _ = x.shape
        emb = self.embedding(x)
        enc, (h, c) = self.encoder(emb, lengths)
        pad_mask = torch.arange(L).unsqueeze(0) < lengths.unsqueeze(1)
        avail = pad_mask.clone()
        inp = self.start.expand(B, -1)
        log_probs, pointers = [], []
        for t in range(L):
            h, c = self.cell(inp, (h, c))
            lp = self.attn(h, enc, pad_mask)
            # never point twice at the same element when decoding greedily
            choice = lp.masked_fill(~avail, -1e9).argmax(dim=1)
            log_probs.append(lp)
            pointers.append(choice)
            if targets is not None and random.random() < teacher_forcing:
                choice = targets[:, t].clamp(min=0)
            inp = emb[torch.arange(B), choice]
            avail = avail.scatter(1, choice.unsqueeze(1), False)
        return torch.stack(log_probs, dim=1), torch.stack(pointers, dim=1)


def masked_accuracy(pointers, targets):
    mask = targets != -100
    correct = (pointers == targets) & mask
    token_acc = correct.sum().float() / mask.sum().float()
    seq_acc = ((correct | ~mask).all(dim=1)).float().mean()
    return token_acc.item(), seq_acc.item()


def run_epoch(model, loader, optimizer=None, cfg=CONFIG):
    training = optimizer is not None
    model.train(training)
    losses, taccs, saccs = [], [], []
    with torch.set_grad_enabled(training):
        for i, (x, y, lens) in enumerate(loader):
            if i >= cfg['max_batches']:
                break
            tf = cfg['teacher_forcing'] if training else 0.0
            lp, ptr = model(x, lens, y, tf) if training else model(x, lens)
            loss = F.nll_loss(lp.reshape(-1, lp.size(-1)), y.reshape(-1), ignore_index=-100)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
            ta, sa = masked_accuracy(ptr, y)
            losses.append(loss.item())
            taccs.append(ta)
            saccs.append(sa)
    return np.mean(losses), np.mean(taccs), np.mean(saccs)


if __name__ == '__main__':
    random.seed(0)
    torch.manual_seed(0)
    train_set = SortDataset(CONFIG['n_train'], CONFIG['min_len'], CONFIG['max_len'], seed=1)
    val_set = SortDataset(CONFIG['n_val'], CONFIG['min_len'], CONFIG['max_len'], seed=2)
    train_loader = DataLoader(train_set, batch_sampler=BucketSampler(train_set, CONFIG['batch_size']),
                              collate_fn=collate_fn)
    val_loader = DataLoader(val_set, batch_size=CONFIG['batch_size'], collate_fn=collate_fn)

    net = PointerNet(CONFIG['embedding_size'], CONFIG['hidden_size'])
    opt = torch.optim.Adam(net.parameters(), lr=CONFIG['lr'])
    for epoch in range(CONFIG['epochs']):
        tr = run_epoch(net, train_loader, opt)
        va = run_epoch(net, val_loader)
        print('epoch %d | train loss %.3f tok %.3f seq %.3f | val loss %.3f tok %.3f seq %.3f'
              % ((epoch,) + tr + va))

    net.eval()
    demo = torch.tensor([[0.9, 0.1, 0.5, 0.3]]).unsqueeze(-1)
    with torch.no_grad():
        _, p = net(demo, torch.tensor([4]))
    print('demo input', demo.flatten().tolist())
    print('demo output', demo[0, p[0], 0].tolist())
