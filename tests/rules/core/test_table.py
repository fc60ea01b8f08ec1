"""The tables of rules: every name is there at once, what it stands for when it is asked for."""

import subprocess
import sys

import pytest


def run(source: str) -> str:
    """What a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout.strip()


def test_the_index_is_that_of_the_modules():
    checked = subprocess.run([sys.executable, "-m", "simpletorch.rules.core.families", "--check"], check=False)
    assert checked.returncode == 0, "run: python -m simpletorch.rules.core.families"


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("RULES['torch.fft.fft'].names", True),
        ("RULES.get('torch.fft.fft').names", True),
        ("len(RULES.values())", True),
        ("'torch.fft.fft' in RULES", False),
        ("len(RULES)", False),
        ("list(RULES)", False),
        ("RULES.get('torch.nothing')", False),
    ],
)
def test_a_family_is_read_when_an_entry_is_asked_for(asked, read):
    module = "simpletorch.rules.functions.signal.fft"
    shown = run(f"import sys\nfrom simpletorch.rules import RULES\n{asked}\nprint({module!r} in sys.modules)")
    assert shown == str(read)


def test_a_rule_of_ones_own_is_in_the_table():
    shown = run(
        "from simpletorch.rules import RULES, infer\nfrom simpletorch.rules.core.registry import rule\n"
        "rule('mine.twice')(lambda n: 2 * n)\nprint('mine.twice' in RULES, infer('mine.twice', (7,)), RULES.get('no'))"
    )
    assert shown == "True 14 None"
