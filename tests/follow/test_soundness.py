"""What a line is said to give a name is all that it may give: where that isn't known, it isn't said."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

START = "import contextlib\nimport random\nimport torch\n\nchance = random.random() > 0.5\n"


def said(source: str, folder: Path, name: str = "x") -> set[str]:
    """The claims of the last line that gives a value to the name; "?" among them if it may be something else."""
    path = folder / "program.py"
    path.write_text(START + source)
    found = follow(path)
    assert not found.faults
    assert not found.errors, [e.message for e in found.errors]
    path_of = str(path)
    lines = [line for (p, line), names in found.claims.items() if p == path_of and name in names]
    lines += [line for p, line, n in found.unsaid if (p, n) == (path_of, name)]
    last = max(lines)
    claims = {str(v) for v in found.claims.get((path_of, last), {}).get(name, ())}
    return claims | ({"?"} if (path_of, last, name) in found.unsaid else set())


UNSURE = "torch.zeros(5 if chance else 7)"  # may or may not fit what it is added to

RAISING = {
    "the state is that of before what raised": (
        f"""
a = torch.zeros(2)
try:
    a = torch.zeros(3)
    b = torch.zeros(5) + {UNSURE}
    a = torch.zeros(11)
except RuntimeError:
    x = a
""",
        {"Float32[3]"},
    ),
    "where nothing may raise, no handler runs": (
        "x = torch.zeros(2)\ntry:\n    y = x + 1\nexcept RuntimeError:\n    x = torch.zeros(3)\nx = x\n",
        {"Float32[2]"},
    ),
    "each exception goes to its own handler": (
        """
def f(k):
    if chance:
        raise KeyError
    if random.random() > 0.5:
        raise ValueError
    return torch.zeros(2)

try:
    a = f(1)
except KeyError:
    a = torch.zeros(3)
except ValueError:
    a = torch.zeros(5, 7)
x = a
""",
        {"?", "Float32[2]", "Float32[3]", "Float32[5, 7]"},
    ),
    "a bare raise is what is handled": (
        """
x = torch.zeros(2)
try:
    try:
        torch.zeros(2) @ torch.zeros(3)
    except RuntimeError:
        raise
except RuntimeError:
    x = torch.zeros(3)
x = x
""",
        {"Float32[3]"},
    ),
    "an index that isn't there": (
        "try:\n    x = torch.cat([torch.zeros(3), torch.zeros(3)], 1)\n"
        "except RuntimeError:\n    x = 2\nexcept IndexError:\n    x = 3\nx = x\n",
        {"3"},
    ),
    "finally comes after what raises": (
        f"""
a = torch.zeros(2)
try:
    try:
        a = torch.zeros(3)
        torch.zeros(5) + {UNSURE}
        a = torch.zeros(5)
    finally:
        x = a
except RuntimeError:
    pass
""",
        {"Float32[3]", "Float32[5]"},
    ),
    "__exit__ comes after break": (
        """
class Open:
    left = 0
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.left = 3
        return False

o = Open()
for i in range(5):
    with o:
        if i == 2 or chance:
            break
x = o.left
""",
        {"3"},
    ),
    "only what suppress names is dropped": (
        """
x = 2
try:
    with contextlib.suppress(KeyError):
        raise ValueError
    x = 3
except ValueError:
    x = 5
x = x
""",
        {"5"},
    ),
    "a contextmanager catches what the body raises": (
        """
@contextlib.contextmanager
def quiet():
    try:
        yield
    except ValueError:
        pass

x = 2
with quiet():
    raise ValueError
x = x + 1
""",
        {"3"},
    ),
}


@pytest.mark.parametrize(("source", "claims"), RAISING.values(), ids=RAISING)
def test_what_may_raise_in_try_is_a_way_of_its_own(source, claims, tmp_path):
    assert said(source, tmp_path) == claims


JOINED = {
    "a tensor changed in place on one way": (
        """
x = torch.zeros(2, 3)
if chance:
    x = x.clone()
    y = x
    y.unsqueeze_(0)
x = x.clone()
""",
        {"?", "Float32[1, 2, 3]", "Float32[2, 3]"},
    ),
    "a list that is longer on one way": ("xs = [2]\nif chance:\n    xs.append(3)\nx = xs[-1]\n", {"?"}),
    "a key that one way has": (
        "d = {'a': 2}\nif chance:\n    d['b'] = 3\nx = 5\nfor key in d:\n    x = d[key]\nx = x\n",
        {"?"},
    ),
    "how many keys there are": ("d = {'a': 2}\nif chance:\n    d['b'] = 3\nx = len(d)\n", {"?"}),
    "what a key leads to, else": ("d = {}\nif chance:\n    d['b'] = 3\nx = d.get('b', 5)\n", {"?"}),
    "arguments by keys that one way has": (
        "d = {}\nif chance:\n    d['x'] = 3\ndef f(x=5):\n    return x\nx = f(**d)\n",
        {"?"},
    ),
    "an attribute that one way sets": (
        "class C:\n    x = 2\nc = C()\nif chance:\n    c.x = 3\nx = c.x\n",
        {"?"},
    ),
    "two lists of what isn't known are not equal": (
        "a, b = list(range(random.randint(1, 4))), list(range(random.randint(1, 4)))\nx = 2 if a == b else 3\n",
        {"?"},
    ),
}


@pytest.mark.parametrize(("source", "claims"), JOINED.values(), ids=JOINED)
def test_ways_that_meet(source, claims, tmp_path):
    assert said(source, tmp_path) == claims


LOOPS = {
    "a loop that may not run": (
        "x = torch.zeros(2)\nn = 0\nwhile n < 1 and chance:\n    n += 1\n    x = torch.zeros(3, 5)\nx = x\n",
        {"?", "Float32[2]", "Float32[3, 5]"},
    ),
    "a key that a loop may put": (
        "d = {'a': 2}\nfor _ in range(random.randint(0, 9)):\n    d['b'] = 3\nx = len(d)\n",
        {"?"},
    ),
    "else is for who was not broken off": (
        """
a = torch.zeros(2)
for i in range(random.randint(0, 9)):
    a = torch.zeros(3)
    if random.random() > 0.5:
        break
else:
    a = torch.zeros(5, 7)
x = a
""",
        {"?", "Float32[3]", "Float32[5, 7]"},
    ),
    "what was given before the loop was left": (
        """
def f():
    a = torch.zeros(2)
    while True:
        if random.random() > 0.5:
            return a
        a = torch.zeros(3, 5)

x = f()
""",
        {"?", "Float32[2]", "Float32[3, 5]"},
    ),
    "a loop without end is left by break alone": (
        "x = 2\nwhile True:\n    x = 3\n    if random.random() > 0.5:\n        x = 5\n        break\nx = x\n",
        {"5"},
    ),
    "a list that gets shorter in its loop": (
        "xs = [2, 3, 5, 7]\nfor v in xs:\n    del xs[0]\nx = v\n",
        {"5"},
    ),
    "the variable of a comprehension is another one": ("x = [x for x in (2, 3)][0] + 5\n", {"7"}),
}


@pytest.mark.parametrize(("source", "claims"), LOOPS.values(), ids=LOOPS)
def test_rounds(source, claims, tmp_path):
    assert said(source, tmp_path) == claims


def test_a_class_that_sets_attributes_itself(tmp_path):
    source = """
class C:
    def __init__(self, t):
        self.t = t

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value.unsqueeze(0))

x = C(torch.zeros(2, 3)).t
"""
    assert said(source, tmp_path) == {"Float32[1, 2, 3]"}


def test_claims_are_certain_unless_they_hang_on_what_isn_t_known(tmp_path):
    source = """
def values():
    a = 2
    yield a
    b = 3
    yield b

for c in values():
    break
if chance:
    d = 5
else:
    d = 7
e = 11
"""
    path = tmp_path / "program.py"
    path.write_text(START + source)
    assert {name for _, _, name, _ in follow(path).certain} == {"a", "c", "e"}
