"""Mixed precision: autocast without arguments, scaling, eight bits."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from simpletorch import amp
from simpletorch.errors import TorchError

CPU = not torch.accelerator.is_available()


@pytest.mark.skipif(not CPU, reason="picks the accelerator")
def test_autocast_picks_device_and_dtype():
    layer, x = nn.Linear(5, 7), torch.randn(3, 5)
    with amp.autocast():
        assert layer(x).dtype == torch.bfloat16
    with amp.autocast(enabled=False):
        assert layer(x).dtype == torch.float32
    with amp.autocast(dtype=torch.float16):
        assert layer(x).dtype == torch.float16

    @amp.autocast()
    def forward(x):
        return layer(x)

    assert forward(x).dtype == torch.bfloat16
    assert isinstance(amp.autocast(torch.device("cpu")), torch.autocast)


@pytest.mark.parametrize("wrong", [{"device_type": "meta"}, {"dtype": torch.float32}, {"dtype": torch.int8}])
def test_what_torch_would_ignore_with_a_warning_is_an_error(wrong):
    with pytest.raises(ValueError, match="autocast"):
        amp.autocast(**wrong)


@pytest.mark.slow
def test_autocast_is_compiled_without_a_break():
    layer, x = nn.Linear(5, 7), torch.randn(3, 5)

    @torch.compile(fullgraph=True, backend="eager")
    def forward(x):
        with amp.autocast("cpu", dtype=torch.bfloat16):
            return layer(x)

    assert forward(x).dtype == torch.bfloat16


def test_the_precision_of_float32_products_is_torch_s_switch():
    before = amp.get_float32_matmul_precision()
    try:
        amp.set_float32_matmul_precision("high")
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        amp.set_float32_matmul_precision(before)


@pytest.mark.parametrize("rows", [(32,), (5, 7), (1,)])
@pytest.mark.parametrize("bias", [True, False])
def test_float8_is_close_to_the_layer_forward_and_backward(rows, bias):
    torch.manual_seed(3)
    plain = nn.Linear(48, 80, bias=bias)
    eight = nn.Linear(48, 80, bias=bias)
    eight.load_state_dict(plain.state_dict())
    wrapped = amp.float8(nn.Sequential(eight))
    assert type(eight) is amp.Float8Linear
    x = torch.randn(*rows, 48)
    xs = [x.clone().requires_grad_() for _ in range(2)]
    results = [plain(xs[0]), wrapped(xs[1])]
    weights = torch.randn_like(results[0])
    for result in results:
        (result * weights).sum().backward()
    pairs = [results, [t.grad for t in xs], [plain.weight.grad, eight.weight.grad]]
    if bias:
        pairs.append([plain.bias.grad, eight.bias.grad])
    for expected, got in pairs:
        assert got.shape == expected.shape
        assert got.dtype == expected.dtype
        # e4m3 has 3 bits after the point, e5m2 two: the error of a sum of products is a few percent of its size
        assert (got - expected).norm() < 0.08 * expected.norm()


def test_float8_follows_autocast_and_trains():
    torch.manual_seed(5)
    model = amp.float8(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x = torch.randn(64, 32)
    y = x[:, :16].argmax(1)
    losses = []
    for _ in range(30):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
            assert out.dtype == torch.bfloat16
            loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_float8_of_zeros_is_zero():
    layer = amp.float8(nn.Sequential(nn.Linear(16, 16, bias=False)))
    assert torch.equal(layer(torch.zeros(16, 16)), torch.zeros(16, 16))


def test_float8_says_what_it_can_t():
    with pytest.raises(ValueError, match="multiples of 16"):
        amp.float8(nn.Linear(13, 17))
    with pytest.raises(TorchError, match="'meta', which doesn't multiply in float8"):
        amp.float8(nn.Linear(16, 16, device="meta"))
    layers = nn.Sequential(nn.Linear(16, 32), nn.Linear(32, 16))
    amp.float8(layers, choose=lambda path, layer: path == "0")
    assert [type(m) for m in layers] == [amp.Float8Linear, nn.Linear]
