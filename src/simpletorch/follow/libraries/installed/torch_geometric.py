"""``torch_geometric``: how messages are passed, and graphs. Its layers' files are followed where they are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import native
from simpletorch.follow.libraries.installed import (
    stand,
    transformers,  # noqa: F401  (what is anything)
)
from simpletorch.follow.values import Function, List, Method, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_POOLS: Final = ("", ".pool", ".pool.glob")

_STANDING: Final = {
    "MessagePassing": "nn.conv.message_passing.MessagePassing nn.MessagePassing nn.conv.MessagePassing",
    "Data": "data.data.Data data.Data",
    "SparseTensor": "typing.SparseTensor",
    "is_sparse": "utils.sparse.is_torch_sparse_tensor utils.is_torch_sparse_tensor utils.is_sparse "
    "utils.sparse.is_sparse",
    "maybe_num_nodes": "utils.num_nodes.maybe_num_nodes",
    "remove_self_loops": "utils.remove_self_loops utils.loop.remove_self_loops",
    "add_self_loops": "utils.add_self_loops utils.loop.add_self_loops",
    "add_remaining_self_loops": "utils.add_remaining_self_loops utils.loop.add_remaining_self_loops",
    "scatter": "utils.scatter utils._scatter.scatter",
    "softmax": "utils.softmax utils._softmax.softmax",
    "pooled": " ".join(f"nn{place}.global_{kind}_pool" for kind in ("mean", "add", "max") for place in _POOLS),
}
"""By name in the text, where torch_geometric has it."""
stand("torch_geometric", "torch_geometric.txt", _STANDING)

_DATA: Final = {
    "Batch": "data.batch.Batch data.Batch",
    "DataLoader": "loader.dataloader.DataLoader loader.DataLoader data.DataLoader",
    "Planetoid": "datasets.planetoid.Planetoid datasets.Planetoid",
    "TUDataset": "datasets.tu_dataset.TUDataset datasets.TUDataset",
    "Compose": "transforms.compose.Compose transforms.Compose",
    "Same": "transforms.Same transforms.NormalizeFeatures transforms.ToDevice",
    "RandomLinkSplit": "transforms.random_link_split.RandomLinkSplit transforms.RandomLinkSplit",
    "degree": "utils._degree.degree utils.degree",
}
stand("torch_geometric", "torch_geometric_data.txt", _DATA)
stand(
    "ogb",
    "torch_geometric_data.txt",
    {
        "PygGraphPropPredDataset": "graphproppred.dataset_pyg.PygGraphPropPredDataset "
        "graphproppred.PygGraphPropPredDataset",
        "AtomEncoder": "graphproppred.mol_encoder.AtomEncoder",
    },
)
_LAYERS: Final = {
    "GCNConv": "nn.conv.gcn_conv.GCNConv nn.GCNConv nn.conv.GCNConv",
    "GraphConv": "nn.conv.graph_conv.GraphConv nn.GraphConv nn.conv.GraphConv",
    "SAGEConv": "nn.conv.sage_conv.SAGEConv nn.SAGEConv nn.conv.SAGEConv",
    "GINConv": "nn.conv.gin_conv.GINConv nn.GINConv nn.conv.GINConv",
    "GATConv": "nn.conv.gat_conv.GATConv nn.GATConv nn.conv.GATConv",
}
stand("torch_geometric", "torch_geometric_data.txt", _LAYERS, where_absent=True)


@native("simpletorch_installed.parameters")
def _parameters(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The names of a method's parameters."""
    found = run.resolve(args[0])
    function = found.function if isinstance(found, Method) else found
    if not isinstance(function, Function):
        return run.unknown("the parameters of a function")
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    return List(tuple(names[isinstance(found, Method) :]))
