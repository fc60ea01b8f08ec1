"""Make the pictures in this folder: what notebooks, `simpletorch follow --html`, editors and `simpletorch plan` show.

    python docs/pictures/make.py                   # all of them
    python docs/pictures/make.py module epochs     # these

Cells run in a real kernel; what it gives is put into a page with the colours of JupyterLab, and headless Chromium
takes the picture. It needs `chromium` and the extra `dev`.
"""

from __future__ import annotations

import argparse
import html
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import editor  # beside this file
import nbformat
from nbclient import NotebookClient
from PIL import Image, ImageChops

FOLDER = Path(__file__).parent
SCHEMES = {"light": 1, "dark": 0}  # as Chromium numbers them
MOST_BYTES = 60_000
OTHERS = ("follow", "editor", "plan")  # that are no cells
WIDTHS = {"follow": 1120}  # else the usual one
WIDTH, TALLEST, MARGIN = 860, 2400, 14

SETUP = """
%load_ext simpletorch
import torch
from torch.nn import functional
from simpletorch import data, metrics, nn, optim, train
torch.manual_seed(3)
"""

CELLS = {
    "dataset": "digits = data.Digits()\ndigits",
    "batch": "loader = data.DataLoader(digits, 64, shuffle=True)\nimages, labels = batch = next(iter(loader))\nbatch",
    "module": """model = nn.Sequential(
    nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
    nn.Sequential(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
    nn.Flatten(),
    nn.Linear(4096, 10),
)
model""",
    "card": "scores = model(images)\nloss = functional.cross_entropy(scores, labels)",
    "shapes": """%%shapes
model[-1] = nn.Linear(1024, 10)
scores = model(images)
guesses = scores.softmax(1).argmax(1)
hits = (guesses == labels).float().mean()""",
    "error": """bright = images.mean((1, 2, 3)) > 0.3
loss = functional.cross_entropy(model(images[bright]), labels)""",
    "tensor": "noise = torch.randn(64, 300)\nnoise[0, 2] = torch.nan\nnoise",
    "epochs": """trainer = train.Trainer(
    loss=functional.cross_entropy,
    optimizer=optim.AdamW(model.parameters()),
    metrics={"accuracy": metrics.Accuracy()},
    progress=False,
)
test = data.DataLoader(data.Digits(train=False), 360)
trainer.fit(model, loader, epochs=5, validation=test)""",
    "confusion": """confusion = metrics.ConfusionMatrix(10)
for images, labels in test:
    confusion.update(model(images), labels)
confusion""",
}
"""What is shown, in the order in which the cells run."""

FOLLOWED = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, 3, padding=1)
        self.norm = nn.BatchNorm2d(outer)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Block(3, 32)
        self.body = nn.Sequential(Block(32, 64), nn.MaxPool2d(2), Block(64, 64))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.body(self.stem(x))
        return self.head(x.mean((2, 3)))


images, labels = torch.rand(16, 3, 32, 32), torch.randint(10, (16,))
scores = Net()(images)
loss = nn.functional.cross_entropy(scores, labels.float())
"""

PAGE = """<!doctype html><html><head><meta charset="utf-8"><style>
:root { color-scheme: light dark; --back: #fff; --text: rgba(0, 0, 0, .87); --cell: #f5f5f5; --line: #e0e0e0;
  --stripe: #f5f5f5; --prompt: #307fc1; }
@media (prefers-color-scheme: dark) { :root { --back: #111; --text: rgba(255, 255, 255, .87); --cell: #212121;
  --line: #424242; --stripe: #212121; --prompt: #64b5f6; } }
body { background: var(--back); color: var(--text); font: 13px/1.5 system-ui, sans-serif; margin: 8px; }
.cell, .out { display: flex; gap: 8px; margin-bottom: 8px; }
.prompt { color: var(--prompt); font: 12px/1.6 monospace; width: 42px; flex: none; text-align: right;
  padding-top: 5px; }
.out > div:last-child { min-width: 0; flex: 1; padding-top: 4px; }
.source { background: var(--cell); border: 1px solid var(--line); padding: 5px 8px; flex: 1; margin: 0;
  font: 12px/1.5 monospace; }
pre { font: 12px/1.4 monospace; white-space: pre; }
.out table { border: none; font-size: 12px; margin: 0; } /* as JupyterLab has tables */
.out tr:nth-child(odd) td { background-color: var(--stripe); }
</style></head><body>
<div class="cell"><div class="prompt">In:</div><pre class="source">%s</pre></div>
%s</body></html>"""


TERMINAL = """<!doctype html><html><head><meta charset="utf-8"><style>
:root { color-scheme: light dark; } body { background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #e6edf3);
  margin: 10px; } pre { font: 12px/1.45 "DejaVu Sans Mono", monospace; margin: 0; }
</style></head><body><pre>%s</pre></body></html>"""


def main(argv: Sequence[str]) -> int:
    """Make the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*CELLS, *OTHERS, []])
    wanted = parser.parse_args(argv).names or [*CELLS, *OTHERS]
    browser = shutil.which("chromium")
    if browser is None:
        print("there is no chromium here", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        pages = {name: page for name, page in pages_of(Path(folder), wanted).items() if name in wanted}
        for name, page in pages.items():
            for scheme in SCHEMES:
                path = FOLDER / f"{name}-{scheme}.png"
                shoot(browser, page, WIDTHS.get(name, WIDTH), scheme, path, Path(folder))
                print(f"{path.relative_to(FOLDER.parents[1])}: {path.stat().st_size:,} bytes")
    large = [p.name for p in FOLDER.glob("*.png") if p.stat().st_size > MOST_BYTES]
    if large:
        print(f"over {MOST_BYTES:,} bytes: {', '.join(large)}", file=sys.stderr)
    return bool(large)


def pages_of(folder: Path, wanted: Sequence[str]) -> dict[str, str]:
    """The pages by their names; the cells run if one of them is wanted."""
    pages = {}
    if set(wanted) & set(CELLS):
        cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *CELLS.values())]
        notebook = nbformat.v4.new_notebook(cells=cells)
        NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}}).execute()
        for name, cell in zip(CELLS, notebook.cells[1:], strict=True):
            shown = "".join(map(output, views_of(cell.outputs, name)))
            pages[name] = PAGE % (html.escape(cell.source), shown)
    (folder / "train.py").write_text(FOLLOWED)
    pages["follow"] = said_by(folder, "follow", "--html", "train.py")
    pages["editor"] = editor.page(folder)
    plan = ("plan", "simpletorch.language.models:llama_3_8b", "--mesh", "data=8", "--batch", "1", "--size", "T=2048")
    command = f"$ simpletorch {' '.join(plan)}"
    pages["plan"] = TERMINAL % html.escape(f"{command}\n{said_by(folder, *plan)}")
    return pages


def said_by(folder: Path, *arguments: str) -> str:
    """What a command of ours prints; it may have found an error."""
    command = [sys.executable, "-m", "simpletorch.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def views_of(outputs: Iterable[Any], name: str) -> list[Any]:
    """What has a view; not the traceback that stands below a card.

    Raises:
        SystemExit: a cell fails that shouldn't, or shows nothing.
    """
    failed = [f"{o.ename}: {o.evalue}" for o in outputs if o.output_type == "error"]
    views = [o for o in outputs if "text/html" in o.get("data", {})]
    if (failed and name not in ("card", "error")) or not views:
        raise SystemExit(f"the cell {name} shows no view: {failed or outputs}")
    return views


def output(shown: Any) -> str:
    """One output of a cell."""
    return f'<div class="out"><div class="prompt"></div><div>{shown.data["text/html"]}</div></div>'


def shoot(browser: str, page: str, width: int, scheme: str, path: Path, folder: Path) -> None:
    """Have Chromium show a page, and keep what isn't empty of it."""
    source, raw = folder / "page.html", folder / "raw.png"
    source.write_text(page)
    command = [browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"]
    command += [f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", f"--user-data-dir={folder / 'profile'}"]
    command += [f"--screenshot={raw}", f"--window-size={width},{TALLEST}", source.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    cropped(Image.open(raw).convert("RGB")).quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def cropped(image: Image.Image) -> Image.Image:
    """Without what is empty at the right and below."""
    ground = Image.new("RGB", image.size, image.getpixel((image.width - 1, image.height - 1)))
    box = ImageChops.difference(image, ground).getbbox()
    if box is None:
        raise SystemExit("the page is blank")
    return image.crop((0, 0, image.width, min(box[3] + MARGIN, image.height)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
