"""The table of the documents' items says what there is: its programs run, and nothing is said of them."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.documents.table import ITEMS, PROGRAMS, page

ROOT = Path(__file__).parents[2]
BY_NUMBER = {name.partition("_")[0]: name for name in PROGRAMS}
WITHOUT_NETWORK = {"243_mnist_download", "253_pretrained_by_name"}
"""They fetch data: they are followed, and not run."""
BY_ITSELF = {
    "250_cpp_extension", "260_distributed_init", "295_project_template", "302_parallel_loading", "313_program_aot",
    "314_model_parallel", "315_fsdp", "341_leak_free", "408_async_step", "409_checked_coroutine", "482_env",
}  # fmt: skip
"""They start processes, compile, or look at their own memory."""
NEEDS = {
    "310_transformers_bridge": "transformers", "311_torchvision_audio": "transformers", "312_onnx": "onnx",
    "320_quantization": "torchao", "415_actor_worker": "ray",
}  # fmt: skip


def test_the_page_is_what_the_table_says():
    assert (ROOT / "docs" / "documents.md").read_text(encoding="utf-8") == page()


def test_items_are_counted_and_have_reasons():
    assert [item.number for item in ITEMS] == list(range(1, 240))
    assert {item.verdict for item in ITEMS} == {"works", "partly", "absent"}
    assert [item.number for item in ITEMS if item.verdict != "works" and not item.reason] == []


def test_programs_of_items_are_there():
    named = {program for item in ITEMS for program in item.programs}
    numbers = {name for name in named if name.isdecimal()}
    assert numbers <= BY_NUMBER.keys()
    files = [name for name in named - numbers if not any(path.exists() for path in _places(name))]
    assert files == []


def _places(name: str) -> list[Path]:
    return [ROOT / name, ROOT / "examples" / name, ROOT / "examples" / "distributed" / name]


def _written(name: str, folder: Path) -> Path:
    path = folder / f"{name}.py"
    path.write_text(PROGRAMS[name], encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_a_program(name, tmp_path):
    found = follow(_written(name, tmp_path))
    assert found.faults == ()
    assert [f.lines() for f in (*found.errors, *found.warnings)] == []


def _runs() -> list[object]:
    out: list[object] = []
    for name in PROGRAMS:
        marks = [pytest.mark.thorough, pytest.mark.slow]
        if name in NEEDS:
            marks.append(pytest.mark.neighbour(NEEDS[name]))
        if name not in WITHOUT_NETWORK:
            out.append(pytest.param(name, marks=marks, id=name))
    return out


@pytest.mark.parametrize("name", _runs())
@pytest.mark.filterwarnings("ignore")
def test_a_program_runs(name, tmp_path, monkeypatch):
    path = _written(name, tmp_path)
    if name in BY_ITSELF or name in NEEDS:
        subprocess.run([sys.executable, path], cwd=tmp_path, check=True, timeout=600, capture_output=True)
    else:
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(path), run_name="__main__")
