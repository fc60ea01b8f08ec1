"""docs/operations.md lists what the table of rules holds."""

import re
from pathlib import Path

from benchmarks.op_coverage import COMMAND
from simpletorch.cli import _coverage
from simpletorch.cli._coverage import COLUMNS, measured
from simpletorch.cli._ops import operations
from simpletorch.rules import MODULES, RULES

PAGE = Path(__file__).parents[3] / "docs" / "operations.md"
CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"
DATA = Path(_coverage.__file__).with_name(_coverage.FILE)


def test_the_page_lists_every_rule_of_the_table_with_what_was_measured():
    rows = {
        (tuple(re.findall(r"`([^`]+)`", names)), rule.replace("\\|", "|"), counts)
        for names, rule, counts in re.findall(
            r"^\| (`[^|]*`) \| (.*?) \|((?: \d* \|){8})$", PAGE.read_text(), re.MULTILINE
        )
    }
    expected = {
        (o.names, o.rule.replace("``", "`"), "".join(f" {getattr(o.coverage, c, '')} |" for c in COLUMNS))
        for o in operations()
    }
    stale, missing = sorted(rows - expected), sorted(expected - rows)
    assert rows == expected, f"run: {COMMAND}\nno longer so: {stale[:5]}\nnot on the page: {missing[:5]}"


def test_nothing_was_measured_wrong():
    every = [c for c in measured().values() if c.wrong or c.false_error]
    assert every == []
    assert {n for n in measured() if n not in RULES and n not in MODULES} == set()


def test_what_is_generated_says_so_with_the_command_that_does_it():
    for path in (PAGE, DATA, CONTRIBUTING):
        assert COMMAND in path.read_text(), path


def test_the_page_says_when_it_was_measured_and_how():
    text = PAGE.read_text()
    assert re.search(r"Measured on \d{4}-\d\d-\d\d with torch \d", text)
    assert re.search(r"^\| wrong \| 0 \|$", text, re.MULTILINE)
    assert re.search(r"^\| false error \| 0 \|$", text, re.MULTILINE)
