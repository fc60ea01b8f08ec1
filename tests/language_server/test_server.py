"""The server as an editor has it: a scripted client over standard input and output."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests import warm
from tests.language_server.client import Client

MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(7, 11)
        self.last = nn.Linear(13, 3)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))

y = Net()(torch.zeros(5, 7))
"""
RIGHT = MODEL.replace("13, 3", "11, 3")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path) as client:
        yield client


def whole(text: str) -> dict[str, str]:
    return {"text": text}


def at(line: int, first: int, last: int, text: str) -> dict[str, object]:
    span = {"start": {"line": line, "character": first}, "end": {"line": line, "character": last}}
    return {"range": span, "text": text}


def lines(said: list[dict[str, object]]) -> list[int]:
    return [d["range"]["start"]["line"] for d in said]


# -- diagnostics -------------------------------------------------------------------------------------------------------


def test_a_mistake_is_said_where_torch_would_raise(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    (said,) = client.said(uri)
    assert (said["range"]["start"], said["severity"]) == ({"line": 10, "character": 15}, 1)
    assert (said["code"], said["source"]) == ("tensor-shape", "simpletorch")
    assert said["codeDescription"]["href"].endswith("docs/errors/tensor-shape.md")
    assert "hint: Linear(11, 3) would fit" in said["message"]
    (call,) = said["relatedInformation"]
    assert call["location"]["range"]["start"]["line"] == 12
    assert "x: Float32[5, 7]" in call["message"]
    assert not (tmp_path / "program.py").exists()
    assert not list(tmp_path.iterdir())


def test_an_edit_is_followed(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    assert lines(client.said(uri)) == [10]
    client.edit(uri, 2, at(7, 30, 32, "11"))
    assert client.said(uri, 2) == []


def test_a_module_that_is_not_saved_counts_in_the_program_that_imports_it(client: Client, tmp_path: Path):
    model, program = tmp_path / "model.py", tmp_path / "program.py"
    inside = RIGHT.replace("y = Net()(torch.zeros(5, 7))\n", "")
    first = client.open(model, inside)
    second = client.open(program, "import torch\nfrom model import Net\n\ny = Net()(torch.zeros(5, 7))\n")
    assert client.said(second) == []
    client.edit(first, 2, whole(inside.replace("11, 3", "13, 3")))
    client.until(
        lambda: client.diagnostics[first]["version"] == 2 and len(client.diagnostics[first]["diagnostics"]) == 1
    )
    assert client.diagnostics[first]["version"] == 2


def test_broken_syntax_keeps_what_was_known(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    client.said(uri)
    hints = client.hints(uri)
    client.edit(uri, 2, at(0, 0, 0, "x = (\n"))
    said = client.said(uri, 2)
    assert [d["code"] for d in said] == ["syntax", "tensor-shape"]
    assert lines(said)[1] == 11
    assert client.hints(uri) == [(line + 1, column, text) for line, column, text in hints]
    client.edit(uri, 3, whole(RIGHT))
    assert client.said(uri, 3) == []


def test_settings_of_the_editor(tmp_path: Path):
    with Client(tmp_path, settings={"severities": {"tensor-shape": "note"}, "hints": ["assigned"]}) as client:
        uri = client.open(tmp_path / "program.py", MODEL)
        client.until(lambda: [d["severity"] for d in client.diagnostics.get(uri, {}).get("diagnostics", ())] == [3])
        assert client.hints(uri) == []
        client.settings = {"severities": {"tensor-shape": "off"}}
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        client.until(lambda: client.diagnostics[uri]["diagnostics"] == [])


def test_a_project_s_own_settings(client: Client, tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text("[tool.simpletorch.findings]\ntensor-shape = 'warning'\n")
    uri = client.open(tmp_path / "program.py", MODEL)
    assert [d["severity"] for d in client.said(uri)] == [2]


def test_a_file_that_is_closed_is_forgotten(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    client.said(uri)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.until(lambda: client.diagnostics[uri]["diagnostics"] == [])
    assert client.hints(uri) == []


# -- columns -----------------------------------------------------------------------------------------------------------

WIDE = 'import torch\nx = "🔥形", torch.zeros(3, 5) @ torch.zeros(7, 11)\n'


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 4 + 9 + 2), ("utf-16", 4 + 5 + 2), ("utf-32", 4 + 4 + 2)])
def test_columns_are_in_the_editor_s_units(encoding: str, column: int, tmp_path: Path):
    offered = {"general": {"positionEncodings": [encoding]}}
    with Client(tmp_path, offered) as client:
        assert client.capabilities["positionEncoding"] == encoding
        uri = client.open(tmp_path / "program.py", 'import torch\n"🔥形", torch.zeros(3, 5).view(7)\n')
        (said,) = client.said(uri)
        assert said["range"]["start"]["character"] == column - 4
        client.edit(uri, 2, at(1, 0, 0, "é = "))
        (said,) = client.said(uri, 2)
        assert said["range"]["start"]["character"] == column + (encoding == "utf-8")


def test_an_edit_behind_wide_letters(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", WIDE)
    assert len(client.said(uri)) == 1
    start = len('x = "🔥形", torch.zeros(3, 5) @ torch.zeros(') + 1
    client.edit(uri, 2, at(1, start, start + 1, "5"))
    assert client.said(uri, 2) == []


def test_only_ends_of_lines_end_lines(client: Client, tmp_path: Path):
    text = 'import torch\nx = "\u2028\u0085\\f"\r\ny = torch.zeros(3).view(5)\r\n'
    uri = client.open(tmp_path / "program.py", text)
    assert lines(client.said(uri)) == [2]
    client.edit(uri, 2, at(2, 24, 25, "3"))
    assert client.said(uri, 2) == []


# -- hints, hovers, fixes, lenses --------------------------------------------------------------------------------------


def test_hints_behind_names_parameters_and_layers(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", RIGHT)
    client.said(uri)
    assert client.hints(uri) == [
        (9, 23, ": Float32[5, 7]"),
        (10, 49, "→ Float32[5, 11]"),
        (10, 51, "→ Float32[5, 3]"),
        (12, 1, ": Float32[5, 3]"),
    ]


def test_a_name_that_a_loop_changes(client: Client, tmp_path: Path):
    uri = client.open(
        tmp_path / "program.py", "import torch\nx = torch.zeros(3)\nfor _ in range(2):\n    x = x[None]\n"
    )
    client.said(uri)
    assert client.hints(uri) == [(1, 1, ": Float32[3]"), (3, 5, ": Float32[1, 3] → Float32[1, 1, 3]")]


def test_a_hover_says_where_sizes_come_from(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", RIGHT + "z = y.t()\nw = unknown(z)\n")
    client.said(uri)
    shown = client.hover(uri, 13, 6)
    assert "Float32[3, 5]" in shown
    assert "strides (1, 3)" in shown
    assert "dim 1: one for each sample" in shown
    assert "Float32[5, 11]" in client.hover(uri, 10, 37)
    assert "not known" in client.hover(uri, 14, 0)


FIXES = [
    (MODEL, 10, RIGHT),
    ("import torch\nx = torch.zeros(3, 5).t().view(15)\n", 1, "import torch\nx = torch.zeros(3, 5).t().reshape(15)\n"),
    (
        "import torch\nx = torch.zeros(3, 5) @ torch.zeros(3, 5)\n",
        1,
        "import torch\nx = torch.zeros(3, 5) @ torch.zeros(3, 5).mT\n",
    ),
    (
        "import torch\nx = torch.zeros(3, dtype=torch.int64)\ny = torch.nn.Linear(3, 5)(x + x)\n",
        2,
        "import torch\nx = torch.zeros(3, dtype=torch.int64)\ny = torch.nn.Linear(3, 5)((x + x).float())\n",
    ),
    (
        "import torch\nx = torch.zeros(3)\ny = torch.nn.functional.cross_entropy(torch.zeros(3, 5), target=x)\n",
        2,
        "import torch\nx = torch.zeros(3)\ny = torch.nn.functional.cross_entropy(torch.zeros(3, 5), target=x.long())\n",
    ),
]


@pytest.mark.parametrize(("wrong", "line", "right"), FIXES)
def test_a_hint_is_a_fix(client: Client, tmp_path: Path, wrong: str, line: int, right: str):
    uri = client.open(tmp_path / "program.py", wrong)
    assert client.said(uri)
    (action,) = client.actions(uri, line)
    edits = action["edit"]["changes"][uri]
    backwards = sorted(edits, key=lambda e: -e["range"]["start"]["character"])
    client.edit(uri, 2, *({"range": e["range"], "text": e["newText"]} for e in backwards))
    assert client.said(uri, 2) == []
    client.edit(uri, 3, whole(right))
    assert client.said(uri, 3) == []
    again = client.open(tmp_path / "again.py", right)
    assert client.said(again) == []


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (MODEL.replace("13, 3", "width, 3").replace("class", "width = 13\nclass"), 11),  # a name, not a number
        ("import torch\nx = torch.zeros(3, 5) + torch.zeros(7)\n", 1),
        ("import torch\ngiven = (torch.zeros(3, dtype=torch.int64),)\ny = torch.nn.Linear(3, 5)(*given)\n", 2),
    ],
)
def test_what_takes_a_person_is_no_fix(client: Client, tmp_path: Path, program: str, line: int):
    uri = client.open(tmp_path / "program.py", program)
    assert lines(client.said(uri)) == [line]
    assert client.actions(uri, line) == []


def test_a_lens_follows_with_arguments(client: Client, tmp_path: Path):
    text = "import sys, torch\nx = torch.zeros(3, int(sys.argv[1]) if len(sys.argv) > 1 else 5)\n"
    uri = client.open(tmp_path / "program.py", text)
    client.said(uri)
    (lens,) = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert lens["command"]["title"] == "follow from here: program.py (0 errors)"
    assert client.hints(uri)[0][2] == ": Float32[3, 5]"
    given = {"command": lens["command"]["command"], "arguments": [uri, ["7"]]}
    assert client.request("workspace/executeCommand", given) == {"followed": True, "errors": 0}
    assert client.hints(uri)[0][2] == ": Float32[3, 7]"


def test_the_page_is_that_of_the_text_in_the_editor(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", RIGHT)
    client.said(uri)
    page = client.request("workspace/executeCommand", {"command": "simpletorch.page", "arguments": [uri]})
    assert "y: Float32[5, 3]" in page


# -- nothing of the user's is run --------------------------------------------------------------------------------------


def test_no_file_is_run(tmp_path: Path):
    mark = tmp_path / "ran"
    for name in ("torch.py", "json.py", "pygls.py", "sitecustomize.py", "program.py"):
        (tmp_path / name).write_text(f"open({str(mark)!r}, 'w').close()\n")
    before = sorted(tmp_path.iterdir())
    command = [sys.executable, "-P", "-m", "simpletorch.language_server.worker"]
    assert subprocess.run(command, input=b"", cwd=tmp_path, check=False).returncode == 0
    assert sorted(tmp_path.iterdir()) == before


def test_without_its_packages_it_says_what_to_install(tmp_path: Path):
    code = "import sys; sys.modules['pygls'] = None\nfrom simpletorch.cli._language_server import language_server\n"
    hide = "from importlib import util; util.find_spec = lambda name: None\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{hide}{code}sys.exit(language_server())"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'simpletorch-typed[language-server]'" in done.stderr


def test_a_cell_of_a_notebook_is_no_program(client: Client, tmp_path: Path):
    cell = {"uri": "vscode-notebook-cell:/a.ipynb#W0", "languageId": "python", "version": 1, "text": "%time x = 3\n"}
    client.notify("textDocument/didOpen", {"textDocument": cell})
    uri = client.open(tmp_path / "program.py", MODEL)
    client.said(uri)
    assert set(client.diagnostics) == {uri}


# -- the protocol ------------------------------------------------------------------------------------------------------


def test_it_ends_as_it_is_asked_to(client: Client):
    assert client.leave() == 0


def test_who_leaves_without_a_word_ends_it_badly(client: Client):
    client.notify("exit", None)
    assert client.process.wait(60) == 1


def test_what_is_no_message_is_passed_over(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    client.said(uri)
    for body in (b"{", b"[]", b'"x"', b"null", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "method": 5}'):
        client.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    client.raw(b"Nonsense: 3\r\n\r\n")
    client.notify("textDocument/didChange", {"textDocument": {"uri": uri}, "contentChanges": 5})
    client.notify("textDocument/unheardOf", {})
    client.edit(uri, 2, at(10**6, 10**6, 10**6, "\n"), at(7, 30, 32, "11"))
    assert client.said(uri, 2) == []


def test_a_request_that_is_cancelled_is_answered(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    number = client.ask("workspace/executeCommand", {"command": "simpletorch.page", "arguments": [uri]})
    client.notify("$/cancelRequest", {"id": number})
    client.answer(number)
    client.edit(uri, 2, whole(RIGHT))
    assert client.said(uri, 2) == []


def test_a_request_that_can_not_be_read_is_refused(client: Client):
    answer = client.answer(client.ask("textDocument/hover", {"position": 5}))
    assert answer["error"]["code"] == -32602


def test_what_is_asked_after_the_shutdown_is_refused(client: Client, tmp_path: Path):
    client.request("shutdown", None)
    where = {"textDocument": {"uri": (tmp_path / "program.py").as_uri()}, "position": {"line": 0, "character": 0}}
    answer = client.answer(client.ask("textDocument/hover", where))
    assert answer["error"]["code"] == -32600
    client.notify("exit", None)
    assert client.process.wait(60) == 0


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_a_process_that_has_ended_is_started_again_for_the_next_edit(client: Client, tmp_path: Path):
    uri = client.open(tmp_path / "program.py", MODEL)
    assert lines(client.said(uri)) == [10]
    client.hints(uri)  # all is known, so that it waits
    for process in children(client.process.pid):
        os.kill(process, signal.SIGKILL)
    client.edit(uri, 2, whole("\n" + MODEL))
    assert lines(client.said(uri, 2)) == [11]


@pytest.mark.slow
def test_mypy_adds_what_it_knows_when_a_file_is_saved(tmp_path: Path):
    """Each mistake is said once, also where both find it."""
    program = tmp_path / "program.py"
    text = MODEL + "count: int = 'three'\n"
    program.write_text(text)
    home = warm.home(tmp_path)
    with Client(tmp_path, environment={"XDG_CACHE_HOME": str(home)}) as client:
        uri = client.open(program, text)
        client.said(uri)
        client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
        while len(client.diagnostics[uri]["diagnostics"]) < 2:
            client.take(500)
        said = client.diagnostics[uri]["diagnostics"]
        assert [(d["source"], d["range"]["start"]["line"]) for d in said] == [("simpletorch", 10), ("mypy", 13)]
        client.edit(uri, 2, at(0, 0, 0, "# moved\n"))
        assert lines(client.said(uri, 2)) == [11, 14]
        assert client.leave() == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([home.name, "program.py"])
    assert not list(home.rglob("editor-*.json"))
