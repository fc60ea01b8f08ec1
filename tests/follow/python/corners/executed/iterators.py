# == iterators by index, and until a value comes
class S:
    def __init__(self, n):
        self.n = n
    def __getitem__(self, i):
        if 0 <= i < self.n:
            return i
        raise IndexError
a = S(5)
e = iter(a)
p = iter(a)
for x in e:
    next(p)
a.n = 7
h = len(list(e))
h = len(list(p))
h = len(list(a))
a = S(2)
p = iter(a)
x = next(p)
x = next(p)
a.n = 3
x = next(p)
class C:
    def __init__(self):
        self.i = 0
    def __call__(self):
        i = self.i
        self.i = i + 1
        if i > 100:
            raise IndexError
        return i
k = list(iter(C(), 10))
h = len(k)
k = 0
for x in iter(C(), 10):
    k += x
h = k
c = C()
it = iter(c, 8)
q = next(it)
r = next(it, 40)
s = c.i
