"""ResNet, VGG and ViT: the papers' architectures under torchvision's names, and weight files that load strictly."""

import copy
import pickle
from collections import OrderedDict

import pytest
import torch
from safetensors.torch import save_file

from simpletorch.errors import CheckpointError, ShapeMismatch, TorchError
from simpletorch.nn import StateMismatch, summary
from simpletorch.vision import models
from simpletorch.vision.models import ResNet, VisionTransformer, read_weights
from tests.vision import architectures

MODELS = sorted(architectures.PARAMETERS)


def on_meta(name, **options):
    with torch.device("meta"):
        return getattr(models, name)(**options)


def small_vit(**options):
    """As vit_b_16, but smaller: 2 blocks of width 6 for images of 35×35."""
    return VisionTransformer(35, 7, 2, 3, 6, 11, 5, **options)


# -- architecture ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1000, 7])
@pytest.mark.parametrize("name", MODELS)
def test_names_and_shapes_are_those_of_the_paper(name, classes):
    state = on_meta(name, num_classes=classes).state_dict()
    expected = architectures.table(name, classes)
    assert {key: tuple(value.shape) for key, value in state.items()} == expected
    assert list(state) == list(expected)


@pytest.mark.parametrize("name", MODELS)
def test_as_many_parameters_as_torchvision_documents(name):
    assert sum(p.numel() for p in on_meta(name).parameters()) == architectures.PARAMETERS[name]


@pytest.mark.parametrize("name", MODELS)
def test_as_many_operations_as_torchvision_documents(name):
    flops = summary(on_meta(name), (1, 3, 224, 224)).total.flops
    assert flops / 2e9 == pytest.approx(architectures.MULTIPLY_ADDS[name], abs=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_scores_for_every_class(name):
    model = on_meta(name, num_classes=7)
    assert model(torch.empty(2, 3, 224, 224, device="meta")).shape == (2, 7)


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
@pytest.mark.parametrize("size", [(1, 1), (37, 53)])
def test_a_resnet_takes_images_of_any_size(name, size):
    assert on_meta(name)(torch.empty(2, 3, *size, device="meta")).shape == (2, 1000)


def test_stages_halve_the_image():
    model = on_meta("resnet50")
    x = model.maxpool(model.conv1(torch.empty(2, 3, 224, 224, device="meta")))
    shapes = [x.shape[1:]]
    for stage in (model.layer1, model.layer2, model.layer3, model.layer4):
        x = stage(x)
        shapes.append(x.shape[1:])
    assert shapes == [(64, 56, 56), (256, 56, 56), (512, 28, 28), (1024, 14, 14), (2048, 7, 7)]


# -- starting values ------------------------------------------------------------------------------------------------


def test_a_resnet_starts_with_hes_weights_for_the_outputs():
    model = models.resnet18()
    weight = model.layer2[0].conv1.weight
    assert weight.std().item() == pytest.approx((2 / (128 * 9)) ** 0.5, rel=0.02)


def test_zero_init_residual_makes_every_block_begin_as_its_shortcut():
    model = models.resnet18(zero_init_residual=True).eval()
    x = torch.rand(2, 64, 7, 5)
    assert torch.equal(model.layer1(x), x)


def test_a_vit_starts_with_equal_scores():
    scores = small_vit()(torch.randn(2, 3, 35, 35))
    assert scores.eq(0).all()


# -- weights --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def resnet():
    torch.manual_seed(3)
    model = models.resnet18(num_classes=7).eval()
    for name, buffer in model.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_()
    return model


@pytest.fixture(scope="module")
def images():
    return torch.randn(2, 3, 61, 67, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("kind", ["pth", "safetensors", "dict", "old pth", "path"])
def test_weights_load(kind, resnet, images, tmp_path):
    state = resnet.state_dict()
    file = tmp_path / ("weights.safetensors" if kind == "safetensors" else "weights.pth")
    if kind == "safetensors":
        save_file(state, file)
    elif kind == "old pth":  # torchvision's first files: a zip-less format, without num_batches_tracked
        old = OrderedDict((k, v) for k, v in state.items() if not k.endswith("num_batches_tracked"))
        torch.save(old, file, _use_new_zipfile_serialization=False)
    else:
        torch.save(state, file)
    weights = {"dict": state, "path": file}.get(kind, str(file))
    model = models.resnet18(weights=weights, num_classes=7).eval()
    assert torch.equal(model(images), resnet(images))


def test_weights_load_from_an_address_and_are_kept(resnet, images, tmp_path, monkeypatch):
    import functools
    import hashlib
    import http.server
    import threading

    torch.save(resnet.state_dict(), tmp_path / "weights.pth")
    digest = hashlib.sha256((tmp_path / "weights.pth").read_bytes()).hexdigest()[:8]
    (tmp_path / "weights.pth").rename(tmp_path / f"weights-{digest}.pth")
    (tmp_path / "weights-00000000.pth").write_bytes((tmp_path / f"weights-{digest}.pth").read_bytes())
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        model = models.resnet18(weights=f"{address}/weights-{digest}.pth", num_classes=7).eval()
        with pytest.raises(CheckpointError, match=r"weights-00000000\.pth is another file than its name says"):
            models.resnet18(weights=f"{address}/weights-00000000.pth", num_classes=7)
        server.shutdown()
    assert torch.equal(model(images), resnet(images))
    again = models.resnet18(weights=f"{address}/weights-{digest}.pth", num_classes=7).eval()
    assert torch.equal(again(images), resnet(images))


def test_a_vits_older_names_load():
    torch.manual_seed(3)
    model = small_vit().eval()
    torch.nn.init.normal_(model.heads.head.weight)
    older = {
        k.replace("mlp.0.", "mlp.linear_1.").replace("mlp.3.", "mlp.linear_2."): v
        for k, v in model.state_dict().items()
    }
    assert sum("linear_" in key for key in older) == 8
    again = small_vit().eval()
    again.load_state_dict(older)
    x = torch.randn(2, 3, 35, 35)
    assert torch.equal(again(x), model(x))
    assert not model(x).eq(0).any()


def test_every_published_name_is_loaded_and_nothing_else():
    state = {key: torch.zeros(shape) for key, shape in architectures.table("resnet18", 7).items()}
    del state["fc.bias"]
    state["layer1.0.conv3.weight"] = torch.zeros(2)
    state["conv1.weight"] = torch.zeros(64, 3, 3, 3)
    with pytest.raises(StateMismatch) as caught:
        models.resnet18(weights=state, num_classes=7)
    assert caught.value.missing == ("fc.bias",)
    assert caught.value.unexpected == ("layer1.0.conv3.weight",)
    assert caught.value.misshapen == {"conv1.weight": ((64, 3, 7, 7), (64, 3, 3, 3))}


def test_weights_for_other_classes_are_named():
    state = {key: torch.zeros(shape) for key, shape in architectures.table("resnet18", 11).items()}
    with pytest.raises(StateMismatch) as caught:
        models.resnet18(weights=state, num_classes=7)
    assert caught.value.misshapen == {"fc.weight": ((7, 512), (11, 512)), "fc.bias": ((7,), (11,))}


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.pth; name one by its path, such as"):
        models.resnet18(weights=tmp_path / "none.pth")


@pytest.mark.parametrize("name", ["broken.pth", "broken.safetensors"])
def test_a_broken_file(name, tmp_path):
    (tmp_path / name).write_bytes(b"not weights at all")
    with pytest.raises(CheckpointError, match=f"{name} can't be read as weights"):
        read_weights(tmp_path / name)


def test_a_file_with_code_in_it_is_refused_and_not_run(tmp_path):
    class Code:
        def __reduce__(self):
            return (open, (str(tmp_path / "it ran"), "w"))

    torch.save({"conv1.weight": Code()}, tmp_path / "weights.pth")
    with pytest.raises(CheckpointError, match="can't be read as weights"):
        read_weights(tmp_path / "weights.pth")
    assert not (tmp_path / "it ran").exists()


def test_a_training_checkpoint_is_not_weights(tmp_path):
    torch.save({"model": {"fc.bias": torch.zeros(2)}, "epoch": 3}, tmp_path / "checkpoint.pth")
    with pytest.raises(CheckpointError, match="holds 'model', 'epoch', not tensors by name") as caught:
        read_weights(tmp_path / "checkpoint.pth")
    assert "['model'], if that is the state dict" in caught.value.hint
    torch.save([1, 2], tmp_path / "list.pth")
    with pytest.raises(CheckpointError, match="holds a list, not tensors by name"):
        read_weights(tmp_path / "list.pth")


# -- behaviour ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("build", [lambda: models.resnet18(num_classes=7), small_vit], ids=["resnet18", "vit"])
def test_copies_compute_the_same(build, copied):
    model = build().eval()
    x = torch.randn(2, 3, 35, 35)
    assert torch.equal(copied(model)(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("build", [lambda: models.resnet18(num_classes=7), small_vit], ids=["resnet18", "vit"])
def test_compiled_without_a_graph_break_and_exported(build):
    model = build().eval()
    x = torch.randn(2, 3, 35, 35)
    assert torch.equal(torch.compile(model, fullgraph=True, backend="eager")(x), model(x))
    assert torch.allclose(torch.export.export(model, (x,)).module()(x), model(x), atol=1e-5)


def test_half_precision():
    model = models.resnet18(num_classes=7).to(torch.bfloat16).eval()
    assert model(torch.randn(2, 3, 35, 35, dtype=torch.bfloat16)).dtype == torch.bfloat16


def test_another_norm():
    model = models.resnet18(num_classes=7, norm_layer=lambda channels: torch.nn.GroupNorm(2, channels))
    assert isinstance(model.layer4[1].bn2, torch.nn.GroupNorm)
    assert model(torch.randn(2, 3, 35, 35)).shape == (2, 7)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda: ResNet(models.BasicBlock, [2, 2, 2]),
            "ResNet: layers=[2, 2, 2] has 3 stages, but there are 4: conv2_x to conv5_x",
        ),
        (
            lambda: ResNet(models.BasicBlock, [2, 0, 2, -1], 0),
            "ResNet: num_classes is 0, but it must be at least 1; layers[1] is 0, but it must be at least 1; "
            "layers[3] is -1, but it must be at least 1",
        ),
        (lambda: models.VGG([1, 1]), "VGG: layers=[1, 1] has 2 stages, but there are 5"),
        (lambda: models.vgg11(num_classes=-3), "VGG: num_classes is -3, but it must be at least 1"),
        (
            lambda: VisionTransformer(35, 8, 2, 4, 6, 11),
            "VisionTransformer: image_size=35 is not divisible by patch_size=8; "
            "hidden_dim=6 is not divisible by num_heads=4",
        ),
    ],
)
def test_what_cannot_be_built(build, text):
    with pytest.raises(ShapeMismatch) as caught:
        build()
    assert str(caught.value).partition("\n")[0] == text
    assert isinstance(caught.value, ValueError)


def test_images_of_a_wrong_size_or_dtype():
    with pytest.raises(ShapeMismatch, match=r"VisionTransformer\.forward: .*(37|35)"):
        small_vit()(torch.zeros(2, 3, 37, 37))
    with pytest.raises(ShapeMismatch, match=r"ResNet\.forward: dim 1 of x is 1, not 3"):
        on_meta("resnet18")(torch.empty(2, 1, 35, 35, device="meta"))
    with pytest.raises(TorchError, match=r"ResNet\.forward: x is UInt8, but should be Float"):
        on_meta("resnet18")(torch.empty(2, 3, 35, 35, device="meta", dtype=torch.uint8))
