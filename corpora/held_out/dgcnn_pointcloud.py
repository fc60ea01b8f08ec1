"""DGCNN on synthetic shapes: knn graph, EdgeConv, T-Net, part segmentation head, FPS + ball query set abstraction."""
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader


@dataclass
class Args:
    k: int = 7
    num_points: int = 72
    emb_dims: int = 50
    dropout: float = 0.3
    batch_size: int = 10
    epochs: int = 2
    lr: float = 0.03
    n_train: int = 50
    n_test: int = 20
    smoothing: float = 0.2
    seg_weight: float = 0.5
    reg_weight: float = 1e-3
    channel_last: tuple = (14, 20, 34)


def knn(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)
    xx = torch.sum(x ** 2, dim=1, keepdim=True)
    pairwise_distance = -xx - inner - xx.transpose(2, 1)
    return pairwise_distance.topk(k=k, dim=-1)[1]  # (batch_size, num_points, k)


def get_graph_feature(x, k=20, idx=None):
    batch_size, _, num_points = x.size()
    x = x.reshape(batch_size, -1, num_points)
    if idx is None:
        idx = knn(x, k=k)
    idx_base = torch.arange(0, batch_size).view(-1, 1, 1) * num_points
    idx = (idx + idx_base).view(-1)
    num_dims = x.size(1)
    x = x.transpose(2, 1).contiguous()
    feature = x.view(batch_size * num_points, -1)[idx, :]
    feature = feature.view(batch_size, num_points, k, num_dims)
    x = x.view(batch_size, num_points, 1, num_dims).repeat(1, 1, k, 1)
    return torch.cat((feature - x, x), dim=3).permute(0, 3, 1, 2).contiguous()


def index_points(points, idx):
    B = points.shape[0]
    view_shape = [B] + [1] * (idx.dim() - 1)
    batch = torch.arange(B).view(view_shape).expand_as(idx)
    return points[batch, idx, :]


@torch.no_grad()
def farthest_point_sample(xyz, npoint):
    B, N, C = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long)
    distance = torch.full((B, N), 1e10)
    farthest = torch.randint(0, N, (B,))
    for i in range(npoint):
        centroids[:, i] = farthest
        centroid = xyz[torch.arange(B), farthest].view(B, 1, C)
        dist = ((xyz - centroid) ** 2).sum(-1)
        distance = torch.where(dist < distance, dist, distance)
        farthest = distance.max(-1)[1]
    return centroids


@torch.no_grad()
def query_ball_point(radius, nsample, xyz, new_xyz):
    N, S = xyz.shape[1], new_xyz.shape[1]
    group_idx = torch.arange(N).view(1, 1, N).repeat(xyz.shape[0], S, 1)
    sqrdists = torch.cdist(new_xyz, xyz) ** 2
    group_idx[sqrdists > radius ** 2] = N
    group_idx = group_idx.sort(dim=-1)[0][:, :, :nsample]
    group_first = group_idx[:, :, 0:1].repeat(1, 1, nsample)
    mask = group_idx == N
    group_idx[mask] = group_first[mask]
    return group_idx


def conv_bn(dim, cin, cout, act=partial(nn.LeakyReLU, negative_slope=0.2)):
    conv, bn = {1: (nn.Conv1d, nn.BatchNorm1d), 2: (nn.Conv2d, nn.BatchNorm2d)}[dim]
    return nn.Sequential(conv(cin, cout, kernel_size=1, bias=False), bn(cout), act())


class TransformNet(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.k = args.k
        self.conv1 = conv_bn(2, 6, 16)
        self.conv2 = conv_bn(1, 16, 28)
        self.linear = nn.Sequential(nn.Linear(28, 15), nn.LeakyReLU(0.2))
        self.transform = nn.Linear(15, 9)
        nn.init.constant_(self.transform.weight, 0)
        nn.init.eye_(self.transform.bias.view(3, 3))

    def forward(self, x):
        h = self.conv1(get_graph_feature(x, self.k)).max(dim=-1)[0]
        h = self.conv2(h).max(dim=-1)[0]
        return self.transform(self.linear(h)).view(-1, 3, 3)


class SetAbstraction(nn.Module):
    def __init__(self, npoint, radius, nsample, in_channel, mlp):
        super().__init__()
        self.npoint, self.radius, self.nsample = npoint, radius, nsample
        dims = [in_channel + 3] + list(mlp)
        self.mlp = nn.Sequential(*[conv_bn(2, a, b, nn.ReLU) for a, b in zip(dims[:-1], dims[1:])])

    def forward(self, xyz, feats):
        fps_idx = farthest_point_sample(xyz, self.npoint)
        new_xyz = index_points(xyz, fps_idx)
        idx = query_ball_point(self.radius, self.nsample, xyz, new_xyz)
        grouped = torch.cat([index_points(xyz, idx) - new_xyz.unsqueeze(2), index_points(feats, idx)], dim=-1)
        return new_xyz, self.mlp(grouped.permute(0, 3, 2, 1)).max(2)[0]


class DGCNN(nn.Module):
    def __init__(self, args, n_classes, n_parts):
        super().__init__()
        self.args, self.k = args, args.k
        self.tnet = TransformNet(args)
        dims = [3] + list(args.channel_last)
        self.edges = nn.ModuleList([conv_bn(2, a * 2, b) for a, b in zip(dims[:-1], dims[1:])])
        self.fuse = conv_bn(1, sum(args.channel_last), args.emb_dims)
        self.sa = SetAbstraction(18, 0.5, 9, args.channel_last[0], (17, 23))
        self.cls = nn.Sequential(nn.Linear(args.emb_dims * 2 + 23, 40, bias=False), nn.BatchNorm1d(40), nn.LeakyReLU(0.2),
                                 nn.Dropout(args.dropout), nn.Linear(40, n_classes))
        self.label_emb = nn.Conv1d(n_classes, 8, 1, bias=False)
        self.seg = nn.Sequential(conv_bn(1, args.emb_dims + 8 + sum(args.channel_last), 33), nn.Dropout(args.dropout),
                                 nn.Conv1d(33, n_parts, 1))

    def forward(self, x, onehot):
        N = x.size(2)
        T = self.tnet(x)
        x = torch.bmm(x.transpose(2, 1), T).transpose(2, 1)
        xyz, feats = x.transpose(1, 2), []
        for conv in self.edges:
            x = conv(get_graph_feature(x, k=self.k)).max(dim=-1)[0]
            feats.append(x)
        cat = torch.cat(feats, dim=1)
        h = self.fuse(cat)
        pooled = torch.cat([F.adaptive_max_pool1d(h, 1), F.adaptive_avg_pool1d(h, 1)], 1).squeeze(-1)
        _, local = self.sa(xyz.detach(), feats[0].transpose(1, 2))
        logits = self.cls(torch.cat([pooled, local.max(-1)[0]], 1))
        g = torch.cat([h.max(-1, keepdim=True)[0], self.label_emb(onehot.unsqueeze(-1))], 1).repeat(1, 1, N)
        return {'cls': logits, 'seg': self.seg(torch.cat([g, cat], 1)), 'trans': T}


def smooth_ce(pred, gold, eps):
    n_class = pred.size(1)
    one_hot = torch.zeros_like(pred).scatter(1, gold.view(-1, 1), 1)
    one_hot = one_hot * (1 - eps) + (1 - one_hot) * eps / (n_class - 1)
    return -(one_hot * F.log_softmax(pred, dim=1)).sum(dim=1).mean()


def feature_transform_reg(T):
    eye = torch.eye(T.size(1)).unsqueeze(0)
    return torch.linalg.matrix_norm(T @ T.transpose(1, 2) - eye).mean()


class Shapes(Dataset):
    names = ['sphere', 'cube', 'torus', 'helix']

    def __init__(self, n, args, partition='train', seed=0):
        self.n, self.args, self.partition = n, args, partition
        self.rng = np.random.default_rng(seed)
        self.labels = self.rng.integers(0, len(self.names), n)
        self.points = [getattr(self, '_' + self.names[l])(args.num_points) for l in self.labels]

    def _sphere(self, n):
        p = self.rng.normal(size=(n, 3))
        return p / np.linalg.norm(p, axis=1, keepdims=True)

    def _cube(self, n):
        p = self.rng.uniform(-1, 1, (n, 3))
        ax = self.rng.integers(0, 3, n)
        p[np.arange(n), ax] = np.sign(p[np.arange(n), ax])
        return p * 0.8

    def _torus(self, n):
        u, v = self.rng.uniform(0, 2 * np.pi, (2, n))
        return np.stack([(0.8 + 0.25 * np.cos(v)) * np.cos(u), (0.8 + 0.25 * np.cos(v)) * np.sin(u), 0.25 * np.sin(v)], 1)

    def _helix(self, n):
        t = np.linspace(0, 4 * np.pi, n)
        return np.stack([0.7 * np.cos(t), 0.7 * np.sin(t), t / (2 * np.pi) - 1], 1) + 0.03 * self.rng.normal(size=(n, 3))

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        p = self.points[i].astype('float32')
        part = (p[:, 2] > 0).astype('int64') + (np.linalg.norm(p, axis=1) > 1.02).astype('int64')
        if self.partition == 'train':
            p = p * np.random.uniform(2 / 3, 3 / 2, size=3).astype('float32') + np.random.uniform(-.2, .2, 3).astype('float32')
            perm = np.random.permutation(len(p))
            p, part = p[perm], part[perm]
        return p, int(self.labels[i]), part


def run_epoch(model, loader, args, opt=None):
    model.train(opt is not None)
    total, correct, inter, union = 0., 0, torch.zeros(3), torch.zeros(3)
    with torch.set_grad_enabled(opt is not None):
        for pts, label, part in loader:
            onehot = F.one_hot(label, len(Shapes.names)).float()
            out = model(pts.permute(0, 2, 1), onehot)
            losses = {'cls': smooth_ce(out['cls'], label, args.smoothing), 'seg': args.seg_weight * F.cross_entropy(out['seg'], part),
                      'reg': args.reg_weight * feature_transform_reg(out['trans'])}
            loss = sum(losses.values())
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(label)
            correct += (out['cls'].max(dim=1)[1] == label).sum().item()
            pred = out['seg'].argmax(1)
            for c in range(3):
                inter[c] += ((pred == c) & (part == c)).sum()
                union[c] += ((pred == c) | (part == c)).sum()
    n = len(loader.dataset)
    return total / n, correct / n, (inter / union.clamp(min=1)).mean().item()


if __name__ == '__main__':
    args = Args()
    torch.manual_seed(2), np.random.seed(2)
    train = DataLoader(Shapes(args.n_train, args), args.batch_size, shuffle=True, drop_last=True)
    test = DataLoader(Shapes(args.n_test, args, 'test', seed=9), args.batch_size)
    model = DGCNN(args, len(Shapes.names), 3)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs, eta_min=args.lr / 100)
    print('params', sum(p.numel() for p in model.parameters()))
    for epoch in range(args.epochs):
        print('train %d loss %.4f acc %.3f iou %.3f' % (epoch, *run_epoch(model, train, args, opt)))
        sched.step()
        print('test  %d loss %.4f acc %.3f iou %.3f' % (epoch, *run_epoch(model, test, args)))
