"""MLP, FeedForward, Residual, SelfAttention, TransformerBlock: what they compute, keep and refuse."""

import copy
import pickle
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from simpletorch import nn
from simpletorch.errors import ShapeMismatch, TorchError, TypeMismatch

BLOCKS = {
    "MLP": lambda: nn.MLP(6, [5, 7], 6, norm=torch.nn.LayerNorm, dropout=0.1),
    "FeedForward": lambda: nn.FeedForward(6, 11, gated=True),
    "Residual": lambda: nn.Residual(nn.FeedForward(6)),
    "SelfAttention": lambda: nn.SelfAttention(6, 3, causal=True),
    "TransformerBlock": lambda: nn.TransformerBlock(6, 3, dropout=0.1),
}


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


# -- what they compute ----------------------------------------------------------------------------------------------


def test_an_mlp_is_linear_layers_with_activations_between():
    model = nn.MLP(3, [5, 7], 2, activation=torch.nn.GELU)
    kinds = [type(layer).__name__ for layer in model.layers]
    assert kinds == ["Linear", "GELU", "Linear", "GELU", "Linear"]
    assert [tuple(p.shape) for p in model.parameters()] == [(5, 3), (5,), (7, 5), (7,), (2, 7), (2,)]
    x = torch.randn(11, 13, 3)
    assert torch.equal(model(x), model.layers(x))


def test_norm_and_dropout_follow_each_hidden_layer():
    model = nn.MLP(3, 5, 2, norm=torch.nn.BatchNorm1d, dropout=0.3, bias=False)
    kinds = [type(layer).__name__ for layer in model.layers]
    assert kinds == ["Linear", "BatchNorm1d", "ReLU", "Dropout", "Linear"]
    assert model.layers[3].p == 0.3
    assert [name for name, _ in model.named_parameters()] == [
        "layers.0.weight",
        "layers.1.weight",
        "layers.1.bias",
        "layers.4.weight",
    ]


def test_an_mlp_without_hidden_layers_is_one_linear_layer():
    assert [type(layer) for layer in nn.MLP(3, [], 2).layers] == [torch.nn.Linear]


def test_feed_forward():
    model = nn.FeedForward(5, 7).eval()
    x = torch.randn(2, 3, 5)
    assert torch.equal(model(x), model.down(F.gelu(model.up(x))))
    assert nn.FeedForward(5).up.out_features == 20


def test_a_gated_feed_forward_is_swiglu():
    model = nn.FeedForward(5, 7, activation=torch.nn.SiLU, gated=True, bias=False)
    x = torch.randn(2, 3, 5)
    assert torch.equal(model(x), model.down(F.silu(model.gate(x)) * model.up(x)))
    assert all(layer.bias is None for layer in (model.gate, model.up, model.down))


def test_residual_adds_and_hands_the_rest_on():
    class Scaled(torch.nn.Module):
        def forward(self, x, factor, *, shift=0.0):
            return x * factor + shift

    x = torch.randn(2, 3)
    assert torch.equal(nn.Residual(Scaled())(x, 3.0, shift=5.0), x + (x * 3.0 + 5.0))


@pytest.mark.parametrize("out", [1, 5])
def test_residual_refuses_what_would_broadcast_or_fail(out):
    model = nn.Residual(torch.nn.Linear(7, out))
    with pytest.raises(ShapeMismatch) as caught:
        model(torch.zeros(2, 7))
    assert caught.value.reason == f"Linear makes (2, {out}) of (2, 7), but what is added to x must have its shape"
    assert (caught.value.expected, caught.value.got) == ((2, 7), (2, out))


def test_attention_is_torchs():
    ours, theirs = nn.SelfAttention(6, 3), torch.nn.MultiheadAttention(6, 3, batch_first=True)
    theirs.load_state_dict(
        dict(
            zip(
                ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"),
                ours.state_dict().values(),
                strict=True,
            )
        )
    )
    x = torch.randn(2, 5, 6)
    expected, _ = theirs(x, x, x, need_weights=False)
    assert torch.allclose(ours(x), expected, atol=1e-6)


def test_causal_attention_does_not_see_what_comes_later():
    model = nn.SelfAttention(6, 3, causal=True)
    x = torch.randn(2, 5, 6)
    later = x.clone()
    later[:, 3:] = torch.randn(2, 2, 6)
    assert torch.equal(model(x)[:, :3], model(later)[:, :3])
    assert not torch.allclose(model(x)[:, 3:], model(later)[:, 3:])


@pytest.mark.parametrize("causal", [False, True])
def test_a_mask_hides_positions(causal):
    model = nn.SelfAttention(6, 3, causal=causal)
    x = torch.randn(2, 5, 6)
    seen = torch.tensor([True, False, True, True, True])
    other = x.clone()
    other[:, 1] = torch.randn(2, 6)
    kept = [0, 2, 3, 4]
    assert torch.allclose(model(x, seen[None, None, None])[:, kept], model(other, seen[None, None, None])[:, kept])
    added = torch.zeros(5).masked_fill(~seen, float("-inf"))
    assert torch.allclose(model(x, seen.expand(5, 5)), model(x, added.expand(5, 5)), atol=1e-6)


def encoder_layer(block, **options):
    """torch's layer with the weights of ``block``."""
    theirs = torch.nn.TransformerEncoderLayer(6, 3, 11, dropout=0.0, activation="gelu", batch_first=True, **options)
    names = {
        "self_attn.in_proj_": "attention.qkv.",
        "self_attn.out_proj.": "attention.out.",
        "linear1.": "feed_forward.up.",
        "linear2.": "feed_forward.down.",
    }
    own = block.state_dict()
    state = {}
    for key in theirs.state_dict():
        ours = next((v + key.removeprefix(k) for k, v in names.items() if key.startswith(k)), key)
        state[key] = own[ours]
    theirs.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_transformer_block_is_torchs_encoder_layer(norm_first):
    block = nn.TransformerBlock(6, 3, 11, norm_first=norm_first)
    x = torch.randn(2, 5, 6)
    assert torch.allclose(block(x), encoder_layer(block, norm_first=norm_first)(x), atol=1e-6)


def test_a_causal_transformer_block_is_torchs_with_a_causal_mask():
    block = nn.TransformerBlock(6, 3, 11, causal=True)
    x = torch.randn(2, 5, 6)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    theirs = encoder_layer(block, norm_first=True)
    assert torch.allclose(block(x), theirs(x, mask, is_causal=True), atol=1e-6)


def test_llamas_block():
    block = nn.TransformerBlock(
        6,
        3,
        16,
        causal=True,
        norm=partial(torch.nn.RMSNorm, eps=1e-5),
        activation=torch.nn.SiLU,
        gated=True,
        bias=False,
    )
    assert all(not name.endswith("bias") for name, _ in block.named_parameters())
    assert isinstance(block.norm1, torch.nn.RMSNorm)
    assert block(torch.randn(2, 5, 6)).shape == (2, 5, 6)


def test_dropout_acts_in_training_only():
    block = nn.TransformerBlock(6, 3, dropout=0.5)
    x = torch.randn(2, 5, 6)
    assert not torch.equal(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))


# -- how they behave as modules -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_copies_compute_the_same(name, copied):
    block = BLOCKS[name]().eval()
    x = torch.randn(2, 5, 6)
    assert torch.equal(copied(block)(x), block(x))


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_any_floating_dtype_goes_through(name, dtype):
    block = BLOCKS[name]().to(dtype)
    assert block(torch.randn(2, 5, 6, dtype=dtype)).dtype == dtype


@pytest.mark.parametrize("name", BLOCKS)
def test_autocast(name):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert BLOCKS[name]()(torch.randn(2, 5, 6)).shape == (2, 5, 6)


@pytest.mark.parametrize("name", BLOCKS)
def test_gradients_reach_every_parameter(name):
    block = BLOCKS[name]()
    block(torch.randn(2, 5, 6)).square().sum().backward()
    assert [n for n, p in block.named_parameters() if p.grad is None] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_compiled_without_a_graph_break(name):
    block = BLOCKS[name]().eval()
    x = torch.randn(2, 5, 6)
    assert torch.equal(torch.compile(block, fullgraph=True, backend="eager")(x), block(x))


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_exported(name):
    block = BLOCKS[name]().eval()
    x = torch.randn(2, 5, 6)
    assert torch.allclose(torch.export.export(block, (x,)).module()(x), block(x))


# -- what they refuse -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: nn.MLP(0, 5, 3), "MLP: in_features is 0, but it must be at least 1"),
        (
            lambda: nn.MLP(3, [5, -7], 0),
            "MLP: hidden[1] is -7, but it must be at least 1; out_features is 0, but it must be at least 1",
        ),
        (lambda: nn.FeedForward(-2), "FeedForward: dim is -2, but it must be at least 1"),
        (lambda: nn.FeedForward(2, 0), "FeedForward: hidden is 0, but it must be at least 1"),
        (
            lambda: nn.SelfAttention(10, 3),
            "SelfAttention: dim=10 is not divisible by heads=3\n"
            "  hint: a width is the number of heads times the width of one head",
        ),
        (lambda: nn.SelfAttention(10, 0), "SelfAttention: heads is 0, but it must be at least 1"),
        (
            lambda: nn.TransformerBlock(10, 3, 0),
            "TransformerBlock: hidden is 0, but it must be at least 1; dim=10 is not divisible by heads=3\n"
            "  hint: a width is the number of heads times the width of one head",
        ),
    ],
)
def test_sizes_that_no_block_can_have(build, text):
    with pytest.raises(ShapeMismatch) as caught:
        build()
    assert str(caught.value) == text
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("size", [3.0, "3", True, None])
def test_a_size_is_an_int(size):
    with pytest.raises(TypeMismatch, match=r"in_features is the \w+ .*, not an int") as caught:
        nn.MLP(size, 5, 3)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("name", ["MLP", "FeedForward", "SelfAttention", "TransformerBlock"])
def test_a_probability_is_between_0_and_1(name):
    arguments = {"MLP": (6, 5, 3), "FeedForward": (6,)}.get(name, (6, 3))
    with pytest.raises(TorchError, match=f"{name}: dropout is 1.5, but a probability is between 0 and 1") as caught:
        getattr(nn, name)(*arguments, dropout=1.5)
    assert isinstance(caught.value, ValueError)


def test_a_wrong_input_is_refused_by_name():
    with pytest.raises(ShapeMismatch, match=r"TransformerBlock\.forward: dim 2 of x is 7, but D is 6"):
        nn.TransformerBlock(6, 3)(torch.zeros(2, 5, 7))
    with pytest.raises(TorchError, match=r"MLP\.forward: x is Int64, but should be Float"):
        nn.MLP(6, 5, 3)(torch.zeros(2, 6, dtype=torch.int64))
