# Graph isomorphism network on random "molecules", without torch_geometric.
import random
from collections import namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader, random_split

Graph = namedtuple("Graph", ["x", "edge_index", "edge_attr", "y"])
NUM_ATOMS, NUM_BONDS, NUM_TASKS = 7, 4, 3


class ToyMolecules(Dataset):
    def __init__(self, n_graphs=24, min_nodes=4, max_nodes=9, seed=0):
        rng = np.random.RandomState(seed)
        self.graphs = []
        for _ in range(n_graphs):
            n = rng.randint(min_nodes, max_nodes + 1)
            src = np.arange(n - 1)
            dst = src + 1
            extra = rng.randint(0, n, size=(2, 3))
            edges = np.concatenate([np.stack([src, dst]), np.stack([dst, src]), extra], axis=1)
            x = rng.randint(0, NUM_ATOMS, size=n)
            attr = rng.randint(0, NUM_BONDS, size=edges.shape[1])
            y = rng.rand(NUM_TASKS).astype(np.float32)
            self.graphs.append(Graph(torch.from_numpy(x), torch.from_numpy(edges), torch.from_numpy(attr), torch.from_numpy(y)))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, idx):
        return self.graphs[idx]


def collate(graphs):
    xs, edges, attrs, ys, batch = [], [], [], [], []
    offset = 0
    for i, g in enumerate(graphs):
        n = g.x.size(0)
        xs.append(g.x)
        edges.append(g.edge_index + offset)
        attrs.append(g.edge_attr)
        ys.append(g.y)
        batch.append(torch.full((n,), i, dtype=torch.long))
        offset += n
    return torch.cat(xs), torch.cat(edges, dim=1), torch.cat(attrs), torch.cat(batch), torch.stack(ys)


def scatter_sum(src, index, dim_size):
    out = src.new_zeros(dim_size, src.size(-1))
    return out.index_add_(0, index, src)


def global_mean_pool(x, batch, num_graphs):
    total = scatter_sum(x, batch, num_graphs)
    count = torch.bincount(batch, minlength=num_graphs).clamp(min=1).unsqueeze(-1)
    return total / count


class GINELayer(nn.Module):
    def __init__(self, dim, edge_dim, dropout=0.1):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.edge_lin = nn.Linear(edge_dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.BatchNorm1d(2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.dropout = dropout

    def forward(self, x, edge_index, edge_emb):
        row, col = edge_index
        msg = F.relu(x[row] + self.edge_lin(edge_emb))
        agg = scatter_sum(msg, col, x.size(0))
        out = self.mlp((1 + self.eps) * x + agg)
        return F.dropout(out, p=self.dropout, training=self.training)


class GIN(nn.Module):
    def __init__(self, dim=24, edge_dim=10, num_layers=3, jk="cat", virtual_node=True):
        super().__init__()
        self.jk = jk
        self.atom_emb = nn.Embedding(NUM_ATOMS, dim)
        self.bond_emb = nn.Embedding(NUM_BONDS, edge_dim)
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        for _ in range(num_layers):
            self.convs.append(GINELayer(dim, edge_dim))
            self.norms.append(nn.LayerNorm(dim))
        self.virtual_node = virtual_node
        if virtual_node:
            self.vn = nn.Embedding(1, dim)
            self.vn_mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        readout_dim = dim * (num_layers + 1) if jk == "cat" else dim
        self.head = nn.Sequential(nn.Linear(readout_dim, dim), nn.GELU(), nn.Linear(dim, NUM_TASKS))

    def forward(self, x, edge_index, edge_attr, batch, num_graphs):
        h = self.atom_emb(x)
        e = self.bond_emb(edge_attr)
        if self.virtual_node:
            vn = self.vn(torch.zeros(num_graphs, dtype=torch.long, device=x.device))
        hs = [h]
        for conv, norm in zip(self.convs, self.norms):
            if self.virtual_node:
                h = h + vn[batch]
            h = h + norm(conv(h, edge_index, e))
            if self.virtual_node:
                vn = vn + self.vn_mlp(scatter_sum(h, batch, num_graphs))
            hs.append(h)
        h = torch.cat(hs, dim=-1) if self.jk == "cat" else hs[-1]
        return self.head(global_mean_pool(h, batch, num_graphs))


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total, n = 0.0, 0
    mae = torch.zeros(NUM_TASKS)
    with torch.set_grad_enabled(training):
        for x, edge_index, edge_attr, batch, y in loader:
            pred = model(x, edge_index, edge_attr, batch, y.size(0))
            loss = F.smooth_l1_loss(pred, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            total += loss.item() * y.size(0)
            n += y.size(0)
            mae += (pred.detach() - y).abs().sum(dim=0)
    return total / n, mae / n


def main():
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    dataset = ToyMolecules()
    n_val = len(dataset) // 4
    train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val])
    train_loader = DataLoader(train_set, batch_size=6, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(val_set, batch_size=6, collate_fn=collate)
    model = GIN()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
    best = float("inf")
    for epoch in range(2):
        train_loss, _ = run_epoch(model, train_loader, optimizer)
        val_loss, val_mae = run_epoch(model, val_loader)
        scheduler.step(val_loss)
        if val_loss < best:
            best = val_loss
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        print(f"{epoch:3d} train {train_loss:.4f} val {val_loss:.4f} mae {[round(m, 3) for m in val_mae.tolist()]}")
    model.load_state_dict(best_state)


if __name__ == "__main__":
    main()
