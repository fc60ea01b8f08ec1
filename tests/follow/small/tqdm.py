# == a bar over a list
from tqdm import tqdm, trange
rows = []
for i in tqdm([2, 3, 5], desc="x"):
    rows.append(i)
n = len(tqdm(range(7)))
for j in trange(3):
    rows.append(j)

# == a bar that is kept
from tqdm.auto import tqdm
bar = tqdm(range(3))
total = 0
for i in bar:
    total += i
    bar.set_postfix(loss=total)
bar.close()
with tqdm(total=10) as p:
    p.update(3)
del bar, p
out = [(i, x) for i, x in enumerate(tqdm(["a", "b"]))]
tqdm.write("done")

# == the module
import tqdm
a = [x for x in tqdm.tqdm([1, 2])]
b = list(tqdm.trange(2))
