"""``simpletorch follow --html`` in a real browser: what one sees, and what a click does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from simpletorch.cli import main

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is neither chromium nor google-chrome here")

PROGRAM = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(7)
        self.body = nn.Sequential(nn.Linear(7, 13), nn.ReLU())

    def forward(self, x):
        return self.body(self.norm(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(Block(), nn.Linear(13, 5))
        self.last = nn.Linear(5, 3)

    def forward(self, x):
        return self.last(self.first(x))

scores = Net()(torch.zeros(11, 7))
wrong = nn.Linear(3, 2)(scores.view(3, 11)) + "a text that is wider than a narrow window is"
"""

LOOKS = """<script>
const seen = element => element.checkVisibility() && element.offsetHeight > 0;
const shown = () => [...document.querySelectorAll('.model .path')].filter(seen).map(e => e.textContent);
const click = name => [...document.querySelectorAll('.model summary')]
  .find(s => s.querySelector('.path').textContent === name).click();
const facts = {first: shown()};
click('0'); facts.block = shown();
click('body'); facts.body = shown();
click('first'); facts.closed = shown();
click('first'); facts.again = shown();
const style = name => getComputedStyle(document.querySelector(name));
facts.text = style('body').color; facts.error = style('.error pre').color; facts.shape = style('.shape').color;
facts.bad = [...document.querySelectorAll('.bad')].map(row => row.cells[0].textContent);
const error = document.querySelector('.error pre').getBoundingClientRect();
facts.fits = error.left >= 0 && error.right <= innerWidth;
const facts_element = document.createElement('pre');
facts_element.id = 'facts'; facts_element.textContent = JSON.stringify(facts);
document.body.append(facts_element);
</script>"""


def facts_of(page: str, folder: Path, *, dark: bool = False) -> dict[str, Any]:
    """What a script finds in a page that the browser has laid out."""
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"{LOOKS}</body>"))
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    command += [f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--window-size=700,900", "--dump-dom"]
    done = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r'<pre id="facts">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, f"the page's script did not run: {done.stderr[-500:]}"
    facts: dict[str, Any] = json.loads(unescape(found[1]))
    return facts


@pytest.fixture
def page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    main(["follow", "--html", str(program)])
    return capsys.readouterr().out


def test_modules_open_and_close(page: str, tmp_path: Path):
    facts = facts_of(page, tmp_path)
    first = ["Net", "first", "0", "1", "last", "Linear"]
    assert facts["first"] == first
    assert facts["block"] == ["Net", "first", "0", "norm", "body", "1", "last", "Linear"]
    assert facts["body"] == ["Net", "first", "0", "norm", "body", "0", "1", "1", "last", "Linear"]
    assert facts["closed"] == ["Net", "first", "last", "Linear"]
    assert facts["again"] == facts["body"]


def test_the_error_can_be_seen_without_scrolling(page: str, tmp_path: Path):
    facts = facts_of(page, tmp_path)
    assert facts["bad"] == ["23"]
    assert facts["fits"]


def test_dark_has_colours_of_its_own(page: str, tmp_path: Path):
    light, dark = facts_of(page, tmp_path), facts_of(page, tmp_path, dark=True)
    assert (light["text"], dark["text"]) == ("rgb(0, 0, 0)", "rgb(255, 255, 255)")
    assert light["error"] != dark["error"]
    assert light["shape"] != dark["shape"]
