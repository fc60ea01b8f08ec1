"""What the binding of a Triton kernel checks, on a machine without a GPU."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("triton", reason="Triton is for Linux")

from simpletorch.errors import BackendError
from simpletorch.kernels import triton
from simpletorch.kernels._triton import KERNELS
from tests.kernels import small_kernels
from tests.kernels.small_kernels import no_configs, scaled


def refusal(call, *arguments, **constants) -> str:
    with pytest.raises(BackendError) as caught:
        call(*arguments, **constants)
    return str(caught.value)


def test_a_kernel_is_known_by_its_name():
    assert KERNELS["tests.kernels.small_kernels.scaled_body"] is scaled
    assert repr(scaled) == "<Triton kernel scaled_body>"


def test_the_parameters_are_read_from_the_annotations():
    kinds = [(p.name, p.kind, p.optional) for p in scaled.signature.parameters]
    assert kinds == [
        ("x", "pointer", False),
        ("y", "pointer", True),
        ("n", "size", False),
        ("factor", "number", False),
        ("BLOCK", "constexpr", False),
    ]
    assert scaled.signature.powers == {"BLOCK"}


def test_on_the_cpu_it_says_that_it_needs_a_gpu():
    text = refusal(scaled, torch.ones(7), None, 7, 2.0, BLOCK=128)
    assert "scaled_body: a Triton kernel needs tensors on a GPU, and these are on the CPU" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            (torch.ones(7, dtype=torch.int64), None, 7, 2.0),
            "x has dtype int64, the kernel takes Float32, Float16, BFloat16",
        ),
        ((7, None, 7, 2.0), "x must be a tensor, not int"),
        ((None, None, 7, 2.0), "x must be a tensor, not None"),
        ((torch.ones(7), 3, 7, 2.0), "y must be a tensor, not int"),
        ((torch.ones(7), None, 7.0, 2.0), "n is a size, so an int, not float"),
        ((torch.ones(7), None, torch.ones(7), 2.0), "n is a size, so an int, not Tensor"),
        ((torch.ones(7), None, True, 2.0), "n is a size, so an int, not bool"),
        ((torch.ones(7), None, 7, "2"), "factor must be a number, not str"),
        ((torch.ones(7), None, 7), "scaled_body takes 4 arguments (x, y, n, factor), not 3"),
    ],
)
def test_a_wrong_argument(arguments, said):
    assert said in refusal(scaled, *arguments, BLOCK=128)


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ({"BLOCK": 100}, "BLOCK=100 is the length of a tl.arange, which must be a power of two"),
        ({"BLOCK": 0}, "BLOCK=0 is the length of a tl.arange, which must be a power of two"),
        ({"BLOCK": 1 << 21}, "BLOCK=2097152 is more than the 2**20 elements that Triton's blocks have at most"),
        ({"BLOCK": 128, "num_warps": 3}, "num_warps=3 must be 1, 2, 4, 8, 16 or 32"),
        ({"BLOK": 128}, "scaled_body has no constant BLOK"),
    ],
)
def test_a_wrong_constant(constants, said):
    assert said in refusal(scaled, torch.ones(7), None, 7, 2.0, **constants)


def test_a_constant_that_nobody_says():
    assert "BLOCK is neither passed nor in configs" in refusal(no_configs, torch.ones(3).long().to("meta"), 3, 1)


def test_a_parameter_without_annotation():
    bind = triton(grid=lambda given: (1,))
    assert "no_annotation: x has no annotation" in refusal(bind, small_kernels.no_annotation)
    assert "other_annotation: n has the annotation <class 'str'>" in refusal(bind, small_kernels.other_annotation)


def test_a_config_that_can_not_be():
    bind = triton(grid=lambda given: (1,), configs=[{"BLOCK": 96}])
    assert "BLOCK=96 is the length of a tl.arange" in refusal(bind, small_kernels.scaled_body)


def test_a_grid_without_programs_launches_nothing():
    scaled.launch((torch.ones(0), None, 0, 2.0), {"BLOCK": 128})


def test_the_compiler_s_words_in_one_sentence():
    text = refusal(scaled.launch, (torch.ones(7), None, 7, 2.0), {"BLOCK": 128})
    assert text.startswith("scaled_body: Triton finds no driver of a GPU on this machine")
    assert "\n\n" not in text
