"""``simpletorch follow -m``: a module by its name, as ``python -m`` runs it."""

import pytest

from simpletorch.cli import main


@pytest.mark.parametrize(("name", "folder_of"), [("pkg.train", "pkg"), ("pkg", "src/pkg")])
def test_a_module_by_its_name(name, folder_of, folder, capsys):
    (folder / folder_of).mkdir(parents=True)
    (folder / folder_of / "sizes.py").write_text("n = 7\n")
    file = "train.py" if name == "pkg.train" else "__main__.py"
    (folder / folder_of / file).write_text("import sys\nfrom .sizes import n\nreveal_type((n, sys.argv[1]))\n")
    main(["follow", "-m", name, "--epochs"])
    assert "Revealed type is \"(7, '--epochs')\"" in capsys.readouterr().out


def test_a_module_that_is_not_there(folder, capsys):
    assert main(["follow", "-m", "pkg.train"]) == 2
    assert "there is no module pkg.train in this folder" in capsys.readouterr().err
