"""Fourier transforms against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import BFLOAT16, BY_NAME, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, N, T, case, differs

x = torch.ones(3, 5, 7)
c = torch.ones(3, 5, 7, dtype=torch.complex64)
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO = ("fft2", "rfft2", "irfft2", "ihfft2")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        *(case(f"torch.fft.{n}", d) for n in (*ONE, *TWO, *MANY) for d in (x, c, x.double(), x.long(), x.bfloat16())),
        *(case(f"torch.fft.{n}", x, 11, 0) for n in ONE),
        *(case(f"torch.fft.{n}", x, a) for n in ("fft", "rfft") for a in (0, -2)),
        *(case(f"torch.fft.{n}", x, None, 3) for n in ("fft", "irfft")),
        *(case(f"torch.fft.{n}", x, (11, 13)) for n in (*TWO, *MANY)),
        *(case(f"torch.fft.{n}", x, (11, -1), (0, 1)) for n in (*TWO, *MANY)),
        *(case(f"torch.fft.{n}", x, (11,), (0, 1)) for n in (*TWO, *MANY)),
        *(case(f"torch.fft.{n}", x, dim=d) for n in (*TWO, *MANY) for d in ((0, 0), (), 1)),
        *(case(f"torch.fft.{n}", x[0, 0]) for n in (*TWO, *MANY)),
        case("torch.fft.fft", torch.tensor(2.0)),
        case("torch.fft.irfft", x[:, :, :1]),
        case("torch.fft.fftn", x, (2, 3, 5, 7)),
        case("torch.fft.fftshift", x.long(), (0, 1)),
        case("torch.fft.ifftshift", x, 3),
        case("torch.fft.fftfreq", 7),
        case("torch.fft.rfftfreq", 8, 0.5, dtype=torch.float64),
        case("torch.stft", x[0].repeat(1, 16), 16, return_complex=True),
        case("torch.stft", x[0].repeat(1, 16), 16, 5, window=torch.ones(16), center=False, return_complex=True),
        case("torch.stft", x[0].repeat(1, 16), 15, onesided=False, return_complex=True),
        case("torch.stft", x[0].repeat(1, 16), 16, return_complex=False),
        case("torch.stft", x[0].repeat(1, 16), 16),
        case("torch.stft", x.repeat(1, 1, 16), 16, return_complex=True),
        case("torch.stft", x[0].repeat(1, 16), 16, window=torch.ones(8), return_complex=True),
        case("torch.istft", torch.ones(3, 9, 26, dtype=torch.complex64), 16, window=torch.ones(16)),
        case("torch.istft", torch.ones(9, 26, dtype=torch.complex128), 16, 5, length=77),
        case("torch.istft", torch.ones(8, 26, dtype=torch.complex64), 16),
        case("torch.istft", torch.ones(9, 26), 16),
    ],
)
def test_agrees_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    judgement = oracle.examine(name, args, kwargs)
    assert judgement.verdict in GOOD, judgement


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        case("torch.fft.rfft", tensor(B, N, dtype=FLOAT32)),
        case("torch.fft.irfft", tensor(B, N, dtype=COMPLEX64)),
        case("torch.fft.irfft", tensor(B, N // 2 + 1, dtype=COMPLEX64), N),
        case("torch.fft.rfft2", tensor(B, T, 2 * N, dtype=FLOAT32)),
        case("torch.fft.fftn", tensor(B, T, N, dtype=FLOAT64), (T, 2 * N)),
        case("torch.fft.fftfreq", N),
    ],
)
def test_symbols_agree_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert differs(name, *args, **kwargs) == ""


def test_there_and_back_is_the_same_size() -> None:
    there = infer("torch.fft.rfft", (tensor(B, 2 * N, dtype=FLOAT32),))
    assert there == tensor(B, N + 1, dtype=COMPLEX64)
    assert infer("torch.fft.irfft", (there,)) == tensor(B, 2 * N, dtype=FLOAT32)


def test_what_is_known_is_kept() -> None:
    assert infer("torch.fft.rfft", (tensor(ANY_REST, 8, dtype=FLOAT64),)) == tensor(ANY_REST, 5, dtype=COMPLEX128)
    assert infer("torch.fft.fft2", (tensor(ANY_REST),)) == tensor(ANY_REST, UNKNOWN, UNKNOWN)
    assert infer("torch.fft.fft", (tensor(3, 5), ANYTHING)) == tensor(3, UNKNOWN)
    assert infer("torch.fft.fft", (tensor(3, 5), None, UNKNOWN)) == tensor(UNKNOWN, UNKNOWN)
    assert infer("torch.fft.fft", (tensor(3, dtype=BY_NAME["Float"]),)) == TensorType(Shape.of(3))


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        (
            "torch.fft.rfft",
            (tensor(3, dtype=COMPLEX64),),
            "rfft: input is Complex64, but it must be real [input: Complex64[3]]",
        ),
        (
            "torch.fft.fft",
            (tensor(3, dtype=BFLOAT16),),
            "fft: input is BFloat16, which can't be transformed [input: BFloat16[3]]",
        ),
        (
            "torch.fft.fft2",
            (tensor(3, 5, dtype=FLOAT32), (2, 3), (0,)),
            "fft2: s has 2 sizes, but dim names 1 dims [input: Float32[3, 5]]",
        ),
    ],
)
def test_message(name: str, args: tuple[Any, ...], text: str) -> None:
    report = infer(name, args)
    assert isinstance(report, Report)
    assert report.text == text
