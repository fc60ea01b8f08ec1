"""Language models whose layers two processes divide compute and learn as they do in one."""

from pathlib import Path

import pytest
import torch

from simpletorch.distributed import held
from tests import meeting
from tests.distributed import language

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder: Path = tmp_path_factory.mktemp("language")
    meeting.start(language.two, (folder,), 2)
    return torch.load(folder / "found.pt")


@pytest.mark.parametrize("name", language.MODELS)
def test_divided_models_learn_as_whole_ones(found: dict, name: str):
    model = language.made(name)
    number, values = found[name]
    assert number < 0.75 * held(model)
    expected = language.trained(model)
    assert values.keys() == expected.keys()
    for key, value in expected.items():
        same = torch.allclose(values[key], value, rtol=1e-4, atol=1e-6)
        assert same, f"{key}: {values[key]} is not {value.detach()}"
