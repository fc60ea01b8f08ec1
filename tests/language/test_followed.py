"""The follower goes through the language models on sizes alone, and finds no mistake."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.language import models

FILES = sorted(Path(models.__file__).parent.glob("_*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_models_are_right_for_every_size(path):
    followed = follow(path)
    assert [*followed.errors, *followed.warnings] == []
