"""What tools read: JSON whatever fails, GitHub's annotations, SARIF."""

import json

import pytest

from simpletorch.cli import main
from simpletorch.cli._output import Outcome, grouped, written
from simpletorch.cli._run import Diagnostic
from simpletorch.follow.cache.kept import Question

MISTAKEN = """\
import torch
from torch import nn

model = nn.Linear(5, 7)


def run(x):
    return model(x)


run(torch.zeros(2, 3))
"""
ERROR = Diagnostic("net.py", 3, 5, 3, 9, "error", "100 % wrong: a, b\nand c", "tensor-shape")
HINT = Diagnostic("net.py", 3, None, None, None, "note", "hint: right", None)
CALL = Diagnostic("train.py", 11, None, None, None, "note", "called here", None)
ALONE = Diagnostic("net.py", 2, 1, 4, 3, "note", "Revealed type is 3", None)


def outcome(*diagnostics, **more):
    return Outcome("check", 1, diagnostics, **more)


@pytest.fixture
def program(folder):
    (folder / "net.py").write_text(MISTAKEN)
    return folder


def test_notes_stay_with_their_finding():
    assert list(grouped([ALONE, ALONE, ERROR, HINT, CALL, ERROR])) == [
        (ALONE, []),
        (ALONE, []),
        (ERROR, [HINT, CALL]),
        (ERROR, []),
    ]


# -- GitHub ----------------------------------------------------------------------------------------------------------


def test_an_annotation_is_one_line_with_its_notes():
    lines = written(outcome(ERROR, HINT, CALL, summary="Found 1 error"), "github").splitlines()
    assert lines == [
        "::error file=net.py,line=3,endLine=3,col=5,endColumn=9,title=tensor-shape::"
        "100 %25 wrong: a, b%0Aand c%0Ahint: right%0Atrain.py:11: called here",
        "Found 1 error",
    ]


def test_an_annotation_of_several_lines_has_no_last_column():
    assert written(outcome(ALONE), "github") == ("::notice file=net.py,line=2,endLine=4,col=1::Revealed type is 3")


def test_a_file_with_colon_and_comma_is_escaped():
    odd = Diagnostic("a,b:c.py", 3, None, None, None, "warning", "odd", None)
    assert written(outcome(odd), "github") == "::warning file=a%2Cb%3Ac.py,line=3::odd"


def test_files_are_named_from_the_workspace(folder, monkeypatch):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    assert "file=project/net.py," in written(outcome(ERROR), "github")


def test_a_problem_is_an_annotation_too(folder, capsys):
    assert main(["check", "--output", "github", "nowhere.py"]) == 2
    assert capsys.readouterr().out == "::error title=simpletorch check::no such file or folder: nowhere.py\n"


# -- SARIF -----------------------------------------------------------------------------------------------------------


def test_sarif_has_what_a_code_scanner_needs(program, capsys):
    assert main(["follow", "--output", "sarif", "net.py"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert rule["id"] == result["ruleId"] == "tensor-shape"
    assert rule["shortDescription"] == {"text": "Shapes of tensors that don't fit"}
    assert result["ruleIndex"] == 0
    assert result["level"] == "error"
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "net.py"},
        "region": {"startLine": 8, "startColumn": 12, "endLine": 8, "endColumn": 20},  # the column behind model(x)
    }
    (call,) = result["relatedLocations"]
    assert call["physicalLocation"]["region"] == {"startLine": 11}
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1, "toolExecutionNotifications": []}]


def test_sarif_of_a_problem(folder, capsys):
    assert main(["follow", "--output", "sarif", "nowhere.py"]) == 2
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    (said,) = invocation["toolExecutionNotifications"]
    assert said == {"level": "error", "message": {"text": "no such file: nowhere.py"}}


def test_a_place_in_sarif_is_a_uri(tmp_path):
    odd = Diagnostic(str(tmp_path / "a b#c.py"), 3, None, None, None, "error", "odd", None)
    (result,) = json.loads(written(outcome(odd), "sarif"))["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == f"file://{tmp_path}/a%20b%23c.py"


# -- several at once --------------------------------------------------------------------------------------------------


def test_a_format_goes_into_a_file_beside_what_is_printed(program, capsys):
    words = ["--output", "sarif=out.sarif", "--output", "github", "--output", "markdown=summary.md"]
    assert main(["follow", *words, "net.py"]) == 1
    assert capsys.readouterr().out.startswith("::error file=net.py,line=8,")
    assert len(json.loads((program / "out.sarif").read_text())["runs"][0]["results"]) == 1
    assert "| `net.py:8` |" in (program / "summary.md").read_text()
    assert main(["follow", "--output", "json=out.json", "net.py"]) == 1
    assert capsys.readouterr().out.startswith("net.py:8: error: ")
    assert json.loads((program / "out.json").read_text())["exit_code"] == 1
    assert main(["follow", "--output", "json=out.json", "nowhere.py"]) == 2
    assert json.loads((program / "out.json").read_text())["error"] == "no such file: nowhere.py"


def test_a_file_that_can_t_be_written(program, capsys):
    assert main(["follow", "--output", "json=nowhere/out.json", "net.py"]) == 2
    assert "nowhere/out.json can't be written: No such file or directory" in capsys.readouterr().err
    assert main(["follow", "--output", "json=nowhere/out.json", "nowhere.py"]) == 2
    assert "no such file: nowhere.py; nowhere/out.json can't be written" in capsys.readouterr().err


def test_markdown_shows_signs_as_they_are():
    odd = Diagnostic("net.py", 3, None, None, None, "error", "[a|b] <i> `x`\nand *y*", "tensor-shape")
    assert r"| \[a\|b\] \<i\> \`x\`<br>and \*y\* | tensor-shape |" in written(outcome(odd), "markdown")


# -- JSON whatever fails ---------------------------------------------------------------------------------------------


def problem(capsys, *words):
    assert main(words) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == 2
    assert document["diagnostics"] == []
    return document["error"]


def test_a_missing_file_is_json(folder, capsys):
    assert problem(capsys, "check", "--json", "nowhere.py") == "no such file or folder: nowhere.py"
    assert problem(capsys, "follow", "--json", "nowhere.py") == "no such file: nowhere.py"


def test_a_configuration_that_says_nothing_is_json(program, capsys):
    (program / "mypy.ini").write_text("[mypy]\nplugins = simpletorch.mypy\n[simpletorch]\ntensor-shapes = off\n")
    for words in (["check", "--json"], ["follow", "--json", "net.py"]):
        assert "did you mean tensor-shape?" in problem(capsys, *words)


def test_a_configuration_that_can_t_be_read_is_json(program, capsys):
    (program / "mypy.ini").write_text("plugins\n")
    assert "can't read the mypy configuration" in problem(capsys, "check", "--json")


def test_a_mistake_of_our_own_is_json(program, monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("seven by nothing")

    monkeypatch.setattr(Question, "followed", fail)
    said = problem(capsys, "follow", "--json", "net.py")
    assert said.startswith("internal error, please report it")
    assert said.endswith("ZeroDivisionError: seven by nothing")


PLUGIN = """\
from mypy.plugin import Plugin

class Broken(Plugin):
    def get_type_analyze_hook(self, fullname):
        raise ZeroDivisionError("seven by nothing")

def plugin(version):
    return Broken
"""


@pytest.mark.parametrize("plugins", ["nowhere", "broken.py"])
def test_a_crash_of_mypy_is_json(folder, plugins, capsys):
    (folder / "broken.py").write_text(PLUGIN)
    (folder / "mypy.ini").write_text(f"[mypy]\nplugins = {plugins}\n")
    (folder / "plain.py").write_text("x: int = 3\n")
    assert main(["check", "--json", "--no-follow", "plain.py"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == 2
    said = document["error"] or document["diagnostics"][0]["message"]
    assert "INTERNAL ERROR" in said or "nowhere" in said


def test_a_watch_is_for_people(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--watch", "--json"])
    assert "--watch runs until Ctrl-C" in capsys.readouterr().err


def test_a_package_without_stubs_is_no_mistake(folder, capsys):
    (folder / "plain.py").write_text("import yaml\nimport a_package_that_is_nowhere\n")
    assert main(["check", "--json", "--no-follow", "plain.py"]) == 1
    errors = [d for d in json.loads(capsys.readouterr().out)["diagnostics"] if d["severity"] == "error"]
    assert [(d["line"], d["code"]) for d in errors] == [(2, "import-not-found")]
