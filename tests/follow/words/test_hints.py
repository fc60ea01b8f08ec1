"""Hints of what the follower finds: the one that keeps what the line means comes first."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\nx = torch.randn(8, 5, 12)\n"
MASK = "mask = torch.zeros(8, 5, dtype=torch.bool)\n"
HINTS = {
    MASK + "nn.MultiheadAttention(12, 3)(x, x, x, key_padding_mask=mask)": "batch_first=True would fit",
    MASK + "layer = nn.TransformerEncoderLayer(12, 3)\nnn.TransformerEncoder(layer, 2)(x, src_key_padding_mask=mask)": (
        "batch_first=True would fit"
    ),
    "nn.GRU(12, 7)(x, torch.zeros(1, 8, 7))": "batch_first=True would fit",
    "nn.Linear(60, 3)(x.flatten())": "flatten(1) keeps the batch dim, which flatten() doesn't: 480 is 8 samples of 60",
    "nn.Linear(60, 3)(x)": "input.flatten(1) has 60 features",
    "F.cross_entropy(x.view(-1, 6), torch.zeros(8, dtype=torch.long))": (
        "input has 10 rows for each target: an earlier view(-1, ...) may have split each sample into 10"
    ),
    "x.gather(1, x)": "index.long()",
    "F.binary_cross_entropy(torch.rand(1, 1).squeeze(), torch.rand(1))": (
        "did squeeze() remove a batch of one? squeeze(-1) removes the last dim only"
    ),
}


@pytest.mark.parametrize("body", HINTS)
def test_the_hint(body: str, tmp_path: Path):
    (tmp_path / "program.py").write_text(HEAD + body + "\n")
    assert [f.hint for f in follow(tmp_path / "program.py").errors] == [HINTS[body]]
    with pytest.raises((RuntimeError, ValueError, AssertionError)):
        exec(HEAD + body, {})
