"""Set Transformer / DeepSets for amortised clustering of a mixture of Gaussians.

    python set_transformer_mog.py            # both nets
"""
import math
import os
import logging
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter


class MultivariateNormal:
    """diagonal normals with parameters packed as [B,K,2*dim]"""

    def __init__(self, dim):
        self.dim = dim

    def sample(self, B, K, labels):
        mu = -4 + 8 * torch.rand(B, K, self.dim)
        sigma = torch.full((B, K, self.dim), 0.3)
        eps = torch.randn(labels.shape + (self.dim,))
        rlabels = labels.unsqueeze(-1).repeat(1, 1, self.dim)
        X = torch.gather(mu, 1, rlabels) + eps * torch.gather(sigma, 1, rlabels)
        return X, torch.cat((mu, sigma), -1)

    def log_prob(self, X, params):
        mu, sigma = params[..., :self.dim], params[..., self.dim:]
        X, mu, sigma = X.unsqueeze(2), mu.unsqueeze(1), sigma.unsqueeze(1)
        diff = X - mu
        ll = -0.5 * math.log(2 * math.pi) - torch.log(sigma) - 0.5 * (diff.pow(2) / sigma.pow(2))
        return ll.sum(-1)

    def parse(self, raw):
        pi = torch.softmax(raw[..., 0], 1)
        mu = raw[..., 1:1 + self.dim]
        sigma = F.softplus(raw[..., 1 + self.dim:]) + 1e-2
        return pi, torch.cat([mu, sigma], -1)


class MixtureOfMVNs(object):
    def __init__(self, mvn):
        self.mvn = mvn

    def sample(self, B, N, K):
        pi = torch.distributions.Dirichlet(torch.ones(K)).sample((B,))
        labels = torch.distributions.Categorical(probs=pi.unsqueeze(1).expand(-1, N, -1)).sample()
        X, params = self.mvn.sample(B, K, labels)
        return dict(X=X, labels=labels, pi=pi, params=params)

    def log_prob(self, X, pi, params, return_labels=False):
        ll = self.mvn.log_prob(X, params)
        ll = ll + (pi + 1e-10).log().unsqueeze(-2)
        if return_labels:
            labels = ll.argmax(-1)
            return ll.logsumexp(-1).mean(), labels
        return ll.logsumexp(-1).mean()


class MAB(nn.Module):
    def __init__(self, dim_Q, dim_K, dim_V, num_heads, ln=False):
        super(MAB, self).__init__()
        self.dim_V = dim_V
        self.num_heads = num_heads
        self.fc_q = nn.Linear(dim_Q, dim_V)
        self.fc_k = nn.Linear(dim_K, dim_V)
        self.fc_v = nn.Linear(dim_K, dim_V)
        if ln:
            self.ln0 = nn.LayerNorm(dim_V)
            self.ln1 = nn.LayerNorm(dim_V)
        self.fc_o = nn.Linear(dim_V, dim_V)

    def forward(self, Q, K):
        Q = self.fc_q(Q)
        K, V = self.fc_k(K), self.fc_v(K)
        dim_split = self.dim_V // self.num_heads
        Q_ = torch.cat(Q.split(dim_split, 2), 0)
        K_ = torch.cat(K.split(dim_split, 2), 0)
        V_ = torch.cat(V.split(dim_split, 2), 0)
        A = torch.softmax(Q_.bmm(K_.transpose(1, 2)) / math.sqrt(self.dim_V), 2)
        O = torch.cat((Q_ + A.bmm(V_)).split(Q.size(0), 0), 2)
        O = O if getattr(self, 'ln0', None) is None else self.ln0(O)
        O = O + F.relu(self.fc_o(O))
        O = O if getattr(self, 'ln1', None) is None else self.ln1(O)
        return O


class SAB(nn.Module):
    def __init__(self, dim_in, dim_out, num_heads, ln=False):
        super(SAB, self).__init__()
        self.mab = MAB(dim_in, dim_in, dim_out, num_heads, ln=ln)

    def forward(self, X):
        return self.mab(X, X)


class ISAB(nn.Module):
    def __init__(self, dim_in, dim_out, num_heads, num_inds, ln=False):
        super(ISAB, self).__init__()
        self.I = Parameter(torch.Tensor(1, num_inds, dim_out))
        nn.init.xavier_uniform_(self.I)
        self.mab0 = MAB(dim_out, dim_in, dim_out, num_heads, ln=ln)
        self.mab1 = MAB(dim_in, dim_out, dim_out, num_heads, ln=ln)

    def forward(self, X):
        H = self.mab0(self.I.repeat(X.size(0), 1, 1), X)
        return self.mab1(X, H)


class PMA(nn.Module):
    def __init__(self, dim, num_heads, num_seeds, ln=False):
        super(PMA, self).__init__()
        self.S = Parameter(torch.Tensor(1, num_seeds, dim))
        nn.init.xavier_uniform_(self.S)
        self.mab = MAB(dim, dim, dim, num_heads, ln=ln)

    def forward(self, X):
        return self.mab(self.S.repeat(X.size(0), 1, 1), X)


class SetTransformer(nn.Module):
    def __init__(self, dim_input, num_outputs, dim_output, num_inds=7, dim_hidden=42, num_heads=3, ln=True):
        super(SetTransformer, self).__init__()
        self.enc = nn.Sequential(
            ISAB(dim_input, dim_hidden, num_heads, num_inds, ln=ln),
            ISAB(dim_hidden, dim_hidden, num_heads, num_inds, ln=ln))
        self.dec = nn.Sequential(
            PMA(dim_hidden, num_heads, num_outputs, ln=ln),
            SAB(dim_hidden, dim_hidden, num_heads, ln=ln),
            nn.Linear(dim_hidden, dim_output))

    def forward(self, X):
        return self.dec(self.enc(X))


class DeepSet(nn.Module):
    def __init__(self, dim_input, num_outputs, dim_output, dim_hidden=50):
        super(DeepSet, self).__init__()
        self.num_outputs = num_outputs
        self.dim_output = dim_output
        self.enc = nn.Sequential(
            nn.Linear(dim_input, dim_hidden), nn.ReLU(),
            nn.Linear(dim_hidden, dim_hidden), nn.ReLU(),
            nn.Linear(dim_hidden, dim_hidden))
        self.dec = nn.Sequential(
            nn.Linear(dim_hidden, dim_hidden), nn.ReLU(),
            nn.Linear(dim_hidden, num_outputs * dim_output))

    def forward(self, X):
        X = self.enc(X).mean(-2)
        return self.dec(X).reshape(-1, self.num_outputs, self.dim_output)


def get_logger(name, path):
    logger = logging.getLogger(name)
    logger.setLevel(logging.INFO)
    logger.addHandler(logging.StreamHandler())
    logger.addHandler(logging.FileHandler(path, mode='w'))
    return logger


def agreement(a, b, K):
    """greedy matching of two labelings through the contingency table"""
    a1, b1 = F.one_hot(a, K).float(), F.one_hot(b, K).float()
    table = torch.einsum('bnk,bnl->bkl', a1, b1)
    score = torch.zeros(a.size(0))
    for _ in range(K):
        best, pos = table.flatten(1).max(1)
        score += best
        r, c = torch.div(pos, K, rounding_mode='floor'), pos % K
        rows = torch.arange(table.size(0))
        table[rows, r] = -1
        table[rows, :, c] = -1
        score.clamp_(min=0)
    return (score / a.size(1)).mean()


def run(net_name, K=4, D=2, B=9, steps=25):
    mvn = MultivariateNormal(D)
    mog = MixtureOfMVNs(mvn)
    dim_output = 1 + 2 * D
    factory = {'set_transformer': SetTransformer, 'deepset': DeepSet}
    net = factory[net_name](D, K, dim_output)
    with tempfile.TemporaryDirectory() as save_dir:
        logger = get_logger(net_name, os.path.join(save_dir, 'log.txt'))
        optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
        N_min, N_max = 20, 55
        for t in range(1, steps + 1):
            if t == int(0.6 * steps):
                optimizer.param_groups[0]['lr'] *= 0.1
            net.train()
            optimizer.zero_grad()
            N = int(torch.randint(N_min, N_max, ()))
            batch = mog.sample(B, N, K)
            ll = mog.log_prob(batch['X'], *mvn.parse(net(batch['X'])))
            (-ll).backward()
            optimizer.step()
            if t % 8 == 0:
                logger.info('%s step %d lr %.1e, train ll %.4f', net_name, t,
                            optimizer.param_groups[0]['lr'], ll.item())
        net.eval()
        avg = []
        with torch.no_grad():
            for _ in range(3):
                batch = mog.sample(11, 33, K)
                oracle = mog.log_prob(batch['X'], batch['pi'], batch['params'])
                ll, labels = mog.log_prob(batch['X'], *mvn.parse(net(batch['X'])), return_labels=True)
                avg.append([ll, oracle, agreement(labels, batch['labels'], K)])
        logger.info('%s test ll %.4f oracle %.4f agreement %.3f', net_name, *torch.tensor(avg).mean(0).tolist())
        torch.save({'state_dict': net.state_dict()}, os.path.join(save_dir, 'model.tar'))
        ckpt = torch.load(os.path.join(save_dir, 'model.tar'))
        net.load_state_dict(ckpt['state_dict'])
        logger.handlers[1].close()
        with torch.no_grad():   # permutation invariance sanity check
            X = batch['X']
            perm = torch.randperm(X.size(1))
            assert torch.allclose(net(X), net(X[:, perm]), atol=1e-4)


def main():
    torch.manual_seed(42)
    for name in ('deepset', 'set_transformer'):
        run(name)


if __name__ == '__main__':
    main()
