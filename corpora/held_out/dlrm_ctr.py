# DLRM for click-through-rate prediction. Jagged (offsets + indices) categorical features,
# EmbeddingBag, QR-trick compressed tables, dot interaction, AUC
import argparse
import sys
import time

import numpy as np
import torch
import torch.nn as nn
from torch.nn.parameter import Parameter


def dash_separated_ints(value):
    vals = value.split("-")
    for val in vals:
        try:
            int(val)
        except ValueError:
            raise argparse.ArgumentTypeError("%s is not a valid dash separated list of ints" % value)
    return value


class LRPolicyScheduler(torch.optim.lr_scheduler.LRScheduler):
    def __init__(self, optimizer, num_warmup_steps, decay_start_step, num_decay_steps):
        self.num_warmup_steps = num_warmup_steps
        self.decay_start_step = decay_start_step
        self.decay_end_step = decay_start_step + num_decay_steps
        self.num_decay_steps = num_decay_steps
        if self.decay_start_step < self.num_warmup_steps:
            sys.exit("Learning rate warmup must finish before the decay starts")
        super(LRPolicyScheduler, self).__init__(optimizer)

    def get_lr(self):
        step_count = self._step_count
        if step_count < self.num_warmup_steps:
            scale = 1.0 - (self.num_warmup_steps - step_count) / self.num_warmup_steps
            lr = [base_lr * scale for base_lr in self.base_lrs]
            self.last_lr = lr
        elif self.decay_start_step <= step_count < self.decay_end_step:
            scale = ((self.num_decay_steps - (step_count - self.decay_start_step)) / self.num_decay_steps) ** 2
            lr = [max(1e-7, base_lr * scale) for base_lr in self.base_lrs]
            self.last_lr = lr
        else:
            lr = self.last_lr if self.num_decay_steps > 0 and hasattr(self, "last_lr") else self.base_lrs
        return lr


class QREmbeddingBag(nn.Module):
    """quotient-remainder compositional embedding"""

    def __init__(self, num_categories, embedding_dim, num_collisions, operation="mult"):
        super(QREmbeddingBag, self).__init__()
        assert operation in ["concat", "mult", "add"]
        self.num_collisions, self.operation = num_collisions, operation
        if operation == "concat":
            embedding_dim = embedding_dim // 2
        rows = [int(np.ceil(num_categories / num_collisions)), num_collisions]
        self.weight_q = Parameter(torch.Tensor(rows[0], embedding_dim))
        self.weight_r = Parameter(torch.Tensor(rows[1], embedding_dim))
        nn.init.uniform_(self.weight_q, np.sqrt(1 / num_categories))
        nn.init.uniform_(self.weight_r, np.sqrt(1 / num_categories))

    def forward(self, input, offsets=None, per_sample_weights=None):
        input_q = (input / self.num_collisions).long()
        input_r = torch.remainder(input, self.num_collisions).long()
        embed_q = nn.functional.embedding_bag(input_q, self.weight_q, offsets, mode="sum")
        embed_r = nn.functional.embedding_bag(input_r, self.weight_r, offsets, mode="sum")
        if self.operation == "concat":
            return torch.cat((embed_q, embed_r), dim=1)
        return embed_q + embed_r if self.operation == "add" else embed_q * embed_r


class DLRM_Net(nn.Module):
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, ln.size - 1):
            n, m = ln[i], ln[i + 1]
            LL = nn.Linear(int(n), int(m), bias=True)
            W = np.random.normal(0.0, np.sqrt(2 / (m + n)), size=(m, n)).astype(np.float32)
            bt = np.random.normal(0.0, np.sqrt(1 / m), size=m).astype(np.float32)
            LL.weight.data = torch.tensor(W, requires_grad=True)
            LL.bias.data = torch.tensor(bt, requires_grad=True)
            layers.append(LL)
            layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
        return torch.nn.Sequential(*layers)

    def create_emb(self, m, ln):
        emb_l = nn.ModuleList()
        for i in range(0, ln.size):
            n = ln[i]
            if self.qr_flag and n > self.qr_threshold:
                EE = QREmbeddingBag(int(n), m, self.qr_collisions, operation=self.qr_operation)
            else:
                EE = nn.EmbeddingBag(int(n), m, mode="sum", sparse=False)
                W = np.random.uniform(low=-np.sqrt(1 / n), high=np.sqrt(1 / n), size=(n, m)).astype(np.float32)
                EE.weight.data = torch.tensor(W, requires_grad=True)
            emb_l.append(EE)
        return emb_l

    def __init__(self, m_spa, ln_emb, ln_bot, ln_top, arch_interaction_op="dot", arch_interaction_itself=False,
                 sigmoid_top=-1, qr_flag=False, qr_operation="mult", qr_collisions=4, qr_threshold=200):
        super(DLRM_Net, self).__init__()
        self.arch_interaction_op = arch_interaction_op
        self.arch_interaction_itself = arch_interaction_itself
        self.qr_flag = qr_flag
        if self.qr_flag:
            self.qr_collisions, self.qr_operation, self.qr_threshold = qr_collisions, qr_operation, qr_threshold
        self.emb_l = self.create_emb(m_spa, ln_emb)
        self.bot_l = self.create_mlp(ln_bot, -1)
        self.top_l = self.create_mlp(ln_top, sigmoid_top)
        self.loss_fn = torch.nn.BCELoss(reduction="mean")

    def apply_mlp(self, x, layers):
        return layers(x)

    def apply_emb(self, lS_o, lS_i):
        ly = []
        for k, sparse_index_group_batch in enumerate(lS_i):
            ly.append(self.emb_l[k](sparse_index_group_batch, lS_o[k]))
        return ly

    def interact_features(self, x, ly):
        if self.arch_interaction_op == "dot":
            (batch_size, d) = x.shape
            T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
            Z = torch.bmm(T, torch.transpose(T, 1, 2))
            _, ni, nj = Z.shape
            offset = 1 if self.arch_interaction_itself else 0
            li = torch.tensor([i for i in range(ni) for j in range(i + offset)])
            lj = torch.tensor([j for i in range(nj) for j in range(i + offset)])
            Zflat = Z[:, li, lj]
            R = torch.cat([x] + [Zflat], dim=1)
        elif self.arch_interaction_op == "cat":
            R = torch.cat([x] + ly, dim=1)
        else:
            sys.exit("ERROR: --arch-interaction-op=" + self.arch_interaction_op + " is not supported")
        return R

    def forward(self, dense_x, lS_o, lS_i):
        x = self.apply_mlp(dense_x, self.bot_l)
        ly = self.apply_emb(lS_o, lS_i)
        z = self.interact_features(x, ly)
        return torch.clamp(self.apply_mlp(z, self.top_l), min=1e-6, max=1 - 1e-6)


class RandomClicks(object):
    """multi-hot features; clicks follow a hidden low-rank model so there is something to learn"""

    def __init__(self, m_den, ln_emb, batch, nbatches, max_hot, seed):
        self.m_den, self.ln_emb, self.batch, self.nbatches, self.max_hot = m_den, ln_emb, batch, nbatches, max_hot
        self.rng = np.random.default_rng(seed)
        hidden = np.random.default_rng(4242)
        self.tables = [hidden.normal(size=(n, 3)) for n in ln_emb]
        self.w = hidden.normal(size=(m_den, 3)) / np.sqrt(m_den)

    def __len__(self):
        return self.nbatches

    def __iter__(self):
        for _ in range(self.nbatches):
            X = self.rng.exponential(size=(self.batch, self.m_den))
            Xl = np.log1p(X).astype(np.float32)
            lS_o, lS_i, vecs = [], [], [Xl @ self.w]
            for n, table in zip(self.ln_emb, self.tables):
                counts = self.rng.integers(1, self.max_hot + 1, size=self.batch)
                idx = np.minimum(self.rng.zipf(1.3, size=counts.sum()) - 1, n - 1)
                off = np.concatenate([[0], np.cumsum(counts)[:-1]])
                vecs.append(np.add.reduceat(table[idx], off, axis=0) / counts[:, None])
                lS_o.append(torch.tensor(off))
                lS_i.append(torch.tensor(idx))
            V = np.stack(vecs, 1)
            score = ((V.sum(1) ** 2) - (V ** 2).sum(1)).sum(-1) - 0.5
            y = (self.rng.random(self.batch) < 1 / (1 + np.exp(-score))).astype(np.float32)
            yield torch.from_numpy(Xl), torch.stack(lS_o), lS_i, torch.from_numpy(y)[:, None]


def roc_auc(scores, labels):
    order = np.argsort(scores, kind="mergesort")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    pos = labels > 0.5
    n1, n0 = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n1 * (n1 + 1) / 2) / max(n1 * n0, 1)


def run(argv=None):
    parser = argparse.ArgumentParser(description="Train Deep Learning Recommendation Model (DLRM)")
    parser.add_argument("--arch-sparse-feature-size", type=int, default=8)
    parser.add_argument("--arch-embedding-size", type=dash_separated_ints, default="40-300-17-510-90")
    parser.add_argument("--arch-mlp-bot", type=dash_separated_ints, default="11-24-8")
    parser.add_argument("--arch-mlp-top", type=dash_separated_ints, default="33-20-1")
    parser.add_argument("--arch-interaction-op", type=str, choices=["dot", "cat"], default="dot")
    parser.add_argument("--qr-operation", type=str, default="mult")
    parser.add_argument("--mini-batch-size", type=int, default=52)
    parser.add_argument("--num-batches", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--print-freq", type=int, default=25)
    args = parser.parse_args([] if argv is None else argv)
    ln_emb = np.fromstring(args.arch_embedding_size, dtype=int, sep="-")
    ln_bot = np.fromstring(args.arch_mlp_bot, dtype=int, sep="-")
    num_fea, m_den_out = ln_emb.size + 1, ln_bot[-1]
    for op, qr in (("dot", False), ("dot", True), ("cat", True)):
        np.random.seed(123)
        torch.manual_seed(123)
        num_int = (num_fea * (num_fea - 1)) // 2 + m_den_out if op == "dot" else num_fea * m_den_out
        ln_top = np.array([num_int] + [int(v) for v in args.arch_mlp_top.split("-")])
        dlrm = DLRM_Net(args.arch_sparse_feature_size, ln_emb, ln_bot, ln_top, arch_interaction_op=op,
                        sigmoid_top=ln_top.size - 2, qr_flag=qr, qr_operation=args.qr_operation)
        optimizer = torch.optim.Adagrad(dlrm.parameters(), lr=args.learning_rate)
        sched = LRPolicyScheduler(optimizer, 10, 25, 30)
        total, t0 = 0.0, time.time()
        for j, (X, lS_o, lS_i, T) in enumerate(RandomClicks(ln_bot[0], ln_emb, args.mini_batch_size, args.num_batches, 4, 1)):
            Z = dlrm(X, lS_o, lS_i)
            E = dlrm.loss_fn(Z, T)
            optimizer.zero_grad()
            E.backward()
            optimizer.step()
            sched.step()
            total += E.item()
            if (j + 1) % args.print_freq == 0:
                print("%s qr=%d it %d loss %.4f lr %.4f %.2f ms/it" % (
                    op, qr, j + 1, total / args.print_freq, sched.get_last_lr()[0], 1e3 * (time.time() - t0) / (j + 1)))
                total = 0.0
        with torch.no_grad():
            S, L = zip(*((dlrm(X, o, i).numpy(), T.numpy()) for X, o, i, T in RandomClicks(ln_bot[0], ln_emb, 61, 5, 4, 2)))
        print("  params %d auc %.4f" % (sum(p.numel() for p in dlrm.parameters()),
                                        roc_auc(np.concatenate(S).ravel(), np.concatenate(L).ravel())))


def main():
    run()


if __name__ == "__main__":
    main()
