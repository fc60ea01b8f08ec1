"""What all tests of the command line need."""

import pytest

from tests import warm


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder, no configuration of one's own, and a cache in which mypy finds torch."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    for name in ("MYPY_CACHE_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(warm.home(tmp_path)))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"
