"""What docs/kernels.md shows runs, from the first block to the last, and prints what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PAGE = (Path(__file__).parents[2] / "docs/kernels.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    names = vars(module)
    for block in BLOCKS:
        exec(compile(block, "docs/kernels.md", "exec"), names)
    shown = re.findall(r"^```\n((?:main::relu_add|a step reads).*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert capsys.readouterr().out == "".join(shown)
    x, y = names["torch"].ones(3, 5), names["torch"].ones(3, 7)
    with pytest.raises(Exception, match=r"^relu_add: \*n is \(3, 7\) in y, but \(3, 5\) before"):
        names["relu_add"](x, y)
    assert names["positive"](x[0]).tolist() == [0, 1, 2, 3, 4]


def test_a_first_operator_takes_ten_lines():
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) <= 10
