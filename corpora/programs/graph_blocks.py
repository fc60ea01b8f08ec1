"""Interaction network on particle systems: edge, node and global blocks, batched with offsets, written with index_add."""
from collections import namedtuple
from functools import reduce

import numpy as np
import torch
from torch import nn

Graph = namedtuple("Graph", "nodes edges senders receivers globals n_node n_edge")


def mlp(*sizes, norm=True):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    if norm:
        layers.append(nn.LayerNorm(sizes[-1]))
    return nn.Sequential(*layers)


def segment_sum(x, index, n):
    out = x.new_zeros(n, x.shape[1])
    return out.index_add_(0, index, x)


def segment_mean(x, index, n):
    total = segment_sum(x, index, n)
    count = torch.zeros(n, dtype=x.dtype).scatter_add_(0, index, torch.ones_like(index, dtype=x.dtype))
    return total / count.clamp(min=1).unsqueeze(-1)


def segment_softmax(score, index, n):
    top = torch.full((n, score.shape[1]), float("-inf")).scatter_reduce(
        0, index[:, None].expand_as(score), score, "amax", include_self=False)
    e = (score - top[index]).exp()
    return e / (segment_sum(e, index, n)[index] + 1e-9)


def batch_graphs(graphs):
    offsets = np.cumsum([0] + [g.nodes.shape[0] for g in graphs[:-1]])
    return Graph(
        nodes=torch.cat([g.nodes for g in graphs]),
        edges=torch.cat([g.edges for g in graphs]),
        senders=torch.cat([g.senders + int(o) for g, o in zip(graphs, offsets)]),
        receivers=torch.cat([g.receivers + int(o) for g, o in zip(graphs, offsets)]),
        globals=torch.stack([g.globals for g in graphs]),
        n_node=torch.tensor([g.nodes.shape[0] for g in graphs]),
        n_edge=torch.tensor([g.edges.shape[0] for g in graphs]),
    )


class EdgeBlock(nn.Module):
    def __init__(self, e, n, g, out):
        super().__init__()
        self.net = mlp(e + 2 * n + g, 32, out)

    def forward(self, graph):
        which = torch.repeat_interleave(torch.arange(len(graph.n_edge)), graph.n_edge)
        inputs = [graph.edges, graph.nodes[graph.senders], graph.nodes[graph.receivers], graph.globals[which]]
        return graph._replace(edges=self.net(torch.cat(inputs, dim=-1)))


class NodeBlock(nn.Module):
    def __init__(self, e, n, g, out, heads=4):
        super().__init__()
        self.heads = heads
        self.score = nn.Linear(e, heads)
        self.net = mlp(e + n + g, 32, out)

    def forward(self, graph):
        n = graph.nodes.shape[0]
        w = segment_softmax(self.score(graph.edges), graph.receivers, n)
        msg = graph.edges.view(-1, self.heads, graph.edges.shape[1] // self.heads) * w[..., None]
        agg = segment_sum(msg.flatten(1), graph.receivers, n)
        which = torch.repeat_interleave(torch.arange(len(graph.n_node)), graph.n_node)
        return graph._replace(nodes=self.net(torch.cat([agg, graph.nodes, graph.globals[which]], -1)))


class GlobalBlock(nn.Module):
    def __init__(self, e, n, g, out):
        super().__init__()
        self.net = mlp(e + n + g, 32, out)

    def forward(self, graph):
        b = graph.globals.shape[0]
        ids = torch.arange(b)
        nodes = segment_mean(graph.nodes, torch.repeat_interleave(ids, graph.n_node), b)
        edges = segment_mean(graph.edges, torch.repeat_interleave(ids, graph.n_edge), b)
        return graph._replace(globals=self.net(torch.cat((nodes, edges, graph.globals), 1)))


class GraphNet(nn.Module):
    def __init__(self, e, n, g, hidden=16, steps=2, out=2):
        super().__init__()
        self.encoders = nn.ModuleDict({"edges": mlp(e, hidden), "nodes": mlp(n, hidden), "globals": mlp(g, hidden)})
        sizes = dict(e=hidden, n=hidden, g=hidden, out=hidden)
        self.processor = nn.ModuleList(
            nn.Sequential(EdgeBlock(**sizes), NodeBlock(**sizes), GlobalBlock(**sizes)) for _ in range(steps))
        self.decode = mlp(hidden, 32, out, norm=False)
        self.energy = mlp(hidden, 1, norm=False)

    def forward(self, graph):
        graph = graph._replace(**{k: net(getattr(graph, k)) for k, net in self.encoders.items()})
        for block in self.processor:
            new = block(graph)
            graph = new._replace(nodes=new.nodes + graph.nodes, edges=new.edges + graph.edges,
                                 globals=new.globals + graph.globals)
        return self.decode(graph.nodes), self.energy(graph.globals)[:, 0]


def spring_system(rng, n=6, k=3):
    pos = rng.uniform(-1, 1, size=(n, 2))
    vel = 0.1 * rng.standard_normal((n, 2))
    charge = rng.choice([-1.0, 1.0], size=(n, 1))
    dist = np.linalg.norm(pos[:, None] - pos[None, :], axis=-1) + 1e3 * np.eye(n)
    nearest = np.argsort(dist, axis=1)[:, :k]
    senders, receivers = nearest.reshape(-1), np.repeat(np.arange(n), k)
    delta = pos[senders] - pos[receivers]
    length = np.linalg.norm(delta, axis=1, keepdims=True)
    force = np.zeros((n, 2))
    np.add.at(force, receivers, delta * (1 - 0.5 / (length + 1e-6)))
    as_float = lambda a: torch.tensor(a, dtype=torch.float32)
    graph = Graph(as_float(np.concatenate([pos, vel, charge], 1)), as_float(np.hstack([delta, length])),
                  torch.from_numpy(senders), torch.from_numpy(receivers), torch.tensor([9.8, float(n)]), n, n * k)
    return graph, as_float(force), 0.5 * float((vel ** 2).sum())


def main():
    rng = np.random.RandomState(3)
    torch.manual_seed(3)
    data = [spring_system(rng, n) for n in (6, 7, 5, 6, 8, 6)]
    net = GraphNet(e=3, n=5, g=2)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(2):
        order = rng.permutation(len(data))
        for chunk in np.array_split(order, 3):
            graphs, forces, energies = zip(*(data[i] for i in chunk))
            acc, energy = net(batch_graphs(graphs))
            target = torch.cat(forces)
            loss = ((acc - target) ** 2).sum(-1).mean() + 0.1 * nn.functional.l1_loss(energy, torch.tensor(energies))
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, float(loss.detach()))
    one, _, _ = data[0]
    with torch.no_grad():
        acc, energy = net(batch_graphs([one]))
    moved = one.nodes[:, :2] + 0.01 * (one.nodes[:, 2:4] + 0.01 * acc)
    print(moved.shape, energy.shape, reduce(lambda a, p: a + p.numel(), net.parameters(), 0))


if __name__ == "__main__":
    main()
