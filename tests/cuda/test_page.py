"""What docs/gpu.md shows runs, from the first block to the last, with and without a GPU."""

import re
from pathlib import Path

from simpletorch.follow import follow

PAGE = (Path(__file__).parents[2] / "docs/gpu.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_runs(capsys):
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCKS:
        exec(compile(block, "docs/gpu.md", "exec"), names)
    assert "parameters" in capsys.readouterr().out
    assert str(names["message"]).startswith("add: a buffer of float32 (64, 784) is used that was given back at")
    assert str(names["y"].dtype) == "torch.bfloat16"
    assert str(names["loss"].dtype) == "torch.float32"


def test_the_race_is_warned_of_as_shown(tmp_path):
    path = tmp_path / "race.py"
    path.write_text(
        "import torch\nx = torch.randn(512, 512, device='cuda')\nside = torch.cuda.Stream()\n"
        "with torch.cuda.stream(side):\n    y = x @ x\nz = y + x\n"
    )
    (warning,) = follow(path).warnings
    for line in warning.lines()[:2]:
        assert line.removeprefix(f"{tmp_path}/") in PAGE


def test_the_page_is_followed_without_a_finding(tmp_path):
    path = tmp_path / "page.py"
    path.write_text("".join(BLOCKS))
    found = follow(path)
    assert not found.faults
    assert found.errors == ()
    assert found.warnings == ()
