"""Hostile programs: what grows, never ends, is nested deeply, is no Python, or acts when it is run.

A program is one act of a kind, with numbers drawn at random, in a place drawn at random: a function, a class, a loop, a
branch of an unknown condition. `sources` gives as many distinct ones as are asked for, of every kind in turn.
"""

# ruff: noqa: E501  (rows of parts of programs are read best as they are)
# fmt: off
from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from textwrap import indent

__all__ = ["KINDS", "sources"]

HEAD = "import itertools, functools, math, os, re, sys, random\nimport torch\nimport numpy as np\n"
PLACES = (
    "{act}\n",
    "def f(given):\n{inside}\n    return given\nf(3)\n",
    "class C:\n{inside}\n",
    "class C:\n    def __init__(self, k=3):\n{deep}\n        self.k = k\nc = C()\n",
    "for turn in range(3):\n{inside}\n",
    "if os.environ.get('ASKED'):\n{inside}\nelse:\n    y = 2\n",
    "try:\n{inside}\nexcept (ValueError, TypeError, OverflowError, MemoryError, RecursionError):\n    y = 1\n",
    "while random.random() < 0.5:\n{inside}\n",
    "def g():\n{inside}\n    yield 1\nfor y in g():\n    pass\n",
    "import contextlib\nwith contextlib.suppress(Exception):\n{inside}\n",
    "class M(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n{deep}\n        return x\nM()(torch.zeros(2, 3))\n",
)
AFTER = "t = torch.zeros(2, 3)\n"

# -- what grows ----------------------------------------------------------------------------------------------------------

DOUBLED = (
    ("'ab'", "x = x + x"), ("'ab'", "x = f'{x}{x}'"), ("'a'", "x = '%s%s' % (x, x)"), ("'a'", "x = '{0}{0}'.format(x)"),
    ("'ab'", "x = ''.join([x, x, x])"), ("'ab'", "x = x.replace('a', x)"), ("'ab'", "x = x.join(x)"), ("'a'", "x *= {K}"),
    ("'ab'", "x = x.translate({{97: x}})"), ("'ab'", "x = re.sub('a', x, x)"), ("'a'", "x = repr(x) + repr(x)"),
    ("'a'", "x = x.ljust(len(x) * 3)"), ("'\\t'", "x = (x + x).expandtabs(len(x))"), ("b'a'", "x = x + x"), ("b'a'", "x = x.replace(b'a', b'aa')"),
    ("bytearray(b'a')", "x += x"), ("[1]", "x = x + x"), ("[1]", "x += x"), ("[1]", "x = [*x, *x]"), ("[1]", "x.extend(x)"),
    ("[1]", "x[:] = x + x"), ("[1]", "x = [v for v in x for w in (1, 2)]"), ("[1]", "x = [x, x]"), ("[1]", "x.append(x)"), ("[1]", "x = x * {K}"),
    ("[1]", "x[len(x):] = x"), ("(1,)", "x = x + x"), ("(1,)", "x += x"), ("(1,)", "x = (x, x)"), ("(1,)", "x = (*x, *x)"),
    ("(1,)", "x = x * {K}"), ("()", "x = (x, x, x)"), ("{{}}", "x = {{'a': x, 'b': x}}"), ("{{0: 0}}", "x = {{**x, **{{k + len(x): k for k in x}}}}"),
    ("{{0: 0}}", "x.update({{k + len(x): k for k in x}})"), ("{{0: 0}}", "x = x | {{k + len(x): k for k in x}}"), ("{{0}}", "x = x | {{v + len(x) for v in x}}"),
    ("{{0}}", "x |= {{v + len(x) for v in x}}"), ("frozenset()", "x = frozenset((x, frozenset((x, 1))))"), ("{{(0,)}}", "x = {{v + w for v in x for w in x}}"),
    ("3", "x = x * x"), ("3", "x = x ** {K}"), ("3", "x <<= x"), ("3", "x = x * x + x"), ("7", "x = x << {N3}"), ("2", "x = pow(x, x)"),
    ("__import__('pathlib').Path('a')", "x = x / x"), ("lambda: 1", "x = (lambda g: lambda: (g(), g()))(x)"), ("lambda: 1", "x = functools.partial(lambda *a: a, x, x)"),
    ("torch.zeros(1)", "x = torch.cat([x, x])"), ("torch.zeros(1)", "x = torch.stack([x, x])"), ("torch.zeros(1, 1)", "x = torch.kron(x, torch.zeros({K}, {K}))"),
    ("torch.zeros(1)", "x = x.repeat({K})"), ("torch.zeros(2)", "x = torch.outer(x, x).flatten()"), ("np.zeros(1)", "x = np.concatenate([x, x])"),
    ("np.zeros(1)", "x = np.tile(x, {K})"), ("np.zeros(2)", "x = np.kron(x, x)"), ("torch.nn.Sequential()", "x = torch.nn.Sequential(x, x)"),
    ("torch.nn.Linear(3, 3)", "x = torch.nn.ModuleList([x, x])"), ("[torch.zeros(3)]", "x = x + [a + b for a in x for b in x]"),
    ("(1, 2)", "x = tuple(zip(x, x))"), ("{{}}", "x = {{'k': [x, x]}}"), ("iter([1])", "x = itertools.chain(x, x)"),
    ("iter([1])", "x = map(lambda v: v, x)"), ("[1]", "x = list(itertools.product(x, x))"), ("[1, 2]", "x = list(itertools.permutations(x + x))"),
    ("'a'", "x = str([x, x])"), ("'a'", "x = str({{x: x}})"), ("int", "x = type('T', (x,), {{}})"), ("object", "x = type('T', (x,), {{'a': x}})"),
    ("__import__('collections').ChainMap()", "x = x.new_child({{'a': x}})"), ("__import__('collections').Counter('ab')", "x = x + x"),
)
ASKED = (
    "y = x == x", "y = repr(x)", "y = str(x)", "y = hash(x)", "y = x in [x, x]", "y = [x] == [x]", "y = len(str(x))", "y = {{'a': x}} == {{'a': x}}",
    "y = f'{{x!r:>9}}'", "y = sorted([x, x])", "y = max(x, x)", "y = x < x", "y = list(x)", "y = sum(x)", "print(x)", "y = {{x: 1}}", "y = x != x",
    "import copy\ny = copy.deepcopy(x)", "import pickle\ny = pickle.dumps(x)", "import json\ny = json.dumps(x)", "y = tuple(x)", "y = x()", "y = '%r' % (x,)",
    "match x:\n    case (a, b): y = 1\n    case _: y = 2", "y = isinstance(x, int)", "assert x", "raise ValueError(x)", "y = torch.tensor(x)",
    "y = next(iter(x))", "del x", "y = any(x)", "y = x[::-1]", "y = x[0]", "y = x.__eq__(x)", "y = np.array(x)", "y = set(x)", "y = dict(x)",
)

# -- what is large at once -----------------------------------------------------------------------------------------------

LARGE = (
    "x = {N} ** {N}", "x = {S} ** {N}", "x = 1 << {N}", "x = {S} << {N}", "x = pow({S}, {N})", "x = pow({S}, {N}, {N})", "x = pow({S}, -{N})", "x = round({S}, -{N})",
    "x = round({S}.5, {N})", "x = -{S} ** {N} % 7", "x = ({S} ** {M}) ** {M}", "x = ~({S} << {N}) >> {N}", "x = math.factorial({N})", "x = math.comb({N}, {M})",
    "x = math.perm({N}, {M})", "x = math.gcd({S} ** {M}, 7 ** {M})", "x = math.isqrt({S} ** {M})", "x = math.lcm(*range(1, {M}))", "x = math.prod(range(1, {N}))",
    "x = int('9' * {N})", "x = int('{S}' * {M})", "x = int('1' * {M}, 2)", "x = str({S} ** {M})", "x = hex({S} ** {M})", "x = float('1' * {N})", "x = ({S} ** {M}).bit_length()",
    "x = ({S} ** {M}) / ({S} ** {M})", "x = float({S} ** {M})", "x = divmod({S} ** {M}, 3)", "x = ({S} ** {M}).to_bytes({N}, 'big')", "x = int.from_bytes(bytes({N}), 'big')",
    "x = sum(range({N}))", "x = len(range({N}))", "x = len(range(-{N}, {N}, {S}))", "x = list(range({N}))", "x = tuple(range({N}))", "x = set(range({N}))", "x = dict.fromkeys(range({N}))",
    "x = max(range({N}))", "x = sorted(range({N}))", "x = sorted(range({N}), key=lambda v: -v)", "x = range({N})[{N} - 1]", "x = range({N})[::{S}]", "x = {N} in range({N})", "x = -1 in list(range({N}))",
    "x = range({N}).index({M})", "x = range({N}).count({M})", "x = hash(range({N}))", "x = range({N}) == range({N} + 1)", "x = [0] * {N}", "x = [[0] * {M}] * {N}", "x = (0,) * {N}", "x = 'a' * {N}", "x = b'a' * {N}",
    "x = bytes({N})", "x = bytearray({N})", "x = memoryview(bytes({N}))", "x = [0] * {M} * {M}", "x = {N} * [None]", "x = [list(range({M})) for i in range({M})]", "x = {{i: i for i in range({N})}}",
    "x = {{i for i in range({N})}}", "x = [i for i in range({N}) if i % 2]", "x = sum(i for i in range({N}))", "x = any(i < 0 for i in range({N}))", "x = all(True for i in itertools.repeat(1))",
    "x = max(i * i for i in range({N}))", "x = min(range({N}), key=lambda v: v)", "x = '%0{W}d' % {S}", "x = '%{W}s' % 'a'", "x = '%.{W}f' % 0.5", "x = '%*d' % ({N}, 5)", "x = format({S}, '>{W}')",
    "x = f'{{{S}:>{W}}}'", "x = f'{{{S}:{{{N}}}}}'", "x = f'{{0.5:.{W}f}}'", "x = '{{:>{W}}}'.format('a')", "x = '{{:{{}}}}'.format('a', {N})", "x = '{{0:{{1}}.{{1}}}}'.format(0.5, {N})", "x = 'a'.ljust({N})", "x = 'a'.rjust({N}, 'b')",
    "x = 'a'.center({N})", "x = 'a'.zfill({N})", "x = '\\t'.expandtabs({N})", "x = ('a' * {M}).replace('a', 'b' * {M})", "x = ','.join('a' for i in range({N}))", "x = ','.join(['a' * {M}] * {M})", "x = ('a,' * {M}).split(',')",
    "x = list('a' * {M})", "x = ('ab' * {M}).count('a' * {M} + 'b')", "x = ('a' * {M}).find('a' * {M} + 'b')", "x = ('a' * {M} + 'b') in ('a' * {M})", "x = ('a' * {M}).encode('utf-32')", "x = ('a' * {M}).translate({{97: 'b' * {M}}})",
    "x = 'a' * {N} + 'b' * {N}", "x = str.__mul__('a', {N})", "x = list.__mul__([1], {N})", "x = operator.mul([1], {N})\nimport operator", "import operator\nx = operator.pow({S}, {N})", "import operator\nx = operator.lshift(1, {N})",
    "x = functools.reduce(lambda a, b: a * b, range(1, {N}))", "x = functools.reduce(lambda a, b: a + b, [[1]] * {M}, [])", "x = list(itertools.product(range({M}), repeat={K}))", "x = list(itertools.permutations(range({M})))",
    "x = list(itertools.combinations(range({M}), {K}))", "x = len(list(itertools.repeat(0, {N})))", "x = list(itertools.chain.from_iterable(itertools.repeat(range({M}), {N})))", "x = list(itertools.islice(itertools.count(), {N}))",
    "x = next(itertools.islice(itertools.cycle([1, 2]), {N}, None))", "x = list(zip(*[range({M})] * {M}))", "x = list(map(lambda *a: a, *[range({M})] * {M}))", "x = list(enumerate(range({N})))", "x = [*range({N})]", "x = (*range({N}),)",
    "x, *y = range({N})", "*x, y = 'a' * {N}", "print(*range({N}))", "x = max(*range({N}))", "import collections\nx = collections.deque(range({N}), maxlen=3)", "import collections\nx = collections.Counter('ab' * {N})", "import decimal\nx = decimal.Decimal(10) ** {N}",
    "import decimal\ndecimal.getcontext().prec = {N}\nx = decimal.Decimal(1) / 3", "import fractions\nx = fractions.Fraction(1, 3) ** {M}", "import fractions\nx = sum(fractions.Fraction(1, i) for i in range(1, {M}))", "import string\nx = string.Template('$a' * {M}).substitute(a='b' * {M})",
    "import textwrap\nx = textwrap.fill('a ' * {M}, 3)", "import textwrap\nx = textwrap.indent('a\\n' * {M}, 'b' * {M})", "import base64\nx = base64.b64encode(bytes({N}))", "import struct\nx = struct.pack('{W}s', b'a')", "import struct\nx = struct.calcsize('{W}d')", "import secrets\nx = secrets.token_bytes({N})",
    "import json\nx = json.loads('[' * {M} + ']' * {M})", "import json\nx = json.dumps([0] * {N})", "import ast\nx = ast.literal_eval('[' * {M})", "import zlib\nx = zlib.decompress(zlib.compress(bytes({M})) * {M})", "import heapq\nx = heapq.nlargest(3, range({N}))", "import bisect\nx = bisect.bisect(range({N}), {M})",
    "import statistics\nx = statistics.mean(range({N}))", "import random\nx = random.sample(range({N}), {M})", "import random\nx = random.choices(range({N}), k={N})", "import random\nrandom.shuffle(list(range({N})))", "import array\nx = array.array('d', [0]) * {N}", "import datetime\nx = datetime.timedelta(days={N})",
    "import time\ntime.sleep({N})", "import calendar\nx = calendar.monthcalendar({N}, 3)", "sys.setrecursionlimit({N})", "import gc\ngc.collect()\nx = gc.get_objects()", "import tracemalloc\ntracemalloc.start()", "import unicodedata\nx = unicodedata.normalize('NFKD', '\\ufdfa' * {M})", "import difflib\nx = difflib.SequenceMatcher(None, 'ab' * {M}, 'ba' * {M}).ratio()",
    "import fnmatch\nx = fnmatch.fnmatch('a' * {M}, '*a' * 40 + 'b')", "import glob\nx = glob.glob('/**/*', recursive=True)", "x = list(os.walk('/'))", "import pathlib\nx = list(pathlib.Path('/').rglob('*'))", "x = open('/dev/zero').read()", "x = open('/dev/zero', 'rb').read({N})", "x = open('/dev/stdin').read()", "x = np.fromfile('/dev/zero')",
    "x = torch.load('/dev/zero')", "x = np.load('/dev/zero', allow_pickle=True)", "import json\nx = json.load(open('/dev/urandom'))", "x = open('/proc/self/mem', 'rb').read()", "x = sys.stdin.read()", "x = input('a' * {N})", "x = b'%{W}d' % 5", "x = bytes(range(256)) * {N}", "x = slice({N}).indices({N})", "x = [1, 2, 3][{N}:-{N}:{N}]",
    "x = 'abc'[{N}]", "x = complex({S}, {S}) ** {N}", "x = {S}.5 ** {N}", "x = ({S} ** {M}) % ({S} ** {M} - 1)", "x = abs(-{S} ** {M}) // 3 ** {M}", "x = eval('9**' * {M} + '9')", "x = eval('{S} ** {N}')", "x = eval('(' * {M} + ')' * {M})", "exec('x = ' + '-' * {M} + '1')", "exec('x = 1\\n' * {M})",
    "x = compile('1 + ' * {M} + '1', 'a', 'eval')", "exec(open(__file__).read())", "import types\nx = types.FunctionType(compile('1', 'a', 'eval'), {{}})", "x = type('C', (), {{f'a{{i}}': i for i in range({M})}})", "x = type('C' * {M}, (), {{}})", "x = type('C', (object,) * {M}, {{}})", "x = [type(f'C{{i}}', (), {{}}) for i in range({N})]",
)
TORCH = (
    "x = torch.empty({N})", "x = torch.zeros({N}, {N})", "x = torch.zeros(*[2] * {M})", "x = torch.zeros([{K}] * {M})", "x = torch.zeros(3, 4).flatten(-{N})", "x = torch.zeros(3, 4).flatten({N}, -{N})", "x = torch.zeros(3).unsqueeze({N})", "x = torch.zeros(3, 4).transpose({N}, -{N})",
    "x = torch.zeros(3).expand({N}, 3)", "x = torch.zeros(3).repeat({N}, {N})", "x = torch.zeros(3, 4).permute(*range({M}))", "x = torch.arange({N})", "x = torch.arange(0, {N}, 1e-9)", "x = torch.arange(-{N}, {N}, 0.{W})", "x = torch.linspace(0, 1, {N})", "x = torch.eye({N})", "x = torch.randperm({N})", "x = list(torch.zeros({N}, 2))",
    "for x in torch.zeros({N}, 2):\n    y = x", "x = torch.zeros({N}, 2).unbind()", "x = torch.zeros({N}, 2).split(1)", "x = torch.zeros({N}, 2).chunk({N})", "x = torch.split(torch.zeros({N}), [1] * {M})", "x = torch.zeros({N}).tolist()", "x = torch.tensor([0] * {N})", "x = torch.tensor(range({N}))", "x = torch.tensor({S} ** {M})", "x = torch.tensor([[[0] * {M}] * {M}] * {M})",
    "x = torch.einsum('{E}', torch.zeros(2, 3), torch.zeros(3, 4))", "x = torch.einsum('{E}', *[torch.zeros(2)] * {M})", "x = torch.einsum('a' * {M}, torch.zeros(2))", "x = torch.einsum(','.join(['ab'] * {M}), *[torch.zeros(2, 2)] * {M})", "x = torch.einsum('...' * {M}, torch.zeros(2))", "x = torch.einsum('ij->' + 'ij' * {M}, torch.zeros(2, 3))", "x = torch.einsum(torch.zeros(2), [0] * {M})",
    "from einops import rearrange\nx = rearrange(torch.zeros(2, 3), '{E}')", "from einops import rearrange\nx = rearrange(torch.zeros(2, 3), 'a b -> ' + '(' * {M} + 'a b' + ')' * {M})", "from einops import repeat\nx = repeat(torch.zeros(2), 'a -> a b', b={N})", "from einops import rearrange\nx = rearrange(torch.zeros(2), ' '.join(f'a{{i}}' for i in range({M})) + ' -> b')",
    "x = torch.nn.Linear({N}, {N})", "x = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range({N})])", "x = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range({N}))", "x = torch.nn.LSTM(3, 5, num_layers={N})", "x = torch.nn.Transformer(num_encoder_layers={N})", "x = torch.nn.Conv2d(3, 5, {N})(torch.zeros(1, 3, 8, 8))", "x = torch.nn.Conv2d(3, 5, 3, padding={N})(torch.zeros(1, 3, 8, 8))", "x = torch.nn.MaxPool2d({N}, padding=-{N})(torch.zeros(1, 3, 8, 8))",
    "x = torch.nn.functional.pad(torch.zeros(3), [{N}] * {M})", "x = torch.nn.functional.pad(torch.zeros(3), (-{N}, {N}))", "x = torch.nn.functional.one_hot(torch.tensor([{N}]))", "x = torch.nn.functional.interpolate(torch.zeros(1, 1, 2, 2), scale_factor={N})", "x = torch.nn.functional.unfold(torch.zeros(1, 1, 8, 8), {N})", "x = torch.cat([torch.zeros(3)] * {N})", "x = torch.stack([torch.zeros(3)] * {N})", "x = torch.cat([torch.zeros(i) for i in range({N})])", "x = torch.meshgrid(*[torch.zeros(9)] * {M})",
    "x = torch.cartesian_prod(*[torch.zeros(9)] * {M})", "x = torch.combinations(torch.zeros({N}), {K})", "x = torch.block_diag(*[torch.zeros(9, 9)] * {M})", "x = torch.zeros(3)[{N}]", "x = torch.zeros(3)[-{N}:{N}:{N}]", "x = torch.zeros(3)[(None,) * {M}]", "x = torch.zeros(3)[[0] * {N}]", "x = torch.zeros(2, 3)[..., *[0] * {M}]", "x = torch.zeros(3).view(*[1] * {M}, 3)", "x = torch.zeros(3).view({N}, -1)", "x = torch.zeros({N}).reshape(-1, {M})", "x = torch.zeros(3).as_strided(({N}, {N}), (0, 0))", "x = torch.zeros(2 ** 31, 2 ** 32).numel()", "x = torch.zeros({S}).repeat_interleave({N})",
    "x = torch.zeros(3, requires_grad=True)\nfor i in range({N}):\n    x = x + 1\nx.sum().backward()", "x = torch.zeros(2)\nfor i in range({M}):\n    x = x.unsqueeze(0)", "x = torch.utils.data.DataLoader(range({N}), batch_size=1)\nfor y in x:\n    pass", "x = torch.utils.data.random_split(range({N}), [1] * {N})", "x = torch.nn.Embedding({N}, {N})(torch.tensor([3]))", "x = torch.Generator().manual_seed({S} ** {M})", "x = torch.full(({N},), {S} ** {M})", "x = torch.vmap(lambda v: torch.zeros({N}))(torch.zeros({N}))", "x = torch.block_diag(torch.eye({N}))",
    "x = np.zeros({N})", "x = np.zeros(({N}, {N}))", "x = np.zeros((2,) * {M})", "x = np.arange({N})", "x = np.ones({N}).reshape(-1, {M})", "x = np.array([0] * {N})", "x = np.array([[0] * {M}] * {M})", "x = np.linspace(0, 1, {N})", "x = np.tile([1, 2], {N})", "x = np.repeat([1], {N})", "x = np.einsum('{E}', np.zeros((2, 3)))", "x = np.indices(({K},) * {M})", "x = np.meshgrid(*[range(9)] * {M})", "x = np.random.rand({N}, {N})", "x = np.random.randint(0, {N}, {N})", "x = list(np.ndindex({N}, {N}))", "x = np.pad(np.zeros(3), {N})", "x = np.array({S} ** {M})", "x = np.array2string(np.zeros({N}))", "for x in np.zeros({N}):\n    pass",
    "x = np.array_split(np.zeros({N}), {N})", "x = np.concatenate([np.zeros(3)] * {N})", "x = np.zeros({N}).tolist()", "x = np.broadcast_to(0, ({N}, {N}))", "x = np.r_[0:{N}]", "x = np.mgrid[0:{N}, 0:{N}]", "x = np.fromfunction(lambda i: i, ({N},))", "x = np.vectorize(lambda v: v)(np.zeros({N}))", "x = np.dtype([('a', 'i4')] * {M})", "x = np.dtype('i4,' * {M})", "x = np.zeros(3, dtype='U{W}')", "x = np.lib.stride_tricks.as_strided(np.zeros(3), ({N}, {N}), (0, 0))",
)

# -- regular expressions -------------------------------------------------------------------------------------------------

PATTERNS = (
    ("(a+)+$", "a"), ("(a|a)*$", "a"), ("(a|aa)+$", "a"), ("(.*)*x", "a"), ("(a*)*b", "a"), ("([a-z]+)*\\\\d", "a"), ("(?:a?){60}a{60}", "a"), ("a*a*a*a*a*a*a*a*b", "a"), ("(x+x+)+y", "x"), ("^(([a-z])+.)+[A-Z]([a-z])+$", "a"), ("(\\\\w+\\\\s?)*$", "ab "),
    ("(?=(a+)+$)a", "a"), ("(?<=a)(a+)+$", "a"), ("(?P<n>a+)+(?P=n)+$", "a"), ("(a+)\\\\1+\\\\1+$", "a"), ("(?i:(A+)+)$", "a"), ("((a{1,20}){1,20}){1,20}$", "a"), ("(a{0,9999}){0,9999}$", "a"), ("(?s:.*){9}b", "a"), (".*.*.*.*.*.*=.*", "a"), ("(?:(?:a|b)*)*c", "ab"), ("(a(?:b|c|d){1,9}e?)+$", "ab"), ("\\\\s*\\\\s*\\\\s*\\\\s*\\\\s*x", " "),
    ("(?:[^,]*,)*[^,]*!", "a,"), ("(\\\\d+)*\\\\.(\\\\d+)*e", "1"), ("(?:a+)+?b", "a"), ("(a+)+(?!b)c", "a"), ("(?>a+)+b", "a"), ("a++b|(a+)+c", "a"), ("(((a)))*(((a)))*(((a)))*b", "a"), ("(a*){9,}b", "a"), ("|".join(["a*"] * 30) + "b", "a"), ("(a?)*?$b", "a"), ("(?(1)a|(a+)+)$b", "a"),
)
SEARCHES = (
    "x = re.match({P}, {T})", "x = re.search({P}, {T})", "x = re.fullmatch({P}, {T})", "x = re.sub({P}, 'z', {T})", "x = re.split({P}, {T})", "x = re.findall({P}, {T})", "x = list(re.finditer({P}, {T}))", "x = re.subn({P}, lambda m: 'z', {T})", "p = re.compile({P})\nx = p.match({T})", "p = re.compile({P})\nx = p.search({T})", "p = re.compile({P})\nx = p.sub('z', {T})", "p = re.compile({P})\nx = p.split({T})",
    "p = re.compile({P})\nx = [m for m in p.finditer({T})]", "p = re.compile({P})\nx = p.fullmatch({T})", "p = re.compile({P}, re.I | re.S | re.M)\nx = p.findall({T})", "x = re.compile({P}).scanner({T}).search()", "s = ''.join([{T}, {T}])\nx = re.search({P}, s)", "s = '-'.join(c for c in {T})\nx = re.search({P}, s)", "t = {T}\ns = f'{{t}}{{t}}'\nx = re.match({P}, s)", "for s in [{T}, {T}]:\n    x = re.match({P}, s)", "p = '' + {P}\nx = re.match(p, {T})",
    "x = any(re.search({P}, s) for s in [{T}] * 9)", "x = re.match('(?:' + {P} + ')*$', {T})", "x = re.search({P}.encode(), {T}.encode())", "if m := re.match({P}, {T}):\n    x = m.group(0)", "import pandas as pd\nx = pd.Series([{T}]).str.contains({P})", "x = [s for s in {T}.split() if re.match({P}, s)]", "import fnmatch\nx = fnmatch.filter([{T}], {P})", "class P:\n    q = re.compile({P})\nx = P.q.match({T})",
)

# -- what never ends -----------------------------------------------------------------------------------------------------

ENDLESS = (
    "while True:\n    pass", "while 1:\n    x = {S}\n    continue", "x = 0\nwhile x >= 0:\n    x += {S}", "for x in itertools.count({S}):\n    y = x", "for x in itertools.cycle('a' * {K}):\n    y = x", "for x in itertools.repeat({S}):\n    pass", "x = list(itertools.count({S}))", "x = sum(itertools.count({S}))", "x = max(itertools.cycle([1, {S}]))", "x = {S} in itertools.count({N}, {K})", "x = sorted(itertools.repeat({S}))",
    "x = dict(enumerate(itertools.count({S})))", "x = [*itertools.count({S})]", "x, y = itertools.count({S})", "x = ''.join(itertools.repeat('{S}'))", "x = list(zip(itertools.count({S}), itertools.count()))", "x = list(filter(None, itertools.repeat(0, times={N})))", "x = list(iter(lambda: {S}, None))", "x = list(iter(int, {S}))", "x = list(itertools.accumulate(itertools.count({S})))", "x = list(itertools.takewhile(lambda v: v >= 0, itertools.count({S})))",
    "x = next(itertools.dropwhile(lambda v: v >= 0, itertools.count({S})))", "x = list(itertools.groupby(itertools.count({S})))", "x = set(itertools.tee(itertools.count({S}))[0])", "x = [1, {S}]\nfor v in x:\n    x.append(v)", "x = {{{S}: 1}}\nwhile x:\n    x[len(x)] = x", "def g(n={S}):\n    while True:\n        yield n\n        n += 1\nx = list(g())", "def g(n={S}):\n    yield from g(n + 1)\nx = list(g())", "def g(n={S}):\n    yield n\n    yield from g(n + 1)\nfor x in g():\n    pass",
    "def g():\n    x = yield {S}\n    while True:\n        x = yield x\nh = g()\nnext(h)\nwhile True:\n    h.send({S})", "class I:\n    def __iter__(self): return self\n    def __next__(self): return {S}\nx = list(I())", "class I:\n    def __getitem__(self, i): return i + {S}\nx = list(I())", "class I:\n    def __getitem__(self, i): return self\nx = {S} in I()", "class I:\n    def __len__(self): return {N}\n    def __getitem__(self, i): return i\nx = list(reversed(I()))", "class I:\n    def __iter__(self): return iter(self)\nx = list(I()) + [{S}]",
    "x = None\nwhile True:\n    x = [x, {S}]", "x = {S}\nwhile True:\n    x = x * x", "x = ''\nwhile True:\n    x += '{S}'", "while True:\n    try:\n        raise ValueError({S})\n    except ValueError:\n        continue", "while True:\n    try:\n        break\n    finally:\n        continue\nx = {S}", "x = torch.zeros({S})\nwhile True:\n    x = torch.cat([x, x])", "x = torch.zeros({S})\nwhile x.sum() < 1:\n    x = x[None]", "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire({S})", "import queue\nx = queue.Queue({S}).get()",
    "import threading\nthreading.Event().wait({N})", "import asyncio\nasync def f():\n    while True:\n        await asyncio.sleep({S})\nasyncio.run(f())", "async def g():\n    while True:\n        yield {S}\nasync def f():\n    return [x async for x in g()]\nimport asyncio\nasyncio.run(f())", "import signal\nsignal.pause()\nx = {S}", "import multiprocessing\nmultiprocessing.Barrier({S} + 2).wait()", "from torch.utils.data import IterableDataset, DataLoader\nclass D(IterableDataset):\n    def __iter__(self):\n        while True:\n            yield torch.zeros({S})\nfor x in DataLoader(D()):\n    y = x",
    "for a in range({N}):\n    for b in range({N}):\n        for c in range({N}):\n            x = a * b * c", "x = [a * b * c for a in range({N}) for b in range({N}) for c in range({N})]", "x = {S}\nwhile x != 1 or True:\n    x = x // 2 if x % 2 == 0 else 3 * x + 1", "def f(n):\n    return f(n - 1) + f(n - 2) if n > 1 else n\nx = f({M})", "def a(m, n):\n    return n + 1 if m == 0 else a(m - 1, 1) if n == 0 else a(m - 1, a(m, n - 1))\nx = a({K}, {M})", "def h(n, a, b, c):\n    if n:\n        h(n - 1, a, c, b)\n        h(n - 1, c, b, a)\nh({M}, 1, 2, 3)",
)
DUNDERS = (
    ("__getattr__(self, n)", "getattr(self, n)", "x.asked{S}"), ("__getattr__(self, n)", "getattr(self, n + 'a')", "x.a{S}"), ("__getattribute__(self, n)", "self.b", "x.a{S}"), ("__setattr__(self, n, v)", "setattr(self, n, v)", "setattr(x, 'a', {S})"), ("__delattr__(self, n)", "delattr(self, n)", "delattr(x, 'a{S}')"), ("__eq__(self, o)", "self == o", "x == {S}"), ("__ne__(self, o)", "self != o", "x != {S}"), ("__lt__(self, o)", "sorted([self, o])", "x < {S}"), ("__hash__(self)", "hash(self)", "{{x: {S}}}"),
    ("__repr__(self)", "repr(self)", "repr(x)"), ("__repr__(self)", "f'{{self!r}}'", "str([x, {S}])"), ("__str__(self)", "str(self)", "f'{{x}}{S}'"), ("__format__(self, s)", "format(self, s)", "f'{{x:{S}}}'"), ("__bool__(self)", "bool(self)", "1 if x else {S}"), ("__len__(self)", "len(self)", "len(x) + {S}"), ("__len__(self)", "{N}", "len(x)"), ("__iter__(self)", "iter(self)", "list(x)"), ("__next__(self)", "next(self)", "next(x)"), ("__contains__(self, o)", "o in self", "{S} in x"), ("__getitem__(self, i)", "self[i]", "x[{S}]"),
    ("__setitem__(self, i, v)", "self.__setitem__(i, v)", "x.__setitem__({S}, 1)"), ("__call__(self, *a)", "self(*a, *a)", "x({S})"), ("__add__(self, o)", "self + o", "x + {S}"), ("__radd__(self, o)", "o + self", "{S} + x"), ("__iadd__(self, o)", "self.__iadd__(o)", "x.__iadd__({S})"), ("__mul__(self, o)", "(self * o) * (self * o)", "x * {S}"), ("__neg__(self)", "-self", "-x"), ("__index__(self)", "range(self)", "range(x)"), ("__index__(self)", "{N}", "[0] * x"), ("__int__(self)", "int(self)", "int(x)"), ("__float__(self)", "float(self)", "float(x)"), ("__enter__(self)", "self.__enter__()", "x.__enter__()"),
    ("__reduce__(self)", "self.__reduce__()", "x.__reduce__()"), ("__deepcopy__(self, m)", "__import__('copy').deepcopy(self, m)", "__import__('copy').deepcopy(x)"), ("__get__(self, o, t)", "o.d", "type('D', (), {{'d': x}})().d"), ("__instancecheck__(self, o)", "isinstance(o, self)", "isinstance({S}, x)"), ("__missing__(self, k)", "self[k]", "x.__missing__({S})"), ("__await__(self)", "self.__await__()", "x.__await__()"), ("__matmul__(self, o)", "self @ (self @ o)", "x @ torch.zeros({S})"), ("__torch_function__(self, *a, **k)", "torch.add(self, 1)", "torch.add(x, {S})"), ("__array__(self, *a)", "np.array(self)", "np.array(x)"),
    ("__length_hint__(self)", "{N}", "list(x)"), ("__round__(self, n=0)", "round(self, n)", "round(x, {S})"), ("__dir__(self)", "dir(self)", "dir(x)"), ("__fspath__(self)", "os.fspath(self)", "open(x)"), ("__class_getitem__(cls, k)", "cls[k]", "C[{S}]"), ("__init_subclass__(cls)", "type('D', (cls,), {{}})", "type('E', (C,), {{}})"), ("__new__(cls)", "cls()", "C()"), ("__init__(self)", "C()", "C()"), ("__del__(self)", "C()", "C()"), ("__prepare__(*a)", "{{}}", "x"), ("__mro_entries__(self, b)", "(C, C)", "type('E', (x,), {{}})"), ("__set_name__(self, o, n)", "setattr(o, n, self)", "type('E', (), {{'d': x}})"),
    ("__reversed__(self)", "reversed(self)", "list(reversed(x))"), ("__sizeof__(self)", "sys.getsizeof(self)", "sys.getsizeof(x)"), ("__pow__(self, o)", "self ** o ** self", "x ** {S}"), ("__rmul__(self, o)", "o * self", "[{S}] * x"), ("__abs__(self)", "abs(self)", "abs(x)"), ("__divmod__(self, o)", "divmod(self, o)", "divmod(x, {S})"), ("__bytes__(self)", "bytes(self)", "bytes(x)"), ("__concat__(self, o)", "self", "x + x"),
)
CLASSES = (
    "class M(type):\n    def __call__(cls, *a): return cls(*a)\nclass C(metaclass=M): pass\nx = C({S})", "class M(type):\n    def __getattr__(cls, n): return getattr(cls, n)\nclass C(metaclass=M): pass\nx = C.a{S}", "class M(type):\n    def mro(cls): return [cls] * {M}\nclass C(metaclass=M): pass", "class M(type):\n    def mro(cls): return cls.mro()\nclass C(metaclass=M): a = {S}", "class M(type):\n    @classmethod\n    def __prepare__(m, *a):\n        return {{str(i): i for i in range({N})}}\nclass C(metaclass=M): pass", "class M(type):\n    def __new__(m, n, b, d): return M(n, b, d)\nclass C(metaclass=M): a = {S}",
    "class M(type): pass\nclass N(M, metaclass=M): pass\nclass C(metaclass=N): a = {S}\nC.__class__ = C", "class C: pass\nC.__bases__ = (C,)\nx = C().a{S}", "class C: pass\nclass D(C): pass\nC.__bases__ = (D,)\nx = D().a{S}", "class C(C): a = {S}", "class C:\n    C = C\n    a = {S}", "x = type\nfor i in range({M}):\n    x = type(f'T{{i}}', (x,), {{}})", "class C: pass\nfor i in range({M}):\n    class C(C): a = i\nx = C().b", "class C: pass\nx = C()\nfor i in range({M}):\n    x.n = C()\n    x.n.p = x\n    x = x.n\nprint(x)", "class C: pass\nx = C()\nx.__dict__ = x.__dict__\nx.__class__ = type(x)\nx.x = {S}\nvars(x)['x'] = vars(x)\nprint(vars(x))",
    "class C:\n    def __init_subclass__(cls, **k):\n        class D(cls): a = {S}\nclass E(C): pass", "class C:\n    x = property(lambda self: self.x)\ny = C().x + {S}", "class C:\n    @functools.cached_property\n    def x(self): return self.x\ny = C().x + {S}", "class C:\n    @classmethod\n    @property\n    def x(cls): return cls.x\ny = C.x + {S}", "@functools.lru_cache(None)\ndef f(n): return f(n + 1)\nx = f({S})", "def f(n): return f(n + 1)\nx = f({S})", "f = lambda n: f(n + 1)\nx = f({S})", "def f(*a): return f(*a, *a)\nx = f({S})", "def f(**k): return f(**k, **{{f'a{{len(k)}}': 1}})\nx = f(a={S})", "f = lambda f, n: f(f, f)\nx = f(f, {S})", "(lambda f: f(f))(lambda f: f(f))\nx = {S}", "Y = lambda f: (lambda x: f(lambda v: x(x)(v)))(lambda x: f(lambda v: x(x)(v)))\nx = Y(lambda s: lambda n: s(n + 1))({S})",
    "def d(f): return d(d(f))\n@d\ndef g(): return {S}", "def d(f):\n    @functools.wraps(f)\n    def w(*a): return w(*a)\n    return w\n@d\ndef g(): return {S}\ng()", "x = functools.partial(lambda f: f(f), lambda f: f(f))\nx()\ny = {S}", "x = []\nx.append(x)\ny = x == x\nz = repr(x) * {S}\nw = [*x, *x]\nsorted(x)", "x = {{}}\nx['x'] = x\ny = x == dict(x)\nz = str(x) + '{S}'", "x = []\nx.append((x,))\ny = []\ny.append((y,))\nz = x == y\nw = {S}", "x = [{S}]\nfor i in range({M}):\n    x = [x]\nprint(x)\ny = x == x", "x = ({S},)\nfor i in range({M}):\n    x = (x,)\nprint(hash(x))\ny = x == x", "x = {{}}\nfor i in range({M}):\n    x = {{i: x}}\nprint(x)", "x = lambda: {S}\nfor i in range({M}):\n    x = (lambda f: lambda: f())(x)\ny = x()", "x = iter([{S}])\nfor i in range({M}):\n    x = (v for v in x)\ny = list(x)", "x = [{S}]\nfor i in range({M}):\n    x = map(abs, x)\ny = next(x)", "x = range({S})\nfor i in range({M}):\n    x = itertools.chain(x)\ny = list(x)", "x = Exception({S})\nfor i in range({M}):\n    x.__cause__ = Exception(x)\n    x = x.__cause__\nraise x",
    "x = Exception({S})\nx.__context__ = x\nx.__cause__ = x\nraise x", "x = ExceptionGroup('a', [ValueError({S})])\nfor i in range({M}):\n    x = ExceptionGroup('a', [x])\ntry:\n    raise x\nexcept* ValueError:\n    pass", "import sys\nsys.modules[__name__] = {S}\nimport torch", "import sys\nsys.settrace(lambda *a: {S} / 0)", "import sys\nsys.modules.clear()\nimport os\nx = {S}", "import builtins\nbuiltins.__import__ = lambda *a: {S}\nimport nothing", "import builtins\nbuiltins.len = lambda v: {N}\nx = [0] * len([])", "globals().clear()\nx = {S}", "globals()['__builtins__'] = {{}}\nx = len([{S}])", "locals().update({{str(i): i for i in range({M})}})", "del __builtins__\nx = {S}", "__name__ = {S}\n__file__ = []\nprint(__file__)", "import ctypes\nctypes.string_at({S})", "import ctypes\nctypes.memset(id({S}), 0, {N})", "x = (lambda: 0).__code__.replace(co_code=b'{S}')\nexec(x)", "def f(): pass\nf.__code__ = (lambda: {S}).__code__\nf()", "import gc\nfor o in gc.get_objects():\n    o.clear()\nx = {S}",
    "import faulthandler\nfaulthandler._sigsegv()\nx = {S}", "os.kill(os.getpid(), {S})", "os._exit({S})", "sys.exit('a' * {N})", "os.abort()\nx = {S}", "import resource\nresource.setrlimit(resource.RLIMIT_AS, ({N}, {N}))", "raise SystemExit({S})", "raise KeyboardInterrupt({S})", "raise GeneratorExit({S})", "raise MemoryError({S})", "raise BaseException({S}) from RecursionError()", "assert (yield_ := {S}) < 0, 'a' * {N}", "import typing\nx = int\nfor i in range({M}):\n    x = typing.Optional[typing.List[x]]", "import typing\nx = typing.Tuple[(int,) * {N}]", "x = int\nfor i in range({M}):\n    x = x | list[x]", "import enum\nx = enum.Enum('E', [f'a{{i}}' for i in range({N})])", "import enum\nclass F(enum.Flag):\n    a = 1 << {N}\nx = F.a | {S}", "import dataclasses\nx = dataclasses.make_dataclass('D', [(f'a{{i}}', int) for i in range({N})])", "import collections\nx = collections.namedtuple('N', [f'a{{i}}' for i in range({N})])", "import weakref\nclass C: pass\nx = weakref.ref(C())()\nx.a{S}",
)

# -- what acts when it is run --------------------------------------------------------------------------------------------

ACTS = (
    "open('owned{S}', 'w').write('a')", "with open('owned{S}', 'wb') as f:\n    f.write(b'a')", "import pathlib\npathlib.Path('owned{S}').write_text('a')", "import pathlib\npathlib.Path('owned{S}').mkdir()", "os.makedirs('owned{S}/a')", "os.mkdir('owned{S}')", "os.remove('program.py')", "os.rename('program.py', 'owned{S}')", "import shutil\nshutil.rmtree('.')\nx = {S}", "import shutil\nshutil.copy('program.py', 'owned{S}')", "os.symlink('/etc/passwd', 'owned{S}')", "os.system('touch owned{S}')", "os.popen('touch owned{S}').read()", "import subprocess\nsubprocess.run(['touch', 'owned{S}'])", "import subprocess\nx = subprocess.check_output('touch owned{S}', shell=True)", "import subprocess\nsubprocess.Popen(['sleep', '{N}'])", "os.execv('/bin/touch', ['touch', 'owned{S}'])", "os.spawnlp(os.P_WAIT, 'touch', 'touch', 'owned{S}')", "os.posix_spawn('/bin/touch', ['touch', 'owned{S}'], {{}})", "if os.fork() == 0:\n    x = {S}", "while True:\n    os.fork()\n    x = {S}", "import multiprocessing\nmultiprocessing.Process(target=print, args=({S},)).start()", "import threading\nthreading.Thread(target=print, args=({S},)).start()", "import concurrent.futures as c\nx = list(c.ProcessPoolExecutor().map(abs, range({N})))",
    "import socket\ns = socket.socket()\ns.connect(('127.0.0.1', {S}))", "import socket\ns = socket.create_server(('', {S}))\ns.accept()", "import urllib.request\nx = urllib.request.urlopen('http://127.0.0.1:{S}').read()", "import requests\nx = requests.get('http://127.0.0.1:{S}').json()", "import socket\nx = socket.gethostbyname('a{S}.invalid')", "import http.server\nhttp.server.HTTPServer(('', {S}), None).serve_forever()", "import ctypes\nctypes.CDLL(None).system(b'touch owned{S}')", "import ctypes\nx = ctypes.cdll.LoadLibrary('libc.so.6').getpid() + {S}", "import ctypes\nctypes.cast({S}, ctypes.py_object)", "exec('open(\"owned{S}\", \"w\")')", "eval('__import__(\"os\").system(\"touch owned{S}\")')", "exec(compile('import os; os.mkdir(\"owned{S}\")', 'a', 'exec'))", "import importlib\nimportlib.import_module('os').system('touch owned{S}')", "__import__('os').system('touch owned{S}')", "getattr(os, 'sys' + 'tem')('touch owned{S}')", "[f for f in [os.system]][0]('touch owned{S}')", "import pickle\nx = pickle.loads(b\"cos\\nsystem\\n(S'touch owned{S}'\\ntR.\")", "import marshal\nexec(marshal.loads(marshal.dumps(compile('open(\"owned{S}\",\"w\")', 'a', 'exec'))))", "import yaml\nx = yaml.load('!!python/object/apply:os.system [touch owned{S}]', yaml.Loader)",
    "import types\nm = types.ModuleType('m')\nexec('import os; os.mkdir(\"owned{S}\")', m.__dict__)", "import code\ncode.interact(local={{'a': {S}}})", "breakpoint()\nx = {S}", "import pdb\npdb.set_trace()\nx = {S}", "import atexit\natexit.register(lambda: open('owned{S}', 'w'))", "import signal\nsignal.signal(signal.SIGALRM, lambda *a: open('owned{S}', 'w'))\nsignal.alarm(1)", "class C:\n    def __del__(self): open('owned{S}', 'w')\nC()", "class C:\n    def __repr__(self): return str(open('owned{S}', 'w'))\nprint(C())", "class M(type):\n    def __eq__(c, o): open('owned{S}', 'w')\n    __hash__ = type.__hash__\nclass C(metaclass=M): pass\nC == C", "@lambda f: open('owned{S}', 'w')\ndef f(): pass", "def f(a=open('owned{S}', 'w')): pass", "x: open('owned{S}', 'w') = {S}", "x = f'{{open(\"owned{S}\", \"w\")}}'", "assert not open('owned{S}', 'w')", "import tempfile\nx = tempfile.mkdtemp(suffix='{S}')", "import tempfile\nx = tempfile.NamedTemporaryFile(delete=False, suffix='{S}')", "import sqlite3\nx = sqlite3.connect('owned{S}')\nx.execute('create table a (b)')", "import sqlite3\nx = sqlite3.connect(':memory:')\nx.enable_load_extension(True)\nx.load_extension('owned{S}')", "import logging\nlogging.basicConfig(filename='owned{S}')\nlogging.error('a')", "import zipfile\nzipfile.ZipFile('owned{S}', 'w').writestr('../a', 'b')", "import shelve\nx = shelve.open('owned{S}')", "import dbm\nx = dbm.open('owned{S}', 'c')",
    "torch.save(torch.zeros(3), 'owned{S}')", "np.save('owned{S}', np.zeros(3))", "torch.hub.load('a/b{S}', 'c')", "x = torch.load('owned{S}', weights_only=False)", "torch.ops.load_library('owned{S}.so')", "from torch.utils.cpp_extension import load_inline\nload_inline('a{S}', cpp_sources='int a() {{ return 1; }}')", "torch.compile(lambda v: v + {S})(torch.zeros(3))", "torch.jit.script(lambda v: v)\nx = {S}", "torch.multiprocessing.spawn(print, nprocs={S})", "torch.distributed.init_process_group('gloo', init_method='tcp://127.0.0.1:{S}', rank=0, world_size=2)", "from torch.utils.tensorboard import SummaryWriter\nw = SummaryWriter('owned{S}')", "os.environ['OWNED'] = '{S}'\nos.putenv('OWNED', 'a')", "os.chdir('/')\nx = {S}", "os.umask(0)\nos.chmod('program.py', 0o{K})", "os.close({K})\nos.dup2(0, 1)", "sys.stdout.close()\nsys.stderr = None\nx = {S}", "sys.path.insert(0, '/tmp/owned{S}')\nimport owned", "import mmap\nx = mmap.mmap(-1, {N})", "import webbrowser\nwebbrowser.open('http://127.0.0.1:{S}')", "import smtplib\nsmtplib.SMTP('127.0.0.1', {S})", "import asyncio\nasyncio.run(asyncio.create_subprocess_exec('touch', 'owned{S}'))", "import runpy\nrunpy.run_path('program.py')\nx = {S}", "import py_compile\npy_compile.compile('program.py', 'owned{S}')", "import pip\npip.main(['install', 'nothing{S}'])", "import this_is_nowhere_{S}", "from . import owned{S}", "from {D} import a", "import {D}",
)

# -- what is nested, long, or no Python ----------------------------------------------------------------------------------

def _blocks(head: str, depth: int, last: str = "pass") -> str:
    return "".join(f"{' ' * i}{head.format(i=i)}\n" for i in range(depth)) + " " * depth + last + "\n"


NESTED: dict[str, Callable[[int], str]] = {
    **{f"brackets {a}{b}": lambda n, a=a, b=b: f"x = {a * n}1{b * n}\n" for a, b in (
        ("(", ")"), ("[", "]"), ("{", "}"), ("(1,", ")"), ("[1,", "]"), ("f(", ")"), ("f(*", ")"), ("f(a=", ")"), ("f(**", ")"), ("{1:", "}"), ("{**", "}"), ("[*", "]"), ("a[", "]"), ("a[1:", "]"), ("a[..., ", "]"), ("(lambda: ", ")"), ("(lambda a=", ": a)"), ("[v for v in ", "]"), ("{v for v in ", "}"),
        ("{v: 1 for v in ", "}"), ("(v for v in ", ")"), ("[v for v in x if ", "]"), ("(y := ", ")"), ("(1 if a else ", ")"), ("(1 if ", " else 2)"), ("(not ", ")"), ("(a and ", ")"), ("(1 < ", ")"), ("(await ", ")"), ("(yield ", ")"), ("int(", ")"), ("torch.relu(", ")"), ("torch.nn.Sequential(", ")"), ("list(map(abs, ", "))"), ("str(", ")"), ("len([", "])"), ("(1, *", ",)"), ("f'{", "}'"), ("f(lambda: ", ")"))},
    **{f"before {a}": lambda n, a=a: f"x = {a * n}1\n" for a in ("-", "~", "not ", "lambda: ", "1 + ", "2 ** ", "1 if a else ", "a and ", "a or not ", "1 < ", "await ", "x = ", "a, ", "lambda a=1: ", "1 @ ", "y[0] = ", "'a' ", "1 | ", "- 1 -", "1 in ", "1 is not ", "2 << ", "*a, ", "f'{1}' ")},
    **{f"behind {a}": lambda n, a=a: f"x = a{a * n}\n" for a in (".b", "()", "[0]", "[0].b()", " + 1", " @ a", " if a else 1", " < 1", ".b(1).c", "(a)", ", a", ".relu()", ".T", "[..., None]", "[1:]", " and a", " == a", " % 'a'", " in a", "{}", "((", "))", "\\\n", ";x = a", " := 1", "!")},
    **{f"blocks of {h}": lambda n, h=h: _blocks(h, n) for h in ("if a:", "if 1:", "while a:", "for v{i} in x:", "try:", "with a:", "with a as b{i}:", "def f{i}(a):", "class C{i}:", "async def f{i}():", "match a:", "class C{i}(int):", "def f{i}(a=1, *, b): ", "if x == {i}:", "for v in range(3):", "with torch.no_grad():")},
    "elif": lambda n: "if a == 0:\n    x = 0\n" + "".join(f"elif a == {i}:\n    x = {i}\n" for i in range(n)),
    "else": lambda n: "".join(f"{' ' * i}if a == {i}:\n{' ' * i} x = {i}\n{' ' * i}else:\n" for i in range(n)) + " " * n + "pass\n",
    "try inside": lambda n: "".join(f"{' ' * i}try:\n" for i in range(n)) + " " * n + "x = 1\n" + "".join(f"{' ' * i}except E{i}:\n{' ' * i} pass\n" for i in reversed(range(n))),
    "finally": lambda n: "".join(f"{' ' * i}try:\n{' ' * i} x = {i}\n{' ' * i}finally:\n" for i in range(n)) + " " * n + "pass\n",
    "decorators": lambda n: "@a\n" * n + "def f(): pass\nf()\n", "decorators of a class": lambda n: "@a(1)\n" * n + "class C: pass\nC()\n",
    "functions called": lambda n: "def f0(): return 1\n" + "".join(f"def f{i}(): return f{i - 1}()\n" for i in range(1, n)) + f"x = f{n - 1}()\n",
    "functions called twice": lambda n: "def f0(): return 1\n" + "".join(f"def f{i}(): return f{i - 1}() + f{i - 1}()\n" for i in range(1, n)) + f"x = f{n - 1}()\n",
    "classes derived": lambda n: "class C0: pass\n" + "".join(f"class C{i}(C{i - 1}): pass\n" for i in range(1, n)) + f"x = C{n - 1}().a\n",
    "classes of two": lambda n: "class A0: pass\nclass B0: pass\n" + "".join(f"class A{i}(A{i - 1}, B{i - 1}): pass\nclass B{i}(A{i - 1}): pass\n" for i in range(1, n)),
    "supers": lambda n: "class C0:\n    def f(self): return 1\n" + "".join(f"class C{i}(C{i - 1}):\n    def f(self): return super().f()\n" for i in range(1, n)) + f"x = C{n - 1}().f()\n",
    "assignments": lambda n: "".join(f"x{i} = x{i - 1} + 1\n" for i in range(1, n)), "one line of statements": lambda n: "x = 1;" * n + "\n", "names": lambda n: "x = " + " + ".join(f"x{i}" for i in range(n)) + "\n",
    "arguments": lambda n: f"def f({', '.join(f'a{i}' for i in range(n))}): return a0\nx = f({', '.join('1' for i in range(n))})\n", "keywords": lambda n: f"def f(**k): return k\nx = f({', '.join(f'a{i}={i}' for i in range(n))})\n", "globals": lambda n: f"def f():\n    global {', '.join(f'a{i}' for i in range(n))}\nf()\n",
    "conditions": lambda n: "import os\nx = os.environ.get('a')\n" + "".join(f"if x == '{i}':\n    y{i % 9} = {i}\n" for i in range(n)), "conditions in a row": lambda n: "import random\ny = 0\n" + "if random.random() < 0.5:\n    y += 1\n" * n + "x = [0] * y\n", "unknown lists": lambda n: "x = input()\n" + "".join(f"x = [x, *x] if x else {{x: {i}}}\n" for i in range(n)),
    "cases": lambda n: "match a:\n" + "".join(f"    case {i}: x = {i}\n" for i in range(n)), "or patterns": lambda n: "match a:\n    case " + " | ".join(map(str, range(n))) + ": pass\n", "nested patterns": lambda n: "match a:\n    case " + "[" * n + "]" * n + ": pass\n", "class patterns": lambda n: "match a:\n    case " + "C(" * n + ")" * n + ": pass\n", "mapping patterns": lambda n: "match a:\n    case " + "{'a': " * n + "_" + "}" * n + ": pass\n",
    "fors of a comprehension": lambda n: "x = [1 " + " ".join(f"for v{i} in (1, 2)" for i in range(n)) + "]\n", "ifs of a comprehension": lambda n: "x = [v for v in range(9)" + " if v" * n + "]\n", "unpacked": lambda n: "(" * n + "x" + ",)" * n + " = a\n", "unpacked in a for": lambda n: "for " + "[" * n + "x" + "]" * n + " in a: pass\n", "deleted": lambda n: "del " + "(" * n + "x" + ")" * n + "\n", "annotations": lambda n: "x: " + "list[" * n + "int" + "]" * n + " = 1\n", "text annotations": lambda n: "def f(a: '" + "list[" * n + "int" + "]" * n + "'): pass\n", "shape annotations": lambda n: "from simpletorch import Tensor\ndef f(a: Tensor['" + "(" * n + "N" + ")" * n + "']): return a\n", "union annotations": lambda n: "def f(a: " + " | ".join(["int"] * n) + "): return a\n",
    "withs": lambda n: "with " + ", ".join(["open('a')"] * n) + ": pass\n", "imports": lambda n: "".join(f"import m{i}\n" for i in range(n)), "star imports": lambda n: "from os import *\n" * n, "dotted imports": lambda n: "import " + ".".join(["a"] * n) + "\n", "a long text": lambda n: f"x = '{'a' * n * 1000}'\n", "a long number": lambda n: f"x = {'9' * n}\n", "a long hex number": lambda n: f"x = 0x{'f' * n}\n", "a long float": lambda n: f"x = {'9' * n}.{'9' * n}e{'9' * n}\n", "a long name": lambda n: f"{'a' * n} = 1\n", "a long comment": lambda n: f"# {'a' * n * 1000}\n", "type comments": lambda n: "x = 1  # type: ignore\n" * n, "empty lines": lambda n: "\n" * n * 100, "a long docstring": lambda n: f'"""{"a " * n * 100}"""\n', "a long line of texts": lambda n: "x = [" + "'a', " * n * 10 + "]\n", "a long dict": lambda n: "x = {" + "'a': 1, " * n * 10 + "}\n", "returns": lambda n: "def f(a):\n" + "".join(f"    if a == {i}: return {i}\n" for i in range(n)) + "x = f(input())\n",
    "layers": lambda n: "import torch\nm = torch.nn.Sequential(" + "torch.nn.Linear(3, 3), " * n + ")\nm(torch.zeros(2, 3))\n", "yields": lambda n: "def g():\n" + "    yield 1\n" * n + "x = list(g())\n", "nested yields": lambda n: "def g0():\n    yield 1\n" + "".join(f"def g{i}():\n    yield from g{i - 1}()\n" for i in range(1, n)) + f"x = list(g{n - 1}())\n", "continued lines": lambda n: "x = 1 \\\n" + "+ 1 \\\n" * n + "+ 1\n", "a format of formats": lambda n: "x = '" + "{:" * n + "}" * n + "'.format(1)\n", "keys": lambda n: "x = {}\n" + "".join(f"x[{i}] = {{}}\nx = x[{i}]\n" for i in range(n)), "nonlocals": lambda n: "".join(f"{' ' * i}def f{i}():\n{' ' * i} x{i} = 1\n" for i in range(n)) + " " * n + "return " + " + ".join(f"x{i}" for i in range(n)) + "\n",
}
BYTES: tuple[Callable[[random.Random], bytes], ...] = (
    lambda r: bytes(r.randrange(256) for _ in range(r.randrange(1, 4000))), lambda r: b"\x00" * r.randrange(1, 5000), lambda r: b"x = 1\n" + b"\x00" * r.randrange(1, 90) + b"\ny = 2\n", lambda r: b"\xef\xbb\xbf" * r.randrange(1, 5) + b"x = %d\n" % r.randrange(99999), lambda r: f"x = {r.randrange(99999)}\n".encode(r.choice(["utf-16", "utf-32", "utf-16-be", "utf-7", "cp037"])), lambda r: f"# -*- coding: {r.choice(['nonsense', 'utf-16', 'rot13', 'hex', 'base64', 'zip', 'idna', 'punycode', 'unicode_escape', 'raw_unicode_escape', 'utf-7', 'latin-1', 'cp1252', 'undefined', 'mbcs', 'utf-8-sig'])} -*-\nx = '\xe9' * {r.randrange(9999)}\n".encode("latin-1"),
    lambda r: f"x = '{chr(0xD800 + r.randrange(2048))}'\n".encode("utf-8", "surrogatepass"), lambda r: f"x = '\\ud{r.randrange(800, 899)}'\nprint(x)\nopen(x)\n{AFTER}".encode(), lambda r: f"x{chr(r.randrange(0x300, 0x2000))} = {r.randrange(99)}\n".encode(), lambda r: f"x = 1{chr(r.choice([0xa0, 0x2028, 0x2029, 0x200b, 0xfeff, 0x85, 0x0c, 0x1a, 0x202e]))}\ny = {r.randrange(99999)}\n".encode(), lambda r: b"x = 1\r" * r.randrange(1, 3000), lambda r: b"\t \t x = 1\n" * r.randrange(1, 900), lambda r: b"def f(:\n" * r.randrange(1, 3000), lambda r: b"'" * r.randrange(1, 9999), lambda r: b'"""' * (2 * r.randrange(1, 3000) + 1), lambda r: b"\\" * r.randrange(1, 9999), lambda r: b"\\\n" * r.randrange(1, 9999), lambda r: b"#" * r.randrange(1, 2_000_000), lambda r: b";" * r.randrange(1, 9999), lambda r: b"@" * r.randrange(1, 9999), lambda r: b"\n" * r.randrange(1, 900_000), lambda r: b" " * r.randrange(1, 900_000) + b"x = 1",
    lambda r: b"".join(bytes([r.choice(b"()[]{}:,.=+-*/%@!<>~^&| \n\t'\"#\\;0a")]) for _ in range(r.randrange(5, 3000))), lambda r: " ".join(r.choice(WORDS) for _ in range(r.randrange(5, 900))).encode(), lambda r: "\n".join(" " * r.randrange(4) + r.choice(WORDS) for _ in range(r.randrange(5, 900))).encode(), lambda r: b"PK\x03\x04" + bytes(r.randrange(256) for _ in range(900)), lambda r: b"\x7fELF" + bytes(r.randrange(256) for _ in range(900)), lambda r: b"\xa7\r\r\n" + bytes(r.randrange(256) for _ in range(900)), lambda r: b'{"cells": ' * r.randrange(1, 5000), lambda r: b"x = " + b"9" * r.randrange(4000, 9999) + b"\n", lambda r: f"from __future__ import {r.choice(['braces', 'annotations', 'nothing', 'barry_as_FLUFL'])}\nx = 1 <> {r.randrange(99999)}\n".encode(), lambda r: f"print {r.randrange(99999)}\nexec 'x = 1'\n".encode(), lambda r: f"x = 0{r.randrange(9999)}L\n".encode(), lambda r: f"return {r.randrange(9999)}\nyield 1\nbreak\nawait x\n".encode(), lambda r: f"nonlocal x{r.randrange(9999)}\n".encode(), lambda r: f"def f(a, a={r.randrange(9999)}): global a\n".encode(), lambda r: f"x = {r.randrange(9999)}\n__debug__ = None = True = 1\n".encode(), lambda r: f"*x = {r.randrange(9999)}\n(a, *b, *c) = 1\n".encode(), lambda r: f"class C:\n\tx = 1\n        y = {r.randrange(9999)}\n".encode(),
)
WORDS = "if else for while def class return yield lambda async await try except finally with as from import global nonlocal del pass break continue not and or is in None True match case type x y f 1 2 0.5 'a' ( ) [ ] { } : , . = == += -> := * ** @ % ... ; +".split()  # noqa: SIM905


def _numbers(r: random.Random) -> dict[str, str]:
    power = r.randrange(9, 40)
    letters = [r.choice("abcijk.,->... *()1 ") for _ in range(r.randrange(2, 60))]
    return {
        "N": r.choice([f"10**{power}", str(10**power), str(r.randrange(10**8, 10**power)), f"2**{r.randrange(30, 70)}", f"(1 << {r.randrange(30, 90)})"]),
        "N3": str(r.randrange(999, 99999)), "M": str(r.randrange(900, 90_000)), "W": str(r.randrange(10**7, 10**10)), "K": str(r.randrange(3, 12)), "S": str(r.randrange(3, 99_999)),
        "E": "".join(letters).replace("'", ""), "D": ".".join(["a"] * r.randrange(30, 3000)),
    }


def _filled(row: str, r: random.Random) -> str:
    """A row with numbers in its places; braces stand there twice, as in a format."""
    numbers = _numbers(r)
    text = re.sub(r"\{(N3|[NMWKSED])\}", lambda found: numbers[found[1]], row)
    return text.replace("{{", "{").replace("}}", "}")


def _placed(r: random.Random, act: str) -> str:
    place = r.choice(PLACES)
    return HEAD + place.replace("{act}", act).replace("{inside}", indent(act, "    ")).replace("{deep}", indent(act, " " * 8)) + AFTER


def _of(rows: tuple[str, ...]) -> Callable[[random.Random, int], str]:
    return lambda r, i: _placed(r, _filled(rows[i % len(rows)], r))


def _doubled(r: random.Random, i: int) -> str:
    first, step = (_filled(part, r) for part in DOUBLED[i % len(DOUBLED)])
    asked = "\n".join(_filled(r.choice(ASKED), r) for _ in range(r.randrange(1, 4)))
    loop = r.choice(["for i in range({}):\n    {}", "i = 0\nwhile i < {}:\n    {}\n    i += 1", "for i in [0] * {}:\n    {}", "for i in range({}):\n    if random.random() < 0.5:\n        {}", "def f(x):\n    for i in range({}):\n        {}\n    return x\nx = f(x)"])
    return _placed(r, f"x = {first}\n{loop.format(r.randrange(24, 4000), step)}\n{asked}")


def _searched(r: random.Random, i: int) -> str:
    pattern, text = PATTERNS[i % len(PATTERNS)]
    count = r.choice([r.randrange(20, 60), r.randrange(60, 900), r.randrange(900, 90_000)])
    made = r.choice([f"('{text}' * {count})", f"('{text}' * {count} + '!')", f"''.join('{text}' for _ in range({count}))", repr(text * min(count, 90) + "!")])
    return _placed(r, r.choice(SEARCHES).format(P=f"'{pattern}'", T=made))


def _dunder(r: random.Random, i: int) -> str:
    head, given, use = (_filled(part, r) for part in DUNDERS[i % len(DUNDERS)])
    base = r.choice(["", "(int)", "(list)", "(dict)", "(torch.nn.Module)", "(torch.Tensor)", "(str)", "(tuple)", "(Exception)", "(object)"])
    wrapped = r.choice(["y = {}", "try:\n    y = {}\nexcept RecursionError:\n    y = 1", "y = [{} for i in range(3)]", "f = lambda: {}\ny = f()"])
    return _placed(r, f"class C{base}:\n    def {head}:\n        return {given}\nx = C()\n{wrapped.format(use)}")


def _nested(r: random.Random, i: int) -> str:
    name = list(NESTED)[i % len(NESTED)]
    return NESTED[name](r.choice([r.randrange(60, 101), r.randrange(101, 1500), r.randrange(1500, 9000), 5000]))


KINDS: dict[str, Callable[[random.Random, int], str | bytes]] = {
    "doubled": _doubled, "large": _of(LARGE), "torch": _of(TORCH), "searched": _searched, "endless": _of(ENDLESS), "dunders": _dunder, "classes": _of(CLASSES), "acts": _of(ACTS), "nested": _nested,
    "bytes": lambda r, i: BYTES[i % len(BYTES)](r),
}


def sources(count: int, seed: int = 0) -> Iterator[tuple[str, str | bytes]]:
    """So many distinct programs: the kind and the text of each."""
    drawn, seen = random.Random(seed), set[str | bytes]()
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        while (source := KINDS[kind](drawn, number // len(KINDS))) in seen:
            pass
        seen.add(source)
        yield kind, source
