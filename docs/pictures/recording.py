"""Make recording.svg, the recording of a terminal at the top of README: about twenty seconds, from real output.

    python docs/pictures/recording.py

The commands run in a pseudo-terminal of this machine, as a new user's would: nothing was followed before. So make it on
a quiet machine. A command is typed letter by letter. The file is one SVG with CSS alone: it follows the light or dark
setting, and shows everything at once to people who asked for less motion.
"""

from __future__ import annotations

import html
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

TARGET: Final = Path(__file__).with_name("recording.svg")
COLUMNS: Final = 96
TYPED, THINKING, READING, END = 0.04, 0.5, 3.0, 3.0
"""Seconds: for a letter, between a command and its output, to read an output, and before it begins again."""
WIDTH, HEIGHT, LEFT, TOP = 8.4, 19, 14, 30  # of a letter and a line, and where the first is

FILES: Final = {
    "net.py": """\
import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(100, 10))
images = torch.randn(64, 1, 28, 28)
loss = nn.functional.cross_entropy(model(images), torch.randint(10, (64,)))
loss.backward()
""",
}
COMMANDS: Final = (
    "cat net.py",
    "simpletorch follow net.py",
    "sed -i 's/Linear(100, 10)/Linear(128, 10)/' net.py",
    "simpletorch follow net.py",
)

_ESCAPE: Final = re.compile(r"\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[([\d;]*)m|\x1b\[[\d;?]*[A-Za-z]")
_CLASSES: Final = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "u", "35": "m", "36": "c"}

SVG: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{title}</title>
<style>
svg {{ --back: #fff; --edge: #d0d7de; --text: #1f2328; --dim: #656d76; --r: #cf222e; --g: #1a7f37; --y: #9a6700;
  --u: #0969da; --m: #8250df; --c: #1b7c83; }}
@media (prefers-color-scheme: dark) {{ svg {{ --back: #0d1117; --edge: #30363d; --text: #e6edf3; --dim: #8b949e;
  --r: #ff7b72; --g: #3fb950; --y: #d29922; --u: #79c0ff; --m: #d2a8ff; --c: #56d4dd; }} }}
rect {{ fill: var(--back); stroke: var(--edge); }}
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; fill: var(--text);
  white-space: pre; animation: {seconds:.1f}s step-end infinite; }}
.b {{ font-weight: bold; }} .d {{ fill: var(--dim); }} .r {{ fill: var(--r); }} .g {{ fill: var(--g); }}
.y {{ fill: var(--y); }} .u {{ fill: var(--u); }} .m {{ fill: var(--m); }} .c {{ fill: var(--c); }}
{frames}
@media (prefers-reduced-motion: reduce) {{ text {{ animation: none !important; }} }}
</style>
<rect x=".5" y=".5" width="{inner}" height="{tall}" rx="8"/>
{lines}
</svg>
"""


class Line(NamedTuple):
    """A line of the terminal, when it begins and ends to appear, and how many letters are typed."""

    markup: str
    start: float
    end: float
    typed: int = 0


def main() -> int:
    """Run the commands and write the picture."""
    lines, now = list[Line](), 0.5
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = cache
        for name, text in FILES.items():
            Path(folder, name).write_text(text)
        for command in COMMANDS:
            end = now + TYPED * len(command)
            lines.append(Line(f'<tspan class="d">$ </tspan>{html.escape(command)}', now, end, len(command)))
            shown = output(command, folder)
            now = end + THINKING
            lines += [Line(markup, now, now) for markup in shown]
            now += READING if shown else THINKING
    TARGET.write_text(picture(lines, now + END), encoding="utf-8")
    print(f"{TARGET.relative_to(Path.cwd())}: {TARGET.stat().st_size:,} bytes, {now + END:.0f} s, {len(lines)} lines")
    return 0


def output(command: str, folder: str) -> list[str]:
    """What a command writes to a terminal, as lines of markup."""
    ours, theirs = pty.openpty()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": path, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    settings.pop("NO_COLOR", None)
    with subprocess.Popen(command, shell=True, cwd=folder, env=settings, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 1 << 16):
                written += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    if process.returncode > 1:
        raise SystemExit(f"{command}: {written.decode()}")
    text = re.sub(r"[^\n]*\r(?!\n)", "", written.decode().replace("\r\n", "\n"))  # a line that was written over
    return markup(text.rstrip("\n")) if text else []


def markup(text: str) -> list[str]:
    """Lines with the colours of the terminal, broken where it breaks them."""
    lines, line, column, style, at = list[str](), "", 0, "", 0
    while at < len(text):
        if escape := _ESCAPE.match(text, at):
            if escape[1] is not None:
                codes = escape[1].split(";")
                style = "" if codes in ([""], ["0"]) else " ".join(_CLASSES[each] for each in codes if each in _CLASSES)
            at = escape.end()
            continue
        letter, at = text[at], at + 1
        if letter == "\n" or column == COLUMNS:
            lines.append(line)
            line, column = "", 0
        if letter != "\n":
            shown = html.escape(letter, quote=False)
            line, column = line + (f'<tspan class="{style}">{shown}</tspan>' if style else shown), column + 1
    joined = [*lines, line]
    return [re.sub(r'</tspan><tspan class="([^"]*)">', _joined, each) for each in joined]


def _joined(found: re.Match[str]) -> str:
    """Nothing between two letters of one style."""
    before = found.string.rfind('<tspan class="', 0, found.start())
    return "" if found.string.startswith(f'<tspan class="{found[1]}">', before) else found[0]


def picture(lines: list[Line], seconds: float) -> str:
    """The lines as one SVG; each has an animation of its own."""
    frames, shown = [], []
    for number, line in enumerate(lines):
        first, last = (100 * at / seconds for at in (line.start, line.end))
        if line.typed:
            hidden, whole = "clip-path: inset(0 100% 0 0)", "clip-path: inset(0 0 0 0)"
            step = f"animation-timing-function: steps({line.typed})"
            frames.append(f"@keyframes l{number} {{ 0% {{ {hidden} }} {first:.2f}% {{ {hidden}; {step} }}"
                          f" {last:.2f}%, 100% {{ {whole} }} }}")  # fmt: skip
        else:
            frames.append(f"@keyframes l{number} {{ 0% {{ opacity: 0 }} {first:.2f}%, 100% {{ opacity: 1 }} }}")
        y = TOP + HEIGHT * number
        shown.append(f'<text x="{LEFT}" y="{y}" style="animation-name: l{number}">{line.markup}</text>')
    width, height = round(2 * LEFT + COLUMNS * WIDTH), TOP + HEIGHT * len(lines)
    title = "A terminal: " + "; then ".join(COMMANDS)
    return SVG.format(
        width=width, height=height, inner=width - 1, tall=height - 1, seconds=seconds, title=html.escape(title),
        frames="\n".join(frames), lines="\n".join(shown),
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
