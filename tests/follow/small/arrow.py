
# == columns and tables
import numpy as np, torch, pyarrow as pa
from simpletorch import interop
a = interop.from_arrow(pa.array([1, 2, 3]))
b = interop.from_arrow(pa.array([1, 2, 3], pa.float32()))
c = interop.from_arrow(pa.array(np.zeros(7, np.float32)))
d = interop.from_arrow(pa.array([[1, 2], [3, 4], [5, 6]], type=pa.list_(pa.int16(), 2)))
e = interop.from_arrow(pa.chunked_array([pa.array([1.0, 2.0])]))
t = pa.table({"a": np.zeros(5), "b": [1, 2, 3, 4, 5]})
f, g = interop.from_arrow(t["a"]), interop.from_arrow(t.column(1))
h = interop.from_arrow_table(t)
i = interop.from_arrow(interop.to_arrow(torch.zeros(3, 5)))
j = len(t["a"])
k = pa.array([1.0, 2.0]).to_numpy()
l = interop.from_arrow_table(pa.table([[1, 2], [0.5, 1.5]], names=["x", "y"]), columns=["y"])
m = pa.array(["a", "bc"])
n = (m.null_count, t.num_rows, t.column_names)
o = interop.from_arrow(pa.array(range(4)))
p = interop.from_arrow(pa.array([True, False]), copy=True)
q = interop.from_arrow(pa.array(torch.zeros(3).numpy()))
some_r = interop.from_arrow(pa.array([1.0, None]).fill_null(0))
del t, m, n
