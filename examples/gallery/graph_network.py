"""Graph network: from the labels of thirty images to those of 1,797, along the edges between similar ones.

Each image is a node, joined to the images that are most similar to it. A graph convolution mixes each node with its
neighbours before a linear layer, so labels reach nodes that have none. A perceptron that gets the same thirty labels,
and no edges, shows what the graph is worth. N are the nodes, I and O features.

Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Generic

import torch

import simpletorch.nn.functional as F
from simpletorch import Dim, Float32, Int64, Tensor, nn, seed_everything
from simpletorch.data import Digits
from simpletorch.dims import I, K, N, O
from simpletorch.optim import AdamW


class GraphConv(nn.Module, Generic[I, O]):
    """A linear layer on each node's mean with its neighbours."""

    def __init__(self, inputs: Dim[I], outputs: Dim[O]) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor[Float32, N, I], edges: Tensor[Float32, N, N]) -> Tensor[Float32, N, O]:
        """New features of each node; row i of ``edges`` says how much of each node flows to i."""
        return edges @ self.linear(x)


class GraphNet(nn.Module):
    """Two graph convolutions: labels reach neighbours of neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = GraphConv(64, 64), GraphConv(64, 10)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Tensor[Float32, N, 64], edges: Tensor[Float32, N, N]) -> Tensor[Float32, N, 10]:
        """A number for each digit, of each node."""
        return self.conv2(self.dropout(F.relu(self.conv1(x, edges))), edges)


def join(x: Tensor[Float32, N, I], neighbours: Dim[K]) -> Tensor[Float32, N, N]:
    """Edges to the most similar nodes and to itself, normalized by how many edges the two ends have."""
    places = torch.cdist(x, x).topk(neighbours + 1, largest=False).indices
    joined = torch.zeros(len(x), len(x)).scatter(1, places, 1.0)
    joined = torch.maximum(joined, joined.T)
    degrees = joined.sum(dim=1).rsqrt()
    return degrees.unsqueeze(1) * joined * degrees


def learn(
    x: Tensor[Float32, N, 64],
    edges: Tensor[Float32, N, N],
    labels: Tensor[Int64, N],
    known: Tensor[Int64, K],
    steps: int,
) -> Tensor[Int64, N]:
    """The labels of all nodes, learned from those of the ``known`` ones."""
    model = GraphNet()
    optimizer = AdamW(model.parameters(), lr=0.01, weight_decay=0.05)
    for _ in range(steps):
        loss = F.cross_entropy(model(x, edges)[known], labels[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return model(x, edges).argmax(dim=1)


def draw(x: Tensor[Float32, N, 64], edges: Tensor[Float32, N, N], answers: Tensor[Int64, N], file: Path) -> None:
    """Nodes in the plane of their two main directions, with the edges."""
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    places = torch.pca_lowrank(x + edges @ x, 2)[0]
    pairs = edges.triu(1).nonzero()
    across, up = places.T.tolist()
    figure = Figure(figsize=(4.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.add_collection(LineCollection(list(places[pairs].numpy()), colors="lightgrey", linewidths=0.2, zorder=0))
    dots = axes.scatter(across, up, c=answers.tolist(), cmap="tab10", s=4)
    figure.colorbar(dots, label="digit")
    axes.axis("off")
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The accuracy on the nodes without a label, with edges and without."""
    seed_everything(0)
    train, test = Digits(train=True), Digits(train=False)
    x = torch.cat([train.images, test.images]).flatten(start_dim=1)
    labels = torch.cat([train.targets, test.targets])
    known = torch.cat([(labels == digit).nonzero()[:3, 0] for digit in range(10)])
    rest = torch.ones(len(x), dtype=torch.bool)
    rest[known] = False

    steps = 15 if quick else 100
    edges = join(x, 7)
    answers = learn(x, edges, labels, known, steps)
    alone = learn(x, torch.eye(len(x)), labels, known, steps)
    result = {"graph": 0.0, "alone": 0.0}
    for name, found in {"graph": answers, "alone": alone}.items():
        result[name] = (found == labels)[rest].float().mean().item()
    right = f"{result['graph']:.1%} right with edges, {result['alone']:.1%} without"
    print(f"{len(known)} labels for {len(x):,} images: {right}")
    if picture is not None:
        draw(x, edges, answers, picture)
    return result


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
