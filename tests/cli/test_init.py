"""`simpletorch init` and `simpletorch completion`."""

import json
import shutil
import subprocess
import tomllib

import pytest

from simpletorch.cli import main
from simpletorch.cli._config import DEFAULTS, read

PYPROJECT = """\
# a project
[project]
name = "mine"  # of mine

[tool.mypy]
plugins = [
    "numpy.typing.mypy_plugin",  # dtypes
]
check_untyped_defs = false

[[tool.mypy.overrides]]
module = "old.*"
ignore_errors = true
"""
INI = """\
# ours
[mypy]
# where to look
files = src
plugins = numpy.typing.mypy_plugin

[mypy-old.*]
ignore_errors = true
"""


def again(capsys, name):
    assert main(["init"]) == 0
    assert capsys.readouterr().out == f"{name}: nothing to do, it is all there\n"


def test_a_project_without_any_configuration(folder, capsys):
    assert main(["init"]) == 0
    assert capsys.readouterr().out == f"pyproject.toml: added {', '.join(DEFAULTS)}\n"
    section = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["mypy"]
    assert section["plugins"] == ["simpletorch.mypy"]
    assert section["allow_redefinition"] is True
    again(capsys, "pyproject.toml")


def test_what_stands_in_pyproject_stays(folder, capsys):
    file = folder / "pyproject.toml"
    file.write_text(PYPROJECT)
    assert main(["init"]) == 0
    capsys.readouterr()
    text = file.read_text()
    assert [line for line in PYPROJECT.splitlines() if line not in text.splitlines()] == []
    document = tomllib.loads(text)["tool"]["mypy"]
    assert document["plugins"] == ["simpletorch.mypy", "numpy.typing.mypy_plugin"]
    assert document["check_untyped_defs"] is False
    assert document["overrides"] == [{"module": "old.*", "ignore_errors": True}]
    again(capsys, "pyproject.toml")
    assert file.read_text() == text


@pytest.mark.parametrize(
    "plugins", ["numpy.typing.mypy_plugin", "\n    numpy.typing.mypy_plugin,\n    other", "", None]
)
def test_what_stands_in_an_ini_file_stays(folder, plugins, capsys):
    file = folder / "mypy.ini"
    old = "plugins = numpy.typing.mypy_plugin\n"
    file.write_text(INI.replace(old, "" if plugins is None else f"plugins = {plugins}\n"))
    before = read(file)
    assert main(["init"]) == 0
    capsys.readouterr()
    after = read(file)
    assert not (folder / "pyproject.toml").exists()
    names = [n.strip() for n in (plugins or "").split(",") if n.strip()]
    assert [n.strip() for n in after["mypy"].pop("plugins").split(",") if n.strip()] == ["simpletorch.mypy", *names]
    before["mypy"].pop("plugins", None)
    assert after == {**before, "mypy": {**{k: v for k, v in DEFAULTS.items() if k != "plugins"}, **before["mypy"]}}
    assert "# ours\n" in file.read_text()
    assert "# where to look\n" in file.read_text()
    again(capsys, "mypy.ini")


def test_an_ini_file_without_a_section(folder, capsys):
    (folder / "mypy.ini").write_text("# nothing yet")
    assert main(["init"]) == 0
    assert read(folder / "mypy.ini")["mypy"] == DEFAULTS
    assert (folder / "mypy.ini").read_text().startswith("# nothing yet\n")


def test_what_can_t_be_read_is_left_alone(folder, capsys):
    (folder / "pyproject.toml").write_text("[tool\n")
    assert main(["init"]) == 2
    assert "simpletorch init: can't read the mypy configuration" in capsys.readouterr().err
    assert (folder / "pyproject.toml").read_text() == "[tool\n"


def test_the_configuration_is_used_as_it_is(folder, capsys):
    assert main(["init"]) == 0
    (folder / "plain.py").write_text("x: int = 3\n")
    capsys.readouterr()
    assert main(["check", "--json", "plain.py"]) == 0
    assert json.loads(capsys.readouterr().out)["configuration"] == str(folder / "pyproject.toml")


def test_a_workflow_is_added_once(folder, capsys):
    assert main(["init", "--ci", "github"]) == 0
    workflow = folder / ".github" / "workflows" / "simpletorch.yml"
    assert "simpletorch check --output github" in workflow.read_text()
    workflow.write_text("mine\n")
    assert main(["init", "--ci", "github"]) == 0
    assert workflow.read_text() == "mine\n"


# -- completion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_its_script(shell, folder, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("follow", "check", "--watch", "--shapes"):
        assert word.lstrip("-") in script
    if program := shutil.which(shell):
        (folder / "script").write_text(script)
        subprocess.run([program, "-n", "script"], check=True)


def test_bash_completes_commands_and_options(folder, capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out + (
        "complete -p simpletorch >/dev/null\n"
        "COMP_WORDS=(simpletorch check --wat); COMP_CWORD=2\n"
        "$(complete -p simpletorch | sed 's/.*-F \\([^ ]*\\) .*/\\1/')\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--watch"]
