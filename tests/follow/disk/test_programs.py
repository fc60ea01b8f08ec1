"""Programs with data beside them: sizes are known, mistakes are found, and a file written since isn't trusted."""

from __future__ import annotations

import csv
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
import torch

from simpletorch.follow import follow


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.zeros((37, 11), np.float32))
    np.savez("z.npz", a=np.zeros((5, 7)), b=np.zeros(3, np.int64))
    torch.save({"model": torch.nn.Linear(7, 5).state_dict(), "epoch": 3}, "c.pt")
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{i},{i / 2},{i % 2}\n" for i in range(23)))
    (tmp_path / "c.json").write_text('{"hidden": 17, "layers": [3, 5]}')
    (tmp_path / "words.txt").write_text("hello world\nfoo\n")
    np.savetxt("m.txt", np.zeros((6, 4)))
    with zipfile.ZipFile("a.zip", "w") as archive:
        for name in ("x/0.png", "x/1.png", "x/2.png", "y.txt"):
            archive.writestr(name, "")
    for path, mode in (("a.tar", "w"), ("a.tar.gz", "w:gz")):
        with tarfile.open(path, mode) as archive:
            for name in ("x", "x/1.png"):
                archive.addfile(tarfile.TarInfo(name))
    return tmp_path


def known(source: str) -> str:
    """What ``reveal_type`` shows, joined."""
    with open("p.py", "w") as file:
        file.write(dedent(source))
    return "; ".join(n.message.removeprefix('Revealed type is "').removesuffix('"') for n in follow("p.py").notes)


SIZES = {
    "import numpy as np\nreveal_type(np.load('x.npy'))": "Float32[37, 11]",
    "import numpy as np\nwith np.load('z.npz') as z:\n    reveal_type(z['a'])": "Float64[5, 7]",
    "import numpy as np, torch\nreveal_type(torch.from_numpy(np.load('x.npy')).T)": "Float32[11, 37]",
    "import torch\nreveal_type(torch.load('c.pt')['model']['weight'])": "Float32[5, 7]",
    "import torch\nreveal_type(torch.load('c.pt')['epoch'])": "3",
    "import json\nreveal_type(json.load(open('c.json'))['hidden'])": "17",
    "import json\nfrom pathlib import Path\nreveal_type(json.loads(Path('c.json').read_text())['layers'])": "[3, 5]",
    "reveal_type(len(set(open('words.txt').read())))": "10",
    "n = 0\nfor line in open('words.txt'):\n    n += len(line.split())\nreveal_type(n)": "3",
    "import numpy as np\nreveal_type(np.loadtxt('m.txt'))": "Float64[6, 4]",
    "import pandas as pd\nreveal_type(pd.read_csv('t.csv').drop(columns=['y']).values)": "Tensor[23, 2]",
    "import pandas as pd\nreveal_type(len(pd.read_csv('t.csv').columns))": "3",
    "import os\nreveal_type(sorted(f for f in os.listdir('.') if f.endswith('.npy')))": "['x.npy']",
    "import zipfile\nwith zipfile.ZipFile('a.zip') as z:\n    reveal_type(len(z.namelist()))": "4",
    "import zipfile\nreveal_type(zipfile.ZipFile('a.zip').infolist()[1].filename)": "'x/1.png'",
    "import tarfile\nreveal_type(tarfile.open('a.tar').getnames())": "['x', 'x/1.png']",
    "import tarfile\nwith tarfile.open('a.tar', 'r:') as t:\n    reveal_type([m.name for m in t])": "['x', 'x/1.png']",
    "import tarfile\nreveal_type(tarfile.open('a.tar.gz').getnames())": "list",
    "import zipfile\nz = zipfile.ZipFile('a.zip', 'a')\nz.writestr('b', 'c')\nreveal_type(z.namelist())": "list",
    "import glob\nreveal_type(len(glob.glob('*.np[yz]')))": "2",
}


@pytest.mark.parametrize(("source", "expected"), SIZES.items())
def test_sizes_of_data(folder, source, expected):
    assert known(source) == expected


TABLES = {
    "import pandas as pd\nreveal_type(pd.read_parquet('t.parquet').shape)": "(23, 3)",
    "import pandas as pd\nreveal_type(pd.read_parquet('t.parquet', columns=['a', 'b']).values)": "Float32[23, 2]",
    "import pandas as pd\nreveal_type(pd.read_parquet('t.parquet').drop(columns=['y']).values)": "Tensor[23, 2]",
    "import pandas as pd\nreveal_type(pd.read_feather('t.feather', columns=['a', 'b']).values)": "Float32[23, 2]",
    "from scipy.io import loadmat\nreveal_type(loadmat('m.mat')['x'])": "Float64[3, 5]",
    "import scipy.io as sio\nreveal_type(sio.loadmat('m')['y'].squeeze())": "Int32[7]",
    "import h5py\nf = h5py.File('old.h5')\nreveal_type(f['x'].shape)": "(3, 5)",
    "import h5py\nf = h5py.File('old.h5')\nreveal_type(f['g/z'][2:6])": "UInt16[4]",
    "import h5py, torch\nwith h5py.File('new.h5') as f:\n    reveal_type(torch.from_numpy(f['x'][:]))": "Float32[3, 5]",
    "import h5py, numpy as np\nreveal_type(np.array(h5py.File('new.h5')['g']['z']))": "UInt16[7]",
    "import h5py\nreveal_type(len(h5py.File('old.h5')['n']))": "11",
}


@pytest.mark.parametrize(("source", "expected"), TABLES.items())
def test_sizes_of_tables_and_of_science(folder, source, expected):
    pandas, science = pytest.importorskip("pandas"), pytest.importorskip("scipy.io")
    pytest.importorskip("pyarrow")
    columns = {name: np.zeros(23, np.float32) for name in "ab"}
    pandas.DataFrame(columns | {"y": np.arange(23)}).to_parquet("t.parquet")
    pandas.DataFrame(columns | {"y": np.arange(23)}).to_feather("t.feather")
    science.savemat("m.mat", {"x": np.zeros((3, 5)), "y": np.arange(7, dtype=np.int32)})
    for name in ("old.h5", "new.h5"):
        shutil.copy(Path(__file__).with_name(name), name)
    assert known(source) == expected


WRITTEN = {
    "by h5py": "import h5py, numpy as np\nwith h5py.File('old.h5', 'a') as f:\n    f['x'] = np.zeros(3)\n"
    "reveal_type(h5py.File('old.h5')['x'][:])",
    "by pandas": "import pandas as pd, tool\ntool.frame().to_parquet('t.parquet')\n"
    "reveal_type(pd.read_parquet('t.parquet').shape[0])",
}


@pytest.mark.parametrize("source", WRITTEN.values(), ids=WRITTEN)
def test_a_table_that_may_have_been_written_is_unknown(folder, source):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"a": np.zeros(23)}).to_parquet("t.parquet")
    shutil.copy(Path(__file__).with_name("old.h5"), "old.h5")
    assert known(source).startswith(("unknown", "?"))


UNKNOWN = {
    "in its folder": "import numpy as np, tool\ntool.fill('.')\nreveal_type(np.load('x.npy').shape)",
    "by its whole path": "import numpy as np, tool\ntool.do('HERE/x.npy')\nreveal_type(np.load('x.npy').shape)",
    "written before": "import numpy as np, tool\nnp.save('x.npy', tool.make())\nreveal_type(np.load('x.npy').shape)",
    "written to some path": "import numpy as np, sys\nnp.save(sys.argv[1], 1)\nreveal_type(np.load('x.npy').shape)",
    "given to unknown code": "import numpy as np, tool\ntool.convert('./x.npy')\nreveal_type(np.load('x.npy').shape)",
    "another program": "import numpy as np, os\nos.system('make')\nreveal_type(np.load('x.npy').shape)",
    "another folder": "import numpy as np, os\nos.chdir('..')\nreveal_type(np.load('x.npy').shape)",
    "out of reach": "import numpy as np\nreveal_type(np.load('/x.npy').shape)",
    "not there": "import numpy as np\nreveal_type(np.load('y.npy').shape)",
}


@pytest.mark.parametrize("source", UNKNOWN.values(), ids=UNKNOWN)
def test_what_may_have_changed_is_unknown(folder, source):
    assert known(source.replace("HERE", str(folder))).startswith("unknown")


def test_names_are_those_that_python_gives(folder):
    for name in ("a.npy", ".b.npy", "in/c.npy", "in/.d/e.npy", ".f/g.npy"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    for asked in ("glob.glob('*.npy')", "glob.glob('**/*.npy', recursive=True)", "os.listdir('in')"):
        there = eval(asked, {"glob": glob, "os": os})
        assert known(f"import glob, os\nreveal_type(sorted({asked}))") == str(sorted(there)), asked
    for asked in ("Path('.').glob('*.npy')", "Path('.').rglob('*.npy')", "Path('in').iterdir()"):
        there = eval(asked, {"Path": Path})
        shown = known(f"from pathlib import Path\nreveal_type([str(p) for p in sorted({asked})])")
        assert shown == str([str(p) for p in sorted(there)]), asked


def test_a_link_to_a_folder_makes_what_is_below_unknown(folder):
    (folder / "real" / "a").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "data" / "a").symlink_to(folder / "real" / "a")
    assert known("import glob\nreveal_type(len(glob.glob('data/*/*')))").startswith("unknown")


def test_nothing_of_the_process_is_changed(folder):
    before = csv.field_size_limit()
    assert known("import pandas as pd\nreveal_type(len(pd.read_csv('t.csv')))") == "23"
    assert csv.field_size_limit() == before


def test_a_file_that_the_program_writes_counts(folder):
    assert (
        known("import numpy as np\nnp.save('x.npy', np.zeros((2, 3)))\nreveal_type(np.load('x.npy'))")
        == "Float64[2, 3]"
    )


def test_nothing_is_read_if_that_is_switched_off(folder):
    (folder / "p.py").write_text("import numpy as np\nx = np.load('x.npy')\n")
    assert follow("p.py", data=False).shapes_at("p.py", 2) == {}
    assert follow("p.py").data == (("x.npy", "Float32[37, 11]"),)


def test_a_relative_path_is_looked_for_beside_the_program_too(folder, monkeypatch):
    (folder / "p.py").write_text("import numpy as np\nx = np.load('x.npy')\n")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    path = os.path.join("..", "p.py")
    assert str(follow(path).shapes_at(path, 2)["x"][0]) == "Float32[37, 11]"
    np.save("x.npy", np.zeros(3))  # two files of this name: it depends on where the program is started
    assert follow(path).shapes_at(path, 2) == {}


MISTAKES = {
    "Linear(3, 1)": """
        import pandas as pd, torch
        from torch import nn
        x = torch.tensor(pd.read_csv("t.csv").drop(columns=["y"]).values)
        nn.Linear(3, 1)(x.float())
        """,
    "load_state_dict": """
        import torch
        from torch import nn
        nn.Linear(5, 7).load_state_dict(torch.load("c.pt")["model"])
        """,
    "Linear(17, 3)": """
        import json, torch
        from torch import nn
        c = json.load(open("c.json"))
        nn.Linear(c["hidden"], 3)(torch.zeros(2, 16))
        """,
}


@pytest.mark.parametrize(("said", "source"), MISTAKES.items())
def test_a_mistake_is_found_with_the_data_and_not_without(folder, said, source):
    (folder / "p.py").write_text(dedent(source))
    command = [sys.executable, "-m", "simpletorch.cli", "follow"]
    done = subprocess.run([*command, "p.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    assert said in done.stdout
    plain = subprocess.run([*command, "--no-data", "p.py"], capture_output=True, text=True, check=False)
    assert plain.returncode == 0, plain.stdout


def test_a_finding_is_followed_by_what_the_data_are(folder):
    (folder / "p.py").write_text(dedent(MISTAKES["Linear(3, 1)"]))
    command = [sys.executable, "-m", "simpletorch.cli", "follow", "p.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "t.csv: note: was read as 23 rows, 3 columns: a, b, y\n" in done.stdout
