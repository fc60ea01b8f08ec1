"""One cache for all tests of the command line: mypy reads torch once."""

import pytest


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(tmp_path, shared_cache, monkeypatch):
    """An empty current folder, no configuration of one's own, and the shared cache."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    for name in ("MYPY_CACHE_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"
