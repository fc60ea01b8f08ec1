# == paths
import os
a = os.path.join("a", "b", "c.txt")
b = os.path.basename(a)
c = os.path.splitext(b)
d = os.path.dirname(a)
some = os.path.exists(a)
if not os.path.exists("/nowhere"):
    os.makedirs("/tmp/some_folder", exist_ok=True)
e = os.sep

# == the environment
import os
os.environ["MINE"] = "3"
a = int(os.environ["MINE"])
some_b = os.environ.get("OTHER", "7")
some_c = int(os.getenv("RANK", 0))
if "CUDA_VISIBLE_DEVICES" in os.environ:
    print("gpu")
d = os.environ.get("MINE", "x")

# == pathlib
from pathlib import Path
p = Path("data") / "train"
q = p.joinpath("x.tar.gz")
a = str(p)
b = (q.name, q.stem, q.suffix, q.parts)
c = str(q.parent)
d = q.with_suffix(".zip").name
some = q.exists()
if not q.exists():
    e = 3
else:
    e = 3
f = p == Path("data/train")
import os
g = os.path.join(p, "y")
for some_file in Path("/nowhere").glob("*.txt"):
    pass

# == the command line
import sys
n = len(sys.argv)
lr = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
sys.path.append("..")
big = sys.maxsize

# == time and chance
import time, random
random.seed(0)
some_t = time.time()
some_x = random.random()
some_i = random.randint(0, 5)
some_c = random.choice([2, 3, 5])
some_s = random.sample([2, 3, 5], 2)
rows = [7, 7, 7]
random.shuffle(rows)
some_d = time.time() - some_t
some_k = random.choices("ab", k=3)
n = len(some_k)
time.sleep(0)

# == choosing a tensor
import random
import torch
batches = [torch.zeros(2, 3), torch.ones(2, 3)]
x = random.choice(batches)
random.shuffle(batches)
y = batches[0] + 1

# == what changes nothing
import logging, warnings, gc, uuid, tempfile, shutil, hashlib, inspect, textwrap, signal, struct, datetime
logger = logging.getLogger(__name__)
logging.basicConfig(level=logging.INFO)
losses = [2, 3]
logger.info("losses %s", losses)
warnings.filterwarnings("ignore")
gc.collect()
some_id = uuid.uuid4()
some_now = datetime.datetime.now()
print(losses)
n = len(losses)
del logger

# == other libraries that change nothing
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
losses = [2.0, 3.0]
fig, ax = plt.subplots(figsize=(3, 3))
ax.plot(losses, label="x")
_line, = ax.plot(losses)
ax.legend()
plt.close(fig)
n = len(losses)
del fig, ax

# == heaps and places in lists
import heapq, bisect
h = [5, 3, 7]
heapq.heapify(h)
heapq.heappush(h, 1)
a = heapq.heappop(h)
b = heapq.nlargest(2, [1, 9, 4])
c = heapq.nsmallest(1, [(2, "x"), (1, "y")])
d = bisect.bisect_left([1, 3, 5], 3)
e = [1, 5]
bisect.insort(e, 3)
del h

# == threads
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    a = list(pool.map(lambda x: x * 2, [1, 2, 3]))
    b = pool.submit(lambda x: x + 1, 4).result()
    c = pool.submit(pow, base=2, exp=3).result(timeout=9)
del pool

# == a pool's arguments by name
from multiprocessing.pool import ThreadPool
with ThreadPool(2) as pool:
    a = pool.map(func=len, iterable=["ab", "c"], chunksize=1)
    b = pool.starmap(func=pow, iterable=[(2, 3), (3, 2)])
    c = list(pool.imap(len, ["ab", "c"], chunksize=2))
del pool
