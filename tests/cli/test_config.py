"""The mypy configuration that `simpletorch check` uses."""

import configparser

import pytest

from simpletorch.cli._config import DEFAULTS, PRIVATE, ConfigError, configure


def written(config):
    parser = configparser.RawConfigParser()
    parser.read(config.file)
    return {name: dict(parser[name]) for name in parser.sections()}


def test_without_a_configuration_there_are_our_defaults(folder):
    config = configure()
    sections = written(config)
    assert (config.based_on, config.added) == (None, ())
    assert sections["mypy"] == DEFAULTS
    assert all(sections[f"mypy-{package}.*"] == {"follow_imports": "skip"} for package in PRIVATE)


def test_all_projects_without_a_configuration_share_a_cache(folder, monkeypatch):
    first = configure()
    (folder / "deeper").mkdir()
    monkeypatch.chdir(folder / "deeper")
    assert configure().cache == first.cache
    assert sorted(path.name for path in folder.iterdir()) == [".git", "deeper"]  # nothing was written here


def test_an_ini_file_keeps_its_settings_and_gets_the_plugin(folder):
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = true\nplugins = numpy.typing.mypy_plugin\n[mypy-foo.*]\nignore_errors = true\n"
    )
    config = configure()
    sections = written(config)
    assert config.based_on == folder / "mypy.ini"
    assert config.added == ("plugins = simpletorch.mypy", "allow_redefinition = true")
    assert sections["mypy"] == {
        "strict": "true",
        "plugins": "simpletorch.mypy, numpy.typing.mypy_plugin",
        "allow_redefinition": "true",
    }
    assert sections["mypy-foo.*"] == {"ignore_errors": "true"}


def test_pyproject_keeps_its_settings_and_gets_the_plugin(folder):
    (folder / "pyproject.toml").write_text(
        """
        [tool.mypy]
        strict = true
        python_version = "3.11"
        disable_error_code = ["misc", "override"]
        exclude = ["^build/", "_pb2\\\\.py$"]
        [[tool.mypy.overrides]]
        module = ["foo.*", "bar"]
        ignore_missing_imports = true
        [[tool.mypy.overrides]]
        module = "bar"
        ignore_errors = true
        """
    )
    sections = written(configure())
    assert sections["mypy"] == {
        "strict": "True",
        "python_version": "3.11",
        "disable_error_code": "misc, override",
        "exclude": r"(?:^build/)|(?:_pb2\.py$)",
        "plugins": "simpletorch.mypy",
        "allow_redefinition": "true",
    }
    assert sections["mypy-foo.*"] == {"ignore_missing_imports": "True"}
    assert sections["mypy-bar"] == {"ignore_missing_imports": "True", "ignore_errors": "True"}


def test_a_configuration_with_the_plugin_is_used_untouched(folder):
    (folder / "setup.cfg").write_text("[mypy]\nplugins = simpletorch.mypy\n")
    config = configure()
    assert (config.file, config.cache, config.added) == (folder / "setup.cfg", None, ())


def test_a_choice_about_redefinition_is_respected(folder):
    (folder / "mypy.ini").write_text("[mypy]\nallow_redefinition = false\n")
    config = configure()
    assert config.added == ("plugins = simpletorch.mypy",)
    assert written(config)["mypy"]["allow_redefinition"] == "false"


def test_a_choice_about_a_private_part_of_torch_is_respected(folder):
    (folder / "mypy.ini").write_text("[mypy]\n[mypy-torch._dynamo.*]\nfollow_imports = silent\n")
    assert written(configure())["mypy-torch._dynamo.*"] == {"follow_imports": "silent"}


def test_paths_relative_to_the_configuration_stay_so(folder):
    (folder / "mypy.ini").write_text("[mypy]\nplugins = tools/own.py\nmypy_path = $MYPY_CONFIG_FILE_DIR/src\n")
    section = written(configure())["mypy"]
    assert section["plugins"] == f"simpletorch.mypy, {folder}/tools/own.py"
    assert section["mypy_path"] == f"{folder}/src"


def test_files_without_a_part_for_mypy_do_not_count(folder):
    (folder / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")
    (folder / "setup.cfg").write_text("[metadata]\nname = x\n")
    assert configure().based_on is None


def test_mypy_ini_goes_before_pyproject(folder):
    (folder / "pyproject.toml").write_text("[tool.mypy]\nstrict = true\n")
    (folder / "mypy.ini").write_text("[mypy]\n")
    assert configure().based_on == folder / "mypy.ini"


def test_folders_above_count_up_to_the_repository(folder, monkeypatch):
    (folder.parent / "mypy.ini").write_text("[mypy]\n")
    (folder / "deeper").mkdir()
    monkeypatch.chdir(folder / "deeper")
    assert configure().based_on is None
    (folder / "mypy.ini").write_text("[mypy]\n")
    assert configure().based_on == folder / "mypy.ini"


def test_a_personal_configuration_counts_last(folder):
    personal = folder.parent / "home" / ".mypy.ini"
    personal.write_text("[mypy]\n")
    assert configure().based_on == personal
    (folder / "mypy.ini").write_text("[mypy]\n")
    assert configure().based_on == folder / "mypy.ini"


def test_an_explicit_configuration_goes_first(folder):
    (folder / "mypy.ini").write_text("[mypy]\n")
    (folder / "other.ini").write_text("[mypy]\n")
    assert configure(folder / "other.ini").based_on == folder / "other.ini"
    assert configure(search=False).based_on is None


@pytest.mark.parametrize(("name", "text"), [("mypy.ini", "no section\n"), ("pyproject.toml", "[tool.mypy\n")])
def test_a_broken_configuration_is_named(folder, name, text):
    (folder / name).write_text(text)
    with pytest.raises(ConfigError, match=f"can't read the mypy configuration .*{name}"):
        configure()


def test_two_projects_with_configurations_have_two_caches(folder, monkeypatch):
    (folder / "mypy.ini").write_text("[mypy]\n")
    first = configure().cache
    (folder / "other" / ".git").mkdir(parents=True)
    (folder / "other" / "mypy.ini").write_text("[mypy]\n")
    monkeypatch.chdir(folder / "other")
    assert configure().cache != first
