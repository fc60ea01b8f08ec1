"""`initialize`: every recipe gives the distribution that it promises."""

import math
from typing import get_args

import pytest
import torch

from simpletorch import nn
from simpletorch.nn import initialize
from simpletorch.nn._initialize import Recipe


def network():
    torch.manual_seed(7)
    return torch.nn.Sequential(
        torch.nn.Conv2d(13, 97, 5),
        torch.nn.BatchNorm2d(97),
        torch.nn.Flatten(),
        torch.nn.Linear(211, 307),
        torch.nn.LayerNorm(307),
    )


def std(tensor):
    return tensor.detach().std().item()


def test_he_counts_outputs_of_convolutions_and_inputs_of_linear_layers():
    model = initialize(network(), "he")
    assert std(model[0].weight) == pytest.approx(math.sqrt(2 / (97 * 25)), rel=0.03)
    assert std(model[3].weight) == pytest.approx(math.sqrt(2 / 211), rel=0.03)


def test_glorot_is_uniform_and_counts_both():
    weight = initialize(network(), "glorot")[3].weight
    bound = math.sqrt(6 / (211 + 307))
    assert weight.abs().max() <= bound
    assert weight.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert std(weight) == pytest.approx(bound / math.sqrt(3), rel=0.03)


def test_orthogonal_rows():
    weight = initialize(network(), "orthogonal", gain=3.0)[3].weight.detach()
    assert torch.allclose(weight.T @ weight, 9 * torch.eye(211), atol=1e-4)


def test_vit_is_cut_at_two_standard_deviations():
    weight = initialize(network(), "vit")[3].weight
    assert weight.abs().max() <= 0.04
    assert std(weight) == pytest.approx(0.88 * 0.02, rel=0.03)  # 0.88: what cutting at 2 leaves


def test_gpt2_scales_what_ends_a_branch():
    blocks = torch.nn.ModuleList([nn.TransformerBlock(96, 3, causal=True) for _ in range(5)])
    initialize(blocks, "gpt2")
    for block in blocks:
        assert std(block.attention.qkv.weight) == pytest.approx(0.02, rel=0.05)
        assert std(block.feed_forward.up.weight) == pytest.approx(0.02, rel=0.05)
        for last in (block.attention.out, block.feed_forward.down):
            assert std(last.weight) == pytest.approx(0.02 / math.sqrt(2 * 5), rel=0.05)


@pytest.mark.parametrize(
    "build",
    [
        lambda: torch.nn.Linear(5, 7),
        lambda: torch.nn.Conv2d(3, 5, 2),
        lambda: torch.nn.GRU(3, 5),
        lambda: torch.nn.Transformer(6, 2, 1, 1, 11, batch_first=True),
    ],
    ids=["Linear", "Conv2d", "GRU", "Transformer"],
)
def test_torchs_recipe_is_what_the_constructors_do(build):
    model = build()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(3)
    initialize(model, "torch")
    for (name, drawn), fresh in zip(model.named_parameters(), build().parameters(), strict=True):
        assert not drawn.eq(3).any(), name
        assert drawn.abs().max() <= 3 * fresh.abs().max() + 1e-6, name


def test_torchs_recipe_draws_what_a_constructor_draws():
    linear = torch.nn.Linear(5, 7)
    torch.manual_seed(3)
    initialize(linear, "torch")
    torch.manual_seed(3)
    assert torch.equal(linear.weight, torch.nn.Linear(5, 7).weight)


def test_biases_norms_and_running_statistics_begin_anew():
    model = network()
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.fill_(3)
    initialize(model)
    assert [b.abs().max().item() for n, b in model.named_parameters() if n.endswith("bias")] == [0, 0, 0, 0]
    assert all(norm.weight.eq(1).all() for norm in (model[1], model[4]))
    assert model[1].running_mean.eq(0).all()
    assert model[1].running_var.eq(1).all()
    assert model[1].num_batches_tracked == 0


def test_embeddings_keep_their_padding():
    embedding = initialize(torch.nn.Embedding(211, 31, padding_idx=3), "he")
    assert embedding.weight[3].eq(0).all()
    assert std(embedding.weight) == pytest.approx(1, rel=0.05)


def test_attention_and_recurrent_layers():
    attention = initialize(torch.nn.MultiheadAttention(96, 3), "gpt2")
    assert std(attention.in_proj_weight) == pytest.approx(0.02, rel=0.05)
    assert attention.in_proj_bias.eq(0).all()
    lstm = initialize(torch.nn.LSTM(31, 37), "orthogonal")
    assert torch.allclose(lstm.weight_hh_l0.T @ lstm.weight_hh_l0, torch.eye(37), atol=1e-5)
    assert lstm.bias_hh_l0.eq(0).all()


def test_frozen_parameters_and_those_of_no_layer_stay():
    model = network()
    model[3].weight.requires_grad_(False)
    model.token = torch.nn.Parameter(torch.full((3,), 5.0))
    before = model[3].weight.clone()
    initialize(model)
    assert torch.equal(model[3].weight, before)
    assert model.token.eq(5).all()


@pytest.mark.parametrize("recipe", [r for r in get_args(Recipe) if r != "torch"])
def test_a_generator_decides(recipe):
    first, second = (
        initialize(network(), recipe, generator=torch.Generator().manual_seed(11)).state_dict() for _ in range(2)
    )
    torch.manual_seed(13)
    other = initialize(network(), recipe, generator=torch.Generator().manual_seed(12)).state_dict()
    assert all(torch.equal(first[k], second[k]) for k in first)
    assert not torch.equal(first["3.weight"], other["3.weight"])


def test_it_returns_the_model():
    model = network()
    assert initialize(model) is model


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: initialize(network(), "xavier"), "there is no recipe 'xavier'; there are 'torch', 'he', 'glorot'"),
        (
            lambda: initialize(torch.nn.Linear(3, 5, device="meta")),
            r"weight and 1 more is on the meta device and holds no values: model\.to_empty\(device='cpu'\) first",
        ),
        (lambda: initialize(network(), "torch", gain=2.0), "the recipe 'torch' takes neither gain nor generator"),
    ],
)
def test_what_it_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
