from __future__ import division
from __future__ import print_function

import time
import argparse
import collections

import numpy as np
import scipy.sparse as sp

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.parameter import Parameter

# Training settings
parser = argparse.ArgumentParser()
parser.add_argument('--no-cuda', action='store_true', default=False,
                    help='Disables CUDA training.')
parser.add_argument('--fastmode', action='store_true', default=False,
                    help='Validate during training pass.')
parser.add_argument('--seed', type=int, default=42, help='Random seed.')
parser.add_argument('--epochs', type=int, default=3,
                    help='Number of epochs to train.')
parser.add_argument('--lr', type=float, default=0.01,
                    help='Initial learning rate.')
parser.add_argument('--weight_decay', type=float, default=5e-4,
                    help='Weight decay (L2 loss on parameters).')
parser.add_argument('--hidden', type=int, default=16,
                    help='Number of hidden units.')
parser.add_argument('--layers', type=int, default=2)
parser.add_argument('--dropout', type=float, default=0.5,
                    help='Dropout rate (1 - keep probability).')
parser.add_argument('--drop_edge', type=float, default=0.1)


def make_citation_graph(n=400, n_class=5, vocab=120, seed=0):
    """A stochastic block model with bag-of-words features, in the spirit of Cora."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(n_class, size=n)

    # edges
    same = labels[:, None] == labels[None, :]
    prob = np.where(same, 0.03, 0.003)
    upper = np.triu(rng.rand(n, n) < prob, k=1)
    rows, cols = np.nonzero(upper)
    adj = sp.coo_matrix((np.ones(len(rows)), (rows, cols)), shape=(n, n), dtype=np.float32)
    # build symmetric adjacency matrix
    adj = adj + adj.T.multiply(adj.T > adj) - adj.multiply(adj.T > adj)

    # words: each class prefers a slice of the vocabulary
    base = np.full((n_class, vocab), 0.02)
    width = vocab // n_class
    for c in range(n_class):
        base[c, c * width:(c + 1) * width] = 0.12
    features = sp.csr_matrix((rng.rand(n, vocab) < base[labels]).astype(np.float32))
    return adj, features, labels


def normalize(mx):
    """Row-normalize sparse matrix"""
    rowsum = np.array(mx.sum(1)).flatten()
    with np.errstate(divide='ignore'):
        r_inv = np.power(rowsum, -1)
    r_inv[np.isinf(r_inv)] = 0.
    r_mat_inv = sp.diags(r_inv)
    return r_mat_inv.dot(mx)


def normalize_adj_sym(adj):
    adj = adj + sp.eye(adj.shape[0])
    d = np.power(np.array(adj.sum(1)).flatten(), -0.5)
    d[np.isinf(d)] = 0.
    d_mat = sp.diags(d)
    return d_mat.dot(adj).dot(d_mat)


def sparse_mx_to_torch_sparse_tensor(sparse_mx):
    """Convert a scipy sparse matrix to a torch sparse tensor."""
    sparse_mx = sparse_mx.tocoo().astype(np.float32)
    indices = torch.from_numpy(np.vstack((sparse_mx.row, sparse_mx.col)).astype(np.int64))
    values = torch.from_numpy(sparse_mx.data)
    shape = torch.Size(sparse_mx.shape)
    return torch.sparse_coo_tensor(indices, values, shape).coalesce()


def load_data(seed):
    adj, features, labels = make_citation_graph(seed=seed)
    features = normalize(features)
    adj = normalize_adj_sym(adj)

    rng = np.random.RandomState(seed)
    per_class = collections.defaultdict(list)
    for i in rng.permutation(len(labels)):
        per_class[labels[i]].append(i)
    idx_train = np.concatenate([v[:10] for v in per_class.values()])
    rest = np.setdiff1d(np.arange(len(labels)), idx_train)
    rng.shuffle(rest)
    idx_val, idx_test = rest[:100], rest[100:300]

    features = torch.FloatTensor(np.array(features.todense()))
    labels = torch.LongTensor(labels)
    adj = sparse_mx_to_torch_sparse_tensor(adj)
    return (adj, features, labels, torch.LongTensor(idx_train), torch.LongTensor(idx_val),
            torch.LongTensor(idx_test))


def drop_edges(adj, p):
    """Drops entries of the (coalesced) adjacency and rescales what is left."""
    if p == 0:
        return adj
    idx, val = adj.indices(), adj.values()
    keep = torch.rand(val.size(0), device=val.device) > p
    return torch.sparse_coo_tensor(idx[:, keep], val[keep] / (1 - p), adj.shape)


class GraphConvolution(nn.Module):
    """
    Simple GCN layer, similar to https://arxiv.org/abs/1609.02907
    """

    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter('bias', None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1. / np.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        if self.bias is not None:
            return output + self.bias
        else:
            return output

    def __repr__(self):
        return self.__class__.__name__ + ' (' \
               + str(self.in_features) + ' -> ' \
               + str(self.out_features) + ')'


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, nlayers, dropout):
        super(GCN, self).__init__()
        sizes = [nfeat] + [nhid] * (nlayers - 1) + [nclass]
        self.gcs = nn.ModuleList([GraphConvolution(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.dropout = dropout

    def forward(self, x, adj, return_hidden=False):
        for gc in self.gcs[:-1]:
            x = F.relu(gc(x, adj))
            x = F.dropout(x, self.dropout, training=self.training)
        out = F.log_softmax(self.gcs[-1](x, adj), dim=1)
        if return_hidden:
            return out, x
        return out


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    correct = correct.sum()
    return correct / len(labels)


def label_propagation(adj, labels, idx_train, n_class, n_iter=10, alpha=0.9):
    """A baseline without any features."""
    y = torch.zeros(labels.size(0), n_class, device=labels.device)
    y[idx_train] = F.one_hot(labels[idx_train], n_class).float()
    f = y.clone()
    for _ in range(n_iter):
        f = alpha * torch.sparse.mm(adj, f) + (1 - alpha) * y
        f[idx_train] = y[idx_train]
    return f


def main():
    args = parser.parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()

    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    if args.cuda:
        torch.cuda.manual_seed(args.seed)

    # Load data
    adj, features, labels, idx_train, idx_val, idx_test = load_data(args.seed)
    n_class = labels.max().item() + 1

    # Model and optimizer
    model = GCN(nfeat=features.shape[1],
                nhid=args.hidden,
                nclass=n_class,
                nlayers=args.layers,
                dropout=args.dropout)
    print(model)
    optimizer = optim.Adam(model.parameters(),
                           lr=args.lr, weight_decay=args.weight_decay)

    if args.cuda:
        model.cuda()
        features = features.cuda()
        adj = adj.cuda()
        labels = labels.cuda()
        idx_train = idx_train.cuda()
        idx_val = idx_val.cuda()
        idx_test = idx_test.cuda()

    def train(epoch):
        t = time.time()
        model.train()
        optimizer.zero_grad()
        output = model(features, drop_edges(adj, args.drop_edge))
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        acc_train = accuracy(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()

        if not args.fastmode:
            # Evaluate validation set performance separately,
            # deactivates dropout during validation run.
            model.eval()
            with torch.no_grad():
                output = model(features, adj)

        loss_val = F.nll_loss(output[idx_val], labels[idx_val])
        acc_val = accuracy(output[idx_val], labels[idx_val])
        print('Epoch: {:04d}'.format(epoch + 1),
              'loss_train: {:.4f}'.format(loss_train.item()),
              'acc_train: {:.4f}'.format(acc_train.item()),
              'loss_val: {:.4f}'.format(loss_val.item()),
              'acc_val: {:.4f}'.format(acc_val.item()),
              'time: {:.4f}s'.format(time.time() - t))

    def test():
        model.eval()
        with torch.no_grad():
            output, hidden = model(features, adj, return_hidden=True)
        loss_test = F.nll_loss(output[idx_test], labels[idx_test])
        acc_test = accuracy(output[idx_test], labels[idx_test])
        print("Test set results:",
              "loss= {:.4f}".format(loss_test.item()),
              "accuracy= {:.4f}".format(acc_test.item()))

        # how alike are the hidden vectors of neighbours?
        src, dst = adj.indices()
        sim = F.cosine_similarity(hidden[src], hidden[dst], dim=1)
        print("neighbour similarity= {:.4f}".format(sim[src != dst].mean().item()))

    for epoch in range(args.epochs):
        train(epoch)
    print("Optimization Finished!")
    test()

    lp = label_propagation(adj, labels, idx_train, n_class)
    print("Label propagation: {:.4f}".format(accuracy(lp[idx_test], labels[idx_test]).item()))


if __name__ == '__main__':
    main()
