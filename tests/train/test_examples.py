"""The examples do what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def output_of(name):
    # One thread: on a busy machine more of them only wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_digits_are_read_with_at_least_97_percent():
    share = re.search(r"([\d.]+)% of the test images are read correctly", output_of("digits.py"))
    assert share is not None
    assert float(share[1]) >= 97


MEASURES = r"epoch 10: loss ([\d.]+), validation loss ([\d.]+), validation accuracy ([\d.]+), "


def test_ten_lines_are_enough_for_98_percent_and_print_what_the_readme_shows():
    line = output_of("ten_lines.py").splitlines()[-1]
    loss, validation_loss, accuracy = map(float, re.match(MEASURES, line).groups())
    assert accuracy >= 0.98
    shown = re.search(rf"^{MEASURES}.*$", (EXAMPLES.parent / "README.md").read_text(), re.MULTILINE)
    # no seed is set, and processors round differently
    assert [float(number) for number in shown.groups()] == pytest.approx([loss, validation_loss, accuracy], abs=0.03)
    right = round(float(shown[3]) * 360)
    assert f"{right / 360:.4f}" == shown[3]
    assert f"{shown[3]} is {right} of 360 images" in (EXAMPLES.parent / "README.md").read_text()
    form = re.sub(r"[\d,]+(\.\d+)?", "0", line)
    assert re.sub(r"[\d,]+(\.\d+)?", "0", shown[0]) == form


def test_the_readme_shows_the_ten_lines():
    code = (EXAMPLES / "ten_lines.py").read_text().partition("# fmt: off\n")[2]
    assert code in (EXAMPLES.parent / "README.md").read_text()
    assert len([line for line in code.splitlines() if line]) == 10


def test_the_plain_torch_example_runs():
    assert "attention [2, 5, 7]" in output_of("plain_torch.py")
