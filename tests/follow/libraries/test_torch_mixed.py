"""Dims that are mixed up without torch saying a word: a view for a transpose, a batch where the time should be."""

import pytest
import torch
from scripts import Scripts

HEAD = """import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
"""
ATTENTION = """
class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.head_dim = dim // heads
        self.to_q, self.to_k, self.to_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q = SPLIT_Q
        k = self.to_k(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        v = self.to_v(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
        y = scores.softmax(dim=-1) @ v
        return self.out(JOIN)

torch.manual_seed(1)
out = SelfAttention(33, 3)(torch.randn(2, 7, 33))
"""
SPLIT = "self.to_q(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)"
JOIN = "y.transpose(1, 2).reshape(b, t, c)"


def attention(split: str = SPLIT, join: str = JOIN) -> str:
    """Self-attention that splits its heads and joins them so."""
    return ATTENTION.replace("SPLIT_Q", split).replace("JOIN", join)


CNN = """
class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 13, 3, stride=2)
        self.norm = nn.LayerNorm(13)

    def forward(self, x):
        x = self.conv(x)
        b, c, h, w = x.shape
        return self.norm(TOKENS)

torch.manual_seed(1)
out = Tokens()(torch.randn(2, 3, 15, 23))
"""
VIEWS = {  # (what is mixed, what was meant)
    "heads are split": (attention("self.to_q(x).view(b, self.heads, t, self.head_dim)"), attention()),
    "heads are split, the rest is counted": (
        attention("self.to_q(x).reshape(b, self.heads, -1, self.head_dim)"),
        attention(),
    ),
    "heads are joined": (attention(join="y.reshape(b, t, c)"), attention()),
    "heads are joined by their size": (
        attention(join="y.contiguous().view(b, t, self.heads * self.head_dim)"),
        attention(),
    ),
    "channels of a picture become features": (
        CNN.replace("TOKENS", "x.view(b, h * w, c)"),
        CNN.replace("TOKENS", "x.flatten(2).transpose(1, 2)"),
    ),
    "channels of a picture become features, by size()": (
        CNN.replace("TOKENS", "x.reshape(x.size(0), -1, x.size(1))"),
        CNN.replace("TOKENS", "x.flatten(2).transpose(1, 2)"),
    ),
    "channels come last": (
        CNN.replace("TOKENS", "x.reshape(b, h, w, c)"),
        CNN.replace("TOKENS", "x.permute(0, 2, 3, 1)"),
    ),
    "pictures of numbers": (
        "images = torch.arange(5 * 32 * 32 * 3.0).reshape(5, 32, 32, 3)\nout = images.view(-1, 3, 32, 32)\n",
        "out = torch.arange(5 * 32 * 32 * 3.0).reshape(5, 32, 32, 3).permute(0, 3, 1, 2)\n",
    ),
    "a picture that is shown": (
        "image = torch.rand(3, 28, 28)\nout = image.reshape(28, 28, 3)\n",
        "image = torch.rand(3, 28, 28)\nout = image.permute(1, 2, 0)\n",
    ),
    "a picture in an array": (
        "image = np.random.default_rng(0).random((32, 48, 3))\nout = torch.from_numpy(image.reshape(3, 32, 48))\n",
        "image = np.random.default_rng(0).random((32, 48, 3))\nout = torch.from_numpy(image).permute(2, 0, 1)\n",
    ),
    "time and features of a convolution": (
        "x = nn.Conv1d(3, 11, 5)(torch.randn(2, 3, 21))\nbatch, channels, steps = x.size()\n"
        "out = x.view(batch, steps, channels)\n",
        "x = nn.Conv1d(3, 11, 5)(torch.randn(2, 3, 21))\nout = x.transpose(1, 2)\n",
    ),
    "time first": (
        "def to_time_first(x):\n    batch_size = x.size(0)\n    seq_len = x.size(1)\n"
        "    return x.view(seq_len, batch_size, -1)\n\nout = to_time_first(torch.randn(5, 7, 3))\n",
        "out = torch.randn(5, 7, 3).transpose(0, 1)\n",
    ),
    "a function of torch's": (
        "x = torch.randn(5, 7, 3)\nb, t, c = x.shape\nout = torch.reshape(x, (b, c, t))\n",
        "out = torch.randn(5, 7, 3).transpose(1, 2)\n",
    ),
    "two sides of a recurrent layer": (
        "out, hidden = nn.GRU(3, 11, num_layers=2)(torch.randn(7, 5, 3))\n"
        "layers, batch, size = hidden.shape\nout = hidden.view(batch, layers * size)\n",
        "_, hidden = nn.GRU(3, 11, num_layers=2)(torch.randn(7, 5, 3))\nout = hidden.transpose(0, 1).reshape(5, 22)\n",
    ),
}
RIGHT_VIEWS = {
    "heads": attention(),
    "heads as three dims": attention(
        "self.to_q(x).view(b, t, self.heads, -1).permute(0, 2, 1, 3)", "y.permute(0, 2, 1, 3).flatten(2)"
    ),
    "heads in one call": attention(
        "torch.stack([h for h in self.to_q(x).view(b, t, self.heads, self.head_dim).unbind(2)], 1)"
    ),
    "tokens": CNN.replace("TOKENS", "x.view(b, c, h * w).permute(0, 2, 1)"),
    "neighbours are merged": (
        "x = torch.randn(2, 5, 7, 3)\nb, t, h, d = x.shape\nout = x.view(b * t, h, d).view(b, t, h * d)\n"
    ),
    "a dim is split": "x = torch.randn(2, 35, 3)\nb, t, c = x.shape\nout = x.view(b, 5, t // 5, c).view(b, t, c)\n",
    "a pixel shuffle": """
def pixel_shuffle(x, r):
    b, c, h, w = x.shape
    x = x.view(b, c // (r * r), r, r, h, w).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(b, c // (r * r), h * r, w * r)

out = pixel_shuffle(torch.randn(2, 20, 7, 11), 2)
""",
    "a channel shuffle": """
def channel_shuffle(x, groups):
    b, c, h, w = x.size()
    x = x.view(b, groups, c // groups, h, w)
    return x.transpose(1, 2).contiguous().view(b, c, h, w)

out = channel_shuffle(torch.randn(2, 15, 7, 11), 3)
""",
    "patches": """
def patches(x, p):
    b, c, h, w = x.shape
    x = x.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
    return x.reshape(b, (h // p) * (w // p), c * p * p)

out = patches(torch.randn(2, 3, 14, 21), 7)
""",
    "windows": """
def windows(x, size):
    B, H, W, C = x.shape
    x = x.view(B, H // size, size, W // size, size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, C)

out = windows(torch.randn(2, 14, 21, 5), 7)
""",
    "relative positions are shifted": """
def shift(scores):
    b, h, q, k = scores.shape
    padded = torch.cat([scores.new_zeros(b, h, q, 1), scores], dim=-1)
    _, _, q, k1 = padded.shape
    return padded.view(b, h, k1, q)[:, :, 1:].reshape(b, h, q, k1 - 1)

out = shift(torch.randn(2, 3, 7, 13))
""",
    "numbers that are shown": "x = torch.arange(12).view(3, 4)\nout = x.view(4, 3)\n",
    "groups of a norm": """
def group_norm(x, groups):
    b, c, h, w = x.shape
    x = x.view(b, groups, -1)
    x = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
    return x.view(b, c, h, w)

out = group_norm(torch.randn(2, 21, 7, 3), 7)
""",
    "sizes that are equal by chance": "x = torch.randn(2, 5, 5)\nb, c, t = x.shape\nout = x.view(b, t, c)\n",
    "a flat vector": "x = torch.randn(2, 3, 5)\nb, c, t = x.shape\nout = x.flatten().view(b, c, t).view(b, -1)\n",
    "channels of a grey picture": "image = torch.rand(1, 28, 28)\nout = image.view(28, 28, 1)\n",
    "time and batch together": """
out, _ = nn.LSTM(3, 11)(torch.randn(7, 5, 3))
t, b, h = out.shape
out = nn.Linear(11, 2)(out.view(t * b, h)).view(t, b, -1)
""",
}
LOADER = """
data = torch.randn(44, 7, 3)
labels = torch.randint(0, 2, (44,))
loader = DataLoader(TensorDataset(data, labels), batch_size=11, shuffle=True)
"""
TRAIN = """
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
model.eval()
"""
CLASSIFIER = """
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = LAYER
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        out, _ = CALL
        return self.fc(out[:, -1])

model = Classifier()
"""


def classifier(layer: str, call: str = "self.rnn(x)") -> str:
    """A script that trains a classifier of sequences."""
    return LOADER + CLASSIFIER.replace("LAYER", layer).replace("CALL", call) + TRAIN


ENCODER = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3, 10)
        layer = nn.TransformerEncoderLayer(10, 2, 20OPTION)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.fc = nn.Linear(10, 2)

    def forward(self, x):
        x = F.relu(self.embed(x))
        return self.fc(self.encoder(x).mean(1))

model = Encoder()
"""
TAGGER = """
data = torch.randint(0, 50, (44, 7))
labels = torch.randint(0, 2, (44,))
loader = DataLoader(TensorDataset(data, labels), batch_size=11)

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 13)
        self.dropout = nn.Dropout(0.1)
        self.gru = nn.GRU(13, 5OPTION)
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        x = self.dropout(self.embedding(x))
        x, _ = self.gru(x)
        return self.fc(x.mean(1))

model = Tagger()
"""
CONVOLVED = """
class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 13, 3, padding=1)
        self.lstm = nn.LSTM(13, 5OPTION)
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        x = torch.relu(self.conv(x.transpose(1, 2))).permute(0, 2, 1)
        x, (h, c) = self.lstm(x)
        return self.fc(x[:, -1, :])

model = Convolved()
"""
FIRST = ", batch_first=True"
BY_NAME = """
n, steps, features = 11, 7, 3
rnn = nn.RNN(features, 5OPTION)
x = torch.randn(n, steps, features)
y = torch.randint(0, 5, (n,))

def model(x):
    return rnn(x)[0][:, -1]
"""
ORDER = {  # programs whose model mixes the samples of x
    "LSTM": classifier("nn.LSTM(3, 5)"),
    "GRU": classifier("nn.GRU(3, 5, 2)"),
    "RNN": classifier("nn.RNN(3, 5, batch_first=False)"),
    "attention": classifier("nn.MultiheadAttention(5, 1, kdim=3, vdim=3)", "self.rnn(F.pad(x, (0, 2)), x, x)").replace(
        "F.pad(x, (0, 2))", "self.widen(x)"
    ).replace("self.fc = ", "self.widen = nn.Linear(3, 5)\n        self.fc = "),
    "a Transformer": LOADER + ENCODER.replace("OPTION", "") + TRAIN,
    "a layer of a Transformer": LOADER
    + ENCODER.replace("OPTION", "").replace("nn.TransformerEncoder(layer, 2)", "layer")
    + TRAIN,
    "behind an embedding": TAGGER.replace("OPTION", "") + TRAIN,
    "behind a convolution": LOADER + CONVOLVED.replace("OPTION", "") + TRAIN,
    "turned, though the batch comes first": classifier("nn.LSTM(3, 5, batch_first=True)", "self.rnn(x.transpose(0, 1))")
    .replace("out[:, -1]", "out[-1]"),
    "turned twice": classifier("nn.GRU(3, 5)", "self.rnn(x.permute(1, 0, 2).transpose(0, 1))"),
    "as many as labels": BY_NAME.replace("OPTION", "") + "print(rnn(x)[0].shape)\n",
    "as many as labels, in a function": BY_NAME.replace("OPTION", "").replace("randn", "rand") + "print(model(x))\n",
    "as many as in a batch": BY_NAME.replace("OPTION", "").replace(
        "y = torch.randint(0, 5, (n,))", "loader = DataLoader(torch.zeros(44, 7, 3), batch_size=n)"
    )
    + "print(rnn(x)[0].shape)\n",
}  # fmt: skip
RIGHT_ORDER = {
    "batch_first": classifier("nn.LSTM(3, 5, batch_first=True)"),
    "turned": classifier("nn.LSTM(3, 5)", "self.rnn(x.transpose(0, 1))").replace("out[:, -1]", "out[-1]"),
    "turned by permute": classifier("nn.GRU(3, 5)", "self.rnn(x.permute(1, 0, 2))").replace("out[:, -1]", "out[-1]"),
    "turned by torch": classifier("nn.GRU(3, 5)", "self.rnn(torch.transpose(x, 0, 1))").replace(
        "out[:, -1]", "out[-1]"
    ),
    "a Transformer": LOADER + ENCODER.replace("OPTION", FIRST) + TRAIN,
    "a layer of a Transformer": LOADER
    + ENCODER.replace("OPTION", FIRST).replace("nn.TransformerEncoder(layer, 2)", "layer")
    + TRAIN,
    "behind an embedding": TAGGER.replace("OPTION", FIRST) + TRAIN,
    "behind a convolution": LOADER + CONVOLVED.replace("OPTION", FIRST) + TRAIN,
    "as many as labels": BY_NAME.replace("OPTION", FIRST) + "print(model(x))\n",
    "time first": "n = 11\nx = torch.randn(7, n, 3)\ny = torch.randint(0, 2, (n,))\nout, _ = nn.LSTM(3, 5)(x)\n",
    "labels of the steps": "n = 7\nx, y = torch.randn(n, 1, 3), torch.randint(0, 2, (n,))\nout, _ = nn.LSTM(3, 5)(x)\n",
    "a name alone": "batch_size = 7\nout, _ = nn.LSTM(3, 5)(torch.randn(batch_size, 11, 3))\n",
    "one sequence": "out, _ = nn.LSTM(3, 5)(torch.randn(7, 3))\n",
    "a collate_fn that puts the time first": """
def collate(rows):
    return torch.stack([x for x, _ in rows], dim=1), torch.stack([y for _, y in rows])

loader = DataLoader(TensorDataset(torch.randn(44, 7, 3), torch.randint(0, 2, (44,))), 11, collate_fn=collate)
lstm = nn.LSTM(3, 5)
for x, y in loader:
    out, _ = lstm(x)
    print(out[-1].shape)
""",
    "rows of text": """
text = torch.randint(0, 50, (770,))
rows = text.view(11, 70).t().contiguous()
embedding, lstm = nn.Embedding(50, 13), nn.LSTM(13, 5)
for i in range(0, 70, 7):
    out, _ = lstm(embedding(rows[i : i + 7]))
""",
    "one step at a time": """
loader = DataLoader(TensorDataset(torch.randn(44, 3)), batch_size=11)
lstm = nn.LSTM(3, 5)
for (x,) in loader:
    out, _ = lstm(x.unsqueeze(0))
""",
}


STATES = {  # what is made of the states h of 7 samples: (2 layers or directions, 7, 5)
    "view": "h.view(7, 10)",
    "view of the rest": "h.view(7, -1)",
    "the batch is the rest": "h.view(-1, 10)",
    "reshape": "h.reshape(x.size(0), -1)",
    "contiguous first": "h.contiguous().view(7, 10)",
    "torch's reshape": "torch.reshape(h, (7, 10))",
}
RIGHT_STATES = {
    "turned": "h.transpose(0, 1).reshape(7, 10)",
    "turned by permute": "h.permute(1, 0, 2).flatten(1)",
    "side by side": "torch.cat((h[-2], h[-1]), dim=1)",
    "the last": "h[-1].view(7, -1)",
    "layers and directions": "h.view(1, 2, 7, 5)[-1].transpose(0, 1).reshape(7, 10)",
    "all rows": "h.reshape(-1, 5)",
}


UNTURNED = """
torch.manual_seed(1)
x = torch.randn(7, 11, 3)
def layer(made):
    torch.manual_seed(2)
    return made.eval()
"""
LAST = {  # of 7 samples of 11 steps, (what is mixed, what was meant): a change of one sample changes others, too
    "LSTM": "out, _ = layer(nn.LSTM(3, 5))(x)\nout = out[:, -1]\n",
    "GRU, all features": "out, _ = layer(nn.GRU(3, 5, 2))(x)\nout = out[:, -1, :]\n",
    "both directions": "out, _ = layer(nn.LSTM(3, 5, bidirectional=True))(x)\nout = nn.Linear(10, 2)(out[:, -1, :])\n",
    "the mean": "out, _ = layer(nn.RNN(3, 5))(x)\nout = out.mean(dim=1)\n",
    "the mean of a Transformer": "out = layer(nn.TransformerEncoderLayer(3, 1))(x).mean(1)\n",
    "a stack": "out = layer(nn.TransformerEncoder(nn.TransformerEncoderLayer(3, 1), 2))(x)\nout = out.mean(dim=1)\n",
    "the sum behind dropout": "out, _ = layer(nn.GRU(3, 5))(x)\nout = nn.Dropout(0.0)(out).sum(dim=1)\n",
    "the last behind a norm": "out, _ = layer(nn.LSTM(3, 5))(x)\nout = nn.LayerNorm(5)(out)[:, -1]\n",
    "the greatest": "out = layer(nn.TransformerEncoderLayer(3, 1))(x)\nout = torch.amax(out, 1)\n",
    "in a model": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.GRU(3, 5), nn.Linear(5, 2)
    def forward(self, x):
        hidden, _ = self.rnn(x)
        return self.fc(hidden[:, -1])
out = layer(Net())(x)
""",
}
RIGHT_LAST = {
    "batch_first": "out, _ = layer(nn.LSTM(3, 5, batch_first=True))(x)\nout = out[:, -1]\n",
    "a Transformer": "out = layer(nn.TransformerEncoderLayer(3, 1, batch_first=True))(x).mean(1)\n",
    "turned": "out, _ = layer(nn.GRU(3, 5))(x.transpose(0, 1))\nout = out[-1]\n",
    "turned back": "out, _ = layer(nn.GRU(3, 5))(x.transpose(0, 1))\nout = out.transpose(0, 1)[:, -1]\n",
    "the mean of the steps": "out, _ = layer(nn.GRU(3, 5))(x.transpose(0, 1))\nout = out.mean(0)\n",
    "the state": "_, h = layer(nn.GRU(3, 5))(x.transpose(0, 1))\nout = h[-1]\n",
    "one sample": "out, _ = layer(nn.GRU(3, 5))(x[0][:, None])\nout = out[:, -1]\n",
    "the first sample": "out, _ = layer(nn.GRU(3, 5))(x)\nout = out[:, 0]\n",
    "no batch": "out, _ = layer(nn.GRU(3, 5))(x[0])\nout = out[-1]\n",
    "the mean of the features": "out, _ = layer(nn.GRU(3, 5))(x)\nout = out.mean(-1)\n",
}


SCRIPTS = Scripts(HEAD)
said, run = SCRIPTS.said, SCRIPTS.run


@pytest.mark.parametrize(("source", "meant"), VIEWS.values(), ids=VIEWS)
def test_a_view_for_a_transpose_is_found(source, meant, tmp_path):
    out, right = run(source)["out"], run(meant)["out"]
    assert out.shape == right.shape
    assert not torch.equal(out, right)
    found = said(source, tmp_path)
    assert not found.errors
    assert [w.code for w in found.warnings] == ["tensor-mixed"]
    found = said(meant, tmp_path)
    assert not found.warnings


@pytest.mark.parametrize("source", RIGHT_VIEWS.values(), ids=RIGHT_VIEWS)
def test_a_view_that_is_meant_is_left_alone(source, tmp_path):
    run(source)
    found = said(source, tmp_path)
    assert not found.errors
    assert not found.warnings


@pytest.mark.parametrize("source", LAST.values(), ids=LAST)
def test_the_last_sample_for_the_last_step_is_found(source, tmp_path):
    out, other = (run(UNTURNED + change + source)["out"] for change in ("", "x[0] += 1\n"))
    assert len(out) == 7
    assert not out[1:].allclose(other[1:])  # what becomes of a sample depends on another one
    assert [w.code for w in said(UNTURNED + source, tmp_path).warnings] == ["tensor-mixed"]


@pytest.mark.parametrize("source", RIGHT_LAST.values(), ids=RIGHT_LAST)
def test_the_last_step_is_left_alone(source, tmp_path):
    run(UNTURNED + source)
    assert said(UNTURNED + source, tmp_path).warnings == ()


STATE = "torch.manual_seed(1)\nx = torch.randn(7, 3, 3)\n_, h = nn.GRU(3, 5, bidirectional=True, batch_first=True)(x)\n"


@pytest.mark.parametrize("way", STATES.values(), ids=STATES)
def test_states_that_are_mixed_are_found(way, tmp_path):
    scope = run(f"{STATE}out, meant = {way}, torch.cat((h[0], h[1]), dim=1)\n")
    assert scope["out"].shape == scope["meant"].shape
    assert not scope["out"].allclose(scope["meant"])
    assert [w.code for w in said(f"{STATE}out = {way}\n", tmp_path).warnings] == ["tensor-mixed"]


@pytest.mark.parametrize("way", RIGHT_STATES.values(), ids=RIGHT_STATES)
def test_states_that_are_turned_are_left_alone(way, tmp_path):
    run(f"{STATE}out = {way}\n")
    assert said(f"{STATE}out = {way}\n", tmp_path).warnings == ()


@pytest.mark.parametrize("source", ORDER.values(), ids=ORDER)
def test_a_batch_for_the_time_is_found(source, tmp_path):
    scope = run(source)
    x = scope["x"]
    assert x.shape[:2] == (11, 7)
    other = x.clone()
    other[0] = other[2]
    assert not torch.equal(scope["model"](x)[1], scope["model"](other)[1])  # a sample depends on another one
    found = said(source, tmp_path)
    assert not found.errors
    assert [w.code for w in found.warnings] == ["tensor-mixed"]


@pytest.mark.parametrize("source", RIGHT_ORDER.values(), ids=RIGHT_ORDER)
def test_a_batch_in_its_place_is_left_alone(source, tmp_path):
    run(source)
    found = said(source, tmp_path)
    assert not found.errors
    assert not found.warnings


def test_the_states_of_a_batch_are_refused_by_torch(tmp_path):
    call = "self.rnn(x, (x.new_zeros(1, x.size(0), 5), x.new_zeros(1, x.size(0), 5)))"
    source = classifier("nn.LSTM(3, 5)", call)
    with pytest.raises(RuntimeError, match="hidden"):
        run(source)
    found = said(source, tmp_path)
    assert [e.code for e in found.errors] == ["tensor-shape"]
    assert not found.warnings


def test_the_sentences(tmp_path):
    """What is said, and what would be right."""
    sources = VIEWS["heads are split"][0], VIEWS["heads are joined"][0], ORDER["LSTM"]
    shown = [(w.message, w.hint) for source in sources for w in said(source, tmp_path).warnings]
    rest = "mixes dims: it regroups the elements in memory order and moves no dim"
    assert shown == [
        (f"view of Float32[2, 7, 33] to (2, 3, 7, 11) {rest}", ".view(2, 7, 3, 11).transpose(1, 2)"),
        (f"reshape of Float32[2, 3, 7, 11] to (2, 7, 33) {rest}", ".transpose(1, 2).reshape(2, 7, 33)"),
        (
            "LSTM takes (time, batch, features), but dim 0 of Float32[11, 7, 3] is the batch: it iterates over the "
            "samples",
            "batch_first=True, or x.transpose(0, 1)",
        ),
    ]
