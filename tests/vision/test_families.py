"""The newer architectures: torchvision's names and shapes (benchmarks/vision_models.py has its digests), and U-Net."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.vision_models import digest
from simpletorch import export, vision
from simpletorch.errors import ShapeMismatch, TorchError
from simpletorch.nn import summary
from simpletorch.vision import models
from simpletorch.vision.models._blocks import StochasticDepth, rounded
from simpletorch.vision.models._swin import PatchMerging, SwinTransformer, WindowAttention
from tests.marks import thorough

TORCHVISION = json.loads(Path(__file__).with_name("digests.json").read_text("utf-8"))["torchvision"]

# torchvision's documentation, for ImageNet's 1000 classes: parameters, and billions of multiply-adds at 224×224
DOCUMENTED = {
    "convnext_tiny": (28_589_128, 4.46),
    "convnext_small": (50_223_688, 8.68),
    "convnext_base": (88_591_464, 15.36),
    "convnext_large": (197_767_336, 34.36),
    "efficientnet_b0": (5_288_548, 0.39),
    "mobilenet_v3_large": (5_483_032, 0.22),
    "mobilenet_v3_small": (2_542_856, 0.06),
    "swin_t": (28_288_354, 4.49),
    "swin_s": (49_606_258, 8.74),
    "swin_b": (87_768_224, 15.43),
}
NOT_MODELS = {"read_weights", "from_timm", "to_timm"}
SMALLEST = ["convnext_tiny", "efficientnet_b0", "mobilenet_v3_large", "mobilenet_v3_small", "swin_t", "unet"]
SMALL = [name for name in DOCUMENTED if name in SMALLEST]
LARGER = [name for name in DOCUMENTED if name not in SMALLEST]


def on_meta(name, **options):
    with torch.device("meta"):
        return getattr(models, name)(**options)


def empty(*shape):
    return torch.empty(shape, device="meta")


# -- architecture ---------------------------------------------------------------------------------------------------


def test_every_model_is_compared():
    functions = {name for name in models.__all__ if name[0].islower() and name not in NOT_MODELS}
    assert functions == {*TORCHVISION, "unet"}


@pytest.mark.parametrize("name", TORCHVISION)
def test_names_shapes_and_order_are_torchvisions(name):
    assert digest(on_meta(name).state_dict()) == TORCHVISION[name]


@pytest.mark.parametrize("name", [*SMALL, *thorough(LARGER)])
def test_as_many_parameters_and_operations_as_torchvision_documents(name):
    parameters, multiply_adds = DOCUMENTED[name]
    total = summary(on_meta(name), (1, 3, 224, 224)).total
    assert total.parameters == parameters
    assert total.flops / 2e9 == pytest.approx(multiply_adds, abs=0.01, rel=0.01)


@pytest.mark.parametrize("size", [(67, 71), (32, 32)])
@pytest.mark.parametrize("name", SMALLEST)
def test_scores_for_every_class_at_any_size(name, size):
    pixels = size if name == "unet" else ()
    assert on_meta(name, num_classes=7)(empty(2, 3, *size)).shape == (2, 7, *pixels)


def test_a_unet_has_the_parameters_of_the_paper_s_figure():
    # Figure 1 with batch norm in place of the convolutions' biases, for 3 channels and 2 classes
    assert sum(p.numel() for p in on_meta("unet").parameters()) == 31_037_698
    assert on_meta("unet", channels=5, num_classes=7, width=11, depth=2)(empty(2, 5, 13, 17)).shape == (2, 7, 13, 17)


@pytest.mark.parametrize(
    ("channels", "expected"), [(3, 8), (12, 16), (11.9, 16), (32 * 1.1, 32), (16 * 1.8, 32), (240 // 4, 64)]
)
def test_channels_are_rounded_to_eights_and_never_lose_a_tenth(channels, expected):
    assert rounded(channels) == expected


# -- behaviour ------------------------------------------------------------------------------------------------------


def test_stochastic_depth_drops_whole_samples_and_keeps_the_mean():
    torch.manual_seed(3)
    layer, x = StochasticDepth(0.25), torch.ones(4001, 3, 2)
    dropped = layer(x)
    assert dropped.mean().item() == pytest.approx(1, abs=0.03)
    samples = dropped.flatten(1)
    assert samples.eq(samples[:, :1]).all()
    assert samples.unique().tolist() == pytest.approx([0, 4 / 3])
    assert layer.eval()(x) is x
    assert StochasticDepth(1.0)(x).eq(0).all()


def test_a_shifted_window_does_not_look_across_the_border():
    torch.manual_seed(3)
    attention = WindowAttention(6, 3, 4, 2, 0.0, 0.0).eval()
    x = torch.randn(1, 8, 8, 6, requires_grad=True)
    (gradient,) = torch.autograd.grad(attention(x)[0, 0, 0].sum(), x)
    seen = {(int(i), int(j)) for _, i, j in gradient.abs().sum(-1).gt(1e-30).nonzero()}
    assert seen == {(i, j) for i in range(2) for j in range(2)}  # not the far sides, which the roll made neighbours


def test_a_single_window_is_not_shifted():
    torch.manual_seed(3)
    still, shifted = (WindowAttention(6, 3, 4, shift, 0.0, 0.0).eval() for shift in (0, 2))
    shifted.load_state_dict(still.state_dict())
    x = torch.randn(2, 4, 3, 6)
    assert torch.equal(still(x), shifted(x))


def test_merging_keeps_the_last_row_and_column_of_an_odd_image():
    torch.manual_seed(3)
    merge, x = PatchMerging(5), torch.randn(2, 7, 3, 5)
    assert torch.equal(merge(x), merge(torch.nn.functional.pad(x, (0, 0, 0, 1, 0, 1))))
    assert merge(x).shape == (2, 4, 2, 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["mobilenet_v3_small", "swin_t", "unet", *thorough(["convnext_tiny", "efficientnet_b0", "mobilenet_v3_large"])],
)
def test_compiled_without_a_graph_break_and_exported(name):
    torch.manual_seed(3)
    options = {"width": 5, "depth": 2} if name == "unet" else {}
    model = getattr(models, name)(num_classes=7, **options).eval()
    x = torch.randn(2, 3, 64, 64)
    expected = model(x)
    assert torch.equal(torch.compile(model, fullgraph=True, backend="eager")(x), expected)
    assert torch.allclose(torch.export.export(model, (x,)).module()(x), expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_swin_is_exported_for_images_of_any_size():
    torch.manual_seed(0)
    model = SwinTransformer(4, 24, (2, 2), (2, 4), 7, 10).eval()
    run = export.program(model, dynamic={"H": (65, None), "W": (65, None)})
    assert [str(symbol) for symbol in run.report.symbols] == ["B >= 1", "H >= 65", "W >= 65"]
    assert run.report.difference < 1e-6
    x = torch.randn(1, 3, 83, 97)
    torch.testing.assert_close(run(x), model(x))


def test_vision_finds_its_parts():
    assert vision.models is models
    assert "io" in dir(vision)
    with pytest.raises(AttributeError, match=r"'simpletorch\.vision' has no attribute 'modles'"):
        _ = vision.modles


# -- what can't be built --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda: models.ConvNeXt([7, 11], [2]),
            "ConvNeXt: widths=[7, 11] and layers=[2] must have an entry for each stage",
        ),
        (
            lambda: models.SwinTransformer(4, 10, [2], [3], 7, 0),
            "SwinTransformer: num_classes is 0, but it must be at least 1; "
            "the width of stage 0=10 is not divisible by num_heads[0]=3",
        ),
        (lambda: models.EfficientNet(0.0), "EfficientNet: width is 0.0, but it must be above 0"),
        (
            lambda: models.mobilenet_v3_small(num_classes=-3),
            "MobileNetV3: num_classes is -3, but it must be at least 1",
        ),
        (lambda: models.unet(depth=0), "UNet: depth is 0, but it must be at least 1"),
    ],
)
def test_what_cannot_be_built(build, text):
    with pytest.raises(ShapeMismatch) as caught:
        build()
    assert str(caught.value).partition("\n")[0] == text
    assert isinstance(caught.value, ValueError)


def test_what_is_no_probability():
    with pytest.raises(TorchError, match=r"stochastic_depth_prob is 1\.5, but a probability is between 0 and 1"):
        models.swin_t(stochastic_depth_prob=1.5)


def test_images_of_a_wrong_size():
    with pytest.raises(ShapeMismatch, match=r"ConvNeXt\.forward: dim 1 of x is 1, not 3"):
        on_meta("convnext_tiny")(empty(2, 1, 35, 35))
    with pytest.raises(ShapeMismatch, match=r"UNet\.forward: "):
        on_meta("unet", width=5, channels=5)(empty(2, 3, 37, 37))
