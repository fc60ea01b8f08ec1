"""`simpletorch check` of folders as they lie on disks: names that are there twice, links, unreadable files."""

import json
import os
from pathlib import Path

import pytest

from simpletorch.cli import main
from simpletorch.cli._checking.files import listed

WRONG = "import torch\n\ny = torch.zeros(3, 5) @ torch.zeros(7, 11)\n"
NO_INT = 'n: int = ""\n'


def write(folder, **texts):
    """Files by their paths, with "__" for "/"."""
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def said(capsys, *arguments):
    """The errors by file and line, the last line, and the document that ``check --json`` gives."""
    main(["check", "--json", *arguments])
    document = json.loads(capsys.readouterr().out)
    errors = sorted((d["file"], d["line"], d["code"]) for d in document["diagnostics"] if d["severity"] == "error")
    return errors, document["summary"], document


def test_two_files_of_one_name_are_both_checked(folder, capsys):
    write(folder, one__misc=WRONG, two__misc=WRONG + NO_INT, two__main="from misc import n\n\nreveal_type(n)\n")
    errors, summary, document = said(capsys, ".")
    assert errors == [
        ("one/misc.py", 3, "tensor-shape"),
        ("two/misc.py", 3, "tensor-shape"),
        ("two/misc.py", 4, "assignment"),
    ]
    assert summary == "Found 3 errors in 2 files (checked 3 source files)"
    assert 'Revealed type is "int"' in [d["message"] for d in document["diagnostics"]], "its own neighbour"


def test_a_folder_without_init_is_the_package_that_others_import(folder, capsys):
    net = "import torch\n\n\ndef make() -> torch.Tensor:\n    return torch.zeros(3) @ torch.zeros(5)\n"
    write(folder, models__net=net, models__parts="from .net import make\n", models__train="import os\n")
    write(folder, train="from models.net import make\n\nn: int = make()\n", other__train=NO_INT)
    errors, summary, _ = said(capsys, ".")
    assert errors == [
        ("models/net.py", 5, "tensor-shape"),
        ("other/train.py", 1, "assignment"),
        ("train.py", 3, "assignment"),
    ]
    assert summary.endswith("(checked 5 source files)")


def test_from_another_folder_each_error_has_the_path_from_there(folder, capsys, monkeypatch):
    write(folder, one__misc=WRONG, two__misc=WRONG)
    here = [("one/misc.py", 3, "tensor-shape"), ("two/misc.py", 3, "tensor-shape")]
    assert said(capsys, ".")[0] == said(capsys, str(folder))[0] == here
    monkeypatch.chdir(folder / "one")
    assert said(capsys, ".", "../two")[0] == [("../two/misc.py", 3, "tensor-shape"), ("misc.py", 3, "tensor-shape")]
    assert said(capsys, "..")[0] == [(f"../{file}", *rest) for file, *rest in here]
    monkeypatch.chdir(folder / "two")
    assert said(capsys, ".")[0] == [("misc.py", 3, "tensor-shape")]
    monkeypatch.chdir(folder.parent)
    assert said(capsys, "project")[0] == [(f"project/{file}", *rest) for file, *rest in here]


def test_what_mypy_finds_alone_has_the_path_from_there_too(folder, capsys, monkeypatch):
    write(folder, inner__use="import part\n", inner__part=NO_INT)
    assert said(capsys, ".")[0] == [("inner/part.py", 1, "assignment")]
    monkeypatch.chdir(folder / "inner")
    assert said(capsys, "use.py")[0] == [("part.py", 1, "assignment")]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"x = 1\ndef f(:\n", 2),
        (b"x = '\xff'\n", 1),
        (b"x = 1\nbreak\n", 2),
    ],
    ids=["syntax", "not UTF-8", "a statement out of place"],
)
def test_what_python_refuses_is_an_error_and_ends_nothing(folder, capsys, content, line):
    write(folder, main=f"import broken\nfrom broken import x\n{NO_INT}")
    (folder / "broken.py").write_bytes(content)
    errors, summary, document = said(capsys, ".")
    assert errors == [("broken.py", line, "syntax"), ("main.py", 3, "assignment")]
    assert summary == "Found 2 errors in 2 files (checked 1 source file)"
    assert document["exit_code"] == 1
    assert next(d for d in document["diagnostics"] if d["code"] == "syntax")["message"].endswith("the file is left out")


def test_a_broken_module_that_is_imported_only_ends_nothing(folder, capsys):
    write(folder, main=f"import broken\n{NO_INT}", broken="def f(:\n")
    assert said(capsys, "main.py")[0] == [("broken.py", 1, "syntax"), ("main.py", 2, "assignment")]


def test_the_project_s_own_configuration_holds_without_a_broken_file(folder, capsys):
    (folder / "mypy.ini").write_text("[mypy]\nplugins = simpletorch.mypy\ndisallow_untyped_defs = true\n")
    write(folder, main="import broken\n\n\ndef f():\n    pass\n", broken="def f(:\n")
    assert said(capsys, ".")[0] == [("broken.py", 1, "syntax"), ("main.py", 4, "no-untyped-def")]


def test_links_that_lead_nowhere_or_up_are_left_out_and_told(folder, capsys):
    write(folder, inner__part=NO_INT)
    (folder / "inner" / "gone.py").symlink_to("nowhere.py")
    (folder / "inner" / "itself.py").symlink_to("itself.py")
    (folder / "inner" / "up").symlink_to("..")
    errors, _, document = said(capsys, ".")
    assert errors == [("inner/part.py", 1, "assignment")]
    assert {d["file"]: d["reason"] for d in document["left_out"]} == {
        "inner/gone.py": "it is a link to nowhere.py: No such file or directory",
        "inner/itself.py": f"it is a link to itself.py: {os.strerror(40)}",
        "inner/up": "it is a link to .., which contains it",
    }
    assert main(["check"]) == 1
    assert "inner/up: note: left out: it is a link to .., which contains it" in capsys.readouterr().out
    assert main(["check", "--output", "github"]) == 1
    assert "::notice file=inner/up,line=1::left out: it is a link to" in capsys.readouterr().out


def test_a_linked_folder_is_read_once(folder, tmp_path):
    write(folder, runs__one__part="", other="")
    write(tmp_path, outside__file="")
    (folder / "latest").symlink_to("runs/one")
    (folder / "shared").symlink_to(tmp_path / "outside")
    assert listed(["."]).files == ["other.py", "runs/one/part.py", "shared/file.py"]


def test_what_is_no_regular_file_is_not_waited_for(folder, capsys):
    write(folder, part=NO_INT)
    os.mkfifo(folder / "pipe.py")
    errors, _, document = said(capsys, ".")
    assert errors == [("part.py", 1, "assignment")]
    assert document["left_out"] == [{"file": "pipe.py", "reason": "it is no regular file"}]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_left_out(folder, capsys):
    write(folder, part=NO_INT, secret=NO_INT)
    (folder / "secret.py").chmod(0)
    errors, _, document = said(capsys, ".")
    assert errors == [("part.py", 1, "assignment")]
    assert document["left_out"] == [{"file": "secret.py", "reason": "it can't be read: Permission denied"}]
    assert main(["check", "secret.py"]) == 2
    assert capsys.readouterr().err == "simpletorch check: can't be read (permission denied): secret.py\n"


def test_a_package_in_a_folder_without_a_name_is_left_out(folder, capsys):
    write(folder, my_part=NO_INT)
    package = folder / "my-package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    errors, _, document = said(capsys, ".")
    assert errors == [("my_part.py", 1, "assignment")]
    assert [d["file"] for d in document["left_out"]] == ["my-package/__init__.py"]
    assert main(["check", "my-package"]) == 2
    assert "not a valid Python package name" in capsys.readouterr().out


def test_what_the_configuration_excludes_is_neither_checked_nor_followed(folder, capsys):
    write(folder, old__part=WRONG, new__part=WRONG)
    for section in ("exclude = ^old/\n", "files = new\n"):
        (folder / "mypy.ini").write_text(f"[mypy]\n{section}")
        errors, summary, _ = said(capsys)
        assert errors == [("new/part.py", 3, "tensor-shape")]
        assert summary == "Found 1 error in 1 file (checked 1 source file)"
    (folder / "mypy.ini").unlink()
    assert [e[0] for e in said(capsys, ".", "--", "--exclude", "^old/")[0]] == ["new/part.py"]


def test_a_stub_stands_for_its_module(folder, capsys):
    write(folder, part="def f(x):\n    return x\n", use="from part import f\n\nn: str = f(3)\n")
    (folder / "part.pyi").write_text("def f(x: int) -> int: ...\n")
    errors, summary, _ = said(capsys, ".")
    assert errors == [("use.py", 3, "assignment")]
    assert summary.endswith("(checked 2 source files)")


def test_a_folder_without_python_is_one_sentence(folder, capsys):
    assert main(["check", "."]) == 2
    assert capsys.readouterr().err == "simpletorch check: there is no file of Python in .\n"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_daemon_says_the_same_of_such_folders(folder, capsys):
    write(folder, one__misc=WRONG, two__misc=WRONG, three__part=NO_INT)
    try:
        for broken in (False, True):
            if broken:
                Path("three/broken.py").write_text("def f(:\n")
            alone = said(capsys, ".")[:2]
            assert said(capsys, ".", "--daemon")[:2] == alone
    finally:
        main(["check", "--stop"])
