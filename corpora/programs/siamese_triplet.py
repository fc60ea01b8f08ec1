import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import Dataset, DataLoader
from torch.utils.data.sampler import BatchSampler


class EmbeddingNet(nn.Module):
    def __init__(self):
        super(EmbeddingNet, self).__init__()
        self.convnet = nn.Sequential(nn.Conv2d(1, 16, 3), nn.PReLU(),
                                     nn.MaxPool2d(2, stride=2),
                                     nn.Conv2d(16, 24, 2), nn.PReLU())

        self.fc = nn.Sequential(nn.Linear(24 * 2 * 2, 64),
                                nn.PReLU(),
                                nn.Linear(64, 32),
                                nn.PReLU(),
                                nn.Linear(32, 5)
                                )

    def forward(self, x):
        output = self.convnet(x)
        output = output.view(output.size()[0], -1)
        output = self.fc(output)
        return output

    def get_embedding(self, x):
        return self.forward(x)


class EmbeddingNetL2(EmbeddingNet):
    def __init__(self):
        super(EmbeddingNetL2, self).__init__()

    def forward(self, x):
        output = super(EmbeddingNetL2, self).forward(x)
        output = output / output.pow(2).sum(1, keepdim=True).sqrt()
        return output

    def get_embedding(self, x):
        return self.forward(x)


class TripletNet(nn.Module):
    def __init__(self, embedding_net):
        super(TripletNet, self).__init__()
        self.embedding_net = embedding_net

    def forward(self, x1, x2, x3):
        output1 = self.embedding_net(x1)
        output2 = self.embedding_net(x2)
        output3 = self.embedding_net(x3)
        return output1, output2, output3

    def get_embedding(self, x):
        return self.embedding_net(x)


class TripletLoss(nn.Module):
    """
    Triplet loss
    Takes embeddings of an anchor sample, a positive sample and a negative sample
    """

    def __init__(self, margin):
        super(TripletLoss, self).__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative, size_average=True):
        distance_positive = (anchor - positive).pow(2).sum(1)  # .pow(.5)
        distance_negative = (anchor - negative).pow(2).sum(1)  # .pow(.5)
        losses = F.relu(distance_positive - distance_negative + self.margin)
        return losses.mean() if size_average else losses.sum()


class ContrastiveLoss(nn.Module):
    def __init__(self, margin):
        super(ContrastiveLoss, self).__init__()
        self.margin = margin
        self.eps = 1e-9

    def forward(self, output1, output2, target):
        distances = (output2 - output1).pow(2).sum(1)
        losses = 0.5 * (target.float() * distances +
                        (1 + -1 * target).float() * F.relu(self.margin - (distances + self.eps).sqrt()).pow(2))
        return losses.mean()


class TripletDigits(Dataset):
    def __init__(self, images, labels, train):
        self.train = train
        self.data = images
        self.labels = labels
        self.labels_set = set(self.labels.tolist())
        self.label_to_indices = {label: np.where(self.labels == label)[0] for label in self.labels_set}

    def __getitem__(self, index):
        img1, label1 = self.data[index], self.labels[index].item()
        positive_index = index
        while positive_index == index:
            positive_index = np.random.choice(self.label_to_indices[label1])
        negative_label = np.random.choice(list(self.labels_set - set([label1])))
        negative_index = np.random.choice(self.label_to_indices[negative_label])
        img2 = self.data[positive_index]
        img3 = self.data[negative_index]
        img1, img2, img3 = [torch.from_numpy(im).float().unsqueeze(0) / 16 for im in (img1, img2, img3)]
        return (img1, img2, img3), []

    def __len__(self):
        return len(self.data)


class BalancedBatchSampler(BatchSampler):
    """Samples n_classes and within these classes samples n_samples."""

    def __init__(self, labels, n_classes, n_samples, n_batches=3):
        self.labels = labels
        self.label_to_indices = {label: np.where(labels == label)[0] for label in set(labels.tolist())}
        self.n_classes, self.n_samples, self.n_batches = n_classes, n_samples, n_batches

    def __iter__(self):
        for _ in range(self.n_batches):
            classes = np.random.choice(list(self.label_to_indices), self.n_classes, replace=False)
            indices = []
            for class_ in classes:
                indices.extend(np.random.choice(self.label_to_indices[class_], self.n_samples).tolist())
            yield indices

    def __len__(self):
        return self.n_batches


def pdist(vectors):
    distance_matrix = -2 * vectors.mm(torch.t(vectors)) + vectors.pow(2).sum(dim=1).view(1, -1) + vectors.pow(2).sum(
        dim=1).view(-1, 1)
    return distance_matrix


def hard_negative_pairs(embeddings, labels):
    d = pdist(embeddings)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    d = d.masked_fill(same, float('inf'))
    return d.argmin(dim=1)


def train_epoch(train_loader, model, loss_fn, optimizer, log_interval=1):
    model.train()
    losses = []
    total_loss = 0

    for batch_idx, (data, target) in enumerate(train_loader):
        target = target if len(target) > 0 else None
        if not type(data) in (tuple, list):
            data = (data,)

        optimizer.zero_grad()
        outputs = model(*data)

        if type(outputs) not in (tuple, list):
            outputs = (outputs,)

        loss_inputs = outputs
        if target is not None:
            target = (target,)
            loss_inputs += target

        loss_outputs = loss_fn(*loss_inputs)
        loss = loss_outputs[0] if type(loss_outputs) in (tuple, list) else loss_outputs
        losses.append(loss.item())
        total_loss += loss.item()
        loss.backward()
        optimizer.step()

        if batch_idx % log_interval == 0:
            message = 'Train: [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                batch_idx * len(data[0]), len(train_loader.dataset),
                100. * batch_idx / len(train_loader), np.mean(losses))
            print(message)
            losses = []

    total_loss /= (batch_idx + 1)
    return total_loss


def main():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    digits = load_digits()
    images, labels = digits.images[:90], digits.target[:90]

    model = TripletNet(EmbeddingNetL2())
    loader = DataLoader(TripletDigits(images, labels, train=True), batch_size=30, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    print(train_epoch(loader, model, TripletLoss(margin=1.), optimizer))

    # online selection with balanced batches
    flat = torch.utils.data.TensorDataset(torch.tensor(images, dtype=torch.float32)[:, None], torch.tensor(labels))
    loader = DataLoader(flat, batch_sampler=BalancedBatchSampler(labels, n_classes=4, n_samples=3))
    contrastive = ContrastiveLoss(1.0)
    for x, y in loader:
        emb = model.get_embedding(x)
        negatives = hard_negative_pairs(emb.detach(), y)
        loss = contrastive(emb, emb[negatives], (y == y[negatives]).int())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('contrastive', float(loss))


if __name__ == '__main__':
    main()
