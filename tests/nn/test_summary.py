"""`summary`: shapes, parameters, bytes and operations per module, for numbers and for symbols, from any input."""

import copy
import math
import re
from html.parser import HTMLParser
from typing import Any, Generic, NamedTuple

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from simpletorch import B, Float32, Int64, T, Tensor, nn
from simpletorch.dims import Dim, N
from simpletorch.errors import ShapeMismatch, TypeMismatch
from simpletorch.nn import summary
from simpletorch.nn._summary_symbols import explain, points
from simpletorch.nn._summary_values import leaves
from simpletorch.shapes import UNKNOWN, Var, evaluate, parse_dim
from simpletorch.vision.models import BasicBlock, resnet18


class Annotated(nn.Module, Generic[N]):
    def __init__(self, n: Dim[N]):
        super().__init__()
        self.embed = nn.Embedding(11, n)
        self.fc = nn.Linear(n, 5)

    def forward(self, tokens: Tensor[Int64, B, T], shift: Tensor[Float32, N]) -> Tensor[Float32, B, T, 5]:
        return self.fc(self.embed(tokens) + shift)


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))


def shapes(found, path=""):
    row = found.row(path)
    return str(row.inputs), str(row.output)


# -- the table ------------------------------------------------------------------------------------------------------


def test_the_whole_table():
    assert str(summary(mlp(), ("B", 3))) == (
        "module        input          output         parameters    weights  FLOPs  output bytes\n"
        "──────────────────────────────────────────────────────────────────────────────────────\n"
        "Sequential    Float32[B, 3]  Float32[B, 2]          32  128 bytes   50·B     8 bytes·B\n"
        "├─ 0: Linear  Float32[B, 3]  Float32[B, 5]          20   80 bytes   30·B    20 bytes·B\n"
        "├─ 1: ReLU    Float32[B, 5]  Float32[B, 5]           –          –      –    20 bytes·B\n"
        "└─ 2: Linear  Float32[B, 5]  Float32[B, 2]          12   48 bytes   20·B     8 bytes·B\n"
        "──────────────────────────────────────────────────────────────────────────────────────\n"
        "32 parameters (128 bytes with buffers)\n"
        "50·B FLOPs a call; 48 bytes·B of results in the innermost modules"
    )


def test_rows_are_data():
    found = summary(mlp(), torch.zeros(7, 3))
    row = found.row("0")
    assert (row.path, row.name, row.kind, row.depth, row.calls) == ("0", "0", "Linear", 1, 1)
    assert (row.parameters, row.trainable, row.weight_bytes) == (20, 20, 80)
    assert (row.flops, row.output_bytes) == (2 * 7 * 3 * 5, 7 * 5 * 4)
    assert row.inputs.shape == (7, 3)
    assert row.output.dtype == "Float32"
    assert found.total is found.rows[0]
    assert [r.path for r in found.rows] == ["", "0", "1", "2"]
    assert found.symbols == ()
    assert found.activation_bytes == 7 * (5 + 5 + 2) * 4
    with pytest.raises(KeyError, match="no module 'fc'"):
        found.row("fc")


def test_depth():
    model = torch.nn.Sequential(mlp(), torch.nn.ReLU())
    found = summary(model, ("B", 3))
    names = [line.split("  ")[0] for line in found.text(1).splitlines()[2:5]]
    assert names == ["Sequential", "├─ 0: Sequential", "└─ 1: ReLU"]
    assert len(found.text().splitlines()) == len(found.text(1).splitlines()) + 3
    assert "├─" not in found.text(0)


def test_neighbours_that_are_alike_are_one_line():
    model = torch.nn.Sequential(*[nn.FeedForward(3) for _ in range(5)], nn.FeedForward(3, 7))
    text = summary(model, ("B", 3)).text(1)
    assert "├─ 0-4: 5 × FeedForward" in text
    assert "└─ 5: FeedForward" in text


def test_html_is_well_formed_and_escaped():
    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.cells = [], 0

        def handle_starttag(self, tag, attrs):
            if tag != "br":
                self.open.append(tag)
            self.cells += tag == "td"

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    class Odd(torch.nn.Linear):
        pass

    Odd.__name__ = "Odd<script>"
    html = summary(torch.nn.Sequential(Odd(3, 5)), ("B", 3))._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert tags.cells == 2 * 7
    assert "<script>" not in html
    assert "Odd&lt;script&gt;" in html
    assert "Float32[B, 5]" in html


# -- inputs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        torch.zeros(7, 3),
        torch.zeros(7, 3, device="meta"),
        (7, 3),
        [7, 3],
        torch.Size((7, 3)),
        "7 3",
        "7, 3",
        "[7, 3]",
        "Float32[7, 3]",
        Tensor[Float32, 7, 3],
    ],
    ids=str,
)
def test_kinds_of_inputs(given):
    assert shapes(summary(mlp(), given)) == ("Float32[7, 3]", "Float32[7, 2]")


@pytest.mark.parametrize("given", [("B", 3), "B 3", "Float32[B, 3]", Tensor[Float32, B, 3], ("2*B", 3)], ids=str)
def test_symbols(given):
    found = summary(mlp(), given)
    size = "2*B" if given == ("2*B", 3) else "B"
    assert shapes(found) == (f"Float32[{size}, 3]", f"Float32[{size}, 2]")
    assert found.symbols == ("B",)
    assert found.total.flops == 50 * parse_dim(size)


def test_annotations_of_forward_are_enough_and_know_the_sizes_of_the_class():
    found = summary(Annotated(7))
    assert shapes(found) == ("(Int64[B, T], Float32[7])", "Float32[B, T, 5]")
    assert shapes(summary(nn.MLP(7, 5, 3))) == ("Float32[Batch, 7]", "Float32[Batch, 3]")


def test_a_subclass_keeps_the_annotations_and_sizes_of_its_base():
    class Mine(nn.MLP):
        def __init__(self):
            super().__init__(7, 5, 3)

    assert shapes(summary(Mine())) == ("Float32[Batch, 7]", "Float32[Batch, 3]")


def test_a_compiled_model_is_summarized_by_its_parts():
    assert str(summary(torch.compile(mlp()), ("B", 3))) == str(summary(mlp(), ("B", 3)))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: torch.fx.symbolic_trace(model),
        lambda model: torch.export.export(model, (torch.zeros(7, 3),)).module(),
        lambda model: torch.nn.DataParallel(model),
    ],
    ids=["traced", "exported", "DataParallel"],
)
def test_models_in_other_forms(wrap):
    model = wrap(mlp())
    assert shapes(summary(model, (7, 3))) == ("Float32[7, 3]", "Float32[7, 2]")
    assert summary(model, (7, 3)).total.flops == 7 * 50
    assert all(module.training for module in model.modules())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_scripted_model():
    model = torch.jit.script(mlp())
    found = summary(model, ("B", 3))
    assert shapes(found) == ("Float32[B, 3]", "Float32[B, 2]")
    assert found.total.parameters == 32
    assert "not seen" in str(found)
    assert model.training


def test_several_inputs_by_place_and_by_name():
    expected = ("(Int64[2, 3], Float32[7])", "Float32[2, 3, 5]")
    assert shapes(summary(Annotated(7), "Int64[2, 3]", (7,))) == expected
    assert shapes(summary(Annotated(7), tokens="Int64[2, 3]", shift=torch.zeros(7))) == expected


def test_containers_of_inputs_and_results():
    class Pair(NamedTuple):
        first: torch.Tensor
        rest: list[torch.Tensor]

    class Model(torch.nn.Module):
        def forward(self, x: dict[str, Any], scale: float) -> Pair:
            return Pair(x["a"] * scale, [x["b"], x["b"][:1]])

    found = summary(Model(), {"a": ("B", 3), "b": "Int64[5]"}, 2.0)
    assert shapes(found) == ("{a: Float32[B, 3], b: Int64[5]}", "{first: Float32[B, 3], rest: (Int64[5], Int64[1])}")


def test_the_dtype_is_that_of_the_parameters():
    found = summary(mlp().to(torch.bfloat16), ("B", 3))
    assert shapes(found) == ("BFloat16[B, 3]", "BFloat16[B, 2]")
    assert found.row("0").weight_bytes == 40


def test_a_model_on_meta_needs_no_memory():
    with torch.device("meta"):
        model = torch.nn.Linear(100_003, 100_003)
    assert summary(model, ("B", 100_003)).total.weight_bytes == 4 * (100_003**2 + 100_003)


# -- symbols --------------------------------------------------------------------------------------------------------


def test_sizes_that_depend_on_symbols():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 5, 7, stride=2, padding=3), torch.nn.MaxPool2d(2), torch.nn.Conv2d(5, 7, 3)
    )
    found = summary(model, ("B", 3, "H", "W"))
    assert str(found.row("0").output) == "Float32[B, 5, (H + 1)//2, (W + 1)//2]"
    assert str(found.row("1").output) == "Float32[B, 5, (H + 1)//4, (W + 1)//4]"
    assert str(found.row("2").output) == "Float32[B, 7, (H + 1)//4 - 2, (W + 1)//4 - 2]"


def test_what_is_constant_for_small_sizes_only_is_not_called_constant():
    halving = torch.nn.Sequential(*[torch.nn.MaxPool1d(3, stride=2, padding=1) for _ in range(5)])
    assert str(summary(halving, (2, "L")).total.output) == "Float32[2, (L + 31)//32]"


def test_products_of_symbols():
    assert shapes(summary(torch.nn.Flatten(0, 1), ("B", "T", 3))) == ("Float32[B, T, 3]", "Float32[B*T, 3]")


def test_operations_of_attention_grow_with_the_square_of_time():
    found = summary(nn.SelfAttention(6, 3), ("B", "T", 6))
    assert str(found.total.flops) == "24*B*T**2 + 288*B*T"
    assert "24·B·T² + 288·B·T" in str(found)


def test_a_context_that_is_too_short_for_large_sizes():
    class Positions(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.at = torch.nn.Parameter(torch.zeros(31, 3))

        def forward(self, x):
            return x + self.at[: x.shape[1]]

    assert shapes(summary(Positions(), ("B", "T", 3))) == ("Float32[B, T, 3]", "Float32[B, T, 3]")


def test_an_unexplained_size_is_shown_as_unknown():
    class Odd(torch.nn.Module):
        def forward(self, x):
            return x[: x.shape[0].bit_count()]

    found = summary(Odd(), ("B", 3))
    assert found.total.output.shape == (UNKNOWN, 3)
    assert "Float32[?, 3]" in str(found)


SYMBOLIC = {
    "conv net": (
        lambda: torch.nn.Sequential(
            torch.nn.Conv2d(3, 5, 3, stride=2),
            torch.nn.BatchNorm2d(5),
            torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(),
        ),
        [("B", 3, "H", "W")],
        {"B": 6, "H": 54, "W": 91},
    ),
    "residual": (
        lambda: torch.nn.Sequential(BasicBlock(3, 5, 2), BasicBlock(5, 7, 2)),
        [("B", 3, "H", 31)],
        {"B": 2, "H": 70},
    ),
    "gpt": (
        lambda: torch.nn.Sequential(torch.nn.Embedding(11, 6), nn.TransformerBlock(6, 3, causal=True)),
        ["Int64[B, T]"],
        {"B": 6, "T": 10},
    ),
    "cross attention": (
        lambda: torch.nn.MultiheadAttention(6, 3),
        [("T", 2, 6), ("S", 2, 6), ("S", 2, 6)],
        {"S": 10, "T": 6},
    ),
    "gru": (lambda: torch.nn.GRUCell(3, 5), [("B", 3)], {"B": 6}),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_expressions_are_right_at_sizes_that_were_not_tried(name):
    build, given, sizes = SYMBOLIC[name]
    with torch.device("meta"):
        model = build()
    found = summary(model, *given)
    texts = [g if isinstance(g, str) else " ".join(map(str, g)) for g in given]
    for symbol, size in sizes.items():
        texts = [re.sub(rf"\b{symbol}\b", str(size), text) for text in texts]
    actual = summary(model, *texts)
    at = {Var(symbol): size for symbol, size in sizes.items()}
    for row, true in zip(found.rows, actual.rows, strict=True):
        for symbolic, number in zip(leaves(row.output), leaves(true.output), strict=True):
            assert tuple(evaluate(size, at) for size in symbolic.shape) == number.shape, row.path
        assert row.flops is UNKNOWN or evaluate(row.flops, at) == true.flops, row.path
        assert row.output_bytes is UNKNOWN or evaluate(row.output_bytes, at) == true.output_bytes, row.path
    assert UNKNOWN not in [size for row in found.rows for info in leaves(row.output) for size in info.shape]


@pytest.mark.parametrize("build", [lambda: resnet18(num_classes=7), mlp], ids=["resnet18", "mlp"])
def test_operations_are_those_that_torch_counts(build):
    model = build().eval()
    x = torch.randn(2, 3) if isinstance(model, torch.nn.Sequential) else torch.randn(2, 3, 37, 41)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    assert summary(model, x).total.flops == counter.get_total_flops()


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("B", "B"),
        ("3*B + 5", "B"),
        ("B**2 + B", "B"),
        ("B*T", "BT"),
        ("2*B*T**2 + 7*B*T + 3*B", "BT"),
        ("B*T**2 + B*T + B*S**2 + B*S*T + 5*B", "BST"),
        ("(H + 3)//4", "H"),
        ("(H - 1)//2", "H"),
        ("H//16", "BH"),
        ("17", "BT"),
    ],
)
def test_expressions_are_found_again(text, symbols):
    few, more, _ = points(tuple(symbols))
    at = [*few, *more]
    expected = parse_dim(text)
    values = [eval(text, dict(p)) for p in at]
    found = explain(values, at)
    assert found == expected or (found is UNKNOWN and len(symbols) == 3)


def test_no_expression_is_invented():
    few, more, _ = points(("B",))
    at = [*few, *more]
    assert explain([math.isqrt(p["B"]) for p in at], at) is UNKNOWN
    assert explain([p["B"] ^ 5 for p in at], at) is UNKNOWN


# -- operations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "given", "flops"),
    [
        (lambda: torch.nn.Linear(3, 5), [(7, 3)], 2 * 7 * 3 * 5),
        (lambda: torch.nn.Conv2d(3, 5, 2), [(7, 3, 11, 13)], 2 * 7 * 10 * 12 * 5 * 3 * 4),
        (lambda: torch.nn.Conv2d(6, 10, 3, groups=2, stride=2), [(7, 6, 11, 13)], 2 * 7 * 5 * 6 * 10 * 3 * 9),
        (lambda: torch.nn.ConvTranspose2d(3, 5, 2), [(7, 3, 11, 13)], 2 * 7 * 11 * 13 * 3 * 5 * 4),
        (lambda: torch.nn.Bilinear(3, 5, 2), [(7, 3), (7, 5)], 2 * 7 * 3 * 5 * 2),
        (lambda: torch.nn.LSTM(3, 5, 2), [(7, 2, 3)], 2 * 7 * 2 * (20 * (3 + 5) + 20 * (5 + 5))),
        (lambda: torch.nn.GRU(3, 5, bidirectional=True), [(7, 2, 3)], 2 * 2 * 7 * 2 * 15 * (3 + 5)),
        (lambda: torch.nn.MultiheadAttention(6, 3), [(7, 2, 6)] * 3, 2 * 14 * (4 * 36) + 2 * 2 * 2 * 49 * 6),
        (lambda: torch.nn.Embedding(11, 3), ["Int64[7]"], 0),
        (lambda: torch.nn.LayerNorm(3), [(7, 3)], 0),
    ],
    ids=["Linear", "Conv2d", "groups", "ConvTranspose2d", "Bilinear", "LSTM", "GRU", "Attention", "Embedding", "Norm"],
)
def test_two_operations_for_each_multiply_add(layer, given, flops):
    assert summary(layer(), *given).total.flops == flops


@pytest.mark.parametrize("batch_first", [False, True])
def test_torchs_fused_transformer_is_counted_like_its_parts(batch_first):
    layer = torch.nn.TransformerEncoderLayer(6, 3, 11, batch_first=batch_first)
    given = (2, 7, 6) if batch_first else (7, 2, 6)
    attention, perceptron = 2 * 14 * 4 * 36 + 2 * 2 * 2 * 49 * 6, 2 * 14 * 2 * 6 * 11
    assert summary(layer, given).total.flops == attention + perceptron


def test_a_module_that_is_called_twice():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(3, 3)
            self.spare = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.fc(self.fc(x))

    found = summary(Twice(), ("B", 3))
    assert found.row("fc").calls == 2
    assert found.row("fc").flops == found.total.flops == 36 * parse_dim("B")
    assert found.row("spare").inputs is None
    assert "not called" in str(found)
    assert "Float32[B, 3] (2 calls)" in str(found)


def test_shared_and_frozen_parameters_count_once_and_not():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    model[1].weight = model[0].weight
    model[0].bias.requires_grad_(False)
    total = summary(model, ("B", 3)).total
    assert (total.parameters, total.trainable) == (15, 12)
    assert "15 parameters (60 bytes with buffers), 3 of them frozen" in str(summary(model, ("B", 3)))


# -- nothing is disturbed -------------------------------------------------------------------------------------------


def test_the_model_is_left_as_it_was():
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Dropout(0.5))
    model[2].eval()
    before, modes = copy.deepcopy(model.state_dict()), [m.training for m in model.modules()]
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    summary(model, torch.randn(7, 3).fill_(5))
    torch.manual_seed(3)
    summary(model, ("B", 3))
    assert torch.equal(torch.rand(2), expected)
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())
    assert [m.training for m in model.modules()] == modes
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    assert all(p.grad is None for p in model.parameters())


def test_caches_are_left_as_they_were():
    class Caching(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.seen, self.by_length = None, [], {3: "kept"}
            self.register_buffer("mask", None)

        def forward(self, x):
            self.last, self.mask = x * 2, x > 0
            self.seen.append(x)
            self.by_length[len(x)] = x
            self.calls = len(self.seen)
            return x

    model = Caching()
    seen = model.seen
    summary(model, ("B", 3))
    assert model.last is None
    assert model.mask is None
    assert model.seen is seen
    assert seen == []
    assert model.by_length == {3: "kept"}
    assert not hasattr(model, "calls")
    assert model(torch.ones(2, 3)).shape == (2, 3)


def test_a_failed_call_leaves_it_too():
    model = mlp().train()
    with pytest.raises(ShapeMismatch):
        summary(model, (7, 5))
    assert model[0].training
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_lazy_layers_stay_lazy():
    model = torch.nn.Sequential(torch.nn.LazyLinear(5), torch.nn.ReLU())
    found = summary(model, ("B", 3))
    assert found.row("0").parameters == 20
    assert str(found.total.output) == "Float32[B, 5]"
    assert torch.nn.parameter.is_lazy(model[0].weight)


class LooksAtValues(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 5)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1
        return self.fc(x) if x.sum().item() > 1 else x


def test_what_the_fake_call_left_behind_is_gone_before_the_real_one():
    class CachesThenLooks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cache = None

        def forward(self, x):
            if self.cache is None:
                self.cache = torch.ones_like(x)
            return x if x.sum() > 0 else x + self.cache

    model = CachesThenLooks()
    assert shapes(summary(model, torch.zeros(2, 3))) == ("Float32[2, 3]", "Float32[2, 3]")
    assert model.cache is None


def test_a_model_that_looks_at_values_is_called_for_real():
    model = LooksAtValues()
    assert shapes(summary(model, torch.ones(7, 3))) == ("Float32[7, 3]", "Float32[7, 5]")
    assert shapes(summary(model, torch.zeros(7, 3))) == ("Float32[7, 3]", "Float32[7, 3]")
    assert shapes(summary(model, ("B", 3))) == ("Float32[B, 3]", "Float32[B, 3]")
    assert model.seen == 0


# -- errors ---------------------------------------------------------------------------------------------------------


def test_a_misfit_is_explained():
    with pytest.raises(ShapeMismatch, match=r"the last dim of input is 5, but .* takes 3 features"):
        summary(mlp(), ("B", 5))


def test_no_input_and_no_annotation():
    with pytest.raises(
        TypeMismatch, match=r"Linear\.forward states no shape for input, and no input was given"
    ) as caught:
        summary(torch.nn.Linear(3, 5))
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Float99[B, 3]", "Float99 in 'Float99\\[B, 3\\]' is no dtype; write one such as Float32"),
        ("B/2 3", 'divides with "/"'),
        ((-2, 3), "negative"),
        ("B -3", "the size -3 is negative"),
    ],
)
def test_texts_that_are_no_shape(given, message):
    with pytest.raises((ValueError, RuntimeError), match=message):
        summary(mlp(), given)
