"""The extension for VS Code, where ``make vscode`` has built it: the bundle starts the server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "editors/vscode"
COMMANDS = {"simpletorch.followWith", "simpletorch.showShapes", "simpletorch.restart", "simpletorch.follow"}


@pytest.mark.slow
@pytest.mark.skipif(not (FOLDER / "dist/extension.js").exists() or not shutil.which("node"), reason="make vscode")
def test_the_bundle_starts_the_server():
    server = [sys.executable, "-m", "simpletorch.cli", "language-server"]
    command = ["node", str(FOLDER / "test/headless.js"), *server]
    known = {k: v for k, v in os.environ.items() if k != "SIMPLETORCH_FOLLOW"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=known, timeout=90)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["commands"]) >= COMMANDS
    assert len(found["said"]) == 1


def test_what_the_extension_sets_is_what_the_server_reads():
    """The page says what settings there are; so does the extension."""
    package = json.loads((FOLDER / "package.json").read_text())
    settings = {name.removeprefix("simpletorch.") for name in package["contributes"]["configuration"]["properties"]}
    page = (FOLDER.parents[1] / "docs/editors.md").read_text()
    rows = {line.split("`")[1] for line in page.partition("## Settings")[2].splitlines() if line.startswith("| `")}
    assert settings - {"command"} == rows


def test_what_it_tells_to_install_is_this_package():
    """On the index another project has the name of the import."""
    name = re.search(r'^name = "([^"]+)"', (FOLDER.parents[1] / "pyproject.toml").read_text(), re.MULTILINE)
    told = re.findall(r"pip install '([^'\[]+)", (FOLDER / "src/extension.ts").read_text())
    assert name is not None
    assert told == [name[1]]
