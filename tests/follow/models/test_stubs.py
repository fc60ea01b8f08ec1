"""Stubs: what a library's functions give is what their annotations say, and nothing of the library is imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from simpletorch.follow import Followed, differences, follow, results_differ
from simpletorch.follow.sources import installed
from tests.follow.models.library_with_stub import LIBRARY, STUB

SETTINGS = '[tool.simpletorch]\nmodels = ["stubs"]\n'
HEAD = """\
import torch
import encoders
from encoders import Encoder, Tokenizer, classify, embed, halves, stream
x = torch.zeros(5, 11)
"""


@pytest.fixture(autouse=True)
def _no_cache():
    installed._shipped.cache_clear()
    yield
    installed._shipped.cache_clear()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that names its folder of stubs."""
    (tmp_path / "stubs").mkdir()
    (tmp_path / "stubs/encoders.pyi").write_text(STUB)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    return tmp_path


def followed(folder: Path, program: str) -> Followed:
    path = folder / "program.py"
    path.write_text(HEAD + program)
    found = follow(path)
    assert found.faults == ()
    return found


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        ("y = embed(x)", "Float32[5, 11, 13]"),
        ("y = embed(x, scale=2.0)", "Float32[5, 11, 13]"),
        ("y = encoders.embed(x)", "Float32[5, 11, 13]"),
        ("y = classify(x).scores", "Float32[5, 7]"),
        ("_, y = halves(x)", "Float32[11]"),
        ("for y in stream(3):\n    pass", "Float32[3, 2]"),
        ("y = Encoder(depth=3)(torch.zeros(2, 3, 17, 19))", "Float32[2, 1000]"),
        ("y = Tokenizer('a').table", "Float32[128, 16]"),
        ("y = Tokenizer('a').lower().table", "Float32[128, 16]"),
        ("y = Tokenizer.load('a').pads", "Int64[3]"),
        ("y = Tokenizer('a').weights(bias=3)['bias']", "Float32[2]"),
        ("y = Tokenizer('a').batch(['a'], length=7)", "Int64[?, 7]"),
    ],
)
def test_a_result_is_what_its_annotation_says(project, program, shown):
    claims = [value for names in followed(project, program).claims.values() for value in names.get("y", ())]
    assert list(map(str, claims)) == [shown]


@pytest.mark.parametrize(
    "program",
    [
        "y = encoders.odd(3)",  # it has several signatures
        "y = Tokenizer('a').hidden",  # the stub doesn't have all
        "y = encoders.secret(3)",
        "y = Tokenizer('a').encode('b')",
        "y = torch.zeros(Tokenizer('a').encode('b')[0])",
        "y = embed([3, 5])",
        "rows = [x]\ny = embed(*rows)",
        "model = Encoder()\ntorch.optim.SGD(model.parameters(), lr=0.1).step()\nmodel.eval().cuda().own()",
    ],
)
def test_what_a_stub_does_not_say_is_not_known(project, program):
    found = followed(project, program)
    assert (found.errors, found.warnings) == ((), ())


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("embed(torch.zeros(3))", "embed: x has 1 dim, not 2 [x: Float32[3] (should be Float32[b, n])]"),
        ("embed(x, scal=3)", "embed has no argument scal (x, scale)"),
        ("embed()", "embed is called without x"),
        ("Tokenizer()", "Tokenizer is called without name"),
        ("Tokenizer('a').encode()", "Tokenizer.encode is called without text"),
        ("Encoder()(x)", "forward: x has 2 dims, not 4 [x: Float32[5, 11] (should be Float32[b, c, h, w])]"),
        ("Encoder()()", "Encoder.forward is called without x"),
    ],
)
def test_a_call_that_the_stub_refuses_is_a_finding(project, program, message):
    (found,) = followed(project, program).errors
    assert found.message == message


@pytest.mark.parametrize(
    ("call", "shown"), [("encoders.Trainer().fit(net, names)", "Float32[0..]"), ("embed(x, scale=2.0)", "Float32[2]")]
)
def test_a_library_may_change_what_it_is_given(project, call, shown):
    program = f"net, names = torch.nn.Linear(11, 5), [3, 5]\n{call}\ny = torch.zeros(len(names))"
    claims = [value for found in followed(project, program).claims.values() for value in found.get("y", ())]
    assert list(map(str, claims)) == [shown]


def test_a_name_without_a_stub_is_as_before(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    assert followed(tmp_path, "y = embed(x)").claims.keys() == {(str(tmp_path / "program.py"), 4)}


def test_modules_and_packages_have_stubs(tmp_path):
    folder = tmp_path / "stubs/encoders"
    folder.mkdir(parents=True)
    (folder / "__init__.pyi").write_text("from encoders.inner import wide as wide\n")
    (folder / "inner.pyi").write_text(
        "from jaxtyping import Float32\nfrom torch import Tensor\ndef wide(n: int) -> Float32[Tensor, '3 5']: ...\n"
    )
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "program.py").write_text(
        "import encoders.inner\nfrom encoders import wide\nx = wide(3)\ny = encoders.inner.wide(5)\n"
    )
    claims = follow(tmp_path / "program.py").claims
    assert [str(v) for names in claims.values() for values in names.values() for v in values] == ["Float32[3, 5]"] * 2


# -- distributions -----------------------------------------------------------------------------------------------------


def distribution(folder: Path, value: str, files: dict[str, str], *, recorded: bool = True) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    info = folder / "encoder_models-3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: encoder-models\nVersion: 3\n")
    (info / "entry_points.txt").write_text(f"[{installed.GROUP}]\nencoders = {value}\n")
    if recorded:
        (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))


RAISES = "raise RuntimeError('somebody imported this')\n"


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize(
    ("value", "files"),
    [
        ("encoders", {"encoders/__init__.py": RAISES, "encoders/__init__.pyi": STUB}),
        ("models_of_others.encoders", {"models_of_others/__init__.py": RAISES, "models_of_others/encoders.pyi": STUB}),
        ("others.stubs", {"others/__init__.py": RAISES, "others/stubs/__init__.pyi": STUB}),
    ],
)
def test_a_distribution_has_stubs(tmp_path, monkeypatch, value, files, recorded):
    """Also one that is being edited, which has no record of its files. Its package isn't imported."""
    installed = tmp_path / "installed"
    installed.mkdir()
    distribution(installed, value, files, recorded=recorded)
    monkeypatch.syspath_prepend(str(installed))
    (tmp_path / "work").mkdir()
    found = followed(tmp_path / "work", "y = embed(x)\nembed(x, scal=3)")
    assert [str(v) for names in found.claims.values() for v in names.get("y", ())] == ["Float32[5, 11, 13]"]
    assert [e.message for e in found.errors] == ["embed has no argument scal (x, scale)"]
    assert not {"encoders", "models_of_others", "others"} & sys.modules.keys()


def test_an_entry_point_that_leads_nowhere_is_passed_over(tmp_path, monkeypatch):
    distribution(tmp_path, "nowhere.stubs", {})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed._shipped() == {}


# -- against the library -----------------------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "encoders.py").write_text(LIBRARY)
    (tmp_path / "encoders.pyi").write_text(STUB)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("encoders", None)


def test_a_right_stub_differs_in_nothing(library):
    assert differences(library / "encoders.pyi", "encoders") == []


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ("scale: float = 1.0", "scale: float = 2.0", "encoders.embed: the default of scale is 1.0, not 2.0"),
        ("scale: float = 1.0", "factor: float = 1.0", "encoders.embed: the library has scale where factor stands"),
        (", scale: float = 1.0", "", "encoders.embed: the library also takes scale"),
        ("scale: float = 1.0", "scale: float", "encoders.embed: scale isn't required"),
        ("def embed(", "def embedded(", "encoders.embedded: the library has no such name"),
        (", *, lower: bool = ...", "", "encoders.Tokenizer.__init__: the library also takes lower"),
    ],
)
def test_a_wrong_stub_is_told(library, right, wrong, sentence):
    assert STUB.count(right) == 1
    (library / "encoders.pyi").write_text(STUB.replace(right, wrong))
    assert differences(library / "encoders.pyi", "encoders") == [sentence]


def test_results_are_compared_with_the_library(project, monkeypatch):
    (project / "library").mkdir()
    (project / "library/encoders.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(project / "library"))
    monkeypatch.chdir(project)
    try:
        program = HEAD + "y = embed(x)\nz = classify(x).scores\n"
        assert results_differ(program, known="y z") == []
        assert results_differ(program + "w = encoders.odd(3)\n", known="w") == ["w isn't known"]
        (project / "stubs/encoders.pyi").write_text(STUB.replace('"b n 13"', '"b n 17"'))
        assert results_differ(program) == ["y is float32[5, 11, 13], not Float32[5, 11, 17]"]
        (project / "stubs/encoders.pyi").write_text(STUB.replace("scale: float = 1.0", "scale: float"))
        assert results_differ(program) == ["line 5: embed is called without scale, but the program runs"]
    finally:
        sys.modules.pop("encoders", None)
