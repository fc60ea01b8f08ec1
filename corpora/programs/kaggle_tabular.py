# This Python 3 environment comes with many helpful analytics libraries installed
import os
import gc
import time
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader
from sklearn.model_selection import KFold
from sklearn.metrics import log_loss
import warnings
warnings.filterwarnings('ignore')


def seed_everything(seed=42):
    random.seed(seed)
    os.environ['PYTHONHASHSEED'] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True

seed_everything(seed=42)

NUM, CAT = 21, [5, 7, 11]
n_train, n_test, n_targets = 130, 46, 6
train_num = np.random.randn(n_train, NUM)
train_cat = np.stack([np.random.randint(0, c, n_train) for c in CAT], axis=1)
test_num = np.random.randn(n_test, NUM)
test_cat = np.stack([np.random.randint(0, c, n_test) for c in CAT], axis=1)
target = (train_num[:, :n_targets] + 0.1 * np.random.randn(n_train, n_targets) > 0.4).astype(int)

# RankGauss, sort of
mu, sd = train_num.mean(0), train_num.std(axis=0)
train_num, test_num = (train_num - mu) / sd, (test_num - mu) / sd


class MoADataset:
    def __init__(self, num, cat, targets):
        self.num = num
        self.cat = cat
        self.targets = targets

    def __len__(self):
        return (self.num.shape[0])

    def __getitem__(self, idx):
        dct = {
            'x' : torch.tensor(self.num[idx, :], dtype=torch.float),
            'c' : torch.tensor(self.cat[idx, :], dtype=torch.long),
            'y' : torch.tensor(self.targets[idx, :], dtype=torch.float)
        }
        return dct

class TestDataset:
    def __init__(self, num, cat):
        self.num = num
        self.cat = cat

    def __len__(self):
        return (self.num.shape[0])

    def __getitem__(self, idx):
        dct = {
            'x' : torch.tensor(self.num[idx, :], dtype=torch.float),
            'c' : torch.tensor(self.cat[idx, :], dtype=torch.long)
        }
        return dct


def train_fn(model, optimizer, scheduler, loss_fn, dataloader, device):
    model.train()
    final_loss = 0

    for data in dataloader:
        optimizer.zero_grad()
        inputs, cats, targets = data['x'].to(device), data['c'].to(device), data['y'].to(device)
        outputs = model(inputs, cats)
        loss = loss_fn(outputs, targets)
        loss.backward()
        optimizer.step()
        scheduler.step()

        final_loss += loss.item()

    final_loss /= len(dataloader)
    return final_loss


def valid_fn(model, loss_fn, dataloader, device):
    model.eval()
    final_loss = 0
    valid_preds = []

    for data in dataloader:
        inputs, cats, targets = data['x'].to(device), data['c'].to(device), data['y'].to(device)
        outputs = model(inputs, cats)
        loss = loss_fn(outputs, targets)
        final_loss += loss.item()
        valid_preds.append(outputs.sigmoid().detach().cpu().numpy())

    final_loss /= len(dataloader)
    valid_preds = np.concatenate(valid_preds)
    return final_loss, valid_preds

def inference_fn(model, dataloader, device):
    model.eval()
    preds = []
    for data in dataloader:
        with torch.no_grad():
            outputs = model(data['x'].to(device), data['c'].to(device))
        preds.append(outputs.sigmoid().detach().cpu().numpy())
    return np.concatenate(preds)


class SmoothBCEwLogits(nn.modules.loss._WeightedLoss):
    def __init__(self, weight=None, reduction='mean', smoothing=0.0):
        super().__init__(weight=weight, reduction=reduction)
        self.smoothing = smoothing
        self.weight = weight
        self.reduction = reduction

    @staticmethod
    def _smooth(targets, n_labels, smoothing=0.0):
        assert 0 <= smoothing < 1
        with torch.no_grad():
            targets = targets * (1.0 - smoothing) + 0.5 * smoothing
        return targets

    def forward(self, inputs, targets):
        targets = SmoothBCEwLogits._smooth(targets, inputs.size(-1), self.smoothing)
        loss = F.binary_cross_entropy_with_logits(inputs, targets, self.weight)
        return loss


class Model(nn.Module):
    def __init__(self, num_features, emb_dims, num_targets, hidden_size):
        super(Model, self).__init__()
        self.embs = nn.ModuleList([nn.Embedding(x, y) for x, y in emb_dims])
        n_emb = sum([y for x, y in emb_dims])
        self.batch_norm1 = nn.BatchNorm1d(num_features)
        self.dense1 = nn.utils.weight_norm(nn.Linear(num_features + n_emb, hidden_size))

        self.batch_norm2 = nn.BatchNorm1d(hidden_size)
        self.dropout2 = nn.Dropout(0.2619422201258426)
        self.dense2 = nn.Linear(hidden_size, hidden_size // 2)

        self.batch_norm3 = nn.BatchNorm1d(hidden_size // 2)
        self.dense3 = nn.utils.weight_norm(nn.Linear(hidden_size // 2, num_targets))

    def forward(self, x, c):
        e = [emb(c[:, i]) for i, emb in enumerate(self.embs)]
        x = torch.cat([self.batch_norm1(x)] + e, 1)
        x = F.leaky_relu(self.dense1(x), 1e-3)

        x = self.batch_norm2(x)
        x = self.dropout2(x)
        x = F.leaky_relu(self.dense2(x))

        x = self.batch_norm3(x)
        x = self.dense3(x)
        return x


DEVICE = ('cuda' if torch.cuda.is_available() else 'cpu')
EPOCHS = 2
BATCH_SIZE = 32
NFOLDS = 3
hidden_size = 48
emb_dims = [(c, min(50, (c + 1) // 2)) for c in CAT]

def run_training(fold, trn_idx, val_idx):
    train_dataset = MoADataset(train_num[trn_idx], train_cat[trn_idx], target[trn_idx])
    valid_dataset = MoADataset(train_num[val_idx], train_cat[val_idx], target[val_idx])
    trainloader = DataLoader(train_dataset, batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
    validloader = DataLoader(valid_dataset, batch_size=BATCH_SIZE, shuffle=False)

    model = Model(num_features=NUM, emb_dims=emb_dims, num_targets=n_targets, hidden_size=hidden_size)
    model.to(DEVICE)

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer=optimizer, pct_start=0.1, div_factor=1e3,
                                                    max_lr=1e-2, epochs=EPOCHS, steps_per_epoch=len(trainloader))
    loss_tr = SmoothBCEwLogits(smoothing=0.001)
    loss_fn = nn.BCEWithLogitsLoss()

    oof = np.zeros((len(train_num), n_targets))
    best_loss = np.inf
    for epoch in range(EPOCHS):
        train_loss = train_fn(model, optimizer, scheduler, loss_tr, trainloader, DEVICE)
        valid_loss, valid_preds = valid_fn(model, loss_fn, validloader, DEVICE)
        print(f"FOLD: {fold}, EPOCH: {epoch}, train_loss: {train_loss:.4f}, valid_loss: {valid_loss:.4f}")
        if valid_loss < best_loss:
            best_loss = valid_loss
            oof[val_idx] = valid_preds

    testloader = DataLoader(TestDataset(test_num, test_cat), batch_size=BATCH_SIZE, shuffle=False)
    predictions = np.zeros((n_test, n_targets))
    predictions = inference_fn(model, testloader, DEVICE)
    return oof, predictions

def run_k_fold(NFOLDS):
    oof = np.zeros((n_train, n_targets))
    predictions = np.zeros((n_test, n_targets))
    for fold, (tr, va) in enumerate(KFold(n_splits=NFOLDS, shuffle=True).split(train_num)):
        oof_, pred_ = run_training(fold, tr, va)
        predictions += pred_ / NFOLDS
        oof += oof_
    return oof, predictions

if __name__ == '__main__':
    oof, predictions = run_k_fold(NFOLDS)
    score = 0
    for i in range(target.shape[1]):
        score += log_loss(target[:, i], oof[:, i], labels=[0, 1]) / target.shape[1]
    print("CV log_loss: ", score, predictions.shape)
