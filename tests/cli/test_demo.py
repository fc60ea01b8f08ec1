"""`simpletorch demo`: what it shows has happened, or it fails."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from simpletorch.cli import _demo, main
from simpletorch.cli._run import Diagnostic


@pytest.mark.slow
def test_the_demo_ends_well_and_is_plain_text_when_piped(folder):
    """And it needs the declared dependencies only."""
    packages = ("sklearn", "scipy", "pandas", "PIL", "matplotlib", "einops", "datasets", "torchmetrics", "IPython")
    missing = "".join(f"sys.modules['{name}'] = None\n" for name in packages)
    program = f"import sys\n{missing}from simpletorch.cli import main\nsys.exit(main(['demo']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    out = done.stdout
    assert "\x1b" not in out
    assert "\r" not in out + done.stderr
    assert out.index("net.py:6: error: Linear(100, 10)") < out.index("simpletorch check model.py")
    assert re.search(r"^tensor-shape model\.py:\d+:\d+$", out, re.MULTILINE)
    assert "✔ No error." in out
    accuracy = re.search(r"✔ ([\d.]+)% of the test images", out)
    assert accuracy is not None
    assert float(accuracy[1]) >= 97
    assert "dim 3 of x is 7, not 8" in out
    assert "predict.py:11: scores" in out


def found(*diagnostics):
    return lambda console, file: (list(diagnostics), 0.0)


BUG = Diagnostic("model.py", 25, 20, 25, 51, "error", "does not fit", "tensor-shape")


def test_the_script_is_readme_s():
    assert f"```python\n{_demo.SCRIPT}```" in (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_follower_comes_first_and_its_find_is_needed(monkeypatch, capsys):
    monkeypatch.setattr(_demo, "SCRIPT", _demo.SCRIPT.replace("100, 10", "128, 10"))
    assert main(["demo"]) == 1
    said = capsys.readouterr().out.replace("\n", " ")
    assert "== 1  A plain PyTorch script" in said
    assert "demo failed: following should find the bug in line 6 of the script, but said:" in said


def test_it_fails_when_mypy_misses_the_bug(monkeypatch, capsys):
    monkeypatch.setattr(_demo, "_check", found())
    assert main(["demo"]) == 1
    assert "demo failed: mypy should report one tensor-shape error" in capsys.readouterr().out


def test_it_fails_when_mypy_refuses_the_fixed_model(monkeypatch, capsys):
    monkeypatch.setattr(_demo, "_check", found(BUG))
    assert main(["demo"]) == 1
    assert "demo failed: mypy should find nothing in the fixed model, but" in capsys.readouterr().out


def test_it_fails_when_the_model_does_not_learn(monkeypatch, capsys):
    monkeypatch.setattr(_demo, "_check_both", lambda console, file: file.write_text(_demo._source("_digits_model.py")))
    monkeypatch.setattr(_demo, "EPOCHS", 1)
    monkeypatch.setattr(_demo, "ACCURACY", 0.999)
    assert main(["demo"]) == 1
    assert re.search(r"demo failed: the model should reach 100% .*, but it\s+reached", capsys.readouterr().out)


def test_it_fails_when_nothing_goes_wrong_at_run_time(monkeypatch, capsys, tmp_path):
    import torch
    from rich.console import Console

    with pytest.raises(_demo.DemoError, match="PyTorch should have refused them"):
        _demo._run_time(Console(), tmp_path / "model.py", torch.nn.Flatten())
