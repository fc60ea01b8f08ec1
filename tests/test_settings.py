"""What a project says to simpletorch in its configuration."""

import pytest

from simpletorch._settings import FOLLOW_VARIABLE, SettingError, settings


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch):
    monkeypatch.delenv(FOLLOW_VARIABLE, raising=False)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()  # no file of a folder around counts
    return tmp_path


def test_nothing_is_said(project):
    found = settings()
    assert found.follow
    assert found.severities == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "pyproject.toml",
            '[tool.simpletorch.findings]\ntensor-loss = "error"\ntensor-size = true\ntensor-grad = false',
        ),
        ("pyproject.toml", '[tool.simpletorch]\ntensor-loss = "error"\ntensor-size = "warning"\ntensor-grad = "off"'),
        ("mypy.ini", "[mypy]\n[simpletorch]\ntensor-loss = error\ntensor-size = yes\ntensor-grad = no"),
        ("setup.cfg", "[simpletorch]\ntensor-loss = Error\ntensor-size = warning\ntensor-grad = off"),
    ],
)
def test_severities(name, text, project):
    (project / name).write_text(text)
    expected = {"tensor-loss": "error", "tensor-size": "warning", "tensor-grad": "off"}
    assert settings().severities == expected
    assert settings(project / name).severities == expected


def test_the_nearest_file_with_a_part_for_us_counts(project, monkeypatch):
    (project / "pyproject.toml").write_text("[tool.simpletorch]\nfollow = false\n")
    (project / "inner").mkdir()
    (project / "inner" / "mypy.ini").write_text("[mypy]\nplugins = simpletorch.mypy\n")
    monkeypatch.chdir(project / "inner")
    assert not settings().follow
    assert not settings("mypy.ini").follow
    (project / "inner" / "mypy.ini").write_text("[simpletorch]\nfollow = true\n")
    assert settings("mypy.ini").follow
    monkeypatch.setenv(FOLLOW_VARIABLE, "off")
    assert not settings("mypy.ini").follow


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('tensor-traning = "off"', "pyproject.toml: tensor-traning is no setting .* did you mean tensor-training"),
        ("folow = false", "folow is no setting .* did you mean follow"),
        ("x = 3", "x is no setting .* there are follow, data, cache, libraries, models, tensor-"),
        ('tensor-loss = "loud"', "tensor-loss = 'loud' is no severity; there are error, warning, note, off"),
        ("tensor-loss =", r"can't read the configuration .*pyproject.toml: .*line 2"),
    ],
)
def test_what_says_nothing_is_refused(text, said, project):
    (project / "pyproject.toml").write_text(f"[tool.simpletorch]\n{text}\n")
    with pytest.raises(SettingError, match=said):
        settings()
