"""torch_geometric where it isn't installed: the shapes are those that version 2.8.1 gave, in a run by hand."""

import re
from pathlib import Path

import pytest

from simpletorch.follow import follow

_HEAD = """import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.datasets import Planetoid
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, GraphConv, SAGEConv, global_mean_pool
from torch_geometric.utils import degree
import torch_geometric.transforms as T
from ogb.graphproppred import PygGraphPropPredDataset
from ogb.graphproppred.mol_encoder import AtomEncoder
edges, x = torch.randint(0, 11, (2, 37)), torch.zeros(11, 5)
graphs = [
    Data(x=torch.zeros(4, 5), edge_index=torch.zeros(2, 6, dtype=torch.long), y=torch.zeros(1, dtype=torch.long))
    for _ in range(3)
]
"""


def followed(program: str, folder: Path):
    (folder / "program.py").write_text(_HEAD + program)
    return follow(folder / "program.py")


@pytest.mark.parametrize(
    ("expression", "shape"),
    {
        "GCNConv(5, 3)(x, edges)": "Float32[11, 3]",
        "GCNConv(-1, 3)(x, edges)": "Float32[11, 3]",
        "GraphConv(5, 7)(x, edges)": "Float32[11, 7]",
        "SAGEConv(5, 3)(x, edges)": "Float32[11, 3]",
        "SAGEConv((5, 7), 3)((x, torch.zeros(11, 7)), edges)": "Float32[11, 3]",
        "GATConv(5, 3, heads=2)(x, edges)": "Float32[11, 6]",
        "GATConv(5, 3, heads=2, concat=False)(x, edges)": "Float32[11, 3]",
        "GINConv(nn.Linear(5, 13))(x, edges)": "Float32[11, 13]",
        "degree(edges[0], 11)": "Float32[11]",
        "degree(edges[0], 11, dtype=torch.long)": "Int64[11]",
        "Batch.from_data_list(graphs).x": "Float32[?, 5]",
        "Batch.from_data_list(graphs).edge_index": "Int64[2, ?]",
        "Batch.from_data_list(graphs).y": "Int64[3]",
        "Batch.from_data_list(graphs).ptr": "Int64[4]",
        "next(iter(DataLoader(graphs, batch_size=3))).x": "Float32[?, 5]",
        "global_mean_pool(torch.zeros(12, 5), torch.zeros(12, dtype=torch.long), 3)": "Float32[3, 5]",
        "T.RandomLinkSplit(num_val=0.1)(graphs[0])[0].x": "Float32[4, 5]",
        "T.RandomLinkSplit(num_val=0.1)(graphs[0])[1].edge_label_index": "Int64[2, ?]",
        "T.NormalizeFeatures()(graphs[0]).x": "Float32[4, 5]",
        "Planetoid('.', 'Cora')[0].x": "Float32[2708, 1433]",
        "Planetoid('.', 'Cora', transform=T.NormalizeFeatures())[0].train_mask": "Bool[2708]",
        "next(iter(DataLoader(Planetoid('.', 'PubMed'), batch_size=32))).x": "Float32[19717, 500]",
        "AtomEncoder(7)(PygGraphPropPredDataset('ogbg-molhiv')[0].x)": "Float32[?, 7]",
    }.items(),
)
def test_its_sizes_are_known(expression: str, shape: str, tmp_path: Path):
    found = followed(f"y = {expression}\nreveal_type(y)\n", tmp_path)
    assert found.errors == ()
    assert [re.sub("[0-9]*[.][.]", "?", note.message) for note in found.notes] == [f'Revealed type is "{shape}"']


@pytest.mark.parametrize(
    "wrong",
    [
        "GCNConv(4, 3)(x, edges)",
        "GATConv(4, 3)(x, edges)",
        "SAGEConv(4, 3)(x, edges)",
        "GraphConv(4, 3)(x, edges)",
        "GINConv(nn.Linear(4, 3))(x, edges)",
        "GCNConv(5, 3)(x)",
        "GCNConv(5)",
        "nn.Linear(1432, 3)(Planetoid('.', 'Cora')[0].x)",
    ],
)
def test_its_mistakes_are_found(wrong: str, tmp_path: Path):
    assert len(followed(wrong + "\n", tmp_path).errors) == 1


@pytest.mark.parametrize(
    "right",
    [
        "data = Planetoid('.', 'Cora', transform=T.SomethingNew())[0]\nGCNConv(3, 4)(data.x, data.edge_index)",
        "for b in DataLoader(graphs, batch_size=2):\n    b.anything_of_theirs + 1\n    b.to('cpu').num_graphs",
        "model = nn.ModuleList([GCNConv(5, 5) for _ in range(3)])\nfor layer in model:\n    x = layer(x, edges).relu()",
        "data = Planetoid('.', 'Cora')[0].to('cuda')\nmodel = GCNConv(1433, 3).to('cuda')\n"
        "nn.functional.cross_entropy(model(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask])",
        "data = graphs[0]\ndata.extra = torch.zeros(4)\ndata.to('cuda')\n"
        "GCNConv(5, 3).cuda()(data.x, data.edge_index).sum(1) + data.extra",
        "for b in DataLoader(graphs, batch_size=2):\n    b = b.to('cuda')\n    GCNConv(5, 3).cuda()(b.x, b.edge_index)",
        "data = Planetoid('.', 'Cora')[0]\ndata.extra = torch.zeros(3)\ndata.extra + 1",
        "try:\n    import torch_geometric\nexcept ImportError:\n    torch_geometric = None",
        "g = PygGraphPropPredDataset(name='ogbg-code2')\nfor b in DataLoader(g, 32):\n    b.x @ torch.zeros(3, 4)",
    ],
)
def test_nothing_is_said_of_right_programs(right: str, tmp_path: Path):
    found = followed(right + "\n", tmp_path)
    assert (found.errors, found.warnings, found.faults) == ((), (), ())
