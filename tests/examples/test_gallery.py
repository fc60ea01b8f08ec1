"""The scripts of examples/gallery: they run, find what they promise, and nothing is found in them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow

FOLDER = Path(__file__).parents[2] / "examples" / "gallery"
PICTURES = FOLDER.parents[1] / "docs" / "pictures" / "gallery"
SCRIPTS = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"}
Result = dict[str, float]

# what the quick run of a script must reach; a new script needs a line here
PROMISES: dict[str, Callable[[Result], bool]] = {
    "amp": lambda found: min(found["float32"], found["bfloat16"]) > 0.9 and 0 < found["apart"] < 0.3,
    "autograd": lambda found: found["newton"] < found["descent"] < 0.01 < found["first"] and found["gradient"] == 2,
    "bert": lambda found: found["last"] < found["first"] - 0.5 and found["right"] >= found["always"] > 0.05,
    "ddp": lambda found: found["last"] < found["first"] / 2 and found["accuracy"] > 0.8 and found["difference"] == 0,
    "diffusion": lambda found: found["last"] < found["first"] / 2 and found["right"] > 0.5,
    "dqn": lambda found: found["last"] > 50 > found["first"],
    "gan": lambda found: found["real"] < found["after"] < 0.8 * found["before"],
    "gradcam": lambda found: found["whole"] > 0.9 and found["marked"] < found["chance"] - 0.1,
    "graph_network": lambda found: found["graph"] > 0.8 and found["graph"] > found["alone"] + 0.05,
    "hyperparameters": lambda found: 0.9 < found["best"] >= found["first"] and found["test"] > 0.85,
    "int8": lambda found: found["int8"] > found["float"] - 0.02 > 0.85 and found["small"] < found["bytes"] / 3,
    "kernels": lambda found: found["last"] < found["first"] / 2 and found["accuracy"] > 0.9,
    "mnist": lambda found: found["last"] < found["first"] and found["accuracy"] > 0.9,
    "modules": lambda found: found["accuracy"] > 0.8 and found["difference"] == 0 and found["seen"] == 3 * 1437,
    "nas": lambda found: min(found["evolved"], found["chance"]) > 0.4 and found["test"] > 0.8,
    "ppo": lambda found: found["last"] > 80 > found["first"],
    "pruning": lambda found: found["left"] < 0.07 and found["slowly"] > 0.75 > found["at once"],
    "sac": lambda found: found["last"] > -500 > found["first"] and found["weight"] < 0.5,
    "super_resolution": lambda found: found["learned"] > found["bicubic"] - 0.1 > 30,
    "tensors": lambda found: found["pixels"] > 0.95 and found["12 directions"] > 0.9,
    "text_classification": lambda found: found["last"] < found["first"] and found["accuracy"] > 0.6,
    "text_generation": lambda found: found["last"] < found["first"] - 0.5,
    "transfer": lambda found: found["old"] > 0.9 and found["transferred"] > 0.75,
    "vae": lambda found: found["last"] < found["first"] - 4 and found["test"] < found["first"],
    "xor": lambda found: found["last"] < 0.01 < found["first"],
}
MARKS = {"ddp": pytest.mark.slow, "nas": pytest.mark.thorough, "sac": pytest.mark.thorough}  # 2 processes; 20 s each
END = """

if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="take a few seconds")
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    main(options.quick, options.picture)
"""


@pytest.fixture(autouse=True)
def one_thread():
    """The models are so small that threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_each_script_promises_something():
    assert SCRIPTS.keys() == PROMISES.keys()


@pytest.mark.parametrize("name", [pytest.param(n, marks=MARKS[n]) if n in MARKS else n for n in SCRIPTS])
def test_a_quick_run_keeps_what_the_script_promises(name, tmp_path):
    script = importlib.import_module(f"examples.gallery.{name}")
    found = script.main(quick=True, picture=tmp_path / "picture.png")
    assert PROMISES[name](found), found
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", SCRIPTS.values(), ids=SCRIPTS)
def test_nothing_is_found_in_a_script(path):
    found = follow(path)
    assert [finding.lines() for finding in (*found.errors, *found.warnings, *found.remarks)] == []


@pytest.mark.parametrize("path", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_is_short_and_takes_the_options_of_all(path):
    text = path.read_text()
    assert text.count("\n") < 150
    assert text.endswith(END)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_page_has_what_a_script_prints_and_draws(name):
    """``make pictures`` writes both; a script that is changed is drawn again by it."""
    assert (PICTURES / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (PICTURES / f"{name}.txt").read_text(encoding="utf-8").strip()
