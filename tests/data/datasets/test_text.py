"""Lines and characters."""

import gzip
import pickle

import pytest
import torch

from simpletorch.data import CharTokens, DataLoader, lines
from simpletorch.errors import DataError, ShapeMismatch

TEXT = "to be, or not to be: that is the question"


def write(tmp_path, content):
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "all_lines"),
    [
        (b"", []),
        (b"one", ["one"]),
        (b"one\n", ["one"]),
        (b"\n", [""]),
        (b"\r\n", [""]),
        (b"one\r\ntwo\r\n\r\nthree", ["one", "two", "", "three"]),
        (b"\n\none\n\n", ["", "", "one", ""]),
        ("größer\nпривет\n".encode(), ["größer", "привет"]),
        (b"a\rb\n\r", ["a\rb", ""]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_lines(tmp_path, content, all_lines, packed):
    path = write(tmp_path, gzip.compress(content) if packed else content)
    kept, filled = lines(path, keep_empty=True), lines(path)
    assert [kept[i] for i in range(len(kept))] == all_lines
    assert [filled[i] for i in range(len(filled))] == [line for line in all_lines if line]


def test_lines_through_workers_and_pickles(tmp_path):
    data = lines(write(tmp_path, b"one\ntwo\nthree\n"))
    assert list(DataLoader(data, 2, num_workers=1)) == [["one", "two"], ["three"]]
    assert pickle.loads(pickle.dumps(data))[-1] == "three"


def test_lines_that_can_not_be_read(tmp_path):
    with pytest.raises(DataError, match=r"can't read .*nowhere: No such file"):
        lines(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"line 1 of .* is no utf-8 text: .* can't decode byte 0xff"):
        lines(write(tmp_path, b"one\n\xff\n"))[1]
    with pytest.raises(DataError, match="damaged or truncated"):
        lines(write(tmp_path, gzip.compress(b"one\n" * 99)[:-9]))
    with pytest.raises(IndexError):
        lines(write(tmp_path, b"one\n"))[1]


def test_targets_are_the_next_characters():
    data = CharTokens(TEXT, context=7)
    assert len(data) == len(TEXT) - 7
    for index in (0, 11, len(data) - 1, -1):
        inputs, targets = data[index]
        start = index % len(data)
        assert data.decode(inputs) == TEXT[start : start + 7]
        assert data.decode(targets) == TEXT[start + 1 : start + 8]
    assert data.vocabulary == tuple(sorted(set(TEXT)))
    assert data.tokens.dtype == torch.int64


@pytest.mark.parametrize("stride", [1, 3, 7, 100])
def test_samples_start_a_stride_apart(stride):
    data = CharTokens(TEXT, 7, stride)
    starts = range(0, len(TEXT) - 7, stride)
    assert [data.decode(data[i][0]) for i in range(len(data))] == [TEXT[start : start + 7] for start in starts]


def test_a_batch_is_its_samples():
    data = CharTokens(TEXT, 5, 2)
    for (inputs, targets), index in zip(data.__getitems__([3, -1, 0]), [3, -1, 0], strict=True):
        assert torch.equal(inputs, data[index][0])
        assert torch.equal(targets, data[index][1])
    inputs, targets = next(iter(DataLoader(data, 11)))
    assert list(inputs.shape) == list(targets.shape) == [11, 5]
    assert torch.equal(inputs[:, 1:], targets[:, :-1])


def test_a_vocabulary_is_shared_and_files_are_read(tmp_path):
    train = CharTokens(TEXT, 5)
    path = write(tmp_path, gzip.compress(b"not that question"))
    test = CharTokens.from_file(path, 5, vocabulary=train.vocabulary)
    assert test.decode(test.tokens) == "not that question"
    assert torch.equal(test.encode("to be"), train.encode("to be"))
    with pytest.raises(DataError, match=r"character 'w' at place 0 is not among the \d+ of the vocabulary"):
        CharTokens("why not", 3, vocabulary=train.vocabulary)


def test_what_makes_no_tokens_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"needs 8 characters \(context and one more\), but the text has 7"):
        CharTokens("to be, ", 7)
    with pytest.raises(DataError, match="context is 0 and stride is 1"):
        CharTokens(TEXT, 0)
    with pytest.raises(DataError, match="single characters, none of them twice"):
        CharTokens("aa", 1, vocabulary=["a", "a"])
    data = CharTokens(TEXT, 3)
    with pytest.raises(DataError, match="tokens go from 0 to 99"):
        data.decode(torch.tensor([0, 99]))
    with pytest.raises(ShapeMismatch, match=r"takes numbers \[n\], but got \[1, 3\]"):
        data.decode(torch.zeros(1, 3, dtype=torch.int64))
    with pytest.raises(IndexError):
        data[len(data)]
    with pytest.raises(DataError, match="is no ascii text"):
        CharTokens.from_file(write(tmp_path, "größer".encode()), 3, encoding="ascii")
