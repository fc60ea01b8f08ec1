import os
import random
import sys
import tempfile

import numpy as np
import torch
import torch.nn as nn
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

# Contrastive Predictive Coding for raw audio (van den Oord 2018), toy scale.
# "speakers" are synthetic vowels with different formants.

SR = 2000
WINDOW = 1280
N_SPEAKERS = 4


def synth_speaker(spk, seconds, rng):
    t = np.arange(int(SR * seconds)) / SR
    f0 = 60 + 25 * spk
    vib = 1 + 0.02 * np.sin(2 * np.pi * 5 * t)
    phase = 2 * np.pi * np.cumsum(f0 * vib) / SR
    x = sum(np.sin(k * phase) * np.exp(-((k * f0 - 200 - 80 * spk) / 150.) ** 2) for k in range(1, 8))
    gate = (np.sin(2 * np.pi * rng.uniform(1, 3) * t + rng.uniform(0, 6)) > -0.5)
    return (x * gate + 0.05 * rng.standard_normal(t.shape)).astype(np.float32)


class RawDataset(Dataset):
    def __init__(self, n_per_speaker=12, seed=0):
        rng = np.random.default_rng(seed)
        self.data = {}
        for spk in range(N_SPEAKERS):
            for j in range(n_per_speaker):
                self.data['%d-%02d' % (spk, j)] = synth_speaker(spk, 1.5, rng)
        self.keys = sorted(self.data)

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, index):
        utt_id = self.keys[index]
        wav = self.data[utt_id]
        start = np.random.choice(len(wav) - WINDOW + 1)
        return wav[start:start + WINDOW], int(utt_id.split('-')[0])


def collate(batch):
    wavs, spk = map(list, zip(*batch))
    return torch.from_numpy(np.array(wavs)).unsqueeze(1), torch.LongTensor(spk)


class ScheduledOptim(object):
    def __init__(self, optimizer, n_warmup_steps, d_model=128):
        self.optimizer = optimizer
        self.d_model = d_model
        self.n_warmup_steps = n_warmup_steps
        self.n_current_steps = 0

    def step(self):
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()

    def update_learning_rate(self):
        self.n_current_steps += 1
        new_lr = np.power(self.d_model, -0.5) * np.min([
            np.power(self.n_current_steps, -0.5),
            np.power(self.n_warmup_steps, -1.5) * self.n_current_steps])
        for param_group in self.optimizer.param_groups:
            param_group['lr'] = new_lr
        return new_lr


class CPC(nn.Module):
    def __init__(self, timestep, hidden=32, context=24):
        super(CPC, self).__init__()
        self.timestep = timestep
        self.hidden, self.context = hidden, context
        self.downsample = 5 * 4 * 2 * 2
        self.encoder = nn.Sequential(  # downsampling factor = 80
            nn.Conv1d(1, hidden, kernel_size=10, stride=5, padding=3, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True),
            nn.Conv1d(hidden, hidden, kernel_size=8, stride=4, padding=2, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True),
            nn.Conv1d(hidden, hidden, kernel_size=4, stride=2, padding=1, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True),
            nn.Conv1d(hidden, hidden, kernel_size=4, stride=2, padding=1, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True)
        )
        self.gru = nn.GRU(hidden, context, num_layers=1, bidirectional=False, batch_first=True)
        self.Wk = nn.ModuleList([nn.Linear(context, hidden) for i in range(timestep)])
        self.lsoftmax = nn.LogSoftmax(dim=-1)

        def _weights_init(m):
            if isinstance(m, nn.Linear):
                nn.init.kaiming_normal_(m.weight, mode='fan_out', nonlinearity='relu')
            if isinstance(m, nn.Conv1d):
                nn.init.kaiming_normal_(m.weight, mode='fan_out', nonlinearity='relu')
            elif isinstance(m, nn.BatchNorm1d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

        self.apply(_weights_init)
        for layer_p in self.gru._all_weights:
            for p in layer_p:
                if 'weight' in p:
                    nn.init.kaiming_normal_(self.gru.__getattr__(p), mode='fan_out', nonlinearity='relu')

    def init_hidden(self, batch_size):
        return torch.zeros(1, batch_size, self.context)

    def forward(self, x, hidden):
        batch = x.size()[0]
        n_z = x.size(-1) // self.downsample
        t_samples = random.randint(1, n_z - self.timestep - 1)
        z = self.encoder(x)
        z = z.transpose(1, 2)  # N*L*C
        encode_samples = torch.empty((self.timestep, batch, self.hidden)).float()
        for i in range(1, self.timestep + 1):
            encode_samples[i - 1] = z[:, t_samples + i, :].view(batch, self.hidden)
        forward_seq = z[:, :t_samples + 1, :]
        output, hidden = self.gru(forward_seq, hidden)
        c_t = output[:, t_samples, :].view(batch, self.context)
        pred = torch.empty((self.timestep, batch, self.hidden)).float()
        for i in range(0, self.timestep):
            pred[i] = self.Wk[i](c_t)
        nce = 0
        correct = 0
        for i in range(0, self.timestep):
            total = torch.mm(encode_samples[i], torch.transpose(pred[i], 0, 1))
            correct += torch.sum(torch.eq(torch.argmax(total, dim=1), torch.arange(0, batch)))
            nce += torch.sum(torch.diag(self.lsoftmax(total)))
        nce /= -1. * batch * self.timestep
        accuracy = 1. * correct.item() / (batch * self.timestep)
        return accuracy, nce, hidden

    def predict(self, x, hidden):
        z = self.encoder(x).transpose(1, 2)
        output, hidden = self.gru(z, hidden)
        return output, hidden[-1]


def extract(model, loader):
    model.eval()
    feats, ids = [], []
    with torch.no_grad():
        for wav, spk in loader:
            out, last = model.predict(wav, model.init_hidden(len(wav)))
            feats.append(torch.cat((out.mean(1), last), 1).numpy())
            ids.extend(spk.numpy())
    return np.concatenate(feats), np.asarray(ids)


def train(model, loader, optimizer, epoch, log_interval=1):
    model.train()
    for batch_idx, (wav, _) in enumerate(loader):
        optimizer.zero_grad()
        acc, loss, hidden = model(wav, model.init_hidden(wav.shape[0]))
        loss.backward()
        optimizer.step()
        lr = optimizer.update_learning_rate()
        if batch_idx % log_interval == 0:
            print('Train Epoch: {} [{}/{}]\tlr:{:.5f}\tAccuracy: {:.4f}\tLoss: {:.6f}'.format(
                epoch, batch_idx, len(loader), lr, acc, loss.item()))


def validation(model, loader):
    model.eval()
    total_loss, total_acc, n = 0, 0, 0
    with torch.no_grad():
        for wav, _ in loader:
            acc, loss, _ = model(wav, model.init_hidden(len(wav)))
            total_loss += len(wav) * loss.item()
            total_acc += len(wav) * acc
            n += len(wav)
    return total_acc / n, total_loss / n


def main():
    seed = 1337
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    train_set, val_set = RawDataset(seed=0), RawDataset(5, seed=1)
    sampler = BatchSampler(RandomSampler(train_set), batch_size=16, drop_last=True)
    train_loader = DataLoader(train_set, batch_sampler=sampler, collate_fn=collate)
    val_loader = DataLoader(val_set, batch_size=10, collate_fn=collate)
    model = CPC(timestep=4)
    optimizer = ScheduledOptim(torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()),
                                                betas=(0.9, 0.98), eps=1e-09, weight_decay=1e-4), 20)
    ckpt = os.path.join(tempfile.mkdtemp(), 'cpc-best.pth')
    best_acc = -1
    for epoch in range(1, 3):
        train(model, train_loader, optimizer, epoch)
        val_acc, val_loss = validation(model, val_loader)
        print('===> Validation: loss %.4f acc %.4f' % (val_loss, val_acc))
        if val_acc > best_acc:
            best_acc = val_acc
            torch.save({'epoch': epoch, 'state_dict': model.state_dict(),
                        'optimizer': optimizer.optimizer.state_dict()}, ckpt)
    model.load_state_dict(torch.load(ckpt, weights_only=False)['state_dict'])
    Xtr, ytr = extract(model, DataLoader(train_set, batch_size=16, collate_fn=collate))
    Xva, yva = extract(model, val_loader)
    scaler = StandardScaler().fit(Xtr)
    clf = LogisticRegression(max_iter=200).fit(scaler.transform(Xtr), ytr)
    print('speaker probe: features', Xtr.shape, 'accuracy', clf.score(scaler.transform(Xva), yva))
    return 0


if __name__ == '__main__':
    sys.exit(main())
