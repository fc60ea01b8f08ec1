# == chain
from itertools import chain
a = list(chain([1, 2], (3,)))
b = list(chain.from_iterable([[1], [2, 3]]))

# == product
from itertools import product
a = list(product([1, 2], 'ab'))
b = list(product(range(2), repeat=3))

# == zip_longest
from itertools import zip_longest
a = list(zip_longest([1, 2, 3], 'a', fillvalue='-'))

# == islice
from itertools import islice
it = iter([2, 3, 5, 7, 11])
a = list(islice(it, 2))
b = next(it)
c = list(islice([1, 2, 3, 4], 1, None, 2))

# == repeat
from itertools import repeat
a = list(repeat(7, 3))

# == accumulate
from itertools import accumulate
a = list(accumulate([1, 2, 3]))
b = list(accumulate([2, 3, 5], lambda x, y: x * y, initial=1))

# == pairwise
from itertools import pairwise
a = list(pairwise([784, 128, 10]))

# == combinations
import itertools
a = list(itertools.combinations([1, 2, 3], 2))
b = list(itertools.permutations('ab'))

# == starmap
from itertools import starmap
a = list(starmap(pow, [(2, 3), (3, 2)]))

# == takewhile
import itertools as it
a = list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1]))
b = list(it.dropwhile(lambda x: x < 3, [1, 2, 3, 1]))
c = list(it.filterfalse(lambda x: x % 2, range(5)))

# == compress
from itertools import compress
a = list(compress('abc', [1, 0, True]))

# == tee
from itertools import tee
a, b = tee(iter([1, 2]))
c = list(a)
d = list(b)

# == layers
from itertools import chain, pairwise
import torch
from torch import nn
sizes = [5, 7, 3]
net = nn.Sequential(*chain.from_iterable((nn.Linear(i, o), nn.ReLU()) for i, o in pairwise(sizes)))
out = net(torch.zeros(2, 5))

# == cycle
from itertools import cycle
import torch
_it = cycle([torch.zeros(2, 3), torch.zeros(2, 3)])
x = next(_it)
y = next(_it)

# == count
from itertools import count
some = next(count(5))
for some_i in count():
    if some_i == 3:
        break
