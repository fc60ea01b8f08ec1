# == made
import numpy as np
a = np.zeros((2, 3))
b = np.ones(5, dtype=np.float32)
c = np.full((2,), 7)
d = np.arange(5)
e = np.arange(0, 1, 0.25)
f = np.linspace(0, 1, 7)
g = np.eye(3)
h = np.array([[1, 2], [3, 4]])
i = np.array([1.0, 2.0], dtype="float32")
j = np.zeros_like(h)
k = np.empty((3, 1), dtype=int)
l = np.array([True, False])
m = np.array(3.5)
n = np.arange(2, 11, 3, dtype=np.int32)
o = np.array([[1, 2.5], [3, 4]])
p = np.full((2, 2), 1.5, dtype="f4")
q = np.linspace(0, 1)
r = np.array(range(4))
s = np.array(())

# == sizes
import numpy as np
a = np.zeros((2, 3))
b = a.shape
c = a.size
d = a.ndim
e = len(a)
f = a.T
g = a.shape[1] * 2
h = a.dtype == np.float64
i = np.prod((2, 3, 5))
j = int(np.prod([1, 28, 28]))
k = int(np.sqrt(64))
l = int(np.ceil(7 / 2))
m = int(np.log2(8))

# == of another shape
import numpy as np
a = np.zeros((2, 3, 5))
b = a.reshape(6, 5)
c = a.reshape((2, -1))
d = np.reshape(a, (30,))
e = a.transpose(2, 0, 1)
f = np.transpose(a)
g = a.flatten()
h = a.ravel()
i = np.expand_dims(a, 0)
j = np.expand_dims(a, axis=-1)
k = np.squeeze(np.zeros((1, 3, 1)))
l = np.squeeze(np.zeros((1, 3, 1)), axis=0)
m = np.swapaxes(a, 0, 1)
n = np.moveaxis(a, 0, -1)
o = np.concatenate([a, a], axis=1)
p = np.concatenate((a, a))
q = np.stack([a, a])
r = np.stack([a, a], axis=-1)
s = np.vstack([np.zeros((2, 3)), np.zeros((5, 3))])
t = np.hstack((np.zeros(2), np.ones(3)))
u = np.tile(np.zeros((2, 3)), (2, 2))
v = np.repeat(np.zeros((2, 3)), 2, axis=0)
w = np.split(np.zeros((6, 2)), 3)
x = np.broadcast_to(np.zeros(3), (2, 3))
y = np.flip(a, 0)
z = np.column_stack((np.zeros(4), np.ones(4)))
aa = a.transpose((1, 0, 2))
ab = np.array_split(np.zeros(7), 3)
ac = np.atleast_2d(np.zeros(3))
ad = a.squeeze()
ae = a.swapaxes(1, 2)

# == arithmetic
import numpy as np
a = np.ones((2, 3), dtype=np.float32)
b = np.arange(3)
c = a + 1
d = a * 0.5
e = b / 2
f = b // 2
g = a + b
h = a - np.ones((2, 1))
i = -a
j = a ** 2
k = b % 2
l = 1 / a
m = 2 - b
n = b + 1.5
o = b * True
p = np.arange(3, dtype=np.int32) + np.arange(3, dtype=np.int32)
q = np.arange(3, dtype=np.int32) * 2.0
r = np.arange(3, dtype=np.int32) + np.ones(3, dtype=np.float32)
s = np.ones(3, dtype=np.uint8) + np.ones(3, dtype=np.int8)
t = np.ones(3, dtype=np.uint8) * 2
u = np.ones(3, dtype=np.uint8) / 255
v = np.ones(3, dtype=np.float16) + np.ones(3, dtype=np.float32)
some_w = np.ones(3, dtype=np.uint8) / np.float32(255)
x = np.ones(2) + [1, 2]
y = np.ones(2, dtype=np.int16) * np.ones(2, dtype=np.float16)
z = np.ones(2, dtype=bool) & np.zeros(2, dtype=bool)
a += 1

# == promotion of every pair
import numpy as np
names = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
rows = [np.ones(2, dtype=n) + np.ones(2, dtype=m) for n in names for m in names]
with_int = [np.ones(2, dtype=n) * 3 for n in names]
with_float = [np.ones(2, dtype=n) * 0.5 for n in names]
quotients = [np.ones(2, dtype=n) / np.ones(2, dtype=n) for n in names[1:] if n not in ("int8", "uint8", "int16")]
some_quotients = [np.ones(2, dtype=n) / np.ones(2, dtype=n) for n in names[:4]]
roots = [np.sqrt(np.ones(2, dtype=n)) for n in names]
sums = [np.sum(np.ones((2, 3), dtype=n), axis=0) for n in names]
means = [np.mean(np.ones((2, 3), dtype=n), axis=1) for n in names[:-2]]

# == comparing
import numpy as np
a = np.arange(5)
b = a > 2
c = a == a
d = (a > 1) & (a < 4)
e = ~b
f = np.where(b, a, 0)
g = np.where(b, 1.0, 0.0)
h = np.where(a[:, None] > a, 1.5, a)
i = np.logical_and(b, b)
j = np.maximum(a, 2)
some = np.where(b)
k = np.isnan(np.ones(3))

# == along an axis
import numpy as np
a = np.ones((2, 3, 5), dtype=np.float32)
b = a.sum()
c = a.sum(axis=0)
d = a.mean(axis=(0, 1))
e = np.max(a, axis=-1, keepdims=True)
f = a.argmax(axis=1)
g = np.argmax(a)
h = a.std(0)
i = np.arange(4).mean()
j = np.arange(4).sum()
k = (a > 0).sum()
l = (a > 0).mean(axis=0)
m = a.any()
n = np.cumsum(np.arange(4))
o = np.linalg.norm(a, axis=1)
p = np.sort(a, axis=1)
q = np.argsort(a[0], axis=1)
r = np.median(a, axis=0)
s = np.min(a, 1)
t = np.sum([1, 2, 3])
u = np.mean([1.0, 2.0])

# == items
import numpy as np
a = np.zeros((5, 3, 7))
b = a[0]
c = a[1:3]
d = a[:, 0]
e = a[..., -1]
f = a[None]
g = a[np.array([0, 2])]
h = a[[0, 1, 2], 0]
i = a[:, np.newaxis]
j = a[::2, ::-1]
k = a[0, 1, 2]
some = a[a > 0]
a[0] = 1
a[:, 1] = np.ones(7)
l = a[-1].T

# == products
import numpy as np
a, b = np.ones((2, 3)), np.ones((3, 5), dtype=np.float32)
c = a @ b
d = np.dot(a, b)
e = np.matmul(b.T, b)
f = np.einsum("ij,jk->ki", a, b)
g = np.outer(np.ones(2), np.ones(3))
h = a.dot(np.ones(3))
i = np.arange(3) @ np.arange(3)

# == one number at a time
import numpy as np
a = np.ones((2, 3), dtype=np.float32)
b = np.exp(a)
c = np.sqrt(np.arange(3))
d = np.abs(a)
e = np.clip(a, 0, 1)
f = np.sin(2 * np.pi * a)
g = np.log(a + 1e-8)
h = a.astype(np.int64)
i = a.astype("float64")
j = a.astype(int)
k = a.copy()
l = a.round(2)
m = 1 / (1 + np.exp(-a))

# == chance
import numpy as np
np.random.seed(0)
a = np.random.rand(2, 3)
b = np.random.randn(5)
c = np.random.randint(0, 10, size=(3,))
d = np.random.normal(0, 1, (2, 2))
e = np.random.uniform(size=7)
f = np.random.permutation(5)
g = np.random.choice(10, 3)
h = np.random.choice([0.5, 1.5], size=(2, 2))
np.random.shuffle(a)
rng = np.random.default_rng(0)
i = rng.random((2, 3))
j = rng.integers(0, 5, size=4)
k = rng.standard_normal((3, 1), dtype=np.float32)
l = rng.permutation(np.zeros((3, 2)))
m = np.random.random((2, 5))
n = rng.normal(size=(3,))
o = np.random.RandomState(1).rand(2)
del rng

# == from and to torch
import numpy as np
import torch
a = np.zeros((2, 3), dtype=np.float32)
b = torch.from_numpy(a)
c = torch.tensor(np.zeros((2, 3)))
d = torch.Tensor(np.zeros((2, 3)))
e = torch.ones(5, 3).numpy()
f = np.asarray(torch.ones(2))
g = torch.from_numpy(np.arange(3)).float()
h = np.array(torch.ones(2, 2))
i = torch.as_tensor(a)
j = torch.zeros(5)[np.array([0, 1])]
k = torch.tensor(np.array([1, 2, 3]))
l = torch.tensor([np.zeros(3), np.zeros(3)])
m = torch.ones(3).detach().cpu().numpy().mean()
n = torch.ones(3) * np.sqrt(2)
o = torch.FloatTensor(a)
p = torch.stack([torch.from_numpy(a), torch.from_numpy(a)])

# == loops and batches
import numpy as np
data = np.random.randn(100, 7).astype(np.float32)
order = np.random.permutation(len(data))
shapes = []
for start in range(0, 90, 30):
    batch = data[order[start:start + 30]]
    shapes.append(batch.shape)
rows = [row.sum() for row in np.ones((3, 2))]
n = len(rows)

# == what is raised
import numpy as np
try:
    np.ones((2, 3)) + np.ones((2, 4))
    a = 1
except ValueError:
    a = 2
try:
    np.ones(3)[5]
    b = 1
except IndexError:
    b = 2

# == numbers of arrays
import numpy as np
a = np.arange(5)
some_a = int(a.max())
some_b = float(a.mean())
some_c = a[0].item()
if a.sum() > 3:
    d = 1
else:
    d = 1
some_e = a.tolist()
n = len(some_e)

# == images
import numpy as np
image = np.zeros((7, 11, 3), dtype=np.uint8)
x = image.transpose(2, 0, 1).astype(np.float32) / 255.0
mean = np.array([0.5, 0.4, 0.3])
y = (image / 255.0 - mean) / mean
z = np.stack([image] * 5)
w = image[:, ::-1]
v = np.float32(image)

# == grids
import numpy as np
x, y = np.meshgrid(np.linspace(0, 1, 3), np.arange(5))
grid = np.stack([x.ravel(), y.ravel()], axis=1)

# == numbers of arrays as sizes
import numpy as np
import torch
from torch import nn
n = np.array((2, 3)).prod()
some = nn.Linear(n, 5)(torch.zeros(7, 6)).shape
some_x = torch.zeros(n, 2)
labels = np.array([0, 2, 1])
some_y = nn.Linear(3, labels.max() + 1)(torch.zeros(2, 3))
some_z = torch.arange(int(labels.max()) + 1)
some_k = [0] * len(np.unique(labels))
one_hot = np.eye(3)[labels]

# == windows of a series
import numpy as np
import torch
series = np.sin(np.linspace(0, 10, 50)).astype(np.float32)
some_xs, some_ys = [], []
for some_i in range(len(series) - 7):
    some_xs.append(series[some_i:some_i + 7])
    some_ys.append(series[some_i + 7])
some_x = torch.tensor(np.array(some_xs)).unsqueeze(-1)
mean, std = series.mean(), series.std()
series = (series - mean) / std

# == rounding
import numpy as np
a = round(3.14159, 2)
some = round(float(np.mean([1.0, 2.0])), 3)
some_b = round(float(np.mean([1.0, 2.0])))

# == padding and differences
import numpy as np
a = np.ones((2, 3), dtype=np.float32)
b = np.pad(a, 1)
c = np.pad(a, (0, 2))
d = np.pad(a, ((0, 1), (2, 3)), mode="constant")
e = np.diff(np.arange(5))
f = np.diff(a, axis=0)
some = np.unique(np.array([1, 1, 2]))
g = np.isin(np.arange(4), [1, 2])
some_h = np.argwhere(a > 0)
i = np.argsort(a, axis=None)

# == windows, and what is drawn for several parameters
import numpy as np
a = np.hanning(7) * np.hamming(M=7)
b = np.kaiser(5, 14.0)
rng = np.random.default_rng(0)
c = rng.uniform([0.0, 1.0, 2.0], 3.0)
d = rng.normal(np.zeros((5, 1)), np.ones(7))
e = rng.zipf(2.0, 11)
f = np.indices((3, 5))
yy, xx = np.indices((3, 5))
g = np.indices((3, 5), dtype=np.float32)

# == in place
import numpy as np
a = np.zeros(3, dtype=np.float32)
b = a
a += np.ones(3)
a /= 3
c = np.zeros((5, 3))
c *= np.ones(3, dtype=np.float32)
c @= np.ones((3, 3))
m = np.ones(3) > 0
m &= np.zeros(3, dtype=bool)
x = np.float64(2.0)
x += np.ones(3)
y = np.arange(3)[1]
y += 3
np.copyto(a, [3, 5, 7])

# == what is there once, and places
import numpy as np
some_words = np.array(["north", "coast", "north", "valley"])
some_levels, codes = np.unique(some_words, return_inverse=True)
a = np.stack([codes.astype(np.int64), codes], axis=1)
some_values, some_counts = np.unique(np.array([3, 5, 3]), return_counts=True)
b = np.linspace(np.log10(1 + np.asarray(3.0)), np.asarray(8.0), 42)
c = np.digitize(np.zeros((3, 5)), np.array([0.1, 0.5]))
d = np.searchsorted(np.arange(7), np.zeros((2, 3)))

# == frequencies
import numpy as np
x = np.zeros((3, 32))
a = np.abs(np.fft.rfft(x, axis=1))[:, 1:]
b = np.fft.irfft(np.fft.rfft(x, n=20))
c = np.fft.fft(x.astype(np.float32), axis=0)
d = np.fft.fftshift(np.fft.fft2(x))
e = (np.fft.fftfreq(7), np.fft.rfftfreq(8, d=0.1))
f = np.fft.rfft2(x)
g = np.fft.ifft(np.arange(5))

# == matrices, counts and sets
import numpy as np
x = np.random.rand(5, 7)
a = np.linalg.inv(np.eye(3) * 2)
b = np.linalg.pinv(x)
c = (np.linalg.solve(np.eye(3), np.ones(3)), np.linalg.solve(np.eye(3, dtype=np.float32), np.ones((3, 2), np.float32)))
d = (np.cov(x), np.cov(x, rowvar=False), np.corrcoef(x))
e = np.polyfit(np.arange(7.0), np.arange(7.0), 2)
some_f = (np.bincount(np.array([1, 2])), np.union1d(np.arange(3), np.arange(5)))
g = (np.take(x, [0, 2], axis=1), np.take(x, np.zeros((2, 3), dtype=int)))
