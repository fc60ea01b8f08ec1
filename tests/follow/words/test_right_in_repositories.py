"""Kinds of false findings that repositories showed: places of a condition, hooks of unknown layers, two trainings."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from tests.follow.words.against_torch import HEAD, programs, raises

PLACES = r"""
x = torch.rand(50) > 2
z = torch.where(x)[0][:10]
z.shape
torch.zeros(0).add(z)
---
x = torch.rand(50) > 2
z = torch.where(x)[0][:10]
n = len(z)
torch.zeros(0).add(z)
torch.zeros(0).add(torch.zeros(n))
---
x = torch.rand(50) > 2
z = torch.where(x)[0][:10]
b, = z.shape
torch.zeros(0) + torch.zeros(b)
assert b == 0
---
x = torch.unique(torch.zeros(0))
n, = x.size()
torch.zeros(0) * x
torch.zeros(0) * torch.zeros(n)
---
x = torch.zeros(4, 3)[torch.zeros(4) > 1][:2]
n, d = x.shape
torch.zeros(0, 3) + x
torch.zeros(0, d) + torch.zeros(n, 1)

"""
HOOKED = """from some_library import backbone
class Store:
    def __init__(self, model, layer):
        self.model, self.kept = model, []
        {register}
    def keep(self, module, input, output):
        self.kept.append(output)
    def __call__(self, x):
        self.kept = []
        return self.model(x)
store = Store(backbone, backbone.layers[-1])
store(torch.zeros(2, 3))
first = None
for i in range(1):
    if i < len(store.kept):
        first = store.kept[i]
first.shape
"""
TWICE = """net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
for p in net.parameters():
    p.requires_grad = False
def train(image):
    optimizer = torch.optim.LBFGS([image])
    def closure():
        optimizer.zero_grad()
        loss = {loss}.sum()
        loss.backward()
        return loss
    optimizer.step(closure)
train(torch.zeros(5, 3, requires_grad=True))
train(torch.ones(5, 3, requires_grad=True))
"""


@pytest.mark.parametrize("source", programs(PLACES))
def test_a_condition_may_hold_nowhere(source: str, tmp_path: Path):
    assert raises(source, tmp_path / "program.py") is None
    assert follow(tmp_path / "program.py").errors == ()


def found(body: str, tmp_path: Path) -> list[str]:
    (tmp_path / "program.py").write_text(HEAD + body)
    said = follow(tmp_path / "program.py")
    return [f.message for f in (*said.errors, *said.warnings)]


def test_an_unknown_layer_calls_its_hook_back(tmp_path: Path):
    assert found(HOOKED.format(register="layer.register_forward_hook(self.keep)"), tmp_path) == []
    without = found(HOOKED.format(register="pass"), tmp_path)
    assert without == ["None has no shape, which a tensor has"]


def test_a_second_training_uses_its_own_parameters(tmp_path: Path):
    exec(HEAD + TWICE.format(loss="net(image)"), {})
    assert found(TWICE.format(loss="net(image)"), tmp_path) == []


OPEN = """import somewhere
def build():
    model = nn.Sequential()
    for layer in somewhere.layers():
        model.add_module(f"l{somewhere.n}", layer)
    return model
nn.Linear(3, 5)(torch.zeros(2, 3)).sum().backward()
model, image = build(), nn.Parameter(torch.zeros(2, 3))
optimizer = torch.optim.LBFGS([image])
def closure():
    optimizer.zero_grad()
    loss = model({image}).sum()
    loss.backward()
    return loss
optimizer.step(closure)
"""


@pytest.mark.parametrize(("image", "count"), [("image", 0), ("torch.zeros(2, 3)", 1)])
def test_layers_that_are_not_known_may_use_what_they_are_given(image: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(HEAD + OPEN.replace("{image}", image))
    told = [f.message for f in follow(tmp_path / "program.py").warnings]
    assert len([m for m in told if "nothing uses the parameters" in m]) == count


UNUSED = (
    """class Both(nn.{base}):
    def forward(self, x):
        return torch.cat([m(x) for m in self], -1)""",
    """class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.{base}()
    def add(self, n):
        self.heads.{adds}
    @property
    def weights(self):
        return torch.cat([head(torch.zeros(2, 3)) for head in self.heads])
    def forward(self, x):
        return x @ self.weights""",
)
FILLS = (
    ("ModuleList", "append(nn.Linear(3, n))"),
    ("ModuleList", "extend([nn.Linear(3, n)])"),
    ("ModuleList", "insert(0, nn.Linear(3, n))"),
    ("Sequential", "append(nn.Linear(3, n))"),
    ("Sequential", "add_module('new', nn.Linear(3, n))"),
)


@pytest.mark.parametrize(("base", "adds"), FILLS)
@pytest.mark.parametrize("source", UNUSED)
def test_what_is_filled_by_others_is_not_taken_to_be_empty(source: str, base: str, adds: str, tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + source.format(base=base, adds=adds) + "\n")
    assert follow(path).errors == ()


def test_what_the_constructor_leaves_empty_is_empty(tmp_path: Path):
    """Nothing else fills it."""
    path = tmp_path / "program.py"
    path.write_text(
        HEAD + UNUSED[1].format(base="ModuleList", adds="append(nn.Linear(3, n))") + "\nHeads()(torch.zeros(2, 3))\n"
    )
    assert [e.message for e in follow(path).errors] == ["cat: tensors is an empty list; it needs at least one tensor"]


AFTERWARDS = r"""
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 3))
        self.bias = nn.Parameter(torch.full((4,), 0))
    def forward(self, x):
        return F.linear(x, self.weight, self.bias)
M()(torch.zeros(2, 3))
---
w = torch.tensor([1, 2, 3], requires_grad=True)
nn.Linear(3, 1)(w)
---
def project(a, b):
    assert a.shape == b.shape[:-1]
    return a.gather(-1, b)
project(torch.zeros(2, 3), torch.zeros(2, dtype=torch.long))
---
def add(a, b):
    assert a.ndim == b.ndim, "ranks"
    for i in range(3):
        a = a + b
    return a
add(torch.zeros(2, 3), torch.zeros(4)).sum()

"""


@pytest.mark.parametrize("source", programs(AFTERWARDS))
def test_nothing_is_said_behind_what_fails(source: str, tmp_path: Path):
    path = tmp_path / "program.py"
    line = raises(source, path)
    found = follow(path)
    assert [e.line for e in found.errors] == [line]


BY_METHODS = """from some_library import model, call
class Store:
    def __init__(self, model):
        self.model = model
        self.hook()
    def hook(self):
        def keep(module, grad_in, grad_out):
            {keeps}
            return grad_in
        for module in self.model.modules():
            {registers}
    def look(self, grad):
        self.judge = ["a", "b"]
        return self.again(grad)
    def again(self, grad):
        self.other = 3
        return self.look(grad) if grad is None else grad
    def go(self, xs):
        self.model(xs).backward()
        return self.judge[0], self.other + 1
print(Store(model).go(3))
"""


@pytest.mark.parametrize("keeps", ["self.value = self.look(grad_in)", "self.look(grad_in)", "self.again(self.look(1))"])
@pytest.mark.parametrize("registers", ["module.register_backward_hook(keep)", "call(keep)"])
def test_what_a_hook_changes_by_methods_may_be_there(keeps: str, registers: str, tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text(BY_METHODS.format(keeps=keeps, registers=registers))
    assert follow(path).errors == ()
    path.write_text(BY_METHODS.format(keeps="pass", registers=registers))
    assert [e.message for e in follow(path).errors][:1] == ["Store has no attribute 'judge'"]


TEXTS = r"""
names = np.random.permutation(["d/1.png", "d/2.png", "d/3.png"])
print(names[np.random.randint(3)].split("/"))
for one in names[:2]:
    one.split(".")
---
names = np.array(sorted("abc"), dtype=object)
names[0].split("a")
---
rows = np.empty(3, dtype=object)
for i in range(3):
    rows[i] = torch.zeros(i + 1)
rows[0].unsqueeze(0)
rows[2].long()
---
import io
import pandas as pd
table = pd.read_csv(io.StringIO("name,n\na b,1\nc d,2"))
for name, n in table.values:
    name.split(" ")
table["name"].values[0].split(" ")
---
import io
import pandas as pd
table = pd.read_csv(io.StringIO("name,n\na b,1\nc d,2"))
lengths = [len(text.split()) for text in table["name"].values]
torch.tensor(lengths).sum()
---
def last(x):
    x = x[:, -1:].squeeze(0)
    return x.sum()
batch = int(torch.randint(1, 4, ()))
last(torch.zeros(batch, 3, 5))
---
batch = int(torch.randint(1, 3, ()))
x = torch.zeros(batch, 3).squeeze(0)
if x.ndim == 1:
    x + torch.zeros(3)
else:
    x.sum(1)
---
def head(x):
    y = nn.Linear(5, 1)(x).squeeze()
    return y.unsqueeze(0) if y.ndim == 0 else y
for x in torch.zeros(7, 5).split(3):
    head(x)

"""


@pytest.mark.parametrize("source", programs(TEXTS))
def test_items_that_may_be_anything_are_left_alone(source: str, tmp_path: Path):
    path = tmp_path / "program.py"
    assert raises(source, path) is None
    assert follow(path).errors == ()


def test_an_array_of_numbers_has_no_split(tmp_path: Path):
    path = tmp_path / "program.py"
    line = raises(HEAD + "x = np.zeros((4, 3))\nx.split(2)\n", path)
    assert [e.line for e in follow(path).errors] == [line]


UNKNOWN_LAYER = """from somewhere import Base
class Wider(Base):
    def forward(self, x):
        return torch.cat([x, x], 1)
{made}
after = layers(torch.zeros(2, 24, 4, 4))
"""
HOLDING = (
    "layers = nn.Sequential(nn.Conv2d(24, 24, 1), Wider(), nn.Conv2d({given}, 5, 1))",
    "layers = nn.Sequential(nn.Conv2d(24, 24, 1))\nlayers.add_module('w', Wider())\n"
    "layers.add_module('c', nn.Conv2d({given}, 5, 1))",
    "layers = nn.Sequential(collections.OrderedDict(a=Wider(), c=nn.Conv2d({given}, 5, 1)))",
)


@pytest.mark.parametrize("made", HOLDING)
def test_a_layer_of_an_unknown_class_is_called(made: str, tmp_path: Path):
    """Its class may be a module's: `nn.Container` is one."""
    body = "import collections\n" + UNKNOWN_LAYER
    assert found(body.replace("{made}", made.replace("{given}", "48")), tmp_path) == []
    known = body.replace("{made}", made.replace("{given}", "47")).replace(
        "from somewhere import Base", "Base = nn.Module"
    )
    assert "24 channels" in found(known.replace("torch.cat([x, x], 1)", "x"), tmp_path)[0]


CHILDREN = """from torchvision.models.vgg import vgg16_bn
def blocks(model):
    out = []
    for name, child in model.named_children():
        if name == "features":
            out.append(child)
    return out
assert len(blocks(vgg16_bn())) == 1
first = next(vgg16_bn().children())
first(torch.zeros(2, 3, 32, 32))
"""


def test_the_known_part_of_a_model_is_not_all_of_it(tmp_path: Path):
    (tmp_path / "program.py").write_text(HEAD + CHILDREN)
    said = follow(tmp_path / "program.py")
    assert (said.errors, said.ended) == ((), "")


def test_the_names_in_a_list_of_unknown_length_are_unknown(tmp_path: Path):
    body = """import sys
layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(len(sys.argv))])
found = [n for n, _ in layers.named_children() if n == "1"]
assert found or len(layers) == 1
assert not found or len(layers) > 1
for name, layer in layers.named_children():
    layer(torch.zeros(2, 4))
"""
    assert found(body.rsplit("for", 1)[0], tmp_path) == []
    assert len(found(body, tmp_path)) == 1


HYDRA = """import hydra
@hydra.main(config_path="conf/config.yaml")
def run(cfg):
    nn.Linear(cfg.model.size, 2)(torch.zeros(2, {size}))
run()
"""


@pytest.mark.parametrize(("size", "count"), [(3, 0), (4, 1)])
def test_an_old_program_names_the_file_of_its_configuration(size: int, count: int, tmp_path: Path):
    """Hydra before 1.0 took the file's path there."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("model:\n  size: 3\n")
    assert len(found(HYDRA.format(size=size), tmp_path)) == count


def test_a_class_whose_base_comes_from_a_circular_import_is_no_fault(tmp_path: Path):
    """Two names fail: the base, and one that the class mentions."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import package.model\n")
    path = tmp_path / "package" / "model.py"
    path.write_text(
        "import torch\nfrom package import Base, Other\n\n"
        "class Model(Base):\n    def make(self):\n        return Other()\n"
    )
    said = follow(path)
    assert (said.errors, said.faults) == ((), ())
    assert [name for _, _, name in said.not_followed] == ["class Model(Base), which seems to raise ImportError"]


def test_it_is_said_where_a_limit_ends_following(tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\nx = torch.zeros(3)\nfor i in range(100):\n    for j in range(i):\n        x = x + 1\n"
    )
    said = follow(path, steps=5)
    assert (said.complete, said.ended.partition(":")[2][1:]) == (False, ", where the limit of steps is reached")
    assert follow(path).ended == ""
