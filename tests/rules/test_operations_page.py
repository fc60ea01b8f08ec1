"""docs/operations.md lists what the table of rules holds."""

import re
from pathlib import Path

from simpletorch.cli._coverage import COLUMNS, measured
from simpletorch.cli._ops import operations
from simpletorch.rules import MODULES, RULES

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
COMMAND = "python benchmarks/op_coverage.py --docs docs/operations.md"


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


def test_the_page_says_when_it_was_measured_and_how():
    text = PAGE.read_text()
    assert COMMAND in text
    assert re.search(r"Measured on \d{4}-\d\d-\d\d with torch \d", text)
    assert re.search(r"^\| wrong \| 0 \|$", text, re.MULTILINE)
    assert re.search(r"^\| false error \| 0 \|$", text, re.MULTILINE)
