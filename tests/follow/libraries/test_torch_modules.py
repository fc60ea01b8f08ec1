"""Mistakes with classes and modules that stop a program in torch, as people write them; and look-alikes."""

import ast
import contextlib
import inspect

import pytest
import torch
from scripts import Scripts
from torch import nn
from torch.nn import functional as F

import simpletorch as st
from simpletorch.follow import follow, layers
from simpletorch.follow.attributes import _COMPILED, _IN_PYTHON
from simpletorch.follow.mistakes import attributes
from simpletorch.follow.model import members
from simpletorch.rules import RULES, ModuleRule
from tests.oracle.modules import build, cases, torch_class

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs, targets = torch.randn(22, 7), torch.randint(0, 3, (22,))
loader = DataLoader(TensorDataset(inputs, targets), batch_size=11, shuffle=True)
criterion = nn.CrossEntropyLoss()
"""
TRAIN = """
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
"""
NET = """
class Net(nn.Module):
    def __init__(self, hidden=5):
        super().__init__()
        self.fc1 = nn.Linear(7, hidden)
        self.dropout = nn.Dropout(0.2)
        self.fc2 = nn.Linear(hidden, 3)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(self.dropout(x))

model = Net()
"""
SUPER = "        super().__init__()\n"
STACK = """
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3)])

    def forward(self, x):
        return self.layers(x)

model = Stack()
"""
TRAINER = """
class Trainer:
    def __init__(self, model, loader, lr=0.01):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.losses = []

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.losses.append(self.step(x, y))

Trainer(model, loader).fit(2)
"""
BAD = {
    "a forward hook with two arguments": (
        "layer = nn.Linear(3, 5)\nlayer.register_forward_hook(lambda module, args: None)\nlayer(torch.zeros(2, 3))\n",
        "register_forward_hook",
    ),
    "a hook before forward with three": (
        "layer = nn.Linear(3, 5)\nlayer.register_forward_pre_hook(lambda module, args, output: None)\n"
        "layer(torch.zeros(2, 3))\n",
        "register_forward_pre_hook",
    ),
    "a backward hook with one gradient": (
        "layer = nn.Linear(3, 5)\nlayer.register_full_backward_hook(lambda module, gradients: None)\n"
        "layer(torch.zeros(2, 3)).sum().backward()\n",
        "register_full_backward_hook",
    ),
    # with a piece of the line that is told
    "no super().__init__()": (NET.replace(SUPER, "") + TRAIN, "self.fc1 = "),
    "super().__init__() last": (
        NET.replace(SUPER, "").replace("(hidden, 3)\n", "(hidden, 3)\n" + SUPER) + TRAIN,
        "self.fc1 = ",
    ),
    "super() of another class": (
        """
class Other(nn.Module):
    pass

"""
        + NET.replace(SUPER, "        super(Other, self).__init__()\n")
        + TRAIN,
        "super(Other, self).__init__()",
    ),
    "super() without __init__": (NET.replace(SUPER, "        super()\n") + TRAIN, "self.fc1 = "),
    "no super().__init__() before a parameter": (
        """
class Scale(nn.Module):
    def __init__(self, dim):
        self.dim = dim
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * self.weight

model = nn.Sequential(Scale(7), nn.Linear(7, 3))
"""
        + TRAIN,
        "self.weight = ",
    ),
    "no super().__init__() in a block": (
        """
class Gate:
    def __init__(self):
        self.open = True

class Block(Gate, nn.Module):
    def __init__(self, dim):
        Gate.__init__(self)
        self.net = nn.Sequential(nn.Linear(dim, dim), nn.ReLU())

    def forward(self, x):
        return x + self.net(x)

model = nn.Sequential(Block(7), nn.Linear(7, 3))
"""
        + TRAIN,
        "self.net = ",
    ),
    "no super().__init__(), and nothing to register": (
        """
class Square(nn.Module):
    def __init__(self, power=2):
        self.power = power

    def forward(self, x):
        return x ** self.power

print(Square()(inputs).mean())
""",
        "print(",
    ),
    "__init__ misspelt": (
        NET.replace("__init__(self, hidden=5)", "__int__(self, hidden=5)") + "print(model(inputs))\n",
        "self.fc1(x)",
    ),
    "__init__ misspelt, with arguments": (
        NET.replace("__init__(self, hidden=5)", "_init_(self, hidden)").replace("Net()", "Net(5)") + TRAIN,
        "model = ",
    ),
    "an attribute misspelt": (NET.replace("self.dropout(x)", "self.droput(x)") + TRAIN, "self.droput"),
    "another number": (NET.replace("self.fc2(", "self.fc3(") + TRAIN, "self.fc3("),
    "a variable instead of an attribute": (
        NET.replace("self.dropout = nn", "dropout = nn") + TRAIN,
        "self.dropout(x)",
    ),
    "an attribute of a trainer misspelt": (NET + TRAINER.replace("self.losses.app", "self.loses.app"), "self.loses"),
    "a method of a trainer misspelt": (NET + TRAINER.replace("(self.step(", "(self.setp("), "self.setp"),
    "an option of the command line misspelt": (
        """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=5)
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args([])
model = nn.Sequential(nn.Linear(7, args.hiden), nn.ReLU(), nn.Linear(args.hiden, 3))
"""
        + TRAIN,
        "args.hiden",
    ),
    "forward misspelt": (NET.replace("def forward", "def foward") + TRAIN, "model(x)"),
    "forward inside __init__": (
        NET.replace("    def forward", "        def forward")
        .replace("        x = F", "            x = F")
        .replace("        return", "            return")
        + TRAIN,
        "model(x)",
    ),
    "a ModuleList called": (STACK + TRAIN, "self.layers(x)"),
    "a class in a Sequential": (
        "model = nn.Sequential(nn.Linear(7, 5), nn.ReLU, nn.Linear(5, 3))\n" + TRAIN,
        "nn.ReLU",
    ),
    "a function in a Sequential": (
        "model = nn.Sequential(nn.Linear(7, 5), F.relu, nn.Linear(5, 3))\n" + TRAIN,
        "F.relu",
    ),
    "a list in a Sequential": (
        "layers = [nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3)]\nmodel = nn.Sequential(layers)\n" + TRAIN,
        "nn.Sequential(layers)",
    ),
    "a class in a ModuleList": (
        STACK.replace("nn.ReLU()", "nn.ReLU").replace(
            "return self.layers(x)", "for layer in self.layers:\n            x = layer(x)\n        return x"
        )
        + TRAIN,
        "nn.ReLU",
    ),
    "a class as activation": (NET.replace("F.relu(", "nn.ReLU(") + TRAIN, "nn.ReLU("),
    "a class as softmax": (NET.replace("F.relu(", "nn.Tanh(") + TRAIN, "nn.Tanh("),
    "a class as loss": (NET + TRAIN.replace("criterion(model(x), y)", "nn.CrossEntropyLoss(model(x), y)"), "nn.Cross"),
    "a class as mean squared error": (
        "model = nn.Linear(7, 1)\n"
        + TRAIN.replace("criterion(model(x), y)", "nn.MSELoss(model(x).squeeze(1), y.float())"),
        "nn.MSELoss",
    ),
    "a loss that isn't made": ("criterion = nn.CrossEntropyLoss\n" + NET + TRAIN, "criterion(model"),
    "a model that isn't made": (NET.replace("model = Net()", "model = Net") + TRAIN, "model.parameters()"),
    "a class called with data": (NET + "with torch.no_grad():\n    print(Net(inputs, targets))\n", "Net(inputs"),
    "a layer given to a function": (NET.replace("F.relu(self.fc1(x))", "F.relu(self.fc1)") + TRAIN, "F.relu"),
    "a layer given to a layer": (NET.replace("self.dropout(x)", "self.dropout") + TRAIN, "self.fc2("),
    "the method that gives parameters": (NET + TRAIN.replace("parameters()", "parameters"), "torch.optim"),
    "nothing to train": (
        STACK.replace("nn.ModuleList([nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3)])", "[nn.Linear(7, 3)]").replace(
            "self.layers(x)", "self.layers[0](x)"
        )
        + TRAIN,
        "torch.optim",
    ),
    "a model for its parameters": (NET + TRAIN.replace("model.parameters()", "model"), "torch.optim"),
}
LAST = "        return self.fc2"
TRIED = """        try:
            x = self.fc3(x)
        except AttributeError:
            pass
"""
LOOKED_UP = """    def __getattr__(self, name):
        return super().__getattr__("fc2" if name == "fc3" else name)

"""
LATER = """
class Later(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            setattr(self, f"fc{i}", nn.Linear(a, b))
        self.depth = len(sizes) - 1

    def forward(self, x):
        for i in range(self.depth - 1):
            x = getattr(self, f"fc{i}")(x).relu()
        return self.fc1(x)

model = Later([7, 5, 3])
"""
GOOD = {
    "hooks that take more": (
        "def hook(module, args, output=None, *rest):\n    pass\n"
        "layer = nn.Linear(3, 5)\nlayer.register_forward_hook(hook)\nlayer.register_forward_pre_hook(hook)\n"
        "layer.register_forward_hook(lambda module, args, kwargs, output: None, with_kwargs=True)\n"
        "layer.register_full_backward_hook(lambda *args: None)\nlayer(torch.zeros(2, 3)).sum().backward()\n"
    ),
    "a model": NET + TRAIN,
    "a trainer": NET + TRAINER,
    "super() of the class, and of a base of it": NET.replace(SUPER, "        super(Net, self).__init__()\n")
    + """
class Base(Net):
    pass

class Wide(Base):
    def __init__(self):
        super(Base, self).__init__(7)

Wide()(inputs)
"""
    + TRAIN,
    "a plain attribute before super().__init__()": NET.replace(SUPER, "        self.hidden = hidden\n" + SUPER) + TRAIN,
    "a metaclass makes modules": """
class Meta(type):
    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made.__init__(*args, **kwargs)
        return made

class Module(nn.Module, metaclass=Meta):
    def __init__(self):
        pass

class Net(Module):
    def __init__(self, dim):
        self.fc = nn.Linear(dim, 3)

    def forward(self, x):
        return self.fc(x)

model = Net(7)
out = model(torch.randn(2, 7))
""",
    "__new__ makes modules": """
class Early(nn.Module):
    def __new__(cls, *args):
        made = super().__new__(cls)
        nn.Module.__init__(made)
        return made

class Net(Early):
    def __init__(self, dim):
        self.fc = nn.Linear(dim, 3)

    def forward(self, x):
        return self.fc(x)

model = Net(7)
out = model(torch.randn(2, 7))
""",
    "the old super": NET.replace("super()", "super(Net, self)") + TRAIN,
    "the base called by name": NET.replace("super().__init__()", "nn.Module.__init__(self)") + TRAIN,
    "super().__init__() in a base class": (
        """
class Base(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

class Net(Base):
    def __init__(self, dim):
        Base.__init__(self, dim)
        self.fc = nn.Linear(dim, 3)

    def forward(self, x):
        return self.fc(x)

model = Net(7)
"""
        + TRAIN
    ),
    "super().__init__() in a method": (
        NET.replace(SUPER, "        self.start()\n")
        .replace("    def forward", "    def start(self):\n        nn.Module.__init__(self)\n\n    def forward")
        + TRAIN
    ),
    "a module without a constructor": (
        """
class Square(nn.Module):
    def forward(self, x):
        return x ** 2

model = nn.Sequential(Square(), nn.Linear(7, 3))
"""
        + TRAIN
    ),
    "a subclass of Sequential": (
        """
class Block(nn.Sequential):
    def __init__(self, a, b, act=nn.ReLU):
        super().__init__(nn.Linear(a, b), act())

model = nn.Sequential(Block(7, 5), Block(5, 3, nn.Tanh))
"""
        + TRAIN
    ),
    "attributes by computed names": LATER + TRAIN,
    "an attribute that may be missing": (
        NET.replace(LAST, '        if hasattr(self, "fc3"):\n            x = self.fc3(x)\n' + LAST) + TRAIN
    ),
    "an attribute that is tried": NET.replace(LAST, TRIED + LAST) + TRAIN,
    "an attribute with a default": (
        NET.replace("self.dropout(x)", 'getattr(self, "droput", self.dropout)(x)') + TRAIN
    ),
    "an attribute that is set from outside": (
        NET.replace("self.fc2(self", "self.fc3(self") + "model.fc3 = nn.Linear(5, 3)\n" + TRAIN
    ),
    "an attribute from __getattr__": (
        NET.replace("    def forward", LOOKED_UP + "    def forward").replace("self.fc2(self", "self.fc3(self") + TRAIN
    ),
    "attributes from a dict": (
        """
class Config:
    def __init__(self, **options):
        self.__dict__.update(options)

config = Config(hidden=5, depth=2)
model = nn.Sequential(nn.Linear(7, config.hidden), nn.ReLU(), nn.Linear(config.hidden, 3))
"""
        + TRAIN
    ),
    "attributes of torch's that few know": NET + "print(len(model._modules), model._parameters, model._get_name())\n",
    "a class with slots and a subclass": (
        """
class Point:
    __slots__ = ("row", "rows")
    def __init__(self, row):
        self.row = row

class Grid(Point):
    def __init__(self, rows):
        self.rows = rows
    def total(self):
        return len(self.rows)

print(Grid([1, 2]).total(), Point(3).row)
"""
    ),
    "the layers of a ModuleList": (
        STACK.replace("return self.layers(x)", "for layer in self.layers:\n            x = layer(x)\n        return x")
        + TRAIN
    ),
    "a Sequential of a list": "model = nn.Sequential(*[nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3)])\n" + TRAIN,
    "forward from a base class": (
        NET + "class Small(Net):\n    def __init__(self):\n        super().__init__(2)\n\nmodel = Small()\n" + TRAIN
    ),
    "forward as an attribute": (
        """
class Wrapper(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.forward = inner.forward
        self.inner = inner

model = Wrapper(nn.Linear(7, 3))
"""
        + TRAIN
    ),
    "a class made where it is used": (
        """
class Net(nn.Module):
    def __init__(self, act=nn.ReLU, norm=nn.LayerNorm):
        super().__init__()
        self.act = act()
        self.norm = norm(5)
        self.kind = nn.Linear
        self.first, self.last = self.kind(7, 5), self.kind(5, 3)

    def forward(self, x):
        return self.last(self.act(self.norm(self.first(x))))

model = Net(nn.GELU)
"""
        + TRAIN
    ),
    "weights of a loss": "criterion = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 3.0]))\n" + NET + TRAIN,
    "weights of two kinds": (
        "loss = nn.BCEWithLogitsLoss(torch.ones(3), pos_weight=torch.full((3,), 2.0))\n"
        "print(loss(torch.randn(2, 3), torch.rand(2, 3)))\n"
    ),
    "parameters in a list": NET + TRAIN.replace("model.parameters()", "list(model.parameters())"),
    "a ParameterList": (
        "weights = nn.ParameterList([torch.randn(7, 3)])\noptimizer = torch.optim.SGD(weights, lr=0.1)\n"
        "F.cross_entropy(inputs @ weights[0], targets).backward()\noptimizer.step()\n"
    ),
}  # fmt: skip
IDLE = {  # statements that name a method and don't call it
    "step": TRAIN.replace("optimizer.step()", "optimizer.step"),
    "backward": TRAIN.replace("loss.backward()", "loss.backward"),
    "zero_grad": TRAIN.replace("optimizer.zero_grad()", "optimizer.zero_grad"),
    "train": TRAIN.replace("model.train()", "model.train"),
    "eval": TRAIN + "model.eval\nwith torch.no_grad():\n    print((model(inputs).argmax(1) == targets).sum())\n",
}


SCRIPTS = Scripts(HEAD)
followed, run = SCRIPTS.said, SCRIPTS.run


@pytest.mark.parametrize(("source", "piece"), BAD.values(), ids=BAD)
def test_what_stops_in_torch_is_found(source, piece, tmp_path):
    with pytest.raises((AttributeError, TypeError, NotImplementedError, RuntimeError, ValueError)):
        run(source)
    found = followed(source, tmp_path)
    assert [e.code for e in found.errors] == ["tensor-class"]
    lines = (HEAD + source).splitlines()
    assert piece in lines[found.errors[0].line - 1]
    assert not found.warnings


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_what_runs_is_left_alone(source, tmp_path):
    run(source)
    found = followed(source, tmp_path)
    assert not found.errors
    assert not found.warnings


@pytest.mark.parametrize("source", IDLE.values(), ids=IDLE)
def test_a_method_that_is_not_called_is_found(source, tmp_path):
    run(NET + source)
    found = followed(NET + source, tmp_path)
    assert [w.code for w in found.warnings] == ["tensor-training"]
    statement = (HEAD + NET + source).splitlines()[found.warnings[0].line - 1]
    assert isinstance(ast.parse(statement.strip()).body[0].value, ast.Attribute)


def test_the_attributes_of_torchs_modules_are_known():
    containers = (
        nn.Module(),
        nn.ModuleList(),
        nn.ModuleDict(),
        nn.Sequential(),
        nn.ParameterList(),
        nn.ParameterDict(),
    )
    # transformers gives torch.nn.Module a method of its own, where it is imported
    own = {n for n in dir(nn.Module) if "transformers" in str(getattr(getattr(nn.Module, n), "__module__", ""))}
    names = {n for c in containers for n in dir(c) if not n.startswith("_")} - own
    assert names <= members.OF_MODULES


TRANSFORMERS = "transformers.modeling_utils"  # which gives torch's modules a method, where it is imported


def test_the_attributes_of_our_containers_are_known():
    kinds = (
        st.nn.Module,
        st.nn.ModuleList,
        st.nn.ModuleDict,
        st.nn.Sequential,
        st.nn.ParameterList,
        st.nn.ParameterDict,
    )
    there = {n for kind in kinds for n in dir(kind) if not n.startswith("_")}
    others = {n for n in there if getattr(getattr(torch.nn.Module, n, None), "__module__", None) == TRANSFORMERS}
    assert there - others <= members.OF_MODULES
    ours = set(dir(st.data.Dataset)) - set(dir(torch.utils.data.Dataset))
    assert {n for n in ours if not n.startswith("_")} == attributes._OF_DATASETS


def test_a_layer_of_torchs_lacks_what_it_is_said_to_lack():
    wrong = set()
    for case in cases():
        rule = build(case.name, case.args, case.kwargs)
        built = torch_class(case.name)(*case.args, **case.kwargs)
        if isinstance(rule, ModuleRule):
            wrong |= {(case.name, n) for n in layers._OF_SOME if layers.lacks(rule, n) and hasattr(built, n)}
    assert wrong == set()
    made = build("torch.nn.ReLU")
    assert isinstance(made, ModuleRule)
    assert layers.lacks(made, "weight")


def test_methods_of_tensors_are_no_attributes_of_layers():
    assert all(hasattr(torch.zeros(1), n) for n in attributes._OF_TENSORS)
    plain = nn.ReLU(), nn.LayerNorm(3), nn.LSTM(3, 5), nn.Softmax(1), nn.Upsample(3), nn.AvgPool2d(3)
    assert not any(hasattr(layer, n) for n in attributes._OF_TENSORS for layer in plain)


def test_the_sentences(tmp_path):
    """What is said, and what would be right."""
    said = [(e.message, e.hint) for source in ("an attribute misspelt", "forward misspelt", "no super().__init__()")
            for e in followed(BAD[source][0], tmp_path).errors]  # fmt: skip
    assert said == [
        ("Net has no attribute 'droput'", "did you mean 'dropout'?"),
        ("Net has no forward, so it can't be called", "rename foward to forward"),
        (
            "Net.fc1 is a module, but super().__init__() has not been called: torch can't register it",
            "call super().__init__() in the first line of Net.__init__",
        ),
    ]


BOUND = """
import math
class Base(nn.Module):
    def forward(self, x, w):
        return self.conv(x, w)
class Two(Base):
    conv = torch.conv2d
class Three(Base):
    conv = F.conv3d
class Act(nn.Module):
    root, act = math.sqrt, torch.relu
    def forward(self, x):
        return self.act(x) * self.root(4)
a = Two()(torch.randn(2, 3, 7, 7), torch.randn(5, 3, 3, 3))
b = Three()(torch.randn(2, 3, 7, 7, 7), torch.randn(5, 3, 3, 3, 3))
c = Act()(torch.randn(2, 3))
"""


def test_functions_that_are_written_in_c_are_no_methods(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import torch\nimport torch.nn.functional as F\nfrom torch import nn\n" + BOUND)
    scope: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    found = follow(path)
    assert (found.errors, found.warnings, found.faults) == ((), (), ())
    for line, name in enumerate("abc", 17):
        (kind,) = found.shapes_at(str(path), line)[name]
        assert kind.shape.dims == tuple(scope[name].shape)


@pytest.mark.parametrize(
    ("module", "table", "kind"),
    [(F, _COMPILED, inspect.isbuiltin), (torch, _IN_PYTHON, inspect.isfunction)],
    ids=["torch.nn.functional", "torch"],
)
def test_which_functions_are_written_in_c_is_what_torch_has(module, table, kind):
    known = {name for name in dir(module) if f"{module.__name__}.{name}" in RULES and kind(getattr(module, name))}
    assert known <= table
    assert all(kind(getattr(module, name)) for name in table)


LOADING = """
class Own(nn.Linear):
    def _load_from_state_dict(self, *args, **kwargs):
        pass

class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5))
        self.head = nn.Linear(5, classes)

one, other = Net(7), Net(11)
one.load_state_dict(Net(7).state_dict())
one.load_state_dict({k: v for k, v in other.state_dict().items() if "head" not in k}, strict=False)
Own(3, 7).load_state_dict(nn.Linear(3, 5).state_dict())
changed = other.state_dict()
changed["head.weight"], changed["head.bias"] = torch.zeros(7, 5), torch.zeros(7)
one.load_state_dict(changed)
try:
    one.load_state_dict(other.state_dict())
except RuntimeError:
    one = other
torch.save(other.state_dict(), "{path}")
LAST
"""


@pytest.mark.parametrize(("last", "fits"), [("Net(11)", True), ("Net(7)", False)])
def test_what_is_loaded_has_the_sizes_of_the_model(last, fits, tmp_path):
    line = f'{last}.load_state_dict(torch.load("{tmp_path}/net.pt"), strict=False)'
    source = "import torch\nfrom torch import nn\n" + LOADING.replace("{path}", f"{tmp_path}/net.pt").replace(
        "LAST", line
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    found = follow(path)
    assert [f.line for f in found.errors] == ([] if fits else [source[: source.index(line)].count("\n") + 1])
    assert all("head.weight is (11, 5) in what is loaded, but (7, 5)" in f.message for f in found.errors)
    code = compile(source, str(path), "exec")
    with contextlib.nullcontext() if fits else pytest.raises(RuntimeError, match=r"size mismatch for head\.weight"):
        exec(code, {"__name__": "__main__"})
