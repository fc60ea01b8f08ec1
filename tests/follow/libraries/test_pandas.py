"""Tables of pandas: what is known of them is what pandas gives."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.against_torch import agrees, findings

HEAD = """\
import io
import numpy as np
import pandas as pd
import torch
from torch import nn
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
file = io.StringIO("\\n".join(["a,b,c,target"] + [f"{i},{i * i},{-i},{i % 3}" for i in range(29)]))
table = pd.read_csv(file)
"""


@pytest.mark.filterwarnings("ignore::UserWarning")  # of arrays that are read-only
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("program", "known"),
    [
        (
            """
a = torch.tensor(table[["a", "b", "c"]].astype(np.float32).values[:7])
b = torch.FloatTensor(table["target"].to_numpy(dtype=np.float32)[:5])
""",
            "a b",
        ),
        (
            """
x, y = table.drop("target", axis=1), table.target.values
u = torch.FloatTensor(x.values)
v = torch.FloatTensor(x.drop(columns=["a", "b"]).values)
w = torch.tensor(table.iloc[:, -1].values)
r = torch.tensor(table.iloc[3].values)
k = torch.tensor(table.loc[table["a"] > 5, ["a", "b"]].values)
n = torch.tensor(table[table.a > 3].values)
h = torch.tensor(table.head(3).values)
""",
            "",
        ),
        (
            """
made = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": np.zeros(3)})
a = torch.tensor(made.to_numpy())
made["z"] = made["x"] + made["y"]
made["x"] = 7.0
b = torch.FloatTensor(made.values)
made.drop(columns=["x"], inplace=True)
c = torch.FloatTensor(made.values)
d = torch.FloatTensor(pd.DataFrame(np.ones((5, 2)), columns=["p", "q"])[["q"]].values)
n = len(made.columns)
rows, columns = made.shape
""",
            "b c d n rows columns",
        ),
        (
            """
x = table[["a", "b"]]
x_train, x_test, y_train, y_test = train_test_split(x, table["target"], test_size=0.2)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)
a = nn.Linear(2, 7)(torch.tensor(x_train, dtype=torch.float32))
b = torch.tensor(y_train.values)
for i, name in enumerate(table.columns):
    c = torch.tensor(table[name].values)
""",
            "",
        ),
    ],
)
def test_what_is_known_is_what_pandas_gives(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


def test_a_layer_for_other_columns_is_found(tmp_path: Path) -> None:
    program = HEAD + 'x = torch.tensor(table[["a", "b", "c"]].values, dtype=torch.float32)\ny = nn.Linear(5, 7)(x)\n'
    (found,) = findings(program, tmp_path)
    assert found == (
        11,
        "Linear(5, 7): the last dim of input is 3, but the layer takes 5 features [input: Float32[29, 3]]",
    )


TEXTS = (
    HEAD
    + """\
open("texts.csv", "w").write("word,kind\\nlonging,one\\nshort,two\\n")
texts = pd.read_csv(open("texts.csv"))
a = texts.values[0][0][4:]
b = texts.values[0, 1][1:]
c = [row[0][2:] for row in texts.values]
d = texts["word"].values[1][0]
e = np.array(["one", 2], dtype=object)[0][1:]
"""
)


def test_what_an_array_of_texts_holds_is_no_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agrees(TEXTS, tmp_path)


def test_what_an_array_of_numbers_holds_has_no_items(tmp_path: Path) -> None:
    (found,) = findings(HEAD + "a = np.zeros(3)[0][1]\n", tmp_path)
    assert (found[0], found[1].partition(" [")[0]) == (10, "[]: a 0-dim tensor can't be indexed")


def test_a_method_of_the_class_may_be_called_with_what_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import pandas as pd\nfrom elsewhere import rows\nx = pd.DataFrame.copy(rows)\nx.iloc[3, :] = 5\n")
    found = follow(path)
    assert (found.faults, found.errors) == ((), ())
