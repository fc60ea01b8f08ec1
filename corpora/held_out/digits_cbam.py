#!/usr/bin/env python
# coding: utf-8

# # Digit recognizer with CBAM
# 
# Small CNN + Convolutional Block Attention Module. The data set is the 8x8
# digits of scikit-learn, so the notebook is quick to run.

# In[1]:


import random
import time

import numpy as np
import pandas as pd

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.metrics import confusion_matrix, f1_score


# In[2]:


class CFG:
    seed = 42
    n_fold = 4
    trn_fold = [0, 1]
    epochs = 1
    max_steps = 3          # debug = True
    batch_size = 64
    lr = 2e-3
    weight_decay = 1e-4
    img_size = 16
    num_classes = 10
    widths = [32, 64, 128]
    reduction = 8
    print_freq = 1


def seed_everything(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


seed_everything(CFG.seed)
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


# ## Load data

# In[3]:


digits = load_digits()
train = pd.DataFrame(digits.data, columns=['pixel%d' % i for i in range(64)])
train['label'] = digits.target
print(train.shape)
train.head()


# In[4]:


skf = StratifiedKFold(n_splits=CFG.n_fold, shuffle=True, random_state=CFG.seed)
train['fold'] = -1
for n, (trn_idx, val_idx) in enumerate(skf.split(train, train['label'])):
    train.loc[val_idx, 'fold'] = n
print(train.groupby(['fold', 'label']).size().unstack().iloc[:, :4])


# In[5]:


class DigitDataset(Dataset):
    def __init__(self, df, transform=None):
        self.df = df
        self.pixels = df[[c for c in df.columns if c.startswith('pixel')]].values
        self.labels = df['label'].values
        self.transform = transform

    def __len__(self):
        return len(self.df)

    def __getitem__(self, idx):
        img = self.pixels[idx].reshape(8, 8).astype(np.float32) / 16.0
        if self.transform is not None:
            img = self.transform(img)
        img = torch.from_numpy(np.ascontiguousarray(img)).unsqueeze(0)
        img = F.interpolate(img[None], size=(CFG.img_size, CFG.img_size),
                            mode='bilinear', align_corners=False)[0]
        return img, torch.tensor(self.labels[idx]).long()


def random_shift(img, max_shift=1):
    dx, dy = np.random.randint(-max_shift, max_shift + 1, size=2)
    return np.roll(np.roll(img, dx, axis=0), dy, axis=1)


# ## Model

# In[6]:


class ChannelAttention(nn.Module):
    def __init__(self, in_planes, ratio=16):
        super(ChannelAttention, self).__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.max_pool = nn.AdaptiveMaxPool2d(1)

        self.fc1 = nn.Conv2d(in_planes, in_planes // ratio, 1, bias=False)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Conv2d(in_planes // ratio, in_planes, 1, bias=False)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        avg_out = self.fc2(self.relu1(self.fc1(self.avg_pool(x))))
        max_out = self.fc2(self.relu1(self.fc1(self.max_pool(x))))
        out = avg_out + max_out
        return self.sigmoid(out)


class SpatialAttention(nn.Module):
    def __init__(self, kernel_size=7):
        super(SpatialAttention, self).__init__()
        assert kernel_size in (3, 7), 'kernel size must be 3 or 7'
        padding = 3 if kernel_size == 7 else 1
        self.conv1 = nn.Conv2d(2, 1, kernel_size, padding=padding, bias=False)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        avg_out = torch.mean(x, dim=1, keepdim=True)
        max_out, _ = torch.max(x, dim=1, keepdim=True)
        x = torch.cat([avg_out, max_out], dim=1)
        x = self.conv1(x)
        return self.sigmoid(x)


class CBAMBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.ca = ChannelAttention(planes, CFG.reduction)
        self.sa = SpatialAttention(3)
        self.downsample = None
        if stride != 1 or inplanes != planes * self.expansion:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, planes * self.expansion, 1, stride=stride, bias=False),
                nn.BatchNorm2d(planes * self.expansion),
            )

    def forward(self, x):
        residual = x
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out = self.ca(out) * out
        out = self.sa(out) * out
        if self.downsample is not None:
            residual = self.downsample(x)
        out += residual
        return F.relu(out)


class DigitNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, cfg.widths[0], 3, padding=1),
            nn.BatchNorm2d(cfg.widths[0]),
            nn.ReLU(inplace=True),
        )
        blocks = []
        in_ch = cfg.widths[0]
        for i, w in enumerate(cfg.widths):
            blocks.append(CBAMBlock(in_ch, w, stride=1 if i == 0 else 2))
            in_ch = w
        self.blocks = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(in_ch, cfg.num_classes)

    def forward(self, x):
        x = self.stem(x)
        x = self.blocks(x)
        x = F.adaptive_avg_pool2d(x, 1).view(x.size(0), -1)
        return self.fc(self.dropout(x))


# ## Training utils

# In[7]:


class AverageMeter(object):
    """Computes and stores the average and current value"""
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def train_fn(loader, model, criterion, optimizer, scheduler):
    losses = AverageMeter()
    model.train()
    for step, (images, labels) in enumerate(loader):
        if step >= CFG.max_steps:
            break
        images, labels = images.to(device), labels.to(device)
        y_preds = model(images)
        loss = criterion(y_preds, labels)
        losses.update(loss.item(), labels.size(0))
        optimizer.zero_grad()
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        if step % CFG.print_freq == 0:
            print(f'  [{step}] loss {losses.val:.4f} ({losses.avg:.4f}) grad {grad_norm:.3f}')
    return losses.avg


def valid_fn(loader, model):
    model.eval()
    preds = []
    for images, labels in loader:
        with torch.no_grad():
            logits = model(images.to(device))
        preds.append(logits.softmax(1).cpu().numpy())
    return np.concatenate(preds)


def train_loop(df, fold):
    trn = df[df.fold != fold].reset_index(drop=True)
    val = df[df.fold == fold].reset_index(drop=True)
    trn_loader = DataLoader(DigitDataset(trn, random_shift), batch_size=CFG.batch_size,
                            shuffle=True, drop_last=True)
    val_loader = DataLoader(DigitDataset(val), batch_size=CFG.batch_size * 2, shuffle=False)

    model = DigitNet(CFG).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=CFG.lr, weight_decay=CFG.weight_decay)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=CFG.lr, total_steps=CFG.epochs * CFG.max_steps + 1)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    for epoch in range(CFG.epochs):
        start = time.time()
        avg_loss = train_fn(trn_loader, model, criterion, optimizer, scheduler)
        probs = valid_fn(val_loader, model)
        pred = probs.argmax(1)
        score = f1_score(val.label.values, pred, average='macro')
        print(f'fold {fold} epoch {epoch + 1} loss {avg_loss:.4f} '
              f'f1 {score:.4f} time {time.time() - start:.1f}s')
    return probs, val.index.values, val


# In[8]:


if __name__ == '__main__':
    oof = []
    for fold in CFG.trn_fold:
        probs, idx, val = train_loop(train, fold)
        val['pred'] = probs.argmax(1)
        oof.append(val[['label', 'pred']])
    oof_df = pd.concat(oof)
    cm = confusion_matrix(oof_df.label, oof_df.pred)
    print(cm)
    print('CV accuracy', np.trace(cm) / cm.sum())
