"""Cells as Python: what IPython adds is blank, and every line stays where it is."""

from __future__ import annotations

import pytest

from simpletorch.follow.sources.cells import Cell, read


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 3", "x = 3"),
        ("%matplotlib inline\nx = 3", "pass\nx = 3"),
        ("if a:\n    !ls\n    %cd ..", "if a:\n    pass\n    pass"),
        ("x?\ny = 3", "pass\ny = 3"),
        ("?x\ny = 3", "pass\ny = 3"),
        ("files = !ls\nn = 5", "files = __of_ipython__\nn = 5"),
        ("%time y = f(x)", "y = f(x)"),
        ("%%time\ny = f(x)", "\ny = f(x)"),
        ("%%bash\nls -l\necho", "\n\n"),
        ("!pip install a \\\n  b\nx = 3", "pass\n\nx = 3"),
        ("x = (5\n% 3)", "x = (5\n% 3)"),
        ("s = '''\n%cd\n!ls\n'''", "s = '''\n%cd\n!ls\n'''"),
        ("s = 'it\\'s'  # '''\n!ls", "s = 'it\\'s'  # '''\npass"),
        ("x = a % b != c", "x = a % b != c"),
        ("pip install a b\nx = 3", "pass\nx = 3"),
        ("conda install -y a\nls data\ncd ..\nrm -rf a", "pass\npass\npass\npass"),
        ("if a:\n    pip install a", "if a:\n    pass"),
        ("time f(3) if a else 5 7", "pass"),
        ("x??\ntorch.nn.Linear?", "pass\npass"),
        ("history = f()\nhistory", "history = f()\nhistory"),
        ("config = 3\npip = 5\nx = = 7", "config = 3\npip = 5\nx = = 7"),
        ("", ""),
    ],
)
def test_the_python_of_a_cell(source, text):
    assert read(source).text == text
    assert source.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("source", "strange"),
    [
        ("x = 3\n%run other.py", 2),
        ("%%writefile a.py\nx = 3", None),
        ("%%cython\nx = 3", 1),
        ("%pip install a", None),
        ("y = %store", 1),
        ("x = 3\nrun other.py", 2),
        ("pip install a", None),
    ],
)
def test_magics_that_may_change_variables_are_told(source, strange):
    assert read(source).strange == strange


def test_a_cell_of_another_language_is_blank():
    assert read("%%html\n<b>x</b>") == Cell("\n")
