# In[1]:
"""CRNN + CTC on rendered digit strings (own 5x3 font), with STN rectifier and beam search"""
import math
import random
from collections import OrderedDict, defaultdict

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader

SEED = 5
random.seed(SEED), np.random.seed(SEED), torch.manual_seed(SEED)

# In[2]:
ALPHABET = '0123456789'
BLANK = 0
IMG_H, IMG_W = 16, 52
MIN_LEN, MAX_LEN = 3, 6
BATCH = 11
N_TRAIN, N_VAL = 132, 22
EPOCHS = 4
NH = 30
LR = 4e-3
BEAM = 4
char2idx = {c: i + 1 for i, c in enumerate(ALPHABET)}
idx2char = {v: k for k, v in char2idx.items()}

FONT = {
    '0': '111101101101111', '1': '010110010010111', '2': '111001111100111', '3': '111001111001111',
    '4': '101101111001001', '5': '111100111001111', '6': '111100111101111', '7': '111001001001001',
    '8': '111101111101111', '9': '111101111001111'}
GLYPHS = {k: np.array(list(map(int, v)), dtype=np.float32).reshape(5, 3) for k, v in FONT.items()}

# In[3]:


def render(text):
    img = np.zeros((IMG_H, IMG_W), dtype=np.float32)
    x = random.randint(1, 4)
    for ch in text:
        g = np.kron(GLYPHS[ch], np.ones((2, 2), dtype=np.float32))
        y = random.randint(1, IMG_H - 11)
        img[y:y + 10, x:x + 6] = np.maximum(img[y:y + 10, x:x + 6], g)
        x += 7 + random.randint(0, 1)
    return img + np.random.randn(*img.shape).astype(np.float32) * 0.1


class OcrDataset(Dataset):
    def __init__(self, n):
        self.texts = [''.join(random.choice(ALPHABET) for _ in range(random.randint(MIN_LEN, MAX_LEN))) for _ in range(n)]
        self.imgs = [render(t) for t in self.texts]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return torch.from_numpy(self.imgs[i]).unsqueeze(0), [char2idx[c] for c in self.texts[i]], self.texts[i]


def collate(batch):
    imgs, targets, texts = zip(*batch)
    lengths = torch.tensor([len(t) for t in targets])
    flat = torch.tensor([c for t in targets for c in t])
    return torch.stack(imgs), flat, lengths, list(texts)


train_loader = DataLoader(OcrDataset(N_TRAIN), batch_size=BATCH, shuffle=True, collate_fn=collate)
val_loader = DataLoader(OcrDataset(N_VAL), batch_size=BATCH, collate_fn=collate)
imgs, flat, lengths, texts = next(iter(train_loader))
print(imgs.shape, flat.shape, lengths, texts[:3])

# In[4]:


class STN(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc = nn.Sequential(nn.Conv2d(1, 6, 5, stride=2, padding=2), nn.ReLU(True), nn.AdaptiveAvgPool2d((2, 5)),
                                 nn.Flatten(), nn.Linear(60, 6))
        self.loc[-1].weight.data.zero_()
        self.loc[-1].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        theta = self.loc(x).view(-1, 2, 3)
        return F.grid_sample(x, F.affine_grid(theta, x.size(), align_corners=False), align_corners=False)


class BidirectionalLSTM(nn.Module):
    def __init__(self, nIn, nHidden, nOut):
        super(BidirectionalLSTM, self).__init__()
        self.rnn = nn.LSTM(nIn, nHidden, bidirectional=True)
        self.embedding = nn.Linear(nHidden * 2, nOut)

    def forward(self, input):
        b = input.size(1)
        h0 = torch.zeros(2, b, self.rnn.hidden_size)
        c0 = torch.zeros_like(h0)
        recurrent, _ = self.rnn(input, (h0, c0))
        T, b, h = recurrent.size()
        t_rec = recurrent.view(T * b, h)
        output = self.embedding(t_rec)
        return output.view(T, b, -1)


class CRNN(nn.Module):
    def __init__(self, nclass, nh, leakyRelu=False):
        super(CRNN, self).__init__()
        ks = [3, 3, 3, 2]
        ps = [1, 1, 1, 0]
        nm = [10, 18, 26, 32]
        cnn = OrderedDict()

        def convRelu(i, batchNormalization=False):
            nIn = 1 if i == 0 else nm[i - 1]
            cnn['conv{0}'.format(i)] = nn.Conv2d(nIn, nm[i], ks[i], 1, ps[i])
            if batchNormalization:
                cnn['batchnorm{0}'.format(i)] = nn.BatchNorm2d(nm[i])
            cnn['relu{0}'.format(i)] = nn.LeakyReLU(0.2, inplace=True) if leakyRelu else nn.ReLU(True)

        convRelu(0)
        cnn['pooling0'] = nn.MaxPool2d(2, 2)
        convRelu(1, True)
        cnn['pooling1'] = nn.MaxPool2d((2, 1), (2, 1))
        convRelu(2, True)
        cnn['pooling2'] = nn.MaxPool2d((2, 2), (2, 1), (0, 1))
        convRelu(3)
        self.stn = STN()
        self.cnn = nn.Sequential(cnn)
        self.rnn = nn.Sequential(BidirectionalLSTM(nm[-1], nh, nh), BidirectionalLSTM(nh, nh - 4, nclass))

    def forward(self, x):
        conv = self.cnn(self.stn(x))
        b, c, h, w = conv.size()
        assert h == 1, "the height of conv must be 1, got %d" % h
        conv = conv.squeeze(2)
        conv = conv.permute(2, 0, 1)  # [w, b, c]
        return self.rnn(conv)


crnn = CRNN(len(ALPHABET) + 1, NH, leakyRelu=True)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1:
        nn.init.kaiming_normal_(m.weight, nonlinearity='relu')
    elif classname.find('BatchNorm') != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


crnn.cnn.apply(weights_init)
print(crnn.cnn)
print('out', crnn(imgs).shape)

# In[5]:
criterion = nn.CTCLoss(blank=BLANK, zero_infinity=True)
optimizer = torch.optim.RMSprop(crnn.parameters(), lr=LR / 2)


def greedy_decode(log_probs):
    best = log_probs.argmax(2).transpose(0, 1)
    res = []
    for seq in best:
        seq = torch.unique_consecutive(seq)
        res.append(''.join(idx2char[int(i)] for i in seq if i != BLANK))
    return res


def log_add(*args):
    if all(a == -math.inf for a in args):
        return -math.inf
    m = max(args)
    return m + math.log(sum(math.exp(a - m) for a in args))


def beam_decode(lp, width=BEAM):
    beams = [((), (0.0, -math.inf))]
    for t in range(lp.shape[0]):
        nxt = defaultdict(lambda: (-math.inf, -math.inf))
        vals, ids = lp[t].topk(4)
        for prefix, (pb, pnb) in beams:
            for p, s in zip(vals.tolist(), ids.tolist()):
                if s == BLANK:
                    nb, nnb = nxt[prefix]
                    nxt[prefix] = (log_add(nb, pb + p, pnb + p), nnb)
                    continue
                end = prefix[-1] if prefix else None
                nb, nnb = nxt[prefix + (s,)]
                nxt[prefix + (s,)] = (nb, log_add(nnb, pb + p) if s == end else log_add(nnb, pb + p, pnb + p))
                if s == end:
                    nb, nnb = nxt[prefix]
                    nxt[prefix] = (nb, log_add(nnb, pnb + p))
        beams = sorted(nxt.items(), key=lambda kv: log_add(*kv[1]), reverse=True)[:width]
    return ''.join(idx2char[i] for i in beams[0][0])


def edit_distance(a, b):
    d = list(range(len(b) + 1))
    for i, ca in enumerate(a):
        prev, d[0] = d[0], i + 1
        for j, cb in enumerate(b):
            prev, d[j + 1] = d[j + 1], min(d[j + 1] + 1, d[j] + 1, prev + (ca != cb))
    return d[-1]


print(edit_distance('12345', '1345'), edit_distance('', '99'))

# In[6]:
for epoch in range(EPOCHS):
    crnn.train()
    total = 0
    for imgs, flat, lengths, texts in train_loader:
        lp = crnn(imgs).log_softmax(2)
        in_len = torch.full((imgs.size(0),), lp.size(0), dtype=torch.long)
        loss = criterion(lp, flat, in_len, lengths)
        crnn.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(crnn.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    crnn.eval()
    cer, n = 0, 0
    with torch.no_grad():
        for imgs, flat, lengths, texts in val_loader:
            for p, g in zip(greedy_decode(crnn(imgs).log_softmax(2)), texts):
                cer += edit_distance(p, g)
                n += len(g)
    print('epoch', epoch, 'loss', round(total / len(train_loader), 4), 'CER', round(cer / n, 3))

# In[7]:
with torch.no_grad():
    imgs, flat, lengths, texts = next(iter(val_loader))
    lp = crnn(imgs).log_softmax(2)
    print([(beam_decode(lp[:, i]), texts[i]) for i in range(4)])
    print('blank prob', lp[..., BLANK].exp().mean().item(), 'theta', crnn.stn.loc(imgs).mean(0))
