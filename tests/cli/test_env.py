"""`simpletorch env`."""

import json
import platform

import torch

from simpletorch.cli import _env, main


def test_the_table_names_versions_and_devices(capsys):
    assert main(["env"]) == 0
    out = capsys.readouterr().out
    assert torch.__version__ in out
    assert platform.python_version() in out
    assert "threads in torch" in out
    assert "\x1b" not in out


def test_json_holds_the_same(capsys, monkeypatch):
    monkeypatch.setenv("SIMPLETORCH_CHECK", "full")
    assert main(["env", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["torch"] == torch.__version__
    assert found["versions"]["mypy"].startswith("2.")
    assert "gloo" in found["capabilities"]["distributed"]
    assert found["settings"]["SIMPLETORCH_CHECK"] == "full"
    assert ("cuda:0" in found["devices"]) == torch.cuda.is_available()


def test_something_needed_that_is_missing_is_exit_code_1(capsys, monkeypatch):
    version = _env.version_of
    monkeypatch.setattr(_env, "version_of", lambda package: None if package == "torch" else version(package))
    assert main(["env"]) == 1
    assert "torch         not installed" in capsys.readouterr().out
