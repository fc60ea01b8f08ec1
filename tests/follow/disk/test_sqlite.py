"""What is said of a query is what `sqlite3` and pandas give; a database that may have changed isn't trusted."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from textwrap import dedent

import pytest

from simpletorch.follow import follow
from simpletorch.follow.disk.described import Unreadable
from simpletorch.follow.disk.sqlite import asked, changes, sqlite

ROWS = [(i, i * 0.5, str(i), i % 3 if i % 5 else None, i if i % 2 else i + 0.5) for i in range(23)]
MADE = """
create table t (id integer primary key, Temp real, [two words] text, y int, z);
create table empty (a int, b real);
create view v as select * from t;
create index i on t (y);
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("d.db")) as database:
        database.executescript(MADE)
        database.executemany("insert into t values (?, ?, ?, ?, ?)", ROWS)
        database.commit()
    return tmp_path


def tables(path: str = "d.db"):
    data = Path(path).read_bytes()
    return sqlite(io.BytesIO(data), len(data))


def test_tables(folder):
    kinds = ("integers", "floats", "", "numbers", "numbers")
    assert tables() == {
        "t": (("id", "Temp", "two words", "y", "z"), 23, kinds),
        "empty": (("a", "b"), 0, ("", "")),
    }


WHOLE = [
    "select * from t",
    "SELECT id, temp FROM t;",
    "select t.id, t.temp from t order by temp desc, id",
    "select temp as x, y\nfrom T limit 5",
    "select id, temp from t order by id limit 100",
    'select [two words], `two words`, "y" from t',
    "select * from empty",
]
PARTS = [
    "select * from t where y = 1",
    "select distinct y from t",
    "select count(*) from t",
    "select max(id), min(temp) as low from t",
    "select id, y + 1 as k from t",
    "select y, count(*) from t group by y having count(*) > 2",
    "select 'a,b' as c, max(id, 3) as m, [two words] from t where [two words] != 'x, y'",
]
OTHERS = [
    "select * from t limit 7 offset 3",
    "select id, temp from t order by id limit 2, 3",
    "select id from t union select y from t",
    "select *, id from t",
    "select a.id from t as a",
    "select id from t, empty",
    "select t.id from t join empty on t.id = empty.a",
    "select * from v",
    "select id, -- the first, of all\n y from t",
    "select * from (select id from t)",
    "select * from main.t",
    "pragma table_info(t)",
    "nonsense",
]


@pytest.mark.parametrize("query", WHOLE + PARTS)
def test_a_query_gives_what_is_said(folder, query):
    found = asked(tables(), query)
    with closing(sqlite3.connect("d.db")) as database:
        cursor = database.execute(query)
        names, rows = [column[0] for column in cursor.description], cursor.fetchall()
    assert found is not None
    assert [name for name in found.columns if name is not None] == [
        name for name, said in zip(names, found.columns, strict=True) if said is not None
    ]
    assert found.rows == (len(rows) if query in WHOLE else None)
    for place, kind in enumerate(found.kinds):
        classes = {type(row[place]) for row in rows}
        assert classes <= {"integers": {int}, "floats": {float}, "numbers": {int, float, type(None)}}.get(kind, classes)


@pytest.mark.parametrize("query", OTHERS)
def test_a_query_of_more_than_one_table_is_unknown(folder, query):
    assert asked(tables(), query) is None


def test_statements_that_may_change_something():
    reading = ("select 1", "\n SELECT x from t", "pragma table_info(t)", "explain select 1")
    assert not any(map(changes, reading))
    assert all(
        map(changes, ("insert into t values (1)", "pragma user_version = 3", "with a as (select 1) delete from t"))
    )


SIZES = {
    "torch.tensor(con.execute('select id, temp from t').fetchall())": "Float32[23, 2]",
    "torch.tensor([row[0] for row in con.execute('select id from t limit 7')])": "Int64[7]",
    "torch.tensor(con.cursor().execute('select temp from t').fetchone())": "Float32[1]",
    "torch.tensor(con.execute('select id from t').fetchmany(5)).shape": "(5, 1)",
    "[column[0] for column in con.execute('select * from empty').description]": "['a', 'b']",
    "pd.read_sql('select id, y from t', con).shape": "(23, 2)",
    "pd.read_sql_query('select temp from t', con).values": "Float64[23, 1]",
    "pd.read_sql('t', 'sqlite:///d.db').drop(columns=['y']).shape": "(23, 4)",
    "pd.read_sql('select id, temp from t where y = 1', con).shape[1]": "2",
}
HEAD = "import sqlite3, torch\nimport pandas as pd\ncon = sqlite3.connect('d.db')\n"


def known(source: str) -> list[str]:
    Path("p.py").write_text(source)
    return [n.message.removeprefix('Revealed type is "').removesuffix('"') for n in follow("p.py").notes]


@pytest.mark.parametrize(("value", "expected"), SIZES.items())
def test_sizes_of_what_is_asked(folder, value, expected):
    assert known(f"{HEAD}reveal_type({value})") == [expected]


SPOILED = {
    "by the program": "con.execute('delete from t where y = 1')",
    "by another connection": "sqlite3.connect('d.db').executemany('insert into t (id) values (?)', [(99,)])",
    "by pandas": "pd.DataFrame({'id': [99]}).to_sql('t', con, if_exists='append', index=False)",
    "by others": "import tool\ntool.fill(con)",
    "by a statement that isn't known": "con.execute(input())",
    "in its rows": "con.row_factory = sqlite3.Row",
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_may_have_changed_is_unknown(folder, name):
    read = "torch.tensor(con.execute('select id, temp from t').fetchall())"
    (said,) = known(f"{HEAD}{SPOILED[name]}\nreveal_type({read})")
    assert "23" not in said


def test_a_mistake_is_found(folder):
    source = """
        import sqlite3
        import torch
        from torch import nn

        with sqlite3.connect("d.db") as con:
            x = torch.tensor(con.execute("select id, temp from t").fetchall())
        nn.Linear(3, 1)(x)
    """
    Path("p.py").write_text(dedent(source))
    found = follow("p.py")
    (error,) = found.errors
    assert "the last dim of input is 2, but the layer takes 3 features" in error.message
    assert dict(found.data) == {"d.db": "t: 23 rows, 5 columns, empty: 0 rows, 2 columns"}


def test_changes_in_a_second_file_are_not_missed(folder):
    with closing(sqlite3.connect("w.db")) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table t (a)")
        database.commit()
        with pytest.raises(Unreadable):
            tables("w.db")


def test_a_table_without_end_is_unreadable(folder, monkeypatch):
    monkeypatch.setattr("simpletorch.follow.disk.sqlite._MOST_LOOKS", 0)
    monkeypatch.setattr("simpletorch.follow.disk.sqlite._STEPS", 1)
    with pytest.raises(Unreadable):
        tables()
