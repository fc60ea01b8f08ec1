"""Graph attention network without torch_geometric.

Node classification on a stochastic block model + graph classification on a batch
of small random graphs (disjoint union batching). Everything is index_add / scatter.
"""
import copy
import io
import logging
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import f1_score

logging.basicConfig(level=logging.INFO, format='%(levelname)s %(message)s')
log = logging.getLogger('gat')


# --------------------------------------------------------------------- scatter
def scatter_sum(src, index, num_nodes):
    out = src.new_zeros((num_nodes,) + tuple(src.shape[1:]))
    return out.index_add_(0, index, src)


def scatter_mean(src, index, num_nodes):
    total = scatter_sum(src, index, num_nodes)
    count = torch.bincount(index, minlength=num_nodes).clamp(min=1).to(src.dtype)
    return total / count.view(-1, *([1] * (src.dim() - 1)))


def scatter_max(src, index, num_nodes):
    idx = index.view(-1, *([1] * (src.dim() - 1))).expand_as(src)
    out = torch.full((num_nodes, *src.shape[1:]), float('-inf'), dtype=src.dtype)
    return out.scatter_reduce(0, idx, src, reduce='amax', include_self=True)


def segment_softmax(logits, index, num_nodes):
    mx = scatter_max(logits.detach(), index, num_nodes)
    e = (logits - mx[index]).exp()
    denom = scatter_sum(e, index, num_nodes)
    return e / (denom[index] + 1e-16)


# --------------------------------------------------------------------- data
class Data(object):
    """poor man's torch_geometric.data.Data"""

    def __init__(self, **kwargs):
        for k, v in kwargs.items():
            setattr(self, k, v)

    @property
    def num_nodes(self):
        return self.x.size(0)

    def __repr__(self):
        body = ', '.join(f'{k}={list(v.shape)}' for k, v in self.__dict__.items() if torch.is_tensor(v))
        return f'Data({body})'


def add_self_loops(edge_index, num_nodes):
    loop = torch.arange(num_nodes).repeat(2, 1)
    return torch.cat([edge_index, loop], dim=1)


def sbm(num_nodes=210, num_classes=5, num_feats=37, p_in=0.10, p_out=0.01, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(num_nodes) % num_classes
    same = y[:, None] == y[None, :]
    prob = torch.where(same, torch.tensor(p_in), torch.tensor(p_out))
    adj = torch.rand(num_nodes, num_nodes, generator=g) < prob
    adj = torch.triu(adj, diagonal=1)
    adj = adj | adj.t()
    edge_index = adj.nonzero().t().contiguous()
    means = torch.randn(num_classes, num_feats, generator=g)
    x = 0.5 * means[y] + torch.randn(num_nodes, num_feats, generator=g)
    x = x / x.norm(dim=1, keepdim=True).clamp_min(1e-6)
    perm = torch.randperm(num_nodes, generator=g)
    masks = torch.zeros(3, num_nodes, dtype=torch.bool)
    masks[0, perm[:60]] = True
    masks[1, perm[60:110]] = True
    masks[2, perm[110:]] = True
    return Data(x=x, edge_index=add_self_loops(edge_index, num_nodes), y=y,
                train_mask=masks[0], val_mask=masks[1], test_mask=masks[2])


def random_graph(rng, num_feats=6):
    label = rng.integers(0, 2)
    n = int(rng.integers(5, 13))
    p = 0.25 if label == 0 else 0.6
    a = np.triu(rng.random((n, n)) < p, 1)
    src, dst = np.nonzero(a)
    ei = torch.from_numpy(np.stack([np.concatenate([src, dst]), np.concatenate([dst, src])]))
    ei = add_self_loops(ei, n)
    deg = torch.bincount(ei[1], minlength=n)
    x = F.one_hot(deg.clamp(max=num_feats - 1), num_feats).float()
    edge_attr = torch.from_numpy(rng.standard_normal((ei.shape[1], 3)).astype('float32'))
    return Data(x=x, edge_index=ei, edge_attr=edge_attr, y=torch.tensor([label]))


def collate_graphs(graphs):
    xs, eis, eas, ys, batch = [], [], [], [], []
    offset = 0
    for gi, g in enumerate(graphs):
        xs.append(g.x)
        eis.append(g.edge_index + offset)
        eas.append(g.edge_attr)
        ys.append(g.y)
        batch.append(torch.full((g.num_nodes,), gi, dtype=torch.long))
        offset += g.num_nodes
    return Data(x=torch.cat(xs), edge_index=torch.cat(eis, 1), edge_attr=torch.cat(eas),
                y=torch.cat(ys).long(), batch=torch.cat(batch))


# --------------------------------------------------------------------- layers
class GATConv(nn.Module):
    def __init__(self, in_dim, out_dim, heads=1, concat=True, negative_slope=0.2, dropout=0.0, edge_dim=None,
                 residual=False):
        super().__init__()
        self.heads, self.out_dim, self.concat = heads, out_dim, concat
        self.slope, self.dropout = negative_slope, dropout
        self.lin = nn.Linear(in_dim, heads * out_dim, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_dim))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_dim))
        if edge_dim is not None:
            self.lin_edge = nn.Linear(edge_dim, heads * out_dim, bias=False)
            self.att_edge = nn.Parameter(torch.empty(1, heads, out_dim))
        else:
            self.lin_edge = None
            self.register_parameter('att_edge', None)
        final = heads * out_dim if concat else out_dim
        self.res = nn.Linear(in_dim, final, bias=False) if residual else None
        self.bias = nn.Parameter(torch.zeros(final))
        self.reset_parameters()

    def reset_parameters(self):
        for p in (self.att_src, self.att_dst, self.att_edge):
            if p is not None:
                stdv = math.sqrt(6.0 / (p.size(-2) + p.size(-1)))
                p.data.uniform_(-stdv, stdv)
        nn.init.xavier_uniform_(self.lin.weight)

    def forward(self, x, edge_index, edge_attr=None, return_attention=False):
        N, H, C = x.size(0), self.heads, self.out_dim
        src, dst = edge_index
        h = self.lin(x).view(N, H, C)
        a_src = (h * self.att_src).sum(dim=-1)
        a_dst = (h * self.att_dst).sum(dim=-1)
        alpha = a_src.index_select(0, src) + a_dst.index_select(0, dst)
        if edge_attr is not None and self.lin_edge is not None:
            e = self.lin_edge(edge_attr).view(-1, H, C)
            alpha = alpha + torch.einsum('ehc,xhc->eh', e, self.att_edge)
        alpha = F.leaky_relu(alpha, self.slope)
        alpha = segment_softmax(alpha, dst, N)
        alpha_d = F.dropout(alpha, p=self.dropout, training=self.training)
        msg = h[src] * alpha_d.unsqueeze(-1)
        out = torch.zeros_like(h).index_add(0, dst, msg)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        if self.res is not None:
            out = out + self.res(x)
        out = out + self.bias
        return (out, alpha) if return_attention else out


class GAT(nn.Module):
    def __init__(self, in_dim, hidden, num_classes, heads=(4, 3, 2), dropout=0.3):
        super().__init__()
        self.convs = nn.ModuleList()
        d = in_dim
        for i, h in enumerate(heads):
            last = i == len(heads) - 1
            self.convs.append(GATConv(d, num_classes if last else hidden, heads=h, concat=not last,
                                      dropout=dropout, residual=i > 0))
            d = hidden * h
        self.dropout = dropout

    def forward(self, x, edge_index):
        for conv in self.convs[:-1]:
            x = F.dropout(x, self.dropout, self.training)
            x = F.elu(conv(x, edge_index))
        return self.convs[-1](x, edge_index)


class GraphClassifier(nn.Module):
    def __init__(self, in_dim, hidden, heads, edge_dim, num_layers=2):
        super().__init__()
        self.embed = nn.Linear(in_dim, hidden * heads)
        self.layers = nn.ModuleDict()
        for i in range(num_layers):
            self.layers[f'gat{i}'] = GATConv(hidden * heads, hidden, heads, edge_dim=edge_dim)
            self.layers[f'norm{i}'] = nn.LayerNorm(hidden * heads)
        self.gate = nn.Linear(hidden * heads, 1)
        self.out = nn.Sequential(nn.Linear(3 * hidden * heads, hidden), nn.ReLU(), nn.Linear(hidden, 2))
        self.num_layers = num_layers

    def forward(self, data):
        x = self.embed(data.x)
        for i in range(self.num_layers):
            h = self.layers[f'gat{i}'](x, data.edge_index, data.edge_attr)
            x = self.layers[f'norm{i}'](x + F.elu(h))
        B = int(data.batch.max()) + 1
        gate = segment_softmax(self.gate(x), data.batch, B)
        pooled = [scatter_sum(gate * x, data.batch, B), scatter_mean(x, data.batch, B), scatter_max(x, data.batch, B)]
        return self.out(torch.cat(pooled, dim=-1))


# --------------------------------------------------------------------- loops
@torch.no_grad()
def evaluate(model, data):
    model.eval()
    logits = model(data.x, data.edge_index)
    pred = logits.argmax(-1)
    res = {}
    for name in ('train', 'val', 'test'):
        m = getattr(data, name + '_mask')
        res[name] = (pred[m] == data.y[m]).float().mean().item()
    m = data.test_mask
    res['f1'] = f1_score(data.y[m].numpy(), pred[m].numpy(), average='macro')
    return res


def train_nodes(cfg):
    data = sbm()
    log.info('node data %r', data)
    model = GAT(data.x.size(1), cfg['hidden'], int(data.y.max()) + 1)
    opt = torch.optim.Adam(model.parameters(), lr=cfg['lr'], weight_decay=5e-4)
    best, best_state = -1.0, None
    for epoch in range(cfg['epochs']):
        model.train()
        opt.zero_grad()
        logits = model(data.x, data.edge_index)
        loss = F.cross_entropy(logits[data.train_mask], data.y[data.train_mask])
        loss.backward()
        opt.step()
        res = evaluate(model, data)
        log.info('epoch %d loss %.4f val %.3f test %.3f f1 %.3f', epoch, loss.item(), res['val'], res['test'], res['f1'])
        if res['val'] > best:
            best, best_state = res['val'], copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    # look at the attention entropy of the first layer
    model.eval()
    with torch.no_grad():
        _, alpha = model.convs[0](data.x, data.edge_index, return_attention=True)
    ent = scatter_sum(-(alpha * (alpha + 1e-12).log()), data.edge_index[1], data.num_nodes)
    log.info('attention entropy per head: %s', ent.mean(0).tolist())
    return model


def train_graphs(cfg):
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng) for _ in range(cfg['num_graphs'])]
    model = GraphClassifier(6, hidden=9, heads=2, edge_dim=3)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    bs = cfg['graph_bs']
    for step in range(cfg['epochs']):
        batch = collate_graphs(graphs[step * bs:(step + 1) * bs])
        logits = model(batch)
        loss = F.cross_entropy(logits, batch.y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        log.info('graph step %d nodes %d loss %.4f', step, batch.num_nodes, loss.item())
    model.eval()
    with torch.no_grad():
        held = collate_graphs(graphs[cfg['epochs'] * bs:])
        acc = (model(held).argmax(1) == held.y).float().mean()
    log.info('graph acc %.3f', acc)
    buf = io.BytesIO()
    torch.save(model.state_dict(), buf)
    buf.seek(0)
    model.load_state_dict(torch.load(buf))


if __name__ == '__main__':
    torch.manual_seed(7)
    CFG = dict(hidden=11, lr=5e-3, epochs=3, num_graphs=50, graph_bs=13)
    train_nodes(CFG)
    train_graphs(CFG)
