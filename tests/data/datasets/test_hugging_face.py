"""The bridge to Hugging Face's datasets."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import sys

import numpy as np
import pytest
import torch
from PIL import Image

from simpletorch.data import DataLoader, HuggingFaceDataset, HuggingFaceStream, from_hugging_face
from simpletorch.errors import DataError

datasets = pytest.importorskip("datasets")

PIXELS = np.random.default_rng(3).integers(0, 256, (5, 7, 11, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def data():
    return datasets.Dataset.from_dict(
        {
            "image": [Image.fromarray(pixels) for pixels in PIXELS],
            "grey": [Image.fromarray(pixels[..., 0]) for pixels in PIXELS],
            "label": [3, 1, 4, 1, 5],
            "score": [0.5, 1.5, 2.5, 3.5, 4.5],
            "ids": [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1], [2, 2, 2]],
            "text": ["a", "b", "c", "d", "e"],
            "good": [True, False, True, True, False],
        },
    ).cast_column("image", datasets.Image())


def test_values_become_tensors_and_text_stays(data):
    sample = from_hugging_face(data)[2]
    assert torch.equal(sample["image"], torch.from_numpy(PIXELS[2]).permute(2, 0, 1))
    assert torch.equal(sample["grey"], torch.from_numpy(PIXELS[2, :, :, 0])[None])
    assert (sample["label"].dtype, sample["label"].item()) == (torch.int64, 4)
    assert (sample["score"].dtype, sample["score"].item()) == (torch.float32, 2.5)
    assert (sample["ids"].dtype, sample["ids"].tolist()) == (torch.int64, [7, 8, 9])
    assert (sample["good"].dtype, sample["good"].item()) == (torch.bool, True)
    assert sample["text"] == "c"


def test_named_fields_make_a_tuple_and_a_transform_the_sample(data):
    found = from_hugging_face(data, ("label", "image"))
    assert isinstance(found, HuggingFaceDataset)
    label, image = found[1]
    assert (label.item(), list(image.shape)) == (1, [3, 7, 11])
    assert from_hugging_face(data, ("label",), transform=lambda sample: sample[0] + 10)[4] == 15


def test_batches(data):
    found = from_hugging_face(data, ("image", "label", "text"))
    images, labels, texts = next(iter(DataLoader(found, 3)))
    assert torch.equal(images, torch.from_numpy(PIXELS[:3]).permute(0, 3, 1, 2))
    assert (labels.tolist(), list(texts)) == ([3, 1, 4], ["a", "b", "c"])
    for sample, index in zip(found.__getitems__([4, 0]), [4, 0], strict=True):
        assert torch.equal(sample[0], found[index][0])


def test_a_stream(data):
    stream = from_hugging_face(data.to_iterable_dataset(num_shards=2), ("label", "ids"))
    assert isinstance(stream, HuggingFaceStream)
    assert [int(label) for label, _ in stream] == [3, 1, 4, 1, 5]
    batches = list(DataLoader(stream, 2, num_workers=2))
    assert sorted(torch.cat([labels for labels, _ in batches]).tolist()) == [1, 1, 3, 4, 5]


def test_a_format_that_was_set_is_kept(data):
    sample = from_hugging_face(data.select_columns(["ids", "label"]).with_format("torch"), ("ids", "label"))[0]
    assert sample[0].tolist() == [1, 2, 3]


def test_ragged_lists_and_dicts():
    data = datasets.Dataset.from_dict({"words": [["a", "b"], ["c"]], "box": [{"x": 1, "y": 2.5}, {"x": 3, "y": 4.5}],
                                       "deep": [[[1, 2], [3]], [[4], [5, 6]]]})  # fmt: skip
    sample = from_hugging_face(data)[0]
    assert sample["words"] == ["a", "b"]
    assert {name: value.item() for name, value in sample["box"].items()} == {"x": 1, "y": 2.5}
    assert [row.tolist() for row in sample["deep"]] == [[1, 2], [3]]


def test_bad_input(data, monkeypatch):
    with pytest.raises(DataError, match=r"has no column 'picture': its columns are 'image', 'grey'"):
        from_hugging_face(data, ("picture", "label"))
    with pytest.raises(DataError, match=r"a dict of splits \(train\), not a dataset"):
        from_hugging_face(datasets.DatasetDict(train=data))
    with pytest.raises(DataError, match=r"takes a datasets\.Dataset, but got a list"):
        from_hugging_face([1, 2])
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataError, match=r"pip install 'simpletorch-typed\[huggingface\]'"):
        from_hugging_face(data)
