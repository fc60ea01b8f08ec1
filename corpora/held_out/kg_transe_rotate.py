#!/usr/bin/python3
"""Knowledge graph embedding: TransE, DistMult and RotatE with self-adversarial negative sampling."""

from __future__ import annotations

import logging
import os
import random
import tempfile
from abc import abstractmethod
from collections import defaultdict
from typing import Callable, ClassVar

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger("kge")

FAMILIES = """
anna george mary paul
mary tom lucy ben
paul sara nina max
lucy fred ida oskar
ben clara emil rosa
nina hugo lea finn
"""


def build_triples() -> list[tuple[str, str, str]]:
    """Each line of FAMILIES: mother, father and two children."""
    triples = []
    girls = {"mary", "lucy", "nina", "ida", "rosa", "lea"}
    for line in FAMILIES.strip().splitlines():
        mother, father, *children = line.split()
        triples += [(mother, "married_to", father), (father, "married_to", mother)]
        for child in children:
            triples.append((mother, "mother_of", child))
            triples.append((father, "father_of", child))
            triples.append((child, "daughter_of" if child in girls else "son_of", mother))
            triples.append((child, "daughter_of" if child in girls else "son_of", father))
        a, b = children
        triples += [(a, "sibling_of", b), (b, "sibling_of", a)]
    return triples


MODELS: dict[str, type["KGEModel"]] = {}


def register(name: str) -> Callable:
    def wrap(cls):
        MODELS[name] = cls
        return cls
    return wrap


class KGEModel(nn.Module):
    double_entity: ClassVar[bool] = False
    epsilon = 2.0

    def __init__(self, nentity, nrelation, hidden_dim, gamma):
        super().__init__()
        self.nentity = nentity
        self.nrelation = nrelation
        self.hidden_dim = hidden_dim
        self.gamma = nn.Parameter(torch.Tensor([gamma]), requires_grad=False)
        self.embedding_range = nn.Parameter(
            torch.Tensor([(self.gamma.item() + self.epsilon) / hidden_dim]), requires_grad=False)
        self.entity_dim = hidden_dim * 2 if self.double_entity else hidden_dim
        self.relation_dim = hidden_dim
        self.entity_embedding = nn.Parameter(torch.zeros(nentity, self.entity_dim))
        self.relation_embedding = nn.Parameter(torch.zeros(nrelation, self.relation_dim))
        for p in (self.entity_embedding, self.relation_embedding):
            nn.init.uniform_(p, a=-self.embedding_range.item(), b=self.embedding_range.item())

    @abstractmethod
    def score(self, head, relation, tail, mode):
        raise NotImplementedError

    def forward(self, sample, mode="single"):
        """
        'single': sample is a batch of triples.
        'head-batch' / 'tail-batch': sample is (positive triples, candidate entities), one row of
        candidates per triple.
        """
        if mode == "single":
            head = torch.index_select(self.entity_embedding, 0, sample[:, 0]).unsqueeze(1)
            relation = torch.index_select(self.relation_embedding, 0, sample[:, 1]).unsqueeze(1)
            tail = torch.index_select(self.entity_embedding, 0, sample[:, 2]).unsqueeze(1)
        else:
            positive, candidates = sample
            batch_size, n = candidates.size(0), candidates.size(1)
            many = torch.index_select(self.entity_embedding, 0,
                                      candidates.view(-1)).view(batch_size, n, -1)
            relation = self.relation_embedding[positive[:, 1]].unsqueeze(1)
            if mode == "head-batch":
                head, tail = many, self.entity_embedding[positive[:, 2]].unsqueeze(1)
            elif mode == "tail-batch":
                head, tail = self.entity_embedding[positive[:, 0]].unsqueeze(1), many
            else:
                raise ValueError("mode %s not supported" % mode)
        return self.score(head, relation, tail, mode)


@register("TransE")
class TransE(KGEModel):
    def score(self, head, relation, tail, mode):
        if mode == "head-batch":
            score = head + (relation - tail)
        else:
            score = (head + relation) - tail
        return self.gamma.item() - torch.norm(score, p=1, dim=2)


@register("DistMult")
class DistMult(KGEModel):
    def score(self, head, relation, tail, mode):
        return (head * relation * tail).sum(dim=2)


@register("RotatE")
class RotatE(KGEModel):
    double_entity = True

    def score(self, head, relation, tail, mode):
        pi = 3.14159265358979323846
        re_head, im_head = torch.chunk(head, 2, dim=2)
        re_tail, im_tail = torch.chunk(tail, 2, dim=2)

        # Make phases of relations uniformly distributed in [-pi, pi]
        phase_relation = relation / (self.embedding_range.item() / pi)
        re_relation = torch.cos(phase_relation)
        im_relation = torch.sin(phase_relation)

        if mode == "head-batch":
            re_score = re_relation * re_tail + im_relation * im_tail - re_head
            im_score = re_relation * im_tail - im_relation * re_tail - im_head
        else:
            re_score = re_head * re_relation - im_head * im_relation - re_tail
            im_score = re_head * im_relation + im_head * re_relation - im_tail

        score = torch.stack([re_score, im_score], dim=0).norm(dim=0)
        return self.gamma.item() - score.sum(dim=2)


class TrainDataset(Dataset):
    def __init__(self, triples, nentity, negative_sample_size, mode):
        self.triples = triples
        self.nentity = nentity
        self.k = negative_sample_size
        self.mode = mode
        self.count = defaultdict(lambda: 4)
        self.true = defaultdict(set)
        for h, r, t in triples:
            self.count[(h, r)] += 1
            self.count[(t, -r - 1)] += 1
            self.true[self._key(h, r, t)].add(h if mode == "head-batch" else t)

    def _key(self, h, r, t):
        return (r, t) if self.mode == "head-batch" else (h, r)

    def __len__(self):
        return len(self.triples)

    def __getitem__(self, idx):
        h, r, t = self.triples[idx]
        weight = self.count[(h, r)] + self.count[(t, -r - 1)]
        weight = torch.sqrt(1 / torch.Tensor([weight]))
        negatives, size = [], 0
        while size < self.k:
            cand = np.random.randint(self.nentity, size=self.k * 2)
            cand = cand[~np.isin(cand, list(self.true[self._key(h, r, t)]))]
            negatives.append(cand)
            size += cand.size
        negatives = np.concatenate(negatives)[:self.k]
        return torch.LongTensor([h, r, t]), torch.from_numpy(negatives), weight, self.mode

    @staticmethod
    def collate_fn(data):
        positive = torch.stack([row[0] for row in data], dim=0)
        negative = torch.stack([row[1] for row in data], dim=0)
        weight = torch.cat([row[2] for row in data], dim=0)
        return positive, negative, weight, data[0][3]


def bidirectional(head_loader, tail_loader):
    def forever(loader):
        while True:
            yield from loader
    heads, tails = forever(head_loader), forever(tail_loader)
    while True:
        yield next(heads)
        yield next(tails)


def train_step(model, optimizer, batch, device, alpha, regularization):
    model.train()
    positive, negative, weight, mode = batch
    positive, negative, weight = positive.to(device), negative.to(device), weight.to(device)

    neg_score = model((positive, negative), mode=mode)
    # self-adversarial: hard negatives weigh more
    neg_score = (F.softmax(neg_score * alpha, dim=1).detach() * F.logsigmoid(-neg_score)).sum(dim=1)
    pos_score = F.logsigmoid(model(positive)).squeeze(dim=1)

    pos_loss = -(weight * pos_score).sum() / weight.sum()
    neg_loss = -(weight * neg_score).sum() / weight.sum()
    loss = (pos_loss + neg_loss) / 2
    if regularization:
        loss = loss + regularization * (model.entity_embedding.norm(p=3) ** 3
                                        + model.relation_embedding.norm(p=3) ** 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return {"pos": pos_loss.item(), "neg": neg_loss.item(), "loss": loss.item()}


@torch.no_grad()
def evaluate(model, test, all_true, nentity, device):
    """Filtered ranking."""
    model.eval()
    ranks = []
    everyone = torch.arange(nentity, device=device)
    for h, r, t in test:
        positive = torch.tensor([[h, r, t]], device=device)
        for mode, answer in (("head-batch", h), ("tail-batch", t)):
            score = model((positive, everyone.unsqueeze(0)), mode=mode).squeeze(0)
            for e in range(nentity):
                triple = (e, r, t) if mode == "head-batch" else (h, r, e)
                if e != answer and triple in all_true:
                    score[e] = -1e6
            order = torch.argsort(score, descending=True)
            ranks.append(1 + (order == answer).nonzero().item())
    ranks = np.array(ranks)
    metrics = {"MRR": (1.0 / ranks).mean(), "MR": ranks.mean()}
    metrics.update({f"HITS@{k}": (ranks <= k).mean() for k in (1, 3, 10)})
    return {k: round(float(v), 3) for k, v in metrics.items()}


def run(name, triples, nentity, nrelation, *, hidden_dim=20, gamma=6.0, batch_size=16, negatives=8,
        alpha=1.0, lr=0.05, steps=3, regularization=0.0):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    random.Random(0).shuffle(triples)
    train, test = triples[:-10], triples[-10:]
    loaders = [DataLoader(TrainDataset(train, nentity, negatives, mode), batch_size=batch_size,
                          shuffle=True, collate_fn=TrainDataset.collate_fn)
               for mode in ("head-batch", "tail-batch")]
    model = MODELS[name](nentity, nrelation, hidden_dim, gamma).to(device)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for step, batch in zip(range(steps), bidirectional(*loaders)):
        logger.info("%s step %d %s", name, step,
                    train_step(model, optimizer, batch, device, alpha, regularization))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint")
        torch.save({"step": steps, "model_state_dict": model.state_dict(),
                    "optimizer_state_dict": optimizer.state_dict()}, path)
        model.load_state_dict(torch.load(path)["model_state_dict"])
    return evaluate(model, test, set(triples), nentity, device)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    torch.manual_seed(0)
    np.random.seed(0)
    raw = build_triples()
    entities = {e: i for i, e in enumerate(sorted({x for h, _, t in raw for x in (h, t)}))}
    relations = {r: i for i, r in enumerate(sorted({r for _, r, _ in raw}))}
    triples = [(entities[h], relations[r], entities[t]) for h, r, t in raw]
    logger.info("%d entities, %d relations, %d triples", len(entities), len(relations), len(triples))
    extra = {"DistMult": {"regularization": 1e-4}}
    for name in MODELS:
        print(name, run(name, list(triples), len(entities), len(relations), **extra.get(name, {})))
