"""Programs that run, of which something false was said once, and the slip beside each that is still found."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
RIGHT = {
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
    "a global at the margin": "if __name__ != '':\n    global path\n    path = 'a'\n    print(path)\n",
}
WRONG = {
    "exec": ("exec('n = 5')\ntorch.zeros(2, n) @ torch.zeros(4, 3)\n", 6),
    "a range as an index": ("X = np.zeros((300, 2))\nX[range(100, 200)] = np.ones((50, 2))\n", 6),
    "resized in place": ("a = np.arange(21.0)\na.resize((7, 3))\nnn.Linear(1, 3)(torch.Tensor(a))\n", 7),
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
    with pytest.raises((RuntimeError, ValueError, IndexError)):
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
    assert "nothing sets the gradients to zero" in warning.message


def test_behind_an_error_nothing_is_judged_that_depends_on_it(tmp_path: Path):
    middle = "opt.zero_grad()\n    loss = F.mse_loss(net(x), y.view(4, 3))\n    loss.backward()\n"
    middle += "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    found = followed(TRAINING.replace("MIDDLE", middle), tmp_path)
    assert len(found.errors) == 1
    assert found.warnings == ()
