"""As PyTorch's examples/imagenet: AverageMeter with all_reduce, accuracy, a subset for what doesn't divide evenly."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Subset, TensorDataset


class SmallNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(16 * 8 * 8, num_classes)

    def forward(self, x):
        x = self.features(x)
        x = torch.flatten(x, 1)
        return self.classifier(x)


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val, self.avg, self.sum, self.count = 0, 0, 0, 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def all_reduce(self):
        device = "cuda" if torch.cuda.is_available() else "cpu"
        total = torch.tensor([self.sum, self.count], dtype=torch.float32, device=device)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = total.tolist()
        self.avg = self.sum / self.count


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            res.append(correct_k.mul_(100.0 / batch_size))
        return res


def train(loader, model, criterion, optimizer, epoch, device):
    losses, top1 = AverageMeter("Loss"), AverageMeter("Acc@1")
    model.train()
    for i, (images, target) in enumerate(loader):
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)
        output = model(images)
        loss = criterion(output, target)
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0].item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def validate(loader, model, criterion, world_size, batch_size, device):
    top1 = AverageMeter("Acc@1")

    def run_validate(loader):
        with torch.no_grad():
            for images, target in loader:
                output = model(images.to(device))
                acc1, _ = accuracy(output, target.to(device), topk=(1, 5))
                top1.update(acc1[0].item(), images.size(0))

    model.eval()
    run_validate(loader)
    top1.all_reduce()
    if len(loader.sampler) * world_size < len(loader.dataset):
        aux = Subset(loader.dataset, range(len(loader.sampler) * world_size, len(loader.dataset)))
        run_validate(DataLoader(aux, batch_size=batch_size, shuffle=False))
    return top1.avg


def main_worker(local_rank, rank, world_size, batch_size=16, epochs=2):
    dist.init_process_group(backend="gloo", init_method="env://", world_size=world_size, rank=rank)
    device = torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")
    model = SmallNet().to(device)
    batch_size = int(batch_size / world_size)
    model = nn.parallel.DistributedDataParallel(model)
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = StepLR(optimizer, step_size=30, gamma=0.1)
    train_set = TensorDataset(torch.randn(96, 3, 32, 32), torch.randint(10, (96,)))
    val_set = TensorDataset(torch.randn(33, 3, 32, 32), torch.randint(10, (33,)))
    train_sampler = torch.utils.data.distributed.DistributedSampler(train_set)
    val_sampler = torch.utils.data.distributed.DistributedSampler(val_set, shuffle=False, drop_last=True)
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=(train_sampler is None), sampler=train_sampler)
    val_loader = DataLoader(val_set, batch_size=batch_size, shuffle=False, sampler=val_sampler)
    best_acc1 = 0
    for epoch in range(epochs):
        train_sampler.set_epoch(epoch)
        train(train_loader, model, criterion, optimizer, epoch, device)
        acc1 = validate(val_loader, model, criterion, world_size, batch_size, device)
        scheduler.step()
        best_acc1 = max(acc1, best_acc1)
    if rank % world_size == 0:
        print(f"best accuracy {best_acc1:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main_worker(int(os.environ.get("LOCAL_RANK", 0)), int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
