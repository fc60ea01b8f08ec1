"""python main.py [--model crnn|m5|all]"""
import argparse

import torch
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader

import data
from models import REGISTRY, build


class ProgressBar:
    def __init__(self, it, **meta):
        self.it, self.meta = it, meta

    def __len__(self):
        return len(self.it)

    def __iter__(self):
        for i, item in enumerate(self.it):
            yield item
        print(self.meta.get("desc", ""), f"{i + 1}/{len(self)}")


def number_of_correct(pred, target):
    # count number of correct predictions
    return pred.squeeze().eq(target).sum().item()


def get_likely_index(tensor):
    # find most likely label index for each element in the batch
    return tensor.argmax(dim=-1)


def train(model, loader, optimizer, epoch, losses):
    model.train()
    for wav, lengths, target in ProgressBar(loader, desc=f"train {epoch}"):
        output = model(wav, lengths)
        # negative log-likelihood for a tensor of size (batch x n_output)
        loss = F.nll_loss(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


@torch.no_grad()
def test(model, loader):
    model.eval()
    correct = 0
    confusion = torch.zeros(len(data.LABELS), len(data.LABELS), dtype=torch.int64)
    for wav, lengths, target in loader:
        pred = get_likely_index(model(wav, lengths))
        correct += number_of_correct(pred, target)
        confusion.index_put_((target, pred), torch.ones_like(target), accumulate=True)
    print(f"accuracy {correct}/{len(loader.dataset)}", confusion.diagonal().tolist())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="all", choices=[*REGISTRY, "all"])
    ap.add_argument("--batch-size", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=1)
    args = ap.parse_args()
    torch.manual_seed(0)
    train_loader = DataLoader(data.Tones(18), batch_size=args.batch_size, shuffle=True, collate_fn=data.collate_fn)
    test_loader = DataLoader(data.Tones(8, seed=1), batch_size=4, drop_last=False, collate_fn=data.collate_fn)
    for name in REGISTRY if args.model == "all" else [args.model]:
        model = build(name, n_output=len(data.LABELS))
        optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=0.0001)
        scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.1)
        losses = []
        for epoch in range(args.epochs):
            train(model, train_loader, optimizer, epoch, losses)
            test(model, test_loader)
            scheduler.step()
        wav, _, label, *_ = data.Tones(1)[0]
        guess = model(wav[None], torch.tensor([len(wav)])).argmax(-1).item()
        print(name, losses[-1], label, data.index_to_label(guess))


if __name__ == "__main__":
    main()
