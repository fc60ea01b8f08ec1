# == coroutines that are driven by hand, and waited for
import asyncio, types
async def f(x):
    return x + 1
def drive(c):
    buffer = []
    while True:
        try:
            buffer.append(c.send(None))
        except StopIteration as e:
            return buffer, e.args[0] if e.args else None
n = 1 if drive(f(3)) == ([], 4) else 2
c = f(3)
n = 1 if c else 2
n = 1 if isinstance(c, types.CoroutineType) else 2
n = asyncio.run(c)
async def g():
    a = await f(1)
    t = asyncio.create_task(f(5))
    b = await t
    cs = [f(i) for i in range(3)]
    r = await asyncio.gather(*cs)
    n = sum(r)
    c = f(9)
    d = await c
    e = {await f(i) for i in range(2)}
    n = len(e)
    return a + b + n + d
n = asyncio.run(g())
class M:
    async def __aenter__(self): return 5
    async def __aexit__(self, *a): return True
async def h():
    async with M() as x:
        n = x
        raise ValueError
    n = 8
    return n
n = asyncio.run(h())
async def agen():
    yield 3
    yield 4
async def k():
    s = 0
    async for x in agen():
        s += x
    l = [y async for y in agen()]
    s += len(l)
    s += await anext(agen())
    return s
n = asyncio.run(k())
async def w(): return await asyncio.wait_for(f(1), 3)
n = asyncio.run(w())
async def lam(): return (lambda: f(2))
async def q():
    z = await (await lam())()
    return z
n = asyncio.run(q())
log = []
async def eff():
    log.append(1)
    return 2
async def many():
    return [await eff() for _ in range(3)]
n = len(asyncio.run(many()))
n = len(log)
# == asynchronous iterators, and annotations of classes
import asyncio
class A:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self
    async def __anext__(self):
        if self.n == 0: raise StopAsyncIteration
        self.n -= 1
        return self.n
async def f():
    k = 0
    async for x in A(3):
        k += x + 10
    r = k
    async for x in A(0):
        k += 100
    else:
        k += 1
    r = k
    c = [x async for x in A(4)]
    r = len(c)
    return k
n = asyncio.run(f())
from typing import NamedTuple, TypedDict
class P(NamedTuple):
    x: int
    y: str = "a"
class T(TypedDict):
    a: int
class C:
    z: int = 3
n = 1 if P.__annotations__ == {"x": int, "y": str} else 2
n = 1 if T.__annotations__ == {"a": int} else 2
n = 1 if C.__annotations__ == {"z": int} else 2
n = len(C.__annotations__)
