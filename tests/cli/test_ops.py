"""`simpletorch ops`."""

import json
import subprocess
import sys

import pytest

from simpletorch.cli import _ops, main
from simpletorch.cli._coverage import Coverage, measured_on, total
from simpletorch.rules import MODULES, RULES


def test_an_operation_is_shown_with_its_family_names_and_rule(capsys):
    assert main(["ops", "torch.mm"]) == 0
    assert capsys.readouterr().out == (
        "matmul: Matrix products.\n"
        "  torch.mm\n"
        "      (n, k) @ (k, m) -> (n, m)\n"
        f"      {total(['torch.mm']).text}\n"
        "\n"
        "1 rule for 1 name\n"
        f"{total(['torch.mm']).text} (torch {measured_on()[1]}'s own test inputs, {measured_on()[0]})\n"
    )


def test_coverage_counts_what_was_right_and_what_was_not():
    good, bad = Coverage(3, 3, 0, 0, 0, 0, 2, 2), Coverage(5, 1, 1, 1, 1, 1)
    assert good.text == "3 of 3 calls exact, 2 of 2 that must fail flagged"
    assert bad.text == "1 of 5 calls exact, 1 partial, 1 unknown, 1 wrong, 1 false errors"
    assert good + bad == Coverage(8, 4, 1, 1, 1, 1, 2, 2)
    assert total(["torch.no_such_operation"]) is None


def test_without_a_pattern_every_operation_and_module_is_listed(capsys):
    assert main(["ops", "--json"]) == 0
    listed = [name for o in json.loads(capsys.readouterr().out) for name in o["names"]]
    assert sorted(listed) == sorted([*RULES, *MODULES])


def test_the_case_of_a_pattern_does_not_matter(capsys):
    assert main(["ops", "CONV2D", "--json"]) == 0
    names = {n for o in json.loads(capsys.readouterr().out) for n in o["names"]}
    assert {"torch.conv2d", "torch.nn.functional.conv2d", "torch.nn.Conv2d"} <= names
    assert all("conv2d" in n.lower() for n in names)


def test_nothing_found_is_exit_code_1(capsys):
    assert main(["ops", "no_such_operation"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "simpletorch ops: nothing has 'no_such_operation' in its name\n"
    assert main(["ops", "no_such_operation", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == []


def test_every_operation_has_a_rule_and_every_family_a_title():
    found = _ops.operations()
    assert all(o.rule for o in found)
    assert all(_ops.title(family).endswith(".") for family in {o.family for o in found})


def test_lines_are_as_wide_as_the_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["ops", "softmax"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert main(["ops", "softmax"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) > 60


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_error():
    command = f"{sys.executable} -m simpletorch.cli ops | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.slow
def test_torch_is_not_loaded():
    code = "import sys; from simpletorch.cli import main; main(['ops', 'mm']); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
