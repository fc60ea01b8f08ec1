# == keys, values and items are alive
d = {"a": 2}
k, v, i = d.keys(), d.values(), d.items()
d["b"] = 3
n = len(k)
m = sum(v)
q = len(list(i))
del d["a"]
r = len(k)
s = next(iter(v))
t = 5 if "b" in k else 7
u = 11 if ("b", 3) in i else 13
# == a view is no list
d = {2: 3}
k = d.keys()
try:
    n = k[0]
except TypeError:
    n = 5
try:
    k.append(3)
    m = 7
except AttributeError:
    m = 11
# == views are sets
a, b = {2: 1, 3: 1}, {3: 1, 5: 1}
n = len(a.keys() & b.keys())
m = len(a.keys() | b.keys())
q = sum(a.keys() - b.keys())
r = sum(a.keys() ^ b.keys())
s = 7 if a.keys() == {2, 3} else 11
t = 7 if a.items() == a.items() else 11
# == a list iterator sees what is appended
xs = [2, 3]
it = iter(xs)
a = next(it)
xs.append(5)
b = sum(it)
xs.append(7)
c = sum(it)
d = next(it, 11)
# == a list iterator sees what is replaced
xs = [2, 3]
it = iter(xs)
xs[0] = 5
a = next(it)
xs[1:] = [7, 11]
b = sum(it)
# == a loop sees what is appended to its list
xs = [2]
n = 0
for x in xs:
    n += x
    if x < 7:
        xs.append(x + 2)
m = n
# == two iterators of one list
xs = [2, 3, 5, 7]
it = iter(xs)
n = 0
for a, b in zip(it, it):
    n += a * b
m = n
# == zip takes one too many of the first
it = iter([2, 3, 5, 7])
rows = list(zip(it, [1]))
n = next(it)
# == enumerate and map are lazy
calls = []
def f(x):
    calls.append(x)
    return x + 1
it = map(f, [2, 3, 5])
n = len(calls)
a = next(it)
m = len(calls)
b = sum(it)
q = len(calls)
# == filter is lazy
seen = []
it = filter(lambda x: seen.append(x) or x > 2, [2, 3, 5])
a = next(it)
n = len(seen)
# == map over a list that grows
xs = [2]
it = map(lambda x: x * 2, xs)
xs.append(3)
n = sum(it)
# == enumerate over a list that grows
xs = [2]
it = enumerate(xs)
xs.append(3)
n = sum(i * x for i, x in it)
# == reversed of a list
xs = [2, 3, 5]
it = reversed(xs)
xs[2] = 7
a = next(it)
b = sum(it)
# == a dict that changes size in its loop
d = {2: 3}
try:
    for k in d:
        d[k + 1] = 5
    n = 7
except RuntimeError:
    n = 11
# == an iterator is its own iterator
it = iter((2, 3, 5))
n = 7 if iter(it) is it else 11
a = next(iter(it))
b = next(it)
# == iter with a sentinel
values = [5, 3, 2]
n = sum(iter(values.pop, 5))
# == a dict's order
d = {"a": 2, "b": 3}
d["a"] = 5
n = next(iter(d.values()))
d.pop("a")
d["a"] = 7
m = next(iter(d.values()))
k, v = d.popitem()
q = v
# == setdefault and update keep places
d = {"a": 2}
n = d.setdefault("a", 3) + d.setdefault("b", 5)
d.update(a=7, c=11)
m = list(d.values())[0]
q = list(d.values())[-1]
# == or of dicts
a, b = {"x": 2, "y": 3}, {"y": 5}
c = a | b
n = c["y"]
a |= b
m = a["y"]
q = len(c)
# == fromkeys shares its value
d = dict.fromkeys("ab", [])
d["a"].append(2)
n = len(d["b"])
# == a dict in reverse
d = {2: 3, 5: 7}
n = next(reversed(d))
m = next(reversed(d.values()))
# == items that are taken while others go on
d = {"a": 2, "b": 3}
it = iter(d.items())
k, v = next(it)
n = v
m = sum(x for _, x in it)
# == a range is a sequence
r = range(2, 20, 3)
n = len(r)
m = r[-1]
q = r.index(8)
s = r.count(5)
t = sum(r[1:3])
u = 3 if 11 in r else 5
v = 3 if r == range(2, 18, 3) else 5
# == hash and equality of keys
d = {1: 2, True: 3, 1.0: 5}
n = len(d)
m = d[1]
s = {1, True, 1.0}
q = len(s)
# == unhashable keys
for key in ([2], {2: 3}, {2}):
    try:
        d = {}
        d[key] = 5
        n = 2
    except TypeError:
        n = 7
try:
    s = {[2]}
    m = 2
except TypeError:
    m = 3
try:
    q = 2 if [2] in {2: 3} else 3
except TypeError:
    q = 5
try:
    r = len(set([[2]]))
except TypeError:
    r = 7
# == tuples as keys
d = {(2, 3): 5}
n = d[2, 3]
try:
    d[2, [3]] = 7
    m = 2
except TypeError:
    m = 3
# == sets of two texts
names = {"width", "depth"}
n = "width" in names
m = sorted(names)
given = {key: value for key, value in {"width": 7, "x": 3}.items() if key in names}
def f(width, depth=5):
    return width + depth
q = f(**given)
r = all(name in names for name in ("width", "depth"))
