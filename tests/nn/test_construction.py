"""Building torch's modules through our face: what they can't be built from is one clear error."""

import pytest
import torch

from simpletorch import nn
from simpletorch.errors import ShapeMismatch, TorchError, TypeMismatch


@pytest.mark.parametrize(
    ("build", "text", "also"),
    [
        (lambda: nn.Linear(-3, 5), "Linear: in_features is -3, but it must be at least 0", RuntimeError),
        (lambda: nn.Linear(3, out_features=-5), "Linear: out_features is -5, but it must be at least 0", RuntimeError),
        (lambda: nn.Conv2d(-3, 5, 3), "Conv2d: in_channels is -3, but it must be at least 0", RuntimeError),
        (lambda: nn.BatchNorm2d(-3), "BatchNorm2d: num_features is -3, but it must be at least 0", RuntimeError),
        (lambda: nn.Embedding(7, -3), "Embedding: embedding_dim is -3, but it must be at least 0", RuntimeError),
        (lambda: nn.LSTM(0, 3), "LSTM: input_size is 0, but it must be at least 1", ValueError),
        (
            lambda: nn.MultiheadAttention(10, 3),
            "MultiheadAttention: embed_dim is 10, which is not divisible by num_heads=3",
            AssertionError,
        ),
        (
            lambda: nn.TransformerEncoderLayer(10, 3),
            "TransformerEncoderLayer: d_model is 10, which is not divisible by nhead=3",
            AssertionError,
        ),
        (
            lambda: nn.GroupNorm(3, 10),
            "GroupNorm: num_channels is 10, which is not divisible by num_groups=3",
            ValueError,
        ),
        (lambda: nn.Dropout(2.0), "Dropout: p is 2.0, but it must be a probability", ValueError),
        (
            lambda: nn.Conv2d(8, 10, 3, groups=5),
            "Conv2d: in_channels is 8, which is not divisible by groups=5",
            ValueError,
        ),
        (
            lambda: nn.Conv1d(8, 7, 3, groups=4),
            "Conv1d: out_channels is 7, which is not divisible by groups=4",
            ValueError,
        ),
    ],
)
def test_what_torch_refuses_is_said_with_the_numbers_as_the_static_check_says_it(build, text, also):
    with pytest.raises(ShapeMismatch) as caught:
        build()
    assert str(caught.value).partition("\n")[0] == text
    assert isinstance(caught.value, also)
    assert isinstance(caught.value.__cause__, also)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: nn.Linear(0, 5), "in_features"),
        (lambda: nn.Linear(5, 0), "out_features"),
        (lambda: nn.Bilinear(3, 0, 5), "in2_features"),
        (lambda: nn.Conv2d(0, 5, 3), "in_channels"),
        (lambda: nn.ConvTranspose1d(3, 0, 3), "out_channels"),
        (lambda: nn.BatchNorm1d(0), "num_features"),
        (lambda: nn.Embedding(7, 0), "embedding_dim"),
        (lambda: nn.GRUCell(3, 0), "hidden_size"),
        (lambda: nn.PReLU(0), "num_parameters"),
    ],
)
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_a_layer_without_features_is_refused(build, name):
    with pytest.raises(ShapeMismatch) as caught:
        build()
    kind = caught.value.operation
    assert caught.value.reason == f"{name} is 0, but it must be at least 1"
    assert caught.value.hint == f"a division may have made it; if it is meant, torch.nn.{kind} allows it"
    assert isinstance(caught.value, ValueError)


def test_one_empty_dim_of_several():
    with pytest.raises(ShapeMismatch, match=r"LayerNorm: normalized_shape is \(3, 0\), but it must be at least 1"):
        nn.LayerNorm([3, 0])


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_torchs_own_classes_stay_torchs():
    assert torch.nn.Linear(0, 5).in_features == 0
    with pytest.raises(RuntimeError, match="negative dimension") as caught:
        torch.nn.Linear(-3, 5)
    assert not isinstance(caught.value, TorchError)


@pytest.mark.parametrize("size", [3.0, "3"])
def test_a_size_is_an_int(size):
    with pytest.raises(TypeMismatch, match=rf"Linear: in_features is the \w+ {size!r}, not an int") as caught:
        nn.Linear(size, 5)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: nn.Linear(3), TypeError, "missing 1 required positional argument: 'out_features'"),
        (lambda: nn.ModuleDict([3]), TypeError, "cannot convert|must be|should be|not iterable"),
    ],
)
def test_what_no_rule_knows_is_torchs_message(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize(
    ("layer", "given", "message"),
    [
        (
            lambda: nn.Conv2d(3, 5, 7),
            (2, 3, 4, 11),
            "the kernel spans 7 x 7, but the padded input is only 4 x 11",
        ),
        (
            lambda: nn.Conv1d(3, 5, 7, padding=1),
            (2, 3, 4),
            "the kernel spans 7, but the padded input is only 6",
        ),
        (lambda: nn.MaxPool2d(5), (2, 3, 4, 11), "the window spans 5, but the padded input is only 4"),
    ],
)
def test_a_kernel_larger_than_the_padded_input(layer, given, message):
    model = nn.Sequential(layer())
    with pytest.raises(TorchError, match=message) as caught:
        model(torch.zeros(given))
    assert caught.value.module_path == "model.0"


def test_a_misfit_between_stages_names_both():
    model = nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(3, 2))
    with pytest.raises(ShapeMismatch) as caught:
        model(torch.zeros(11, 7))
    assert caught.value.module_path == "model.2"
    assert "the last dim of input is 5, but the layer takes 3 features" in str(caught.value)


LAZY = sorted(name for name in dir(torch.nn) if name.startswith("Lazy"))


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_layer_is_made_and_gives_what_torchs_gives(name: str):
    dims = int(name[-2]) if name.endswith("d") else 0
    args = () if "Norm" in name else (7, 3) if "Conv" in name else (7,)
    x = torch.randn(2, 5, *(11,) * dims)
    torch.manual_seed(3)
    theirs = getattr(torch.nn, name)(*args)
    expected = theirs(x)
    torch.manual_seed(3)
    ours = getattr(nn, name)(*args)
    assert torch.equal(ours(x), expected)


def test_a_lazy_layer_of_no_outputs_is_refused():
    with pytest.raises(ShapeMismatch, match="out_features is 0"):
        nn.LazyLinear(0)
