"""Random edits and messages that are none; the long run is ``python -m benchmarks.language_server``."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.language_server import storm

EXAMPLES = Path(__file__).parents[2] / "examples/models"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_a_storm_of_edits_changes_no_answer(seed: int):
    done = storm(150, seed, [EXAMPLES / "vae.py", EXAMPLES / "unet.py"])
    assert done["edits"] == 150
    assert done["compared"]
