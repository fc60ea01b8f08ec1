"""Sparse matrices: what torch and SciPy refuse of their sizes, and what they don't."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = """import numpy as np
import scipy.sparse as sp
import torch
adj = torch.eye(7).to_sparse()
x = torch.randn(7, 3)
m = sp.csr_matrix(np.ones((5, 7)))
"""


def errors(source: str, folder: Path) -> list[tuple[int, str]]:
    """The lines of the source with an error, and what it says."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    result = follow(path)
    assert not result.faults
    return [(e.line - HEAD.count("\n"), e.message) for e in result.errors]


def run(source: str) -> None:
    """The program as Python runs it."""
    exec(compile(HEAD + source, "program.py", "exec"), {"__name__": "__main__"})


BAD = [
    "torch.sparse.mm(x, adj)\n",
    "torch.spmm(x, adj)\n",
    "x @ adj\n",
    "adj.t() @ x.t()\n",
    "adj.mm(x.t())\n",
    "torch.mm(adj * 2, x.t())\n",
    "adj.to_sparse_csr() @ x.t()\n",
    "torch.sparse.mm(adj.coalesce(), torch.eye(5).to_sparse())\n",
    "torch.mv(adj, torch.ones(3))\n",
    "adj.to_dense() @ torch.ones(5, 3)\n",
    "i = torch.tensor([[0, 1], [2, 0]])\n"
    "torch.sparse.mm(torch.sparse_coo_tensor(i, torch.ones(2), (5, 7)), torch.ones(5, 3))\n",
    "m.dot(np.ones((5, 3)))\n",
    "m @ m\n",
    "m * m\n",
    "np.ones((2, 3)) @ m\n",
    "torch.FloatTensor(m.todense()) @ torch.ones(5, 3)\n",
    "torch.FloatTensor(np.array(m.sum(1)).flatten()) + torch.ones(7)\n",
    "sp.vstack([m, sp.eye(5)])\n",
]


@pytest.mark.parametrize("source", BAD)
def test_sizes_that_do_not_fit_are_errors(source: str, tmp_path: Path) -> None:
    with pytest.raises((RuntimeError, ValueError)):
        run(source)
    assert [line for line, _ in errors(source, tmp_path)] == [source.count("\n")]


def test_products_are_refused_in_the_words_of_dense_ones(tmp_path: Path) -> None:
    (sparse,) = errors("torch.sparse.mm(x, adj)\n", tmp_path)
    (dense,) = errors("torch.mm(x, torch.eye(7))\n", tmp_path)
    assert sparse == dense


GOOD = [
    "i, v = torch.tensor([[0, 1], [2, 0]]), torch.ones(2, requires_grad=True)\n"
    "(torch.sparse_coo_tensor(i, v, (5, 7)) @ torch.ones(7, 3)).sum().backward()\n",
    "i, v = torch.tensor([[0, 1], [2, 0]]), torch.ones(2)\n"
    "y = torch.sparse_coo_tensor(i, v, (5, 7))\ny.t_()\ny @ torch.ones(5, 3)\n",
    "m.resize(7, 5)\nm @ np.ones((5, 2))\n",
    "m.data = m.data.astype(np.float32)\ntorch.from_numpy(m.toarray()) @ torch.ones(7, 3)\n",
    "a = sp.csr_array(np.ones((5, 7)))\n(a * a).sum(1) + np.ones(5)\n",
    "np.ones((2, 3)) @ m[:3] + np.ones(7)\n",
    "m[2] @ np.ones((7, 2))\n",
    "if isinstance(adj, torch.Tensor):\n    x = x + 1\nelse:\n    x = x @ torch.ones(5, 5)\n",
    "if adj is None or m is None:\n    x = x @ torch.ones(5, 5)\n",
    "p = np.multiply(m.sum(1), 2).flatten()\nassert p.shape == (1, 5)\np @ np.ones((5, 2))\n",
    "for k in range(5):\n    adj = torch.sparse.mm(adj, adj)\nadj @ x\n",
    "if torch.rand(()) > 0.5:\n    adj = adj.t()\nadj @ x\n",
    "if torch.rand(()) > 0.5:\n    adj = torch.eye(7)\nadj @ x\n",
    "d = torch.ones(7, 7)\nd += adj\nd @ x\n",
    "adj[0].to_dense() + torch.ones(7)\n",
    "torch.nn.Linear(7, 2)(adj) + torch.ones(7, 2)\n",
    "torch.relu(adj).to_dense() @ x\n",
]


@pytest.mark.parametrize("source", GOOD)
def test_what_python_computes_is_no_mistake(source: str, tmp_path: Path) -> None:
    run(source)
    assert not errors(source, tmp_path)


def test_both_of_two_matrices_fit_where_their_sizes_are_the_same(tmp_path: Path) -> None:
    source = "if torch.rand(()) > 0.5:\n    adj = adj.t()\nadj @ x.t()\n"
    assert [line for line, _ in errors(source, tmp_path)] == [3]


def test_numbers_of_an_array_are_those_of_the_tensor_made_of_it(tmp_path: Path) -> None:
    source = "y = np.random.RandomState(0).randint(5, size=99)\nn = torch.LongTensor(y).max().item() + 1\n"
    assert errors(source + "torch.ones(2, n) @ torch.ones(7, 3)\n", tmp_path)
    assert not errors(source + "torch.ones(2, n) @ torch.ones(5, 3)\n", tmp_path)
    assert not errors(
        source + "y += 7\n" + "torch.ones(2, int(torch.LongTensor(y).max())) @ torch.ones(11, 3)\n", tmp_path
    )
