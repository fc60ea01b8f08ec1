import argparse
import logging
import os
import tempfile

import numpy as np
import torch

from config import load_config
from datasets import build_loaders
from losses import CombinedLoss, ConfusionMatrix
from models import build_model

logger = logging.getLogger(__name__)


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.val = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def make_optimizer(cfg, model):
    cls = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[cfg.name]
    optimizer = cls(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / cfg.warmup))
    return optimizer, scheduler


def train_one_epoch(model, loader, criterion, optimizer, scheduler, device):
    model.train()
    meter = AverageMeter("loss")
    for batch in loader:
        image = batch["image"].to(device, non_blocking=True)
        mask = batch["mask"].to(device, non_blocking=True)
        outputs = model(image)
        loss = criterion(outputs, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        meter.update(loss.item(), image.size(0))
    return meter.avg


@torch.inference_mode()
def evaluate(model, loader, num_classes, device):
    model.eval()
    confmat = ConfusionMatrix(num_classes)
    predictions = {}
    for batch in loader:
        logits = model(batch["image"].to(device))["out"]
        flipped = model(torch.flip(batch["image"], dims=[3]).to(device))["out"]
        logits = (logits + flipped.flip(3)) / 2
        pred = logits.argmax(1)
        confmat.update(batch["mask"].flatten(), pred.flatten())
        for name, p in zip(batch["id"], pred.cpu().numpy()):
            predictions[name] = p.astype(np.uint8)
    return confmat, predictions


def save_checkpoint(path, model, optimizer, epoch):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("overrides", nargs="*", help="data.batch_size=4 and so on")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    cfg = load_config(args.overrides)
    np.random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    device = torch.device(args.device)
    loaders = build_loaders(cfg.data)
    model = build_model(cfg.model, cfg.data.num_classes).to(device)
    criterion = CombinedLoss(cfg.data.num_classes, cfg.loss).to(device)
    optimizer, scheduler = make_optimizer(cfg.optim, model)
    start = 0
    if args.resume:
        state = torch.load(args.resume, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"] + 1
    best = -1
    with tempfile.TemporaryDirectory() as out:
        for epoch in range(start, cfg.optim.epochs):
            loss = train_one_epoch(model, loaders["train"], criterion, optimizer, scheduler, device)
            confmat, predictions = evaluate(model, loaders["val"], cfg.data.num_classes, device)
            _, _, iou = confmat.compute()
            miou = torch.nan_to_num(iou).mean().item()
            logger.info("epoch %d loss %.4f miou %.3f", epoch, loss, miou)
            if miou > best:
                best = miou
                save_checkpoint(os.path.join(out, "best.pt"), model, optimizer, epoch)
        state = torch.load(os.path.join(out, "best.pt"), map_location="cpu")
        model.load_state_dict(state["model"])
    print(confmat)
    volume = np.stack([predictions[k] for k in sorted(predictions)])
    print(volume.shape, np.bincount(volume.ravel(), minlength=cfg.data.num_classes))


if __name__ == "__main__":
    main()
