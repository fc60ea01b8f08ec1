"""A loop as people write it: helper functions around dist, metrics gathered from all ranks, objects broadcast."""

import argparse
import builtins
import datetime
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, SequentialSampler, TensorDataset


def is_dist_avail_and_initialized():
    return dist.is_available() and dist.is_initialized()


def get_world_size():
    if not is_dist_avail_and_initialized():
        return 1
    return dist.get_world_size()


def get_rank():
    if not is_dist_avail_and_initialized():
        return 0
    return dist.get_rank()


def is_main_process():
    return get_rank() == 0


def save_on_master(*args, **kwargs):
    if is_main_process():
        torch.save(*args, **kwargs)


def setup_for_distributed(is_master):
    builtin_print = builtins.print

    def print(*args, **kwargs):
        force = kwargs.pop("force", False)
        if is_master or force:
            builtin_print(datetime.datetime.now().time(), end=" ")
            builtin_print(*args, **kwargs)

    builtins.print = print


def init_distributed_mode(args):
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        args.rank = int(os.environ["RANK"])
        args.world_size = int(os.environ["WORLD_SIZE"])
        args.gpu = int(os.environ["LOCAL_RANK"])
    elif "SLURM_PROCID" in os.environ:
        args.rank = int(os.environ["SLURM_PROCID"])
        args.gpu = args.rank % max(torch.cuda.device_count(), 1)
    else:
        print("Not using distributed mode")
        args.distributed = False
        return
    args.distributed = True
    dist.init_process_group(
        backend="gloo", init_method=args.dist_url, world_size=args.world_size, rank=args.rank,
        timeout=datetime.timedelta(seconds=60),
    )
    dist.barrier()
    setup_for_distributed(args.rank == 0)


def reduce_dict(input_dict, average=True):
    world_size = get_world_size()
    if world_size < 2:
        return input_dict
    with torch.inference_mode():
        names, values = [], []
        for k in sorted(input_dict.keys()):
            names.append(k)
            values.append(input_dict[k])
        values = torch.stack(values, dim=0)
        dist.all_reduce(values)
        if average:
            values /= world_size
        return {k: v for k, v in zip(names, values)}


def all_gather_rows(x):
    world_size = get_world_size()
    if world_size == 1:
        return x
    rows = torch.empty((world_size * x.shape[0],) + x.shape[1:], dtype=x.dtype, device=x.device)
    dist.all_gather_into_tensor(rows, x)
    return rows


@torch.no_grad()
def evaluate(model, criterion, loader, device, num_classes):
    model.eval()
    confusion = torch.zeros(num_classes, num_classes, dtype=torch.int64, device=device)
    outputs, targets = [], []
    for image, target in loader:
        output = model(image.to(device))
        target = target.to(device)
        loss_dict = reduce_dict({"loss": criterion(output, target), "top1": (output.argmax(1) == target).float().mean()})
        k = target * num_classes + output.argmax(1)
        confusion += torch.bincount(k, minlength=num_classes**2).reshape(num_classes, num_classes)
        outputs.append(output)
        targets.append(target)
    if is_dist_avail_and_initialized():
        dist.barrier()
        dist.all_reduce(confusion)
    outputs, targets = all_gather_rows(torch.cat(outputs)), all_gather_rows(torch.cat(targets))
    loss = criterion(outputs, targets)
    return loss.item(), confusion.diag().sum().item() / confusion.sum().item(), loss_dict


def main(args):
    init_distributed_mode(args)
    device = torch.device(args.device)
    torch.manual_seed(args.seed + get_rank())
    train_set = TensorDataset(torch.randn(64, 14), torch.randint(5, (64,)))
    test_set = TensorDataset(torch.randn(32, 14), torch.randint(5, (32,)))
    if args.distributed:
        train_sampler = DistributedSampler(train_set)
        test_sampler = DistributedSampler(test_set, shuffle=False)
    else:
        train_sampler = RandomSampler(train_set)
        test_sampler = SequentialSampler(test_set)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, sampler=train_sampler, drop_last=True)
    test_loader = DataLoader(test_set, batch_size=8, sampler=test_sampler)
    model = nn.Sequential(nn.Linear(14, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 5))
    if args.distributed and args.sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model.to(device)
    model_without_ddp = model
    if args.distributed:
        model = nn.parallel.DistributedDataParallel(model)
        model_without_ddp = model.module
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model_without_ddp.parameters(), lr=args.lr * get_world_size(), momentum=0.9)
    config = [{"classes": 5}] if is_main_process() else [None]
    if args.distributed:
        dist.broadcast_object_list(config, src=0)
    for epoch in range(args.epochs):
        if args.distributed:
            train_sampler.set_epoch(epoch)
        model.train()
        for image, target in train_loader:
            loss = criterion(model(image.to(device)), target.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss, acc, _ = evaluate(model, criterion, test_loader, device, config[0]["classes"])
        save_on_master({"model": model_without_ddp.state_dict(), "epoch": epoch}, os.devnull)
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {acc:.3f}")
    if args.distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sync-bn", action="store_true")
    parser.add_argument("--dist-url", default="env://")
    main(parser.parse_args())
