"""What could be fused: which chains are found, what they cost, and that what is written instead gives the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from benchmarks import opportunities as counted
from simpletorch import kernels
from simpletorch.errors import ShapeMismatch
from simpletorch.kernels._chips import GPUS, bandwidth
from simpletorch.kernels._opportunities import _search
from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._match import Match
from simpletorch.kernels._opportunities._trace import traced
from tests.examples import cases
from tests.kernels.written_by_hand import Block, HalfNorm, HandNorm, Many, Pairs

FLOAT = 4  # bytes
OWN = kernels.GPU("own", bandwidth=1e9, float32=1e12)


def found(function: Callable[..., Any], *inputs: Any, **options: Any) -> dict[str, kernels.Opportunity]:
    """The rows by what does them, each of which is there once."""
    report = kernels.opportunities(function, *inputs, gpu=OWN, **options)
    rows = {row.use.removeprefix("kernels."): row for row in report.rows}
    assert len(rows) == len(report.rows)
    return rows


def graph_of(model: Callable[..., Any], *inputs: Any, **options: Any) -> Graph:
    given: dict[str, Any] = {"dtype": None, "backward": False, "loss": None, "targets": (), **options}
    return traced(model, inputs, {}, **given)


def moved(traffic: kernels.Traffic) -> tuple[int, int]:
    return traffic.read, traffic.written


def floats(*shapes: Sequence[int], grad: bool = False) -> list[torch.Tensor]:
    return [
        torch.randn(shape, generator=torch.Generator().manual_seed(i)).requires_grad_(grad)
        for i, shape in enumerate(shapes)
    ]


# -- bytes, by hand ------------------------------------------------------------------------------------------

N = 3 * 5 * 7


def test_relu_of_a_sum():
    x, y = floats((3, 5, 7), (3, 5, 7))
    row = found(lambda x, y: torch.relu(x + y), x, y)["relu_add"]
    assert moved(row.now) == (3 * N * FLOAT, 2 * N * FLOAT)  # the sum is written, and read again
    assert moved(row.after) == (2 * N * FLOAT, N * FLOAT)
    assert row.bytes_saved == 2 * N * FLOAT
    assert (row.now.kernels, row.after.kernels, row.times) == (2, 1, 1)
    assert row.now.seconds == pytest.approx(5 * N * FLOAT / 1e9)
    assert row.write == "kernels.relu_add(x, y)"
    assert row.shapes == ("Float32[3, 5, 7]", "Float32[3, 5, 7]")


def test_the_gradient_of_relu_of_a_sum():
    x, y = floats((3, 5, 7), (3, 5, 7), grad=True)
    row = found(lambda x, y: torch.relu(x + y), x, y, backward=True)["relu_add"]
    # threshold_backward reads gradient and result, and writes one gradient for both
    assert moved(row.now) == (5 * N * FLOAT, 3 * N * FLOAT)
    assert moved(row.after) == (4 * N * FLOAT, 2 * N * FLOAT)
    assert row.passes == "forward and backward"


def test_a_gate_and_its_gradient():
    gate, up = floats((3, 5, 7), (3, 5, 7), grad=True)
    row = found(lambda gate, up: F.silu(gate) * up, gate, up, backward=True)["swiglu"]
    # silu 1 1, mul 2 1; mul 2 1, mul 2 1, silu_backward 2 1
    assert moved(row.now) == (9 * N * FLOAT, 5 * N * FLOAT)
    assert moved(row.after) == ((2 + 3) * N * FLOAT, (1 + 2) * N * FLOAT)


def test_the_halves_of_a_projection_are_one_argument():
    def packed(x: torch.Tensor) -> torch.Tensor:
        gate, up = x.chunk(2, -1)
        return F.gelu(gate) * up

    (x,) = floats((3, 5, 14), grad=True)
    row = found(packed, x, backward=True)["geglu_packed"]
    # gelu 1 1, mul 2 1; mul 2 1, mul 2 1, gelu_backward 2 1, cat 2 2
    assert moved(row.now) == (11 * N * FLOAT, 7 * N * FLOAT)
    assert moved(row.after) == ((2 + 3) * N * FLOAT, (1 + 2) * N * FLOAT)
    assert row.write == "kernels.geglu_packed(packed)"


def test_root_mean_square_normalization():
    x, weight = floats((3, 5, 7), (7,))
    row = found(lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w, x, weight)["rms_norm"]
    rows = 3 * 5
    # pow n n, mean n rows, add rows rows, rsqrt rows rows, mul n+rows n, mul n+7 n
    assert moved(row.now) == ((4 * N + 3 * rows + 7) * FLOAT, (3 * N + 3 * rows) * FLOAT)
    assert moved(row.after) == ((N + 7) * FLOAT, N * FLOAT)
    assert row.write == "kernels.rms_norm(x, weight, eps=1e-06)"


def test_the_residual_stream_goes_on():
    norm = nn.RMSNorm(7, eps=1e-5)

    def stream(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + y
        return norm(total), total

    row = found(stream, *floats((3, 5, 7), (3, 5, 7)))["add_rms_norm"]
    # torch's own kernel of a GPU for the norm, which also writes a number a row
    assert moved(row.now) == ((3 * N + 7) * FLOAT, (2 * N + 3 * 5) * FLOAT)
    assert moved(row.after) == ((2 * N + 7) * FLOAT, 2 * N * FLOAT)


def test_a_norm_that_is_one_kernel_already_is_none():
    report = kernels.opportunities(nn.RMSNorm(7), (3, 5, 7))
    assert report.rows == ()
    assert kernels.opportunities(nn.LayerNorm(7), (3, 5, 7)).rows == ()


def test_a_loss():
    scores, targets = floats((11, 13))[0].requires_grad_(), torch.zeros(11, dtype=torch.int64)
    row = found(lambda s: F.cross_entropy(s, targets, ignore_index=5), scores, backward=True)["cross_entropy"]
    n, rows, scalar = 11 * 13 * FLOAT, 11, FLOAT
    # _log_softmax n n; nll_loss reads one a row and the targets, writes loss and count
    forward = (n + n // 13 + rows * 8, n + 2 * scalar)
    # nll_loss_backward reads gradient, targets, count, writes n; _log_softmax_backward reads 2 n, writes n
    backward = (scalar + rows * 8 + scalar + 2 * n, 2 * n)
    assert moved(row.now) == (forward[0] + backward[0], forward[1] + backward[1])
    assert moved(row.after) == ((n + rows * 8) + (scalar + n + rows * 8), scalar + n)
    assert row.write == "kernels.cross_entropy(logits, targets, ignore_index=5)"


def test_the_logits_of_a_loss_need_not_be():
    head, targets = nn.Linear(5, 4099, bias=False), torch.zeros(4099, dtype=torch.int64)
    (hidden,) = floats((4099, 5), grad=True)
    report = kernels.opportunities(lambda h: F.cross_entropy(F.linear(h, head.weight), targets), hidden, backward=True)
    (row,) = report.of("kernels.linear_cross_entropy")
    logits, small, rows = 4099 * 4099 * FLOAT, 4099 * 5 * FLOAT, 4099  # hidden and weight are equally large
    # product 0 1, softmax 1 1 and a number a row, loss backward 0 1, softmax backward 2 1, two products 2 0
    assert row.now.bytes == 9 * logits + 2 * small + (4 * rows + 8 * rows + 8) + (8 * rows + 8) + 2 * 2 * small
    # 1024 rows at a time, in five parts: product 0 1, kernel in place 1 1, two products 2 0;
    # each part reads the weight twice and hidden twice, and adds to the weight's gradient (the first one writes it)
    forward = 5 * logits + (5 + 5 + 1 + 1 + 4) * small + 8 * rows + (1 + 5) * small + 4
    # backward: both gradients are multiplied with the loss's
    assert row.after.bytes == forward + 4 + 2 * small + 2 * small


@pytest.mark.parametrize("p", [0.3, 0.5])
def test_dropout_and_a_sum(p: float):
    x, y = floats((3, 5, 7), (3, 5, 7), grad=True)
    row = found(lambda x, y: y + F.dropout(x, p), x, y, backward=True)["dropout_add"]
    # the mask has a byte an element: native_dropout reads x, writes it and the mask; add 2 1; backward grad and mask 1
    assert moved(row.now) == ((1 + 2 + 1) * N * FLOAT + N, (1 + 1 + 1) * N * FLOAT + N)
    assert moved(row.after) == ((2 + 1) * N * FLOAT, (1 + 1) * N * FLOAT)
    assert row.write == f"kernels.dropout_add(x, residual, p={p}, training=self.training)"


def test_attention():
    def attended(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        hidden = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).triu(1)
        return (q @ k.transpose(-2, -1) / 7**0.5).masked_fill(hidden, float("-inf")).softmax(-1) @ v

    row = found(attended, *floats(*[(2, 3, 5, 7)] * 3))["attention"]
    heads, scores = 2 * 3 * 5 * 7 * FLOAT, 2 * 3 * 5 * 5 * FLOAT
    # bmm, div, masked_fill, softmax, bmm; the mask itself isn't a part of it
    assert moved(row.now) == (2 * heads + 3 * scores + 25 + heads + scores, 4 * scores + heads)
    assert moved(row.after) == (3 * heads, heads)
    assert row.write == "kernels.attention(query, key, value, causal=True)"


def test_scaled_scores():
    row = found(lambda x: (x / 4).softmax(-1), *floats((3, 5, 7)))["softmax"]
    assert (moved(row.now), moved(row.after)) == ((2 * N * FLOAT, 2 * N * FLOAT), (N * FLOAT, N * FLOAT))
    assert row.write == "kernels.softmax(x, scale=0.25)"


def test_what_compile_fuses():
    row = found(lambda x, y: (x.exp() * y).sin().sum(-1), *floats((3, 5, 7), (3, 5, 7)))["torch.compile"]
    assert row.operations == ("exp", "mul", "sin", "sum")
    # exp 1 1, mul 2 1, sin 1 1, sum 1 and a number a row
    assert moved(row.now) == (5 * N * FLOAT, (3 * N + 3 * 5) * FLOAT)
    assert moved(row.after) == (2 * N * FLOAT, 3 * 5 * FLOAT)


def test_what_follows_a_product():
    row = found(lambda x, w: F.gelu(x @ w), *floats((11, 5), (5, 13)))['torch.compile(mode="max-autotune")']
    out = 11 * 13 * FLOAT
    assert moved(row.now) == ((11 * 5 + 5 * 13) * FLOAT + out, 2 * out)
    assert moved(row.after) == ((11 * 5 + 5 * 13) * FLOAT, out)


# -- what is counted -----------------------------------------------------------------------------------------


def test_views_are_free_and_what_is_expanded_is_read_once():
    def views(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.transpose(0, 1).reshape(5, 3, 7)[:, 1:] + y.expand(5, 2, 7).detach()

    step = kernels.opportunities(views, *floats((3, 5, 7), (1, 1, 7))).step
    assert (step.read, step.written, step.kernels) == ((5 * 2 * 7 + 7) * FLOAT, 5 * 2 * 7 * FLOAT, 1)


def test_an_intermediate_that_is_used_elsewhere_is_still_written():
    def both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x.exp()
        return y, y.sin().cos()

    row = found(both, *floats((3, 5, 7)))["torch.compile"]
    assert moved(row.now) == (3 * N * FLOAT, 3 * N * FLOAT)
    assert moved(row.after) == (N * FLOAT, 2 * N * FLOAT)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: ((x + y).relu(), (x + y).exp(), x.sub(y)),
        lambda x, y: (lambda s: (s.relu(), s))(x + y),
        lambda x, y: (lambda a: (a * y, a))(F.silu(x)),
        lambda x, y: (lambda s: (s.softmax(-1), s))(x * 3.0),
    ],
    ids=["computed twice", "sum", "gate", "scores"],
)
def test_a_kernel_that_would_not_give_what_is_needed_is_not_named(function: Callable[..., Any]):
    rows = found(function, *floats((3, 5, 7), (3, 5, 7)))
    assert set(rows) <= {"torch.compile", "relu_add"}
    if "relu_add" in rows:  # the sum that is computed a second time is one of its own
        assert rows["relu_add"].operations == ("add", "relu")


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: torch.relu((x + y).half()),
        lambda x, y: torch.relu(torch.add(x, y, alpha=2)),
        lambda x, y: torch.relu(x + y[:1]),  # broadcast
        lambda x, y: F.silu(x) * y[:, :1],
        lambda x, y: (x * 2.0).softmax(0),  # not the last dim
        lambda x, y: x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-6) * y[0, 0],
        lambda x, y: x * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * y[0, 0],  # of another tensor
        lambda x, y: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True).half().float() + 1e-6) * y[0, 0],
        lambda x, y: (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5) * y[0, 0],  # corrected
    ],
)
def test_what_is_almost_a_kernel_is_none(function: Callable[..., Any]):
    report = kernels.opportunities(function, *floats((3, 5, 7), (3, 5, 7)))
    assert {row.use for row in report.rows} == {"torch.compile"}


def test_halves_that_differ_are_no_rotary_tables():
    class Rotating(nn.Module):
        def __init__(self, repeated: bool) -> None:
            super().__init__()
            table = torch.randn(5, 3)
            self.register_buffer("cos", torch.cat([table, table], -1) if repeated else torch.randn(5, 6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            left, right = x.chunk(2, -1)
            return x * self.cos + torch.cat([-right, left], -1) * self.cos

    assert "rotary" in found(Rotating(True), (2, 7, 5, 6))
    assert "rotary" not in found(Rotating(False), (2, 7, 5, 6))
    with torch.device("meta"):
        unknown = Rotating(True)
    assert "rotary" not in found(unknown, (2, 7, 5, 6))


def test_what_changes_an_argument_is_left_alone():
    def changing(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x += y  # the caller sees it
        return torch.relu(x)

    rows = found(changing, *floats((3, 5, 7), (3, 5, 7)))
    assert "relu_add" not in rows
    assert moved(rows["torch.compile"].after) == (2 * N * FLOAT, 2 * N * FLOAT)


def test_what_a_module_keeps_is_still_written():
    class Keeping(nn.Module):
        kept: torch.Tensor

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            self.kept = x + y
            return torch.relu(self.kept)

    model = Keeping()
    rows = found(model, *floats((3, 5, 7), (3, 5, 7)))
    assert set(rows) == {"torch.compile"}
    assert moved(rows["torch.compile"].after) == (2 * N * FLOAT, 2 * N * FLOAT)
    assert not hasattr(model, "kept")


def test_results_are_objects_of_any_kind():
    @dataclass
    class Output:
        total: torch.Tensor
        kept: dict[str, list[torch.Tensor]]

    def giving(x: torch.Tensor, y: torch.Tensor) -> Output:
        total = x + y
        return Output(torch.relu(total), {"total": [total]})

    report = kernels.opportunities(giving, *floats((3, 5, 7), (3, 5, 7), grad=True), backward=True)
    assert {(row.use, row.operations) for row in report.rows} == {
        ("torch.compile", ("add", "relu")),
        ("torch.compile", ("threshold_backward", "add")),
    }


def test_gradients_of_the_stream_are_added_in_the_kernel_and_others_are_not():
    norm = nn.RMSNorm(7, eps=1e-5)

    def stream(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        total = x + y
        return total.sin(), norm(total), x.cos(), y.cos()

    graph = graph_of(stream, *floats((3, 5, 7), (3, 5, 7), grad=True), backward=True)
    (chain,) = [match for match in _search.matches(graph) if match.kernel == "add_rms_norm"]
    of_arguments = [n for n in graph.nodes if n.backward and n.name == "add" and n.out.key in graph.results]
    of_the_sum = [n for n in graph.nodes if n.backward and n.name == "add" and n.out.key not in graph.results]
    assert (len(of_arguments), len(of_the_sum)) == (2, 1)
    assert not set(of_arguments) & set(chain.backward)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (lambda t: torch.ones(t, t, dtype=torch.bool).triu(1), "causal=True"),
        (lambda t: ~torch.ones(t, t, dtype=torch.bool).tril(), "causal=True"),
        (lambda t: torch.ones(t, t).triu(1).bool()[None, None], "causal=True"),
        (lambda t: torch.ones(t, t, dtype=torch.bool).triu(1).T, "mask=~hidden"),
        (lambda t: torch.ones(t, t, dtype=torch.bool).triu(2), "mask=~hidden"),
        (lambda t: torch.ones(t, t, dtype=torch.bool).tril(-1), "mask=~hidden"),
        (lambda t: torch.ones(t + 1, t + 1, dtype=torch.bool).triu(1)[1:, :t], "mask=~hidden"),
        (lambda t: torch.zeros(t, t, dtype=torch.bool).triu(1), "mask=~hidden"),
    ],
)
def test_masks(mask: Callable[[int], torch.Tensor], said: str):
    def attended(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-2, -1) * 7**-0.5
        return scores.masked_fill(mask(q.shape[-2]), -torch.inf).softmax(-1) @ v

    inputs = floats(*[(2, 3, 5, 7)] * 3)
    (row,) = kernels.opportunities(attended, *inputs).of("kernels.attention")
    assert row.write == f"kernels.attention(query, key, value, {said})"
    assert same_as_the_chains(attended, *inputs) == {"attention"}


def test_a_bias_that_learns_is_no_mask():
    def biased(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return (q @ k.transpose(-2, -1) + bias).softmax(-1) @ v

    q, k, v, bias = floats(*[(2, 3, 5, 7)] * 3, (3, 5, 5))
    q.requires_grad_()
    (row,) = kernels.opportunities(biased, q, k, v, bias, backward=True).of("kernels.attention")
    assert row.write == "kernels.attention(query, key, value, mask=mask, scale=1)"
    bias.requires_grad_()
    assert kernels.opportunities(biased, q, k, v, bias, backward=True).of("kernels.attention") == ()


def test_equal_blocks_are_one_row():
    model = nn.Sequential(*[Block(12, 6, 3, 7) for _ in range(12)])
    mask = torch.zeros(5, 5)
    report = kernels.opportunities(lambda x: _through(model, x, mask), (2, 5, 12))
    assert {row.use for row in report.rows if row.times >= 11} >= {
        "kernels.attention",
        "kernels.geglu_packed",
        "kernels.add_rms_norm",
    }
    (row,) = report.of("kernels.geglu_packed")
    assert row.times == 12
    assert row.bytes_saved == 12 * (row.now.bytes - row.after.bytes)


def _through(blocks: nn.Sequential, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        x = block(x, mask)
    return x


def test_where_a_chain_is():
    model, args = cases.case("llama.Llama")
    report = kernels.opportunities(model, *args)
    (row,) = report.of("kernels.swiglu")
    source = (cases.ports.MODELS / "llama.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if "F.silu(self.gate_proj(x))" in text)
    assert row.paths == ("layers.0.mlp", "layers.1.mlp")
    assert row.where == f"layers.0-1.mlp, llama.py:{line}"


@pytest.mark.parametrize(
    ("paths", "folded"),
    [
        (["layers.0.mlp", "layers.1.mlp", "layers.2.mlp", "layers.5.mlp"], "layers.0-2,5.mlp"),
        (["encoder.layer_1", "encoder.layer_0"], "encoder.layer_0-1"),
        (["a.0.b.1", "a.1.b.1"], "a.0-1.b.1"),
        (["a", "b", "c", "d"], "a, b, c, …"),
        (["head", "head"], "head"),
        ([""], ""),
    ],
)
def test_paths_that_differ_in_numbers(paths: list[str], folded: str):
    nothing = kernels.Traffic(0, 0, 1, 0.0)
    row = kernels.Opportunity("torch.compile", "", (), tuple(paths), (), (), "forward", nothing, nothing)
    assert row.where == folded


# -- that what is written instead gives the same -------------------------------------------------------------


class Replay:
    """Runs the forward nodes of a graph on values, and keeps what some of its values were."""

    def __init__(self, graph: Graph, wanted: Sequence[Value]) -> None:
        self._wanted = wanted
        self._room = {buffer: torch.zeros(size, dtype=torch.uint8) for buffer, size in graph.sizes.items()}
        for buffer, (source, start) in graph.sources.items():
            count = graph.sizes[buffer] // source.element_size()
            self._room[buffer] = source.detach().as_strided((count,), (1,), start).clone().view(torch.uint8)
        self.kept = {value: self.tensor(value).clone() for value in wanted if value.version == 0}
        for node in graph.nodes:
            if not node.backward:
                self._run(node)

    def tensor(self, value: Value) -> torch.Tensor:
        return self._room[value.buffer].view(value.dtype).as_strided(value.shape, value.strides, value.offset)

    def _run(self, node: Node) -> None:
        def real(leaf: Any) -> Any:
            return self.tensor(leaf) if isinstance(leaf, Value) else leaf

        tree = torch.utils._pytree.tree_map(real, (node.args, node.kwargs), is_leaf=lambda x: isinstance(x, Value))
        out = OPERATIONS.get(node.op, node.op)(*tree[0], **tree[1])
        results = [leaf for leaf in torch.utils._pytree.tree_leaves(out) if isinstance(leaf, torch.Tensor)]
        for value, result in zip(node.outputs, results, strict=False):
            if value.numel:
                self.tensor(value).copy_(result)
        for value in self._wanted:
            if any(value.key == written.key for written in node.outputs):
                self.kept[value] = self.tensor(value).clone()


OPERATIONS: dict[Any, Callable[..., Any]] = {  # what a GPU has as one kernel, and the CPU hasn't; without chance
    "native_dropout": lambda x, p, train: x,
    "_fused_rms_norm": lambda x, weight, eps: F.rms_norm(x, x.shape[-1:], weight, eps),
}


def same_as_the_chains(model: Callable[..., Any], *inputs: Any, **options: Any) -> set[str]:
    """Run every chain that is found, and the kernel that is named in its place; the names of the kernels."""
    graph = graph_of(model, *inputs, **options)
    chains: list[Match] = _search.matches(graph)
    replay = Replay(graph, [value for chain in chains for value in (*chain.inputs, *chain.outputs)])
    for chain in chains:
        if chain.random:
            continue
        results = chain.run(*(replay.kept[value] for value in chain.inputs))
        for value, result in zip(chain.outputs, results, strict=True):
            kept = replay.kept[value]
            assert result.dtype == kept.dtype, chain.kernel
            assert kept.any(), chain.kernel
            close = {"rtol": 2e-2, "atol": 2e-2} if kept.dtype.itemsize == 2 else {"rtol": 1e-4, "atol": 1e-5}
            torch.testing.assert_close(
                result.reshape(kept.shape), kept, **close, msg=lambda m, c=chain: f"{c.call}: {m}"
            )
    return {chain.kernel for chain in chains}


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    ("name", "kernels_found"),
    [
        ("llama.Llama", {"attention", "rotary", "rms_norm", "add_rms_norm", "swiglu"}),
        ("gpt.GPT", {"attention"}),
        ("resnet.ResNet", {"relu_add"}),
        ("moe.Expert", {"swiglu"}),
        ("vit.ViT", set()),
    ],
)
def test_chains_of_the_examples(name: str, kernels_found: set[str], backward: bool):
    model, args = cases.case(name)
    assert same_as_the_chains(model, *args, backward=backward) >= kernels_found


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_chains_of_a_layer_as_transformers_has_it(dtype: torch.dtype):
    torch.manual_seed(7)
    block = Block(12, 6, 3, 7).to(dtype)
    mask = torch.randn(2, 1, 5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf).to(dtype)
    seen = same_as_the_chains(block, torch.randn(2, 5, 12, dtype=dtype), mask, backward=True)
    assert seen == {"attention", "rotary", "rms_norm", "add_rms_norm", "geglu_packed"}


def test_chains_of_other_spellings():
    torch.manual_seed(7)
    targets = torch.tensor([[0, 1, 2], [3, 1, 4]])
    seen = same_as_the_chains(Many(7, 11), torch.randn(2, 3, 7), targets, backward=True)
    assert seen == {
        *("relu_add", "swiglu", "layer_norm", "softmax", "add_rms_norm", "cross_entropy", "linear_cross_entropy")
    }
    x, cos, sin = floats((2, 3, 5, 6), (5, 3), (5, 3))
    assert same_as_the_chains(Pairs(), x, cos, sin) == {"rotary"}
    assert len(_search.matches(graph_of(Pairs(), x, cos, sin))) == 2
    assert same_as_the_chains(HandNorm(7), torch.randn(3, 7)) == {"layer_norm"}
    assert same_as_the_chains(HalfNorm(7, shifted=True).bfloat16(), torch.randn(3, 7).bfloat16()) == {"rms_norm"}


def test_the_chain_of_a_loss():
    torch.manual_seed(7)
    model = cases.module("gpt").GPT(vocab=17, context=11, dim=12, heads=3, layers=1)
    seen = same_as_the_chains(model.loss, torch.randint(17, (2, 7)), backward=True)
    assert {"cross_entropy", "linear_cross_entropy", "attention"} <= seen


def test_the_graph_is_the_model():
    model, args = cases.case("llama.Llama")
    graph = graph_of(model, *args)
    (last,) = [node.out for node in graph.nodes if node.out.key in graph.results]
    torch.testing.assert_close(Replay(graph, [last]).kept[last].view(2, 5, 17), model(*args))


# -- whole models --------------------------------------------------------------------------------------------

WHOLE = (
    *("actor_critic.ActorCritic", "diffusion.Diffusion", "dqn.QNetwork", "gpt.GPT", "llama.Llama", "resnet.ResNet"),
    *("unet.UNet", "vae.VAE", "vit.ViT"),
)
LOOKING = ("moe.Mixtral", "lstm_tagger.Tagger")  # at values


@pytest.mark.parametrize("name", WHOLE)
def test_every_example_is_counted(name: str):
    model, args = cases.case(name)
    before = copy.deepcopy(model.state_dict())
    for training in (False, True):
        model.train(training)
        report = kernels.opportunities(model, *args, backward=training)
        assert report.bytes_saved == sum(row.bytes_saved for row in report.rows)
        assert 0 <= report.bytes_saved < report.step.bytes
        assert 0 <= report.seconds_saved < report.step.seconds
        assert all(row.bytes_saved > 0 for row in report.rows)
        assert str(report)
        assert model.training is training
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert all(type(parameter) is nn.Parameter for parameter in model.parameters())


def test_a_training_step_of_a_network():
    model = cases.module("resnet").ResNet(5, 3, blocks=(2, 1, 1, 1))
    report = kernels.opportunities(
        model, (2, 3, 67, 37), loss=F.cross_entropy, targets=("Int64[2]",), backward=True, gpu="A100 80GB"
    )
    assert report.gpu.bandwidth == 2.039e12
    assert report.of("torch.compile")
    assert {row.passes for row in report.rows} >= {"forward", "backward"}


def test_nothing_is_computed_or_allocated():
    with torch.device("meta"):
        model = cases.module("llama").Llama(
            cases.module("llama").Config(32003, 4096, 32, 8, 128, 14336, 8192, layers=1)
        )
    report = kernels.opportunities(model, "Int64[1, 4099]", backward=True)
    assert report.step.bytes > 2**33
    assert report.of("kernels.attention")


def test_another_dtype_halves_the_bytes():
    model = nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 11))
    wide, narrow = (kernels.opportunities(model, (3, 5), dtype=dtype) for dtype in (None, torch.bfloat16))
    assert wide.step.bytes == 2 * narrow.step.bytes
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_a_model_without_any_says_so():
    report = kernels.opportunities(nn.Linear(5, 7), (3, 5))
    assert report.rows == ()
    assert report.share == 0.0
    read, written = (3 * 5 + 5 * 7 + 7) * FLOAT, 3 * 7 * FLOAT
    assert str(report).splitlines() == [
        f"a step reads {read} bytes and writes {written} bytes in 1 kernel: "
        f"{(read + written) / 3.35e6:.3g} µs on the roofline of H100",
        "nothing in it could be fused by a shipped kernel or by torch.compile",
    ]
    assert "nothing in it" in report._repr_html_()


def test_the_table():
    x = floats((3, 5, 7), (3, 5, 7))
    report = kernels.opportunities(lambda x, y: torch.relu(x + y), *x, gpu=OWN)
    head, _, heads, _, line, chain, instead, _, total = str(report).splitlines()
    assert head == "a step reads 1.23 KiB and writes 840 bytes in 2 kernels: 2.1 µs on the roofline of own"
    assert heads.split() == ["use", "times", "bytes", "now", "after", "saved", "time", "saved", "where"]
    assert line.split()[:3] == ["kernels.relu_add", "×", "1"]
    assert "test_opportunities.py:" in line
    assert chain.strip() == "add + relu of Float32[3, 5, 7], Float32[3, 5, 7] (forward)"
    assert instead.strip() == "→ kernels.relu_add(x, y)"
    assert total == "all together: 840 bytes (40% of the bytes), 0.84 µs (40% of the time) and 1 kernel less"
    assert "<code>kernels.relu_add(x, y)</code>" in report._repr_html_()
    assert report.text(rows=0).splitlines()[1] == "1 more save 840 bytes together; .rows has them"


# -- GPUs, and what doesn't fit ------------------------------------------------------------------------------


def test_products_are_limited_by_operations():
    slow = kernels.GPU("slow", bandwidth=1e12, float32=1e6, float16=2e6)
    x, w = floats((11, 5), (5, 13))
    step = kernels.opportunities(torch.mm, x, w, gpu=slow).step
    assert step.seconds == pytest.approx(2 * 11 * 5 * 13 / 1e6)
    assert kernels.opportunities(torch.mm, x, w, gpu=slow, dtype=torch.bfloat16).step.seconds == step.seconds / 2


def test_gpus():
    wanted = {"A100 40GB", "A100 80GB", "H100", "H100 PCIe", "H200", "B200", "L4", "L40S", "RTX 4090", "MI300X"}
    assert wanted <= set(GPUS)
    assert all(gpu.source and gpu.flops(torch.bfloat16) >= gpu.flops(torch.float32) for gpu in GPUS.values())
    assert bandwidth("NVIDIA A100-SXM4-80GB") == bandwidth("NVIDIA A100 80GB PCIe") == 2.039e12
    assert bandwidth("NVIDIA H100 80GB HBM3") == 3.35e12
    assert bandwidth("NVIDIA L40S") == 0.864e12
    assert bandwidth("a toaster") is None
    with pytest.raises(ValueError, match=r"GPU\('mine'\): bandwidth=0 is no number"):
        kernels.GPU("mine", bandwidth=0, float32=1e12)


def test_a_gpu_that_is_not_in_the_table():
    with pytest.raises(ValueError, match=r"no GPU 'H900' in the table, which has A100 40GB, A100 80GB, H100, .*MI300X"):
        kernels.opportunities(nn.Linear(5, 7), (3, 5), gpu="H900")


def test_inputs_that_do_not_fit_are_explained():
    with pytest.raises(
        ShapeMismatch, match=r"^Linear\(5, 7\): the last dim of input is 11, but the layer takes 5 features"
    ):
        kernels.opportunities(nn.Sequential(nn.Linear(5, 7)), (3, 11))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernels.opportunities(nn.Linear(5, 7), ("B", 5)), "the sizes B of the inputs are open"),
        (
            lambda: kernels.opportunities(nn.Linear(5, 7), "Float99[3, 5]"),
            r"^opportunities: Float99 in 'Float99\[3, 5\]' is no",
        ),
        (lambda: kernels.opportunities(nn.LazyLinear(7), (3, 5)), "the model has lazy layers"),
        (lambda: kernels.opportunities(torch.sin, (3, 5), backward=True), "gives nothing that requires a gradient"),
        (
            lambda: kernels.opportunities(lambda x: x.nonzero(), (3, 5)),
            r"asks for values \(aten.nonzero.default at test_opp",
        ),
        (lambda: kernels.opportunities(lambda x: 2 if x.sum() > 0 else 3, (3, 5)), r"asks for values .* at test_opp"),
    ],
)
def test_what_cannot_be_counted(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", LOOKING)
def test_models_that_look_at_values_are_refused(name: str):
    model, args = cases.case(name)
    with pytest.raises(ValueError, match=r"the model asks for values \(aten.\w+.default at \w+.py:\d+\)"):
        kernels.opportunities(model, *args)


# -- Inductor as the oracle --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("training", "most"),
    [
        pytest.param(False, 1.05, id="inference"),
        pytest.param(True, 1.2, id="training", marks=pytest.mark.thorough),
    ],
)
def test_inductor_counts_about_as_many_bytes(training: bool, most: float):
    """More models: `python -m benchmarks.opportunities`."""
    step = counted.block()
    eager, ours = counted.of_ours(step, training)
    right = counted.of_inductor(step, training)
    assert right < eager
    assert 1 / most < ours / right < most
