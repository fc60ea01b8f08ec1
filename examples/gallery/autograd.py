"""Autograd: derivatives of plain functions, of any order, and one of one's own.

A damped oscillation is fitted to noisy measurements, first by gradient descent, then by Newton's method with the
Hessian, which needs a few steps only. `Clip` is an operation whose derivative is written by hand. S are samples.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import torch

from simpletorch import Float32, Tensor, seed_everything
from simpletorch.dims import S

TRUE = torch.tensor([1.5, 0.4, 3.0])  # amplitude, damping, frequency
START = torch.tensor([1.0, 0.1, 2.8])


def oscillation(parameters: Tensor[Float32, 3], time: Tensor[Float32, S]) -> Tensor[Float32, S]:
    """How far out it is at each time."""
    amplitude, damping, frequency = parameters.unbind()
    return amplitude * torch.exp(-damping * time) * torch.cos(frequency * time)


class Clip(torch.autograd.Function):
    """Values within ±1; the gradient goes through as if they had not been clipped ("straight through")."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """The clipped values."""
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
        """The gradient as it came."""
        (grad,) = grads  # one for each result
        return grad


def descend(time: Tensor[Float32, S], measured: Tensor[Float32, S], steps: int) -> list[float]:
    """The error before each step of gradient descent."""
    parameters = START.clone().requires_grad_()
    errors = []
    for _ in range(steps):
        error = (oscillation(parameters, time) - measured).square().mean()
        (slope,) = torch.autograd.grad(error, parameters)
        with torch.no_grad():
            parameters -= 0.3 * slope
        errors.append(error.item())
    return errors


def newton(time: Tensor[Float32, S], measured: Tensor[Float32, S], steps: int) -> list[float]:
    """The error before each step of Newton's method: the slope, over the curvature."""

    def error(parameters: Tensor[Float32, 3]) -> Tensor[Float32, ""]:
        return (oscillation(parameters, time) - measured).square().mean()

    parameters = START.clone()
    errors = []
    for _ in range(steps):
        errors.append(error(parameters).item())
        slope = torch.func.grad(error)(parameters)
        curvature = torch.func.jacrev(torch.func.grad(error))(parameters)
        values, vectors = torch.linalg.eigh(curvature)  # downhill also where the curvature is negative
        parameters = parameters - vectors @ ((vectors.T @ slope) / values.abs().clamp(min=0.05))
    print("found amplitude, damping, frequency:", [round(value, 2) for value in parameters.tolist()])
    return errors


def draw(curves: dict[str, list[float]], file: Path) -> None:
    """The error by steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    for name, errors in curves.items():
        axes.semilogy(errors, label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("squared error")
    axes.legend()
    figure.savefig(file, dpi=100)


def main(quick: bool = False, picture: Path | None = None) -> dict[str, float]:
    """The last error of both methods, and the gradient of the clipped value."""
    seed_everything(0)
    time = torch.linspace(0, 6, 200)
    measured = oscillation(TRUE, time) + 0.05 * torch.randn(200)
    down, jumps = descend(time, measured, 40 if quick else 300), newton(time, measured, 12)
    for name, errors in {"gradient descent": down, "Newton": jumps}.items():
        print(f"{name:16} error {errors[0]:.4f} at first, {errors[-1]:.4f} after {len(errors)} steps")

    x = torch.tensor([0.5, 3.0], requires_grad=True)
    clipped: torch.Tensor = Clip.apply(x)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    clipped.square().sum().backward()
    assert x.grad is not None
    print(f"clipped values {clipped.tolist()}, gradients of their squares {x.grad.tolist()}")
    if picture is not None:
        draw({"gradient descent": down, "Newton": jumps}, picture)
    return {"first": down[0], "descent": down[-1], "newton": jumps[-1], "gradient": x.grad[1].item()}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
