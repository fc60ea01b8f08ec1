"""Compare an artefact with the model on the same inputs; an unequal one isn't kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import torch

from simpletorch.errors import BackendError, TorchError
from simpletorch.export._call import Call
from simpletorch.export._report import Comparison
from simpletorch.export._runners import Runner
from simpletorch.export._signature import leaves
from simpletorch.export._sizes import Point, size_text

__all__ = ["Refusal", "compare", "compared"]

_SEED: Final = 20_021
# of the largest number of a result, or of 1 if that is smaller
_TOLERANCES: Final[Mapping[torch.dtype, float]] = {torch.float64: 1e-7, torch.float16: 1e-2, torch.bfloat16: 4e-2}
_TOLERANCE: Final = 1e-5
_ROUNDING: Final = 9  # times the tolerance, which is as much as a model's own rounding counts


class Refusal(BackendError):
    """The artefact doesn't run at sizes at which the model does: ``sizes`` says which."""

    _kind: ClassVar = BackendError  # for users it is one

    def __init__(self, reason: str, sizes: Point) -> None:
        super().__init__(reason, operation="export")
        self.sizes = sizes


def compare(call: Call, run: Runner, points: Sequence[Point], kind: str, tolerance: float | None) -> list[Comparison]:
    """Run the artefact and the model at every point.

    Raises:
        Refusal: the artefact doesn't run at one.
        BackendError: it gives something else than the model.
    """
    return [compared(call, run, point, kind, tolerance) for point in points]


def compared(call: Call, run: Runner, point: Point, kind: str, tolerance: float | None) -> Comparison:
    """The difference at one point; see `compare`."""
    tensors = call.tensors(point)
    assert tensors is not None, "the model ran at these sizes"
    with torch.random.fork_rng(devices=[]):
        wanted = _given(call, tensors, _SEED)
        torch.manual_seed(_SEED)
        try:
            with call.buffers.kept():  # which a program shares with the model it was made from
                found = run([t.clone() for t in tensors])
        except Exception as error:  # what runs an artefact raises anything
            # not where it is: the file that is verified is a temporary one
            said = error.reason if isinstance(error, TorchError) else str(error)
            lines = [line.strip() for line in said.splitlines() if line.strip()]
            raise Refusal(
                f"the {kind} artefact fails at {size_text(point) or 'its sizes'}, where the model runs: "
                f"{lines[0][:300] if lines else type(error).__name__}",
                point,
            ) from error
    differences = _differences(wanted, found, point, kind)
    allowed = [_allowed(w, tolerance) for w in wanted]
    own: list[float] | None = None
    if _wrong(differences, allowed) is not None and tolerance is None:
        own = _rounding(call, tensors, wanted)
        # no more of it than would still be rounding
        allowed = [a + min(r, _ROUNDING * a) for a, r in zip(allowed, own or [0.0] * len(allowed), strict=True)]
    wrong = _wrong(differences, allowed)
    if wrong is not None:
        reason, hint = _cause(call, _is_random(call, tensors, wanted))
        raise BackendError(
            f"the {kind} artefact differs from the model by {differences[wrong]:.1e} at "
            f"{size_text(point) or 'its sizes'}, and {allowed[wrong]:.1e} is allowed{reason}",
            operation="export",
            hint=hint,
        )
    return Comparison(dict(point), max(differences, default=0.0), None if own is None else max(own))


def _wrong(differences: Sequence[float], allowed: Sequence[float]) -> int | None:
    """The first tensor that differs by more than it may; a difference that isn't a number is never less or equal."""
    return next((i for i, (d, a) in enumerate(zip(differences, allowed, strict=True)) if not d <= a), None)


def _rounding(call: Call, tensors: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> list[float] | None:
    """How far the model itself is from what it gives in float64, for each tensor; None if that can't be had.

    Deep networks in float32 differ by more than the tolerance with the order in which a layer adds up, which is
    another one in each format, and with the layout of the memory.
    """
    if any(w.dtype != torch.float32 for w in wanted if w.is_floating_point() or w.is_complex()):
        return None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        output = call.precise([t.clone() for t in tensors])
    precise = leaves(output)
    if [t.shape for t in precise] != [t.shape for t in wanted]:
        return None
    found = [_difference(a, b) for a, b in zip(wanted, precise, strict=True)]
    return found if all(map(math.isfinite, found)) else None


def _cause(call: Call, random: bool) -> tuple[str, str]:
    """Why an artefact may differ from the model, and a remedy."""
    if random:
        hint = "give the random numbers as an input, or draw none in eval mode: F.dropout(x, p, training=self.training)"
        return ": the model draws random numbers", hint
    if call.buffers.changed:
        return (
            f": the model changes its {', '.join(sorted(call.buffers.changed))} at each call, and gives something else "
            "at the next",
            "make the remembered values inputs and results of forward",
        )
    return "", "a larger difference is allowed by tolerance=1e-3, if it is right for this model"


def _is_random(call: Call, tensors: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> bool:
    """Whether the model gives something else another time; of few elements two draws may be the same."""
    with torch.random.fork_rng(devices=[]):
        # the first seed once more: not all that is random comes from torch's generator
        return any(_unequal(wanted, _given(call, tensors, seed)) for seed in range(_SEED, _SEED + 12))


def _given(call: Call, tensors: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """The model's results for these inputs."""
    torch.manual_seed(seed)
    return leaves(call.eager([t.clone() for t in tensors]))


def _allowed(wanted: torch.Tensor, tolerance: float | None) -> float:
    if not (wanted.dtype.is_floating_point or wanted.dtype.is_complex):
        return 0.0
    relative = _TOLERANCES.get(wanted.dtype, _TOLERANCE) if tolerance is None else tolerance
    finite = wanted.abs().double()
    finite = finite[finite.isfinite()]
    return relative * max(1.0, float(finite.max()) if finite.numel() else 0.0)


def _unequal(a: Sequence[torch.Tensor], b: Sequence[torch.Tensor]) -> bool:
    return any(not torch.equal(x.nan_to_num(), y.nan_to_num()) for x, y in zip(a, b, strict=True))


def _differences(wanted: Sequence[torch.Tensor], found: Sequence[Any], point: Point, kind: str) -> list[float]:
    """The greatest difference of an element, for each tensor; not a number where one of the two isn't a number.

    Raises:
        BackendError: there are other tensors than the model gives.
    """
    shapes = [(tuple(t.shape), t.dtype) for t in wanted]
    got = [(tuple(t.shape), t.dtype) for t in found]
    if shapes != got:
        raise BackendError(
            f"the {kind} artefact gives {_listed(got)} at {size_text(point) or 'its sizes'}, but the model "
            f"{_listed(shapes)}",
            operation="export",
        )
    return [_difference(a, b) for a, b in zip(wanted, found, strict=True)]


def _difference(a: torch.Tensor, b: torch.Tensor) -> float:
    wide = torch.complex128 if a.dtype.is_complex else torch.float64
    x, y = a.detach().cpu().to(wide), b.detach().cpu().to(wide)
    same = (x == y) | (x.isnan() & y.isnan())
    away = (x - y).abs()[~same]
    return float(away.max()) if away.numel() else 0.0


def _listed(found: Sequence[tuple[tuple[int, ...], torch.dtype]]) -> str:
    return ", ".join(f"{str(dtype).removeprefix('torch.')}{list(shape)}" for shape, dtype in found) or "nothing"
