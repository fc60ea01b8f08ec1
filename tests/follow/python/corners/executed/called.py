# == map
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
list(map(s.up, unknown))
n = s.n
# == map known
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
list(map(s.up, [1,2]))
n = s.n
# == sorted
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
sorted(unknown, key=s.up)
n = s.n
# == filter
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
list(filter(s.up, unknown))
n = s.n
# == reduce
import json, os
import functools
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
functools.reduce(s.up, unknown)
n = s.n
# == any
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
any(s.up(x) for x in unknown)
n = s.n
# == comp
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
[s.up(x) for x in unknown]
n = s.n
# == dictcomp
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
{k: s.up(k) for k in unknown}
n = s.n
# == apply
import json, os
from torch import nn
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
nn.Sequential(nn.Linear(3,4), nn.ReLU()).apply(s.up)
n = s.n
# == collate
import json, os
import torch
from torch.utils.data import DataLoader, Dataset
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
def collate(b):
    s.up()
    return torch.zeros(2)
for b in DataLoader(list(range(6)), 2, collate_fn=collate): pass
n = s.n
# == getitem
import json, os
import torch
from torch.utils.data import DataLoader, Dataset
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
class D(Dataset):
    def __len__(self): return 6
    def __getitem__(self, i):
        s.up()
        return torch.zeros(3)
for b in DataLoader(D(), 2): pass
n = s.n
# == closure
import json, os
import torch
from torch import nn
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
p = nn.Parameter(torch.zeros(3))
opt = torch.optim.LBFGS([p])
def closure():
    s.up()
    opt.zero_grad()
    l = (p - 1).pow(2).sum()
    l.backward()
    return l
opt.step(closure)
n = s.n
# == checkpoint
import json, os
import torch
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
from torch.utils.checkpoint import checkpoint
def f(x):
    s.up()
    return x * 2
x = torch.zeros(3, requires_grad=True)
checkpoint(f, x, use_reentrant=False).sum().backward()
n = s.n
# == vmap
import json, os
import torch
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
torch.func.vmap(lambda x: (s.up(), x * 2)[1])(torch.zeros(4, 3))
n = s.n
# == grad
import json, os
import torch
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
torch.func.grad(lambda x: (s.up(), x.sum())[1])(torch.zeros(3))
n = s.n
# == jacobian
import json, os
import torch
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
torch.autograd.functional.jacobian(lambda x: (s.up(), x.sum())[1], torch.zeros(3))
n = s.n
# == lambda lr
import json, os
import torch
from torch import nn
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
opt = torch.optim.SGD([nn.Parameter(torch.zeros(3))], 0.1)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: (s.up(), 1.0)[1])
for _ in range(3):
    opt.step(); sch.step()
n = s.n
# == vectorize
import json, os
import numpy as np
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
np.vectorize(s.up)(np.arange(4))
n = s.n
# == along
import json, os
import numpy as np
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
np.apply_along_axis(s.up, 0, np.zeros((2, 3)))
n = s.n
# == fromfunction
import json, os
import numpy as np
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
np.fromfunction(s.up, (2, 3))
n = s.n
# == hook tensor
import json, os
import torch
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
x = torch.zeros(3, requires_grad=True)
x.register_hook(lambda g: s.up())
(x * 2).sum().backward()
n = s.n
# == backward hook
import json, os
import torch
from torch import nn
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
m = nn.Linear(3, 4)
m.register_full_backward_hook(lambda *a: s.up())
m(torch.zeros(2, 3)).sum().backward()
n = s.n
# == state hook
import json, os
from torch import nn
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
m = nn.Linear(3, 4)
m.register_load_state_dict_post_hook(lambda *a: s.up())
m.load_state_dict(m.state_dict())
n = s.n
# == partial
import json, os
import functools
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
functools.partial(s.up)()
n = s.n
# == getattr
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
getattr(s, os.environ.get('K', 'up'))()
n = s.n
# == methodcaller
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
import operator; operator.methodcaller('up')(s)
n = s.n
# == dict call
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
{'a': s.up}[os.environ.get('K', 'a')]()
n = s.n
# == list call
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
[f() for f in [s.up]]
n = s.n
# == random choice
import json, os
import random
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
random.choice([s.up])()
n = s.n
# == del
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
class X:
    def __del__(self): s.up()
x = X(); del x
n = s.n
# == context
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
from contextlib import ExitStack
with ExitStack() as e:
    e.callback(s.up)
n = s.n
# == property
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
class P:
    @property
    def v(self): return s.up(1)
getattr(P(), os.environ.get('K', 'v'))
n = s.n
# == format
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
class F:
    def __str__(self): s.up(); return "a"
    __repr__ = __str__
str(F()); f"{F()}"; print(F()); "%s" % F()
n = s.n
# == json default
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
json.dumps({'a': s}, default=lambda o: s.up(1))
n = s.n
# == sort method
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
unknown.sort(key=s.up)
n = s.n
# == min key
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
min(unknown, key=s.up)
n = s.n
# == class decorator
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
def deco(c):
    s.up()
    return c
@deco
class Z: pass
n = s.n
# == init_subclass
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
class Base:
    def __init_subclass__(cls): s.up()
class Derived(Base): pass
n = s.n
# == groupby
import json, os
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
import itertools
[k for k, g in itertools.groupby(unknown, key=s.up)]
n = s.n
# == worker_init
import json, os
import torch
from torch.utils.data import DataLoader, Dataset
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
for b in DataLoader(list(range(6)), 2, sampler=torch.utils.data.SubsetRandomSampler([0, 1, 2])): s.up()
n = s.n
# == transform
import json, os
import torch
from torch.utils.data import DataLoader, Dataset
class S:
    def __init__(self): self.n = 0
    def up(self, *a, **k):
        self.n += 1
        return a[0] if a else None
s = S()
unknown = json.loads(os.environ.get("NO_SUCH_LIST", "[3, 4]"))
class T(Dataset):
    def __init__(self, tf): self.tf = tf
    def __len__(self): return 4
    def __getitem__(self, i): return self.tf(torch.zeros(3))
ds = T(s.up)
x = ds[0]
for b in DataLoader(ds, 2): pass
n = s.n
