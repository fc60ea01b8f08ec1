"""Programs that run, of which something false was said once, and the slip beside each that is still found."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from simpletorch.follow import Followed, follow

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
RIGHT = {
    "patterns with names": "match (1, 3):\n    case (0 | 1, n) | (n, 0 | 1):\n"
    "        nn.Linear(n, 2)(torch.zeros(4, 3))\n",
    "what a tensor may lack": "batch = torch.zeros(4, 8)\ntry:\n    x, n = batch.pixel_values, 3\n"
    "except AttributeError:\n    x, n = batch, 8\nnn.Linear(n, 2)(batch)\n",
    "a bool is an int": "nn.Linear(8 if issubclass(bool, int) else 3, 2)(torch.zeros(4, 8))\n",
    "what can't be written to": "shape, n = (3, 8), 8\ntry:\n    shape[0] = 5\n    n = 3\nexcept TypeError:\n    pass\n"
    "nn.Linear(n, 2)(torch.zeros(4, 8))\n",
    "what is no key": "try:\n    seen, n = {[1]: 2}, 3\nexcept TypeError:\n    n = 8\n"
    "nn.Linear(n, 2)(torch.zeros(4, 8))\n",
    "a layer that is derived from": "class Up(nn.Upsample):\n    def forward(self, x):\n"
    "        return super().forward(x)\nclass Wide(nn.Linear):\n    def forward(self, x):\n"
    "        return super().forward(x.float())\n",
    "operands by name": "x = torch.randn(1, 3, 4)\ntorch.squeeze(input=x, dim=0) + torch.zeros(3, 4)\n"
    "torch.matmul(input=x, other=torch.randn(4, 5)) + torch.zeros(3, 5)\nx.matmul(other=torch.randn(4, 7))\n"
    "torch.split(tensor=x, split_size_or_sections=3, dim=2)[0] + torch.zeros(3, 3)\n"
    "np.dot(a=np.zeros((2, 3)), b=np.zeros((3, 4))) + np.zeros((2, 4))\n"
    "np.repeat(np.zeros((2, 3, 4)), repeats=2, axis=1) + np.zeros((2, 6, 4))\n",
    "losses of long ago": "x, y = torch.randn(3, 5), torch.randn(3, 5)\nnn.MSELoss(reduce=False)(x, y).mean(1)\n"
    "nn.CrossEntropyLoss(reduce=False)(x, torch.tensor([0, 1, 2]))[2]\n"
    "nn.L1Loss(size_average=False)(x, y).backward if False else nn.L1Loss(size_average=False)(x, y).item()\n",
    "what an optimizer keeps": "net = nn.Linear(3, 4)\nadam = torch.optim.Adam(net.parameters())\n"
    "net(torch.zeros(2, 3)).sum().backward()\nadam.step()\nx = torch.zeros(2, 3)\n"
    "if 'exp_avg' not in adam.state[net.weight]:\n    x = torch.zeros(2, 5)\nnet(x)\n"
    "adam.state[net.weight]['exp_avg'].shape\n",
    "texts of dtypes and shapes": "x = torch.zeros(2, 3)\nx.to(getattr(torch, str(x.dtype).split('.')[1]))\n"
    "sizes = {'torch.Size([2, 3])': 3, 'torch.float32': 3, \"device(type='cpu')\": 3}\n"
    "for text in (str(x.shape), f'{x.dtype}', repr(torch.device('cpu')), '%s' % (x.dtype,), '{}'.format(x.shape)):\n"
    "    if text not in sizes:\n        x @ x\n",
    "modules in pairs": "acts = nn.ModuleDict([['lrelu', nn.LeakyReLU()], ['prelu', nn.PReLU()]])\n"
    "acts.update([['relu', nn.ReLU()]])\nacts['relu'](acts['lrelu'](torch.zeros(2)))\n",
    "an attribute by a hook that raises": "class Config(dict):\n    def __getattr__(self, name):\n        try:\n"
    "            return self[name]\n        except KeyError:\n            raise AttributeError(name)\n"
    "a = Config(x=3)\ntorch.zeros(2, a.x) @ torch.zeros(getattr(a, 'q', 3), 4)\nassert not hasattr(a, 'q')\n",
    "a Variable of long ago": "from torch.autograd import Variable\nx = Variable(torch.ones(2, 2), True)\n"
    "(x * x).mean().backward()\nn = Variable(torch.zeros(1, 2))\nn[0, 0] = x[0, 0] ** 2\nn.sum().backward()\n"
    "m = Variable(data=x * 2, requires_grad=True)\nm.sum().backward()\n",
    "sizes by name": "p = nn.Parameter(torch.FloatTensor(size=(1, 3, 4)))\np * torch.randn(2, 3, 4)\n"
    "torch.Tensor(size=(2, 3)) + torch.LongTensor(data=[1, 2, 3])\n",
    "what every module has": "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.__setattr__('inner', nn.Linear(9, 3))\n    def forward(self, x):\n"
    "        return self._modules['inner'](self.__getattr__('inner').bias.new_zeros(2, 9) + x)\n"
    "net, x = Net(), torch.zeros(2, 9)\nnet.__call__(x) @ torch.zeros(3, 3)\n"
    "net._get_name(), net.__doc__, Net.__repr__\n"
    "y = net(x) if hasattr(net, '_modules') and hasattr(net, '__call__') else x\ny @ torch.zeros(3, 3)\n"
    "try:\n    raise ValueError('x')\nexcept ValueError as error:\n    print(error.__traceback__)\n",
    "the names of a module": "import sys\ndef small():\n    return nn.Linear(3, 4)\n"
    "me = sys.modules[__name__]\nif 'small' in me.__dict__:\n    me.__dict__['small']()(torch.zeros(2, 3))\n",
    "hooks of some ways": "import random\nnet = nn.Sequential(nn.Linear(3, 4), nn.ReLU())\n"
    "def add(m):\n    m.register_forward_hook(lambda m, x, y: None)\n"
    "if random.random() > 0.5:\n    net.apply(add)\nnet.apply(add)\nnet(torch.zeros(2, 3))\n",
    "a list that grows in uneven loops": "accs = []\nfor _ in range(31):\n    c = [0, 0, 0]\n"
    "    for one in torch.randn(32, 4):\n        for k in range(1, 10):\n"
    "            c[k % 3] = c[k % 3] + one.sum().item()\n        accs.append(torch.zeros(5))\n",
    "a number of NumPy's as a key": "colors = {3: 'red', 1: 'blue', 6: 'gray'}\n"
    "labels = torch.tensor([1, 3, 6]).numpy()\nprint([colors[one] for one in labels])\n"
    "if not all(one in colors for one in labels):\n    torch.zeros(2, 3) @ torch.zeros(2, 3)\n",
    "a meant regrouping": "def dilate(x, dilation):\n    n, c, l = x.size()\n    x = x.permute(1, 2, 0).contiguous()\n"
    "    l = (l * n) // dilation\n    n = dilation\n    return x.view(c, l, n).permute(2, 0, 1)\n"
    "x = torch.linspace(0, 23, steps=24).view(2, 3, 4)\nassert torch.equal(dilate(dilate(x, 4), 2), x)\n",
    "an empty list that stands for nothing": "class Inner(nn.Module):\n"
    "    def __init__(self, size=[], device=[]):\n        super().__init__()\n"
    "        self.fast = device.type == 'cuda'\n        self.inner = nn.Linear(size, 3)\n"
    "    def forward(self, x):\n        return self.inner(x)\n"
    "class Core(nn.Module):\n    def __init__(self, args):\n        super().__init__()\n"
    "        self.inner = Inner(size=args.size, device=args.device)\n"
    "    def forward(self, x):\n        return self.inner(x)\n",
    "exec of a text that isn't known": "n, m = 5, 4\nexec(open(__file__).read()[:0] or 'n = 4')\n"
    "torch.zeros(2, n) @ torch.zeros(4, m)\n",
    "exec": "exec('n = 4')\ntorch.zeros(2, n) @ torch.zeros(4, 3)\n",
    "prod of nothing": "size = np.prod(torch.tensor(0.0).size())\nif size != 1:\n    torch.tensor(0.0)[0]\n",
    "a range as an index": "X = np.zeros((300, 2))\nX[range(100, 200)] = np.ones((100, 2))\n",
    "resized in place": "a = np.arange(21.0)\na.resize((21, 1))\nnn.Linear(1, 3)(torch.Tensor(a))\n"
    "b = np.zeros(0)\nb.resize(1, refcheck=False)\nb[-1] = 5\n",
    "elements with fields": "a = np.empty(5, dtype=[('x', 'f4'), ('y', 'f4')])\na[:] = [(1.0, 2.0)] * 5\n"
    "a['x'] = np.ones(5)\n"
    "b = np.zeros(3, np.dtype('f4, f4'))\nb['f0'] = np.ones(3)\n",
    "a device to make things on": "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    "with device:\n    model = nn.Linear(3, 4)\nmodel(torch.zeros(2, 3).to(device))\n",
    "the same object": "p = nn.Parameter(torch.ones(3))\nq = p.float()\n"
    "torch.optim.SGD([q, p.to(torch.float32)], lr=0.1)\n"
    "x = torch.zeros(3)\nx.float().requires_grad_()\nx.sum().backward()\n",
    "parameters of a transformer": "for m in (nn.Transformer(16, 2, 1, 1, 32), nn.TransformerEncoderLayer(16, 2),\n"
    "          nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2), 1)):\n"
    "    torch.optim.SGD(m.parameters(), lr=0.1)\n"
    "m = nn.Transformer(16, 2, 1, 1, 32)\nm(torch.zeros(5, 2, 16), torch.zeros(3, 2, 16)).sum().backward()\n",
    "bits as other numbers": "i = torch.tensor([300, 2]).view(torch.uint8).long()\nnn.Embedding(256, 4)(i)\n"
    "nn.Embedding(256, 4)(torch.tensor([300, 2]).to(torch.uint8).long())\n",
    "few that are chosen": "i = (torch.zeros(50) > 0.5).nonzero()[:10]\ntorch.zeros(len(i), 1) + i\n",
    "no dims to transpose": "torch.tensor(3.0).mT\n",
    "tied modules": "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.a = nn.Linear(3, 3)\n        self.b = self.a\n"
    "n = Net()\nassert len(n.state_dict()) == 4 and len(list(n.children())) == 1 and len(list(n.parameters())) == 2\n"
    "a, b, c, d = n.state_dict().values()\n(e,) = n.children()\n",
    "by the kind of numbers": "def f(x):\n    if x.is_floating_point():\n        return x.mean()\n"
    "    return x.float().mean()\n"
    "f(torch.tensor([1, 2]))\n",
    "by the layout": "def f(x):\n    if not x.is_contiguous():\n        x = x.contiguous()\n    return x.view(-1)\n"
    "f(torch.zeros(3, 5).t())\n",
    "by the shape": "a, b = torch.zeros(3), torch.zeros(5)\nif torch.equal(a, b):\n    a + b\n"
    "if a.is_same_size(b):\n    a + b\n",
    "None among modules": "for a, b, c in [nn.ModuleList([None, nn.ReLU(), nn.Tanh()])]:\n    b(torch.ones(3))\n"
    "assert len(nn.ModuleList([None, nn.ReLU()])) == 2\n",
    "what a convolution keeps": "a, b = nn.Conv2d(3, 5, 2).kernel_size\n"
    "(c,) = nn.ConvTranspose1d(3, 5, 2, padding=1).padding\n"
    "d, e, f = nn.LazyConv3d(5, 3, stride=2).stride\nassert nn.MaxPool2d(2).kernel_size == 2 == a\n",
    "what isn't known to be no tensor": "names = []\nfor c in open(__file__).read()[:50]:\n    names.append(c)\n"
    "batch = {'x': torch.zeros(3, 5), 'name': names}\nfor k, v in batch.items():\n"
    "    if torch.is_tensor(v):\n        batch[k] = batch[k].to('cpu')\n",
    "a graph by hand": "from torch.fx import Graph, Proxy\ngraph = Graph()\n"
    "tracer = torch.fx.proxy.GraphAppendingTracer(graph)\n"
    "x, y = (Proxy(graph.placeholder(n), tracer) for n in 'xy')\n"
    "z = torch.tanh(torch.cat([x, y]))\ngraph.output(torch.add(z, z).node)\n",
    "what TorchScript gives": "x = torch.zeros(2, 3)\nfor m in (nn.Sequential(nn.Linear(3, 4)), nn.Linear(3, 4)):\n"
    "    for t in (torch.jit.trace(m, x), torch.jit.script(m), torch.jit.freeze(torch.jit.script(m.eval()))):\n"
    "        t.graph, t.code, t(x) @ torch.zeros(4, 5)\n",
    "what is compiled": "m = torch.compile(nn.Linear(3, 4))\nm._orig_mod(torch.zeros(2, 3)) @ torch.zeros(4, 5)\n",
    "the attributes of a module": "net = nn.Sequential(nn.Linear(3, 4))\nnet.k = 3\nx = torch.zeros(2, 3)\n"
    "vars(net)['_modules']['0'](x)\nassert vars(net)['training'] and '_buffers' in net.__dict__\n"
    "class Net(nn.Module):\n    def __init__(self, n=3):\n        super().__init__()\n"
    "        self.__dict__.update(locals())\n        self.inner = nn.Linear(self.n, 4)\n"
    "net = Net()\nif 'inner' in net.__dict__:\n    x = torch.zeros(2, 5)\nnet.inner(x)\n",
    "an iterator that is begun anew": "from torch.utils.data import DataLoader, TensorDataset\n"
    "def forever(loader):\n    batches = loader.__iter__()\n    while True:\n        try:\n"
    "            yield batches.__next__()\n        except StopIteration:\n            batches = loader.__iter__()\n"
    "batches = forever(DataLoader(TensorDataset(torch.zeros(13, 3)), batch_size=5))\nbest = 0.0\n"
    "for i in range(20):\n    (x,) = batches.__next__()\n    y = x @ torch.zeros(3, 4)\n"
    "    if y.sum() > best:\n        best = y.sum()\n",
    "how many items an unknown dict has": "counts = {}\nfor c in open(__file__).read():\n"
    "    counts[c] = counts.get(c, 0) + 1\nbest = sorted([(n, c) for c, n in counts.items()], reverse=True)[:3]\n"
    "torch.zeros(len(best), 2) @ torch.zeros(2, 3)\n",
    "a tuple with names of unknown length": "from collections import namedtuple\nseen = []\n"
    "for i, layer in enumerate(nn.Sequential(nn.ReLU(), nn.ReLU())):\n    if torch.rand(1) < 2:\n"
    "        seen.append(layer(torch.zeros(3)))\nPair = namedtuple('Pair', ['a', 'b'])\n"
    "for one in zip(Pair(*seen), Pair(*seen)):\n    one[0] + one[1]\n",
    "a reduction of long ago": "x, y = torch.zeros(3, 5), torch.zeros(3, 5)\n"
    "F.l1_loss(x, y, reduction='elementwise_mean').item()\nnn.MSELoss(reduction='elementwise_mean')(x, y).item()\n",
    "a dim that may be 1": "import random\nn = random.choice([1, 1])\nx = torch.zeros(n, 6, 4).view(n, -1, 4)\n"
    "boxes = torch.cat([x, x], 1).squeeze(0)\nboxes[:, :2] * boxes[:, 2:]\nboxes[:, 3]\n",
    "an infinite width": "for width in (1, 2, np.inf):\n    if np.isinf(width) or np.isnan(width):\n        continue\n"
    "    if np.isfinite(width):\n        nn.Conv1d(3, 5, width)\n",
    "a wrapper on some machines": "net = nn.Sequential(nn.Linear(3, 4))\nif torch.cuda.device_count() > 1:\n"
    "    net = nn.DataParallel(net)\nx = torch.zeros(2, 3)\nif isinstance(net, nn.DataParallel):\n    net.module(x)\n"
    "def show():\n    net.module(x)\n",
    "letters of texts": "field = np.asarray(['SFF', 'FHG'], dtype='c')\nrows, columns = field.shape\n"
    "a, b, c = np.array([['ab'], ['cd']], dtype=np.dtype('c')).shape\nfield[rows - 1, columns - 1]\n",
    "as many as another has, from the end": "class Cut(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n        self.conv = nn.Conv2d(3, 3, (1, 2), dilation=2)\n"
    "        self.bn = nn.BatchNorm2d(3)\n    def forward(self, x):\n        y = self.conv(self.bn(x))\n"
    "        return y + x[:, :, :, -y.size(3):]\n"
    "Cut()(torch.zeros(2, 3, 5, 7))\n",
    "a global at the margin": "if __name__ != '':\n    global path\n    path = 'a'\n    print(path)\n",
}
WRONG = {
    "a keyword of long ago": (
        "from torch.utils.data import TensorDataset\nx = torch.zeros(3, 2)\n"
        "for a, b in TensorDataset(data_tensor=x, target_tensor=x): pass\n",
        HEAD.count("\n") + 3,
    ),
    "backward of long ago": (
        "w = torch.zeros(3, requires_grad=True)\ny = w.sigmoid()\ny.sum().backward(retain_variables=True)\n",
        HEAD.count("\n") + 3,
    ),
    "a constructor that was refused": (
        "class Layer(nn.Module):\n    def __init__(self, size, out):\n        super().__init__()\n"
        "layer = Layer(3)\nlayer()\n",
        HEAD.count("\n") + 4,
    ),
    "every batch, not the last": (
        "from torch.utils.data import DataLoader, TensorDataset\ntotal = 0.0\n"
        "for x, in DataLoader(TensorDataset(torch.randn(100, 5)), batch_size=32):\n"
        "    loss = x.abs().mean()\n    total += loss.item() * x.size(0)\n    total += loss.data[0]\n",
        HEAD.count("\n") + 6,
    ),
    "a compiled layer": ("m = torch.jit.trace(nn.Linear(3, 4), torch.zeros(2, 3))\nm(torch.zeros(2, 5))\n", 6),
    "the modules of a module": (
        "net = nn.Sequential(nn.Linear(3, 4))\nnet._modules['0'](torch.zeros(2, 5))\nvars(net)\n",
        6,
    ),
    "a reduction that isn't one": ("F.l1_loss(torch.zeros(3), torch.zeros(3), reduction='average')\n", 5),
    "a dim that isn't 1": ("x = torch.zeros(2, 6, 4).squeeze(0)\nx[:, :2] * x[:, 2:4]\nx @ torch.zeros(6, 4)\n", 7),
    "an infinite width": ("if np.isinf(np.inf):\n    nn.Conv1d(3, 5, np.inf)\n", 6),
    "is it a tensor": ("if not torch.is_tensor([1]):\n    torch.zeros(2, 3) @ torch.zeros(2, 3)\n", 6),
    "exec": ("exec('n = 5')\ntorch.zeros(2, n) @ torch.zeros(4, 3)\n", 6),
    "a range as an index": ("X = np.zeros((300, 2))\nX[range(100, 200)] = np.ones((50, 2))\n", 6),
    "resized in place": ("a = np.arange(21.0)\na.resize((7, 3))\nnn.Linear(1, 3)(torch.Tensor(a))\n", 7),
    "texts without letters": ("a, b = np.array(['SFF', 'FHG']).shape\n", 5),
    "the same object": ("x = torch.zeros(3)\nx.double().requires_grad_()\nx.sum().backward()\n", 7),
    "indexes": ("nn.Embedding(256, 4)(torch.tensor([300, 2]).to(torch.int32))\n", 5),
    "by the kind of numbers": ("x = torch.tensor([1, 2])\nif not x.is_floating_point():\n    x.mean()\n", 7),
}


def followed(body: str, tmp_path: Path) -> Followed:
    (tmp_path / "program.py").write_text(HEAD + body)
    return follow(tmp_path / "program.py")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_said_of_what_runs(name: str, tmp_path: Path):
    exec(HEAD + RIGHT[name], {"__name__": "__main__", "__file__": __file__})
    found = followed(RIGHT[name], tmp_path)
    assert (found.errors, found.warnings, found.faults, found.complete) == ((), (), (), True)


@pytest.mark.parametrize("name", WRONG)
def test_the_slip_beside_it_is_found(name: str, tmp_path: Path):
    body, line = WRONG[name]
    with pytest.raises((RuntimeError, ValueError, IndexError, TypeError)):
        exec(HEAD + body, {"__name__": "__main__"})
    assert [f.line for f in followed(body, tmp_path).errors] == [line]


TRAINING = """
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for i in range(3):
    MIDDLE
    opt.step()
"""


@pytest.mark.parametrize(
    "words",
    ["pass  # zero_grad, step", "print('zero_grad', f'zero_grad {i}')", '"""zero_grad"""'],
)
def test_words_in_comments_and_texts_change_no_verdict(words: str, tmp_path: Path):
    body = TRAINING.replace("MIDDLE", f"F.mse_loss(net(x), y).backward()\n    {words}")
    (warning,) = followed(body, tmp_path).warnings
    assert "without zeroing the gradients" in warning.message


def test_behind_an_error_nothing_is_judged_that_depends_on_it(tmp_path: Path):
    middle = "opt.zero_grad()\n    loss = F.mse_loss(net(x), y.view(4, 3))\n    loss.backward()\n"
    middle += "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    found = followed(TRAINING.replace("MIDDLE", middle), tmp_path)
    assert len(found.errors) == 1
    assert found.warnings == ()


def test_the_last_batch_is_not_to_blame_for_what_all_do(tmp_path: Path):
    (error,) = followed(WRONG["every batch, not the last"][0], tmp_path).errors
    assert error.message.startswith("[]: a 0-dim tensor can't be indexed")
    assert error.hint == "use .item() to get its value"


def test_a_class_that_nobody_makes_is_followed_by_itself(tmp_path: Path):
    body = "class Good(nn.Module):\n    pass\nclass Bad(nn.Module):\n    def __init__(self, size):\n"
    body += "        super(Good, self).__init__()\n    def forward(self, x):\n        return x\nprint(torch.zeros(2))\n"
    (error,) = followed(body, tmp_path).errors
    assert [(c.function, c.is_entry) for c in error.trace] == [("__init__", True)]


def test_a_folder_hides_no_installed_module(tmp_path: Path):
    (tmp_path / "fast").mkdir()
    (tmp_path / "fast" / "setup.py").write_text("")
    found = followed("from fast import Sampler\ntorch.zeros(2, 3) @ torch.zeros(2, 3)\n", tmp_path)
    assert [f.line for f in found.errors] == [HEAD.count("\n") + 2]


OBJECTS = {
    "module": "nn.Sequential(nn.Linear(2, 3))",
    "layer": "nn.GRU(2, 3)",
    "container": "nn.ModuleDict()",
    "optimizer": "torch.optim.Adam([torch.zeros(2, requires_grad=True)])",
    "loader": "torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(3, 2)))",
    "parallel": "nn.DataParallel(nn.Linear(2, 3))",
    "exception": "type('E', (Exception,), {})('x')",
    "device": "torch.device('cpu')",
    "dtype": "torch.float32",
    "array": "np.zeros((2, 3))",
    "distribution": "torch.distributions.Normal(torch.zeros(2), torch.ones(2))",
    "generator": "torch.Generator()",
    "none": "None",
    "tensor": "torch.zeros(2, 3)",
}


OURS = {"to_dlpack"}
"""What tensors have where simpletorch is imported, as it is in the tests."""


@pytest.mark.parametrize("kind", OBJECTS)
def test_no_attribute_of_an_object_is_said_to_be_lacking(kind: str, tmp_path: Path):
    value = eval(OBJECTS[kind], {"torch": torch, "nn": nn, "np": np})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [n for n in dir(value) if _has(value, n) and n not in OURS]
    body = f"a = {OBJECTS[kind]}\n" + "".join(f"a.{name}\n" for name in names)
    found = followed(body, tmp_path)
    assert (found.errors, found.faults, found.ended) == ((), (), "")


def _has(value: object, name: str) -> bool:
    try:
        getattr(value, name)
    except Exception:
        return False
    return True


def test_what_one_way_imports_the_others_have_too(tmp_path: Path):
    (tmp_path / "models.py").write_text(
        "import torch\ndef a(): return torch.zeros(2, 3)\ndef b(): return torch.zeros(2, 4)\n"
    )
    body = "import sys\nif sys.argv[1] == 'a':\n    from models import a\n    x = a()\n"
    body += "else:\n    from models import b\n    x = b()\n"
    assert followed(body + "x @ torch.zeros(4, 5)\n", tmp_path).errors == ()
    assert len(followed(body + "x @ torch.zeros(5, 5)\n", tmp_path).errors) == 1


def test_a_package_is_imported_before_what_is_in_it(tmp_path: Path):
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").write_text("from .core import SIZE\n")
    (tmp_path / "pk" / "core.py").write_text("from . import other\nSIZE = 3\n")
    (tmp_path / "pk" / "other.py").write_text("")
    found = followed("import pk.core\nfrom pk import SIZE\ntorch.zeros(2, SIZE) @ torch.zeros(2, 3)\n", tmp_path)
    assert [f.line for f in found.errors] == [HEAD.count("\n") + 3]


GOES_ON = {
    "a key": "d = {}\nx = d['a']\n",
    "an attribute": "class A:\n    pass\nx = A().size_of\n",
    "an item": "x = [1][3]\n",
    "inside of a function": "def f(n):\n    return [1][n]\nx = f(3)\n",
}


@pytest.mark.parametrize("name", GOES_ON)
def test_behind_what_seems_to_fail_the_program_goes_on(name: str, tmp_path: Path):
    body = GOES_ON[name] + "torch.zeros(2, 3) @ torch.zeros(2, 3)\nx + 1\n"
    found = followed(body, tmp_path)
    assert found.errors[-1].line == HEAD.count("\n") + body.count("\n") - 1
    assert found.ended == ""


HANDED_ON = """from wandering import Handle, start
class Agent:
    def __init__(self):
        self.me = Handle(self)
        self.saved = []
    def select(self, x):
        self.saved.append(x)
    def episode(self):
        CALL
        return torch.stack(self.saved)
Agent().episode()
"""


@pytest.mark.parametrize("call", ["start(self.me)", "self.me.run(3)", "self.me.child().run()", "start((self.me, 3))"])
def test_an_object_that_unknown_code_was_given_may_be_called_back(call: str, tmp_path: Path):
    assert followed(HANDED_ON.replace("CALL", call), tmp_path).errors == ()


def test_an_object_that_nobody_was_given_is_as_it_was(tmp_path: Path):
    (error,) = followed(HANDED_ON.replace("CALL", "start(3)"), tmp_path).errors
    assert error.message.startswith("stack: tensors is an empty list")
