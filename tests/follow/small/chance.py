# == lists of which one is taken by chance
import random
import torch
buckets = [[] for _ in range(3)]
for i in range(10):
    buckets[random.randrange(3)].append(i)
some_count = len(buckets[0])
total = len(buckets)
rows = [[torch.zeros(2)], [torch.zeros(3)]]
row = random.choice(rows)
row[0] = torch.zeros(5)
own = len(row[0])
one = len(rows[0])
table = {"a": [], "b": []}
table[random.choice(["a", "b"])].append(torch.zeros(7))
some_rows = len(table["a"])
width = torch.stack(table["a"] + table["b"]).shape[1]
pairs = [(1, [2]), (3, [4])]
number, held = random.choice(pairs)
held += [5, 6]
some_held = len(pairs[0][1])
same = [[1, 2]] * 4
random.choice(same).append(3)
all_longer = [len(s) for s in same]
nested = [[[1], [2]], [[3], [4]]]
random.choice(nested)[0].append(5)
some_inner = len(nested[1][0])
outer = len(nested[1])
unchanged = [[1, 2], [3, 4]]
two = len(random.choice(unchanged))
first = unchanged[0][0]
del buckets, i, rows, row, table, pairs, number, held, same, nested, unchanged

# == dicts and sets of which one is taken by chance
import random
import torch
stores = [{} for _ in range(3)]
random.choice(stores)["x"] = torch.zeros(3)
some_there = "x" in stores[0]
some_stored = len(stores[2])
random.choice(stores).update(y=5, z=7)
some_more = len(stores[1])
seen = [set(), set()]
seen[random.randrange(2)].add(5)
some_seen = 5 in seen[0]
not_there = 7 in stores[0]
inner = [{"rows": []}, {"rows": []}]
inner[random.randrange(2)]["rows"].append(1)
some_inner = len(inner[0]["rows"])
inner_keys = len(inner[0])
del stores, seen, inner

# == objects of which one is taken by chance
import random
import torch
from enum import Enum
class Node:
    def __init__(self, n):
        self.n, self.seen, self.children, self.x = n, False, [], None
    def visit(self):
        self.seen = True
        return self
nodes = [Node(3), Node(5), Node(7)]
node = random.choice(nodes)
node.x = torch.zeros(11)
node.visit().late = 13
node.children.append(Node(2))
some_seen = nodes[0].seen
some_late = hasattr(nodes[0], "late")
some_children = len(nodes[1].children)
some_is = node is nodes[0]
some_equal = node == nodes[2]
some_in = node in nodes[:2]
it_is_itself = node is node
n = nodes[1].n
tables = {nodes[0]: 3, nodes[1]: 5, nodes[2]: 7}
some_number = tables[node]
class Op(Enum):
    NOT = 1
    AND = 2
    OR = 3
op = random.choice([Op.NOT, Op.AND])
some_result = {Op.NOT: lambda: 3, Op.AND: lambda: 5, Op.OR: lambda: 7}[op]()
some_op = op == Op.AND
for item in nodes:
    item.y = torch.zeros(item.n)
sizes = [len(item.y) for item in nodes]
del nodes, node, tables, op, item

# == objects in a long loop
import torch
class Graph:
    def __init__(self, n):
        self.n, self.edges = n, []
graphs = [Graph(5) for _ in range(3_000)]
for i, graph in enumerate(graphs):
    graph.edges.append((i, i))
    graph.features = torch.zeros(graph.n, 3)
features = graphs[2_900].features.shape[1]
last = graphs[-1].n
after = 7
del graphs, graph, i

# == the names that there are
import torch
def given(a, b=5, *rest, **more):
    c = 7
    found = {k: v for k, v in locals().items() if k not in ("rest", "more")}
    return found, sorted(vars()), [name for name in locals()]
d, names, listed = given(3, 5, 11, e=13)
class Config:
    def __init__(self, width=3, depth=5, **more):
        self.__dict__.update({k: v for k, v in locals().items() if k not in ("self", "more")})
        self.more = more
config = Config(depth=7, note="x")
width, depth = config.width, config.depth
model = globals()["Config"](width=11).width
local = torch.zeros(locals()["width"], 2)
some_name = "nobody" in globals()
class Read:
    def __init__(self, text):
        self.width = 3
        self.__dict__.update(eval(text))
read = Read(input.__name__ and "{'depth': 5}")
some_depth = read.depth
later = 7
del config, read

# == a table that long loops fill
import torch
table = [[0] * 131 for _ in range(120)]
for i in range(1, 120):
    for j in range(1, 131):
        table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1)
height, some_width = len(table), len(table[70])
x = torch.zeros(len(table), 2)
some_corner = table[-1][-1]
some_number = isinstance(table[90][90], int)
for row in table:
    row[0] = "name"
some_name = table[100][0]
some_wide = [len(row) for row in table]
del table, i, j, row
