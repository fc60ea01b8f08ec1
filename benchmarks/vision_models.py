"""`simpletorch.vision.models` beside torchvision's and timm's own models: the same names, shapes and outputs.

    python -m benchmarks.vision_models [--write] [--only swin_t resnet18]

torchvision's wheel is fetched from the package index (``pip download --no-deps``) and read, not installed: its models
are Python files, and run beside any torch once the package's own ``__init__``, which loads compiled operators, is left
out. Each model is built twice on the meta device: names, order, shapes and dtypes of the state dicts must be equal, and
the addresses of the weights. Then both are built with the same random weights and must give the same for images of
three sizes, and in training after the same seed, to 1e-5 of the largest value (in ``--only`` or by default the smallest
of each family). timm's models
are read in the same way: their state dicts must come back through `from_timm` and `to_timm` as they were, and give the
same outputs in ours. ``--write`` keeps a digest of each state dict in tests/vision/digests.json, and puts the table
into docs/models.md. The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.machinery
import json
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from benchmarks.found import unpacked
from simpletorch.vision import models
from simpletorch.vision.models._published import ADDRESS, PUBLISHED

TORCHVISION: Final = "0.29.1"
TIMM: Final = "1.0.31"
DIGESTS: Final = Path(__file__).parents[1] / "tests/vision/digests.json"
PAGE: Final = Path(__file__).parents[1] / "docs/models.md"
BEGIN, END = "<!-- table: python -m benchmarks.vision_models --write -->", "<!-- end of the table -->"
SIZES: Final = ((64, 64), (61, 101), (37, 47))
MODELS: Final = (
    *(f"resnet{n}" for n in (18, 34, 50, 101, 152)),
    *(f"vgg{n}{norm}" for n in (11, 13, 16, 19) for norm in ("", "_bn")),
    "vit_b_16",
    *(f"convnext_{size}" for size in ("tiny", "small", "base", "large")),
    *(f"efficientnet_b{i}" for i in range(8)),
    "mobilenet_v3_large",
    "mobilenet_v3_small",
    *(f"swin_{size}" for size in "tsb"),
)
RUN: Final = (
    "resnet18",
    "resnet50",
    "vgg11",
    "vit_b_16",
    "convnext_tiny",
    "efficientnet_b0",
    "efficientnet_b5",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
    "swin_t",
)
"""One model of each kind: those beside it differ in their tables alone."""

OF_TIMM: Final = {
    **{name: name for name in MODELS if name.startswith(("resnet", "convnext", "efficientnet"))},
    "vit_b_16": "vit_base_patch16_224",
    "mobilenet_v3_large": "mobilenetv3_large_100",
    "mobilenet_v3_small": "mobilenetv3_small_100",
    **{f"swin_{size[0]}": f"swin_{size}_patch4_window7_224" for size in ("tiny", "small", "base")},
}
"""What timm calls them."""


def torchvision_models() -> Any:
    """torchvision's ``models``, without the package around it."""
    folder = unpacked("torchvision", TORCHVISION)
    stand_in = types.ModuleType("torchvision")
    stand_in.__path__ = [str(folder / "torchvision")]
    stand_in.__spec__ = importlib.machinery.ModuleSpec("torchvision", None, is_package=True)
    stand_in.__version__ = TORCHVISION  # type: ignore[attr-defined]
    sys.modules["torchvision"] = stand_in
    return importlib.import_module("torchvision.models")


def timm() -> Any:
    """timm, which needs torchvision's stand-in."""
    sys.path.append(str(unpacked("timm", TIMM)))
    return importlib.import_module("timm")


def entries(state: Mapping[str, torch.Tensor]) -> list[str]:
    """Name, shape and dtype of all that is in a state dict."""
    return [f"{key} {list(value.shape)} {value.dtype}" for key, value in state.items()]


def digest(state: Mapping[str, torch.Tensor]) -> Mapping[str, Any]:
    """What the tests keep of a state dict of torchvision's, or of timm's in alphabetical order."""
    lines = entries(state)
    return {"entries": len(lines), "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest()}


def addresses(library: Any, name: str) -> Mapping[str, str]:
    """Where torchvision's weights for a model are, the default ones first."""
    weights = library.get_model_weights(name)
    return {each.name: each.url for each in sorted(weights, key=lambda each: each is not weights.DEFAULT)}


def difference(theirs: torch.nn.Module, ours: torch.nn.Module, sizes: Sequence[tuple[int, int]]) -> float:
    """How much the outputs differ at most, as a part of the largest, with the same random weights."""
    torch.manual_seed(0)
    _draw(theirs)
    ours.load_state_dict(theirs.state_dict())
    return _worst(theirs, ours, sizes, (False, True))


def _draw(model: torch.nn.Module) -> None:
    for parameter in model.parameters():
        # no zeros, and no layer scale of 1e-6: every branch must count
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.05)
        else:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)


def _worst(
    theirs: torch.nn.Module, ours: torch.nn.Module, sizes: Sequence[tuple[int, int]], modes: Sequence[bool]
) -> float:
    worst = 0.0
    for training in modes:
        for size in sizes:
            x = torch.randn(2, 3, *size)
            found = []
            for model in (theirs, ours):
                torch.manual_seed(3)
                with torch.no_grad():
                    found.append(model.train(training)(x))
            worst = max(worst, float((found[0] - found[1]).abs().max() / found[0].abs().max()))
    return worst


def prove(name: str, library: Any, run: bool) -> tuple[str, Mapping[str, Any]]:
    """What differs, "" if nothing does; and torchvision's digest."""
    with torch.device("meta"):
        both = getattr(library, name)(), getattr(models, name)()
    parts = [[part for part, _ in model.named_children()] for model in both]
    theirs, ours = (model.state_dict() for model in both)
    # in order: the first is the default
    if list(addresses(library, name).items()) != [(key, ADDRESS + file) for key, file in PUBLISHED[name].items()]:
        return f"the weights: {addresses(library, name)}", digest(theirs)
    if parts[0] != parts[1]:  # programs take a model apart: nn.Sequential(*list(model.children())[:-1])
        return f"the parts: {parts}", digest(theirs)
    if entries(theirs) != entries(ours):
        return f"{set(entries(theirs)) ^ set(entries(ours)) or 'the order'}", digest(theirs)
    if run:
        sizes = [(224, 224)] if name.startswith("vit") else SIZES
        worst = difference(getattr(library, name)(num_classes=7), getattr(models, name)(num_classes=7), sizes)
        print(f"    {name}: outputs differ by {worst:.1e} of the largest")
        if worst > 1e-5:
            return f"the outputs differ by {worst:.1e}", digest(theirs)
    return "", digest(theirs)


def prove_timm(name: str, library: Any, run: bool) -> tuple[str, Mapping[str, Any]]:
    """What is lost on the way from timm and back, "" if nothing is; and timm's digest."""
    with torch.device("meta"):
        theirs = dict(sorted(library.create_model(OF_TIMM[name]).state_dict().items()))
        ours = getattr(models, name)()
    there, here = models.from_timm(theirs), models.to_timm(ours)
    kept = digest(theirs)
    wrong = set(entries(there)) ^ set(entries(ours.state_dict())) | set(entries(here)) ^ set(entries(theirs))
    if wrong or not run:
        return ", ".join(sorted(wrong)), kept
    # timm's norms have torch's own epsilon
    options = {"norm_layer": torch.nn.BatchNorm2d} if name.startswith(("mobilenet", "efficientnet")) else {}
    torch.manual_seed(0)
    theirs, ours = library.create_model(OF_TIMM[name], num_classes=7), getattr(models, name)(num_classes=7, **options)
    _draw(theirs)
    ours.load_state_dict(models.from_timm(theirs.state_dict()))
    back = models.to_timm(ours)
    if any(not torch.equal(value, back[key]) for key, value in theirs.state_dict().items()):
        return "the values that come back", kept
    worst = _worst(theirs, ours, [(224, 224)], (False,))  # what timm drops in training is drawn in another order
    print(f"    {OF_TIMM[name]}: outputs differ by {worst:.1e} of the largest")
    return "" if worst <= 1e-5 else f"the outputs differ by {worst:.1e}", kept


def table() -> str:
    """What the page says of each model."""
    lines = ["| model | parameters | weights (`pretrained=True`) | other weights | in timm |", "|---|--:|---|---|---|"]
    for name in MODELS:
        with torch.device("meta"):
            count = sum(p.numel() for p in getattr(models, name)().parameters())
        (default, file), *others = PUBLISHED[name].items()
        named = ", ".join(f"`{other}`" for other, _ in others)
        timms = f"`{OF_TIMM[name]}`" if name in OF_TIMM else ""
        lines.append(f"| `{name}` | {count:,} | `{default}`: `{file}` | {named} | {timms} |")
    with torch.device("meta"):
        count = sum(p.numel() for p in models.unet().parameters())
    return "\n".join([*lines, f"| `unet` | {count:,} | none | | |"])


def main() -> int:
    """Compare them, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the digests for the tests")
    parser.add_argument("--only", nargs="*", help="models, whose outputs are compared too")
    given = parser.parse_args()
    torchvision, other = torchvision_models(), timm()
    digests: dict[str, dict[str, Any]] = {"torchvision": {}, "timm": {}}
    failed = 0
    for name in given.only or MODELS:
        run = bool(given.only) or name in RUN
        found = {"torchvision": prove(name, torchvision, run)}
        if name in OF_TIMM:
            found["timm"] = prove_timm(name, other, run)
        for library, (wrong, kept) in found.items():
            digests[library][name] = kept
            failed += bool(wrong)
            print(f"{'DIFFERS' if wrong else 'equal  '}  {name} ({library})  {wrong}"[:300], flush=True)
    if given.write and not given.only:
        versions = {"versions": {"torchvision": TORCHVISION, "timm": TIMM}}
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")
        DIGESTS.write_text(json.dumps(versions | digests, indent=1) + "\n", "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
