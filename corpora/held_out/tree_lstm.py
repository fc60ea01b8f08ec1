"""
Child-Sum and N-ary (binary) Tree-LSTM with level-wise batching over a forest,
on boolean-expression trees ("and" / "or" / "xor" / "not"), plus a plain recursive
implementation used as cross-check.
"""
import functools
import random
import sys
from enum import IntEnum

import torch
import torch.nn as nn
import torch.nn.functional as F


class Op(IntEnum):
    FALSE = 0
    TRUE = 1
    NOT = 2
    AND = 3
    OR = 4
    XOR = 5


class Tree(object):
    __slots__ = ("op", "children", "parent", "value", "idx")

    def __init__(self, op, children=()):
        self.op, self.children, self.parent = op, list(children), None
        for c in self.children:
            c.parent = self
        v = [c.value for c in self.children]
        self.value = {Op.FALSE: lambda: False, Op.TRUE: lambda: True, Op.NOT: lambda: not v[0],
                      Op.AND: lambda: all(v), Op.OR: lambda: any(v), Op.XOR: lambda: sum(v) % 2 == 1}[op]()
        self.idx = -1

    def size(self):
        return 1 + sum(c.size() for c in self.children)

    def depth(self):
        return 1 + max((c.depth() for c in self.children), default=-1)

    def postorder(self):
        for c in self.children:
            yield from c.postorder()
        yield self

    def __repr__(self):
        if not self.children:
            return "T" if self.op == Op.TRUE else "F"
        return "(%s %s)" % (self.op.name.lower(), " ".join(map(repr, self.children)))


def random_tree(rng, depth, max_arity):
    if depth == 0 or rng.random() < 0.15:
        return Tree(rng.choice([Op.FALSE, Op.TRUE]))
    op = rng.choice([Op.NOT, Op.AND, Op.OR, Op.XOR])
    arity = 1 if op == Op.NOT else rng.randint(2, max_arity)
    return Tree(op, [random_tree(rng, depth - 1, max_arity) for _ in range(arity)])


class Forest:
    """flattens trees: ops, adjacency (parent, child, slot) grouped by evaluation level"""

    def __init__(self, trees):
        self.trees = trees
        ops, values, edges, levels = [], [], [], []
        for t in trees:
            for node in t.postorder():
                node.idx = len(ops)
                ops.append(int(node.op))
                values.append(int(node.value))
                levels.append(node.depth())
                edges.extend((node.idx, c.idx, slot) for slot, c in enumerate(node.children))
        self.ops = torch.tensor(ops)
        self.values = torch.tensor(values)
        self.edges = torch.tensor(edges).reshape(-1, 3)
        self.levels = torch.tensor(levels)
        self.roots = torch.tensor([t.idx for t in trees])

    def schedule(self):
        for lvl in range(int(self.levels.max()) + 1):
            nodes = (self.levels == lvl).nonzero().squeeze(1)
            sel = torch.isin(self.edges[:, 0], nodes)
            yield nodes, self.edges[sel]


CELLS = {}


def register(name):
    def deco(cls):
        CELLS[name] = cls
        return cls
    return deco


@register("childsum")
class ChildSumTreeLSTM(nn.Module):
    def __init__(self, in_dim, mem_dim):
        super().__init__()
        self.mem_dim = mem_dim
        self.ioux = nn.Linear(in_dim, 3 * mem_dim)
        self.iouh = nn.Linear(mem_dim, 3 * mem_dim, bias=False)
        self.fx = nn.Linear(in_dim, mem_dim)
        self.fh = nn.Linear(mem_dim, mem_dim, bias=False)

    def node_forward(self, x, parent_pos, slot, child_h, child_c):
        """x [n, in]; parent_pos [e] position of each edge's parent in x"""
        n = x.size(0)
        h_sum = x.new_zeros(n, self.mem_dim).index_add(0, parent_pos, child_h)
        i, o, u = torch.split(self.ioux(x) + self.iouh(h_sum), self.mem_dim, dim=1)
        f = torch.sigmoid(self.fx(x)[parent_pos] + self.fh(child_h))
        fc = x.new_zeros(n, self.mem_dim).index_add(0, parent_pos, f * child_c)
        c = torch.sigmoid(i) * torch.tanh(u) + fc
        return torch.sigmoid(o) * torch.tanh(c), c


@register("nary")
class NaryTreeLSTM(nn.Module):
    def __init__(self, in_dim, mem_dim, n=3):
        super().__init__()
        self.mem_dim, self.n = mem_dim, n
        self.W = nn.Linear(in_dim, 3 * mem_dim)
        self.Wf = nn.Linear(in_dim, mem_dim)
        self.U = nn.Parameter(torch.empty(n, mem_dim, 3 * mem_dim))
        self.Uf = nn.Parameter(torch.empty(n, n, mem_dim, mem_dim))
        for p in (self.U, self.Uf):
            nn.init.normal_(p, std=mem_dim ** -0.5)

    def node_forward(self, x, parent_pos, slot, child_h, child_c):
        B = x.size(0)
        H = x.new_zeros(B, self.n, self.mem_dim).index_put((parent_pos, slot), child_h)
        C = x.new_zeros(B, self.n, self.mem_dim).index_put((parent_pos, slot), child_c)
        iou = self.W(x) + torch.einsum("bkm,kmo->bo", H, self.U)
        i, o, u = iou.view(B, 3, self.mem_dim).unbind(1)
        f = torch.sigmoid(self.Wf(x).unsqueeze(1) + torch.einsum("bkm,jkmo->bjo", H, self.Uf) + 1.0)
        c = i.sigmoid() * u.tanh() + (f * C).sum(1)
        return o.sigmoid() * c.tanh(), c


class TreeClassifier(nn.Module):
    def __init__(self, cell, emb_dim=10, mem_dim=21, p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(len(Op), emb_dim)
        self.cell = CELLS[cell](emb_dim, mem_dim)
        self.head = nn.Sequential(nn.Dropout(p), nn.Linear(mem_dim, 15), nn.ReLU(), nn.Linear(15, 2))

    def forward(self, forest):
        x = self.embedding(forest.ops)
        N, M = x.size(0), self.cell.mem_dim
        pos = torch.full((N,), -1, dtype=torch.long)
        h, c = x.new_zeros(N, M), x.new_zeros(N, M)
        for nodes, edges in forest.schedule():
            pos[nodes] = torch.arange(len(nodes))
            par, child, slot = edges.unbind(1)
            nh, nc = self.cell.node_forward(x[nodes], pos[par], slot, h[child], c[child])
            h, c = h.index_copy(0, nodes, nh), c.index_copy(0, nodes, nc)
        return self.head(h), h

    def recursive(self, tree):
        states = [self.recursive(ch) for ch in tree.children]
        x = self.embedding(torch.tensor([int(tree.op)]))
        M = self.cell.mem_dim
        ch = torch.cat([s[0] for s in states]) if states else x.new_zeros(0, M)
        cc = torch.cat([s[1] for s in states]) if states else x.new_zeros(0, M)
        k = len(states)
        return self.cell.node_forward(x, torch.zeros(k, dtype=torch.long), torch.arange(k), ch, cc)


def batches(trees, size, rng):
    order = trees[:]
    rng.shuffle(order)
    for i in range(0, len(order), size):
        yield Forest(order[i:i + size])


def train_one(name, train, test, epochs=3, bs=13):
    torch.manual_seed(99)
    rng = random.Random(5)
    model = TreeClassifier(name)
    groups = [{"params": model.embedding.parameters(), "lr": 0.02},
              {"params": list(model.cell.parameters()) + list(model.head.parameters())}]
    opt = torch.optim.Adam(groups, lr=0.01, weight_decay=1e-5)
    gamma = torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)
    for ep in range(epochs):
        model.train()
        tot = 0.0
        for forest in batches(train, bs, rng):
            logits, _ = model(forest)
            per_node = F.cross_entropy(logits, forest.values, reduction="none")
            weight = torch.full_like(per_node, 0.3)
            weight[forest.roots] = 1.0
            weight[forest.levels == 0] = 0.05
            loss = (per_node * weight).sum() / weight.sum()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5)
            opt.step()
            tot += loss.item()
        gamma.step()
        model.eval()
        with torch.no_grad():
            f = Forest(test)
            logits, h = model(f)
            ok = logits.argmax(-1) == f.values
            by_level = [ok[f.levels == l].float().mean().item() for l in range(int(f.levels.max()) + 1)]
        print("%-8s epoch %d loss %.4f root acc %.3f by level %s" % (
            name, ep, tot, ok[f.roots].float().mean(), " ".join("%.2f" % a for a in by_level)))
    with torch.no_grad():
        for t in test[:4]:
            rh, _ = model.recursive(t)
            torch.testing.assert_close(rh[0], h[t.idx], rtol=1e-4, atol=1e-5)
    return model


def main():
    sys.setrecursionlimit(5000)
    rng = random.Random(0)
    make = functools.partial(random_tree, rng, max_arity=3)
    train = [make(depth=rng.randint(1, 4)) for _ in range(170)]
    test = [make(depth=4) for _ in range(25)]
    print("example:", min(test, key=lambda t: t.size()), "| nodes", sum(t.size() for t in train))
    for name in sorted(CELLS):
        train_one(name, train, test)


if __name__ == "__main__":
    main()
