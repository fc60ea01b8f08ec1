"""A column that meets a row by mistake, and tables that are meant: training scripts as people write them."""

from pathlib import Path

import pytest
import torch
from torch.overrides import TorchFunctionMode

from simpletorch.follow import follow

HEAD = """import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.manual_seed(0)
"""
REGRESSION = """
class Net(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x))

x = torch.randn(34, 5)
y = x.sum(dim=1) + 0.1 * torch.randn(34)
loader = DataLoader(TensorDataset(x, y), batch_size=17, shuffle=True)
model = Net(5, 11)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for inputs, targets in loader:
        optimizer.zero_grad()
        predictions = model(inputs)
        loss = LOSS
        loss.backward()
        optimizer.step()
"""
CLASSIFIER = """
class Images(Dataset):
    def __len__(self):
        return 26
    def __getitem__(self, index):
        return torch.randn(1, 8, 8), index % 10

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 7, 3)
        self.out = nn.Linear(7, 10)
    def forward(self, x):
        x = F.relu(self.conv(x))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.out(x)

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct = 0
    for images, labels in loader:
        output = model(images)
        COUNT
    return correct / len(loader.dataset)

model = Classifier()
print(evaluate(model, DataLoader(Images(), batch_size=13)))
"""
Q_LEARNING = """
class Buffer:
    def __init__(self, states):
        self.states = torch.randn(500, states)
        self.actions = torch.randint(0, 4, (500,))
        self.rewards = torch.randn(500)
        self.dones = torch.zeros(500)
    def sample(self, count):
        index = torch.randint(0, 500, (count,))
        following = (index + 1) % 500
        return self.states[index], self.actions[index], self.rewards[index], self.states[following], self.dones[index]

def network():
    return nn.Sequential(nn.Linear(6, 23), nn.ReLU(), nn.Linear(23, 4))

online, target = network(), network()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters())
buffer = Buffer(6)
for step in range(5):
    s, a, r, s2, done = buffer.sample(19)
    q = online(s).gather(1, a.unsqueeze(1))
    with torch.no_grad():
        following = target(s2).max(1)[0]
        expected = r + 0.99 * following * (1 - done)
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ACTOR_CRITIC = """
class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(4, 13)
        self.actor = nn.Linear(13, 2)
        self.critic = nn.Linear(13, 1)
    def forward(self, state):
        h = torch.tanh(self.shared(state))
        return self.actor(h).log_softmax(-1), self.critic(h)

def discounted(rewards, gamma):
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.insert(0, total)
    return torch.tensor(returns)

model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters())
for episode in range(2):
    log_probabilities, values, rewards = [], [], []
    state = torch.randn(4)
    for t in range(29):
        policy, value = model(state)
        action = torch.multinomial(policy.exp(), 1).item()
        log_probabilities.append(policy[action])
        values.append(value)
        rewards.append(1.0)
        state = torch.randn(4)
    returns = discounted(rewards, 0.9)
    values = torch.stack(values)
    log_probabilities = torch.stack(log_probabilities)
    advantage = ADVANTAGE
    loss = -(log_probabilities * advantage.detach().flatten()[:29]).mean() + advantage.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_HAND = """
def data(count):
    x = torch.normal(0, 1, (count, 2))
    y = x @ torch.tensor([2.0, -3.4]) + 4.2
    return x, y + torch.normal(0, 0.01, y.shape)

def linear(x, w, b):
    return torch.matmul(x, w) + b

def squared(prediction, y):
    return LOSS / 2

features, labels = data(34)
w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(2):
    for i in range(0, 34, 17):
        loss = squared(linear(features[i : i + 17], w, b), labels[i : i + 17]).sum()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.03 * p.grad / 17
                p.grad.zero_()
"""
FITTED = """
x = torch.linspace(-1, 1, 31)
y = torch.sin(3 * x) + 0.1 * torch.randn(x.size())
model = nn.Sequential(nn.Linear(1, 7), nn.Tanh(), nn.Linear(7, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    prediction = model(x.unsqueeze(1))
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
XOR = """
X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([0.0, 1.0, 1.0, 0.0])
model = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    out = model(X)
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
COLUMNS = """
class Table(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        row = self.rows[i]
        return row[:-1], torch.tensor([row[-1].item()])

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs, wanted in DataLoader(Table(torch.randn(22, 4)), batch_size=11):
    out = OUT
    loss = ((out - wanted) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GAUSSIAN = """
class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(5, 2)
    def forward(self, x):
        mean, log_variance = self.net(x).chunk(2, dim=1)
        return mean, log_variance.exp()

def likelihood(mean, variance, y):
    return (variance.log() + ERROR ** 2 / variance).mean() / 2

model = Gaussian()
loader = DataLoader(TensorDataset(torch.randn(38, 5), torch.randn(38)), batch_size=19)
optimizer = torch.optim.Adam(model.parameters())
for inputs, y in loader:
    loss = likelihood(*model(inputs), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MASKED = """
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 7)
        self.rnn = nn.GRU(7, 11, batch_first=True)
        self.score = nn.Linear(11, 1)
    def forward(self, words):
        out, _ = self.rnn(self.words(words))
        return self.score(out.mean(dim=1))

model = Tagger()
words, keep, wanted = torch.randint(0, 50, (26, 9)), torch.rand(26) > 0.5, torch.rand(26)
for w, k, t in DataLoader(TensorDataset(words, keep, wanted), batch_size=13):
    score = model(w)
    loss = (score.sigmoid() * MASK).sum() / k.sum()
    loss.backward()
"""
WRONG = {
    "squared error": REGRESSION.replace("LOSS", "((predictions - targets) ** 2).mean()"),
    "absolute error": REGRESSION.replace("LOSS", "torch.mean(torch.abs(targets - predictions))"),
    "pow": REGRESSION.replace("LOSS", "torch.sub(predictions, targets).pow(2).mean()"),
    "weighted": REGRESSION.replace("LOSS", "(F.softplus(predictions) * targets.abs()).mean()"),
    "argmax(keepdim)": CLASSIFIER.replace(
        "COUNT", "correct += (output.argmax(dim=1, keepdim=True) == labels).sum().item()"
    ),
    "eq": CLASSIFIER.replace(
        "COUNT", "prediction = output.max(1, keepdim=True)[1]\n        correct += prediction.eq(labels).sum().item()"
    ),
    "topk(1)": CLASSIFIER.replace(
        "COUNT", "_, best = output.topk(1, dim=1)\n        correct += torch.sum(best == labels).item()"
    ),
    "gather": Q_LEARNING.replace("LOSS", "((q - expected) ** 2).mean()"),
    "temporal difference": Q_LEARNING.replace("LOSS", "(expected - q).abs().mean()"),
    "advantage": ACTOR_CRITIC.replace("ADVANTAGE", "returns - values"),
    "a critic's cat": ACTOR_CRITIC.replace("torch.stack(values)", "torch.stack(values, 0)").replace(
        "ADVANTAGE", "returns.sub(values)"
    ),
    "weights in a column": BY_HAND.replace("LOSS", "(prediction - y) ** 2"),
    "one x for both": FITTED.replace("LOSS", "torch.mean((prediction - y) ** 2)"),
    "written out": XOR.replace("LOSS", "torch.mean(torch.square(Y - out))"),
    "cross-entropy by hand": XOR.replace("LOSS", "-(Y * out.log()).mean()"),
    "targets in columns": COLUMNS.replace("OUT", "model(inputs).squeeze(-1)"),
    "flattened": COLUMNS.replace("OUT", "model(inputs).view(-1)"),
    "chunks": GAUSSIAN.replace("ERROR", "(y - mean)"),
    "a mask": MASKED.replace("MASK", "k"),
    "a mask of numbers": MASKED.replace("MASK", "k.float()"),
    "a loss for each and a mask": """
model = nn.Linear(5, 3)
x = torch.randn(34, 5)
sure, guess = model(x).softmax(1).max(dim=1, keepdim=True)
loss = (F.cross_entropy(model(x), guess[:, 0], reduction="none") * (sure > 0.5).float()).mean()
""",
    "a loss for each and weights": """
model, weigh = nn.Linear(5, 3), nn.Linear(5, 1)
x, y = torch.randn(34, 5), torch.randint(0, 3, (34,))
loss = (nn.CrossEntropyLoss(reduction="none")(model(x), y) * weigh(x).sigmoid()).mean()
""",
    "mse_loss": REGRESSION.replace("LOSS", "F.mse_loss(predictions, targets)"),
}
RIGHT = {
    "a loss for each and a mask": """
model = nn.Linear(5, 3)
x = torch.randn(34, 5)
sure, guess = model(x).softmax(1).max(dim=1)
loss = (F.cross_entropy(model(x), guess, reduction="none") * (sure > 0.5).float()).mean()
""",
    "squeeze": REGRESSION.replace("LOSS", "((predictions.squeeze(-1) - targets) ** 2).mean()"),
    "squeeze in forward": REGRESSION.replace("self.head(self.body(x))", "self.head(self.body(x)).squeeze()").replace(
        "LOSS", "((predictions - targets) ** 2).mean()"
    ),
    "unsqueeze": REGRESSION.replace("LOSS", "((predictions - targets.unsqueeze(1)) ** 2).mean()"),
    "view of the targets": REGRESSION.replace("LOSS", "((predictions - targets.view(-1, 1)) ** 2).mean()"),
    "view_as": CLASSIFIER.replace(
        "COUNT",
        "prediction = output.argmax(dim=1, keepdim=True)\n"
        "        correct += prediction.eq(labels.view_as(prediction)).sum().item()",
    ),
    "argmax": CLASSIFIER.replace("COUNT", "correct += (output.argmax(1) == labels).sum().item()"),
    "the best five": CLASSIFIER.replace(
        "COUNT",
        "best = output.topk(5, 1)[1].t()\n"
        "        correct += best.eq(labels.view(1, -1).expand_as(best))[:1].sum().item()",
    ),
    "one-hot of labels": CLASSIFIER.replace(
        "COUNT", "correct += (output * (labels[:, None] == torch.arange(10))).sum().item()"
    ),
    "classes beside a batch of as many": CLASSIFIER.replace("26", "20")
    .replace("batch_size=13", "batch_size=10")
    .replace("COUNT", "correct += (output.max(1, keepdim=True)[0] - model.out.bias).sum().item()"),
    "a mean of classes beside a batch of as many": CLASSIFIER.replace("26", "20")
    .replace("batch_size=13", "batch_size=10")
    .replace("COUNT", "correct += (output.mean(1, keepdim=True) * output.mean(0)).sum().item()"),
    "gather and squeeze": Q_LEARNING.replace("LOSS", "((q.squeeze(1) - expected) ** 2).mean()"),
    "expected in a column": Q_LEARNING.replace("LOSS", "F.smooth_l1_loss(q, expected.unsqueeze(1))"),
    "advantage": ACTOR_CRITIC.replace("ADVANTAGE", "returns - values.squeeze()"),
    "weights in a column": BY_HAND.replace("LOSS", "(prediction - y.reshape(prediction.shape)) ** 2"),
    "one x for both": FITTED.replace("LOSS", "torch.mean((prediction - y[:, None]) ** 2)"),
    "written out": XOR.replace("LOSS", "torch.mean(torch.square(Y[:, None] - out))"),
    "targets in columns": COLUMNS.replace("OUT", "model(inputs)"),
    "chunks": GAUSSIAN.replace("ERROR", "(y[:, None] - mean)"),
    "a mask": MASKED.replace("MASK", "k.unsqueeze(-1)"),
    "distances of all pairs": """
def distances(a, b):
    return a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1) - 2 * a @ b.t()
points = torch.randn(19, 3)
print(distances(points, points).argmin(1), distances(points, torch.randn(19, 3)).mean())
""",
    "differences of all pairs": """
model = nn.Linear(3, 1)
scores = model(torch.randn(19, 3))
wanted = torch.rand(19)
difference = scores - scores.squeeze(1)
better = wanted[:, None] > wanted
loss = F.softplus(-difference)[better].mean() + F.softplus(-(scores - scores.T))[better].mean()
loss.backward()
""",
    "attention of a graph": """
class Attention(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.w = nn.Linear(inputs, outputs)
        self.source, self.target = nn.Linear(outputs, 1), nn.Linear(outputs, 1)
    def forward(self, h, adjacency):
        h = self.w(h)
        e = F.leaky_relu(self.source(h) + self.target(h).squeeze(-1))
        return e.masked_fill(adjacency == 0, -1e9).softmax(-1) @ h
print(Attention(5, 7)(torch.randn(19, 5), torch.rand(19, 19) > 0.5).shape)
""",
    "a kernel": """
x = torch.linspace(0, 1, 19)
column = x.reshape(-1, 1)
kernel = torch.exp(-((column - x) ** 2) / 0.1) + 0.01 * torch.eye(19)
print(kernel.inverse() @ torch.sin(x))
""",
    "frequencies": """
class Time(nn.Module):
    def __init__(self, half):
        super().__init__()
        self.frequencies = nn.Parameter(torch.randn(half), requires_grad=False)
    def forward(self, t):
        return torch.cat([(t * self.frequencies).sin(), (t * self.frequencies).cos()], dim=-1)
for (t,) in DataLoader(TensorDataset(torch.rand(38, 1)), batch_size=19):
    print(Time(19)(t).shape)
""",
    "radii": """
offsets = torch.linspace(0, 5, 19)
def smear(positions):
    radius = positions.norm(dim=-1, keepdim=True)
    return torch.exp(-((radius - offsets) ** 2))
print(smear(torch.randn(19, 3)).shape)
""",
    "normalized": """
x = torch.randn(19, 19)
x = x / x.norm(dim=1, keepdim=True)
x = (x - x.mean(0, keepdim=True)) / (x.std(0) + 1e-5)
print((x.softmax(1) * x.sum(1, keepdim=True)).shape)
""",
}


class Growing(TorchFunctionMode):
    """Whether an operation of two tensors gives more than each of them has."""

    def __init__(self) -> None:
        super().__init__()
        self.grown: list[str] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = [a for a in args if isinstance(a, torch.Tensor)]
        losses = getattr(function, "__name__", "") in ("mse_loss",)
        if len(given) == 2 and isinstance(result, torch.Tensor) and not losses:
            column, row = sorted(given, key=lambda t: -t.dim())
            if row.dim() == 1 and column.shape == (*row.shape, 1) and result.shape == (*row.shape, *row.shape):
                self.grown.append(function.__name__)
        elif losses and given[0].shape != given[1].shape:
            self.grown.append(function.__name__)
        return result


def grows(source: str) -> bool:
    """Whether a column meets a row as the program runs."""
    with Growing() as mode:
        exec(compile(HEAD + source, "program.py", "exec"), {"__name__": "__main__"})
    return bool(mode.grown)


def warned(source: str, folder: Path) -> list[str]:
    """What is said of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    assert not followed.errors
    return [f"{w.code}: {w.message} ({w.hint})" for w in followed.warnings]


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_a_table_that_nobody_meant_is_found_once(source, tmp_path):
    assert grows(source)
    (said,) = warned(source, tmp_path)
    assert said.startswith("tensor-broadcast")
    assert "are broadcast to" in said


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path):
    grows(source)
    assert warned(source, tmp_path) == []


def test_nothing_is_raised_where_somebody_would_catch_it(tmp_path):
    source = """
x, y = torch.randn(17, 5), torch.randn(17)
try:
    loss = F.mse_loss(nn.Linear(5, 1)(x), y)
    shape = (2, 3)
except RuntimeError:
    shape = (5,)
print(torch.zeros(shape) @ torch.zeros(3, 7))
"""
    (said,) = warned(source, tmp_path)
    assert said.startswith("tensor-broadcast")


def test_the_message_says_where_the_1_comes_from(tmp_path):
    (said,) = warned(WRONG["squared error"], tmp_path)
    assert "-: (17, 1) and (17,) are broadcast to (17, 17)" in said
    assert "because of the 1 that Linear(11, 1) gives" in said
    assert ".squeeze(-1)" in said
