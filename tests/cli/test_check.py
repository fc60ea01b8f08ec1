"""`simpletorch check`."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from simpletorch.cli import _check as check_module
from simpletorch.cli import main
from simpletorch.cli._check import MYPY_NEEDED, why_not
from simpletorch.cli._config import PRIVATE, Config, daemon_file, read
from simpletorch.cli._run import Diagnostic, Report
from simpletorch.cli._show import block, show
from tests import warm

BUGGY = """\
import torch
import torch.nn.functional as F
from jaxtyping import Float32
from torch import nn


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 131)
        self.fc2 = nn.Linear(101, 11)

    def forward(self, x: Float32[torch.Tensor, "batch 784"]) -> Float32[torch.Tensor, "batch 11"]:
        x = F.relu(self.fc1(x))
        return self.fc2(x)
"""
FIXED = BUGGY.replace("101", "131")


def test_a_bug_is_found_and_told_as_mypy_does(folder, capsys):
    (folder / "model.py").write_text(BUGGY)
    assert main(["check", "model.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"model\.py:15:16: error: .*131.*101.*  \[tensor-shape\]", lines[0])
    assert lines[-1] == "Found 1 error in 1 file (checked 1 source file)"


def test_the_fixed_model_passes(folder, capsys):
    (folder / "model.py").write_text(FIXED)
    assert main(["check", "model.py"]) == 0
    assert capsys.readouterr().out == "Success: no issues found in 1 source file\n"


def test_the_current_folder_is_checked_by_default(folder, capsys):
    (folder / "model.py").write_text(BUGGY)
    (folder / "fixed.py").write_text(FIXED)
    assert main(["check"]) == 1
    assert "Found 1 error in 1 file (checked 2 source files)" in capsys.readouterr().out


def test_json_is_one_document(folder, capsys):
    (folder / "model.py").write_text(BUGGY)
    assert main(["check", "--json", "model.py"]) == 1
    document = json.loads(capsys.readouterr().out)
    (error,) = [item for item in document["diagnostics"] if item["severity"] == "error"]
    assert (error["file"], error["line"], error["column"], error["code"]) == ("model.py", 15, 16, "tensor-shape")
    assert (error["end_line"], error["end_column"]) == (15, 26)
    assert document["exit_code"] == 1
    assert document["configuration"] is None
    assert document["versions"]["mypy"] == metadata.version("mypy")


@pytest.fixture
def _daemon(folder):
    """Ends the daemon of the folder."""
    yield
    subprocess.run([sys.executable, "-m", "mypy.dmypy", "--status-file", daemon_file(), "stop"], check=True)


def save(file, text):
    """Write a file, a second younger than it was: mypy takes one of the same size and second to be the same."""
    later = file.stat().st_mtime + 1 if file.exists() else time.time()
    file.write_text(text)
    os.utime(file, (later, later))


@pytest.mark.slow
@pytest.mark.usefixtures("_daemon")
def test_a_daemon_says_the_same_after_each_edit(folder, capsys):
    uses = "import torch\nfrom model import MLP\n\nreveal_type(MLP()(torch.zeros(7, 784)))\n"
    save(folder / "use.py", uses)
    for edited, shape in ((FIXED, "7, 11"), (BUGGY, "7, 11"), (FIXED.replace("11", "13"), "7, 13"), (FIXED, "7, 11")):
        save(folder / "model.py", edited)
        code = main(["check", "--daemon"])
        said = capsys.readouterr().out.partition("(checked ")[0]  # a daemon also counts what it has followed
        assert main(["check"]) == code == (edited == BUGGY)
        assert said == capsys.readouterr().out.partition("(checked ")[0]
        assert f"Tensor[Float32, {shape}]" in said


def test_sizes_and_gradual_tensors_are_written_as_people_write_them(folder, capsys):
    (folder / "model.py").write_text(
        "import torch\nfrom jaxtyping import Float32\n"
        'def f(x: Float32[torch.Tensor, "3 5"], y: torch.Tensor) -> None:\n'
        "    reveal_type(x)\n    reveal_type(y)\n"
    )
    assert main(["check", "model.py"]) == 0
    out = capsys.readouterr().out
    assert 'Revealed type is "Tensor[Float32, 3, 5]"' in out
    assert 'Revealed type is "Tensor"' in out


def test_strict_asks_for_annotations(folder, capsys):
    (folder / "plain.py").write_text("def f(x):\n    return x\n")
    assert main(["check", "plain.py"]) == 0
    assert main(["check", "--strict", "plain.py"]) == 1
    assert "[no-untyped-def]" in capsys.readouterr().out


def test_arguments_after_two_dashes_are_mypy_s(folder, capsys):
    (folder / "plain.py").write_text("x: int = ''\n")
    assert main(["check", "plain.py", "--", "--disable-error-code", "assignment"]) == 0
    assert main(["check", "plain.py"]) == 1


def test_the_project_s_configuration_is_used_and_said(folder, capsys):
    (folder / "mypy.ini").write_text("[mypy]\ndisallow_untyped_defs = true\n")
    (folder / "plain.py").write_text("def f(x):\n    return x\n")
    assert main(["check", "plain.py"]) == 1
    out = capsys.readouterr().out
    assert "[no-untyped-def]" in out
    assert f"Configuration: {folder}/mypy.ini, with plugins = simpletorch.mypy and allow_redefinition = true" in out
    assert main(["check", "plain.py", "--", "--config-file="]) == 0


def test_files_named_in_the_configuration_are_checked(folder, capsys):
    (folder / "mypy.ini").write_text("[mypy]\nfiles = one.py\n")
    (folder / "one.py").write_text("x: int = ''\n")
    (folder / "two.py").write_text("x: int = ''\n")
    assert main(["check"]) == 1
    assert "(checked 1 source file)" in capsys.readouterr().out


def test_a_syntax_error_is_mypy_s_exit_code_2(folder, capsys):
    (folder / "broken.py").write_text("def f(:\n")
    assert main(["check", "broken.py"]) == 2
    assert "broken.py:1" in capsys.readouterr().out


def test_a_missing_path_is_one_sentence(folder, capsys):
    assert main(["check", "nowhere.py", "neither"]) == 2
    assert capsys.readouterr().err == "simpletorch check: no such file or folder: nowhere.py, neither\n"


def test_a_missing_configuration_is_one_sentence(folder, capsys):
    (folder / "plain.py").write_text("x = 1\n")
    assert main(["check", "plain.py", "--", "--config-file", "nowhere.ini"]) == 2
    assert capsys.readouterr().err == "simpletorch check: there is no configuration file 'nowhere.ini'\n"


def versions(monkeypatch, **installed):
    def version(package):
        if package in installed:
            return installed[package]
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", version)


@pytest.mark.parametrize("mypy", ["1.19.1", "2.3.0", "3.0.0", "3.1.0+dev"])
def test_another_mypy_is_refused_with_the_one_to_install(monkeypatch, mypy):
    versions(monkeypatch, mypy=mypy)
    assert why_not([]) == (f"mypy {mypy} is installed, but the plugin needs mypy>=2.4,<3: pip install 'mypy>=2.4,<3'")


@pytest.mark.parametrize("mypy", ["2.4.0", "2.4.1", "2.5.0+dev.abc", "2.11.3"])
def test_mypy_as_needed_is_fine(monkeypatch, mypy):
    versions(monkeypatch, mypy=mypy)
    assert why_not([]) == ""


def test_no_mypy_at_all(monkeypatch):
    versions(monkeypatch)
    assert why_not([]) == "mypy is not installed: pip install 'mypy>=2.4,<3'"


def test_stubs_that_break_mypy_are_named(monkeypatch):
    versions(monkeypatch, mypy="2.4.1", **{"pyrefly-torch-stubs": "1.0"})
    assert why_not([]).endswith("pip uninstall pyrefly-torch-stubs")


def test_the_mypy_needed_is_the_one_in_pyproject():
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    low, high = MYPY_NEEDED
    assert f"mypy>={low[0]}.{low[1]},<{high[0]}" in pyproject["project"]["dependencies"]


def test_a_finding_is_shown_with_its_line(folder):
    (folder / "model.py").write_text("import torch\n\tx = f(a, b)\n")
    text = block(Diagnostic("model.py", 2, 6, 2, 12, "error", "it does not fit", "tensor-shape"), 80).plain
    assert text.splitlines() == [
        "tensor-shape model.py:2:6",
        "  it does not fit",
        "  2 │     x = f(a, b)",
        "    │         ^^^^^^^",
    ]


def test_a_finding_in_a_file_that_is_gone_is_shown_without_its_line(folder):
    text = block(Diagnostic("gone.py", 3, 1, None, None, "error", "why", None), 80).plain
    assert text.splitlines() == ["error gone.py:3:1", "  why"]


def test_a_report_for_people(folder, capsys):
    (folder / "model.py").write_text("x = 1\ny = x @ 2\n")
    report = Report(
        1,
        (
            Diagnostic("model.py", 2, 5, 2, 9, "error", "unsupported", "operator"),
            Diagnostic("model.py", 2, 5, 2, 9, "note", "hint: use *", None),
        ),
        (),
        "Found 1 error in 1 file (checked 1 source file)",
        0.1,
    )
    show(report, Config(folder / "mypy.ini", None, folder / "mypy.ini"))
    assert capsys.readouterr().out.splitlines() == [
        "operator model.py:2:5",
        "  unsupported",
        "  2 │ y = x @ 2",
        "    │     ^^^^^",
        "  hint: use *",
        "",
        f"Configuration: {folder}/mypy.ini",
        "✘ Found 1 error in 1 file (checked 1 source file)",
    ]


def test_an_interrupted_command_ends_quietly(monkeypatch, capsys):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(check_module, "check", interrupt)
    assert main(["check"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_an_output_without_the_characters_we_like_gets_others(folder):
    (folder / "model.py").write_text("x: int = ''\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = (
        "import sys; sys.stdout.isatty = lambda: True\n"
        "from simpletorch.cli import main; sys.exit(main(['check', 'model.py']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert done.returncode == 1, done.stderr
    assert b"Found 1 error" in done.stdout


def test_wrong_usage_is_exit_code_2(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["chek"])
    assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        main(["env", "--", "--strict"])
    assert caught.value.code == 2
    assert "it takes no arguments after --" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["check", "--foo"], "usage: simpletorch check [PATH ...]"),
        (["follow", "--foo", "net.py"], "usage: simpletorch follow [--shapes"),
        (["env", "--foo"], "usage: simpletorch env [-h] [--json]"),
    ],
)
def test_a_wrong_option_shows_the_usage_of_its_command(words, usage, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(usage)
    assert f"simpletorch {words[0]}: error: unrecognized arguments: --foo" in said


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"simpletorch {metadata.version('simpletorch-typed')}\n"


def test_checking_imports_no_torch(folder):
    (folder / "plain.py").write_text("x = 1\n")
    code = (
        "import sys; from simpletorch.cli import main; main(['check', 'plain.py']);"
        "sys.exit('torch' in sys.modules or 'rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


PUBLIC = """\
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.optim import AdamW
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset, random_split

model = nn.Linear(3, 5)
x = torch.zeros(2, 3)
reveal_type(model(x))
reveal_type(model.weight)
reveal_type(torch.cat([x]))
reveal_type(F.cross_entropy(x, x))
reveal_type(torch.compile(model))
reveal_type(torch.jit.script(model))
reveal_type(torch.export.export(model, (x,)))
reveal_type(OneCycleLR(AdamW(model.parameters()), 3.0, 3))
reveal_type(DistributedDataParallel(model))
reveal_type(dist.get_rank())
reveal_type(dist.init_process_group)
reveal_type(random_split(TensorDataset(x), [1, 1]))
reveal_type(DataLoader(TensorDataset(x)))
reveal_type(torch.func.vmap)
reveal_type(torch.no_grad())
reveal_type(torch.autograd.grad)
reveal_type(torch.autograd.Function.apply)
reveal_type(torch.fx.symbolic_trace(model))
reveal_type(torch.cuda.memory_allocated())
reveal_type(torch.amp.GradScaler())
reveal_type(torch.linalg.svd(x))
reveal_type(torch.onnx.export)
reveal_type(torch.profiler.profile)
reveal_type(torch.ao.quantization.quantize_dynamic)
reveal_type(torch.distributions.Normal(0.0, 1.0))
reveal_type(torch.fft.fft(x))
reveal_type(torch.testing.assert_close)
reveal_type(torch.library.custom_op)
reveal_type(torch.utils.checkpoint.checkpoint)
reveal_type(torch.sparse.mm)
reveal_type(torch.special.erf(x))
"""


@pytest.mark.slow
def test_skipping_torch_s_private_parts_changes_no_type_that_a_user_touches(folder):
    (folder / "public.py").write_text(PUBLIC)
    skipping, reading = warm.readme(folder), warm.cache(folder)
    skipped = [name for name in read(skipping / "mypy.ini") if name.startswith("mypy-")]
    assert skipped == [f"mypy-{package}.*" for package in PRIVATE]
    revealed = []
    for config, cache in ((skipping / "mypy.ini", skipping), (warm.STRICT, reading)):
        command = [sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", cache, "public.py"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        revealed.append([line for line in done.stdout.splitlines() if "Revealed type" in line])
    assert len(revealed[0]) == PUBLIC.count("reveal_type"), done.stdout + done.stderr
    assert revealed[0] == revealed[1]
