import torch
import torch.nn as nn
import torch.nn.functional as F


class DiceLoss(nn.Module):
    def __init__(self, num_classes, smooth=1.0):
        super().__init__()
        self.num_classes = num_classes
        self.smooth = smooth

    def forward(self, logits, target):
        probs = F.softmax(logits, dim=1)
        onehot = F.one_hot(target, self.num_classes).permute(0, 3, 1, 2).float()
        dims = (0, 2, 3)
        intersection = (probs * onehot).sum(dims)
        cardinality = (probs + onehot).sum(dims)
        dice = (2 * intersection + self.smooth) / (cardinality + self.smooth)
        return 1 - dice[1:].mean()


class CombinedLoss(nn.Module):
    def __init__(self, num_classes, weights):
        super().__init__()
        self.weights = weights
        self.dice = DiceLoss(num_classes)
        class_weights = torch.ones(num_classes)
        class_weights[0] = 0.2
        self.ce = nn.CrossEntropyLoss(weight=class_weights)

    def single(self, logits, target):
        return self.weights["dice"] * self.dice(logits, target) + self.weights["ce"] * self.ce(logits, target)

    def forward(self, outputs, target):
        loss = self.single(outputs["out"], target)
        for i, aux in enumerate(outputs.get("aux", [])):
            loss = loss + self.weights["aux"] / (2 ** i) * self.single(aux, target)
        return loss


class ConfusionMatrix(object):
    def __init__(self, num_classes):
        self.num_classes = num_classes
        self.mat = None

    def update(self, a, b):
        n = self.num_classes
        if self.mat is None:
            self.mat = torch.zeros((n, n), dtype=torch.int64, device=a.device)
        with torch.no_grad():
            k = (a >= 0) & (a < n)
            inds = n * a[k].to(torch.int64) + b[k]
            self.mat += torch.bincount(inds, minlength=n**2).reshape(n, n)

    def compute(self):
        h = self.mat.float()
        acc_global = torch.diag(h).sum() / h.sum()
        acc = torch.diag(h) / h.sum(1)
        iu = torch.diag(h) / (h.sum(1) + h.sum(0) - torch.diag(h))
        return acc_global, acc, iu

    def __str__(self):
        acc_global, acc, iu = self.compute()
        return ("global correct: {:.1f}\n" "average row correct: {}\n" "IoU: {}\n" "mean IoU: {:.1f}").format(
            acc_global.item() * 100, [f"{i:.1f}" for i in (acc * 100).tolist()],
            [f"{i:.1f}" for i in (iu * 100).tolist()], iu.mean().item() * 100)
