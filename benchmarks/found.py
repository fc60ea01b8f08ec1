"""True bugs that simpletorch found in released packages, proved again: docs/found.md.

    python benchmarks/found.py [--write] [--only timm espnet]

Each package's wheel is fetched from the package index (``pip download --no-deps``) and read, not installed. Of the file
that has the bug, the class or function and what it uses of the same file are run with small tensors, as the package's
own annotations and defaults have them: a bug holds if torch raises at the very line that is named. And each file is
followed, to see whether `simpletorch follow` says it there. ``--write`` puts the table into docs/found.md. The exit
status is 1 if one doesn't hold. This needs einops: pip install -e '.[benchmarks]'.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import torch

from simpletorch.follow import follow

CACHE: Final = Path(os.environ.get("SIMPLETORCH_PACKAGES", Path.home() / ".cache/simpletorch/packages"))
PAGE: Final = Path(__file__).parents[1] / "docs/found.md"
BEGIN, END = "<!-- table: python benchmarks/found.py --write -->", "<!-- end of the table -->"


@dataclass(frozen=True)
class Find:
    """A bug: where it is, what runs into it, and what is wrong there."""

    package: str
    version: str
    file: str
    line: int
    name: str
    """The class or function at the file's top level that has it, or a method, which is run as a function."""
    run: str
    """What a user would write; raises in ``line``."""
    why: str

    given: str = ""
    """What stands before it: arguments, and what stands in for other files of the package."""

    followed: bool = True
    """Whether following finds it; else mypy with the plugin does (benchmarks/false_alarms.py)."""

    @property
    def place(self) -> str:
        """The module and the line."""
        return f"{self.file.removesuffix('.py').replace('/', '.')}:{self.line}"


@dataclass(frozen=True)
class Proof:
    """What came of running it."""

    holds: bool
    said: str
    """What torch says."""
    found: str = ""
    """What following says of the line; "" where it says nothing."""


_SMALL_VIT: Final = """\
vit = dict(image_size=14, patch_size=7, num_classes=5, dim=10, depth=1, heads=2, mlp_dim=13)
small = dict(dim=10, depth=1, heads=2, dim_head=5, dim_action=3, mlp_dim=13)"""

FINDS: Final = (
    Find(
        "timm",
        "1.0.31",
        "timm/models/mobilevit.py",
        377,
        "LinearSelfAttention",
        "LinearSelfAttention(5)(torch.randn(2, 5, 3, 7), torch.randn(2, 5, 3, 7))",
        "`weight[self.embed_dim + 1]` takes one row of a 4-d weight where a slice is meant: cross-attention never ran",
        followed=False,
    ),
    Find(
        "vit-pytorch",
        "1.26.11",
        "vit_pytorch/vat.py",
        376,
        "VAT",
        "VAT(vit, **small)(torch.randn(2, 3, 14, 14))",
        'A pattern without "->": a single image, which the line is for, never ran',
        followed=False,
        given=_SMALL_VIT,
    ),
    Find(
        "vit-pytorch",
        "1.26.11",
        "vit_pytorch/vaat.py",
        566,
        "VAAT",
        "VAAT(vit, dict(dim=11, depth=1, mlp_dim=13), **small)(torch.randn(2, 3, 14, 14), torch.randn(2, 99))",
        "The same line in the model that hears, too",
        followed=False,
        given=_SMALL_VIT,
    ),
    Find(
        "vit-pytorch",
        "1.26.11",
        "vit_pytorch/vat_siglip.py",
        360,
        "SigLIPVAT",
        "SigLIPVAT(dim=10, depth=1, siglip_dim=12, siglip_depth=1, siglip_heads=2)(torch.randn(2, 3, 224, 224))",
        "And in the third model of the family",
        followed=False,
    ),
    Find(
        "open_clip_torch",
        "3.3.0",
        "open_clip/transformer.py",
        176,
        "Attention",
        "Attention(14, num_heads=2, scaled_cosine=True)(torch.randn(3, 5, 14))",
        "`torch.bmm` of tensors that got 4 dims just before, here and in line 186: scaled cosine attention never ran",
        followed=False,
    ),
    Find(
        "transformers",
        "5.23.0",
        "transformers/models/esm/modeling_esmfold.py",
        2191,
        "EsmForProteinFolding.compute_language_model_representations",
        "compute_language_model_representations(me, torch.ones(2, 7, dtype=torch.int64))",
        "`self.esm_s_combine.size[0]` takes an item of the method, and the next size is -1: `bypass_lm=True` never ran",
        followed=False,
        given="""\
from types import SimpleNamespace
config = SimpleNamespace(esmfold_config=SimpleNamespace(bypass_lm=True))
weights = torch.nn.Parameter(torch.zeros(5))
me = SimpleNamespace(config=config, esm_s_combine=weights, esm_feats=3, parameters=lambda: iter([weights]))""",
    ),
    Find(
        "transformers",
        "5.23.0",
        "transformers/video_utils.py",
        797,
        "convert_to_rgb",
        "convert_to_rgb(torch.zeros(2, 1, 5, 7), 'channels_first')",
        "`repeat(3, -3)` means NumPy's axis -3; of a tensor, which the signature takes as well, it is a size",
        followed=False,
        given="to_channel_dimension_format = lambda video, *_, **__: video  # the channels are first",
    ),
    Find(
        "imagen-pytorch",
        "2.1.0",
        "imagen_pytorch/imagen_video.py",
        1003,
        "LinearAttention",
        "LinearAttention(5)(torch.randn(2, 5, 3, 7, 11))",
        "Norm and convolutions are made for videos, which have 5 dims; the pattern is that of images, 4",
    ),
    Find(
        "asteroid",
        "0.7.0",
        "asteroid/models/x_umx.py",
        408,
        "_ISTFT",
        "_ISTFT(torch.hann_window(8), 8, 2)(torch.randn(1, 2, 1, 5, 7), torch.randn(1, 2, 1, 5, 7))",
        "`torch.istft` gets real and imaginary parts in a last dim, which torch 2.0 has stopped to take",
    ),
    Find(
        "coqui-tts",
        "0.28.0",
        "TTS/tts/layers/xtts/dvae.py",
        366,
        "DiscreteVAE",
        "DiscreteVAE()(torch.randn(1, 3, 64, 64))",
        "The defaults don't fit each other: without residual blocks the decoder gets 256 channels for 512",
    ),
    Find(
        "espnet",
        "202511",
        "espnet2/asr_transducer/decoder/modules/mega/feed_forward.py",
        65,
        "NormalizedPositionwiseFeedForward",
        "NormalizedPositionwiseFeedForward(5, 7)(torch.randn(2, 3, 5))",
        "The default activation is the class `torch.nn.ReLU`, not an object of it, and is called with the tensor",
    ),
    Find(
        "espnet",
        "202511",
        "espnet2/enh/layers/ncsnpp_utils/layerspp.py",
        127,
        "Upsample",
        "Upsample(5)(torch.randn(2, 5, 7, 11))",
        '`F.interpolate(x, (H * 2, W * 2), "nearest")`: the third parameter is `scale_factor`, not the mode',
    ),
    Find(
        "espnet",
        "202511",
        "espnet2/tts/feats_extract/yin.py",
        45,
        "differenceFunction",
        "differenceFunction(torch.randn(2, 97), 97, 31)",
        "It takes a slice of a tensor with the step -1, which NumPy takes and torch doesn't",
    ),
)


class Absent:
    """What can't be imported: it has any attribute and can be called, as definitions do, and does nothing."""

    def __getattr__(self, name: str) -> Absent:
        return Absent()

    def __call__(self, *args: object, **kwargs: object) -> Absent:
        """What it makes is absent as well."""
        return Absent()

    def __or__(self, other: object) -> Absent:
        return Absent()

    __ror__ = __or__


def prove(find: Find) -> Proof:
    """Run it; it holds if torch raises in the line that is named, and following finds what it is said to find."""
    path = unpacked(find.package, find.version) / find.file
    proof = _run(find, path.read_text(encoding="utf-8"))
    at = [f.lines()[0] for f in follow(str(path)).errors if f.line == find.line] if find.followed else []
    if find.followed and not at:
        return Proof(False, f"following says nothing of line {find.line}; {proof.said}")
    return replace(proof, found=at[0].partition("error: ")[2] if at else "")


def _run(find: Find, source: str) -> Proof:
    scope = _part(source, find.file, find.name)
    try:
        exec(compile(f"{find.given}\n{find.run}", "<run>", "exec"), scope)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == find.file]
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Proof(find.line in lines, said if find.line in lines else f"it raises at {lines}: {said}")
    return Proof(False, "it runs")


def unpacked(package: str, version: str) -> Path:
    """The folder with the package's files, fetched if they aren't there."""
    folder = CACHE / f"{package}-{version}"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as fetched:
            wanted = ["--no-deps", "--only-binary=:all:", "--dest", fetched, f"{package}=={version}"]
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wanted], check=True)
            (wheel,) = Path(fetched).glob("*.whl")
            with zipfile.ZipFile(wheel) as file:
                file.extractall(folder, [name for name in file.namelist() if name.endswith(".py")])
    return folder


def _part(source: str, file: str, name: str) -> dict[str, Any]:
    """A namespace with one definition of a file and what it needs of the same file, at their own lines."""
    tree = ast.parse(source)
    name, _, method = name.partition(".")
    if method:
        (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
        tree.body += [node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == method]
        name = method
    scope: dict[str, Any] = {"__name__": "found", "torch": torch}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _imported(node, scope)
    defined = {each: node for node in tree.body for each in _names(node)}
    wanted = _reached(name, defined)
    body = [node for node in tree.body if any(each in wanted for each in _names(node))]
    exec(compile(ast.Module(body, []), file, "exec", dont_inherit=True), scope)
    return scope


def _imported(node: ast.Import | ast.ImportFrom, scope: dict[str, Any]) -> None:
    """Import it if it is installed; of the package itself and much that it needs, what is never used may be absent."""
    relative = isinstance(node, ast.ImportFrom) and node.level
    try:
        if relative:
            raise ImportError
        exec(compile(ast.Module([node], []), "<imports>", "exec"), scope)
    except ImportError:
        for alias in node.names:
            scope[alias.asname or alias.name.partition(".")[0]] = Absent()


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _reached(name: str, defined: Mapping[str, ast.stmt]) -> set[str]:
    reached, waiting = set[str](), [name]
    while waiting:
        each = waiting.pop()
        if each in defined and each not in reached:
            reached.add(each)
            waiting += [node.id for node in ast.walk(defined[each]) if isinstance(node, ast.Name)]
    return reached


def table(proofs: Mapping[Find, Proof]) -> str:
    """What the page says of each."""
    lines = [f"Run in torch {torch.__version__.partition('+')[0]}; {sum(p.holds for p in proofs.values())} hold."]
    for find, proof in proofs.items():
        lines += ["", f"### {find.package} {find.version}: `{find.place}`, `{find.name}`", "", f"{find.why}."]
        lines += [
            "",
            "```",
            *(f">>> {line}" for line in (*find.given.splitlines(), find.run)),
            proof.said if proof.holds else f"DOES NOT HOLD: {proof.said}",
            "```",
            "",
        ]
        lines += [f"`simpletorch follow`: {proof.found}" if proof.found else "Found by mypy with the plugin."]
    return "\n".join(lines)


def main() -> int:
    """Prove them, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/found.md")
    parser.add_argument("--only", nargs="*", help="packages")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # what old code draws from torch
    proofs: dict[Find, Proof] = {}
    for find in FINDS:
        if given.only is None or find.package in given.only:
            proofs[find] = proof = prove(find)
            verdict = "holds" if proof.holds else "DOES NOT HOLD"
            print(f"{verdict}  {find.package} {find.place}\n    {proof.said[:150]}", flush=True)
    if given.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{table(proofs)}\n{END}{after}", encoding="utf-8")
    return 0 if all(proof.holds for proof in proofs.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
