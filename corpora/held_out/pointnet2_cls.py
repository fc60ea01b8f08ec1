"""
PointNet++ (MSG + SSG) classification on synthetic shapes.
Based on yanx27's Pointnet_Pointnet2_pytorch, cleaned up a bit.

usage: python pointnet2_cls.py --model msg --use_normals
"""
import argparse
import numpy as np

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader


def parse_args():
    parser = argparse.ArgumentParser('training')
    parser.add_argument('--batch_size', type=int, default=6, help='batch size in training')
    parser.add_argument('--model', default='msg', choices=['ssg', 'msg'])
    parser.add_argument('--num_point', type=int, default=128, help='Point Number')
    parser.add_argument('--steps', default=3, type=int)
    parser.add_argument('--learning_rate', default=0.001, type=float)
    parser.add_argument('--decay_rate', type=float, default=1e-4)
    parser.add_argument('--use_normals', action='store_true', default=True, help='use normals')
    parser.add_argument('--num_votes', type=int, default=2)
    return parser.parse_args()


# ---------------------------------------------------------------- data

def pc_normalize(pc):
    pc = pc - np.mean(pc, axis=0)
    return pc / np.max(np.sqrt(np.sum(pc ** 2, axis=1)))


def sphere(n, rng):
    v = rng.normal(size=(n, 3))
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return v, v.copy()


def cube(n, rng):
    p = rng.uniform(-1, 1, size=(n, 3))
    axis = rng.integers(0, 3, size=n)
    sign = rng.choice([-1.0, 1.0], size=n)
    p[np.arange(n), axis] = sign
    nrm = np.zeros((n, 3))
    nrm[np.arange(n), axis] = sign
    return p, nrm


def torus(n, rng, R=1.0, r=0.3):
    u, v = rng.uniform(0, 2 * np.pi, size=(2, n))
    p = np.stack([(R + r * np.cos(v)) * np.cos(u), (R + r * np.cos(v)) * np.sin(u), r * np.sin(v)], axis=-1)
    nrm = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], -1)
    return p, nrm


SHAPES = {'sphere': sphere, 'cube': cube, 'torus': torus}


class SyntheticModelNet(Dataset):
    def __init__(self, npoints, size, split='train', normals=False):
        self.npoints = npoints
        self.size = size
        self.normals = normals
        self.cat = list(SHAPES.keys())
        self.seed = 0 if split == 'train' else 10 ** 6

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        rng = np.random.default_rng(self.seed + index)
        cls = index % len(self.cat)
        pts, nrm = SHAPES[self.cat[cls]](self.npoints, rng)
        point_set = np.concatenate([pc_normalize(pts), nrm], axis=1).astype(np.float32)
        if not self.normals:
            point_set = point_set[:, 0:3]
        return point_set, np.int64(cls)


def random_point_dropout(batch_pc, max_dropout_ratio=0.5):
    for b in range(batch_pc.shape[0]):
        dropout_ratio = np.random.random() * max_dropout_ratio
        drop_idx = np.where(np.random.random((batch_pc.shape[1])) <= dropout_ratio)[0]
        if len(drop_idx) > 0:
            batch_pc[b, drop_idx, :] = batch_pc[b, 0, :]  # set to the first point
    return batch_pc


def random_scale_point_cloud(batch_data, scale_low=0.8, scale_high=1.25):
    B, N, C = batch_data.shape
    return batch_data * np.random.uniform(scale_low, scale_high, B)[:, None, None]


# ---------------------------------------------------------------- pointnet utils

def square_distance(src, dst):
    B, N, _ = src.shape
    _, M, _ = dst.shape
    dist = -2 * torch.matmul(src, dst.permute(0, 2, 1))
    dist += torch.sum(src ** 2, -1).view(B, N, 1)
    dist += torch.sum(dst ** 2, -1).view(B, 1, M)
    return dist


def index_points(points, idx):
    device = points.device
    B = points.shape[0]
    view_shape = list(idx.shape)
    view_shape[1:] = [1] * (len(view_shape) - 1)
    repeat_shape = list(idx.shape)
    repeat_shape[0] = 1
    batch_indices = torch.arange(B, dtype=torch.long).to(device).view(view_shape).repeat(repeat_shape)
    return points[batch_indices, idx, :]


def farthest_point_sample(xyz, npoint):
    device = xyz.device
    B, N, C = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long).to(device)
    distance = torch.ones(B, N).to(device) * 1e10
    farthest = torch.randint(0, N, (B,), dtype=torch.long).to(device)
    batch_indices = torch.arange(B, dtype=torch.long).to(device)
    for i in range(npoint):
        centroids[:, i] = farthest
        dist = torch.sum((xyz - xyz[batch_indices, farthest, :].view(B, 1, 3)) ** 2, -1)
        mask = dist < distance
        distance[mask] = dist[mask]
        farthest = torch.max(distance, -1)[1]
    return centroids


def query_ball_point(radius, nsample, xyz, new_xyz):
    device, (B, N, C) = xyz.device, xyz.shape
    _, S, _ = new_xyz.shape
    group_idx = torch.arange(N, dtype=torch.long).to(device).view(1, 1, N).repeat([B, S, 1])
    sqrdists = square_distance(new_xyz, xyz)
    group_idx[sqrdists > radius ** 2] = N
    group_idx = group_idx.sort(dim=-1)[0][:, :, :nsample]
    group_first = group_idx[:, :, 0].view(B, S, 1).repeat([1, 1, nsample])
    mask = group_idx == N
    group_idx[mask] = group_first[mask]
    return group_idx


def sample_and_group(npoint, radius, nsample, xyz, points):
    B, N, C = xyz.shape
    S = npoint
    new_xyz = index_points(xyz, farthest_point_sample(xyz, npoint))
    idx = query_ball_point(radius, nsample, xyz, new_xyz)
    grouped_xyz = index_points(xyz, idx)
    grouped_xyz_norm = grouped_xyz - new_xyz.view(B, S, 1, C)
    if points is None:
        return new_xyz, grouped_xyz_norm
    return new_xyz, torch.cat([grouped_xyz_norm, index_points(points, idx)], dim=-1)


def sample_and_group_all(xyz, points):
    device = xyz.device
    B, N, C = xyz.shape
    new_xyz = torch.zeros(B, 1, C).to(device)
    grouped_xyz = xyz.view(B, 1, N, C)
    new_points = grouped_xyz if points is None else torch.cat([grouped_xyz, points.view(B, 1, N, -1)], dim=-1)
    return new_xyz, new_points


def shared_mlp(last_channel, mlp):
    convs, bns = nn.ModuleList(), nn.ModuleList()
    for out_channel in mlp:
        convs.append(nn.Conv2d(last_channel, out_channel, 1))
        bns.append(nn.BatchNorm2d(out_channel))
        last_channel = out_channel
    return convs, bns


class PointNetSetAbstraction(nn.Module):
    def __init__(self, npoint, radius, nsample, in_channel, mlp, group_all):
        super(PointNetSetAbstraction, self).__init__()
        self.npoint, self.radius, self.nsample = npoint, radius, nsample
        self.mlp_convs, self.mlp_bns = shared_mlp(in_channel, mlp)
        self.group_all = group_all

    def forward(self, xyz, points):
        xyz = xyz.permute(0, 2, 1)
        if points is not None:
            points = points.permute(0, 2, 1)

        if self.group_all:
            new_xyz, new_points = sample_and_group_all(xyz, points)
        else:
            new_xyz, new_points = sample_and_group(self.npoint, self.radius, self.nsample, xyz, points)
        new_points = new_points.permute(0, 3, 2, 1)  # [B, C+D, nsample,npoint]
        for i, conv in enumerate(self.mlp_convs):
            new_points = F.relu(self.mlp_bns[i](conv(new_points)))
        new_points = torch.max(new_points, 2)[0]
        new_xyz = new_xyz.permute(0, 2, 1)
        return new_xyz, new_points


class PointNetSetAbstractionMsg(nn.Module):
    def __init__(self, npoint, radius_list, nsample_list, in_channel, mlp_list):
        super(PointNetSetAbstractionMsg, self).__init__()
        self.npoint = npoint
        self.radius_list = radius_list
        self.nsample_list = nsample_list
        self.conv_blocks = nn.ModuleList()
        self.bn_blocks = nn.ModuleList()
        for i in range(len(mlp_list)):
            convs, bns = shared_mlp(in_channel + 3, mlp_list[i])
            self.conv_blocks.append(convs)
            self.bn_blocks.append(bns)

    def forward(self, xyz, points):
        xyz = xyz.permute(0, 2, 1)
        if points is not None:
            points = points.permute(0, 2, 1)

        B, N, C = xyz.shape
        S = self.npoint
        new_xyz = index_points(xyz, farthest_point_sample(xyz, S))
        new_points_list = []
        for i, radius in enumerate(self.radius_list):
            K = self.nsample_list[i]
            group_idx = query_ball_point(radius, K, xyz, new_xyz)
            grouped_xyz = index_points(xyz, group_idx)
            grouped_xyz -= new_xyz.view(B, S, 1, C)
            grouped_points = grouped_xyz
            if points is not None:
                grouped_points = torch.cat([index_points(points, group_idx), grouped_xyz], dim=-1)
            grouped_points = grouped_points.permute(0, 3, 2, 1)  # [B, D, K, S]
            for j in range(len(self.conv_blocks[i])):
                grouped_points = F.relu(self.bn_blocks[i][j](self.conv_blocks[i][j](grouped_points)))
            new_points_list.append(torch.max(grouped_points, 2)[0])

        new_xyz = new_xyz.permute(0, 2, 1)
        return new_xyz, torch.cat(new_points_list, dim=1)


class get_model(nn.Module):
    def __init__(self, num_class, model='ssg', normal_channel=True):
        super(get_model, self).__init__()
        extra = 3 if normal_channel else 0
        self.normal_channel = normal_channel
        if model == 'ssg':
            self.sa1 = PointNetSetAbstraction(32, 0.3, 8, 3 + extra, [16, 16, 32], False)
            self.sa2 = PointNetSetAbstraction(8, 0.6, 8, 32 + 3, [32, 32, 64], False)
            last = 64
        else:
            self.sa1 = PointNetSetAbstractionMsg(32, [0.2, 0.4], [8, 16], extra, [[8, 8, 16], [16, 16, 32]])
            self.sa2 = PointNetSetAbstractionMsg(8, [0.4, 0.8], [8, 12], 48, [[32, 32, 64], [32, 48, 64]])
            last = 128
        self.sa3 = PointNetSetAbstraction(None, None, None, last + 3, [64, 128], True)
        self.fc1 = nn.Linear(128, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.drop1 = nn.Dropout(0.4)
        self.fc2 = nn.Linear(64, num_class)

    def forward(self, xyz):
        B, _, _ = xyz.shape
        norm = xyz[:, 3:, :] if self.normal_channel else None
        xyz = xyz[:, :3, :]
        l1_xyz, l1_points = self.sa1(xyz, norm)
        l2_xyz, l2_points = self.sa2(l1_xyz, l1_points)
        l3_xyz, l3_points = self.sa3(l2_xyz, l2_points)
        x = self.drop1(F.relu(self.bn1(self.fc1(l3_points.view(B, 128)))))
        return F.log_softmax(self.fc2(x), -1), l3_points


def test(model, loader, num_class, vote_num=1):
    class_acc = np.zeros((num_class, 3))
    mean_correct = []
    classifier = model.eval()
    for j, (points, target) in enumerate(loader):
        points = points.transpose(2, 1)
        vote_pool = torch.zeros(target.size()[0], num_class)
        for _ in range(vote_num):
            pred, _ = classifier(points)
            vote_pool += pred
        pred_choice = (vote_pool / vote_num).data.max(1)[1]
        for cat in np.unique(target.cpu()):
            m = target == cat
            class_acc[cat, 0] += pred_choice[m].eq(target[m].long().data).sum().item() / float(points[m].size()[0])
            class_acc[cat, 1] += 1
        mean_correct.append(pred_choice.eq(target.long().data).cpu().sum().item() / float(points.size()[0]))
    class_acc[:, 2] = class_acc[:, 0] / class_acc[:, 1]
    return np.mean(mean_correct), np.mean(class_acc[:, 2])


def main(args):
    torch.manual_seed(0)
    train_set = SyntheticModelNet(args.num_point, args.steps * args.batch_size, normals=args.use_normals)
    test_set = SyntheticModelNet(args.num_point, 9, split='test', normals=args.use_normals)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, num_workers=0, drop_last=True)
    test_loader = DataLoader(test_set, batch_size=args.batch_size, shuffle=False)
    classifier = get_model(len(SHAPES), args.model, args.use_normals)
    optimizer = torch.optim.Adam(classifier.parameters(), lr=args.learning_rate, weight_decay=args.decay_rate)

    classifier = classifier.train()
    for batch_id, (points, target) in enumerate(train_loader):
        optimizer.zero_grad()
        points = points.data.numpy()
        points = random_point_dropout(points)
        points[:, :, 0:3] = random_scale_point_cloud(points[:, :, 0:3])
        points = torch.Tensor(points).transpose(2, 1)
        pred, trans_feat = classifier(points)
        loss = F.nll_loss(pred, target.long())
        correct = pred.data.max(1)[1].eq(target.long().data).cpu().sum()
        loss.backward()
        optimizer.step()
        print('step %d loss %f acc %f' % (batch_id, loss.item(), correct.item() / float(points.size()[0])))
    with torch.no_grad():
        instance_acc, class_acc = test(classifier, test_loader, len(SHAPES), vote_num=args.num_votes)
    print('Test Instance Accuracy: %f, Class Accuracy: %f' % (instance_acc, class_acc))


if __name__ == '__main__':
    main(parse_args())
