"""NumPy's arrays whose sizes depend on chance or on how long a list is, or that come of ``np.mgrid`` and its like."""

from functools import partial
from pathlib import Path

import pytest
from against_torch import agrees
from scripts import Scripts

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nrng = np.random.default_rng(0)\n"
shown = partial(Scripts(HEAD).shown, right=True)
lines = Scripts(HEAD).lines


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = np.arange(rng.integers(5, 14))", "Int64[5..13]"),
        ("n = rng.integers(5, 14)\nx = np.sin(np.arange(n) / 7) * np.hanning(n)", "Float64[5..13]"),
        ("x = np.arange(3, rng.integers(5, 14))", "Int64[2..10]"),
        ("x = np.arange(7, rng.integers(5, 14))", "Int64[?]"),
        ("x = np.arange(len(open('f').read())) * 0.5", "Float64[?]"),
        ("x = np.arange(float(open('f').read()))", "Float64[?]"),
        ("x = np.arange(open('f'))", "Tensor[?]"),
        ("x = np.hamming(M=11)", "Float64[11]"),
        ("x = rng.uniform(low=[-1.0, 2.0, 3.0], high=[5.0, 7.0, 11.0])", "Float64[3]"),
        ("x = rng.normal(np.zeros((5, 1)), np.ones(7))", "Float64[5, 7]"),
        ("x = rng.zipf(1.3, 11)", "Int64[11]"),
        ("x = np.zeros(rng.integers(0, 11 - rng.integers(0, 5)))", "Float64[0..]"),
    ],
)
def test_what_is_made_of_numbers_by_chance(source, expected, tmp_path):
    assert shown(source, tmp_path) == expected


CHUNKS = """
chunks = []
for word in open("f").read().split():
    chunks.append(np.sin(np.arange(rng.integers(5, 14))))
    chunks.append(np.zeros(rng.integers(3, 8)))
rows = [np.zeros((5, 7), dtype=np.float32) for word in open("f").read().split()]
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = np.concatenate(chunks)", "Float64[?]"),
        ("x = np.hstack(chunks).astype(np.float32)", "Float32[?]"),
        ("x = torch.from_numpy(np.concatenate(chunks))", "Float64[?]"),
        ("x = np.concatenate(chunks)\nx += 0.1 * rng.standard_normal(len(x))", "Float64[?]"),
        ("x = np.concatenate(rows)", "Float32[?, 7]"),
        ("x = np.concatenate(rows, axis=1)", "Float32[5, ?]"),
        ("x = np.stack(rows)", "Float32[?, 5, 7]"),
        ("x = np.stack(rows, axis=-1)", "Float32[5, 7, ?]"),
        ("x = np.vstack([r[0] for r in rows])", "Float32[?, 7]"),
        ("x = np.stack([r.mean() for r in rows])", "Float32[?]"),
        ("x = np.column_stack(3 * [np.zeros(5)])", "Float64[5, 3]"),
        ("x = torch.cat([torch.from_numpy(c) for c in chunks]).float()", "Float32[0..]"),
        ("x = np.concatenate(np.zeros((101, 5, 7)))", "Float64[505, 7]"),
    ],
)
def test_a_list_of_arrays_of_unknown_length(source, expected, tmp_path):
    assert shown(CHUNKS + source, tmp_path) == expected


def test_padded_sequences_of_such(tmp_path):
    source = CHUNKS + "x = nn.utils.rnn.pad_sequence([torch.from_numpy(c) for c in chunks], batch_first=True)"
    assert shown(source, tmp_path) == "Float64[0.., ?]"
    assert len(lines(source + "\nnn.Conv1d(1, 3, 5)(x.unsqueeze(1))", tmp_path)) == 1
    assert lines(source + "\nnn.Conv1d(1, 3, 5)(x.float().unsqueeze(1))", tmp_path) == []


def test_an_operation_in_place_keeps_shape_and_dtype(tmp_path):
    assert shown("x = np.zeros(5, dtype=np.float32)\nx += np.ones(5)", tmp_path) == "Float32[5]"
    assert shown("x = np.zeros(5)\nx += np.ones(int(open('f').read()))", tmp_path) == "Float64[5]"
    assert shown("x = np.zeros((7, 3))\nx /= np.linalg.norm(x, axis=1, keepdims=True)", tmp_path) == "Float64[7, 3]"
    assert lines("x = np.zeros((7, 3))\nx /= np.linalg.norm(x, axis=1)", tmp_path) == [2]


def test_what_was_changed_in_place_has_other_numbers(tmp_path):
    source = "i = np.arange(5)\nj = i\ni -= 3\nnn.Embedding(4, 7)(torch.from_numpy(j))"
    assert lines(source.replace("i -= 3\n", ""), tmp_path) == [3]
    assert lines(source, tmp_path) == []


def test_two_lengths_drawn_apart_may_be_equal(tmp_path):
    assert lines("np.arange(rng.integers(5, 14)) * np.hanning(rng.integers(3, 8))", tmp_path) == []
    assert lines("np.arange(rng.integers(5, 14)) * np.hanning(17)", tmp_path) == [1]


def test_what_is_copied_into_an_array_must_fit(tmp_path):
    head = "x = np.zeros((11, 3), dtype=np.float32)\n"
    assert shown(head + "np.copyto(x[5], np.ones(3))", tmp_path) == "Float32[11, 3]"
    assert lines(head + "np.copyto(x[5], np.ones(3))\nnp.copyto(x[5], np.ones(7))", tmp_path) == [3]


def test_the_places_of_a_number_that_is_not_zero(tmp_path):
    assert lines("labels = np.arange(5)\nnp.nonzero(labels[2] > 1)", tmp_path) == [2]
    assert lines("labels = np.arange(5)\nys, xs = np.where(labels[2])", tmp_path) == [2]
    assert lines("labels = np.arange(5)\nxs, = np.where(labels > 2)\nnp.where(labels[2], 3, 5)", tmp_path) == []


@pytest.mark.parametrize(
    "places", ["np.where(a > 7)[0]", "np.nonzero(a > 7)[0]", "np.flatnonzero(a > 7)", "np.unique(a)", "a[a > 7]"]
)
def test_a_slice_of_what_is_chosen_by_content_may_be_shorter(places: str, tmp_path: Path) -> None:
    head = f"a = rng.integers(0, 11, 13)\nx = {places}[:3]\n"
    assert shown(head, tmp_path) == "Int64[0..3]"
    assert lines(head + "nn.Linear(3, 5)(torch.from_numpy(x).float())", tmp_path) == []


@pytest.mark.parametrize(
    "source",
    [
        "y, x = np.mgrid[:5, :7]",
        "y, x = np.mgrid[2:5, 3:13]",
        "y = x = np.mgrid[0:1:11j]",
        "y = x = np.add(*np.ogrid[:5, :7])",
        "y = x = np.c_[np.zeros(5), np.ones((5, 2))]",
        "y = x = np.zeros((5, 7))[np.s_[:, 2]]",
    ],
)
def test_grids_are_numpys(source: str, tmp_path: Path) -> None:
    agrees(f"{HEAD}{source}\na, b = torch.from_numpy(y.copy()), torch.from_numpy(x.copy())\n", tmp_path, "a b")


def test_a_number_is_taken_of_one_element_only(tmp_path):
    source = "x = np.zeros((3, 5))\na, b = x[:1, :1].item(), x.item(3)\nc = x.item()\n"
    assert lines(source, tmp_path) == [3]


# -- the same memory on both sides of a border -------------------------------------------------------------------------

SHARING = Scripts(
    "import numpy as np\nimport torch\nimport jax\nimport jax.numpy as jnp\nfrom simpletorch import interop\n"
    "a = np.zeros((3, 5), np.float32)\nt = torch.zeros(7, 11)\n"
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = torch.from_dlpack(a)", "Float32[3, 5]"),
        ("x = torch.utils.dlpack.from_dlpack(a)", "Float32[3, 5]"),
        ("x = interop.from_numpy(a)", "Float32[3, 5]"),
        ("x = interop.from_dlpack(a, copy=True)", "Float32[3, 5]"),
        ("x = interop.to_numpy(t)", "Float32[7, 11]"),
        ("x = np.from_dlpack(t) @ np.zeros((11, 2), np.float32)", "Float32[7, 2]"),
        ("x = torch.from_dlpack(jnp.from_dlpack(t))", "Float32[7, 11]"),
        ("x = interop.from_dlpack(interop.to_jax(t))", "Float32[7, 11]"),
        ("x = np.from_dlpack(jax.dlpack.from_dlpack(t))", "Float32[7, 11]"),
        ("x = torch.from_dlpack(jnp.from_dlpack(t.long()))", "Tensor[7, 11]"),
        ("x = torch.zeros(jnp.from_dlpack(t).shape)", "Float32[7, 11]"),
        ("x = torch.from_dlpack(jnp.from_dlpack(t) @ 2)", "Tensor[...]"),
        ("x = torch.from_dlpack(jnp.ones((3, 5)))", "Tensor[3, 5]"),
        ("x = torch.from_dlpack(jnp.full((3, 5), 2, 'int8'))", "Int8[3, 5]"),
        ("x = torch.from_dlpack(jnp.zeros(shape=7, dtype='float32'))", "Float32[7]"),
        ("x = torch.from_dlpack(jnp.asarray(a))", "Float32[3, 5]"),
        ("x = torch.from_dlpack(jnp.asarray(np.zeros(3)))", "Tensor[3]"),
        ("x = torch.from_dlpack(jnp.array([[1, 2, 3]]))", "Tensor[1, 3]"),
        ("x = torch.from_dlpack(jnp.array(jnp.from_dlpack(t)))", "Float32[7, 11]"),
        ("x = torch.from_dlpack(jnp.ones((3, 5)).T)", "Tensor[...]"),
    ],
)
def test_the_sizes_are_the_same_on_both_sides(source, expected, tmp_path):
    assert SHARING.shown(source, tmp_path, right=True) == expected


def test_a_mistake_behind_the_border_is_found(tmp_path):
    assert SHARING.lines("torch.zeros(5, 2) @ interop.from_dlpack(jnp.from_dlpack(t))\n", tmp_path) == [1]
    assert SHARING.lines("torch.nn.Linear(4, 2)(interop.from_dlpack(jnp.zeros((3, 5))))\n", tmp_path) == [1]
    assert SHARING.lines("j = jnp.from_dlpack(t)\nprint(j == j, len(j), j.at[0], j[0], j + 1, j.T)\n", tmp_path) == []
