"""Which models can be exported to what, with open sizes, and how far artefacts are from them: docs/guides/export.md.

    python benchmarks/export.py [--write] [--only resnet18 gpt.GPT] [--formats program onnx]
    python benchmarks/export.py my_package.models:make_bert

Each model is exported to each format in a process of its own, which compares the artefact with the model at three sizes
or more of each open size (`simpletorch.export`) and reads it back once more. ``--write`` puts what was measured into
the page's table, whose other rows stay. ``--keep benchmarks/results/export.json`` goes on where a run ended; all of it
takes an hour or two.
Any other model is measured by the name of a function that returns it, with its inputs and ``dynamic=`` if the
annotation doesn't say all: ``model``, or ``(model, {"inputs": …, "dynamic": …})``, or the same for one format only,
``{"aot": {"dynamic": …}}``. The exit status is 1 if an export
fails that the table doesn't know to be impossible.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from simpletorch import export
from simpletorch.errors import TorchError

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "guides" / "export.md"
BEGIN, END = "<!-- table: python benchmarks/export.py --write -->", "<!-- end of the table -->"
FORMATS: Final = ("program", "onnx", "aot")
SECONDS: Final = 1_800


def _example(name: str) -> Any:
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(f"examples.models.{name}")


def _gpt() -> tuple[nn.Module, Mapping[str, Any]]:
    model = _example("gpt").GPT(vocab=101, context=64, dim=48, heads=4, layers=2)
    tokens = torch.randint(101, (3, 5))
    cache = _example("gpt").KVCache(torch.randn(3, 4, 7, 12), torch.randn(3, 4, 7, 12))
    # a cache of no token is one, too; and no more than the context
    return model, {"inputs": (tokens, [cache, cache]), "dynamic": {"S": (0, 32), "T": (1, 32)}}


def _llama() -> nn.Module:
    port = _example("llama")
    made: nn.Module = port.Llama(port.Config(101, 48, 6, 3, 8, 96, context=64, layers=2))
    return made


# Inductor makes wrong code where the last maps may be of one pixel
_LARGE: Final = {"aot": {"dynamic": {"H": (65, None), "W": (65, None)}}}


def _vision(name: str) -> Any:
    """A factory of `vision.models`; ``swin_t@224`` is the model for images of that size alone."""
    factory, _, size = name.partition("@")
    made: nn.Module = getattr(importlib.import_module("simpletorch.vision.models"), factory)(num_classes=10)
    if factory == "unet":
        return made, _LARGE
    for parameter in made.parameters():
        if parameter.ndim == 2 and not parameter.any():  # a head that begins with nothing would hide any difference
            nn.init.normal_(parameter, std=0.02)
    norms = [module for module in made.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None
    with torch.no_grad():
        made(torch.randn(4, 3, 224, 224))  # else what comes out of many layers is next to nothing, and so is its error
    for norm in norms:
        norm.momentum = 0.1
    if size:
        return made, {"dynamic": {"H": int(size), "W": int(size)}}
    if factory.startswith("convnext"):  # maps of one pixel would have to be a case of their own in any format
        return made, _LARGE["aot"]
    if factory.startswith("swin"):  # and so would maps of one window, which isn't shifted
        return made, {"dynamic": {"H": (228, None), "W": (228, None)}}
    return made if factory == "vit_b_16" else (made, _LARGE)


def _language(name: str, config: str, inputs: Sequence[str] = ("input_ids",), **sizes: Any) -> Any:
    """One of the four language models, small, with its longest text as a limit."""
    models = importlib.import_module("simpletorch.language.models")
    made: nn.Module = getattr(models, name)(getattr(models, config)(vocab_size=101, **sizes))
    return made.eval(), {"inputs": {each: torch.randint(101, (3, 5 + 2 * n)) for n, each in enumerate(inputs)}}


VISION: Final = (
    *("resnet18", "resnet34", "resnet50", "resnet101", "resnet152"),
    *("vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn"),
    *("vgg11@224", "vgg11_bn@224"),
    "vit_b_16",
    *("mobilenet_v3_small", "mobilenet_v3_large"),
    *(f"efficientnet_b{i}" for i in range(8)),
    *("convnext_tiny", "convnext_small", "convnext_base", "convnext_large"),
    *("swin_t", "swin_s", "swin_b", "swin_t@224", "swin_s@224", "swin_b@224"),
    "unet",
)
"""Every factory of `vision.models`, and at a fixed size of images what can't be exported with any size."""
FAMILIES: Final = frozenset(
    {"resnet18", "resnet50", "vgg11_bn", "vgg11_bn@224", "vit_b_16", "mobilenet_v3_small", "efficientnet_b0"}
    | {"convnext_tiny", "swin_t", "swin_t@224", "unet"}
)
"""Of `vision.models`, what is exported by AOTInductor too unless ``--only`` names others: it takes minutes for each."""

MODELS: Final[Mapping[str, Callable[[], Any]]] = {
    "actor_critic.ActorCritic": lambda: _example("actor_critic").ActorCritic(7, 64, 5),
    "diffusion.Denoiser": lambda: _example("diffusion").Denoiser(3, 16, groups=4),
    "dqn.QNetwork": lambda: _example("dqn").QNetwork(6),
    "gpt.GPT": _gpt,
    "llama.Llama": _llama,
    "lstm_tagger.Tagger": lambda: (
        _example("lstm_tagger").Tagger(101, 20, 30, 7),
        {"inputs": {"lengths": torch.tensor([5, 3, 4])}},
    ),
    "moe.Mixtral": lambda: _example("moe").Mixtral(101, 48, 4, 96, 5, 2, layers=2),
    "resnet.ResNet": lambda: (_example("resnet").ResNet(10, 16), _LARGE),
    "unet.UNet": lambda: _example("unet").UNet(1, 8, 3),
    "vae.VAE": lambda: _example("vae").VAE(),
    "vit.ViT": lambda: _example("vit").ViT(3, 32, 8, 48, 4, 96, 10, layers=2),
    **{name: partial(_vision, name) for name in VISION},
    "BertForMaskedLM": lambda: _language(
        "BertForMaskedLM",
        "BertConfig",
        hidden_size=48,
        num_attention_heads=4,
        num_hidden_layers=2,
        intermediate_size=96,
        max_position_embeddings=64,
        type_vocab_size=2,
        num_labels=7,
    ),
    "GPT2LMHeadModel": lambda: _language(
        "GPT2LMHeadModel", "GPT2Config", n_positions=64, n_embd=48, n_head=4, n_layer=2
    ),
    "LlamaForCausalLM": lambda: _language(
        "LlamaForCausalLM",
        "LlamaConfig",
        hidden_size=48,
        num_attention_heads=6,
        num_key_value_heads=2,
        num_hidden_layers=2,
        intermediate_size=96,
        head_dim=8,
    ),
    "T5ForConditionalGeneration": lambda: _language(
        "T5ForConditionalGeneration",
        "T5Config",
        ("input_ids", "decoder_input_ids"),
        d_model=48,
        d_kv=12,
        d_ff=96,
        num_layers=2,
        num_heads=4,
    ),
}


def made(name: str) -> tuple[nn.Module, Mapping[str, Any]]:
    """A model by its name here, or by that of a function, and how it is exported."""
    torch.manual_seed(0)
    if name in MODELS:
        found = MODELS[name]()
    else:
        module, _, function = name.partition(":")
        found = getattr(import_module(module), function)()
    return found if isinstance(found, tuple) else (found, {})


def measure(name: str, kind: str) -> dict[str, Any]:
    """One model in one format; why not, if it can't be."""
    model, given = made(name)
    own = given.get(kind, {})
    given = {key: value for key, value in given.items() if key not in FORMATS} | own
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("net.onnx" if kind == "onnx" else "net.pt2")
        try:
            getattr(export, kind)(model, path, **given)
        except TorchError as error:
            return {"why": error.reason, "text": str(error)}
        read = export.load(path)
        assert read.report is not None, "it has a manifest"
        assert read.signature is not None, "it has a manifest"
        return {
            "signature": str(read.signature),
            "symbols": [str(symbol) for symbol in read.signature.symbols],
            "difference": read.report.difference,
            "rounding": max((c.rounding or 0.0 for c in read.report.comparisons), default=0.0),
            "runs": len(read.report.comparisons),
            "seconds": time.perf_counter() - begun,
            "bytes": path.stat().st_size,
        }


def measured(name: str, kind: str) -> dict[str, Any]:
    """`measure`, in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--one", name, kind]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return {"why": f"not done after {SECONDS} s", "text": f"not done after {SECONDS} s"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return {"why": lines[-1], "text": done.stderr}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """The rows as Markdown, and below it why something can't be exported."""
    lines = ["| model | open sizes | " + " | ".join(FORMATS) + " |", "| --- | --- |" + " --- |" * len(FORMATS)]
    reasons: list[str] = []
    for name, row in rows.items():
        sizes = next((", ".join(found["symbols"]) for found in row.values() if "symbols" in found), "")
        cells = []
        for kind in FORMATS:
            found = row.get(kind, {})
            if "why" in found:
                if found["why"] not in reasons:
                    reasons.append(found["why"])
                cells.append(f"no ({reasons.index(found['why']) + 1})")
            else:
                narrower = found and ", ".join(found["symbols"]) != sizes
                limits = f" ({', '.join(found['symbols'])})" if narrower else ""
                rounding = f", {found['rounding']:.0e} rounding" if found.get("rounding") else ""
                cells.append(f"{found['difference']:.0e}{rounding}{limits}" if found else "")
        lines.append(f"| `{name}` | {sizes} | {' | '.join(cells)} |")
    notes = [f"{i}. {reason}" for i, reason in enumerate(reasons, 1)]
    missing = [f"`{name}`" for name in MODELS if name not in rows]
    left = ["", f"Not measured yet: {', '.join(missing)}."] if missing else []
    return "\n".join([*lines, "", *notes, *left]).rstrip()


_CELL: Final = re.compile(r"(?P<difference>\S+?)(?:, (?P<rounding>\S+) rounding)?(?: \((?P<symbols>.*)\))?")


def read_table(text: str) -> dict[str, dict[str, dict[str, Any]]]:
    """The rows of a `table`, so that what isn't measured this time stays as it was."""
    reasons = dict(re.findall(r"^(\d+)\. (.*)$", text, re.M))
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for name, sizes, *cells in re.findall(r"^\| `(.*?)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", text, re.M):
        rows[name] = {}
        for kind, cell in zip(FORMATS, cells, strict=True):
            found = _CELL.fullmatch(cell)
            if found and found["difference"] == "no":
                rows[name][kind] = {"why": reasons[found["symbols"]]}
            elif found:
                symbols = (found["symbols"] or sizes).split(", ")
                rows[name][kind] = {"difference": float(found["difference"]), "symbols": symbols}
                if found["rounding"]:
                    rows[name][kind]["rounding"] = float(found["rounding"])
    return rows


def _failed(rows: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any] | None:
    """Why a model has no program, if its own limits are to blame and not the clock."""
    found: dict[str, Any] = rows.get(name, {}).get("program", {})
    return found if "why" in found and not found["why"].startswith("not done") else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="other models, as module:function")
    parser.add_argument("--only", nargs="*", help="some of the models here")
    parser.add_argument("--formats", nargs="*", default=FORMATS, choices=FORMATS)
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--keep", type=Path, help="a JSON file that keeps what was measured, to go on from there")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "FORMAT"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(*given.one)))
        return 0
    names = given.models or (MODELS if given.only is None else given.only)
    kept = json.loads(given.keep.read_text()) if given.keep and given.keep.exists() else {}
    rows: dict[str, dict[str, Any]] = {}
    for name in names:
        for kind in given.formats:
            if kind == "aot" and given.only is None and name in VISION and name not in FAMILIES:
                continue
            # ONNX is made of the program: where there is none, the reason is the program's
            known = kept.get(name, {}).get(kind) or (kind == "onnx" and _failed(rows, name))
            found = known or measured(name, kind)
            rows.setdefault(name, {})[kind] = kept.setdefault(name, {})[kind] = found
            said = found.get("text") or f"{found['difference']:.1e} {found['seconds']:.0f} s {found['symbols']}"
            print(f"{name} {kind}: {said}", flush=True)
            if given.keep:
                given.keep.write_text(json.dumps(kept))
    if given.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        old, _, after = rest.partition(END)
        whole = read_table(old)
        for name, row in rows.items():
            whole[name] = {**whole.get(name, {}), **row}
        whole = {name: whole[name] for name in (*MODELS, *given.models) if name in whole}
        PAGE.write_text(f"{before}{BEGIN}\n{table(whole)}\n{END}{after}", encoding="utf-8")
    else:
        print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
