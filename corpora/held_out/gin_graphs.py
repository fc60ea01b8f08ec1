import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

criterion = nn.CrossEntropyLoss()

CONFIG = {
    "num_layers": 4,
    "num_mlp_layers": 2,
    "hidden_dim": 23,
    "final_dropout": 0.3,
    "lr": 0.01,
    "iters_per_epoch": 8,
    "epochs": 3,
    "batch_size": 14,
    "graph_pooling_type": "sum",
    "neighbor_pooling_type": "sum",
    "learn_eps": True,
}


class S2VGraph(object):
    def __init__(self, n, edges, label):
        self.n = n
        self.edges = edges
        self.label = label
        self.neighbors = [[] for _ in range(n)]
        for i, j in edges:
            self.neighbors[i].append(j)
            self.neighbors[j].append(i)
        e = edges + [(j, i) for i, j in edges]
        self.edge_mat = torch.LongTensor(e).transpose(0, 1)
        self.node_features = None
        self.max_neighbor = max(len(x) for x in self.neighbors)


def make_graph(label, rng):
    n = rng.randint(7, 16)
    edges = set((i, (i + 1) % n) if i + 1 < n else (0, i) for i in range(n))
    if label == 1:        # chords making triangles
        for i in range(0, n - 2, 3):
            edges.add((i, i + 2))
    elif label == 2:      # hub
        for i in range(2, n - 1, 2):
            edges.add((0, i))
    return S2VGraph(n, sorted(edges), label)


def load_data(n_graphs, seed):
    rng = random.Random(seed)
    graphs = [make_graph(rng.randint(0, 2), rng) for _ in range(n_graphs)]
    tagset = sorted({len(nb) for g in graphs for nb in g.neighbors})
    tag2index = {t: i for i, t in enumerate(tagset)}
    for g in graphs:
        g.node_features = torch.zeros(g.n, len(tagset))
        g.node_features[range(g.n), [tag2index[len(nb)] for nb in g.neighbors]] = 1
    return graphs, 3


class MLP(nn.Module):
    def __init__(self, num_layers, input_dim, hidden_dim, output_dim):
        super(MLP, self).__init__()
        self.linear_or_not = True
        self.num_layers = num_layers
        if num_layers < 1:
            raise ValueError("number of layers should be positive!")
        elif num_layers == 1:
            self.linear = nn.Linear(input_dim, output_dim)
        else:
            self.linear_or_not = False
            self.linears = torch.nn.ModuleList()
            self.batch_norms = torch.nn.ModuleList()
            self.linears.append(nn.Linear(input_dim, hidden_dim))
            for layer in range(num_layers - 2):
                self.linears.append(nn.Linear(hidden_dim, hidden_dim))
            self.linears.append(nn.Linear(hidden_dim, output_dim))
            for layer in range(num_layers - 1):
                self.batch_norms.append(nn.BatchNorm1d(hidden_dim))

    def forward(self, x):
        if self.linear_or_not:
            return self.linear(x)
        h = x
        for layer in range(self.num_layers - 1):
            h = F.relu(self.batch_norms[layer](self.linears[layer](h)))
        return self.linears[self.num_layers - 1](h)


class GraphCNN(nn.Module):
    def __init__(self, input_dim, output_dim, cfg):
        super(GraphCNN, self).__init__()
        self.cfg = cfg
        self.num_layers = cfg["num_layers"]
        hidden_dim = cfg["hidden_dim"]
        self.eps = nn.Parameter(torch.zeros(self.num_layers - 1))
        self.mlps = nn.ModuleList()
        self.batch_norms = nn.ModuleList()
        for layer in range(self.num_layers - 1):
            self.mlps.append(MLP(cfg["num_mlp_layers"], input_dim if layer == 0 else hidden_dim,
                                 hidden_dim, hidden_dim))
            self.batch_norms.append(nn.BatchNorm1d(hidden_dim))
        self.linears_prediction = nn.ModuleList()
        for layer in range(self.num_layers):
            self.linears_prediction.append(
                nn.Linear(input_dim if layer == 0 else hidden_dim, output_dim))

    def __preprocess_neighbors_maxpool(self, batch_graph):
        max_deg = max([graph.max_neighbor for graph in batch_graph])
        padded_neighbor_list = []
        start_idx = [0]
        for i, graph in enumerate(batch_graph):
            start_idx.append(start_idx[i] + graph.n)
            for j in range(len(graph.neighbors)):
                pad = [n + start_idx[i] for n in graph.neighbors[j]]
                pad.extend([-1] * (max_deg - len(pad)))
                padded_neighbor_list.append(pad)
        return torch.LongTensor(padded_neighbor_list)

    def __preprocess_sparse(self, batch_graph):
        edge_mat_list, start_idx = [], [0]
        for i, graph in enumerate(batch_graph):
            start_idx.append(start_idx[i] + graph.n)
            edge_mat_list.append(graph.edge_mat + start_idx[i])
        block_idx = torch.cat(edge_mat_list, 1)
        block_elem = torch.ones(block_idx.shape[1])
        return torch.sparse_coo_tensor(block_idx, block_elem, (start_idx[-1], start_idx[-1]))

    def __preprocess_graphpool(self, batch_graph):
        start_idx = [0]
        for i, graph in enumerate(batch_graph):
            start_idx.append(start_idx[i] + graph.n)
        idx, elem = [], []
        for i, graph in enumerate(batch_graph):
            w = 1.0 / graph.n if self.cfg["graph_pooling_type"] == "average" else 1.0
            elem.extend([w] * graph.n)
            idx.extend([[i, j] for j in range(start_idx[i], start_idx[i + 1])])
        return torch.sparse_coo_tensor(torch.LongTensor(idx).t(), torch.FloatTensor(elem),
                                       (len(batch_graph), start_idx[-1]))

    def maxpool(self, h, padded_neighbor_list):
        dummy = torch.min(h, dim=0)[0]
        h_with_dummy = torch.cat([h, dummy.reshape((1, -1))])
        return torch.max(h_with_dummy[padded_neighbor_list], dim=1)[0]

    def next_layer(self, h, layer, padded, adj):
        if self.cfg["neighbor_pooling_type"] == "max":
            pooled = self.maxpool(h, padded)
        else:
            pooled = torch.spmm(adj, h)
            if self.cfg["neighbor_pooling_type"] == "average":
                pooled = pooled / torch.spmm(adj, torch.ones((adj.shape[0], 1)))
        if self.cfg["learn_eps"]:
            pooled = pooled + (1 + self.eps[layer]) * h
        return F.relu(self.batch_norms[layer](self.mlps[layer](pooled)))

    def forward(self, batch_graph):
        h = torch.cat([graph.node_features for graph in batch_graph], 0)
        graph_pool = self.__preprocess_graphpool(batch_graph)
        padded = adj = None
        if self.cfg["neighbor_pooling_type"] == "max":
            padded = self.__preprocess_neighbors_maxpool(batch_graph)
        else:
            adj = self.__preprocess_sparse(batch_graph)
        hidden_rep = [h]
        for layer in range(self.num_layers - 1):
            h = self.next_layer(h, layer, padded, adj)
            hidden_rep.append(h)
        score_over_layer = 0
        for layer, h in enumerate(hidden_rep):
            pooled_h = torch.spmm(graph_pool, h)
            score_over_layer += F.dropout(self.linears_prediction[layer](pooled_h),
                                          self.cfg["final_dropout"], training=self.training)
        return score_over_layer


def train(cfg, model, train_graphs, optimizer, epoch):
    model.train()
    loss_accum = 0
    for pos in range(cfg["iters_per_epoch"]):
        selected_idx = np.random.permutation(len(train_graphs))[:cfg["batch_size"]]
        batch_graph = [train_graphs[idx] for idx in selected_idx]
        output = model(batch_graph)
        labels = torch.LongTensor([graph.label for graph in batch_graph])
        loss = criterion(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_accum += loss.detach().cpu().numpy()
    print("epoch %d loss training: %f" % (epoch, loss_accum / cfg["iters_per_epoch"]))


def pass_data_iteratively(model, graphs, minibatch_size=11):
    model.eval()
    output = []
    idx = np.arange(len(graphs))
    for i in range(0, len(graphs), minibatch_size):
        sampled_idx = idx[i:i + minibatch_size]
        if len(sampled_idx) == 0:
            continue
        output.append(model([graphs[j] for j in sampled_idx]).detach())
    return torch.cat(output, 0)


def test(model, graphs):
    pred = pass_data_iteratively(model, graphs).max(1, keepdim=True)[1]
    labels = torch.LongTensor([g.label for g in graphs])
    return pred.eq(labels.view_as(pred)).sum().item() / float(len(graphs))


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    graphs, num_classes = load_data(130, seed=3)
    cut = 100
    for pooling in ("sum", "max", "average"):
        cfg = dict(CONFIG, neighbor_pooling_type=pooling)
        if pooling == "average":
            cfg.update(graph_pooling_type="average", learn_eps=False, num_mlp_layers=1)
        print("== neighbour pooling:", pooling)
        model = GraphCNN(graphs[0].node_features.shape[1], num_classes, cfg)
        optimizer = optim.Adam(model.parameters(), lr=cfg["lr"])
        scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        for epoch in range(1, cfg["epochs"] + 1):
            train(cfg, model, graphs[:cut], optimizer, epoch)
            scheduler.step()
        print("accuracy train: %.3f test: %.3f" % (test(model, graphs[:cut]), test(model, graphs[cut:])))
        print("eps:", model.eps.data.numpy().round(3))


if __name__ == "__main__":
    main()
