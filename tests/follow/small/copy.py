# == deep
import copy
a = [[1, 2], {'x': [3]}]
b = copy.deepcopy(a)
b[0].append(5)
b[1]['x'].append(7)
c = a is b

# == shallow
import copy
a = [[1], 2]
b = copy.copy(a)
b.append(3)
b[0].append(4)

# == sharing is kept
from copy import deepcopy
x = [1]
a = [x, x]
b = deepcopy(a)
b[0].append(2)
c = b[1]
d = b[0] is b[1]

# == objects
from copy import deepcopy, copy
class A:
    def __init__(self):
        self.v = [1]
a = A()
b = deepcopy(a)
c = copy(a)
b.v.append(2)
c.v.append(3)
x = a.v
y = b.v

# == cycles
from copy import deepcopy
class N:
    pass
n = N()
n.me = n
n.k = 3
m = deepcopy(n)
a = m.me is m
b = m.me.k
c = m is n

# == modules
import copy
import torch
from torch import nn
layer = nn.Linear(3, 5)
net = nn.ModuleList([copy.deepcopy(layer) for _ in range(2)])
out = net[1](torch.zeros(2, 3))
n = len(net)

# == hooks of what is copied
import copy
import torch
from torch import nn
class Seen(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7))
        self.hidden = {}
        self.net[0].register_forward_hook(self.hook)
    def hook(self, module, given, result):
        self.hidden["x"] = result
    def forward(self, x):
        self.hidden.clear()
        self.net(x)
        return self.hidden["x"]
first = Seen()
second = copy.deepcopy(first)
a = second(torch.ones(2, 3))
b = (len(first.hidden), len(second.hidden))
del first, second
