# == lists that get longer in long loops
import random
import torch
once, twice, nested, all_of_them = [], [torch.zeros(5)], [], []
for i in range(500):
    x = random.random()
    y = x * 2
    once.append((y, i))
    twice += [torch.zeros(5)]
    twice.append(torch.zeros(5))
    for _ in range(3):
        nested.append(torch.zeros(7))
    all_of_them.extend([x, y])
a = torch.stack(twice)
b = torch.stack(nested)
c = (len(once), len(all_of_them))
copies = []
for x, i in once:
    y = x + i
    z = y * 2
    copies.append(z)
d = torch.zeros(len(copies), 3)
some_rows = [i for i in range(500) if random.random() > 0.5]
kept, taken, back = [], list(range(40)), []
for i in range(500):
    x = random.random()
    y = x * 2
    if y > 0.5:
        kept.append(y)
    back.append(x)
    if i % 2:
        back.pop()
some_kept = len(kept)
some_back = len(back)
until = []
for i in range(500):
    x = random.random()
    y = x * 2
    until.append(y)
    if y > 1.5:
        break
some_until = len(until)
del once, twice, nested, all_of_them, copies, kept, taken, back, until, some_rows, i, x, y, z, _

# == generators with an end
import random
import torch
def make(n, rng):
    for _ in range(n):
        words = []
        for _ in range(rng.randint(3, 9)):
            words.append(rng.choice(["a", "b"]))
        text = " ".join(words)
        yield text, 1.0
given = make(200, random.Random(0))
first = len(next(given))
rows = list(make(200, random.Random(0)))
a = torch.zeros(len(rows), 2)
b = torch.zeros(len(rows[:160]), 2)
some_left = len(list(given))
del rows, given
