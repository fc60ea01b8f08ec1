from __future__ import print_function
import torch
import torch.nn as nn
import torch.nn.parallel
import torch.utils.data
import numpy as np
import torch.nn.functional as F


class STNkd(nn.Module):
    def __init__(self, k=64, mult=8):
        super(STNkd, self).__init__()
        self.conv1 = torch.nn.Conv1d(k, 2*mult, 1)
        self.conv2 = torch.nn.Conv1d(2*mult, 4*mult, 1)
        self.conv3 = torch.nn.Conv1d(4*mult, 16*mult, 1)
        self.fc1 = nn.Linear(16*mult, 8*mult)
        self.fc2 = nn.Linear(8*mult, 4*mult)
        self.fc3 = nn.Linear(4*mult, k*k)
        self.relu = nn.ReLU()

        self.bn1 = nn.BatchNorm1d(2*mult)
        self.bn2 = nn.BatchNorm1d(4*mult)
        self.bn3 = nn.BatchNorm1d(16*mult)
        self.bn4 = nn.BatchNorm1d(8*mult)
        self.bn5 = nn.BatchNorm1d(4*mult)

        self.k = k
        self.mult = mult

    def forward(self, x):
        batchsize = x.size()[0]
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = F.relu(self.bn3(self.conv3(x)))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 16*self.mult)

        x = F.relu(self.bn4(self.fc1(x)))
        x = F.relu(self.bn5(self.fc2(x)))
        x = self.fc3(x)

        iden = torch.from_numpy(np.eye(self.k).flatten().astype(np.float32)).view(1, self.k*self.k).repeat(batchsize, 1)
        if x.is_cuda:
            iden = iden.cuda()
        x = x + iden
        x = x.view(-1, self.k, self.k)
        return x


class PointNetfeat(nn.Module):
    def __init__(self, global_feat=True, feature_transform=False):
        super(PointNetfeat, self).__init__()
        self.stn = STNkd(k=3)
        self.conv1 = torch.nn.Conv1d(3, 16, 1)
        self.conv2 = torch.nn.Conv1d(16, 32, 1)
        self.conv3 = torch.nn.Conv1d(32, 128, 1)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm1d(32)
        self.bn3 = nn.BatchNorm1d(128)
        self.global_feat = global_feat
        self.feature_transform = feature_transform
        if self.feature_transform:
            self.fstn = STNkd(k=16)

    def forward(self, x):
        n_pts = x.size()[2]
        trans = self.stn(x)
        x = x.transpose(2, 1)
        x = torch.bmm(x, trans)
        x = x.transpose(2, 1)
        x = F.relu(self.bn1(self.conv1(x)))

        if self.feature_transform:
            trans_feat = self.fstn(x)
            x = x.transpose(2, 1)
            x = torch.bmm(x, trans_feat)
            x = x.transpose(2, 1)
        else:
            trans_feat = None

        pointfeat = x
        x = F.relu(self.bn2(self.conv2(x)))
        x = self.bn3(self.conv3(x))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 128)
        if self.global_feat:
            return x, trans, trans_feat
        else:
            x = x.view(-1, 128, 1).repeat(1, 1, n_pts)
            return torch.cat([x, pointfeat], 1), trans, trans_feat


class PointNetCls(nn.Module):
    def __init__(self, k=2, feature_transform=False):
        super(PointNetCls, self).__init__()
        self.feature_transform = feature_transform
        self.feat = PointNetfeat(global_feat=True, feature_transform=feature_transform)
        self.fc1 = nn.Linear(128, 64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, k)
        self.dropout = nn.Dropout(p=0.3)
        self.bn1 = nn.BatchNorm1d(64)
        self.bn2 = nn.BatchNorm1d(32)
        self.relu = nn.ReLU()

    def forward(self, x):
        x, trans, trans_feat = self.feat(x)
        x = F.relu(self.bn1(self.fc1(x)))
        x = F.relu(self.bn2(self.dropout(self.fc2(x))))
        x = self.fc3(x)
        return F.log_softmax(x, dim=1), trans, trans_feat


class PointNetDenseCls(nn.Module):
    def __init__(self, k=2, feature_transform=False):
        super(PointNetDenseCls, self).__init__()
        self.k = k
        self.feature_transform = feature_transform
        self.feat = PointNetfeat(global_feat=False, feature_transform=feature_transform)
        self.conv1 = torch.nn.Conv1d(144, 64, 1)
        self.conv2 = torch.nn.Conv1d(64, 32, 1)
        self.conv4 = torch.nn.Conv1d(32, self.k, 1)
        self.bn1 = nn.BatchNorm1d(64)
        self.bn2 = nn.BatchNorm1d(32)

    def forward(self, x):
        batchsize = x.size()[0]
        n_pts = x.size()[2]
        x, trans, trans_feat = self.feat(x)
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = self.conv4(x)
        x = x.transpose(2, 1).contiguous()
        x = F.log_softmax(x.view(-1, self.k), dim=-1)
        x = x.view(batchsize, n_pts, self.k)
        return x, trans, trans_feat


def feature_transform_regularizer(trans):
    d = trans.size()[1]
    I = torch.eye(d)[None, :, :]
    if trans.is_cuda:
        I = I.cuda()
    loss = torch.mean(torch.norm(torch.bmm(trans, trans.transpose(2, 1)) - I, dim=(1, 2)))
    return loss


class Shapes(torch.utils.data.Dataset):
    classes = {'sphere': 0, 'cube': 1, 'plane': 2}

    def __init__(self, n=16, npoints=40, data_augmentation=True, classification=True):
        self.n = n
        self.npoints = npoints
        self.data_augmentation = data_augmentation
        self.classification = classification

    def __getitem__(self, index):
        rng = np.random.RandomState(index)
        cls = index % len(self.classes)
        point_set = rng.randn(100, 3).astype(np.float32)
        if cls == 0:
            point_set = point_set / np.linalg.norm(point_set, axis=1, keepdims=True)
        elif cls == 2:
            point_set[:, 2] *= 0.01
        seg = (point_set[:, 0] > 0).astype(np.int64)
        choice = np.random.choice(len(seg), self.npoints, replace=True)
        # resample
        point_set = point_set[choice, :]
        seg = seg[choice]

        point_set = point_set - np.expand_dims(np.mean(point_set, axis=0), 0)  # center
        dist = np.max(np.sqrt(np.sum(point_set ** 2, axis=1)), 0)
        point_set = point_set / dist  # scale

        if self.data_augmentation:
            theta = np.random.uniform(0, np.pi*2)
            rotation_matrix = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
            point_set[:, [0, 2]] = point_set[:, [0, 2]].dot(rotation_matrix)  # random rotation
            point_set += np.random.normal(0, 0.02, size=point_set.shape)  # random jitter

        point_set = torch.from_numpy(point_set)
        seg = torch.from_numpy(seg)
        cls = torch.from_numpy(np.array([cls]).astype(np.int64))

        if self.classification:
            return point_set, cls
        else:
            return point_set, seg

    def __len__(self):
        return self.n


def main():
    np.random.seed(1)
    torch.manual_seed(1)
    blue = lambda x: '\033[94m' + x + '\033[0m'
    for classification in (True, False):
        dataset = Shapes(classification=classification)
        dataloader = torch.utils.data.DataLoader(dataset, batch_size=6, shuffle=True)
        num_classes = len(dataset.classes) if classification else 2
        make = PointNetCls if classification else PointNetDenseCls
        classifier = make(k=num_classes, feature_transform=not classification)
        optimizer = torch.optim.Adam(classifier.parameters(), lr=0.001, betas=(0.9, 0.999))
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
        for i, data in enumerate(dataloader, 0):
            points, target = data
            points = points.transpose(2, 1)
            optimizer.zero_grad()
            classifier = classifier.train()
            pred, trans, trans_feat = classifier(points)
            if classification:
                target = target[:, 0]
            else:
                pred = pred.view(-1, num_classes)
                target = target.view(-1, 1)[:, 0]
            loss = F.nll_loss(pred, target)
            if trans_feat is not None:
                loss += feature_transform_regularizer(trans_feat) * 0.001
            loss.backward()
            optimizer.step()
            pred_choice = pred.data.max(1)[1]
            correct = pred_choice.eq(target.data).cpu().sum()
            print('[%d] %s loss: %f accuracy: %f' % (i, blue('train'), loss.item(), correct.item() / float(len(target))))
        scheduler.step()


if __name__ == '__main__':
    main()
