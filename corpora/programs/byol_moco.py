"""Self-supervised pretraining: momentum encoder, a queue of negatives, BYOL-style predictor; then a linear probe."""
import copy
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class TwoCropsTransform:
    def __init__(self, base):
        self.base = base

    def __call__(self, x):
        return [self.base(x), self.base(x)]


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, x):
        _, h, w = x.shape
        i = random.randint(0, h - self.size)
        j = random.randint(0, w - self.size)
        return x[:, i:i + self.size, j:j + self.size]


class Noise:
    def __init__(self, std):
        self.std = std

    def __call__(self, x):
        return x + torch.randn_like(x) * self.std


class Stripes(Dataset):
    def __init__(self, n, transform=None, size=28):
        self.n, self.transform, self.size = n, transform, size

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        label = index % 4
        period = 2 + label
        row = (torch.arange(self.size) // period % 2).float()
        img = row.expand(3, self.size, self.size).clone()
        if self.transform is not None:
            img = self.transform(img)
        return img, label


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class Encoder(nn.Module):
    def __init__(self, num_blocks=(1, 1, 1), width=8):
        super().__init__()
        self.in_planes = width
        self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = self._make_layer(width, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(width * 2, num_blocks[1], stride=2)
        self.layer3 = self._make_layer(width * 4, num_blocks[2], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.out_dim = width * 4 * BasicBlock.expansion

    def _make_layer(self, planes, num_blocks, stride):
        strides = [stride] + [1] * (num_blocks - 1)
        layers = []
        for s in strides:
            layers.append(BasicBlock(self.in_planes, planes, s))
            self.in_planes = planes * BasicBlock.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer3(self.layer2(self.layer1(out)))
        return torch.flatten(self.avgpool(out), 1)


def mlp(sizes, last_bn=False):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers += [nn.BatchNorm1d(b), nn.ReLU(inplace=True)]
        elif last_bn:
            layers.append(nn.BatchNorm1d(b, affine=False))
    return nn.Sequential(*layers)


class MoCo(nn.Module):
    def __init__(self, dim=12, K=40, m=0.99, temperature=0.2):
        super().__init__()
        self.K, self.m, self.T = K, m, temperature
        backbone = Encoder()
        self.encoder_q = nn.Sequential(backbone, mlp([backbone.out_dim, 24, dim], last_bn=True))
        self.encoder_k = copy.deepcopy(self.encoder_q)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.predictor = mlp([dim, 20, dim])
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1. - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch_size = keys.shape[0]
        ptr = int(self.queue_ptr)
        assert self.K % batch_size == 0
        self.queue[:, ptr:ptr + batch_size] = keys.T
        self.queue_ptr[0] = (ptr + batch_size) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.predictor(self.encoder_q(im_q)), dim=1)
        with torch.no_grad():
            self._momentum_update()
            idx_shuffle = torch.randperm(im_k.shape[0])
            idx_unshuffle = torch.argsort(idx_shuffle)
            k = F.normalize(self.encoder_k(im_k[idx_shuffle]), dim=1)[idx_unshuffle]
        l_pos = torch.einsum('nc,nc->n', [q, k]).unsqueeze(-1)
        l_neg = torch.einsum('nc,ck->nk', [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        self._dequeue_and_enqueue(k)
        return logits, labels


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        return [correct[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / batch_size) for k in topk]


def adjust_learning_rate(optimizer, epoch, epochs, base):
    lr = base * 0.5 * (1. + math.cos(math.pi * epoch / epochs))
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr


def knn_predict(feature, feature_bank, feature_labels, classes, knn_k, knn_t):
    sim_matrix = torch.mm(feature, feature_bank)
    sim_weight, sim_indices = sim_matrix.topk(k=knn_k, dim=-1)
    sim_labels = torch.gather(feature_labels.expand(feature.size(0), -1), dim=-1, index=sim_indices)
    sim_weight = (sim_weight / knn_t).exp()
    one_hot_label = torch.zeros(feature.size(0) * knn_k, classes, device=sim_labels.device)
    one_hot_label = one_hot_label.scatter(dim=-1, index=sim_labels.view(-1, 1), value=1.0)
    pred_scores = torch.sum(one_hot_label.view(feature.size(0), -1, classes) * sim_weight.unsqueeze(dim=-1), dim=1)
    return pred_scores.argsort(dim=-1, descending=True)


def main():
    random.seed(0)
    torch.manual_seed(0)
    augmentation = Compose([RandomCrop(24), lambda x: x.flip(2) if random.random() < 0.5 else x, Noise(0.1)])
    train_set = Stripes(24, TwoCropsTransform(augmentation))
    loader = DataLoader(train_set, batch_size=8, shuffle=True, drop_last=True)
    model = MoCo()
    optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), 0.03, momentum=0.9, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1):
        adjust_learning_rate(optimizer, epoch, 1, 0.03)
        for i, (images, _) in enumerate(loader):
            output, target = model(im_q=images[0], im_k=images[1])
            loss = criterion(output, target)
            acc1, acc5 = accuracy(output, target, topk=(1, 5))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(i, loss.item(), acc1[0].item(), acc5[0].item())

    encoder = model.encoder_q[0].eval()
    memory = DataLoader(Stripes(12), batch_size=6)
    feature_bank, feature_labels = [], []
    with torch.no_grad():
        for data, target in memory:
            feature = F.normalize(encoder(data), dim=1)
            feature_bank.append(feature)
            feature_labels.append(target)
        feature_bank = torch.cat(feature_bank, dim=0).t().contiguous()
        feature_labels = torch.cat(feature_labels)
        total_top1, total_num = 0.0, 0
        for data, target in memory:
            feature = F.normalize(encoder(data), dim=1)
            pred_labels = knn_predict(feature, feature_bank, feature_labels, 4, 5, 0.1)
            total_num += data.size(0)
            total_top1 += (pred_labels[:, 0] == target).float().sum().item()
    print('kNN', total_top1 / total_num)

    probe = nn.Linear(encoder.out_dim, 4)
    optim_probe = torch.optim.LBFGS(probe.parameters(), max_iter=3)

    def closure():
        optim_probe.zero_grad()
        loss = criterion(probe(feature_bank.t()), feature_labels)
        loss.backward()
        return loss

    print('probe', float(optim_probe.step(closure)))


if __name__ == '__main__':
    main()
