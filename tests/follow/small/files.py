# == a checkpoint in a new directory
import os, tempfile, torch
from torch import nn
config = {"a": 3, "b": 5, "names": ["x", "y"], "t": (2, 7)}
model = nn.Linear(config["a"], config["b"])
with tempfile.TemporaryDirectory() as some_td:
    torch.save({"config": config, "state": model.state_dict(), "step": 11}, os.path.join(some_td, "m.pt"))
    ck = torch.load(os.path.join(some_td, "m.pt"), weights_only=False)
    config["names"].append("z")
    ck["config"]["a"] = 13
    again = torch.load(some_td + "/m.pt", map_location="cpu")
    w = again["state"]["weight"]
    n = again["config"]["a"], len(again["config"]["names"]), again["config"]["t"], again["step"], len(ck["state"])
    same = ck["state"] is again["state"]
    keys = list(again["state"].keys())

# == what is loaded is another copy each time
import os, tempfile, torch
with tempfile.TemporaryDirectory() as some_td:
    p = os.path.join(some_td, "m.pt") + ""
    a = {"x": torch.zeros(2, 3)}
    torch.save(a, p)
    a["x"].unsqueeze_(0)
    a["y"] = 3
    b = torch.load(p)
    b["x"].resize_(7, 1) if False else b["x"].unsqueeze_(-1)
    b["z"] = 5
    c = torch.load(p)
    del some_td, p

# == paths as objects and in strings
import os, tempfile, torch
from pathlib import Path
with tempfile.TemporaryDirectory() as some_td:
    out = Path(some_td)
    (out / "sub").mkdir()
    for step in range(3):
        torch.save(torch.zeros(step + 2, 3), out / "sub" / f"s_{step}.pt")
        torch.save(torch.zeros(step + 2, 5), f"{some_td}/t_{step:03d}.pt")
        torch.save(torch.zeros(step + 2, 7), os.path.join(some_td, "u_%d.pt" % step))
        torch.save(torch.zeros(step + 2, 11), str(out.joinpath("v_{}.pt".format(step))))
    a = torch.load(out / "sub" / "s_1.pt")
    b = torch.load(os.path.join(some_td, "t_002.pt"))
    c = torch.load(out / "u_0.pt")
    d = torch.load(f"{out}/v_2.pt")
    e = torch.load((out / "v_2").with_suffix(".pt"))
    f = torch.load(os.path.join(out, "sub//./s_0.pt"))
    g = (out / "sub" / "s_1.pt").name, os.path.basename(f"{out}/v_2.pt"), (out / "v.pt").stem
    h = torch.load((out / "sub" / "s_1.pt").parent.parent / "v_0.pt")
    some_same = (out / "a") == (out / "a")
    del out

# == two directories
import tempfile, torch
a, b = tempfile.mkdtemp(), tempfile.mkdtemp()
torch.save(torch.zeros(3), a + "/x.pt")
torch.save(torch.zeros(5), b + "/x.pt")
x, y = torch.load(a + "/x.pt"), torch.load(b + "/x.pt")
del a, b

# == overwritten in one way
import random, tempfile, torch
with tempfile.TemporaryDirectory() as some_td:
    torch.save(torch.zeros(3, 2), some_td + "/x.pt")
    if random.random() < 2:
        torch.save(torch.zeros(5, 2), some_td + "/x.pt")
    some_x = torch.load(some_td + "/x.pt")
    some_r = some_x[0]
    n = some_x.shape[1]

# == written in one way alone
import random, tempfile, torch
with tempfile.TemporaryDirectory() as some_td:
    if random.random() < 2:
        torch.save(torch.zeros(5, 2), some_td + "/x.pt")
    x = torch.load(some_td + "/x.pt")
    if random.random() < 2:
        torch.save(torch.zeros(7, 2), f"{some_td}/{'x' if random.random() < 2 else 'y'}.pt")
    some_x = torch.load(some_td + "/x.pt")

# == an unknown name may be any
import random, tempfile, torch
with tempfile.TemporaryDirectory() as some_td:
    torch.save(torch.zeros(3), some_td + "/x_3.pt")
    torch.save(torch.zeros(5), some_td + "/best.pt")
    some_n = random.randint(3, 3)
    torch.save(torch.zeros(7), f"{some_td}/x_{some_n}.pt")
    some_x = torch.load(some_td + "/x_3.pt")
    best = torch.load(some_td + "/best.pt")
    some_name = some_td + "/" + random.choice(["best.pt"])
    torch.save(torch.zeros(11), some_name)
    some_best = torch.load(some_td + "/best.pt")

# == in a loop
import random, tempfile, torch
with tempfile.TemporaryDirectory() as some_td:
    some_least, path = 3.0, some_td + "/best.pt"
    some_x = torch.zeros(2, 3)
    for epoch in range(random.randint(30, 31)):
        some_loss = random.random()
        if some_loss < some_least:
            some_least = some_loss
            torch.save({"x": some_x, "epoch": epoch, "y": torch.zeros(5)}, path)
        some_x = torch.cat([some_x, torch.zeros(1, 3)])
    some_ck = torch.load(path)
    y = some_ck["y"]
    some_epoch = some_ck["epoch"]
    some_rows = some_ck["x"]
    del path, epoch

# == a directory in each round
import random, tempfile, torch
some_last, some_paths = None, []
for some_k in range(random.randint(40, 41)):
    some_d = tempfile.mkdtemp()
    torch.save(torch.zeros(some_k + 1, 3), some_d + "/x.pt")
    some_paths.append(some_d + "/x.pt")
    if some_last is not None:
        some_before = torch.load(some_last + "/x.pt")
    some_last = some_d
some_x = torch.load(some_d + "/x.pt")
some_y = torch.load(some_paths[0])
some_z = torch.load(some_paths[-1])

# == what a loop reads of the round before
import random, tempfile, torch
some_state = torch.zeros(1, 3)
with tempfile.TemporaryDirectory() as some_td:
    torch.save(some_state, some_td + "/s.pt")
    for some_k in range(random.randint(40, 41)):
        some_state = torch.load(some_td + "/s.pt")
        some_state = torch.cat([some_state, torch.zeros(1, 3)])
        torch.save(some_state, some_td + "/s.pt")
    some_end = torch.load(some_td + "/s.pt")
    cols = some_end.shape[1]

# == a file that a function writes
import tempfile, torch
from torch import nn
class Keeper(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.path, self.linear = path, nn.Linear(3, 5)
    def save(self, n):
        torch.save(torch.zeros(n, 3), self.path)
    def forward(self, x):
        return self.linear(torch.load(self.path))
some_td = tempfile.mkdtemp()
keeper = Keeper(some_td + "/x.pt")
keeper.save(2)
a = keeper(0)
b = keeper(0)
keeper.save(7)
c = keeper(0)
c2 = keeper(0)
del keeper

# == in memory
import io, torch
from torch import nn
model = nn.Linear(3, 5)
buffer = io.BytesIO()
torch.save(model.state_dict(), buffer)
buffer.seek(0)
a = torch.load(buffer)
buffer.seek(0)
b = torch.load(buffer, map_location=torch.device("cpu"), weights_only=True)
c = torch.load(io.BytesIO(buffer.getvalue()))
other = nn.Linear(3, 5)
missing, unexpected = other.load_state_dict(c)
d = len(missing)
some_missing = len(other.load_state_dict({"weight": c["weight"]}, strict=False).missing_keys)
text = io.StringIO()
text.write("one ")
text.write("two")
t = text.getvalue()
print("three", file=text)
some_t = text.getvalue()
buffer.seek(0)
buffer.truncate()
torch.save(torch.zeros(7), buffer)
buffer.seek(0)
e = torch.load(buffer)

# == a model as it is
import io, torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
        self.register_buffer("mean", torch.zeros(7))
    def forward(self, x):
        return self.body(x)
net = Net()
buffer = io.BytesIO()
torch.save({"net": net, "p": nn.Parameter(torch.zeros(11))}, buffer)
net.body.append(nn.Linear(5, 13))
buffer.seek(0)
found = torch.load(buffer, weights_only=False)
twin = found["net"]
y = twin(torch.zeros(2, 3))
z = net(torch.zeros(2, 3))
n = len(list(twin.parameters())), len(twin.state_dict())
some_grad = found["p"].requires_grad, twin.mean.requires_grad
del found, twin, net

# == objects that save themselves
import io, torch
class Odd:
    def __init__(self):
        self.n = 3
    def __getstate__(self):
        return {"n": 5}
buffer = io.BytesIO()
torch.save([Odd()], buffer)
buffer.seek(0)
some_n = torch.load(buffer, weights_only=False)[0].n

# == parts that may not be there
import io, random, torch
state = {"a": torch.zeros(3)}
if random.random() < 2:
    state["b"] = torch.zeros(5)
buffer = io.BytesIO()
torch.save(state, buffer)
buffer.seek(0)
some_state = torch.load(buffer)
some_has = "b" in some_state
some_not = "b" not in some_state
a = some_state["a"]
del state
import copy
some_copied = "b" in copy.deepcopy(some_state)

# == state dicts that are changed on the way
import io, torch
from torch import nn
model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7))
buffer = io.BytesIO()
torch.save({f"module.{k}": v for k, v in model.state_dict().items()}, buffer)
buffer.seek(0)
found = {k.replace("module.", ""): v for k, v in torch.load(buffer).items()}
keys = sorted(found)
some_result = model.load_state_dict(found)
head = {k: v for k, v in found.items() if k.startswith("0.")}
n = len(head)
some_missing = model.load_state_dict(head, strict=False)[0]

# == json
import json, tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
@dataclass
class Config:
    a: int = 3
    names: tuple = ("x", "y")
    scale: float = 0.5
    inner: dict = None
config = Config(inner={1: 2, None: [True]})
out = Path(tempfile.mkdtemp())
(out / "config.json").write_text(json.dumps(config.__dict__))
a = json.loads((out / "config.json").read_text())
config.a = 7
with open(out / "config.json", "w") as some_f:
    json.dump(asdict(config), some_f, indent=2)
with open(out / "config.json") as some_f:
    b = json.load(some_f)
c = json.loads(open(out / "config.json").read())
text = json.dumps({"b": [1, 2.5, "x"], "a": (None, True)}, sort_keys=True)
del out, some_f

# == json of what is known in parts
import json, random, time, tempfile
from pathlib import Path
out = Path(tempfile.mkdtemp())
some_state = {"time": time.time(), "sizes": (3, 5), "n": {7: random.random()}}
(out / "s.json").write_text(json.dumps(some_state))
found = json.loads((out / "s.json").read_text())
sizes = found["sizes"]
keys = list(found), list(found["n"])
sizes.append(11)
again = json.loads((out / "s.json").read_text())["sizes"]
text = json.loads(json.dumps(some_state))["sizes"]
del out, found
some_x = json.loads(json.dumps({"x": {3, 5}}, default=sorted))["x"]

# == texts
import os, tempfile
from pathlib import Path
folder = tempfile.mkdtemp()
path = os.path.join(folder, "words.txt")
with open(path, "w", encoding="utf-8") as some_f:
    some_f.write("one two\n")
    some_n = some_f.write("three\n")
a = open(path).read()
words = a.split()
with open(path) as some_f:
    some_lines = [line.strip() for line in some_f]
some_first = open(path).readline()
with open(path, "a") as some_f:
    some_f.write("four")
some_all = Path(path).read_text()
Path(path).write_text("five")
b = Path(path).read_text()
there = os.path.exists(path), os.path.isfile(path), Path(path).exists()
os.rename(path, path + ".old")
c = open(path + ".old").read()
some_there = os.path.exists(path)
with open(path, "w") as some_f:
    print("six", file=some_f)
some_d = open(path).read()
with open(path, "w") as some_f:
    some_f.write("a\r\nb")
some_e = open(path).read()
with open(path, "wb") as some_f:
    some_f.write(b"seven")
e = open(path, "rb").read()
some_e = open(path).read()
import shutil
shutil.copyfile(path + ".old", path)
g = open(path).read()
Path(path).write_text("eight")
some_folder = str(shutil.copytree(folder, folder + "2"))
shutil.copy(some_folder + "/words.txt", folder)
some_g = open(path).read()
Path(path).write_text("nine")
os.system("true")
some_h = Path(path).read_text()
Path(path).write_text("ten")
import csv
with open(path, "w", newline="") as some_w:
    some_w.write("a,b\n")
    csv.writer(some_w).writerow([3, 5])
some_i = open(path).read()
del folder, path, some_w, some_f

# == a file that is removed
import os, tempfile
from pathlib import Path
p = Path(tempfile.mkdtemp()) / "x.txt"
p.write_text("one")
p.unlink()
some_there = p.exists()
try:
    some_text = p.read_text()
except FileNotFoundError:
    some_text = "none"
p.write_text("two")
os.remove(p)
some_there_2 = os.path.exists(p)
del p

# == pickle
import io, os, pickle, tempfile, torch
from torch import nn
folder = tempfile.mkdtemp()
state = {"x": torch.zeros(3, 5), "k": [7, (11, 13)], "t": nn.Linear(3, 5).state_dict()}
with open(folder + "/s.pkl", "wb") as some_f:
    pickle.dump(state, some_f)
with open(folder + "/s.pkl", "rb") as some_f:
    a = pickle.load(some_f)
b = pickle.loads(pickle.dumps(state))
b["k"].append(17)
c = pickle.load(io.BytesIO(pickle.dumps(state)))
buffer = io.BytesIO()
pickle.dump(3, buffer)
pickle.dump(state, buffer)
buffer.seek(0)
some_d = pickle.load(buffer)
some_e = pickle.load(buffer)
del folder, some_f

# == arrays
import os, tempfile
import numpy as np
folder = tempfile.mkdtemp()
np.save(os.path.join(folder, "x"), np.zeros((3, 5)))
np.save(os.path.join(folder, "y.npy"), [7, 11])
np.savez(folder + "/z.npz", np.zeros(13), a=np.ones((2, 3), dtype=np.float32))
x = np.load(folder + "/x.npy")
y = np.load(folder + "/y.npy")
some_z = np.load(folder + "/z.npz")
a, first = some_z["a"], some_z["arr_0"]
names = sorted(some_z.files)
n = len(some_z), "a" in some_z, "b" in some_z
rows = {k: v.shape for k, v in some_z.items()}
with np.load(folder + "/z.npz") as some_d:
    keys = sorted(list(some_d.keys()))
    each = sorted(k for k in some_d)
np.savetxt(folder + "/x.txt", x)
some_text = open(folder + "/x.txt").read()
del folder

# == streams of the program's own
import io, sys
class Tee(io.StringIO):
    def __init__(self):
        super().__init__()
        self.count = 0
    def write(self, text):
        self.count += 1
        return super().write(text)
tee = Tee()
tee.write("one")
print("two", file=tee)
some_text = tee.getvalue()
some_count = tee.count
a = io.StringIO("one\ntwo")
some_lines = [line for line in a]
b = io.BytesIO(b"abc")
c = b.read()
some_rest = b.read()
del tee, a, b

# == as many directories as nobody knows
import random, tempfile, torch
def some_folders():
    for _ in range(random.randint(2, 2)):
        yield tempfile.mkdtemp()
def some_pair():
    while True:
        yield tempfile.mkdtemp()
some_dirs = [tempfile.mkdtemp() + "/x.pt" for _ in range(random.randint(2, 2))]
torch.save(torch.zeros(3), some_dirs[0])
torch.save(torch.zeros(5), some_dirs[1])
some_x = torch.load(some_dirs[0])
some_dirs = list(some_folders())
torch.save(torch.zeros(3), some_dirs[0] + "/x.pt")
torch.save(torch.zeros(5), some_dirs[1] + "/x.pt")
some_y = torch.load(some_dirs[0] + "/x.pt")
some_source = some_pair()
some_a, some_b = next(some_source), next(some_source)
torch.save(torch.zeros(3), some_a + "/x.pt")
torch.save(torch.zeros(5), some_b + "/x.pt")
some_z = torch.load(some_a + "/x.pt")
some_dict = {k: tempfile.mkdtemp() for k in range(random.randint(2, 2))}
torch.save(torch.zeros(3), some_dict[0] + "/x.pt")
torch.save(torch.zeros(5), some_dict[1] + "/x.pt")
some_w = torch.load(some_dict[0] + "/x.pt")
del some_source
