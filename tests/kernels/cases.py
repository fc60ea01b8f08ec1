"""The shipped operators with inputs: what `interpreted_kernels.py` and `test_on_gpu.py` compare with float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from simpletorch.kernels.shipped.cross_entropy import cross_entropy
from simpletorch.kernels.shipped.dropout_add import dropout_add
from simpletorch.kernels.shipped.gated import geglu, geglu_packed, swiglu, swiglu_packed
from simpletorch.kernels.shipped.layer_norm import layer_norm
from simpletorch.kernels.shipped.linear_cross_entropy import linear_cross_entropy
from simpletorch.kernels.shipped.relu_add import relu_add
from simpletorch.kernels.shipped.rms_norm import add_rms_norm, rms_norm
from simpletorch.kernels.shipped.rotary import rotary
from simpletorch.kernels.shipped.softmax import softmax

Make = Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A call: tensors of floats from ``make`` are leaves that need a gradient, except those named in ``constant``."""

    name: str
    call: Callable[..., Any]
    make: Make
    constant: tuple[int, ...] = ()
    # errors that the operator makes by computing in the dtype itself, as a multiple of what rounding explains
    slack: float = 1.0

    def __repr__(self) -> str:
        return self.name


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64)


def classes(rows: int, count: int) -> torch.Tensor:
    targets = torch.randint(count, (rows,))
    targets[:: max(2, rows // 3)] = -100
    return targets


def spread(x: torch.Tensor) -> torch.Tensor:
    """The same values, with strides that are neither contiguous nor dense."""
    room = x.new_zeros(*x.shape[:-1], 2 * x.shape[-1] + 3)
    room[..., : x.shape[-1]] = x
    return room[..., : x.shape[-1]]


def angles(tokens: int, half: int) -> tuple[torch.Tensor, torch.Tensor]:
    turn = torch.arange(tokens, dtype=torch.float64)[:, None] / 10.0 ** torch.arange(half, dtype=torch.float64)
    return turn.cos(), turn.sin()


def rotated(paired: bool) -> Callable[..., torch.Tensor]:
    return lambda x, cos, sin: rotary(x, cos, sin, paired)


def cases(scale: int = 1) -> list[Case]:
    """Odd sizes; ``scale`` multiplies the number of rows."""
    r = scale
    return [
        Case("relu_add", relu_add, lambda: (normal(7 * r, 613), normal(7 * r, 613))),
        Case("relu_add apart", relu_add, lambda: (spread(normal(7 * r, 613)), normal(613, 7 * r).T)),
        Case("relu_add empty", relu_add, lambda: (normal(0, 5), normal(0, 5))),
        Case("relu_add 0-d", relu_add, lambda: (normal(), normal())),
        Case("softmax short", lambda x: softmax(x, 0.7), lambda: (normal(29 * r, 3, 5),)),
        Case("softmax", softmax, lambda: (normal(5 * r, 1031),)),
        Case("softmax apart", softmax, lambda: (spread(normal(3 * r, 2, 257)),)),
        Case("softmax one", softmax, lambda: (normal(3, 1),)),
        Case("softmax long", lambda x: softmax(x, 0.3), lambda: (normal(2 * r, 33013),)),
        Case("softmax empty", softmax, lambda: (normal(0, 7),)),
        Case("layer_norm", layer_norm, lambda: (normal(5 * r, 1031) + 3, normal(1031), normal(1031))),
        Case(
            "layer_norm far from 0",
            layer_norm,
            lambda: (normal(5 * r, 131) + 1000, normal(131), normal(131)),
            slack=16.0,  # float32 has steps of 6e-5 at 1000
        ),
        Case("layer_norm short", layer_norm, lambda: (normal(31 * r, 2, 13), normal(13), normal(13))),
        Case("layer_norm no bias", lambda x, w: layer_norm(x, w), lambda: (spread(normal(7 * r, 2053)), normal(2053))),
        Case("layer_norm of a longer row", layer_norm, lambda: (normal(3 * r, 9001), normal(9001), normal(9001))),
        Case("layer_norm empty", layer_norm, lambda: (normal(0, 13), normal(13), normal(13))),
        Case("rms_norm", rms_norm, lambda: (normal(5 * r, 1031), normal(1031))),
        Case("rms_norm short", rms_norm, lambda: (spread(normal(131 * r, 19)), normal(19))),
        Case("add_rms_norm", add_rms_norm, lambda: (normal(5 * r, 1031), spread(normal(5 * r, 1031)), normal(1031))),
        Case(
            "add_rms_norm sum unused", lambda *a: add_rms_norm(*a)[0], lambda: (normal(3, 7), normal(3, 7), normal(7))
        ),
        Case("swiglu", swiglu, lambda: (normal(3 * r, 7, 617), normal(3 * r, 7, 617))),
        Case("swiglu packed", lambda x: swiglu(*x.chunk(2, -1)), lambda: (normal(11 * r, 2 * 2053),)),
        Case("swiglu_packed", swiglu_packed, lambda: (normal(11 * r, 2, 2 * 617),)),
        Case("geglu_packed", geglu_packed, lambda: (spread(normal(11 * r, 2 * 2053)),)),
        Case("geglu_packed tanh", lambda x: geglu_packed(x, True), lambda: (normal(3, 2 * 5),)),
        Case("geglu", geglu, lambda: (normal(3 * r, 617), normal(3 * r, 617))),
        Case(
            "geglu tanh", lambda x, y: geglu(x, y, True), lambda: (4 * normal(3 * r, 617), spread(normal(3 * r, 617)))
        ),
        Case("geglu empty", geglu, lambda: (normal(3, 0), normal(3, 0))),
        Case("rotary", rotated(False), lambda: (normal(2 * r, 5, 3, 26), *angles(5, 13)), (1, 2)),
        Case("rotary paired", rotated(True), lambda: (normal(2 * r, 5, 3, 26), *angles(5, 13)), (1, 2)),
        Case(
            "rotary packed",
            lambda x, c, s: rotary(x.unflatten(2, (3, 7, 64))[:, :, 1], c, s),
            lambda: (normal(2 * r, 5, 3 * 7 * 64), *angles(5, 32)),
            (1, 2),
        ),
        Case("cross_entropy", cross_entropy, lambda: (normal(11 * r, 5003), classes(11 * r, 5003))),
        Case(
            "cross_entropy smooth z",
            lambda x, t: cross_entropy(x, t, label_smoothing=0.1, z_loss=1e-2),
            lambda: (spread(normal(7 * r, 131)), classes(7 * r, 131)),
        ),
        Case(
            "linear_cross_entropy",
            linear_cross_entropy,
            lambda: (normal(67 * r, 37), 0.3 * normal(131, 37), classes(67 * r, 131)),
            slack=8.0,
        ),
        Case(
            "linear_cross_entropy smooth",
            lambda h, w, t: linear_cross_entropy(h, w, t, label_smoothing=0.1),
            lambda: (normal(67 * r, 37), 0.3 * normal(131, 37), classes(67 * r, 131)),
            slack=8.0,
        ),
        Case(
            "dropout_add",
            lambda x, y: dropout_add(x, y, 0.3, seed=11),
            lambda: (normal(3 * r, 4099), normal(3 * r, 4099)),
        ),
        Case("dropout_add all", lambda x, y: dropout_add(x, y, 1.0, seed=11), lambda: (normal(7, 3), normal(7, 3))),
    ]


def outputs(result: Any) -> tuple[torch.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)


def run(
    case: Case, given: tuple[Any, ...], weights: list[torch.Tensor]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Results and gradients of a call; ``weights`` are the gradients of the results."""
    leaves = [
        x.detach().requires_grad_() if x.is_floating_point() and i not in case.constant else x
        for i, x in enumerate(given)
    ]
    results = list(outputs(case.call(*leaves)))
    wanted = [x for x in leaves if x.requires_grad]
    grads = torch.autograd.grad(results, wanted, [w.to(y) for w, y in zip(weights, results, strict=True)])
    return [result.detach() for result in results], list(grads)


def check(case: Case, dtype: torch.dtype, device: str) -> None:
    """The call in ``dtype`` on ``device`` gives what float64 on the CPU gives, but for rounding; gradients too."""
    torch.manual_seed(17)
    # rounded to dtype first, so that both start from the same numbers
    low = tuple(x.to(dtype) if x.is_floating_point() else x for x in case.make())
    exact = tuple(x.double() if x.is_floating_point() else x for x in low)
    weights = [torch.randn(y.shape, dtype=torch.float64).to(dtype).double() for y in outputs(case.call(*exact))]
    right, right_grads = run(case, exact, weights)
    got, got_grads = run(case, tuple(_moved(x, device) for x in low), weights)
    names = [f"result {i}" for i in range(len(right))] + [f"gradient {i}" for i in range(len(right_grads))]
    for name, a, b in zip(names, [*got, *got_grads], [*right, *right_grads], strict=True):
        assert a.shape == b.shape, f"{case.name}: {name} has shape {tuple(a.shape)}, not {tuple(b.shape)}"
        if not b.numel():
            continue
        step = max(torch.finfo(dtype).eps, 2e-6)
        size = b.abs().max().clamp(min=1e-3).item()
        error = (a.double().cpu() - b).abs().max().item()
        assert error <= 4 * case.slack * step * size, f"{case.name}: {name} is off by {error:.3g} of {size:.3g}"


def _moved(x: torch.Tensor, device: str) -> torch.Tensor:
    """On the device with the strides that it has here."""
    moved = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
    return moved.copy_(x)
